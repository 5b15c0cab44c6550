//! Lineage inside one Session: a forest (C27).

use std::path::PathBuf;

use super::Found;
use super::cross::Foreign;
use super::segment::Place;
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{SegmentEntry, SegmentId, classify_segment};
use crate::record::{Origin, Outline, Start};
use crate::store::{Entry, EntryKind};

/// How a Segment came of its source, in a message.
pub(super) const FORKED: &str = "forked from";
pub(super) const COMPACTED: &str = "compacted from";

/// A Segment of the Session, as far as it could be read.
pub(super) struct Node<'a> {
    pub id: SegmentId,
    pub place: Place<'a>,
    /// None if it could not be read.
    pub outline: Option<Outline>,
}

impl Node<'_> {
    /// As findings name it.
    pub fn path(&self) -> PathBuf {
        self.place.path()
    }

    pub fn subject(&self) -> Subject {
        self.place.subject
    }

    /// Its first record, if it has one.
    pub fn start(&self) -> Option<Start> {
        self.outline.as_ref()?.start
    }

    fn origin(&self) -> Option<(Origin, &'static str)> {
        let start = self.start()?;
        start
            .forked
            .map(|o| (o, FORKED))
            .or(start.compacted.map(|o| (o, COMPACTED)))
    }

    fn locus(&self) -> Locus {
        match self.start() {
            Some(start) => Locus::at(self.path(), start.line, start.byte),
            None => Locus::file(self.path()),
        }
    }
}

/// Adds what is wrong between the Segments of one Session. A source that is not among them is
/// given back: whether it lies in another Session only the whole store knows. Those that are
/// `closed` are there and could not be read, which was said where they stand. `nodes` stand in the
/// order of their ids.
pub(super) fn check(
    nodes: &[Node<'_>],
    closed: impl Fn(SegmentId) -> bool,
    quick: bool,
    found: &mut Found,
) -> Vec<Foreign> {
    let mut foreign = Vec::new();
    for node in nodes {
        let Some(start) = node.start() else {
            continue;
        };
        if start.forked.is_some() && start.compacted.is_some() {
            found.findings.push(Finding::new(
                Code::LineageBothKinds,
                node.subject(),
                node.locus(),
                "its first record has forked_from and compacted_from at once; a Segment is one of the two",
            ));
        }
        for (origin, how) in [(start.forked, FORKED), (start.compacted, COMPACTED)] {
            let Some(origin) = origin else { continue };
            match place_of(nodes, origin.segment) {
                None if closed(origin.segment) => {}
                None => foreign.push(Foreign {
                    subject: node.subject(),
                    locus: node.locus(),
                    segment: node.id,
                    source: origin.segment,
                    turn: origin.turn,
                    how,
                }),
                Some(source) if origin.segment != node.id => {
                    if !quick {
                        check_turn(node, origin, how, &nodes[source], found);
                    }
                }
                Some(_) => {}
            }
        }
    }
    cycles(nodes, found);
    foreign
}

fn place_of(nodes: &[Node<'_>], id: SegmentId) -> Option<usize> {
    nodes.binary_search_by_key(&id, |node| node.id).ok()
}

fn check_turn(node: &Node<'_>, origin: Origin, how: &str, source: &Node<'_>, found: &mut Found) {
    let Some(outline) = &source.outline else {
        return;
    };
    if outline.bad_lines > 0 || outline.gaps > 0 {
        return; // its turns can not be counted
    }
    let inherited = source.origin().map_or(0, |(o, _)| o.turn);
    let highest = outline.highest_turn.max(inherited);
    if origin.turn > highest {
        found.findings.push(Finding::new(
            Code::LineageTurnOutOfRange,
            node.subject(),
            node.locus(),
            format!(
                "{how} {} at turn {}, but that Segment ends at turn {highest}",
                source.id, origin.turn
            ),
        ));
    }
}

/// Each cycle is named once, at the Segment with the lowest id.
fn cycles(nodes: &[Node<'_>], found: &mut Found) {
    let parent = |i: usize| {
        nodes[i]
            .origin()
            .and_then(|(o, _)| place_of(nodes, o.segment))
    };
    // 0: not seen; else the number of the walk that saw it first.
    let mut seen = vec![0usize; nodes.len()];
    for first in 0..nodes.len() {
        let walk = first + 1;
        let mut at = first;
        while seen[at] == 0 {
            seen[at] = walk;
            match parent(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        if seen[at] != walk || parent(at).is_none_or(|next| seen[next] != walk) {
            continue;
        }
        // `at` is on a cycle only if the walk came back to it.
        let mut members = vec![at];
        let mut next = parent(at);
        while let Some(n) = next {
            if n == at {
                break;
            }
            members.push(n);
            if members.len() > nodes.len() {
                return;
            }
            next = parent(n);
        }
        if next != Some(at) {
            continue;
        }
        report(nodes, members, found);
    }
}

fn report(nodes: &[Node<'_>], mut members: Vec<usize>, found: &mut Found) {
    members.sort_by_key(|&i| nodes[i].id);
    let node = &nodes[members[0]];
    let how = node.origin().map_or("made from", |(_, how)| how);
    let message = if members.len() == 1 {
        format!(
            "{} says that it was {how} itself: the source was overwritten, and what stood in it before is not here",
            node.id
        )
    } else {
        let names: Vec<String> = members.iter().map(|&i| nodes[i].id.to_string()).collect();
        format!(
            "{} name each other as their source; which link is wrong can not be told from here",
            names.join(" and ")
        )
    };
    found.findings.push(
        Finding::new(Code::LineageCycle, node.subject(), node.locus(), message)
            .with_hint(format!("wagg segment list {} --tree", owner(node))),
    );
}

fn owner(node: &Node<'_>) -> String {
    node.subject()
        .worker_id
        .map_or_else(|| "WORKER".to_owned(), |id| id.to_string())
}

/// Whether a Segment's place is taken by something that is no file, or it has another name than
/// its one: there, and not to be read.
pub(super) fn is_closed(entries: &[Entry], id: SegmentId) -> bool {
    let closed = |entry: &Entry| match classify_segment(entry.name.to_str()?) {
        SegmentEntry::Segment(id) if entry.kind != EntryKind::File => Some(id),
        SegmentEntry::Alias { id, trace: false } => Some(id),
        _ => None,
    };
    entries.iter().any(|entry| closed(entry) == Some(id))
}

/// Segments that were compacted from the active one, which is a sign that a pointer was not moved.
pub(super) fn compacted_children(nodes: &[Node<'_>], active: SegmentId) -> Vec<SegmentId> {
    nodes
        .iter()
        .filter(|n| {
            n.id != active
                && n.start()
                    .and_then(|s| s.compacted)
                    .is_some_and(|o| o.segment == active)
        })
        .map(|n| n.id)
        .collect()
}
