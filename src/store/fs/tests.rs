//! Crashes and failures at every step of every primitive, in the models of `fault.rs`.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::fault::{Crashed, Fault, Plan, Step, crash_everywhere, is_death};
use super::*;
use crate::diag::{Code, Effects, Error, Result};
use crate::layout::{Leftover, leftover};

const OLD: &[u8] = b"{\"old\":1}\n";
const NEW: &[u8] = b"{\"new\":22}\n";

fn open(root: &Path) -> WriteDir<'static> {
    WriteDir::outside_stores(Dir::open_root(root).unwrap())
}

/// The names in a folder that count, and those of leftovers.
fn names(root: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    std::fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .partition(|name| !name.starts_with('.'))
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

fn after_success(crashed: &Crashed) -> bool {
    crashed.ended
}

/// C5, C7: killed anywhere, a document is the old one or the new one, and what is left beside it
/// has the name of a leftover. Once it was reported done it stays done.
#[test]
fn c5_replace_survives_every_crash() {
    let steps = crash_everywhere(
        |root| {
            std::fs::write(root.join("doc.json"), OLD).unwrap();
            root.to_path_buf()
        },
        |root| drop(replace(&open(root), "doc.json", NEW)),
        |root, crashed| {
            let bytes = std::fs::read(root.join("doc.json")).unwrap();
            assert!(bytes == OLD || bytes == NEW, "{crashed:?}: {bytes:?}");
            if after_success(crashed) {
                assert_eq!(bytes, NEW, "{crashed:?}");
            }
            let (real, left) = names(root);
            assert_eq!(real, set(["doc.json"]), "{crashed:?}");
            for name in &left {
                assert!(
                    matches!(
                        leftover(name),
                        Some(Leftover::Temporary {
                            target: "doc.json",
                            ..
                        })
                    ),
                    "{crashed:?}: {name}"
                );
            }
            // The next run finds a state that it can go on from.
            replace(&open(root), "doc.json", NEW).unwrap();
            assert_eq!(std::fs::read(root.join("doc.json")).unwrap(), NEW);
        },
    )
    .unwrap();
    assert!(steps >= 5, "{steps}");
}

/// C28: a new file is absent or whole.
#[test]
fn c28_a_new_file_appears_whole() {
    for plain in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        let fault = Fault::new(Plan::Count);
        let fault = if plain {
            fault.plain_rename_only()
        } else {
            fault
        };
        let dir = open(temp.path());
        fault
            .run(|| create_new_via(&dir, "s.jsonl", temp_name("s.jsonl"), NEW))
            .unwrap();
        assert_eq!(
            (fault.count(Step::SyncFile), fault.count(Step::SyncDir)),
            (1, 1)
        );
        assert_eq!(fault.count(Step::Link), usize::from(plain));
        assert_eq!(names(temp.path()), (set(["s.jsonl"]), set([])));
        let again = create_new_via(&dir, "s.jsonl", temp_name("s.jsonl"), OLD).unwrap_err();
        assert_eq!(
            (again.code, again.effects),
            (Code::TargetExists, Effects::None)
        );
        assert_eq!(std::fs::read(temp.path().join("s.jsonl")).unwrap(), NEW);
    }
    crash_everywhere(
        Path::to_path_buf,
        |root| {
            drop(create_new_via(
                &open(root),
                "s.jsonl",
                temp_name("s.jsonl"),
                NEW,
            ))
        },
        |root, crashed| {
            let there = std::fs::read(root.join("s.jsonl")).ok();
            assert!(
                there.is_none() || there.as_deref() == Some(NEW),
                "{crashed:?}"
            );
            assert!(!after_success(crashed) || there.is_some(), "{crashed:?}");
        },
    )
    .unwrap();
}

fn fill(staged: &StagedDir<'_, '_>) -> std::io::Result<()> {
    staged.dir().create("session.json")?.put(OLD)?;
    let segments = staged.dir().make_dir("segments")?;
    segments.create("a.jsonl")?.put(NEW)?;
    segments.create("b.jsonl")?.put(OLD)
}

fn stage(root: &WriteDir<'_>) -> Result<()> {
    let staged = StagedDir::begin(root, session_staging_name())?;
    fill(&staged).map_err(|e| failed("fill", root.path(), e))?;
    staged.place(root, "session")
}

