//! `migrate status`: what the migration's manifest says, held against the catalog as it is now.
//!
//! The manifest is the reference's document; its states are free text and are shown as they stand.
//! What it says is not believed where a look costs nothing: whether a Session is in place is told
//! from the Worker's own folder.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diag::Result;
use crate::layout::{OperationId, Paths, SessionId, WorkerId, file};
use crate::ops::migrate::{Known, LeftWorker};
use crate::ops::read;
use crate::record::document::{ManifestDocument, MigrationDiagnostic, SessionDocument};
use crate::store::{Store, read_document};

/// The state of a Worker that the manifest does not mention.
pub const NO_CHECKPOINT: &str = "no_checkpoint";

/// One Worker: its checkpoint, and what there is of it now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerStatus {
    /// As the manifest or the catalog spells it.
    pub worker_id: String,
    /// `migrated`, `no_legacy_metadata`, `shared_session_collision`, `pending`, other text as the
    /// manifest has it, or [`NO_CHECKPOINT`].
    pub state: String,
    /// The Worker's name as the checkpoint has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_name: Option<String>,
    /// The Session that the checkpoint names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whether `workers/` has a folder of this id.
    pub in_catalog: bool,
    /// The Session in the Worker's folder now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_in_place: Option<SessionId>,
    /// Why our own last run left it, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<LeftWorker>,
}

impl WorkerStatus {
    /// Whether this Worker's history was left where it was, or is not where the checkpoint says.
    #[must_use]
    pub fn is_left(&self) -> bool {
        if self.why.is_some() {
            return true;
        }
        match self.state.as_str() {
            "migrated" => self.in_catalog && self.session_in_place != self.session_id,
            "no_legacy_metadata" | "pending" => false,
            _ => self.in_catalog,
        }
    }
}

/// The counts of an answer.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Whether there is a manifest at all.
    pub manifest: bool,
    /// Whether the manifest says that no Worker is left.
    pub complete: bool,
    /// How many Workers are in each state.
    pub states: BTreeMap<String, u64>,
    /// Workers whose history was left, or is not where the checkpoint says.
    pub left: u64,
    /// What was left in the legacy roots and why, as the manifest has it.
    pub diagnostics: Vec<MigrationDiagnostic>,
    /// Our own last run that changed something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// Folders of `workers/` that it left because nobody can tell whose they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<LeftWorker>,
}

/// What `migrate status` answers.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// By id: numbers in their order, then other ids.
    pub workers: Vec<WorkerStatus>,
    /// The counts.
    pub summary: Summary,
}

/// Reads the manifest and looks at each Worker's folder.
///
/// # Errors
/// The manifest does not read (`corrupt_document` and the like), or `workers/` can not be listed.
pub fn status(store: &Store) -> Result<Status> {
    let Some(manifest) = manifest(store)? else {
        return Ok(Status::default());
    };
    let catalog: BTreeSet<WorkerId> = store
        .worker_folders()?
        .into_iter()
        .filter_map(|folder| folder.id)
        .collect();
    // The manifest has no place for what was left and why; a later one that says that nothing is
    // left knows better.
    let known = Known::newest(store.dir());
    let noted = known.left.into_iter().filter(|_| !manifest.complete);
    let (mut why, folders): (BTreeMap<_, _>, Vec<LeftWorker>) =
        noted.fold(Default::default(), |(mut why, mut folders), left| {
            match left.worker_id.filter(|id| catalog.contains(id)) {
                Some(id) => drop(why.insert(id, left)),
                None => folders.push(left),
            }
            (why, folders)
        });
    let mut workers = Vec::new();
    let mut told = BTreeSet::new();
    for (id, checkpoint) in manifest.workers {
        let worker = id.parse::<WorkerId>().ok();
        told.extend(worker);
        let in_catalog = worker.is_some_and(|id| catalog.contains(&id));
        workers.push((
            worker,
            WorkerStatus {
                worker_id: id,
                state: checkpoint.state,
                worker_name: Some(checkpoint.worker_name),
                session_id: checkpoint.session_id,
                in_catalog,
                session_in_place: worker
                    .filter(|_| in_catalog)
                    .and_then(|id| in_place(store, id)),
                why: worker.and_then(|id| why.remove(&id)),
            },
        ));
    }
    for id in catalog.difference(&told) {
        workers.push((
            Some(*id),
            WorkerStatus {
                worker_id: id.to_string(),
                state: NO_CHECKPOINT.to_owned(),
                worker_name: None,
                session_id: None,
                in_catalog: true,
                session_in_place: in_place(store, *id),
                why: why.remove(id),
            },
        ));
    }
    // The manifest sorts ids as text, 10 before 2.
    workers.sort_by(|(a, one), (b, other)| {
        (a.is_none(), a, &one.worker_id).cmp(&(b.is_none(), b, &other.worker_id))
    });
    let workers: Vec<WorkerStatus> = workers.into_iter().map(|(_, worker)| worker).collect();
    let mut states = BTreeMap::new();
    for worker in &workers {
        *states.entry(worker.state.clone()).or_default() += 1;
    }
    let summary = Summary {
        manifest: true,
        complete: manifest.complete,
        states,
        left: workers.iter().filter(|w| w.is_left()).count() as u64,
        diagnostics: manifest.diagnostics,
        operation_id: known.latest,
        folders,
    };
    Ok(Status { workers, summary })
}

fn manifest(store: &Store) -> Result<Option<ManifestDocument>> {
    let dir = match store.dir().dir(file::MIGRATIONS) {
        Ok(dir) => dir,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(read::open_error(file::MIGRATIONS.as_ref(), e)),
    };
    let manifest = read_document(&dir, file::MANIFEST, ManifestDocument::read);
    read::document(manifest, &Paths::manifest())
}

/// The Session in a Worker's own folder.
fn in_place(store: &Store, id: WorkerId) -> Option<SessionId> {
    let dir = store.dir().dir_at(Paths::session_dir(id).iter()).ok()?;
    read_document(&dir, file::SESSION, SessionDocument::read)
        .good()?
        .session()
}
