//! A document on disk: what stands under its name, and what it says.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;

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

/// As [`read_document`] for a name that its folder was just seen to hold, as a `kind`. What is good
/// as it is read at once is not asked what it is and how long; all else is read with more care.
pub fn read_listed<T>(
    dir: &Dir,
    name: &str,
    kind: EntryKind,
    read: impl Fn(&[u8]) -> Result<T, DocumentFault>,
) -> Document<T> {
    if kind == EntryKind::File
        && let Some(value) = read_at_once(dir, name, &read)
    {
        return Document::Good(value);
    }
    read_document(dir, name, read)
}

fn read_at_once<T>(
    dir: &Dir,
    name: &str,
    read: impl Fn(&[u8]) -> Result<T, DocumentFault>,
) -> Option<T> {
    let file = dir.file_unasked(name).ok()?;
    let mut room = [MaybeUninit::uninit(); SMALL];
    let (bytes, more) = rustix::io::read(&file, &mut room).ok()?;
    // A full room may have more behind it.
    if more.is_empty() {
        return None;
    }
    read(bytes).ok()
}

/// Reads the bytes of a document.
///
/// # Errors
/// What the system says; `FileTooLarge` above [`MAX_DOCUMENT`].
pub fn read_bytes(dir: &Dir, name: &str) -> io::Result<Vec<u8>> {
    let (file, stat) = dir.file_and_stat(name)?;
    read_all(&file, stat.len)
}

/// Reads a file of a document's size.
///
/// # Errors
/// What the system says; `FileTooLarge` above [`MAX_DOCUMENT`].
pub fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    read_all(file, stat_of(file)?.len)
}

/// Documents of less than this length, in bytes, are read at once.
const SMALL: usize = 8 * 1024;

/// Reads a file that was `len` bytes long when it was opened.
fn read_all(mut file: &File, len: u64) -> io::Result<Vec<u8>> {
    if len > MAX_DOCUMENT {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{len} bytes, over the limit of {MAX_DOCUMENT} for a document"),
        ));
    }
    // One byte more than the length: a read that gives just the length has seen the end.
    let len = usize::try_from(len).unwrap_or(0);
    let mut bytes = vec![0; len + 1];
    let first = loop {
        match file.read(&mut bytes) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => break done?,
        }
    };
    bytes.truncate(first);
    if first != len {
        let rest = (MAX_DOCUMENT + 1).saturating_sub(first as u64);
        file.take(rest).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::document::SessionDocument;

    const ID: &str = "01890000-0000-7000-8000-000000000001";

    /// However a document is read, it says the same, and what is no document is the same kind of
    /// none; also where the kind is that of a listing of before.
    #[test]
    fn what_is_listed_is_read_as_what_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(temp.path()).unwrap();
        let write = |name: &str, text: &str| std::fs::write(temp.path().join(name), text).unwrap();
        let good = format!(r#"{{"schema_version":1,"session_id":"{ID}"}}"#);
        for len in [good.len(), SMALL - 1, SMALL, SMALL + 1, 3 * SMALL] {
            write(&len.to_string(), &format!("{good:<len$}"));
            write(&format!("{len} and more"), &format!("{good:<len$}x"));
        }
        write("empty", "");
        write("broken", &good[..20]);
        std::fs::create_dir(temp.path().join("folder")).unwrap();
        std::os::unix::fs::symlink("empty", temp.path().join("link")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(temp.path().join("socket")).unwrap());
        #[cfg(target_os = "linux")]
        rustix::fs::mknodat(
            rustix::fs::CWD,
            temp.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let mut names: Vec<_> = dir.entries().unwrap();
        names.push(super::super::fs::Entry {
            name: "nothing".into(),
            kind: EntryKind::File,
        });
        let mut all_good = 0;
        for entry in names {
            let name = entry.name.to_str().unwrap();
            let plain = read_document(&dir, name, SessionDocument::read);
            all_good += usize::from(plain.good().is_some());
            for kind in [entry.kind, EntryKind::File, EntryKind::Unknown] {
                let listed = read_listed(&dir, name, kind, SessionDocument::read);
                assert_eq!(format!("{listed:?}"), format!("{plain:?}"), "{name}");
            }
        }
        assert_eq!(all_good, 5);
    }
}
