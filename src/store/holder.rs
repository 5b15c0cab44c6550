//! Who holds a lock: what they wrote for people, and what the kernel knows.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fs::{Dir, EntryKind, FileStat, OutFile, failed, stat_of};
use crate::diag::Result;
use crate::layout::{Paths, file};

/// What an exclusive holder writes into the lock file. For messages only: nothing is ever decided
/// by it, since a killed holder leaves it behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The machine that it runs on.
    pub host: String,
    /// What it is doing.
    pub command: String,
    /// Since when, RFC 3339 in UTC.
    pub since: String,
}

/// The most that is read of a lock file.
const MOST: u64 = 4096;

impl Holder {
    pub(super) fn us(command: &str) -> Self {
        let command = command.chars().take(200).collect();
        Self {
            pid: std::process::id(),
            host: host(),
            command,
            since: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
        }
    }

    /// Writes it. A disk that is full is no reason not to hold a lock.
    pub(super) fn write(&self, to: &OutFile) -> bool {
        let Ok(mut line) = serde_json::to_vec(self) else {
            return false;
        };
        line.push(b'\n');
        let old = to.file().metadata().map_or(0, |m| m.len());
        (old == 0 || to.set_len(0).is_ok()) && to.put_at(&line, 0).is_ok()
    }

    /// Reads it, if it can be true: a process of this machine that is gone holds nothing.
    pub(super) fn read(file: &File) -> Option<Self> {
        let len = file.metadata().ok()?.len().min(MOST);
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let holder: Self = serde_json::from_slice(bytes.strip_suffix(b"\n")?).ok()?;
        let gone = holder.host == host() && !lives(holder.pid);
        (!gone).then_some(holder)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pid {} on {} ({}) since {}",
            self.pid, self.host, self.command, self.since
        )
    }
}

/// The name of this machine.
#[must_use]
pub fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Says whether a process of this number lives on this machine. A number may be used again, so
/// "no" is sure and "yes" is not.
#[must_use]
pub fn lives(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    !matches!(
        rustix::process::test_kill_process(pid),
        Err(rustix::io::Errno::SRCH)
    )
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// By nobody, as far as can be told.
    Free,
    /// By one or more that let others share it.
    Shared,
    /// By one alone.
    Exclusive,
}

/// The state of one lock of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LockState {
    /// The lock file, relative to the store.
    pub path: PathBuf,
    /// How it is held.
    pub held: Held,
    /// The holders, as far as the system names them.
    pub pids: Vec<u32>,
    /// Who the exclusive holder says to be.
    pub holder: Option<Holder>,
    /// Whether the kernel says so; else it is only what a holder wrote.
    #[serde(skip)]
    pub sure: bool,
}

/// Looks at every lock file of a store and takes none. Where the kernel has no table of locks to
/// read, a lock whose holder wrote its name and lives counts as held.
///
/// # Errors
/// What the system says. A store without locks has none.
pub fn lock_states(root: &Dir) -> Result<Vec<LockState>> {
    let table = kernel_locks();
    let mut states = Vec::new();
    let wagg = match root.dir(file::WAGG) {
        Ok(dir) => Some(dir),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed("open", &Paths::wagg(), e)),
    };
    let workers = wagg.as_ref().and_then(|w| w.dir("workers").ok());
    for dir in [Some(root), wagg.as_ref(), workers.as_ref()]
        .into_iter()
        .flatten()
    {
        let entries = dir.entries().map_err(|e| failed("read", dir.path(), e))?;
        for entry in entries {
            let name = entry.name.to_string_lossy();
            let ours = dir.path() != Path::new("") || name == file::MIGRATION_LOCK;
            if entry.kind != EntryKind::File || !ours || !name.ends_with(".lock") {
                continue;
            }
            let path = dir.path_of(&entry.name);
            let file = dir
                .file(&entry.name)
                .map_err(|e| failed("open", &path, e))?;
            let stat = stat_of(&file).map_err(|e| failed("look at", &path, e))?;
            states.push(state(path, &stat, Holder::read(&file), table.as_deref()));
        }
    }
    Ok(states)
}

