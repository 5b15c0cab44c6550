//! The one scanner of Segments and traces.
//!
//! A newline commits a record; what follows the last one is the tail. The scanner reads large
//! blocks, checks UTF-8 a block at a time, cuts at newlines and holds each line against its shape.
//! A line that does not fit the buffer is looked at through windows, so memory stays flat whatever
//! comes. Nothing is judged here beyond the single line; [`verify`](crate::ops::verify) does that.
//!
//! A file may grow while it is read: the length is that of the start. It may lose its tail to a
//! writer: what is gone then counts as the end, and [`Scanned::is_short_of`] tells.

use std::cell::RefCell;
use std::io;
use std::ops::{ControlFlow, Range};

use sha2::{Digest, Sha256};

use super::diagnose::diagnose;
use super::facts::Facts;
use super::json::{Fault, Marked, NoSink, Walk};
use super::marks::Marks;
use super::schema::{RECORD, TRACE};
use super::shape::Ty;
use super::source::{Source, read_full};
use super::view::{View, WINDOW};
use crate::diag::{Code, plural};

/// What the lines of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Records of a Segment.
    Segment,
    /// Records of a trace.
    Trace,
}

impl Format {
    pub(super) fn ty(self) -> &'static Ty {
        static SEGMENT: Ty = Ty::Tagged(&RECORD);
        static TRACES: Ty = Ty::Tagged(&TRACE);
        match self {
            Self::Segment => &SEGMENT,
            Self::Trace => &TRACES,
        }
    }
}

/// The limits of a scan. Each is stated, can be raised, and is hit with a finding.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Lines above this length, in bytes, are reported and passed over.
    pub max_line: u64,
    /// The size of the buffer, in bytes. Longer lines are read through windows.
    pub buffer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_line: 1 << 30,
            buffer: 512 * 1024,
        }
    }
}

/// What a line came to.
#[derive(Debug)]
pub enum Verdict<'f> {
    /// A good record, with what was picked out of it.
    Record(&'f Facts),
    /// Nothing but white space.
    Blank,
    /// No good record.
    Bad(Fault),
}

/// One committed line.
pub struct Line<'a> {
    /// Counts from 1.
    pub number: u64,
    /// Offset of its first byte from the start of the file.
    pub offset: u64,
    /// Its length in bytes, without the newline.
    pub length: u64,
    /// Whether a carriage return stands before the newline.
    pub crlf: bool,
    /// Its bytes without newline and carriage return, if it fitted the buffer.
    pub bytes: Option<&'a [u8]>,
    /// What it came to.
    pub verdict: Verdict<'a>,
}

/// What follows the last newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// How many bytes.
    pub length: u64,
    /// Whether all of them are NUL.
    pub all_nul: bool,
    /// Whether they are one good record that lacks only its newline.
    pub whole: bool,
}

/// What a scan came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    /// Length in bytes of the committed prefix: up to and with the last newline.
    pub committed: u64,
    /// How many lines are committed, blank ones too.
    pub lines: u64,
    /// What follows them.
    pub tail: Option<Tail>,
    /// Whether the visitor stopped the scan.
    pub stopped: bool,
    /// SHA-256 of the committed prefix, if it was asked for.
    pub sha256: Option<[u8; 32]>,
}

impl Scanned {
    /// Whether a scan that nobody stopped ended before the length, in bytes, that it was given: the
    /// source became shorter meanwhile, and what the scan came to is true of no state of it.
    #[must_use]
    pub fn is_short_of(&self, len: u64) -> bool {
        !self.stopped && self.committed + self.tail.map_or(0, |tail| tail.length) < len
    }
}

/// Where a scan begins that does not begin at the start of the file: behind a newline.
#[derive(Debug, Clone, Default)]
pub struct Resume {
    /// Where the next line begins.
    pub offset: u64,
    /// How many lines stand before it.
    pub lines: u64,
    /// What the bytes before it come to, for the digest of the whole.
    pub hasher: Sha256,
}

