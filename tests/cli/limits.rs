//! Where the system gives less than was asked for: no more threads.

use crate::migrate::Old;
use crate::support::store::put;
use crate::support::{TestEnv, TestStore};

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
