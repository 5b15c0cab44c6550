//! Bad input: roots that are not apart, sources that are no files, change, or can not be read, a
//! full disk, and much of everything.

use std::process::Command;

use super::{Happens, Old};
use crate::support::damage;
use crate::support::sample::{every, everything};
use crate::support::store::{id, put};
use crate::support::tree;

/// The folder of a Session in the Session root.
fn session(old: &Old, n: u64) -> std::path::PathBuf {
    old.legacy.sessions().join(id(n))
}

#[test]
fn roots_that_are_not_apart_are_refused() {
    let old = Old::with(1);
    let legacy = old.env.path("legacy");
    for (sessions, metadata, text) in [
        ("legacy/sessions", "legacy/sessions", "the same folder"),
        ("store", "legacy/workers", "the store itself"),
        ("store/workers", "legacy/workers", "lies inside the store"),
        ("legacy/sessions", "store/old", "lies inside the store"),
        (".", "legacy/workers", "lies inside the Session root"),
    ] {
        let args = [
            "--store",
            "store",
            "migrate",
            "--sessions",
            sessions,
            "--metadata",
            metadata,
        ];
        let out = tree::unchanged(&[old.store.root(), &legacy], "refused", || {
            old.env.wagg(args)
        });
        let out = out.status(2);
        assert!(out.stderr.contains(text), "{out}");
    }
}

#[test]
fn missing_roots_count_as_empty_and_are_named() {
    let old = Old::with(1);
    let args = [
        "--store",
        "store",
        "migrate",
        "--sessions",
        "none",
        "--metadata",
        "legacy/workers",
    ];
    let out = old.env.wagg(args).status(1);
    assert!(
        out.stderr.contains("the sessions root none is not there"),
        "{out}"
    );
    assert!(out.stdout().contains("missing_referenced_session"), "{out}");
    // Without either nothing is written, as with the reference.
    let old = Old::with(1);
    let args = [
        "--store",
        "store",
        "migrate",
        "--sessions",
        "none",
        "--metadata",
        "nor",
    ];
    let out = tree::unchanged(&[old.store.root()], "no roots", || old.env.wagg(args));
    let out = out.status(1);
    assert!(
        out.stderr.contains("the metadata root nor is not there"),
        "{out}"
    );
    // A root that is there and is no folder is not taken for empty.
    let file = old.env.write("file", "x");
    let args = [
        "--store",
        "store",
        "migrate",
        "--sessions",
        "file",
        "--metadata",
        "legacy/workers",
    ];
    let out = old.env.wagg(args).status(5);
    assert!(out.stderr.contains("can not be looked at"), "{out}");
    drop(file);
}

/// C21, C25: what does not belong into a Session keeps its Worker where it is, and no other.
#[test]
fn what_is_no_file_keeps_its_worker() {
    let bad: [(&str, Happens); 7] = [
        (
            "symbolic_link",
            Box::new(|old| {
                let path = session(old, 1).join(format!("{}.jsonl", id(0x15)));
                damage::symlink(&path, format!("{}.jsonl", id(0x11)));
            }),
        ),
        (
            "not_a_regular_file",
            Box::new(|old| damage::fifo(&session(old, 1).join(format!("{}.jsonl", id(0x15))))),
        ),
        (
            "not_a_regular_file",
            Box::new(|old| std::fs::create_dir(session(old, 1).join("old")).unwrap()),
        ),
        (
            "unknown_file",
            Box::new(|old| put(session(old, 1).join("notes.txt"), b"x")),
        ),
        (
            "bad_file_name",
            Box::new(|old| put(session(old, 1).join("not-a-uuid.jsonl"), b"")),
        ),
        (
            "symbolic_link",
            Box::new(|old| {
                let (folder, aside) = (session(old, 1), old.env.path("aside"));
                std::fs::rename(&folder, &aside).unwrap();
                std::os::unix::fs::symlink(&aside, &folder).unwrap();
            }),
        ),
        (
            "symbolic_link",
            Box::new(|old| {
                let document = old.legacy.workers().join("worker-runtime-1/metadata.json");
                damage::symlink(&document, "elsewhere");
            }),
        ),
    ];
    for (code, bad) in bad {
        let old = Old::with(3);
        bad(&old);
        assert_eq!(
            old.did(&["--dry-run"]),
            [
                format!("1 left {code}"),
                "2 migrate".to_owned(),
                "3 migrate".to_owned()
            ]
        );
        assert_eq!(
            old.did(&[]),
            [
                format!("1 left {code}"),
                "2 migrated".to_owned(),
                "3 migrated".to_owned()
            ]
        );
        let left: Vec<_> = std::fs::read_dir(old.path("workers/1")).unwrap().collect();
        assert_eq!(left.len(), 1, "{code}: nothing but worker.json is there");
    }
}

