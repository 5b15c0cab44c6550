//! How much is tried of what could be tried without end: a part, so that a run of all tests stays
//! short, or everything where `TEST_EVERYTHING` is set, as it is before a change is taken. The
//! library's tests take this file too.

/// Whether everything is tried.
pub fn everything() -> bool {
    std::env::var_os("TEST_EVERYTHING").is_some()
}

/// Every `of`th of many cases that are much alike, or all.
#[allow(dead_code, reason = "the library's tests have no tables")]
pub fn every<T>(of: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if everything() { 1 } else { of })
}

/// How many cases of a property are tried, where `all` are enough: a quarter, or all.
#[allow(dead_code, reason = "for helpers that take one")]
pub fn cases(all: u32) -> u32 {
    if everything() { all } else { all.div_ceil(4) }
}
