//! The Segments of a Worker, with what each comes to and where it descends from.

use std::collections::BTreeMap;

use serde::Serialize;

use super::tree::{self, Place};
use super::{Reading, interrupted, read};
use crate::diag::{Code, Progress, Result, Severity};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId};
use crate::ops::read::{SegmentRef, Time, WorkerRef};
use crate::ops::resolve::Resolver;
use crate::record::{Origin, Outline};
use crate::store::{EntryKind, Folder, Store, WorkerState};

/// The order of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// By id, which is by time for ids of version 7.
    #[default]
    Id,
    /// Each below the one that it was made from.
    Tree,
}

/// Where a Segment was split off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lineage {
    /// The Segment that it was made from.
    pub segment_id: SegmentId,
    /// The turn count there.
    pub at_turn_index: u64,
    /// Whether that Segment is one of this Worker.
    pub present: bool,
}

/// One Segment and what it comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// Whose it is.
    pub worker_id: WorkerId,
    /// The Session that its first record names.
    pub session_id: Option<SessionId>,
    /// Its id.
    pub segment_id: SegmentId,
    /// Its file, relative to the store.
    pub path: String,
    /// Whether a restore starts from it.
    pub active: bool,
    /// The Segment that it is a branch of.
    pub forked_from: Option<Lineage>,
    /// The Segment that it is a compacted projection of.
    pub compacted_from: Option<Lineage>,
    /// How many Segments stand above it.
    pub depth: u64,
    /// How many Segments were made from it.
    pub children: u64,
    /// Whether it is the last that was made from its source, in the order of ids.
    #[serde(skip)]
    pub last_sibling: bool,
    /// Bytes of its file.
    pub bytes: u64,
    /// Bytes of its committed records.
    pub committed_bytes: u64,
    /// Bytes behind them, which were never committed.
    pub tail_bytes: u64,
    /// Bytes of the trace beside it.
    pub trace_bytes: Option<u64>,
    /// Good records.
    pub records: u64,
    /// Committed lines that are no good record.
    pub bad_lines: u64,
    /// The turn count that a restore starts with.
    pub turn: u64,
    /// Items of the history that a restore starts with.
    pub history_items: u64,
    /// Inputs of a user.
    pub inputs: u64,
    /// Whether a restore takes the last run for interrupted.
    pub interrupted: bool,
    /// Requests whose cost was noted.
    pub usage_records: u64,
    /// Data of others, that of user inputs included.
    pub extensions: u64,
    /// Tokens in, of all requests together.
    pub input_tokens: u64,
    /// Tokens out, of all requests together.
    pub output_tokens: u64,
    /// Tokens in of the last request: what its history weighs.
    pub last_input_tokens: u64,
    /// The time of the first record.
    pub first_time: Option<Time>,
    /// The time of the last record.
    pub last_time: Option<Time>,
    /// When its file was last written.
    pub changed: Option<Time>,
    /// What is wrong with it: errors and warnings, each once. Why it could not be read, if so.
    pub problems: Vec<Code>,
}

/// What there is to know of one Segment before it is put beside the others.
pub(super) struct Known<'a> {
    pub segment: &'a SegmentRef,
    pub active: bool,
    pub trace_bytes: Option<u64>,
    /// All Segments of the Worker.
    pub all: &'a [SegmentId],
    /// The Session that `session.json` names.
    pub session: Option<SessionId>,
}

impl Segment {
    pub(super) fn of(known: &Known<'_>, place: Place, reading: &Reading) -> Self {
        let outline = &reading.outline;
        let lineage = |origin: Option<Origin>| {
            origin.map(|origin| Lineage {
                segment_id: origin.segment,
                at_turn_index: origin.turn,
                present: known.all.contains(&origin.segment),
            })
        };
        let start = outline.start;
        let mut problems: Vec<Code> = reading
            .remarks
            .iter()
            .map(|remark| remark.code)
            .filter(|code| code.info().severity < Some(Severity::Info))
            .collect();
        let from = [
            start.and_then(|s| s.forked),
            start.and_then(|s| s.compacted),
        ];
        for origin in from.into_iter().flatten() {
            if origin.segment == known.segment.segment {
                problems.push(Code::LineageCycle);
            } else if !known.all.contains(&origin.segment) {
                problems.push(Code::LineageMissingSource);
            }
        }
        if from.iter().all(Option::is_some) {
            problems.push(Code::LineageBothKinds);
        }
        if let (Some(start), Some(own)) = (start, known.session)
            && start.session != own
        {
            problems.push(Code::SessionMismatch);
        }
        problems.sort_unstable();
        problems.dedup();
        Self {
            worker_id: known.segment.worker.id,
            session_id: start.map(|start| start.session),
            segment_id: known.segment.segment,
            path: reading.file.path.to_string_lossy().into_owned(),
            active: known.active,
            forked_from: lineage(from[0]),
            compacted_from: lineage(from[1]),
            depth: place.depth,
            children: place.children,
            last_sibling: place.last,
            bytes: reading.file.stat.len,
            committed_bytes: outline.committed,
            tail_bytes: outline.tail,
            trace_bytes: known.trace_bytes,
            records: outline.records,
            bad_lines: outline.bad_lines,
            turn: outline.turn,
            history_items: outline.history,
            inputs: outline.inputs,
            interrupted: outline.interrupted,
            usage_records: outline.usage,
            extensions: outline.extensions,
            input_tokens: outline.input_tokens,
            output_tokens: outline.output_tokens,
            last_input_tokens: outline.last_input_tokens,
            first_time: outline.first_ts.and_then(Time::from_ms),
            last_time: outline.last_ts.and_then(Time::from_ms),
            changed: Time::of(&reading.file.stat),
            problems,
        }
    }

