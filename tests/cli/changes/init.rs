//! `wagg init`.

use std::os::unix::fs::PermissionsExt;

use super::outside_wagg;
use crate::support::tree::{assert_same, tree};
use crate::support::{TestEnv, TestStore, schema};

/// What a Runtime writes when it makes a root, to the byte.
const RUNTIME: &str = r#"{
  "schema_version": 1,
  "display_name": null,
  "backend": "fs_store",
  "status": "stopped",
  "next_worker_sequence": 1,
  "next_diagnostic_id": 1,
  "config_bundles": {},
  "workspace_owners": {},
  "diagnostics": []
}
"#;

#[test]
fn a_new_store_is_what_a_runtime_reads() {
    let env = TestEnv::new();
    let out = env.wagg(["init", "a/b/store"]).ok();
    assert_eq!(out.stdout(), "a/b/store\n");
    let root = env.path("a/b/store");
    assert_eq!(
        std::fs::read_to_string(root.join("runtime.json")).unwrap(),
        RUNTIME
    );
    assert_eq!(std::fs::read_dir(root.join("workers")).unwrap().count(), 0);
    let out = env
        .prepare(["verify", "--strict", "--format", "json"])
        .current_dir(&root)
        .run()
        .status(0);
    assert_eq!(out.json()["findings"], serde_json::json!([]), "{out}");
    let out = env
        .prepare(["worker", "create"])
        .current_dir(root)
        .run()
        .ok();
    assert_eq!(out.stdout(), "1\n");
}

#[test]
fn a_second_init_says_so_and_changes_nothing() {
    let env = TestEnv::new();
    let _ = env.wagg(["init", "s"]).ok();
    let root = env.path("s");
    let before = tree(&root);
    let out = env.wagg(["init", "s"]).status(0);
    assert_eq!(out.stdout(), "s\n");
    assert!(out.stderr.contains("a store already"), "{out}");
    let out = env.wagg(["init", "s", "--format", "json"]).status(0);
    schema::check("init", &out.json());
    assert_eq!(out.json()["outcome"], "no_change");
    assert_same(&before, &tree(&root), "a second init");
    // A store that a Runtime made gets no folder of ours by this.
    let made = TestStore::v1(env.path("theirs"));
    made.worker(1);
    let before = tree(made.root());
    let _ = env.wagg(["init", "theirs"]).status(0);
    assert_same(&before, &tree(made.root()), "init of a store");
    let v3 = TestStore::v3(env.path("v3"));
    let before = tree(v3.root());
    let _ = env.wagg(["init", "v3"]).status(0);
    assert_same(&before, &tree(v3.root()), "init of a later store");
}

#[test]
fn the_folder_is_the_named_one_else_the_store_else_here() {
    let env = TestEnv::new();
    let out = env.wagg(["--store", "named", "init"]).ok();
    assert_eq!(out.stdout(), "named\n");
    assert!(env.path("named/runtime.json").is_file());
    std::fs::create_dir(env.path("here")).unwrap();
    let out = env
        .prepare(["init"])
        .current_dir(env.path("here"))
        .run()
        .ok();
    assert_eq!(out.stdout(), ".\n");
    assert!(env.path("here/runtime.json").is_file());
}

/// C15: also for the store's very first operation.
#[test]
fn c15_a_retry_gives_the_first_answer() {
    let env = TestEnv::new();
    let args = ["init", "s", "--request-id", "r", "--format", "json"];
    let first = env.wagg(args).ok();
    let second = env.wagg(args).ok();
    assert_eq!(first.bytes(), second.bytes());
    assert_eq!(first.json()["outcome"], "done");
    let other = env.wagg(["init", "./s", "--request-id", "r"]).status(3);
    assert!(other.stderr.contains("request_mismatch"), "{other}");
}

