//! Records added to the end of a file (C4). One sync for as many as are written before it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::change::{OutFile, WriteDir};
use super::failure::{failed, unknown};
use super::staged::SyncFs;
use crate::diag::{Code, Error, Result};

/// How much is read at once when the last newline is looked for.
const BLOCK: u64 = 64 * 1024;

/// The bytes after the last newline: a record that was never committed.
#[derive(Debug)]
pub struct TornTail<'a> {
    file: &'a File,
    /// Where the file is.
    pub path: &'a Path,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// In bytes; never 0.
    pub len: u64,
}

impl TornTail<'_> {
    /// Copies the bytes out, a block at a time.
    ///
    /// # Errors
    /// What the system says, or what `sink` says.
    pub fn copy_to(&self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut block = vec![0; usize::try_from(self.len.min(BLOCK)).unwrap_or(1)];
        let (mut at, end) = (self.offset, self.offset + self.len);
        while at < end {
            let part = usize::try_from((end - at).min(block.len() as u64)).unwrap_or(block.len());
            self.file.read_exact_at(&mut block[..part], at)?;
            sink(&block[..part])?;
            at += part as u64;
        }
        Ok(())
    }
}

/// A file that records are added to, in a state where its last byte is a newline or it is empty.
#[derive(Debug)]
#[must_use = "what is written counts only once it is committed"]
pub struct Appender {
    file: OutFile,
    committed: u64,
    written: u64,
}

/// The length of the committed prefix: up to and including the last newline.
///
/// # Errors
/// What the system says.
pub fn committed_len(file: &File, len: u64) -> io::Result<u64> {
    let mut end = len;
    let mut block = Vec::new();
    while end > 0 {
        // The last byte is nearly always a newline, so look at little first.
        let part = if end == len {
            end.min(256)
        } else {
            end.min(BLOCK)
        };
        block.resize(usize::try_from(part).unwrap_or_default(), 0);
        file.read_exact_at(&mut block, end - part)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            return Ok(end - part + at as u64 + 1);
        }
        end -= part;
    }
    Ok(0)
}

