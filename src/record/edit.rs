//! A file as it will be once some edits are made: read without being written.
//!
//! A [`Rope`] says which parts of the old file stay and what stands between them. [`Edited`] reads
//! the result like any [`Source`], so a mended file goes through the same scanner before one byte
//! of it is written. Memory is that of the edits, whatever the size of the file.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::source::Source;

/// One change of a file: `length` bytes from `offset` on make room for `with`. Offsets are those
/// of the old file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where, from the start of the old file.
    pub offset: u64,
    /// How many bytes of the old file go.
    pub length: u64,
    /// What stands there instead.
    pub with: String,
}

/// A part of the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// These bytes of the old one.
    Old(Range<u64>),
    /// These, which are new.
    New(String),
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Old(range) => range.end - range.start,
            Self::New(text) => text.len() as u64,
        }
    }
}

/// A new file as parts of the old one and what is new between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rope {
    /// The length of the old file.
    old: u64,
    pieces: Vec<Piece>,
    /// Where each piece ends in the new file.
    ends: Vec<u64>,
}

impl Rope {
    /// The old file as it is.
    #[must_use]
    pub fn whole(len: u64) -> Self {
        let mut rope = Self {
            old: len,
            pieces: if len == 0 {
                Vec::new()
            } else {
                vec![Piece::Old(0..len)]
            },
            ends: Vec::new(),
        };
        rope.index();
        rope
    }

    /// The old file with edits, which must be in order and must not overlap; what lies beyond the
    /// file is left out.
    #[must_use]
    pub fn edited(len: u64, edits: &[Edit]) -> Self {
        let mut rope = Self {
            old: len,
            pieces: Vec::with_capacity(2 * edits.len() + 1),
            ends: Vec::new(),
        };
        let mut at = 0;
        for edit in edits {
            let from = edit.offset.clamp(at, len);
            rope.push(Piece::Old(at..from));
            rope.push(Piece::New(edit.with.clone()));
            at = edit.offset.saturating_add(edit.length).clamp(from, len);
        }
        rope.push(Piece::Old(at..len));
        rope.index();
        rope
    }

    /// Adds a piece; two that follow each other in the old file become one.
    fn push(&mut self, piece: Piece) {
        if piece.len() == 0 {
            return;
        }
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Old(last)), Piece::Old(next)) if last.end == next.start => {
                last.end = next.end;
            }
            (Some(Piece::New(last)), Piece::New(next)) => last.push_str(&next),
            (_, piece) => self.pieces.push(piece),
        }
    }

    fn index(&mut self) {
        let mut end = 0;
        self.ends = self
            .pieces
            .iter()
            .map(|piece| {
                end += piece.len();
                end
            })
            .collect();
    }

    /// The length of the new file.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same with more edits, whose offsets are those of the new file. They must be in order
    /// and must not overlap.
    #[must_use]
    pub fn with(&self, edits: &[Edit]) -> Self {
        let mut next = Self {
            old: self.old,
            pieces: Vec::with_capacity(self.pieces.len() + 2 * edits.len()),
            ends: Vec::new(),
        };
        let mut at = 0;
        for edit in edits {
            self.copy(at..edit.offset, &mut next);
            next.push(Piece::New(edit.with.clone()));
            at = edit.offset + edit.length;
        }
        self.copy(at..self.len(), &mut next);
        next.index();
        next
    }

    /// Adds a part of the new file to another rope over the same old one.
    fn copy(&self, range: Range<u64>, to: &mut Self) {
        let first = self.ends.partition_point(|end| *end <= range.start);
        for (piece, end) in self.pieces.iter().zip(&self.ends).skip(first) {
            let start = end - piece.len();
            if start >= range.end {
                break;
            }
            let (from, until) = (range.start.max(start) - start, range.end.min(*end) - start);
            to.push(match piece {
                Piece::Old(old) => Piece::Old(old.start + from..old.start + until),
                Piece::New(text) => {
                    let bytes = &text.as_bytes()[from as usize..until as usize];
                    Piece::New(String::from_utf8_lossy(bytes).into_owned())
                }
            });
        }
    }

    /// The edits that make the new file of the old one: in order, none next to another.
    #[must_use]
    pub fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut at = 0; // of the old file
        let mut with = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::New(text) => with.push_str(text),
                Piece::Old(range) => {
                    if range.start > at || !with.is_empty() {
                        edits.push(Edit {
                            offset: at,
                            length: range.start - at,
                            with: std::mem::take(&mut with),
                        });
                    }
                    at = range.end;
                }
            }
        }
        if at < self.old || !with.is_empty() {
            edits.push(Edit {
                offset: at,
                length: self.old - at,
                with,
            });
        }
        edits
    }

    /// Where a byte of the new file stood in the old one; for a new byte, where what follows it
    /// stood.
    #[must_use]
    pub fn old_offset(&self, at: u64) -> u64 {
        let first = self.ends.partition_point(|end| *end <= at);
        for (piece, end) in self.pieces.iter().zip(&self.ends).skip(first) {
            if let Piece::Old(range) = piece {
                let start = end - piece.len();
                return range.start + at.saturating_sub(start);
            }
        }
        self.old
    }
}

