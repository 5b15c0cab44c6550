//! A model of a power cut, for tests: what was changed and not synced is taken back.
//!
//! Before a name or a file's content changes for the first time since its last sync, what it was
//! is kept here. A sync of the file, the folder or the file system forgets that. [`Power::off`] then
//! puts back what is left, which is the most that a file system is allowed to lose: each folder's
//! entries and each file's bytes are lost apart, and a rename between two folders is durable in
//! each of them only once that one is synced.

use std::collections::hash_map::Entry::Vacant;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};

use super::dir::{Dir, stat_of};
use super::entry::EntryKind;

/// How much of the unsynced work a power cut takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All: names and bytes are as they were when last synced.
    All,
    /// The bytes: names are durable before the data, as some file systems order them.
    Data,
    /// The bytes, but not the lengths: what was not synced reads as NUL.
    Zeroed,
    /// The second half of what was written.
    Half,
    /// All writes to a file but the last: the disk took that one first.
    Reordered,
    /// The names: bytes are durable before the folders.
    Names,
}

/// A file or folder, by file system and number there.
type Id = (u64, u64);

enum Before {
    Absent,
    /// A file, reachable under this name in the folder aside.
    File(OsString),
    Folder(Id, u32),
    /// Something that the store's own code never changes.
    Other,
}

struct Folder {
    handle: File,
    names: BTreeMap<OsString, Before>,
}

struct Content {
    handle: File,
    bytes: Vec<u8>,
    /// The last write since: where, and what.
    last: Option<(u64, Vec<u8>)>,
}

/// What is not durable yet, and what it was before.
pub(super) struct Power {
    aside: Dir,
    kept: u64,
    folders: HashMap<Id, Folder>,
    files: HashMap<Id, Content>,
    removed: HashSet<Id>,
}

fn id_of(file: &File) -> io::Result<Id> {
    let stat = stat_of(file)?;
    Ok((stat.dev, stat.inode))
}

fn open_folder(parent: &File, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(
        parent,
        name,
        flags,
        Mode::empty(),
    )?))
}