/// The lines of a source that begin in a range.
pub(super) struct Stretch {
    /// A line begins where it begins, unless no byte is left there.
    pub starts: Range<u64>,
    /// How many lines are counted before them.
    pub lines: u64,
}

/// What a scan of the lines that begin in a range came to.
pub(super) struct Part {
    /// Offset behind the last line that was shown; where the range begins if none was.
    pub end: u64,
    /// How many were shown.
    pub lines: u64,
    /// What follows them up to the end of the source, if no newline does.
    pub tail: Option<Tail>,
    /// Whether the visitor stopped it.
    pub stopped: bool,
    /// Whether the source ends there.
    pub at_end: bool,
}

/// How much more is read at a time for the end of a range's last line, in bytes.
const NEAR: u64 = 64 * 1024;

/// Scans files one after the other with one buffer.
pub struct Scanner {
    limits: Limits,
    buf: Vec<u8>,
    marks: Marks,
    facts: Facts,
    hasher: Option<Sha256>,
}

impl Scanner {
    /// A scanner with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            buf: Vec::new(),
            marks: Marks::default(),
            facts: Facts::default(),
            hasher: None,
        }
    }

    /// Whether scans give the SHA-256 of the committed prefix.
    #[must_use]
    pub fn hashing(mut self, on: bool) -> Self {
        self.hasher = on.then(Sha256::new);
        self
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes the hasher for a scan that feeds it otherwise.
    pub(super) fn take_hasher(&mut self) -> Option<Sha256> {
        let mut hasher = self.hasher.take();
        if let Some(hasher) = &mut hasher {
            hasher.reset();
        }
        hasher
    }

    /// Gives it back.
    pub(super) fn put_hasher(&mut self, hasher: Sha256) {
        self.hasher = Some(hasher);
    }

    /// Shows every committed line of the first `len` bytes of `source` to `visit`, in order.
    ///
    /// # Errors
    /// Those of reading the source.
    pub fn scan<S: Source + ?Sized>(
        &mut self,
        source: &S,
        len: u64,
        format: Format,
        visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Scanned> {
        self.scan_from(source, Resume::default(), len, format, visit)
    }

    /// The same from the middle on: the lines behind `from`, with their places in the whole file.
    ///
    /// # Errors
    /// Those of reading the source.
    pub fn scan_from<S: Source + ?Sized>(
        &mut self,
        source: &S,
        from: Resume,
        len: u64,
        format: Format,
        visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Scanned> {
        let mut hasher = self.take_hasher().map(|_| from.hasher);
        let len = len.max(from.offset);
        let stretch = Stretch {
            starts: from.offset..len,
            lines: from.lines,
        };
        let part = self.part(source, stretch, len, format, hasher.as_mut(), visit);
        let sha256 = hasher.as_mut().map(|h| h.finalize_reset().into());
        self.hasher = hasher;
        let part = part?;
        Ok(Scanned {
            committed: part.end,
            lines: from.lines + part.lines,
            tail: part.tail,
            stopped: part.stopped,
            sha256,
        })
    }

    /// Shows the committed lines of a stretch of a source of `len` bytes. `hasher` is fed their
    /// bytes.
    pub(super) fn part<S: Source + ?Sized>(
        &mut self,
        source: &S,
        Stretch { starts, lines }: Stretch,
        mut len: u64,
        format: Format,
        mut hasher: Option<&mut Sha256>,
        mut visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Part> {
        let room = usize::try_from(len.saturating_sub(starts.start))
            .unwrap_or(usize::MAX)
            .clamp(1, self.limits.buffer.max(64));
        if self.buf.len() < room {
            self.buf.resize(room, 0);
        }
        let mut offset = starts.start; // of buf[0]
        let mut filled = 0;
        let mut number = lines + 1;
        let ty = format.ty();
        let part = |end, number: u64, tail, stopped, at_end| Part {
            end,
            lines: number - 1 - lines,
            tail,
            stopped,
            at_end,
        };
        loop {
            // The line that began last may end anywhere, but mostly near.
            let seen = offset + filled as u64;
            let goal = if seen < starts.end {
                starts.end
            } else if starts.end < len {
                seen + NEAR
            } else {
                len
            };
            let want = usize::try_from(goal.min(len).saturating_sub(offset))
                .unwrap_or(usize::MAX)
                .min(room);
            if filled < want {
                let got = read_full(source, &mut self.buf[filled..want], offset + filled as u64)?;
                if filled + got < want {
                    len = offset + (filled + got) as u64; // the file became shorter
                }
                filled += got;
            }
            let at_end = offset + filled as u64 >= len;
            let bytes = &self.buf[..filled];
            // The last line is the one in sight that begins in the range and ends.
            let beyond = usize::try_from(starts.end.saturating_sub(offset + 1))
                .unwrap_or(usize::MAX)
                .min(filled);
            let last = memchr::memchr(b'\n', &bytes[beyond..])
                .map(|n| beyond + n)
                .or_else(|| memchr::memrchr(b'\n', &bytes[..beyond]));
            let Some(last) = last else {
                if at_end {
                    let tail = self.tail(offset, filled, ty);
                    return Ok(part(offset, number, tail, false, true));
                }
                if filled < room {
                    continue;
                }
                // A line longer than the buffer.
                let mut long_hasher = hasher.as_deref().cloned();
                let long = find_line(source, offset, len, bytes, long_hasher.as_mut())?;
                let Some(end) = long.end else {
                    let tail = Some(Tail {
                        length: long.seen,
                        all_nul: long.all_nul,
                        whole: false,
                    });
                    return Ok(part(offset, number, tail, false, true));
                };
                if let (Some(hasher), Some(long)) = (hasher.as_deref_mut(), long_hasher) {
                    *hasher = long;
                }
                let failed = RefCell::new(None);
                let crlf = long.last == b'\r';
                let view = View::Long {
                    source,
                    start: offset,
                    end: end - u64::from(crlf),
                    failed: &failed,
                };
                let verdict = if end - offset > self.limits.max_line {
                    oversized(offset, end - offset, self.limits.max_line)
                } else {
                    judge(&view, ty, &mut self.facts, long.bad_utf8, long.control_free)
                };
                let flow = visit(&Line {
                    number,
                    offset,
                    length: end - offset,
                    crlf,
                    bytes: None,
                    verdict,
                });
                if let Some(e) = failed.into_inner() {
                    return Err(e);
                }
                number += 1;
                offset = end + 1;
                filled = 0;
                if flow.is_break() {
                    return Ok(part(offset, number, None, true, false));
                }
                if offset >= starts.end && offset < len {
                    return Ok(part(offset, number, None, false, false));
                }
                continue;
            };
            let block = &bytes[..=last];
            if let Some(hasher) = &mut hasher {
                hasher.update(block);
            }
            let block_utf8 = simdutf8::basic::from_utf8(block).is_ok();
            self.marks.start(block);
            let control_free = self.marks.control_free();
            let mut start = 0;
            for newline in memchr::memchr_iter(b'\n', block) {
                let raw = &block[start..newline];
                let line_at = offset + start as u64;
                let crlf = raw.last() == Some(&b'\r');
                let bytes = if crlf { &raw[..raw.len() - 1] } else { raw };
                let verdict = if bytes.len() as u64 > self.limits.max_line {
                    oversized(line_at, bytes.len() as u64, self.limits.max_line)
                } else {
                    let bad = if block_utf8 {
                        None
                    } else {
                        first_bad_utf8(bytes, line_at)
                    };
                    let view: View<'_, S> = View::Whole {
                        bytes,
                        start: line_at,
                        marks: Some(Marked {
                            marks: &self.marks,
                            at: start,
                        }),
                    };
                    judge(&view, ty, &mut self.facts, bad, control_free)
                };
                let flow = visit(&Line {
                    number,
                    offset: line_at,
                    length: raw.len() as u64,
                    crlf,
                    bytes: Some(bytes),
                    verdict,
                });
                number += 1;
                start = newline + 1;
                if flow.is_break() {
                    return Ok(part(offset + start as u64, number, None, true, false));
                }
            }
            offset += last as u64 + 1;
            if offset >= starts.end && offset < len {
                return Ok(part(offset, number, None, false, false));
            }
            self.buf.copy_within(last + 1..filled, 0);
            filled -= last + 1;
        }
    }

    fn tail(&self, offset: u64, filled: usize, ty: &'static Ty) -> Option<Tail> {
        if filled == 0 {
            return None;
        }
        let bytes = &self.buf[..filled];
        let view: View<'_, [u8]> = View::Whole {
            bytes,
            start: offset,
            marks: None,
        };
        let whole =
            simdutf8::basic::from_utf8(bytes).is_ok() && super::diagnose::whole(&view, offset, ty);
        Some(Tail {
            length: filled as u64,
            all_nul: bytes.iter().all(|&b| b == 0),
            whole,
        })
    }
}

fn oversized<'f>(at: u64, length: u64, limit: u64) -> Verdict<'f> {
    let bytes = plural(length, "byte", "bytes");
    Verdict::Bad(Fault {
        length: Some(length),
        ..Fault::new(
            Code::OversizedLine,
            at,
            format!("{bytes}, over the limit of {limit}; not looked at"),
        )
    })
}

/// Holds one line against its shape.
fn judge<'f, S: Source + ?Sized>(
    line: &View<'_, S>,
    ty: &'static Ty,
    facts: &'f mut Facts,
    bad_utf8: Option<u64>,
    control_free: bool,
) -> Verdict<'f> {
    if is_blank(line, bad_utf8) {
        return Verdict::Blank;
    }
    facts.clear();
    if bad_utf8.is_some() {
        let walk = Walk {
            fault: None,
            broken: true,
            end: line.start(),
            more: false,
        };
        return Verdict::Bad(diagnose(line, ty, walk, bad_utf8));
    }
    let mut walk = line.check(line.start(), ty, facts, control_free);
    if walk.fault.is_none() && !walk.more {
        return Verdict::Record(facts);
    }
    // A good value that is no object is no record at all, whatever its type says.
    if let Some(fault) = &mut walk.fault
        && fault.code == Code::WrongType
        && first_byte(line) != Some(b'{')
    {
        fault.code = Code::CorruptRecord;
        "a JSON value that is not an object".clone_into(&mut fault.message);
    }
    Verdict::Bad(diagnose(line, ty, walk, None))
}

