//! `wagg op list`, `show` and `prune`.

use serde_json::json;

use super::{receipt, wagg};
use crate::support::store::put;
use crate::support::tree::unchanged;
use crate::support::{TestEnv, TestStore, schema};

fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("s"));
    store.worker(7);
    store
}

#[test]
fn operations_are_listed_newest_first() {
    let env = TestEnv::new();
    let store = store(&env);
    let list = |more: &[&str]| {
        let args = [&["op", "list"][..], more].concat();
        unchanged(&[store.root()], "op list", || {
            wagg(&env, &store, &args).status(0)
        })
    };
    let none = list(&[]);
    assert_eq!((none.stdout(), &*none.stderr), ("", "no operations\n"));
    let _ = wagg(
        &env,
        &store,
        &["run", "reserve", "7", "--request-id", "r-1"],
    )
    .ok();
    let _ = wagg(
        &env,
        &store,
        &["worker", "peer", "add", "7", "name:amy", "--actor", "joe"],
    )
    .ok();
    let all = list(&["--format", "json"]).json();
    schema::check("op.list", &all);
    let operations = all["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 2);
    assert_eq!(operations[0]["command"], "worker peer add");
    assert_eq!(operations[0]["actor"], "joe");
    assert_eq!(operations[1]["request_id"], "r-1");
    assert_eq!(operations[1]["state"], "settled");
    assert_eq!(
        all["summary"],
        json!({ "unsettled": 0, "damaged_lines": 0 })
    );
    let lines = list(&["--format", "ndjson"]).lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[0]["type"], &lines[2]["operations"]),
        (&json!("operation"), &json!(2))
    );
    let ids = list(&["--ids", "--limit", "1"]);
    assert_eq!(ids.stdout().trim(), operations[0]["operation_id"]);
    let text = list(&[]);
    assert_eq!(text.stdout().lines().count(), 2);
    assert!(
        text.stdout().contains("\tdone\trun reserve\t7\ttester@"),
        "{text}"
    );
    let table = list(&["--format", "table"]);
    assert!(table.stdout().contains("run reserve"), "{table}");
    // A line that can not be read is said, and the others are listed.
    let path = store.path(".wagg/journal.jsonl");
    let mut journal = std::fs::read_to_string(&path).unwrap();
    journal.push_str("{torn\n");
    std::fs::write(&path, journal).unwrap();
    let out = list(&["--format", "json"]);
    assert!(out.stderr.contains("1 line of the journal"), "{out}");
    assert_eq!(out.json()["summary"]["damaged_lines"], 1);
    assert_eq!(out.json()["operations"].as_array().unwrap().len(), 2);
}

/// C16: unsettled is shown, and read commands settle nothing.
#[test]
fn c16_unsettled_is_shown_and_left_alone() {
    let env = TestEnv::new();
    let store = store(&env);
    let root = store.root().to_str().unwrap();
    let killed = |step: u32| {
        env.prepare(["--store", root, "run", "reserve", "7", "--request-id", "r"])
            .env("WAGG_FAULT", format!("abort:{step}"))
            .run()
    };
    let mut step = 1;
    let id = loop {
        let _ = killed(step);
        step += 1;
        let out = wagg(&env, &store, &["op", "list", "--ids"]).status(0);
        if !out.stdout().is_empty() {
            break out.stdout().lines().next().unwrap().to_owned();
        }
    };
    let show = ["op", "show", &id[..13], "--format", "json"];
    let out = unchanged(&[store.root()], "op show", || {
        wagg(&env, &store, &show).status(0)
    });
    schema::check("op.show", &out.json());
    let one = &out.json()["operations"][0];
    assert_eq!(
        (&one["state"], &one["outcome"]),
        (&json!("unsettled"), &json!(null))
    );
    let person = wagg(&env, &store, &["op", "show", &id]).status(0);
    assert!(person.stdout().contains("outcome\tunsettled\n"), "{person}");
    assert!(person.stderr.contains("next change"), "{person}");
    let out = unchanged(&[store.root()], "verify", || {
        wagg(&env, &store, &["verify", "--format", "json"]).status(0)
    });
    let findings = out.json()["findings"].clone();
    let found = findings.as_array().unwrap();
    let found = found
        .iter()
        .find(|f| f["code"] == "unsettled_operation")
        .unwrap();
    assert_eq!(found["severity"], "warning");
    assert_eq!(found["worker_id"], "7");
    assert!(found["hint"].as_str().unwrap().contains(&id), "{out}");
    // The next change settles it.
    let _ = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    let out = wagg(&env, &store, &["verify", "--strict", "--format", "json"]).status(0);
    assert_eq!(out.json()["findings"], json!([]), "{out}");
}

