//! One Worker as it stands on disk: its documents, and the names of what it holds. Segments are
//! listed, not read.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use super::document::{Document, read_listed};
use super::fs::{Dir, Entry, EntryKind, wrong_kind};
use crate::layout::{
    Generation, Paths, RunEntry, SegmentEntry, SegmentId, WorkerId, classify_run, classify_segment,
    file, leftover,
};
use crate::record::document::{DocumentFault, MetadataDocument, SessionDocument, WorkerDocument};

/// A folder of `workers/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerFolder {
    /// Its name.
    pub name: OsString,
    /// The id that the name spells, if it does.
    pub id: Option<WorkerId>,
}

impl WorkerFolder {
    /// A folder of this name.
    #[must_use]
    pub fn of(name: OsString) -> Self {
        let id = Self::id_of(&name);
        Self { name, id }
    }

    /// The id that a name spells, if it does.
    #[must_use]
    pub fn id_of(name: &OsStr) -> Option<WorkerId> {
        name.to_str()?.parse().ok()
    }

    /// Its path, relative to the store.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        Paths::workers().join(&self.name)
    }
}

impl Ord for WorkerFolder {
    fn cmp(&self, other: &Self) -> Ordering {
        // Folders without an id come last.
        (self.id.is_none(), self.id, &self.name).cmp(&(other.id.is_none(), other.id, &other.name))
    }
}

impl PartialOrd for WorkerFolder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A folder inside a Worker: what stands under its name.
#[derive(Debug)]
pub enum Folder<T> {
    /// Nothing.
    Missing,
    /// A link, a file or something else that is no folder.
    NotAFolder(EntryKind),
    /// It can not be read.
    Unreadable(io::Error),
    /// It holds this.
    Read(T),
}

impl<T> Folder<T> {
    /// What it holds, if it could be read.
    pub fn read(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            _ => None,
        }
    }

    /// Whether something stands there that could not be looked into.
    pub fn is_shut(&self) -> bool {
        matches!(self, Self::NotAFolder(_) | Self::Unreadable(_))
    }
}

/// Opens and reads a folder inside another.
pub fn read_folder<T>(
    dir: &Dir,
    name: impl AsRef<OsStr>,
    read: impl FnOnce(Dir) -> io::Result<T>,
) -> Folder<T> {
    match dir.dir(name).and_then(read) {
        Ok(value) => Folder::Read(value),
        Err(e) => match wrong_kind(&e) {
            Some(kind) => Folder::NotAFolder(kind),
            None if e.kind() == io::ErrorKind::NotFound => Folder::Missing,
            None => Folder::Unreadable(e),
        },
    }
}

/// The folder `session/`.
#[derive(Debug)]
pub struct SessionFolder {
    /// The open folder.
    pub dir: Dir,
    /// All that it holds.
    pub entries: Vec<Entry>,
    /// `session.json`
    pub document: Document<SessionDocument>,
    /// `segments/`
    pub segments: Folder<SegmentsFolder>,
}

/// The folder `segments/`.
#[derive(Debug)]
pub struct SegmentsFolder {
    /// The open folder.
    pub dir: Dir,
    /// All that it holds.
    pub entries: Vec<Entry>,
}

impl SegmentsFolder {
    /// The Segments that are regular files under their one name, in the order of their ids.
    pub fn segments(&self) -> impl Iterator<Item = SegmentId> + '_ {
        self.named().filter_map(|entry| match entry {
            SegmentEntry::Segment(id) => Some(id),
            _ => None,
        })
    }

    /// The traces that are regular files under their one name, in the order of their ids.
    pub fn traces(&self) -> impl Iterator<Item = SegmentId> + '_ {
        self.named().filter_map(|entry| match entry {
            SegmentEntry::Trace(id) => Some(id),
            _ => None,
        })
    }

    fn named(&self) -> impl Iterator<Item = SegmentEntry> + '_ {
        self.entries
            .iter()
            .filter(|e| e.kind == EntryKind::File)
            .filter_map(|e| e.name.to_str())
            .map(classify_segment)
    }
}

/// The folder `runs/`.
#[derive(Debug)]
pub struct RunsFolder {
    /// The open folder.
    pub dir: Dir,
    /// All that it holds.
    pub entries: Vec<Entry>,
}

impl RunsFolder {
    /// The generations that have a folder, in order.
    #[must_use]
    pub fn generations(&self) -> Vec<Generation> {
        let mut all: Vec<Generation> = self
            .entries
            .iter()
            .filter(|e| e.kind == EntryKind::Dir)
            .filter_map(|e| match classify_run(e.name.to_str()?) {
                RunEntry::Generation(generation) => Some(generation),
                RunEntry::Named => None,
            })
            .collect();
        all.sort_unstable();
        all
    }

    /// Every generation whose name is taken, by whatever, in order: none of them is given out.
    #[must_use]
    pub fn all_generations(&self) -> Vec<Generation> {
        let mut all: Vec<Generation> = self
            .entries
            .iter()
            .filter_map(|e| e.name.to_str()?.parse().ok())
            .collect();
        all.sort_unstable();
        all
    }

