//! The records of a Segment as a person reads them, one after the other, in flat memory.
//!
//! Only committed lines are shown. A line that is no good record is shown as such and reading goes
//! on; of a very long one only the beginning is looked at.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::Value;

use super::diff::speaker;
use crate::diag::{Code, Result, plural};
use crate::ops::read::{SegmentFile, Time, open_error};
use crate::record::preview::close;
use crate::record::{
    Facts, Format, ItemKind, Limits, Line, RecordKind, Role, Scanner, Source, Verdict,
};

/// So many bytes of a line are looked at for its text.
pub const PREVIEW: usize = 64 * 1024;

/// One committed line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Counts from 1.
    pub line: u64,
    /// Offset of its first byte from the start of the file.
    pub byte: u64,
    /// Its length in bytes, without the newline.
    pub length: u64,
    /// The time of the record.
    pub time: Option<Time>,
    /// The kind of the record; none if it is no good one.
    #[serde(serialize_with = "kind_word")]
    pub kind: Option<RecordKind>,
    /// Who speaks: `user`, `assistant`, `system`, `tool`; none where nobody does.
    pub speaker: Option<&'static str>,
    /// What it says, for a person.
    pub text: String,
    /// Whether the text is only the beginning.
    pub truncated: bool,
    /// What is wrong with the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
}

fn kind_word<S: serde::Serializer>(
    kind: &Option<RecordKind>,
    s: S,
) -> std::result::Result<S::Ok, S::Error> {
    kind.map(RecordKind::as_str).serialize(s)
}

/// Which lines are shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// From this line on, counted from 1.
    pub from: Option<u64>,
    /// Only records of these kinds; all lines if empty.
    pub kinds: Vec<RecordKind>,
    /// So many and no more.
    pub limit: Option<u64>,
}

/// Reads a Segment as it grows: each call of [`Reader::read`] goes on where the last one ended.
#[derive(Debug)]
pub struct Reader {
    filter: Filter,
    /// Where the next line begins.
    at: u64,
    /// Its number.
    number: u64,
    /// What was shown.
    shown: u64,
    /// Lines that are no good record, among those that were looked at.
    bad: u64,
}

/// What a visitor is shown: the line as it is stored, and what it says where that is wanted.
pub struct Seen<'a> {
    /// As the scanner saw it, which may have begun in the middle of the file.
    line: &'a Line<'a>,
    file: &'a File,
    /// Offset of its first byte from the start of the file.
    at: u64,
    /// Counts from 1, from the start of the file.
    number: u64,
}

impl Reader {
    /// A reader at the beginning of a file.
    #[must_use]
    pub fn new(filter: Filter) -> Self {
        Self {
            filter,
            at: 0,
            number: 1,
            shown: 0,
            bad: 0,
        }
    }

    /// How many lines were shown.
    #[must_use]
    pub const fn shown(&self) -> u64 {
        self.shown
    }

    /// How many lines that were looked at are no good record.
    #[must_use]
    pub const fn bad(&self) -> u64 {
        self.bad
    }

    /// Where the next line begins: all before it has been read.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// Whether as many lines were shown as were asked for.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.filter.limit.is_some_and(|limit| self.shown >= limit)
    }

    /// Begins anew in a file that replaced the one read so far.
    pub fn restart(&mut self) {
        (self.at, self.number) = (0, 1);
    }

    /// Shows the committed lines of the file that were not read yet. Returns the bytes behind the
    /// last newline.
    ///
    /// # Errors
    /// Reading fails. What a visitor says about its own errors is its own affair: it stops.
    pub fn read(
        &mut self,
        file: &SegmentFile,
        mut visit: impl FnMut(&Seen<'_>) -> ControlFlow<()>,
    ) -> Result<u64> {
        self.go(file, &mut visit)
            .map_err(|e| open_error(&file.path, e))
    }

    fn go(
        &mut self,
        file: &SegmentFile,
        visit: &mut dyn FnMut(&Seen<'_>) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let len = file.stat.len;
        if let Some(from) = self.filter.from
            && self.number < from
        {
            self.skip_to(&file.file, from, len)?;
            if self.number < from {
                return Ok(len.saturating_sub(self.at));
            }
        }
        if self.is_full() {
            return Ok(0);
        }
        let base = self.at;
        let part = Part {
            file: &file.file,
            base,
        };
        let first = self.number;
        let scanned = Scanner::new(Limits::default()).scan(
            &part,
            len.saturating_sub(base),
            Format::Segment,
            |line| {
                self.at = base + line.offset + line.length + 1;
                self.number = first + line.number;
                let wanted = match &line.verdict {
                    Verdict::Record(facts) => {
                        let kind = facts.kind();
                        self.filter.kinds.is_empty()
                            || kind.is_some_and(|kind| self.filter.kinds.contains(&kind))
                    }
                    Verdict::Bad(_) => {
                        self.bad += 1;
                        self.filter.kinds.is_empty()
                    }
                    Verdict::Blank => self.filter.kinds.is_empty(),
                };
                if !wanted {
                    return ControlFlow::Continue(());
                }
                if !matches!(line.verdict, Verdict::Blank) {
                    self.shown += 1;
                }
                visit(&Seen {
                    line,
                    file: &file.file,
                    at: base + line.offset,
                    number: self.number - 1,
                })?;
                if self.is_full() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(scanned.tail.map_or(0, |tail| tail.length))
    }

    /// Passes over whole lines without looking into them.
    fn skip_to(&mut self, source: &File, from: u64, len: u64) -> io::Result<()> {
        let mut buf = vec![0; 256 * 1024];
        let mut at = self.at;
        while at < len && self.number < from {
            let room = usize::try_from(len - at)
                .unwrap_or(buf.len())
                .min(buf.len());
            let n = source.read_at(&mut buf[..room], at)?;
            if n == 0 {
                break;
            }
            for newline in memchr::memchr_iter(b'\n', &buf[..n]) {
                self.number += 1;
                self.at = at + newline as u64 + 1;
                if self.number == from {
                    return Ok(());
                }
            }
            at += n as u64;
        }
        Ok(())
    }
}

/// A file from an offset on.
struct Part<'a> {
    file: &'a File,
    base: u64,
}

impl Source for Part<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        Source::read_at(self.file, buf, self.base + offset)
    }
}

