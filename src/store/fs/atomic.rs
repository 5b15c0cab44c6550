//! One file, replaced or new, that appears whole or not at all (C5, C28).
//!
//! Temporary file in the same folder, written, synced, renamed, folder synced: two syncs.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::change::{OutFile, WriteDir};
use super::dir::stat_of;
use super::entry::{EntryKind, FileStat, WrongKind};
use super::failure::{failed, unknown};
use super::place::{rename_into_place, sync_dir, temp_name};
use super::staged::Synced;
use crate::diag::Result;

/// A file that is being written under a temporary name. Dropped before it was put in place, it is
/// removed.
#[derive(Debug)]
#[must_use = "nothing has changed before the file is put in place"]
pub struct TempFile<'d, 'g> {
    dir: &'d WriteDir<'g>,
    name: OsString,
    temp: OsString,
    old: Option<FileStat>,
    file: OutFile,
    synced: bool,
    placed: bool,
}

impl<'d, 'g> TempFile<'d, 'g> {
    /// Begins a file that will have the name `name`, under the temporary name `temp` (see
    /// [`temp_name`]). It takes mode, owner and group from the file that it replaces or else from
    /// its folder, the last two where the system lets us.
    ///
    /// # Errors
    /// What the system says; `symbolic_link` or `not_a_regular_file` if that stands under `name`.
    pub fn begin(
        dir: &'d WriteDir<'g>,
        name: impl AsRef<OsStr>,
        temp: impl Into<OsString>,
    ) -> Result<Self> {
        Self::begin_from(dir, name, temp, None)
    }

    /// The same; a new file whose content comes from `source` has no rights that `source` has not.
    ///
    /// # Errors
    /// As [`TempFile::begin`].
    pub fn begin_from(
        dir: &'d WriteDir<'g>,
        name: impl AsRef<OsStr>,
        temp: impl Into<OsString>,
        source: Option<&FileStat>,
    ) -> Result<Self> {
        let (name, temp) = (name.as_ref().to_os_string(), temp.into());
        let path = dir.path_of(&name);
        let old = dir
            .try_stat(&name)
            .map_err(|e| failed("look at", &path, e))?;
        if let Some(kind) = old.map(|o| o.kind).filter(|k| *k != EntryKind::File) {
            return Err(failed("replace", &path, WrongKind { kind }.into()));
        }
        let file = match (&old, source) {
            (Some(old), _) => dir.create_like(&temp, old, old.mode),
            (None, Some(source)) => dir.create_from(&temp, source),
            (None, None) => dir.create(&temp),
        };
        match file {
            Ok(file) => Ok(Self {
                dir,
                name,
                temp,
                old,
                file,
                synced: false,
                placed: false,
            }),
            Err(e) => {
                // It may have been made, and then not been given its rights.
                if e.kind() != io::ErrorKind::AlreadyExists {
                    let _ = dir.remove_file(&temp);
                }
                Err(failed("make", &dir.path_of(&temp), e))
            }
        }
    }

    /// The path that the file will have.
    #[must_use]
    pub fn target(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }

    /// The path that it has now.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// What the file replaces.
    #[must_use]
    pub const fn replaces(&self) -> Option<&FileStat> {
        self.old.as_ref()
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// What the system says. Dropping the file then leaves things as they were.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .put(bytes)
            .map_err(|e| failed("write", self.file.path(), e))
    }

    /// Makes the bytes durable, for a caller who puts more than one file in place afterwards.
    ///
    /// # Errors
    /// `outcome_unknown`.
    pub fn sync(&mut self) -> Result<()> {
        self.file
            .sync()
            .map_err(|e| unknown("sync", self.file.path(), e))?;
        self.synced = true;
        Ok(())
    }

    /// Takes it that `sync`, after the last write, made the bytes durable.
    pub fn synced_by(&mut self, _sync: &Synced) {
        self.synced = true;
    }

    /// Puts the file in place of the one with its name, or where there was none. The commit point.
    ///
    /// # Errors
    /// What the system says, with nothing changed; `outcome_unknown` if a sync failed.
    pub fn replace(mut self) -> Result<()> {
        self.replace_unsynced()?;
        sync_dir(self.dir)
    }

