//! A file outside the store that is made beside its place and renamed into it.
//!
//! Whoever is killed leaves one behind. A lock tells those from the ones that somebody writes:
//! whoever makes the next one in the folder removes what nobody holds.

use std::fs::{File, Metadata, Permissions, read_dir};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use tempfile::NamedTempFile;

/// How many random letters and digits stand behind the prefix.
const RANDOM: usize = 6;

/// Makes a new file whose name begins with this prefix, and removes those that dead processes left
/// there. The umask takes its part of `mode`. Dropped, it is gone.
///
/// # Errors
/// What the system says of making it. What can not be removed stays.
pub fn beside(folder: &Path, prefix: &str, mode: u32) -> io::Result<NamedTempFile> {
    clear(folder, prefix);
    loop {
        let file = tempfile::Builder::new()
            .prefix(prefix)
            .rand_bytes(RANDOM)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        // Where there are no locks nobody else can take one either, and nothing is removed.
        let contended = fs2::FileExt::try_lock_exclusive(file.as_file())
            .is_err_and(|e| e.raw_os_error() == fs2::lock_contended_error().raw_os_error());
        // Another may have taken it for a dead one before it was locked.
        if !contended && is_at(&file.as_file().metadata()?, file.path()) {
            return Ok(file);
        }
    }
}

fn clear(folder: &Path, prefix: &str) {
    let Ok(entries) = read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name
            .to_str()
            .and_then(|name| name.strip_prefix(prefix))
            .is_some_and(|rest| {
                rest.len() == RANDOM && rest.bytes().all(|b| b.is_ascii_alphanumeric())
            });
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What can not be opened or removed is somebody else's.
            let _ = remove_dead(&entry.path());
        }
    }
}

fn remove_dead(path: &Path) -> io::Result<()> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(CWD, path, how, Mode::empty())?);
    fs2::FileExt::try_lock_exclusive(&file)?;
    let met = file.metadata()?;
    // It may have been renamed, and another made, meanwhile.
    if met.is_file() && is_at(&met, path) {
        rustix::fs::unlink(path)?;
    }
    Ok(())
}

/// Whether a path itself is the file that this is of.
fn is_at(met: &Metadata, path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|there| (there.dev(), there.ino()) == (met.dev(), met.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn dead_ones_go_and_all_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let alive = beside(dir.path(), ".x-", 0o600).unwrap();
        let stays = [".x-", ".x-short", ".x-toolong", ".x-abc.de", ".y-abcdef"];
        for name in stays.iter().chain(&[".x-abcdef", ".x-ABC123", "target"]) {
            std::fs::write(at(name), "").unwrap();
        }
        symlink(at("target"), at(".x-linked")).unwrap();
        std::fs::create_dir(at(".x-folder")).unwrap();
        let held = File::create(at(".x-locked")).unwrap();
        fs2::FileExt::try_lock_shared(&held).unwrap();
        let next = beside(dir.path(), ".x-", 0o600).unwrap();
        assert_ne!(alive.path(), next.path());
        assert!(alive.path().exists());
        assert!(!at(".x-abcdef").exists() && !at(".x-ABC123").exists());
        for name in stays
            .iter()
            .chain(&["target", ".x-linked", ".x-folder", ".x-locked"])
        {
            assert!(at(name).symlink_metadata().is_ok(), "{name}");
        }
        let place = at("place");
        drop(next.persist(&place).unwrap());
        drop(beside(dir.path(), ".x-", 0o600).unwrap());
        assert!(place.exists() && alive.path().exists());
    }

    #[test]
    fn many_at_once_do_not_lose_theirs() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for n in 0..4 {
                let folder = dir.path();
                scope.spawn(move || {
                    for i in 0..200 {
                        let place = folder.join(format!("{n}-{i}"));
                        let file = beside(folder, ".x-", 0o600).unwrap();
                        file.persist(&place).unwrap();
                    }
                });
            }
        });
        assert_eq!(read_dir(dir.path()).unwrap().count(), 800);
    }
}
