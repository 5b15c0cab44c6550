//! `wagg lock show` and `wagg lock run`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{Refusal, refused, wagg};
use crate::support::tree::unchanged;
use crate::support::{TestEnv, TestStore, schema};

fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    store.worker(8);
    store
}

/// Starts `lock run` with a shell script, and waits for the line that it prints first.
fn start(env: &TestEnv, store: &TestStore, script: &str) -> Child {
    let root = store.root().to_str().unwrap();
    let args = [
        "--store", root, "lock", "run", "7", "--", "sh", "-c", script,
    ];
    let mut child = env
        .prepare(args)
        .env("PATH", "/usr/bin:/bin")
        .into_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// C10, C11: who waits names the holder; others go on.
#[test]
fn c11_the_holder_is_named() {
    let env = TestEnv::new();
    let store = store(&env);
    let mut child = start(&env, &store, "echo ready; read x");
    let wanted = Refusal {
        code: "lock_busy",
        exit: 11,
        says: "lock run: sh -c",
        hint: "wagg lock show",
    };
    refused(
        &env,
        &store,
        &["run", "reserve", "7", "--wait", "0"],
        &wanted,
    );
    refused(
        &env,
        &store,
        &["worker", "create", "--wait", "0"],
        &Refusal {
            says: "store.lock",
            ..wanted
        },
    );
    let out = wagg(&env, &store, &["run", "reserve", "7", "--wait", "0.2"]).status(11);
    assert!(out.stderr.starts_with("waiting up to"), "{out}");
    let _ = wagg(&env, &store, &["run", "reserve", "8", "--wait", "0"]).ok();
    let show = ["lock", "show", "--format", "json"];
    let out = unchanged(&[store.root()], "lock show", || {
        wagg(&env, &store, &show).ok()
    });
    schema::check("lock.show", &out.json());
    let locks = out.json();
    let of = |name: &str| {
        let all = locks["locks"].as_array().unwrap().clone();
        all.into_iter().find(|l| l["lock"] == name).unwrap()
    };
    assert_eq!(of("worker 7")["held"], "exclusive", "{out}");
    assert_eq!(of("worker 7")["holder"]["pid"], child.id(), "{out}");
    assert_eq!(of("store")["held"], "shared", "{out}");
    // Readers wait for nobody.
    let _ = wagg(&env, &store, &["verify"]).status(0);
    drop(child.stdin.take());
    let _ = child.wait().unwrap();
    let out = wagg(&env, &store, &["lock", "show"]).status(0);
    assert_eq!((out.stdout(), &*out.stderr), ("", "nobody holds a lock\n"));
    let all = wagg(&env, &store, &["lock", "show", "--all", "--ids"]).ok();
    assert!(all.stdout().contains(".wagg/workers/7.lock\n"), "{all}");
    let _ = wagg(&env, &store, &["run", "reserve", "7", "--wait", "0"]).ok();
}

/// C12: it reads only, and a store without locks gets none.
#[test]
fn c12_show_creates_nothing() {
    let env = TestEnv::new();
    let store = store(&env);
    let out = unchanged(&[store.root()], "lock show", || {
        wagg(&env, &store, &["lock", "show", "--all"]).status(0)
    });
    assert_eq!(out.stdout(), "");
}

/// The lock is inherited, the status is the command's.
#[test]
fn c10_a_command_under_the_lock() {
    let env = TestEnv::new();
    let store = store(&env);
    let wagg_bin = env!("CARGO_BIN_EXE_wagg");
    let root = store.root().to_str().unwrap();
    let run = |script: &str| {
        env.prepare([
            "--store", root, "lock", "run", "7", "--wait", "0", "--", "sh", "-c", script,
        ])
        .env("PATH", "/usr/bin:/bin")
        .env("WAGG_STORE", root)
        .env("WAGG_WAIT", "0")
        .run()
    };
    // A wagg inside does not wait for itself, also two levels down.
    let out = run(&format!(
        "{wagg_bin} run reserve 7 && {wagg_bin} lock run 7 -- {wagg_bin} run reserve 7"
    ))
    .ok();
    assert_eq!(out.stdout(), "1\n2\n");
    // For another Worker it takes that one's lock.
    let out = run(&format!("{wagg_bin} run reserve 8")).ok();
    assert_eq!(out.stdout(), "1\n");
    // What needs the store for itself can not get it inside, and says so at once.
    let out = run(&format!("{wagg_bin} worker create --wait 60")).status(11);
    assert!(out.stderr.contains("inside a wagg lock run"), "{out}");
    let _ = run("exit 7").status(7);
    let _ = run("kill -TERM $$").status(128 + 15);
    let _ = run("exit 0").ok();
    // A number in the variable that is no lock is not believed.
    let out = env
        .prepare(["--store", root, "run", "reserve", "7"])
        .env("WAGG_LOCK_FD", "0,1,2,77,x")
        .run()
        .ok();
    assert_eq!(out.stdout(), "3\n");
    let out = env.wagg([
        "--store",
        root,
        "lock",
        "run",
        "7",
        "--",
        "/no/such/command",
    ]);
    let out = out.status(127);
    assert!(out.stderr.contains("/no/such/command"), "{out}");
    let out = env
        .wagg(["--store", root, "lock", "run", "7", "--", root])
        .status(126);
    assert!(out.stderr.contains("error["), "{out}");
    let _ = env.wagg(["--store", root, "lock", "run", "7"]).status(2);
    let _ = env
        .wagg(["--store", root, "lock", "run", "9", "--", "true"])
        .status(4);
}

/// A signal to `wagg` reaches the command, and the lock is held until that has ended.
#[test]
fn signals_are_passed_on() {
    let env = TestEnv::new();
    let store = store(&env);
    let script =
        "trap 'sleep 0.4; echo got it; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = start(&env, &store, script);
    let kill = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    std::thread::sleep(std::time::Duration::from_millis(150));
    let out = wagg(&env, &store, &["run", "reserve", "7", "--wait", "0"]);
    assert_eq!(out.code, Some(11), "{out}");
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(3));
}

