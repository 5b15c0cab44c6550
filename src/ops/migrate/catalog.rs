//! The Workers of the store, in one pass: who they are, which Session each of them claims, whether
//! one of them is live.
//!
//! Whose `worker.json` does not read or does not agree with its folder keeps its place: what points
//! at it is no orphan, and it is left with its reason.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::each::each;
use super::facts::{Known, Noted};
use super::{Options, noted};
use crate::diag::{Code, Finding, Locus, Progress, Result, Subject};
use crate::layout::{CatalogVersion, Generation, Paths, SessionId, WorkerId, file, leftover};
use crate::ops::ownership::{Catalog, Party, Standing, Trouble};
use crate::record::document::{MetadataDocument, SessionDocument, WorkerDocument};
use crate::store::{
    Dir, Document, Entry, EntryKind, RunsFolder, Store, WorkerFolder, probe, read_document,
};

/// What the pass found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// For the judgement of ownership.
    pub catalog: Catalog,
    /// Workers that are who they say, in order.
    pub workers: Vec<WorkerId>,
    /// Folders whose Worker can not be told, with the id of the folder if it has one.
    pub doubtful: Vec<Finding>,
    /// Workers that are as a run of ours noted them, in order.
    pub as_noted: Vec<WorkerId>,
    /// What killed processes left.
    pub notes: Vec<Finding>,
    /// A person stopped it.
    pub interrupted: bool,
}

/// A run that answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    pub worker: WorkerId,
    pub generation: Generation,
}

/// What one folder gave.
#[derive(Default)]
struct Seen {
    id: Option<WorkerId>,
    /// It is who its folder says.
    known: bool,
    standing: Vec<(WorkerId, Standing)>,
    doubtful: Option<Finding>,
    claims: Vec<(SessionId, Party, PathBuf)>,
    in_place: Option<SessionId>,
    /// The Session of one that is as it was noted: its metadata points at it, and its own
    /// `session.json` if it is in place.
    of_notes: Option<SessionId>,
    as_noted: bool,
    notes: Vec<Finding>,
}

/// The folders of `workers/`, and links that stand where one could be.
fn folders(store: &Store) -> Result<Vec<(WorkerFolder, EntryKind)>> {
    let mut folders: Vec<(WorkerFolder, EntryKind)> = match store.workers_dir()? {
        None => Vec::new(),
        Some(dir) => dir
            .entries()
            .map_err(|e| crate::diag::Error::io("list", Path::new(file::WORKERS), e))?
            .into_iter()
            // A file is nobody's folder; under a link somebody may have put a Worker.
            .filter(|e| matches!(e.kind, EntryKind::Dir | EntryKind::Symlink))
            .map(|e| (WorkerFolder::of(e.name), e.kind))
            .collect(),
    };
    folders.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(folders)
}

