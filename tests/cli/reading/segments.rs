//! `wagg segment list`, `show`, `diff` and `digest`.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Place;
use crate::support::log::{call_item, result_item, text_item};
use crate::support::store::id;
use crate::support::{Log, damage, schema};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

#[test]
fn a_list_counts_what_a_restore_would_see() {
    let place = Place::usual();
    let document = place.line("segment list 1 --format json").ok().json();
    schema::check("segment.list", &document);
    let rows = document["segments"].as_array().unwrap();
    let pick = |row: &Value| {
        json!([
            row["segment_id"],
            row["active"],
            row["turn"],
            row["records"],
            row["history_items"],
            row["inputs"],
            row["interrupted"],
            row["depth"],
            row["children"]
        ])
    };
    let picked: Vec<Value> = rows.iter().map(pick).collect();
    assert_eq!(
        picked,
        [
            json!([id(0x11), false, 2, 15, 6, 2, false, 0, 2]),
            json!([id(0x12), false, 2, 7, 2, 1, false, 1, 0]),
            json!([id(0x13), true, 3, 10, 5, 2, true, 1, 1]),
            json!([id(0x14), false, 4, 7, 2, 1, false, 2, 0]),
        ]
    );
    let root = &rows[0];
    assert_eq!(root["input_tokens"], 100 + 20 * 4 + 100 + 20 * 6);
    assert_eq!(root["output_tokens"], 40);
    assert_eq!(root["last_input_tokens"], 220);
    assert_eq!(root["first_time"], "2023-11-14T22:13:20Z");
    assert_eq!(
        root["trace_bytes"].as_u64().unwrap() as usize,
        crate::support::log::trace().len()
    );
    assert_eq!(
        rows[1]["forked_from"],
        json!({"segment_id": id(0x11), "at_turn_index": 1, "present": true})
    );
    assert_eq!(rows[2]["compacted_from"]["at_turn_index"], 2);
    assert_eq!(
        place.line("segment list 2").status(0).stderr,
        "no Segments\n"
    );
    assert_eq!(
        place.line("segment list 1 --ids").ok().stdout(),
        format!("{}\n{}\n{}\n{}\n", id(0x11), id(0x12), id(0x13), id(0x14))
    );
}

#[test]
fn a_tree_shows_who_descends_from_whom() {
    let place = Place::usual();
    let worker = place.store.worker_folder(1);
    worker.segment(0x15, &Log::forked(1, 0x12, 2).turn("Deeper."));
    worker.segment(0x16, &Log::start(1));
    worker.segment(0x17, &Log::forked(1, 0x99, 2));
    let out = place.line("segment list 1 --tree --format table").ok();
    let first: Vec<String> = out
        .stdout()
        .lines()
        .skip(1)
        .map(|line| {
            line.chars()
                .take(3 + 4 + 36 + 16)
                .collect::<String>()
                .trim_end()
                .to_owned()
        })
        .collect();
    assert_eq!(
        first,
        [
            format!("   {}", id(0x11)) + "      -",
            format!("   ├─{}    fork @1", id(0x12)),
            format!("   │ └─{}  fork @2", id(0x15)),
            format!("*  └─{}    compact @2", id(0x13)),
            format!("     └─{}  fork @3", id(0x14)),
            format!("   {}      -", id(0x16)),
            format!("   {}      fork 01890000…", id(0x17)),
        ],
        "{out}"
    );
    assert!(
        out.stdout().contains("fork 01890000… @2 (not here)"),
        "{out}"
    );
    // the same columns in a pipe, without the drawing
    let out = place.line("segment list 1 --tree").ok();
    let second = out.stdout().lines().nth(2).unwrap();
    assert!(
        second.starts_with(&format!("no\t{}\tfork {} @2\t", id(0x15), id(0x12))),
        "{out}"
    );
}