#[test]
fn no_rights_on_one_session() {
    if damage::is_root() {
        eprintln!("SKIPPED: root reads everything");
        return;
    }
    let old = Old::with(2);
    let path = session(&old, 1);
    damage::chmod(&path, 0);
    let answer = old.answer(&[]);
    damage::chmod(&path, 0o755);
    assert_eq!(super::did(&answer), ["1 left unreadable", "2 migrated"]);
    assert_eq!(old.did(&[]), ["1 migrated", "2 done"]);
}

/// A source that is written to while it is copied is refused, and nothing of its Worker is left.
#[test]
fn a_source_that_grows_is_not_half_copied() {
    let old = Old::with(1);
    old.store.worker(2);
    // Long enough that something happens to it meanwhile.
    let path = session(&old, 2).join(format!("{}.jsonl", id(0x21)));
    let line = b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}\n";
    put(&path, line.repeat(600_000));
    old.legacy
        .metadata("worker-runtime-2", Some((2, Some(0x21))));
    let mut writer = Command::new("bash")
        .arg("-c")
        .arg("while :; do printf '%s\\n' '{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}' >> \"$0\"; done")
        .arg(&path)
        .spawn()
        .unwrap();
    let args = super::ROOTS.iter().chain(&["--format", "json"]);
    let out = old.env.wagg(args);
    writer.kill().unwrap();
    writer.wait().unwrap();
    let out = out.status(1);
    assert_eq!(
        super::did(&out.json()),
        ["1 migrated", "2 left source_changed"]
    );
    let left: Vec<_> = std::fs::read_dir(old.path("workers/2")).unwrap().collect();
    assert_eq!(left.len(), 1, "{out}");
    // Once it rests it is moved.
    assert_eq!(old.did(&[]), ["1 done", "2 migrated"]);
}

/// A small disk in memory.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn new(disk: &std::path::Path, size: &str) -> Option<Self> {
        std::fs::create_dir(disk).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(disk)
            .stderr(std::process::Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: nothing can be mounted here");
            return None;
        }
        Some(Self(disk.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// However full the disk is when it stops, the answer counts what is in place.
#[test]
fn a_full_disk_anywhere_is_told_as_it_is() {
    let mut told = 0;
    for size in every(2, (400..2200).step_by(60)) {
        let old = Old::with(0);
        let disk = old.env.path("disk");
        let Some(_mounted) = Mounted::new(&disk, &format!("{size}k")) else {
            return;
        };
        let store = crate::support::TestStore::v1(disk.join("store"));
        for n in 1..=40 {
            store.worker(n);
            old.legacy.usual(n);
            let path = session(&old, n).join(format!("{}.jsonl", id(n * 16 + 7)));
            let line = b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}\n";
            put(&path, line.repeat(400));
        }
        let mut args = super::ROOTS.to_vec();
        args[1] = "disk/store";
        args.extend([
            "--format",
            "json",
            "--jobs",
            if size % 120 == 40 { "1" } else { "2" },
        ]);
        let out = old.env.wagg(args);
        if out.code == Some(0) {
            continue;
        }
        let in_place = |name: &str| {
            let there = |n: &u64| store.path(format!("workers/{n}/{name}")).exists();
            (1..=40).filter(there).count() as u64
        };
        let (sessions, whole) = (in_place("session"), in_place("metadata.json"));
        match out.error()["effects_applied"].as_str().unwrap() {
            "none" => {
                assert_eq!(
                    (out.code, sessions, whole),
                    (Some(14), 0, 0),
                    "{size}k {out}"
                );
            }
            "some" => {
                told += 1;
                let migrated = out.json()["summary"]["migrated"].as_u64();
                assert_eq!(
                    (out.code, migrated),
                    (Some(1), Some(whole)),
                    "{size}k {out}"
                );
                assert!(sessions > 0, "{size}k {out}");
            }
            _ => assert_eq!(out.code, Some(15), "{size}k {out}"),
        }
    }
    assert!(told > 0, "no disk was too small");
}

/// A disk that fills up in the middle: what is whole stays, nothing else does, and the next run
/// goes on.
#[test]
fn a_full_disk_in_the_middle() {
    let old = Old::with(0);
    let disk = old.env.path("disk");
    let Some(_mounted) = Mounted::new(&disk, "4m") else {
        return;
    };
    let store = crate::support::TestStore::v1(disk.join("store"));
    let line = b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}\n";
    for n in 1..=8 {
        store.worker(n);
        let path = session(&old, n).join(format!("{}.jsonl", id(n * 16 + 1)));
        put(&path, line.repeat(25_000));
        old.legacy
            .metadata(&format!("worker-runtime-{n}"), Some((n, Some(n * 16 + 1))));
    }
    let args = [
        "--store",
        "disk/store",
        "migrate",
        "--sessions",
        "legacy/sessions",
        "--metadata",
        "legacy/workers",
        "--format",
        "json",
        "--jobs",
        "1",
    ];
    let out = old.env.wagg(args);
    assert_eq!(out.error()["code"], "disk_full", "{out}");
    let effects = out.error()["effects_applied"].clone();
    let moved = out.json()["summary"]["migrated"].as_u64().unwrap();
    match moved {
        0 => assert_eq!((out.code, effects), (Some(14), "none".into())),
        _ => assert_eq!((out.code, effects), (Some(1), "some".into())),
    }
    let leftovers = tree::tree(&disk.join("store"));
    let leftovers: Vec<_> = leftovers
        .iter()
        .filter(|l| l.contains(".tmp-") || l.contains(".migrating-"))
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    let larger = Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(&disk)
        .status();
    assert!(larger.unwrap().success());
    let out = old.env.wagg(args).status(0);
    assert_eq!(out.json()["summary"]["left"], 0, "{out}");
}

