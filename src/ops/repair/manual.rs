//! What a person has to decide: what to compare, and which command carries out which choice.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::{Choice, Item};
use crate::diag::{Code, Finding, RepairClass, shell_word};
use crate::layout::{Paths, SegmentId, WorkerId, file};
use crate::record::document::MetadataDocument;
use crate::record::{Format, Limits, Scanner, Verdict};
use crate::store::fs::stat_of;
use crate::store::{Store, WorkerFolder, WorkerState, read_document};

/// How many Segments are offered.
const MOST_OFFERED: usize = 8;

/// An item that changes nothing.
pub(super) fn item(finding: Finding, store: Option<&Store>) -> Item {
    let action = action(&finding);
    let choices = store.map_or_else(Vec::new, |store| choices(&finding, store));
    let mut item = Item::of(finding, RepairClass::Manual, action);
    item.choices = choices;
    item
}

/// The text, with the names of whom it is about filled in.
fn action(finding: &Finding) -> String {
    let own = match finding.code {
        Code::LineageCycle => Some(
            "nothing is changed: which of the links is wrong can not be known from here, and to cut one would make up a history",
        ),
        Code::LineageMissingSource => Some(
            "nothing is changed: there is nothing here to repair from, and without the origin the gap would only be hidden",
        ),
        Code::ActiveMissingSegment => Some(
            "nothing is changed: which Segment to go on from is a person's choice, also if only one is there",
        ),
        Code::MissingMetadata => {
            Some("nothing is changed: which Segment to start from is a person's choice")
        }
        Code::SecondSegmentStart => {
            Some("nothing is changed: both parts may be wanted, and none is dropped")
        }
        Code::SessionShared => {
            Some("nothing is changed: one history has two owners, and an owner is never guessed")
        }
        Code::DuplicateWorkerId => Some(
            "nothing is changed: two folders say that they are one Worker, and neither is chosen",
        ),
        Code::ChildMissing => {
            Some("nothing is changed: the child is not here and may live elsewhere")
        }
        _ => None,
    };
    let remedy = filled(finding.code.explain().remedy, finding);
    let own = own.unwrap_or("nothing is changed: a person decides");
    format!("{own}. {remedy}").trim_end_matches('.').to_owned()
}

/// Puts ids in the place of the names in capitals.
fn filled(text: &str, finding: &Finding) -> String {
    let mut text = text.to_owned();
    if let Some(id) = finding.subject.worker_id {
        text = text.replace("WORKER", &id.to_string());
    }
    if let (Some(id), false) = (
        finding.subject.segment_id,
        // There the Segment of the finding is the one that is missing or is to be left.
        matches!(
            finding.code,
            Code::ActiveMissingSegment | Code::EmptySegment | Code::MissingMetadata
        ),
    ) {
        text = text.replace("SEGMENT", &id.to_string());
    }
    text
}

fn choice(says: impl Into<String>, command: impl Into<String>) -> Choice {
    Choice {
        says: says.into(),
        command: command.into(),
    }
}

fn choices(finding: &Finding, store: &Store) -> Vec<Choice> {
    let Some(worker) = finding.subject.worker_id else {
        return Vec::new();
    };
    let segment = finding.subject.segment_id;
    let mut all = Vec::new();
    match finding.code {
        Code::ActiveMissingSegment | Code::MissingMetadata | Code::ActiveOtherSession => {
            all.push(choice(
                "compare what there is",
                format!("wagg segment list {worker} --tree"),
            ));
            for (id, turns) in restorable(store, worker) {
                let turns = crate::diag::plural(turns, "turn", "turns");
                all.push(choice(
                    format!("go on from {id} ({turns})"),
                    format!("wagg segment activate {id}"),
                ));
            }
        }
        Code::LineageCycle | Code::LineageMissingSource => all.push(choice(
            "see where it belongs",
            format!("wagg segment list {worker} --tree"),
        )),
        Code::SecondSegmentStart => {
            if let Some(segment) = segment {
                all.push(choice(
                    "read both parts",
                    format!("wagg segment log {segment}"),
                ));
                let before = turn_before(store, worker, segment, finding.locus.line);
                all.extend(before.map(|turn| {
                    choice(
                        "go on from the part before the second start",
                        format!("wagg segment fork {segment} --at-turn {turn} --activate"),
                    )
                }));
            }
        }
        Code::SessionShared | Code::DuplicateWorkerId | Code::SessionMismatch => {
            all.push(choice(
                "compare the Workers",
                format!("wagg worker show {worker}"),
            ));
            if let Some(session) = finding.subject.session_id {
                all.push(choice("see who claims it", format!("wagg show {session}")));
            }
        }
        Code::ChildMissing | Code::ScopeNotReclaimed => {
            all.push(choice(
                "see what was delegated",
                format!("wagg worker children {worker}"),
            ));
            for child in children(finding, store, worker) {
                all.push(choice(
                    "take its scope back",
                    format!("wagg worker reclaim {worker} {}", shell_word(child)),
                ));
            }
        }
        Code::OversizedLine => all.push(choice(
            "look at it all the same",
            format!("wagg verify {worker} --max-line 1TiB"),
        )),
        _ => {}
    }
    all
}

