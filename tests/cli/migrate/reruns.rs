//! C24: what a rerun accepts, and what it refuses.

use serde_json::json;

use super::{Happens, Old, whole};
use crate::support::damage;
use crate::support::store::{id, put};
use crate::support::tree;

const ONE: &str = "workers/1/session/segments";

fn segment(n: u64) -> String {
    format!("{ONE}/{}.jsonl", id(n))
}

/// C22: a rerun that finds all done changes no byte, and is told by names, sizes and times unless
/// every byte is asked for.
#[test]
fn c22_all_done_changes_nothing() {
    let old = Old::with(3);
    assert_eq!(old.did(&[]), ["1 migrated", "2 migrated", "3 migrated"]);
    let before = whole(old.store.root());
    for more in [&[][..], &["--deep"], &["--jobs", "1"]] {
        let answer = old.answer(more);
        assert_eq!(answer["outcome"], "no_change");
        assert_eq!(answer["operation_id"], json!(null));
        assert_eq!(super::did(&answer), ["1 done", "2 done", "3 done"]);
    }
    tree::assert_same(&before, &whole(old.store.root()), "reruns");
    // One byte differs and all else is as it was, the time too: only --deep can tell.
    let path = old.path(&segment(0x11));
    let time = path.metadata().unwrap().modified().unwrap();
    damage::flip(&path, 40);
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(old.did(&[])[0], "1 done");
    let answer = old.answer(&["--deep"]);
    assert_eq!(answer["workers"][0]["code"], "target_differs");
    assert_eq!(answer["workers"][0]["byte"], 40);
}

/// A Worker that ran since is advanced, in every way in which a Runtime goes on.
#[test]
fn c24_a_worker_that_ran_is_advanced() {
    let turn: &'static [u8] = b"{\"kind\":\"turn_end\",\"ts\":1700000099999,\"turn_count\":3}\n";
    let went_on: [(&str, Happens); 4] = [
        (
            "new records",
            Box::new(move |old| damage::append(&old.path(&segment(0x11)), turn)),
        ),
        (
            "a new Segment and its trace",
            Box::new(|old| {
                std::fs::copy(old.path(&segment(0x11)), old.path(&segment(0x12))).unwrap();
                put(old.path(&format!("{ONE}/{}.trace.jsonl", id(0x12))), b"");
            }),
        ),
        (
            "a moved pointer",
            Box::new(|old| {
                let path = old.path("workers/1/metadata.json");
                crate::support::store::edit(path, |m| {
                    m["active"]["segment_id"] = json!(id(0x12));
                });
            }),
        ),
        (
            "a cleared source",
            Box::new(move |old| {
                damage::append(&old.path(&segment(0x11)), turn);
                let source = old.legacy.sessions().join(id(1));
                std::fs::remove_file(source.join(format!("{}.jsonl", id(0x11)))).unwrap();
            }),
        ),
    ];
    for (what, went_on) in went_on {
        let old = Old::with(2);
        drop(old.migrate(&[]).status(0));
        went_on(&old);
        let before = whole(old.store.root());
        assert_eq!(old.did(&[]), ["1 advanced", "2 done"], "{what}");
        assert_eq!(old.did(&["--deep"]), ["1 advanced", "2 done"], "{what}");
        tree::assert_same(&before, &whole(old.store.root()), what);
    }
}

/// What was never a record does not count: the next append of a Runtime cuts it off.
#[test]
fn c24_a_torn_tail_that_a_runtime_cut() {
    let old = Old::with(1);
    let source = old.legacy.sessions().join(id(1));
    let source = source.join(format!("{}.jsonl", id(0x11)));
    let committed = std::fs::read(&source).unwrap();
    damage::torn_tail(&source);
    let answer = old.answer(&[]);
    assert_eq!(super::did(&answer), ["1 migrated"]);
    assert_eq!(answer["findings"][0]["code"], "torn_tail");
    let mut grown = committed;
    grown.extend_from_slice(b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":3}\n");
    std::fs::write(old.path(&segment(0x11)), grown).unwrap();
    assert_eq!(old.did(&[]), ["1 advanced"]);
}

