//! What was put aside: listed, looked at, let go of.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{OperationId, Paths, WorkerId};
use crate::ops::change::{Act, Answer, Change, Plan, Planned, Scope, View};
use crate::ops::operation;
use crate::store::fs::failed;
use crate::store::journal::{Outcome, operations, unsettled};
use crate::store::{Dir, Item, Store, What, quarantined, quarantined_bytes, quarantined_items};

/// What one operation put aside, in a listing.
#[derive(Debug, Clone, Serialize)]
pub struct PutAside {
    /// The operation.
    pub operation_id: OperationId,
    /// When it began, as its id says, RFC 3339 in UTC.
    pub since: String,
    /// Its command, as long as the journal knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The Worker that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// How many things.
    pub items: u64,
    /// Bytes of them; of folders what is in them.
    pub bytes: u64,
}

/// One thing that was put aside.
#[derive(Debug, Clone, Serialize)]
pub struct Thing {
    /// What the manifest says.
    #[serde(flatten)]
    pub item: Item,
    /// Whether it is here still: what was moved may have been brought back.
    pub present: bool,
}

fn dir_of(store: &Store, operation: OperationId) -> Result<Option<Dir>> {
    let path = Paths::quarantine().join(operation.to_string());
    match store.dir().dir_at(&path) {
        Ok(dir) => Ok(Some(dir)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("open", &path, e)),
    }
}

/// The bytes of all files in a folder.
fn size(dir: &Dir) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.entries()? {
        bytes += match entry.kind {
            crate::store::EntryKind::File => dir.stat(&entry.name)?.len,
            crate::store::EntryKind::Dir => size(&dir.dir(&entry.name)?)?,
            _ => 0,
        };
    }
    Ok(bytes)
}

fn time_of(operation: OperationId) -> Option<Timestamp> {
    let (seconds, nanos) = operation.uuid().get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()
}

/// What is put aside, oldest operation first.
///
/// # Errors
/// It can not be read.
pub fn list(store: &Store) -> Result<Vec<PutAside>> {
    let ids = quarantined(store.dir())?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut all: Vec<PutAside> = Vec::with_capacity(ids.len());
    for operation_id in ids {
        let things = things(store, operation_id)?;
        let path = Paths::quarantine().join(operation_id.to_string());
        let bytes = match dir_of(store, operation_id)? {
            Some(dir) => size(&dir).map_err(|e| failed("read", &path, e))?,
            None => 0,
        };
        let manifest = match dir_of(store, operation_id)? {
            Some(dir) => dir.try_stat("manifest.jsonl").ok().flatten(),
            None => None,
        };
        all.push(PutAside {
            operation_id,
            since: time_of(operation_id).map_or_else(String::new, |t| format!("{t:.3}")),
            command: None,
            outcome: None,
            worker_id: None,
            items: things.len() as u64,
            bytes: bytes.saturating_sub(manifest.map_or(0, |stat| stat.len)),
        });
    }
    for operation in operations(store.dir())? {
        let operation = operation?;
        let id = operation.intent.operation_id;
        if let Some(line) = all.iter_mut().find(|line| line.operation_id == id) {
            line.command = Some(operation.intent.command);
            line.worker_id = operation.intent.worker_id;
            line.outcome = operation.ending.map(|e| e.outcome);
        }
    }
    Ok(all)
}

/// The operation that a text names, which put something aside.
///
/// # Errors
/// `not_found`, `ambiguous_reference`.
pub fn find(store: &Store, text: &str) -> Result<OperationId> {
    if let Ok(operation) = operation::find(store, text) {
        let id = operation.intent.operation_id;
        if dir_of(store, id)?.is_some() {
            return Ok(id);
        }
        return Err(Error::new(
            Code::NotFound,
            format!("operation {id} put nothing aside, or it was emptied since"),
        )
        .hint("wagg quarantine list"));
    }
    // The journal may have forgotten it.
    let wanted: String = text.chars().filter(|c| *c != '-').collect();
    let all = quarantined(store.dir())?;
    let mut found = all
        .into_iter()
        .filter(|id| wanted.len() >= 4 && id.uuid().simple().to_string().starts_with(&wanted));
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (Some(_), Some(_)) => Err(Error::new(
            Code::AmbiguousReference,
            format!("{text} is the beginning of more than one operation"),
        )
        .hint("wagg quarantine list")),
        (None, _) => Err(Error::new(
            Code::NotFound,
            format!("no operation that put something aside is or begins with {text}"),
        )
        .hint("wagg quarantine list")),
    }
}

