//! What a person hands to a command as a file or on standard input.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::ops::change::sha256;
use crate::record::Fault;

/// Files that a person hands over may have this size, in bytes.
pub const MAX_INPUT: u64 = 256 * 1024 * 1024;

/// The bytes of a file that a person named, and what messages call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its path as given; `-` for standard input.
    pub name: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
}

impl Input {
    /// These bytes under a name.
    #[must_use]
    pub fn new(name: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            bytes: bytes.into(),
        }
    }

    /// The content as text, or as JSON that stands in for the file of a flag: each entry of an
    /// array on a line of its own.
    fn of_json(value: Value) -> Self {
        let bytes = match value {
            Value::String(text) => text.into_bytes(),
            Value::Array(all) => all
                .iter()
                .flat_map(|one| (one.to_string() + "\n").into_bytes())
                .collect(),
            other => other.to_string().into_bytes(),
        };
        Self::new("-", bytes)
    }

    /// What a request id is bound to: the content and not the name.
    pub(super) fn fingerprint(&self) -> Value {
        json!({ "bytes": self.bytes.len(), "sha256": sha256(&self.bytes) })
    }

    /// The same of one that may not have been given.
    pub(super) fn fingerprint_of(input: Option<&Self>) -> Value {
        input.map_or(Value::Null, Self::fingerprint)
    }

    /// What is wrong with it, at its place.
    pub(super) fn error(&self, so: &str, fault: &Fault) -> Error {
        let at = usize::try_from(fault.at).unwrap_or(usize::MAX);
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
        Error::input(
            fault.code,
            format!("{so}: line {line}: {}", fault.message),
            Locus::at(&self.name, line, fault.at),
        )
    }

    /// All of it as text.
    pub(super) fn text(&self, so: &str) -> Result<&str> {
        std::str::from_utf8(&self.bytes).map_err(|e| {
            let fault = Fault {
                code: Code::InvalidUtf8,
                at: e.valid_up_to() as u64,
                length: None,
                message: "bytes that are not UTF-8".to_owned(),
            };
            self.error(so, &fault)
        })
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        Value::deserialize(d).map(Self::of_json)
    }
}
