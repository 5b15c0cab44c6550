//! Names: temporary ones, and the one rename by which something gets its own.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::change::{WriteDir, sync_file};
use super::dir::Dir;
use super::entry::EntryKind;
use super::failure::{exists, failed, unknown};
use super::staged::sync_tree;
use crate::diag::{Code, Error, Result};
use crate::layout::file;

/// A number that no other call in this process gets, and hardly any in another process that has
/// or had the same pid: in containers, most processes have the same one.
fn unique() -> u64 {
    static NEXT: OnceLock<AtomicU64> = OnceLock::new();
    NEXT.get_or_init(|| {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        AtomicU64::new(u64::try_from(now.as_micros()).unwrap_or(1))
    })
    .fetch_add(1, Ordering::Relaxed)
}

/// A name for what will get the name `target`: `.<target>.tmp-<pid>-<n>`. An operation writes it
/// into its intent before it uses it, so that what a crash leaves can be cleared.
#[must_use]
pub fn temp_name(target: impl AsRef<OsStr>) -> OsString {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(format!(".tmp-{}-{}", std::process::id(), unique()));
    name
}

/// A name for a Session folder that is being filled: `.session.migrating-<pid>-<n>`.
#[must_use]
pub fn session_staging_name() -> OsString {
    OsString::from(format!(
        ".{}.migrating-{}-{}",
        file::SESSION_DIR,
        std::process::id(),
        unique()
    ))
}

/// Renames without replacing anything. Where the file system can not do that in one step, the
/// caller's lock keeps other processes off: a file gets its second name by a link, which replaces
/// nothing, and a folder is renamed after a look, which could replace an empty folder only.
pub(super) fn rename_into_place(
    from_dir: &WriteDir<'_>,
    from: &OsStr,
    to_dir: &Dir,
    to: &OsStr,
) -> Result<()> {
    let path = to_dir.path_of(to);
    let fail = |e: io::Error| match e.kind() {
        io::ErrorKind::AlreadyExists => exists(&path),
        _ => failed("put in place", &path, e),
    };
    if from_dir
        .rename_no_replace(from, to_dir, to)
        .map_err(fail)?
        .is_some()
    {
        return Ok(());
    }
    match from_dir.stat(from).map_err(fail)?.kind {
        EntryKind::Dir => {
            if to_dir.try_stat(to).map_err(fail)?.is_some() {
                return Err(exists(&path));
            }
            from_dir.rename(from, to_dir, to).map_err(fail)
        }
        _ => {
            from_dir.link(from, to_dir, to).map_err(fail)?;
            // It is in place. The name that is left over is a leftover like any other.
            let _ = from_dir.remove_file(from);
            Ok(())
        }
    }
}

/// Moves a file or folder to another folder, replacing nothing, and makes that durable. The new
/// place is synced first, so that a power cut can at worst leave it in both.
///
/// Costs two syncs.
///
/// # Errors
/// `target_exists`; what the system says, with nothing changed; `outcome_unknown` if a sync failed.
pub fn move_aside(
    from_dir: &WriteDir<'_>,
    from: impl AsRef<OsStr>,
    to_dir: &WriteDir<'_>,
    to: impl AsRef<OsStr>,
) -> Result<()> {
    rename_into_place(from_dir, from.as_ref(), to_dir, to.as_ref())?;
    sync_dir(to_dir)?;
    sync_dir(from_dir)
}

/// Removes a file that is no history, such as the socket of a run that ended; one that is not there
/// is fine. Not durable before the folder is synced.
///
/// # Errors
/// What the system says.
pub fn remove(dir: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
    let path = dir.path_of(name.as_ref());
    match dir.remove_file(name) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path, e)),
        _ => Ok(()),
    }
}

/// Removes a folder that holds nothing, and makes that durable.
///
/// # Errors
/// What the system says, also that it is not empty; `outcome_unknown`.
pub fn remove_empty(dir: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
    let path = dir.path_of(name.as_ref());
    dir.remove_dir(name)
        .map_err(|e| failed("remove", &path, e))?;
    sync_dir(dir)
}

