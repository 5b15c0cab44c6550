//! What a line that is no good record still holds, and which edits bring that out.
//!
//! Every record that stands whole on the line is kept to the byte. What goes is what was never a
//! record: NUL bytes, a byte order mark, the start of a record that was cut and then written again.
//! Half a surrogate pair becomes U+FFFD. What can not be read at all is named, and left to the
//! caller, since taking it out loses something that was committed.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use super::diagnose::{BOM, utf8_bounds, whole_after};
use super::edit::Edit;
use super::json::Fault;
use super::scan::Format;
use super::shape::Ty;
use super::source::{Source, read_full};
use super::view::View;
use crate::diag::Code;

/// Why bytes of a line change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A newline was missing between two records.
    Newline,
    /// NUL bytes, a byte order mark: never a part of a record.
    Filling,
    /// The start of a record, behind which it, or another, stands whole.
    Stub,
    /// Half a surrogate pair.
    Surrogate,
}

/// What can be done for a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mending {
    /// What has to change, in order, and why. None overlaps another or what can not be read.
    pub edits: Vec<(Edit, Why)>,
    /// How many whole records it holds then.
    pub records: u64,
    /// What can not be read. Each stands between newlines once the edits are made, the first and
    /// the last of the line aside.
    pub lost: Vec<Range<u64>>,
}

impl Mending {
    /// Whether nothing is lost.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.records > 0 && self.lost.is_empty()
    }
}

/// Looks for what a line still holds. `line` is its place without the newline and a carriage
/// return before it.
///
/// # Errors
/// Those of reading the source.
pub fn mend<S: Source + ?Sized>(
    source: &S,
    line: Range<u64>,
    format: Format,
) -> io::Result<Mending> {
    let failed = RefCell::new(None);
    let view = View::Long {
        source,
        start: line.start,
        end: line.end,
        failed: &failed,
    };
    let mending = mend_view(&view, format.ty());
    match failed.into_inner() {
        Some(e) => Err(e),
        None => Ok(mending),
    }
}

fn mend_view<S: Source + ?Sized>(line: &View<'_, S>, ty: &'static Ty) -> Mending {
    let mut mending = Mending::default();
    let end = line.end();
    let bad = utf8_bounds(line);
    let readable = |part: &Range<u64>| match &bad {
        Some(bad) => part.end <= bad.start || part.start >= bad.end,
        None => true,
    };
    let mut at = line.start();
    let mut anything = false;
    loop {
        let filling = filling(line, at);
        let rest = at + filling;
        let over = rest >= end || is_blank(line, rest);
        // Records and what can not be read each get a line of their own.
        let newline = if anything && !over { "\n" } else { "" };
        if filling > 0 || !newline.is_empty() {
            let why = if filling > 0 {
                Why::Filling
            } else {
                Why::Newline
            };
            mending.edits.push((edit(at, filling, newline), why));
        }
        at = rest;
        if over {
            break;
        }
        anything = true;
        let (walk, halves) = line.check_mending(at, ty);
        let value = at..walk.end;
        if walk.fault.is_none() && readable(&value) {
            let replaced = |half: u64| (edit(half, 6, "\\ufffd"), Why::Surrogate);
            mending.edits.extend(halves.into_iter().map(replaced));
            mending.records += 1;
        } else if !walk.broken && readable(&value) {
            // JSON, and no record: what follows it may be one.
            mending.lost.push(value);
        } else if !is_too_deep(walk.fault.as_ref())
            && let Some(next) = whole_after(line, (at + 1).max(bad_end(&bad)), ty)
        {
            // Before a whole record stands the start of one.
            mending.edits.push((edit(at, next - at, ""), Why::Stub));
            // It stands behind a newline already, or at the start of the line.
            anything = false;
            at = next;
            continue;
        } else {
            mending.lost.push(at..end);
            break;
        }
        if !walk.more {
            break;
        }
        at = walk.end;
    }
    if mending.records == 0 && mending.lost.is_empty() {
        // Nothing but filling: a record that never reached the disk.
        mending.edits.clear();
        mending.lost.push(line.start()..end);
    }
    mending
}

fn edit(offset: u64, length: u64, with: &str) -> Edit {
    Edit {
        offset,
        length,
        with: with.to_owned(),
    }
}

fn bad_end(bad: &Option<Range<u64>>) -> u64 {
    bad.as_ref().map_or(0, |bad| bad.end)
}

