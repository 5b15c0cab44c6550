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

use super::{Item, Options, Part, ShownEdit, State, Work, bytes};
use crate::diag::{Code, Finding, RepairClass, Subject, plural};
use crate::record::mend::{self, Mending, Why};
use crate::record::{Edit, Edited, Format, RecordKind, Rope, Scanned, Scanner, Verdict};

/// A line that is no good record.
pub(super) struct BadLine {
    pub number: u64,
    /// Without the newline.
    pub range: Range<u64>,
    pub crlf: bool,
    pub code: Code,
    /// The time of the good record before it.
    pub ts: u64,
    /// The turn of the good trace record before it.
    pub turn: u64,
    /// No `segment_start` was seen before it.
    pub before_start: bool,
}

impl BadLine {
    /// Its place without the carriage return.
    fn text(&self) -> Range<u64> {
        self.range.start..self.range.end - u64::from(self.crlf)
    }
}

/// What a scan tells of a file.
pub(super) struct Seen {
    bad: Vec<BadLine>,
    /// The first `segment_start`.
    pub start: Option<Start>,
    scanned: Scanned,
}

/// Where the first `segment_start` stands.
pub(super) struct Start {
    /// Behind the newline of its line.
    pub end: u64,
    pub ts: u64,
}

fn look(file: &File, len: u64, format: Format, options: &Options) -> io::Result<Seen> {
    let mut bad = Vec::new();
    let (mut ts, mut turn) = (0, 0);
    let mut start = None;
    let scanned = Scanner::new(options.limits).scan(file, len, format, |line| {
        match &line.verdict {
            Verdict::Blank => {}
            Verdict::Record(facts) => {
                ts = facts.ts;
                if format == Format::Trace {
                    turn = line.bytes.and_then(turn_of).unwrap_or(turn);
                } else if facts.kind() == Some(RecordKind::SegmentStart) && start.is_none() {
                    start = Some(Start {
                        end: line.offset + line.length + 1,
                        ts: facts.ts,
                    });
                }
            }
            Verdict::Bad(fault) => bad.push(BadLine {
                number: line.number,
                range: line.offset..line.offset + line.length,
                crlf: line.crlf,
                code: fault.code,
                ts,
                turn,
                before_start: format == Format::Segment && start.is_none(),
            }),
        }
        ControlFlow::Continue(())
    })?;
    Ok(Seen {
        bad,
        start,
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
pub(super) struct Change {
    pub edit: Edit,
    pub keep: Option<Range<u64>>,
}

impl Lines<'_> {
    /// Makes a plan for the findings of the file that are about its lines.
    pub fn plan(&self, findings: Vec<Finding>) -> io::Result<Mended> {
        let mut seen = look(self.file, self.len, self.format, self.options)?;
        self.find_start(&mut seen)?;
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

    /// The first `segment_start` may stand on a line that is mended.
    fn find_start(&self, seen: &mut Seen) -> io::Result<()> {
        let before = seen.bad.iter().position(|bad| !bad.before_start);
        let before = before.unwrap_or(seen.bad.len());
        for n in 0..before {
            let Some(bad) = seen.bad.get(n) else { break };
            if bad.code == Code::OversizedLine {
                continue;
            }
            let Some(start) = self.start_on(bad)? else {
                continue;
            };
            seen.start = Some(start);
            for behind in seen.bad.iter_mut().skip(n + 1) {
                behind.before_start = false;
            }
            break;
        }
        Ok(())
    }

    /// The `segment_start` that comes of a line that is mended and loses nothing.
    fn start_on(&self, bad: &BadLine) -> io::Result<Option<Start>> {
        let mending = mend::mend(self.file, bad.text(), self.format)?;
        if !mending.is_whole() {
            return Ok(None);
        }
        let end = (bad.range.end + 1).min(self.len);
        let mut edits = vec![gone(0, bad.range.start)];
        edits.extend(mending.edits.into_iter().map(|(edit, _)| edit));
        edits.push(gone(end, self.len));
        let rope = Rope::edited(self.len, &edits);
        let line = Edited::new(self.file, &rope);
        let mut start = None;
        Scanner::new(self.options.limits).scan(
            &line,
            rope.len(),
            self.format,
            |line| match &line.verdict {
                Verdict::Record(facts) if facts.kind() == Some(RecordKind::SegmentStart) => {
                    start = Some(Start { end, ts: facts.ts });
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            },
        )?;
        Ok(start)
    }

    fn shown(&self, edit: &Edit) -> io::Result<ShownEdit> {
        Ok(ShownEdit {
            offset: edit.offset,
            length: edit.length,
            before: bytes::show(self.file, &(edit.offset..edit.offset + edit.length))?,
            after: bytes::show_text(&edit.with),
        })
    }

    pub fn item(
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
            "cut the file to {}; {} kept in quarantine",
            plural(at, "byte", "bytes"),
            plural(tail.length, "byte is", "bytes are")
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
        let mending = mend::mend(self.file, bad.text(), self.format)?;
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
            after: bytes::sha256(&Edited::new(self.file, rope), &(0..rope.len()))?,
            edits,
            keep,
        }))
    }
}

fn gone(from: u64, to: u64) -> Edit {
    Edit {
        offset: from,
        length: to - from,
        with: String::new(),
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
