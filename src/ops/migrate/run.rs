//! One migration from its locks to its outcome.

use std::thread::ScopedJoinHandle;

use serde_json::{Value, json};

use super::act::Names;
use super::carry::Work;
use super::catalog::live;
use super::copy::interrupted;
use super::each::under;
use super::facts::Known;
use super::layout_up::{Home, move_up};
use super::manifest::{Manifest, State};
use super::plan::{Plan, Step, plan};
use super::report::{Report, RootReport};
use super::sources::are_absent;
use super::{COMMAND, Options, Sources, apart};
use crate::diag::{Code, Effects, Error, Locus, NoProgress, Progress, Result};
use crate::layout::{Paths, WorkerId};
use crate::ops::change::{self, Flags, Settled};
use crate::record::threads::start;
use crate::store::journal::{Begin, Intent, Journal, Lookup, Outcome, Receipt, lookup};
use crate::store::{Document, Locks, Store, StoreGuard};

/// How a migration ended.
#[derive(Debug)]
pub struct Done {
    /// What became of each Worker.
    pub report: Report,
    /// What stopped it before its end; the report says what was done by then.
    pub stopped: Option<Error>,
    /// It was done before, by the same request id.
    pub replayed: bool,
    /// What dead operations left, and was settled first.
    pub settled: Vec<Settled>,
}

/// Migrates, or says what a migration would do.
///
/// # Errors
/// What forbids it as a whole, or stopped it before the first effect; `outcome_unknown` if a sync
/// failed. What stops it later is in the answer.
pub fn migrate(
    home: Home,
    options: &Options,
    flags: &Flags<'_>,
    progress: &dyn Progress,
) -> Result<Done> {
    let request = Request::of(options, flags);
    if let Some(done) = request.replayed(&home, flags)? {
        return Ok(done);
    }
    apart(&home.root, options)?;
    writable(&home)?;
    if flags.dry_run {
        return dry_run(&home, options, progress);
    }
    if nothing_known(&home, options)? {
        // As the reference: no lock, and nothing written.
        return nothing_there(options);
    }
    let mut locks = Locks::open(&home.root)?;
    let lock = flags.lock(COMMAND);
    let mut guard = locks.store(&lock)?;
    guard.take_migration_lock(&lock)?;
    let journal = Journal::new(&guard, lock);
    let settled = change::settle_store(&home.catalog, &guard, &journal)?;
    if let Some(done) = request.replayed(&home, flags)? {
        return Ok(done);
    }
    let home = moved_up(home, &guard, &journal, flags, options)?;
    let run = Run {
        home: &home,
        guard: &guard,
        journal: &journal,
        options,
        flags,
        request: &request,
        progress,
    };
    let mut done = run.go()?;
    done.settled = settled;
    Ok(done)
}

/// What makes the operation exactly-once.
pub(super) struct Request {
    fingerprint: String,
    args: Value,
}

impl Request {
    fn of(options: &Options, _flags: &Flags<'_>) -> Self {
        let args = json!({
            "sessions": options.roots.sessions.to_string_lossy(),
            "metadata": options.roots.metadata.to_string_lossy(),
            "fail_fast": options.fail_fast,
            "deep": options.deep,
        });
        Self {
            fingerprint: change::fingerprint(COMMAND, &args),
            args,
        }
    }

    fn replayed(&self, home: &Home, flags: &Flags<'_>) -> Result<Option<Done>> {
        let Some(request_id) = &flags.request_id else {
            return Ok(None);
        };
        let actor = flags.actor_named.then_some(flags.actor.as_str());
        let lock = flags.lock(COMMAND);
        let found = lookup(&home.root, &lock, request_id, &self.fingerprint, actor)?;
        match found {
            Lookup::Replay(replay) => Done::replayed(&replay.receipt).map(Some),
            Lookup::Unknown | Lookup::Unsettled(_) => Ok(None),
        }
    }

    fn intent(&self, flags: &Flags<'_>) -> Intent {
        let mut intent = Intent::new(flags.actor.clone(), COMMAND, self.fingerprint.clone());
        intent.request_id.clone_from(&flags.request_id);
        intent.args = self.args.clone();
        // Nothing has to follow: whoever settles it clears what it left, and a rerun goes on.
        intent.follow = json!({"effects": [], "commit": 0, "answer": {}});
        intent
    }
}

impl Done {
    pub(super) fn of(report: Report) -> Self {
        Self {
            report,
            stopped: None,
            replayed: false,
            settled: Vec::new(),
        }
    }

    fn replayed(receipt: &Receipt) -> Result<Self> {
        let unreadable =
            |e| Error::new(Code::Internal, "a receipt can not be read back").caused_by(e);
        // By way of a value: numbers would not come through otherwise.
        let value: Value = receipt.parse().map_err(unreadable)?;
        let report: Report = serde_json::from_value(value).map_err(unreadable)?;
        Ok(Self {
            replayed: true,
            ..Self::of(report)
        })
    }
}

