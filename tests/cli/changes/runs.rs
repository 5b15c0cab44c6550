//! `wagg run reserve` and `wagg run stop`.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Refusal, clean, outside_wagg, receipt, refused, wagg};
use crate::support::store::{edit, put};
use crate::support::tree::{assert_same, unchanged};
use crate::support::{TestEnv, TestStore, schema};

fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    store
}

/// C19: the number is persisted, then the folder appears with all that belongs in it.
#[test]
fn c19_reserve() {
    let env = TestEnv::new();
    let store = store(&env);
    let out = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    assert_eq!(out.stdout(), "1\n");
    let made = receipt(
        &env,
        &store,
        "run.reserve",
        &["run", "reserve", "name:demo 7"],
    );
    assert_eq!(
        (&made["generation"], &made["worker_id"]),
        (&json!(2), &json!("7"))
    );
    for generation in [1, 2] {
        let run = store.path(format!("workers/7/runs/{generation}"));
        let mut names: Vec<_> = std::fs::read_dir(&run)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["artifacts", "spawned", "worker.err.log", "worker.out.log"]
        );
    }
    let document = std::fs::read_to_string(store.path("workers/7/worker.json")).unwrap();
    assert!(document.contains("\"run_generation\": 2"), "{document}");
    clean(&env, &store);
}

/// C19: generations never go down, also under an old copy of the document.
#[test]
fn c19_an_old_document_gives_no_number_twice() {
    let env = TestEnv::new();
    let store = store(&env);
    let old = std::fs::read(store.path("workers/7/worker.json")).unwrap();
    for _ in 0..3 {
        let _ = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    }
    std::fs::write(store.path("workers/7/worker.json"), old).unwrap();
    let out = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    assert_eq!(out.stdout(), "4\n");
    // Something that is no folder has the number all the same.
    put(store.path("workers/7/runs/9"), "a file");
    let out = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    assert_eq!(out.stdout(), "10\n");
}

#[test]
fn a_reservation_that_is_forbidden_is_refused() {
    let env = TestEnv::new();
    let store = store(&env);
    let no = |code, exit, says, hint| Refusal {
        code,
        exit,
        says,
        hint,
    };
    let refuse = |args: &[&str], wanted: Refusal| refused(&env, &store, args, &wanted);
    refuse(
        &["run", "reserve", "8"],
        no("not_found", 4, "8", "wagg worker list"),
    );
    refuse(
        &["run", "reserve", "nobody"],
        no("not_found", 4, "nobody", "wagg worker list"),
    );
    refuse(
        &["run", "reserve", "7", "--expect-generation", "1"],
        no("fenced", 3, "is 0, and 1 was expected", "retry"),
    );
    let segment = "01890000-0000-7000-8000-000000000011";
    refuse(
        &["run", "reserve", "7", "--expect-active", segment],
        no("fenced", 3, "is none", "retry"),
    );
    let worker = store.worker(7);
    worker
        .session(1)
        .segment(0x11, &crate::support::Log::start(1))
        .active(1, Some(0x11));
    refuse(
        &["run", "reserve", segment],
        no("wrong_id_kind", 4, "Worker 7", "7"),
    );
    let _ = wagg(
        &env,
        &store,
        &["run", "reserve", "7", "--expect-active", "7/active"],
    )
    .ok();
    let live = worker.live(1);
    refuse(
        &["run", "reserve", "7"],
        no("worker_live", 3, "run 1 of Worker 7", "wagg run stop 7"),
    );
    drop(live);
    edit(worker.path("worker.json"), |w| {
        w["run_generation"] = u64::MAX.into()
    });
    refuse(
        &["run", "reserve", "7"],
        no("generation_collision", 3, "used up", ""),
    );
    std::fs::write(worker.path("worker.json"), "{").unwrap();
    refuse(
        &["run", "reserve", "7"],
        no("corrupt_document", 5, "worker.json", "wagg verify"),
    );
    std::fs::remove_file(worker.path("worker.json")).unwrap();
    refuse(
        &["run", "reserve", "7"],
        no("missing_worker_document", 5, "worker.json", "wagg verify"),
    );
    // A folder that says that it is somebody else has no lock of its own.
    put(
        store.path("workers/7/worker.json"),
        serde_json::to_vec(&crate::support::store::worker_document(1, 8, 0)).unwrap(),
    );
    refuse(
        &["run", "reserve", "7"],
        no("worker_id_mismatch", 5, "Worker 7", "wagg verify"),
    );
}

/// C31: no link is followed.
#[test]
fn c31_a_link_is_not_followed() {
    let env = TestEnv::new();
    let store = store(&env);
    std::fs::create_dir(env.path("outside")).unwrap();
    std::os::unix::fs::symlink(env.path("outside"), store.path("workers/7/runs")).unwrap();
    let wanted = Refusal {
        code: "symbolic_link",
        exit: 3,
        says: "runs",
        hint: "",
    };
    refused(&env, &store, &["run", "reserve", "7"], &wanted);
    assert_eq!(std::fs::read_dir(env.path("outside")).unwrap().count(), 0);
}

