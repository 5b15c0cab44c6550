//! The part in the store: one pass over the Workers.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::history::Looker;
use super::leftovers::Leftovers;
use super::{Item, describe, owner};
use crate::diag::{Code, Finding, Locus, Progress, Result, Subject, plural};
use crate::layout::{WorkerId, WorkerName, file};
use crate::ops::ownership::{Catalog, Ownership, Party, Place, Standing, Trouble};
use crate::ops::verify::none_left;
use crate::record::document::RuntimeDocument;
use crate::store::{Dir, Document, Entry, EntryKind, Folder, Store, WorkerFolder, WorkerState};

/// What the store says, for the rest of the answer.
pub(super) struct Within {
    pub(super) catalog: Catalog,
    /// Who goes by a display name or a metadata name.
    pub(super) names: BTreeMap<String, BTreeSet<WorkerId>>,
    /// Documents that would say which Session is whose, and do not read.
    pub(super) silent: Vec<PathBuf>,
    /// Version 1: the next Worker id to give out.
    pub(super) sequence: Option<u64>,
    pub(super) workers: u64,
    pub(super) segments: u64,
}

/// A name that a Worker's metadata mentions.
struct Mention {
    worker: Option<WorkerId>,
    path: PathBuf,
    child: bool,
    name: String,
}

/// What one Worker gave.
#[derive(Default)]
struct Seen {
    items: Vec<Item>,
    standing: Vec<(WorkerId, Standing)>,
    claims: Vec<(crate::layout::SessionId, Party, PathBuf)>,
    in_place: Option<(WorkerId, crate::layout::SessionId)>,
    names: Vec<(String, WorkerId)>,
    mentions: Vec<Mention>,
    silent: Vec<PathBuf>,
    segments: u64,
    /// Documents disagree, which may be a change in the middle.
    doubtful: bool,
}

/// Looks at the store.
pub(super) fn look(
    store: &Store,
    now: Timestamp,
    progress: &dyn Progress,
    items: &mut Vec<Item>,
) -> Result<Within> {
    let mut within = Within {
        catalog: Catalog::default(),
        names: BTreeMap::new(),
        silent: Vec::new(),
        sequence: store
            .runtime()
            .good()
            .and_then(|runtime: &RuntimeDocument| runtime.next_worker_sequence),
        workers: 0,
        segments: 0,
    };
    let mut leftovers = Leftovers::new(now);
    let mut looker = Looker::new();
    beside_workers(store, &mut leftovers, items);
    let mut mentions = Vec::new();
    let folders = store.worker_folders()?;
    items.extend(none_left(store, within.sequence, &folders).map(Item::from));
    for folder in folders {
        if progress.interrupted() {
            break;
        }
        let Some(seen) = worker(store, folder, &mut leftovers, &mut looker, items) else {
            continue;
        };
        within.workers += 1;
        within.segments += seen.segments;
        for (id, standing) in seen.standing {
            within.catalog.add(id, standing);
        }
        for (session, party, path) in seen.claims {
            within.catalog.claim(session, party, path);
        }
        if let Some((id, session)) = seen.in_place {
            within.catalog.in_place(id, session);
        }
        for (name, id) in seen.names {
            within.names.entry(name).or_default().insert(id);
        }
        within.silent.extend(seen.silent);
        items.extend(seen.items);
        mentions.extend(seen.mentions);
    }
    resolve(&within, mentions, items);
    Ok(within)
}

/// Leftovers in the root, in `migrations/` and in our own folder, and links in `workers/`.
fn beside_workers(store: &Store, leftovers: &mut Leftovers, items: &mut Vec<Item>) {
    let none = Subject::default();
    let root = store.dir();
    let mut of = |place: &Path, items: &mut Vec<Item>| {
        if let Ok((entries, dir)) = listed(root.dir_at(place.iter())) {
            leftovers.of_folder(&dir, &entries, none, place, items);
        }
    };
    for place in ["", file::MIGRATIONS, file::WORKERS, file::WAGG] {
        of(Path::new(place), items);
    }
    if let Ok(workers) = root.dir(file::WORKERS) {
        for entry in workers.entries().unwrap_or_default() {
            if entry.kind == EntryKind::Symlink {
                let trouble = Trouble::wrong_kind(entry.kind);
                let subject = WorkerFolder::of(entry.name.clone())
                    .id
                    .map_or(none, Subject::worker);
                let path = Path::new(file::WORKERS).join(&entry.name);
                let finding = trouble.finding(subject, path, "this is no Worker's folder");
                items.push(finding.into());
            }
        }
    }
    let staging = crate::layout::Paths::staging();
    if let Ok(dir) = root.dir_at(staging.iter()) {
        for entry in dir.entries().unwrap_or_default() {
            items.extend(leftovers.our_staging(&dir, &entry, staging.join(&entry.name)));
        }
    }
}