    /// The same, and the folder is left to be synced by the caller.
    ///
    /// # Errors
    /// As [`TempFile::replace`].
    pub fn replace_unsynced(&mut self) -> Result<()> {
        self.ready()?;
        self.dir
            .rename(&self.temp, self.dir, &self.name)
            .map_err(|e| failed("replace", &self.target(), e))?;
        self.placed = true;
        Ok(())
    }

    /// Puts the file in place unless there is one. The commit point.
    ///
    /// # Errors
    /// `target_exists`; what the system says, with nothing changed; `outcome_unknown` if a sync
    /// failed.
    pub fn place_new(mut self) -> Result<()> {
        self.place_new_unsynced()?;
        sync_dir(self.dir)
    }

    /// The same, and the folder is left to be synced by the caller.
    ///
    /// # Errors
    /// As [`TempFile::place_new`].
    pub fn place_new_unsynced(&mut self) -> Result<()> {
        self.ready()?;
        rename_into_place(self.dir, &self.temp, self.dir, &self.name)?;
        self.placed = true;
        Ok(())
    }

    fn ready(&mut self) -> Result<()> {
        if self.synced { Ok(()) } else { self.sync() }
    }

    /// What the system says of the file now.
    ///
    /// # Errors
    /// What the system says.
    pub fn stat(&self) -> Result<FileStat> {
        stat_of(self.file.file()).map_err(|e| failed("look at", self.file.path(), e))
    }

    /// Closes the file and leaves it where it is, to be taken up again: for batches that are
    /// larger than the number of handles that a process may have.
    pub fn leave(mut self) -> KeptFile {
        self.placed = true;
        KeptFile {
            name: std::mem::take(&mut self.name),
            temp: std::mem::take(&mut self.temp),
            old: self.old,
            synced: self.synced,
        }
    }
}

/// A file that was written and closed, and waits to be put in place. It stays on disk until it is
/// taken up: whoever leaves one has its name in an intent.
#[derive(Debug)]
#[must_use = "it is neither put in place nor removed before it is taken up"]
pub struct KeptFile {
    name: OsString,
    temp: OsString,
    old: Option<FileStat>,
    synced: bool,
}

impl KeptFile {
    /// Opens it again in the folder that it was made in.
    ///
    /// # Errors
    /// What the system says; it is removed then.
    pub fn take_up<'d, 'g>(self, dir: &'d WriteDir<'g>) -> Result<TempFile<'d, 'g>> {
        match dir.open_existing(&self.temp, OFlags::RDWR) {
            Ok(file) => Ok(TempFile {
                dir,
                name: self.name,
                temp: self.temp,
                old: self.old,
                file,
                synced: self.synced,
                placed: false,
            }),
            Err(e) => {
                let _ = dir.remove_file(&self.temp);
                Err(failed("open", &dir.path_of(&self.temp), e))
            }
        }
    }
}

impl Write for TempFile<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.put(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for TempFile<'_, '_> {
    fn drop(&mut self) {
        if !self.placed {
            // What can not be removed is reported by verify and cleared by repair.
            let _ = self.dir.remove_file(&self.temp);
        }
    }
}

/// Replaces a document, or makes it. Two syncs.
///
/// # Errors
/// As [`TempFile::begin`] and [`TempFile::replace`].
pub fn replace(dir: &WriteDir<'_>, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<()> {
    let temp = temp_name(name.as_ref());
    replace_via(dir, name, temp, bytes)
}

/// The same by way of a temporary name that an intent already holds.
///
/// # Errors
/// As [`replace`].
pub fn replace_via(
    dir: &WriteDir<'_>,
    name: impl AsRef<OsStr>,
    temp: impl Into<OsString>,
    bytes: &[u8],
) -> Result<()> {
    let mut file = TempFile::begin(dir, name, temp)?;
    file.put(bytes)?;
    file.replace()
}

/// Makes a new file that appears whole, and replaces nothing. Two syncs.
///
/// # Errors
/// As [`TempFile::begin`] and [`TempFile::place_new`].
pub fn create_new_via(
    dir: &WriteDir<'_>,
    name: impl AsRef<OsStr>,
    temp: impl Into<OsString>,
    bytes: &[u8],
) -> Result<()> {
    let mut file = TempFile::begin(dir, name, temp)?;
    file.put(bytes)?;
    file.place_new()
}
