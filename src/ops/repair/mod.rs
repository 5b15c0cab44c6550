//! `repair`: shows first what it would do, keeps what it removes, and can be undone.
//!
//! The plan comes from what `verify` finds, and from nothing else. It is pure reading. Carrying it
//! out means to make the same plan again under the lock and to do what is in both: nothing is ever
//! done because a file says so, and what moved since is refused item by item. One operation a
//! Worker, or the catalog; what goes is in its quarantine before anything changes.
//!
//! Three classes. **Automatic**: nothing that was committed is lost. **Lossy**: a committed record
//! goes, or one is made up; only when asked for. **Manual**: a person decides, and the item says
//! what to compare and which command carries out which choice.

mod apply;
mod bytes;
#[cfg(test)]
mod crash_tests;
mod documents;
mod fate;
mod follow;
mod gap;
mod leftovers;
mod lines;
mod manual;
mod pairs;
mod plan;
mod plan_file;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use apply::{Applied, answered, apply};
pub use plan::plan;
pub use plan_file::PlanFile;

use crate::diag::{Code, Finding, RepairClass, Severity};
use crate::layout::{OperationId, WorkerId};
use crate::ops::change::Scope;
use crate::record::{Edit, Limits};

/// What to mend, and how far to go.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these Workers; the whole store if empty.
    pub workers: Vec<WorkerId>,
    /// Only findings of these codes; all if empty.
    pub only: BTreeSet<Code>,
    /// Committed records may be taken out, and results made up.
    pub allow_lossy: bool,
    /// Threads that look for findings.
    pub jobs: NonZeroUsize,
    /// Limits of a line.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: Vec::new(),
            only: BTreeSet::new(),
            allow_lossy: false,
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// Whether findings of this code are asked for.
    #[must_use]
    pub fn wants(&self, code: Code) -> bool {
        self.only.is_empty() || self.only.contains(&code)
    }

    /// Whether an item of this class would be carried out.
    fn does(&self, class: RepairClass) -> bool {
        match class {
            RepairClass::Automatic => true,
            RepairClass::Lossy => self.allow_lossy,
            RepairClass::Manual | RepairClass::None => false,
        }
    }
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// `--apply` carries it out.
    Planned,
    /// It is carried out with `--allow-lossy` only.
    NeedsAllowLossy,
    /// A person decides.
    Manual,
    /// It was carried out.
    Done,
    /// It was so already, and nothing was done for it.
    NoChange,
    /// It was not, and `refusal` says why.
    Refused,
}

/// Why an item is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The code of the error that it would be.
    pub code: String,
    /// A sentence without a full stop.
    pub message: String,
}

impl Refusal {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code: code.info().name.to_owned(),
            message: message.into(),
        }
    }
}

/// A change of bytes as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownEdit {
    /// Where, from the start of the file as it is now.
    pub offset: u64,
    /// How many bytes go.
    pub length: u64,
    /// What goes, shortened.
    pub before: String,
    /// What comes, shortened.
    pub after: String,
}

/// What a person may choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What it comes to.
    pub says: String,
    /// The command that does it, or shows what to look at.
    pub command: String,
}

/// One finding and what is to be done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Its number in the plan, from 1.
    pub item: u64,
    /// The finding, without a hint.
    #[serde(flatten)]
    pub finding: Finding,
    /// How it is mended: by what stands there, not only by its code.
    pub class: RepairClass,
    /// What would be done, or what to compare.
    pub action: String,
    /// The bytes before and after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<ShownEdit>,
    /// What a person may choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// How far it is.
    pub state: State,
    /// Why it is not carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The operation that carried it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// What carries it out, by its place in [`Plan::works`].
    #[serde(skip)]
    pub work: Option<usize>,
}