fn first_byte<S: Source + ?Sized>(line: &View<'_, S>) -> Option<u8> {
    let mut first = None;
    line.each(line.start(), 0, |bytes, _| {
        first = bytes.iter().copied().find(|b| !b" \t\r".contains(b));
        first.is_none()
    });
    first
}

fn is_blank<S: Source + ?Sized>(line: &View<'_, S>, bad_utf8: Option<u64>) -> bool {
    if let View::Whole { bytes, .. } = line
        && bytes.first().is_some_and(|b| *b == b'{')
    {
        return false;
    }
    if bad_utf8.is_some() {
        return false;
    }
    let mut blank = true;
    let mut cut = Vec::new();
    line.each(line.start(), 0, |bytes, _| {
        cut.extend_from_slice(bytes);
        // A character may be cut at the end of a window; what is left of it goes to the next.
        let good = match std::str::from_utf8(&cut) {
            Ok(text) => text.len(),
            Err(e) => e.valid_up_to(),
        };
        let text = std::str::from_utf8(&cut[..good]).unwrap_or("");
        blank &= text.trim().is_empty();
        cut.drain(..good);
        blank
    });
    blank
}

fn first_bad_utf8(bytes: &[u8], at: u64) -> Option<u64> {
    simdutf8::compat::from_utf8(bytes)
        .err()
        .map(|e| at + e.valid_up_to() as u64)
}

