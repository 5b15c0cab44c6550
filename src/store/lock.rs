//! Locks (C10, C11): who may change what, told by the types that the rest of the store asks for.
//!
//! A lock is an OS lock on a file of its own in `.wagg/`, which is never renamed and never removed.
//! The order is store, then Worker, then journal, and no other can be written: [`Locks`] hands out
//! one guard at a time, a [`WorkerGuard`] takes the store's lock before its own, and the journal
//! asks for a guard. The kernel lets go when the last handle is closed, so a killed process leaves
//! nothing to clean.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::fs::{Dir, OutFile, WriteDir, failed};
use super::holder::{Holder, hold_inherited};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, WorkerId, file};

/// How a lock is asked for.
#[derive(Clone, Copy)]
pub struct LockRequest<'a> {
    /// How long to wait in all; zero does not wait.
    pub wait: Duration,
    /// What the holder is doing, for the messages of others.
    pub command: &'a str,
    /// Called once if there is something to wait for.
    pub on_wait: &'a (dyn Fn(&Waiting<'_>) + Sync),
    /// Set when the person asked to stop; looked at while waiting.
    pub stop: Option<&'a AtomicBool>,
    /// The value of `WAGG_LOCK_FD`: handles, separated by commas, that `lock run` left open for us.
    pub inherited: Option<&'a str>,
}

impl std::fmt::Debug for LockRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockRequest")
            .field("wait", &self.wait)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

impl LockRequest<'static> {
    /// A request that does not wait and tells nobody.
    #[must_use]
    pub fn now(command: &'static str) -> Self {
        Self {
            wait: Duration::ZERO,
            command,
            on_wait: &|_| (),
            stop: None,
            inherited: None,
        }
    }
}

/// What is waited for.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// The lock file, relative to the store.
    pub path: &'a Path,
    /// Who holds it, if they said so. For people only.
    pub holder: Option<&'a Holder>,
    /// How long we shall wait.
    pub wait: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

/// One lock that is held.
#[derive(Debug)]
struct Lock {
    /// None: `lock run` holds it for us.
    file: Option<OutFile>,
    /// Whether the file says who we are.
    told: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing lets go. Unlocking would also let go for a process that inherited the lock.
        if let (Some(file), true) = (&self.file, self.told) {
            let _ = file.set_len(0);
        }
    }
}

/// The locks of one store.
#[derive(Debug)]
pub struct Locks {
    root: WriteDir<'static>,
    wagg: WriteDir<'static>,
}

impl Locks {
    /// Readies the locks of the store at `root` for a change: makes `.wagg/` if there is none.
    ///
    /// # Errors
    /// What the system says; `symbolic_link` or `not_a_regular_file` if something else is there.
    pub fn open(root: &Dir) -> Result<Self> {
        let path = Paths::wagg();
        let fail = |e| failed("make", &path, e);
        let root = WriteDir::guarded(root.try_clone().map_err(fail)?);
        let wagg = root.ensure_dir(file::WAGG).map_err(fail)?.0;
        // An older version made it for whoever may read the store.
        wagg.make_private().map_err(fail)?;
        Ok(Self { root, wagg })
    }

