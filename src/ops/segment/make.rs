//! What the commands that make Segments or move the active pointer share: the Worker's Session,
//! the acts by which a Segment appears (C28), and the pointer.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Generation, Paths, SegmentId, SessionId, WorkerId, WorkerName, file};
use crate::ops::change::{Act, Answer, Scope, View, edit, sha256};
use crate::ops::read::{SegmentRef, WorkerRef};
use crate::ops::resolve::Resolver;
use crate::record::document::{Active, MetadataDocument};
use crate::record::scan::read_line;
use crate::record::write::{NewStart, segment_start};
use crate::record::{Facts, Fold, Format, Limits, Origin, Remark, Scanner};

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// The Worker of a scope; all of these commands change one.
pub(super) fn worker_of(scope: Scope) -> Result<WorkerId> {
    match scope {
        Scope::Worker(id) => Ok(id),
        Scope::Catalog => Err(Error::new(Code::Internal, "a Segment needs a Worker")),
    }
}

/// The Segment that a reference names, as it is under the lock. What led to this Worker before
/// may lead to another by now.
pub(super) fn segment_of(view: &View<'_>, text: &str, id: WorkerId) -> Result<SegmentRef> {
    let found = Resolver::new(view.store()).segment(text)?;
    if found.worker == WorkerRef::of(id) {
        return Ok(found);
    }
    Err(Error::new(
        Code::Fenced,
        format!(
            "{text} led to Worker {id} and leads to Worker {} now",
            found.worker.id
        ),
    )
    .hint(format!("wagg show {text}")))
}

/// A Worker that has a Session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    pub worker: WorkerId,
    pub session: SessionId,
    pub generation: Option<Generation>,
}

impl Home {
    /// The Worker and its Session.
    ///
    /// # Errors
    /// What is wrong with `worker.json` or `session.json`; `missing_session_document`.
    pub fn of(view: &View<'_>, worker: WorkerId) -> Result<Self> {
        let (_, document) = view.worker(worker)?;
        let path = Paths::session_document(worker);
        let Some(session) = view.session(worker)?.and_then(|s| s.session()) else {
            return Err(Error::new(
                Code::MissingSessionDocument,
                format!("the Session of Worker {worker} has no session.json"),
            )
            .at(Locus::file(path))
            .hint(format!("wagg repair {worker}")));
        };
        Ok(Self {
            worker,
            session,
            generation: Generation::new(document.run_generation),
        })
    }

    /// Refuses a Segment whose first record names another Session (C1).
    pub fn owns(&self, segment: &SegmentRef, named: SessionId, line: u64, byte: u64) -> Result<()> {
        if named == self.session {
            return Ok(());
        }
        Err(Error::new(
            Code::SessionMismatch,
            format!(
                "Segment {} names the Session {named}, and Worker {} has the Session {} for life",
                segment.segment, self.worker, self.session
            ),
        )
        .at(Locus::at(segment.path(), line, byte))
        .hint(format!("wagg verify {}", self.worker)))
    }
}

/// A Segment that is about to be made.
#[derive(Debug)]
pub(super) struct NewSegment {
    pub id: SegmentId,
    pub bytes: Vec<u8>,
    /// What its record holds.
    pub facts: Facts,
}

impl NewSegment {
    /// Writes the first record and reads it back as a Runtime would.
    ///
    /// # Errors
    /// A Runtime would not read it: too deep, too long.
    pub fn of(start: &NewStart<'_>) -> Result<Self> {
        let unwritable =
            |e| Error::new(Code::Internal, "the first record can not be written").caused_by(e);
        let bytes = segment_start(start).map_err(unwritable)?;
        let line = &bytes[..bytes.len() - 1];
        let most = Limits::default().max_line;
        if line.len() as u64 > most {
            return Err(Error::new(
                Code::OversizedLine,
                format!(
                    "the new Segment's first record would have {} bytes, over the limit of {most}",
                    line.len()
                ),
            )
            .hint("make it smaller: wagg segment compact SEGMENT --summary FILE"));
        }
        let facts = read_line(line, Format::Segment).map_err(|fault| {
            Error::new(
                fault.code,
                format!(
                    "a Runtime would not read the new Segment's first record: {}",
                    fault.message
                ),
            )
            .hint(format!("wagg explain {}", fault.code))
        })?;
        Ok(Self {
            id: SegmentId::mint(),
            bytes,
            facts,
        })
    }

    /// A call without a result, or a result without a call, as `verify` would see it.
    ///
    /// # Errors
    /// It can not be read back.
    pub fn apart(&self) -> Result<Option<Remark>> {
        let mut fold = Fold::new();
        let bytes = self.bytes.as_slice();
        let scanned = Scanner::new(Limits::default())
            .scan(bytes, bytes.len() as u64, Format::Segment, |line| {
                fold.push(line);
                ControlFlow::Continue(())
            })
            .map_err(|e| {
                Error::new(Code::Internal, "the new Segment can not be read back").caused_by(e)
            })?;
        let (_, remarks) = fold.finish(&scanned);
        Ok(remarks
            .into_iter()
            .find(|r| matches!(r.code, Code::OrphanToolResult | Code::UnansweredToolCall)))
    }

    /// The act by which it appears in a Session that exists; `source` is the Segment that its
    /// history comes from.
    pub fn act(self, view: &View<'_>, worker: WorkerId, source: Option<SegmentId>) -> Result<Act> {
        let segments = Paths::segments(worker);
        if view.exists(&segments)? {
            Act::file(
                Paths::segment(worker, self.id),
                self.bytes,
                source.map(Paths::segment_name),
            )
        } else {
            let name = PathBuf::from(Paths::segment_name(self.id));
            Act::folder(segments, &[], vec![(name, self.bytes)])
        }
    }

