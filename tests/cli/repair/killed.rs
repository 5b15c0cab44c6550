//! Real processes, aborted at each step of a repair and of its undo, and the same command again.

use super::kit::{difference, same_trees, tree};
use crate::support::store::put;
use crate::support::{Log, Output, TestEnv, TestStore, damage};

/// A Worker with a line that must be written anew, a tail, and a leftover.
fn damaged(env: &TestEnv, name: &str) -> TestStore {
    let store = TestStore::v1(env.path(name));
    let worker = store.worker(7);
    worker
        .usual(7)
        .segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    damage::glue(&worker.segment_path(0x71), 4);
    damage::torn_tail(&worker.segment_path(0x72));
    put(worker.path(".worker.json.tmp-2147480000-1"), "{\"half");
    store
}

fn run(env: &TestEnv, store: &TestStore, args: &[&str], fault: Option<u64>) -> Output {
    let root = store.root().to_str().unwrap();
    let mut all = vec!["--store", root, "--format", "json"];
    all.extend(args);
    let mut run = env.prepare(all);
    if let Some(step) = fault {
        run = run.env("WAGG_FAULT", format!("abort:{step}"));
    }
    run.run()
}

#[test]
fn c7_a_repair_and_its_undo_killed_everywhere() {
    let env = TestEnv::new();
    let repair = ["repair", "7", "--apply", "--request-id", "r"];
    let undisturbed = damaged(&env, "undisturbed");
    let before = tree(undisturbed.root());
    let _ = run(&env, &undisturbed, &repair, None).ok();
    let after = tree(undisturbed.root());
    let mut steps = 0;
    for step in 1.. {
        let store = damaged(&env, &format!("s{step}"));
        let first = run(&env, &store, &repair, Some(step));
        let what = format!("step {step}: {first}");
        // Each file is as it was or as it will be, and nothing is torn.
        let now = tree(store.root());
        for path in difference(&now, &before) {
            let is_temp = path.to_string_lossy().contains(".tmp-");
            assert!(
                now.get(&path) == after.get(&path) || is_temp,
                "{what}: {path:?}"
            );
        }
        let second = run(&env, &store, &repair, None).ok();
        if first.code == Some(0) {
            assert_eq!(first.bytes(), second.bytes(), "{what}");
        }
        same_trees(&tree(store.root()), &after, &what);
        let operation = second.json()["operation_id"].as_str().unwrap().to_owned();
        // The undo is killed at the same step, and tried again.
        let undo = ["op", "undo", &operation, "--request-id", "u"];
        let killed = run(&env, &store, &undo, Some(step));
        let _ = run(&env, &store, &undo, None).ok();
        same_trees(&tree(store.root()), &before, &format!("{what}: undo"));
        if first.code == Some(0) && killed.code == Some(0) {
            steps = step;
            break;
        }
    }
    assert!(steps > 20, "{steps}");
}