fn read_all(file: &File) -> io::Result<Vec<u8>> {
    let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

impl Power {
    pub(super) fn new(aside: &Path) -> io::Result<Self> {
        Ok(Self {
            aside: Dir::open_root(aside)?,
            kept: 0,
            folders: HashMap::new(),
            files: HashMap::new(),
            removed: HashSet::new(),
        })
    }

    fn fresh(&mut self) -> OsString {
        self.kept += 1;
        OsString::from(self.kept.to_string())
    }

    fn folder(&mut self, handle: &File) -> io::Result<Id> {
        let id = id_of(handle)?;
        if let Vacant(place) = self.folders.entry(id) {
            place.insert(Folder {
                handle: handle.try_clone()?,
                names: BTreeMap::new(),
            });
        }
        Ok(id)
    }

    /// A name is about to appear, to go, or to mean something else.
    pub(super) fn name(&mut self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        let id = self.folder(dir.handle())?;
        if self
            .folders
            .get(&id)
            .is_some_and(|f| f.names.contains_key(name))
        {
            return Ok(());
        }
        let before = match dir.try_stat(name)? {
            None => Before::Absent,
            Some(stat) if stat.kind == EntryKind::File => {
                let kept = self.fresh();
                rustix::fs::linkat(dir, name, &self.aside, &kept, AtFlags::empty())?;
                Before::File(kept)
            }
            Some(stat) if stat.kind == EntryKind::Dir => {
                let id = self.folder(&open_folder(dir.handle(), name)?)?;
                Before::Folder(id, stat.mode)
            }
            Some(_) => Before::Other,
        };
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.names.insert(name.to_os_string(), before);
        }
        Ok(())
    }

    /// The folder of this name is about to cease to exist, if it is one.
    pub(super) fn removes(&mut self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        if let Some(stat) = dir.try_stat(name)?
            && stat.kind == EntryKind::Dir
        {
            self.removed.insert((stat.dev, stat.inode));
        }
        Ok(())
    }

    /// A file's content is about to change.
    pub(super) fn content(&mut self, file: &File, path: &Path) -> io::Result<()> {
        // What a lock's file says does not count, and a handle kept here would keep the lock.
        if path.extension().is_some_and(|e| e == "lock") {
            return Ok(());
        }
        let id = id_of(file)?;
        if let Vacant(place) = self.files.entry(id) {
            place.insert(Content {
                handle: file.try_clone()?,
                bytes: read_all(file)?,
                last: None,
            });
        }
        Ok(())
    }

    /// Bytes are about to be written at this place, or at the end.
    pub(super) fn write(
        &mut self,
        file: &File,
        path: &Path,
        at: Option<u64>,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.content(file, path)?;
        let at = match at {
            Some(at) => at,
            None => file.metadata()?.len(),
        };
        if let Some(content) = self.files.get_mut(&id_of(file)?) {
            content.last = Some((at, bytes.to_vec()));
        }
        Ok(())
    }

    /// A file was synced.
    pub(super) fn synced_file(&mut self, file: &File) -> io::Result<()> {
        self.files.remove(&id_of(file)?);
        Ok(())
    }

    /// A folder was synced.
    pub(super) fn synced_dir(&mut self, dir: &Dir) -> io::Result<()> {
        if let Some(folder) = self.folders.get_mut(&id_of(dir.handle())?) {
            folder.names.clear();
        }
        Ok(())
    }

    /// Everything was synced.
    pub(super) fn synced_fs(&mut self) {
        self.files.clear();
        self.folders.clear();
        self.removed.clear();
    }

    /// The power goes.
    pub(super) fn off(&mut self, loss: Loss) -> io::Result<()> {
        if loss != Loss::Names {
            for content in self.files.values() {
                content.lose(loss)?;
            }
        }
        if matches!(loss, Loss::All | Loss::Names) {
            self.lose_names()?;
        }
        self.synced_fs();
        Ok(())
    }

    fn lose_names(&mut self) -> io::Result<()> {
        // First everything goes aside, so that what is put back finds its place free.
        let mut moved: HashMap<Id, OsString> = HashMap::new();
        let mut work = Vec::new();
        for (id, folder) in &mut self.folders {
            let names = std::mem::take(&mut folder.names);
            work.push((*id, names));
        }
        for (id, names) in &work {
            for name in names.keys() {
                let kept = self.fresh();
                let Some(folder) = self.folders.get(id) else {
                    continue;
                };
                match rustix::fs::renameat_with(
                    &folder.handle,
                    name,
                    &self.aside,
                    &kept,
                    RenameFlags::NOREPLACE,
                ) {
                    Ok(()) => {
                        let stat = self.aside.stat(&kept)?;
                        moved.insert((stat.dev, stat.inode), kept);
                    }
                    Err(rustix::io::Errno::NOENT) => {}
                    Err(e) => return Err(e.into()),
                }
            }
        }
        // Then folders, those first whose own place exists.
        let mut waiting: Vec<_> = work
            .iter()
            .flat_map(|(id, names)| names.iter().map(move |(name, before)| (*id, name, before)))
            .filter_map(|(id, name, before)| match before {
                Before::Folder(what, mode) => Some((id, name, *what, *mode)),
                _ => None,
            })
            .collect();
        while !waiting.is_empty() {
            let next = waiting
                .iter()
                .position(|(id, ..)| !self.removed.contains(id));
            // What is left was in folders whose removal is durable.
            let Some(at) = next else { break };
            let (id, name, what, mode) = waiting.swap_remove(at);
            let Some(folder) = self.folders.get(&id) else {
                continue;
            };
            if let Some(kept) = moved.get(&what) {
                rustix::fs::renameat(&self.aside, kept, &folder.handle, name)?;
            } else if self.removed.remove(&what) {
                rustix::fs::mkdirat(&folder.handle, name, Mode::from_raw_mode(mode as _))?;
                let handle = open_folder(&folder.handle, name)?;
                if let Some(again) = self.folders.get_mut(&what) {
                    again.handle = handle;
                }
            }
            // Otherwise it has a durable place elsewhere: a folder has one name.
        }
        for (id, names) in &work {
            let Some(folder) = self.folders.get(id) else {
                continue;
            };
            if self.removed.contains(id) {
                continue;
            }
            for (name, before) in names {
                if let Before::File(kept) = before {
                    rustix::fs::linkat(&self.aside, kept, &folder.handle, name, AtFlags::empty())?;
                }
            }
        }
        Ok(())
    }
}

impl Content {
    #[expect(
        clippy::disallowed_methods,
        reason = "this takes back what was written"
    )]
    fn lose(&self, loss: Loss) -> io::Result<()> {
        let now = read_all(&self.handle)?;
        let same = now
            .iter()
            .zip(&self.bytes)
            .take_while(|(a, b)| a == b)
            .count();
        let left = match loss {
            Loss::All | Loss::Data => self.bytes.clone(),
            Loss::Zeroed => {
                let mut left = now;
                left[same..].fill(0);
                left
            }
            Loss::Half => {
                let mut left = now;
                left.truncate(same + (left.len() - same) / 2);
                left
            }
            Loss::Reordered => {
                let mut left = self.bytes.clone();
                if let Some((at, bytes)) = &self.last {
                    let at = usize::try_from(*at).map_err(io::Error::other)?;
                    left.resize(left.len().max(at + bytes.len()), 0);
                    left[at..at + bytes.len()].copy_from_slice(bytes);
                }
                left
            }
            Loss::Names => return Ok(()),
        };
        self.handle.set_len(0)?;
        self.handle.write_all_at(&left, 0)
    }
}
