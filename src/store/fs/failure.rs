//! How a failed step of the file system becomes an error of a command, honest about effects (C18).

use std::io;
use std::path::Path;

use rustix::io::Errno;

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

/// Something in the store can not be opened for reading.
#[must_use]
pub fn not_opened(path: &Path, e: io::Error) -> Error {
    if let Some(kind) = wrong_kind(&e) {
        return not_a(path, kind);
    }
    match e.kind() {
        io::ErrorKind::NotFound => Error::new(
            Code::NotFound,
            format!("nothing is at {} in the store", path.display()),
        )
        .at(Locus::file(path)),
        io::ErrorKind::PermissionDenied => Error::new(
            Code::Unreadable,
            format!("no right to read {}", path.display()),
        )
        .at(Locus::file(path))
        .caused_by(e),
        _ => Error::io("read", path, e),
    }
}

/// Why something was not opened that nothing is wrong with: there are no more handles, of this
/// process or of the system. None for every other error.
#[must_use]
pub fn no_handles(e: &io::Error) -> Option<&'static str> {
    let no = e.raw_os_error()?;
    if no == Errno::MFILE.raw_os_error() {
        Some(
            "this process has as many files open as it may: raise the limit (ulimit -n), or use fewer --jobs",
        )
    } else if no == Errno::NFILE.raw_os_error() {
        Some("the system has as many files open as it can: look again later, or use fewer --jobs")
    } else {
        None
    }
}

/// Something else stands where a file or folder should be.
#[must_use]
pub fn not_a(path: &Path, kind: EntryKind) -> Error {
    let (code, why) = match kind {
        EntryKind::Symlink => (Code::SymbolicLink, ", which wagg does not follow"),
        _ => (Code::NotARegularFile, ", not what should be there"),
    };
    Error::new(code, format!("{} is {}{why}", path.display(), kind.noun()))
        .at(Locus::file(path))
        .hint("wagg verify")
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