fn is_whole(session: &Path) -> bool {
    std::fs::read(session.join("session.json")).is_ok_and(|b| b == OLD)
        && std::fs::read(session.join("segments/a.jsonl")).is_ok_and(|b| b == NEW)
        && std::fs::read(session.join("segments/b.jsonl")).is_ok_and(|b| b == OLD)
}

/// C6, C7: killed anywhere, the folder is absent or whole, leftovers can be cleared, and a second
/// run ends in the same tree.
#[test]
fn c6_a_staged_folder_survives_every_crash() {
    let steps = crash_everywhere(
        Path::to_path_buf,
        |root| drop(stage(&open(root))),
        |root, crashed| {
            let session = root.join("session");
            assert!(!session.exists() || is_whole(&session), "{crashed:?}");
            assert!(!after_success(crashed) || session.exists(), "{crashed:?}");
            let dir = open(root);
            for name in &names(root).1 {
                assert!(
                    matches!(leftover(name), Some(Leftover::Staging { .. })),
                    "{name}"
                );
                clear_leftover(&dir, name).unwrap();
            }
            if !session.exists() {
                stage(&dir).unwrap();
            }
            assert!(is_whole(&session), "{crashed:?}");
            assert_eq!(names(root), (set(["session"]), set([])), "{crashed:?}");
        },
    )
    .unwrap();
    assert!(steps >= 14, "{steps}");
}

/// C6: nothing is ever replaced, with or without help of the system.
#[test]
fn c6_a_staged_folder_replaces_nothing() {
    for plain in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("session")).unwrap();
        let fault = Fault::new(Plan::Count);
        let fault = if plain {
            fault.plain_rename_only()
        } else {
            fault
        };
        let error = fault.run(|| stage(&open(temp.path()))).unwrap_err();
        assert_eq!(
            (error.code, error.effects),
            (Code::TargetExists, Effects::None)
        );
        assert_eq!(
            names(temp.path()),
            (set(["session"]), set([])),
            "its staging is gone"
        );
        std::fs::remove_dir(temp.path().join("session")).unwrap();
        fault.run(|| stage(&open(temp.path()))).unwrap();
        assert!(is_whole(&temp.path().join("session")));
    }
}

/// C2: the `session/` that a Runtime leaves behind when it opens a new Worker is replaced, in one
/// step, and one that holds anything is not.
#[test]
fn c2_an_empty_session_folder_is_replaced() {
    let work = |root: &Path| -> Result<()> {
        let dir = open(root);
        let staged = StagedDir::begin(&dir, session_staging_name())?;
        fill(&staged).map_err(|e| failed("fill", root, e))?;
        staged.place_over_empty(&dir, "session", &["segments"])
    };
    crash_everywhere(
        |root| {
            std::fs::create_dir_all(root.join("session/segments")).unwrap();
            root.to_path_buf()
        },
        |root| drop(work(root)),
        |root, crashed| {
            let session = root.join("session");
            let segments = session.join("segments");
            let empty = !session.join("session.json").exists()
                && (!segments.exists() || std::fs::read_dir(segments).unwrap().next().is_none());
            assert!(
                session.exists() && (empty || is_whole(&session)),
                "{crashed:?}"
            );
            assert!(!after_success(crashed) || is_whole(&session), "{crashed:?}");
            if empty {
                work(root).unwrap();
            }
            assert!(is_whole(&session));
            let error = work(root).unwrap_err();
            assert_eq!(error.code, Code::TargetExists, "{crashed:?}");
        },
    )
    .unwrap();
}

/// C2, C7: a folder staged elsewhere is in one place or the other, or in neither, never in part.
#[test]
fn c6_a_folder_staged_elsewhere_survives_every_crash() {
    crash_everywhere(
        |root| {
            std::fs::create_dir(root.join("staging")).unwrap();
            std::fs::create_dir(root.join("workers")).unwrap();
            root.to_path_buf()
        },
        |root| {
            let root = open(root);
            let (staging, workers) = (root.dir("staging").unwrap(), root.dir("workers").unwrap());
            let Ok(staged) = StagedDir::begin(&staging, temp_name("7")) else {
                return;
            };
            if fill(&staged).is_ok() {
                drop(staged.place(&workers, "7"));
            }
        },
        |root, crashed| {
            let worker = root.join("workers/7");
            assert!(!worker.exists() || is_whole(&worker), "{crashed:?}");
            assert!(!after_success(crashed) || worker.exists(), "{crashed:?}");
        },
    )
    .unwrap();
}

