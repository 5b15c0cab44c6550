//! Segments and traces: what is wrong with their lines, and the one list of edits that mends it.
//!
//! The file is scanned once more, with the findings of `verify` in hand; what a bad line still
//! holds is brought out, what can not be read makes room for a record that says so, the tail goes.
//! Then the file as it would be is scanned in turn: taking a record out may leave a call without
//! its answer, and that is a finding, and an item, of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use serde_json::json;

use super::pairs::{self, OPERATION, Want};
use super::{Item, Options, Part, ShownEdit, State, Work, bytes};
use crate::diag::{Code, Finding, Locus, RepairClass, Subject, plural};
use crate::record::facts::REPAIR_DOMAIN;
use crate::record::mend::{self, Mending, Sniff, Why};
use crate::record::{
    Edit, Edited, Fold, Format, RecordKind, Rope, Scanned, Scanner, Source, Verdict,
};

/// A record that was taken out, as the one in its place tells of it.
pub(super) struct Gap {
    pub code: Code,
    pub line: u64,
    pub ts: u64,
    pub turn: u64,
}

/// The record that stands where bytes were taken out, without a newline.
pub(super) fn marker<S: Source + ?Sized>(
    format: Format,
    gap: &Gap,
    source: &S,
    range: &Range<u64>,
) -> io::Result<String> {
    let payload = json!({
        "taken_out": gap.code,
        "line": gap.line,
        "bytes": range.end - range.start,
        "sha256": bytes::sha256(source, range)?,
        "operation": OPERATION,
    });
    Ok(match format {
        Format::Segment => json!({
            "kind": "extension",
            "ts": gap.ts,
            "domain": REPAIR_DOMAIN,
            "payload": payload,
        }),
        Format::Trace => json!({
            "ts": gap.ts,
            "turn": gap.turn,
            "kind": "lifecycle",
            "label": REPAIR_DOMAIN,
            "data": payload,
        }),
    }
    .to_string())
}

/// A line that is no good record.
struct BadLine {
    number: u64,
    /// Without the newline.
    range: Range<u64>,
    crlf: bool,
    code: Code,
    /// The time of the good record before it.
    ts: u64,
    /// The turn of the good trace record before it.
    turn: u64,
    /// No `segment_start` was seen before it.
    before_start: bool,
}

/// What a scan tells of a file.
struct Seen {
    bad: Vec<BadLine>,
    /// Where the line of the first `segment_start` ends, behind its newline.
    start_end: Option<u64>,
    /// Its time.
    start_ts: u64,
    scanned: Scanned,
}

fn look(file: &File, len: u64, format: Format, options: &Options) -> io::Result<Seen> {
    let mut bad = Vec::new();
    let (mut ts, mut turn) = (0, 0);
    let (mut start_end, mut start_ts) = (None, 0);
    let scanned = Scanner::new(options.limits).scan(file, len, format, |line| {
        match &line.verdict {
            Verdict::Blank => {}
            Verdict::Record(facts) => {
                ts = facts.ts;
                if format == Format::Trace {
                    turn = line.bytes.and_then(turn_of).unwrap_or(turn);
                } else if facts.kind() == Some(RecordKind::SegmentStart) && start_end.is_none() {
                    start_end = Some(line.offset + line.length + 1);
                    start_ts = facts.ts;
                }
            }
            Verdict::Bad(fault) => bad.push(BadLine {
                number: line.number,
                range: line.offset..line.offset + line.length,
                crlf: line.crlf,
                code: fault.code,
                ts,
                turn,
                before_start: format == Format::Segment && start_end.is_none(),
            }),
        }
        ControlFlow::Continue(())
    })?;
    Ok(Seen {
        bad,
        start_end,
        start_ts,
        scanned,
    })
}

/// The turn of a trace record.
fn turn_of(line: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Record {
        turn: u64,
    }
    serde_json::from_slice::<Record>(line).ok().map(|r| r.turn)
}

