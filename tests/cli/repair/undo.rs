//! `wagg op undo` and `wagg quarantine`: every command that can be undone, undone to the byte and
//! done again; what is refused, and what is kept.

use serde_json::Value;

use super::kit::{same_trees, tree};
use crate::support::store::{id, put};
use crate::support::{Log, Output, TestEnv, TestStore, TestWorker, damage, schema};

struct Kit {
    env: TestEnv,
    store: TestStore,
    worker: TestWorker,
}

type Tree = std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>;

impl Kit {
    fn new() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        let worker = store.worker(7);
        worker.usual(7);
        worker.edit_metadata(|m| {
            m["spawned_children"] = serde_json::json!([{
                "worker_name": "worker-runtime-9", "socket_path": "/x",
                "scope_delegated": [{"target": "/work", "permission": "read", "recursive": true}],
                "callback_address": "y"
            }]);
        });
        Self { env, store, worker }
    }

    fn json(&self, args: &[&str]) -> Output {
        let mut all = vec!["--store", "store", "--format", "json"];
        all.extend(args);
        self.env.wagg(all)
    }

    fn tree(&self) -> Tree {
        tree(self.store.root())
    }

    /// Makes a change and gives its operation.
    #[track_caller]
    fn done(&self, args: &[&str]) -> String {
        let out = self.json(args).status(0);
        out.json()["operation_id"].as_str().unwrap().to_owned()
    }

    /// Undoes it; gives the undo's operation.
    #[track_caller]
    fn undo(&self, operation: &str) -> String {
        let out = self.json(&["op", "undo", operation]).status(0);
        let document = out.json();
        schema::check("op.undo", &document);
        assert_eq!(document["undone"], operation, "{out}");
        document["operation_id"].as_str().unwrap().to_owned()
    }

    /// The refusal of an undo.
    #[track_caller]
    fn refused(&self, operation: &str, code: &str) -> Value {
        let before = self.tree();
        let out = self.json(&["op", "undo", operation]).status(3);
        let error = out.error();
        assert_eq!(error["code"], code, "{out}");
        assert_eq!(error["effects_applied"], "none", "{out}");
        same_trees(&self.tree(), &before, "refused");
        error
    }
}

/// There, back, there again, back again.
fn there_and_back(kit: &Kit, args: &[&str]) {
    let what = args.join(" ");
    let before = kit.tree();
    let operation = kit.done(args);
    let after = kit.tree();
    assert_ne!(before, after, "{what}");
    let undone = kit.undo(&operation);
    same_trees(&kit.tree(), &before, &format!("{what}: undone"));
    let again = kit.undo(&undone);
    same_trees(&kit.tree(), &after, &format!("{what}: the undo undone"));
    kit.undo(&again);
    same_trees(&kit.tree(), &before, &format!("{what}: undone again"));
    let found = kit.json(&["verify"]).status(0).json();
    assert_eq!(found["summary"]["errors"], 0, "{what}: {found}");
}

#[test]
fn every_change_is_undone_to_the_byte() {
    let kit = Kit::new();
    let active = id(0x71);
    put(kit.env.path("summary"), "So far: all is well.");
    let record = Log::empty().at(1_800_000_000_000).user("More.").bytes();
    put(kit.env.path("more.jsonl"), record);
    for args in [
        &["segment", "fork", &active][..],
        &["segment", "fork", &active, "--at-turn", "1", "--activate"],
        &["segment", "compact", &active, "--summary", "summary"],
        &[
            "segment",
            "compact",
            &active,
            "--summary",
            "summary",
            "--activate",
        ],
        &["segment", "create", "7"],
        &["segment", "append", &active, "--from", "more.jsonl"],
        &["worker", "create", "--name", "another"],
        &["worker", "reclaim", "7", "9"],
    ] {
        there_and_back(&kit, args);
    }
    kit.store.worker(8).usual(8);
    there_and_back(&kit, &["worker", "peer", "add", "7", "8"]);
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    there_and_back(&kit, &["segment", "activate", &id(0x72)]);
    damage::torn_tail(&kit.segment_path());
    there_and_back(&kit, &["repair", "7", "--apply"]);
    // a torn tail that an append cut on its way comes back with the undo
    there_and_back(
        &kit,
        &["segment", "append", &active, "--from", "more.jsonl"],
    );
}