/// What a folder holds, and the folder.
fn listed(dir: io::Result<Dir>) -> io::Result<(Vec<Entry>, Dir)> {
    let dir = dir?;
    Ok((dir.entries()?, dir))
}

/// What keeps a folder from being read; none if it is not there.
fn folder_trouble<T>(folder: &Folder<T>) -> Option<Trouble> {
    match folder {
        Folder::NotAFolder(kind) => Some(Trouble::wrong_kind(*kind)),
        Folder::Unreadable(e) => Some(Trouble::unreadable(e)),
        Folder::Missing | Folder::Read(_) => None,
    }
}

/// Looks at one Worker; once more if its documents disagree, since it may have been in the middle
/// of a change (C12).
fn worker(
    store: &Store,
    folder: WorkerFolder,
    leftovers: &mut Leftovers,
    looker: &mut Looker,
    items: &mut Vec<Item>,
) -> Option<Seen> {
    let mut again = true;
    loop {
        let path = Path::new(file::WORKERS).join(&folder.name);
        let subject = folder.id.map_or_else(Subject::default, Subject::worker);
        let state = match store.worker_dir(&folder.name) {
            // It went away while the catalog was read.
            Ok(None) => return None,
            Ok(Some(dir)) => WorkerState::read(folder.clone(), dir).map_err(|e| e.to_string()),
            Err(e) => Err(cause(&e)),
        };
        let state = match state {
            Ok(state) => state,
            Err(cause) => {
                let message = format!("the folder can not be read: {cause}");
                let finding = Finding::new(Code::Unreadable, subject, Locus::file(path), message);
                items.push(finding.into());
                let standing = folder.id.map(|id| (id, Standing::Doubtful));
                return Some(Seen {
                    standing: standing.into_iter().collect(),
                    ..Seen::default()
                });
            }
        };
        if !state.is_a_worker() {
            let message = "its name is no Worker id and it holds nothing of a Worker";
            let finding = Finding::new(Code::UnknownFolder, subject, Locus::file(path), message);
            items.push(finding.into());
            return None;
        }
        let seen = look_at(&state, subject, &path, leftovers, looker);
        if !seen.doubtful || !again {
            return Some(seen);
        }
        again = false;
    }
}

