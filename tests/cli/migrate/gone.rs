//! C21: a root that is named wrongly never makes a migration complete, and what a former run knew
//! stays known.

use std::path::PathBuf;

use super::{Happens, Old, did, whole};
use crate::support::damage;
use crate::support::store::id;
use crate::support::{Output, schema, tree};

fn metadata(old: &Old, n: u64) -> PathBuf {
    let folder = format!("worker-runtime-{n}");
    old.legacy.workers().join(folder).join("metadata.json")
}

/// Four Workers: 1 is moved, 2 is damaged, 3 and 4 share a Session.
fn mixed() -> Old {
    let old = Old::with(4);
    let path = format!("{}/{}.jsonl", id(2), id(0x21));
    damage::append(&old.legacy.sessions().join(path), b"{broken}\n");
    old.legacy
        .metadata("worker-runtime-4", Some((3, Some(0x31))));
    old
}

const LEFT: [&str; 4] = [
    "1 migrated",
    "2 left corrupt_record",
    "3 left shared_session_reference",
    "4 left shared_session_reference",
];
const GONE: [&str; 4] = [
    "1 done",
    "2 left source_gone",
    "3 left source_gone",
    "4 left source_gone",
];

fn with_roots(old: &Old, sessions: &str, metadata: &str, more: &[&str]) -> Output {
    let args = ["--store", "store", "--format", "json", "migrate"];
    let roots = ["--sessions", sessions, "--metadata", metadata];
    old.env.wagg(args.iter().chain(&roots).chain(more).copied())
}

