//! `worker create`: a new Worker (C2).
//!
//! The sequence in `runtime.json` is raised first, then a folder that was filled in
//! `.wagg/staging/` is renamed into `workers/`, which is the commit point. A crash in between costs
//! a number; the other way round a Runtime would give the number out again.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, WorkerId, WorkerName, file};
use crate::ops::change::{
    Act, Answer, Change, KnownBy, Liveness, Plan, Planned, Scope, View, document_error, edit,
    sha256,
};
use crate::ops::resolve::is_no_plain_name;
use crate::record::document::{DocumentFault, RuntimeDocument, WorkerDocument, check_request};
use crate::store::fs::{failed, temp_name};
use crate::store::{EntryKind, Store, read_document};

/// The profile of a Worker for which none is named.
pub const DEFAULT_PROFILE: &str = "builtin:coder";

/// Creates a Worker.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Its display name.
    #[serde(default)]
    pub name: Option<String>,
    /// Its workspace.
    #[serde(default)]
    pub workspace: Option<String>,
    /// A named profile, or a builtin one if it starts with `builtin:`.
    #[serde(default)]
    pub profile: Option<String>,
    /// The whole request, instead of name and profile.
    #[serde(skip)]
    pub request: Option<GivenRequest>,
}

/// A request as a person gave it.
#[derive(Debug)]
pub struct GivenRequest {
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// One JSON object.
    pub bytes: Vec<u8>,
}

impl GivenRequest {
    fn error(&self, fault: &DocumentFault) -> Error {
        let mut place = Locus::file(self.path.clone());
        (place.line, place.byte) = (fault.line, fault.byte);
        Error::input(fault.code, fault.message.clone(), place)
    }
}

/// Checks a display name: whoever sees it must be able to type it back.
///
/// # Errors
/// `unsafe_name`.
pub fn check_display_name(name: &str) -> Result<()> {
    let refused = |why: String| {
        Err(Error::new(
            Code::UnsafeName,
            format!("{name:?} can not be a display name: {why}"),
        )
        .hint("give it another name: wagg worker create --name NAME"))
    };
    if let Err(e) = name.parse::<WorkerName>() {
        return refused(e.to_string());
    }
    if is_no_plain_name(name) {
        return refused("it has the form of an id or a path".to_owned());
    }
    if name.trim() != name || name.chars().any(char::is_control) {
        return refused("it begins or ends with a space, or holds a control character".to_owned());
    }
    Ok(())
}

impl Create {
    /// The request of the new Worker.
    fn request(&self) -> Result<Map<String, Value>> {
        if let Some(given) = &self.request {
            check_request(&given.bytes).map_err(|fault| given.error(&fault))?;
            let request = edit::parse(&given.bytes)
                .map_err(|e| Error::input(e.code, e.message, Locus::file(given.path.clone())))?;
            if let Some(Value::String(name)) = request.get("display_name") {
                check_display_name(name)?;
            }
            let has = |key: &str| request.get(key).is_some_and(|v| !v.is_null());
            if has("idempotency_key") != has("idempotency_fingerprint") {
                return Err(Error::input(
                    Code::CorruptDocument,
                    "idempotency_key and idempotency_fingerprint stand together or not at all",
                    Locus::file(given.path.clone()),
                ));
            }
            return Ok(request);
        }
        let profile = self.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        if profile.is_empty() || profile == "builtin:" {
            return Err(Error::new(Code::Usage, "a profile has a name")
                .hint(format!("wagg worker create --profile {DEFAULT_PROFILE}")));
        }
        let kind = if profile.starts_with("builtin:") {
            "builtin"
        } else {
            "named"
        };
        let mut request = Map::new();
        request.insert(
            "profile".to_owned(),
            json!({ "kind": kind, "value": profile }),
        );
        if let Some(name) = &self.name {
            check_display_name(name)?;
            request.insert("display_name".to_owned(), name.as_str().into());
        }
        request.insert("profile_source".to_owned(), empty_archive());
        Ok(request)
    }
}

/// A profile source that holds nothing, with the digest of nothing.
fn empty_archive() -> Value {
    json!({
        "kind": "embedded",
        "archive": {
            "reference": {
                "id": "empty",
                "digest": format!("sha256:{}", sha256(b"")),
                "size_bytes": 0,
                "source_graph": {
                    "source_count": 0,
                    "total_source_bytes": 0,
                    "entrypoints": {},
                    "import_count": 0
                }
            },
            "content": []
        }
    })
}

