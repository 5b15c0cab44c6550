//! What a person can check of a history that nobody owns: sizes, counts, first and last times.
//!
//! The cost of one folder is bounded: its names and sizes, and a few reads in its Segments.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use jiff::Timestamp;
use serde::Serialize;

use crate::layout::{SegmentEntry, classify_segment};
use crate::record::{Format, Limits, Scanner, Source, Verdict};
use crate::store::{Dir, EntryKind};

/// Bytes of one folder that are read as a whole, so that records can be counted.
const COUNTED: u64 = 256 * 1024;
/// Segments of one folder whose first and last records are looked at.
const LOOKED_AT: usize = 16;
/// How much of the end of a Segment is read for its last record.
const END: u64 = 16 * 1024;

/// A folder of Segments, from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct History {
    /// Segments.
    pub segments: u64,
    /// Traces.
    pub traces: u64,
    /// Anything else.
    pub others: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Good records, if the Segments are small enough to count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// When its first record was written.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub first: Option<Timestamp>,
    /// When its last record was written; of long Segments the last one near the end.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub last: Option<Timestamp>,
    /// The name of the first Segment.
    #[serde(skip)]
    pub a_segment: Option<OsString>,
}

impl History {
    /// `2 Segments, 1 trace, 3.1 KiB; 34 records from … to …`
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = count(self.segments, "Segment", "Segments");
        if self.traces > 0 {
            text.push_str(&format!(", {}", count(self.traces, "trace", "traces")));
        }
        if self.others > 0 {
            text.push_str(&format!(", {} of another kind", self.others));
        }
        text.push_str(&format!(", {}", count(self.bytes, "byte", "bytes")));
        match (self.records, self.first, self.last) {
            (Some(0), ..) => text.push_str("; no record"),
            (Some(n), Some(first), Some(last)) => {
                let records = count(n, "record", "records");
                text.push_str(&format!("; {records} from {first:.0} to {last:.0}"));
            }
            (None, Some(first), Some(last)) => {
                text.push_str(&format!("; records from {first:.0} to {last:.0}"));
            }
            _ => {}
        }
        text
    }
}

/// `1 record`, `3 records`
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Looks into folders of Segments, one after the other, with one buffer.
pub struct Looker {
    scanner: Scanner,
}

impl Looker {
    /// One with a small buffer.
    #[must_use]
    pub fn new() -> Self {
        let limits = Limits {
            buffer: 64 * 1024,
            ..Limits::default()
        };
        Self {
            scanner: Scanner::new(limits),
        }
    }

    /// Looks into one folder. What can not be read inside is left out of the counts.
    ///
    /// # Errors
    /// The folder can not be listed.
    pub fn look(&mut self, dir: &Dir) -> io::Result<History> {
        let mut history = History::default();
        let mut segments = Vec::new();
        for entry in dir.entries()? {
            if entry.kind != EntryKind::File {
                history.others += 1;
                continue;
            }
            let Ok(stat) = dir.stat(&entry.name) else {
                continue;
            };
            history.bytes += stat.len;
            match entry.name.to_str().map(classify_segment) {
                Some(SegmentEntry::Segment(_) | SegmentEntry::Alias { trace: false, .. }) => {
                    history.segments += 1;
                    segments.push((entry.name, stat.len));
                }
                Some(SegmentEntry::Trace(_) | SegmentEntry::Alias { trace: true, .. }) => {
                    history.traces += 1;
                }
                _ => history.others += 1,
            }
        }
        history.a_segment = segments.first().map(|(name, _)| name.clone());
        let all: u64 = segments.iter().map(|(_, len)| *len).sum();
        let countable = segments.len() <= LOOKED_AT && all <= COUNTED;
        // Ids rise with time, so the first and the last Segments hold the first and last records.
        let skip = LOOKED_AT / 2..segments.len().saturating_sub(LOOKED_AT / 2);
        let (mut records, mut first, mut last) = (0, None::<u64>, None::<u64>);
        for (index, (name, len)) in segments.iter().enumerate() {
            if !countable && segments.len() > LOOKED_AT && skip.contains(&index) {
                continue;
            }
            let Ok(file) = dir.file(name) else { continue };
            let mut see = |ts: u64| {
                first = Some(first.map_or(ts, |old| old.min(ts)));
                last = Some(last.map_or(ts, |old| old.max(ts)));
            };
            if countable {
                self.records(&file, *len, |ts| {
                    records += 1;
                    see(ts);
                    ControlFlow::Continue(())
                });
            } else {
                self.records(&file, *len, |ts| {
                    see(ts);
                    ControlFlow::Break(())
                });
                self.last_record(&file, *len, see);
            }
        }
        history.records = countable.then_some(records);
        history.first = first.and_then(timestamp);
        history.last = last.and_then(timestamp);
        Ok(history)
    }

