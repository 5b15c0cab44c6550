//! `op undo`: brings back, to the byte, what an operation changed.
//!
//! An operation's effects stand in its intent, with digests of what was before and what came after.
//! Each is turned round, the last one first: a document gets its old bytes, a file that was written
//! anew gets back what it lost, what was made or moved goes to quarantine or back to its place. All
//! of it must be exactly what the operation left, and nothing may have been built on it; otherwise
//! the undo is refused, and says what is in the way. An undo is an operation like any other, so it
//! can be undone too.

mod since;
mod turn;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Result};
use crate::layout::Paths;
use crate::ops::change::{Act, Answer, Change, Effect, Plan, Planned, Scope, View};
use crate::ops::operation;
use crate::store::journal::{self, Intent, Outcome};
use crate::store::{Store, quarantined_items};

use turn::Turn;

/// Undoes an operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Its id, or a beginning of it.
    pub operation: String,
}

/// Why operations of a command are not undone, if they are not.
fn never(command: &str) -> Option<&'static str> {
    Some(match command {
        "run reserve" => {
            "a generation that was given out stays used up: given out again, two runs would have one number"
        }
        "run stop" => "it took away the socket of a run that had ended, and nothing else",
        "migrate" => {
            "its sources were left as they were, and what was migrated may have gone on since"
        }
        "init" => "a new store is not unmade; remove the folder by hand if nothing is in it",
        "op prune" | "quarantine empty" => "what it let go of is gone",
        _ => return None,
    })
}

fn not_undoable(intent: &Intent, why: impl std::fmt::Display) -> Error {
    Error::new(
        Code::NotUndoable,
        format!(
            "operation {} ({}) is not undone: {why}",
            intent.operation_id, intent.command
        ),
    )
    .hint(format!("wagg op show {}", intent.operation_id))
}

/// The part of an intent that an undo needs.
#[derive(Deserialize)]
struct Did {
    effects: Vec<Effect>,
}

impl Change for Undo {
    fn command(&self) -> &'static str {
        "op undo"
    }

    fn arguments(&self) -> Value {
        json!({ "operation": self.operation })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        let intent = operation::find(store, &self.operation)?.intent;
        if let Some(why) = never(&intent.command) {
            return Err(not_undoable(&intent, why));
        }
        Ok(match (intent.scope, intent.worker_id) {
            (journal::Scope::Worker, Some(id)) => Scope::Worker(id),
            _ => Scope::Catalog,
        })
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let store = view.store();
        let operation = operation::find(store, &self.operation)?;
        let intent = &operation.intent;
        if self.scope(store)? != scope {
            return Err(Error::new(
                Code::Fenced,
                format!("{} is another operation by now", self.operation),
            )
            .hint("wagg op list"));
        }
        match operation.ending.as_ref().map(|e| e.outcome) {
            Some(Outcome::Done | Outcome::Partial) => {}
            Some(Outcome::NoChange) => return Err(not_undoable(intent, "it changed nothing")),
            Some(Outcome::Cleared) => {
                return Err(not_undoable(intent, "it came to nothing and was cleared"));
            }
            Some(Outcome::Unknown) => {
                return Err(not_undoable(intent, "it is not known what it changed"));
            }
            None => {
                return Err(Error::new(
                    Code::UnsettledOperation,
                    format!("operation {} has no outcome yet", intent.operation_id),
                )
                .hint(format!("wagg op show {}", intent.operation_id)));
            }
        }
        let did: Did = serde_json::from_value(intent.follow.clone()).map_err(|e| {
            not_undoable(
                intent,
                "its intent can not be read: it may be a later wagg's",
            )
            .caused_by(e)
        })?;
        let mut turn = Turn {
            store,
            operation: &operation,
            kept: quarantined_items(store.dir(), intent.operation_id)?.unwrap_or_default(),
            undo: view.operation(),
            acts: Vec::new(),
            keep: Vec::new(),
            moved: 0,
        };
        let mut answer = Answer {
            worker_id: intent.worker_id,
            line: Some(intent.operation_id.to_string()),
            ..Answer::default()
        };
        answer.field("undone", intent.operation_id);
        if turn.is_undone(&did.effects)? {
            return Ok(Planned::Nothing(answer));
        }
        for effect in did.effects.iter().rev() {
            turn.effect(effect)?;
        }
        turn.built_on(&did.effects)?;
        if turn.acts.is_empty() {
            return Err(not_undoable(
                intent,
                "it changed nothing that is still there",
            ));
        }
        turn.live(scope)?;
        let mut acts = turn.acts;
        let commit = usize::from(!turn.keep.is_empty());
        if commit > 0 {
            acts.insert(0, Act::keep(turn.keep));
            let place = Paths::quarantine().join(view.operation().to_string());
            answer.field("quarantine", place);
        }
        Ok(Planned::Do(Plan {
            worker: intent.worker_id,
            generation: None,
            args: json!({ "operation_id": intent.operation_id }),
            minted: Value::Null,
            acts,
            commit,
            answer,
        }))
    }
}
