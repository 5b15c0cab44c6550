//! The single steps by which a disk is changed, each through the seam of `fault.rs`.
//!
//! Nothing else in the crate creates, writes, syncs, renames or removes anything in a store.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::dir::{Dir, component, stat_of};
use super::entry::FileStat;
use super::fault::{self, Step, Verdict, note};
use crate::layout::file;

/// A folder in which the holder may change things. Lock guards hand it out and it lives no longer
/// than they do; for reading it is a [`Dir`].
#[derive(Debug)]
pub struct WriteDir<'g> {
    dir: Dir,
    guard: PhantomData<&'g ()>,
}

impl Deref for WriteDir<'_> {
    type Target = Dir;
    fn deref(&self) -> &Dir {
        &self.dir
    }
}

/// The mode of something that is made at a path. What is ours holds parts of histories and of
/// metadata, whoever may read the rest of the store: nobody but its owner gets at it, and the group
/// where it may write to the folder above, since it works there too. What is made ready there for
/// another place has the rights of that place; it is behind our own folder.
fn mode_at(path: &Path, mode: u32) -> u32 {
    let mut parts = path.iter();
    let ours = parts.next() == Some(OsStr::new(file::WAGG));
    let ready = parts.next() == Some(OsStr::new("staging")) && parts.next().is_some();
    if ours && !ready { private(mode) } else { mode }
}

/// The rights of whoever may write; nobody else has any.
fn private(mode: u32) -> u32 {
    if mode & 0o020 == 0 {
        mode & 0o700
    } else {
        mode & 0o770
    }
}

/// Fails if a step that moves no bytes is to fail.
fn step(step: Step, path: &Path) -> io::Result<()> {
    match fault::before(step, path, 0)? {
        Verdict::Go => Ok(()),
        Verdict::Short(_, error) => Err(error),
    }
}

impl<'g> WriteDir<'g> {
    /// A folder that a guard covers.
    pub(in crate::store) fn guarded(dir: Dir) -> Self {
        Self {
            dir,
            guard: PhantomData,
        }
    }

