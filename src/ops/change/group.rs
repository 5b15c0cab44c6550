//! Many changes that share their syncs.
//!
//! Neighbours are looked up, planned and refused one by one, each upon what those before it will
//! have done; then all intents are written with one sync, all effects are carried out in rounds
//! that share theirs, and all outcomes are written with one sync. No answer is given before that.
//! One that fails alone is taken back and says so; a sync that fails is unknown for all that
//! shared it, and they settle like any other operation.

use std::collections::BTreeSet;

use super::execute::{self, Ended, Item};
use super::view::{Overlay, View};
use super::{
    Change, Done, Flags, Planned, Scope, Work, after_effects, answered, ending, fence, fingerprint,
    intent, noted, nothing, receipt, replayed, retried, run, settle, taken, writable,
};
use crate::diag::{Code, Error, Result};
use crate::layout::WorkerId;
use crate::store::fs::SyncFs;
use crate::store::journal::{Begin, Intent, Journal, OpenOperation, Receipt};
use crate::store::{Guard, Locks, Store};

/// One change of a group, with its own flags.
pub struct Member<'a> {
    /// What is wanted.
    pub change: Box<dyn Change>,
    /// Under which flags; all of a group have the same wait and the same locks handed down.
    pub flags: Flags<'a>,
}

/// What became of a member so far.
enum Fate {
    /// It is still to be planned, in this scope.
    Open(WorkerId, String),
    /// It is answered.
    Answered(Result<Done>),
}

/// Makes changes, in their order, with one set of syncs where they allow it. The answers stand in
/// the same order.
#[must_use]
pub fn run_many(store: &Store, members: &[Member<'_>]) -> Vec<Result<Done>> {
    make_many(store, members)
        .into_iter()
        .zip(members)
        .map(|(result, member)| result.map_err(|e| retried(e, &member.flags)))
        .collect()
}

fn make_many(store: &Store, members: &[Member<'_>]) -> Vec<Result<Done>> {
    let alone = |m: &Member<'_>| !m.change.groups() || m.flags.dry_run;
    if members.len() < 2 || members.iter().any(alone) {
        return members
            .iter()
            .map(|m| run(store, &m.flags, &*m.change))
            .collect();
    }
    if twins(members) {
        // Of two with one request id the second must see the first one's outcome.
        return members
            .iter()
            .map(|m| run(store, &m.flags, &*m.change))
            .collect();
    }
    let mut fates: Vec<Fate> = members.iter().map(|m| first_look(store, m)).collect();
    let ids: BTreeSet<WorkerId> = fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Open(id, _) => Some(*id),
            Fate::Answered(_) => None,
        })
        .collect();
    if let Some(first) = members.first().filter(|_| !ids.is_empty()) {
        match under_locks(store, first, members, &mut fates, ids) {
            Ok(true) => {}
            // What one of them needs first is not covered by these locks.
            Ok(false) => alone_each(store, members, &mut fates),
            // One busy Worker is no reason to refuse the others.
            Err(e) if e.code == Code::LockBusy => alone_each(store, members, &mut fates),
            Err(e) => {
                for fate in &mut fates {
                    if matches!(fate, Fate::Open(..)) {
                        *fate = Fate::Answered(Err(execute::again(&e)));
                    }
                }
            }
        }
    }
    fates
        .into_iter()
        .map(|fate| match fate {
            Fate::Answered(answer) => answer,
            Fate::Open(..) => Err(Error::new(
                Code::Internal,
                "a change of a group got no answer",
            )),
        })
        .collect()
}