impl Seen<'_> {
    /// Hands the stored bytes of the line over, its line end included, a piece at a time.
    ///
    /// # Errors
    /// Reading fails, or taking does.
    pub fn stored(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let end: &[u8] = if self.line.crlf { b"\r\n" } else { b"\n" };
        if let Some(bytes) = self.line.bytes {
            take(bytes)?;
            return take(end);
        }
        let mut buf = vec![0; 256 * 1024];
        let (mut at, end) = (self.at, self.at + self.line.length + 1);
        while at < end {
            let room = usize::try_from(end - at)
                .unwrap_or(buf.len())
                .min(buf.len());
            match Source::read_at(self.file, &mut buf[..room], at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    take(&buf[..n])?;
                    at += n as u64;
                }
            }
        }
        Ok(())
    }

    /// What the line says; none for a blank one.
    ///
    /// # Errors
    /// Reading fails.
    pub fn entry(&self) -> io::Result<Option<Entry>> {
        let line = self.line;
        let mut entry = Entry {
            line: self.number,
            byte: self.at,
            length: line.length,
            time: None,
            kind: None,
            speaker: None,
            text: String::new(),
            truncated: false,
            code: None,
        };
        match &line.verdict {
            Verdict::Blank => return Ok(None),
            Verdict::Bad(fault) => {
                entry.code = Some(fault.code);
                entry.text.clone_from(&fault.message);
            }
            Verdict::Record(facts) => {
                let (head, whole) = self.head()?;
                entry.truncated = !whole;
                entry.time = Time::from_ms(facts.ts);
                entry.kind = facts.kind();
                let text = String::from_utf8_lossy(&head);
                let text = if whole {
                    text
                } else {
                    Cow::Owned(close(&text))
                };
                if let (Some(kind), Ok(value)) =
                    (facts.kind(), serde_json::from_str::<Value>(&text))
                {
                    (entry.speaker, entry.text) = says(kind, facts, &value);
                }
            }
        }
        Ok(Some(entry))
    }

    /// The beginning of the line, cut between characters, and whether that is all of it.
    fn head(&self) -> io::Result<(Cow<'_, [u8]>, bool)> {
        let mut head = match self.line.bytes {
            Some(bytes) if bytes.len() <= PREVIEW => return Ok((Cow::Borrowed(bytes), true)),
            Some(bytes) => bytes[..PREVIEW].to_vec(),
            None => {
                let mut buf = vec![0; PREVIEW];
                let mut done = 0;
                while done < buf.len() {
                    match Source::read_at(self.file, &mut buf[done..], self.at + done as u64)? {
                        0 => break,
                        n => done += n,
                    }
                }
                buf.truncate(done);
                buf
            }
        };
        if let Err(e) = std::str::from_utf8(&head) {
            head.truncate(e.valid_up_to());
        }
        Ok((Cow::Owned(head), false))
    }
}

/// Who speaks in a record and what it says. Of a long record only the beginning is there, so every
/// field may be missing.
fn says(kind: RecordKind, facts: &Facts, value: &Value) -> (Option<&'static str>, String) {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    match kind {
        RecordKind::SegmentStart => (None, start(facts, value)),
        RecordKind::Invoke => (None, text("trigger")),
        RecordKind::UserInput => (Some("user"), parts(&value["segments"])),
        RecordKind::AssistantItem | RecordKind::ToolResult => item(&value["item"]),
        RecordKind::SystemItem => (Some("system"), system(&value["item"])),
        RecordKind::TurnEnd => (
            None,
            facts
                .turn_count
                .map_or_else(String::new, |n| format!("turn {n}")),
        ),
        RecordKind::RunCompleted => (None, ended(text("result"), facts)),
        RecordKind::RunErrored => (None, ended(text("message"), facts)),
        RecordKind::PausedTurnAbandoned => (None, String::new()),
        RecordKind::ConfigChanged => (None, config(&value["config"])),
        RecordKind::LlmUsage => (None, usage(value)),
        RecordKind::Extension => {
            let payload = match &value["payload"] {
                Value::Null => String::new(),
                payload => format!(" {payload}"),
            };
            (None, format!("{}{payload}", text("domain")))
        }
    }
}

