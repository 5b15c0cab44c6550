//! What stops a command.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::codes::{Code, Exit};
use super::locus::Locus;

/// What is known to have changed on disk when a command stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effects {
    /// Nothing.
    #[default]
    None,
    /// All that was asked for.
    All,
    /// A part; the report says which.
    Some,
    /// Not known: look before a retry.
    Unknown,
}

/// What stops a command: a code with its exit status, a message, and where it is known a place,
/// hints and the causes.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What it is; gives the exit status.
    pub code: Code,
    /// A sentence for a person, without a full stop at the end.
    pub message: String,
    /// Where it is.
    pub locus: Option<Box<Locus>>,
    /// The place is a path as a person gave it, from the current folder; else it may be one from
    /// the store's root.
    pub given: bool,
    /// Commands that can be pasted, or what to look at.
    pub hints: Vec<String>,
    /// What changed on disk.
    pub effects: Effects,
    /// The cause below, if there is one.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync + 'static>>,
}

/// The result of everything that can stop a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error without a place.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            locus: None,
            given: false,
            hints: Vec::new(),
            effects: Effects::None,
            source: None,
        }
    }

    /// An error of reading or writing `path`; a full disk and a read-only store have their own codes.
    #[must_use]
    pub fn io(action: &str, path: &Path, source: io::Error) -> Self {
        let code = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
            io::ErrorKind::ReadOnlyFilesystem => Code::ReadOnlyStore,
            _ => Code::IoFailed,
        };
        Self::new(code, format!("failed to {action} {}", path.display()))
            .at(Locus::file(path))
            .caused_by(source)
    }

    /// An error of what a person handed over, as a file or on standard input. It says nothing about
    /// the store, so the status is that of a wrong command line. `what` is what is wrong with it.
    #[must_use]
    pub fn input(what: Code, message: impl Into<String>, locus: Locus) -> Self {
        Self::new(Code::BadInput, message)
            .at(locus)
            .hint("mend what is handed over; nothing in the store is damaged by it")
            .hint(format!("wagg explain {what}"))
    }

    /// The same at a place.
    #[must_use]
    pub fn at(mut self, locus: Locus) -> Self {
        self.locus = Some(Box::new(locus));
        self
    }

    /// The same at a place that a person named.
    #[must_use]
    pub fn given(mut self) -> Self {
        self.given = true;
        self
    }

    /// The same with one more hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same with what changed.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// The same with its cause.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The exit status of its code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.code.info().exit.unwrap_or(Exit::Damaged)
    }
}

/// Gives an [`io::Error`] the path and the action it belongs to.
pub trait IoContext<T> {
    /// `failed to <action> <path>`
    ///
    /// # Errors
    /// The same as before, with its context.
    fn io(self, action: &str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T, E: Into<io::Error>> IoContext<T> for std::result::Result<T, E> {
    fn io(self, action: &str, path: impl Into<PathBuf>) -> Result<T> {
        self.map_err(|e| Error::io(action, &path.into(), e.into()))
    }
}