    /// Adds to an answer what every new Segment has.
    pub fn answer(&self, answer: &mut Answer, session: SessionId, active: bool) {
        answer.field("segment_id", self.id);
        answer.field("session_id", session);
        answer.field("active", active);
        answer.field("history_items", self.facts.item_count);
        answer.field("bytes", self.bytes.len());
        answer.field("sha256", sha256(&self.bytes));
    }
}

/// A Segment's origin in an answer.
#[derive(Serialize)]
struct OriginField {
    segment_id: SegmentId,
    at_turn_index: u64,
}

/// Where a new Segment comes from, for its answer.
pub(super) fn origin(origin: Origin) -> impl Serialize {
    OriginField {
        segment_id: origin.segment,
        at_turn_index: origin.turn,
    }
}

/// `metadata.json` as far as these commands need it: of this very Worker.
///
/// # Errors
/// What is wrong with it; `worker_name_mismatch`.
pub(super) fn metadata(
    view: &View<'_>,
    worker: WorkerId,
) -> Result<Option<(Vec<u8>, MetadataDocument)>> {
    let Some((bytes, document)) = view.metadata(worker)? else {
        return Ok(None);
    };
    let name = WorkerName::of(worker);
    if document.worker_name != name.as_str() {
        return Err(Error::new(
            Code::WorkerNameMismatch,
            format!(
                "metadata.json of Worker {worker} carries the name {:?}; a Runtime refuses it",
                document.worker_name
            ),
        )
        .at(Locus::file(Paths::metadata(worker)))
        .hint(format!("wagg verify {worker}")));
    }
    Ok(Some((bytes, document)))
}

/// The Segment that the pointer names.
pub(super) fn active_segment(metadata: Option<&MetadataDocument>) -> Option<SegmentId> {
    metadata?.active.as_ref().and_then(Active::segment)
}

/// The act that moves the active pointer: the last one of its operation (C28).
///
/// # Errors
/// `worker_live`; what is wrong with `metadata.json`.
pub(super) fn pointer(
    view: &View<'_>,
    worker: WorkerId,
    session: SessionId,
    segment: SegmentId,
) -> Result<Act> {
    view.refuse_live(worker)?;
    let path = Paths::metadata(worker);
    match metadata(view, worker)? {
        Some((bytes, _)) => {
            let changed = edit::change(&bytes, |map| point(map, session, segment))?;
            Act::document(path, Some(&bytes), changed)
        }
        None => {
            let mut map = serde_json::Map::new();
            let name = WorkerName::of(worker);
            map.insert("worker_name".to_owned(), name.as_str().into());
            point(&mut map, session, segment);
            // The one document that a Runtime writes without a newline at its end.
            Act::document(path, None, edit::render(&map, false)?)
        }
    }
}

/// Sets the pointer and nothing else; one that was not there stands where a Runtime writes it.
fn point(map: &mut serde_json::Map<String, Value>, session: SessionId, segment: SegmentId) {
    if let Some(Value::Object(active)) = map.get_mut("active") {
        active.insert("session_id".to_owned(), json!(session));
        active.insert("segment_id".to_owned(), json!(segment));
        return;
    }
    let active = json!({ "session_id": session, "segment_id": segment });
    if let Some(null) = map.get_mut("active") {
        *null = active;
        return;
    }
    let place = map.keys().position(|key| key == "worker_name");
    map.shift_insert(place.map_or(0, |at| at + 1), "active".to_owned(), active);
}

/// The folder of a Session that begins: it appears whole, under the id that its documents name.
pub(super) fn session_folder(
    worker: WorkerId,
    session: SessionId,
    segment: NewSegment,
) -> Result<Act> {
    let mut map = serde_json::Map::new();
    map.insert(
        "schema_version".to_owned(),
        crate::layout::SESSION_SCHEMA.into(),
    );
    map.insert("session_id".to_owned(), json!(session));
    let document = edit::render(&map, true)?;
    let name = PathBuf::from(file::SEGMENTS).join(Paths::segment_name(segment.id));
    // The Segment first: its id is like no other, so it tells whether this folder is the one.
    let files = vec![
        (name, segment.bytes),
        (PathBuf::from(file::SESSION), document),
    ];
    let act = Act::folder(Paths::session_dir(worker), &[file::SEGMENTS], files)?;
    Ok(act.over_empty(&[file::SEGMENTS]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointed(text: &str) -> String {
        let session = SessionId::from_uuid(uuid::Uuid::from_u128(1));
        let segment = SegmentId::from_uuid(uuid::Uuid::from_u128(2));
        let bytes = edit::change(text.as_bytes(), |map| point(map, session, segment)).unwrap();
        let compact: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        compact.to_string()
    }

    /// C8: only the pointer changes, and what nobody knows stays where it was.
    #[test]
    fn c8_the_pointer_is_all_that_changes() {
        let new = r#""session_id":"00000000-0000-0000-0000-000000000001","segment_id":"00000000-0000-0000-0000-000000000002""#;
        for (before, after) in [
            (
                r#"{"worker_name":"w","n":1.50}"#,
                format!(r#"{{"worker_name":"w","active":{{{new}}},"n":1.50}}"#),
            ),
            (
                r#"{"z":1,"worker_name":"w","active":null,"peers":[]}"#,
                format!(r#"{{"z":1,"worker_name":"w","active":{{{new}}},"peers":[]}}"#),
            ),
            (
                r#"{"worker_name":"w","active":{"later":7,"session_id":"x"},"peers":[]}"#,
                format!(r#"{{"worker_name":"w","active":{{"later":7,{new}}},"peers":[]}}"#),
            ),
        ] {
            assert_eq!(pointed(before), after);
        }
    }
}
