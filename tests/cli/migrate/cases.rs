//! The cases of `tests/cases/migrate`, and that of a lock that another process holds.

use std::process::Command;

use crate::support::damage::copy_tree;
use crate::support::{Output, TestEnv, source, tree};

fn case(name: &str) -> TestEnv {
    let env = TestEnv::new();
    copy_tree(&source().join("tests/cases").join(name), &env.dir());
    env
}

fn run(env: &TestEnv) -> Output {
    let legacy = env.path("legacy");
    tree::unchanged(&[&legacy], "migrate", || {
        let args = [
            "--store",
            "store",
            "--format",
            "json",
            "migrate",
            "--sessions",
            "legacy/sessions",
            "--metadata",
            "legacy/workers",
        ];
        env.wagg(args)
    })
}

fn same_file(env: &TestEnv, a: &str, b: &str) {
    let read = |path: &str| std::fs::read(env.path(path)).unwrap();
    assert_eq!(read(a), read(b), "{a} {b}");
}

#[test]
fn plain_with_orphans() {
    let env = case("migrate/plain-with-orphans");
    let out = run(&env).status(0);
    let answer = out.json();
    assert_eq!(super::did(&answer), ["1 migrated", "2 no_legacy_metadata"]);
    let segments = "store/workers/1/session/segments";
    let from = "legacy/sessions/01890000-0000-7000-8000-000000000001";
    for name in ["jsonl", "trace.jsonl"] {
        let name = format!("01890000-0000-7000-8000-000000000011.{name}");
        same_file(
            &env,
            &format!("{segments}/{name}"),
            &format!("{from}/{name}"),
        );
    }
    same_file(
        &env,
        "store/workers/1/metadata.json",
        "legacy/workers/worker-runtime-1/metadata.json",
    );
    let told: Vec<_> = answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["source"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        told,
        ["worker-runtime-99", "01890000-0000-7000-8000-000000000009"]
    );
    assert!(!env.path("store/workers/99").exists());
    assert!(!env.path("store/workers/2/session").exists());
    // a second run says no change and changes no byte
    let before = super::whole(&env.path("store"));
    let again = run(&env).status(0);
    assert_eq!(again.json()["outcome"], "no_change");
    tree::assert_same(&before, &super::whole(&env.path("store")), "a second run");
}

#[test]
fn one_session_two_owners() {
    let env = case("migrate/one-session-two-owners");
    let out = run(&env).status(1);
    let answer = out.json();
    assert_eq!(
        super::did(&answer),
        [
            "1 left shared_session_reference",
            "2 left shared_session_reference",
            "3 migrated"
        ]
    );
    for n in [0, 1] {
        let why = &answer["workers"][n];
        let message = why["message"].as_str().unwrap();
        for text in [
            "01890000-0000-7000-8000-000000000001",
            "worker-runtime-1",
            "worker-runtime-2",
        ] {
            assert!(message.contains(text), "{message}");
        }
        let place = format!("legacy/workers/worker-runtime-{}", n + 1);
        assert!(why["path"].as_str().unwrap().contains(&place), "{why}");
        let session = format!("store/workers/{}/session", n + 1);
        assert!(!env.path(session).exists());
    }
    assert!(env.path("store/workers/3/session/session.json").exists());
}

#[test]
fn stopped_half_way() {
    let env = case("migrate/stopped-half-way");
    let staging = env.path("store/workers/2/.session.migrating-4242-2");
    let staged = tree::tree(&staging);
    let out = run(&env).status(0);
    let answer = out.json();
    assert_eq!(super::did(&answer), ["1 migrated", "2 migrated"]);
    same_file(
        &env,
        "store/workers/2/session/segments/01890000-0000-7000-8000-000000000021.jsonl",
        "legacy/sessions/01890000-0000-7000-8000-000000000002/01890000-0000-7000-8000-000000000021.jsonl",
    );
    let notes = answer["findings"].as_array().unwrap();
    assert!(
        notes.iter().any(|n| n["code"] == "leftover_staging"
            && n["path"] == "workers/2/.session.migrating-4242-2")
    );
    tree::assert_same(&staged, &tree::tree(&staging), "the old staging folder");
}

#[test]
fn target_differs() {
    let env = case("migrate/target-differs");
    let out = run(&env).status(1);
    let answer = out.json();
    let why = &answer["workers"][0];
    assert_eq!(why["code"], "target_differs");
    assert_eq!(
        why["path"],
        "workers/1/session/segments/01890000-0000-7000-8000-000000000011.jsonl"
    );
    assert_eq!(why["byte"], 825, "{out}");
    assert!(!env.path("store/workers/1/metadata.json").exists());
}

/// C10, C11: the reference's own lock is held by a live process.
#[test]
fn held_by_another_process() {
    let env = TestEnv::new();
    let script = source().join("tests/cases/lock/held-by-another-process/make.sh");
    let out = env.path("case");
    let made = Command::new("bash").arg(script).arg(&out).arg("6").status();
    assert!(made.unwrap().success());
    let begun = std::time::Instant::now();
    let roots = ["case/legacy/sessions", "case/legacy/workers"];
    let run = |wait: &str| {
        let args = [
            "--store",
            "case/store",
            "migrate",
            "--sessions",
            roots[0],
            "--metadata",
            roots[1],
            "--wait",
            wait,
        ];
        env.wagg(args)
    };
    let before: Vec<String> = tree::tree(&env.path("case/store"));
    let busy = run("1").status(11);
    assert!(
        busy.stderr.contains(".worker-aggregate-v1.lock is held"),
        "{busy}"
    );
    let after: Vec<String> = tree::tree(&env.path("case/store"));
    // the root itself, in which .wagg/ was made, aside
    let ours = |line: &String| !line.contains(".wagg") && !line.starts_with(" dir");
    assert_eq!(
        before.iter().filter(|l| ours(l)).collect::<Vec<_>>(),
        after.iter().filter(|l| ours(l)).collect::<Vec<_>>()
    );
    let done = run("30").status(0);
    assert!(done.stderr.contains("waiting up to"), "{done}");
    assert!(
        begun.elapsed().as_secs() < 20,
        "it begins when the holder ends"
    );
}
