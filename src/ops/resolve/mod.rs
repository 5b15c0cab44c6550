//! The one resolver (C3): any reference that a person may hold becomes one typed identity.
//!
//! What a reference may look like stands in [`form`]. An id that is there under its own name is
//! found with one look; only beginnings, names, and UUIDs that are no Worker's go through all
//! Workers. Two matches are refused and both are named, and so is an id of another kind than the
//! command takes.

mod error;
pub mod form;
mod place;
mod search;

use std::path::PathBuf;

use uuid::Uuid;

use self::error::{ambiguous, not_found};
use self::form::{Form, Prefix};
use crate::diag::{Code, Error, IoContext, Locus, Result};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId, file};
use crate::ops::read::{SegmentRef, WorkerRef, document, not_a, open_error};
use crate::record::document::MetadataDocument;
use crate::store::{EntryKind, Store, read_document};

pub use self::error::wrong_kind;
pub use self::form::is_no_plain_name;
pub use self::place::RunName;

/// What a reference is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The store itself.
    Store,
    /// A Worker.
    Worker(WorkerRef),
    /// A Session, and the Worker that has it.
    Session {
        /// Whose it is.
        worker: WorkerRef,
        /// Its id.
        session: SessionId,
    },
    /// A Segment.
    Segment(SegmentRef),
    /// The trace beside a Segment, which may be missing.
    Trace(SegmentRef),
    /// The folder of a run.
    Run {
        /// Whose it is.
        worker: WorkerRef,
        /// Its generation, or its name if that is none.
        run: RunName,
    },
    /// Something else inside the store.
    Other {
        /// Relative to the store.
        path: PathBuf,
        /// What stands there.
        kind: EntryKind,
        /// Whose folder it is in, if it is in one.
        worker: Option<WorkerRef>,
    },
}

/// The active pointer of a Worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// The Session.
    pub session: SessionId,
    /// The Segment; none if the Session is reserved only.
    pub segment: Option<SegmentId>,
}

/// Resolves references in one store.
#[derive(Clone, Copy)]
pub struct Resolver<'a> {
    store: &'a Store,
}

impl<'a> Resolver<'a> {
    /// A resolver for this store.
    #[must_use]
    pub const fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Tells what a reference is.
    ///
    /// # Errors
    /// `not_found`, `ambiguous_reference`; what stands in the way of a look, such as
    /// `symbolic_link` or `corrupt_document`.
    pub fn resolve(&self, text: &str) -> Result<Identity> {
        self.find(text, false)
    }

    /// The Worker that a reference means.
    ///
    /// # Errors
    /// Those of [`Resolver::resolve`], and `wrong_id_kind` for a reference to something else.
    pub fn worker(&self, text: &str) -> Result<WorkerRef> {
        match self.find(text, false)? {
            Identity::Worker(worker) => Ok(worker),
            other => Err(wrong_kind(self.store, text, "a Worker", &other)),
        }
    }

    /// The Segment that a reference means.
    ///
    /// # Errors
    /// Those of [`Resolver::resolve`], and `wrong_id_kind` for a reference to something else.
    pub fn segment(&self, text: &str) -> Result<SegmentRef> {
        let found = self.find(text, true)?;
        if let Identity::Segment(segment) = found {
            return Ok(segment);
        }
        // A Worker's number may be the beginning of a Segment's id as well; then both are named.
        if let (Identity::Worker(worker), Form::Number(_, Some(prefix))) = (&found, Form::of(text))
        {
            let segments = search::segments_by_prefix(self.store, &prefix)?;
            if !segments.is_empty() {
                let mut all = vec![Identity::Worker(worker.clone())];
                all.extend(segments.into_iter().map(Identity::Segment));
                return Err(ambiguous(text, &all));
            }
        }
        Err(wrong_kind(self.store, text, "a Segment", &found))
    }

