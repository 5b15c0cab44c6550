//! A store: how it is found and opened for reading.

use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::document::{Document, read_document};
use super::fs::{Dir, EntryKind, not_opened};
use super::worker::WorkerFolder;
use crate::diag::{Code, Error, IoContext, Result};
use crate::layout::{CatalogVersion, WorkerId, file};
use crate::record::document::RuntimeDocument;

/// A store that is open for reading. It takes no lock and creates nothing.
pub struct Store {
    dir: Dir,
    path: PathBuf,
}

/// Where a store was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A person named this folder.
    Named(PathBuf),
    /// The nearest folder upwards from here.
    Upwards(PathBuf),
}

/// What stands at a path; a link is followed.
fn kind_at(path: &Path) -> Option<EntryKind> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    Some(if kind.is_dir() {
        EntryKind::Dir
    } else if kind.is_file() {
        EntryKind::File
    } else if kind.is_fifo() {
        EntryKind::Fifo
    } else if kind.is_socket() {
        EntryKind::Socket
    } else if kind.is_block_device() || kind.is_char_device() {
        EntryKind::Device
    } else {
        EntryKind::Unknown
    })
}

/// In words what stands under the two names of a store, if something does.
fn beside(runtime: Option<EntryKind>, workers: Option<EntryKind>) -> Option<String> {
    let names = [(file::RUNTIME, runtime), (file::WORKERS, workers)];
    let there: Vec<String> = names
        .iter()
        .filter_map(|(name, kind)| Some(format!("its {name} is {}", (*kind)?.noun())))
        .collect();
    let missing = names
        .iter()
        .filter(|(_, kind)| kind.is_none())
        .map(|(name, _)| format!("it has no {name}"));
    if there.is_empty() {
        return None;
    }
    let all: Vec<String> = there.iter().cloned().chain(missing).collect();
    Some(all.join(", and "))
}

/// The nearest folder that is a store but for something, and what.
fn nearly(start: &Path) -> String {
    let told = start.ancestors().find_map(|dir| {
        let there = beside(
            kind_at(&dir.join(file::RUNTIME)),
            kind_at(&dir.join(file::WORKERS)),
        )?;
        Some(format!("; {} is none: {there}", dir.display()))
    });
    told.unwrap_or_default()
}

impl Store {
    /// Finds and opens a store: the named folder, else the nearest one upwards.
    ///
    /// # Errors
    /// `store_not_found`, with what was tried.
    pub fn find(wanted: &Wanted) -> Result<Self> {
        match wanted {
            Wanted::Named(path) => Self::open(path),
            Wanted::Upwards(from) => {
                let start = std::path::absolute(from).io("look from", from)?;
                let found = start.ancestors().find(|dir| {
                    dir.join(file::RUNTIME).is_file() && dir.join(file::WORKERS).is_dir()
                });
                match found {
                    Some(path) => Self::open(path),
                    None => Err(Error::new(
                        Code::StoreNotFound,
                        format!(
                            "no store here: no folder from {} upwards holds {} and {}/{}",
                            start.display(),
                            file::RUNTIME,
                            file::WORKERS,
                            nearly(&start)
                        ),
                    )
                    .hint("name one with --store DIR, or set WAGG_STORE")),
                }
            }
        }
    }

