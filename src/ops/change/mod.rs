//! How every change is made: looked up, locked, settled, planned, noted, carried out, answered.
//!
//! A command says what it wants as a [`Change`]: pure reading that gives a [`Planned`] list of
//! [`Effect`](effect::Effect)s, one of which is the commit point. The rest is the same for all of
//! them and stands here: a request id is looked up before anything else (C15), the lock is taken
//! (C10), what a dead process left is settled (C16), live runs and fences refuse (C13, C17), the
//! intent is written with every effect in it (C14), the effects are carried out one after the other
//! (C7), and the outcome is written. `--dry-run` ends behind the plan, without a lock and without
//! a trace.
//!
//! Since an intent holds its effects as data, with digests of what was before and what will be
//! after, settling a dead operation needs to know nothing of its command.

pub mod aside;
#[cfg(test)]
#[allow(dead_code, reason = "a kit for the tests of all commands")]
pub(crate) mod crash_tests;
pub mod edit;
pub mod effect;
mod execute;
mod fence;
#[cfg(test)]
mod frame_tests;
mod group;
mod prune;
pub mod rewrite;
mod settle;
mod view;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use effect::State;
pub use effect::{Act, Effect, KnownBy};
pub use fence::{Expect, Liveness};
pub(crate) use fence::{any_live_run, live_run, runtime_live, worker_live};
pub use group::{Member, run_many};
pub use prune::prune;
pub use settle::{Passed, Settled, settle_store};
pub use view::{Records, View};
pub(crate) use view::{document_error, no_worker};

use crate::diag::{Code, Effects, Error, Locus, Result};
use crate::layout::{Generation, OperationId, Paths, SegmentId, WorkerId};
use crate::ops::read::WorkerRef;
use crate::store::fs::failed;
use crate::store::journal::{
    self, Begin, Intent, Journal, Lookup, OpenOperation, Outcome, Receipt, Replay, lookup,
};
use crate::store::{Guard, LockRequest, Locks, Store, Waiting};

/// What every changing command takes.
#[derive(Clone)]
pub struct Flags<'a> {
    /// Who acts.
    pub actor: String,
    /// Whether a person named the actor, so that a request id is bound to it.
    pub actor_named: bool,
    /// Makes the operation exactly-once.
    pub request_id: Option<String>,
    /// How long to wait for a lock.
    pub wait: Duration,
    /// Check, refuse and plan, and write nothing.
    pub dry_run: bool,
    /// What the store must be like.
    pub expect: Expect,
    /// Told once if a lock must be waited for.
    pub on_wait: &'a (dyn Fn(&Waiting<'_>) + Sync),
    /// Set when a person asked to stop.
    pub stop: Option<&'a AtomicBool>,
    /// The locks that `wagg lock run` handed down.
    pub inherited: Option<&'a str>,
}

impl Flags<'_> {
    /// Flags of a command that was given none.
    #[must_use]
    pub fn plain(actor: &str) -> Flags<'static> {
        Flags {
            actor: actor.to_owned(),
            actor_named: false,
            request_id: None,
            wait: Duration::from_secs(10),
            dry_run: false,
            expect: Expect::default(),
            on_wait: &|_| (),
            stop: None,
            inherited: None,
        }
    }

    /// How a lock is asked for under these flags.
    pub(crate) fn lock<'s>(&'s self, command: &'s str) -> LockRequest<'s> {
        LockRequest {
            wait: self.wait,
            command,
            on_wait: self.on_wait,
            stop: self.stop,
            inherited: self.inherited,
        }
    }
}

/// Which lock a change is made under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// That of one Worker.
    Worker(WorkerId),
    /// That of the store: nothing else changes meanwhile.
    Catalog,
}

impl Scope {
    /// The Worker that it is.
    ///
    /// # Errors
    /// `internal`, for the catalog.
    pub fn worker(self) -> Result<WorkerId> {
        match self {
            Self::Worker(id) => Ok(id),
            Self::Catalog => Err(Error::new(
                Code::Internal,
                "a change inside a Worker was given the catalog",
            )),
        }
    }

