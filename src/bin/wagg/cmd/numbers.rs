//! Numbers, sizes and times of a command line.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

/// How many of something there are, where none would do nothing: a `NonZero` of any width.
pub fn parse_count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "not a whole number of at least 1".to_owned())
}

/// The most threads that are started: beyond any machine's use of them.
const MAX_JOBS: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// How many threads work. More than are of use are taken for as many as are.
pub fn parse_jobs(text: &str) -> Result<NonZeroUsize, String> {
    Ok(parse_count::<NonZeroUsize>(text)?.min(MAX_JOBS))
}

/// A size that is a limit: nothing fits into none.
pub fn parse_limit(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        0 => Err("at least 1 byte".to_owned()),
        n => Ok(n),
    }
}

/// A size in bytes: `1000`, `64KiB`, `1GiB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1_u64 << 40,
        other => return Err(format!("{other:?} is no unit; KiB, MiB, GiB and TiB are")),
    };
    let n: u64 = digits
        .parse()
        .map_err(|_| format!("{digits:?} is no whole number"))?;
    n.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

/// A time: `30s`, `5m`, `2h`, `7d`; seconds without a unit.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        other => return Err(format!("{other:?} is no unit; s, m, h and d are")),
    };
    let n: u64 = digits
        .parse()
        .map_err(|_| format!("{digits:?} is no whole number"))?;
    n.checked_mul(unit)
        .map(Duration::from_secs)
        .ok_or_else(|| "too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_are_taken_than_are_of_use() {
        let jobs = |text| parse_jobs(text).map(NonZeroUsize::get);
        assert_eq!(jobs("3"), Ok(3));
        assert_eq!(jobs("256"), Ok(256));
        assert_eq!(jobs("100000"), Ok(256));
        assert!(jobs("0").is_err());
    }
}