/// The children of a Worker that a finding names.
fn children(finding: &Finding, store: &Store, worker: WorkerId) -> Vec<String> {
    let Ok(Some(dir)) = store.worker_dir(&Store::folder_of(worker)) else {
        return Vec::new();
    };
    let document = read_document(&dir, file::METADATA, MetadataDocument::read);
    let Some(metadata) = document.good() else {
        return Vec::new();
    };
    let mut named: Vec<String> = metadata
        .spawned_children
        .iter()
        .map(|child| child.worker_name.clone())
        .filter(|name| finding.message.contains(&format!("{name:?}")))
        .collect();
    named.dedup();
    named
}

/// The last turn of a Segment that ends before a line.
fn turn_before(
    store: &Store,
    worker: WorkerId,
    segment: SegmentId,
    line: Option<u64>,
) -> Option<u64> {
    let path = Paths::segment(worker, segment);
    let file = store.dir().dir_at(path.parent()?).ok()?;
    let file = file.file(path.file_name()?).ok()?;
    let mut turn = 0;
    let len = stat_of(&file).ok()?.len;
    Scanner::new(Limits::default())
        .scan(&file, len, Format::Segment, |at| {
            if line.is_some_and(|line| at.number >= line) {
                return ControlFlow::Break(());
            }
            if let Verdict::Record(facts) = &at.verdict {
                turn = facts.turn_count.unwrap_or(turn);
            }
            ControlFlow::Continue(())
        })
        .ok()?;
    Some(turn)
}

/// The Segments of a Worker that can be restored as they are and that no other goes on from, with
/// their turns.
fn restorable(store: &Store, worker: WorkerId) -> Vec<(SegmentId, u64)> {
    let name = Store::folder_of(worker);
    let Ok(Some(dir)) = store.worker_dir(&name) else {
        return Vec::new();
    };
    let Ok(state) = WorkerState::read(WorkerFolder::of(name), dir) else {
        return Vec::new();
    };
    let Some(segments) = state.segments() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut compacted = BTreeSet::new();
    for id in segments.segments().collect::<Vec<_>>().into_iter().rev() {
        let outline = segments
            .dir
            .file(Paths::segment_name(id))
            .and_then(|file| outline(&file));
        let Ok(Some((turns, origin))) = outline else {
            continue;
        };
        compacted.extend(origin);
        if !compacted.contains(&id) {
            all.push((id, turns));
        }
        if all.len() >= MOST_OFFERED {
            break;
        }
    }
    all.reverse();
    all
}

/// The turns of a Segment that is whole, and what it was compacted from.
fn outline(file: &std::fs::File) -> std::io::Result<Option<(u64, Option<SegmentId>)>> {
    let len = stat_of(file)?.len;
    let (mut whole, mut started, mut turns, mut origin) = (true, false, 0, None);
    Scanner::new(Limits::default()).scan(file, len, Format::Segment, |line| {
        match &line.verdict {
            Verdict::Blank => {}
            Verdict::Record(facts) => {
                if facts.session.is_some() {
                    started = true;
                    origin = facts.compacted.map(|o| o.segment);
                }
                turns = facts.turn_count.unwrap_or(turns);
            }
            Verdict::Bad(_) => whole = false,
        }
        if whole {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    Ok((whole && started).then_some((turns, origin)))
}
