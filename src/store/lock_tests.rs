//! Locks, held by threads and processes that get in each other's way.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use super::fs::Dir;
use super::holder::{Held, lock_states};
use super::lock::{Guard, LockRequest, Locks, lock_for_reading};
use crate::diag::{Code, Effects};
use crate::layout::WorkerId;

/// Held while a process is started, and by tests that would see its copies of their handles.
static STARTING: RwLock<()> = RwLock::new(());

const SEVEN: WorkerId = WorkerId::Number(7);
const EIGHT: WorkerId = WorkerId::Number(8);

fn store() -> (tempfile::TempDir, Dir) {
    let temp = tempfile::tempdir().unwrap();
    for id in [7, 8] {
        std::fs::create_dir_all(temp.path().join(format!("workers/{id}"))).unwrap();
    }
    let dir = Dir::open_root(temp.path()).unwrap();
    (temp, dir)
}

/// A request of a process that was started with these handles.
fn with(handles: &str) -> LockRequest<'_> {
    LockRequest {
        inherited: Some(handles),
        ..now()
    }
}

/// A request that is to succeed. It waits: a test that starts a process holds all locks of all
/// tests for the blink of an eye.
fn soon() -> LockRequest<'static> {
    LockRequest {
        wait: Duration::from_secs(20),
        ..now()
    }
}

fn now() -> LockRequest<'static> {
    LockRequest::now("test")
}

/// C10: changes in two Workers go side by side, two in one do not, and the catalog waits for all.
#[test]
fn c10_who_excludes_whom() {
    let (_temp, root) = store();
    let [mut a, mut b] = [(); 2].map(|()| Locks::open(&root).unwrap());
    let seven = a.worker(SEVEN, &soon()).unwrap();
    {
        let eight = b.worker(EIGHT, &soon()).unwrap();
        assert_eq!(eight.ids().collect::<Vec<_>>(), [EIGHT]);
    }
    for error in [
        b.worker(SEVEN, &now()).map(drop).unwrap_err(),
        b.store(&now()).map(drop).unwrap_err(),
    ] {
        assert_eq!((error.code, error.effects), (Code::LockBusy, Effects::None));
    }
    drop(seven);
    let store = b.store(&soon()).unwrap();
    assert_eq!(
        a.worker(SEVEN, &now()).map(drop).unwrap_err().code,
        Code::LockBusy
    );
    drop(store);
    drop(a.worker(SEVEN, &soon()).unwrap());
}

/// C11: who waits says so once, and who gives up names the file and the holder.
#[test]
fn c11_waiting_is_said_once_and_ends() {
    let (_temp, root) = store();
    let [mut a, mut b] = [(); 2].map(|()| Locks::open(&root).unwrap());
    let _held = a
        .worker(
            SEVEN,
            &LockRequest {
                command: "wagg fork",
                ..now()
            },
        )
        .unwrap();
    let said = Mutex::new(Vec::new());
    let on_wait = |waiting: &super::Waiting<'_>| {
        let holder = waiting.holder.map(|h| (h.pid, h.command.clone()));
        said.lock()
            .unwrap()
            .push((waiting.path.to_path_buf(), holder));
    };
    let request = LockRequest {
        wait: Duration::from_millis(300),
        on_wait: &on_wait,
        ..now()
    };
    let begun = Instant::now();
    let error = b.worker(SEVEN, &request).map(drop).unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(
        *said.lock().unwrap(),
        [(
            Path::new(".wagg/workers/7.lock").to_path_buf(),
            Some((std::process::id(), "wagg fork".to_owned()))
        )]
    );
    assert_eq!(error.code, Code::LockBusy);
    assert!(error.message.contains("wagg fork"), "{}", error.message);
    assert_eq!(
        error.locus.as_ref().unwrap().path,
        Path::new(".wagg/workers/7.lock")
    );
}

/// C10: no update is lost between threads that take turns.
#[test]
fn c10_no_update_is_lost() {
    let (temp, root) = store();
    let counter = temp.path().join("workers/7/counter");
    std::fs::write(&counter, "0").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let mut locks = Locks::open(&root).unwrap();
                    let wait = Duration::from_secs(60);
                    let _guard = locks.worker(SEVEN, &LockRequest { wait, ..now() }).unwrap();
                    let n: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
                    std::fs::write(&counter, (n + 1).to_string()).unwrap();
                }
            });
        }
    });
    assert_eq!(std::fs::read_to_string(&counter).unwrap(), "40");
}

/// C10: lock files are made empty, stay where they are, and are empty again once nobody holds them.
#[test]
fn c10_lock_files_stay() {
    let _none = STARTING.read().unwrap();
    let (temp, root) = store();
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &soon()).unwrap();
    let of = |name: &str| {
        std::fs::metadata(temp.path().join(".wagg").join(name))
            .unwrap()
            .len()
    };
    assert_eq!(of("store.lock"), 0, "shared");
    assert!(of("workers/7.lock") > 0);
    drop(guard);
    assert_eq!(of("workers/7.lock"), 0);
    let mut guard = locks.store(&soon()).unwrap();
    guard.take_migration_lock(&soon()).unwrap();
    assert!(of("store.lock") > 0);
    assert_eq!(of("../.worker-aggregate-v1.lock"), 0);
    let other = std::fs::File::open(temp.path().join(".worker-aggregate-v1.lock")).unwrap();
    assert!(fs2::FileExt::try_lock_exclusive(&other).is_err());
    drop(guard);
    assert!(fs2::FileExt::try_lock_exclusive(&other).is_ok());
    assert_eq!(of("store.lock"), 0);
}

