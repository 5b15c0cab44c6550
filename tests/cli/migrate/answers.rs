//! What a migration says, and how it ends.

use serde_json::Value;

use super::{Old, whole};
use crate::support::damage;
use crate::support::store::id;
use crate::support::tree;

/// A store with something of everything.
fn usual() -> Old {
    let old = Old::with(3);
    old.store.worker(4);
    let path = old.legacy.sessions().join(id(2));
    let path = path.join(format!("{}.jsonl", id(0x21)));
    damage::replace_line(&path, 2, "not a record");
    old.legacy.usual(9);
    old
}

#[test]
fn a_pipe_gets_rows_and_a_person_a_summary() {
    let old = usual();
    let out = old.migrate(&[]).status(1);
    let rows: Vec<Vec<&str>> = out
        .stdout()
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows.len(), 4, "{out}");
    assert_eq!(rows[0][..3], ["1", "migrated", &id(1)]);
    assert_eq!(rows[1][..2], ["2", "left"]);
    assert_eq!(rows[1][5], "corrupt_record");
    assert!(rows[1][6].ends_with(".jsonl:2:300") || rows[1][6].contains(".jsonl:2:"));
    assert_eq!(rows[3][..2], ["4", "no_legacy_metadata"]);
    for text in [
        "2 Workers moved (4 files",
        "1 without legacy metadata",
        "1 left",
        "1 orphan metadata",
        "1 orphan Session",
        ".wagg/migrations/",
        "hint: wagg explain corrupt_record",
    ] {
        assert!(out.stderr.contains(text), "{text}: {out}");
    }
    let table = usual().migrate(&["--format", "table"]).status(1);
    for text in [
        "Left",
        "corrupt_record",
        "Owned by nobody",
        "worker-runtime-9",
    ] {
        assert!(table.stdout().contains(text), "{text}: {table}");
    }
}

#[test]
fn ndjson_ends_with_a_summary_and_a_report_is_the_whole() {
    let old = usual();
    let lines = old
        .migrate(&["--format", "ndjson", "--report", "json=report.json"])
        .status(1)
        .lines();
    let (last, workers) = lines.split_last().unwrap();
    assert_eq!(workers.len(), 4);
    assert!(workers.iter().all(|w| w["type"] == "worker"));
    assert_eq!(last["type"], "summary");
    assert_eq!(last["outcome"], "partial");
    assert_eq!(last["summary"]["reasons"]["corrupt_record"], 1);
    let report = std::fs::read(old.env.path("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    crate::support::schema::check("migrate", &report);
    assert_eq!(report["summary"], last["summary"]);
    // The digest is that of the tools: sha256sum * | sha256sum
    let segments = old.path("workers/1/session/segments");
    let sum = std::process::Command::new("sh")
        .args(["-c", "sha256sum * | sha256sum"])
        .current_dir(segments)
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert_eq!(report["workers"][0]["sha256"], sum[..64]);
    // Every file stands in our own notes, with its digest.
    let facts = old.path(report["facts"].as_str().unwrap());
    let facts = std::fs::read_to_string(facts).unwrap();
    let types: Vec<String> = facts
        .lines()
        .map(|l| {
            serde_json::from_str::<Value>(l).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(types, ["run", "worker", "worker", "left", "summary"]);
    let file = segments_digest(&old);
    assert!(facts.contains(&file), "{facts}");
}

fn segments_digest(old: &Old) -> String {
    tree::digest(&old.path(&format!("workers/1/session/segments/{}.jsonl", id(0x11))))
}

/// C15: the same request id gives the same bytes again and acts no second time.
#[test]
fn c15_a_request_id_answers_again() {
    for format in ["auto", "json", "ndjson", "table"] {
        let old = usual();
        let more = ["--request-id", "r1", "--format", format];
        let first = old.migrate(&more).status(1);
        let before = whole(old.store.root());
        let again = old.migrate(&more).status(1);
        assert_eq!(first.bytes(), again.bytes(), "{format}");
        tree::assert_same(&before, &whole(old.store.root()), "a replay");
        let other = old.migrate(&["--request-id", "r1", "--deep"]).status(3);
        assert!(other.stderr.contains("request_mismatch"), "{other}");
    }
    // Nothing to do is an answer too.
    let old = Old::with(1);
    drop(old.migrate(&[]).status(0));
    let more = ["--request-id", "r2", "--format", "json"];
    let first = old.migrate(&more).status(0);
    assert_eq!(first.json()["outcome"], "no_change");
    assert_eq!(old.migrate(&more).status(0).bytes(), first.bytes());
}

/// C13: while a run answers, its Runtime holds the catalog. What needs no change needs no refusal.
#[test]
fn c13_a_live_run_refuses_what_changes() {
    let old = Old::with(2);
    old.store.worker_folder(2).run(1);
    let live = old.store.worker_folder(2).live(1);
    for more in [&[][..], &["--dry-run"]] {
        let out = old.migrate(more).status(3);
        assert!(out.stderr.contains("runtime_live"), "{out}");
    }
    assert!(!old.path("workers/1/session").exists());
    drop(live);
    drop(old.migrate(&[]).status(0));
    let path = old.path("workers/2/runs/1/worker.sock");
    std::fs::remove_file(&path).unwrap();
    let _live = old.store.worker_folder(2).live(1);
    assert_eq!(old.did(&[]), ["1 done", "2 done"]);
}

/// A store of another version is read, and not written.
#[test]
fn version_three_is_refused() {
    let old = Old::with(0);
    let store = crate::support::TestStore::v3(old.env.path("three"));
    store.worker(1);
    let args = [
        "--store",
        "three",
        "migrate",
        "--sessions",
        "legacy/sessions",
        "--metadata",
        "legacy/workers",
    ];
    let out = tree::unchanged(&[store.root()], "version 3", || old.env.wagg(args));
    assert!(out.status(12).stderr.contains("version 3"));
}

/// SIGINT and SIGTERM stop between two Workers and say what was done, and the next run goes on.
#[test]
fn a_signal_stops_at_a_safe_point() {
    use rustix::process::Signal;
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        stopped_by(signal, status);
    }
}

fn stopped_by(signal: rustix::process::Signal, status: i32) {
    use std::process::Stdio;
    let old = Old::with(0);
    let line = b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}\n".repeat(20_000);
    for n in 1..=40 {
        old.store.worker(n);
        let path = old.legacy.sessions().join(id(n));
        crate::support::store::put(path.join(format!("{}.jsonl", id(n * 16 + 1))), &line);
        old.legacy
            .metadata(&format!("worker-runtime-{n}"), Some((n, Some(n * 16 + 1))));
    }
    let child = old
        .prepare(&["--format", "json", "--jobs", "1"])
        .into_command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let staged = old.path("workers/5");
    while std::fs::read_dir(&staged).unwrap().count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).unwrap();
    let out = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(status), "{stderr}");
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let not_reached = answer["summary"]["not_reached"].as_u64().unwrap();
    assert!(not_reached > 0, "{answer:#}");
    assert!(stderr.contains("\"code\":\"interrupted\""), "{stderr}");
    let dots = whole(old.store.root());
    let dots: Vec<_> = dots.iter().filter(|l| l.contains(".migrating-")).collect();
    assert!(dots.is_empty(), "{dots:?}");
    let again = old.answer(&[]);
    assert_eq!(again["summary"]["left"], 0);
    assert_eq!(
        again["summary"]["migrated"].as_u64().unwrap() + again["summary"]["done"].as_u64().unwrap(),
        40
    );
}

