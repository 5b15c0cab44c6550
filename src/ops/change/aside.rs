//! What an operation takes away, and where it keeps it: bytes are copied to its quarantine before
//! anything changes, tails are cut, files and folders are moved.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::effect::{Act, Effect, State};
use super::rewrite::changed;
use super::split;
use super::standing::{digest_of, open, parent_of};
use crate::diag::{Code, Error, Locus, Result, hex, plural};
use crate::layout::{OperationId, Paths};
use crate::store::fs::{Appender, WriteDir, failed, move_aside, stat_of};
use crate::store::{Dir, EntryKind, Guard, Quarantine, What, empty_quarantine, quarantined_items};

/// A part of a file that is kept, or a file or folder that will be moved in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub what: What,
    /// Where it begins there.
    pub offset: u64,
    /// In bytes; 0 for a folder.
    pub bytes: u64,
    /// SHA-256 in hex; empty for a folder.
    pub sha256: String,
    /// The name that it gets in the quarantine, if it is moved there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_as: Option<String>,
}

/// The bytes behind a length are cut off. They are kept before that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Of which file.
    pub path: PathBuf,
    /// The length that stays.
    pub to: u64,
    /// How many bytes go.
    pub bytes: u64,
    /// SHA-256 of them.
    pub sha256: String,
}

/// A file or folder gets another place. Nothing is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// From where.
    pub from: PathBuf,
    /// To where.
    pub to: PathBuf,
    /// What it is.
    pub what: What,
    /// SHA-256 of a file, or of all that is in a folder, see [`tree_digest`].
    pub sha256: String,
    /// The length of a file; 0 for a folder.
    pub bytes: u64,
}

/// Folders are not followed deeper than this.
const MAX_DEPTH: u32 = 64;

/// SHA-256 over the names and contents of everything in a folder.
///
/// # Errors
/// It can not be read.
pub(crate) fn tree_digest(dir: &Dir) -> io::Result<String> {
    fn walk(dir: &Dir, digest: &mut Sha256, depth: u32) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("folders are nested too deep"));
        }
        for entry in dir.entries()? {
            let name = entry.name.as_encoded_bytes();
            digest.update((name.len() as u64).to_be_bytes());
            digest.update(name);
            match entry.kind {
                EntryKind::File => {
                    let file = dir.file(&entry.name)?;
                    let len = stat_of(&file)?.len;
                    digest.update(b"f");
                    digest.update(digest_of(&file, 0, len)?.unwrap_or_default());
                }
                EntryKind::Dir => {
                    digest.update(b"d");
                    walk(&dir.dir(&entry.name)?, digest, depth + 1)?;
                    digest.update(b"e");
                }
                EntryKind::Symlink => {
                    let target = dir.read_link(&entry.name)?;
                    digest.update(b"l");
                    digest.update(target.as_os_str().as_encoded_bytes());
                }
                _ => digest.update(b"o"),
            }
        }
        Ok(())
    }
    let mut digest = Sha256::new();
    walk(dir, &mut digest, 0)?;
    Ok(hex(&digest.finalize()))
}