#[test]
fn one_operation_is_shown_whole() {
    let env = TestEnv::new();
    let store = store(&env);
    let made = receipt(
        &env,
        &store,
        "run.reserve",
        &["run", "reserve", "7", "--request-id", "r"],
    );
    let id = made["operation_id"].as_str().unwrap();
    let show = |text: &str| wagg(&env, &store, &["op", "show", text, "--format", "json"]);
    for text in [id, &id[..18], &id.replace('-', ""), &id.to_uppercase()] {
        let out = show(text).ok();
        schema::check("op.show", &out.json());
        let one = &out.json()["operations"][0];
        assert_eq!(one["operation_id"], id);
        assert_eq!(one["minted"], json!({ "generation": 1 }));
        assert_eq!(one["receipt"]["generation"], 1);
        assert_eq!(one["effects"].as_array().unwrap().len(), 2);
        assert_eq!(one["commit"], 0);
    }
    let person = wagg(&env, &store, &["op", "show", id]).ok();
    assert!(
        person
            .stdout()
            .contains("replace workers/7/worker.json\tcommit point"),
        "{person}"
    );
    for text in ["0000", "zz", "018", "7"] {
        let out = show(text).status(4);
        assert_eq!(out.error()["code"], "not_found", "{out}");
    }
    for _ in 0..3 {
        let _ = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    }
    let out = show(&id[..8]).status(4);
    assert_eq!(out.error()["code"], "ambiguous_reference", "{out}");
    assert!(
        out.error()["message"].as_str().unwrap().contains(id),
        "{out}"
    );
}

/// What an operation put aside is listed with it.
#[test]
fn what_was_kept_is_shown() {
    let env = TestEnv::new();
    let store = store(&env);
    let _ = wagg(&env, &store, &["run", "reserve", "7"]).ok();
    let path = store.path(".wagg/journal.jsonl");
    let mut journal = std::fs::read_to_string(&path).unwrap();
    journal.push_str("{\"type\":\"int");
    std::fs::write(&path, journal).unwrap();
    let made = receipt(&env, &store, "run.reserve", &["run", "reserve", "7"]);
    let id = made["operation_id"].as_str().unwrap();
    let out = wagg(&env, &store, &["op", "show", id, "--format", "json"]).ok();
    schema::check("op.show", &out.json());
    let kept = &out.json()["operations"][0]["quarantine"][0];
    assert_eq!(
        (&kept["what"], &kept["length"]),
        (&json!("tail"), &json!(12))
    );
    let person = wagg(&env, &store, &["op", "show", id]).ok();
    assert!(
        person.stdout().contains("tail\t12\t.wagg/journal.jsonl"),
        "{person}"
    );
}

/// C15: prune says what it forgets, and request ids are free again.
#[test]
fn c15_prune() {
    let env = TestEnv::new();
    let store = store(&env);
    let reserve = ["run", "reserve", "7", "--request-id", "r"];
    let first = receipt(&env, &store, "run.reserve", &reserve);
    let id = first["operation_id"].as_str().unwrap();
    let out = wagg(&env, &store, &["op", "prune", "--older-than", "1d"]).status(0);
    assert_eq!(
        (out.stdout(), &*out.stderr),
        ("", "0 operations forgotten\n")
    );
    let now = ["op", "prune", "--older-than", "0s"];
    let dry = [&now[..], &["--dry-run"]].concat();
    let out = unchanged(&[store.root()], "a dry prune", || {
        wagg(&env, &store, &dry).status(0)
    });
    assert_eq!(out.stdout(), format!("{id}\n"));
    assert_eq!(
        receipt(&env, &store, "op.prune", &dry)["outcome"],
        "planned"
    );
    let args = [&now[..], &["--request-id", "p"]].concat();
    let made = receipt(&env, &store, "op.prune", &args);
    assert_eq!(made["forgotten"], json!([id]));
    assert_eq!(receipt(&env, &store, "op.prune", &args), made);
    let ids = wagg(&env, &store, &["op", "list", "--ids"]).ok();
    assert_eq!(ids.stdout().trim(), made["operation_id"]);
    // It is free: the same arguments act again.
    let second = receipt(&env, &store, "run.reserve", &reserve);
    assert_eq!(second["generation"], 2);
    let _ = wagg(&env, &store, &["op", "prune", "--older-than", "x"]).status(2);
    let _ = wagg(&env, &store, &["op", "prune"]).status(2);
}

/// A journal of a later version is read as far as it goes, and not written.
#[test]
fn a_later_journal_is_not_written() {
    let env = TestEnv::new();
    let store = store(&env);
    put(
        store.path(".wagg/journal.jsonl"),
        "{\"type\":\"journal\",\"schema_version\":2,\"journal_id\":\"01890000-0000-7000-8000-000000000001\",\"ts\":\"2026-01-01T00:00:00Z\"}\n",
    );
    let out = wagg(&env, &store, &["run", "reserve", "7"]).status(12);
    assert!(out.stderr.contains("unsupported_schema_version"), "{out}");
    let out = wagg(&env, &store, &["op", "list"]).status(0);
    assert_eq!(out.stdout(), "");
}
