//! What was taken away, kept: `.wagg/quarantine/<operation>/`.
//!
//! `manifest.jsonl` has a line for each item: where it was, how long it is, its SHA-256, and where
//! it is now. Bytes cut out of files stand one after the other in `bytes`; whole files and folders
//! are moved in under the item's number. An item is durable before it is taken away.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fs::{
    Dir, EntryKind, OutFile, TornTail, WriteDir, clear_leftover, committed_len, ensure_dirs,
    failed, move_aside, sync_dir, temp_name, unknown,
};
use crate::diag::{Code, Error, Result, hex};
use crate::layout::{OperationId, Paths};

const MANIFEST: &str = "manifest.jsonl";
const BYTES: &str = "bytes";

/// How much is copied at once.
const BLOCK: u64 = 256 * 1024;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The bytes after the last newline of a file.
    Tail,
    /// Bytes from the middle of a file, or a copy of all of them.
    Bytes,
    /// A file that was moved.
    File,
    /// A folder that was moved. It has no digest.
    Folder,
}

/// One thing that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its number in its operation, from 1; the name of a file or folder that was moved.
    pub item: u64,
    /// What it is.
    pub what: What,
    /// Where it was, relative to the store.
    pub path: PathBuf,
    /// Where it began there, in bytes.
    pub offset: u64,
    /// In bytes; 0 for a folder.
    pub length: u64,
    /// SHA-256 of its bytes in hex; empty for a folder.
    pub sha256: String,
    /// For bytes: where they begin in the file `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<u64>,
    /// For a file or folder that was moved: its name here, if that is not its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_as: Option<String>,
}

impl Item {
    /// The file or folder of the quarantine that holds it, and where it begins there.
    #[must_use]
    pub fn place(&self) -> (String, u64) {
        match (self.stored_at, &self.stored_as) {
            (Some(at), _) => (BYTES.to_owned(), at),
            (None, Some(name)) => (name.clone(), 0),
            (None, None) => (self.item.to_string(), 0),
        }
    }
}

/// The quarantine of one operation, open for adding.
#[derive(Debug)]
#[must_use = "what is kept is durable only after a sync"]
pub struct Quarantine<'g> {
    dir: WriteDir<'g>,
    manifest: OutFile,
    /// Lines that are not written yet: they follow the bytes that they tell of.
    lines: Vec<u8>,
    bytes: Option<OutFile>,
    stored: u64,
    next: u64,
    fresh: bool,
}

