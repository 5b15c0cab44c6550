//! `segment create`: the first Segment of a Worker, and with it its Session (C2), or a further
//! root Segment in the Session that it has.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::input::Input;
use super::make::{
    Home, NewSegment, active_segment, metadata, now_ms, pointer, session_folder, worker_of,
};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Generation, Paths, SegmentId, SessionId, WorkerId, file};
use crate::ops::change::{Answer, Change, Plan, Planned, Scope, View};
use crate::ops::read::{not_a, open_error};
use crate::ops::resolve::{Identity, Resolver};
use crate::record::document::Active;
use crate::record::write::{self, Lineage, NewStart};
use crate::store::{Document, EntryKind, Folder, Store, WorkerState};

/// Makes a root Segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// What names the Worker.
    pub worker: String,
    /// The system prompt; none is none.
    #[serde(default)]
    pub system_prompt: Option<Input>,
    /// The request config; without one nothing is set.
    #[serde(default)]
    pub config: Option<Input>,
    /// The seed history: an array of items or one a line; without one it is empty.
    #[serde(default)]
    pub history: Option<Input>,
    /// Whether it becomes the active one.
    #[serde(default)]
    pub activate: bool,
}

/// Where the new Segment goes.
enum Place {
    /// Into a Session that begins with it.
    New(SessionId),
    /// Into the one that is there.
    There(Home),
}

impl Change for Create {
    fn command(&self) -> &'static str {
        "segment create"
    }

    fn arguments(&self) -> Value {
        json!({
            "worker": self.worker,
            "system_prompt": Input::fingerprint_of(self.system_prompt.as_ref()),
            "config": Input::fingerprint_of(self.config.as_ref()),
            "history": Input::fingerprint_of(self.history.as_ref()),
            "activate": self.activate,
        })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).worker(&self.worker)?)
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let worker = worker_of(scope)?;
        let prompt = match &self.system_prompt {
            Some(input) => Some(input.text("the system prompt can not be taken")?),
            None => None,
        };
        let config = self.config()?;
        let history = self.history()?;
        let place = self.place(view, worker)?;
        let session = match &place {
            Place::New(session) => *session,
            Place::There(home) => home.session,
        };
        let history: Vec<&RawValue> = history.iter().map(|item| &**item).collect();
        let segment = NewSegment::of(&NewStart {
            ts: now_ms(),
            session,
            system_prompt: prompt,
            config: &config,
            history: &history,
            lineage: Lineage::Root,
        })?;
        let mut answer = Answer::of(worker, segment.id.to_string());
        segment.answer(&mut answer, session, self.activate);
        let id = segment.id;
        let (act, generation) = match place {
            Place::New(_) => {
                let (_, document) = view.worker(worker)?;
                let act = session_folder(worker, session, segment)?;
                (act, Generation::new(document.run_generation))
            }
            Place::There(home) => (segment.act(view, worker, None)?, home.generation),
        };
        let mut acts = vec![act];
        if self.activate {
            acts.push(pointer(view, worker, session, id)?);
        }
        Ok(Planned::Do(Plan {
            worker: Some(worker),
            generation,
            args: json!({ "worker_id": worker, "activate": self.activate }),
            minted: json!({ "session_id": session, "segment_id": id }),
            acts,
            commit: 0,
            answer,
        }))
    }
}

impl Create {
    fn config(&self) -> Result<Box<RawValue>> {
        let Some(input) = &self.config else {
            return write::default_config().map_err(|fault| {
                Error::new(Code::Internal, "the default config can not be written")
                    .caused_by(fault.message)
            });
        };
        let config = write::config(&input.bytes)
            .map_err(|fault| input.error("the config can not be taken", &fault))?;
        match config.unknown.first() {
            None => Ok(config.json),
            // Kept, it would be passed over by a Runtime in silence.
            Some(name) => Err(Error::new(
                Code::Usage,
                format!("the config has a field {name:?}, which no request config has"),
            )
            .at(Locus::file(&input.name))
            .hint(format!(
                "its fields are {}",
                write::config_fields().join(", ")
            ))),
        }
    }

    fn history(&self) -> Result<Vec<Box<RawValue>>> {
        let Some(input) = &self.history else {
            return Ok(Vec::new());
        };
        write::items(&input.bytes)
            .map_err(|fault| input.error("the history can not be taken", &fault))
    }