impl Kit {
    fn segment_path(&self) -> std::path::PathBuf {
        self.worker.segment_path(0x71)
    }
}

/// The first Segment makes the Session, and the pointer where there was none.
#[test]
fn a_session_that_was_made_goes_again() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    let worker = store.worker(7);
    let kit = Kit { env, store, worker };
    there_and_back(&kit, &["segment", "create", "7"]);
    there_and_back(&kit, &["segment", "create", "7", "--activate"]);
}

/// What was built on an operation is in the way, and named.
#[test]
fn what_was_built_on_it_is_in_the_way() {
    let kit = Kit::new();
    let active = id(0x71);
    let fork = kit.json(&["segment", "fork", &active]).status(0).json();
    let operation = fork["operation_id"].as_str().unwrap();
    let segment = fork["segment_id"].as_str().unwrap();
    // a Segment that was made from it
    let child = kit.done(&["segment", "fork", segment]);
    let error = kit.refused(operation, "undo_conflict");
    assert!(
        error["message"].as_str().unwrap().contains(&child),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().contains("wagg"), "{error}");
    kit.undo(&child);
    // the pointer at it
    let pointer = kit.done(&["segment", "activate", segment]);
    let error = kit.refused(operation, "undo_conflict");
    assert!(
        error["message"].as_str().unwrap().contains(&pointer),
        "{error}"
    );
    assert!(
        error["path"].as_str().unwrap().contains("metadata.json"),
        "{error}"
    );
    kit.undo(&pointer);
    // somebody else added to it
    let path = kit.worker.path(format!("session/segments/{segment}.jsonl"));
    let whole = std::fs::read(&path).unwrap();
    damage::append(&path, Log::empty().at(1_900_000_000_000).user("x").bytes());
    let error = kit.refused(operation, "undo_conflict");
    assert!(error["path"].as_str().unwrap().contains(segment), "{error}");
    std::fs::write(&path, whole).unwrap();
    kit.undo(operation);
    assert!(!path.exists());
}

#[test]
fn a_pointer_that_moved_on_is_in_the_way() {
    let kit = Kit::new();
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    let first = kit.done(&["segment", "activate", &id(0x72)]);
    let second = kit.done(&["segment", "activate", &id(0x71)]);
    let error = kit.refused(&first, "undo_conflict");
    assert!(
        error["message"].as_str().unwrap().contains(&second),
        "{error}"
    );
    kit.undo(&second);
    kit.undo(&first);
    // once undone it stays so, and a second time is no change
    let out = kit.json(&["op", "undo", &first]).status(0);
    assert_eq!(out.json()["outcome"], "no_change", "{out}");
}

#[test]
fn a_worker_that_went_on_stays() {
    let kit = Kit::new();
    let made = kit.json(&["worker", "create"]).status(0).json();
    let operation = made["operation_id"].as_str().unwrap();
    let worker = made["worker_id"].as_str().unwrap();
    let reserve = kit.done(&["run", "reserve", worker]);
    let error = kit.refused(operation, "undo_conflict");
    assert!(
        error["message"].as_str().unwrap().contains(&reserve),
        "{error}"
    );
}

#[test]
fn what_is_never_undone_says_why() {
    let kit = Kit::new();
    let reserve = kit.done(&["run", "reserve", "7"]);
    let error = kit.refused(&reserve, "not_undoable");
    assert!(
        error["message"].as_str().unwrap().contains("one number"),
        "{error}"
    );
    let out = kit.json(&["op", "undo", "0198ffff"]).status(4);
    assert_eq!(out.error()["code"], "not_found", "{out}");
    // a dry run of one that can be
    let fork = kit.done(&["segment", "fork", &id(0x71)]);
    let before = kit.tree();
    let out = kit.json(&["op", "undo", &fork, "--dry-run"]).status(0);
    schema::check("op.undo", &out.json());
    assert_eq!(out.json()["outcome"], "planned", "{out}");
    same_trees(&kit.tree(), &before, "a dry run");
}

