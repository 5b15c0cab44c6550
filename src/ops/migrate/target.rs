//! What a Worker's folder in the store holds already.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::diag::{Code, Finding, Locus, Severity, Subject};
use crate::layout::{Paths, SessionId, WorkerId, file, leftover};
use crate::ops::ownership::Trouble;
use crate::record::document::{MetadataDocument, SessionDocument};
use crate::store::{Dir, Document, Entry, EntryKind, read_bytes, read_document, wrong_kind};

use super::catalog::leftover_note;

/// The place of a Session.
#[derive(Debug)]
pub(super) enum SessionPlace {
    /// Nothing is there.
    Free,
    /// What a Runtime leaves when it opens a new Worker: a folder with nothing but an empty
    /// `segments/`. It is no Session yet, and is replaced.
    Shell,
    /// A Session.
    There(Session),
    /// Something that is no Session, or none that can be read.
    Trouble(Finding),
}

/// A Session of the store.
#[derive(Debug)]
pub(super) struct Session {
    /// The id of `session.json`.
    pub id: SessionId,
    /// The open folder `segments/`; none if it is not there.
    pub segments: Option<Dir>,
    /// Its path, relative to the store.
    pub segments_path: PathBuf,
    /// The names in it, leftovers aside.
    pub names: Vec<OsString>,
    /// Remarks on leftovers in it.
    pub leftovers: Vec<Finding>,
}

/// A `metadata.json` of the store.
#[derive(Debug)]
pub(super) enum Metadata {
    /// Nothing is there.
    Free,
    /// These bytes.
    There(Vec<u8>),
    /// Something that is no file, or none that can be read.
    Trouble(Finding),
}

impl Metadata {
    /// Looks at it.
    pub fn read(dir: &Dir, worker: WorkerId) -> Self {
        match read_bytes(dir, file::METADATA) {
            Ok(bytes) => Self::There(bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Self::Free,
            Err(e) => Self::Trouble(trouble(&e, worker, Paths::metadata(worker))),
        }
    }

    /// What it says, if it is there and reads.
    pub fn document(&self) -> Option<MetadataDocument> {
        match self {
            Self::There(bytes) => MetadataDocument::read(bytes).ok(),
            _ => None,
        }
    }
}

fn trouble(e: &io::Error, worker: WorkerId, path: PathBuf) -> Finding {
    let trouble = match wrong_kind(e) {
        Some(kind) => Trouble::wrong_kind(kind),
        None => Trouble::unreadable(e),
    };
    let what = "what is in the store can not be compared";
    finding_of(&trouble, worker, path, what)
}

fn finding_of(trouble: &Trouble, worker: WorkerId, path: PathBuf, what: &str) -> Finding {
    trouble
        .finding(Subject::worker(worker), path, what)
        .with_severity(Severity::Error)
        .with_hint(format!("wagg verify {worker}"))
}

/// Looks at the place of a Worker's Session.
pub(super) fn session(dir: &Dir, worker: WorkerId) -> SessionPlace {
    let path = Paths::session_dir(worker);
    let folder = match dir.dir(file::SESSION_DIR) {
        Ok(folder) => folder,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return SessionPlace::Free,
        Err(e) => return SessionPlace::Trouble(trouble(&e, worker, path)),
    };
    match look(&folder, worker) {
        Ok(place) => place,
        Err(e) => SessionPlace::Trouble(trouble(&e, worker, path)),
    }
}

fn look(folder: &Dir, worker: WorkerId) -> io::Result<SessionPlace> {
    let entries = folder.entries()?;
    let segments = match folder.dir(file::SEGMENTS) {
        Ok(dir) => Some(dir),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => {
            return Ok(SessionPlace::Trouble(trouble(
                &e,
                worker,
                Paths::segments(worker),
            )));
        }
    };
    let inside = match &segments {
        Some(dir) => dir.entries()?,
        None => Vec::new(),
    };
    let document = read_document(folder, file::SESSION, SessionDocument::read);
    if document.is_missing() {
        return Ok(without_document(&entries, &inside, worker));
    }
    let path = Paths::session_document(worker);
    if let Some(trouble) = Trouble::of(&document) {
        let what = "the Session in the store can not be compared";
        return Ok(SessionPlace::Trouble(finding_of(
            &trouble, worker, path, what,
        )));
    }
    let id = match document {
        Document::Good(document) => document.session(),
        _ => None,
    };
    let Some(id) = id else {
        let finding = Finding::new(
            Code::CorruptDocument,
            Subject::worker(worker),
            Locus::file(path),
            "the Session in the store has no id",
        );
        return Ok(SessionPlace::Trouble(finding));
    };
    let mut there = Session {
        id,
        segments,
        segments_path: Paths::segments(worker),
        names: Vec::with_capacity(inside.len()),
        leftovers: Vec::new(),
    };
    for entry in inside {
        match entry.name.to_str().and_then(leftover) {
            Some(kind) => {
                let place = there.segments_path.join(&entry.name);
                there
                    .leftovers
                    .push(leftover_note(&kind, Some(worker), place));
            }
            None => there.names.push(entry.name),
        }
    }
    Ok(SessionPlace::There(there))
}

/// A `session/` without `session.json`: nobody's Session yet if it holds nothing.
fn without_document(entries: &[Entry], inside: &[Entry], worker: WorkerId) -> SessionPlace {
    let shell = inside.is_empty()
        && entries
            .iter()
            .all(|e| e.kind == EntryKind::Dir && e.name == file::SEGMENTS);
    if shell {
        return SessionPlace::Shell;
    }
    let finding = Finding::new(
        Code::MissingSessionDocument,
        Subject::worker(worker),
        Locus::file(Paths::session_document(worker)),
        "the store's Session has files and no session.json: whose it is can not be told",
    );
    SessionPlace::Trouble(finding.with_hint(format!("wagg verify {worker}")))
}