/// SHA-256 of a part of a file.
///
/// # Errors
/// It can not be read, or ends before that.
pub(crate) fn part_digest(root: &Dir, path: &Path, offset: u64, bytes: u64) -> Result<String> {
    let read = || -> io::Result<String> {
        let file = open(root, path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        digest_of(&file, offset, bytes)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    };
    read().map_err(|e| failed("read", path, e))
}

impl Kept {
    /// A part of a file, as it is now.
    ///
    /// # Errors
    /// It can not be read.
    pub fn part(root: &Dir, path: &Path, what: What, offset: u64, bytes: u64) -> Result<Self> {
        Ok(Self {
            path: path.to_path_buf(),
            what,
            offset,
            bytes,
            sha256: part_digest(root, path, offset, bytes)?,
            stored_as: None,
        })
    }

    fn is_moved(&self) -> bool {
        self.stored_as.is_some()
    }
}

impl Cut {
    pub(super) fn state(&self, root: &Dir) -> io::Result<State> {
        let Some(file) = open(root, &self.path)? else {
            return Ok(State::Moved);
        };
        let len = stat_of(&file)?.len;
        if len <= self.to {
            return Ok(if len == self.to {
                State::After
            } else {
                State::Moved
            });
        }
        let tail = digest_of(&file, self.to, self.bytes)?;
        Ok(match tail {
            Some(digest) if digest == self.sha256 && len == self.to + self.bytes => State::Before,
            // Somebody went on behind it.
            Some(digest) if digest == self.sha256 => State::Moved,
            // It was cut, and somebody went on from there.
            _ => State::After,
        })
    }

    /// Whether it is sure that it was never done: the bytes are still there.
    pub(super) fn surely_not(&self, root: &Dir) -> io::Result<bool> {
        let Some(file) = open(root, &self.path)? else {
            return Ok(false);
        };
        let tail = digest_of(&file, self.to, self.bytes)?;
        Ok(tail.is_some_and(|digest| digest == self.sha256))
    }

    fn carry_out(&self, guard: &dyn Guard) -> Result<()> {
        let (parent, name) = split(&self.path)?;
        let dir = guard.write_at(&parent)?;
        Appender::cut_to(&dir, &name, self.to, |tail| {
            let mut digest = Sha256::new();
            tail.copy_to(|part| {
                digest.update(part);
                Ok(())
            })
            .map_err(|e| failed("read", &self.path, e))?;
            if tail.len == self.bytes && hex(&digest.finalize()) == self.sha256 {
                Ok(())
            } else {
                Err(changed(&self.path))
            }
        })
    }
}

impl Move {
    pub(super) fn state(&self, root: &Dir) -> io::Result<State> {
        let there = |path: &Path| -> io::Result<Option<EntryKind>> {
            let Some(parent) = parent_of(root, path)? else {
                return Ok(None);
            };
            let stat = parent.try_stat(path.file_name().unwrap_or_default())?;
            Ok(stat.map(|stat| stat.kind))
        };
        Ok(match (there(&self.from)?, there(&self.to)?) {
            (Some(_), None) if self.is(root, &self.from)? => State::Before,
            (None, Some(_)) => State::After,
            // With a file system that moves by a link, both names are there for a moment.
            (Some(EntryKind::File), Some(EntryKind::File)) if self.same(root)? => State::Before,
            _ => State::Moved,
        })
    }

    /// Whether it is sure that it was never done: it is where it was.
    pub(super) fn surely_not(&self, root: &Dir) -> io::Result<bool> {
        let Some(parent) = parent_of(root, &self.from)? else {
            return Ok(false);
        };
        let name = self.from.file_name().unwrap_or_default();
        Ok(parent.try_stat(name)?.is_some())
    }

    /// Whether what stands at a path is still what it was.
    pub(crate) fn is(&self, root: &Dir, path: &Path) -> io::Result<bool> {
        if self.what == What::Folder {
            return match root.dir_at(path) {
                Ok(dir) => Ok(tree_digest(&dir)? == self.sha256),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(e) => Err(e),
            };
        }
        let Some(file) = open(root, path)? else {
            return Ok(false);
        };
        Ok(stat_of(&file)?.len == self.bytes
            && digest_of(&file, 0, self.bytes)?.as_ref() == Some(&self.sha256))
    }

    fn same(&self, root: &Dir) -> io::Result<bool> {
        if self.what == What::Folder {
            return Ok(false);
        }
        let (Some(a), Some(b)) = (open(root, &self.from)?, open(root, &self.to)?) else {
            return Ok(false);
        };
        Ok(stat_of(&a)?.same_file(&stat_of(&b)?))
    }

    fn carry_out(&self, root: &Dir, from: &WriteDir<'_>, to: &WriteDir<'_>) -> Result<()> {
        let (_, old) = split(&self.from)?;
        let (_, new) = split(&self.to)?;
        let look = |e| failed("look at", &self.from, e);
        if !self.is(root, &self.from).map_err(look)? {
            return Err(changed(&self.from));
        }
        if self.same(root).map_err(look)? {
            // The other name is there already.
            crate::store::fs::remove(from, &old)?;
            return crate::store::fs::sync_dir(from);
        }
        move_aside(from, &old, to, &new)
    }
}

impl Act {
    /// What will be taken away is kept first.
    #[must_use]
    pub fn keep(parts: Vec<Kept>) -> Self {
        Self {
            effect: Effect::Keep { parts },
            content: Vec::new(),
        }
    }

    /// The bytes of a file behind `to` go.
    ///
    /// # Errors
    /// They can not be read.
    pub fn cut(root: &Dir, path: PathBuf, to: u64, bytes: u64) -> Result<Self> {
        let sha256 = part_digest(root, &path, to, bytes)?;
        Ok(Self {
            effect: Effect::Cut(Cut {
                path,
                to,
                bytes,
                sha256,
            }),
            content: Vec::new(),
        })
    }

    /// What an operation put aside is let go of.
    #[must_use]
    pub fn empty(operation: OperationId) -> Self {
        let temp = crate::store::fs::temp_name(operation.to_string());
        Self {
            effect: Effect::Empty {
                operation,
                temp: temp.to_string_lossy().into_owned(),
            },
            content: Vec::new(),
        }
    }

    /// A file or folder is moved.
    ///
    /// # Errors
    /// It can not be read; `not_a_regular_file` if it is neither.
    pub fn relocate(root: &Dir, from: PathBuf, to: PathBuf) -> Result<Self> {
        let look = |e| failed("look at", &from, e);
        let parent = parent_of(root, &from)
            .map_err(look)?
            .ok_or_else(|| look(io::ErrorKind::NotFound.into()))?;
        let stat = parent
            .stat(from.file_name().unwrap_or_default())
            .map_err(look)?;
        let (what, sha256, bytes) = match stat.kind {
            EntryKind::File => (What::File, part_digest(root, &from, 0, stat.len)?, stat.len),
            EntryKind::Dir => {
                let dir = root.dir_at(&from).map_err(look)?;
                (What::Folder, tree_digest(&dir).map_err(look)?, 0)
            }
            kind => return Err(look(crate::store::fs::WrongKind { kind }.into())),
        };
        Ok(Self {
            effect: Effect::Move(Move {
                from,
                to,
                what,
                sha256,
                bytes,
            }),
            content: Vec::new(),
        })
    }
}

/// The place of a thing that an operation moves to its quarantine.
#[must_use]
pub fn kept_path(operation: OperationId, stored_as: &str) -> PathBuf {
    Paths::quarantine()
        .join(operation.to_string())
        .join(stored_as)
}

/// Keeps the parts durably. Nothing of the store has changed yet.
pub(super) fn keep(guard: &dyn Guard, operation: OperationId, parts: &[Kept]) -> Result<()> {
    let kept = || -> Result<()> {
        let mut quarantine = Quarantine::open(guard.wagg(), operation)?;
        for part in parts {
            if let Some(name) = &part.stored_as {
                quarantine.announce(part.what, &part.path, part.bytes, &part.sha256, name)?;
                continue;
            }
            let look = |e| failed("read", &part.path, e);
            let file = open(guard.root(), &part.path)
                .map_err(look)?
                .ok_or_else(|| look(io::ErrorKind::NotFound.into()))?;
            let sha256 =
                quarantine.keep_part(part.what, &part.path, &file, part.offset, part.bytes)?;
            if sha256 != part.sha256 {
                return Err(changed(&part.path));
            }
        }
        quarantine.sync()
    };
    kept().inspect_err(|_| {
        // A full disk is not made fuller by what came to nothing.
        let _ = drop_kept(guard, operation, parts);
    })
}

/// Lets go of copies that were kept for nothing, since the operation never changed anything. What
/// somebody else put beside them stays.
pub(super) fn drop_kept(guard: &dyn Guard, operation: OperationId, parts: &[Kept]) -> Result<()> {
    let Some(items) = quarantined_items(guard.root(), operation)? else {
        return Ok(());
    };
    let ours = items.iter().all(|item| {
        parts.iter().any(|part| {
            (&part.path, part.offset, part.bytes) == (&item.path, item.offset, item.length)
        })
    });
    let moved = parts
        .iter()
        .filter_map(|part| part.stored_as.as_deref())
        .any(|name| there(guard.root(), &kept_path(operation, name)));
    if ours && !moved {
        empty_quarantine(guard.wagg(), operation)?;
    }
    Ok(())
}

fn there(root: &Dir, path: &Path) -> bool {
    // What can not be looked at is taken to be there.
    match parent_of(root, path) {
        Ok(Some(dir)) => !matches!(dir.try_stat(path.file_name().unwrap_or_default()), Ok(None)),
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Refuses before the first byte is written if the disk has no room for all of them.
pub(super) fn room(guard: &dyn Guard, acts: &[Act]) -> Result<()> {
    let needed: u64 = acts
        .iter()
        .map(|act| match &act.effect {
            Effect::Keep { parts } => parts
                .iter()
                .filter(|part| !part.is_moved())
                .map(|part| part.bytes)
                .sum(),
            Effect::Rewrite(rewrite) => rewrite.bytes_after,
            _ => 0,
        })
        .sum();
    let Ok(disk) = rustix::fs::fstatvfs(guard.root()) else {
        return Ok(()); // not told; the writes will tell
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= needed {
        return Ok(());
    }
    Err(Error::new(
        Code::DiskFull,
        format!(
            "{} needed and {free} free, so nothing was begun",
            plural(needed, "byte is", "bytes are")
        ),
    )
    .at(Locus::file(Paths::quarantine()))
    .hint("make room, or let go of what is kept: wagg quarantine empty --older-than 30d"))
}

/// Cuts.
pub(super) fn cut(guard: &dyn Guard, cut: &Cut) -> Result<()> {
    cut.carry_out(guard)
}

/// Moves.
pub(super) fn relocate(
    guard: &dyn Guard,
    what: &Move,
    from: &WriteDir<'_>,
    to: &WriteDir<'_>,
) -> Result<()> {
    what.carry_out(guard.root(), from, to)
}