    /// What a live run forbids to a change that pulls the ground from under it.
    #[must_use]
    pub const fn liveness(self) -> Liveness {
        match self {
            Self::Worker(id) => Liveness::Worker(id),
            Self::Catalog => Liveness::Store,
        }
    }

    /// The lock of a Worker that a reference named.
    ///
    /// # Errors
    /// `worker_id_mismatch`: its folder has another name than its id, so no lock is its own.
    pub fn of(worker: &WorkerRef) -> Result<Self> {
        if worker.folder == Store::folder_of(worker.id) {
            return Ok(Self::Worker(worker.id));
        }
        Err(Error::new(
            Code::WorkerIdMismatch,
            format!(
                "Worker {} lies in the folder {:?}; nothing is changed in it",
                worker.id, worker.folder
            ),
        )
        .hint("wagg verify"))
    }
}

/// A change that a command wants. Everything in it is reading.
pub trait Change {
    /// The command, as in `segment fork`.
    fn command(&self) -> &'static str;

    /// The arguments as given, files and stdin by content: what a request id is bound to.
    fn arguments(&self) -> Value;

    /// Resolves references to the lock that is needed.
    ///
    /// # Errors
    /// `not_found`, `ambiguous_reference`, `wrong_id_kind`.
    fn scope(&self, store: &Store) -> Result<Scope>;

    /// What a live run forbids. A plan that has to look first asks [`View::refuse_live`] itself.
    fn liveness(&self, _scope: Scope) -> Liveness {
        Liveness::None
    }

    /// The Segment that the change is about: `--expect-digest` is over its records. Asked under
    /// the lock, so that it is the one that the plan acts on.
    ///
    /// # Errors
    /// As [`Change::scope`].
    fn segment(&self, _store: &Store) -> Result<Option<SegmentId>> {
        Ok(None)
    }

    /// Whether several of this kind may be planned one upon the other before any is carried out.
    /// Then everything that the plan reads must come through the [`View`].
    fn groups(&self) -> bool {
        false
    }

    /// Waits for what it needs, before any lock is taken.
    ///
    /// # Errors
    /// What it waited for did not come.
    fn wait(&self, _store: &Store, _scope: Scope, _flags: &Flags<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether it makes the store itself, so that there may be no catalog yet.
    fn founds(&self) -> bool {
        false
    }

    /// What it means that somebody who holds no lock of ours has taken the place of what follows
    /// the commit point. The operation ends there, and its request id is free again. None: it is
    /// not known how it stands, and the next change looks.
    fn taken(&self, _path: &Path) -> Option<Error> {
        None
    }

    /// Checks, refuses, mints ids, and says what is to be done.
    ///
    /// # Errors
    /// Whatever forbids the change; nothing has changed then.
    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned>;
}

/// What a plan comes to.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for a command, on the stack"
)]
pub enum Planned {
    /// It is so already.
    Nothing(Answer),
    /// This is to be done.
    Do(Plan),
}

/// What a changing command answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The Worker that was made or acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// The fields of the receipt beside the common ones, in order: what was made, counts.
    #[serde(flatten)]
    pub fields: serde_json::Map<String, Value>,
    /// What a person's screen or a script gets: the id that was made or acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// It leaves some of what was asked for, and the fields say what.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Answer {
    /// An answer about a Worker, with what a script gets.
    #[must_use]
    pub fn of(worker: WorkerId, line: impl Into<String>) -> Self {
        Self {
            worker_id: Some(worker),
            line: Some(line.into()),
            ..Self::default()
        }
    }

    /// An answer about no Worker, with what a script gets.
    #[must_use]
    pub fn line(line: impl Into<String>) -> Self {
        Self {
            line: Some(line.into()),
            ..Self::default()
        }
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: impl Serialize) {
        // Only values that are JSON already are ever given.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.fields.insert(name.to_owned(), value);
    }

    /// Adds to what a person is told beside the answer, if there is something.
    pub fn warn(&mut self, text: Option<String>) {
        let Some(text) = text else { return };
        let warnings = self.fields.entry("warnings");
        if let Value::Array(all) = warnings.or_insert_with(|| Value::Array(Vec::new())) {
            all.push(text.into());
        }
    }
}