/// Whether no control character stands in a block, its newlines aside.
fn is_control_free(block: &[u8]) -> bool {
    // Written so that the compiler makes SIMD of it: no early exit.
    block.chunks(4096).all(|part| {
        part.iter().fold(0u8, |acc, &b| {
            acc | (u8::from(b < 0x20) & u8::from(b != b'\n'))
        }) == 0
    })
}

/// What the first pass over a long line tells.
struct LongLine {
    /// Offset of its newline, if there is one.
    end: Option<u64>,
    /// Bytes looked at.
    seen: u64,
    /// The last byte before the newline.
    last: u8,
    bad_utf8: Option<u64>,
    control_free: bool,
    all_nul: bool,
}

/// Finds the newline of a line that is longer than the buffer, and checks its UTF-8 on the way.
fn find_line<S: Source + ?Sized>(
    source: &S,
    start: u64,
    len: u64,
    head: &[u8],
    mut hasher: Option<&mut Sha256>,
) -> io::Result<LongLine> {
    let mut line = LongLine {
        end: None,
        seen: 0,
        last: 0,
        bad_utf8: None,
        control_free: true,
        all_nul: true,
    };
    let mut buf = vec![0; WINDOW + 4];
    let mut carry = 0; // bytes of a character that was cut, at the front of buf
    let mut at = start;
    let mut first = Some(head);
    loop {
        let part: &[u8] = if let Some(head) = first.take() {
            at += head.len() as u64;
            head
        } else {
            let room = usize::try_from(len.saturating_sub(at))
                .unwrap_or(WINDOW)
                .min(WINDOW);
            let got = read_full(source, &mut buf[carry..carry + room], at)?;
            if got == 0 {
                return Ok(line);
            }
            at += got as u64;
            &buf[..carry + got]
        };
        let base = at - part.len() as u64;
        let fresh = carry; // what was not seen before begins here
        // The carry was looked at before and holds no newline.
        let newline = memchr::memchr(b'\n', part);
        let text = &part[..newline.unwrap_or(part.len())];
        if let Some(&b) = text.last() {
            line.last = b;
        }
        line.seen = base + text.len() as u64 - start;
        line.all_nul &= text.iter().all(|&b| b == 0);
        line.control_free &= is_control_free(text);
        let mut cut = 0;
        if line.bad_utf8.is_none()
            && let Err(e) = simdutf8::compat::from_utf8(text)
        {
            if e.error_len().is_none() && newline.is_none() {
                cut = text.len() - e.valid_up_to();
            } else {
                line.bad_utf8 = Some(base + e.valid_up_to() as u64);
            }
        }
        if let Some(hasher) = &mut hasher {
            hasher.update(&part[fresh..newline.map_or(part.len(), |n| n + 1)]);
        }
        if let Some(n) = newline {
            line.end = Some(base + n as u64);
            return Ok(line);
        }
        let keep: Vec<u8> = text[text.len() - cut..].to_vec();
        buf[..cut].copy_from_slice(&keep);
        carry = cut;
    }
}

