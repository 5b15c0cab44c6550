//! Carrying a plan out, one operation a Worker and one for the catalog.
//!
//! Under the lock the plan is made again. A work is done only if the new plan holds the very same
//! one: same file, same digest, same bytes out and in. All else is refused item by item.

use serde_json::{Map, Value, json};

use super::fate::{Before, Fate, fate};
use super::pairs::OPERATION;
use super::plan::of_scope;
use super::plan_file::{Entry, PlanFile};
use super::{Options, Plan, Planned as PlannedWork, Refusal, State, Work};
use crate::diag::{Code, Effects, Error, Result};
use crate::layout::{OperationId, Paths};
use crate::ops::change::aside::{Kept, kept_path};
use crate::ops::change::rewrite::{Splice, With};
use crate::ops::change::{
    self, Act, Answer, Change, Done, Flags, Plan as Acts, Planned, Scope, View,
};
use crate::record::Edit;
use crate::store::{Dir, Store, What};

/// What became of a plan.
#[derive(Debug)]
pub struct Applied {
    /// The items, as JSON shows them, each with its state.
    pub items: Vec<Map<String, Value>>,
    /// The receipts, without the items.
    pub operations: Vec<Value>,
    /// The first error that is more than the refusal of items.
    pub error: Option<Error>,
    /// A person asked to stop.
    pub interrupted: bool,
    /// Places that could not be looked at when the plan was made.
    pub not_looked_at: u64,
}

impl Applied {
    fn count(&self, state: State) -> u64 {
        let name = serde_json::to_value(state).unwrap_or_default();
        self.items
            .iter()
            .filter(|item| item.get("state") == Some(&name))
            .count() as u64
    }

    /// How many items were carried out.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.count(State::Done)
    }

    /// Whether something is left that was or should be carried out.
    #[must_use]
    pub fn leaves(&self) -> bool {
        self.not_looked_at > 0 || self.items.iter().any(leaves)
    }
}

fn leaves(item: &Map<String, Value>) -> bool {
    match item.get("state").and_then(Value::as_str) {
        Some("done" | "no_change") => false,
        Some("manual") => item.get("severity").and_then(Value::as_str) != Some("info"),
        _ => true,
    }
}

/// The arguments of a repair as they were given, for its fingerprint.
fn arguments(options: &Options, given: &Value) -> Value {
    json!({
        "workers": given,
        "only": options.only.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "allow_lossy": options.allow_lossy,
        "max_line": options.limits.max_line,
    })
}

/// What the same request id answered before, if it did. `given` is what names the Workers, or the
/// digest of a plan file.
///
/// # Errors
/// `request_mismatch`, or the journal can not be read.
pub fn answered(
    store: &Store,
    flags: &Flags<'_>,
    options: &Options,
    given: &Value,
    scope: Scope,
) -> Result<Option<Applied>> {
    let change = Repair {
        scope,
        options,
        wanted: Vec::new(),
        before: Before::default(),
        entries: Vec::new(),
        not_looked_at: 0,
        arguments: arguments(options, given),
    };
    let Some(done) = change::answered_before(store, flags, &change)? else {
        return Ok(None);
    };
    let mut applied = Applied {
        items: Vec::new(),
        operations: Vec::new(),
        error: None,
        interrupted: false,
        not_looked_at: 0,
    };
    take(&mut applied, done)?;
    Ok(Some(applied))
}

/// Takes a receipt apart: its items, and the rest.
fn take(applied: &mut Applied, done: Done) -> Result<()> {
    let mut receipt: Map<String, Value> = done
        .receipt
        .parse()
        .map_err(|e| Error::new(Code::Internal, "a receipt can not be read back").caused_by(e))?;
    if let Some(Value::Array(items)) = receipt.remove("items") {
        let items = items.into_iter().filter_map(|item| match item {
            Value::Object(map) => Some(map),
            _ => None,
        });
        applied.items.extend(items);
    }
    let missed = receipt.get("not_looked_at").and_then(Value::as_u64);
    applied.not_looked_at = applied.not_looked_at.max(missed.unwrap_or(0));
    applied.operations.push(Value::Object(receipt));
    Ok(())
}