fn manifest(old: &Old) -> serde_json::Value {
    let bytes = std::fs::read(old.path("migrations/worker-aggregate-v1.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Every way in which a metadata root can be the wrong one, after runs that knew better: all of
/// them leave what was left, say so, and forget nothing.
#[test]
fn c21_what_was_left_stays_left() {
    let ways: [(&str, &str, &str); 4] = [
        ("legacy/sessions", "legacy/worker", "the metadata root"),
        ("nope", "legacy/worker", "both roots"),
        ("legacy/sessions", "empty", "a folder that is there"),
        ("empty", "other", "two folders that are there"),
    ];
    for (sessions, wrong, what) in ways {
        let old = mixed();
        for folder in ["empty", "other"] {
            std::fs::create_dir(old.env.path(folder)).unwrap();
        }
        assert_eq!(old.did(&[]), LEFT, "{what}");
        let known = manifest(&old);
        for more in [&["--dry-run"][..], &[], &["--deep"], &["--fail-fast"], &[]] {
            let out = with_roots(&old, sessions, wrong, more).status(1);
            let answer = out.json();
            schema::check("migrate", &answer);
            if !more.contains(&"--fail-fast") {
                assert_eq!(did(&answer), GONE, "{what}: {out}");
            }
            assert_eq!(answer["summary"]["complete"], false, "{what}: {out}");
            assert_eq!(manifest(&old)["workers"], known["workers"], "{what}");
            assert_eq!(manifest(&old)["complete"], false, "{what}");
        }
        if sessions == "nope" || wrong == "legacy/worker" {
            // With a root away nothing can be said of owners.
            assert_eq!(
                manifest(&old)["diagnostics"],
                known["diagnostics"],
                "{what}"
            );
        }
        // A run that finds what is known writes nothing, and names the roots that were right.
        let before = whole(old.store.root());
        let out = with_roots(&old, sessions, wrong, &[]).status(1);
        tree::assert_same(&before, &whole(old.store.root()), what);
        let right = out.json()["next"].as_str().unwrap().to_owned();
        assert!(right.contains("legacy/workers --dry-run"), "{right}");
        let status = old.env.wagg(["--store", "store", "migrate", "status"]);
        assert!(status.stdout().contains("source_gone"), "{status}");
        // The right roots again: as if nothing had been.
        let mut now = LEFT;
        now[0] = "1 done";
        assert_eq!(old.did(&[]), now, "{what}");
        assert_eq!(manifest(&old), known, "{what}");
    }
}

/// A run that was stopped, or stopped early, does not make its successors forget what an older one
/// left; a Worker that was moved since is not left again.
#[test]
fn c21_what_an_older_run_left_stays_known() {
    let old = mixed();
    let (two, three) = (metadata(&old, 2), metadata(&old, 3));
    assert_eq!(old.did(&[]), LEFT);
    damage::remove(metadata(&old, 4).parent().unwrap());
    old.legacy
        .metadata("worker-runtime-4", Some((9, Some(0x91))));
    // 2 stops it before it comes to them.
    let stopped = old.did(&["--fail-fast"]);
    assert_eq!(
        stopped[1..],
        ["2 left corrupt_record", "3 not_reached", "4 not_reached"]
    );
    damage::remove(two.parent().unwrap());
    damage::remove(three.parent().unwrap());
    damage::remove(metadata(&old, 4).parent().unwrap());
    assert_eq!(old.did(&[]), GONE);
    // Put back, all but 2 can be moved.
    old.legacy.usual(3).usual(4);
    let moved = old.did(&[]);
    assert_eq!(
        moved[1..],
        ["2 left source_gone", "3 migrated", "4 migrated"]
    );
    damage::remove(&old.legacy.workers());
    std::fs::create_dir(old.legacy.workers()).unwrap();
    assert_eq!(
        old.did(&[]),
        ["1 done", "2 left source_gone", "3 done", "4 done"]
    );
    // An empty folder says that it was taken away on purpose.
    std::fs::create_dir(two.parent().unwrap()).unwrap();
    let answer = old.answer(&[]);
    assert_eq!(did(&answer)[1], "2 no_legacy_metadata");
    assert_eq!(answer["summary"]["complete"], true);
    damage::remove(two.parent().unwrap());
    assert_eq!(old.did(&[])[1], "2 no_legacy_metadata");
}

/// What was moved stays so without a manifest, a root or both; it is not complete while a root is
/// away.
#[test]
fn c21_what_was_moved_stays_moved() {
    let ways: [(&str, i32, Happens); 3] = [
        (
            "both roots",
            1,
            Box::new(|old| damage::remove(&old.env.path("legacy"))),
        ),
        (
            "the metadata root",
            1,
            Box::new(|old| damage::remove(&old.legacy.workers())),
        ),
        (
            "a manifest and the sources",
            0,
            Box::new(|old| {
                damage::remove(&old.path("migrations/worker-aggregate-v1.json"));
                damage::remove(metadata(old, 1).parent().unwrap());
                damage::remove(metadata(old, 2).parent().unwrap());
            }),
        ),
    ];
    for (what, status, happens) in ways {
        let old = Old::with(2);
        assert_eq!(old.did(&[]), ["1 migrated", "2 migrated"]);
        happens(&old);
        let out = with_roots(&old, "legacy/sessions", "legacy/workers", &[]).status(status);
        assert_eq!(did(&out.json()), ["1 done", "2 done"], "{what}: {out}");
        assert_eq!(manifest(&old)["complete"], true, "{what}");
    }
}

/// A first run with a root that is not there is not complete, whichever it is.
#[test]
fn c21_a_first_run_with_a_wrong_root_is_not_complete() {
    for (sessions, metadata) in [
        ("legacy/sessions", "nope"),
        ("nope", "legacy/workers"),
        ("nope", "nor"),
    ] {
        for more in [&["--dry-run"][..], &[]] {
            let old = Old::with(1);
            // A reserved Session that nobody wrote: there is nothing else to leave it for.
            old.legacy.metadata("worker-runtime-1", Some((1, None)));
            let out = with_roots(&old, sessions, metadata, more).status(1);
            assert_eq!(out.json()["summary"]["complete"], false, "{out}");
            assert!(out.stderr.contains("nope is not there"), "{out}");
            // The right roots make it good.
            if more.is_empty() {
                old.answer(&[]);
                assert_eq!(old.did(&[]), ["1 done"]);
                assert!(old.path("workers/1/session/session.json").is_file());
            }
        }
        let old = Old::with(1);
        let roots = ["--sessions", sessions, "--metadata", metadata];
        let args = ["--store", "store", "orphans"];
        let out = old.env.wagg(args.iter().chain(&roots).copied()).status(1);
        assert!(out.stderr.contains("nope is not there"), "{out}");
    }
}
