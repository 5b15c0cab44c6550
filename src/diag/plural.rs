//! Counts in sentences.

/// A count with its noun: `1 record`, `2 records`.
#[must_use]
pub fn plural(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{count} {noun}")
}
