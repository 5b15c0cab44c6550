//! How the answer is written: NDJSON, columns, a pipe that closes, a person that interrupts.

use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use wagg::diag::NoProgress;
use wagg::ops::verify::{Options, verify};
use wagg::store::Store;

use super::case::{Kit, findings};
use crate::support::store::put;
use crate::support::{Log, TestEnv, TestStore, damage, schema};

/// One error, one warning, one of information.
fn three() -> Kit {
    let kit = Kit::v1();
    damage::replace_line(&kit.segment(), 3, "x");
    damage::torn_tail(&kit.segment());
    put(kit.store.path("stray"), b"");
    kit
}

#[test]
fn ndjson_counts_its_lines() {
    let kit = three();
    let json = kit.verify(&["--format", "json", "--digest"]).status(1);
    let lines = kit.verify(&["--format", "ndjson", "--digest"]).status(1);
    let mut lines = lines.lines();
    let mut summary = lines.pop().unwrap();
    assert_eq!(lines.len(), 3);
    let mut rows = findings(&json);
    for row in &mut rows {
        row["type"] = "finding".into();
    }
    assert_eq!(lines, rows);
    let fields = summary.as_object_mut().unwrap();
    assert_eq!(fields.shift_remove("type").unwrap(), "summary");
    assert_eq!(fields.shift_remove("schema").unwrap(), "wagg.verify/1");
    assert_eq!(fields.shift_remove("findings").unwrap(), 3);
    assert_eq!(summary, json.json()["summary"]);
}

#[test]
fn columns_are_what_cut_can_count_on() {
    let kit = three();
    let out = kit.verify(&["-v"]).status(1);
    let segment = kit.name(kit.segment());
    let rows: Vec<Vec<&str>> = out
        .stdout()
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let start = damage::offset_of(&kit.segment(), 3).to_string();
    let tail = (damage::offset_of(&kit.segment(), 16)).to_string();
    let length =
        std::fs::metadata(kit.segment()).unwrap().len() - damage::offset_of(&kit.segment(), 16);
    let length = length.to_string();
    let wanted = [
        ["info", "unknown_file", "-", "stray", "-", "-", "-"],
        ["error", "corrupt_record", "1", &segment, "3", &start, "-"],
        ["warning", "torn_tail", "1", &segment, "16", &tail, &length],
    ];
    assert_eq!(rows.len(), 3, "{out}");
    for (row, wanted) in rows.iter().zip(wanted) {
        assert_eq!(row[..7], wanted, "{out}");
        assert_eq!(row.len(), 8, "{out}");
        assert!(!row[7].is_empty(), "{out}");
    }
    // without -v no information, but it is counted
    let out = kit.verify(&[]).status(1);
    assert_eq!(out.stdout().lines().count(), 2, "{out}");
    assert!(out.stderr.contains("1 error, 1 warning, 1 remark"), "{out}");
}

#[test]
fn ids_are_those_of_workers() {
    let kit = three();
    let out = kit.verify(&["--ids"]).status(1);
    // two findings of one Worker
    assert_eq!(out.stdout(), "1\n");
    let out = kit.verify(&["-0", "-v"]).status(1);
    assert_eq!(out.stdout(), "stray\x001\0");
    damage::append(&kit.store.worker(2).usual(2).segment_path(0x21), b"x\nx\n");
    let out = kit.verify(&["--ids", "-v"]).status(1);
    assert_eq!(out.stdout(), "stray\n1\n2\n");
}

/// With many threads some look at Workers that one thread alone would not have come to.
#[test]
fn enough_findings_are_the_same_with_any_number_of_threads() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    for n in 1..=240 {
        let path = store.worker(n).usual(n).segment_path(n * 16 + 1);
        match n % 3 {
            0 => damage::append(&path, b"x\nx\n"),
            1 => _ = damage::torn_tail(&path),
            _ => {}
        }
    }
    let store = Store::open(store.root()).unwrap();
    for most in [0, 1, 2, 3, 10, 77, 200, 239, 240, 241, 1000] {
        let look = |jobs| {
            let options = Options {
                max_findings: Some(most),
                ..Options::with_jobs(NonZeroUsize::new(jobs).unwrap())
            };
            let report = verify(&store, &options, &NoProgress).unwrap();
            (serde_json::to_string(&report).unwrap(), report.workers)
        };
        let alone = look(1);
        for jobs in [2, 8] {
            assert!(look(jobs) == alone, "{most} findings, {jobs} threads");
        }
    }
}

