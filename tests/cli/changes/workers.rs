//! `wagg worker create`, `children`, `reclaim` and `peer`.

use serde_json::{Value, json};

use super::{Refusal, clean, receipt, refused, wagg};
use crate::support::store::{document, edit, put};
use crate::support::tree::unchanged;
use crate::support::{TestEnv, TestStore, schema};

fn read(path: impl AsRef<std::path::Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// C2: the sequence goes up, a folder with `worker.json` appears, and nothing else.
#[test]
fn c2_a_new_worker() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    let out = wagg(&env, &store, &["worker", "create", "--name", "my helper"]).ok();
    assert_eq!(out.stdout(), "1\n");
    let worker = r#"{
  "schema_version": 1,
  "worker_ref": {
    "worker_id": 1
  },
  "worker_id": 1,
  "request": {
    "profile": {
      "kind": "builtin",
      "value": "builtin:coder"
    },
    "display_name": "my helper",
    "profile_source": {
      "kind": "embedded",
      "archive": {
        "reference": {
          "id": "empty",
          "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "size_bytes": 0,
          "source_graph": {
            "source_count": 0,
            "total_source_bytes": 0,
            "entrypoints": {},
            "import_count": 0
          }
        },
        "content": []
      }
    }
  },
  "run_generation": 0
}
"#;
    assert_eq!(
        std::fs::read_to_string(store.path("workers/1/worker.json")).unwrap(),
        worker
    );
    assert_eq!(
        std::fs::read_dir(store.path("workers/1")).unwrap().count(),
        1
    );
    assert_eq!(read(store.path("runtime.json"))["next_worker_sequence"], 2);
    let made = receipt(
        &env,
        &store,
        "worker.create",
        &[
            "worker",
            "create",
            "--profile",
            "reviewer",
            "--workspace",
            "w-1",
        ],
    );
    assert_eq!(made["worker_id"], "2");
    let second = read(store.path("workers/2/worker.json"));
    assert_eq!(
        second["request"]["profile"],
        json!({ "kind": "named", "value": "reviewer" })
    );
    assert_eq!(second["workspace_id"], "w-1");
    let listed = wagg(&env, &store, &["worker", "list", "--ids"]).ok();
    assert_eq!(listed.stdout(), "1\n2\n");
    clean(&env, &store);
}

/// C2: the highest of the document and of all folders counts.
#[test]
fn c2_no_id_is_given_out_twice() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    store.worker(4);
    edit(store.path("runtime.json"), |r| {
        r["next_worker_sequence"] = 2.into()
    });
    // An empty folder counts, and so does one that was renamed by hand.
    std::fs::create_dir(store.path("workers/9")).unwrap();
    put(
        store.path("workers/copy/worker.json"),
        std::fs::read_to_string(store.path("workers/4/worker.json"))
            .unwrap()
            .replace("\"worker_id\": 4", "\"worker_id\": 12"),
    );
    let out = wagg(&env, &store, &["worker", "create"]).ok();
    assert_eq!(out.stdout(), "13\n");
    assert_eq!(read(store.path("runtime.json"))["next_worker_sequence"], 14);
}

/// C8: what `wagg` does not know of `runtime.json` stays.
#[test]
fn c8_the_catalog_keeps_what_it_holds() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    let path = store.path("runtime.json");
    let text = std::fs::read_to_string(&path).unwrap().replace(
        "\"diagnostics\": []",
        "\"diagnostics\": [],\n  \"later\": {\"n\":  1.50, \"big\": 123456789012345678901234567890}",
    );
    std::fs::write(&path, &text).unwrap();
    let _ = wagg(&env, &store, &["worker", "create"]).ok();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        text.replace("\"next_worker_sequence\": 1", "\"next_worker_sequence\": 2")
    );
}