/// Refuses a store that this program does not write, and one that is on no disk.
fn writable(home: &Home) -> Result<()> {
    change::writable(&home.runtime)?;
    if let Document::Good(runtime) = home.runtime.runtime()
        && runtime.backend != "fs_store"
    {
        return Err(Error::new(
            Code::CorruptDocument,
            format!(
                "runtime.json says that the backend is {:?}, so no Runtime reads this store from disk",
                runtime.backend
            ),
        )
        .at(Locus::file(Paths::runtime()))
        .hint("wagg verify"));
    }
    Ok(())
}

fn roots_of(options: &Options, sources: &Sources) -> Vec<RootReport> {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    vec![
        RootReport {
            kind: "sessions".to_owned(),
            path: text(&options.roots.sessions),
            present: !sources.sessions.root.is_absent(),
            folders: sources.sessions.folders.len() as u64,
        },
        RootReport {
            kind: "metadata".to_owned(),
            path: text(&options.roots.metadata),
            present: !sources.metadata.is_absent(),
            folders: sources.metadata_folders,
        },
    ]
}

/// Whether neither legacy root is there, and no run was ever here: what former runs knew stays
/// known.
fn nothing_known(home: &Home, options: &Options) -> Result<bool> {
    Ok(are_absent(&options.roots)
        && home.oldest.is_none()
        && !Manifest::read(&home.catalog)?.is_there()
        && Known::newest(&home.root).latest.is_none())
}

/// Neither legacy root is there.
fn nothing_there(options: &Options) -> Result<Done> {
    let sources = Sources::read(options, &Known::default(), &NoProgress)?;
    let empty = Plan::empty();
    let mut report = Report::of(&empty, roots_of(options, &sources), false);
    "no_change".clone_into(&mut report.outcome);
    report.conclude(&options.roots, None);
    Ok(Done::of(report))
}

fn dry_run(home: &Home, options: &Options, progress: &dyn Progress) -> Result<Done> {
    if nothing_known(home, options)? {
        return nothing_there(options);
    }
    let manifest = Manifest::read(&home.catalog)?;
    let known = Known::read(&home.root);
    progress.start(None);
    let mut sources = Sources::read(options, &known, progress)?;
    let mut plan = plan(
        &home.catalog,
        &mut sources,
        &manifest,
        &known,
        options,
        true,
        progress,
    )?;
    progress.finish();
    let needed = home.oldest.is_some() || needs_writing(&plan, &manifest, &known);
    if needed {
        refuse_live(&home.catalog)?;
    }
    let mut report = Report::of(&plan, roots_of(options, &sources), true);
    report.remark(std::mem::take(&mut plan.notes));
    report.moved_up = moved_up_path(home);
    if !needed {
        "no_change".clone_into(&mut report.outcome);
    }
    report.conclude(&options.roots, known.roots.as_ref());
    Ok(Done::of(report))
}

fn moved_up_path(home: &Home) -> Option<String> {
    let name = home.oldest.as_ref()?;
    let path = std::path::Path::new(crate::layout::file::RUNTIMES).join(name);
    Some(path.to_string_lossy().into_owned())
}

/// A Runtime that runs keeps the catalog in memory and would write over what changes.
fn refuse_live(store: &Store) -> Result<()> {
    let Some(live) = live(store)? else {
        return Ok(());
    };
    Err(Error::new(
        Code::RuntimeLive,
        format!(
            "run {} of Worker {} answers, so a Runtime holds the catalog and would write over this change",
            live.generation, live.worker
        ),
    )
    .at(Locus::file(Paths::socket(live.worker, live.generation)))
    .hint("stop the Runtime first, then run the same command again"))
}

/// Whether there is anything to do: something to move, a manifest that says less than is so, or
/// something left that is not noted yet.
fn needs_writing(plan: &Plan, manifest: &Manifest, known: &Known) -> bool {
    if plan.moving().next().is_some() {
        return true;
    }
    settled(plan).any(|(id, state)| !manifest.says(id, state))
        || !manifest.is_there()
        || !manifest.concludes(plan.is_complete(), &plan.diagnostics)
        || plan.left_set() != known.left
}

/// The checkpoints of all Workers of which nothing has to be moved.
fn settled(plan: &Plan) -> impl Iterator<Item = (WorkerId, State)> + '_ {
    let items = plan.items.iter();
    items
        .filter(|item| !matches!(item.step, Step::Move(_)))
        .filter_map(|item| Some((item.id, item.state?)))
}

/// Sets the checkpoints of all Workers of which nothing has to be moved.
pub(super) fn settle_states(plan: &Plan, manifest: &mut Manifest) {
    for (id, state) in settled(plan) {
        manifest.set(id, state);
    }
}

