//! Looking an id or a name up among all Workers. Each search opens as little as it can: names and
//! Sessions need documents, Segments need names of files only.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::form::Prefix;
use crate::diag::{Error, Result};
use crate::layout::{Paths, SegmentEntry, SegmentId, SessionId, WorkerId, classify_segment, file};
use crate::ops::read::{SegmentRef, WorkerRef, open_error};
use crate::record::document::{MetadataDocument, SessionDocument, WorkerDocument};
use crate::store::{Dir, EntryKind, Store, WorkerFolder, read_document};

/// A Worker's folder that is open, for a search.
struct Candidate {
    folder: std::ffi::OsString,
    id: Option<WorkerId>,
    dir: Dir,
}

impl Candidate {
    fn document(&self) -> Option<WorkerDocument> {
        read_document(&self.dir, file::WORKER, WorkerDocument::read)
            .good()
            .cloned()
    }

    /// The Worker, if the folder or its document says who it is.
    fn worker(&self) -> Option<WorkerRef> {
        let id = self.id.or_else(|| self.document()?.worker_id())?;
        Some(WorkerRef {
            id,
            folder: self.folder.clone(),
        })
    }

    fn segments(&self) -> Option<Dir> {
        self.dir.dir_at([file::SESSION_DIR, file::SEGMENTS]).ok()
    }
}

/// Opens the Workers one after the other; what can not be opened holds nothing to be found.
fn each(store: &Store, mut look: impl FnMut(&Candidate)) -> Result<()> {
    let Some(workers) = store.workers_dir()? else {
        return Ok(());
    };
    for folder in store.worker_folders()? {
        if let Ok(dir) = workers.dir(&folder.name) {
            look(&Candidate {
                folder: folder.name,
                id: folder.id,
                dir,
            });
        }
    }
    Ok(())
}

