//! A folder of files that appears whole or not at all (C6).
//!
//! It is filled under a name that starts with a dot, every file and folder in it is synced, and one
//! rename that replaces nothing puts it in place. Costs a sync for each file and folder in it and
//! one for the folder that it appears in; or, for a batch, one [`SyncFs::sync`] for all of the
//! former.

use std::ffi::{OsStr, OsString};
use std::io;

use super::change::{WriteDir, sync_file};
use super::entry::EntryKind;
use super::failure::{exists, failed, unknown};
#[cfg(target_os = "linux")]
use super::fault::can_sync_fs;
use super::place::{remove_tree, rename_into_place, sync_dir};
use crate::diag::{Error, Result};

/// A folder that is being filled. Dropped before it was put in place, it is removed with all that
/// is in it.
#[derive(Debug)]
#[must_use = "nothing has changed before the folder is put in place"]
pub struct StagedDir<'d, 'g> {
    parent: &'d WriteDir<'g>,
    temp: OsString,
    dir: WriteDir<'g>,
    synced: bool,
    placed: bool,
}

impl<'d, 'g> StagedDir<'d, 'g> {
    /// Makes the folder in `parent`, under a temporary name that starts with a dot.
    ///
    /// # Errors
    /// What the system says.
    pub fn begin(parent: &'d WriteDir<'g>, temp: impl Into<OsString>) -> Result<Self> {
        Self::begin_for(parent, temp, parent)
    }

    /// The same for another folder, whose owner, group and mode it takes.
    ///
    /// # Errors
    /// What the system says.
    pub fn begin_for(
        parent: &'d WriteDir<'g>,
        temp: impl Into<OsString>,
        target: &WriteDir<'_>,
    ) -> Result<Self> {
        let temp = temp.into();
        let made = target.own_stat();
        match made.and_then(|like| parent.make_dir_like(&temp, &like)) {
            Ok(dir) => Ok(Self {
                parent,
                temp,
                dir,
                synced: false,
                placed: false,
            }),
            Err(e) => {
                if e.kind() != io::ErrorKind::AlreadyExists {
                    let _ = parent.remove_dir(&temp);
                }
                Err(failed("make", &parent.path_of(&temp), e))
            }
        }
    }

    /// The folder, to be filled with [`WriteDir::make_dir`] and [`WriteDir::create`]. What is
    /// written here need not be synced.
    #[must_use]
    pub const fn dir(&self) -> &WriteDir<'g> {
        &self.dir
    }

    /// Makes everything in it durable, file by file.
    ///
    /// # Errors
    /// `outcome_unknown` if a sync fails.
    pub fn sync_each(&mut self) -> Result<()> {
        sync_tree(&self.dir)?;
        self.synced = true;
        Ok(())
    }

    /// Takes it that `sync` made everything in it durable.
    pub fn synced_by(&mut self, _sync: &Synced) {
        self.synced = true;
    }

    /// Closes the folder and leaves it where it is, to be taken up again: for batches that are
    /// larger than the number of handles that a process may have.
    pub fn leave(mut self) -> KeptDir {
        self.placed = true;
        KeptDir {
            temp: std::mem::take(&mut self.temp),
            synced: self.synced,
        }
    }

    /// Puts the folder in place as `name` in `target`, replacing nothing. The commit point.
    ///
    /// # Errors
    /// `target_exists`; what the system says, with nothing changed; `outcome_unknown` if a sync
    /// failed.
    pub fn place(mut self, target: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
        self.place_unsynced(target, name.as_ref())?;
        self.sync_parents(target)
    }

    /// The same, and the folders are left to be synced by the caller: `target` before the one
    /// that it was staged in.
    ///
    /// # Errors
    /// As [`StagedDir::place`].
    pub fn place_unsynced(&mut self, target: &WriteDir<'_>, name: &OsStr) -> Result<()> {
        self.ready()?;
        rename_into_place(self.parent, &self.temp, target, name)?;
        self.placed = true;
        Ok(())
    }

    /// Puts the folder in place of one that holds nothing but the empty folders named by `inner`,
    /// which go first. The commit point is still the one rename: before it there is an empty
    /// folder.
    ///
    /// # Errors
    /// `target_exists` if there is more in it; otherwise as [`StagedDir::place`].
    pub fn place_over_empty(
        mut self,
        target: &WriteDir<'_>,
        name: impl AsRef<OsStr>,
        inner: &[&str],
    ) -> Result<()> {
        self.place_over_empty_unsynced(target, name.as_ref(), inner)?;
        self.sync_parents(target)
    }

    /// The same, and the folders are left to be synced by the caller, as in
    /// [`StagedDir::place_unsynced`].
    ///
    /// # Errors
    /// As [`StagedDir::place_over_empty`].
    pub fn place_over_empty_unsynced(
        &mut self,
        target: &WriteDir<'_>,
        name: &OsStr,
        inner: &[&str],
    ) -> Result<()> {
        self.ready()?;
        let path = target.path_of(name);
        let taken = |e: io::Error| -> Error {
            match e.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => exists(&path),
                _ => failed("put in place", &path, e),
            }
        };
        let old = target.dir(name).map_err(taken)?;
        let there = old.entries().map_err(taken)?;
        if !there
            .iter()
            .all(|e| e.kind == EntryKind::Dir && inner.iter().any(|i| e.name == *i))
        {
            return Err(exists(&path));
        }
        let put = || -> io::Result<()> {
            for entry in &there {
                old.remove_dir(&entry.name)?;
            }
            self.parent.rename(&self.temp, target, name)
        };
        if let Err(e) = put() {
            // As it was: whoever looks in between sees a Session without Segments in both.
            for entry in &there {
                let _ = old.ensure_dir(&entry.name);
            }
            return Err(taken(e));
        }
        self.placed = true;
        Ok(())
    }

    fn ready(&mut self) -> Result<()> {
        if self.synced {
            Ok(())
        } else {
            self.sync_each()
        }
    }

    fn sync_parents(&self, target: &WriteDir<'_>) -> Result<()> {
        sync_dir(target)?;
        if self.parent.path() == target.path() {
            return Ok(());
        }
        sync_dir(self.parent)
    }
}