impl Appender {
    /// Opens a file for appending. A torn tail is handed to `keep`, which has to make it durable
    /// elsewhere, and then cut off.
    ///
    /// # Errors
    /// What the system says, or what `keep` says, with the file as it was; `symbolic_link` or
    /// `not_a_regular_file`.
    pub fn open(
        dir: &WriteDir<'_>,
        name: impl AsRef<OsStr>,
        keep: impl FnOnce(&TornTail<'_>) -> Result<()>,
    ) -> Result<Self> {
        let path = dir.path_of(name.as_ref());
        let file = dir
            .open_existing(name, OFlags::RDWR | OFlags::APPEND)
            .map_err(|e| failed("open", &path, e))?;
        Self::over(file, keep)
    }

    /// Makes durable what a process wrote that may have died before its own sync. One sync.
    ///
    /// # Errors
    /// What the system says; `outcome_unknown` if the sync fails.
    pub fn sync_at(dir: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
        let path = dir.path_of(name.as_ref());
        let file = dir
            .open_existing(name, OFlags::RDWR)
            .map_err(|e| failed("open", &path, e))?;
        file.sync_data().map_err(|e| unknown("sync", &path, e))
    }

    /// Cuts a file back to `len`, a length that an operation of ours found it with. What goes is
    /// handed to `keep` first. One sync.
    ///
    /// # Errors
    /// As [`Appender::open`].
    pub fn cut_to(
        dir: &WriteDir<'_>,
        name: impl AsRef<OsStr>,
        len: u64,
        keep: impl FnOnce(&TornTail<'_>) -> Result<()>,
    ) -> Result<()> {
        let path = dir.path_of(name.as_ref());
        let file = dir
            .open_existing(name, OFlags::RDWR | OFlags::APPEND)
            .map_err(|e| failed("open", &path, e))?;
        let now = file
            .file()
            .metadata()
            .map_err(|e| failed("read", &path, e))?
            .len();
        if now <= len {
            return Ok(());
        }
        keep(&TornTail {
            file: file.file(),
            path: file.path(),
            offset: len,
            len: now - len,
        })?;
        file.set_len(len).map_err(|e| failed("cut", &path, e))?;
        file.sync_data().map_err(|e| unknown("sync", &path, e))
    }

    /// The same over a file that is open already.
    pub(in crate::store) fn over(
        file: OutFile,
        keep: impl FnOnce(&TornTail<'_>) -> Result<()>,
    ) -> Result<Self> {
        let look = |e| failed("read", file.path(), e);
        let len = file.file().metadata().map_err(look)?.len();
        let committed = committed_len(file.file(), len).map_err(look)?;
        if committed < len {
            keep(&TornTail {
                file: file.file(),
                path: file.path(),
                offset: committed,
                len: len - committed,
            })?;
            file.set_len(committed)
                .map_err(|e| failed("cut the torn tail of", file.path(), e))?;
        }
        Ok(Self {
            file,
            committed,
            written: 0,
        })
    }

    /// The length of the committed prefix, in bytes: where the next record begins if nothing is
    /// written yet.
    #[must_use]
    pub const fn committed(&self) -> u64 {
        self.committed
    }

    /// The file, for reading.
    #[must_use]
    pub const fn file(&self) -> &File {
        self.file.file()
    }

    /// Adds records: one write, no sync. `lines` ends in a newline.
    ///
    /// # Errors
    /// What the system says, with the file back at its committed length; `outcome_unknown` if it
    /// could not be put back; `internal` if `lines` does not end in a newline.
    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        if lines.last() != Some(&b'\n') {
            return Err(Error::new(
                Code::Internal,
                "what is appended does not end in a newline",
            ));
        }
        match self.file.put(lines) {
            Ok(()) => {
                self.written += lines.len() as u64;
                Ok(())
            }
            Err(e) => Err(self.put_back("append to", lines.len(), e)),
        }
    }

    /// Makes what was written durable, and gives the new committed length. One sync. The commit
    /// point is the last newline of each record.
    ///
    /// # Errors
    /// `outcome_unknown`. The file is cut back to its committed length, so that no reader builds
    /// on what may vanish; whether that is on disk is not known either.
    pub fn commit(&mut self) -> Result<u64> {
        if self.written > 0 {
            if let Err(e) = self.file.sync_data() {
                let _ = self.cut_back();
                return Err(unknown("sync", self.file.path(), e));
            }
            self.committed += self.written;
            self.written = 0;
        }
        Ok(self.committed)
    }

    /// Makes durable what was there before, whoever wrote it. One sync.
    pub(in crate::store) fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(|e| unknown("sync", self.file.path(), e))
    }

    /// Leaves what was written as it is, without a sync: it may be lost, and that is all right.
    pub(in crate::store) fn leave(mut self) {
        self.committed += std::mem::take(&mut self.written);
    }

    /// Leaves what was written to one sync of the file system, which the caller makes before
    /// anybody is told.
    pub fn left_to(self, _batch: &SyncFs<'_>) {
        self.leave();
    }

    /// Takes back what was written and not committed.
    ///
    /// # Errors
    /// `outcome_unknown`: it could not be cut.
    pub fn take_back(&mut self) -> Result<()> {
        if self.written == 0 {
            return Ok(());
        }
        self.cut_back()
            .map_err(|e| unknown("cut", self.file.path(), e))
    }

    fn put_back(&mut self, action: &str, attempted: usize, source: io::Error) -> Error {
        self.written += attempted as u64;
        match self.cut_back() {
            Ok(()) => failed(action, self.file.path(), source),
            Err(e) => unknown("cut", self.file.path(), e),
        }
    }

    /// Sets the length back, unless there is more than this value wrote: somebody who does not
    /// know our lock added to the file, and what they wrote is not ours to cut.
    fn cut_back(&mut self) -> io::Result<()> {
        let most = self.committed + std::mem::take(&mut self.written);
        if self.file.file().metadata()?.len() > most {
            return Err(io::Error::other("somebody else wrote to the file"));
        }
        self.file.set_len(self.committed)
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        let _ = self.take_back();
    }
}

/// Adds records to a file and makes them durable: one write, one sync. Gives the new length.
///
/// # Errors
/// As [`Appender::open`], [`Appender::write`] and [`Appender::commit`].
pub fn append(
    dir: &WriteDir<'_>,
    name: impl AsRef<OsStr>,
    lines: &[u8],
    keep: impl FnOnce(&TornTail<'_>) -> Result<()>,
) -> Result<u64> {
    let mut file = Appender::open(dir, name, keep)?;
    file.write(lines)?;
    file.commit()
}
