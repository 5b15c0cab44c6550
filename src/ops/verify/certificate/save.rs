//! A certificate that is written, entry by entry.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use blake3::Hasher;
use tempfile::NamedTempFile;

use super::MAGIC;
use crate::diag::{Error, Result};
use crate::store::fs::beside;

/// Where the bytes go.
enum Sink {
    /// Under a temporary name beside the place. Dropped, it is gone.
    Beside(NamedTempFile),
    /// Through what stands in the place, which is no file of its own.
    Through(File),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file) => file.write(bytes),
            Self::Through(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file) => file.flush(),
            Self::Through(file) => file.flush(),
        }
    }
}

/// A certificate that is not in its place yet.
pub(super) struct Saver {
    path: PathBuf,
    file: BufWriter<Sink>,
    hasher: Hasher,
    count: u64,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<io::Error>,
}

impl Saver {
    /// Begins one; only its user may read it.
    pub fn begin(path: &Path, header: &[u8]) -> Result<Self> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(Error::io("write", path, io::ErrorKind::IsADirectory.into()).given());
        }
        // A rename would put a file where a device stands, for all who use it.
        let through = path.symlink_metadata().is_ok_and(|met| !met.is_file());
        let file = if through {
            OpenOptions::new()
                .append(true)
                .open(path)
                .map(Sink::Through)
        } else {
            beside(folder, ".wagg-certificate-", 0o600).map(Sink::Beside)
        }
        .map_err(|e| Error::io("write", path, e).given())?;
        let mut this = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(128 * 1024, file),
            hasher: Hasher::new(),
            count: 0,
            failed: None,
        };
        this.raw(MAGIC);
        this.block(header);
        Ok(this)
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.hasher.update(bytes);
            self.failed = self.file.write_all(bytes).err();
        }
    }

    fn block(&mut self, bytes: &[u8]) {
        self.raw(&(bytes.len() as u32).to_le_bytes());
        self.raw(bytes);
    }

    /// Adds an entry.
    pub fn put(&mut self, entry: &[u8]) {
        self.block(entry);
        self.count += 1;
    }

    /// Puts it in its place, over what stands there.
    pub fn finish(mut self) -> Result<()> {
        self.block(&[]);
        self.raw(&self.count.to_le_bytes());
        let digest: [u8; 32] = self.hasher.finalize().into();
        self.raw(&digest);
        let path = self.path;
        let failed = |e| Error::io("write", &path, e).given();
        if let Some(e) = self.failed {
            return Err(failed(e));
        }
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        // Not synced: what a crash leaves of it is found out by its digest.
        match file {
            Sink::Beside(file) => file.persist(&path).map(drop).map_err(|e| failed(e.error)),
            Sink::Through(_) => Ok(()),
        }
    }
}