#[test]
fn what_is_no_store_and_not_empty_is_refused_untouched() {
    let env = TestEnv::new();
    let refused = |dir: &str, code: &str, exit: i32, says: &str| {
        let before = tree(&env.path(dir));
        for args in [
            vec!["init", dir, "--format", "json"],
            vec!["init", dir, "--format", "json", "--dry-run"],
            vec!["init", dir, "--format", "json", "--request-id", "r"],
        ] {
            let out = env.wagg(&args).status(exit);
            let error = out.error();
            assert_eq!(error["code"], code, "{out}");
            assert_eq!(error["effects_applied"], "none", "{out}");
            assert!(error["message"].as_str().unwrap().contains(says), "{out}");
            assert!(error["hint"].is_string(), "{out}");
        }
        // Not even a folder of locks is made.
        assert_same(&before, &tree(&env.path(dir)), dir);
    };
    env.write("full/notes.txt", "mine");
    refused("full", "target_exists", 3, "notes.txt");
    env.write("file", "mine");
    refused("file", "target_exists", 3, "is no folder");
    env.write("oldest/runtimes/a/runtime.json", "{}");
    refused("oldest", "target_exists", 3, "oldest layout");
    env.write("lost/workers/1/worker.json", "{}");
    refused("lost", "missing_catalog", 5, "lost its runtime.json");
    env.write("broken/runtime.json", "{");
    refused("broken", "corrupt_document", 5, "");
    env.write("odd/workers", "a file");
    refused("odd", "not_a_regular_file", 5, "workers is a file");
    std::fs::create_dir(env.path("linked")).unwrap();
    std::os::unix::fs::symlink(env.path("full"), env.path("linked/workers")).unwrap();
    refused("linked", "symbolic_link", 3, "workers is a symbolic link");
}

#[test]
fn a_dry_run_makes_nothing() {
    let env = TestEnv::new();
    let out = env.wagg(["init", "s", "--dry-run"]).ok();
    assert_eq!(
        out.stdout(),
        "would make workers/ with 0 files\nwould make runtime.json\n"
    );
    assert!(!env.path("s").exists());
    std::fs::create_dir(env.path("e")).unwrap();
    let out = env
        .wagg(["init", "e", "--dry-run", "--format", "json"])
        .ok();
    schema::check("init", &out.json());
    assert_eq!(out.json()["outcome"], "planned");
    assert_eq!(std::fs::read_dir(env.path("e")).unwrap().count(), 0);
}

/// C7: killed at any step of the real program, the same command again finishes.
#[test]
fn c7_a_killed_init_is_finished() {
    let env = TestEnv::new();
    let mut last = 0;
    for step in 1.. {
        let dir = format!("s{step}");
        let fault = format!("abort:{step}");
        let run = |fault: Option<&str>| {
            let mut run = env.prepare(["init", &dir, "--request-id", "r"]);
            if let Some(fault) = fault {
                run = run.env("WAGG_FAULT", fault);
            }
            run.run()
        };
        let first = run(Some(&fault));
        let out = run(None).ok();
        assert_eq!(out.stdout(), format!("{dir}\n"));
        let root = env.path(&dir);
        let names: Vec<_> = outside_wagg(&root)
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["runtime.json", "workers"], "step {step}");
        if first.code == Some(0) {
            last = step;
            break;
        }
    }
    assert!(last > 20, "{last}");
}

/// C5: what is made takes its rights from the folder that it is made in.
#[test]
fn c5_rights_come_from_the_folder() {
    let env = TestEnv::new();
    let root = env.path("s");
    std::fs::create_dir(&root).unwrap();
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o770)).unwrap();
    let _ = env.wagg(["init", "s"]).ok();
    let mode = |name: &str| {
        let meta = std::fs::metadata(root.join(name)).unwrap();
        meta.permissions().mode() & 0o777
    };
    for name in ["workers", ".wagg", ".wagg/workers"] {
        assert_eq!(mode(name), 0o770, "{name}");
    }
    for name in ["runtime.json", ".wagg/journal.jsonl", ".wagg/store.lock"] {
        assert_eq!(mode(name), 0o660, "{name}");
    }
    let out = env.wagg(["--store", "s", "worker", "create"]).ok();
    assert_eq!(out.stdout(), "1\n");
    assert_eq!(mode("workers/1"), 0o770);
    assert_eq!(mode("workers/1/worker.json"), 0o660);
}
