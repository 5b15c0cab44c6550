//! `wagg migrate status`.

use serde_json::Value;

use crate::support::store::{document, id, put};
use crate::support::{Output, TestEnv, TestStore, schema, tree};

fn status(env: &TestEnv, more: &[&str]) -> Output {
    let args = ["--store", "store", "migrate", "status"];
    let dir = env.dir();
    tree::unchanged(&[&dir], "migrate status", || {
        env.wagg(args.iter().chain(more))
    })
}

fn json(env: &TestEnv) -> Value {
    let document = status(env, &["--format", "json"]).ok().json();
    schema::check("migrate.status", &document);
    document
}

#[test]
fn a_store_without_a_manifest_is_an_answer() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(1).usual(1);
    for more in [&[][..], &["--format", "table"]] {
        let out = status(&env, more).status(0);
        assert_eq!(out.stdout(), "");
        assert!(out.stderr.contains("no migration here"), "{out}");
    }
    let out = status(&env, &["--format", "json"]).status(0);
    schema::check("migrate.status", &out.json());
    assert_eq!(out.json()["summary"]["manifest"], false);
}

#[test]
fn checkpoints_are_held_against_the_catalog() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    for n in [1, 2, 3, 4, 5, 10] {
        store.worker(n);
    }
    store.worker_folder(1).usual(1);
    store.worker_folder(10).usual(10);
    store.manifest(
        false,
        &[
            (1, Some(1), "migrated"),
            (2, None, "no_legacy_metadata"),
            (3, Some(9), "shared_session_collision"),
            (4, Some(4), "migrated"),
            (8, Some(8), "migrated"),
        ],
    );
    let document = json(&env);
    let workers = document["workers"].as_array().unwrap();
    let ids: Vec<_> = workers
        .iter()
        .map(|w| w["worker_id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["1", "2", "3", "4", "5", "8", "10"],
        "numbers in their order"
    );
    assert_eq!(workers[0]["session_in_place"], id(1).as_str());
    assert!(workers[3].get("session_in_place").is_none());
    assert_eq!(workers[4]["state"], "no_checkpoint");
    assert_eq!(workers[5]["in_catalog"], false);
    assert_eq!(workers[6]["session_in_place"], id(10).as_str());
    let summary = &document["summary"];
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["states"]["migrated"], 3);
    // 3 shared, 4 says migrated and is not there, 5 and 10 have no checkpoint
    assert_eq!(summary["left"], 4);
    let out = status(&env, &["--format", "table"]).status(0);
    assert!(out.stdout().contains("complete  no\n"), "{out}");
    assert!(out.stdout().contains("shared_session_collision"), "{out}");
    let left = "4 Workers left, to 2 of which no run has come";
    assert!(out.stderr.contains(left), "{out}");
    let out = status(&env, &["--ids"]).status(0);
    assert_eq!(out.stdout(), "1\n2\n3\n4\n5\n8\n10\n");
}

#[test]
fn what_was_left_is_shown_with_its_reason() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    let manifest = serde_json::json!({
        "schema_version": 1,
        "complete": true,
        "workers": {},
        "diagnostics": [{
            "kind": "orphan_session",
            "source": "/data/sessions/x\u{1b}[31m",
            "message": "left in place"
        }]
    });
    let path = store.path("migrations/worker-aggregate-v1.json");
    put(&path, document(&manifest));
    let out = status(&env, &["--format", "table"]).status(0);
    assert!(out.stdout().contains("Left in the legacy roots\n"), "{out}");
    assert!(
        out.stdout().contains("/data/sessions/x\\u{1b}[31m"),
        "{out}"
    );
    assert_eq!(
        json_summary(&env)["diagnostics"][0]["kind"],
        "orphan_session"
    );
    // one that does not read is damage of what this command needs
    put(&path, "{ \"schema_version\": 1, ");
    let out = status(&env, &["--format", "json"]).status(5);
    assert_eq!(out.error()["code"], "corrupt_document");
    assert_eq!(out.error()["path"], "migrations/worker-aggregate-v1.json");
}

fn json_summary(env: &TestEnv) -> Value {
    let out = status(env, &["--format", "json"]).status(0);
    out.json()["summary"].clone()
}