impl Drop for StagedDir<'_, '_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = remove_tree(self.parent, &self.temp);
        }
    }
}

/// A folder that was filled and closed, and waits to be put in place. It stays on disk until it is
/// taken up: whoever leaves one has its name in an intent.
#[derive(Debug)]
#[must_use = "it is neither put in place nor removed before it is taken up"]
pub struct KeptDir {
    temp: OsString,
    synced: bool,
}

impl KeptDir {
    /// Opens it again in the folder that it was made in.
    ///
    /// # Errors
    /// What the system says; it is removed then.
    pub fn take_up<'d, 'g>(self, parent: &'d WriteDir<'g>) -> Result<StagedDir<'d, 'g>> {
        match parent.dir(&self.temp) {
            Ok(dir) => Ok(StagedDir {
                parent,
                temp: self.temp,
                dir,
                synced: self.synced,
                placed: false,
            }),
            Err(e) => {
                let _ = remove_tree(parent, &self.temp);
                Err(failed("open", &parent.path_of(&self.temp), e))
            }
        }
    }
}

/// Syncs every file and folder below a folder, and then the folder.
pub(super) fn sync_tree(dir: &WriteDir<'_>) -> Result<()> {
    let look = |e| failed("read", dir.path(), e);
    for entry in dir.entries().map_err(look)? {
        let path = dir.path_of(&entry.name);
        match entry.kind {
            EntryKind::Dir => {
                sync_tree(&dir.dir(&entry.name).map_err(|e| failed("open", &path, e))?)?;
            }
            EntryKind::File => {
                let file = dir
                    .file(&entry.name)
                    .map_err(|e| failed("open", &path, e))?;
                sync_file(&file, &path).map_err(|e| unknown("sync", &path, e))?;
            }
            // Only files and folders are ever staged.
            _ => {}
        }
    }
    sync_dir(dir)
}

/// One sync for a whole batch. Only on a kernel that reports, on a handle opened before the first
/// write, whatever went wrong since (Linux 5.8).
#[derive(Debug)]
pub struct SyncFs<'g> {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "never made there")
    )]
    dir: WriteDir<'g>,
}

/// Says that a [`SyncFs::sync`] took place.
#[derive(Debug)]
pub struct Synced(());

impl<'g> SyncFs<'g> {
    /// Opens the handle. Must be called before the first write of the batch. None where one sync
    /// can not stand in for many.
    ///
    /// # Errors
    /// The folder can not be opened anew.
    #[cfg(target_os = "linux")]
    pub fn before_writing(dir: &WriteDir<'g>) -> Result<Option<Self>> {
        let release = rustix::system::uname();
        if !can_sync_fs() || !reports_errors(release.release().to_bytes()) {
            return Ok(None);
        }
        let dir = dir.try_clone().map_err(|e| failed("open", dir.path(), e))?;
        Ok(Some(Self { dir }))
    }

    /// None: this system has no such sync.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(target_os = "linux"))]
    pub fn before_writing(_: &WriteDir<'g>) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Makes everything durable that was written on this file system.
    ///
    /// # Errors
    /// `outcome_unknown`.
    #[cfg(target_os = "linux")]
    pub fn sync(&self) -> Result<Synced> {
        self.dir
            .sync_fs()
            .map_err(|e| unknown("sync the file system of", self.dir.path(), e))?;
        Ok(Synced(()))
    }

    /// Never called: there is no value of this type here.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn sync(&self) -> Result<Synced> {
        Err(Error::new(
            crate::diag::Code::Internal,
            "this system has no syncfs",
        ))
    }
}

/// Says whether a kernel of this release reports errors of a sync of the file system.
#[cfg(target_os = "linux")]
fn reports_errors(release: &[u8]) -> bool {
    let mut numbers = release.split(|b| !b.is_ascii_digit()).map(|n| {
        std::str::from_utf8(n)
            .ok()
            .and_then(|n| n.parse::<u32>().ok())
    });
    let (major, minor) = (numbers.next().flatten(), numbers.next().flatten());
    (major, minor) >= (Some(5), Some(8))
}
