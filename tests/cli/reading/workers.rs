//! `wagg worker list` and `wagg worker show`.

use serde_json::json;

use super::Place;
use crate::support::store::{edit, id};
use crate::support::{Log, damage, schema};

#[test]
fn a_list_says_at_a_glance_how_each_worker_is() {
    let place = Place::usual();
    let three = place.store.worker(3);
    three.active(3, None);
    let four = place.store.worker(4);
    four.usual(4);
    damage::remove(&four.path("session/session.json"));
    four.run_folder(5);
    place.store.worker(5).usual(5);
    place.store.worker_folder(5).edit_metadata(|metadata| {
        metadata["worker_name"] = "../x".into();
        metadata["active"]["segment_id"] = id(0x99).into();
    });
    let _listener = place.store.worker_folder(5).live(1);
    std::fs::create_dir(place.store.path("workers/not-a-worker")).unwrap();

    let out = place.line("worker list").ok();
    let rows: Vec<Vec<&str>> = out
        .stdout()
        .lines()
        .map(|l| l.split('\t').collect())
        .collect();
    let active = |n| id(n);
    assert_eq!(rows.len(), 5, "{out}");
    assert_eq!(rows[0][..5], ["1", "demo 1", "present", &active(0x13), "4"]);
    assert_eq!(rows[0][6..], ["1", "documents ok"]);
    assert_eq!(
        rows[1],
        ["2", "demo 2", "none", "-", "0", "0", "-", "documents ok"]
    );
    assert_eq!(
        rows[2],
        [
            "3",
            "demo 3",
            "reserved",
            "-",
            "0",
            "0",
            "-",
            "documents ok"
        ]
    );
    assert_eq!(rows[3][2], "damaged");
    assert_eq!(rows[3][7], "missing_session_document, generation_behind");
    assert_eq!(
        rows[4][6..],
        ["1 live", "active_missing_segment, unsafe_name"]
    );

    let document = place.line("worker list --format json").ok().json();
    schema::check("worker.list", &document);
    let first = &document["workers"][0];
    assert_eq!(first["worker_id"], "1");
    assert_eq!(first["active_segment_id"], active(0x13));
    assert!(first["trace_bytes"].as_u64().unwrap() > 0);
    assert_eq!(document["workers"][4]["live_runs"], json!(["1"]));

    let lines = place.line("worker list --format ndjson").ok().lines();
    assert_eq!(
        lines.last().unwrap(),
        &json!({"type": "summary", "schema": "wagg.worker.list/1", "workers": 5})
    );
    assert!(lines[..5].iter().all(|line| line["type"] == "worker"));

    assert_eq!(
        place.line("worker list --ids").ok().stdout(),
        "1\n2\n3\n4\n5\n"
    );
    assert_eq!(
        place.line("worker list -0").ok().bytes(),
        b"1\x002\x003\x004\x005\x00"
    );
}