    fn find(&self, text: &str, segment_wanted: bool) -> Result<Identity> {
        match Form::of(text) {
            Form::Name(name) => self.by_name(text, name).map(Identity::Worker),
            Form::Number(id, prefix) => self.by_number(text, id, prefix.as_ref()),
            Form::Uuid(id) => self.by_uuid(text, id, segment_wanted),
            Form::Prefix(prefix) => self.by_prefix(text, &prefix),
            Form::BadNumber => Err(not_found(
                self.store,
                text,
                format!(
                    "{text} is no id: the number of a Worker has no leading zero and fits 64 bits"
                ),
            )),
            Form::Active(worker) => {
                let worker = self.worker(worker)?;
                self.active_segment(&worker).map(Identity::Segment)
            }
            Form::Latest(worker) => {
                let worker = self.worker(worker)?;
                self.latest_segment(&worker).map(Identity::Segment)
            }
            Form::SegmentOf(worker, prefix) => {
                let worker = self.worker(worker)?;
                self.segment_of(text, &worker, &prefix)
                    .map(Identity::Segment)
            }
            Form::InStore(path) => place::in_store(self.store, text, path),
            Form::FromHere(path) => place::from_here(self.store, text, path),
        }
    }

    /// The Worker in the folder that an id names, with one look.
    fn by_folder(&self, id: WorkerId) -> Result<Option<WorkerRef>> {
        let worker = WorkerRef::of(id);
        let kind = search::worker_folder(self.store, &worker.folder)
            .map_err(|e| open_error(&worker.path(), e))?;
        match kind {
            Some(EntryKind::Dir) => Ok(Some(worker)),
            Some(kind) => Err(not_a(&worker.path(), kind)),
            None => Ok(None),
        }
    }

    fn by_number(&self, text: &str, id: WorkerId, prefix: Option<&Prefix>) -> Result<Identity> {
        if let Some(worker) = self.by_folder(id)? {
            return Ok(Identity::Worker(worker));
        }
        // Folders that were copied or renamed by hand.
        let mut all: Vec<Identity> = search::workers_by_document(self.store, id)?
            .into_iter()
            .map(Identity::Worker)
            .collect();
        if let Some(prefix) = prefix {
            let segments = search::segments_by_prefix(self.store, prefix)?;
            all.extend(segments.into_iter().map(Identity::Segment));
        }
        self.one(text, all, || match prefix {
            Some(_) => format!("no Worker has the id {text}, and no Segment id begins with it"),
            None => format!("no Worker has the id {text}"),
        })
    }

    fn by_uuid(&self, text: &str, id: Uuid, segment_wanted: bool) -> Result<Identity> {
        // On disk there is one spelling, so that is the one to look for.
        if let Ok(worker) = id.hyphenated().to_string().parse::<WorkerId>()
            && !segment_wanted
            && let Some(worker) = self.by_folder(worker)?
        {
            return Ok(Identity::Worker(worker));
        }
        let mut all: Vec<Identity> = search::segments_by_id(self.store, SegmentId::from_uuid(id))?
            .into_iter()
            .map(Identity::Segment)
            .collect();
        if segment_wanted && all.is_empty() {
            return self.by_uuid(text, id, false);
        }
        if !segment_wanted {
            let sessions = search::sessions(self.store, |session| session == id)?;
            all.extend(sessions.into_iter().map(session));
            if all.is_empty() {
                let by_document = id
                    .hyphenated()
                    .to_string()
                    .parse()
                    .map(|id| search::workers_by_document(self.store, id));
                if let Ok(workers) = by_document {
                    all.extend(workers?.into_iter().map(Identity::Worker));
                }
            }
        }
        self.one(text, all, || {
            format!("no Worker, Session or Segment has the id {id}")
        })
    }