#[test]
fn a_whole_request_from_a_file() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    store.worker(1);
    let request = read(store.path("workers/1/worker.json"))["request"].clone();
    let mut more = request.clone();
    more["later_field"] = json!({ "a": [1] });
    more["display_name"] = "from a file".into();
    env.write("request.json", document(&more));
    let out = wagg(
        &env,
        &store,
        &[
            "worker",
            "create",
            "--request",
            "request.json",
            "--request-id",
            "r",
        ],
    )
    .ok();
    assert_eq!(out.stdout(), "2\n");
    assert_eq!(read(store.path("workers/2/worker.json"))["request"], more);
    clean(&env, &store);
    // By content: the same from standard input is the same request.
    let root = store.root().to_str().unwrap();
    let args = [
        "--store",
        root,
        "worker",
        "create",
        "--request",
        "-",
        "--request-id",
        "r",
    ];
    let again = env.prepare(args).stdin(document(&more)).run().ok();
    assert_eq!(again.stdout(), "2\n");
    let other = env.prepare(args).stdin("{}").run().status(3);
    assert!(other.stderr.contains("request_mismatch"), "{other}");
    for (text, code, says) in [
        ("{", "corrupt_document", "request.json"),
        ("[]", "corrupt_document", "request.json"),
        ("", "empty_document", "request.json"),
        (
            r#"{"profile":{"kind":"builtin","value":"x"}}"#,
            "corrupt_document",
            "profile_source",
        ),
        (
            &request.to_string().replacen("\"builtin\"", "\"odd\"", 1),
            "corrupt_document",
            "request.json",
        ),
        (
            &request
                .to_string()
                .replacen('{', "{\"idempotency_key\":\"k\",", 1),
            "corrupt_document",
            "idempotency",
        ),
        (
            &request.to_string().replacen('{', "{\"a\":1,\"a\":2,", 1),
            "corrupt_document",
            "request.json",
        ),
    ] {
        env.write("request.json", text);
        let wanted = Refusal {
            code: "bad_input",
            exit: 2,
            says,
            hint: code,
        };
        refused(
            &env,
            &store,
            &["worker", "create", "--request", "request.json"],
            &wanted,
        );
    }
    let mut unsafe_name = request;
    unsafe_name["display_name"] = "7".into();
    env.write("request.json", document(&unsafe_name));
    let wanted = Refusal {
        code: "unsafe_name",
        exit: 3,
        says: "form of an id",
        hint: "",
    };
    refused(
        &env,
        &store,
        &["worker", "create", "--request", "request.json"],
        &wanted,
    );
    let out = wagg(&env, &store, &["worker", "create", "--request", "nowhere"]).status(14);
    assert!(out.stderr.contains("nowhere"), "{out}");
    let both = [
        "worker",
        "create",
        "--request",
        "request.json",
        "--name",
        "x",
    ];
    let _ = wagg(&env, &store, &both).status(2);
}

#[test]
fn names_that_could_not_be_typed_back_are_refused() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    let long = "x".repeat(300);
    for name in [
        "7",
        "cafe",
        "0189abcd",
        "01890000-0000-7000-8000-000000000011",
        "7/active",
        "a/b",
        "..",
        ".",
        "",
        "name:x",
        " x",
        "a\nb",
        &long,
    ] {
        let wanted = Refusal {
            code: "unsafe_name",
            exit: 3,
            says: "display name",
            hint: "wagg worker create --name",
        };
        let name = format!("--name={name}");
        refused(&env, &store, &["worker", "create", &name], &wanted);
    }
    let wanted = Refusal {
        code: "usage",
        exit: 2,
        says: "profile",
        hint: "",
    };
    refused(
        &env,
        &store,
        &["worker", "create", "--profile", ""],
        &wanted,
    );
    let wanted = Refusal {
        code: "usage",
        exit: 2,
        says: "workspace",
        hint: "",
    };
    refused(
        &env,
        &store,
        &["worker", "create", "--workspace", ""],
        &wanted,
    );
}

/// C13: the Runtime of a live run holds the catalog in memory.
#[test]
fn c13_no_worker_is_created_under_a_live_runtime() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("s"));
    let worker = store.worker(3);
    worker.run(1);
    let _listener = worker.live(1);
    let wanted = Refusal {
        code: "runtime_live",
        exit: 3,
        says: "run 1 of Worker 3",
        hint: "stop the Runtime",
    };
    refused(&env, &store, &["worker", "create"], &wanted);
}

#[test]
fn stores_that_are_not_written_are_refused() {
    let env = TestEnv::new();
    let v3 = TestStore::v3(env.path("v3"));
    let wanted = Refusal {
        code: "unsupported_schema_version",
        exit: 12,
        says: "version 3",
        hint: "Runtime",
    };
    refused(&env, &v3, &["worker", "create"], &wanted);
    let lost = TestStore::v1(env.path("lost"));
    std::fs::remove_file(lost.path("runtime.json")).unwrap();
    let wanted = Refusal {
        code: "missing_catalog",
        exit: 5,
        says: "runtime.json",
        hint: "wagg verify",
    };
    refused(&env, &lost, &["worker", "create"], &wanted);
    assert!(!lost.path(".wagg").exists() && !v3.path(".wagg").exists());
    let last = TestStore::v1(env.path("last"));
    edit(last.path("runtime.json"), |r| {
        r["next_worker_sequence"] = u64::MAX.into()
    });
    let wanted = Refusal {
        code: "number_out_of_range",
        exit: 5,
        says: "used up",
        hint: "",
    };
    refused(&env, &last, &["worker", "create"], &wanted);
    let none = env
        .wagg(["--store", "nowhere", "worker", "create"])
        .status(10);
    assert!(none.stderr.contains("store_not_found"), "{none}");
}

