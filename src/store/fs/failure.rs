//! How a failed step of the file system becomes an error of a command, honest about effects (C18).

use std::io;
use std::path::Path;

use super::entry::{EntryKind, wrong_kind};
use crate::diag::{Code, Effects, Error, Locus};

/// A step failed and the store is as it was.
#[must_use]
pub fn failed(action: &str, path: &Path, source: io::Error) -> Error {
    let Some(kind) = wrong_kind(&source) else {
        return Error::io(action, path, source);
    };
    let code = if kind == EntryKind::Symlink {
        Code::SymbolicLink
    } else {
        Code::NotARegularFile
    };
    Error::new(
        code,
        format!(
            "failed to {action} {}: it is {}",
            path.display(),
            kind.noun()
        ),
    )
    .at(Locus::file(path))
}

/// A sync failed, or a step after the commit point: nobody knows what is on disk (C9).
#[must_use]
pub fn unknown(action: &str, path: &Path, source: io::Error) -> Error {
    Error::new(
        Code::OutcomeUnknown,
        format!(
            "failed to {action} {}: it is not known whether the change is on disk",
            path.display()
        ),
    )
    .at(Locus::file(path))
    .hint("look at the disk and the kernel's log")
    .hint("wagg verify")
    .effects(Effects::Unknown)
    .caused_by(source)
}

/// The target of something that may not replace is taken.
#[must_use]
pub fn exists(path: &Path) -> Error {
    Error::new(
        Code::TargetExists,
        format!("{} is already there", path.display()),
    )
    .at(Locus::file(path))
}