/// A guard hands out folders that it covers, and no others.
#[test]
fn a_guard_covers_its_worker_only() {
    let (_temp, root) = store();
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &soon()).unwrap();
    assert!(guard.write_at(Path::new("workers/7")).is_ok());
    assert!(guard.write_at(Path::new(".wagg")).is_ok());
    for other in ["workers/8", "workers", ""] {
        let error = guard.write_at(Path::new(other)).map(drop).unwrap_err();
        assert_eq!(error.code, Code::Internal, "{other:?}");
    }
}

/// C12: a reader makes no lock file, and shares one that is there.
#[test]
fn c12_a_reader_creates_nothing() {
    let (temp, root) = store();
    assert!(lock_for_reading(&root, &soon()).unwrap().is_none());
    assert!(!temp.path().join(".wagg").exists());
    let mut locks = Locks::open(&root).unwrap();
    drop(locks.store(&soon()).unwrap());
    let reading = lock_for_reading(&root, &soon()).unwrap();
    assert!(reading.is_some());
    drop(locks.worker(SEVEN, &soon()).unwrap());
    assert_eq!(
        locks.store(&now()).map(drop).unwrap_err().code,
        Code::LockBusy
    );
    drop(reading);
    drop(locks.store(&soon()).unwrap());
}

/// The lock that `lock run` holds is found by its handle, if it really is that lock.
#[test]
fn an_inherited_lock_is_believed_if_it_is_true() {
    let (temp, root) = store();
    let [mut a, mut b] = [(); 2].map(|()| Locks::open(&root).unwrap());
    let held = a.worker(SEVEN, &soon()).unwrap();
    let (handles, numbers) = held.for_children(None).unwrap();
    assert_eq!(numbers, handles[0].as_raw_fd().to_string());
    drop(b.worker(SEVEN, &with(&numbers)).unwrap());
    // It was not let go by a guard that only believed in it.
    assert_eq!(
        b.worker(SEVEN, &now()).map(drop).unwrap_err().code,
        Code::LockBusy
    );
    // The same file, opened anew: no lock. Another file, locked: not this lock. No number at all.
    let same = std::fs::File::open(temp.path().join(".wagg/workers/7.lock")).unwrap();
    let other = std::fs::File::create(temp.path().join("other.lock")).unwrap();
    fs2::FileExt::try_lock_exclusive(&other).unwrap();
    for lie in [
        same.as_raw_fd().to_string(),
        other.as_raw_fd().to_string(),
        "9999".to_owned(),
        "x,,-1".to_owned(),
    ] {
        let error = b.worker(SEVEN, &with(&lie)).map(drop).unwrap_err();
        assert_eq!(error.code, Code::LockBusy, "{lie}");
    }
}

/// A child process inherits the handle, keeps the lock while it lives, and lets go when it ends.
#[test]
fn a_child_keeps_the_lock_until_it_ends() {
    let (_temp, root) = store();
    let [mut a, mut b] = [(); 2].map(|()| Locks::open(&root).unwrap());
    let held = a.worker(SEVEN, &soon()).unwrap();
    let (handles, _) = held.for_children(None).unwrap();
    let starting = STARTING.write().unwrap();
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(starting);
    drop((handles, held));
    assert_eq!(
        b.worker(SEVEN, &now()).map(drop).unwrap_err().code,
        Code::LockBusy
    );
    drop(child.stdin.take());
    child.wait().unwrap();
    drop(b.worker(SEVEN, &soon()).unwrap());
}

/// `lock show` takes no lock and tells who holds what.
#[test]
fn c12_states_are_seen_without_a_lock() {
    let _none = STARTING.read().unwrap();
    let (temp, root) = store();
    assert!(lock_states(&root).unwrap().is_empty());
    let mut locks = Locks::open(&root).unwrap();
    drop(locks.store(&soon()).unwrap());
    let held = locks.worker(SEVEN, &soon()).unwrap();
    let find = |path: &str| {
        let states = lock_states(&root).unwrap();
        states
            .into_iter()
            .find(|s| s.path == Path::new(path))
            .unwrap()
    };
    let worker = find(".wagg/workers/7.lock");
    assert_eq!(worker.held, Held::Exclusive);
    assert_eq!(worker.holder.unwrap().pid, std::process::id());
    if cfg!(target_os = "linux") {
        assert_eq!(find(".wagg/store.lock").held, Held::Shared);
    }
    drop(held);
    assert_eq!(find(".wagg/workers/7.lock").held, Held::Free);
    // What a killed holder left is nobody.
    let lock = temp.path().join(".wagg/workers/7.lock");
    let host = super::host();
    let left = format!("{{\"pid\":4194304,\"host\":{host:?},\"command\":\"x\",\"since\":\"y\"}}\n");
    std::fs::write(lock, left).unwrap();
    let worker = find(".wagg/workers/7.lock");
    assert_eq!((worker.held, worker.holder), (Held::Free, None));
}

/// C10: a lock on files that somebody removed keeps nobody off, so the next one begins anew.
#[test]
fn c10_a_removed_folder_of_locks_is_made_anew() {
    let (temp, root) = store();
    let [mut a, mut b] = [(); 2].map(|()| Locks::open(&root).unwrap());
    drop(a.worker(SEVEN, &soon()).unwrap());
    std::fs::remove_dir_all(temp.path().join(".wagg")).unwrap();
    let _held = a.worker(SEVEN, &soon()).unwrap();
    assert_eq!(
        b.worker(SEVEN, &now()).map(drop).unwrap_err().code,
        Code::LockBusy
    );
    assert!(temp.path().join(".wagg/workers/7.lock").exists());
}
