//! What can not be read on a line makes room for a record that says what stood there, so that no
//! reader takes the gap for the whole history.

use std::io;
use std::ops::Range;

use serde_json::json;

use super::lines::{BadLine, Change, Lines, Seen};
use super::pairs::OPERATION;
use super::{Item, bytes, manual};
use crate::diag::{Code, Finding, RepairClass, plural};
use crate::record::facts::REPAIR_DOMAIN;
use crate::record::mend::{self, Mending, Sniff};
use crate::record::{Edit, Format, Source};

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

impl Lines<'_> {
    /// A line that holds what can not be read: that goes, and a record says so.
    pub fn lossy(
        &self,
        finding: Finding,
        bad: &BadLine,
        mending: &Mending,
        seen: &Seen,
    ) -> io::Result<(Item, Vec<Change>)> {
        // The head of a Segment is no record like others: without it nothing can be restored.
        let behind = match (bad.before_start, &seen.start) {
            (false, _) => None,
            (true, Some(start)) if mending.records == 0 => Some(start),
            (true, _) => {
                let mut item = manual::item(finding, None);
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
                ts: behind.map_or(bad.ts, |start| start.ts),
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
                        offset: behind.end,
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
