//! What can not be looked into: a link in the place of a folder, a version that is not known, no
//! right to read. Each has one name and one status, whichever command meets it.

use std::process::Command;

use crate::support::store::{edit, id};
use crate::support::{Output, TestEnv, TestStore, damage, schema};

/// Commands on a store with the Workers 7 and 8, `{}` for the id of 7's Segment.
const COMMANDS: &[&str] = &[
    "worker list",
    "worker show 7",
    "worker children 7",
    "show 7",
    "show {}",
    "show 7/active",
    "run list 7",
    "run show 7 1",
    "segment list 7",
    "segment list 7 --tree",
    "segment show {}",
    "segment show 7/active",
    "segment log {}",
    "segment digest {}",
    "segment diff {} 8/active",
    "verify",
    "verify 7",
    "orphans",
    "repair",
    "repair 7 --apply",
    "op list",
    "lock show",
    "quarantine list",
    "run reserve 7",
    "run stop 7",
    "worker create",
    "worker peer add 7 8",
    "segment create 7",
    "segment append 7/active --from more",
    "segment fork {}",
    "segment compact {} --summary more",
    "segment activate {}",
    "op prune --older-than 1d",
    "quarantine empty",
    "lock run 7 -- true",
    "migrate status",
];

fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    store.worker(8).usual(8);
    store.worker_folder(7).run(1);
    env.write(
        "more",
        "{\"kind\":\"invoke\",\"ts\":4000000000000,\"trigger\":\"wakeup\"}\n",
    );
    store
}

fn run(env: &TestEnv, command: &str) -> Output {
    let command = command.replace("{}", &id(0x71));
    let args = ["--store", "store", "--format", "json"].into_iter();
    env.wagg(args.chain(command.split(' ')))
}

/// C31: a link where a folder should be is one refusal everywhere, and nothing is changed through it.
#[test]
fn c31_a_link_is_the_same_refusal_everywhere() {
    for place in [
        "workers",
        "workers/7",
        "workers/7/session",
        "workers/7/session/segments",
        "workers/7/runs",
        ".wagg",
    ] {
        let mut refused = 0;
        for command in COMMANDS {
            let env = TestEnv::new();
            let store = store(&env);
            let _ = run(&env, "run reserve 8").status(0);
            let (path, real) = (store.path(place), env.path("real"));
            std::fs::rename(&path, &real).unwrap();
            damage::symlink(&path, &real);
            let before = crate::support::tree::tree(&real);
            let out = run(&env, command);
            let told = format!("{place}: {command}\n{out}");
            match out.code {
                // what needs nothing there, or looks at a whole store and says what it met
                Some(0 | 1) => {}
                Some(3) => {
                    let error = out.error();
                    assert_eq!(error["code"], "symbolic_link", "{told}");
                    assert_eq!(error["effects_applied"], "none", "{told}");
                    assert!(
                        error["hint"].as_str().unwrap().contains("ls -ld /"),
                        "{told}"
                    );
                    refused += 1;
                }
                _ => panic!("{told}"),
            }
            assert_eq!(crate::support::tree::tree(&real), before, "{told}");
        }
        assert!(refused >= 3, "{place}");
    }
}

/// The same for a file, and for a folder where a file should be: none is "not found".
#[test]
fn something_else_in_a_place_is_the_same_refusal_everywhere() {
    for place in ["workers", "workers/7", "workers/7/session/segments"] {
        for command in COMMANDS {
            let env = TestEnv::new();
            let store = store(&env);
            std::fs::remove_dir_all(store.path(place)).unwrap();
            std::fs::write(store.path(place), "").unwrap();
            let out = run(&env, command);
            let told = format!("{place}: {command}\n{out}");
            match out.code {
                Some(0 | 1) => {}
                Some(5) => assert_eq!(out.error()["code"], "not_a_regular_file", "{told}"),
                _ => panic!("{told}"),
            }
        }
    }
}

