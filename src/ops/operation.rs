//! Operations as a person asks about them: what the journal says, and what was kept aside.

use serde::Serialize;
use serde_json::Value;

use crate::diag::{Code, Error, Result};
use crate::layout::{Generation, OperationId, WorkerId};
use crate::ops::change::Effect;
use crate::store::journal::{self, Operation, Outcome, Scope};
use crate::store::{Item, Store, quarantined_items};

/// So many hex digits at least name an operation.
const MIN_PREFIX: usize = 4;

/// Names the newest operation.
const LATEST: &str = "latest";

/// So many matches of a beginning are listed.
const MOST_LISTED: usize = 8;

/// Whether an operation has an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Settledness {
    /// It has.
    Settled,
    /// It has none: it runs now, or its process died.
    Unsettled,
}

impl Settledness {
    /// The word that stands in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Unsettled => "unsettled",
        }
    }
}

/// One operation in a listing.
#[derive(Debug, Clone, Serialize)]
pub struct OperationLine {
    /// Its id.
    pub operation_id: OperationId,
    /// The command.
    pub command: String,
    /// Whether it has an outcome.
    pub state: Settledness,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The Worker that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// The generation that it acted under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// Who asked for it.
    pub actor: String,
    /// What makes it exactly-once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// When it ended, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// The line of an operation.
#[must_use]
pub fn line(operation: &Operation) -> OperationLine {
    let intent = &operation.intent;
    let ending = operation.ending.as_ref();
    OperationLine {
        operation_id: intent.operation_id,
        command: intent.command.clone(),
        state: if ending.is_some() {
            Settledness::Settled
        } else {
            Settledness::Unsettled
        },
        outcome: ending.map(|e| e.outcome),
        worker_id: intent.worker_id,
        generation: intent.generation,
        actor: intent.actor.clone(),
        request_id: intent.request_id.clone(),
        began: intent.ts.clone(),
        ended: ending.map(|e| e.ts.clone()),
    }
}

/// Everything that is known of one operation.
#[derive(Debug, Clone, Serialize)]
pub struct OperationDetails {
    /// What a listing says.
    #[serde(flatten)]
    pub line: OperationLine,
    /// The lock that it is made under.
    pub scope: Scope,
    /// SHA-256 over the arguments as given, in hex.
    pub fingerprint: String,
    /// The arguments, resolved.
    pub args: Value,
    /// Every id that it makes.
    pub minted: Value,
    /// What it does to the disk, in order; those of a later `wagg` as they are written.
    pub effects: Vec<Value>,
    /// Which of them is the commit point, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// Paths that it may have left behind if it was killed.
    pub leftovers: Vec<String>,
    /// What it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Value>,
    /// What it took away and kept, in `.wagg/quarantine/`.
    pub quarantine: Vec<Item>,
}

impl OperationDetails {
    /// The effects that this program knows.
    pub fn known_effects(&self) -> impl Iterator<Item = Effect> + '_ {
        self.effects
            .iter()
            .filter_map(|value| serde_json::from_value(value.clone()).ok())
    }
}

/// Finds an operation by its id, or by a beginning of it that no other has; `latest` is the newest.
///
/// # Errors
/// `not_found`, `ambiguous_reference`, or the journal can not be read.
pub fn find(store: &Store, text: &str) -> Result<Operation> {
    let wanted: String = text
        .chars()
        .filter(|c| *c != '-')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let none = |why: String| Error::new(Code::NotFound, why).hint("wagg op list");
    if text == LATEST {
        return match journal::operations(store.dir())?.next() {
            Some(newest) => newest,
            None => Err(none("there is no operation yet".to_owned())),
        };
    }
    if wanted.len() < MIN_PREFIX || !wanted.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(none(format!(
            "{text:?} is no operation: its id is a UUID, or at least {MIN_PREFIX} digits of its beginning"
        )));
    }
    let mut found: Vec<Operation> = Vec::new();
    let mut more = 0_u64;
    for operation in journal::operations(store.dir())? {
        let operation = operation?;
        let id = operation.intent.operation_id.uuid().simple().to_string();
        if id.starts_with(&wanted) {
            if id == wanted {
                return Ok(operation);
            }
            if found.len() < MOST_LISTED {
                found.push(operation);
            } else {
                more += 1;
            }
        }
    }
    match found.len() {
        0 => Err(none(format!("no operation's id is or begins with {text}"))),
        1 => Ok(found.remove(0)),
        _ => {
            let mut message = format!("{text} is the beginning of more than one operation:");
            for operation in &found {
                let intent = &operation.intent;
                message.push_str(&format!("\n  {} ({})", intent.operation_id, intent.command));
            }
            if more > 0 {
                message.push_str(&format!("\n  and {more} more"));
            }
            Err(Error::new(Code::AmbiguousReference, message).hint("wagg op list"))
        }
    }
}

/// Everything that is known of an operation.
///
/// # Errors
/// What it kept can not be read.
pub fn details(store: &Store, operation: &Operation) -> Result<OperationDetails> {
    let intent = &operation.intent;
    let effects = match intent.follow.get("effects") {
        Some(Value::Array(all)) => all.clone(),
        _ => Vec::new(),
    };
    let receipt = operation
        .ending
        .as_ref()
        .and_then(|ending| ending.receipt.parse::<Value>().ok())
        .filter(|receipt| !receipt.is_null());
    let quarantine = quarantined_items(store.dir(), intent.operation_id)?.unwrap_or_default();
    Ok(OperationDetails {
        line: line(operation),
        scope: intent.scope,
        fingerprint: intent.fingerprint.clone(),
        args: intent.args.clone(),
        minted: intent.minted.clone(),
        effects,
        commit: intent.follow.get("commit").and_then(Value::as_u64),
        leftovers: intent.leftovers.clone(),
        receipt,
        quarantine,
    })
}