/// What a list says is wrong, `verify` says too: the two never tell different stories.
#[test]
fn a_list_agrees_with_verify() {
    let place = Place::usual();
    let worker = |n: u64| {
        let worker = place.store.worker(n);
        worker.usual(n);
        worker
    };
    damage::remove(&worker(3).path("worker.json"));
    std::fs::write(worker(4).path("worker.json"), b"{").unwrap();
    edit(worker(5).path("worker.json"), |w| w["worker_id"] = 6.into());
    std::fs::write(worker(6).path("metadata.json"), b"").unwrap();
    damage::remove(&worker(7).path("metadata.json"));
    worker(8).active(99, Some(0x81));
    let nine = worker(9);
    damage::remove(&nine.segment_path(0x91));
    damage::symlink(&nine.segment_path(0x91), "/etc/passwd");
    let ten = worker(10);
    std::fs::write(ten.path("session/segments/x.jsonl"), b"").unwrap();
    let eleven = worker(11);
    damage::remove(&eleven.path("session"));
    damage::symlink(&eleven.path("session"), "../10/session");
    worker(12).edit_metadata(|m| m["worker_name"] = "worker-runtime-1".into());
    worker(13).edit_metadata(|m| {
        let scope = json!([]);
        m["spawned_children"] = json!([{ "worker_name": "a", "socket_path": "/x", "scope_delegated": scope, "callback_address": "c" }]);
        m["reclaimed_children"] = json!([{ "worker_name": "a", "scope_delegated": scope }]);
    });
    let list = place.line("worker list --format json").ok().json();
    let verify = place.line("verify --quick --format json").json();
    for worker in list["workers"].as_array().unwrap() {
        let id = &worker["worker_id"];
        let told: Vec<&str> = worker["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|code| code.as_str().unwrap())
            .collect();
        let mut found: Vec<&str> = verify["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|f| f["worker_id"] == *id && f["severity"] != "info")
            .map(|f| f["code"].as_str().unwrap())
            // these need all Workers, or more than names and documents
            .filter(|code| {
                ![
                    "duplicate_worker_id",
                    "sequence_behind",
                    "empty_segment",
                    "lineage_missing_source",
                    "session_shared",
                ]
                .contains(code)
            })
            .collect();
        found.sort_by_key(|code| {
            let code: wagg::diag::Code = code.parse().unwrap();
            code
        });
        found.dedup();
        assert_eq!(told, found, "Worker {id}");
        if id.as_str().unwrap().parse::<u64>().unwrap() > 2 {
            assert!(!told.is_empty(), "Worker {id}");
        }
    }
}

#[test]
fn one_worker_is_shown_with_its_relatives_and_findings() {
    let place = Place::usual();
    place.store.worker_folder(1).edit_metadata(|metadata| {
        metadata["spawned_children"] = json!([{
            "worker_name": "worker-runtime-2",
            "socket_path": "/run/demo/x.sock",
            "scope_delegated": [{ "target": "/a", "permission": "read", "recursive": true }],
            "callback_address": "c"
        }]);
        metadata["peers"] = json!([{ "worker_name": "elsewhere" }]);
    });
    damage::torn_tail(&place.store.worker_folder(1).segment_path(0x12));
    let out = place.line("worker show 1").ok();
    for line in [
        "worker\t1",
        "name\tdemo 1",
        "profile\tbuiltin:coder",
        "session\tpresent",
        &format!("session id\t{}", id(1)),
        &format!("active segment\t{}", id(0x13)),
        "segments\t4",
        "child\tworker-runtime-2 (1 scope rule)",
        "peer\telsewhere",
        "state\ttorn_tail",
    ] {
        assert!(out.stdout().lines().any(|one| one == line), "{line}\n{out}");
    }
    assert!(
        out.stdout().contains("finding\twarning\ttorn_tail\t"),
        "{out}"
    );
    let document = place.line("worker show 1 --format json").ok().json();
    schema::check("worker.show", &document);
    let worker = &document["workers"][0];
    assert_eq!(worker["children"][0]["worker_id"], "2");
    assert_eq!(worker["children"][0]["scope"][0]["target"], "/a");
    assert_eq!(worker["peers"][0]["worker_id"], json!(null));
    let codes: Vec<_> = worker["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["code"])
        .collect();
    assert!(codes.contains(&&json!("torn_tail")), "{codes:?}");
}

/// On a terminal a table, with ids as short as they are unique.
#[test]
fn a_table_has_short_ids_that_lead_back() {
    let place = Place::new();
    let worker = place.store.worker(1);
    worker.session(1);
    // ids that differ early, as those that a clock gives do
    for name in [
        "019fd5e5-6ef8-7bb3-8567-6914f2d42dc5",
        "019fe462-4c33-7f3a-a381-3f52673c9eff",
    ] {
        let bytes = Log::start(1).turns(1).bytes();
        std::fs::write(worker.path(format!("session/segments/{name}.jsonl")), bytes).unwrap();
    }
    worker.active(1, None).edit_metadata(|metadata| {
        metadata["active"]["segment_id"] = "019fe462-4c33-7f3a-a381-3f52673c9eff".into();
    });
    let out = place.line("worker list --format table").ok();
    assert_eq!(
        out.stdout(),
        "ID  NAME    SESSION  ACTIVE    SEGS     SIZE  RUN  STATE\n\
         1   demo 1  present  019fe462     2  2.2 KiB  -    documents ok\n"
    );
    let out = place.line("segment list 1 --format table").ok();
    for line in out.stdout().lines().skip(1) {
        let short = line
            .trim_start_matches('*')
            .split_whitespace()
            .next()
            .unwrap();
        assert_eq!(short.len(), 8, "{out}");
        let _ = place.run(["segment", "show", short]).ok();
    }
}