/// Makes those that are not answered one by one.
fn alone_each(store: &Store, members: &[Member<'_>], fates: &mut [Fate]) {
    for (member, fate) in members.iter().zip(fates) {
        if matches!(fate, Fate::Open(..)) {
            *fate = Fate::Answered(run(store, &member.flags, &*member.change));
        }
    }
}

fn twins(members: &[Member<'_>]) -> bool {
    let mut seen = BTreeSet::new();
    members
        .iter()
        .filter_map(|m| m.flags.request_id.as_ref())
        .any(|id| !seen.insert(id))
}

/// What can be told of a member without a lock.
fn first_look(store: &Store, member: &Member<'_>) -> Fate {
    let look = || -> Result<std::result::Result<Done, (WorkerId, String)>> {
        let change = &*member.change;
        let fingerprint = fingerprint(change.command(), &change.arguments());
        if let Some(done) = replayed(store, &member.flags, change.command(), &fingerprint)? {
            return Ok(Ok(done));
        }
        writable(store)?;
        match change.scope(store)? {
            Scope::Worker(id) => Ok(Err((id, fingerprint))),
            Scope::Catalog => Err(Error::new(
                Code::Internal,
                "a change of the catalog stands in no group",
            )),
        }
    };
    match look() {
        Ok(Ok(done)) => Fate::Answered(Ok(done)),
        Ok(Err((id, fingerprint))) => Fate::Open(id, fingerprint),
        Err(e) => Fate::Answered(Err(e)),
    }
}

/// A member whose plan is made.
struct Ready {
    index: usize,
    intent: Intent,
    named: bool,
    work: Work,
}

/// Makes a group's changes under their locks; false, and nothing done, if something must be settled
/// first that these do not cover.
fn under_locks(
    store: &Store,
    first: &Member<'_>,
    members: &[Member<'_>],
    fates: &mut [Fate],
    ids: BTreeSet<WorkerId>,
) -> Result<bool> {
    let request = first.flags.lock("apply");
    let mut locks = Locks::open(store.dir())?;
    let guard = locks.workers(&ids, &request)?;
    let journal = Journal::new(&guard, request);
    for id in &ids {
        let left = settle::settle_scope(store, &guard, &journal, Scope::Worker(*id))?;
        if left == settle::Left::OfCatalog {
            return Ok(false);
        }
    }
    let mut overlay = Overlay::default();
    let mut ready = Vec::new();
    for (index, (member, fate)) in members.iter().zip(fates.iter_mut()).enumerate() {
        let Fate::Open(id, fingerprint) = &*fate else {
            continue;
        };
        match plan(store, &journal, member, *id, fingerprint, &overlay) {
            Ok(Ok(done)) => *fate = Fate::Answered(Ok(done)),
            Ok(Err((intent, work))) => {
                for act in &work.acts {
                    overlay.add(act);
                }
                ready.push(Ready {
                    index,
                    intent: *intent,
                    named: member.flags.actor_named,
                    work,
                });
            }
            Err(e) => *fate = Fate::Answered(Err(e)),
        }
    }
    carry_out(store, &guard, &journal, members, ready, fates)?;
    Ok(true)
}

/// Plans one member upon those before it: answered at once, or with work to do.
fn plan(
    store: &Store,
    journal: &Journal<'_>,
    member: &Member<'_>,
    id: WorkerId,
    fingerprint: &str,
    overlay: &Overlay,
) -> Result<std::result::Result<Done, (Box<Intent>, Work)>> {
    let change = &*member.change;
    let scope = Scope::Worker(id);
    if let Some(done) = replayed(store, &member.flags, change.command(), fingerprint)? {
        return Ok(Ok(done));
    }
    let view = View::over(store, overlay);
    fence::check(&view, scope, change, &member.flags.expect)?;
    let intent = intent(change, &member.flags, scope, fingerprint.to_owned());
    let view = view.of(intent.operation_id);
    match change.plan(&view, scope)? {
        Planned::Nothing(answer) => nothing(store, journal, intent, &member.flags, &answer).map(Ok),
        Planned::Do(plan) => {
            let (intent, work) = noted(store, intent, plan)?;
            Ok(Err((Box::new(intent), work)))
        }
    }
}

fn carry_out(
    store: &Store,
    guard: &dyn Guard,
    journal: &Journal<'_>,
    members: &[Member<'_>],
    ready: Vec<Ready>,
    fates: &mut [Fate],
) -> Result<()> {
    let mut intents = Vec::with_capacity(ready.len());
    let mut works = Vec::with_capacity(ready.len());
    for one in ready {
        intents.push((one.intent, one.named));
        works.push((one.index, one.work));
    }
    if intents.is_empty() {
        return Ok(());
    }
    // Opened before the first write of the group, so that it hears of every failure since.
    let batch = SyncFs::before_writing(guard.wagg())?;
    let begun = journal.begin_many(intents)?;
    let mut operations: Vec<(usize, OpenOperation<'_>, Work)> = Vec::new();
    for (begun, (index, work)) in begun.into_iter().zip(works) {
        match begun {
            Ok(Begin::Fresh(operation)) => operations.push((index, operation, work)),
            Ok(Begin::Replay(replay)) => {
                fates[index] = Fate::Answered(answered(store, replay));
            }
            Ok(Begin::Unsettled(other)) => fates[index] = Fate::Answered(Err(taken(&other))),
            Err(e) => fates[index] = Fate::Answered(Err(e)),
        }
    }
    let mut items: Vec<Item<'_>> = operations
        .iter()
        .map(|(_, operation, work)| Item::new(operation.id(), work))
        .collect();
    execute::execute(guard, &mut items, batch.as_ref());
    let ended: Vec<Ended> = items.into_iter().map(Item::ended).collect();
    let mut finished: Vec<(usize, Receipt)> = Vec::new();
    let mut outcomes = Vec::new();
    for ((index, operation, work), ended) in operations.into_iter().zip(ended) {
        let (outcome, said) = ending(&work.answer);
        let receipt = receipt(operation.intent(), said, &work.answer)?;
        match super::ended(
            store,
            guard,
            &*members[index].change,
            operation,
            &work,
            ended,
        ) {
            Ok(operation) => {
                finished.push((index, receipt.clone()));
                outcomes.push((operation, outcome, receipt));
            }
            Err(e) => fates[index] = Fate::Answered(Err(e)),
        }
    }
    match journal.finish_many(outcomes) {
        Ok(()) => {
            for (index, receipt) in finished {
                fates[index] = Fate::Answered(Ok(Done::of(receipt, false)));
            }
        }
        Err(e) => {
            for (index, _) in finished {
                fates[index] = Fate::Answered(Err(after_effects(execute::again(&e))));
            }
        }
    }
    Ok(())
}
