//! `worker children` and `worker reclaim`: what a Worker gave to those it spawned, and took back
//! (C30).
//!
//! Children are current metadata, not history and not liveness. To reclaim one moves its delegated
//! scope to the list of reclaimed children in the same replacement of `metadata.json`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::metadata::{self, NamedIn};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, WorkerId, WorkerName};
use crate::ops::change::{Answer, Change, Liveness, Planned, Scope, View};
use crate::ops::read::WorkerRef;
use crate::ops::resolve::Resolver;
use crate::record::document::{MetadataDocument, ScopeRule};
use crate::store::{Document, Store, read_document};

/// How a child stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildState {
    /// It holds what was delegated to it.
    Spawned,
    /// What it held was taken back.
    Reclaimed,
}

impl ChildState {
    /// The word that stands in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawned => "spawned",
            Self::Reclaimed => "reclaimed",
        }
    }
}

/// A child, as its Worker's metadata knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChildLine {
    /// As written; may be unsafe.
    pub worker_name: String,
    /// The Worker of this store that has the name, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// How it stands.
    pub state: ChildState,
    /// What was delegated to it, or taken back.
    pub scope: Vec<ScopeRule>,
    /// A last-known hint, never opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket_path: Option<String>,
}

/// The children of a Worker: those that hold scope first, each list as it is written.
///
/// # Errors
/// `metadata.json` is there and can not be read.
pub fn children(store: &Store, worker: &WorkerRef) -> Result<Vec<ChildLine>> {
    let path = worker.path().join(crate::layout::file::METADATA);
    let dir = worker.open(store)?;
    let metadata = match read_document(&dir, crate::layout::file::METADATA, MetadataDocument::read)
    {
        Document::Missing => return Ok(Vec::new()),
        Document::Good(metadata) => metadata,
        Document::Faulty(fault) => return Err(crate::ops::change::document_error(&fault, path)),
        Document::NotAFile(kind) => {
            let e = crate::store::fs::WrongKind { kind }.into();
            return Err(crate::store::fs::failed("read", &path, e));
        }
        Document::Unreadable(e) => return Err(Error::io("read", &path, e)),
    };
    let spawned = metadata
        .spawned_children
        .into_iter()
        .map(|child| ChildLine {
            worker_id: known(store, &child.worker_name),
            worker_name: child.worker_name,
            state: ChildState::Spawned,
            scope: child.scope_delegated,
            socket_path: Some(child.socket_path),
        });
    let reclaimed = metadata
        .reclaimed_children
        .into_iter()
        .map(|child| ChildLine {
            worker_id: known(store, &child.worker_name),
            worker_name: child.worker_name,
            state: ChildState::Reclaimed,
            scope: child.scope_delegated,
            socket_path: None,
        });
    Ok(spawned.chain(reclaimed).collect())
}

/// The Worker of this store that a Runtime's name means.
fn known(store: &Store, name: &str) -> Option<WorkerId> {
    let id = name.parse::<WorkerName>().ok()?.worker_id()?;
    let there = store.worker_dir(&Store::folder_of(id)).ok().flatten();
    there.map(|_| id)
}

/// Takes back what was delegated to a child.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reclaim {
    /// What names the Worker.
    pub worker: String,
    /// What names the child.
    pub child: String,
}

const SPAWNED: &str = "spawned_children";
const RECLAIMED: &str = "reclaimed_children";
const SCOPE: &str = "scope_delegated";

impl Change for Reclaim {
    fn command(&self) -> &'static str {
        "worker reclaim"
    }

    fn arguments(&self) -> Value {
        json!({ "worker": self.worker, "child": self.child })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).worker(&self.worker)?)
    }

    fn liveness(&self, scope: Scope) -> Liveness {
        scope.liveness()
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let id = scope.worker()?;
        let Some((bytes, document)) = view.metadata(id)? else {
            return Err(no_child(id, &self.child));
        };
        let names: Vec<&str> = document
            .spawned_children
            .iter()
            .map(|c| c.worker_name.as_str())
            .chain(
                document
                    .reclaimed_children
                    .iter()
                    .map(|c| c.worker_name.as_str()),
            )
            .collect();
        let name = match metadata::named_in(view.store(), &self.child, &names)? {
            NamedIn::List(name) => name,
            NamedIn::Elsewhere(_) => return Err(no_child(id, &self.child)),
        };
        let mut answer = Answer::of(id, id.to_string());
        answer.field("child", &name);
        let is = |c: &crate::record::document::Child| c.worker_name == name;
        if !document.spawned_children.iter().any(is) {
            return Ok(Planned::Nothing(answer));
        }
        metadata::replace(id, &bytes, answer, |map| move_child(map, &name))
    }
}

fn no_child(id: WorkerId, child: &str) -> Error {
    Error::new(
        Code::NotFound,
        format!("Worker {id} has no child {child:?}, and never reclaimed one of that name"),
    )
    .at(Locus::file(Paths::metadata(id)))
    .hint(format!("wagg worker children {id}"))
}

/// Moves all entries of a child to the list of reclaimed ones; what it held is added to an entry
/// that is there already.
fn move_child(map: &mut Map<String, Value>, name: &str) {
    let is = |value: &Value| value.get("worker_name").and_then(Value::as_str) == Some(name);
    let mut moved = Vec::new();
    if let Some(Value::Array(spawned)) = map.get_mut(SPAWNED) {
        spawned.retain(|child| {
            if is(child) {
                moved.push(child.clone());
            }
            !is(child)
        });
        if spawned.is_empty() {
            // A Runtime leaves the field out when it is empty.
            map.shift_remove(SPAWNED);
        }
    }
    let mut reclaimed = match map.get(RECLAIMED) {
        Some(Value::Array(all)) => all.clone(),
        _ => Vec::new(),
    };
    for child in moved {
        let Value::Object(mut child) = child else {
            continue;
        };
        // Where it was reached is nothing that a reclaimed child has.
        child.shift_remove("socket_path");
        child.shift_remove("callback_address");
        match reclaimed.iter_mut().find(|value| is(value)) {
            Some(there) => add_scope(there, child.get(SCOPE)),
            None => reclaimed.push(Value::Object(child)),
        }
    }
    map.insert(RECLAIMED.to_owned(), Value::Array(reclaimed));
}

fn add_scope(there: &mut Value, more: Option<&Value>) {
    if let (Some(Value::Array(scope)), Some(Value::Array(more))) = (there.get_mut(SCOPE), more) {
        for rule in more {
            if !scope.contains(rule) {
                scope.push(rule.clone());
            }
        }
    }
}