/// More edits of one item than these are not shown one by one.
const MOST_SHOWN: usize = 20;

/// One file with findings in its lines.
pub(super) struct Lines<'a> {
    pub file: &'a File,
    pub len: u64,
    pub path: &'a Path,
    pub subject: Subject,
    pub format: Format,
    pub options: &'a Options,
}

/// What comes of a file: its items, and the work that carries out those of them that are planned.
pub(super) struct Mended {
    pub items: Vec<Item>,
    pub work: Option<Work>,
}

/// An edit, and how much of the old file around it is kept.
struct Change {
    edit: Edit,
    keep: Option<Range<u64>>,
}

impl Lines<'_> {
    /// Makes a plan for the findings of the file that are about its lines.
    pub fn plan(&self, findings: Vec<Finding>) -> io::Result<Mended> {
        let seen = look(self.file, self.len, self.format, self.options)?;
        let mut by_line: BTreeMap<u64, Finding> = BTreeMap::new();
        let mut pairs_found = Vec::new();
        let mut items = Vec::new();
        let mut changes: Vec<Change> = Vec::new();
        for finding in findings {
            match finding.code {
                Code::TornTail => {
                    let (item, change) = self.tail(finding, &seen)?;
                    items.push(item);
                    changes.extend(change);
                }
                Code::OrphanToolResult | Code::UnansweredToolCall => pairs_found.push(finding),
                _ => {
                    if let Some(line) = finding.locus.line {
                        by_line.insert(line, finding);
                    }
                }
            }
        }
        for bad in &seen.bad {
            let known = by_line.remove(&bad.number).filter(|f| f.code == bad.code);
            let Some(finding) = known else { continue };
            let (item, mut change) = self.line(finding, bad, &seen)?;
            if item.state == State::Planned {
                changes.append(&mut change);
            }
            items.push(item);
        }
        self.pairs(pairs_found, &mut items, &mut changes)?;
        changes.sort_by_key(|c| (c.edit.offset, c.edit.length));
        let edits: Vec<Edit> = changes.iter().map(|c| c.edit.clone()).collect();
        let rope = Rope::edited(self.len, &edits);
        let rope = self.follow(rope, &mut items)?;
        let work = self.work(&rope, &changes, &seen)?;
        Ok(Mended { items, work })
    }

    fn shown(&self, edit: &Edit) -> io::Result<ShownEdit> {
        Ok(ShownEdit {
            offset: edit.offset,
            length: edit.length,
            before: bytes::show(self.file, &(edit.offset..edit.offset + edit.length))?,
            after: bytes::show_text(&edit.with),
        })
    }

    fn item(
        &self,
        finding: Finding,
        class: RepairClass,
        action: String,
        edits: &[Edit],
    ) -> io::Result<Item> {
        let mut item = Item::of(finding, class, action);
        if self.options.does(class) {
            item.state = State::Planned;
        }
        item.edits = edits
            .iter()
            .take(MOST_SHOWN)
            .map(|edit| self.shown(edit))
            .collect::<io::Result<_>>()?;
        Ok(item)
    }

    fn tail(&self, finding: Finding, seen: &Seen) -> io::Result<(Item, Option<Change>)> {
        let at = seen.scanned.committed;
        let Some(tail) = seen.scanned.tail else {
            let gone = "it is gone by now".to_owned();
            return Ok((Item::of(finding, RepairClass::None, gone), None));
        };
        let edit = Edit {
            offset: at,
            length: tail.length,
            with: String::new(),
        };
        let action = format!(
            "cut the file to {at} bytes; {} are kept in quarantine",
            plural(tail.length, "byte", "bytes")
        );
        let item = self.item(
            finding,
            RepairClass::Automatic,
            action,
            std::slice::from_ref(&edit),
        )?;
        let change = (item.state == State::Planned).then_some(Change { edit, keep: None });
        Ok((item, change))
    }

    fn line(
        &self,
        finding: Finding,
        bad: &BadLine,
        seen: &Seen,
    ) -> io::Result<(Item, Vec<Change>)> {
        if bad.code == Code::OversizedLine {
            let item = super::manual::item(finding, None);
            return Ok((item, Vec::new()));
        }
        let line = bad.range.start..bad.range.end - u64::from(bad.crlf);
        let mending = mend::mend(self.file, line, self.format)?;
        if mending.is_whole() {
            return self.whole(finding, bad, &mending);
        }
        self.lossy(finding, bad, &mending, seen)
    }

    /// A line whose records are all there.
    fn whole(
        &self,
        finding: Finding,
        bad: &BadLine,
        mending: &Mending,
    ) -> io::Result<(Item, Vec<Change>)> {
        let edits: Vec<Edit> = mending.edits.iter().map(|(e, _)| e.clone()).collect();
        let action = what_is_done(mending);
        let item = self.item(finding, RepairClass::Automatic, action, &edits)?;
        let whole = bad.range.start..bad.range.end + 1;
        let changes = mending
            .edits
            .iter()
            .map(|(edit, why)| Change {
                edit: edit.clone(),
                keep: (*why == Why::Surrogate).then(|| whole.clone()),
            })
            .collect();
        Ok((item, changes))
    }

    /// A line that holds what can not be read: that goes, and a record says so.
    fn lossy(
        &self,
        finding: Finding,
        bad: &BadLine,
        mending: &Mending,
        seen: &Seen,
    ) -> io::Result<(Item, Vec<Change>)> {
        // The head of a Segment is no record like others: without it nothing can be restored.
        let behind = match (bad.before_start, seen.start_end) {
            (false, _) => None,
            (true, Some(end)) if mending.records == 0 => Some(end),
            (true, _) => {
                let mut item = super::manual::item(finding, None);
                item.action = format!(
                    "nothing is changed: no segment_start stands before this line, and what the line held may be the Segment's Session, prompt and config, which can not be made up; {}",
                    item.action
                );
                return Ok((item, Vec::new()));
            }
        };
        let mut edits: Vec<Edit> = mending.edits.iter().map(|(e, _)| e.clone()).collect();
        let mut lost = mending.lost.as_slice();
        let line = bad.range.clone();
        if behind.is_some() {
            edits.clear();
            lost = std::slice::from_ref(&line);
        }
        let (mut said, mut open) = (Vec::new(), Vec::new());
        for lost in lost {
            // With the carriage return of the line it was a part of.
            let end = if bad.crlf && lost.end + 1 == bad.range.end {
                bad.range.end
            } else {
                lost.end
            };
            let range = lost.start..end;
            let guess = mend::sniff(self.file, &range)?;
            let gap = Gap {
                code: bad.code,
                line: bad.number,
                // Not its own, which is only a guess: time should not go back because of it.
                ts: if behind.is_some() {
                    seen.start_ts
                } else {
                    bad.ts
                },
                turn: bad.turn,
            };
            let record = marker(self.format, &gap, self.file, &range)?;
            said.push(format!(
                "{}{}",
                plural(end - lost.start, "byte", "bytes"),
                seems(&guess)
            ));
            if let (true, Some(id)) = (
                guess.kinds.iter().any(|k| k == "tool_result"),
                guess.call_id,
            ) {
                open.push(format!("{id:?}"));
            }
            match behind {
                None => edits.push(Edit {
                    offset: range.start,
                    length: end - range.start,
                    with: record,
                }),
                Some(behind) => edits.extend([
                    Edit {
                        offset: bad.range.start,
                        length: bad.range.end + 1 - bad.range.start,
                        with: String::new(),
                    },
                    Edit {
                        offset: behind,
                        length: 0,
                        with: format!("{record}\n"),
                    },
                ]),
            }
        }
        edits.sort_by_key(|e| (e.offset, e.length));
        let kept = if mending.records > 0 {
            format!(
                "; {} on the line stay",
                plural(mending.records, "whole record", "whole records")
            )
        } else {
            String::new()
        };
        let open = match open.as_slice() {
            [] => String::new(),
            [one] => format!("; the call {one} is open then"),
            all => format!("; the calls {} are open then", all.join(", ")),
        };
        let place = if behind.is_some() {
            "behind the segment_start"
        } else {
            "in its place"
        };
        let action = format!(
            "take {} out, keep it in quarantine and leave an extension record {place} that says so{kept}{open}",
            said.join(" and ")
        );
        let item = self.item(finding, RepairClass::Lossy, action, &edits)?;
        let changes = edits
            .into_iter()
            .map(|edit| Change { edit, keep: None })
            .collect();
        Ok((item, changes))
    }

    /// Calls and results that lack each other.
    fn pairs(
        &self,
        findings: Vec<Finding>,
        items: &mut Vec<Item>,
        changes: &mut Vec<Change>,
    ) -> io::Result<()> {
        let wants: Vec<Want> = findings.iter().filter_map(want).collect();
        if wants.is_empty() {
            return Ok(());
        }
        let mended = pairs::mend(self.file, self.len, self.options.limits, &wants)?;
        for finding in findings {
            let found = mended
                .iter()
                .find(|m| Some(wants[m.want]) == want(&finding));
            let Some(found) = found else {
                items.push(super::manual::item(finding, None));
                continue;
            };
            let item = self.item(
                finding,
                RepairClass::Lossy,
                found.action.clone(),
                &found.edits,
            )?;
            if item.state == State::Planned {
                changes.extend(found.edits.iter().map(|edit| Change {
                    edit: edit.clone(),
                    keep: None,
                }));
            }
            items.push(item);
        }
        Ok(())
    }

    /// What follows from taking records out: calls that are open now, results without a call. They
    /// become items of their own, until nothing more follows.
    fn follow(&self, mut rope: Rope, items: &mut Vec<Item>) -> io::Result<Rope> {
        if !self.options.allow_lossy || self.format == Format::Trace {
            return Ok(rope);
        }
        let takes_out =
            |item: &Item| item.class == RepairClass::Lossy && item.state == State::Planned;
        if !items.iter().any(takes_out) {
            return Ok(rope);
        }
        // One round answers what the one before left open; a result that goes leaves nothing open.
        for _ in 0..4 {
            let edited = Edited::new(self.file, &rope);
            let mut fold = Fold::new();
            let scanned = Scanner::new(self.options.limits).scan(
                &edited,
                rope.len(),
                self.format,
                |line| {
                    fold.push(line);
                    ControlFlow::Continue(())
                },
            )?;
            let (_, remarks) = fold.finish(&scanned);
            let mut wants = Vec::new();
            let mut told = Vec::new();
            for remark in remarks {
                let pair = matches!(
                    remark.code,
                    Code::OrphanToolResult | Code::UnansweredToolCall
                );
                if let (true, true, Some(byte)) =
                    (pair, self.options.wants(remark.code), remark.byte)
                {
                    wants.push(Want {
                        code: remark.code,
                        byte,
                    });
                    told.push(remark);
                }
            }
            let mended = pairs::mend(&edited, rope.len(), self.options.limits, &wants)?;
            let mut edits: Vec<Edit> = Vec::new();
            for one in mended {
                let (want, remark) = (wants[one.want], &told[one.want]);
                let byte = rope.old_offset(want.byte);
                let locus = Locus {
                    path: self.path.to_owned(),
                    line: Some(bytes::line_of(self.file, byte)?),
                    byte: Some(byte),
                    length: remark.length,
                };
                let message = format!("{}; this follows from the rest of the plan", remark.message);
                let finding = Finding::new(want.code, self.subject, locus, message);
                let mut item = Item::of(finding, RepairClass::Lossy, one.action);
                item.state = State::Planned;
                for edit in &one.edits {
                    item.edits.push(ShownEdit {
                        offset: rope.old_offset(edit.offset),
                        length: edit.length,
                        before: bytes::show(&edited, &(edit.offset..edit.offset + edit.length))?,
                        after: bytes::show_text(&edit.with),
                    });
                }
                edits.extend(one.edits);
                items.push(item);
            }
            if edits.is_empty() {
                return Ok(rope);
            }
            edits.sort_by_key(|e| (e.offset, e.length));
            rope = rope.with(&edits);
        }
        Ok(rope)
    }

    /// The work of the edits: what changes, and what is kept of what was there.
    fn work(&self, rope: &Rope, changes: &[Change], seen: &Seen) -> io::Result<Option<Work>> {
        let edits = rope.edits();
        if edits.is_empty() {
            return Ok(None);
        }
        let mut keep: Vec<Range<u64>> = edits
            .iter()
            .filter(|edit| edit.length > 0)
            .map(|edit| edit.offset..edit.offset + edit.length)
            .chain(changes.iter().filter_map(|c| c.keep.clone()))
            .collect();
        keep.sort_by_key(|r| (r.start, r.end));
        let mut parts: Vec<Range<u64>> = Vec::new();
        for range in keep {
            match parts.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => parts.push(range),
            }
        }
        let keep = parts
            .into_iter()
            .map(|range| Part {
                offset: range.start,
                length: range.end - range.start,
                tail: range.start == seen.scanned.committed,
            })
            .collect();
        Ok(Some(Work::Lines {
            path: self.path.to_owned(),
            bytes: self.len,
            sha256: bytes::sha256(self.file, &(0..self.len))?,
            edits,
            keep,
        }))
    }
}