fn keep_in(root: &Path) -> impl FnOnce(&TornTail<'_>) -> Result<()> {
    let dir = open(root);
    move |tail| {
        let mut bytes = Vec::new();
        tail.copy_to(|part| {
            bytes.extend_from_slice(part);
            Ok(())
        })
        .map_err(|e| failed("read", tail.path, e))?;
        replace(&dir, "tail", &bytes)
    }
}

/// C4: after a crash the committed prefix stands, what follows is the new records, a part of them,
/// or nothing; the torn tail is in the file or in quarantine; and the next append goes on from there.
#[test]
fn c4_append_survives_every_crash() {
    let log = b"{\"a\":1}\n{\"b\":2}\n";
    let torn = b"{\"torn";
    crash_everywhere(
        |root| {
            std::fs::write(root.join("s.jsonl"), [&log[..], torn].concat()).unwrap();
            root.to_path_buf()
        },
        |root| drop(append(&open(root), "s.jsonl", NEW, keep_in(root))),
        |root, crashed| {
            let bytes = std::fs::read(root.join("s.jsonl")).unwrap();
            let rest = bytes
                .strip_prefix(log)
                .unwrap_or_else(|| panic!("{crashed:?}: {bytes:?}"));
            assert!(
                !after_success(crashed) || rest == NEW,
                "{crashed:?}: {rest:?}"
            );
            let kept = std::fs::read(root.join("tail")).is_ok_and(|t| t == torn);
            assert!(kept || rest == torn, "{crashed:?}: {rest:?}");
            let done = rest == NEW;
            assert!(done || !rest.contains(&b'\n'), "{crashed:?}: {rest:?}");
            if !done {
                append(&open(root), "s.jsonl", NEW, keep_in(root)).unwrap();
                let bytes = std::fs::read(root.join("s.jsonl")).unwrap();
                assert_eq!(bytes, [&log[..], NEW].concat(), "{crashed:?}");
            }
        },
    )
    .unwrap();
}

/// C4: every failure puts the file back, and only a failed sync leaves the outcome open (C9, C18).
#[test]
fn c4_a_failed_append_puts_the_file_back() {
    const NOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
    const IO: i32 = rustix::io::Errno::IO.raw_os_error();
    for errno in [NOSPC, IO] {
        for at in 1..=2 {
            for plan in [Plan::Fail(at, errno), Plan::Short(at, errno)] {
                let temp = tempfile::tempdir().unwrap();
                std::fs::write(temp.path().join("s.jsonl"), OLD).unwrap();
                let fault = Fault::new(plan);
                let done = fault.run(|| append(&open(temp.path()), "s.jsonl", NEW, |_| Ok(())));
                let bytes = std::fs::read(temp.path().join("s.jsonl")).unwrap();
                let step = fault.trail()[at as usize - 1].0;
                if step == Step::SyncFile && matches!(plan, Plan::Short(..)) {
                    // There is nothing to cut short in a sync.
                    continue;
                }
                let error = done.unwrap_err();
                assert_eq!(bytes, OLD, "{plan:?}");
                if step == Step::SyncFile {
                    assert_eq!(
                        (error.code, error.effects),
                        (Code::OutcomeUnknown, Effects::Unknown)
                    );
                } else {
                    let code = if errno == NOSPC {
                        Code::DiskFull
                    } else {
                        Code::IoFailed
                    };
                    assert_eq!((error.code, error.effects), (code, Effects::None));
                }
                assert_eq!(
                    fault.count(Step::SyncFile),
                    usize::from(step == Step::SyncFile),
                    "C9"
                );
            }
        }
    }
}

