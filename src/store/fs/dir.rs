//! A handle on one folder, through which everything below it is reached.
//!
//! Names are looked up relative to an open folder and are one path component each, so that neither
//! a document nor a link can lead out of the store (C31). No method follows a symbolic link; only
//! [`Dir::open_root`] does, once, for the place that a person named.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(target_os = "linux")]
use std::{mem::MaybeUninit, sync::atomic::Ordering};

use rustix::fs::{AtFlags, Dir as RawDir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::entry::{Entry, EntryKind, FileStat, WrongKind};

/// An open folder, with the path that messages name it by.
#[derive(Debug)]
pub struct Dir {
    handle: File,
    root: Arc<Path>,
    path: PathBuf,
    /// The handle's own position stands at the first entry and nobody else shares it.
    unread: AtomicBool,
}

/// Refuses what is not one path component: a slash, a NUL byte, `.`, `..` or nothing.
pub(super) fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if bytes.is_empty()
        || bytes == b"."
        || bytes == b".."
        || memchr::memchr2(b'/', 0, bytes).is_some()
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{name:?} is not one path component"),
        ));
    }
    Ok(name)
}

/// The path of one component below another path, without the look at each that a join takes.
fn below(path: &Path, name: &OsStr) -> PathBuf {
    let path = path.as_os_str();
    let mut whole = OsString::with_capacity(path.len() + 1 + name.len());
    if !path.is_empty() {
        whole.push(path);
        whole.push("/");
    }
    whole.push(name);
    whole.into()
}

