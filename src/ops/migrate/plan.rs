//! What a migration would do, Worker by Worker: the very value that is carried out.

use std::collections::BTreeSet;

use super::catalog::{self, Found};
use super::copy::interrupted;
use super::diagnostics::diagnostics;
use super::each::each;
use super::examine::Examiner;
use super::facts::{Known, LeftWorker};
use super::gone::is_gone;
use super::manifest::{Manifest, State};
use super::{Options, Sources};
use crate::diag::{Finding, Progress, Result, Severity, Subject};
use crate::layout::{SegmentId, SessionId, WorkerId, file};
use crate::ops::ownership::Ownership;
use crate::record::document::MigrationDiagnostic;
use crate::record::{Limits, Scanner};
use crate::store::Store;

/// What is to be done for one Worker.
#[derive(Debug)]
pub(super) enum Step {
    /// Something is copied.
    Move(Box<Move>),
    /// All is in the store already.
    Done,
    /// It is in the store, and its Runtime went on from there.
    Advanced,
    /// The legacy roots have nothing of it.
    Nothing,
    /// It is left as it is, and why.
    Left(Box<Finding>),
    /// It was not come to.
    NotReached,
}

/// What is copied for one Worker.
#[derive(Debug)]
pub(super) struct Move {
    /// Its Session.
    pub session: Option<SessionMove>,
    /// Its metadata.
    pub metadata: bool,
    /// SHA-256 of the legacy metadata, so that one that changes meanwhile is noticed.
    pub digest: [u8; 32],
    /// The Segment that its metadata points at.
    pub segment: Option<SegmentId>,
    /// The metadata collides: the Session is moved, and the Worker is left all the same.
    pub collides: Option<Box<Finding>>,
    /// How many bytes there are to copy, as far as it was looked at.
    pub bytes: u64,
}

/// A Session that is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionMove {
    pub id: SessionId,
    pub active: Option<SegmentId>,
    /// It takes the place of an empty folder.
    pub over_shell: bool,
}

/// One Worker of the plan.
#[derive(Debug)]
pub(super) struct Item {
    pub id: WorkerId,
    pub step: Step,
    /// Its checkpoint once that is done; none if it stays as it is.
    pub state: Option<State>,
    /// Its Session, as far as it is known.
    pub session: Option<SessionId>,
}

/// The whole plan.
pub(super) struct Plan {
    /// Every Worker that can be told, in order.
    pub items: Vec<Item>,
    /// Folders whose Worker can not be told.
    pub doubtful: Vec<Finding>,
    /// For the manifest.
    pub diagnostics: Vec<MigrationDiagnostic>,
    /// What is worth a remark and in nobody's way.
    pub notes: Vec<Finding>,
    /// Bytes to copy.
    pub bytes: u64,
}

impl Plan {
    /// A plan of nothing.
    pub const fn empty() -> Self {
        Self {
            items: Vec::new(),
            doubtful: Vec::new(),
            diagnostics: Vec::new(),
            notes: Vec::new(),
            bytes: 0,
        }
    }

    /// The Workers of which something is copied.
    pub fn moving(&self) -> impl Iterator<Item = WorkerId> + '_ {
        let moving = self.items.iter();
        moving
            .filter(|item| matches!(item.step, Step::Move(_)))
            .map(|item| item.id)
    }

    /// Those of them whose folder is from then on what a run of ours made of it. Where the metadata
    /// collides, it is somebody else's too.
    pub fn becoming_ours(&self) -> impl Iterator<Item = WorkerId> + '_ {
        let moving = self.items.iter();
        moving
            .filter(|item| matches!(&item.step, Step::Move(m) if m.collides.is_none()))
            .map(|item| item.id)
    }

    /// All that is left, and why.
    pub fn left(&self) -> impl Iterator<Item = &Finding> {
        let of_items = self.items.iter().filter_map(|item| match &item.step {
            Step::Left(finding) => Some(&**finding),
            _ => None,
        });
        of_items.chain(&self.doubtful)
    }

    /// The same as it is noted.
    pub fn left_set(&self) -> BTreeSet<LeftWorker> {
        self.left().map(LeftWorker::of).collect()
    }

    /// Whether all Workers were come to and none is left.
    pub fn is_complete(&self) -> bool {
        self.left().next().is_none()
            && self
                .items
                .iter()
                .all(|item| !matches!(item.step, Step::NotReached))
    }
}