    fn place(&self, view: &View<'_>, worker: WorkerId) -> Result<Place> {
        view.worker(worker)?;
        let state = view.state(worker)?;
        if !has_session(&state, worker)? {
            // A run that answers is about to make its own.
            view.refuse_live(worker)?;
            return self.reserved(view, worker).map(Place::New);
        }
        Home::of(view, worker).map(Place::There)
    }

    /// The id under which a Session begins: the one that `metadata.json` reserves, if it does.
    fn reserved(&self, view: &View<'_>, worker: WorkerId) -> Result<SessionId> {
        let metadata = metadata(view, worker)?.map(|(_, document)| document);
        if let Some(missing) = active_segment(metadata.as_ref())
            && !self.activate
        {
            return Err(lost(worker, missing));
        }
        let reserved = metadata
            .and_then(|m| m.active)
            .as_ref()
            .and_then(Active::session);
        match reserved {
            Some(session) => not_shared(view, worker, session),
            None => Ok(SessionId::mint()),
        }
    }
}

/// Refuses a reserved id that another Worker of the store claims too: who owns it is a person's
/// to say.
fn not_shared(view: &View<'_>, worker: WorkerId, session: SessionId) -> Result<SessionId> {
    let shared = |by: String| {
        Error::new(
            Code::SessionShared,
            format!("metadata.json of Worker {worker} reserves the Session {session}, which {by}"),
        )
        .at(Locus::file(Paths::metadata(worker)))
        .hint("wagg orphans")
    };
    match Resolver::new(view.store()).resolve(&session.to_string()) {
        Ok(Identity::Session { worker: owner, .. }) if owner.id == worker => Ok(session),
        Ok(other) => Err(shared(match other.worker() {
            Some(owner) => format!("is Worker {}'s", owner.id),
            None => "is something else".to_owned(),
        })),
        Err(e) if e.code == Code::NotFound => Ok(session),
        Err(e) if e.code == Code::AmbiguousReference => {
            Err(shared("more than one Worker claims".to_owned()).caused_by(e.message))
        }
        Err(e) => Err(e),
    }
}

/// The pointer names a Segment, and there is no Session: a history is missing.
fn lost(worker: WorkerId, segment: SegmentId) -> Error {
    Error::new(
        Code::ActiveMissingSegment,
        format!(
            "Worker {worker} has no Session on disk, and its active pointer names the Segment {segment}"
        ),
    )
    .at(Locus::file(Paths::metadata(worker)))
    .hint("look for it in a backup, or in the legacy roots with wagg orphans")
    .hint("--activate begins a new history in its place")
}

/// Whether there is a Session: more than the empty folders that a Runtime makes when it opens a
/// Worker.
fn has_session(state: &WorkerState, worker: WorkerId) -> Result<bool> {
    let path = Paths::session_dir(worker);
    let session = match &state.session {
        Folder::Missing => return Ok(false),
        Folder::NotAFolder(kind) => return Err(not_a(&path, *kind)),
        Folder::Unreadable(e) => return Err(unreadable(&path, e)),
        Folder::Read(session) => session,
    };
    if !matches!(session.document, Document::Missing) {
        return Ok(true);
    }
    let others = session
        .entries
        .iter()
        .find(|e| e.name != file::SEGMENTS || e.kind != EntryKind::Dir);
    let inside = match &session.segments {
        Folder::Missing => None,
        Folder::NotAFolder(kind) => return Err(not_a(&Paths::segments(worker), *kind)),
        Folder::Unreadable(e) => return Err(unreadable(&Paths::segments(worker), e)),
        Folder::Read(segments) if segments.segments().next().is_some() => return Ok(true),
        Folder::Read(segments) => segments
            .entries
            .first()
            .map(|e| segments.dir.path_of(&e.name)),
    };
    match others.map(|e| session.dir.path_of(&e.name)).or(inside) {
        None => Ok(false),
        Some(path) => Err(Error::new(
            Code::TargetExists,
            format!(
                "there is no Session yet, and {} stands in its place",
                path.display()
            ),
        )
        .at(Locus::file(path))
        .hint(format!("wagg verify {worker}"))),
    }
}

fn unreadable(path: &std::path::Path, e: &std::io::Error) -> Error {
    let copy = match e.raw_os_error() {
        Some(errno) => std::io::Error::from_raw_os_error(errno),
        None => std::io::Error::new(e.kind(), e.to_string()),
    };
    open_error(path, copy)
}
