//! Making one change, from the request id to the outcome: the frame that `mod.rs` tells of.

use super::effect::{Act, Effect, State};
use super::{
    Answer, Change, Done, Flags, Follow, Plan, Planned, ReceiptBody, Scope, View, aside, ending,
    execute, fence, fingerprint, receipt, settle, unwritable, view,
};
use crate::diag::{Code, Effects, Error, Locus, Result};
use crate::layout::{Paths, WorkerId};
use crate::store::fs::failed;
use crate::store::journal::{
    self, Begin, Intent, Journal, Lookup, OpenOperation, Outcome, Receipt, Replay, lookup,
};
use crate::store::{Guard, LockRequest, Locks, Store};

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
    make(store, flags, change).map_err(|e| retried(e, flags))
}

/// Says of an outcome that is not known what a request id is worth then, where one was given.
pub(super) fn retried(e: Error, flags: &Flags<'_>) -> Error {
    let said = e.hints.iter().any(|hint| hint.contains("--request-id"));
    if e.code != Code::OutcomeUnknown || flags.request_id.is_none() || said {
        return e;
    }
    e.hint("a retry with the same --request-id is safe, and gives the true outcome")
}

fn make(store: &Store, flags: &Flags<'_>, change: &dyn Change) -> Result<Done> {
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
pub(super) fn settle_in(
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
pub(super) fn replayed(
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

pub(super) fn look_up(
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
pub(super) fn answered(store: &Store, replay: Replay) -> Result<Done> {
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
    .hint(format!("wagg op show {id}"))
    .hint("to make the change after all, give another --request-id"))
}

pub(super) fn dry_run(
    store: &Store,
    flags: &Flags<'_>,
    change: &dyn Change,
    scope: Scope,
) -> Result<Done> {
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
pub(super) fn held_back(
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
        answer: &answer.in_receipt(),
        effects: Some(effects),
    };
    let receipt = Receipt::new(&body).map_err(unwritable)?;
    Ok(Done {
        dry_run: true,
        ..Done::of(receipt, false)
    })
}

pub(super) fn intent(
    change: &dyn Change,
    flags: &Flags<'_>,
    scope: Scope,
    fingerprint: String,
) -> Intent {
    let mut intent = Intent::new(flags.actor.clone(), change.command(), fingerprint);
    intent.request_id.clone_from(&flags.request_id);
    if let Scope::Worker(id) = scope {
        intent = intent.in_worker(id);
    }
    intent
}

/// Makes the change under its lock. None: something must be settled first that this lock does not
/// cover.
pub(super) fn under(
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

pub(super) fn unnoted(command: &str, answer: &Answer) -> Result<Done> {
    let body = ReceiptBody {
        operation_id: None,
        outcome: "no_change",
        command,
        request_id: None,
        answer: &answer.in_receipt(),
        effects: None,
    };
    Ok(Done::of(Receipt::new(&body).map_err(unwritable)?, false))
}

/// An answer that needs no effect. It is noted only if a request id must be bound to it (C14).
pub(super) fn nothing(
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

/// The refusal of a request id under which another operation is open.
pub(crate) fn taken(other: &Intent) -> Error {
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
pub(super) fn noted(store: &Store, mut intent: Intent, mut plan: Plan) -> Result<(Intent, Work)> {
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

pub(super) fn carry_out(
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
pub(super) fn ended<'j>(
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
pub(super) fn after_effects(e: Error) -> Error {
    Error::new(
        Code::OutcomeUnknown,
        "the change is on disk and its outcome could not be noted; the next change settles it",
    )
    .effects(Effects::All)
    .hint("wagg op list")
    .caused_by(e)
}