/// Holds one line in memory against the shape of a record, as an append does before it writes.
///
/// # Errors
/// What is wrong with it; offsets count from the line's first byte.
pub fn check_line(bytes: &[u8], format: Format) -> Result<(), Fault> {
    read_line(bytes, format).map(|_| ())
}

/// The same, and gives what was picked out of it.
///
/// # Errors
/// As [`check_line`].
pub fn read_line(bytes: &[u8], format: Format) -> Result<Facts, Fault> {
    let mut facts = Facts::default();
    let bad = first_bad_utf8(bytes, 0);
    let view: View<'_, [u8]> = View::Whole {
        bytes,
        start: 0,
        marks: None,
    };
    match judge(&view, format.ty(), &mut facts, bad, false) {
        Verdict::Record(_) => Ok(facts),
        Verdict::Blank => Err(Fault::new(Code::CorruptRecord, 0, "an empty line")),
        Verdict::Bad(fault) => Err(fault),
    }
}

/// Whether a value checks, with nothing picked out of it.
#[must_use]
pub fn is_record(bytes: &[u8], format: Format) -> bool {
    let view: View<'_, [u8]> = View::Whole {
        bytes,
        start: 0,
        marks: None,
    };
    let walk = view.check(0, format.ty(), &mut NoSink, false);
    walk.fault.is_none() && !walk.more && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
