//! Settling what a dead process left (C16): carried forward if its commit point has passed,
//! cleared if not.

use std::path::Path;

use super::effect::{Act, Effect, State};
use super::execute::{Ended, Item, execute, is_missing};
use super::{Follow, Scope, receipt, split};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{OperationId, Paths};
use crate::store::fs::{Appender, clear_leftover, failed, make_durable, sync_dir};
use crate::store::journal::{self, Intent, Journal, Outcome};
use crate::store::{Guard, Quarantine, Store};

/// What became of one unfinished operation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Settled {
    /// The operation.
    pub operation_id: OperationId,
    /// Its command.
    pub command: String,
    /// It was carried forward; else it was cleared.
    pub carried_forward: bool,
}

/// Settles what must be settled before a change in a scope: in that Worker, or everywhere.
pub(super) fn settle_scope(
    store: &Store,
    guard: &dyn Guard,
    journal: &Journal<'_>,
    scope: Scope,
) -> Result<Vec<Settled>> {
    let mut intents = match scope {
        Scope::Worker(id) => journal.unsettled_in(id)?,
        Scope::Catalog => journal.unsettled(|_| true)?,
    };
    // What the guard does not cover belongs to somebody who may be alive.
    intents.retain(|intent| covered(guard, intent));
    settle_all(store, guard, journal, &intents)
}

/// Settles everything that is unfinished, under the store's own lock.
///
/// # Errors
/// As any change.
pub fn settle_store(
    store: &Store,
    guard: &dyn Guard,
    journal: &Journal<'_>,
) -> Result<Vec<Settled>> {
    settle_scope(store, guard, journal, Scope::Catalog)
}

fn covered(guard: &dyn Guard, intent: &Intent) -> bool {
    match (intent.scope, intent.worker_id) {
        (journal::Scope::Worker, Some(id)) => guard.covers(&Paths::worker(id)),
        _ => guard.covers(&Paths::runtime()),
    }
}

fn settle_all(
    store: &Store,
    guard: &dyn Guard,
    journal: &Journal<'_>,
    intents: &[Intent],
) -> Result<Vec<Settled>> {
    let follows = intents
        .iter()
        .map(|intent| {
            serde_json::from_value::<Follow>(intent.follow.clone())
                .map(|follow| (intent, follow))
                .map_err(|e| unreadable(intent, e))
        })
        .collect::<Result<Vec<_>>>()?;
    // Of a group some may have passed their commit point and others not; whether one has is asked
    // of all before any is touched.
    let passed = follows
        .iter()
        .map(|(_, follow)| commit_passed(store, follow, &follows))
        .collect::<Result<Vec<_>>>()?;
    let mut settled = Vec::new();
    for ((intent, follow), passed) in follows.iter().zip(passed) {
        if passed {
            carry_forward(store, guard, intent, follow)?;
            let receipt = receipt(intent, "done", &follow.answer)?;
            journal.settle(intent, Outcome::Done, receipt)?;
        } else {
            clear(store, guard, intent, follow)?;
            journal.clear(intent)?;
        }
        settled.push(Settled {
            operation_id: intent.operation_id,
            command: intent.command.clone(),
            carried_forward: passed,
        });
    }
    Ok(settled)
}

fn unreadable(intent: &Intent, e: serde_json::Error) -> Error {
    Error::new(
        Code::UnsettledOperation,
        format!(
            "operation {} ({}) is unfinished and its intent can not be read: it may be a later wagg's",
            intent.operation_id, intent.command
        ),
    )
    .at(Locus::file(Paths::journal()))
    .hint(format!("wagg op show {}", intent.operation_id))
    .caused_by(e)
}

fn state(store: &Store, effect: &Effect) -> Result<State> {
    effect
        .state(store.dir())
        .map_err(|e| failed("read", effect.path(), e))
}