/// A hint on a store that was named names it too, so that it can be pasted where one stands.
#[test]
fn hints_name_the_store_that_was_named() {
    let kit = three();
    let root = kit.store.root().display().to_string();
    let out = kit.verify(&["--format", "table"]).status(1);
    let hint = format!("hint: wagg --store {root} repair 1\n");
    assert!(out.stdout().contains(&hint), "{out}");
    // where the store is known anyway it is not repeated
    let prepared = kit.env.prepare(["verify", "--format", "table"]);
    let out = prepared.env("WAGG_STORE", kit.store.root()).run().status(1);
    assert!(out.stdout().contains("hint: wagg repair 1\n"), "{out}");
    let prepared = kit.env.prepare(["verify", "--format", "table"]);
    let out = prepared.current_dir(kit.store.root()).run().status(1);
    assert!(out.stdout().contains("hint: wagg repair 1\n"), "{out}");
    // errors too
    let out = kit.verify(&["99"]).status(4);
    assert!(
        out.stderr
            .contains(&format!("hint: wagg --store {root} worker list")),
        "{out}"
    );
}

/// No command that reads changes anything, also in a store with damage of all kinds.
#[test]
fn reading_changes_nothing() {
    let kit = three();
    let two = kit.store.worker(2);
    two.usual(2);
    drop(two.live(1));
    put(two.path(".metadata.json.tmp-4242-1"), b"{");
    put(kit.worker.path("session/segments/x.jsonl"), b"");
    kit.store.manifest(false, &[(1, Some(1), "migrated")]);
    let (one, other) = (
        crate::support::store::id(0x11),
        crate::support::store::id(0x21),
    );
    let reads: [&[&str]; 17] = [
        &["verify"],
        &["verify", "--locked", "--digest", "-v"],
        &["verify", "--quick", "1"],
        &["orphans"],
        &["orphans", "--locked"],
        &["show", "1"],
        &["show", &other],
        &["worker", "list"],
        &["worker", "show", "1"],
        &["worker", "show", "2"],
        &["segment", "list", "1", "--tree"],
        &["segment", "show", &other],
        &["segment", "log", &one, "--raw"],
        &["segment", "diff", &one, &other],
        &["segment", "digest", &other],
        &["run", "list", "2"],
        &["migrate", "status"],
    ];
    for format in ["auto", "table", "json", "ndjson"] {
        for args in reads {
            let mut all = vec!["--store", "store", "--format", format];
            all.extend(args);
            let out = crate::support::tree::unchanged(&[&kit.env.dir()], &args.join(" "), || {
                kit.env.wagg(all)
            });
            assert!(matches!(out.code, Some(0 | 1 | 5)), "{args:?}\n{out}");
        }
    }
    assert!(!kit.store.path(".wagg").exists());
}

#[test]
fn quiet_says_nothing_but_the_answer() {
    let kit = three();
    let out = kit.verify(&["-q"]).status(1);
    assert_eq!(out.stderr, "");
    assert_eq!(out.stdout().lines().count(), 2);
}

/// Names and texts of a store are escaped where they could move a cursor; JSON has them as they are.
#[test]
fn what_a_store_holds_does_not_move_the_cursor() {
    let kit = Kit::v1();
    kit.worker
        .edit_metadata(|m| m["worker_name"] = "a\u{1b}[2J/b\u{202e}".into());
    put(kit.store.path("red\u{1b}[31m"), b"");
    let out = kit.verify(&["-v", "--format", "table"]).status(1);
    assert!(!out.stdout().contains('\u{1b}'), "{out}");
    assert!(!out.stdout().contains('\u{202e}'), "{out}");
    assert!(!out.stderr.contains('\u{1b}'), "{out}");
    let out = kit.verify(&["--format", "json"]).status(1);
    let found = findings(&out);
    assert!(found.iter().any(|f| f["path"] == "red\u{1b}[31m"), "{out}");
    // in a pipe a name with a tab or a newline stays in its field
    put(kit.store.path("tab\tand\nline"), b"");
    let out = kit.verify(&["-v"]).status(1);
    assert!(
        out.stdout().lines().all(|l| l.split('\t').count() == 8),
        "{out}"
    );
}