/// What an operation put aside.
///
/// # Errors
/// It can not be read.
pub fn things(store: &Store, operation: OperationId) -> Result<Vec<Thing>> {
    let items = quarantined_items(store.dir(), operation)?.unwrap_or_default();
    let dir = dir_of(store, operation)?;
    items
        .into_iter()
        .map(|item| {
            let (name, _) = item.place();
            let there = match &dir {
                Some(dir) => dir.try_stat(&name),
                None => Ok(None),
            };
            let present = there
                .map_err(|e| failed("look at", &item.path, e))?
                .is_some();
            Ok(Thing { item, present })
        })
        .collect()
}

/// The bytes of one thing, checked against its digest.
///
/// # Errors
/// `not_found`, `not_a_regular_file` for a folder, `corrupt_document` if they are not what was put
/// there.
pub fn bytes(store: &Store, operation: OperationId, number: u64) -> Result<Vec<u8>> {
    let things = things(store, operation)?;
    let thing = things
        .iter()
        .find(|thing| thing.item.item == number)
        .ok_or_else(|| {
            Error::new(
                Code::NotFound,
                format!("operation {operation} put no item {number} aside"),
            )
            .hint(format!("wagg quarantine show {operation}"))
        })?;
    if thing.item.what == What::Folder {
        let path = Paths::quarantine()
            .join(operation.to_string())
            .join(thing.item.place().0);
        return Err(Error::new(
            Code::NotARegularFile,
            format!("item {number} is a folder: it lies in {}", path.display()),
        )
        .at(Locus::file(path)));
    }
    quarantined_bytes(store.dir(), operation, &thing.item)?
        .ok_or_else(|| Error::new(Code::Internal, "an item of the quarantine has no bytes"))
}

/// Lets go of what was put aside, for good.
#[derive(Debug)]
pub struct Empty {
    /// Only what these operations put aside: ids, or beginnings of them. All if empty.
    pub operations: Vec<String>,
    /// Only what was put aside longer ago than this.
    pub older_than: Option<Duration>,
}

impl Change for Empty {
    fn command(&self) -> &'static str {
        "quarantine empty"
    }

    fn arguments(&self) -> Value {
        json!({
            "operations": self.operations,
            "older_than_s": self.older_than.map(|d| d.as_secs()),
        })
    }

    fn scope(&self, _: &Store) -> Result<Scope> {
        Ok(Scope::Catalog)
    }

    fn plan(&self, view: &View<'_>, _: Scope) -> Result<Planned> {
        let store = view.store();
        let limit = match self.older_than {
            Some(older_than) => Some(Timestamp::now().checked_sub(older_than).map_err(|e| {
                Error::new(Code::Usage, "that is longer ago than time goes").caused_by(e)
            })?),
            None => None,
        };
        let named = self
            .operations
            .iter()
            .map(|text| find(store, text))
            .collect::<Result<Vec<_>>>()?;
        let open: Vec<OperationId> = unsettled(store.dir())?
            .into_iter()
            .map(|intent| intent.operation_id)
            .collect();
        let goes: Vec<OperationId> = quarantined(store.dir())?
            .into_iter()
            .filter(|id| named.is_empty() || named.contains(id))
            .filter(|id| !open.contains(id))
            .filter(|id| match (limit, time_of(*id)) {
                (None, _) => true,
                (Some(limit), Some(time)) => time < limit,
                (Some(_), None) => false,
            })
            .collect();
        let mut answer = Answer::default();
        answer.field("emptied", &goes);
        if goes.is_empty() {
            return Ok(Planned::Nothing(answer));
        }
        Ok(Planned::Do(Plan {
            worker: None,
            generation: None,
            args: json!({ "operations": goes }),
            minted: Value::Null,
            acts: goes.into_iter().map(Act::empty).collect(),
            commit: 0,
            answer,
        }))
    }
}
