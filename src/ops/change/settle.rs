//! Settling what a dead process left (C16): carried forward if its commit point has passed,
//! cleared if not.

use std::path::Path;

use super::effect::{Act, Effect, State};
use super::execute::{Ended, Item, execute, is_missing};
use super::standing::document_digest;
use super::{Follow, Scope, aside, ending, receipt, split};
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
    /// What was found.
    pub passed: Passed,
}

/// Whether an unfinished operation passed its commit point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Passed {
    /// It did: what follows was carried forward.
    Yes,
    /// It did not: its leftovers were cleared.
    No,
    /// Something else stands in its place by now, and nothing tells which.
    Unknown,
}

/// Whether anything unfinished is left in a scope that only a wider lock covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Left {
    /// No.
    Nothing,
    /// A change of the catalog that is about this Worker.
    OfCatalog,
}

/// Settles what must be settled before a change in a scope: in that Worker, or everywhere.
pub(super) fn settle_scope(
    store: &Store,
    guard: &dyn Guard,
    journal: &Journal<'_>,
    scope: Scope,
) -> Result<Left> {
    let mut intents = match scope {
        Scope::Worker(id) => journal.unsettled_in(id)?,
        Scope::Catalog => journal.unsettled(|_| true)?,
    };
    // What the guard does not cover belongs to somebody who may be alive, unless it is the whole
    // catalog: that is changed by nobody while this guard lives.
    let all = intents.len();
    intents.retain(|intent| covered(guard, intent));
    let left = if intents.len() < all {
        Left::OfCatalog
    } else {
        Left::Nothing
    };
    settle_all(store, guard, journal, &intents)?;
    Ok(left)
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
    let mut intents = journal.unsettled(|_| true)?;
    intents.retain(|intent| covered(guard, intent));
    settle_all(store, guard, journal, &intents)
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
        match passed {
            Passed::Yes => {
                carry_forward(store, guard, intent, follow)?;
                let (outcome, said) = ending(&follow.answer);
                let receipt = receipt(intent, said, &follow.answer)?;
                journal.settle(intent, outcome, receipt)?;
            }
            Passed::No => {
                clear(store, guard, intent, follow)?;
                journal.clear(intent)?;
            }
            Passed::Unknown => {
                clear_leftovers(guard, intent)?;
                let receipt = receipt(intent, "unknown", &follow.answer)?;
                journal.settle(intent, Outcome::Unknown, receipt)?;
            }
        }
        settled.push(Settled {
            operation_id: intent.operation_id,
            command: intent.command.clone(),
            passed,
        });
    }
    Ok(settled)
}

/// Whether an unfinished operation can be settled by this program.
pub(crate) fn can_settle(intent: &Intent) -> bool {
    serde_json::from_value::<Follow>(intent.follow.clone()).is_ok()
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
fn commit_passed(store: &Store, follow: &Follow, all: &[(&Intent, Follow)]) -> Result<Passed> {
    let Some(effect) = follow.effects.get(follow.commit) else {
        return Ok(Passed::No);
    };
    match state(store, effect)? {
        State::After => return Ok(Passed::Yes),
        // A part of an append is no record that anybody may read, or it would have moved on.
        State::Before | State::Part(_) => {}
        State::Moved => {
            if stands_before(store, effect, all)? {
                return Ok(Passed::No);
            }
            if !built_on(store, follow, effect, all)? {
                let not = effect.surely_not(store.dir());
                let not = not.map_err(|e| failed("read", effect.path(), e))?;
                return Ok(if not { Passed::No } else { Passed::Unknown });
            }
        }
    }
    Ok(if built_on(store, follow, effect, all)? {
        Passed::Yes
    } else {
        Passed::No
    })
}

/// Whether the document is as it was before an unfinished operation upon which this one was
/// planned: of a group, none of these was carried out.
fn stands_before(store: &Store, effect: &Effect, all: &[(&Intent, Follow)]) -> Result<bool> {
    let Effect::Document { path, before, .. } = effect else {
        return Ok(false);
    };
    let now = document_digest(store.dir(), path).map_err(|e| failed("read", path, e))?;
    let mut at = before;
    // Each step goes back by one operation, so there are no more than those.
    for _ in all {
        let upon = all
            .iter()
            .flat_map(|(_, other)| &other.effects)
            .find_map(|e| match e {
                Effect::Document {
                    path: p,
                    before,
                    after,
                    ..
                } if p == path && Some(after) == at.as_ref() => Some(before),
                _ => None,
            });
        match upon {
            Some(before) if *before == now => return Ok(true),
            Some(before) => at = before,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Whether another unfinished operation was planned upon this effect, and is there.
fn built_on(
    store: &Store,
    follow: &Follow,
    effect: &Effect,
    all: &[(&Intent, Follow)],
) -> Result<bool> {
    let Effect::Document { path, after, .. } = effect else {
        return Ok(false);
    };
    for (_, other) in all {
        let built_on = other.effects.iter().any(|e| {
            matches!(e, Effect::Document { path: p, before, after: next, .. }
                if *p == *path && before.as_ref() == Some(after) && *next != *after)
        });
        if built_on
            && !std::ptr::eq(other, follow)
            && commit_passed(store, other, all)? == Passed::Yes
        {
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
                    // Somebody took its place: the store has moved on.
                    Ended::Without(e) | Ended::Taken(e) if e.code == Code::TargetExists => {}
                    Ended::Without(e)
                    | Ended::Taken(e)
                    | Ended::Unknown(e)
                    | Ended::Doubtful(e) => return Err(e),
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
    if let Effect::Move(other) = effect {
        folders.extend(other.from.parent().filter(|from| *from != parent));
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
    for effect in &follow.effects {
        if let Effect::Keep { parts } = effect {
            aside::drop_kept(guard, intent.operation_id, parts)?;
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
