//! The end of a Segment, read backwards: an append must not cost more the longer the history is.

use std::io;

use crate::record::scan::read_line;
use crate::record::{Fault, Format, RecordKind, Source};

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// A line, without its newline.
pub(super) struct Line {
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes; a carriage return at its end is left out.
    pub bytes: Vec<u8>,
}

/// Gives the lines of the first `end` bytes, the last one first. The byte before `end` is a newline.
pub(super) struct Backwards<'s, S: ?Sized> {
    source: &'s S,
    /// Offset of the first byte in `buf`.
    base: u64,
    /// What was read and not given yet: it ends in a newline, or is empty.
    buf: Vec<u8>,
}

impl<'s, S: Source + ?Sized> Backwards<'s, S> {
    pub fn new(source: &'s S, end: u64) -> Self {
        Self {
            source,
            base: end,
            buf: Vec::new(),
        }
    }

    /// The line before the one that was given last.
    pub fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let text = self.buf.len().saturating_sub(1);
            let start = match memchr::memrchr(b'\n', &self.buf[..text]) {
                Some(at) => at + 1,
                None if self.base > 0 => {
                    self.more()?;
                    continue;
                }
                None if self.buf.is_empty() => return Ok(None),
                None => 0,
            };
            let mut bytes = self.buf.split_off(start);
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
            return Ok(Some(Line {
                offset: self.base + start as u64,
                bytes,
            }));
        }
    }

    /// Reads what stands before; more each time, so that a long line costs no more than its length.
    fn more(&mut self) -> io::Result<()> {
        let want = BLOCK.max(self.buf.len());
        let part = usize::try_from(self.base).unwrap_or(want).min(want);
        let mut all = vec![0; part];
        let from = self.base - part as u64;
        let mut done = 0;
        while done < part {
            match self.source.read_at(&mut all[done..], from + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => done += n,
            }
        }
        all.append(&mut self.buf);
        (self.buf, self.base) = (all, from);
        Ok(())
    }
}

/// What the end of a Segment says.
pub(super) enum LastTurn {
    /// The count of its last finished turn.
    Ended(u64),
    /// None is finished: what its first record says counts.
    Begins(Line),
    /// A line can not be read before one is found.
    Bad(Line, Fault),
    /// It holds no record.
    Empty,
}

/// Looks for the last finished turn, from the end.
pub(super) fn last_turn<S: Source + ?Sized>(source: &S, end: u64) -> io::Result<LastTurn> {
    let mut lines = Backwards::new(source, end);
    let mut first = None;
    while let Some(line) = lines.next()? {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        match read_line(&line.bytes, Format::Segment) {
            Ok(facts) => {
                if facts.kind() == Some(RecordKind::TurnEnd)
                    && let Some(count) = facts.turn_count
                {
                    return Ok(LastTurn::Ended(count));
                }
                first = Some(line);
            }
            Err(fault) => return Ok(LastTurn::Bad(line, fault)),
        }
    }
    Ok(first.map_or(LastTurn::Empty, LastTurn::Begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Backwards::new(bytes, bytes.len() as u64);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.offset, line.bytes));
        }
        all.reverse();
        all
    }

    #[test]
    fn lines_come_from_the_end() {
        assert!(all(b"").is_empty());
        assert_eq!(all(b"\n"), [(0, b"".to_vec())]);
        assert_eq!(
            all(b"a\n\nbc\r\nd\n"),
            [
                (0, b"a".to_vec()),
                (2, b"".to_vec()),
                (3, b"bc".to_vec()),
                (7, b"d".to_vec()),
            ]
        );
        let long = vec![b'x'; 3 * BLOCK + 7];
        let mut bytes = b"first\n".to_vec();
        bytes.extend_from_slice(&long);
        bytes.extend_from_slice(b"\nlast\n");
        assert_eq!(
            all(&bytes),
            [
                (0, b"first".to_vec()),
                (6, long.clone()),
                (7 + long.len() as u64, b"last".to_vec()),
            ]
        );
    }

    /// The same lines as from the front, wherever blocks end.
    #[test]
    fn blocks_end_anywhere() {
        for shift in 0..4 {
            let mut bytes = vec![b'y'; BLOCK - 2 + shift];
            bytes.push(b'\n');
            bytes.extend_from_slice(b"z\n\n");
            let ends = bytes.split(|b| *b == b'\n').count() - 1;
            let lines = all(&bytes);
            assert_eq!(lines.len(), ends);
            let again: Vec<u8> = lines
                .iter()
                .flat_map(|(_, line)| line.iter().copied().chain([b'\n']))
                .collect();
            assert_eq!(again, bytes);
        }
    }
}
