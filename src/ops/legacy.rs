//! The two legacy roots as they stand on disk: read, never written, never followed through a link
//! (C21). One pass over the names of each; of a Session folder only the name is looked at.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::ownership::{Source, Trouble};
use crate::diag::{Code, Progress};
use crate::layout::{SessionId, file};
use crate::record::document::MetadataDocument;
use crate::store::{Dir, Document, Entry, EntryKind, read_document, wrong_kind};

/// Where the legacy roots are, as a person gave them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The Session root: one folder a Session.
    pub sessions: PathBuf,
    /// The metadata root: one folder a Worker name.
    pub metadata: PathBuf,
}

/// What stands where a root should be.
#[derive(Debug)]
pub enum Root {
    /// Nothing: it counts as empty.
    Absent,
    /// It can not be listed.
    Trouble(Trouble),
    /// An open folder.
    Open(Dir),
}

impl Root {
    /// Opens what stands there. A link that a person named is followed.
    #[must_use]
    pub fn open(path: &Path) -> Self {
        match Dir::open_root(path) {
            Ok(dir) => Self::Open(dir),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Self::Absent,
            Err(e) => Self::Trouble(trouble(&e)),
        }
    }

    /// The folder, if it could be opened.
    #[must_use]
    pub fn dir(&self) -> Option<&Dir> {
        match self {
            Self::Open(dir) => Some(dir),
            _ => None,
        }
    }

    /// Whether nothing stands there.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

fn trouble(error: &io::Error) -> Trouble {
    match wrong_kind(error) {
        Some(kind) => Trouble::wrong_kind(kind),
        None if error.kind() == io::ErrorKind::NotADirectory => Trouble {
            code: Code::NotARegularFile,
            message: "it is no folder".to_owned(),
            ..Trouble::unreadable(error)
        },
        None => Trouble::unreadable(error),
    }
}

/// The legacy metadata root.
#[derive(Debug)]
pub struct MetadataRoot {
    /// The root itself.
    pub root: Root,
    /// Its folders, in the order of their names.
    pub sources: Vec<Source>,
    /// All else that it holds.
    pub strays: Vec<Entry>,
}

impl MetadataRoot {
    /// Reads the document of every folder. One that does not read stops nothing.
    #[must_use]
    pub fn read(path: &Path, progress: &dyn Progress) -> Self {
        let (root, entries) = list(path);
        let mut this = Self {
            root,
            sources: Vec::new(),
            strays: Vec::new(),
        };
        let Root::Open(dir) = &this.root else {
            return this;
        };
        for entry in entries {
            if progress.interrupted() {
                break;
            }
            if entry.kind != EntryKind::Dir {
                this.strays.push(entry);
                continue;
            }
            match dir.dir(&entry.name) {
                Ok(folder) => {
                    let document = read_document(&folder, file::METADATA, MetadataDocument::read);
                    this.sources.push(Source::new(entry.name, &document));
                }
                // It went away while the root was read.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    let document = match wrong_kind(&e) {
                        Some(kind) => Document::NotAFile(kind),
                        None => Document::Unreadable(e),
                    };
                    this.sources.push(Source::new(entry.name, &document));
                }
            }
        }
        this
    }
}

/// The legacy Session root, by names.
#[derive(Debug)]
pub struct SessionRoot {
    /// The root itself.
    pub root: Root,
    /// The folders whose name is the one spelling of a Session id.
    pub folders: BTreeSet<SessionId>,
    /// All else, in the order of names: folders of another name too.
    pub strays: Vec<Entry>,
}

impl SessionRoot {
    /// Lists the root.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let (root, entries) = list(path);
        let mut this = Self {
            root,
            folders: BTreeSet::new(),
            strays: Vec::new(),
        };
        for entry in entries {
            let id = entry.name.to_str().and_then(|name| name.parse().ok());
            match (id, entry.kind) {
                (Some(id), EntryKind::Dir) => {
                    this.folders.insert(id);
                }
                _ => this.strays.push(entry),
            }
        }
        this
    }

    /// What stands under the name of a Session that is no folder.
    #[must_use]
    pub fn instead_of(&self, session: SessionId) -> Option<EntryKind> {
        let name = OsString::from(session.to_string());
        let at = self.strays.binary_search_by(|stray| stray.name.cmp(&name));
        at.ok().map(|at| self.strays[at].kind)
    }
}

/// Opens a root and lists it, in the order of names.
fn list(path: &Path) -> (Root, Vec<Entry>) {
    let root = Root::open(path);
    match root.dir().map(Dir::entries) {
        None => (root, Vec::new()),
        Some(Err(e)) => (Root::Trouble(trouble(&e)), Vec::new()),
        Some(Ok(entries)) => (root, entries),
    }
}
