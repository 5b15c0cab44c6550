//! A Segment as the source of another: read and never changed (C27), up to a turn boundary.
//!
//! It is read twice: once to judge each line and to find where the split is, and once more, up to
//! there, for the state that a restore would have. What stands behind the split does not count:
//! damage there is no reason to refuse, unless the split can not be found without it.

use std::ops::ControlFlow;

use super::make::Home;
use crate::diag::{Code, Error, Locus, Result, Severity};
use crate::ops::change::View;
use crate::ops::read::{SegmentRef, replay_error};
use crate::record::{
    Fold, Format, Limits, Line, Outline, RecordKind, Remark, Replay, Scanner, Until, Verdict,
};

/// Where a source is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// Behind the last turn that was finished; before the first if none was.
    Last,
    /// Behind the first turn of this count; 0 means the first record only.
    Turn(u64),
}

/// A source up to its split.
#[derive(Debug)]
pub(super) struct Source {
    /// What a restore would start with there.
    pub replay: Replay,
    /// History items that stand behind the split, in a turn that is not finished, if they were
    /// looked at.
    pub behind: Option<u64>,
}

impl Source {
    /// What a person is told of items that do not come along.
    pub fn warning(&self) -> Option<String> {
        let left = self.behind.filter(|n| *n > 0)?;
        let items = if left == 1 {
            "1 history item is".to_owned()
        } else {
            format!("{left} history items are")
        };
        Some(format!(
            "{items} left behind in the source: the turn after turn {} is not finished",
            self.replay.turn
        ))
    }
}

/// What the first look found.
struct Found {
    /// Where the split is, in bytes from the start.
    split: Option<u64>,
    /// The first and the last turn that was finished.
    turns: Option<(u64, u64)>,
    /// The last one before whatever is damaged.
    whole: Option<u64>,
    outline: Outline,
    remarks: Vec<Remark>,
}

/// Reads a source up to its split.
///
/// # Errors
/// `not_found` for a turn that it does not have; `session_mismatch`; the code of what is damaged.
pub(super) fn read(
    view: &View<'_>,
    home: &Home,
    segment: &SegmentRef,
    split: Split,
) -> Result<Source> {
    let path = segment.path();
    let records = view.records(&path)?;
    let found = look(segment, &records, split)?;
    sound(home, segment, &found)?;
    let Some(end) = found.split else {
        return Err(no_such_turn(segment, split, found.turns));
    };
    let replay = Replay::read(&records, end, Limits::default(), Until::End)
        .map_err(|e| replay_error(segment, e))?;
    let items = replay.history.len() as u64;
    Ok(Source {
        replay,
        behind: (split == Split::Last).then(|| found.outline.history.saturating_sub(items)),
    })
}

fn look(
    segment: &SegmentRef,
    records: &crate::ops::change::Records,
    wanted: Split,
) -> Result<Found> {
    let mut fold = Fold::new();
    let mut split = None;
    let mut turns: Option<(u64, u64)> = None;
    let mut whole = None;
    let mut damaged = false;
    let mut seen = 0;
    let mut scanner = Scanner::new(Limits::default());
    let scanned = scanner
        .scan(records, records.committed(), Format::Segment, |line| {
            fold.push(line);
            let Verdict::Record(facts) = &line.verdict else {
                damaged |= matches!(line.verdict, Verdict::Bad(_));
                return ControlFlow::Continue(());
            };
            seen += 1;
            let start = facts.kind() == Some(RecordKind::SegmentStart);
            damaged |= start != (seen == 1);
            let here = end_of(line);
            match (facts.kind(), wanted) {
                (Some(RecordKind::SegmentStart), Split::Turn(0)) => {
                    split = Some(here);
                    return ControlFlow::Break(());
                }
                // Nothing is finished yet, so the split is behind the head.
                (Some(RecordKind::SegmentStart), Split::Last) => split = Some(here),
                (Some(RecordKind::TurnEnd), _) => {
                    if let Some(count) = facts.turn_count {
                        turns = Some((turns.map_or(count, |(first, _)| first), count));
                        if !damaged {
                            whole = Some(count);
                        }
                        if wanted == Split::Last {
                            split = Some(here);
                        } else if wanted == Split::Turn(count) {
                            split = Some(here);
                            return ControlFlow::Break(());
                        }
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        })
        .map_err(|e| crate::store::fs::failed("read", &segment.path(), e))?;
    let (outline, remarks) = fold.finish(&scanned);
    Ok(Found {
        split,
        turns,
        whole,
        outline,
        remarks,
    })
}

fn end_of(line: &Line<'_>) -> u64 {
    line.offset + line.length + 1
}

/// Refuses what verify calls an error, as far as the source was read.
fn sound(home: &Home, segment: &SegmentRef, found: &Found) -> Result<()> {
    let hint = format!("wagg verify {}", home.worker);
    let worst = found
        .remarks
        .iter()
        .find(|r| r.code.info().severity == Some(Severity::Error));
    if let Some(remark) = worst {
        let locus = Locus {
            path: segment.path(),
            line: remark.line,
            byte: remark.byte,
            length: remark.length,
        };
        let mut error = Error::new(
            remark.code,
            format!("Segment {} is damaged: {}", segment.segment, remark.message),
        )
        .at(locus)
        .hint(hint);
        if let Some(last) = found.whole {
            error = error.hint(format!(
                "up to turn {last} it is whole: wagg segment fork {} --at-turn {last}",
                segment.segment
            ));
        }
        return Err(error);
    }
    let Some(start) = found.outline.start else {
        return Err(Error::new(
            Code::MissingSegmentStart,
            format!(
                "Segment {} has no record, so there is nothing to start from",
                segment.segment
            ),
        )
        .at(Locus::file(segment.path()))
        .hint(hint));
    };
    home.owns(segment, start.session, start.line, start.byte)
}

/// Checks that a restore can start from a Segment.
///
/// # Errors
/// As [`read`].
pub(super) fn check(view: &View<'_>, home: &Home, segment: &SegmentRef) -> Result<()> {
    let records = view.records(&segment.path())?;
    let found = look(segment, &records, Split::Last)?;
    sound(home, segment, &found)
}

fn no_such_turn(segment: &SegmentRef, split: Split, turns: Option<(u64, u64)>) -> Error {
    let id = segment.segment;
    let wanted = match split {
        Split::Turn(n) => n,
        Split::Last => 0,
    };
    let there = match turns {
        None => "no turn of it is finished".to_owned(),
        Some((one, other)) if one == other => format!("its one finished turn is {one}"),
        Some((first, last)) => format!("its finished turns are {first} to {last}"),
    };
    let hint = match turns {
        Some((first, _)) if wanted < first => {
            format!("--at-turn 0 takes what turn {first} began with")
        }
        Some((_, last)) => format!("wagg segment fork {id} --at-turn {last}"),
        None => format!("wagg segment fork {id} --at-turn 0"),
    };
    Error::new(
        Code::NotFound,
        format!("Segment {id} has no turn {wanted}: {there}"),
    )
    .at(Locus::file(segment.path()))
    .hint(hint)
}