/// Carries a plan out. With a request id there must be one lock only, `scope`, and the receipt
/// holds all items.
///
/// # Errors
/// `unsupported_schema_version` and the like, before anything is done. What stops one operation
/// is in the answer.
pub fn apply(
    store: &Store,
    flags: &Flags<'_>,
    plan: &PlanFile,
    given: &Value,
    single: Option<Scope>,
) -> Result<Applied> {
    let mut applied = Applied {
        items: Vec::new(),
        operations: Vec::new(),
        error: None,
        interrupted: false,
        not_looked_at: plan.not_looked_at(),
    };
    let wished = |entry: &Entry| is(&entry.item, State::Planned) || is(&entry.item, State::Refused);
    match change::writable(store) {
        // What is for a person to decide is said all the same.
        Err(_) if !plan.entries.iter().any(wished) => {
            applied.items = plan.items();
            return Ok(applied);
        }
        writable => writable?,
    }
    let scopes = match single {
        Some(scope) => vec![scope],
        None => Plan {
            works: plan.works.clone(),
            ..Plan::default()
        }
        .scopes(),
    };
    let before = Before::look(store, plan.works.iter().map(|planned| &planned.work));
    let mut taken = vec![false; plan.entries.len()];
    for scope in scopes {
        let mine = |entry: &Entry| {
            single.is_some()
                || entry
                    .work
                    .and_then(|work| plan.works.get(work))
                    .is_some_and(|planned| planned.scope == scope)
        };
        let mut entries = Vec::new();
        for (entry, taken) in plan.entries.iter().zip(&mut taken) {
            if mine(entry) {
                entries.push(entry.clone());
                *taken = true;
            }
        }
        if applied.interrupted || stopped(flags) {
            applied.interrupted = true;
            let refusal = Refusal::new(Code::Interrupted, "a person asked to stop before it");
            refuse_all(&mut applied, entries, &refusal);
            continue;
        }
        let change = Repair {
            scope,
            options: &plan.options,
            wanted: plan.works.clone(),
            before: before.clone(),
            arguments: arguments(&plan.options, given),
            entries,
            not_looked_at: plan.not_looked_at(),
        };
        match change::run(store, flags, &change) {
            Ok(done) => take(&mut applied, done)?,
            Err(e) => {
                let mut refusal = Refusal::new(e.code, e.to_string());
                if e.effects != Effects::None {
                    refusal.message.push_str("; what is on disk is not known");
                }
                refuse_all(&mut applied, change.entries, &refusal);
                let worse = |old: &Error| {
                    old.code != Code::OutcomeUnknown && e.code == Code::OutcomeUnknown
                };
                if applied.error.as_ref().is_none_or(worse) {
                    applied.error = Some(e);
                }
            }
        }
    }
    let rest = plan.entries.iter().zip(taken).filter(|(_, taken)| !taken);
    applied
        .items
        .extend(rest.map(|(entry, _)| entry.item.clone()));
    applied
        .items
        .sort_by_key(|item| item.get("item").and_then(Value::as_u64));
    Ok(applied)
}

fn stopped(flags: &Flags<'_>) -> bool {
    flags
        .stop
        .is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
}

fn refuse_all(applied: &mut Applied, entries: Vec<Entry>, refusal: &Refusal) {
    for mut entry in entries {
        if entry.work.is_some() && is(&entry.item, State::Planned) {
            set(&mut entry.item, State::Refused, Some(refusal), None);
        }
        applied.items.push(entry.item);
    }
}

fn is(item: &Map<String, Value>, state: State) -> bool {
    item.get("state") == serde_json::to_value(state).ok().as_ref()
}

fn set(
    item: &mut Map<String, Value>,
    state: State,
    refusal: Option<&Refusal>,
    operation: Option<OperationId>,
) {
    // Both are JSON already.
    let json = |value: std::result::Result<Value, serde_json::Error>| value.unwrap_or_default();
    item.insert("state".to_owned(), json(serde_json::to_value(state)));
    item.remove("refusal");
    if let Some(refusal) = refusal {
        item.insert("refusal".to_owned(), json(serde_json::to_value(refusal)));
    }
    if let Some(operation) = operation {
        item.insert("operation_id".to_owned(), operation.to_string().into());
    }
}

/// The repair under one lock.
pub(super) struct Repair<'a> {
    pub scope: Scope,
    pub options: &'a Options,
    /// All works of the plan.
    pub wanted: Vec<PlannedWork>,
    /// What there was before any lock was taken.
    pub before: Before,
    /// The items of this operation.
    pub entries: Vec<Entry>,
    pub not_looked_at: u64,
    pub arguments: Value,
}

