//! What is wrong with a line that did not check: the cold path of the scanner.
//!
//! A line is one record, so a fault has one cause, and the cause is what a person can act on: NUL
//! bytes before a whole record, two records on one line, the stub of a record before a whole one.

use std::ops::Range;

use memchr::memmem;

use super::json::{Fault, NoSink, Walk};
use super::shape::Ty;
use super::source::Source;
use super::view::View;
use crate::diag::{Code, plural};

/// The byte order mark of UTF-8.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// How many starts of a record are tried on one line before it is just broken.
const MAX_TRIES: usize = 64;

/// A stub before a whole record is looked for as long as the tries together look at no more than
/// this many bytes beyond the line's own length.
const MAX_EXTRA: u64 = 4 * 1024 * 1024;

/// Names the cause of a fault that `walk` met on a line.
pub(crate) fn diagnose<S: Source + ?Sized>(
    line: &View<'_, S>,
    ty: &'static Ty,
    walk: Walk,
    utf8: Option<u64>,
) -> Fault {
    if let Some(fault) = nul_bytes(line, ty) {
        return fault;
    }
    let (start, end) = (line.start(), line.end());
    if let Some(at) = utf8 {
        // An append that was cut inside a character leaves such bytes before a whole record.
        let clean = utf8_bounds(line).map_or(at, |bad| bad.end);
        return match whole_after(line, clean, ty) {
            Some(next) => spliced(line, next),
            None => Fault::new(Code::InvalidUtf8, at, "bytes that are not UTF-8"),
        };
    }
    if line.peek(start, BOM.len()) == BOM {
        let rest = whole(line, start + BOM.len() as u64, ty);
        return Fault {
            length: Some(BOM.len() as u64),
            ..Fault::new(
                Code::ByteOrderMark,
                start,
                if rest {
                    "a byte order mark before a whole record"
                } else {
                    "a byte order mark before what is no whole record"
                },
            )
        };
    }
    if !walk.broken && walk.more {
        if let Some(fault) = glued(line, ty, walk.end) {
            return fault;
        }
        return Fault::new(
            Code::CorruptRecord,
            walk.end,
            format!(
                "a whole value, and {} more behind it that can not be read",
                plural(end - walk.end, "byte", "bytes")
            ),
        );
    }
    if walk.broken
        && !matches!(walk.fault.as_ref().map(|f| f.code), Some(Code::TooDeep))
        && let Some(at) = whole_after(line, start + 1, ty)
    {
        return spliced(line, at);
    }
    walk.fault
        .unwrap_or_else(|| Fault::new(Code::CorruptRecord, start, "not one JSON object"))
}

fn spliced<S: Source + ?Sized>(line: &View<'_, S>, next: u64) -> Fault {
    let (start, end) = (line.start(), line.end());
    Fault {
        length: Some(end - start),
        ..Fault::new(
            Code::SplicedRecord,
            start,
            format!(
                "the first {} of a record that was cut, then a whole record that begins at byte {next}",
                plural(next - start, "byte", "bytes")
            ),
        )
    }
}

/// The part of a line from its first byte that is not UTF-8 to behind its last; none if all is.
pub(crate) fn utf8_bounds<S: Source + ?Sized>(line: &View<'_, S>) -> Option<Range<u64>> {
    let mut bad: Option<Range<u64>> = None;
    let mut cut: Vec<u8> = Vec::new(); // a character that goes on in the next window
    let mut see = |from: u64, until: u64| match &mut bad {
        Some(bad) => bad.end = until,
        None => bad = Some(from..until),
    };
    line.each(line.start(), 0, |bytes, base| {
        let base = base - cut.len() as u64;
        cut.extend_from_slice(bytes);
        let mut at = 0;
        while let Err(e) = simdutf8::compat::from_utf8(&cut[at..]) {
            at += e.valid_up_to();
            let Some(len) = e.error_len() else { break };
            see(base + at as u64, base + (at + len) as u64);
            at += len;
            if at == cut.len() {
                break;
            }
        }
        // What is whole or bad was seen; what may go on is kept.
        let rest = simdutf8::compat::from_utf8(&cut[at..]).is_err();
        let keep = if rest { cut.split_off(at) } else { Vec::new() };
        cut = keep;
        true
    });
    if !cut.is_empty() {
        see(line.end() - cut.len() as u64, line.end());
    }
    bad
}