    /// Takes the store's lock for a change of the catalog: nobody else changes anything.
    ///
    /// # Errors
    /// `lock_busy`, `interrupted`, or what the system says.
    pub fn store(&mut self, request: &LockRequest<'_>) -> Result<StoreGuard<'_>> {
        if let Some(path) = self.shared_by_parent(request) {
            return Err(Error::new(
                Code::LockBusy,
                format!(
                    "this command runs inside a wagg lock run that holds {}, and needs the store for itself",
                    path.display()
                ),
            )
            .at(Locus::file(Paths::store_lock()))
            .hint("run it outside of that lock run"));
        }
        let deadline = Instant::now() + request.wait;
        let lock = self.take(&Paths::store_lock(), Mode::Exclusive, request, deadline)?;
        Ok(StoreGuard {
            locks: self,
            _migration: None,
            _store: lock,
        })
    }

    /// Takes the lock of one Worker, and the store's shared, for a change inside that Worker.
    ///
    /// # Errors
    /// `lock_busy`, `interrupted`, or what the system says.
    pub fn worker(&mut self, id: WorkerId, request: &LockRequest<'_>) -> Result<WorkerGuard<'_>> {
        self.workers(&BTreeSet::from([id]), request)
    }

    /// Takes the locks of several Workers, in the order of their ids.
    ///
    /// # Errors
    /// `lock_busy`, `interrupted`, or what the system says.
    pub fn workers(
        &mut self,
        ids: &BTreeSet<WorkerId>,
        request: &LockRequest<'_>,
    ) -> Result<WorkerGuard<'_>> {
        let deadline = Instant::now() + request.wait;
        let store = self.take(&Paths::store_lock(), Mode::Shared, request, deadline)?;
        let mut workers = Vec::with_capacity(ids.len());
        for id in ids {
            let path = Paths::worker_lock(*id);
            workers.push((*id, self.take(&path, Mode::Exclusive, request, deadline)?));
        }
        Ok(WorkerGuard {
            locks: self,
            workers,
            _store: store,
        })
    }

    /// The Worker's lock that was handed down to this process, if one was. Who holds it shares the
    /// store's lock until we have ended, so that nobody can have that alone.
    fn shared_by_parent(&self, request: &LockRequest<'_>) -> Option<PathBuf> {
        let inherited = request.inherited?;
        let workers = self.wagg.dir("workers").ok()?;
        let entries = workers.entries().ok()?;
        entries
            .into_iter()
            .map(|entry| workers.path_of(&entry.name))
            .find(|path| hold_inherited(&self.root, path, inherited))
    }

    fn take(
        &self,
        path: &Path,
        mode: Mode,
        request: &LockRequest<'_>,
        deadline: Instant,
    ) -> Result<Lock> {
        if let Some(inherited) = request.inherited.filter(|_| mode == Mode::Exclusive)
            && hold_inherited(&self.root, path, inherited)
        {
            return Ok(Lock {
                file: None,
                told: false,
            });
        }
        let file = wait_for(&self.root, path, mode, request, deadline, true)?;
        let Some(file) = file else {
            return Err(failed("open", path, io::ErrorKind::NotFound.into()));
        };
        let told = mode == Mode::Exclusive && Holder::us(request.command).write(&file);
        Ok(Lock {
            file: Some(file),
            told,
        })
    }
}

/// Opens the lock file at `path`, from the root down. None if it is not there and not to be made.
fn open_lock_file(root: &WriteDir<'_>, path: &Path, make: bool) -> io::Result<Option<OutFile>> {
    let mut dir = root.try_clone()?;
    let parent = path.parent().unwrap_or(Path::new(""));
    for name in parent {
        dir = match dir.dir(name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && !make => return Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotFound => dir.ensure_dir(name)?.0,
            found => found?,
        };
    }
    let name = path.file_name().unwrap_or(OsStr::new(""));
    // To lock for reading, no right to write is needed.
    let flags = if make { OFlags::RDWR } else { OFlags::RDONLY };
    match dir.open_existing(name, flags) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && make => match dir.create(name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                dir.open_existing(name, flags).map(Some)
            }
            made => made.map(Some),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn try_lock(file: &File, mode: Mode) -> io::Result<bool> {
    let tried = match mode {
        Mode::Shared => fs2::FileExt::try_lock_shared(file),
        Mode::Exclusive => fs2::FileExt::try_lock_exclusive(file),
    };
    match tried {
        Ok(()) => Ok(true),
        Err(e) if e.raw_os_error() == fs2::lock_contended_error().raw_os_error() => Ok(false),
        Err(e) => Err(e),
    }
}

/// Tries, says once that it waits, and tries again until the deadline.
fn wait_for(
    root: &WriteDir<'_>,
    path: &Path,
    mode: Mode,
    request: &LockRequest<'_>,
    deadline: Instant,
    make: bool,
) -> Result<Option<OutFile>> {
    let fail = |e| failed("lock", path, e);
    let mut said = false;
    let mut pause = Duration::from_millis(1);
    loop {
        let Some(file) = open_lock_file(root, path, make).map_err(fail)? else {
            return Ok(None);
        };
        let held = loop {
            if try_lock(file.file(), mode).map_err(fail)? {
                break true;
            }
            if request
                .stop
                .is_some_and(|stop| stop.load(Ordering::Relaxed))
            {
                return Err(Error::new(
                    Code::Interrupted,
                    format!("interrupted while waiting for {}", path.display()),
                ));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break false;
            }
            if !said {
                said = true;
                (request.on_wait)(&Waiting {
                    path,
                    holder: Holder::read(file.file()).as_ref(),
                    wait: left,
                });
            }
            std::thread::sleep(jitter(pause).min(left));
            // A try is one system call, and most holders are done within a sync or two.
            pause = (pause * 3 / 2).min(Duration::from_millis(25));
        };
        if !held {
            return Err(busy(path, Holder::read(file.file()), request.wait));
        }
        // Nobody removes a lock file, but somebody may have removed all of `.wagg/`: a lock on
        // what has no name any more keeps nobody off.
        let ours = super::fs::stat_of(file.file()).map_err(fail)?;
        let named = open_lock_file(root, path, false).map_err(fail)?;
        if named.is_some_and(|f| super::fs::stat_of(f.file()).is_ok_and(|s| s.same_file(&ours))) {
            return Ok(Some(file));
        }
    }
}

/// A half to all of `pause`, so that those who wait do not all come at once.
fn jitter(pause: Duration) -> Duration {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let spread = (now.subsec_nanos() ^ std::process::id().wrapping_mul(0x9e37_79b9)) % 1000;
    pause / 2 + pause * spread / 2000
}

fn busy(path: &Path, holder: Option<Holder>, wait: Duration) -> Error {
    let mut message = format!("{} is held", path.display());
    match &holder {
        Some(holder) => message.push_str(&format!(" by {holder}")),
        None => message.push_str(" by another process"),
    }
    if !wait.is_zero() {
        message.push_str(&format!("; gave up after {} s", wait.as_secs_f64()));
    }
    Error::new(Code::LockBusy, message)
        .at(Locus::file(path))
        .hint("wagg lock show")
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::StoreGuard<'_> {}
    impl Sealed for super::WorkerGuard<'_> {}
}

/// A right to change something in a store. Writing needs one; it hands out the folders in which
/// the holder may write, and the journal asks for it.
pub trait Guard: sealed::Sealed {
    /// The store's root.
    fn root(&self) -> &Dir;

    /// Our own folder, which every holder writes in.
    fn wagg(&self) -> &WriteDir<'_>;

    /// Says whether the guard covers what lies at `path`, relative to the store.
    fn covers(&self, path: &Path) -> bool;

    /// The right to change things in a folder.
    ///
    /// # Errors
    /// `internal` if the guard does not cover it, or what the system says.
    fn write(&self, dir: &Dir) -> Result<WriteDir<'_>> {
        if !self.covers(dir.path()) {
            let text = format!("no lock is held for {}", dir.path().display());
            return Err(Error::new(Code::Internal, text));
        }
        let dir = dir.try_clone().map_err(|e| failed("open", dir.path(), e))?;
        Ok(WriteDir::guarded(dir))
    }

    /// Opens a folder by its path relative to the store, with the right to change things in it.
    ///
    /// # Errors
    /// As [`Guard::write`], or what the system says.
    fn write_at(&self, path: &Path) -> Result<WriteDir<'_>> {
        let dir = self
            .root()
            .dir_at(path)
            .map_err(|e| failed("open", path, e))?;
        self.write(&dir)
    }
}

