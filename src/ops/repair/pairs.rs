//! Tool calls without a result, and results without a call.
//!
//! A result whose call is gone is taken out: a record of its own makes room for one that says what
//! stood there, an item of a seed history goes alone. A call that nobody answered, with later turns
//! behind it, gets an error result that says of itself that it is made up, where a provider expects
//! it: behind the calls and results that follow the call.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::ops::ControlFlow;
use std::ops::Range;

use serde_json::json;

use super::gap::{Gap, marker};
use crate::diag::Code;
use crate::record::json::MAX_CAPTURE;
use crate::record::mend::value_end;
use crate::record::{
    Edit, Facts, Format, ItemKind, Limits, Line, RecordKind, Scanner, Source, Verdict,
};

/// A finding to be mended: where its item begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Want {
    pub code: Code,
    /// The first byte of the call or result.
    pub byte: u64,
}

/// Findings, to be found again by their place.
#[derive(Debug, Default)]
pub(super) struct Wants {
    all: Vec<Want>,
    by_byte: HashMap<u64, usize>,
}

impl Wants {
    pub fn of(wants: impl Iterator<Item = Want>) -> Self {
        let all: Vec<Want> = wants.collect();
        let by_byte = all.iter().enumerate().map(|(n, w)| (w.byte, n)).collect();
        Self { all, by_byte }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The one of this number, which must be one that [`mend`] gave.
    pub fn get(&self, n: usize) -> Want {
        self.all[n]
    }

    fn at(&self, byte: u64) -> Option<usize> {
        self.by_byte.get(&byte).copied()
    }
}

/// How one finding is mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mended {
    /// Which of the wants.
    pub want: usize,
    /// The edits; none if those of another item take it along.
    pub edits: Vec<Edit>,
    /// What is done.
    pub action: String,
}

/// A call that waits for the place where its result goes.
struct Waiting {
    want: usize,
    call_id: String,
    ts: u64,
    at: u64,
}

/// The operation's id stands here in what a plan writes, until there is an operation.
pub(super) const OPERATION: &str = "5d2c7e10-0b6e-4f7a-9c41-7a6772657061";

fn made_up_item(call_id: &str) -> serde_json::Value {
    json!({
        "kind": "tool_result",
        "call_id": call_id,
        "summary": "no result was recorded for this call; this one is made up",
        "content": format!("Made up by wagg repair (operation {OPERATION}): the history held no result for this call, and whether the tool ran is not known."),
        "is_error": true,
    })
}

fn made_up(waiting: &Waiting) -> String {
    let record = json!({
        "kind": "tool_result",
        "ts": waiting.ts,
        "item": made_up_item(&waiting.call_id),
    });
    format!("{record}\n")
}

const MADE_UP: &str = "add an error result that says of itself that it is made up";