/// Looks at all Workers. Of one that is as a run of ours noted it nothing is read.
pub(super) fn look(
    store: &Store,
    known: &Known,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Found> {
    let folders = folders(store)?;
    let mut found = Found::default();
    let mut claimed_by: BTreeMap<WorkerId, Vec<PathBuf>> = BTreeMap::new();
    let mut names = folders.iter().map(|(folder, _)| &folder.name);
    each(
        options.jobs,
        &folders,
        || store.workers_dir().ok().flatten(),
        |workers, (folder, kind)| match workers {
            Some(dir) if !progress.interrupted() => {
                let id = folder.id.filter(|_| !options.deep);
                let noted = id.and_then(|id| known.moved.get(id));
                Some(one(dir, folder, *kind, noted.as_ref()))
            }
            _ => None,
        },
        |seen| {
            if let (Some(name), Some(seen)) = (names.next(), seen) {
                found.take(seen, name, &mut claimed_by);
            }
        },
    );
    found.interrupted = progress.interrupted();
    found.as_noted.sort_unstable();
    doubles(&mut found, &claimed_by);
    found
        .doubtful
        .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    Ok(found)
}

impl Found {
    /// Takes in what the folder of this name gave.
    fn take(
        &mut self,
        seen: Seen,
        name: &OsStr,
        claimed_by: &mut BTreeMap<WorkerId, Vec<PathBuf>>,
    ) {
        for (id, standing) in seen.standing {
            self.catalog.add(id, standing);
            if standing == Standing::Doubtful && seen.id != Some(id) {
                let path = Path::new(file::WORKERS).join(name);
                let by = claimed_by.entry(id).or_default();
                if by.last() != Some(&path) {
                    by.push(path);
                }
            }
        }
        if let (Some(id), Some(session)) = (seen.id, seen.of_notes) {
            self.catalog.has_metadata_of(id, session);
            if seen.in_place.is_some() {
                self.catalog.has_session_of(id, session);
            }
        }
        for (session, party, path) in seen.claims {
            self.catalog.claim(session, party, path);
        }
        if let (Some(id), Some(session)) = (seen.id, seen.in_place) {
            self.catalog.in_place(id, session);
        }
        self.workers.extend(seen.id.filter(|_| seen.known));
        self.doubtful.extend(seen.doubtful);
        self.notes.extend(seen.notes);
        self.as_noted.extend(seen.id.filter(|_| seen.as_noted));
    }
}

/// Workers whose own folder is in order, and that another folder says it is too.
fn doubles(found: &mut Found, claimed_by: &BTreeMap<WorkerId, Vec<PathBuf>>) {
    let Found {
        workers,
        doubtful,
        catalog,
        ..
    } = found;
    workers.retain(|id| {
        if catalog.standing(*id) == Standing::Known {
            return true;
        }
        let others: Vec<String> = claimed_by
            .get(id)
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect();
        let path = Paths::worker(*id);
        let message = format!(
            "{} says that it is Worker {id} too: which of them it is can not be told",
            others.join(", ")
        );
        let finding = Finding::new(
            Code::DuplicateWorkerId,
            Subject::worker(*id),
            Locus::file(path),
            message,
        );
        doubtful.push(finding.with_hint(format!("wagg verify {id}")));
        false
    });
}

fn one(workers: &Dir, folder: &WorkerFolder, kind: EntryKind, noted: Option<&Noted>) -> Seen {
    let path = Path::new(file::WORKERS).join(&folder.name);
    let mut seen = Seen {
        id: folder.id,
        ..Seen::default()
    };
    let left = folder.name.to_str().and_then(leftover).is_some();
    let dir = match workers.dir(&folder.name) {
        Ok(dir) => dir,
        // It went away meanwhile.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Seen::default(),
        Err(e) => {
            // A link or a folder without a name that counts is nobody's.
            if !left && (folder.id.is_some() || kind == EntryKind::Dir) {
                let trouble = match crate::store::wrong_kind(&e) {
                    Some(kind) => Trouble::wrong_kind(kind),
                    None => Trouble::unreadable(&e),
                };
                seen.doubt(&trouble, folder, &path, "this Worker can not be looked at");
            }
            return seen;
        }
    };
    if let (Some(id), Some(moved)) = (folder.id, noted)
        && noted::target(&dir, moved)
    {
        seen.as_noted(id, moved);
        return seen;
    }
    let entries = match dir.entries() {
        Ok(entries) => entries,
        Err(e) => {
            let trouble = Trouble::unreadable(&e);
            seen.doubt(&trouble, folder, &path, "this Worker can not be looked at");
            return seen;
        }
    };
    let has = |name: &str| entries.iter().any(|e| e.name == name);
    if !left {
        identity(&dir, folder, &path, has(file::WORKER), &mut seen);
    }
    let party = match folder.id {
        Some(id) => Party::Worker(id),
        None => Party::Named(folder.name.clone()),
    };
    leftovers(&entries, folder, &path, &mut seen.notes);
    if has(file::METADATA)
        && let Document::Good(metadata) =
            read_document(&dir, file::METADATA, MetadataDocument::read)
        && let Some(session) = metadata.active.as_ref().and_then(|a| a.session())
    {
        seen.claims
            .push((session, party.clone(), path.join(file::METADATA)));
    }
    if has(file::SESSION_DIR)
        && let Ok(session) = dir.dir(file::SESSION_DIR)
        && let Document::Good(document) =
            read_document(&session, file::SESSION, SessionDocument::read)
        && let Some(id) = document.session()
    {
        let document = path.join(file::SESSION_DIR).join(file::SESSION);
        seen.claims.push((id, party, document));
        seen.in_place = Some(id);
    }
    seen
}

impl Seen {
    /// Takes over what a run of ours noted of a Worker that has not changed since.
    fn as_noted(&mut self, id: WorkerId, moved: &Noted) {
        self.as_noted = true;
        self.known = true;
        self.standing.push((id, Standing::Known));
        let Some(session) = moved.session_id else {
            return;
        };
        self.of_notes = Some(session);
        self.in_place = Some(session).filter(|_| !moved.pending);
    }

    /// Notes that who this is can not be told.
    fn doubt(&mut self, trouble: &Trouble, folder: &WorkerFolder, path: &Path, what: &str) {
        let subject = folder.id.map_or_else(Subject::default, Subject::worker);
        self.standing
            .extend(folder.id.map(|id| (id, Standing::Doubtful)));
        self.doubtful = Some(
            trouble
                .finding(subject, path, what)
                .with_hint(verify(folder)),
        );
    }
}

fn verify(folder: &WorkerFolder) -> String {
    folder.id.map_or_else(
        || "wagg verify".to_owned(),
        |id| format!("wagg verify {id}"),
    )
}

/// Whether folder and `worker.json` agree on who this is.
fn identity(dir: &Dir, folder: &WorkerFolder, path: &Path, there: bool, seen: &mut Seen) {
    let place = path.join(file::WORKER);
    if !there {
        // A folder of another name that holds no Worker is no Worker's.
        if folder.id.is_some() {
            let trouble = Trouble {
                code: Code::MissingWorkerDocument,
                line: None,
                byte: None,
                message: format!("it has no {}", file::WORKER),
            };
            seen.doubt(&trouble, folder, path, "who this Worker is can not be told");
        }
        return;
    }
    let document = read_document(dir, file::WORKER, WorkerDocument::read);
    let worker = match &document {
        Document::Good(worker) => worker,
        other => {
            if let Some(trouble) = Trouble::of(other) {
                let what = "who this Worker is can not be told";
                seen.doubt(&trouble, folder, &place, what);
            }
            return;
        }
    };
    if CatalogVersion::from_number(worker.schema_version) != CatalogVersion::V1 {
        let trouble = Trouble {
            code: Code::UnsupportedSchemaVersion,
            line: None,
            byte: None,
            message: format!(
                "schema_version {} in a store of version 1",
                worker.schema_version
            ),
        };
        seen.doubt(
            &trouble,
            folder,
            &place,
            "who this Worker is can not be told",
        );
        return;
    }
    let (own, stated, referred) = (folder.id, worker.worker_id(), worker.worker_ref());
    if own.is_some() && stated == own && referred == own {
        seen.known = true;
        seen.standing.extend(own.map(|id| (id, Standing::Known)));
        return;
    }
    let text = |id: Option<WorkerId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let trouble = Trouble {
        code: Code::WorkerIdMismatch,
        line: None,
        byte: None,
        message: format!(
            "the folder is {:?}, worker_id is {} and worker_ref is {}",
            folder.name.to_string_lossy(),
            text(stated),
            text(referred)
        ),
    };
    seen.doubt(
        &trouble,
        folder,
        &place,
        "who this Worker is can not be told",
    );
    let all = [stated, referred].into_iter().flatten();
    seen.standing.extend(all.map(|id| (id, Standing::Doubtful)));
}

/// What killed processes left in a Worker's folder. It is reported, and cleared by repair.
fn leftovers(entries: &[Entry], folder: &WorkerFolder, path: &Path, notes: &mut Vec<Finding>) {
    for entry in entries {
        let Some(kind) = entry.name.to_str().and_then(leftover) else {
            continue;
        };
        notes.push(leftover_note(&kind, folder.id, path.join(&entry.name)));
    }
}

/// The remark on one leftover.
pub(super) fn leftover_note(
    kind: &crate::layout::Leftover<'_>,
    worker: Option<WorkerId>,
    path: PathBuf,
) -> Finding {
    use crate::layout::Leftover;
    let subject = worker.map_or_else(Subject::default, Subject::worker);
    let (code, message) = match kind {
        Leftover::Staging { pid } => (
            Code::LeftoverStaging,
            format!("a staging folder that process {pid} left; nothing of it is used"),
        ),
        Leftover::Temporary { target, pid } => (
            Code::LeftoverTemporary,
            format!("a temporary file of {target} that process {pid} left; nothing of it is used"),
        ),
    };
    Finding::new(code, subject, Locus::file(path), message).with_hint(worker.map_or_else(
        || "wagg repair".to_owned(),
        |id| format!("wagg repair {id}"),
    ))
}

/// A run that answers, or can not be asked: a writer treats that as live. Only asked for once
/// there is something to write.
pub(super) fn live(store: &Store) -> Result<Option<Live>> {
    let Some(workers) = store.workers_dir()? else {
        return Ok(None);
    };
    for (folder, _) in folders(store)? {
        let Some(worker) = folder.id else { continue };
        let runs = workers
            .dir(&folder.name)
            .and_then(|dir| dir.dir(file::RUNS))
            .and_then(|dir| {
                let entries = dir.entries()?;
                Ok(RunsFolder { entries, dir })
            });
        let Ok(runs) = runs else { continue };
        for generation in runs.generations().into_iter().rev() {
            let run = runs.dir.dir(generation.to_string());
            if run.is_ok_and(|run| !matches!(probe(&run), Ok(answer) if !answer.is_live())) {
                return Ok(Some(Live { worker, generation }));
            }
        }
    }
    Ok(None)
}