/// Whether a commit point was passed: its effect is there, or another unfinished operation was
/// built on it and is there.
fn commit_passed(store: &Store, follow: &Follow, all: &[(&Intent, Follow)]) -> Result<bool> {
    let Some(effect) = follow.effects.get(follow.commit) else {
        return Ok(false);
    };
    if state(store, effect)? == State::After {
        return Ok(true);
    }
    let Effect::Document { path, after, .. } = effect else {
        return Ok(false);
    };
    for (_, other) in all {
        let built_on = other.effects.iter().any(|e| {
            matches!(e, Effect::Document { path: p, before, after: next, .. }
                if *p == *path && before.as_ref() == Some(after) && *next != *after)
        });
        if built_on && !std::ptr::eq(other, follow) && commit_passed(store, other, all)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does what must follow the commit point, unless the store has moved on. What the dead process put
/// in place it may not have synced: that is made durable first, since a receipt will say so.
fn carry_forward(store: &Store, guard: &dyn Guard, intent: &Intent, follow: &Follow) -> Result<()> {
    clear_leftovers(guard, intent)?;
    for (i, effect) in follow.effects.iter().enumerate() {
        match state(store, effect)? {
            State::After => durable(guard, effect)?,
            State::Before if i > follow.commit => {
                let Some(act) = Act::from_intent(effect) else {
                    continue;
                };
                let acts = [act];
                let mut items = [Item::of(intent.operation_id, &acts, 0)];
                execute(guard, &mut items, None);
                let [item] = items;
                match item.ended() {
                    Ended::Done => {}
                    Ended::Without(e) | Ended::Unknown(e) => return Err(e),
                }
            }
            State::Before | State::Part(_) | State::Moved => {}
        }
    }
    Ok(())
}

/// Makes an effect durable that was found done.
fn durable(guard: &dyn Guard, effect: &Effect) -> Result<()> {
    let (parent, name) = split(effect.path())?;
    match guard.write_at(&parent) {
        Ok(dir) if matches!(effect, Effect::Remove { .. }) => sync_dir(&dir)?,
        Ok(dir) => make_durable(&dir, name)?,
        Err(e) if is_missing(&e) => return Ok(()),
        Err(e) => return Err(e),
    }
    // The folders above may have been made on the way, and one that was filled elsewhere must not
    // come back there.
    let mut folders: Vec<&Path> = parent.ancestors().skip(1).collect();
    if let Effect::Folder { staging, .. } = effect {
        folders.extend(staging.parent().filter(|from| *from != parent));
    }
    for folder in folders.into_iter().filter(|f| guard.covers(f)) {
        sync_dir(&guard.write_at(folder)?)?;
    }
    Ok(())
}

/// Takes back what never reached its commit point.
fn clear(store: &Store, guard: &dyn Guard, intent: &Intent, follow: &Follow) -> Result<()> {
    for effect in &follow.effects {
        if let Effect::Append { path, offset, .. } = effect
            && let State::Part(_) = state(store, effect)?
        {
            cut(guard, intent.operation_id, path, *offset)?;
        }
    }
    clear_leftovers(guard, intent)
}

/// Cuts the part of an append that reached the file, and keeps it.
fn cut(guard: &dyn Guard, operation: OperationId, path: &Path, offset: u64) -> Result<()> {
    let (parent, name) = split(path)?;
    let dir = guard.write_at(&parent)?;
    let mut quarantine = Quarantine::open(guard.wagg(), operation)?;
    Appender::cut_to(&dir, &name, offset, |tail| {
        quarantine.keep_tail(path, tail)?;
        quarantine.sync()
    })
}

fn clear_leftovers(guard: &dyn Guard, intent: &Intent) -> Result<()> {
    for leftover in &intent.leftovers {
        let path = Path::new(leftover);
        let (parent, name) = split(path)?;
        match guard.write_at(&parent) {
            Ok(dir) => {
                clear_leftover(&dir, &name)?;
            }
            Err(e) if is_missing(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