    /// Folders named otherwise, leftovers aside, in the order of their names.
    pub fn named(&self) -> impl Iterator<Item = &OsString> {
        self.entries
            .iter()
            .filter(|e| e.kind == EntryKind::Dir)
            .map(|e| &e.name)
            .filter(|name| match name.to_str() {
                Some(name) => classify_run(name) == RunEntry::Named && leftover(name).is_none(),
                None => true,
            })
    }
}

/// A Worker's folder with its documents read and its names listed.
#[derive(Debug)]
pub struct WorkerState {
    /// The folder's name and the id that it spells.
    pub folder: WorkerFolder,
    /// The open folder.
    pub dir: Dir,
    /// All that it holds.
    pub entries: Vec<Entry>,
    /// `worker.json`
    pub worker: Document<WorkerDocument>,
    /// `metadata.json`
    pub metadata: Document<MetadataDocument>,
    /// `session/`
    pub session: Folder<SessionFolder>,
    /// `runs/`
    pub runs: Folder<RunsFolder>,
}

impl WorkerState {
    /// Whether this is a Worker's folder, by its name or by what it holds. Another folder of
    /// `workers/` is nobody's, and no history is in it.
    #[must_use]
    pub fn is_a_worker(&self) -> bool {
        const PARTS: [&str; 4] = [file::WORKER, file::METADATA, file::SESSION_DIR, file::RUNS];
        self.folder.id.is_some()
            || self
                .entries
                .iter()
                .any(|entry| PARTS.iter().any(|part| entry.name == *part))
    }

    /// Reads the documents and lists the folders of one Worker.
    ///
    /// The documents are read in the order in which a writer replaces them last, so that a Worker
    /// that changes meanwhile shows a pointer no newer than what it points at.
    ///
    /// # Errors
    /// The folder itself can not be listed.
    pub fn read(folder: WorkerFolder, dir: Dir) -> io::Result<Self> {
        Self::read_with(folder, dir, Dir::entries)
    }

    /// The same with [listings that settle](Dir::entries_settled): slower, and it sees all that
    /// stands in a folder that others change meanwhile.
    ///
    /// # Errors
    /// The folder itself can not be listed.
    pub fn read_settled(folder: WorkerFolder, dir: Dir) -> io::Result<Self> {
        Self::read_with(folder, dir, Dir::entries_settled)
    }

    fn read_with(
        folder: WorkerFolder,
        dir: Dir,
        list: fn(&Dir) -> io::Result<Vec<Entry>>,
    ) -> io::Result<Self> {
        let entries = list(&dir)?;
        fn has(entries: &[Entry], name: &str) -> bool {
            entries.iter().any(|e| e.name == name)
        }
        fn doc<T>(
            entries: &[Entry],
            dir: &Dir,
            name: &str,
            read: impl Fn(&[u8]) -> Result<T, DocumentFault>,
        ) -> Document<T> {
            match entries.iter().find(|e| e.name == name) {
                Some(entry) => read_listed(dir, name, entry.kind, read),
                None => Document::Missing,
            }
        }
        let metadata = doc(&entries, &dir, file::METADATA, MetadataDocument::read);
        let worker = doc(&entries, &dir, file::WORKER, WorkerDocument::read);
        let session = if has(&entries, file::SESSION_DIR) {
            read_folder(&dir, file::SESSION_DIR, |dir| {
                let entries = list(&dir)?;
                let document = doc(&entries, &dir, file::SESSION, SessionDocument::read);
                let segments = if has(&entries, file::SEGMENTS) {
                    read_folder(&dir, file::SEGMENTS, |dir| {
                        Ok(SegmentsFolder {
                            entries: list(&dir)?,
                            dir,
                        })
                    })
                } else {
                    Folder::Missing
                };
                Ok(SessionFolder {
                    dir,
                    entries,
                    document,
                    segments,
                })
            })
        } else {
            Folder::Missing
        };
        let runs = if has(&entries, file::RUNS) {
            read_folder(&dir, file::RUNS, |dir| {
                Ok(RunsFolder {
                    entries: list(&dir)?,
                    dir,
                })
            })
        } else {
            Folder::Missing
        };
        Ok(Self {
            folder,
            dir,
            entries,
            worker,
            metadata,
            session,
            runs,
        })
    }

    /// The Worker's id: that of its document, else that of its folder.
    #[must_use]
    pub fn id(&self) -> Option<WorkerId> {
        self.worker
            .good()
            .and_then(WorkerDocument::worker_id)
            .or(self.folder.id)
    }

    /// The folder `segments/`, if there is one that can be read.
    #[must_use]
    pub fn segments(&self) -> Option<&SegmentsFolder> {
        self.session.read()?.segments.read()
    }

    /// What `session.json` says.
    #[must_use]
    pub fn session_document(&self) -> Option<&SessionDocument> {
        self.session.read()?.document.good()
    }
}
