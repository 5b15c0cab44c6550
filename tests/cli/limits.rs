//! Where the system gives less than was asked for: no more threads, no more open files.

use std::process::Command;

use crate::migrate::Old;
use crate::support::store::put;
use crate::support::{Output, TestEnv, TestStore, damage};

/// A stack so large that no thread can be started.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "1125899906842624");

/// Five Workers, one of them with a Segment so large that idle threads would help with it.
fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("store"));
    for n in 1..=5 {
        store.worker(n).usual(n);
    }
    let large = store.worker_folder(3).segment_path(0x31);
    let mut bytes = std::fs::read(&large).unwrap();
    for n in 0..60_u64 {
        let payload = "x".repeat(200_000);
        let line = format!(
            "{{\"kind\":\"extension\",\"ts\":4000000000000,\"domain\":\"d{n}\",\"payload\":\"{payload}\"}}\n"
        );
        bytes.extend(line.as_bytes());
    }
    put(&large, bytes);
    store
}

/// Whoever can have no thread does the work alone, and the answer is the same.
#[test]
fn without_threads_the_work_is_done() {
    let env = TestEnv::new();
    let large = store(&env).worker_folder(3).segment_path(0x31);
    let large = large.to_str().unwrap();
    for args in [
        &["verify", "--store", "store", "--digest"][..],
        &["verify", "--file", large],
        &["repair", "--store", "store"],
        &["lock", "run", "2", "--store", "store", "--", "true"],
    ] {
        let jobs = |jobs: &'static [&'static str]| {
            let at = if args[0] == "verify" { jobs } else { &[] };
            env.prepare(args.iter().chain(at))
                .env("PATH", "/usr/bin:/bin")
        };
        let one = jobs(&["--jobs", "1"]).run().status(0);
        let many = jobs(&["--jobs", "8"]).env(NO_THREADS.0, NO_THREADS.1).run();
        let many = many.status(0);
        assert_eq!(one.bytes(), many.bytes(), "{args:?}");
        assert_eq!(one.stderr, many.stderr, "{args:?}");
    }
}

#[test]
fn without_threads_a_migration_is_done() {
    let old = Old::with(5);
    let run = old
        .prepare(&["--jobs", "8", "--format", "json"])
        .env(NO_THREADS.0, NO_THREADS.1);
    let answer = run.run().status(0).json();
    assert_eq!(answer["summary"]["migrated"], 5, "{answer}");
    let again = old
        .prepare(&["--deep", "--jobs", "8", "--format", "json"])
        .env(NO_THREADS.0, NO_THREADS.1);
    assert_eq!(again.run().status(0).json()["outcome"], "no_change");
}

/// `wagg` in a folder, with at most so many open files.
fn with_files(env: &TestEnv, most: u32, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_wagg"))
        .args(args)
        .current_dir(env.dir());
    Output::of(command)
}

/// Who can open no more files has found nothing out about the store: what is said of it is a part
/// of what a whole look says, and the rest was not looked at, with the way out.
#[test]
fn without_open_files_nothing_is_said_of_the_store() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    for n in 1..=6 {
        let worker = store.worker(n);
        worker.usual(n);
        worker.run(1).generation(1);
        damage::torn_tail(&worker.segment_path(n * 16 + 1));
    }
    put(store.path("workers/2/.metadata.json.tmp-4242-7"), b"x");
    put(store.path(".wagg/staging/x"), b"x");
    put(store.path(".wagg/journal.jsonl"), b"x");
    let args = ["verify", "--store", "store", "--format", "json", "--jobs"];
    let all = env.wagg(args.iter().chain(&["2"])).json();
    let all = all["findings"].as_array().unwrap();
    assert!(all.len() >= 8, "{all:?}");
    let mut limited = 0;
    for most in 4..24 {
        let out = with_files(&env, most, &[&args[..], &["6"]].concat());
        if out.stdout().is_empty() {
            assert!(out.stderr.contains("Too many open files"), "{most}: {out}");
            continue;
        }
        let document = out.json();
        for finding in document["findings"].as_array().unwrap() {
            assert!(all.contains(finding), "{most}: {finding}");
        }
        let places = document["summary"]["not_looked_at_places"].as_array();
        for place in places.into_iter().flatten() {
            let reason = place["reason"].as_str().unwrap();
            assert!(reason.contains("ulimit -n"), "{most}: {place}");
            limited += 1;
        }
        let left = document["summary"]["not_looked_at"] != 0;
        assert_eq!(out.code, Some(i32::from(left)), "{most}: {out}");
    }
    assert!(limited > 20, "{limited} places were not looked at");
    // a leftover whose target could not be opened is not called damaged
    for most in 4..24 {
        let out = with_files(&env, most, &["orphans", "--store", "store"]);
        assert!(!out.stdout().contains("it may hold what"), "{most}: {out}");
    }
}
