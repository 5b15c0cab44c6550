//! Looking into the journal: what a request id is bound to, without changing anything.

use std::fs::File;
use std::io;

use super::record::{
    Ending, Header, Intent, JOURNAL_SCHEMA, Line, Outcome, Receipt, line_at, parse,
};
use super::state::State;
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{OperationId, Paths, file};
use crate::store::fs::{Dir, WriteDir, committed_len, failed, make_durable};
use crate::store::lock::{LockRequest, lock_journal_at};

/// What an operation with the same request id answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// That operation.
    pub operation_id: OperationId,
    /// How it ended.
    pub outcome: Outcome,
    /// What it answered.
    pub receipt: Receipt,
}

/// What is known of a request id before anything is locked or resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup {
    /// Nothing: go on.
    Unknown,
    /// It was done before: answer this, and do nothing.
    Replay(Replay),
    /// An operation with this request id has no outcome: it runs now, or it died. Take the lock of
    /// its scope, settle it, and look again.
    Unsettled(Box<Intent>),
}

pub(super) fn look(e: io::Error) -> Error {
    failed("read", &Paths::journal(), e)
}

pub(super) fn header_of(line: &[u8]) -> Option<Header> {
    match parse(line) {
        Ok(Line::Header(header)) => Some(header),
        _ => None,
    }
}

/// Which journal this is. One whose first line is damaged has no id, and so no index: it is read
/// whole each time, which is slow and right.
pub(super) fn journal_id(journal: &File, committed: u64) -> Result<uuid::Uuid> {
    let line = line_at(journal, 0, committed).map_err(look)?;
    let Some(header) = header_of(&line) else {
        return Ok(uuid::Uuid::nil());
    };
    if header.schema_version > JOURNAL_SCHEMA {
        let path = Paths::journal();
        return Err(Error::new(
            Code::UnsupportedSchemaVersion,
            format!(
                "{} is of version {}, and this program writes {JOURNAL_SCHEMA}",
                path.display(),
                header.schema_version
            ),
        )
        .at(Locus::file(path)));
    }
    Ok(header.journal_id)
}

/// Opens the journal for reading, with the length of its committed prefix. None if there is none,
/// or nothing in it.
pub(super) fn open_to_read(wagg: &Dir) -> Result<Option<(File, u64)>> {
    let journal = match wagg.file(file::JOURNAL) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|e| failed("open", &Paths::journal(), e))?,
    };
    let len = journal.metadata().map_err(look)?.len();
    let committed = committed_len(&journal, len).map_err(look)?;
    Ok((committed > 0).then_some((journal, committed)))
}

pub(super) fn read_state(wagg: &Dir) -> Result<Option<(File, State)>> {
    let Some((journal, committed)) = open_to_read(wagg)? else {
        return Ok(None);
    };
    let id = journal_id(&journal, committed)?;
    let state = State::load(wagg, &journal, id, committed).map_err(look)?;
    Ok(Some((journal, state)))
}

/// Looks a request id up before anything is locked or resolved. Makes nothing and writes nothing.
///
/// # Errors
/// `request_mismatch` if it is bound to other arguments, or to another actor than the one named;
/// `lock_busy` or what the system says.
pub fn lookup(
    root: &Dir,
    request: &LockRequest<'_>,
    request_id: &str,
    fingerprint: &str,
    actor: Option<&str>,
) -> Result<Lookup> {
    let wagg = match root.dir(file::WAGG) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Lookup::Unknown),
        dir => dir.map_err(|e| failed("open", &Paths::wagg(), e))?,
    };
    let _lock = lock_journal_at(root, request, false)?;
    let Some((journal, mut state)) = read_state(&wagg)? else {
        return Ok(Lookup::Unknown);
    };
    ask(&mut state, &journal, request_id, fingerprint, actor)
}

/// Makes durable what the journal says, before it is told to anybody as done: whoever wrote it may
/// have died before its own sync. Costs two syncs, which are cheap where nothing is to be done.
///
/// # Errors
/// `outcome_unknown`, or what the system says.
pub fn make_journal_durable(root: &Dir) -> Result<()> {
    let open = |e| failed("open", &Paths::wagg(), e);
    let root = WriteDir::guarded(root.try_clone().map_err(open)?);
    let wagg = root.dir(file::WAGG).map_err(open)?;
    match make_durable(&wagg, file::JOURNAL) {
        // It is told from a copy that can not be written, so nothing is to be done.
        Err(e) if e.code == Code::ReadOnlyStore => Ok(()),
        made => made,
    }
}

pub(super) fn ask(
    state: &mut State,
    journal: &File,
    request_id: &str,
    fingerprint: &str,
    actor: Option<&str>,
) -> Result<Lookup> {
    if let Some(ending) = state.find(journal, request_id).map_err(look)? {
        return replay(ending, fingerprint, actor).map(Lookup::Replay);
    }
    let open = state.unsettled(journal).map_err(look)?;
    let twin = open
        .into_iter()
        .find(|intent| intent.request_id.as_deref() == Some(request_id));
    Ok(twin.map_or(Lookup::Unknown, |intent| {
        Lookup::Unsettled(Box::new(intent))
    }))
}

pub(super) fn replay(ending: Ending, fingerprint: &str, actor: Option<&str>) -> Result<Replay> {
    let request = ending.request_id.as_deref().unwrap_or_default();
    let differs = if ending.fingerprint.as_deref() != Some(fingerprint) {
        Some("with other arguments".to_owned())
    } else if actor.is_some_and(|actor| ending.actor.as_deref() != Some(actor)) {
        let by = ending.actor.as_deref().unwrap_or_default();
        Some(format!("by {by}"))
    } else {
        None
    };
    if let Some(differs) = differs {
        return Err(Error::new(
            Code::RequestMismatch,
            format!(
                "request id {request:?} was used {differs}, in operation {}",
                ending.operation_id
            ),
        )
        .hint(format!("wagg op show {}", ending.operation_id)));
    }
    Ok(Replay {
        operation_id: ending.operation_id,
        outcome: ending.outcome,
        receipt: ending.receipt,
    })
}