/// C13: a live run's pointer is not moved back under it.
#[test]
fn c13_a_live_run_keeps_its_pointer() {
    let kit = Kit::new();
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    let operation = kit.done(&["segment", "activate", &id(0x72)]);
    let fork = kit.done(&["segment", "fork", &id(0x71)]);
    let live = kit.worker.live(1);
    kit.refused(&operation, "worker_live");
    // what is not active is not its ground
    kit.undo(&fork);
    drop(live);
    kit.undo(&operation);
}

/// C15: a retried undo acts once.
#[test]
fn c15_a_retried_undo_acts_once() {
    let kit = Kit::new();
    let fork = kit.done(&["segment", "fork", &id(0x71)]);
    let args = ["op", "undo", &fork, "--request-id", "u1"];
    let first = kit.json(&args).status(0);
    let second = kit.json(&args).status(0);
    assert_eq!(first.bytes(), second.bytes());
}

#[test]
fn what_was_put_aside_is_listed_shown_and_let_go_of() {
    let kit = Kit::new();
    let out = kit.json(&["quarantine", "list"]).status(0);
    schema::check("quarantine.list", &out.json());
    assert_eq!(out.json()["operations"].as_array().unwrap().len(), 0);
    damage::torn_tail(&kit.segment_path());
    put(kit.worker.path(".worker.json.tmp-2147480000-1"), "{\"half");
    let whole = std::fs::read(kit.segment_path()).unwrap();
    let operation = kit.done(&["repair", "7", "--apply"]);
    let out = kit.json(&["quarantine", "list"]).status(0);
    schema::check("quarantine.list", &out.json());
    let line = &out.json()["operations"][0];
    assert_eq!(line["operation_id"], operation.as_str());
    assert_eq!(line["command"], "repair");
    assert_eq!(line["items"], 2);
    let out = kit
        .json(&["quarantine", "show", &operation[..13]])
        .status(0);
    schema::check("quarantine.show", &out.json());
    let items = out.json()["items"].as_array().unwrap().clone();
    let tail = items.iter().find(|i| i["what"] == "tail").unwrap();
    let number = tail["item"].to_string();
    let out = kit
        .json(&["quarantine", "show", &operation, "--raw", &number])
        .status(0);
    let at = tail["offset"].as_u64().unwrap() as usize;
    assert_eq!(out.bytes(), &whole[at..]);
    let _ = kit
        .json(&["quarantine", "show", &operation, "--raw", "99"])
        .status(4);
    // what is younger stays
    let out = kit
        .json(&["quarantine", "empty", "--older-than", "1h"])
        .status(0);
    schema::check("quarantine.empty", &out.json());
    assert_eq!(out.json()["outcome"], "no_change", "{out}");
    let out = kit.json(&["quarantine", "empty", "--dry-run"]).status(0);
    assert_eq!(out.json()["outcome"], "planned", "{out}");
    // bytes that somebody changed there are not taken for what was put there
    let blob = kit
        .store
        .path(format!(".wagg/quarantine/{operation}/bytes"));
    let kept = std::fs::read(&blob).unwrap();
    damage::flip(&blob, 3);
    let _ = kit
        .json(&["quarantine", "show", &operation, "--raw", &number])
        .status(5);
    kit.refused(&operation, "not_undoable");
    std::fs::write(&blob, kept).unwrap();
    let undone = kit.undo(&operation);
    kit.undo(&undone);
    let out = kit.json(&["quarantine", "empty", &operation]).status(0);
    schema::check("quarantine.empty", &out.json());
    assert_eq!(out.json()["emptied"][0], operation.as_str());
    kit.refused(&operation, "not_undoable");
    let out = kit.json(&["quarantine", "show", &operation]).status(4);
    assert_eq!(out.error()["code"], "not_found", "{out}");
}