/// What is to be done, in order.
#[derive(Debug)]
pub struct Plan {
    /// The Worker that it is about, also if the lock is that of the store.
    pub worker: Option<WorkerId>,
    /// The generation that it acts under.
    pub generation: Option<Generation>,
    /// Its arguments, resolved.
    pub args: Value,
    /// Every id that it makes.
    pub minted: Value,
    /// The effects, with their content.
    pub acts: Vec<Act>,
    /// Which of them is the commit point.
    pub commit: usize,
    /// What it answers once it is done.
    pub answer: Answer,
}

/// The part of an intent that settling needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Follow {
    pub effects: Vec<Effect>,
    pub commit: usize,
    pub answer: Answer,
}

/// How an operation ends whose effects are all there.
pub(super) const fn ending(answer: &Answer) -> (Outcome, &'static str) {
    if answer.partial {
        (Outcome::Partial, "partial")
    } else {
        (Outcome::Done, "done")
    }
}

/// How a changing command ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The receipt: `operation_id`, `outcome`, what was made. Kept to the byte for a retry.
    pub receipt: Receipt,
    /// The id that was made or acted on.
    pub line: Option<String>,
    /// It was done before, by the same request id.
    pub replayed: bool,
    /// Nothing was written: a dry run.
    pub dry_run: bool,
}

#[derive(Serialize)]
struct ReceiptBody<'a> {
    operation_id: Option<OperationId>,
    outcome: &'a str,
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<&'a Effect>>,
}

/// The receipt of an operation; the same whoever writes it, at once or when it is settled.
pub(super) fn receipt(intent: &Intent, outcome: &str, answer: &Answer) -> Result<Receipt> {
    let body = ReceiptBody {
        operation_id: Some(intent.operation_id),
        outcome,
        command: &intent.command,
        request_id: intent.request_id.as_deref(),
        // The outcome says so already.
        answer: &Answer {
            partial: false,
            ..answer.clone()
        },
        effects: None,
    };
    Receipt::new(&body).map_err(unwritable)
}

fn unwritable(e: serde_json::Error) -> Error {
    Error::new(Code::Internal, "a receipt can not be written as JSON").caused_by(e)
}

impl Done {
    fn of(receipt: Receipt, replayed: bool) -> Self {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default)]
            line: Option<String>,
        }
        let line = receipt.parse::<Line>().ok().and_then(|l| l.line);
        Self {
            receipt,
            line,
            replayed,
            dry_run: false,
        }
    }
}

impl Done {
    /// How it ended, as the receipt says: `done`, `no_change`, `planned`.
    #[must_use]
    pub fn outcome(&self) -> String {
        #[derive(Deserialize)]
        struct Outcome {
            outcome: String,
        }
        self.receipt
            .parse::<Outcome>()
            .map(|o| o.outcome)
            .unwrap_or_default()
    }
}