/// Moves the oldest layout up, as an operation of its own: what is planned then is a store.
fn moved_up(
    home: Home,
    guard: &StoreGuard<'_>,
    journal: &Journal<'_>,
    flags: &Flags<'_>,
    options: &Options,
) -> Result<Home> {
    let Some(name) = home.oldest.clone() else {
        return Ok(home);
    };
    let path = moved_up_path(&home).unwrap_or_default();
    let args = json!({ "moves_up": path });
    let request = Request {
        fingerprint: change::fingerprint(COMMAND, &args),
        args,
    };
    let mut intent = request.intent(flags);
    intent.request_id = None;
    // What would be refused then is refused before anything is moved.
    Sources::read(options, &Known::default(), &NoProgress)?;
    refuse_live(&home.catalog)?;
    Manifest::read(&home.catalog)?;
    let Begin::Fresh(operation) = journal.begin(intent, false)? else {
        return Err(Error::new(Code::Internal, "a new operation is not new"));
    };
    move_up(guard, &name).map_err(|e| match e.code {
        Code::OutcomeUnknown => e,
        _ => e.effects(Effects::Unknown),
    })?;
    let receipt = Receipt::new(&json!({
        "operation_id": operation.id(),
        "outcome": "done",
        "command": COMMAND,
        "moved_up": path,
    }));
    operation.finish(Outcome::Done, receipt.map_err(unwritable)?)?;
    let root = home.root.root().to_owned();
    let mut up = Home::open(&root)?;
    up.oldest = Some(name);
    Ok(up)
}

pub(super) fn unwritable(e: serde_json::Error) -> Error {
    Error::new(Code::Internal, "a receipt can not be written as JSON").caused_by(e)
}

/// A migration under its locks.
pub(super) struct Run<'a> {
    pub home: &'a Home,
    pub guard: &'a StoreGuard<'a>,
    pub journal: &'a Journal<'a>,
    pub options: &'a Options,
    pub flags: &'a Flags<'a>,
    pub request: &'a Request,
    pub progress: &'a dyn Progress,
}

impl Run<'_> {
    fn go(&self) -> Result<Done> {
        let (manifest, known) = self.remembered();
        let manifest = manifest?;
        self.progress.start(None);
        let mut sources = Sources::read(self.options, &known, self.progress)?;
        let made = plan(
            &self.home.catalog,
            &mut sources,
            &manifest,
            &known,
            self.options,
            false,
            self.progress,
        );
        self.progress.finish();
        let mut plan = made?;
        let notes = std::mem::take(&mut plan.notes);
        let report = || {
            let mut report = Report::of(&plan, roots_of(self.options, &sources), false);
            report.moved_up = moved_up_path(self.home);
            report
        };
        if !needs_writing(&plan, &manifest, &known) {
            let mut report = report();
            report.remark(notes);
            return self.no_change(report, &known);
        }
        refuse_live(&self.home.catalog)?;
        if self.progress.interrupted() {
            return Err(interrupted());
        }
        let names = Names::mint();
        let mut intent = self.request.intent(self.flags);
        intent.leftovers = names.leftovers(&plan);
        let operation = match self.journal.begin(intent, self.flags.actor_named)? {
            Begin::Fresh(operation) => operation.without_leftovers(),
            Begin::Replay(replay) => return Done::replayed(&replay.receipt),
            Begin::Unsettled(other) => return Err(change::taken(&other)),
        };
        let work = Work {
            run: self,
            plan: &plan,
            sources: &sources,
            names: &names,
            previous: known.latest,
            known_roots: known.roots.as_ref(),
            report: &report,
        };
        work.carry_out(operation, manifest, notes)
    }

    /// What the manifest and our own notes say, which is much after many Workers.
    fn remembered(&self) -> (Result<Manifest>, Known) {
        let notes = || Known::read(&self.home.root);
        if self.options.jobs.get() == 1 {
            return (Manifest::read(&self.home.catalog), notes());
        }
        std::thread::scope(|scope| {
            let reading = start(scope, under(notes));
            let manifest = Manifest::read(&self.home.catalog);
            match reading.map(ScopedJoinHandle::join) {
                Some(Ok(notes)) => (manifest, notes),
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => (manifest, notes()),
            }
        })
    }

    fn no_change(&self, mut report: Report, known: &Known) -> Result<Done> {
        "no_change".clone_into(&mut report.outcome);
        report.request_id.clone_from(&self.flags.request_id);
        report.conclude(&self.options.roots, known.roots.as_ref());
        if self.flags.request_id.is_none() {
            return Ok(Done::of(report));
        }
        let intent = self.request.intent(self.flags);
        report.operation_id = Some(intent.operation_id);
        let receipt = Receipt::new(&report).map_err(unwritable)?;
        let noted =
            self.journal
                .record(intent, self.flags.actor_named, Outcome::NoChange, receipt)?;
        match noted {
            Lookup::Unknown => Ok(Done::of(report)),
            Lookup::Replay(replay) => Done::replayed(&replay.receipt),
            Lookup::Unsettled(other) => Err(change::taken(&other)),
        }
    }
}