fn is_too_deep(fault: Option<&Fault>) -> bool {
    fault.is_some_and(|fault| fault.code == Code::TooDeep)
}

/// How many bytes of NUL and byte order marks stand at a place.
fn filling<S: Source + ?Sized>(line: &View<'_, S>, from: u64) -> u64 {
    let mut at = from;
    loop {
        let before = at;
        line.each(at, 0, |bytes, base| {
            match bytes.iter().position(|b| *b != 0) {
                Some(n) => {
                    at = base + n as u64;
                    false
                }
                None => {
                    at = base + bytes.len() as u64;
                    true
                }
            }
        });
        if line.peek(at, BOM.len()) == BOM {
            at += BOM.len() as u64;
        }
        if at == before {
            return at - from;
        }
    }
}

fn is_blank<S: Source + ?Sized>(line: &View<'_, S>, from: u64) -> bool {
    let mut blank = true;
    line.each(from, 0, |bytes, _| {
        blank &= bytes.iter().all(|b| b" \t\r".contains(b));
        blank
    });
    blank
}

/// Where a JSON value ends that begins at `from` of a line, white space behind it included.
///
/// # Errors
/// Those of reading the source.
pub fn value_end<S: Source + ?Sized>(source: &S, from: u64, line_end: u64) -> io::Result<u64> {
    static ANY: Ty = Ty::Any;
    let failed = RefCell::new(None);
    let view = View::Long {
        source,
        start: from,
        end: line_end,
        failed: &failed,
    };
    let (walk, _) = view.check_mending(from, &ANY);
    match failed.into_inner() {
        Some(e) => Err(e),
        None => Ok(walk.end),
    }
}

/// How much is read of what can not be read.
const SNIFF: u64 = 4096;

/// What a record that can not be read seems to have been.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sniff {
    /// The kinds that it names, the record's first.
    pub kinds: Vec<String>,
    /// The call that it speaks of.
    pub call_id: Option<String>,
    /// Its time, in milliseconds since 1970.
    pub ts: Option<u64>,
}

