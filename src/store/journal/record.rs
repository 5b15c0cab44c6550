//! The records of the journal: what stands on its lines.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::layout::{Generation, OperationId, WorkerId};

/// The version of the journal that this program writes.
pub const JOURNAL_SCHEMA: u32 = 1;

/// The first line: which journal this is. It is written only once the journal's own name and the
/// folders around it are durable, so its presence says so.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename = "journal")]
pub(super) struct Header {
    pub schema_version: u32,
    pub journal_id: uuid::Uuid,
    pub ts: String,
}

/// What a change is made under, and so who settles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The lock of one Worker.
    Worker,
    /// The store's lock.
    Catalog,
}

/// What an operation is about to do: written before its first effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "intent")]
pub struct Intent {
    /// The operation.
    pub operation_id: OperationId,
    /// When it began, RFC 3339 in UTC.
    pub ts: String,
    /// Who asked for it.
    pub actor: String,
    /// The command, as in `segment fork`.
    pub command: String,
    /// What makes it exactly-once, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// SHA-256 in hex over the arguments as given (C15).
    pub fingerprint: String,
    /// What it is made under.
    pub scope: Scope,
    /// The Worker that it is about, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// The generation that it acted under.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "generation"
    )]
    pub generation: Option<Generation>,
    /// Its arguments, resolved.
    #[serde(default)]
    pub args: Value,
    /// Every id that it makes.
    #[serde(default)]
    pub minted: Value,
    /// What must follow its commit point, for who carries it forward (C16).
    #[serde(default)]
    pub follow: Value,
    /// The leftovers that it may leave: paths relative to the store, each with a name that starts
    /// with a dot.
    #[serde(default)]
    pub leftovers: Vec<String>,
}

fn generation<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Generation>, D::Error> {
    Ok(Option::<u64>::deserialize(d)?.and_then(Generation::new))
}

impl Intent {
    /// A new intent of now, with a new id, that names nothing yet.
    #[must_use]
    pub fn new(actor: impl Into<String>, command: impl Into<String>, fingerprint: String) -> Self {
        Self {
            operation_id: OperationId::mint(),
            ts: now(),
            actor: actor.into(),
            command: command.into(),
            request_id: None,
            fingerprint,
            scope: Scope::Catalog,
            worker_id: None,
            generation: None,
            args: Value::Null,
            minted: Value::Null,
            follow: Value::Null,
            leftovers: Vec::new(),
        }
    }

    /// The same, made under the lock of this Worker.
    #[must_use]
    pub const fn in_worker(mut self, id: WorkerId) -> Self {
        self.scope = Scope::Worker;
        self.worker_id = Some(id);
        self
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it was meant to.
    Done,
    /// There was nothing to do.
    NoChange,
    /// Some of it was done; the receipt says what.
    Partial,
    /// Nobody knows.
    Unknown,
    /// Without effect: refused late, failed, or killed before its commit point and cleared. It
    /// does not bind its request id.
    Cleared,
}

impl Outcome {
    /// Says whether a retry with the same request id gets this receipt again.
    #[must_use]
    pub const fn binds(self) -> bool {
        !matches!(self, Self::Cleared)
    }
}

/// What an operation answered: one JSON value on one line, kept to the byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Receipt(Box<RawValue>);

impl Receipt {
    /// Makes a receipt.
    ///
    /// # Errors
    /// The value can not be written as JSON.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        // Written compactly, whatever it was read from: a record is one line.
        let value = serde_json::to_value(value)?;
        serde_json::value::to_raw_value(&value).map(Self)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The value.
    ///
    /// # Errors
    /// It is not of that form.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.0.get())
    }
}

impl PartialEq for Receipt {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

/// How an operation ended, and what it answered. For one with a request id it also says what that
/// was bound to, so that a retry needs to read nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "outcome")]
pub struct Ending {
    /// The operation.
    pub operation_id: OperationId,
    /// When it ended, RFC 3339 in UTC.
    pub ts: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The fingerprint of the intent, with a request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The actor of the intent, with a request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What it answered.
    pub receipt: Receipt,
}

impl Ending {
    pub(super) fn of(intent: &Intent, outcome: Outcome, receipt: Receipt) -> Self {
        let bound = intent.request_id.is_some();
        Self {
            operation_id: intent.operation_id,
            ts: now(),
            outcome,
            request_id: intent.request_id.clone(),
            fingerprint: bound.then(|| intent.fingerprint.clone()),
            actor: bound.then(|| intent.actor.clone()),
            receipt,
        }
    }
}

/// Now, as it stands in records: RFC 3339 in UTC, to the millisecond.
#[must_use]
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// One line of the journal.
pub(super) enum Line {
    Header(Header),
    Intent(Box<Intent>),
    Ending(Box<Ending>),
    /// A kind that a later version writes.
    Other,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
}

/// A line without what a power cut can put before it: where an outcome that nobody synced was
/// lost and what was written after it was not, there are NUL bytes.
pub(super) fn without_nuls(line: &[u8]) -> &[u8] {
    let nuls = line.iter().take_while(|b| **b == 0).count();
    &line[nuls..]
}

pub(super) fn parse(line: &[u8]) -> serde_json::Result<Line> {
    let line = without_nuls(line);
    let kind: Kind<'_> = serde_json::from_slice(line)?;
    Ok(match &*kind.kind {
        "journal" => Line::Header(serde_json::from_slice(line)?),
        "intent" => Line::Intent(serde_json::from_slice(line)?),
        "outcome" => Line::Ending(serde_json::from_slice(line)?),
        _ => Line::Other,
    })
}

/// The little of a line that a scan needs.
#[derive(Deserialize)]
pub(super) struct Brief<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: std::borrow::Cow<'a, str>,
    pub operation_id: Option<OperationId>,
    #[serde(borrow)]
    pub request_id: Option<std::borrow::Cow<'a, str>>,
    pub outcome: Option<Outcome>,
}

pub(super) fn to_line<T: Serialize>(record: &T) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a part of a file without moving it.
pub(super) struct Part<'a> {
    pub file: &'a File,
    pub at: u64,
    pub end: u64,
}

impl io::Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = into.len().min(most);
        let got = self.file.read_at(&mut into[..len], self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

/// Reads the line that begins at an offset, without its newline.
pub(super) fn line_at(file: &File, at: u64, end: u64) -> io::Result<Vec<u8>> {
    use std::io::BufRead;
    let mut line = Vec::new();
    io::BufReader::new(Part { file, at, end }).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}