/// Makes the plan. Only reads.
///
/// `check` says that every source is read to its end, as the copy would: for a dry run.
pub(super) fn plan(
    store: &Store,
    sources: &mut Sources,
    manifest: &Manifest,
    known: &Known,
    options: &Options,
    check: bool,
    progress: &dyn Progress,
) -> Result<Plan> {
    progress.message("the catalog");
    let mut found = catalog::look(store, known, options, progress)?;
    progress.message("who owns what");
    let said = std::mem::take(&mut sources.said);
    let ownership = Ownership::judge(&mut found.catalog, said);
    if found.interrupted || progress.interrupted() {
        return Err(interrupted());
    }
    let diagnostics = if manifest.is_there() && !sources.are_there() {
        // With a root away nothing can be said of owners: what was known stays.
        manifest.diagnostics()
    } else {
        let workers = found.workers.iter().copied();
        let gone = workers.filter(|id| is_gone(&ownership, manifest, known, *id));
        diagnostics(&found.catalog, &ownership, sources, gone)
    };
    let Found {
        workers,
        doubtful,
        as_noted,
        mut notes,
        ..
    } = found;
    notes.extend(of_orphans(&ownership, &found.catalog, sources));
    progress.message("what is there");
    let examiner = Examiner {
        store,
        sources,
        manifest,
        known,
        ownership: &ownership,
        as_noted: &as_noted,
        deep: options.deep,
        check,
        progress,
    };
    let mut plan = Plan {
        items: Vec::with_capacity(workers.len()),
        doubtful,
        diagnostics,
        notes,
        bytes: 0,
    };
    let mut stopped = None;
    each(
        options.jobs,
        &workers,
        || Scanner::new(Limits::default()),
        |tools, id| examiner.worker(*id, tools),
        |looked| match looked {
            Ok((item, notes)) => {
                plan.notes.extend(notes);
                plan.items.push(item);
            }
            Err(e) => {
                stopped.get_or_insert(e);
            }
        },
    );
    if let Some(e) = stopped {
        return Err(e);
    }
    if options.fail_fast {
        stop_early(&mut plan);
    }
    plan.bytes = plan
        .items
        .iter()
        .map(|item| match &item.step {
            Step::Move(moving) => moving.bytes,
            _ => 0,
        })
        .sum();
    Ok(plan)
}

/// The old way: the first trouble ends it, and one that concerns a shared Session before anything
/// is moved.
fn stop_early(plan: &mut Plan) {
    let shared = plan
        .items
        .iter()
        .any(|item| matches!(item.state, Some(State::Shared(_))));
    // A folder without an id comes last, so it stops nobody.
    let doubt = plan
        .doubtful
        .iter()
        .filter_map(|f| f.subject.worker_id)
        .min();
    let mut stopped = shared;
    for item in &mut plan.items {
        stopped |= doubt.is_some_and(|doubt| doubt < item.id);
        let is_shared = matches!(item.state, Some(State::Shared(_)));
        if stopped && !is_shared {
            item.step = Step::NotReached;
            item.state = None;
        }
        stopped |= match &item.step {
            Step::Left(_) => true,
            Step::Move(moving) => moving.collides.is_some(),
            _ => false,
        };
    }
}

/// Metadata of somebody else that does not read: in nobody's way.
fn of_orphans(
    ownership: &Ownership,
    catalog: &crate::ops::ownership::Catalog,
    sources: &Sources,
) -> Vec<Finding> {
    use crate::ops::ownership::{Says, Standing};
    let mut notes = Vec::new();
    for source in ownership.sources() {
        let Says::Trouble(trouble) = &source.says else {
            continue;
        };
        let standing = source.worker.map(|id| catalog.standing(id));
        if standing.is_some_and(|standing| standing != Standing::Unknown) {
            continue;
        }
        let path = sources
            .roots
            .metadata
            .join(&source.folder)
            .join(file::METADATA);
        let what = "metadata that no Worker of the catalog owns";
        notes.push(
            trouble
                .finding(Subject::default(), path, what)
                .with_severity(Severity::Warning),
        );
    }
    notes
}
