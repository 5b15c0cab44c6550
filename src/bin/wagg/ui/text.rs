//! Sizes, counts and times as people read them.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::cmd::input;
pub use wagg::diag::plural;

/// A size for people: `312 B`, `1.4 KiB`, `18 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // a double is exact enough for two digits
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Prose is not spread wider than this, however wide the terminal is.
const PROSE: usize = 100;

/// How many columns of a terminal a text takes.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Breaks text at blanks so that each line fits a terminal of `width` columns behind an indent;
/// a longer word stands alone. Nothing is broken where there is no width.
pub fn wrap(text: &str, width: Option<u16>, indent: usize) -> Vec<String> {
    let Some(width) = width else {
        return vec![text.to_owned()];
    };
    let room = usize::from(width).min(PROSE).saturating_sub(indent).max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let wide = columns(word);
        if used > 0 && used + 1 + wide > room {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += wide;
        }
    }
    lines
}

/// Text on one line: each stretch of blanks and line ends becomes one blank.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Text cut to so many columns of a terminal, with `…` where something is left out. What a terminal
/// would obey is shown first, since that takes more columns.
pub fn shorten(text: &str, room: usize) -> String {
    let text = super::sanitize::terminal(text);
    if columns(&text) <= room {
        return text.into_owned();
    }
    let mut used = 0;
    let mut out = String::new();
    for c in text.chars() {
        let mut buffer = [0; 4];
        used += columns(c.encode_utf8(&mut buffer));
        if used + 1 > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// A time for scripts: RFC 3339 in UTC, to the millisecond, so that all have one length and order.
pub fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// A time for tables: in the local time zone, to the second.
pub fn local(time: Timestamp) -> String {
    zoned(time).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A time in the local time zone.
pub fn zoned(time: Timestamp) -> Zoned {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    time.to_zoned(ZONE.get_or_init(zone).clone())
}

/// The rules of a time zone take no more than this, in bytes; the longest known have 4 KiB.
const MAX_ZONE: u64 = 1024 * 1024;

/// The local time zone. To find its name among all that there are takes longer than most commands;
/// where it has no variable, its rules are read from the one file that they stand in.
fn zone() -> TimeZone {
    let file = || {
        let rules = input::bytes(Path::new("/etc/localtime"), MAX_ZONE).ok()?;
        TimeZone::tzif("local", &rules).ok()
    };
    let named = std::env::var_os("TZ").is_some();
    (!named)
        .then(file)
        .flatten()
        .unwrap_or_else(TimeZone::system)
}

/// Milliseconds since 1970, as records have them; none where no calendar has such a time.
pub fn from_ms(ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well_and_never_show_1024_of_a_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1434, "1.4 KiB"),
            (10 * 1024 - 1, "10 KiB"),
            (10 * 1024, "10 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (64 << 20, "64 MiB"),
            (100 << 30, "100 GiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn wrapping_keeps_words_whole_and_counts_columns() {
        assert_eq!(wrap("a b", None, 4), ["a b"]);
        assert_eq!(
            wrap("one two three four five six", Some(24), 4),
            ["one two three four", "five six"]
        );
        let long = "x".repeat(40);
        assert_eq!(wrap(&format!("a {long}"), Some(24), 0), ["a", &long]);
        assert_eq!(wrap("日本 日本 日本", Some(10), 0), ["日本 日本", "日本"]);
        let prose = "word ".repeat(60);
        let lines = wrap(prose.trim_end(), Some(300), 0);
        assert!(lines.iter().all(|line| line.len() <= 100), "{lines:?}");
    }

    #[test]
    fn long_text_is_cut_where_the_terminal_ends() {
        assert_eq!(one_line(" a\n\n b\tc "), "a b c");
        assert_eq!(shorten("abcd", 4), "abcd");
        assert_eq!(shorten("abcde", 4), "abc…");
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
        assert_eq!(shorten("a\u{1b}bc", 7), "a\\u{1b…");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn counts_and_times() {
        assert_eq!(plural(1, "worker", "workers"), "1 worker");
        assert_eq!(plural(0, "worker", "workers"), "0 workers");
        let time = from_ms(1_700_000_000_123).unwrap();
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.123Z");
        for (ms, shown) in [(120, "20.120Z"), (100, "20.100Z"), (0, "20.000Z")] {
            let time = rfc3339(from_ms(1_700_000_000_000 + ms).unwrap());
            assert_eq!(time, format!("2023-11-14T22:13:{shown}"));
        }
        assert_eq!(from_ms(u64::MAX), None);
    }
}
