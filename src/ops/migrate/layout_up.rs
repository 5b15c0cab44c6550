//! The oldest layout: `runtimes/<name>/` holds what stands at the root today.
//!
//! It is moved up in two renames, `workers/` first and `runtime.json` last: before the second one
//! there is no store at the root, and whoever comes next finishes it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::diag::{Code, Error, IoContext, Locus, Result};
use crate::layout::file;
use crate::store::fs::{exists, failed, move_aside, remove, sync_dir};
use crate::store::{Dir, EntryKind, FileStat, Guard, Store, StoreGuard};

/// Where a store's documents are to be read, in either layout.
pub struct Home {
    /// The store's root, as it is or will be.
    pub root: Dir,
    /// Where `runtime.json` is.
    pub runtime: Store,
    /// Where `workers/` is.
    pub catalog: Store,
    /// The folder below `runtimes/` that is to be moved up.
    pub oldest: Option<OsString>,
}

impl Home {
    /// Opens the store at a path.
    ///
    /// # Errors
    /// `store_not_found`; `ambiguous_reference` if `runtimes/` holds more than one runtime;
    /// `target_exists` if both it and the root have Workers.
    pub fn open(path: &Path) -> Result<Self> {
        let root = match Dir::open_root(path) {
            Ok(root) => root,
            // It says what is wrong in its own words.
            Err(_) => return Self::current(path),
        };
        let there = root.try_stat(file::RUNTIME).io("look at", path)?;
        if let Some(there) = there {
            let mut home = Self::current(path)?;
            home.oldest = linked_twice(&root, &there);
            return Ok(home);
        }
        let Some(name) = only_runtime(&root)? else {
            return Self::current(path);
        };
        let nested = path.join(file::RUNTIMES).join(&name);
        let below = |dir: &Path| {
            let found = dir.join(file::WORKERS).symlink_metadata();
            found.is_ok_and(|found| found.is_dir())
        };
        let catalog = match (below(&nested), below(path)) {
            (true, true) => {
                return Err(exists(Path::new(file::WORKERS)).hint(format!(
                    "{} has Workers too: a person decides which are the right ones",
                    nested.display()
                )));
            }
            // A process was killed between the two renames.
            (false, true) => Store::open(path)?,
            _ => Store::open(&nested)?,
        };
        Ok(Self {
            root,
            runtime: Store::open(&nested)?,
            catalog,
            oldest: Some(name),
        })
    }

    fn current(path: &Path) -> Result<Self> {
        let catalog = Store::open(path)?;
        Ok(Self {
            root: catalog.dir().try_clone().io("open", path)?,
            runtime: Store::open(path)?,
            catalog,
            oldest: None,
        })
    }
}

/// The one folder below `runtimes/` that holds a runtime; none if there is none.
fn only_runtime(root: &Dir) -> Result<Option<OsString>> {
    let place = Path::new(file::RUNTIMES);
    let dir = match root.dir(file::RUNTIMES) {
        Ok(dir) => dir,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed("open", place, e)),
    };
    let entries = dir.entries().map_err(|e| failed("list", place, e))?;
    let mut found = entries
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Dir)
        .filter(|entry| {
            let folder = dir.dir(&entry.name);
            folder.is_ok_and(|folder| matches!(folder.try_stat(file::RUNTIME), Ok(Some(_))))
        })
        .map(|entry| entry.name);
    let first = found.next();
    let others: Vec<OsString> = found.collect();
    match (&first, others.is_empty()) {
        (Some(first), false) => {
            let names: Vec<String> = std::iter::once(first)
                .chain(&others)
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            Err(Error::new(
                Code::AmbiguousReference,
                format!(
                    "the oldest layout with {} runtimes, {}: which one is to be moved up can not be told",
                    names.len(),
                    names.join(", ")
                ),
            )
            .at(Locus::file(place))
            .hint("copy the one that is meant to a folder of its own, and name that with --store"))
        }
        _ => Ok(first),
    }
}

/// The folder whose `runtime.json` is that of the root: where a file system can not rename without
/// replacing, a process that was killed has left it under both names.
fn linked_twice(root: &Dir, there: &FileStat) -> Option<OsString> {
    if there.links < 2 {
        return None;
    }
    let name = only_runtime(root).ok().flatten()?;
    let nested = root.dir_at([OsStr::new(file::RUNTIMES), &name]).ok()?;
    let same = nested.stat(file::RUNTIME).ok()?.same_file(there);
    same.then_some(name)
}

/// Moves a runtime up. Each of the two steps is one rename that replaces nothing.
///
/// # Errors
/// What the system says.
pub(super) fn move_up(guard: &StoreGuard<'_>, name: &OsString) -> Result<()> {
    let nested = PathBuf::from(file::RUNTIMES).join(name);
    let from = guard.write_at(&nested)?;
    let root = guard.write_at(Path::new(""))?;
    for name in [file::WORKERS, file::RUNTIME] {
        let there = from
            .try_stat(name)
            .map_err(|e| failed("look at", &nested.join(name), e))?;
        let Some(there) = there else { continue };
        let up = root.try_stat(name);
        if up.is_ok_and(|up| up.is_some_and(|up| up.same_file(&there))) {
            remove(&from, name)?;
            sync_dir(&from)?;
        } else {
            move_aside(&from, name, &root, name)?;
        }
    }
    Ok(())
}