fn state(
    path: PathBuf,
    stat: &FileStat,
    holder: Option<Holder>,
    table: Option<&[KernelLock]>,
) -> LockState {
    let of_file: Vec<_> = table
        .unwrap_or_default()
        .iter()
        .filter(|lock| lock.inode == stat.inode && same_dev(lock.dev, stat.dev))
        .collect();
    let held = if of_file.iter().any(|lock| lock.exclusive) {
        Held::Exclusive
    } else if !of_file.is_empty() {
        Held::Shared
    } else if holder.is_some() {
        // Held where this table does not reach, as in another container.
        Held::Exclusive
    } else {
        Held::Free
    };
    LockState {
        path,
        held,
        pids: of_file.iter().filter_map(|lock| lock.pid).collect(),
        holder,
        sure: !of_file.is_empty(),
    }
}

/// One line of the kernel's table.
struct KernelLock {
    exclusive: bool,
    pid: Option<u32>,
    dev: (u32, u32),
    inode: u64,
}

fn same_dev(table: (u32, u32), dev: u64) -> bool {
    table == (rustix::fs::major(dev as _), rustix::fs::minor(dev as _))
}

fn kernel_locks() -> Option<Vec<KernelLock>> {
    let text = std::fs::read_to_string("/proc/locks").ok()?;
    Some(text.lines().filter_map(kernel_lock).collect())
}

/// Reads `1: FLOCK  ADVISORY  WRITE 4242 08:01:1234 0 EOF`. Lines of those who wait (`->`) are not
/// of this form.
fn kernel_lock(line: &str) -> Option<KernelLock> {
    let mut words = line.split_ascii_whitespace().skip(1);
    if words.next()? != "FLOCK" {
        return None;
    }
    words.next()?;
    let exclusive = words.next()? == "WRITE";
    let pid = words.next()?.parse().ok();
    let mut place = words.next()?.split(':');
    let major = u32::from_str_radix(place.next()?, 16).ok()?;
    let minor = u32::from_str_radix(place.next()?, 16).ok()?;
    let inode = place.next()?.parse().ok()?;
    Some(KernelLock {
        exclusive,
        pid,
        dev: (major, minor),
        inode,
    })
}

/// Says whether one of the handles that we were started with really holds the lock at `path`
/// alone: it is open on that very file, and the kernel says that it carries the lock.
pub(super) fn hold_inherited(root: &Dir, path: &Path, handles: &str) -> bool {
    let named = || {
        let dir = root.dir_at(path.parent()?).ok()?;
        dir.stat(path.file_name()?).ok()
    };
    let Some(named) = named() else { return false };
    handles
        .split(',')
        .filter_map(|n| n.trim().parse::<u32>().ok())
        .any(|handle| carries_lock(handle, &named))
}

#[cfg(target_os = "linux")]
fn carries_lock(handle: u32, named: &FileStat) -> bool {
    use std::os::unix::fs::MetadataExt;
    // Through this path the open file itself is looked at, whatever name it has.
    let Ok(meta) = std::fs::metadata(format!("/proc/self/fd/{handle}")) else {
        return false;
    };
    if (meta.dev(), meta.ino()) != (named.dev, named.inode) {
        return false;
    }
    std::fs::read_to_string(format!("/proc/self/fdinfo/{handle}")).is_ok_and(|text| {
        text.lines()
            .filter_map(|line| line.strip_prefix("lock:"))
            .filter_map(kernel_lock)
            .any(|lock| lock.exclusive)
    })
}

#[cfg(not(target_os = "linux"))]
fn carries_lock(handle: u32, named: &FileStat) -> bool {
    // Opening this path gives a copy of the handle here, so asking it for its own lock succeeds.
    let Ok(copy) = File::open(format!("/dev/fd/{handle}")) else {
        return false;
    };
    stat_of(&copy).is_ok_and(|stat| stat.same_file(named))
        && fs2::FileExt::try_lock_exclusive(&copy).is_ok()
}