/// C27: what is wrong with lineage is seen here too, and ends nothing.
#[test]
fn c27_broken_lineage_is_listed() {
    let place = Place::new();
    let worker = place.store.worker(1);
    worker
        .session(1)
        .segment(0x11, &Log::forked(1, 0x12, 1))
        .segment(0x12, &Log::forked(1, 0x11, 1))
        .segment(0x13, &Log::compacted(1, 0x13, 1))
        .segment(0x14, &Log::start(2))
        .active(1, Some(0x11));
    let document = place
        .line("segment list 1 --tree --format json")
        .ok()
        .json();
    let rows = document["segments"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let of = |n: u64| rows.iter().find(|row| row["segment_id"] == id(n)).unwrap();
    assert_eq!(of(0x13)["problems"], json!(["lineage_cycle"]));
    assert_eq!(of(0x14)["problems"], json!(["session_mismatch"]));
    let shown = place
        .run(["segment", "show", &id(0x11), "--format", "json"])
        .ok()
        .json();
    assert_eq!(shown["segments"][0]["ancestors"], json!([id(0x12)]));
}

#[test]
fn one_segment_is_shown_in_full() {
    let place = Place::usual();
    let worker = place.store.worker_folder(1);
    let path = worker.segment_path(0x11);
    let committed = std::fs::read(&path).unwrap();
    damage::append(&path, b"{\"kind\":\"inv");
    let document = place
        .run(["segment", "show", &id(0x11), "--format", "json"])
        .ok()
        .json();
    schema::check("segment.show", &document);
    let shown = &document["segments"][0];
    assert_eq!(shown["sha256"], sha256(&committed));
    assert_eq!(shown["committed_bytes"], committed.len());
    assert_eq!(shown["tail_bytes"], 12);
    assert_eq!(shown["child_segment_ids"], json!([id(0x12), id(0x13)]));
    assert_eq!(shown["findings"][0]["code"], "torn_tail");
    assert_eq!(shown["findings"][0]["line"], 16);
    assert_eq!(shown["problems"], json!(["torn_tail"]));
    let out = place.line("segment show 1/latest").ok();
    for line in [
        format!("segment\t{}", id(0x14)),
        format!("from\tfork {} @3", id(0x13)),
        format!("ancestors\t{} {}", id(0x13), id(0x11)),
        "turn\t4".to_owned(),
        "history items\t2".to_owned(),
    ] {
        assert!(out.stdout().lines().any(|one| one == line), "{line}\n{out}");
    }
    // damage in the middle is shown, and what lies behind it is counted
    damage::replace_line(&path, 3, b"{not json");
    let out = place.run(["segment", "show", &id(0x11)]).ok();
    assert!(out.stdout().contains("bad lines\t1\n"), "{out}");
    assert!(out.stdout().contains("records\t14\n"), "{out}");
    assert!(
        out.stdout().contains("finding\terror\tcorrupt_record\t"),
        "{out}"
    );
}

#[test]
fn a_digest_is_over_what_is_committed() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x12);
    damage::insert_line(&path, 3, b"  ");
    let bytes = std::fs::read(&path).unwrap();
    damage::append(&path, b"torn");
    let out = place.run(["segment", "digest", &id(0x12)]).ok();
    assert_eq!(out.stdout(), format!("{}\n", sha256(&bytes)));
    // N counts lines that are not blank: record 3 stands on line 4
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    for (n, taken) in [(0, 0), (1, 1), (2, 2), (3, 4), (7, 8)] {
        let n = n.to_string();
        let out = place.run([
            "segment",
            "digest",
            &id(0x12),
            "--at-record",
            &n,
            "--format",
            "json",
        ]);
        let document = out.ok().json();
        schema::check("segment.digest", &document);
        let digest = &document["segments"][0];
        let prefix = lines[..taken].concat();
        assert_eq!(digest["sha256"], sha256(&prefix), "{n}");
        assert_eq!(digest["bytes"], prefix.len());
        assert_eq!(digest["records"].to_string(), n);
    }
    let out = place
        .run(["segment", "digest", &id(0x12), "--at-record", "8"])
        .status(4);
    assert!(
        out.stderr
            .contains("has 7 committed records, and no record 8"),
        "{out}"
    );
}

#[test]
fn a_diff_finds_where_two_histories_part() {
    let place = Place::usual();
    let other = place.store.worker(3);
    // the same beginning, written by somebody else: other order of keys, defaults spelt out
    let call = |item: Value| json!({ "item": item });
    let mut result = result_item("call_1");
    result["is_error"] = json!(false);
    result["content"] = Value::Null;
    let log = Log::start(3)
        .record(
            "assistant_item",
            json!({ "item": { "role": "user", "content": [{ "text": "Question number 1.", "kind": "text" }], "kind": "message" } }),
        )
        .record("assistant_item", call(call_item("call_1")))
        .record("tool_result", call(result))
        .turn_end()
        .record("assistant_item", call(text_item("assistant", "Something else.")))
        .record("assistant_item", call(text_item("assistant", "And more.")));
    other.session(3).segment(0x31, &log).active(3, Some(0x31));
    let out = place.run(["segment", "diff", &id(0x11), "3/active", "--format", "json"]);
    let document = out.ok().json();
    schema::check("segment.diff", &document);
    let summary = &document["summary"];
    assert_eq!(summary["common_items"], 3);
    assert_eq!(summary["same_history"], false);
    assert_eq!(summary["same_system_prompt"], true);
    assert_eq!(summary["last_common"]["kind"], "tool_result");
    let sides = document["segments"].as_array().unwrap();
    assert_eq!(sides[0]["own_items"], 3);
    assert_eq!(sides[1]["own_items"], 2);
    assert_eq!(sides[1]["worker_id"], "3");
    assert_eq!(sides[0]["items"][0]["text"], "Looked it up.");
    assert_eq!(sides[1]["items"][0]["text"], "Something else.");
    assert_eq!(sides[1]["items"][0]["line"], 6);
    assert_eq!(sides[1]["items"][0]["turn"], 1);

    let out = place
        .run(["segment", "diff", &id(0x11), "3/active", "--limit", "1"])
        .ok();
    assert!(out.stdout().contains("common items\t3\n"), "{out}");
    assert!(
        out.stdout()
            .contains("item\ta\t3\t6\t0\tassistant\tmessage\tLooked it up.\n"),
        "{out}"
    );
    assert!(!out.stdout().contains("And more."), "{out}");

    let out = place
        .line("segment diff 1/active 1/active --format json")
        .ok()
        .json();
    assert_eq!(out["summary"]["same_history"], true);
    assert_eq!(out["segments"][0]["own_items"], 0);
}

/// A diff fails closed, as a restore does.
#[test]
fn a_diff_of_damage_names_the_place() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x12);
    let at = damage::offset_of(&path, 4);
    damage::replace_line(&path, 4, b"{\"kind\":\"no_such_kind\",\"ts\":1}");
    let out = place
        .run(["segment", "diff", &id(0x11), &id(0x12), "--format", "json"])
        .status(5);
    let error = out.error();
    assert_eq!(error["code"], "unknown_kind");
    assert_eq!(error["line"], 4);
    assert!(error["byte"].as_u64().unwrap() >= at);
    assert_eq!(error["hint"], "wagg --store store verify 1");
    assert_eq!(error["effects_applied"], "none");
}
