//! Where bytes come from: a file or memory, read at an offset.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Something whose bytes can be read at any offset, without a position of its own.
pub trait Source {
    /// Reads at most `buf.len()` bytes from `offset` on; 0 at the end.
    ///
    /// # Errors
    /// Those of the file below.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl Source for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match FileExt::read_at(self, buf, offset) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Source for [u8] {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| self.get(at..))
            .unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// Reads until `buf` is full or the source ends; returns how much was read.
///
/// # Errors
/// Those of the source.
pub(crate) fn read_full<S: Source + ?Sized>(
    source: &S,
    buf: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match source.read_at(&mut buf[done..], offset + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}