    /// One that could not be read.
    fn unreadable(known: &Known<'_>, code: Code) -> Self {
        let path = known.segment.path();
        Self {
            worker_id: known.segment.worker.id,
            session_id: None,
            segment_id: known.segment.segment,
            path: path.to_string_lossy().into_owned(),
            active: known.active,
            forked_from: None,
            compacted_from: None,
            depth: 0,
            children: 0,
            last_sibling: true,
            bytes: 0,
            committed_bytes: 0,
            tail_bytes: 0,
            trace_bytes: known.trace_bytes,
            records: 0,
            bad_lines: 0,
            turn: 0,
            history_items: 0,
            inputs: 0,
            interrupted: false,
            usage_records: 0,
            extensions: 0,
            input_tokens: 0,
            output_tokens: 0,
            last_input_tokens: 0,
            first_time: None,
            last_time: None,
            changed: None,
            problems: vec![code],
        }
    }

    /// The Segment that it was made from, if that is one of this Worker.
    #[must_use]
    pub fn parent(&self) -> Option<SegmentId> {
        let lineage = self.forked_from.or(self.compacted_from)?;
        lineage.present.then_some(lineage.segment_id)
    }
}

/// The Segment that a Segment with this outline says it was made from.
pub(super) fn parent_of(outline: &Outline) -> Option<SegmentId> {
    let start = outline.start?;
    start
        .forked
        .or(start.compacted)
        .map(|origin| origin.segment)
}

/// The Segment that a Worker's metadata points at, whether it is there or not.
pub(super) fn active_of(state: &WorkerState) -> Option<SegmentId> {
    state.metadata.good()?.active.as_ref()?.segment()
}

pub(super) fn trace_bytes(state: &WorkerState, segment: SegmentId) -> Option<u64> {
    let stat = state.segments()?.dir.try_stat(Paths::trace_name(segment));
    let stat = stat.ok().flatten()?;
    (stat.kind == EntryKind::File).then_some(stat.len)
}

/// Lists the Segments of a Worker. Each is read through once; one that can not be read is listed
/// with the reason as its problem.
///
/// # Errors
/// The Worker's folders can not be read; `interrupted`.
pub fn list(
    store: &Store,
    worker: &WorkerRef,
    order: Order,
    progress: &dyn Progress,
) -> Result<Vec<Segment>> {
    let all = Resolver::new(store).segments(worker)?;
    let state = worker.state(store)?;
    let active = active_of(&state);
    progress.start(total(&state, &all));
    let mut found: BTreeMap<SegmentId, Segment> = BTreeMap::new();
    for &id in &all {
        progress.message(&id.to_string());
        let segment = SegmentRef {
            worker: worker.clone(),
            segment: id,
        };
        let known = Known {
            segment: &segment,
            active: active == Some(id),
            trace_bytes: trace_bytes(&state, id),
            all: &all,
            session: state.session_document().and_then(|d| d.session()),
        };
        let one = match read(store, &segment, false, progress) {
            Ok(reading) => Segment::of(&known, Place::default(), &reading),
            Err(e) if e.code == Code::Interrupted => {
                progress.finish();
                return Err(interrupted());
            }
            Err(e) if e.code == Code::NotFound => continue, // it went since it was listed
            Err(e) => Segment::unreadable(&known, e.code),
        };
        found.insert(id, one);
    }
    progress.finish();
    let parents = found
        .iter()
        .map(|(id, segment)| (*id, segment.parent()))
        .collect();
    let mut placed: Vec<Segment> = tree::order(&parents)
        .into_iter()
        .filter_map(|(id, place)| {
            let mut segment = found.remove(&id)?;
            segment.depth = place.depth;
            segment.children = place.children;
            segment.last_sibling = place.last;
            Some(segment)
        })
        .collect();
    if order == Order::Id {
        placed.sort_by_key(|segment| segment.segment_id);
    }
    Ok(placed)
}

fn total(state: &WorkerState, all: &[SegmentId]) -> Option<u64> {
    let session = match &state.session {
        Folder::Read(session) => session,
        _ => return None,
    };
    let dir = &session.segments.read()?.dir;
    let sizes = all
        .iter()
        .filter_map(|id| dir.try_stat(Paths::segment_name(*id)).ok().flatten());
    Some(sizes.map(|stat| stat.len).sum())
}