/// A version that is not known is said aloud by whatever shows what stands in the store.
#[test]
fn an_unknown_version_is_never_all_well() {
    let env = TestEnv::new();
    let store = store(&env);
    edit(store.path("runtime.json"), |c| {
        c["schema_version"] = 99.into()
    });
    let out = run(&env, "worker list").status(0);
    schema::check("worker.list", &out.json());
    for worker in out.json()["workers"].as_array().unwrap() {
        let problems = worker["problems"].as_array().unwrap();
        assert_eq!(problems, &["unsupported_schema_version"], "{out}");
    }
    for command in &COMMANDS[..15] {
        let out = run(&env, command).status(0);
        assert!(
            out.stderr.contains("unsupported version: runtime.json"),
            "{command}\n{out}"
        );
    }
    let out = run(&env, "show ./store").status(0);
    let state = out.json()["references"][0]["state"].to_string();
    assert!(state.contains("unsupported version"), "{out}");
    for command in COMMANDS {
        let out = run(&env, command);
        assert!(matches!(out.code, Some(0 | 1 | 12)), "{command}\n{out}");
    }

    let env = TestEnv::new();
    let store = self::store(&env);
    edit(store.path("workers/7/worker.json"), |w| {
        w["schema_version"] = 99.into()
    });
    edit(store.path("workers/8/session/session.json"), |s| {
        s["schema_version"] = 99.into()
    });
    let out = run(&env, "worker list").status(0);
    schema::check("worker.list", &out.json());
    let workers = &out.json()["workers"];
    assert_eq!(
        workers[0]["problems"][0], "unsupported_schema_version",
        "{out}"
    );
    assert_eq!(workers[1]["session"], "unsupported_version", "{out}");
    for command in ["run list 7", "run show 7", "segment list 7"] {
        let out = run(&env, command).status(0);
        assert!(
            out.stderr
                .contains("unsupported version: workers/7/worker.json"),
            "{out}"
        );
    }
}

/// What there is no right to read is unreadable, and neither damaged nor in order.
#[test]
fn no_right_to_read_is_no_damage() {
    let env = TestEnv::new();
    let store = store(&env);
    damage::chmod(&store.path("workers/7/session"), 0);
    damage::chmod(&store.path("workers/8/worker.json"), 0);
    let read = |command: &str| {
        let args = ["--store", "store", "--format", "json"].into_iter();
        let mut wagg = env.prepare(args.chain(command.split(' '))).into_command();
        if damage::is_root() {
            // nothing is shut for root
            let program = wagg.get_program().to_owned();
            let mut other = Command::new("setpriv");
            other
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .arg(program)
                .args(wagg.get_args())
                .current_dir(env.dir());
            wagg = other;
        }
        Output::of(wagg)
    };
    if damage::is_root() {
        let setpriv = Command::new("setpriv").arg("--version").output();
        for path in [env.dir().parent().unwrap(), &env.dir(), store.root()] {
            damage::chmod(path, 0o755);
        }
        let seen = Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(env!("CARGO_BIN_EXE_wagg"))
            .arg("--version")
            .output();
        if setpriv.is_err() || !seen.is_ok_and(|out| out.status.success()) {
            eprintln!("skipped: nobody else can run the program here");
            return;
        }
    }
    let out = read("worker list").status(0);
    schema::check("worker.list", &out.json());
    let workers = &out.json()["workers"];
    assert_eq!(workers[0]["session"], "unreadable", "{out}");
    assert_eq!(workers[0]["problems"][0], "unreadable", "{out}");
    assert_eq!(workers[1]["problems"][0], "unreadable", "{out}");
    let out = read("show 7").status(0);
    assert!(!out.stdout().contains("damaged"), "{out}");
    let out = read("run list 8").status(0);
    assert!(
        out.stderr.contains("unreadable: workers/8/worker.json"),
        "{out}"
    );
    for command in ["segment list 7", "segment show 7/active"] {
        let out = read(command).status(14);
        assert_eq!(out.error()["code"], "unreadable", "{out}");
    }
    // An id that may stand there is not said to be nowhere.
    let out = read(&format!("segment show {}", id(0x71))).status(14);
    assert_eq!(out.error()["code"], "unreadable", "{out}");
    damage::chmod(&store.path("workers/7/session"), 0o755);
}

/// What stands at the place that is no store is said.
#[test]
fn what_is_no_store_is_named() {
    let env = TestEnv::new();
    env.write("more", "");
    env.write("file", "");
    damage::fifo(&env.path("pipe"));
    env.write("half/runtime.json/x", "");
    env.write("turned/runtime.json/x", "");
    env.write("turned/workers", "");
    std::fs::create_dir(env.path("empty")).unwrap();
    for (store, says) in [
        ("nowhere", "there is nothing"),
        ("file", "it is a file"),
        ("pipe", "it is a named pipe"),
        (
            "half",
            "its runtime.json is a folder, and it has no workers",
        ),
        (
            "turned",
            "its runtime.json is a folder, and its workers is a file",
        ),
        ("empty", "it holds neither runtime.json nor workers/"),
    ] {
        for command in COMMANDS {
            let command = command.replace("{}", &id(0x71));
            let args = ["--store", store, "--format", "json"].into_iter();
            let out = env.wagg(args.chain(command.split(' '))).status(10);
            let error = out.error();
            assert_eq!(error["code"], "store_not_found", "{out}");
            assert!(error["message"].as_str().unwrap().contains(says), "{out}");
        }
    }
    let out = env
        .prepare(["worker", "list"])
        .current_dir(env.path("half/runtime.json"))
        .run();
    let out = out.status(10);
    assert!(
        out.stderr
            .contains("half is none: its runtime.json is a folder"),
        "{out}"
    );
}