impl Item {
    fn of(finding: Finding, class: RepairClass, action: impl Into<String>) -> Self {
        let state = match class {
            RepairClass::Automatic => State::Planned,
            RepairClass::Lossy => State::NeedsAllowLossy,
            RepairClass::Manual | RepairClass::None => State::Manual,
        };
        Self {
            item: 0,
            finding: Finding {
                hint: None,
                ..finding
            },
            class,
            action: action.into(),
            edits: Vec::new(),
            choices: Vec::new(),
            state,
            refusal: None,
            operation_id: None,
            work: None,
        }
    }

    /// Whether it keeps a plan from being empty: what a person may leave as it is does not.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.state != State::Manual || self.finding.severity != Severity::Info
    }
}

/// A part of a file that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// From the start of the file.
    pub offset: u64,
    /// In bytes.
    pub length: u64,
    /// It is what follows the last newline.
    pub tail: bool,
}

/// What is done to one file or folder. Two plans that agree on it mean the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "does")]
pub enum Work {
    /// A Segment or trace is written anew, or its tail is cut.
    Lines {
        /// Which.
        path: PathBuf,
        /// Its length now.
        bytes: u64,
        /// SHA-256 of all of it now.
        sha256: String,
        /// What changes.
        edits: Vec<Edit>,
        /// What is kept.
        keep: Vec<Part>,
        /// SHA-256 of all of it as it will be, with a fixed word where the operation's id will
        /// stand.
        after: String,
    },
    /// A document is written.
    Document {
        /// Which.
        path: PathBuf,
        /// SHA-256 of it now; none if it is not there.
        before: Option<String>,
        /// What it will say.
        after: String,
    },
    /// What a killed process left goes to quarantine.
    Leftover {
        /// Which.
        path: PathBuf,
        /// In bytes; of a folder all that is in it.
        bytes: u64,
        /// SHA-256 of a file.
        sha256: Option<String>,
    },
    /// An unfinished operation is settled.
    Settle {
        /// Which.
        operation: OperationId,
    },
    /// The journal's torn tail is cut.
    JournalTail {
        /// Where it begins.
        offset: u64,
        /// In bytes.
        bytes: u64,
    },
}

/// A work and the lock that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The lock.
    pub scope: Scope,
    /// What is done under it.
    pub work: Work,
}

/// What is to be done, item by item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of their findings.
    pub items: Vec<Item>,
    /// What carries out the items that are [`State::Planned`].
    pub works: Vec<Planned>,
    /// What was asked for and could not be looked at.
    pub not_looked_at: u64,
}

impl Plan {
    /// Whether nothing is to be done, by `repair` or by a person.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.items.iter().any(Item::counts)
    }

    fn number(&mut self) {
        for (i, item) in self.items.iter_mut().enumerate() {
            item.item = i as u64 + 1;
        }
    }

    /// The locks that are needed, Workers first.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        let mut workers = BTreeSet::new();
        let mut catalog = false;
        for planned in &self.works {
            match planned.scope {
                Scope::Worker(id) => {
                    workers.insert(id);
                }
                Scope::Catalog => catalog = true,
            }
        }
        let workers = workers.into_iter().map(Scope::Worker);
        workers.chain(catalog.then_some(Scope::Catalog)).collect()
    }
}

/// Counts of a plan or of what became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Items that `--apply` would carry out.
    pub planned: u64,
    /// Items that need `--allow-lossy`.
    pub needs_allow_lossy: u64,
    /// Items for a person.
    pub manual: u64,
    /// Items that were carried out.
    pub done: u64,
    /// Items that were so already.
    pub no_change: u64,
    /// Items that were refused.
    pub refused: u64,
    /// Places that could not be looked at.
    pub not_looked_at: u64,
}

impl Counts {
    /// Counts items.
    #[must_use]
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>, not_looked_at: u64) -> Self {
        let mut counts = Self {
            not_looked_at,
            ..Self::default()
        };
        for item in items {
            match item.state {
                State::Planned => counts.planned += 1,
                State::NeedsAllowLossy => counts.needs_allow_lossy += 1,
                State::Manual => counts.manual += 1,
                State::Done => counts.done += 1,
                State::NoChange => counts.no_change += 1,
                State::Refused => counts.refused += 1,
            }
        }
        counts
    }
}