impl<'g> Quarantine<'g> {
    /// Opens the quarantine of an operation, and makes it if there is none.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(wagg: &WriteDir<'g>, operation: OperationId) -> Result<Self> {
        let name = operation.to_string();
        let dir = ensure_dirs(wagg, ["quarantine", &name])?;
        let path = dir.path_of(MANIFEST);
        let open = |name: &str| match dir.open_existing(name, OFlags::RDWR | OFlags::APPEND) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                dir.create(name)?;
                Ok((
                    dir.open_existing(name, OFlags::RDWR | OFlags::APPEND)?,
                    true,
                ))
            }
            found => found.map(|file| (file, false)),
        };
        let (manifest, fresh) = open(MANIFEST).map_err(|e| failed("open", &path, e))?;
        let mut next = 1;
        if !fresh {
            // A line that a crash tore is of an item that was never taken away.
            let look = |e| failed("read", &path, e);
            let len = manifest.file().metadata().map_err(look)?.len();
            let committed = committed_len(manifest.file(), len).map_err(look)?;
            if committed < len {
                manifest.set_len(committed).map_err(look)?;
            }
            next = items(&dir)?.iter().map(|i| i.item).max().unwrap_or(0) + 1;
        }
        Ok(Self {
            dir,
            manifest,
            lines: Vec::new(),
            bytes: None,
            stored: 0,
            next,
            fresh,
        })
    }

    fn blob(&mut self) -> Result<&mut OutFile> {
        if self.bytes.is_none() {
            let path = self.dir.path_of(BYTES);
            let flags = OFlags::RDWR | OFlags::APPEND;
            let open = || match self.dir.open_existing(BYTES, flags) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    self.dir.create(BYTES)?;
                    self.dir.open_existing(BYTES, flags)
                }
                found => found,
            };
            let file = open().map_err(|e| failed("open", &path, e))?;
            self.fresh = true;
            self.stored = file
                .file()
                .metadata()
                .map_err(|e| failed("look at", &path, e))?
                .len();
            self.bytes = Some(file);
        }
        self.bytes
            .as_mut()
            .ok_or_else(|| Error::new(Code::Internal, "the quarantine has no file"))
    }

    /// Keeps bytes that stood at `offset` of the file at `path`.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&mut self, path: &Path, offset: u64, bytes: &[u8]) -> Result<()> {
        self.keep_from(What::Bytes, path, offset, |sink| sink(bytes))
    }

    /// Keeps a torn tail.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_tail(&mut self, path: &Path, tail: &TornTail<'_>) -> Result<()> {
        self.keep_from(What::Tail, path, tail.offset, |sink| tail.copy_to(sink))
    }

    fn keep_from(
        &mut self,
        what: What,
        path: &Path,
        offset: u64,
        copy: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<()> {
        let mut digest = Sha256::new();
        let mut length = 0;
        let at_path = self.dir.path_of(BYTES);
        let blob = self.blob()?;
        let copied = copy(&mut |part| {
            digest.update(part);
            length += part.len() as u64;
            blob.put(part)
        });
        if let Err(e) = copied {
            // A part may be there; where the next item goes is asked anew.
            self.bytes = None;
            return Err(failed("write", &at_path, e));
        }
        let stored_at = Some(self.stored);
        self.stored += length;
        self.list(Item {
            item: self.next,
            what,
            path: path.to_path_buf(),
            offset,
            length,
            sha256: hex(&digest.finalize()),
            stored_at,
            stored_as: None,
        })
    }

    /// Keeps a part of a file, a block at a time, and gives its SHA-256 in hex.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep_part(
        &mut self,
        what: What,
        path: &Path,
        file: &File,
        offset: u64,
        length: u64,
    ) -> Result<String> {
        use std::os::unix::fs::FileExt;
        let mut digest = Sha256::new();
        self.keep_from(what, path, offset, |sink| {
            let mut block = vec![0; usize::try_from(length.min(BLOCK)).unwrap_or(1)];
            let (mut at, end) = (offset, offset + length);
            while at < end {
                let part = usize::try_from((end - at).min(BLOCK)).unwrap_or(1);
                file.read_exact_at(&mut block[..part], at)?;
                digest.update(&block[..part]);
                sink(&block[..part])?;
                at += part as u64;
            }
            Ok(())
        })?;
        Ok(hex(&digest.finalize()))
    }

    /// Lists a file or folder that is to be moved in under the name `stored_as`. A folder has no
    /// digest.
    ///
    /// # Errors
    /// It can not be written as JSON.
    pub fn announce(
        &mut self,
        what: What,
        path: &Path,
        length: u64,
        sha256: &str,
        stored_as: &str,
    ) -> Result<()> {
        self.list(Item {
            item: self.next,
            what,
            path: path.to_path_buf(),
            offset: 0,
            length,
            sha256: sha256.to_owned(),
            stored_at: None,
            stored_as: Some(stored_as.to_owned()),
        })
    }

    fn list(&mut self, item: Item) -> Result<()> {
        serde_json::to_writer(&mut self.lines, &item).map_err(|e| {
            Error::new(
                Code::Internal,
                "an item of the quarantine can not be written",
            )
            .caused_by(e)
        })?;
        self.lines.push(b'\n');
        self.next += 1;
        Ok(())
    }

    /// Makes all that was kept durable: a sync for the bytes, one for the manifest, and one for
    /// the folder if a file in it is new.
    ///
    /// # Errors
    /// `outcome_unknown`.
    pub fn sync(&mut self) -> Result<()> {
        if let Some(file) = &self.bytes {
            file.sync().map_err(|e| unknown("sync", file.path(), e))?;
        }
        let lines = std::mem::take(&mut self.lines);
        let path = self.manifest.path().to_path_buf();
        self.manifest
            .put(&lines)
            .map_err(|e| failed("write", &path, e))?;
        self.manifest
            .sync()
            .map_err(|e| unknown("sync", &path, e))?;
        if std::mem::take(&mut self.fresh) {
            sync_dir(&self.dir)?;
        }
        Ok(())
    }

    /// Takes a file or folder away: its item is made durable, then it is moved in, then both
    /// folders are synced.
    ///
    /// # Errors
    /// What the system says, with the thing where it was; `outcome_unknown` if a sync failed.
    pub fn take(&mut self, from: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
        let name = name.as_ref();
        let path = from.path_of(name);
        let look = |e| failed("read", &path, e);
        let stat = from.stat(name).map_err(look)?;
        let (what, length, sha256) = match stat.kind {
            EntryKind::File => {
                let mut file = from.file(name).map_err(look)?;
                let mut digest = Sha256::new();
                let mut block = vec![0; 64 * 1024];
                let mut length = 0;
                loop {
                    let got = file.read(&mut block).map_err(look)?;
                    if got == 0 {
                        break;
                    }
                    digest.update(&block[..got]);
                    length += got as u64;
                }
                (What::File, length, hex(&digest.finalize()))
            }
            EntryKind::Dir => (What::Folder, 0, String::new()),
            kind => return Err(look(super::fs::WrongKind { kind }.into())),
        };
        let item = self.next;
        self.list(Item {
            item,
            what,
            path: path.clone(),
            offset: 0,
            length,
            sha256,
            stored_at: None,
            stored_as: None,
        })?;
        self.sync()?;
        move_aside(from, name, &self.dir, item.to_string())
    }

    /// The folder, for what an operation keeps there beside.
    #[must_use]
    pub const fn dir(&self) -> &WriteDir<'g> {
        &self.dir
    }
}

