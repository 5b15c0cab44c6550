//! A document on disk: what stands under its name, and what it says.

use std::fs::File;
use std::io::{self, Read};

use super::fs::{Dir, EntryKind, stat_of, wrong_kind};
use crate::record::document::{DocumentFault, MAX_DOCUMENT};

/// What stands where a document should be.
#[derive(Debug)]
pub enum Document<T> {
    /// Nothing.
    Missing,
    /// A link, a folder or something else that is no file.
    NotAFile(EntryKind),
    /// It can not be read.
    Unreadable(io::Error),
    /// It can be read and is not what it should be.
    Faulty(DocumentFault),
    /// It says this.
    Good(T),
}

impl<T> Document<T> {
    /// What it says, if it is good.
    pub fn good(&self) -> Option<&T> {
        match self {
            Self::Good(value) => Some(value),
            _ => None,
        }
    }

    /// Whether nothing stands there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

/// Reads a document in a folder; never follows a link, never waits.
pub fn read_document<T>(
    dir: &Dir,
    name: &str,
    read: impl FnOnce(&[u8]) -> Result<T, DocumentFault>,
) -> Document<T> {
    match read_bytes(dir, name) {
        Ok(bytes) => match read(&bytes) {
            Ok(value) => Document::Good(value),
            Err(fault) => Document::Faulty(fault),
        },
        Err(e) => match wrong_kind(&e) {
            Some(kind) => Document::NotAFile(kind),
            None if e.kind() == io::ErrorKind::NotFound => Document::Missing,
            None => Document::Unreadable(e),
        },
    }
}

/// Reads the bytes of a document.
///
/// # Errors
/// What the system says; `FileTooLarge` above [`MAX_DOCUMENT`].
pub fn read_bytes(dir: &Dir, name: &str) -> io::Result<Vec<u8>> {
    let file = dir.file(name)?;
    read_whole(&file)
}

/// Reads a file of a document's size.
///
/// # Errors
/// What the system says; `FileTooLarge` above [`MAX_DOCUMENT`].
pub fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    let len = stat_of(file)?.len;
    if len > MAX_DOCUMENT {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{len} bytes, over the limit of {MAX_DOCUMENT} for a document"),
        ));
    }
    // One byte more than the length, so that the end is seen without another growth of the buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    file.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
