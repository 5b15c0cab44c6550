//! A place in a file.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A place: a path, and where it is known a line (from 1), a byte offset from the start of the
/// file (from 0) and a length in bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Locus {
    /// Relative to the store, or as given for a legacy root or a single file.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// Counts from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Counts from 0, from the start of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// In bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

fn lossy_path<S: serde::Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&path.to_string_lossy())
}

impl Locus {
    /// A whole file or folder.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
            byte: None,
            length: None,
        }
    }

    /// A place on a line.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>, line: u64, byte: u64) -> Self {
        Self {
            path: path.into(),
            line: Some(line),
            byte: Some(byte),
            length: None,
        }
    }

    /// The same place with a length in bytes.
    #[must_use]
    pub fn with_length(mut self, length: u64) -> Self {
        self.length = Some(length);
        self
    }
}

impl fmt::Display for Locus {
    /// `path`, `path:line` or `path:line:byte`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(byte) = self.byte {
                write!(f, ":{byte}")?;
            }
        }
        Ok(())
    }
}
