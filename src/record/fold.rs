//! What the lines of one Segment come to: the counts that a restore would show, and what is wrong
//! between lines.
//!
//! A fold sees lines in order and keeps a few numbers, the calls that are still open, and one hash
//! for each call id. What it keeps is bounded, whatever the lines hold. It knows nothing of other
//! files: lineage is judged where all Segments of a Session are in sight.

mod calls;
mod carry;
mod finish;

use std::borrow::Cow;
use std::collections::BTreeMap;

use calls::Calls;
pub use carry::MAX_CARRY;

use super::facts::{Facts, Origin, Role};
use super::json::Fault;
use super::scan::{Line, Verdict};
use super::schema::{ItemKind, RecordKind};
use crate::diag::{Code, plural};
use crate::layout::SessionId;

/// Lines above this length, in bytes, are worth a remark.
pub const LONG_LINE: u64 = 16 * 1024 * 1024;

/// Call ids above this many are not followed, so that memory stays bounded. So many fit a table of
/// 2^20 places.
const MAX_CALLS: usize = 900_000;

/// Calls without a result above this many are not followed.
const MAX_OPEN: usize = 10_000;

/// Remarks of one code above this many are counted and not kept.
const MAX_OF_A_CODE: u64 = 5_000;

/// How many ids a message names before it only counts.
const MAX_NAMED: usize = 5;

/// How much of an id a message shows, in characters.
const MAX_SHOWN: usize = 200;

/// Something worth a finding, at a place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What it is.
    pub code: Code,
    /// Counts from 1; none for the file as a whole.
    pub line: Option<u64>,
    /// From the start of the file.
    pub byte: Option<u64>,
    /// In bytes.
    pub length: Option<u64>,
    /// A sentence or two without a full stop at the end.
    pub message: String,
}

/// The first record of a Segment, as far as others ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The Session that it names.
    pub session: SessionId,
    /// `forked_from`
    pub forked: Option<Origin>,
    /// `compacted_from`
    pub compacted: Option<Origin>,
    /// The line it stands on.
    pub line: u64,
    /// Where that line begins.
    pub byte: u64,
}

/// What a Segment comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Good records.
    pub records: u64,
    /// Committed lines that are no good record.
    pub bad_lines: u64,
    /// Records that a repair took out.
    pub gaps: u64,
    /// Committed length, in bytes.
    pub committed: u64,
    /// Bytes behind it.
    pub tail: u64,
    /// The first `segment_start`.
    pub start: Option<Start>,
    /// History items after a replay.
    pub history: u64,
    /// The turn count after a replay.
    pub turn: u64,
    /// The highest turn count of all.
    pub highest_turn: u64,
    /// Whether a restore takes the last run for interrupted.
    pub interrupted: bool,
    /// Usage records.
    pub usage: u64,
    /// Extensions: records of their own and those of user input.
    pub extensions: u64,
    /// User inputs.
    pub inputs: u64,
    /// Tokens in, as the usage records sum up.
    pub input_tokens: u64,
    /// Tokens out, as the usage records sum up.
    pub output_tokens: u64,
    /// Tokens of the history as the last usage record saw it.
    pub last_input_tokens: u64,
    /// The first record's time, in milliseconds since 1970.
    pub first_ts: Option<u64>,
    /// There were more tool calls than are followed, so pairs were not judged to the end.
    pub calls_not_followed: bool,
    /// The last record's time.
    pub last_ts: Option<u64>,
    /// Remarks that are counted here and not kept, beyond the first few thousand of their code.
    pub beyond: BTreeMap<Code, u64>,
}

/// A tool call without a result so far.
#[derive(Debug, Clone)]
struct Open {
    /// As a message shows it.
    id: String,
    line: u64,
    byte: u64,
    seed: Option<usize>,
    epoch: u64,
}

/// The first few of many ids, as a message shows them, and how many there are.
#[derive(Debug, Default)]
struct Names {
    first: Vec<String>,
    count: u64,
}