/// Works out the edits for findings of a Segment, offsets being those of `source`. A finding that
/// is not found again, or can not be mended, gets none.
pub(super) fn mend<S: Source + ?Sized>(
    source: &S,
    len: u64,
    limits: Limits,
    wants: &Wants,
) -> io::Result<Vec<Mended>> {
    let mut mended: Vec<Mended> = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut failed = None;
    Scanner::new(limits).scan(source, len, Format::Segment, |line| {
        if let Err(e) = see(source, line, wants, &mut waiting, &mut mended) {
            failed = Some(e);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if let Some(e) = failed {
        return Err(e);
    }
    mended.extend(waiting.iter().map(answer));
    mended.sort_by_key(|m| m.want);
    Ok(mended)
}

fn answer(waiting: &Waiting) -> Mended {
    Mended {
        want: waiting.want,
        edits: vec![Edit {
            offset: waiting.at,
            length: 0,
            with: made_up(waiting),
        }],
        action: MADE_UP.to_owned(),
    }
}

fn see<S: Source + ?Sized>(
    source: &S,
    line: &Line<'_>,
    wants: &Wants,
    waiting: &mut Vec<Waiting>,
    mended: &mut Vec<Mended>,
) -> io::Result<()> {
    let end = line.offset + line.length + 1;
    let facts = match &line.verdict {
        Verdict::Record(facts) => facts,
        Verdict::Blank => return Ok(()),
        Verdict::Bad(_) => {
            mended.extend(waiting.drain(..).map(|w| answer(&w)));
            return Ok(());
        }
    };
    if goes_with_calls(facts) {
        for one in waiting.iter_mut() {
            one.at = end;
        }
    } else {
        mended.extend(waiting.drain(..).map(|w| answer(&w)));
    }
    let hits: Vec<(usize, usize)> = facts
        .items
        .iter()
        .enumerate()
        .filter_map(|(n, item)| Some((n, wants.at(item.at)?)))
        .collect();
    if hits.is_empty() {
        return Ok(());
    }
    if facts.kind() == Some(RecordKind::SegmentStart) {
        return seed(source, line, facts, wants, &hits, mended);
    }
    for (n, want) in hits {
        let Some(item) = facts.items.get(n) else {
            continue;
        };
        let call_id = facts.call_id(item);
        if wants.get(want).code == Code::OrphanToolResult {
            let range = line.offset..line.offset + line.length;
            let gap = Gap {
                code: Code::OrphanToolResult,
                line: line.number,
                ts: facts.ts,
                turn: 0,
            };
            mended.push(Mended {
                want,
                edits: vec![Edit {
                    offset: range.start,
                    length: line.length,
                    with: marker(Format::Segment, &gap, source, &range)?,
                }],
                action: format!(
                    "take the result of {call_id:?} out and leave an extension record in its place that says so"
                ),
            });
        } else if call_id.len() < MAX_CAPTURE {
            waiting.push(Waiting {
                want,
                call_id: call_id.to_owned(),
                ts: facts.ts,
                at: end,
            });
        }
    }
    Ok(())
}

/// Whether a record continues a run of calls and their results.
fn goes_with_calls(facts: &Facts) -> bool {
    matches!(
        facts.kind(),
        Some(RecordKind::AssistantItem | RecordKind::ToolResult)
    ) && facts
        .items
        .iter()
        .all(|item| matches!(item.kind, ItemKind::ToolCall | ItemKind::ToolResult))
}

/// Items of a seed history: only their own bytes change.
fn seed<S: Source + ?Sized>(
    source: &S,
    line: &Line<'_>,
    facts: &Facts,
    wants: &Wants,
    hits: &[(usize, usize)],
    mended: &mut Vec<Mended>,
) -> io::Result<()> {
    let all = facts.items.len();
    if facts.item_count > all as u64 {
        return Ok(()); // more than are kept: not all of their places are known
    }
    let line_end = line.offset + line.length;
    let at = |n: usize| facts.items.get(n).map_or(line_end, |item| item.at);
    let end = |n: usize| value_end(source, at(n), line_end);
    let goes: BTreeSet<usize> = hits
        .iter()
        .filter(|(_, want)| wants.get(*want).code == Code::OrphanToolResult)
        .map(|(n, _)| *n)
        .collect();
    for &(n, want) in hits {
        if goes.contains(&n) {
            let first = n == 0 || !goes.contains(&(n - 1));
            let edits = if first {
                let last = (n..all)
                    .take_while(|n| goes.contains(n))
                    .last()
                    .unwrap_or(n);
                let range = if last + 1 < all {
                    at(n)..at(last + 1)
                } else if n > 0 {
                    end(n - 1)?..end(last)?
                } else {
                    at(0)..end(last)?
                };
                vec![taken(&range)]
            } else {
                Vec::new()
            };
            mended.push(Mended {
                want,
                edits,
                action: format!(
                    "take item {} of {all} of the seed history out; nothing else of the record changes",
                    n + 1
                ),
            });
            continue;
        }
        let call_id = facts.items.get(n).map_or("", |item| facts.call_id(item));
        if call_id.len() >= MAX_CAPTURE {
            continue;
        }
        let behind = |m: &usize| {
            !goes.contains(m)
                && facts.items.get(*m).is_some_and(|item| {
                    matches!(item.kind, ItemKind::ToolCall | ItemKind::ToolResult)
                })
        };
        let last = (n + 1..all).take_while(behind).last().unwrap_or(n);
        mended.push(Mended {
            want,
            edits: vec![Edit {
                offset: end(last)?,
                length: 0,
                with: format!(",{}", made_up_item(call_id)),
            }],
            action: format!("{MADE_UP}, behind item {} of the seed history", last + 1),
        });
    }
    Ok(())
}

fn taken(range: &Range<u64>) -> Edit {
    Edit {
        offset: range.start,
        length: range.end - range.start,
        with: String::new(),
    }
}
