//! Sizes, counts and times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

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

/// A count with its noun: `1 worker`, `3 workers`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// A time for scripts and JSON: RFC 3339 in UTC.
pub fn rfc3339(time: Timestamp) -> String {
    time.to_string()
}

/// A time for tables: in the local time zone, to the second.
pub fn local(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
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
    fn counts_and_times() {
        assert_eq!(plural(1, "worker", "workers"), "1 worker");
        assert_eq!(plural(0, "worker", "workers"), "0 workers");
        let time = from_ms(1_700_000_000_123).unwrap();
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.123Z");
        assert_eq!(from_ms(u64::MAX), None);
    }
}
