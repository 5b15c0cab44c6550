//! A store: how it is found and opened for reading.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::document::{Document, read_document};
use super::fs::{Dir, EntryKind};
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
                            "no store here: no folder from {} upwards holds {} and {}/",
                            start.display(),
                            file::RUNTIME,
                            file::WORKERS
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
            Err(e)
                if matches!(super::fs::wrong_kind(&e), Some(EntryKind::File))
                    || e.kind() == std::io::ErrorKind::NotADirectory =>
            {
                return Err(not_found("it is a file".to_owned()));
            }
            Err(e) => return Err(Error::io("open", path, e)),
        };
        let has = |name: &str| {
            dir.try_stat(name)
                .io("look at", path.join(name))
                .map(|s| s.is_some())
        };
        if !has(file::RUNTIME)? && !has(file::WORKERS)? {
            let oldest = has(file::RUNTIMES)?;
            let what = if oldest {
                format!(
                    "it holds {}/, the oldest layout, which `wagg migrate` moves up",
                    file::RUNTIMES
                )
            } else {
                format!("it holds neither {} nor {}/", file::RUNTIME, file::WORKERS)
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

    /// The folder `workers/`; none if it is not there.
    ///
    /// # Errors
    /// It can not be opened.
    pub fn workers_dir(&self) -> Result<Option<Dir>> {
        match self.dir.dir(file::WORKERS) {
            Ok(dir) => Ok(Some(dir)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("open", Path::new(file::WORKERS), e)),
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
        let entries = workers.entries().io("read", file::WORKERS)?;
        let mut folders: Vec<WorkerFolder> = entries
            .into_iter()
            .filter(|e| e.kind == EntryKind::Dir)
            .map(|e| WorkerFolder::of(e.name))
            .collect();
        folders.sort();
        Ok(folders)
    }

    /// Opens the folder of one Worker; none if it is not there.
    ///
    /// # Errors
    /// It can not be opened.
    pub fn worker_dir(&self, name: &OsString) -> Result<Option<Dir>> {
        let Some(workers) = self.workers_dir()? else {
            return Ok(None);
        };
        match workers.dir(name) {
            Ok(dir) => Ok(Some(dir)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("open", &workers.path_of(name), e)),
        }
    }

    /// The folder name of a Worker id.
    #[must_use]
    pub fn folder_of(id: WorkerId) -> OsString {
        OsString::from(id.to_string())
    }
}
