//! Paths inside commands that a person pastes.

use std::path::Path;

/// A path as a shell takes it: in quotes where it needs them.
#[must_use]
pub fn shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+:=@".contains(&b);
    if !text.is_empty() && text.bytes().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
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
        ] {
            assert_eq!(shell(Path::new(path)), text);
        }
    }
}
