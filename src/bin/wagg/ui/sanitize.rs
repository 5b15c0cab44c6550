//! Stored text and file names are untrusted: what of them may reach a terminal or a row.

use std::borrow::Cow;
use std::fmt::Write as _;

use wagg::diag::is_deceptive;

/// Text for a terminal: control, bidi and zero-width characters are shown, not obeyed.
pub fn terminal(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() || is_deceptive(c))
}

/// Text for a tab-separated row: what would break the row is escaped, the rest is as stored.
///
/// A backslash is doubled, so that the text can be had back.
pub fn row(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() || c == '\\')
}

fn escape(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    // What mostly stands in a row is told without a look at each character by itself.
    let harmless = |all, b: &u8| all & (matches!(b, b' '..=b'~') & (*b != b'\\'));
    if text.as_bytes().iter().fold(true, harmless) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&bad) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if !bad(c) {
            out.push(c);
            continue;
        }
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            // writing to a String does not fail
            _ => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C31: stored text is escaped for control characters on a terminal.
    #[test]
    fn c31_a_terminal_sees_what_is_there() {
        assert_eq!(terminal("plain – тест 日本 🙂"), "plain – тест 日本 🙂");
        assert_eq!(terminal("a\x1b[31mb\x07"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(terminal("a\nb\tc\r"), "a\\nb\\tc\\r");
        assert_eq!(terminal("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(terminal("user\u{202e}gpj.exe"), "user\\u{202e}gpj.exe");
        assert_eq!(
            terminal("pay\u{200b}pal\u{feff}"),
            "pay\\u{200b}pal\\u{feff}"
        );
        assert_eq!(terminal("x\u{e0041}"), "x\\u{e0041}");
        assert_eq!(terminal(r"C:\dir"), r"C:\dir");
    }

    #[test]
    fn a_row_stays_one_row_and_can_be_had_back() {
        assert_eq!(row("a\tb\nc\\n"), "a\\tb\\nc\\\\n");
        assert_eq!(row("user\u{202e}gpj"), "user\u{202e}gpj");
        assert_eq!(row("\u{0}"), "\\u{0}");
        assert!(matches!(row("nothing to do"), Cow::Borrowed(_)));
    }
}
