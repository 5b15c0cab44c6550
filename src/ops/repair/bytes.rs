//! Bytes as a person sees them, and what is told of parts of a file.

use std::io;
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::pairs::OPERATION;
use crate::diag::{hex, plural};
use crate::record::Source;

/// How many bytes are shown.
const SHOWN: u64 = 160;

fn read<S: Source + ?Sized>(
    source: &S,
    range: &Range<u64>,
    mut see: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut buf = vec![0; 64 * 1024];
    let mut at = range.start;
    while at < range.end {
        let room = usize::try_from(range.end - at)
            .unwrap_or(buf.len())
            .min(buf.len());
        match source.read_at(&mut buf[..room], at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                if !see(&buf[..n]) {
                    return Ok(());
                }
                at += n as u64;
            }
        }
    }
    Ok(())
}

/// A part of a file in a few words: its text, shortened, with what is no text as escapes.
pub(super) fn show<S: Source + ?Sized>(source: &S, range: &Range<u64>) -> io::Result<String> {
    let length = range.end - range.start;
    let mut all_nul = length > 0;
    read(source, range, |part| {
        all_nul &= part.iter().all(|b| *b == 0);
        all_nul
    })?;
    if all_nul {
        return Ok(plural(length, "NUL byte", "NUL bytes"));
    }
    let head = range.start..range.end.min(range.start + SHOWN);
    let mut bytes = Vec::new();
    read(source, &head, |part| {
        bytes.extend_from_slice(part);
        true
    })?;
    let mut text = shown(&bytes);
    if length > SHOWN {
        text.push_str(&format!("… ({length} bytes)"));
    }
    Ok(text)
}

/// A new text in a few words.
pub(super) fn show_text(text: &str) -> String {
    let text = text.replace(OPERATION, "OPERATION");
    let bytes = text.as_bytes();
    let room = SHOWN as usize;
    let mut out = shown(&bytes[..bytes.len().min(room)]);
    if bytes.len() > room {
        out.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    out
}

/// Text with what is none, and control characters, as escapes.
fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// SHA-256 of a part of a file, in hex.
pub(super) fn sha256<S: Source + ?Sized>(source: &S, range: &Range<u64>) -> io::Result<String> {
    let mut digest = Sha256::new();
    read(source, range, |part| {
        digest.update(part);
        true
    })?;
    Ok(hex(&digest.finalize()))
}

/// The numbers of the lines that bytes stand on, from 1. The bytes are in order; the file is read
/// once.
pub(super) fn lines_of<S: Source + ?Sized>(source: &S, bytes: &[u64]) -> io::Result<Vec<u64>> {
    let (mut from, mut line) = (0, 1);
    let mut lines = Vec::with_capacity(bytes.len());
    for &at in bytes {
        read(source, &(from..at), |part| {
            line += memchr::memchr_iter(b'\n', part).count() as u64;
            true
        })?;
        from = at.max(from);
        lines.push(line);
    }
    Ok(lines)
}
