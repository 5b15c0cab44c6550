//! What any reference is: kind, place, owner, state, and the command to go on with.

use serde::Serialize;

use crate::diag::{Code, Result, plural};
use crate::layout::{CatalogVersion, Generation, SegmentId, SessionId, WorkerId, file};
use crate::ops::read::{Time, WorkerRef};
use crate::ops::resolve::{Identity, Resolver, RunName};
use crate::ops::run;
use crate::ops::worker::{self, SessionStatus, Summary};
use crate::store::{Document, EntryKind, Store};

/// What a reference is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// As it was given.
    pub reference: String,
    /// `store`, `worker`, `session`, `segment`, `trace`, `run`, `file` or `folder`.
    pub kind: &'static str,
    /// Its id, if things of its kind have one.
    pub id: Option<String>,
    /// Relative to the store; empty for the store itself.
    pub path: String,
    /// The Worker that it belongs to.
    pub worker_id: Option<WorkerId>,
    /// The Session that it is, or belongs to.
    pub session_id: Option<SessionId>,
    /// The Segment that it is, or is the trace of.
    pub segment_id: Option<SegmentId>,
    /// The generation that it is.
    pub generation: Option<Generation>,
    /// What it is like now, a sentence for a person.
    pub state: String,
    /// In bytes, if it is a file.
    pub bytes: Option<u64>,
    /// When it was last written, if it is a file.
    pub changed: Option<Time>,
    /// The command to go on with.
    pub next: String,
}

/// Says what a reference is.
///
/// # Errors
/// Those of the [resolver](Resolver); what it leads to can not be looked at.
pub fn show(store: &Store, reference: &str) -> Result<Shown> {
    let identity = Resolver::new(store).resolve(reference)?;
    let mut shown = Shown {
        reference: reference.to_owned(),
        kind: "store",
        id: None,
        path: identity.path().to_string_lossy().into_owned(),
        worker_id: identity.worker().map(|worker| worker.id),
        session_id: None,
        segment_id: None,
        generation: None,
        state: String::new(),
        bytes: None,
        changed: None,
        next: String::new(),
    };
    match &identity {
        Identity::Store => of_store(store, &mut shown)?,
        Identity::Worker(worker) => of_worker(store, worker, &mut shown)?,
        Identity::Session { worker, session } => {
            of_session(store, worker, *session, &mut shown)?;
        }
        Identity::Segment(segment) => {
            shown.kind = "segment";
            shown.id = Some(segment.segment.to_string());
            shown.segment_id = Some(segment.segment);
            let summary = worker::summary(&segment.worker.state(store)?);
            shown.session_id = summary.session_id;
            shown.state = if summary.active_segment_id == Some(segment.segment) {
                "the active Segment: a restore starts from it".to_owned()
            } else {
                match summary.active_segment_id {
                    Some(active) => format!("not the active Segment, which is {active}"),
                    None => "no Segment of this Worker is active".to_owned(),
                }
            };
            let file = segment.open(store)?;
            shown.bytes = Some(file.stat.len);
            shown.changed = Time::of(&file.stat);
            shown.next = format!("wagg segment show {}", segment.segment);
        }
        Identity::Trace(segment) => {
            shown.kind = "trace";
            shown.segment_id = Some(segment.segment);
            shown.session_id = Resolver::new(store).session(&segment.worker)?;
            shown.state = "a debug log beside its Segment; it is never replayed".to_owned();
            of_file(store, &identity, &mut shown);
            shown.next = format!("wagg segment show {}", segment.segment);
        }
        Identity::Run { worker, run } => of_run(store, worker, run, &mut shown)?,
        Identity::Other { path, kind, .. } => {
            shown.kind = if *kind == EntryKind::Dir {
                "folder"
            } else {
                "file"
            };
            of_file(store, &identity, &mut shown);
            let words: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
            let (state, next) = place(&words);
            shown.state = match kind {
                EntryKind::File | EntryKind::Dir => state.to_owned(),
                other => format!("{}, which is not looked into", other.noun()),
            };
            shown.next = match &shown.worker_id {
                Some(id) if next == VERIFY => format!("{VERIFY} {id}"),
                _ => next.to_owned(),
            };
        }
    }
    Ok(shown)
}

const VERIFY: &str = "wagg verify";

/// What stands at a place of a store that is no Worker's, Session's or run's own.
fn place(words: &[&str]) -> (&'static str, &'static str) {
    match *words {
        [file::RUNTIME] => ("the catalog document of the store", VERIFY),
        [file::WORKERS] => ("the folder of the Workers", "wagg worker list"),
        [file::MIGRATIONS, ..] => (
            "what a migration noted of its progress",
            "wagg migrate status",
        ),
        [file::WAGG, file::JOURNAL] => {
            ("the journal of the changes that wagg made", "wagg op list")
        }
        [file::WAGG, "quarantine", ..] => (
            "what a change took away, kept for an undo",
            "wagg quarantine list",
        ),
        [file::WAGG, "staging", ..] => ("what a change was made ready in", VERIFY),
        [file::WAGG, ..] => ("what wagg keeps of its own", "wagg op list"),
        [file::ARCHIVES | file::RETENTION, ..] => ("what retention put away", VERIFY),
        [file::RUNTIMES, ..] => (
            "the oldest layout, which a migration moves up",
            "wagg migrate --help",
        ),
        _ => ("not a part of a store's layout", VERIFY),
    }
}