/// Makes the names in a folder durable.
///
/// # Errors
/// `outcome_unknown`.
pub fn sync_dir(dir: &WriteDir<'_>) -> Result<()> {
    dir.sync().map_err(|e| unknown("sync", dir.path(), e))
}

/// Makes durable what stands under a name, content and name: a file, or a folder with all that is
/// in it. Whoever goes on from what a dead process put in place calls this first, since that may
/// have died before its own sync. It is no second try of a sync that failed. Two syncs for a file.
///
/// # Errors
/// What the system says; `outcome_unknown` if a sync fails.
pub fn make_durable(dir: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<()> {
    let name = name.as_ref();
    let path = dir.path_of(name);
    let open = |e| failed("open", &path, e);
    match dir.stat(name).map_err(open)?.kind {
        EntryKind::Dir => sync_tree(&dir.dir(name).map_err(open)?)?,
        _ => sync_file(&dir.file(name).map_err(open)?, &path)
            .map_err(|e| unknown("sync", &path, e))?,
    }
    sync_dir(dir)
}

/// Opens a folder some levels down, and makes and syncs what is not there. Costs a sync for each
/// folder made.
///
/// # Errors
/// What the system says; `symbolic_link` and `not_a_regular_file` if something else has the name.
pub fn ensure_dirs<'g, N: AsRef<OsStr>>(
    dir: &WriteDir<'g>,
    names: impl IntoIterator<Item = N>,
) -> Result<WriteDir<'g>> {
    let mut at = dir.try_clone().map_err(|e| failed("open", dir.path(), e))?;
    for name in names {
        let name = name.as_ref();
        let (next, made) = at
            .ensure_dir(name)
            .map_err(|e| failed("make", &at.path_of(name), e))?;
        if made {
            sync_dir(&at)?;
        }
        at = next;
    }
    Ok(at)
}

/// Makes a folder if there is none, under a temporary name first, so that it has its rights when it
/// gets its own. One sync if it was not there.
///
/// # Errors
/// What the system says; `symbolic_link` and `not_a_regular_file` if something else has the name.
pub fn ensure_dir_via(dir: &WriteDir<'_>, name: &OsStr, temp: impl AsRef<OsStr>) -> Result<()> {
    let path = dir.path_of(name);
    let fail = |e| failed("make", &path, e);
    match dir.dir(name) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        found => return found.map(drop).map_err(fail),
    }
    let temp = temp.as_ref();
    dir.make_dir(temp).map_err(fail)?;
    match rename_into_place(dir, temp, dir, name) {
        Ok(()) => sync_dir(dir),
        Err(e) => {
            let _ = dir.remove_dir(temp);
            // Another process was faster; both want the same.
            if e.code == Code::TargetExists {
                dir.dir(name).map(drop).map_err(fail)
            } else {
                Err(e)
            }
        }
    }
}

/// Removes a leftover, a file or a whole folder, and makes that durable: one sync, since what
/// comes back after its intent was settled is nobody's. One that is not there is fine, and costs
/// none. Links inside are removed and not followed. Says whether there was one.
///
/// # Errors
/// What the system says; `internal` for a name that does not start with a dot, since nothing that
/// counts may be cleared like this.
pub fn clear_leftover(dir: &WriteDir<'_>, name: impl AsRef<OsStr>) -> Result<bool> {
    let name = name.as_ref();
    let path = dir.path_of(name);
    if !name.as_encoded_bytes().starts_with(b".") {
        let text = format!("{} is not the name of a leftover", path.display());
        return Err(Error::new(Code::Internal, text));
    }
    let clear = |e| failed("clear", &path, e);
    if dir.try_stat(name).map_err(clear)?.is_none() {
        return Ok(false);
    }
    remove_tree(dir, name).map_err(clear)?;
    sync_dir(dir)?;
    Ok(true)
}

pub(super) fn remove_tree(dir: &WriteDir<'_>, name: &OsStr) -> io::Result<()> {
    match dir.try_stat(name)?.map(|stat| stat.kind) {
        None => Ok(()),
        Some(EntryKind::Dir) => {
            let inner = dir.dir(name)?;
            for entry in inner.entries()? {
                remove_tree(&inner, &entry.name)?;
            }
            dir.remove_dir(name)
        }
        Some(_) => dir.remove_file(name),
    }
}
