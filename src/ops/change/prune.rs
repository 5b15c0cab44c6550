//! `op prune`: the journal forgets old operations.
//!
//! The journal is written anew and put in place with one rename, which is the commit point; the
//! operation itself stands in it already, ended. What is unfinished is never forgotten.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::{
    Answer, Done, Flags, Scope, answered, fingerprint, held_back, look_up, receipt, replayed,
    settle, unnoted, writable,
};
use crate::diag::{Code, Error, Result};
use crate::store::journal::{self, Ending, Intent, Journal, Lookup, Outcome};
use crate::store::{Locks, Store};

const COMMAND: &str = "op prune";

/// Forgets every settled operation that ended longer ago than this. The receipt lists them under
/// `forgotten`; their request ids are free again.
///
/// # Errors
/// As any change.
pub fn prune(store: &Store, flags: &Flags<'_>, older_than: Duration) -> Result<Done> {
    let arguments = json!({ "older_than_s": older_than.as_secs() });
    let fingerprint = fingerprint(COMMAND, &arguments);
    if let Some(done) = replayed(store, flags, COMMAND, &fingerprint)? {
        return Ok(done);
    }
    writable(store)?;
    let limit = Timestamp::now()
        .checked_sub(older_than)
        .map_err(|e| Error::new(Code::Usage, "that is longer ago than time goes").caused_by(e))?;
    let old = |ending: &Ending| ending.ts.parse::<Timestamp>().is_ok_and(|ts| ts < limit);
    if flags.dry_run {
        let mut gone = Vec::new();
        for operation in journal::operations(store.dir())? {
            if let Some(ending) = operation?.ending.filter(old) {
                gone.push(ending.operation_id);
            }
        }
        gone.reverse();
        let outcome = if gone.is_empty() {
            "no_change"
        } else {
            "planned"
        };
        return held_back(COMMAND, flags, outcome, &answer(&gone), Vec::new());
    }
    let request = flags.lock(COMMAND);
    let mut locks = Locks::open(store.dir())?;
    let guard = locks.store(&request)?;
    let journal = Journal::new(&guard, request);
    let _ = settle::settle_scope(store, &guard, &journal, Scope::Catalog)?;
    if let Some(request_id) = &flags.request_id
        && let Lookup::Replay(replay) = look_up(store, flags, COMMAND, request_id, &fingerprint)?
    {
        return answered(store, replay);
    }
    let gone = journal.prunable(old)?;
    let answer = answer(&gone);
    let mut intent = Intent::new(flags.actor.clone(), COMMAND, fingerprint);
    intent.request_id.clone_from(&flags.request_id);
    intent.args = arguments;
    if gone.is_empty() {
        if intent.request_id.is_none() {
            return unnoted(COMMAND, &answer);
        }
        let receipt = receipt(&intent, "no_change", &answer)?;
        let _ = journal.record(
            intent,
            flags.actor_named,
            Outcome::NoChange,
            receipt.clone(),
        )?;
        return Ok(Done::of(receipt, false));
    }
    let receipt = receipt(&intent, "done", &answer)?;
    journal.prune(&gone, Some((&intent, &receipt)))?;
    Ok(Done::of(receipt, false))
}

fn answer(gone: &[crate::layout::OperationId]) -> Answer {
    let mut answer = Answer::default();
    answer.field("forgotten", gone);
    answer
}