/// What did not come from the source by way of a Runtime is a collision; both copies stay.
#[test]
fn c24_all_else_is_a_collision() {
    let collisions: [(&str, &str, Happens); 8] = [
        (
            "the source grew",
            "target_differs",
            Box::new(|old| {
                let source = old.legacy.sessions().join(id(1));
                damage::append(
                    &source.join(format!("{}.jsonl", id(0x11))),
                    b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":3}\n",
                );
            }),
        ),
        (
            "the source has a new Segment",
            "target_differs",
            Box::new(|old| {
                let source = old.legacy.sessions().join(id(1));
                let log = std::fs::read(source.join(format!("{}.jsonl", id(0x11)))).unwrap();
                put(source.join(format!("{}.jsonl", id(0x13))), log);
            }),
        ),
        (
            "both went on",
            "target_differs",
            Box::new(|old| {
                let source = old.legacy.sessions().join(id(1));
                let line = |n| format!("{{\"kind\":\"turn_end\",\"ts\":{n},\"turn_count\":3}}\n");
                damage::append(&source.join(format!("{}.jsonl", id(0x11))), line(1));
                damage::append(&old.path(&segment(0x11)), line(2));
            }),
        ),
        (
            "the target was cut",
            "target_differs",
            Box::new(|old| damage::cut(&old.path(&segment(0x11)), 30)),
        ),
        (
            "a Segment is gone",
            "target_differs",
            Box::new(|old| damage::remove(&old.path(&segment(0x11)))),
        ),
        (
            "a file that no Runtime makes",
            "target_differs",
            Box::new(|old| put(old.path(&format!("{ONE}/notes.txt")), b"x")),
        ),
        (
            "another Session",
            "session_mismatch",
            Box::new(|old| {
                let path = old.path("workers/1/session/session.json");
                crate::support::store::edit(path, |s| s["session_id"] = json!(id(77)));
            }),
        ),
        (
            "another name",
            "target_differs",
            Box::new(|old| {
                let path = old.path("workers/1/metadata.json");
                crate::support::store::edit(path, |m| {
                    m["worker_name"] = json!("worker-runtime-2");
                });
            }),
        ),
    ];
    for (what, code, damage) in collisions {
        let old = Old::with(2);
        drop(old.migrate(&[]).status(0));
        damage(&old);
        let before = old.tree();
        let answer = old.answer(&[]);
        assert_eq!(
            super::did(&answer),
            [format!("1 left {code}"), "2 done".to_owned()],
            "{what}"
        );
        // The checkpoint stays, and the manifest says that a Worker is left.
        let manifest = std::fs::read_to_string(old.path("migrations/worker-aggregate-v1.json"));
        let manifest: serde_json::Value = serde_json::from_str(&manifest.unwrap()).unwrap();
        assert_eq!(manifest["complete"], false, "{what}");
        assert_eq!(manifest["workers"]["1"]["state"], "migrated", "{what}");
        let mut after = old.tree();
        let other = |line: &String| !line.contains("migrations");
        after.retain(other);
        let mut before = before;
        before.retain(other);
        tree::assert_same(&before, &after, what);
        // Once more: nothing new, and nothing written.
        let all = whole(old.store.root());
        assert_eq!(old.answer(&[])["outcome"], "no_change", "{what}");
        drop(old.migrate(&[]).status(1));
        tree::assert_same(&all, &whole(old.store.root()), what);
    }
}

/// A Worker whose Session is only reserved: its metadata goes over, and it may run later.
#[test]
fn a_reserved_session_is_pending() {
    let old = Old::with(1);
    old.store.worker(2);
    old.legacy.metadata("worker-runtime-2", Some((2, None)));
    let answer = old.answer(&[]);
    assert_eq!(super::did(&answer), ["1 migrated", "2 migrated"]);
    assert_eq!(answer["workers"][1]["pending"], true);
    assert_eq!(answer["summary"]["pending"], 1);
    assert!(!old.path("workers/2/session").exists());
    assert_eq!(old.did(&[]), ["1 done", "2 done"]);
    // It ran.
    old.store.worker_folder(2).usual(2);
    let before = whole(old.store.root());
    assert_eq!(old.did(&[]), ["1 done", "2 advanced"]);
    tree::assert_same(&before, &whole(old.store.root()), "it ran");
    // It ran in the old place, and the store knows nothing of that.
    let old = Old::with(0);
    old.store.worker(2);
    old.legacy.metadata("worker-runtime-2", Some((2, None)));
    drop(old.migrate(&[]).status(0));
    old.legacy.usual(2);
    assert_eq!(old.did(&[]), ["2 left target_differs"]);
}

