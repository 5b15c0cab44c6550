//! What is said of a reference that leads nowhere, to two things, or to the wrong one.

use super::form::Form;
use super::{Identity, Resolver, search};
use crate::diag::{Code, Error, shell};
use crate::store::Store;

/// So many matches are named; of others only the number is said.
const MAX_NAMED: usize = 10;

/// A reference that fits nothing, with names that may have been meant.
pub(super) fn not_found(store: &Store, text: &str, message: String) -> Error {
    let mut error = Error::new(Code::NotFound, message);
    let form = Form::of(text);
    let name = match form {
        Form::Name(name) => name,
        _ => text,
    };
    let near = search::workers_by_name(store, |one| {
        one == name || one.to_lowercase() == name.to_lowercase()
    });
    let number = text.trim_start_matches('0');
    if matches!(form, Form::BadNumber) && number.len() < text.len() && !number.is_empty() {
        error = error.hint(format!("wagg show {number}"));
    }
    for worker in near.unwrap_or_default().iter().take(3) {
        let id = worker.id;
        error = error.hint(format!(
            "a Worker has a name like that: wagg worker show {id}"
        ));
    }
    if error.hints.is_empty() {
        error = error.hint("wagg worker list");
    }
    error
}

/// A reference that fits more than one thing.
pub(super) fn ambiguous(text: &str, all: &[Identity]) -> Error {
    let named: Vec<String> = all
        .iter()
        .take(MAX_NAMED)
        .map(|one| describe(text, one))
        .collect();
    let more = match all.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let mut error = Error::new(
        Code::AmbiguousReference,
        format!(
            "{text} fits {} things: {}{more}",
            all.len(),
            named.join(", ")
        ),
    );
    for one in all.iter().take(MAX_NAMED) {
        error = error.hint(format!("wagg show {}", reference(one)));
    }
    error
}

/// A reference to something else than the command takes, with the right one named.
#[must_use]
pub fn wrong_kind(store: &Store, text: &str, wanted: &str, found: &Identity) -> Error {
    let what = match found {
        Identity::Worker(worker) if worker.id.to_string() == text => "a Worker".to_owned(),
        other => describe(text, other),
    };
    let message = format!("{text} is {what}, and not {wanted}");
    let mut error = Error::new(Code::WrongIdKind, message);
    let Some(worker) = found.worker() else {
        return error.hint("wagg worker list");
    };
    if wanted == "a Segment" {
        match found {
            Identity::Trace(segment) => return error.hint(format!("give {}", segment.segment)),
            Identity::Segment(_) => {}
            _ => match Resolver::new(store).active_segment(worker) {
                Ok(active) => {
                    error.message =
                        format!("{text} is {what}; its active Segment is {}", active.segment);
                    error = error.hint(format!("give {} or {}/active", active.segment, worker.id));
                }
                Err(_) => error = error.hint(format!("wagg segment list {}", worker.id)),
            },
        }
        return error;
    }
    if wanted == "a Worker" {
        if matches!(found, Identity::Session { .. })
            && let Ok(active) = Resolver::new(store).active_segment(worker)
        {
            error.message = format!("{text} is {what}; its active Segment is {}", active.segment);
        }
        error = error.hint(format!("the Worker is {}", worker.id));
    }
    error
}

/// What something is, with its owner: `the Session of Worker 7`. An id that is the text itself is
/// not said again.
pub(super) fn describe(text: &str, identity: &Identity) -> String {
    let named = |id: String| {
        if id == text {
            String::new()
        } else {
            format!(" {id}")
        }
    };
    match identity {
        Identity::Store => "the store itself".to_owned(),
        Identity::Worker(worker) => {
            let plain = worker.folder.to_str() == Some(&worker.id.to_string());
            if plain {
                format!("Worker {}", worker.id)
            } else {
                format!("Worker {} in {}", worker.id, worker.path().display())
            }
        }
        Identity::Session { worker, session } => {
            let session = named(session.to_string());
            format!("the Session{session} of Worker {}", worker.id)
        }
        Identity::Segment(segment) => {
            let id = named(segment.segment.to_string());
            format!("the Segment{id} of Worker {}", segment.worker.id)
        }
        Identity::Trace(segment) => {
            let id = segment.segment;
            format!(
                "the trace of the Segment {id} of Worker {}",
                segment.worker.id
            )
        }
        Identity::Run { worker, run } => format!("the run {run} of Worker {}", worker.id),
        Identity::Other { path, kind, .. } => {
            format!("{} at {} in the store", kind.noun(), path.display())
        }
    }
}

/// A reference that leads to just this.
pub(super) fn reference(identity: &Identity) -> String {
    match identity {
        Identity::Worker(worker) if worker.folder.to_str() == Some(&worker.id.to_string()) => {
            worker.id.to_string()
        }
        Identity::Segment(segment) => format!("{}/{}", segment.worker.id, segment.segment),
        other => shell(&other.path()),
    }
}