/// A name that is no UTF-8 is shown as well as it can be, and never in the way.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_named() {
    use std::os::unix::ffi::OsStrExt;
    let kit = Kit::v1();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    put(kit.store.path(name), b"");
    put(kit.worker.path("session/segments").join(name), b"");
    std::fs::create_dir(kit.store.path("workers").join(name)).unwrap();
    let out = kit.verify(&["--format", "json"]).status(0);
    let found = findings(&out);
    assert_eq!(found.len(), 3, "{out}");
    assert!(
        found
            .iter()
            .all(|f| f["path"].as_str().unwrap().ends_with("caf\u{fffd}")),
        "{out}"
    );
}

/// `wagg verify | head -1` ends quietly and keeps its verdict.
#[test]
fn a_pipe_that_closes_keeps_the_verdict() {
    let bash = Command::new("bash").arg("-c").arg("true").status();
    if !bash.is_ok_and(|s| s.success()) {
        eprintln!("skipped: there is no bash");
        return;
    }
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    // more than a pipe holds
    for n in 1..=200 {
        let worker = store.worker(n);
        worker.usual(n);
        let log = std::iter::repeat_n("x\n", 20).collect::<String>();
        let path = worker.segment_path(n * 16 + 1);
        damage::append(&path, log);
    }
    for format in ["auto", "table", "json", "ndjson"] {
        let script = format!(
            "{} --store {} --format {format} verify | head -1 >head; echo ${{PIPESTATUS[0]}}",
            env!("CARGO_BIN_EXE_wagg"),
            store.root().display()
        );
        let out = Command::new("bash")
            .arg("-c")
            .arg(&script)
            .current_dir(env.dir())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.stdout, b"1\n", "{format}: {stderr}");
        assert!(stderr.contains("4000 errors"), "{format}: {stderr}");
        assert!(!stderr.contains("pipe"), "{format}: {stderr}");
        let head = std::fs::read(env.path("head")).unwrap();
        assert_eq!(head.iter().filter(|b| **b == b'\n').count(), 1, "{format}");
    }
}

/// SIGINT and SIGTERM: what was found so far is an answer, the rest is named, the status tells the
/// signal.
#[test]
fn a_person_may_interrupt() {
    use rustix::process::Signal;
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        interrupted_by(signal, status);
    }
}

fn interrupted_by(signal: rustix::process::Signal, status: i32) {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    let first = store.worker(1);
    first.usual(1);
    damage::replace_line(&first.segment_path(0x11), 3, "x");
    // enough for many seconds, in one file that all Workers share
    let big = env.path("big");
    let mut bytes = Log::start(2).bytes();
    let turn = Log::empty()
        .at(1_800_000_000_000)
        .turn(&"x".repeat(200))
        .bytes();
    while bytes.len() < 8 << 20 {
        bytes.extend_from_slice(&turn);
    }
    std::fs::write(&big, bytes).unwrap();
    for n in 2..=200 {
        let worker = store.worker(n);
        worker.session(2);
        std::fs::hard_link(&big, worker.segment_path(n * 16 + 1)).unwrap();
    }
    let mut child = env
        .prepare([
            "verify", "--format", "json", "--jobs", "2", "--store", "store",
        ])
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).unwrap();
    let told = Instant::now();
    // read before the wait, so that a full pipe holds nobody up
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut text).unwrap();
        text
    });
    let out = child.wait_with_output().unwrap();
    let stdout = reader.join().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(status), "{stderr}");
    assert!(told.elapsed() < Duration::from_secs(20), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    schema::check("verify", &document);
    let found = document["findings"].as_array().unwrap();
    assert!(
        found.iter().any(|f| f["code"] == "corrupt_record"),
        "{stdout}"
    );
    let places = document["summary"]["not_looked_at_places"]
        .as_array()
        .unwrap();
    assert!(
        places.iter().all(|p| p["reason"] == "interrupted"),
        "{stdout}"
    );
    assert!(stderr.contains("interrupted"), "{stderr}");
    assert!(stderr.contains("were not looked at"), "{stderr}");
}