/// `WAGG_TEST_LARGE=50` gives it the size that it is meant for, in MiB.
#[test]
fn megabytes_of_metadata() {
    let size: usize = std::env::var("WAGG_TEST_LARGE")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4);
    let old = Old::with(1);
    let path = old.legacy.workers().join("worker-runtime-1/metadata.json");
    let mut document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    document["resolved_manifest_snapshot"] = "x".repeat(size << 20).into();
    std::fs::write(&path, document.to_string()).unwrap();
    assert_eq!(old.did(&[]), ["1 migrated"]);
    assert_eq!(old.did(&["--deep"]), ["1 done"]);
}

#[test]
fn many_files_in_one_session() {
    let many: u64 = if everything() { 200_000 } else { 5000 };
    let old = Old::with(2);
    for n in 0..many {
        put(
            session(&old, 1).join(format!("{}.jsonl", id(0x10_0000 + n))),
            b"",
        );
    }
    let answer = old.answer(&[]);
    assert_eq!(super::did(&answer), ["1 migrated", "2 migrated"]);
    assert_eq!(answer["workers"][0]["files"], many + 2);
    assert_eq!(old.did(&[]), ["1 done", "2 done"]);
}

/// Folders of the catalog that are no Worker's, and that nobody can tell.
#[test]
fn who_a_worker_is_must_be_told() {
    let old = Old::with(2);
    damage::empty(&old.path("workers/1/worker.json"));
    put(old.path("workers/stray.txt"), b"x");
    std::fs::create_dir(old.path("workers/notes")).unwrap();
    damage::symlink(&old.path("workers/7"), "2");
    old.legacy.usual(7);
    let answer = old.answer(&[]);
    assert_eq!(
        super::did(&answer),
        [
            "2 migrated",
            "1 left empty_document",
            "7 left symbolic_link"
        ]
    );
    assert_eq!(answer["diagnostics"], serde_json::json!([]));
}

/// C25: `--fail-fast` stops at the first trouble in the order of the Workers, whichever it is.
#[test]
fn c25_fail_fast_stops_in_order() {
    let old = Old::with(4);
    damage::empty(&old.path("workers/3/worker.json"));
    assert_eq!(
        old.did(&["--fail-fast"]),
        [
            "1 migrated",
            "2 migrated",
            "4 not_reached",
            "3 left empty_document"
        ]
    );
    let old = Old::with(4);
    put(session(&old, 2).join("notes.txt"), b"x");
    for jobs in ["1", "4"] {
        assert_eq!(
            old.did(&["--fail-fast", "--jobs", jobs])[1..],
            ["2 left unknown_file", "3 not_reached", "4 not_reached"]
        );
    }
    // One that only shows when it is read.
    let old = Old::with(4);
    let path = session(&old, 2).join(format!("{}.jsonl", id(0x21)));
    damage::replace_line(&path, 3, "not a record");
    assert_eq!(
        old.did(&["--fail-fast", "--jobs", "4"]),
        [
            "1 migrated",
            "2 left corrupt_record",
            "3 not_reached",
            "4 not_reached"
        ]
    );
    assert!(!old.path("workers/3/session").exists());
}
