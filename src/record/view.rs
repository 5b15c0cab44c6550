//! One line as a whole or through windows, so that the same code looks at lines of any length.

use std::cell::RefCell;
use std::io;

use super::json::{Bytes, Marked, Sink, Walk, Whole, check, check_mending, marked_run};
use super::marks::Marks;
use super::shape::Ty;
use super::source::{Source, read_full};

/// The size of a window on a long line, in bytes.
pub(crate) const WINDOW: usize = 256 * 1024;

/// One line, without its newline.
pub(crate) enum View<'a, S: ?Sized> {
    /// In memory.
    Whole {
        /// The bytes of the line.
        bytes: &'a [u8],
        /// Offset of the first one.
        start: u64,
        /// The marks of the block around it, if they were made.
        marks: Option<Marked<'a>>,
    },
    /// In a source, read as needed.
    Long {
        /// Where the line is.
        source: &'a S,
        /// Offset of its first byte.
        start: u64,
        /// Offset behind its last byte.
        end: u64,
        /// The first error of reading, if one came up; the walk then sees the end of the line. A
        /// source that ends within the line is one: it became shorter since the line was found.
        failed: &'a RefCell<Option<io::Error>>,
    },
}

impl<S: Source + ?Sized> View<'_, S> {
    pub(crate) fn start(&self) -> u64 {
        match self {
            Self::Whole { start, .. } | Self::Long { start, .. } => *start,
        }
    }

    pub(crate) fn end(&self) -> u64 {
        match self {
            Self::Whole { bytes, start, .. } => start + bytes.len() as u64,
            Self::Long { end, .. } => *end,
        }
    }

    /// Holds the value that begins at `from` against a type.
    pub(crate) fn check<K: Sink>(
        &self,
        from: u64,
        ty: &'static Ty,
        sink: &mut K,
        control_free: bool,
    ) -> Walk {
        match self {
            Self::Whole {
                bytes,
                start,
                marks,
            } => {
                let at = usize::try_from(from - start)
                    .unwrap_or(bytes.len())
                    .min(bytes.len());
                // Marks tell what is escaped as seen from the line's start.
                let marks = marks.filter(|_| at == 0);
                let whole = Whole::marked(&bytes[at..], from, marks);
                check(whole, ty, sink, control_free)
            }
            Self::Long {
                source,
                end,
                failed,
                ..
            } => check(
                Windows::new(*source, from, *end, failed),
                ty,
                sink,
                control_free,
            ),
        }
    }

    /// The same with nothing picked out, and half surrogate pairs are no fault: gives where their
    /// escapes begin.
    pub(crate) fn check_mending(&self, from: u64, ty: &'static Ty) -> (Walk, Vec<u64>) {
        match self {
            Self::Whole { bytes, start, .. } => {
                let at = usize::try_from(from - start)
                    .unwrap_or(bytes.len())
                    .min(bytes.len());
                check_mending(Whole::new(&bytes[at..], from), ty)
            }
            Self::Long {
                source,
                end,
                failed,
                ..
            } => check_mending(Windows::new(*source, from, *end, failed), ty),
        }
    }

    /// Shows the bytes from `from` on, a window at a time with its offset, until `look` says stop.
    /// Each window repeats the last `overlap` bytes of the one before it.
    pub(crate) fn each(&self, from: u64, overlap: usize, mut look: impl FnMut(&[u8], u64) -> bool) {
        match self {
            Self::Whole { bytes, start, .. } => {
                let at = usize::try_from(from - start)
                    .unwrap_or(bytes.len())
                    .min(bytes.len());
                look(&bytes[at..], from);
            }
            Self::Long {
                source,
                end,
                failed,
                ..
            } => {
                let mut buf = vec![0; WINDOW];
                let mut at = from;
                while at < *end {
                    let room = usize::try_from(end - at).unwrap_or(WINDOW).min(WINDOW);
                    match read_full(*source, &mut buf[..room], at) {
                        Ok(0) => {
                            failed.borrow_mut().get_or_insert_with(gone);
                            return;
                        }
                        Ok(n) => {
                            if !look(&buf[..n], at) || at + n as u64 >= *end {
                                return;
                            }
                            at += (n.saturating_sub(overlap)).max(1) as u64;
                        }
                        Err(e) => {
                            failed.borrow_mut().get_or_insert(e);
                            return;
                        }
                    }
                }
            }
        }
    }

    /// At most `n` bytes from `from` on.
    pub(crate) fn peek(&self, from: u64, n: usize) -> Vec<u8> {
        let mut out = Vec::new();
        self.each(from, 0, |bytes, _| {
            out.extend_from_slice(&bytes[..bytes.len().min(n)]);
            false
        });
        out
    }
}

/// What is said of a source that ends within a line whose end was seen.
fn gone() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// A line of a source, one window at a time.
struct Windows<'a, S: ?Sized> {
    source: &'a S,
    buf: Vec<u8>,
    marks: Marks,
    /// Offset of the window's first byte.
    base: u64,
    end: u64,
    failed: &'a RefCell<Option<io::Error>>,
}

impl<'a, S: Source + ?Sized> Windows<'a, S> {
    fn new(source: &'a S, from: u64, end: u64, failed: &'a RefCell<Option<io::Error>>) -> Self {
        Self {
            source,
            buf: Vec::new(),
            marks: Marks::default(),
            base: from,
            end,
            failed,
        }
    }
}

impl<S: Source + ?Sized> Bytes for Windows<'_, S> {
    #[inline]
    fn window(&self) -> &[u8] {
        &self.buf
    }

    fn base(&self) -> u64 {
        self.base
    }

    fn advance(&mut self) -> bool {
        self.base += self.buf.len() as u64;
        let room = usize::try_from(self.end.saturating_sub(self.base))
            .unwrap_or(WINDOW)
            .min(WINDOW);
        self.buf.resize(room, 0);
        match read_full(self.source, &mut self.buf, self.base) {
            Ok(n) => {
                if n < room {
                    self.failed.borrow_mut().get_or_insert_with(gone);
                }
                self.buf.truncate(n);
                self.marks.next(&self.buf);
                n > 0
            }
            Err(e) => {
                self.failed.borrow_mut().get_or_insert(e);
                self.buf.clear();
                self.marks.next(&self.buf);
                false
            }
        }
    }

    #[inline]
    fn run(&self, at: usize, _: bool) -> (usize, Option<u8>) {
        marked_run(&self.buf, at, self.marks.stop(at), 0)
    }

    fn fork(&self, at: usize) -> Self {
        Self::new(self.source, self.base + at as u64, self.end, self.failed)
    }
}