fn want(finding: &Finding) -> Option<Want> {
    Some(Want {
        code: finding.code,
        byte: finding.locus.byte?,
    })
}

/// What a line seems to have been, in words.
fn seems(guess: &Sniff) -> String {
    let Some(kind) = guess.kinds.first() else {
        return String::new();
    };
    match &guess.call_id {
        Some(id) => format!(" (it looks like a {kind} of {id:?})"),
        None => format!(" (it looks like a {kind})"),
    }
}

fn what_is_done(mending: &Mending) -> String {
    let count = |why: Why| mending.edits.iter().filter(|(_, w)| *w == why).count() as u64;
    let bytes = |why: Why| {
        mending
            .edits
            .iter()
            .filter(|(_, w)| *w == why)
            .map(|(edit, _)| edit.length)
            .sum::<u64>()
    };
    let newlines = mending
        .edits
        .iter()
        .filter(|(edit, _)| edit.with == "\n")
        .count() as u64;
    let mut parts = Vec::new();
    if newlines > 0 {
        parts.push(format!(
            "put {} between whole records",
            if newlines == 1 {
                "one newline".to_owned()
            } else {
                format!("{newlines} newlines")
            }
        ));
    }
    if bytes(Why::Filling) > 0 {
        parts.push(format!(
            "take {} out that were never a part of a record",
            plural(bytes(Why::Filling), "byte", "bytes")
        ));
    }
    if count(Why::Stub) > 0 {
        parts.push(format!(
            "put {} of a record that was cut aside, and keep the whole record behind",
            plural(bytes(Why::Stub), "byte", "bytes")
        ));
    }
    if count(Why::Surrogate) > 0 {
        let halves = count(Why::Surrogate);
        parts.push(format!(
            "write \\ufffd in the place of {}, 6 bytes each; the old line is kept",
            if halves == 1 {
                "half a pair".to_owned()
            } else {
                format!("{halves} halves")
            }
        ));
    }
    format!("{}; nothing that was committed is lost", parts.join(", "))
}