impl Change for Repair<'_> {
    fn command(&self) -> &'static str {
        "repair"
    }

    fn arguments(&self) -> Value {
        self.arguments.clone()
    }

    fn scope(&self, _: &Store) -> Result<Scope> {
        Ok(self.scope)
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let store = view.store();
        let now = of_scope(store, self.options, scope)?;
        let mut works: Vec<(usize, Fate)> = Vec::new();
        for entry in self.entries.iter().filter(|e| is(&e.item, State::Planned)) {
            let Some(index) = entry.work else { continue };
            if works.iter().any(|(known, _)| *known == index) {
                continue;
            }
            if let Some(planned) = self.wanted.get(index).filter(|p| p.scope == scope) {
                works.push((index, fate(store, planned, &now, &self.before)?));
            }
        }
        let mut entries = self.entries.clone();
        for entry in &mut entries {
            let known = entry.work.filter(|_| is(&entry.item, State::Planned));
            let Some(fate) = known.and_then(|index| {
                let found = works.iter().find(|(known, _)| *known == index)?;
                Some(&found.1)
            }) else {
                continue;
            };
            match fate {
                Fate::Do | Fate::Settled => {
                    set(&mut entry.item, State::Done, None, Some(view.operation()));
                }
                Fate::Already => set(&mut entry.item, State::NoChange, None, None),
                Fate::No(refusal) => set(&mut entry.item, State::Refused, Some(refusal), None),
            }
        }
        let mut answer = Answer::default();
        let worker = match scope {
            Scope::Worker(id) => Some(id),
            Scope::Catalog => None,
        };
        answer.worker_id = worker;
        let done = entries.iter().filter(|e| is(&e.item, State::Done)).count();
        answer.partial = entries.iter().any(|e| leaves(&e.item));
        let items: Vec<&Map<String, Value>> = entries.iter().map(|e| &e.item).collect();
        answer.field("items", &items);
        if self.not_looked_at > 0 {
            answer.field("not_looked_at", self.not_looked_at);
        }
        if done == 0 {
            return Ok(Planned::Nothing(answer));
        }
        let doing = works
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Do))
            .filter_map(|(index, _)| self.wanted.get(*index))
            .map(|planned| &planned.work);
        let acts = acts(store.dir(), view.operation(), doing)?;
        let commit = usize::from(
            acts.first()
                .is_some_and(|act| matches!(act.effect, change::Effect::Keep { .. })),
        );
        if commit > 0 {
            let place = Paths::quarantine().join(view.operation().to_string());
            answer.field("quarantine", place);
        }
        Ok(Planned::Do(Acts {
            worker,
            generation: None,
            args: self.arguments.clone(),
            minted: Value::Null,
            acts,
            commit,
            answer,
        }))
    }
}

/// The changes of works, what they take away kept first.
fn acts<'w>(
    root: &Dir,
    operation: OperationId,
    works: impl Iterator<Item = &'w Work>,
) -> Result<Vec<Act>> {
    let mut kept = Vec::new();
    let mut acts = Vec::new();
    let mut moved = 0;
    for work in works {
        match work {
            Work::Lines {
                path,
                bytes,
                edits,
                keep,
                ..
            } => {
                for part in keep {
                    let what = if part.tail { What::Tail } else { What::Bytes };
                    kept.push(Kept::part(root, path, what, part.offset, part.length)?);
                }
                acts.push(match edits.as_slice() {
                    [tail] if tail.with.is_empty() && tail.offset + tail.length == *bytes => {
                        Act::cut(root, path.clone(), tail.offset, tail.length)?
                    }
                    edits => {
                        let edits = edits.iter().map(|e| splice(e, operation)).collect();
                        Act::rewrite(root, path.clone(), edits)?
                    }
                });
            }
            Work::Document {
                path,
                before,
                after,
            } => {
                let old = match before {
                    Some(_) => Some(read(root, path)?),
                    None => None,
                };
                if let Some(old) = &old {
                    let length = old.len() as u64;
                    kept.push(Kept::part(root, path, What::Bytes, 0, length)?);
                }
                acts.push(Act::document(
                    path.clone(),
                    old.as_deref(),
                    after.clone().into_bytes(),
                )?);
            }
            Work::Leftover {
                path,
                bytes,
                sha256,
            } => {
                moved += 1;
                let name = format!("moved-{moved}");
                let what = match sha256 {
                    Some(_) => What::File,
                    None => What::Folder,
                };
                kept.push(Kept {
                    path: path.clone(),
                    what,
                    offset: 0,
                    bytes: if sha256.is_some() { *bytes } else { 0 },
                    sha256: sha256.clone().unwrap_or_default(),
                    stored_as: Some(name.clone()),
                });
                acts.push(Act::relocate(
                    root,
                    path.clone(),
                    kept_path(operation, &name),
                )?);
            }
            Work::Settle { .. } | Work::JournalTail { .. } => {}
        }
    }
    if !kept.is_empty() {
        acts.insert(0, Act::keep(kept));
    }
    Ok(acts)
}

fn read(root: &Dir, path: &std::path::Path) -> Result<Vec<u8>> {
    let dir = root
        .dir_at(path.parent().unwrap_or(std::path::Path::new("")))
        .and_then(|dir| crate::store::read_whole(&dir.file(path.file_name().unwrap_or_default())?));
    dir.map_err(|e| crate::store::fs::failed("read", path, e))
}

/// An edit with the operation's id where the plan has a place for it.
fn splice(edit: &Edit, operation: OperationId) -> Splice {
    let text = edit.with.replace(OPERATION, &operation.to_string());
    Splice {
        offset: edit.offset,
        length: edit.length,
        with: if text.is_empty() {
            Vec::new()
        } else {
            vec![With::Text(text)]
        },
    }
}
