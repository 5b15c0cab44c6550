//! References that are paths: what stands at a place of the store.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{Identity, search};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{
    Generation, RunEntry, SegmentEntry, WorkerId, classify_run, classify_segment, file,
};
use crate::ops::read::{SegmentRef, WorkerRef, not_a, open_error};
use crate::record::document::WorkerDocument;
use crate::store::{Dir, EntryKind, Store, WorkerFolder, read_document};

/// The folder of a run: its generation, or its name where that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunName {
    /// `runs/<generation>/`
    Generation(Generation),
    /// A run named otherwise.
    Named(OsString),
}

impl RunName {
    /// The run of a folder with this name.
    #[must_use]
    pub fn of(name: &OsStr) -> Self {
        match name.to_str().map(classify_run) {
            Some(RunEntry::Generation(generation)) => Self::Generation(generation),
            _ => Self::Named(name.to_owned()),
        }
    }

    /// The folder's name.
    #[must_use]
    pub fn folder(&self) -> OsString {
        match self {
            Self::Generation(generation) => generation.to_string().into(),
            Self::Named(name) => name.clone(),
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generation(generation) => generation.fmt(f),
            Self::Named(name) => name.display().fmt(f),
        }
    }
}

/// A path that counts from here. It leads into the store if one of the folders above it is the
/// store's root, by whatever name; from there on no link is followed.
pub(super) fn from_here(store: &Store, text: &str, path: &Path) -> Result<Identity> {
    let root = store
        .dir()
        .own_stat()
        .map_err(|e| open_error(Path::new(""), e))?;
    let is_root = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|meta| meta.ino() == root.inode && meta.dev() == root.dev)
    };
    let whole = std::path::absolute(path).map_err(|e| Error::io("look at", path, e))?;
    // From the root down, so that a link below it is never what decides.
    let mut above: Vec<&Path> = whole.ancestors().collect();
    above.reverse();
    for dir in above {
        if is_root(dir) {
            let rest = whole.strip_prefix(dir).unwrap_or(Path::new(""));
            if let Some(rest) = plain(rest) {
                return look(store, text, &rest);
            }
        }
    }
    Err(Error::new(
        Code::NotFound,
        format!("no such id, and no such path in this store: {text}"),
    )
    .hint("wagg worker list")
    .hint(format!("the store is {}", store.path().display())))
}

/// A path that counts from the store's root.
pub(super) fn in_store(store: &Store, text: &str, path: &Path) -> Result<Identity> {
    match plain(path) {
        Some(names) => look(store, text, &names),
        None => Err(outside(text)),
    }
}

fn outside(text: &str) -> Error {
    Error::new(Code::NotFound, format!("{text} leads out of the store")).hint("wagg worker list")
}

/// The names of a path, `.` and `..` taken out by their meaning as text; none if it leads out.
fn plain(path: &Path) -> Option<Vec<OsString>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_owned()),
            Component::CurDir => {}
            Component::ParentDir => {
                names.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names)
}

fn look(store: &Store, text: &str, names: &[OsString]) -> Result<Identity> {
    let Some((last, folders)) = names.split_last() else {
        return Ok(Identity::Store);
    };
    let path: PathBuf = names.iter().collect();
    let mut dir = store.dir().try_clone().map_err(|e| open_error(&path, e))?;
    let mut opened: Vec<Dir> = Vec::new();
    for name in folders {
        let next = dir
            .dir(name)
            .map_err(|e| missing(text, &dir.path_of(name), e))?;
        opened.push(std::mem::replace(&mut dir, next));
    }
    let kind = dir.stat(last).map_err(|e| missing(text, &path, e))?.kind;
    if kind == EntryKind::Symlink {
        return Err(not_a(&path, kind));
    }
    let words: Vec<&str> = names
        .iter()
        .map(|name| name.to_str().unwrap_or(""))
        .collect();
    let other = |worker| Identity::Other {
        path: path.clone(),
        kind,
        worker,
    };
    if words[0] != file::WORKERS || words.len() < 2 {
        return Ok(other(None));
    }
    // The Worker's folder: one of those above, or the last name itself.
    let of_worker = match opened.get(2) {
        Some(dir) => Some(dir.try_clone()),
        None if names.len() == 3 => Some(dir.try_clone()),
        None if kind == EntryKind::Dir => Some(dir.dir(last)),
        None => None,
    };
    let worker = match of_worker {
        Some(dir) => owner(&names[1], &dir.map_err(|e| missing(text, &path, e))?),
        None => None,
    };
    let Some((worker, dir)) = worker else {
        return Ok(other(None));
    };
    Ok(match words[2..] {
        [] | [file::WORKER | file::METADATA | file::RUNS] => Identity::Worker(worker),
        [file::SESSION_DIR] | [file::SESSION_DIR, file::SESSION | file::SEGMENTS] => {
            match search::session_in(&dir) {
                Some(session) => Identity::Session { worker, session },
                None => Identity::Worker(worker),
            }
        }
        [file::SESSION_DIR, file::SEGMENTS, name] => match classify_segment(name) {
            SegmentEntry::Segment(segment) if kind == EntryKind::File => {
                Identity::Segment(SegmentRef { worker, segment })
            }
            SegmentEntry::Trace(segment) if kind == EntryKind::File => {
                Identity::Trace(SegmentRef { worker, segment })
            }
            SegmentEntry::Segment(_) | SegmentEntry::Trace(_) => return Err(not_a(&path, kind)),
            SegmentEntry::Alias { id, .. } => {
                return Err(Error::new(
                    Code::BadFileName,
                    format!(
                        "{} spells the id {id} in another way than a Runtime looks for",
                        path.display()
                    ),
                )
                .at(Locus::file(path))
                .hint(format!("wagg verify {}", worker.id)));
            }
            SegmentEntry::BadStem | SegmentEntry::Other => other(Some(worker)),
        },
        [file::RUNS, _, ..] if names.len() > 4 || kind == EntryKind::Dir => Identity::Run {
            worker,
            run: RunName::of(&names[3]),
        },
        _ => other(Some(worker)),
    })
}

/// The Worker whose folder this is, if its name or its document says so.
fn owner(name: &OsStr, dir: &Dir) -> Option<(WorkerRef, Dir)> {
    let id: WorkerId = WorkerFolder::of(name.to_owned()).id.or_else(|| {
        read_document(dir, file::WORKER, WorkerDocument::read)
            .good()?
            .worker_id()
    })?;
    let worker = WorkerRef {
        id,
        folder: name.to_owned(),
    };
    Some((worker, dir.try_clone().ok()?))
}

fn missing(text: &str, path: &Path, e: std::io::Error) -> Error {
    let invalid = matches!(
        e.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidInput
    );
    if invalid {
        return Error::new(
            Code::NotFound,
            format!(
                "no such id, and nothing is at {} in the store",
                path.display()
            ),
        )
        .hint("wagg worker list");
    }
    let mut error = open_error(path, e);
    if error.code == Code::NotARegularFile {
        // A file where the path goes on as if it were a folder.
        error.code = Code::NotFound;
        error.message = format!("no such id, and nothing is at {text} in the store");
    }
    error
}