/// Whether exactly one good value stands from `from` to the end of the line.
pub(crate) fn whole<S: Source + ?Sized>(line: &View<'_, S>, from: u64, ty: &'static Ty) -> bool {
    let walk = line.check(from, ty, &mut NoSink, false);
    from < line.end() && walk.fault.is_none() && !walk.more
}

/// A run of NUL bytes, at the start of the line or inside it.
fn nul_bytes<S: Source + ?Sized>(line: &View<'_, S>, ty: &'static Ty) -> Option<Fault> {
    let (mut first, mut after) = (None, line.end());
    line.each(line.start(), 0, |bytes, base| {
        let from = match first {
            Some(_) => 0,
            None => match memchr::memchr(0, bytes) {
                None => return true,
                Some(n) => {
                    first = Some(base + n as u64);
                    n
                }
            },
        };
        match bytes[from..].iter().position(|&b| b != 0) {
            None => true,
            Some(n) => {
                after = base + (from + n) as u64;
                false
            }
        }
    });
    let first = first?;
    let run = after - first;
    let bytes = plural(run, "NUL byte", "NUL bytes");
    let message = if first == line.start() && whole(line, after, ty) {
        format!("{bytes} before a whole record that begins at byte {after}")
    } else if after == line.end() && first == line.start() {
        format!("{bytes} and nothing else")
    } else {
        format!("{bytes} inside a line that is no whole record")
    };
    Some(Fault {
        length: Some(run),
        ..Fault::new(Code::NulBytes, first, message)
    })
}

/// Two or more whole records, with nothing but white space between them.
fn glued<S: Source + ?Sized>(line: &View<'_, S>, ty: &'static Ty, second: u64) -> Option<Fault> {
    if line
        .check(line.start(), ty, &mut NoSink, false)
        .fault
        .is_some()
    {
        return None;
    }
    let mut at = second;
    let mut count = 1;
    while at < line.end() {
        let walk = line.check(at, ty, &mut NoSink, false);
        if walk.fault.is_some() || walk.end <= at {
            return None;
        }
        count += 1;
        at = walk.end;
    }
    Some(Fault {
        length: Some(line.end() - line.start()),
        ..Fault::new(
            Code::GluedRecords,
            line.start(),
            format!("{count} whole records stand on this line; the second begins at byte {second}"),
        )
    })
}

/// Whether nothing but whole records stands from `from` to the end of the line.
fn all_whole<S: Source + ?Sized>(line: &View<'_, S>, from: u64, ty: &'static Ty) -> bool {
    let mut at = from;
    loop {
        let walk = line.check(at, ty, &mut NoSink, false);
        if walk.fault.is_some() || walk.end <= at {
            return false;
        }
        if !walk.more {
            return true;
        }
        at = walk.end;
    }
}

/// Where a whole record begins, behind something that is none, if it or more such reach to the end
/// of the line. From `from` on all must be UTF-8.
pub(crate) fn whole_after<S: Source + ?Sized>(
    line: &View<'_, S>,
    from: u64,
    ty: &'static Ty,
) -> Option<u64> {
    let finder = memmem::Finder::new(b"{\"");
    let mut starts = Vec::new();
    line.each(from, 1, |bytes, base| {
        for n in finder.find_iter(bytes) {
            let at = base + n as u64;
            if starts.last() != Some(&at) {
                starts.push(at);
            }
            if starts.len() > 16 * MAX_TRIES {
                return false;
            }
        }
        true
    });
    let mut tries = 0;
    let mut looked = 0;
    for at in starts {
        let head = line.peek(at, 12);
        if !(head.starts_with(b"{\"kind\"") || head.starts_with(b"{\"ts\"")) {
            continue;
        }
        let walk = line.check(at, ty, &mut NoSink, false);
        if walk.fault.is_none() && (!walk.more || all_whole(line, walk.end, ty)) {
            return Some(at);
        }
        tries += 1;
        looked += walk.end - at;
        if tries >= MAX_TRIES || looked > MAX_EXTRA + (line.end() - line.start()) {
            return None;
        }
    }
    None
}
