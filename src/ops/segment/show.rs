//! One Segment in full.

use std::collections::BTreeMap;

use serde::Serialize;

use super::list::{Known, active_of, parent_of, trace_bytes};
use super::tree::{self, Place};
use super::{Segment, findings, read, read_head};
use crate::diag::{Finding, Progress, Result, hex};
use crate::layout::SegmentId;
use crate::ops::read::SegmentRef;
use crate::ops::resolve::Resolver;
use crate::store::Store;

/// One Segment with its relatives, its digest and what is worth a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Details {
    /// What a list says of it.
    #[serde(flatten)]
    pub segment: Segment,
    /// Committed lines, blank ones too.
    pub lines: u64,
    /// SHA-256 of the committed prefix, in hex.
    pub sha256: String,
    /// The Segments that it descends from, its source first.
    pub ancestors: Vec<SegmentId>,
    /// The Segments that were made from it.
    pub child_segment_ids: Vec<SegmentId>,
    /// What is worth a word, in the order of lines.
    pub findings: Vec<Finding>,
}

/// Shows one Segment: reads it through, and the first records of the others of its Session.
///
/// # Errors
/// It can not be opened or read; `interrupted`.
pub fn show(store: &Store, segment: &SegmentRef, progress: &dyn Progress) -> Result<Details> {
    let all = Resolver::new(store).segments(&segment.worker)?;
    let state = segment.worker.state(store)?;
    let size = segment.open(store)?.stat.len;
    progress.start(Some(size));
    let reading = read(store, segment, true, progress);
    progress.finish();
    let reading = reading?;
    let mut parents: BTreeMap<SegmentId, Option<SegmentId>> = BTreeMap::new();
    for &id in &all {
        let parent = if id == segment.segment {
            parent_of(&reading.outline)
        } else {
            let other = SegmentRef {
                worker: segment.worker.clone(),
                segment: id,
            };
            // What can not be read has no source that is known.
            let head = read_head(store, &other).ok();
            head.as_ref().and_then(parent_of)
        };
        parents.insert(id, parent);
    }
    let place = tree::order(&parents)
        .into_iter()
        .find(|(id, _)| *id == segment.segment)
        .map_or_else(Place::default, |(_, place)| place);
    let session = state.session_document().and_then(|d| d.session());
    let known = Known {
        segment,
        active: active_of(&state) == Some(segment.segment),
        trace_bytes: trace_bytes(&state, segment.segment),
        all: &all,
        session,
    };
    let mut ancestors: Vec<SegmentId> = Vec::new();
    let mut next = parents.get(&segment.segment).copied().flatten();
    while let Some(id) = next {
        // A cycle ends where it comes back.
        if id == segment.segment || ancestors.contains(&id) {
            break;
        }
        ancestors.push(id);
        next = parents.get(&id).copied().flatten();
    }
    Ok(Details {
        lines: reading.scanned.lines,
        sha256: hex(&reading.scanned.sha256.unwrap_or_default()),
        ancestors,
        child_segment_ids: parents
            .iter()
            .filter(|(id, parent)| **parent == Some(segment.segment) && **id != segment.segment)
            .map(|(id, _)| *id)
            .collect(),
        findings: findings(segment, session, &reading),
        segment: Segment::of(&known, place, &reading),
    })
}