/// Why some Worker's Segments can not be looked through, if that is so: what is not found may stand
/// there.
pub(super) fn hidden(store: &Store) -> Result<Option<Error>> {
    let Some(workers) = store.workers_dir()? else {
        return Ok(None);
    };
    let shut = |path: PathBuf, e: io::Error| {
        Ok((e.kind() != io::ErrorKind::NotFound).then(|| open_error(&path, e)))
    };
    let entries = workers
        .entries()
        .map_err(|e| open_error(Path::new(file::WORKERS), e))?;
    for entry in entries {
        if WorkerFolder::of(entry.name.clone()).id.is_none() {
            continue;
        }
        let path = workers.path_of(&entry.name);
        let found = match workers.dir(&entry.name) {
            Err(e) => shut(path, e)?,
            Ok(dir) => {
                let inside = [file::SESSION_DIR, file::SEGMENTS];
                let listed = dir.dir_at(inside).and_then(|dir| segments_in(&dir));
                match listed {
                    Err(e) => shut(path.join(file::SESSION_DIR).join(file::SEGMENTS), e)?,
                    Ok(_) => None,
                }
            }
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The Segments in a folder that is open, in the order of their ids. What is no file under such a
/// name counts too: opening it says what it is instead.
pub(super) fn segments_in(dir: &Dir) -> io::Result<Vec<SegmentId>> {
    Ok(dir
        .entries()?
        .into_iter()
        .filter_map(|entry| match classify_segment(entry.name.to_str()?) {
            SegmentEntry::Segment(id) => Some(id),
            _ => None,
        })
        .collect())
}

/// The Segments of all Workers that begin with a prefix.
pub(super) fn segments_by_prefix(store: &Store, prefix: &Prefix) -> Result<Vec<SegmentRef>> {
    let mut found = Vec::new();
    each(store, |candidate| {
        let ids = candidate.segments().map(|dir| segments_in(&dir));
        let ids: Vec<SegmentId> = ids
            .and_then(io::Result::ok)
            .unwrap_or_default()
            .into_iter()
            .filter(|id| prefix.begins(id.uuid()))
            .collect();
        if !ids.is_empty()
            && let Some(worker) = candidate.worker()
        {
            found.extend(ids.into_iter().map(|segment| SegmentRef {
                worker: worker.clone(),
                segment,
            }));
        }
    })?;
    Ok(found)
}

/// The Segments of all Workers with this id.
pub(super) fn segments_by_id(store: &Store, id: SegmentId) -> Result<Vec<SegmentRef>> {
    let name = Paths::segment_name(id);
    let mut found = Vec::new();
    each(store, |candidate| {
        let stat = candidate.segments().map(|dir| dir.try_stat(&name));
        if let Some(Ok(Some(_))) = stat
            && let Some(worker) = candidate.worker()
        {
            found.push(SegmentRef {
                worker,
                segment: id,
            });
        }
    })?;
    Ok(found)
}

/// A Session and the Worker that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    pub worker: WorkerRef,
    pub session: SessionId,
}

/// The Session of a Worker's folder: that of `session.json`, else the one that its metadata
/// reserves.
pub(super) fn session_in(worker: &Dir) -> Option<SessionId> {
    let of_document = || {
        let dir = worker.dir(file::SESSION_DIR).ok()?;
        read_document(&dir, file::SESSION, SessionDocument::read)
            .good()?
            .session()
    };
    let of_metadata = || {
        read_document(worker, file::METADATA, MetadataDocument::read)
            .good()?
            .active
            .as_ref()?
            .session()
    };
    of_document().or_else(of_metadata)
}

/// The Sessions of all Workers whose id fits.
pub(super) fn sessions(store: &Store, fits: impl Fn(Uuid) -> bool) -> Result<Vec<Owned>> {
    let mut found = Vec::new();
    each(store, |candidate| {
        if let Some(session) = session_in(&candidate.dir)
            && fits(session.uuid())
            && let Some(worker) = candidate.worker()
        {
            found.push(Owned { worker, session });
        }
    })?;
    Ok(found)
}

/// The Workers with an id of version 3 that begins with a prefix.
pub(super) fn workers_by_prefix(store: &Store, prefix: &Prefix) -> Result<Vec<WorkerRef>> {
    let folders = store.worker_folders()?.into_iter();
    Ok(folders
        .filter_map(|folder| match folder.id? {
            id @ WorkerId::Uuid(uuid) if prefix.begins(uuid) => Some(WorkerRef {
                id,
                folder: folder.name,
            }),
            _ => None,
        })
        .collect())
}

/// The Workers whose `worker.json` states this id, in folders that are named otherwise.
pub(super) fn workers_by_document(store: &Store, id: WorkerId) -> Result<Vec<WorkerRef>> {
    let mut found = Vec::new();
    each(store, |candidate| {
        if candidate.id != Some(id) && candidate.document().and_then(|d| d.worker_id()) == Some(id)
        {
            // The folder's own id is the one that leads there again.
            found.push(WorkerRef {
                id: candidate.id.unwrap_or(id),
                folder: candidate.folder.clone(),
            });
        }
    })?;
    Ok(found)
}

/// The Workers with a display name or metadata name that fits.
pub(super) fn workers_by_name(
    store: &Store,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<WorkerRef>> {
    let mut found = Vec::new();
    each(store, |candidate| {
        let document = candidate.document();
        let shown = document.as_ref().and_then(WorkerDocument::display_name);
        let named = shown.is_some_and(&fits)
            || read_document(&candidate.dir, file::METADATA, MetadataDocument::read)
                .good()
                .is_some_and(|metadata| fits(&metadata.worker_name));
        let id = candidate
            .id
            .or_else(|| document.as_ref().and_then(WorkerDocument::worker_id));
        if let (true, Some(id)) = (named, id) {
            found.push(WorkerRef {
                id,
                folder: candidate.folder.clone(),
            });
        }
    })?;
    Ok(found)
}

/// The folder of a Worker, if one stands under this name.
pub(super) fn worker_folder(store: &Store, name: &OsStr) -> io::Result<Option<EntryKind>> {
    match store.dir().dir(file::WORKERS) {
        Ok(workers) => Ok(workers.try_stat(name)?.map(|stat| stat.kind)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Every id that a beginning may lead to, in order and each once.
pub(super) fn all_ids(store: &Store) -> Result<Vec<Uuid>> {
    let mut all = Vec::new();
    each(store, |candidate| {
        if let Some(WorkerId::Uuid(id)) = candidate.id {
            all.push(id);
        }
        if let Some(Ok(ids)) = candidate.segments().map(|dir| segments_in(&dir)) {
            all.extend(ids.into_iter().map(SegmentId::uuid));
        }
    })?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