/// C5: every failure before the rename leaves the old document and no leftover.
#[test]
fn c5_a_failed_replace_changes_nothing() {
    let count = Fault::new(Plan::Count);
    let temp = tempfile::tempdir().unwrap();
    count
        .run(|| replace(&open(temp.path()), "doc.json", NEW))
        .unwrap();
    for at in 1..=count.trail().len() as u64 {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("doc.json"), OLD).unwrap();
        let fault = Fault::new(Plan::Fail(at, rustix::io::Errno::IO.raw_os_error()));
        let Err(error) = fault.run(|| replace(&open(temp.path()), "doc.json", NEW)) else {
            // One step less: the rights of the old file were ours already.
            continue;
        };
        let step = fault.trail()[at as usize - 1].0;
        let bytes = std::fs::read(temp.path().join("doc.json")).unwrap();
        assert_eq!(names(temp.path()), (set(["doc.json"]), set([])), "{step:?}");
        match step {
            Step::SyncFile => assert_eq!((error.code, &bytes[..]), (Code::OutcomeUnknown, OLD)),
            Step::SyncDir => assert_eq!((error.code, &bytes[..]), (Code::OutcomeUnknown, NEW)),
            _ => {
                assert_eq!((error.code, error.effects), (Code::IoFailed, Effects::None));
                assert_eq!(bytes, OLD);
            }
        }
        assert!(!is_death(&error));
    }
}

/// A disk that is full from any step on leaves the old state, and a clean folder.
#[test]
fn c5_c6_a_full_disk_leaves_nothing_behind() {
    for at in 1..12 {
        let temp = tempfile::tempdir().unwrap();
        let fault = Fault::new(Plan::FullFrom(at));
        let error = fault.run(|| stage(&open(temp.path()))).err();
        if let Some(error) = error {
            assert_eq!(
                (error.code, error.effects),
                (Code::DiskFull, Effects::None),
                "{at}"
            );
            assert_eq!(names(temp.path()), (set([]), set([])), "{at}");
        }
    }
}

/// C5: mode and, where we may, owner are those of the old file, or of the folder for a new one.
#[test]
fn c5_rights_are_kept() {
    let temp = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(temp.path().join(name)).unwrap().mode() & 0o7777;
    std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o2770)).unwrap();
    let dir = open(temp.path());
    replace(&dir, "doc.json", OLD).unwrap();
    assert_eq!(mode("doc.json"), 0o660);
    std::fs::set_permissions(
        temp.path().join("doc.json"),
        std::fs::Permissions::from_mode(0o604),
    )
    .unwrap();
    replace(&dir, "doc.json", NEW).unwrap();
    assert_eq!(mode("doc.json"), 0o604);
    dir.make_dir("folder").unwrap();
    assert_eq!(mode("folder"), 0o2770);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(temp.path(), Some(12), Some(34)).unwrap();
        std::os::unix::fs::chown(temp.path().join("doc.json"), Some(56), Some(78)).unwrap();
        replace(&dir, "doc.json", OLD).unwrap();
        replace(&dir, "other.json", OLD).unwrap();
        dir.make_dir("folder2").unwrap();
        let owner = |name: &str| {
            let meta = std::fs::metadata(temp.path().join(name)).unwrap();
            (meta.uid(), meta.gid())
        };
        assert_eq!(owner("doc.json"), (56, 78));
        assert_eq!(owner("other.json"), (12, 34));
        assert_eq!(owner("folder2"), (12, 34));
        assert_eq!(mode("doc.json"), 0o604);
    }
}

/// C31: a write does not go through a link, nor over one.
#[test]
fn c31_a_link_is_refused_for_writing() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("elsewhere"), OLD).unwrap();
    std::os::unix::fs::symlink("elsewhere", temp.path().join("link")).unwrap();
    let dir = open(temp.path());
    let errors: [Error; 2] = [
        replace(&dir, "link", NEW).unwrap_err(),
        append(&dir, "link", NEW, |_| Ok(())).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(
            (error.code, error.effects),
            (Code::SymbolicLink, Effects::None)
        );
    }
    assert_eq!(std::fs::read(temp.path().join("elsewhere")).unwrap(), OLD);
    assert_eq!(names(temp.path()).1, set([]));
}