/// C10: no lock outlives its process.
#[test]
fn c10_a_killed_holder_leaves_no_lock() {
    let env = TestEnv::new();
    let store = store(&env);
    let mut child = start(&env, &store, "echo ready; exec sleep 0.3");
    child.kill().unwrap();
    let _ = child.wait();
    // What it started holds the lock still, until it ends.
    let out = wagg(&env, &store, &["run", "reserve", "7", "--wait", "0"]);
    assert_eq!(out.code, Some(11), "{out}");
    let out = wagg(&env, &store, &["run", "reserve", "7", "--wait", "20"]).status(0);
    assert_eq!(out.stdout(), "1\n");
}

/// C16: the command finds nothing half done.
#[test]
fn c16_what_is_unfinished_is_settled_first() {
    let env = TestEnv::new();
    let store = store(&env);
    let root = store.root().to_str().unwrap();
    let mut step = 1;
    // Killed behind the commit point and before the folder.
    while !store.path("workers/7/runs").exists() {
        let _ = env
            .prepare(["--store", root, "run", "reserve", "7"])
            .env("WAGG_FAULT", format!("abort:{step}"))
            .run();
        step += 1;
        let document = std::fs::read_to_string(store.path("workers/7/worker.json")).unwrap();
        if document.contains("\"run_generation\": 1") {
            break;
        }
    }
    assert!(!store.path("workers/7/runs/1").exists());
    let out = env
        .prepare([
            "--store",
            root,
            "lock",
            "run",
            "7",
            "--",
            "ls",
            "workers/7/runs/1",
        ])
        .env("PATH", "/usr/bin:/bin")
        .current_dir(store.root())
        .run()
        .ok();
    assert!(out.stdout().contains("spawned"), "{out}");
}