/// Two at once: one waits, or says who holds the lock; the result is one migration.
#[test]
fn two_at_once() {
    let old = Old::with(20);
    let outs: Vec<_> = std::thread::scope(|scope| {
        let run = || old.prepare(&["--format", "json", "--wait", "60"]).run();
        let both = [scope.spawn(run), scope.spawn(run)];
        both.map(|one| one.join().unwrap()).into()
    });
    let mut outcomes: Vec<String> = outs
        .into_iter()
        .map(|out: crate::support::Output| {
            let out = out.status(0);
            out.json()["outcome"].as_str().unwrap().to_owned()
        })
        .collect();
    outcomes.sort();
    assert_eq!(outcomes, ["done", "no_change"]);
}

/// What was left and why is shown by `migrate status` too, from our own notes.
#[test]
fn status_says_what_was_left() {
    let old = usual();
    damage::empty(&old.path("workers/3/worker.json"));
    old.store.worker(5);
    std::fs::rename(old.path("workers/5"), old.path("workers/five")).unwrap();
    drop(old.migrate(&[]).status(1));
    let args = ["--store", "store", "migrate", "status", "--format", "json"];
    let status = old.env.wagg(args).status(0).json();
    crate::support::schema::check("migrate.status", &status);
    assert_eq!(status["workers"][1]["worker_id"], "2");
    assert_eq!(status["workers"][1]["why"]["code"], "corrupt_record");
    assert_eq!(status["workers"][1]["why"]["line"], 2);
    assert_eq!(status["workers"][2]["why"]["code"], "empty_document");
    assert_eq!(
        status["summary"]["folders"][0]["code"],
        "worker_id_mismatch"
    );
    assert_eq!(status["summary"]["left"], 2);
    let args = ["--store", "store", "migrate", "status", "--format", "table"];
    let table = old.env.wagg(args).status(0);
    for text in ["corrupt_record", "Folders of no Worker", "workers/five"] {
        assert!(table.stdout().contains(text), "{text}: {table}");
    }
}
