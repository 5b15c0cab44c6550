//! Many processes at once: no update is lost, no number is given out twice.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use super::{clean, wagg};
use crate::support::{TestEnv, TestStore};

const MANY: usize = 40;

/// Runs a command so often at once, each with what `more` adds, and gives what they printed.
fn at_once(
    env: &TestEnv,
    store: &TestStore,
    args: &[&str],
    more: impl Fn(usize) -> Vec<String>,
) -> Vec<String> {
    let root = store.root().to_str().unwrap();
    let children: Vec<Child> = (0..MANY)
        .map(|n| {
            let mut all: Vec<String> = vec!["--store".into(), root.into()];
            all.extend(args.iter().map(|a| (*a).to_owned()));
            all.extend(more(n));
            env.prepare(all)
                .into_command()
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        })
        .collect()
}

fn numbers(all: &[String]) -> BTreeSet<u64> {
    all.iter().map(|n| n.parse().unwrap()).collect()
}

/// C19
#[test]
fn c19_each_reservation_gets_its_own_generation() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    let all = at_once(
        &env,
        &store,
        &["run", "reserve", "7", "--wait", "120"],
        |_| vec![],
    );
    assert_eq!(numbers(&all), (1..=MANY as u64).collect());
    for generation in 1..=MANY {
        assert!(
            store
                .path(format!("workers/7/runs/{generation}/spawned"))
                .is_dir()
        );
    }
    clean(&env, &store);
}

/// C2
#[test]
fn c2_each_new_worker_gets_its_own_id() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    let all = at_once(
        &env,
        &store,
        &["worker", "create", "--wait", "120"],
        |_| vec![],
    );
    assert_eq!(numbers(&all), (1..=MANY as u64).collect());
    clean(&env, &store);
    let ids = wagg(&env, &store, &["worker", "list", "--ids"]).ok();
    assert_eq!(ids.stdout().lines().count(), MANY);
}

/// C15: of many with one request id one acts, and all answer the same.
#[test]
fn c15_one_request_id_acts_once() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    let args = [
        "run",
        "reserve",
        "7",
        "--wait",
        "120",
        "--request-id",
        "r",
        "--format",
        "json",
    ];
    let all: BTreeSet<String> = at_once(&env, &store, &args, |_| vec![])
        .into_iter()
        .collect();
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(!store.path("workers/7/runs/2").exists());
}

/// C5: no change of one document loses another.
#[test]
fn c5_no_update_is_lost() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    let args = ["worker", "peer", "add", "7", "--wait", "120"];
    let _ = at_once(&env, &store, &args, |n| vec![format!("name:peer-{n:02}")]);
    let text = std::fs::read_to_string(store.path("workers/7/metadata.json")).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names: Vec<_> = metadata["peers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["worker_name"].as_str().unwrap().to_owned())
        .collect();
    let wanted: Vec<_> = (0..MANY).map(|n| format!("peer-{n:02}")).collect();
    assert_eq!(names, wanted);
}