/// Sources that are gone after their Worker was migrated: what is known of it stays.
#[test]
fn c24_sources_may_go() {
    let old = Old::with(3);
    drop(old.migrate(&[]).status(0));
    std::fs::remove_dir_all(old.legacy.workers().join("worker-runtime-1")).unwrap();
    std::fs::remove_dir_all(old.legacy.sessions().join(id(2))).unwrap();
    let before = whole(old.store.root());
    let answer = old.answer(&[]);
    assert_eq!(super::did(&answer), ["1 done", "2 done", "3 done"]);
    assert_eq!(answer["diagnostics"], json!([]), "its Session is no orphan");
    std::fs::remove_dir_all(old.env.path("legacy")).unwrap();
    // What is not there was not looked at.
    assert_eq!(old.env.wagg(super::ROOTS).code, Some(1));
    tree::assert_same(&before, &whole(old.store.root()), "no sources");
}

/// A Worker that comes to the catalog later is moved then; the others are left alone.
#[test]
fn later_workers_are_moved_later() {
    let old = Old::with(2);
    old.legacy.usual(3);
    let answer = old.answer(&[]);
    assert_eq!(answer["summary"]["orphan_sessions"], 1);
    old.store.worker(3);
    let answer = old.answer(&[]);
    assert_eq!(super::did(&answer), ["1 done", "2 done", "3 migrated"]);
    assert_eq!(answer["summary"]["orphan_sessions"], 0);
    assert_eq!(old.did(&[]), ["1 done", "2 done", "3 done"]);
}

/// A shared Session is settled by a person; then the Worker is moved.
#[test]
fn c26_a_shared_session_can_be_settled() {
    let old = Old::with(2);
    old.legacy
        .metadata("worker-runtime-99", Some((1, Some(0x11))));
    let answer = old.answer(&[]);
    assert_eq!(
        super::did(&answer),
        ["1 left shared_session_reference", "2 migrated"]
    );
    assert!(!old.path("workers/1/session").exists());
    std::fs::remove_dir_all(old.legacy.workers().join("worker-runtime-99")).unwrap();
    assert_eq!(old.did(&[]), ["1 migrated", "2 done"]);
    // One that comes up later takes nothing away, and the Worker may have gone on.
    damage::append(
        &old.path(&segment(0x11)),
        b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":3}\n",
    );
    old.legacy
        .metadata("worker-runtime-99", Some((1, Some(0x11))));
    assert_eq!(old.did(&[])[0], "1 left shared_session_reference");
    std::fs::remove_dir_all(old.legacy.workers().join("worker-runtime-99")).unwrap();
    assert_eq!(old.did(&[]), ["1 advanced", "2 done"]);
}

/// The Session of a Worker of the store is claimed by another one's legacy metadata.
#[test]
fn c26_the_store_has_a_say_too() {
    let old = Old::with(0);
    old.store.worker(1).usual(1);
    old.store.worker(2);
    old.legacy.session(1);
    old.legacy
        .metadata("worker-runtime-2", Some((1, Some(0x11))));
    let answer = old.answer(&[]);
    assert_eq!(
        super::did(&answer),
        ["1 no_legacy_metadata", "2 left shared_session_reference"]
    );
    let message = answer["workers"][1]["message"].as_str().unwrap();
    assert!(
        message.contains("worker-runtime-1 (in the store)"),
        "{message}"
    );
}

/// A metadata document of somebody else stays a collision, however often it is tried.
#[test]
fn c25_a_metadata_collision_stays_one() {
    let old = Old::with(2);
    let metadata = crate::support::store::metadata("worker-runtime-1", Some((1, Some(0x99))));
    put(old.path("workers/1/metadata.json"), metadata.to_string());
    for _ in 0..3 {
        let answer = old.answer(&[]);
        assert_eq!(super::did(&answer)[0], "1 left target_differs");
        assert_eq!(answer["workers"][0]["path"], "workers/1/metadata.json");
    }
}