impl Names {
    fn push(&mut self, id: String) {
        self.count += 1;
        if self.first.len() < MAX_NAMED {
            self.first.push(id);
        }
    }
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, id) in self.first.iter().enumerate() {
            write!(f, "{}{id:?}", if n > 0 { ", " } else { "" })?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// A line that is no good record, and whose remark is kept.
#[derive(Debug)]
struct BadLine {
    line: u64,
    remark: usize,
    records_before: u64,
    open_calls: Names,
    lost_calls: Names,
    /// The end of the last run may have stood here.
    lost_end: bool,
}

/// Folds the lines of one Segment.
pub struct Fold {
    outline: Outline,
    remarks: Vec<Remark>,
    /// How many remarks there are of each code, kept or not.
    of_code: BTreeMap<Code, u64>,
    bad: Vec<BadLine>,
    /// The number of the last bad line, and the good records before it.
    last_bad: Option<(u64, u64)>,
    /// By the hash of the id.
    open: BTreeMap<u64, Open>,
    calls: Calls,
    too_many_calls: bool,
    /// Rises with every turn; what was open in an earlier one and is never answered is left over.
    epoch: u64,
    /// The epoch in which something last went on.
    active_epoch: u64,
    expected_turn: Option<u64>,
    before_start: u64,
    first_record: Option<(u64, u64)>,
    first_line_bad: bool,
    blank: Tally,
    crlf: Tally,
    time_back: Tally,
    noncanonical: Tally,
    noncanonical_text: String,
    run_open: Option<u64>,
    partial: bool,
}

/// The first of many, and how many.
#[derive(Debug, Default)]
struct Tally {
    first: Option<(u64, u64)>,
    count: u64,
}

impl Tally {
    fn see(&mut self, line: u64, byte: u64) {
        self.first.get_or_insert((line, byte));
        self.count += 1;
    }
}

impl Default for Fold {
    fn default() -> Self {
        Self::new()
    }
}

impl Fold {
    /// A fold that saw nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            outline: Outline::default(),
            remarks: Vec::new(),
            of_code: BTreeMap::new(),
            bad: Vec::new(),
            last_bad: None,
            open: BTreeMap::new(),
            calls: Calls::new(),
            too_many_calls: false,
            epoch: 0,
            active_epoch: 0,
            expected_turn: None,
            before_start: 0,
            first_record: None,
            first_line_bad: false,
            blank: Tally::default(),
            crlf: Tally::default(),
            time_back: Tally::default(),
            noncanonical: Tally::default(),
            noncanonical_text: String::new(),
            run_open: None,
            partial: false,
        }
    }

    /// Takes the next line.
    pub fn push(&mut self, line: &Line<'_>) {
        if line.crlf {
            self.crlf.see(line.number, line.offset);
        }
        if line.length > LONG_LINE && !matches!(line.verdict, Verdict::Bad(_)) {
            self.remark_line(
                Code::LongLine,
                line,
                format!("a line of {}", plural(line.length, "byte", "bytes")),
                Some(line.length),
            );
        }
        match &line.verdict {
            Verdict::Blank => self.blank.see(line.number, line.offset),
            Verdict::Bad(fault) => self.bad(line, fault),
            Verdict::Record(facts) => self.record(line, facts),
        }
    }

    fn bad(&mut self, line: &Line<'_>, fault: &Fault) {
        if self.outline.records == 0 && self.outline.bad_lines == 0 {
            self.first_line_bad = true;
        }
        self.outline.bad_lines += 1;
        let records_before = self.outline.records;
        self.last_bad = Some((line.number, records_before));
        // Turn counts behind a gap start anew.
        self.expected_turn = None;
        let kept = self.remark(fault.code, || Remark {
            code: fault.code,
            line: Some(line.number),
            byte: Some(fault.at),
            length: fault.length,
            message: if fault.at == line.offset || fault.code == Code::OversizedLine {
                fault.message.clone()
            } else {
                format!(
                    "{} (the line begins at byte {})",
                    fault.message, line.offset
                )
            },
        });
        if kept {
            self.bad.push(BadLine {
                line: line.number,
                remark: self.remarks.len() - 1,
                records_before,
                open_calls: Names::default(),
                lost_calls: Names::default(),
                lost_end: false,
            });
        }
    }

    /// Keeps a remark if there are not too many of its code; says whether.
    fn remark(&mut self, code: Code, remark: impl FnOnce() -> Remark) -> bool {
        let count = self.of_code.entry(code).or_default();
        *count += 1;
        let keep = *count <= MAX_OF_A_CODE;
        if keep {
            self.remarks.push(remark());
        }
        keep
    }

    /// Keeps a remark that there is one of in a Segment.
    fn remark_once(&mut self, remark: Remark) {
        self.remark(remark.code, || remark);
    }

    /// The last bad line, if its remark is kept.
    fn last_bad_line(&mut self) -> Option<&mut BadLine> {
        let (line, _) = self.last_bad?;
        self.bad.last_mut().filter(|bad| bad.line == line)
    }

    /// Takes the next line of a trace, whose records are only counted.
    pub fn push_trace(&mut self, line: &Line<'_>) {
        if matches!(line.verdict, Verdict::Record(_)) {
            if line.crlf {
                self.crlf.see(line.number, line.offset);
            }
            self.outline.records += 1;
        } else {
            self.push(line);
        }
    }

    /// Says that the lines between the last one and the end are not shown: what is judged over
    /// the whole file is then left out.
    pub fn skip_to_end(&mut self) {
        self.partial = true;
        self.open.clear();
        self.run_open = None;
    }

    fn remark_line(&mut self, code: Code, line: &Line<'_>, message: String, length: Option<u64>) {
        self.remark(code, || Remark {
            code,
            line: Some(line.number),
            byte: Some(line.offset),
            length,
            message,
        });
    }

    fn remark_item(&mut self, code: Code, line: &Line<'_>, at: u64, message: String) {
        self.remark(code, || Remark {
            code,
            line: Some(line.number),
            byte: Some(at),
            length: None,
            message,
        });
    }

    fn record(&mut self, line: &Line<'_>, facts: &Facts) {
        let Some(kind) = facts.kind() else { return };
        self.first_record.get_or_insert((line.number, line.offset));
        // A start begins anew, so its time has nothing before it.
        if kind != RecordKind::SegmentStart
            && let Some(last) = self.outline.last_ts
            && facts.ts < last
        {
            self.time_back.see(line.number, line.offset);
        }
        self.outline.first_ts.get_or_insert(facts.ts);
        self.outline.last_ts = Some(facts.ts);
        if let Some((at, text)) = &facts.noncanonical {
            if self.noncanonical.count == 0 {
                self.noncanonical_text.clone_from(text);
            }
            self.noncanonical.see(line.number, *at);
        }
        self.outline.extensions += facts.extensions;
        match kind {
            RecordKind::SegmentStart => self.start(line, facts),
            RecordKind::Invoke => {
                self.epoch += 1;
                self.active_epoch = self.epoch;
                self.outline.interrupted = true;
                self.run_open = Some(line.number);
            }
            RecordKind::UserInput => {
                self.active_epoch = self.epoch;
                self.outline.inputs += 1;
                self.outline.history += 1;
            }
            RecordKind::AssistantItem | RecordKind::ToolResult | RecordKind::SystemItem => {
                self.active_epoch = self.epoch;
                self.items(line, facts, false);
            }
            RecordKind::TurnEnd => {
                if let Some(count) = facts.turn_count {
                    if let Some(expected) = self.expected_turn
                        && count != expected
                    {
                        self.remark_line(
                            Code::TurnCountMismatch,
                            line,
                            format!("turn count {count} where {expected} was expected"),
                            None,
                        );
                    }
                    self.expected_turn = count.checked_add(1);
                    self.outline.turn = count;
                    self.outline.highest_turn = self.outline.highest_turn.max(count);
                }
                self.epoch += 1;
            }
            RecordKind::RunCompleted | RecordKind::RunErrored => {
                self.outline.interrupted = facts.interrupted.unwrap_or(false);
                self.run_open = None;
            }
            RecordKind::PausedTurnAbandoned => self.outline.interrupted = false,
            RecordKind::ConfigChanged => {}
            RecordKind::LlmUsage => {
                self.outline.usage += 1;
                if let Some((input, output)) = facts.tokens {
                    self.outline.input_tokens = self.outline.input_tokens.saturating_add(input);
                    self.outline.output_tokens = self.outline.output_tokens.saturating_add(output);
                    self.outline.last_input_tokens = input;
                }
            }
            RecordKind::Extension => {
                self.outline.extensions += 1;
                if facts.gap {
                    self.outline.gaps += 1;
                    // Turn counts behind a gap start anew.
                    self.expected_turn = None;
                }
            }
        }
        if self.outline.start.is_none() {
            self.before_start += 1;
        }
        self.outline.records += 1;
    }

    fn start(&mut self, line: &Line<'_>, facts: &Facts) {
        if self.outline.start.is_some() {
            let lost = self.outline.records;
            let message = format!(
                "a second segment_start: a restore begins anew here and loses the {} before it",
                records(lost)
            );
            self.remark_line(Code::SecondSegmentStart, line, message, None);
        } else {
            self.outline.start = facts.session.map(|session| Start {
                session,
                forked: facts.forked,
                compacted: facts.compacted,
                line: line.number,
                byte: line.offset,
            });
        }
        let origin = facts.forked.or(facts.compacted);
        self.expected_turn = origin.map_or(Some(1), |origin| origin.turn.checked_add(1));
        self.outline.history = 0;
        self.open.clear();
        self.items(line, facts, true);
        self.epoch += 1;
    }

    fn items(&mut self, line: &Line<'_>, facts: &Facts, seed: bool) {
        self.outline.history += facts.item_count;
        self.too_many_calls |= facts.item_count > facts.items.len() as u64;
        for (n, item) in facts.items.iter().enumerate() {
            let place = seed.then_some(n + 1);
            let id = facts.call_id(item);
            match item.kind {
                ItemKind::ToolCall => {
                    let key = self.calls.hash(id);
                    let fresh = self.remember(key);
                    if self.open.contains_key(&key) || !fresh {
                        let message = format!(
                            "the call id {:?} was used by an earlier call{}",
                            shown(id),
                            in_seed(place)
                        );
                        self.remark_item(Code::DuplicateCallId, line, item.at, message);
                    }
                    if self.open.len() < MAX_OPEN {
                        let call = Open {
                            id: shown(id).into_owned(),
                            line: line.number,
                            byte: item.at,
                            seed: place,
                            epoch: self.epoch,
                        };
                        self.open.insert(key, call);
                    } else {
                        self.too_many_calls = true;
                    }
                }
                ItemKind::ToolResult => {
                    let key = self.calls.hash(id);
                    if self.open.remove(&key).is_some() || self.too_many_calls {
                        continue;
                    }
                    let id = shown(id);
                    if self.calls.contains(key) {
                        let message =
                            format!("a second result for the call {id:?}{}", in_seed(place));
                        self.remark_item(Code::DuplicateCallId, line, item.at, message);
                    } else if self.last_bad.is_some() {
                        // Its call may have stood on the line that can not be read.
                        if let Some(bad) = self.last_bad_line() {
                            bad.lost_calls.push(id.into_owned());
                        }
                    } else {
                        let message = format!(
                            "the result of {id:?} has no call before it{}",
                            in_seed_of(place, facts.items.len())
                        );
                        self.remark_item(Code::OrphanToolResult, line, item.at, message);
                    }
                }
                ItemKind::Message if seed && item.role == Some(Role::User) => {
                    self.epoch += 1;
                    self.active_epoch = self.epoch;
                }
                ItemKind::Message | ItemKind::Reasoning => {}
            }
        }
    }

    /// Notes the hash of a call id; false if it was there.
    fn remember(&mut self, key: u64) -> bool {
        if self.calls.seen.len() >= MAX_CALLS {
            self.too_many_calls = true;
            return true;
        }
        self.calls.insert(key)
    }
}

fn records(n: u64) -> String {
    plural(n, "record", "records")
}

/// An id as a message shows it.
fn shown(id: &str) -> Cow<'_, str> {
    match id.char_indices().nth(MAX_SHOWN) {
        None => id.into(),
        Some((end, _)) => format!("{}…", &id[..end]).into(),
    }
}

fn in_seed(place: Option<usize>) -> String {
    place.map_or_else(String::new, |n| format!(" (seed history, item {n})"))
}

fn in_seed_of(place: Option<usize>, all: usize) -> String {
    place.map_or_else(String::new, |n| {
        format!(" (seed history, item {n} of {all})")
    })
}
