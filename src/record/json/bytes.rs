//! The bytes of a value: all in sight, or window by window, with their marks if a scan made some.

use crate::record::marks::Marks;

/// Bytes that come in one window or in several.
pub trait Bytes: Sized {
    /// The bytes that can be seen now.
    fn window(&self) -> &[u8];
    /// The offset of the window's first byte from the start of the file.
    fn base(&self) -> u64;
    /// Moves to the next window; false at the end of the line.
    fn advance(&mut self) -> bool;
    /// The same bytes from an offset within the window on, as a cursor of its own.
    fn fork(&self, at: usize) -> Self;
    /// How many bytes of the window from `at` on stand before the end of a string or something that
    /// is not a plain escape, and which byte it is; none at the window's end.
    #[inline]
    fn run(&self, at: usize, control_free: bool) -> (usize, Option<u8>) {
        skip_run(self.window().get(at..).unwrap_or(&[]), control_free)
    }
}

/// All bytes in one window.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'a> {
    bytes: &'a [u8],
    base: u64,
    marks: Option<Marked<'a>>,
}

/// The marks of the block that a line stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked<'a> {
    /// Of the whole block.
    pub marks: &'a Marks,
    /// Where the line begins in it.
    pub at: usize,
}

impl<'a> Whole<'a> {
    /// `bytes`, the first of which stands at `base` in its file.
    #[must_use]
    pub const fn new(bytes: &'a [u8], base: u64) -> Self {
        Self {
            bytes,
            base,
            marks: None,
        }
    }

    /// The same, with the marks of the block around it.
    pub(crate) const fn marked(bytes: &'a [u8], base: u64, marks: Option<Marked<'a>>) -> Self {
        Self { bytes, base, marks }
    }
}

impl Bytes for Whole<'_> {
    #[inline]
    fn window(&self) -> &[u8] {
        self.bytes
    }
    fn base(&self) -> u64 {
        self.base
    }
    #[inline]
    fn advance(&mut self) -> bool {
        false
    }
    fn fork(&self, at: usize) -> Self {
        Self {
            bytes: &self.bytes[at..],
            base: self.base + at as u64,
            marks: self.marks.map(|marked| Marked {
                at: marked.at + at,
                ..marked
            }),
        }
    }
    #[inline]
    fn run(&self, at: usize, control_free: bool) -> (usize, Option<u8>) {
        let Some(marked) = self.marks else {
            return skip_run(self.bytes.get(at..).unwrap_or(&[]), control_free);
        };
        marked_run(self.bytes, at, marked.marks.stop(marked.at + at), marked.at)
    }
}

/// [`Bytes::run`] on a window that begins at `base` of a block whose next mark is at `stop`.
#[inline]
pub(crate) fn marked_run(
    window: &[u8],
    at: usize,
    stop: Option<usize>,
    base: usize,
) -> (usize, Option<u8>) {
    match stop.and_then(|stop| window.get(stop - base).map(|b| (stop, *b))) {
        Some((stop, b)) => (stop - base - at, Some(b)),
        None => (window.len().saturating_sub(at), None),
    }
}

/// How many bytes stand before the end of a string or something that is not a plain escape, and
/// which byte it is. Escapes of two bytes are passed over here: text is full of them.
#[inline]
fn skip_run(bytes: &[u8], control_free: bool) -> (usize, Option<u8>) {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let run = plain_run(rest, control_free);
        at += run;
        match (rest.get(run), rest.get(run + 1)) {
            (Some(b'\\'), Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f')) => at += 2,
            (end, _) => return (at, end.copied()),
        }
    }
}

/// How many bytes stand before the next quote, backslash or control character.
#[inline]
pub(super) fn plain_run(bytes: &[u8], control_free: bool) -> usize {
    let (blocks, tail) = bytes.as_chunks();
    for (i, block) in blocks.iter().enumerate() {
        let found = special_in(*block, control_free);
        if found != 0 {
            return i * BLOCK + found.trailing_zeros() as usize;
        }
    }
    let special = |&b: &u8| b == b'"' || b == b'\\' || (!control_free && b < 0x20);
    bytes.len() - tail.len() + tail.iter().position(special).unwrap_or(tail.len())
}

const BLOCK: usize = 16;

/// One bit for each byte of a block that is a quote, a backslash or a control character.
#[inline]
fn special_in(block: [u8; BLOCK], control_free: bool) -> u32 {
    use wide::u8x16;
    let bytes = u8x16::new(block);
    let mut found = bytes.cmp_eq(u8x16::splat(b'"')) | bytes.cmp_eq(u8x16::splat(b'\\'));
    if !control_free {
        found |= bytes.min(u8x16::splat(0x1f)).cmp_eq(bytes);
    }
    found.move_mask().cast_unsigned()
}