    /// Opens a folder as a store. One without `runtime.json` is opened too, as long as it has
    /// `workers/`: it can be read, and `verify` says what is missing.
    ///
    /// # Errors
    /// `store_not_found` if it has neither; `io_failed` if it can not be read.
    pub fn open(path: &Path) -> Result<Self> {
        let not_found = |what: String| {
            Error::new(
                Code::StoreNotFound,
                format!("{} is no store: {what}", path.display()),
            )
            .hint(format!(
                "a store holds {} and {}/; name one with --store DIR",
                file::RUNTIME,
                file::WORKERS
            ))
        };
        let dir = match Dir::open_root(path) {
            Ok(dir) => dir,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_found("there is nothing".to_owned()));
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
                let kind = kind_at(path).unwrap_or(EntryKind::Unknown);
                return Err(not_found(format!("it is {}", kind.noun())));
            }
            Err(e) => return Err(not_opened(path, e)),
        };
        let kind = |name: &str| {
            dir.try_stat(name)
                .io("look at", path.join(name))
                .map(|s| s.map(|s| s.kind))
        };
        let (runtime, workers) = (kind(file::RUNTIME)?, kind(file::WORKERS)?);
        // A link in its place makes a store that something is wrong with.
        let is = |found: Option<EntryKind>, wanted: EntryKind| {
            found.is_some_and(|kind| kind == wanted || kind == EntryKind::Symlink)
        };
        if !is(runtime, EntryKind::File) && !is(workers, EntryKind::Dir) {
            let what = match (kind(file::RUNTIMES)?, beside(runtime, workers)) {
                (_, Some(there)) => there,
                (Some(EntryKind::Dir), None) => format!(
                    "it holds {}/, the oldest layout, which `wagg migrate` moves up",
                    file::RUNTIMES
                ),
                (_, None) => {
                    format!("it holds neither {} nor {}/", file::RUNTIME, file::WORKERS)
                }
            };
            return Err(not_found(what));
        }
        Ok(Self {
            dir,
            path: path.to_owned(),
        })
    }

    /// A folder that is to become a store. Whether it is one already is not looked at.
    #[must_use]
    pub fn founding(dir: Dir, path: &Path) -> Self {
        Self {
            dir,
            path: path.to_owned(),
        }
    }

    /// The root folder.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The root's path as it was given or found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `runtime.json` says.
    #[must_use]
    pub fn runtime(&self) -> Document<RuntimeDocument> {
        read_document(&self.dir, file::RUNTIME, RuntimeDocument::read)
    }

    /// The store's version, as far as `runtime.json` tells; else version 1.
    #[must_use]
    pub fn version(&self) -> CatalogVersion {
        self.runtime()
            .good()
            .map_or(CatalogVersion::V1, RuntimeDocument::version)
    }

    /// Whether `runtime.json` states a version that this program does not know.
    #[must_use]
    pub fn is_of_unknown_version(&self) -> bool {
        match self.runtime() {
            Document::Good(runtime) => matches!(runtime.version(), CatalogVersion::Other(_)),
            Document::Faulty(fault) => fault.code == Code::UnsupportedSchemaVersion,
            _ => false,
        }
    }

    /// The folder `workers/`; none if it is not there.
    ///
    /// # Errors
    /// It can not be opened.
    pub fn workers_dir(&self) -> Result<Option<Dir>> {
        match self.dir.dir(file::WORKERS) {
            Ok(dir) => Ok(Some(dir)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(not_opened(Path::new(file::WORKERS), e)),
        }
    }

    /// The folders of `workers/`, Workers first in the order of their ids, then the others by name.
    /// What is no folder is left out.
    ///
    /// # Errors
    /// `workers/` can not be read.
    pub fn worker_folders(&self) -> Result<Vec<WorkerFolder>> {
        let Some(workers) = self.workers_dir()? else {
            return Ok(Vec::new());
        };
        let entries = workers
            .entries()
            .map_err(|e| not_opened(Path::new(file::WORKERS), e))?;
        let mut folders: Vec<WorkerFolder> = entries
            .into_iter()
            .filter(|e| e.kind == EntryKind::Dir)
            .map(|e| WorkerFolder::of(e.name))
            .collect();
        folders.sort();
        Ok(folders)
    }

    /// What stands under a Worker's id in `workers/` and is no folder, in the order of the ids.
    ///
    /// # Errors
    /// `workers/` can not be read.
    pub fn no_worker_folders(&self) -> Result<Vec<(WorkerFolder, EntryKind)>> {
        let Some(workers) = self.workers_dir()? else {
            return Ok(Vec::new());
        };
        let entries = workers
            .entries()
            .map_err(|e| not_opened(Path::new(file::WORKERS), e))?;
        let mut found: Vec<(WorkerFolder, EntryKind)> = entries
            .into_iter()
            .filter(|e| e.kind != EntryKind::Dir)
            .map(|e| (WorkerFolder::of(e.name), e.kind))
            .filter(|(folder, _)| folder.id.is_some())
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// Opens the folder of one Worker; none if it is not there.
    ///
    /// # Errors
    /// It can not be opened.
    pub fn worker_dir(&self, name: &OsString) -> Result<Option<Dir>> {
        let Some(workers) = self.workers_dir()? else {
            return Ok(None);
        };
        Self::worker_dir_in(&workers, name)
    }

    /// The same with `workers/` open already.
    ///
    /// # Errors
    /// It can not be opened.
    pub fn worker_dir_in(workers: &Dir, name: &OsString) -> Result<Option<Dir>> {
        match workers.dir(name) {
            Ok(dir) => Ok(Some(dir)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(not_opened(&workers.path_of(name), e)),
        }
    }

    /// The folder name of a Worker id.
    #[must_use]
    pub fn folder_of(id: WorkerId) -> OsString {
        OsString::from(id.to_string())
    }
}