fn cause(error: &crate::diag::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn look_at(
    state: &WorkerState,
    subject: Subject,
    path: &Path,
    leftovers: &mut Leftovers,
    looker: &mut Looker,
) -> Seen {
    let mut seen = Seen::default();
    identity(state, subject, path, looker, &mut seen);
    pointers(state, subject, path, &mut seen);
    generations(state, subject, path, &mut seen);
    segments(state, subject, path, &mut seen);
    let items = &mut seen.items;
    leftovers.of_folder(&state.dir, &state.entries, subject, path, items);
    if let Some(session) = state.session.read() {
        let path = path.join(file::SESSION_DIR);
        leftovers.of_folder(&session.dir, &session.entries, subject, &path, items);
        if let Some(segments) = session.segments.read() {
            let path = path.join(file::SEGMENTS);
            leftovers.of_folder(&segments.dir, &segments.entries, subject, &path, items);
        }
    }
    if let Some(runs) = state.runs.read() {
        let path = path.join(file::RUNS);
        leftovers.of_folder(&runs.dir, &runs.entries, subject, &path, items);
        for entry in runs.entries.iter().filter(|e| e.kind == EntryKind::Dir) {
            if let Ok((entries, dir)) = listed(runs.dir.dir(&entry.name)) {
                let path = path.join(&entry.name);
                leftovers.of_folder(&dir, &entries, subject, &path, items);
            }
        }
    }
    seen
}

/// Whether folder and `worker.json` agree on who this is.
fn identity(
    state: &WorkerState,
    subject: Subject,
    path: &Path,
    looker: &mut Looker,
    seen: &mut Seen,
) {
    let document = path.join(file::WORKER);
    let own = state.folder.id;
    if let Some(trouble) = Trouble::of(&state.worker) {
        let what = "who this Worker is can not be told; what points at it is not called an orphan";
        seen.items
            .push(trouble.finding(subject, document, what).into());
        seen.standing.extend(own.map(|id| (id, Standing::Doubtful)));
        seen.doubtful = true;
        return;
    }
    let Document::Good(worker) = &state.worker else {
        let history = state.segments().and_then(|s| looker.look(&s.dir).ok());
        let there = history.as_ref().map_or_else(
            || "there is no history in it".to_owned(),
            |history| format!("its session/ holds {}", history.describe()),
        );
        let message = format!(
            "a folder of workers/ without {}: {there}; whose it is can not be told",
            file::WORKER
        );
        let finding = Finding::new(
            Code::MissingWorkerDocument,
            subject,
            Locus::file(path),
            message,
        );
        seen.items.push(Item {
            history,
            ..Item::new(finding)
        });
        seen.standing.extend(own.map(|id| (id, Standing::Doubtful)));
        seen.doubtful = true;
        return;
    };
    let (stated, referred) = (worker.worker_id(), worker.worker_ref());
    if stated == own && referred == own {
        if let Some(id) = own {
            seen.standing.push((id, Standing::Known));
            seen.names
                .extend(worker.display_name().map(|name| (name.to_owned(), id)));
        }
        return;
    }
    let text = |id: Option<WorkerId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let message = format!(
        "the folder is {:?}, worker_id is {} and worker_ref is {}: who this is can not be told; what points at any of them is not called an orphan",
        state.folder.name.to_string_lossy(),
        text(stated),
        text(referred),
    );
    let finding = Finding::new(
        Code::WorkerIdMismatch,
        subject,
        Locus::file(document),
        message,
    );
    seen.items.push(finding.into());
    let doubtful = [own, stated, referred].into_iter().flatten();
    seen.standing
        .extend(doubtful.map(|id| (id, Standing::Doubtful)));
    seen.doubtful = true;
}

/// Which Session this folder says is its own, and whom its metadata mentions.
fn pointers(state: &WorkerState, subject: Subject, path: &Path, seen: &mut Seen) {
    let party = match state.folder.id {
        Some(id) => Party::Worker(id),
        None => Party::Named(state.folder.name.clone()),
    };
    if let Some(session) = state.session.read() {
        let document = path.join(file::SESSION_DIR).join(file::SESSION);
        if let Some(trouble) = Trouble::of(&session.document) {
            let what = "whose Session this is can not be told";
            seen.items
                .push(trouble.finding(subject, &document, what).into());
            seen.silent.push(document);
            seen.doubtful = true;
        } else if let Some(id) = state.session_document().and_then(|d| d.session()) {
            seen.claims.push((id, party.clone(), document));
            seen.in_place = state.folder.id.map(|worker| (worker, id));
        }
        if let Some(trouble) = folder_trouble(&session.segments) {
            let place = path.join(file::SESSION_DIR).join(file::SEGMENTS);
            let what = "no Segment can be read";
            seen.items
                .push(trouble.finding(subject, place, what).into());
        }
    } else if let Some(trouble) = folder_trouble(&state.session) {
        let place = path.join(file::SESSION_DIR);
        let what = "no Session can be read";
        seen.items
            .push(trouble.finding(subject, place, what).into());
    }
    let document = path.join(file::METADATA);
    if let Some(trouble) = Trouble::of(&state.metadata) {
        let what = "which Session this Worker points at can not be told";
        seen.items
            .push(trouble.finding(subject, &document, what).into());
        seen.silent.push(document);
        seen.doubtful = true;
        return;
    }
    let Some(metadata) = state.metadata.good() else {
        return;
    };
    if let Some(id) = metadata.active.as_ref().and_then(|active| active.session()) {
        seen.claims.push((id, party, document.clone()));
    }
    if let Some(id) = state.folder.id {
        seen.names.push((metadata.worker_name.clone(), id));
    }
    let children = metadata
        .spawned_children
        .iter()
        .map(|c| (true, &c.worker_name));
    let peers = metadata.peers.iter().map(|p| (false, &p.worker_name));
    for (child, name) in children.chain(peers) {
        seen.mentions.push(Mention {
            worker: state.folder.id,
            path: document.clone(),
            child,
            name: name.clone(),
        });
    }
}

/// Run folders above the generation that `worker.json` has (C19).
fn generations(state: &WorkerState, subject: Subject, path: &Path, seen: &mut Seen) {
    let (Some(worker), Some(runs)) = (state.worker.good(), state.runs.read()) else {
        return;
    };
    let above: Vec<_> = runs
        .generations()
        .into_iter()
        .filter(|generation| generation.get() > worker.run_generation)
        .collect();
    let Some(highest) = above.last() else { return };
    let folders: Vec<String> = above.iter().take(10).map(|g| format!("runs/{g}")).collect();
    let more = above.len().saturating_sub(folders.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let message = format!(
        "{}{more} stand{} above run_generation {} in {}: evidence of a run that the document forgot; the next reservation takes {}",
        folders.join(", "),
        if above.len() == 1 { "s" } else { "" },
        worker.run_generation,
        file::WORKER,
        highest.get().saturating_add(1),
    );
    let subject = Subject {
        generation: Some(*highest),
        ..subject
    };
    let place = path.join(file::RUNS).join(highest.to_string());
    let finding = Finding::new(Code::GenerationBehind, subject, Locus::file(place), message)
        .with_hint("wagg repair --only generation_behind");
    seen.items.push(finding.into());
    seen.doubtful = true;
}

/// Traces whose Segment is not there. A Segment itself is never an orphan here.
fn segments(state: &WorkerState, subject: Subject, path: &Path, seen: &mut Seen) {
    let Some(folder) = state.segments() else {
        return;
    };
    let there: BTreeSet<_> = folder.segments().collect();
    seen.segments = there.len() as u64;
    for trace in folder.traces().filter(|trace| !there.contains(trace)) {
        let name = crate::layout::Paths::trace_name(trace);
        let size = folder.dir.stat(&name).map_or(0, |stat| stat.len);
        let place = path.join(file::SESSION_DIR).join(file::SEGMENTS).join(name);
        let subject = Subject {
            segment_id: Some(trace),
            ..subject
        };
        let message = format!(
            "a trace of {} whose Segment {trace} is not there; no restore needs it",
            plural(size, "byte", "bytes")
        );
        let finding = Finding::new(
            Code::TraceWithoutSegment,
            subject,
            Locus::file(place),
            message,
        );
        seen.items.push(finding.into());
    }
}

/// Children and peers that are no Worker here (C30). Names are compared, never joined to a path.
fn resolve(within: &Within, mentions: Vec<Mention>, items: &mut Vec<Item>) {
    for mention in mentions {
        let subject = mention
            .worker
            .map_or_else(Subject::default, Subject::worker);
        let what = if mention.child { "child" } else { "peer" };
        let locus = Locus::file(&mention.path);
        let name = match mention.name.parse::<WorkerName>() {
            Ok(name) => name,
            Err(e) => {
                let message = format!("the {what} {:?} can be nobody's name: {e}", mention.name);
                let finding = Finding::new(Code::UnsafeName, subject, locus, message);
                items.push(finding.into());
                continue;
            }
        };
        let known = name
            .worker_id()
            .is_some_and(|id| within.catalog.standing(id) != Standing::Unknown);
        if known || within.names.contains_key(name.as_str()) {
            continue;
        }
        let (code, message) = if mention.child {
            (
                Code::ChildMissing,
                format!(
                    "the child {name:?} is no Worker of this store; it may have been removed, or live elsewhere",
                    name = name.as_str()
                ),
            )
        } else {
            (
                Code::PeerMissing,
                format!(
                    "the peer {name:?} is no Worker of this store; it may live elsewhere",
                    name = name.as_str()
                ),
            )
        };
        items.push(Finding::new(code, subject, locus, message).into());
    }
}

/// Sessions that two Workers of the store have.
pub(super) fn shared(ownership: &Ownership, items: &mut Vec<Item>) {
    for (session, claimants) in ownership.shared() {
        items.extend(shared_in_store(session, claimants));
    }
}

/// The finding of a Session that only the store itself claims twice.
pub(super) fn shared_in_store(
    session: crate::layout::SessionId,
    claimants: &[crate::ops::ownership::Claimant],
) -> Option<Item> {
    let places = claimants.iter().flat_map(|claimant| &claimant.places);
    let documents: Option<Vec<&PathBuf>> = places
        .map(|place| match place {
            Place::Store(path) => Some(path),
            Place::Legacy(_) => None,
        })
        .collect();
    let first = documents?.into_iter().next()?.clone();
    let owners: Vec<_> = claimants.iter().map(|c| owner(c, None)).collect();
    let message = format!(
        "{} Workers point at the Session {session}: {}; which of them owns it can not be told",
        owners.len(),
        describe(&owners),
    );
    let subject = Subject {
        session_id: Some(session),
        ..Subject::default()
    };
    let finding = Finding::new(Code::SessionShared, subject, Locus::file(first), message)
        .with_hint("compare what each of them holds: wagg segment list WORKER");
    Some(Item {
        owners,
        ..Item::new(finding)
    })
}