/// C15: the same bytes again, in each format.
#[test]
fn c15_a_retry_gives_the_same_bytes() {
    let env = TestEnv::new();
    let store = store(&env);
    let args = ["run", "reserve", "7", "--request-id", "r"];
    let first = wagg(&env, &store, &args).ok();
    let second = wagg(&env, &store, &args).ok();
    assert_eq!(first.bytes(), second.bytes());
    for format in ["json", "ndjson"] {
        let args = [&args[..], &["--format", format]].concat();
        let first = wagg(&env, &store, &args).ok();
        assert_eq!(first.bytes(), wagg(&env, &store, &args).ok().bytes());
    }
    assert!(!store.path("workers/7/runs/2").exists());
    let other = ["run", "reserve", "demo 7", "--request-id", "r"];
    let out = wagg(&env, &store, &other).status(3);
    assert!(out.stderr.contains("request_mismatch"), "{out}");
    let named = [&args[..], &["--actor", "somebody"]].concat();
    let out = wagg(&env, &store, &named).status(3);
    assert!(out.stderr.contains("tester@"), "{out}");
}

/// A dry run prints the plan and leaves nothing, not even a lock file.
#[test]
fn a_dry_run_changes_nothing() {
    let env = TestEnv::new();
    let store = store(&env);
    let args = ["run", "reserve", "7", "--dry-run"];
    let out = unchanged(&[store.root()], "a dry run", || {
        wagg(&env, &store, &args).ok()
    });
    assert_eq!(
        out.stdout(),
        "would replace workers/7/worker.json\nwould make workers/7/runs/1/ with 2 files\n"
    );
    let json = receipt(&env, &store, "run.reserve", &args);
    assert_eq!(
        (&json["outcome"], &json["operation_id"]),
        (&json!("planned"), &json!(null))
    );
}

/// C20: the socket of a run that no longer answers goes, and nothing else.
#[test]
fn c20_stop() {
    let env = TestEnv::new();
    let store = store(&env);
    let worker = store.worker(7);
    worker.run(1).run(2);
    let before = outside_wagg(store.root());
    drop(worker.live(2));
    let out = wagg(&env, &store, &["run", "stop", "7"]).ok();
    assert_eq!(out.stdout(), "2\n");
    let names = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|l| l.split(' ').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&outside_wagg(store.root())), names(&before));
    // Once more, and a run that never had one: the same outcome, no effect.
    let before = outside_wagg(store.root());
    for args in [
        &["run", "stop", "7"][..],
        &["run", "stop", "7", "1"],
        &[
            "run",
            "stop",
            store.path("workers/7/runs/1").to_str().unwrap(),
        ],
    ] {
        let made = receipt(&env, &store, "run.stop", args);
        assert_eq!(made["outcome"], "no_change");
    }
    assert_same(
        &before,
        &outside_wagg(store.root()),
        "stop of a stopped run",
    );
    clean(&env, &store);
}

#[test]
fn c20_a_stop_that_is_forbidden_is_refused() {
    let env = TestEnv::new();
    let store = store(&env);
    let no = |code, exit, says, hint| Refusal {
        code,
        exit,
        says,
        hint,
    };
    let refuse = |args: &[&str], wanted: Refusal| refused(&env, &store, args, &wanted);
    refuse(
        &["run", "stop", "7"],
        no("not_found", 4, "no run yet", "wagg run reserve 7"),
    );
    let worker = store.worker(7);
    worker.run(1).run(2);
    refuse(
        &["run", "stop", "7", "3"],
        no("not_found", 4, "no run 3", "wagg run list 7"),
    );
    refuse(
        &["run", "stop", "7", "1", "--expect-generation", "1"],
        no("fenced", 3, "is 2", ""),
    );
    let live = worker.live(2);
    refuse(
        &["run", "stop", "7", "--wait", "0"],
        no("worker_live", 3, "run 2 of Worker 7", "wagg run stop 7"),
    );
    drop(live);
    // Whatever has the name and is no socket is evidence, too.
    let socket = store.path("workers/7/runs/1/worker.sock");
    std::fs::write(&socket, "not a socket").unwrap();
    refuse(
        &["run", "stop", "7", "1"],
        no("not_a_regular_file", 5, "no socket", "ls -l"),
    );
    std::fs::remove_file(&socket).unwrap();
    std::os::unix::fs::symlink(env.path("x"), &socket).unwrap();
    refuse(
        &["run", "stop", "7", "1"],
        no("symbolic_link", 3, "no socket", "ls -l"),
    );
    let _ = wagg(&env, &store, &["run", "stop", "7", "0"]).status(2);
}

/// C20: it waits for the run to stop answering, says so once, and holds nobody up meanwhile.
#[test]
fn c20_stop_waits() {
    let env = TestEnv::new();
    let store = store(&env);
    let worker = store.worker(7);
    worker.run(1);
    let live: UnixListener = worker.live(1);
    let begun = Instant::now();
    let out = wagg(&env, &store, &["run", "stop", "7", "--wait", "0.3"]).status(3);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert!(
        out.stderr
            .starts_with("waiting up to 1 s for workers/7/runs/1/worker.sock"),
        "{out}"
    );
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        drop(live);
    });
    let root = store.root().to_str().unwrap();
    let mut stop = env
        .prepare(["--store", root, "run", "stop", "7", "--wait", "30"])
        .into_command();
    let child = stop.stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // Its lock is not held while it waits.
    let out = wagg(&env, &store, &["lock", "show"]).status(0);
    assert_eq!(out.stdout(), "", "{out}");
    let output = child.wait_with_output().unwrap();
    waiting.join().unwrap();
    assert!(output.status.success());
    assert!(!store.path("workers/7/runs/1/worker.sock").exists());
}

/// What `run` makes is what `run list` shows.
#[test]
fn a_reserved_run_is_listed() {
    let env = TestEnv::new();
    let store = store(&env);
    let _ = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    let out = wagg(&env, &store, &["run", "list", "7", "--format", "json"]).ok();
    schema::check("run.list", &out.json());
    assert_eq!(out.json()["runs"][0]["state"], "prepared");
}