impl Change for Create {
    fn command(&self) -> &'static str {
        "worker create"
    }

    fn arguments(&self) -> Value {
        json!({
            "name": self.name,
            "workspace": self.workspace,
            "profile": self.profile,
            "request": self.request.as_ref().map(|given| sha256(&given.bytes)),
        })
    }

    fn scope(&self, _: &Store) -> Result<Scope> {
        Ok(Scope::Catalog)
    }

    fn liveness(&self, _: Scope) -> Liveness {
        Liveness::Store
    }

    fn plan(&self, view: &View<'_>, _: Scope) -> Result<Planned> {
        let request = self.request()?;
        if self.workspace.as_ref().is_some_and(String::is_empty) {
            return Err(Error::new(Code::Usage, "a workspace has a name"));
        }
        let (runtime, next) = next_id(view)?;
        let after = next.checked_add(1).ok_or_else(|| {
            Error::new(Code::NumberOutOfRange, "all Worker ids are used up")
                .at(Locus::file(Paths::runtime()))
        })?;
        let id = WorkerId::Number(next);
        let mut document = Map::new();
        document.insert("schema_version".to_owned(), 1.into());
        document.insert("worker_ref".to_owned(), json!({ "worker_id": next }));
        document.insert("worker_id".to_owned(), next.into());
        document.insert("request".to_owned(), Value::Object(request));
        document.insert("run_generation".to_owned(), 0.into());
        if let Some(workspace) = &self.workspace {
            document.insert("workspace_id".to_owned(), workspace.as_str().into());
        }
        let document = edit::render(&document, true)?;
        let path = Paths::worker_document(id);
        WorkerDocument::read(&document).map_err(|f| document_error(&f, path))?;
        let known = KnownBy::field(file::WORKER, "request", &document)?;
        let name = id.to_string();
        let folder = Act::folder_from(
            Paths::staging().join(temp_name(&name)),
            Paths::worker(id),
            &[],
            vec![(PathBuf::from(file::WORKER), document)],
        );
        let raised = edit::set(&runtime, "next_worker_sequence", after.into())?;
        Ok(Planned::Do(Plan {
            worker: Some(id),
            generation: None,
            args: Value::Null,
            minted: json!({ "worker_id": id }),
            acts: vec![
                Act::document(Paths::runtime(), Some(&runtime), raised)?,
                folder.known_by(known),
            ],
            commit: 1,
            answer: Answer::of(id, name),
        }))
    }
}

/// `runtime.json`, and the next id that was never given out, by the document or by any folder.
fn next_id(view: &View<'_>) -> Result<(Vec<u8>, u64)> {
    let path = Paths::runtime();
    let bytes = view.document(&path)?.ok_or_else(|| {
        Error::new(Code::MissingCatalog, "the store has no runtime.json")
            .at(Locus::file(path.clone()))
    })?;
    let runtime = RuntimeDocument::read(&bytes).map_err(|f| document_error(&f, path))?;
    let mut next = runtime.next_worker_sequence.unwrap_or(1).max(1);
    let mut above = |id: Option<WorkerId>| -> Result<()> {
        if let Some(WorkerId::Number(n)) = id
            && n >= next
        {
            next = n.checked_add(1).ok_or_else(|| {
                Error::new(
                    Code::NumberOutOfRange,
                    format!("Worker {n} exists, so all Worker ids are used up"),
                )
                .at(Locus::file(Paths::workers()))
                .hint("wagg verify")
            })?;
        }
        Ok(())
    };
    let Some(workers) = view.store().workers_dir()? else {
        return Ok((bytes, next));
    };
    let read = |e| failed("read", &Paths::workers(), e);
    for entry in workers.entries().map_err(read)? {
        let id = entry.name.to_str().and_then(|name| name.parse().ok());
        match id {
            Some(id) => above(Some(id))?,
            // A folder that was copied or renamed by hand says inside who it is.
            None if entry.kind == EntryKind::Dir => {
                if let Ok(dir) = workers.dir(&entry.name) {
                    let document = read_document(&dir, file::WORKER, WorkerDocument::read);
                    above(document.good().and_then(WorkerDocument::worker_id))?;
                }
            }
            None => {}
        }
    }
    Ok((bytes, next))
}