/// SHA-256 in hex over a command and its arguments in a canonical form: keys sorted, no spaces.
#[must_use]
pub fn fingerprint(command: &str, arguments: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                out.push('{');
                for (i, key) in keys.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(&map[key], out);
                }
                out.push('}');
            }
            Value::Array(all) => {
                out.push('[');
                for (i, value) in all.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write(value, out);
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut text = Value::from(command).to_string();
    write(arguments, &mut text);
    hex(&Sha256::digest(text.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Refuses a store that this program does not write.
///
/// # Errors
/// `unsupported_schema_version`, `missing_catalog`, or what is wrong with `runtime.json`.
pub fn writable(store: &Store) -> Result<()> {
    use crate::store::Document;
    let path = Paths::runtime();
    match store.runtime() {
        Document::Good(runtime) if runtime.version().is_writable() => Ok(()),
        Document::Good(runtime) => Err(Error::new(
            Code::UnsupportedSchemaVersion,
            format!(
                "this store is of version {}, which wagg reads and does not write",
                runtime.schema_version
            ),
        )
        .at(Locus::file(path))
        .hint("use the Runtime of that version to change it")),
        Document::Missing => Err(Error::new(
            Code::MissingCatalog,
            "the store has no runtime.json, so it is read and not written",
        )
        .at(Locus::file(path))
        .hint("wagg verify")),
        Document::Faulty(fault) => Err(view::document_error(&fault, path)),
        Document::NotAFile(kind) => Err(Error::new(
            if kind == crate::store::EntryKind::Symlink {
                Code::SymbolicLink
            } else {
                Code::NotARegularFile
            },
            format!("runtime.json is {}", kind.noun()),
        )
        .at(Locus::file(path))),
        Document::Unreadable(e) => Err(Error::io("read", &path, e)),
    }
}

/// Makes one change.
///
/// # Errors
/// Whatever forbids it or stops it, honest about effects (C18).
pub fn run(store: &Store, flags: &Flags<'_>, change: &dyn Change) -> Result<Done> {
    let command = change.command();
    let fingerprint = fingerprint(command, &change.arguments());
    if let Some(done) = replayed(store, flags, command, &fingerprint)? {
        return Ok(done);
    }
    if !change.founds() {
        writable(store)?;
    }
    let scope = change.scope(store)?;
    if flags.dry_run {
        return dry_run(store, flags, change, scope);
    }
    change.wait(store, scope, flags)?;
    let request = flags.lock(command);
    let mut locks = Locks::open(store.dir())?;
    match scope {
        Scope::Worker(id) => {
            // Once settled there is nothing left, unless another died meanwhile.
            for _ in 0..8 {
                let guard = locks.worker(id, &request)?;
                let made = under(store, &guard, flags, change, scope, &fingerprint)?;
                drop(guard);
                match made {
                    Some(done) => return Ok(done),
                    None => settle_in(store, &mut locks, &request, Scope::Catalog)?,
                }
            }
            Err(Error::new(
                Code::UnsettledOperation,
                format!("changes of the catalog about Worker {id} stay unfinished"),
            )
            .hint("wagg op list"))
        }
        Scope::Catalog => {
            let guard = locks.store(&request)?;
            under(store, &guard, flags, change, scope, &fingerprint)?.ok_or_else(|| {
                Error::new(Code::Internal, "the store's lock does not cover the store")
            })
        }
    }
}

/// What this very change answered before under its request id, if it did: asked before its
/// references are looked at, since they may mean something else by now (C15).
///
/// # Errors
/// `request_mismatch`, or the journal can not be read.
pub fn answered_before(
    store: &Store,
    flags: &Flags<'_>,
    change: &dyn Change,
) -> Result<Option<Done>> {
    if flags.request_id.is_none() {
        return Ok(None);
    }
    let fingerprint = fingerprint(change.command(), &change.arguments());
    replayed(store, flags, change.command(), &fingerprint)
}

/// Takes the lock of a scope and settles what is unfinished there.
fn settle_in(
    store: &Store,
    locks: &mut Locks,
    request: &LockRequest<'_>,
    scope: Scope,
) -> Result<()> {
    let left = match scope {
        Scope::Worker(id) => {
            let guard = locks.worker(id, request)?;
            settle::settle_scope(store, &guard, &Journal::new(&guard, *request), scope)?
        }
        Scope::Catalog => {
            let guard = locks.store(request)?;
            settle::settle_scope(store, &guard, &Journal::new(&guard, *request), scope)?
        }
    };
    match (left, scope) {
        (settle::Left::OfCatalog, Scope::Worker(_)) => {
            settle_in(store, locks, request, Scope::Catalog)
        }
        _ => Ok(()),
    }
}

/// Takes a Worker's lock, settles what is unfinished there as a change does first, and lets it go:
/// for what others do under that lock.
///
/// # Errors
/// As any change.
pub fn settle_worker(
    store: &Store,
    locks: &mut Locks,
    request: &LockRequest<'_>,
    id: WorkerId,
) -> Result<()> {
    settle_in(store, locks, request, Scope::Worker(id))
}

/// What the same request id answered before, if it did. One that is unfinished is settled first,
/// under the lock of its own scope: what the references mean by now does not matter.
fn replayed(
    store: &Store,
    flags: &Flags<'_>,
    command: &str,
    fingerprint: &str,
) -> Result<Option<Done>> {
    let Some(request_id) = &flags.request_id else {
        return Ok(None);
    };
    match look_up(store, flags, command, request_id, fingerprint)? {
        Lookup::Replay(replay) => answered(store, replay).map(Some),
        Lookup::Unknown => Ok(None),
        Lookup::Unsettled(_) if flags.dry_run => Ok(None),
        Lookup::Unsettled(intent) => {
            let mut locks = Locks::open(store.dir())?;
            let scope = match (intent.scope, intent.worker_id) {
                (journal::Scope::Worker, Some(id)) => Scope::Worker(id),
                _ => Scope::Catalog,
            };
            settle_in(store, &mut locks, &flags.lock(command), scope)?;
            match look_up(store, flags, command, request_id, fingerprint)? {
                Lookup::Replay(replay) => answered(store, replay).map(Some),
                Lookup::Unknown | Lookup::Unsettled(_) => Ok(None),
            }
        }
    }
}

fn look_up(
    store: &Store,
    flags: &Flags<'_>,
    command: &str,
    request_id: &str,
    fingerprint: &str,
) -> Result<Lookup> {
    let actor = flags.actor_named.then_some(flags.actor.as_str());
    lookup(
        store.dir(),
        &flags.lock(command),
        request_id,
        fingerprint,
        actor,
    )
}

/// What the journal knows as an answer.
///
/// # Errors
/// `outcome_unknown`, if that is what it knows.
fn answered(store: &Store, replay: Replay) -> Result<Done> {
    journal::make_journal_durable(store.dir())?;
    if replay.outcome != Outcome::Unknown {
        return Ok(Done::of(replay.receipt, true));
    }
    let id = replay.operation_id;
    Err(Error::new(
        Code::OutcomeUnknown,
        format!("operation {id} had this request id, and it is not known whether it took place"),
    )
    .effects(Effects::Unknown)
    .hint(format!(
        "look with wagg op show {id}; to make the change, give another --request-id"
    )))
}

fn dry_run(store: &Store, flags: &Flags<'_>, change: &dyn Change, scope: Scope) -> Result<Done> {
    let view = View::plain(store);
    fence::check(&view, scope, change, &flags.expect)?;
    dry_answer(flags, change, &change.plan(&view, scope)?)
}

/// The answer of a dry run that comes to this.
pub(crate) fn dry_answer(
    flags: &Flags<'_>,
    change: &dyn Change,
    planned: &Planned,
) -> Result<Done> {
    let (outcome, answer, acts) = match planned {
        Planned::Nothing(answer) => ("no_change", answer, &[][..]),
        Planned::Do(plan) => ("planned", &plan.answer, &plan.acts[..]),
    };
    let effects = acts.iter().map(|act| &act.effect).collect();
    held_back(change.command(), flags, outcome, answer, effects)
}

/// The answer of a command that wrote nothing because it was asked not to.
fn held_back(
    command: &str,
    flags: &Flags<'_>,
    outcome: &str,
    answer: &Answer,
    effects: Vec<&Effect>,
) -> Result<Done> {
    let body = ReceiptBody {
        operation_id: None,
        outcome,
        command,
        request_id: flags.request_id.as_deref(),
        answer,
        effects: Some(effects),
    };
    let receipt = Receipt::new(&body).map_err(unwritable)?;
    Ok(Done {
        dry_run: true,
        ..Done::of(receipt, false)
    })
}

fn intent(change: &dyn Change, flags: &Flags<'_>, scope: Scope, fingerprint: String) -> Intent {
    let mut intent = Intent::new(flags.actor.clone(), change.command(), fingerprint);
    intent.request_id.clone_from(&flags.request_id);
    if let Scope::Worker(id) = scope {
        intent = intent.in_worker(id);
    }
    intent
}

/// Makes the change under its lock. None: something must be settled first that this lock does not
/// cover.
fn under(
    store: &Store,
    guard: &dyn Guard,
    flags: &Flags<'_>,
    change: &dyn Change,
    scope: Scope,
    fingerprint: &str,
) -> Result<Option<Done>> {
    let journal = Journal::new(guard, flags.lock(change.command()));
    if settle::settle_scope(store, guard, &journal, scope)? == settle::Left::OfCatalog {
        return Ok(None);
    }
    // A twin may have ended while we waited for the lock, or was settled just now.
    if let Some(request_id) = &flags.request_id
        && let Lookup::Replay(replay) =
            look_up(store, flags, change.command(), request_id, fingerprint)?
    {
        return answered(store, replay).map(Some);
    }
    let view = View::plain(store);
    fence::check(&view, scope, change, &flags.expect)?;
    let intent = intent(change, flags, scope, fingerprint.to_owned());
    let view = view.of(intent.operation_id);
    let done = match change.plan(&view, scope)? {
        Planned::Nothing(answer) => nothing(store, &journal, intent, flags, &answer)?,
        Planned::Do(plan) => {
            let (intent, work) = noted(store, intent, plan)?;
            match journal.begin(intent, flags.actor_named)? {
                Begin::Fresh(operation) => carry_out(store, guard, change, operation, &work)?,
                Begin::Replay(replay) => answered(store, replay)?,
                Begin::Unsettled(other) => return Err(taken(&other)),
            }
        }
    };
    Ok(Some(done))
}

/// The answer of a command that finds nothing to do and has no request id.
pub(crate) fn no_change(change: &dyn Change, answer: &Answer) -> Result<Done> {
    unnoted(change.command(), answer)
}

fn unnoted(command: &str, answer: &Answer) -> Result<Done> {
    let body = ReceiptBody {
        operation_id: None,
        outcome: "no_change",
        command,
        request_id: None,
        answer,
        effects: None,
    };
    Ok(Done::of(Receipt::new(&body).map_err(unwritable)?, false))
}

/// An answer that needs no effect. It is noted only if a request id must be bound to it (C14).
fn nothing(
    store: &Store,
    journal: &Journal<'_>,
    intent: Intent,
    flags: &Flags<'_>,
    answer: &Answer,
) -> Result<Done> {
    if intent.request_id.is_none() {
        return unnoted(&intent.command, answer);
    }
    let receipt = receipt(&intent, "no_change", answer)?;
    match journal.record(
        intent,
        flags.actor_named,
        Outcome::NoChange,
        receipt.clone(),
    )? {
        Lookup::Unknown => Ok(Done::of(receipt, false)),
        Lookup::Replay(replay) => answered(store, replay),
        Lookup::Unsettled(other) => Err(taken(&other)),
    }
}

fn taken(other: &Intent) -> Error {
    let id = other.request_id.as_deref().unwrap_or_default();
    Error::new(
        Code::RequestMismatch,
        format!(
            "the request id {id:?} is in use by operation {} ({}), which has no outcome yet",
            other.operation_id, other.command
        ),
    )
    .hint(format!("wagg op show {}", other.operation_id))
}

/// What is carried out, beside its intent.
pub(super) struct Work {
    pub acts: Vec<Act>,
    pub commit: usize,
    pub answer: Answer,
}

/// Completes an intent with what settling would need.
fn noted(store: &Store, mut intent: Intent, mut plan: Plan) -> Result<(Intent, Work)> {
    for act in &mut plan.acts {
        act.look_above(store.dir())
            .map_err(|e| failed("look at", act.effect.path(), e))?;
    }
    let effects: Vec<Effect> = plan
        .acts
        .iter()
        .enumerate()
        .map(|(i, act)| {
            if i > plan.commit {
                act.with_content()
            } else {
                act.effect.clone()
            }
        })
        .collect();
    intent.worker_id = intent.worker_id.or(plan.worker);
    intent.generation = plan.generation;
    intent.args = plan.args;
    intent.minted = plan.minted;
    intent.leftovers = plan
        .acts
        .iter()
        .flat_map(|act| act.effect.leftovers())
        .collect();
    let follow = Follow {
        effects,
        commit: plan.commit,
        answer: plan.answer.clone(),
    };
    intent.follow = serde_json::to_value(&follow).map_err(unwritable)?;
    Ok((
        intent,
        Work {
            acts: plan.acts,
            commit: plan.commit,
            answer: plan.answer,
        },
    ))
}

fn carry_out(
    store: &Store,
    guard: &dyn Guard,
    change: &dyn Change,
    operation: OpenOperation<'_>,
    work: &Work,
) -> Result<Done> {
    let (outcome, said) = ending(&work.answer);
    let receipt = receipt(operation.intent(), said, &work.answer)?;
    let mut items = [execute::Item::new(operation.id(), work)];
    execute::execute(guard, &mut items, None);
    let [item] = items;
    match ended(store, guard, change, operation, work, item.ended()) {
        Ok(operation) => {
            let receipt = operation.finish(outcome, receipt).map_err(after_effects)?;
            Ok(Done::of(receipt, false))
        }
        Err(error) => Err(error),
    }
}

/// Notes how an operation ended that is not simply done; one that is comes back.
fn ended<'j>(
    store: &Store,
    guard: &dyn Guard,
    change: &dyn Change,
    operation: OpenOperation<'j>,
    work: &Work,
    ended: execute::Ended,
) -> Result<OpenOperation<'j>> {
    match ended {
        execute::Ended::Done => Ok(operation),
        execute::Ended::Without(error) => {
            for act in &work.acts {
                if let Effect::Keep { parts } = &act.effect {
                    let _ = aside::drop_kept(guard, operation.id(), parts);
                }
            }
            // Should this note be lost, the operation is settled, with the same result.
            let _ = operation.clear();
            Err(error)
        }
        execute::Ended::Taken(error) => {
            let path = error.locus.as_ref().map(|locus| locus.path.clone());
            match change.taken(&path.unwrap_or_default()) {
                Some(meaning) => {
                    let _ = operation.clear();
                    Err(meaning.effects(Effects::Some))
                }
                None => Err(execute::committed(error)),
            }
        }
        execute::Ended::Unknown(error) => Err(error),
        execute::Ended::Doubtful(error) => {
            // C9: nobody asks the disk again and believes it. What was never put in place is no
            // doubt, and is cleared by whoever settles it.
            let there = work
                .acts
                .get(work.commit)
                .is_some_and(|act| !matches!(act.effect.state(store.dir()), Ok(State::Before)));
            if there {
                let unknown = self::receipt(operation.intent(), "unknown", &work.answer)?;
                let _ = operation.finish(Outcome::Unknown, unknown);
            }
            Err(error)
        }
    }
}

/// The effects are there and the outcome could not be noted: a retry settles it and gives the
/// receipt.
fn after_effects(e: Error) -> Error {
    Error::new(
        Code::OutcomeUnknown,
        "the change is on disk and its outcome could not be noted; the next change settles it",
    )
    .effects(Effects::All)
    .hint("retry with the same --request-id, or look with wagg op list")
    .caused_by(e)
}

/// A path of the store, as a document or effect names it.
pub(super) fn split(path: &Path) -> Result<(PathBuf, std::ffi::OsString)> {
    let name = path.file_name().ok_or_else(|| {
        Error::new(
            Code::Internal,
            format!("{} has no file name", path.display()),
        )
    })?;
    Ok((
        path.parent().map(PathBuf::from).unwrap_or_default(),
        name.to_owned(),
    ))
}
