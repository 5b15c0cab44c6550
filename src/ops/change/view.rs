//! The store as a plan sees it: what is on disk, with the changes of its group that are planned
//! and not carried out yet laid over it.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::effect::{Act, Effect};
use super::fence;
use super::standing::{digest_of, parent_of};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Generation, OperationId, Paths, WorkerId, file};
use crate::record::Source;
use crate::record::document::{DocumentFault, MetadataDocument, SessionDocument, WorkerDocument};
use crate::store::fs::{committed_len, failed, stat_of};
use crate::store::{Dir, Folder, Store, WorkerFolder, WorkerState, read_whole};

/// Planned changes that are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    documents: HashMap<PathBuf, Vec<u8>>,
    appended: HashMap<PathBuf, Arc<Vec<u8>>>,
    folders: HashMap<PathBuf, ()>,
}

impl Overlay {
    /// Lays a planned act over what is there.
    pub fn add(&mut self, act: &Act) {
        match &act.effect {
            Effect::Document { path, .. } => {
                if let Some(bytes) = act.content.first() {
                    self.documents.insert(path.clone(), bytes.clone());
                }
            }
            Effect::Append { path, .. } => {
                if let Some(lines) = act.content.first() {
                    let all = self.appended.entry(path.clone()).or_default();
                    Arc::make_mut(all).extend_from_slice(lines);
                }
            }
            Effect::Folder { path, .. } => {
                self.folders.insert(path.clone(), ());
            }
            Effect::File { .. }
            | Effect::Remove { .. }
            | Effect::Keep { .. }
            | Effect::Rewrite(_)
            | Effect::Cut(_)
            | Effect::Move(_)
            | Effect::Empty { .. } => {}
        }
    }
}

/// The committed records of a Segment, those that are planned and not on disk yet at their end.
#[derive(Debug)]
pub struct Records {
    file: File,
    stored: u64,
    tail: u64,
    planned: Arc<Vec<u8>>,
}

impl Records {
    /// The committed length, in bytes.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.stored + self.planned.len() as u64
    }

    /// How many bytes follow the last newline on disk: the torn tail.
    #[must_use]
    pub const fn tail(&self) -> u64 {
        self.tail
    }

    /// SHA-256 of all of them, in hex.
    ///
    /// # Errors
    /// They can not be read.
    pub fn sha256(&self, path: &Path) -> Result<String> {
        digest_of(self, 0, self.committed())
            .and_then(|digest| digest.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()))
            .map_err(|e| failed("read", path, e))
    }
}

impl Source for Records {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.stored {
            return self.planned.as_slice().read_at(buf, offset - self.stored);
        }
        let room = usize::try_from(self.stored - offset).unwrap_or(buf.len());
        let room = room.min(buf.len());
        Source::read_at(&self.file, &mut buf[..room], offset)
    }
}

/// What a plan reads.
pub struct View<'a> {
    store: &'a Store,
    overlay: Option<&'a Overlay>,
    operation: OperationId,
}

/// The error of a document that is damaged, for a command that needs it.
pub(crate) fn document_error(fault: &DocumentFault, path: PathBuf) -> Error {
    let locus = Locus {
        path,
        line: fault.line,
        byte: fault.byte,
        length: None,
    };
    Error::new(fault.code, fault.message.clone())
        .at(locus)
        .hint("wagg verify")
}

/// The error of a Worker that is not there.
pub(crate) fn no_worker(id: WorkerId) -> Error {
    Error::new(Code::NotFound, format!("there is no Worker {id}")).hint("wagg worker list")
}

impl<'a> View<'a> {
    /// The store as it is on disk.
    #[must_use]
    pub fn plain(store: &'a Store) -> Self {
        Self {
            store,
            overlay: None,
            operation: OperationId::mint(),
        }
    }

    pub(super) fn over(store: &'a Store, overlay: &'a Overlay) -> Self {
        Self {
            store,
            overlay: Some(overlay),
            operation: OperationId::mint(),
        }
    }

    /// The same for a plan of this operation.
    pub(super) fn of(mut self, operation: OperationId) -> Self {
        self.operation = operation;
        self
    }

    /// The operation that is planned, for what it writes about itself.
    #[must_use]
    pub const fn operation(&self) -> OperationId {
        self.operation
    }