fn start(facts: &Facts, value: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(session) = facts.session {
        parts.push(format!("Session {session}"));
    }
    if let Some(from) = facts.forked {
        parts.push(format!(
            "forked from {} at turn {}",
            from.segment, from.turn
        ));
    }
    if let Some(from) = facts.compacted {
        parts.push(format!(
            "compacted from {} at turn {}",
            from.segment, from.turn
        ));
    }
    match facts.item_count {
        0 => {}
        1 => parts.push("1 item of seed history".to_owned()),
        n => parts.push(format!("{n} items of seed history")),
    }
    if let Some(prompt) = value["system_prompt"].as_str() {
        parts.push(format!("prompt: {prompt}"));
    }
    parts.join(", ")
}

fn parts(segments: &Value) -> String {
    let mut out = String::new();
    for part in segments.as_array().into_iter().flatten() {
        let text = |key: &str| part[key].as_str().unwrap_or_default();
        match text("kind") {
            "text" | "paste" => out.push_str(text("content")),
            "file_ref" => {
                out.push('@');
                out.push_str(text("path"));
            }
            "flow" => {
                out.push_str("[Flow: ");
                out.push_str(text("selector"));
                out.push(']');
            }
            _ => {}
        }
    }
    out
}

fn item(item: &Value) -> (Option<&'static str>, String) {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let list = |key: &str, inner: &dyn Fn(&Value) -> String| {
        let all = item[key].as_array().into_iter().flatten();
        all.map(inner).collect::<Vec<String>>().join("\n")
    };
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match text("kind") {
        "tool_call" => (
            Some(speaker(ItemKind::ToolCall, None)),
            format!("{} {}", text("name"), text("arguments")),
        ),
        "tool_result" => {
            let mut out = String::new();
            if item["is_error"] == Value::Bool(true) {
                out.push_str("error: ");
            }
            out.push_str(text("summary"));
            if let Some(content) = item["content"].as_str() {
                out.push('\n');
                out.push_str(content);
            }
            match item["attachments"].as_array().map_or(0, Vec::len) {
                0 => {}
                1 => out.push_str("\n[1 attachment]"),
                n => out.push_str(&format!("\n[{n} attachments]")),
            }
            (Some(speaker(ItemKind::ToolResult, None)), out)
        }
        "reasoning" => {
            let summary = list("summary", &string);
            let out = if text("text").is_empty() {
                summary
            } else {
                text("text").to_owned()
            };
            (
                Some(speaker(ItemKind::Reasoning, None)),
                format!("[reasoning] {out}"),
            )
        }
        _ => {
            let role = match text("role") {
                "user" => Some(Role::User),
                "system" => Some(Role::System),
                _ => Some(Role::Assistant),
            };
            let said = |part: &Value| match part["refusal"].as_str() {
                Some(refusal) => format!("[refusal] {refusal}"),
                None => string(&part["text"]),
            };
            (
                Some(speaker(ItemKind::Message, role)),
                list("content", &said),
            )
        }
    }
}

fn system(item: &Value) -> String {
    let kind = item["kind"].as_str().unwrap_or_default();
    let body = item["body"].as_str().or_else(|| item["slug"].as_str());
    match body {
        Some(body) => format!("[{kind}] {body}"),
        None => format!("[{kind}]"),
    }
}

fn ended(text: String, facts: &Facts) -> String {
    if facts.interrupted == Some(true) {
        format!("{text}, interrupted")
    } else {
        text
    }
}

/// The fields of a config that are set.
fn config(config: &Value) -> String {
    let set = config
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, v)| !v.is_null() && v.as_array().is_none_or(|all| !all.is_empty()));
    let all: Vec<String> = set
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}={text}"),
            None => format!("{key}={value}"),
        })
        .collect();
    if all.is_empty() {
        "all by default".to_owned()
    } else {
        all.join(" ")
    }
}

fn usage(value: &Value) -> String {
    let n = |key: &str| value[key].as_u64().unwrap_or_default();
    let mut out = plural(n("input_total_tokens"), "token in", "tokens in");
    if n("cache_read_tokens") > 0 {
        out.push_str(&format!(" ({} from the cache)", n("cache_read_tokens")));
    }
    out.push_str(&format!(
        ", {} out, {} of history",
        n("output_tokens"),
        plural(n("history_len"), "item", "items")
    ));
    out
}
