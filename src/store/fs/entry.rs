//! What stands in a folder.

use std::ffi::OsString;
use std::io;

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link, which nobody follows.
    Symlink,
    /// A socket.
    Socket,
    /// A named pipe.
    Fifo,
    /// A character or block device.
    Device,
    /// The system did not say.
    Unknown,
}

impl EntryKind {
    /// A noun with its article, for messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Dir => "a folder",
            Self::Symlink => "a symbolic link",
            Self::Socket => "a socket",
            Self::Fifo => "a named pipe",
            Self::Device => "a device",
            Self::Unknown => "something unknown",
        }
    }
}

/// A name in a folder, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, one path component.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// What the system says of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: EntryKind,
    /// In bytes.
    pub len: u64,
    /// When it was last written: seconds since 1970.
    pub mtime_s: i64,
    /// The nanoseconds of that.
    pub mtime_ns: u32,
    /// When it, or what the system says of it, last changed; nobody can set this.
    pub ctime_s: i64,
    /// The nanoseconds of that.
    pub ctime_ns: u32,
    /// Its number in its file system.
    pub inode: u64,
    /// Its file system.
    pub dev: u64,
    /// How many names it has.
    pub links: u64,
    /// The permission bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

impl FileStat {
    /// Says whether two are the same file.
    #[must_use]
    pub const fn same_file(&self, other: &Self) -> bool {
        self.inode == other.inode && self.dev == other.dev
    }
}

/// Something else than asked for stands there. Travels inside an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is {}", kind.noun())]
pub struct WrongKind {
    /// What stands there.
    pub kind: EntryKind,
}

impl From<WrongKind> for io::Error {
    fn from(e: WrongKind) -> Self {
        Self::other(e)
    }
}

/// What stands there instead, if that is why an opening failed.
#[must_use]
pub fn wrong_kind(error: &io::Error) -> Option<EntryKind> {
    error.get_ref()?.downcast_ref::<WrongKind>().map(|e| e.kind)
}