fn items(dir: &Dir) -> Result<Vec<Item>> {
    let path = dir.path_of(MANIFEST);
    let look = |e| failed("read", &path, e);
    let mut bytes = Vec::new();
    match dir.file(MANIFEST) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file.map_err(look)?.read_to_end(&mut bytes).map_err(look)?,
    };
    // A line without its newline is of an item that was never taken away.
    let committed = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
    bytes[..committed]
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            serde_json::from_slice(line).map_err(|e| {
                Error::new(
                    Code::CorruptDocument,
                    format!("{} has a line that is no item", path.display()),
                )
                .at(crate::diag::Locus::file(&path))
                .caused_by(e)
            })
        })
        .collect()
}

/// The operations that put something aside, in the order of their ids.
///
/// # Errors
/// What the system says. A store without a quarantine has none.
pub fn quarantined(root: &Dir) -> Result<Vec<OperationId>> {
    let Some(dir) = open(root, None)? else {
        return Ok(Vec::new());
    };
    let entries = dir.entries().map_err(|e| failed("read", dir.path(), e))?;
    Ok(entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Dir)
        .filter_map(|entry| entry.name.to_str()?.parse().ok())
        .collect())
}

/// What an operation put aside; none if there is no such folder.
///
/// # Errors
/// What the system says; `corrupt_document` for a manifest that can not be read.
pub fn quarantined_items(root: &Dir, operation: OperationId) -> Result<Option<Vec<Item>>> {
    open(root, Some(operation))?
        .map(|dir| items(&dir))
        .transpose()
}

/// The bytes of an item, checked against its digest. None for a folder.
///
/// # Errors
/// What the system says; `corrupt_document` if they are not what was put there.
pub fn quarantined_bytes(
    root: &Dir,
    operation: OperationId,
    item: &Item,
) -> Result<Option<Vec<u8>>> {
    use std::os::unix::fs::FileExt;
    if item.what == What::Folder {
        return Ok(None);
    }
    let Some(dir) = open(root, Some(operation))? else {
        return Err(failed(
            "open",
            &folder(Some(operation)),
            io::ErrorKind::NotFound.into(),
        ));
    };
    let (name, at) = item.place();
    let path = dir.path_of(&name);
    let look = |e| failed("read", &path, e);
    let file = dir.file(&name).map_err(look)?;
    let wrong = || {
        Error::new(
            Code::CorruptDocument,
            format!(
                "item {} in {} is not what was put there",
                item.item,
                path.display()
            ),
        )
        .at(crate::diag::Locus::file(&path))
    };
    let there = file.metadata().map_err(look)?.len();
    if at.checked_add(item.length).is_none_or(|end| end > there) {
        return Err(wrong());
    }
    let mut bytes = vec![0; usize::try_from(item.length).map_err(|_| wrong())?];
    file.read_exact_at(&mut bytes, at).map_err(look)?;
    if hex(&Sha256::digest(&bytes)) != item.sha256 {
        return Err(wrong());
    }
    Ok(Some(bytes))
}

fn folder(operation: Option<OperationId>) -> PathBuf {
    match operation {
        Some(operation) => Paths::quarantine().join(operation.to_string()),
        None => Paths::quarantine(),
    }
}

fn open(root: &Dir, operation: Option<OperationId>) -> Result<Option<Dir>> {
    let path = folder(operation);
    match root.dir_at(&path) {
        Ok(dir) => Ok(Some(dir)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("open", &path, e)),
    }
}

/// The file of an operation's quarantine that holds all bytes that were cut out of files.
///
/// # Errors
/// What the system says.
pub fn quarantined_file(root: &Dir, operation: OperationId) -> Result<File> {
    let path = folder(Some(operation)).join(BYTES);
    let missing = || failed("open", &path, io::ErrorKind::NotFound.into());
    let dir = open(root, Some(operation))?.ok_or_else(missing)?;
    dir.file(BYTES).map_err(|e| failed("open", &path, e))
}

/// Empties the quarantine of one operation: what it kept can not be brought back any more.
///
/// # Errors
/// What the system says.
pub fn empty_quarantine(wagg: &WriteDir<'_>, operation: OperationId) -> Result<()> {
    let temp = temp_name(operation.to_string());
    empty_quarantine_via(wagg, operation, &temp)
}

/// The same by way of a temporary name that an intent already holds.
///
/// # Errors
/// As [`empty_quarantine`].
pub fn empty_quarantine_via(
    wagg: &WriteDir<'_>,
    operation: OperationId,
    temp: &OsStr,
) -> Result<()> {
    let name = operation.to_string();
    let path = folder(Some(operation));
    let dir = match wagg.dir("quarantine") {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        dir => dir.map_err(|e| failed("open", &path, e))?,
    };
    // First out of sight, so that a crash leaves a leftover and no half of a quarantine.
    match dir.rename_out(OsStr::new(&name), temp) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        moved => moved.map_err(|e| failed("remove", &path, e))?,
    }
    clear_leftover(&dir, temp)?;
    Ok(())
}
