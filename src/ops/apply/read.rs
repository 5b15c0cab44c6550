//! Lines of a stream, as many at once as are there already.

use std::io::{self, Read};

/// Lines above this length, in bytes, are refused: nothing so large is a change.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// Lines with their numbers.
pub(super) type Numbered = Vec<(u64, Vec<u8>)>;

/// Reads lines in groups.
pub(super) struct Lines<R> {
    input: R,
    buf: Vec<u8>,
    /// Everything before it was given out.
    at: usize,
    number: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buf: Vec::new(),
            at: 0,
            number: 0,
            ended: false,
        }
    }

    /// The next lines with their numbers, blank ones left out: at least one, at most `most`, and
    /// no more than can be had without waiting. None at the end.
    pub fn next(&mut self, most: usize) -> io::Result<Option<Numbered>> {
        loop {
            let mut lines = Vec::new();
            while lines.len() < most {
                let Some(line) = self.buffered() else { break };
                if !line.1.trim_ascii().is_empty() {
                    lines.push(line);
                }
            }
            if !lines.is_empty() {
                return Ok(Some(lines));
            }
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// The next whole line of the buffer.
    fn buffered(&mut self) -> Option<(u64, Vec<u8>)> {
        let rest = &self.buf[self.at..];
        let line = match memchr::memchr(b'\n', rest) {
            Some(n) => {
                let line = rest[..n].to_vec();
                self.at += n + 1;
                line
            }
            // What ends the stream needs no newline: it is no store, nothing is committed by it.
            None if self.ended && !rest.is_empty() => {
                let line = rest.to_vec();
                self.at = self.buf.len();
                line
            }
            None => return None,
        };
        self.number += 1;
        Some((self.number, line))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buf.drain(..self.at);
        self.at = 0;
        if self.buf.len() > MAX_LINE {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("line {} is longer than {MAX_LINE} bytes", self.number + 1),
            ));
        }
        let old = self.buf.len();
        self.buf.resize(old + 64 * 1024, 0);
        let got = loop {
            match self.input.read(&mut self.buf[old..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let got = match got {
            Ok(n) => n,
            Err(e) => {
                self.buf.truncate(old);
                return Err(e);
            }
        };
        self.buf.truncate(old + got);
        self.ended = got == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_a_group_does_not_wait() {
        let text = b"one\n\n  \nfour\nfive\nsix";
        for width in [1, 3, 100] {
            let mut lines = Lines::new(Slow(text, width));
            let mut all = Vec::new();
            while let Some(group) = lines.next(2).unwrap() {
                assert!((1..=2).contains(&group.len()));
                all.extend(group);
            }
            let told: Vec<(u64, &[u8])> = all.iter().map(|(n, l)| (*n, l.as_slice())).collect();
            assert_eq!(
                told,
                [(1, &b"one"[..]), (4, b"four"), (5, b"five"), (6, b"six")],
                "{width}"
            );
        }
        assert!(Lines::new(Slow(b"", 1)).next(5).unwrap().is_none());
    }
}