/// Guesses what bytes were, from the little of them that looks like a record. For messages only.
///
/// # Errors
/// Those of reading the source.
pub fn sniff<S: Source + ?Sized>(source: &S, range: &Range<u64>) -> io::Result<Sniff> {
    let len = (range.end - range.start).min(SNIFF);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    let got = read_full(source, &mut bytes, range.start)?;
    let text = String::from_utf8_lossy(&bytes[..got]);
    let word = |from: &str, key: &str| -> Option<String> {
        let rest = &from[from.find(key)? + key.len()..];
        let word = &rest[..rest.find('"')?];
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.:".contains(&b);
        (!word.is_empty() && word.len() <= 128 && word.bytes().all(plain)).then(|| word.to_owned())
    };
    let mut kinds = Vec::new();
    let mut rest: &str = &text;
    while let Some(at) = rest.find("\"kind\":\"").filter(|_| kinds.len() < 2) {
        kinds.extend(word(&rest[at..], "\"kind\":\""));
        rest = &rest[at + 8..];
    }
    let ts = text.find("\"ts\":").and_then(|at| {
        let digits: String = text[at + 5..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    });
    Ok(Sniff {
        kinds,
        call_id: word(&text, "\"call_id\":\""),
        ts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::edit::Rope;
    use crate::record::{Edited, scan::is_record};

    const A: &str = r#"{"kind":"turn_end","ts":1,"turn_count":1}"#;
    const B: &str = r#"{"kind":"run_completed","ts":2,"interrupted":false,"result":"finished"}"#;
    const STUB: &str = r#"{"kind":"assistant_item","ts":1,"item":{"ki"#;
    const HALF: &str =
        r#"{"kind":"extension","ts":1,"domain":"x","payload":"\ud83c\ud83c\udf89 \udf89"}"#;

    fn mended(line: &[u8]) -> (Mending, Vec<u8>) {
        let len = line.len() as u64;
        let mending = mend(line, 0..len, Format::Segment).unwrap();
        let edits: Vec<Edit> = mending.edits.iter().map(|(edit, _)| edit.clone()).collect();
        let rope = Rope::edited(len, &edits);
        let mut out = vec![0; rope.len() as usize];
        read_full(&Edited::new(line, &rope), &mut out, 0).unwrap();
        (mending, out)
    }

    fn cat(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    /// Nothing that is a record goes, whatever stands around it.
    #[test]
    fn whole_records_are_kept_and_stand_alone() {
        let (a, b, stub) = (A.as_bytes(), B.as_bytes(), STUB.as_bytes());
        let rows: &[(Vec<u8>, &[&[u8]])] = &[
            (cat(&[a, b]), &[a, b]),
            (cat(&[a, b"  ", b]), &[b"_", b]),
            (cat(&[a, b, a]), &[a, b, a]),
            (cat(&[&[0; 300], a]), &[a]),
            (cat(&[&[0; 3], a, &[0; 2], b]), &[a, b]),
            (cat(&[a, &[0; 2]]), &[a]),
            (cat(&[BOM, a]), &[a]),
            (cat(&[&[0; 2], BOM, &[0; 2], a]), &[a]),
            (cat(&[stub, a]), &[a]),
            (cat(&[a, stub, b]), &[a, b]),
            (cat(&[stub, a, b]), &[a, b]),
            (cat(&[stub, b"\xe5", b]), &[b]),
            (cat(&[a, stub, b"\xe5\xbc", b]), &[a, b]),
        ];
        for (line, records) in rows {
            let (mending, out) = mended(line);
            let what = String::from_utf8_lossy(line);
            assert!(mending.is_whole(), "{what}: {mending:?}");
            assert_eq!(mending.records, records.len() as u64, "{what}");
            let lines: Vec<&[u8]> = out.split(|b| *b == b'\n').collect();
            assert_eq!(lines.len(), records.len(), "{what}");
            for (got, want) in lines.iter().zip(*records) {
                assert!(is_record(got, Format::Segment), "{what}");
                assert!(*want == b"_" || got == want, "{what}");
            }
        }
    }

    #[test]
    fn a_half_pair_becomes_the_replacement_character() {
        let (mending, out) = mended(HALF.as_bytes());
        assert!(mending.is_whole());
        let wanted = HALF
            .replacen("\\ud83c\\ud83c", "\\ufffd\\ud83c", 1)
            .replace(" \\udf89", " \\ufffd");
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
        assert!(is_record(wanted.as_bytes(), Format::Segment));
        // where the kind is looked for ahead, too
        let late = r#"{"domain":"\ud83c","payload":1,"ts":1,"kind":"extension"}"#;
        assert!(mended(late.as_bytes()).0.is_whole());
    }

    #[test]
    fn what_can_not_be_read_is_named_and_the_rest_kept() {
        let (a, stub) = (A.as_bytes(), STUB.as_bytes());
        let odd = br#"{"kind":"turn_end","ts":1}"#;
        let deep = format!(
            r#"{{"kind":"extension","ts":1,"domain":"x","payload":{}{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let at = |from: usize, len: usize| from as u64..(from + len) as u64;
        type Row = (Vec<u8>, u64, Vec<Range<u64>>);
        let rows: &[Row] = &[
            (stub.to_vec(), 0, vec![at(0, stub.len())]),
            (cat(&[a, b" x"]), 1, vec![at(a.len() + 1, 1)]),
            (cat(&[odd, a]), 1, vec![at(0, odd.len())]),
            (cat(&[a, odd, a]), 2, vec![at(a.len(), odd.len())]),
            (vec![0; 7], 0, vec![at(0, 7)]),
            (cat(&[&[0; 7], b"\r"]), 0, vec![at(0, 8)]),
            (b"\xff".to_vec(), 0, vec![at(0, 1)]),
            (deep.clone().into_bytes(), 0, vec![at(0, deep.len())]),
        ];
        for (line, records, lost) in rows {
            let what = String::from_utf8_lossy(line);
            let (mending, _) = mended(line);
            assert!(!mending.is_whole(), "{what}");
            assert_eq!((mending.records, &mending.lost), (*records, lost), "{what}");
        }
    }

    #[test]
    fn what_a_broken_record_was_is_guessed() {
        let line = b"{\"kind\":\"tool_result\",\"ts\":17,\"item\":{\"kind\":\"tool_result\",\"call_id\":\"call_1\",\"su\xe2\x80";
        let sniff = sniff(&line[..], &(0..line.len() as u64)).unwrap();
        assert_eq!(sniff.kinds, ["tool_result", "tool_result"]);
        assert_eq!(sniff.call_id.as_deref(), Some("call_1"));
        assert_eq!(sniff.ts, Some(17));
        let nothing = super::sniff(&b"word"[..], &(0..4)).unwrap();
        assert_eq!(nothing, Sniff::default());
    }
}