/// The new file, read through the old one.
pub struct Edited<'a, S: ?Sized> {
    source: &'a S,
    rope: &'a Rope,
}

impl<'a, S: Source + ?Sized> Edited<'a, S> {
    /// The file that `rope` makes of `source`.
    #[must_use]
    pub const fn new(source: &'a S, rope: &'a Rope) -> Self {
        Self { source, rope }
    }
}

impl<S: Source + ?Sized> Source for Edited<'_, S> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let index = self.rope.ends.partition_point(|end| *end <= offset);
        let (Some(piece), Some(end)) = (self.rope.pieces.get(index), self.rope.ends.get(index))
        else {
            return Ok(0);
        };
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let room = buf.len().min(left);
        let inside = offset - (end - piece.len());
        match piece {
            Piece::Old(range) => self.source.read_at(&mut buf[..room], range.start + inside),
            Piece::New(text) => {
                let at = inside as usize;
                buf[..room].copy_from_slice(&text.as_bytes()[at..at + room]);
                Ok(room)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::source::read_full;
    use proptest::prelude::*;

    fn edit(offset: u64, length: u64, with: &str) -> Edit {
        Edit {
            offset,
            length,
            with: with.to_owned(),
        }
    }

    /// What the edits make, told naively.
    fn naive(old: &[u8], edits: &[Edit]) -> Vec<u8> {
        let mut new = old.to_vec();
        for edit in edits.iter().rev() {
            let at = edit.offset as usize;
            new.splice(at..at + edit.length as usize, edit.with.bytes());
        }
        new
    }

    fn read(source: &[u8], rope: &Rope) -> Vec<u8> {
        let mut out = vec![0; rope.len() as usize + 8];
        let got = read_full(&Edited::new(source, rope), &mut out, 0).unwrap();
        out.truncate(got);
        out
    }

    #[test]
    fn edits_and_their_ends() {
        let old = b"0123456789";
        for edits in [
            vec![],
            vec![edit(0, 10, "")],
            vec![edit(0, 0, "a"), edit(10, 0, "z")],
            vec![edit(3, 2, "xyz"), edit(5, 1, "")],
            vec![edit(9, 1, "end")],
        ] {
            let rope = Rope::edited(10, &edits);
            assert_eq!(read(old, &rope), naive(old, &edits), "{edits:?}");
        }
        assert_eq!(Rope::whole(10).edits(), []);
        let rope = Rope::edited(10, &[edit(3, 2, "xyz"), edit(5, 1, "")]);
        assert_eq!(rope.edits(), [edit(3, 3, "xyz")]);
        assert_eq!(rope.old_offset(2), 2);
        assert_eq!(rope.old_offset(4), 6, "a new byte");
        assert_eq!(rope.old_offset(6), 6);
        assert_eq!(rope.old_offset(99), 10);
        assert!(Rope::edited(10, &[edit(0, 10, "")]).is_empty());
    }

    /// Ordered edits of a text of this length that do not overlap.
    fn some_edits(len: u64) -> impl Strategy<Value = Vec<Edit>> {
        proptest::collection::vec((0..=len, 0..4_u64, "[a-c]{0,3}"), 0..5).prop_map(
            move |mut all| {
                all.sort();
                let mut edits: Vec<Edit> = Vec::new();
                let mut at = 0;
                for (offset, length, with) in all {
                    if offset < at {
                        continue;
                    }
                    let length = length.min(len - offset);
                    at = offset + length;
                    edits.push(Edit {
                        offset,
                        length,
                        with,
                    });
                }
                edits
            },
        )
    }

    proptest! {
        /// Two rounds of edits are one, and the edits that come out make the same file.
        #[test]
        fn rounds_of_edits_are_one(
            old in proptest::collection::vec(any::<u8>(), 0..30),
            first in some_edits(20),
            second in some_edits(20),
        ) {
            let len = old.len() as u64;
            let fit = |edits: Vec<Edit>, len: u64| -> Vec<Edit> {
                edits.into_iter().filter(|e| e.offset + e.length <= len).collect()
            };
            let first = fit(first, len);
            let rope = Rope::edited(len, &first);
            let once = naive(&old, &first);
            prop_assert_eq!(&read(&old, &rope), &once);
            let second = fit(second, rope.len());
            let rope = rope.with(&second);
            let twice = naive(&once, &second);
            prop_assert_eq!(&read(&old, &rope), &twice);
            prop_assert_eq!(&naive(&old, &rope.edits()), &twice);
        }
    }
}
