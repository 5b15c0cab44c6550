//! Real processes, aborted at each of their steps, and the same command again (C7, C15, C16).

use serde_json::Value;

use super::{clean, outside_wagg, wagg};
use crate::support::store::put;
use crate::support::{TestEnv, TestStore};

/// Aborts a command at each step of it, retries it, and compares with a run that nobody disturbed.
fn killed_everywhere(setup: impl Fn(&TestStore), args: &[&str], made: &str, upto: u64) {
    let env = TestEnv::new();
    let mut ended = false;
    for step in 1.. {
        let store = TestStore::v1(env.path(format!("s{step}")));
        setup(&store);
        let root = store.root().to_str().unwrap();
        let run = |fault: Option<String>| {
            let mut all = vec!["--store", root, "--format", "json", "--request-id", "r"];
            all.splice(4..4, args.iter().copied());
            let mut run = env.prepare(all);
            if let Some(fault) = fault {
                run = run.env("WAGG_FAULT", fault);
            }
            run.run()
        };
        let first = run(Some(format!("abort:{step}")));
        // C7: what is left is nothing that is wrong.
        let verify = wagg(&env, &store, &["verify", "--format", "json"]);
        assert_eq!(
            verify.json()["summary"]["errors"],
            0,
            "step {step}: {verify}"
        );
        let second = run(None).ok();
        if first.code == Some(0) {
            assert_eq!(first.bytes(), second.bytes());
        }
        let number = |v: &Value| match v {
            Value::String(text) => text.parse().unwrap(),
            other => other.as_u64().unwrap(),
        };
        let got = number(&second.json()[made]);
        assert!((1..=upto).contains(&got), "step {step}: {second}");
        // Whatever was killed, there is one of it.
        let names = outside_wagg(store.root());
        let of = |what: &str| names.iter().filter(|l| l.contains(what)).count();
        assert_eq!(
            of("spawned dir") + of("/worker.json file"),
            2,
            "step {step}"
        );
        clean(&env, &store);
        if first.code == Some(0) {
            ended = step > 20;
            break;
        }
    }
    assert!(ended);
}

#[test]
fn c15_reserve_killed_everywhere() {
    let setup = |store: &TestStore| {
        store.worker(1);
    };
    killed_everywhere(setup, &["run", "reserve", "1"], "generation", 1);
}

/// C2: in this order a crash costs a number, and nothing else.
#[test]
fn c2_create_killed_everywhere() {
    let setup = |store: &TestStore| {
        // One Worker that is there already, so that there are two.
        store.worker(1);
        put(
            store.path("workers/1/metadata.json"),
            r#"{"worker_name":"worker-runtime-1"}"#,
        );
    };
    killed_everywhere(setup, &["worker", "create"], "worker_id", 3);
}
