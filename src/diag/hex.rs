//! Digests in text.

use std::fmt::Write;

/// Bytes in lower-case hex, two digits each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            // writing to a String does not fail
            let _ = write!(text, "{byte:02x}");
            text
        })
}
