//! What every operation does to read: documents and Segments by their references, with the error
//! that says what stands there instead.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::diag::{Error, Locus, Result};
use crate::layout::{Paths, SegmentId, WorkerId, file};
use crate::record::{ReplayError, document::DocumentFault};
pub use crate::store::fs::not_a;
use crate::store::fs::{not_opened, stat_of};
use crate::store::{Dir, Document, FileStat, Store, WorkerFolder, WorkerState};

/// A Worker that a reference led to, with the folder that it is in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerRef {
    /// Its id: that of the folder, or of `worker.json` where the folder's name is none.
    pub id: WorkerId,
    /// The folder in `workers/`.
    pub folder: OsString,
}

impl WorkerRef {
    /// The Worker in the folder that its id names.
    #[must_use]
    pub fn of(id: WorkerId) -> Self {
        Self {
            id,
            folder: Store::folder_of(id),
        }
    }

    /// Its folder, relative to the store.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        Paths::workers().join(&self.folder)
    }

    /// Opens its folder.
    ///
    /// # Errors
    /// It is not there any more, or can not be opened.
    pub fn open(&self, store: &Store) -> Result<Dir> {
        let names = [Path::new(file::WORKERS).as_os_str(), &self.folder];
        store
            .dir()
            .dir_at(names)
            .map_err(|e| open_error(&self.path(), e))
    }

    /// Reads its documents and lists its folders.
    ///
    /// # Errors
    /// As [`WorkerRef::open`].
    pub fn state(&self, store: &Store) -> Result<WorkerState> {
        let dir = self.open(store)?;
        WorkerState::read(WorkerFolder::of(self.folder.clone()), dir)
            .map_err(|e| open_error(&self.path(), e))
    }
}

/// A Segment that a reference led to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentRef {
    /// Whose it is.
    pub worker: WorkerRef,
    /// Its id.
    pub segment: SegmentId,
}

impl SegmentRef {
    /// Its file, relative to the store.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder().join(Paths::segment_name(self.segment))
    }

    fn folder(&self) -> PathBuf {
        self.worker
            .path()
            .join(file::SESSION_DIR)
            .join(file::SEGMENTS)
    }

    /// Opens its file for reading, as long as it is now (C12).
    ///
    /// # Errors
    /// It is not there any more, is a link or no file, or can not be opened.
    pub fn open(&self, store: &Store) -> Result<SegmentFile> {
        let path = self.path();
        let open = || -> io::Result<_> {
            let dir = self
                .worker
                .open(store)
                .map_err(io::Error::other)?
                .dir_at([file::SESSION_DIR, file::SEGMENTS])?;
            let file = dir.file(Paths::segment_name(self.segment))?;
            let stat = stat_of(&file)?;
            Ok((file, stat))
        };
        let (file, stat) = open().map_err(|e| open_error(&path, e))?;
        Ok(SegmentFile { file, stat, path })
    }
}

/// An open Segment.
#[derive(Debug)]
pub struct SegmentFile {
    /// The file.
    pub file: File,
    /// What it was when it was opened; what was appended since is not looked at.
    pub stat: FileStat,
    /// Relative to the store.
    pub path: PathBuf,
}

/// Why something in the store can not be opened, as what a command says.
#[must_use]
pub fn open_error(path: &Path, e: io::Error) -> Error {
    // An error of ours went through an io::Error.
    let e = match e.downcast::<Error>() {
        Ok(ours) => return ours,
        Err(e) => e,
    };
    not_opened(path, e)
}

/// What a document says; none if it is not there.
///
/// # Errors
/// What stands there is not the document that it should be.
pub fn document<T>(document: Document<T>, path: &Path) -> Result<Option<T>> {
    match document {
        Document::Good(value) => Ok(Some(value)),
        Document::Missing => Ok(None),
        Document::NotAFile(kind) => Err(not_a(path, kind)),
        Document::Unreadable(e) => Err(open_error(path, e)),
        Document::Faulty(fault) => Err(document_error(path, &fault)),
    }
}

fn document_error(path: &Path, fault: &DocumentFault) -> Error {
    let mut locus = Locus::file(path);
    (locus.line, locus.byte) = (fault.line, fault.byte);
    Error::new(
        fault.code,
        format!("{} can not be read: {}", path.display(), fault.message),
    )
    .at(locus)
    .hint("wagg verify")
}

/// Why a Segment does not replay, as what a command says.
#[must_use]
pub fn replay_error(segment: &SegmentRef, e: ReplayError) -> Error {
    let path = segment.path();
    match e {
        ReplayError::Io(e) => open_error(&path, e),
        ReplayError::Bad { line, fault } => Error::new(
            fault.code,
            format!(
                "Segment {} does not replay, because of line {line}: {}",
                segment.segment, fault.message
            ),
        )
        .at(Locus::at(path, line, fault.at))
        .hint(format!("wagg verify {}", segment.worker.id)),
    }
}

/// A moment as JSON has it: RFC 3339 in UTC; null where no calendar has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub jiff::Timestamp);

impl Time {
    /// Milliseconds since 1970, as records have them.
    #[must_use]
    pub fn from_ms(ms: u64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(i64::try_from(ms).ok()?)
            .ok()
            .map(Self)
    }

    /// When a file was last written.
    #[must_use]
    pub fn of(stat: &FileStat) -> Option<Self> {
        jiff::Timestamp::new(stat.mtime_s, i32::try_from(stat.mtime_ns).ok()?)
            .ok()
            .map(Self)
    }
}

impl Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_str(&self.0)
    }
}