fn family(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path("s"));
    let worker = store.worker(7);
    store.worker(8);
    let rule = |target: &str| json!({ "target": target, "permission": "write", "recursive": true });
    let metadata = json!({
        "worker_name": "worker-runtime-7",
        "zz_unknown": 1,
        "spawned_children": [
            {
                "worker_name": "worker-runtime-8",
                "socket_path": "/tmp/8.sock",
                "scope_delegated": [rule("/srv/a"), rule("/srv/b")],
                "callback_address": "x",
                "later": { "n": 1 }
            },
            {
                "worker_name": "far away",
                "socket_path": "/tmp/9.sock",
                "scope_delegated": [],
                "callback_address": "x"
            }
        ],
        "peers": [{ "worker_name": "zoe", "since": 3 }]
    });
    put(
        worker.path("metadata.json"),
        serde_json::to_vec_pretty(&metadata).unwrap(),
    );
    store
}

/// C30: the delegated scope moves in the same replacement.
#[test]
fn c30_reclaim_moves_the_scope() {
    let env = TestEnv::new();
    let store = family(&env);
    let list = ["worker", "children", "7", "--format", "json"];
    let out = unchanged(&[store.root()], "worker children", || {
        wagg(&env, &store, &list).ok()
    });
    schema::check("worker.children", &out.json());
    assert_eq!(out.json()["children"][0]["worker_id"], "8");
    assert_eq!(out.json()["children"][1]["state"], "spawned");
    let made = receipt(
        &env,
        &store,
        "worker.reclaim",
        &["worker", "reclaim", "7", "8"],
    );
    assert_eq!(made["child"], "worker-runtime-8");
    let path = store.path("workers/7/metadata.json");
    let now = read(&path);
    assert_eq!(now["spawned_children"].as_array().unwrap().len(), 1);
    assert_eq!(
        now["reclaimed_children"],
        json!([{
            "worker_name": "worker-runtime-8",
            "scope_delegated": [
                { "target": "/srv/a", "permission": "write", "recursive": true },
                { "target": "/srv/b", "permission": "write", "recursive": true }
            ],
            "later": { "n": 1 }
        }])
    );
    assert_eq!(
        (&now["zz_unknown"], &now["peers"][0]["since"]),
        (&json!(1), &json!(3))
    );
    assert!(!std::fs::read(&path).unwrap().ends_with(b"\n"));
    // Once more: the same outcome, no effect.
    let bytes = std::fs::read(&path).unwrap();
    let again = receipt(
        &env,
        &store,
        "worker.reclaim",
        &["worker", "reclaim", "7", "8"],
    );
    assert_eq!(again["outcome"], "no_change");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let out = wagg(&env, &store, &["worker", "reclaim", "7", "name:far away"]).ok();
    assert_eq!(out.stdout(), "7\n");
    assert!(read(&path).get("spawned_children").is_none());
    let out = wagg(&env, &store, &["worker", "children", "7"]).ok();
    assert_eq!(out.stdout().lines().count(), 2);
    assert!(
        out.stdout().starts_with("worker-runtime-8\t8\treclaimed\t"),
        "{out}"
    );
    let out = wagg(&env, &store, &["worker", "children", "8"]).status(0);
    assert_eq!((out.stdout(), &*out.stderr), ("", "no children\n"));
}

/// C30: what a child held is added to what was taken back from it before.
#[test]
fn c30_reclaim_adds_to_what_was_reclaimed() {
    let env = TestEnv::new();
    let store = family(&env);
    let path = store.path("workers/7/metadata.json");
    edit(&path, |m| {
        let rule = &m["spawned_children"][0]["scope_delegated"][1];
        m["reclaimed_children"] =
            json!([{ "worker_name": "worker-runtime-8", "scope_delegated": [rule] }]);
    });
    let out = wagg(&env, &store, &["verify", "--format", "json"]).status(0);
    assert_eq!(
        out.json()["findings"][0]["code"],
        "scope_not_reclaimed",
        "{out}"
    );
    let _ = wagg(&env, &store, &["worker", "reclaim", "7", "8"]).ok();
    let now = read(&path);
    let scope = now["reclaimed_children"][0]["scope_delegated"]
        .as_array()
        .unwrap();
    assert_eq!(scope.len(), 2);
    assert_eq!(now["reclaimed_children"].as_array().unwrap().len(), 1);
}