/// The right to change the catalog and everything else: the store's lock, alone.
#[derive(Debug)]
#[must_use = "the lock is let go at once if nobody keeps the guard"]
pub struct StoreGuard<'l> {
    locks: &'l Locks,
    _migration: Option<Lock>,
    _store: Lock,
}

/// The right to change one Worker (or several): its lock, and the store's shared with others.
#[derive(Debug)]
#[must_use = "the lock is let go at once if nobody keeps the guard"]
pub struct WorkerGuard<'l> {
    locks: &'l Locks,
    // Let go in the reverse order of taking.
    workers: Vec<(WorkerId, Lock)>,
    _store: Lock,
}

impl Guard for StoreGuard<'_> {
    fn root(&self) -> &Dir {
        &self.locks.root
    }

    fn wagg(&self) -> &WriteDir<'_> {
        &self.locks.wagg
    }

    fn covers(&self, _: &Path) -> bool {
        true
    }
}

impl Guard for WorkerGuard<'_> {
    fn root(&self) -> &Dir {
        &self.locks.root
    }

    fn wagg(&self) -> &WriteDir<'_> {
        &self.locks.wagg
    }

    fn covers(&self, path: &Path) -> bool {
        path.starts_with(file::WAGG)
            || self
                .workers
                .iter()
                .any(|(id, _)| path.starts_with(Paths::worker(*id)))
    }
}