impl Dir {
    /// Opens a root folder. The path is resolved here, links included, and never again.
    ///
    /// # Errors
    /// What the system says; also when it is no folder.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        let handle = rustix::fs::open(
            path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(Self {
            handle: File::from(handle),
            root: Arc::from(path),
            path: PathBuf::new(),
            unread: AtomicBool::new(true),
        })
    }

    /// The folder's path relative to its root, for messages; empty for the root itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in this folder relative to the root, for messages.
    #[must_use]
    pub fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// The root's path as it was given.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's path with that of the root before it, for a person or another program.
    #[must_use]
    pub fn full_path(&self) -> PathBuf {
        if self.path.as_os_str().is_empty() {
            self.root.to_path_buf()
        } else {
            self.root.join(&self.path)
        }
    }

    /// A second handle on the same folder.
    ///
    /// # Errors
    /// No more handles are to be had.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            handle: self.handle.try_clone()?,
            root: Arc::clone(&self.root),
            path: self.path.clone(),
            unread: AtomicBool::new(false),
        })
    }

    /// The same for one thread that works in it much: nothing is shared with the handle that it
    /// came from, so that no thread waits for a counter that others use.
    #[must_use]
    pub fn unshared(self) -> Self {
        Self {
            root: Arc::from(&*self.root),
            ..self
        }
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// What the system says; a [`WrongKind`] inside (see [`wrong_kind`](super::wrong_kind)) if it
    /// is no folder.
    pub fn dir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = component(name.as_ref())?;
        match rustix::fs::openat(
            &self.handle,
            name,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        ) {
            Ok(handle) => Ok(Self {
                handle: File::from(handle),
                root: Arc::clone(&self.root),
                path: below(&self.path, name),
                unread: AtomicBool::new(true),
            }),
            Err(e @ (Errno::NOTDIR | Errno::LOOP | Errno::MLINK)) => Err(self.explain(name, e)),
            Err(e) => Err(e.into()),
        }
    }

    /// Opens a folder some levels down.
    ///
    /// # Errors
    /// As [`Dir::dir`], for the first level where it fails.
    pub fn dir_at<N: AsRef<OsStr>>(&self, names: impl IntoIterator<Item = N>) -> io::Result<Self> {
        let mut names = names.into_iter();
        let Some(first) = names.next() else {
            return self.try_clone();
        };
        let mut dir = self.dir(first)?;
        for name in names {
            dir = dir.dir(name)?;
        }
        Ok(dir)
    }

    /// Opens a regular file in this folder for reading. Never waits for the other end of a FIFO.
    ///
    /// # Errors
    /// What the system says; a [`WrongKind`] inside (see [`wrong_kind`](super::wrong_kind)) if it
    /// is not a regular file.
    pub fn file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open(name.as_ref(), OFlags::RDONLY)
    }

    /// The same with what the file is: to tell that it is a regular one it was asked for anyway.
    ///
    /// # Errors
    /// As [`Dir::file`].
    pub fn file_and_stat(&self, name: impl AsRef<OsStr>) -> io::Result<(File, FileStat)> {
        self.open_and_stat(name.as_ref(), OFlags::RDONLY)
    }

    /// Opens a regular file that exists, with the access that `flags` name.
    pub(super) fn open(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        self.open_and_stat(name, flags).map(|(file, _)| file)
    }

    fn open_and_stat(&self, name: &OsStr, flags: OFlags) -> io::Result<(File, FileStat)> {
        let file = self.open_unasked(name, flags)?;
        let stat = stat_of(&file)?;
        match stat.kind {
            EntryKind::File => Ok((file, stat)),
            kind => Err(WrongKind { kind }.into()),
        }
    }

    /// The same for a name that a listing just gave as that of a regular file: whether it still is
    /// one nobody asks.
    ///
    /// # Errors
    /// As [`Dir::file`], for what can not be opened.
    pub(in crate::store) fn file_unasked(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_unasked(name.as_ref(), OFlags::RDONLY)
    }

    fn open_unasked(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let name = component(name)?;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(fd) => Ok(File::from(fd)),
            // A link, a socket, and for writing a folder or a FIFO, can not be opened at all.
            Err(
                e @ (Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR | Errno::OPNOTSUPP),
            ) => Err(self.explain(name, e)),
            Err(e) => Err(e.into()),
        }
    }

    /// Turns an error of opening into what stands there instead, if that is the reason.
    fn explain(&self, name: &OsStr, errno: Errno) -> io::Error {
        match self.stat(name) {
            Ok(stat) => WrongKind { kind: stat.kind }.into(),
            Err(_) => errno.into(),
        }
    }

    /// Everything in this folder, sorted by the bytes of its name.
    ///
    /// # Errors
    /// What the system says.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        // The position is gone with the first reading, so only that one needs no second handle.
        #[cfg(target_os = "linux")]
        if self.unread.swap(false, Ordering::Relaxed) {
            let mut buf = [MaybeUninit::uninit(); LIST_BUFFER];
            let mut items = rustix::fs::RawDir::new(&self.handle, &mut buf);
            while let Some(item) = items.next() {
                let item = item?;
                self.entry(item.file_name().to_bytes(), item.file_type(), &mut entries);
            }
            return Ok(sorted(entries));
        }
        for item in RawDir::read_from(&self.handle)? {
            let item = item?;
            self.entry(item.file_name().to_bytes(), item.file_type(), &mut entries);
        }
        Ok(sorted(entries))
    }

    fn entry(&self, bytes: &[u8], kind: FileType, entries: &mut Vec<Entry>) {
        if bytes == b"." || bytes == b".." {
            return;
        }
        let name = OsStr::from_bytes(bytes).to_os_string();
        let kind = match kind {
            // Some file systems do not say; one that is gone by now is left out.
            FileType::Unknown => match self.stat(&name) {
                Ok(stat) => stat.kind,
                Err(e) if e.kind() == io::ErrorKind::NotFound => return,
                Err(_) => EntryKind::Unknown,
            },
            known => kind_of(known),
        };
        entries.push(Entry { name, kind });
    }

    /// All that it holds, also while others rename over names in it: on some file systems one
    /// listing may miss a name that was there all the time. Listings are put together until one
    /// brings nothing new, and what is gone by then is left out.
    ///
    /// # Errors
    /// What the system says.
    pub fn entries_settled(&self) -> io::Result<Vec<Entry>> {
        let mut all = BTreeSet::new();
        for _ in 0..8 {
            let before = all.len();
            all.extend(self.entries()?.into_iter().map(|entry| entry.name));
            if all.len() == before {
                break;
            }
        }
        let mut settled = Vec::with_capacity(all.len());
        for name in all {
            if let Some(stat) = self.try_stat(&name)? {
                let kind = stat.kind;
                settled.push(Entry { name, kind });
            }
        }
        Ok(settled)
    }

    /// What stands under a name. A link is itself, not what it points at.
    ///
    /// # Errors
    /// What the system says.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<FileStat> {
        let name = component(name.as_ref())?;
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(file_stat(&stat))
    }

    /// As [`Dir::stat`], with none for a name that does not exist.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<FileStat>> {
        match self.stat(name) {
            Ok(stat) => Ok(Some(stat)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// What this folder itself is.
    ///
    /// # Errors
    /// What the system says.
    pub fn own_stat(&self) -> io::Result<FileStat> {
        Ok(file_stat(&rustix::fs::fstat(&self.handle)?))
    }

    /// Where a symbolic link points, for messages: it is never followed.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` if it is no link.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let name = component(name.as_ref())?;
        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The handle itself.
    pub(super) fn handle(&self) -> &File {
        &self.handle
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    // While others rename over it, some file systems give a name more than once.
    entries.dedup_by(|a, b| a.name == b.name);
    entries
}

/// How much of a folder is listed in one call, in bytes.
#[cfg(target_os = "linux")]
const LIST_BUFFER: usize = 32 * 1024;

/// What an open file is.
///
/// # Errors
/// What the system says.
pub fn stat_of(file: impl AsFd) -> io::Result<FileStat> {
    Ok(file_stat(&rustix::fs::fstat(file)?))
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Dir,
        FileType::Symlink => EntryKind::Symlink,
        FileType::Socket => EntryKind::Socket,
        FileType::Fifo => EntryKind::Fifo,
        FileType::CharacterDevice | FileType::BlockDevice => EntryKind::Device,
        FileType::Unknown => EntryKind::Unknown,
    }
}

// The widths of these fields differ between systems.
#[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
fn file_stat(stat: &Stat) -> FileStat {
    FileStat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        len: stat.st_size as u64,
        mtime_s: stat.st_mtime as i64,
        mtime_ns: stat.st_mtime_nsec as u32,
        ctime_s: stat.st_ctime as i64,
        ctime_ns: stat.st_ctime_nsec as u32,
        inode: stat.st_ino as u64,
        dev: stat.st_dev as u64,
        links: stat.st_nlink as u64,
        mode: (stat.st_mode as u32) & 0o7777,
        uid: stat.st_uid as u32,
        gid: stat.st_gid as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::wrong_kind;
    use super::*;
    use std::io::Read;

    fn tree() -> (tempfile::TempDir, Dir) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), b"text").unwrap();
        std::os::unix::fs::symlink("file", root.join("a/link")).unwrap();
        std::os::unix::fs::symlink("b", root.join("a/dirlink")).unwrap();
        #[cfg(target_os = "linux")]
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("a/fifo"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        drop(std::os::unix::net::UnixListener::bind(root.join("a/sock")).unwrap());
        let dir = Dir::open_root(root).unwrap();
        (temp, dir)
    }

    /// C31: only one component at a time, so nothing leads out of the store.
    #[test]
    fn c31_names_are_one_component() {
        let (_temp, root) = tree();
        for bad in ["", ".", "..", "a/b", "/", "/etc", "a\0"] {
            for error in [
                root.dir(bad).map(drop).unwrap_err(),
                root.file(bad).map(drop).unwrap_err(),
                root.stat(bad).map(drop).unwrap_err(),
                root.read_link(bad).map(drop).unwrap_err(),
            ] {
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{bad:?}");
            }
        }
    }

    /// C31: a link is seen and not followed; what is no file is told from what can not be read.
    #[test]
    fn c31_links_and_special_files_are_not_opened() {
        let (_temp, root) = tree();
        let a = root.dir("a").unwrap();
        for (name, kind) in [
            ("link", EntryKind::Symlink),
            ("dirlink", EntryKind::Symlink),
            ("sock", EntryKind::Socket),
            ("b", EntryKind::Dir),
        ] {
            assert_eq!(wrong_kind(&a.file(name).unwrap_err()), Some(kind), "{name}");
        }
        if cfg!(target_os = "linux") {
            assert_eq!(
                wrong_kind(&a.file("fifo").unwrap_err()),
                Some(EntryKind::Fifo)
            );
        }
        for (name, kind) in [("dirlink", EntryKind::Symlink), ("file", EntryKind::File)] {
            assert_eq!(wrong_kind(&a.dir(name).unwrap_err()), Some(kind), "{name}");
        }
        let missing = a.file("missing").unwrap_err();
        assert_eq!(
            (missing.kind(), wrong_kind(&missing)),
            (io::ErrorKind::NotFound, None)
        );
        assert_eq!(a.read_link("link").unwrap(), Path::new("file"));
        let mut text = String::new();
        a.file("file").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }

    #[test]
    fn entries_are_sorted_and_tell_their_kind() {
        let (_temp, root) = tree();
        let a = root.dir("a").unwrap();
        let entries = a.entries().unwrap();
        let seen: Vec<_> = entries
            .iter()
            .map(|e| (e.name.to_str().unwrap(), e.kind))
            .filter(|(name, _)| *name != "fifo")
            .collect();
        assert_eq!(
            seen,
            [
                ("b", EntryKind::Dir),
                ("dirlink", EntryKind::Symlink),
                ("file", EntryKind::File),
                ("link", EntryKind::Symlink),
                ("sock", EntryKind::Socket),
            ]
        );
        let again = a.entries().unwrap();
        assert_eq!(again, entries, "a second reading starts anew");
        for dir in [a.try_clone().unwrap(), root.dir("a").unwrap()] {
            assert_eq!(dir.try_clone().unwrap().entries().unwrap(), entries);
            assert_eq!(dir.entries().unwrap(), entries, "a clone has read it");
        }
        let fresh = root.dir("a").unwrap();
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| fresh.entries().unwrap()))
                .collect();
            for one in all {
                assert_eq!(one.join().unwrap(), entries, "threads read apart");
            }
        });
    }

    #[test]
    fn paths_are_relative_to_the_root() {
        let (temp, root) = tree();
        assert_eq!(root.path(), Path::new(""));
        let b = root.dir_at(["a", "b"]).unwrap();
        assert_eq!(b.path(), Path::new("a/b"));
        assert_eq!(b.path_of("c"), Path::new("a/b/c"));
        assert_eq!(b.full_path(), temp.path().join("a/b"));
        assert_eq!(root.stat("a").unwrap().kind, EntryKind::Dir);
        assert_eq!(root.dir("a").unwrap().stat("file").unwrap().len, 4);
        assert!(root.try_stat("missing").unwrap().is_none());
    }

    #[test]
    fn the_root_itself_may_be_a_link() {
        let (temp, _root) = tree();
        let root = Dir::open_root(&temp.path().join("a/dirlink")).unwrap();
        assert!(root.entries().unwrap().is_empty());
    }
}