    /// The store itself, for what no other change of a group touches.
    #[must_use]
    pub fn store(&self) -> &'a Store {
        self.store
    }

    /// The store's root.
    #[must_use]
    pub fn root(&self) -> &'a Dir {
        self.store.dir()
    }

    /// The bytes of a document; none if there is none.
    ///
    /// # Errors
    /// It can not be read, or is no file.
    pub fn document(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        if let Some(bytes) = self.overlay.and_then(|o| o.documents.get(path)) {
            return Ok(Some(bytes.clone()));
        }
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some(dir) = parent_of(self.root(), path)? else {
                return Ok(None);
            };
            match dir.file(path.file_name().unwrap_or_default()) {
                Ok(file) => read_whole(&file).map(Some),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            }
        };
        read().map_err(|e| failed("read", path, e))
    }

    /// Whether a folder is there.
    ///
    /// # Errors
    /// It can not be told.
    pub fn exists(&self, path: &Path) -> Result<bool> {
        if self.overlay.is_some_and(|o| o.folders.contains_key(path)) {
            return Ok(true);
        }
        let look = || -> io::Result<bool> {
            let Some(dir) = parent_of(self.root(), path)? else {
                return Ok(false);
            };
            Ok(dir
                .try_stat(path.file_name().unwrap_or_default())?
                .is_some())
        };
        look().map_err(|e| failed("look at", path, e))
    }

    /// The committed records of a Segment.
    ///
    /// # Errors
    /// It can not be read.
    pub fn records(&self, path: &Path) -> Result<Records> {
        let open = || -> io::Result<(File, u64, u64)> {
            let dir = parent_of(self.root(), path)?
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            let file = dir.file(path.file_name().unwrap_or_default())?;
            let len = stat_of(&file)?.len;
            let committed = committed_len(&file, len)?;
            Ok((file, committed, len - committed))
        };
        let (file, stored, tail) = open().map_err(|e| failed("read", path, e))?;
        let planned = self.overlay.and_then(|o| o.appended.get(path));
        Ok(Records {
            file,
            stored,
            tail,
            planned: planned.map(Arc::clone).unwrap_or_default(),
        })
    }

    /// Refuses if a run of the Worker answers (C13).
    ///
    /// # Errors
    /// `worker_live`, or it can not be told.
    pub fn refuse_live(&self, id: WorkerId) -> Result<()> {
        match fence::live_run(self.store, id)? {
            Some(generation) => Err(fence::worker_live(id, generation)),
            None => Ok(()),
        }
    }

    /// A Worker's `worker.json`: its bytes and what they say.
    ///
    /// # Errors
    /// `not_found`, or what is wrong with it; `worker_id_mismatch` if it is another Worker's.
    pub fn worker(&self, id: WorkerId) -> Result<(Vec<u8>, WorkerDocument)> {
        let path = Paths::worker_document(id);
        let Some(bytes) = self.document(&path)? else {
            return Err(if self.exists(&Paths::worker(id))? {
                Error::new(
                    Code::MissingWorkerDocument,
                    format!("Worker {id} has no worker.json"),
                )
                .at(Locus::file(path))
                .hint(format!("wagg verify {id}"))
            } else {
                no_worker(id)
            });
        };
        let document =
            WorkerDocument::read(&bytes).map_err(|f| document_error(&f, path.clone()))?;
        if document.worker_id() != Some(id) || document.worker_ref() != Some(id) {
            return Err(Error::new(
                Code::WorkerIdMismatch,
                format!("the folder of Worker {id} holds a worker.json that says otherwise"),
            )
            .at(Locus::file(path))
            .hint(format!("wagg verify {id}")));
        }
        Ok((bytes, document))
    }

    /// A Worker's `metadata.json`: its bytes and what they say; none if there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn metadata(&self, id: WorkerId) -> Result<Option<(Vec<u8>, MetadataDocument)>> {
        let path = Paths::metadata(id);
        let Some(bytes) = self.document(&path)? else {
            return Ok(None);
        };
        let document = MetadataDocument::read(&bytes).map_err(|f| document_error(&f, path))?;
        Ok(Some((bytes, document)))
    }

    /// A Worker's `session.json`; none if there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn session(&self, id: WorkerId) -> Result<Option<SessionDocument>> {
        let path = Paths::session_document(id);
        let Some(bytes) = self.document(&path)? else {
            return Ok(None);
        };
        SessionDocument::read(&bytes)
            .map(Some)
            .map_err(|f| document_error(&f, path))
    }

    /// Everything of a Worker, from the disk.
    ///
    /// # Errors
    /// `not_found`, or it can not be read.
    pub fn state(&self, id: WorkerId) -> Result<WorkerState> {
        let name = Store::folder_of(id);
        let dir = self.store.worker_dir(&name)?.ok_or_else(|| no_worker(id))?;
        let path = Paths::worker(id);
        WorkerState::read(WorkerFolder::of(name), dir).map_err(|e| failed("read", &path, e))
    }

    /// The highest generation that a run folder or the document knows; 0 if none.
    ///
    /// # Errors
    /// They can not be read.
    pub fn highest_generation(&self, id: WorkerId, document: &WorkerDocument) -> Result<u64> {
        let name = Store::folder_of(id);
        let dir = self.store.worker_dir(&name)?.ok_or_else(|| no_worker(id))?;
        let runs = crate::store::read_folder(&dir, file::RUNS, |dir| {
            Ok(crate::store::RunsFolder {
                entries: dir.entries()?,
                dir,
            })
        });
        let folders = match runs {
            Folder::Read(runs) => runs
                .all_generations()
                .last()
                .map_or(0, |g: &Generation| g.get()),
            Folder::Missing => 0,
            Folder::NotAFolder(kind) => {
                let e = crate::store::fs::WrongKind { kind }.into();
                return Err(failed("open", &Paths::runs(id), e));
            }
            Folder::Unreadable(e) => return Err(failed("read", &Paths::runs(id), e)),
        };
        Ok(document.run_generation.max(folders))
    }
}