fn of_store(store: &Store, shown: &mut Shown) -> Result<()> {
    let runtime = store.runtime();
    let version = match runtime.good() {
        Some(runtime) => {
            let number = runtime.version().number();
            let note = match runtime.version() {
                CatalogVersion::V1 => "",
                CatalogVersion::V3 => " (read, not written)",
                CatalogVersion::Other(_) => " (not known)",
            };
            format!("version {number}{note}, {}", runtime.status)
        }
        None => match &runtime {
            Document::Faulty(fault) if fault.code == Code::UnsupportedSchemaVersion => {
                format!("unsupported version: runtime.json has {}", fault.message)
            }
            Document::Faulty(fault) => format!("its runtime.json is damaged ({})", fault.code),
            Document::NotAFile(kind) => format!("its runtime.json is {}", kind.noun()),
            Document::Unreadable(e) => format!("its runtime.json is unreadable ({e})"),
            _ => "it has no runtime.json".to_owned(),
        },
    };
    let folders = store.worker_folders()?;
    let workers = folders.iter().filter(|folder| folder.id.is_some()).count();
    let workers = plural(workers as u64, "Worker", "Workers");
    shown.state = format!("{version}; {workers}");
    shown.next = "wagg worker list".to_owned();
    Ok(())
}

/// What a Worker's Session is like.
fn session_state(summary: &Summary) -> String {
    let held = plural(summary.segments, "Segment", "Segments");
    match (summary.session, summary.active_segment_id) {
        (SessionStatus::None, _) => "no Session yet".to_owned(),
        (SessionStatus::Reserved, _) => "a reserved Session, not on disk yet".to_owned(),
        (SessionStatus::Damaged, _) => format!("a damaged Session with {held}"),
        (SessionStatus::Unreadable, _) => "a Session that can not be read".to_owned(),
        (SessionStatus::UnsupportedVersion, _) => {
            format!("a Session of an unsupported version with {held}")
        }
        (SessionStatus::Present, Some(active)) => format!("{held}, the active one is {active}"),
        (SessionStatus::Present, None) => format!("{held}, none is active"),
    }
}

fn of_worker(store: &Store, worker: &WorkerRef, shown: &mut Shown) -> Result<()> {
    let summary = worker::summary(&worker.state(store)?);
    shown.kind = "worker";
    shown.id = Some(worker.id.to_string());
    shown.session_id = summary.session_id;
    let name = summary
        .display_name
        .as_ref()
        .map_or_else(String::new, |name| format!("{name:?}, "));
    let run = match (&summary.live_runs[..], summary.generation) {
        ([], None) if summary.is_shut => "its generation can not be told".to_owned(),
        ([], None) => "never run".to_owned(),
        ([], Some(last)) => format!("last generation {last}"),
        (live, _) => format!("run {} answers", live.join(", ")),
    };
    let problems = if summary.problems.is_empty() {
        String::new()
    } else {
        let codes: Vec<String> = summary.problems.iter().map(ToString::to_string).collect();
        format!("; to look at: {}", codes.join(", "))
    };
    shown.state = format!("{name}{}; {run}{problems}", session_state(&summary));
    shown.next = format!("wagg worker show {}", worker.id);
    Ok(())
}

fn of_session(
    store: &Store,
    worker: &WorkerRef,
    session: SessionId,
    shown: &mut Shown,
) -> Result<()> {
    let summary = worker::summary(&worker.state(store)?);
    shown.kind = "session";
    shown.id = Some(session.to_string());
    shown.session_id = Some(session);
    shown.state = session_state(&summary);
    shown.next = format!("wagg segment list {} --tree", worker.id);
    Ok(())
}

fn of_run(store: &Store, worker: &WorkerRef, run: &RunName, shown: &mut Shown) -> Result<()> {
    let details = run::show(store, worker, Some(run))?;
    shown.kind = "run";
    shown.id = Some(run.to_string());
    shown.generation = details.run.generation;
    shown.state = format!("{}: {}", details.run.state.as_str(), details.run.reason);
    shown.changed = details.run.changed;
    shown.next = format!("wagg run show {} {run}", worker.id);
    Ok(())
}

/// The size and time of a file.
fn of_file(store: &Store, identity: &Identity, shown: &mut Shown) {
    let path = identity.path();
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return;
    };
    let stat = store
        .dir()
        .dir_at(parent.iter())
        .and_then(|dir| dir.stat(name));
    if let Ok(stat) = stat
        && stat.kind == EntryKind::File
    {
        shown.bytes = Some(stat.len);
        shown.changed = Time::of(&stat);
    }
}