/// The last newline is found however far back it stands.
#[test]
fn c4_the_committed_prefix_is_found() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("f");
    for (text, want) in [
        (b"".to_vec(), 0),
        (b"x".to_vec(), 0),
        (b"\n".to_vec(), 1),
        (b"a\nb".to_vec(), 2),
        ([b"a\n".to_vec(), vec![b'x'; 300]].concat(), 2),
        ([b"a\n".to_vec(), vec![b'x'; 200_000]].concat(), 2),
        ([vec![b'x'; 200_000], b"\n".to_vec()].concat(), 200_001),
        (vec![b'x'; 200_000], 0),
    ] {
        std::fs::write(&path, &text).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        assert_eq!(committed_len(&file, text.len() as u64).unwrap(), want);
    }
}

/// A torn tail of any size reaches quarantine byte for byte before it is cut.
#[test]
fn c4_a_long_torn_tail_is_kept() {
    let temp = tempfile::tempdir().unwrap();
    let torn: Vec<u8> = (0..200_000u32).map(|n| b'a' + (n % 23) as u8).collect();
    std::fs::write(temp.path().join("s.jsonl"), [OLD, &torn].concat()).unwrap();
    append(&open(temp.path()), "s.jsonl", NEW, keep_in(temp.path())).unwrap();
    assert_eq!(std::fs::read(temp.path().join("tail")).unwrap(), torn);
    assert_eq!(
        std::fs::read(temp.path().join("s.jsonl")).unwrap(),
        [OLD, NEW].concat()
    );
}

/// Many records share one sync; what is not committed is taken back.
#[test]
fn c4_a_group_shares_one_sync() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("s.jsonl"), OLD).unwrap();
    let dir = open(temp.path());
    let fault = Fault::new(Plan::Count);
    fault.run(|| {
        let mut file = Appender::open(&dir, "s.jsonl", |_| Ok(())).unwrap();
        for _ in 0..32 {
            file.write(NEW).unwrap();
        }
        assert_eq!(file.commit().unwrap(), (OLD.len() + 32 * NEW.len()) as u64);
        file.write(OLD).unwrap();
        assert_eq!(file.write(b"no newline").unwrap_err().code, Code::Internal);
    });
    assert_eq!(fault.count(Step::SyncFile), 1);
    let bytes = std::fs::read(temp.path().join("s.jsonl")).unwrap();
    assert_eq!(bytes, [OLD, &NEW.repeat(32)].concat());
}

/// A move to another folder is durable there before the old place forgets it.
#[test]
fn a_move_aside_loses_nothing() {
    crash_everywhere(
        |root| {
            std::fs::create_dir(root.join("from")).unwrap();
            std::fs::create_dir(root.join("to")).unwrap();
            std::fs::write(root.join("from/f"), OLD).unwrap();
            root.to_path_buf()
        },
        |root| {
            let root = open(root);
            let (from, to) = (root.dir("from").unwrap(), root.dir("to").unwrap());
            drop(move_aside(&from, "f", &to, "g"));
        },
        |root, crashed| {
            let there: Vec<PathBuf> = [root.join("from/f"), root.join("to/g")]
                .into_iter()
                .filter(|p| std::fs::read(p).is_ok_and(|b| b == OLD))
                .collect();
            assert!(!there.is_empty(), "{crashed:?}");
            if after_success(crashed) {
                assert_eq!(there, [root.join("to/g")], "{crashed:?}");
            }
        },
    )
    .unwrap();
}

/// Only what has the name of a leftover is cleared, and no link is followed.
#[test]
fn only_leftovers_are_cleared() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temp.path().join(".s.tmp-1-1/inner")).unwrap();
    std::fs::create_dir(temp.path().join("keep")).unwrap();
    std::fs::write(temp.path().join("keep/file"), OLD).unwrap();
    std::os::unix::fs::symlink("../../keep", temp.path().join(".s.tmp-1-1/inner/link")).unwrap();
    let dir = open(temp.path());
    assert_eq!(
        clear_leftover(&dir, "keep").unwrap_err().code,
        Code::Internal
    );
    clear_leftover(&dir, ".s.tmp-1-1").unwrap();
    clear_leftover(&dir, ".s.tmp-1-1").unwrap();
    assert_eq!(names(temp.path()), (set(["keep"]), set([])));
    assert_eq!(std::fs::read(temp.path().join("keep/file")).unwrap(), OLD);
}