#[test]
fn c30_peers_stay_sorted_and_unknown_fields_stay() {
    let env = TestEnv::new();
    let store = family(&env);
    let path = store.path("workers/7/metadata.json");
    for peer in ["8", "name:amy", "name:worker-runtime-99"] {
        let out = wagg(&env, &store, &["worker", "peer", "add", "7", peer]).ok();
        assert_eq!(out.stdout(), "7\n");
    }
    let made = receipt(
        &env,
        &store,
        "worker.peer.add",
        &["worker", "peer", "add", "7", "demo 8"],
    );
    assert_eq!(
        (&made["outcome"], &made["peer"]),
        (&json!("no_change"), &json!("worker-runtime-8"))
    );
    assert_eq!(
        read(&path)["peers"],
        json!([
            { "worker_name": "amy" },
            { "worker_name": "worker-runtime-8" },
            { "worker_name": "worker-runtime-99" },
            { "worker_name": "zoe", "since": 3 }
        ])
    );
    // A Worker that is gone is still taken off by its id.
    for peer in ["99", "amy", "8", "name:nobody"] {
        let args = ["worker", "peer", "remove", "7", peer];
        receipt(&env, &store, "worker.peer.remove", &args);
    }
    assert_eq!(
        read(&path)["peers"],
        json!([{ "worker_name": "zoe", "since": 3 }])
    );
    let _ = wagg(&env, &store, &["worker", "peer", "remove", "7", "zoe"]).ok();
    assert!(read(&path).get("peers").is_none());
    assert!(!std::fs::read(&path).unwrap().ends_with(b"\n"));
    // A Worker without metadata gets some, as a Runtime would write it.
    let _ = wagg(&env, &store, &["worker", "peer", "add", "8", "7"]).ok();
    let text = std::fs::read_to_string(store.path("workers/8/metadata.json")).unwrap();
    assert_eq!(
        text,
        "{\n  \"worker_name\": \"worker-runtime-8\",\n  \"peers\": [\n    {\n      \"worker_name\": \"worker-runtime-7\"\n    }\n  ]\n}"
    );
}

#[test]
fn what_can_not_be_changed_is_refused() {
    let env = TestEnv::new();
    let store = family(&env);
    let no = |code, exit, says, hint| Refusal {
        code,
        exit,
        says,
        hint,
    };
    let refuse = |args: &[&str], wanted: Refusal| refused(&env, &store, args, &wanted);
    refuse(
        &["worker", "reclaim", "7", "name:nobody"],
        no("not_found", 4, "nobody", "wagg worker children 7"),
    );
    refuse(
        &["worker", "reclaim", "8", "7"],
        no("not_found", 4, "no child", "wagg worker children 8"),
    );
    refuse(
        &["worker", "reclaim", "7", "nobody"],
        no("not_found", 4, "nobody", "name:nobody"),
    );
    refuse(
        &["worker", "reclaim", "70", "8"],
        no("not_found", 4, "70", "wagg worker list"),
    );
    refuse(
        &["worker", "peer", "add", "7", "99"],
        no("not_found", 4, "99", "name:99"),
    );
    let long = format!("name:{}", "x".repeat(300));
    for peer in ["name:a/b", "name:..", "name:", &long] {
        refuse(
            &["worker", "peer", "add", "7", peer],
            no("unsafe_name", 3, "peer", "name:NAME"),
        );
    }
    refuse(
        &[
            "worker",
            "peer",
            "add",
            "7",
            "8",
            "--expect-generation",
            "3",
        ],
        no("fenced", 3, "generation of Worker 7 is 0", ""),
    );
    // C13: a live Worker's metadata is its Runtime's.
    let worker = store.worker(7);
    worker.run(1);
    let listener = worker.live(1);
    for args in [
        ["worker", "reclaim", "7", "8"],
        ["worker", "peer", "7", "8"],
    ] {
        let args: Vec<&str> = if args[1] == "peer" {
            vec!["worker", "peer", "add", "7", "8"]
        } else {
            args.to_vec()
        };
        refuse(
            &args,
            no("worker_live", 3, "run 1 of Worker 7", "wagg run stop 7"),
        );
    }
    drop(listener);
    std::fs::write(store.path("workers/7/metadata.json"), "{").unwrap();
    refuse(
        &["worker", "reclaim", "7", "8"],
        no("corrupt_document", 5, "metadata.json", "wagg verify"),
    );
    let out = wagg(&env, &store, &["worker", "children", "7"]).status(5);
    assert!(out.stderr.contains("corrupt_document"), "{out}");
    std::fs::remove_file(store.path("workers/7/metadata.json")).unwrap();
    std::os::unix::fs::symlink(env.path("x"), store.path("workers/7/metadata.json")).unwrap();
    refuse(
        &["worker", "peer", "add", "7", "8"],
        no("symbolic_link", 3, "metadata.json", ""),
    );
    refuse(
        &["worker", "reclaim", "7", "8"],
        no("symbolic_link", 3, "metadata.json", ""),
    );
}