    /// Shows the time of each good record until `see` says stop.
    fn records<S: Source + ?Sized>(
        &mut self,
        source: &S,
        len: u64,
        mut see: impl FnMut(u64) -> ControlFlow<()>,
    ) {
        // A file that fails to be read has shown what could be.
        let _ = self
            .scanner
            .scan(source, len, Format::Segment, |line| match &line.verdict {
                Verdict::Record(facts) => see(facts.ts),
                _ => ControlFlow::Continue(()),
            });
    }

    fn last_record<S: Source + ?Sized>(&mut self, source: &S, len: u64, mut see: impl FnMut(u64)) {
        let from = len.saturating_sub(END);
        let mut end = vec![0; usize::try_from(len - from).unwrap_or(0)];
        let mut filled = 0;
        while filled < end.len() {
            match source.read_at(&mut end[filled..], from + filled as u64) {
                Ok(0) | Err(_) => break,
                Ok(n) => filled += n,
            }
        }
        let end = &end[..filled];
        // The line that is cut at the front is none.
        let Some(start) = memchr::memchr(b'\n', end) else {
            return;
        };
        let lines = &end[start + 1..];
        self.records(lines, lines.len() as u64, |ts| {
            see(ts);
            ControlFlow::Continue(())
        });
    }
}

/// A time as JSON has it.
pub(super) fn rfc3339<S: serde::Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// Milliseconds since 1970 as a time; none where no calendar has it.
pub(super) fn timestamp(ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ts: u64) -> String {
        format!("{{\"kind\":\"paused_turn_abandoned\",\"ts\":{ts}}}\n")
    }

    fn look(files: &[(&str, String)]) -> History {
        let temp = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(temp.path().join(name), text).unwrap();
        }
        Looker::new()
            .look(&Dir::open_root(temp.path()).unwrap())
            .unwrap()
    }

    const A: &str = "01890000-0000-7000-8000-00000000000a.jsonl";
    const B: &str = "01890000-0000-7000-8000-00000000000b.jsonl";

    #[test]
    fn small_histories_are_counted() {
        let history = look(&[
            (
                A,
                line(1_700_000_000_000) + "not a record\n" + &line(1_700_000_002_000) + "torn",
            ),
            (B, line(1_700_000_001_000)),
            ("notes.txt", "x".to_owned()),
        ]);
        assert_eq!((history.segments, history.others), (2, 1));
        assert!(
            history
                .describe()
                .ends_with("3 records from 2023-11-14T22:13:20Z to 2023-11-14T22:13:22Z"),
            "{}",
            history.describe()
        );
        let nothing = look(&[]);
        assert_eq!(nothing.describe(), "0 Segments, 0 bytes; no record");
    }

    /// The cost of a folder does not grow with the length of its Segments.
    #[test]
    fn of_long_histories_only_the_ends_are_read() {
        struct Counting<'a>(&'a [u8], std::cell::Cell<u64>);
        impl Source for Counting<'_> {
            fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
                let n = self.0.read_at(buf, offset)?;
                self.1.set(self.1.get() + n as u64);
                Ok(n)
            }
        }
        let text: String = (0..100_000).map(|n| line(1_700_000_000_000 + n)).collect();
        let source = Counting(text.as_bytes(), std::cell::Cell::new(0));
        let mut looker = Looker::new();
        let len = text.len() as u64;
        let mut seen = Vec::new();
        looker.records(&source, len, |ts| {
            seen.push(ts);
            ControlFlow::Break(())
        });
        looker.last_record(&source, len, |ts| seen.push(ts));
        assert_eq!(seen.first(), Some(&1_700_000_000_000));
        assert_eq!(seen.last(), Some(&1_700_000_099_999));
        assert!(source.1.get() < 200 * 1024, "{}", source.1.get());
        let history = look(&[(A, text)]);
        assert_eq!(history.records, None);
        assert!(
            history
                .describe()
                .ends_with("; records from 2023-11-14T22:13:20Z to 2023-11-14T22:14:59Z"),
            "{}",
            history.describe()
        );
    }
}