/// One sync of the file system stands in for those of a whole batch, and crashes lose no more.
#[cfg(target_os = "linux")]
#[test]
fn c6_a_batch_shares_one_sync() {
    let work = |root: &Path| -> Result<()> {
        let dir = open(root);
        let Some(all) = SyncFs::before_writing(&dir)? else {
            return Ok(());
        };
        let mut batch = Vec::new();
        for _ in 0..3 {
            let staged = StagedDir::begin(&dir, session_staging_name())?;
            fill(&staged).map_err(|e| failed("fill", root, e))?;
            batch.push(staged);
        }
        let synced = all.sync()?;
        for (n, staged) in batch.iter_mut().enumerate() {
            staged.synced_by(&synced);
            staged.place_unsynced(&dir, n.to_string().as_ref())?;
        }
        sync_dir(&dir)
    };
    let temp = tempfile::tempdir().unwrap();
    let fault = Fault::new(Plan::Count);
    fault.run(|| work(temp.path())).unwrap();
    let syncs = [Step::SyncFs, Step::SyncDir, Step::SyncFile].map(|s| fault.count(s));
    assert_eq!(syncs, [1, 1, 0]);
    crash_everywhere(
        Path::to_path_buf,
        |root| drop(work(root)),
        |root, crashed| {
            for name in names(root).0 {
                assert!(is_whole(&root.join(name)), "{crashed:?}");
            }
            assert!(
                !after_success(crashed) || names(root).0.len() == 3,
                "{crashed:?}"
            );
        },
    )
    .unwrap();
}

/// The model itself: what no sync covered is gone, what one did is not.
#[test]
fn the_model_of_power_takes_what_was_not_synced() {
    let temp = tempfile::tempdir().unwrap();
    let [root, aside, aside2] = ["root", "aside", "aside2"].map(|n| temp.path().join(n));
    for dir in [&root, &aside, &aside2, &root.join("gone")] {
        std::fs::create_dir(dir).unwrap();
    }
    std::fs::write(root.join("removed"), OLD).unwrap();
    std::fs::write(root.join("gone/inner"), OLD).unwrap();
    std::fs::write(root.join("renamed"), OLD).unwrap();
    let fault = Fault::with_power(Plan::Count, &aside).unwrap();
    fault.run(|| {
        let dir = open(&root);
        dir.remove_file("removed").unwrap();
        dir.dir("gone").unwrap().remove_file("inner").unwrap();
        dir.remove_dir("gone").unwrap();
        let mut file = dir.create("new").unwrap();
        file.put(NEW).unwrap();
        file.sync().unwrap();
        drop(move_aside(
            &dir,
            "renamed",
            &dir.make_dir("moved").unwrap(),
            "there",
        ));
        // The syncs of the move cover all of this folder; only what follows is lost.
        dir.rename("new".as_ref(), &dir, "newer".as_ref()).unwrap();
        dir.make_dir("more").unwrap().create("x").unwrap();
        replace(&dir.dir("moved").unwrap(), "kept", OLD).unwrap();
        let mut kept = dir
            .dir("moved")
            .unwrap()
            .open_existing("kept", rustix::fs::OFlags::RDWR)
            .unwrap();
        kept.put(NEW).unwrap();
        kept.set_len(2).unwrap();
    });
    fault.power_off(Loss::All).unwrap();
    assert_eq!(names(&root), (set(["moved", "new"]), set([])));
    assert_eq!(std::fs::read(root.join("new")).unwrap(), NEW);
    assert_eq!(names(&root.join("moved")).0, set(["kept", "there"]));
    assert_eq!(std::fs::read(root.join("moved/kept")).unwrap(), OLD);

    let fault = Fault::with_power(Plan::Count, &aside2).unwrap();
    fault.run(|| {
        let dir = open(&root);
        let moved = dir.dir("moved").unwrap();
        for name in ["kept", "there"] {
            moved.remove_file(name).unwrap();
        }
        dir.remove_dir("moved").unwrap();
        dir.rename("new".as_ref(), &dir, "moved".as_ref()).unwrap();
    });
    fault.power_off(Loss::All).unwrap();
    assert_eq!(names(&root), (set(["moved", "new"]), set([])));
    assert_eq!(names(&root.join("moved")).0, set(["kept", "there"]));
}
