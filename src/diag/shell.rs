//! Words inside commands that a person pastes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path as a shell and a command take it: in quotes where it needs them, and never like a flag.
#[must_use]
pub fn shell(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if bytes.starts_with(b"-") {
        let mut named = b"./".to_vec();
        named.extend_from_slice(bytes);
        return shell_word(OsStr::from_bytes(&named));
    }
    shell_word(path.as_os_str())
}

/// A word as a shell takes it: in quotes where it needs them. What does not show, or is no text,
/// stands as escapes.
#[must_use]
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-+:=@,%".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|c: char| c.is_control() || is_deceptive(c)) => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => escaped(bytes),
    }
}

/// The form with escapes, which bash, zsh and ksh know.
fn escaped(bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("\\x{b:02x}")).collect() };
    let mut out = "$'".to_owned();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\'' | '\\' => out.extend(['\\', c]),
                c if c.is_control() || is_deceptive(c) => {
                    out.push_str(&hex(c.encode_utf8(&mut [0; 4]).as_bytes()));
                }
                c => out.push(c),
            }
        }
        out.push_str(&hex(chunk.invalid()));
    }
    out.push('\'');
    out
}

/// Whether a character shows nothing, or makes other text show in another order or place.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' // soft hyphen
        | '\u{34f}' // combining grapheme joiner
        | '\u{61c}' // Arabic letter mark
        | '\u{115f}'..='\u{1160}' // Hangul fillers
        | '\u{17b4}'..='\u{17b5}' // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}' // Mongolian selectors
        | '\u{200b}'..='\u{200f}' // zero width, direction marks
        | '\u{2028}'..='\u{202e}' // line and paragraph separator, embeddings, overrides
        | '\u{2060}'..='\u{206f}' // joiners, isolates, deprecated format characters
        | '\u{3164}' // Hangul filler
        | '\u{feff}' // byte order mark
        | '\u{ffa0}' // halfwidth Hangul filler
        | '\u{fff9}'..='\u{fffb}' // interlinear annotation
        | '\u{1d173}'..='\u{1d17a}' // musical format characters
        | '\u{e0000}'..='\u{e0fff}' // tags, selectors
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_quotes_gets_them() {
        for (path, text) in [
            ("/data/sessions", "/data/sessions"),
            ("my data", "'my data'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("-x", "./-x"),
            ("--store", "./--store"),
            ("-odd 'name", "'./-odd '\\''name'"),
            ("two\nlines", "$'two\\nlines'"),
            ("it's\ttab\\", "$'it\\'s\\ttab\\\\'"),
            ("a\u{202e}b", "$'a\\xe2\\x80\\xaeb'"),
            ("naïve", "'naïve'"),
            ("~", "'~'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell(Path::new(path)), text);
        }
        assert_eq!(shell(Path::new(OsStr::from_bytes(b"a\xff"))), "$'a\\xff'");
        assert_eq!(shell_word("-x"), "-x");
    }
}
