//! What the changes of `metadata.json` have in common.

use serde_json::{Map, Value, json};

use crate::diag::{Code, Result};
use crate::layout::{Paths, WorkerId, WorkerName};
use crate::ops::change::{Act, Answer, Plan, Planned, edit};
use crate::ops::resolve::Resolver;
use crate::store::Store;

/// What a person's word for a child or a peer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NamedIn {
    /// A name that stands on the list.
    List(String),
    /// One that does not.
    Elsewhere(String),
}

/// The name that `text` means: one of `names`, that of a Worker of the store, or what stands behind
/// `name:`.
///
/// # Errors
/// `not_found`, with how to name one that lives elsewhere; `ambiguous_reference`, `wrong_id_kind`.
pub(super) fn named_in(store: &Store, text: &str, names: &[&str]) -> Result<NamedIn> {
    let on_list = |name: String| {
        if names.contains(&name.as_str()) {
            NamedIn::List(name)
        } else {
            NamedIn::Elsewhere(name)
        }
    };
    if let Some(name) = text.strip_prefix("name:") {
        return Ok(on_list(name.to_owned()));
    }
    // A name on the list is meant as it stands, unless it has the form of an id.
    if names.contains(&text) && !crate::ops::resolve::is_no_plain_name(text) {
        return Ok(NamedIn::List(text.to_owned()));
    }
    match Resolver::new(store).worker(text) {
        Ok(worker) => Ok(on_list(WorkerName::of(worker.id).as_str().to_owned())),
        Err(e) if e.code == Code::NotFound => {
            // The Worker of an id may be gone while its name still stands on the list.
            if let Ok(id) = text.parse::<WorkerId>()
                && let NamedIn::List(name) = on_list(WorkerName::of(id).as_str().to_owned())
            {
                return Ok(NamedIn::List(name));
            }
            Err(e.hint(format!(
                "if it lives elsewhere, give its name as {}",
                crate::diag::shell(std::path::Path::new(&format!("name:{text}")))
            )))
        }
        Err(e) => Err(e),
    }
}

/// The plan that replaces a Worker's `metadata.json`.
pub(super) fn replace(
    id: WorkerId,
    bytes: &[u8],
    answer: Answer,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<Planned> {
    let changed = edit::change(bytes, change)?;
    plan(id, Some(bytes), changed, answer)
}

/// The plan that makes a Worker's `metadata.json`, without a pointer and without a final newline,
/// as a Runtime writes it.
pub(super) fn make(
    id: WorkerId,
    answer: Answer,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<Planned> {
    let mut map = Map::new();
    map.insert("worker_name".to_owned(), WorkerName::of(id).as_str().into());
    change(&mut map);
    plan(id, None, edit::render(&map, false)?, answer)
}

fn plan(id: WorkerId, before: Option<&[u8]>, after: Vec<u8>, answer: Answer) -> Result<Planned> {
    Ok(Planned::Do(Plan {
        worker: Some(id),
        generation: None,
        args: json!({ "worker_id": id }),
        minted: Value::Null,
        acts: vec![Act::document(Paths::metadata(id), before, after)?],
        commit: 0,
        answer,
    }))
}