    /// A folder that is in no store, such as the one that an export is written to.
    #[must_use]
    pub fn outside_stores(dir: Dir) -> WriteDir<'static> {
        WriteDir::guarded(dir)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// As [`Dir::dir`].
    pub fn dir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        Ok(Self::guarded(self.dir.dir(name)?))
    }

    /// A second handle on the same folder.
    ///
    /// # Errors
    /// No more handles are to be had.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::guarded(self.dir.try_clone()?))
    }

    /// Makes a folder, with owner, group and mode of this one, and opens it. Not durable before
    /// this folder is synced.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if the name is taken.
    pub fn make_dir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        self.make_dir_like(name.as_ref(), &self.own_stat()?)
    }

    /// The same with owner, group and mode of another folder.
    pub(super) fn make_dir_like(&self, name: &OsStr, like: &FileStat) -> io::Result<Self> {
        let name = component(name)?;
        let mode = mode_at(&self.path_of(name), like.mode);
        step(Step::MakeDir, &self.path_of(name))?;
        note!(power => power.name(self, name));
        // With its mode from the start, as far as the umask lets it: a crash in between should not
        // leave a folder that others can not use.
        rustix::fs::mkdirat(&self.dir, name, Mode::from_raw_mode(mode as _))?;
        let made = self.dir(name)?;
        give_rights(made.handle(), &made.own_stat()?, like, mode, made.path())?;
        Ok(made)
    }

    /// Takes this folder's rights from everybody who may not write to it. One that is not ours to
    /// change stays as it is.
    pub(in crate::store) fn make_private(&self) -> io::Result<()> {
        let now = self.own_stat()?;
        let mode = private(now.mode);
        if now.mode & 0o777 != mode && now.uid == rustix::process::geteuid().as_raw() {
            step(Step::Rights, self.path())?;
            rustix::fs::fchmod(self.handle(), Mode::from_raw_mode(mode as _))?;
        }
        Ok(())
    }

    /// Opens a folder, and makes it if it is not there. Says whether it was made.
    ///
    /// # Errors
    /// As [`Dir::dir`] and [`WriteDir::make_dir`].
    pub fn ensure_dir(&self, name: impl AsRef<OsStr>) -> io::Result<(Self, bool)> {
        let name = name.as_ref();
        match self.dir(name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => match self.make_dir(name) {
                // Another process was faster; both want the same.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok((self.dir(name)?, false)),
                made => Ok((made?, true)),
            },
            found => Ok((found?, false)),
        }
    }

    /// Makes a new file for writing, with owner and group of this folder and its mode without the
    /// right to execute. Not durable before both are synced.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if the name is taken.
    pub fn create(&self, name: impl AsRef<OsStr>) -> io::Result<OutFile> {
        let like = self.own_stat()?;
        self.create_like(name.as_ref(), &like, like.mode & 0o666)
    }

    /// The same where the content comes from another file: what that file's mode withholds stays
    /// withheld.
    ///
    /// # Errors
    /// As [`WriteDir::create`].
    pub fn create_from(&self, name: impl AsRef<OsStr>, source: &FileStat) -> io::Result<OutFile> {
        let like = self.own_stat()?;
        let mode = like.mode & source.mode & 0o666;
        // Its owner goes on with it, whatever its source was.
        self.create_like(name.as_ref(), &like, mode | (like.mode & 0o600))
    }

    /// The same with owner and group of `like` and this mode.
    pub(super) fn create_like(
        &self,
        name: &OsStr,
        like: &FileStat,
        mode: u32,
    ) -> io::Result<OutFile> {
        let name = component(name)?;
        let path = self.path_of(name);
        let mode = mode_at(&path, mode);
        step(Step::Create, &path)?;
        note!(power => power.name(self, name));
        let file = File::from(rustix::fs::openat(
            &self.dir,
            name,
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::from_raw_mode(mode as _),
        )?);
        give_rights(&file, &stat_of(&file)?, like, mode, &path)?;
        Ok(OutFile { file, path })
    }

    /// Opens a file that exists.
    pub(in crate::store) fn open_existing(
        &self,
        name: impl AsRef<OsStr>,
        flags: OFlags,
    ) -> io::Result<OutFile> {
        let name = name.as_ref();
        let file = self.dir.open(name, flags)?;
        Ok(OutFile {
            file,
            path: self.path_of(name),
        })
    }

    /// Renames, and replaces what has the new name. Not durable before both folders are synced.
    pub(super) fn rename(&self, from: &OsStr, to_dir: &Dir, to: &OsStr) -> io::Result<()> {
        let (from, to) = (component(from)?, component(to)?);
        step(Step::Rename, &to_dir.path_of(to))?;
        note!(power => {
            power.name(self, from)?;
            power.name(to_dir, to)?;
            power.removes(to_dir, to)
        });
        Ok(rustix::fs::renameat(&self.dir, from, to_dir, to)?)
    }

    /// Gives something in this folder a temporary name, to be removed under it.
    pub(in crate::store) fn rename_out(&self, name: &OsStr, temp: &OsStr) -> io::Result<()> {
        self.rename(name, self, temp)
    }

    /// Renames unless something has the new name. None if this file system can not do that.
    pub(super) fn rename_no_replace(
        &self,
        from: &OsStr,
        to_dir: &Dir,
        to: &OsStr,
    ) -> io::Result<Option<()>> {
        let (from, to) = (component(from)?, component(to)?);
        if !fault::can_rename_without_replacing() {
            return Ok(None);
        }
        step(Step::Rename, &to_dir.path_of(to))?;
        note!(power => {
            power.name(self, from)?;
            power.name(to_dir, to)
        });
        rename_exclusive(&self.dir, from, to_dir, to)
    }

    /// Gives a file one more name, unless something has it.
    pub(super) fn link(&self, from: &OsStr, to_dir: &Dir, to: &OsStr) -> io::Result<()> {
        let (from, to) = (component(from)?, component(to)?);
        step(Step::Link, &to_dir.path_of(to))?;
        note!(power => power.name(to_dir, to));
        Ok(rustix::fs::linkat(
            &self.dir,
            from,
            to_dir,
            to,
            AtFlags::empty(),
        )?)
    }

    /// Removes a file's name.
    pub(in crate::store) fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        step(Step::Remove, &self.path_of(name))?;
        note!(power => power.name(self, name));
        Ok(rustix::fs::unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub(in crate::store) fn remove_dir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        step(Step::RemoveDir, &self.path_of(name))?;
        note!(power => {
            power.name(self, name)?;
            power.removes(self, name)
        });
        Ok(rustix::fs::unlinkat(&self.dir, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes the names in this folder durable.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        step(Step::SyncDir, self.path())?;
        if fault::is_real() {
            self.handle().sync_all()?;
        }
        note!(power => power.synced_dir(self));
        Ok(())
    }

    /// Makes everything on this folder's file system durable.
    #[cfg(target_os = "linux")]
    pub(super) fn sync_fs(&self) -> io::Result<()> {
        step(Step::SyncFs, self.path())?;
        if fault::is_real() {
            rustix::fs::syncfs(&self.dir)?;
        }
        note!(power => {
            power.synced_fs();
            Ok(())
        });
        Ok(())
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_exclusive(
    from_dir: &Dir,
    from: &OsStr,
    to_dir: &Dir,
    to: &OsStr,
) -> io::Result<Option<()>> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(Some(())),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_exclusive(_: &Dir, _: &OsStr, _: &Dir, _: &OsStr) -> io::Result<Option<()>> {
    Ok(None)
}

/// Gives a file or folder the owner and group of `like`, where the system lets us, and a mode.
/// Owner first: changing it may clear bits of the mode.
fn give_rights(
    file: &File,
    now: &FileStat,
    like: &FileStat,
    mode: u32,
    path: &Path,
) -> io::Result<()> {
    let mut mode_now = now.mode;
    if (now.uid, now.gid) != (like.uid, like.gid) {
        step(Step::Rights, path)?;
        let gid = Gid::from_raw(like.gid);
        let both = rustix::fs::fchown(file, Some(Uid::from_raw(like.uid)), Some(gid));
        if both.is_err() {
            // Not root: the group alone may still be ours to give. If not, the file is our own.
            let _ = rustix::fs::fchown(file, None, Some(gid));
        }
        mode_now = stat_of(file)?.mode;
    }
    if mode_now != mode {
        step(Step::Rights, path)?;
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _))?;
    }
    Ok(())
}

/// Makes a file durable that somebody wrote.
pub(super) fn sync_file(file: &File, path: &Path) -> io::Result<()> {
    step(Step::SyncFile, path)?;
    if fault::is_real() {
        file.sync_all()?;
    }
    note!(power => power.synced_file(file));
    Ok(())
}

/// A file that is being written.
#[derive(Debug)]
pub struct OutFile {
    file: File,
    path: PathBuf,
}

impl OutFile {
    /// Its path relative to the root, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for reading.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Writes all of `bytes` where the file stands, as one step.
    ///
    /// # Errors
    /// What the system says; a part may have been written.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let verdict = fault::before(Step::Write, &self.path, bytes.len())?;
        note!(power => power.write(&self.file, &self.path, None, bytes));
        match verdict {
            Verdict::Go => (&self.file).write_all(bytes),
            Verdict::Short(len, error) => {
                (&self.file).write_all(&bytes[..len])?;
                Err(error)
            }
        }
    }

    /// Writes all of `bytes` at an offset, as one step.
    pub(in crate::store) fn put_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let verdict = fault::before(Step::Write, &self.path, bytes.len())?;
        note!(power => power.write(&self.file, &self.path, Some(offset), bytes));
        match verdict {
            Verdict::Go => self.file.write_all_at(bytes, offset),
            Verdict::Short(len, error) => {
                self.file.write_all_at(&bytes[..len], offset)?;
                Err(error)
            }
        }
    }

    /// Sets the length.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the step that others go through"
    )]
    pub(in crate::store) fn set_len(&self, len: u64) -> io::Result<()> {
        step(Step::Truncate, &self.path)?;
        note!(power => power.content(&self.file, &self.path));
        self.file.set_len(len)
    }

    /// Makes content and rights durable. A failure is final: what reached the disk is not known,
    /// and a second try would succeed without having written anything (C9).
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        sync_file(&self.file, &self.path)
    }

    /// Makes content and length durable; rights and times may wait. A failure is final, as above.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync_data(&self) -> io::Result<()> {
        step(Step::SyncFile, &self.path)?;
        if fault::is_real() {
            self.file.sync_data()?;
        }
        note!(power => power.synced_file(&self.file));
        Ok(())
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