impl StoreGuard<'_> {
    /// Takes the reference Runtime's own lock of its migration as well. That file stays empty.
    ///
    /// # Errors
    /// `lock_busy`, `interrupted`, or what the system says.
    pub fn take_migration_lock(&mut self, request: &LockRequest<'_>) -> Result<()> {
        let path = PathBuf::from(file::MIGRATION_LOCK);
        let deadline = Instant::now() + request.wait;
        let file = wait_for(
            &self.locks.root,
            &path,
            Mode::Exclusive,
            request,
            deadline,
            true,
        )?;
        self._migration = Some(Lock { file, told: false });
        Ok(())
    }
}

impl WorkerGuard<'_> {
    /// The Workers that it covers.
    pub fn ids(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.workers.iter().map(|(id, _)| *id)
    }

    /// Handles on the Workers' locks that a command started by us inherits as long as they are
    /// open, and their numbers for its `WAGG_LOCK_FD`, after those that we inherited ourselves.
    ///
    /// # Errors
    /// No more handles are to be had.
    pub fn for_children(
        &self,
        inherited: Option<&str>,
    ) -> io::Result<(Vec<std::os::fd::OwnedFd>, String)> {
        use std::os::fd::AsRawFd;
        let mut handles = Vec::new();
        let mut numbers: Vec<String> = inherited.map(str::to_owned).into_iter().collect();
        for file in self
            .workers
            .iter()
            .filter_map(|(_, lock)| lock.file.as_ref())
        {
            // Unlike the handles that std makes, this one is not closed when a child begins.
            let handle = rustix::io::dup(file.file())?;
            numbers.push(handle.as_raw_fd().to_string());
            handles.push(handle);
        }
        Ok((handles, numbers.join(",")))
    }
}

/// The store's lock, shared, for a reader who wants a picture that no `wagg` changes meanwhile.
#[derive(Debug)]
#[must_use = "the lock is let go at once if nobody keeps the guard"]
pub struct ReadLock {
    _file: OutFile,
}

/// Takes the store's lock shared where its file exists, and creates nothing.
///
/// # Errors
/// `lock_busy`, `interrupted`, or what the system says.
pub fn lock_for_reading(root: &Dir, request: &LockRequest<'_>) -> Result<Option<ReadLock>> {
    let path = Paths::store_lock();
    let root = root.try_clone().map_err(|e| failed("open", &path, e))?;
    let deadline = Instant::now() + request.wait;
    let root = WriteDir::guarded(root);
    let file = wait_for(&root, &path, Mode::Shared, request, deadline, false)?;
    Ok(file.map(|file| ReadLock { _file: file }))
}
/// The journal's lock, held for one append. Taken after every other.
pub(super) struct JournalLock {
    _lock: Lock,
}

pub(super) fn lock_journal(guard: &dyn Guard, request: &LockRequest<'_>) -> Result<JournalLock> {
    lock_journal_at(guard.root(), request, true)?.ok_or_else(|| {
        failed(
            "lock",
            &Paths::journal_lock(),
            io::ErrorKind::NotFound.into(),
        )
    })
}

/// The same for a look-up, which makes no file.
pub(super) fn lock_journal_at(
    root: &Dir,
    request: &LockRequest<'_>,
    make: bool,
) -> Result<Option<JournalLock>> {
    let path = Paths::journal_lock();
    let root = root.try_clone().map_err(|e| failed("open", &path, e))?;
    let deadline = Instant::now() + request.wait;
    let root = WriteDir::guarded(root);
    let file = wait_for(&root, &path, Mode::Exclusive, request, deadline, make)?;
    Ok(file.map(|file| JournalLock {
        _lock: Lock {
            told: make && Holder::us(request.command).write(&file),
            file: Some(file),
        },
    }))
}