    fn by_prefix(&self, text: &str, prefix: &Prefix) -> Result<Identity> {
        let mut all: Vec<Identity> = search::segments_by_prefix(self.store, prefix)?
            .into_iter()
            .map(Identity::Segment)
            .collect();
        // A beginning is that of a Segment's id. Others are looked at only where there is none.
        if all.is_empty() {
            let workers = search::workers_by_prefix(self.store, prefix)?;
            all.extend(workers.into_iter().map(Identity::Worker));
        }
        if all.is_empty() {
            let sessions = search::sessions(self.store, |session| prefix.begins(session))?;
            all.extend(sessions.into_iter().map(session));
        }
        self.one(text, all, || format!("no id begins with {text}"))
    }

    fn by_name(&self, text: &str, name: &str) -> Result<WorkerRef> {
        let all = search::workers_by_name(self.store, |one| one == name)?;
        let all = all.into_iter().map(Identity::Worker).collect();
        match self.one(text, all, || format!("no Worker has the name {name:?}"))? {
            Identity::Worker(worker) => Ok(worker),
            other => Err(wrong_kind(self.store, text, "a Worker", &other)),
        }
    }

    fn segment_of(&self, text: &str, worker: &WorkerRef, prefix: &Prefix) -> Result<SegmentRef> {
        let all = self.segments(worker)?;
        let fitting: Vec<Identity> = all
            .into_iter()
            .filter(|id| prefix.begins(id.uuid()))
            .map(|segment| {
                Identity::Segment(SegmentRef {
                    worker: worker.clone(),
                    segment,
                })
            })
            .collect();
        let found = self.one(text, fitting, || {
            let id = worker.id;
            format!("no Segment of Worker {id} has an id like that in {text}")
        })?;
        match found {
            Identity::Segment(segment) => Ok(segment),
            other => Err(wrong_kind(self.store, text, "a Segment", &other)),
        }
    }

    /// The one match; none and more than one are errors.
    fn one(
        &self,
        text: &str,
        mut all: Vec<Identity>,
        none: impl FnOnce() -> String,
    ) -> Result<Identity> {
        match all.len() {
            0 => Err(match self.hidden_from(text)? {
                Some(error) => error,
                None => not_found(self.store, text, none()),
            }),
            1 => Ok(all.remove(0)),
            _ => Err(ambiguous(text, &all)),
        }
    }

    /// What keeps an id of a Segment from being found, if something does.
    fn hidden_from(&self, text: &str) -> Result<Option<Error>> {
        if !matches!(Form::of(text), Form::Uuid(_) | Form::Prefix(_)) {
            return Ok(None);
        }
        Ok(search::hidden(self.store)?.map(|mut error| {
            error.message = format!("{text} was not found, and {}", error.message);
            error
        }))
    }

    /// The Segments of a Worker, in the order of their ids.
    ///
    /// # Errors
    /// `segments/` can not be read; that it is not there means none.
    pub fn segments(&self, worker: &WorkerRef) -> Result<Vec<SegmentId>> {
        let path = worker.path().join(file::SESSION_DIR).join(file::SEGMENTS);
        let dir = worker.open(self.store)?;
        match dir.dir_at([file::SESSION_DIR, file::SEGMENTS]) {
            Ok(dir) => search::segments_in(&dir).io("read", path),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(open_error(&path, e)),
        }
    }

    /// What a Worker's metadata points at.
    ///
    /// # Errors
    /// `metadata.json` is there and can not be read.
    pub fn pointer(&self, worker: &WorkerRef) -> Result<Option<Pointer>> {
        let path = worker.path().join(file::METADATA);
        let dir = worker.open(self.store)?;
        let metadata = read_document(&dir, file::METADATA, MetadataDocument::read);
        let metadata = document(metadata, &path)?;
        Ok(metadata.and_then(|metadata| {
            let active = metadata.active?;
            Some(Pointer {
                session: active.session()?,
                segment: active.segment(),
            })
        }))
    }

