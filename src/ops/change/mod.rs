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
mod command_crash_tests;
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
mod make;
mod prune;
pub mod rewrite;
mod settle;
mod standing;
mod view;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use effect::{Act, Effect, KnownBy};
pub use fence::{Expect, Liveness};
pub(crate) use fence::{any_live_run, live_run, runtime_live, worker_live};
pub use group::{Member, run_many};
pub use prune::prune;
pub(crate) use settle::can_settle;
pub use settle::{Passed, Settled, settle_store};
pub use view::{Records, View};
pub(crate) use view::{document_error, no_worker};

use make::{
    Work, after_effects, answered, ended, held_back, intent, look_up, noted, nothing, replayed,
    retried, unnoted,
};
pub use make::{answered_before, run, settle_worker, writable};
pub(crate) use make::{dry_answer, no_change, taken};

use crate::diag::{Code, Error, Result, hex};
use crate::layout::{Generation, OperationId, SegmentId, WorkerId};
use crate::ops::read::WorkerRef;
use crate::store::journal::{Intent, Outcome, Receipt};
use crate::store::{LockRequest, Store, Waiting};

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

    /// As a receipt shows it, where the outcome says already that something is left.
    fn in_receipt(&self) -> Self {
        Self {
            partial: false,
            ..self.clone()
        }
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
        answer: &answer.in_receipt(),
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

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
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