    /// The Segment that a restore of a Worker starts from.
    ///
    /// # Errors
    /// `not_found` if there is no pointer or it names no Segment yet, `active_missing_segment` if
    /// it names one that is not there.
    pub fn active_segment(&self, worker: &WorkerRef) -> Result<SegmentRef> {
        let id = worker.id;
        let path = worker.path().join(file::METADATA);
        let none = |why: String| {
            Error::new(
                Code::NotFound,
                format!("Worker {id} has no active Segment: {why}"),
            )
            .at(Locus::file(&path))
            .hint(format!("wagg segment list {id}"))
        };
        let Some(pointer) = self.pointer(worker)? else {
            let there = worker.open(self.store)?.try_stat(file::METADATA);
            return Err(none(match there {
                Ok(None) => "it has no metadata.json".to_owned(),
                _ => "its metadata.json holds no active pointer".to_owned(),
            }));
        };
        let Some(segment) = pointer.segment else {
            return Err(none(format!(
                "its Session {} is reserved and has no Segment yet",
                pointer.session
            )));
        };
        let segments = self.segments(worker)?;
        if segments.contains(&segment) {
            return Ok(SegmentRef {
                worker: worker.clone(),
                segment,
            });
        }
        let there = match &segments[..] {
            [] => "it has no Segment at all".to_owned(),
            [one] => format!("the one Segment there is {one}"),
            [first, .., last] => {
                format!(
                    "{} Segments are there, from {first} to {last}",
                    segments.len()
                )
            }
        };
        Err(Error::new(
            Code::ActiveMissingSegment,
            format!("the active Segment {segment} of Worker {id} is not there; {there}"),
        )
        .at(Locus::file(path))
        .hint(format!("wagg segment list {id}")))
    }

    /// The Segment of a Worker with the highest id.
    ///
    /// # Errors
    /// `not_found` if it has none.
    pub fn latest_segment(&self, worker: &WorkerRef) -> Result<SegmentRef> {
        let last = self.segments(worker)?.into_iter().max();
        let segment = last.ok_or_else(|| {
            Error::new(
                Code::NotFound,
                format!("Worker {} has no Segment", worker.id),
            )
            .hint(format!("wagg worker show {}", worker.id))
        })?;
        Ok(SegmentRef {
            worker: worker.clone(),
            segment,
        })
    }

    /// The Session of a Worker: that of `session.json`, else the one that its metadata reserves.
    ///
    /// # Errors
    /// Its folder can not be opened.
    pub fn session(&self, worker: &WorkerRef) -> Result<Option<SessionId>> {
        Ok(search::session_in(&worker.open(self.store)?))
    }

    /// Every id that a beginning may lead to, in order and each once: those of Segments, and of
    /// Workers in a store of version 3. Short ids are told apart from all of these.
    ///
    /// # Errors
    /// `workers/` can not be read.
    pub fn all_ids(&self) -> Result<Vec<Uuid>> {
        search::all_ids(self.store)
    }
}

fn session(owned: search::Owned) -> Identity {
    Identity::Session {
        worker: owned.worker,
        session: owned.session,
    }
}

impl Identity {
    /// The Worker that it belongs to.
    #[must_use]
    pub const fn worker(&self) -> Option<&WorkerRef> {
        match self {
            Self::Store => None,
            Self::Worker(worker) | Self::Session { worker, .. } | Self::Run { worker, .. } => {
                Some(worker)
            }
            Self::Segment(segment) | Self::Trace(segment) => Some(&segment.worker),
            Self::Other { worker, .. } => worker.as_ref(),
        }
    }

    /// Where it is, relative to the store; empty for the store itself.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Store => PathBuf::new(),
            Self::Worker(worker) => worker.path(),
            Self::Session { worker, .. } => worker.path().join(file::SESSION_DIR),
            Self::Segment(segment) => segment.path(),
            Self::Trace(segment) => segment
                .path()
                .with_file_name(Paths::trace_name(segment.segment)),
            Self::Run { worker, run } => worker.path().join(file::RUNS).join(run.folder()),
            Self::Other { path, .. } => path.clone(),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
