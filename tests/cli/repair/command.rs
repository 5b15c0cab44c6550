//! How `wagg repair` behaves as a command: exit statuses, plan files, what is refused, what a retry
//! answers.

use serde_json::Value;

use super::kit::{same_trees, tree};
use crate::support::store::{edit, id, put};
use crate::support::{Log, Output, TestEnv, TestStore, TestWorker, damage, schema};

/// A store with one whole Worker.
struct Kit {
    env: TestEnv,
    store: TestStore,
    worker: TestWorker,
}

impl Kit {
    fn new() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        let worker = store.worker(7);
        worker.usual(7);
        Self { env, store, worker }
    }

    fn segment(&self) -> std::path::PathBuf {
        self.worker.segment_path(0x71)
    }

    fn wagg(&self, args: &[&str]) -> Output {
        let mut all = vec!["--store", "store"];
        all.extend(args);
        self.env.wagg(all)
    }

    fn json(&self, args: &[&str]) -> Output {
        let mut all = vec!["--format", "json"];
        all.extend(args);
        self.wagg(&all)
    }

    fn tree(&self) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
        tree(self.store.root())
    }
}

fn states(out: &Output) -> Vec<String> {
    let document = out.json();
    schema::check("repair", &document);
    let items = document["items"].as_array().unwrap();
    let state = |item: &Value| item["state"].as_str().unwrap().to_owned();
    items.iter().map(state).collect()
}

#[test]
fn nothing_to_do_is_an_answer() {
    let kit = Kit::new();
    let before = kit.tree();
    for args in [&["repair"][..], &["repair", "--apply"], &["repair", "7"]] {
        let out = kit.wagg(args).status(0);
        assert_eq!(out.stdout(), "", "{out}");
        assert_eq!(out.stderr, "nothing to do\n", "{out}");
    }
    same_trees(&kit.tree(), &before, "nothing to do");
    assert!(!kit.store.path(".wagg/journal.jsonl").exists());
}

#[test]
fn the_status_says_whether_something_is_left() {
    let kit = Kit::new();
    damage::torn_tail(&kit.segment());
    damage::broken_utf8(&kit.segment(), 5);
    // the plan is not empty
    let out = kit.json(&["repair"]).status(1);
    assert_eq!(states(&out), ["needs_allow_lossy", "planned"]);
    // a dry run ends as the command would
    let _ = kit.json(&["repair", "--apply", "--dry-run"]).status(1);
    // items are left
    let out = kit.json(&["repair", "--apply"]).status(1);
    assert_eq!(states(&out), ["needs_allow_lossy", "done"]);
    assert_eq!(out.json()["outcome"], "partial");
    let _ = kit
        .json(&["repair", "--apply", "--allow-lossy", "--dry-run"])
        .status(0);
    let out = kit.json(&["repair", "--apply", "--allow-lossy"]).status(0);
    assert_eq!(out.json()["outcome"], "done");
    let _ = kit.json(&["repair"]).status(0);
}

/// A remark that only a person can do something about does not make a plan of its own.
#[test]
fn what_may_stay_as_it_is_keeps_no_plan_from_being_empty() {
    let kit = Kit::new();
    kit.worker.edit_metadata(|m| {
        m["spawned_children"] = serde_json::json!([{
            "worker_name": "worker-runtime-99", "socket_path": "/x", "scope_delegated": [],
            "callback_address": "y"
        }]);
    });
    let out = kit.json(&["repair"]).status(0);
    let document = out.json();
    assert_eq!(document["items"][0]["code"], "child_missing", "{out}");
    assert_eq!(document["items"][0]["class"], "manual", "{out}");
    let commands = document["items"][0]["choices"].to_string();
    assert!(
        commands.contains("wagg --store store worker reclaim 7"),
        "{commands}"
    );
}

#[test]
fn only_and_workers_narrow_a_plan() {
    let kit = Kit::new();
    kit.store.worker(8).usual(8);
    damage::torn_tail(&kit.segment());
    damage::torn_tail(&kit.store.worker_folder(8).segment_path(0x81));
    kit.worker.run_folder(4);
    assert_eq!(states(&kit.json(&["repair"]).status(1)).len(), 3);
    assert_eq!(states(&kit.json(&["repair", "7"]).status(1)).len(), 2);
    let only = ["repair", "--only", "generation_behind"];
    assert_eq!(states(&kit.json(&only).status(1)).len(), 1);
    let out = kit
        .json(&["repair", "8", "--only", "torn_tail", "--apply"])
        .status(0);
    assert_eq!(out.json()["operations"][0]["worker_id"], "8", "{out}");
    assert_eq!(states(&kit.json(&["repair"]).status(1)).len(), 2);
    // one operation a Worker
    let out = kit.json(&["repair", "--apply"]).status(0);
    assert_eq!(out.json()["operations"].as_array().unwrap().len(), 1);
    let _ = kit.wagg(&["repair", "99"]).status(4);
    let _ = kit.wagg(&["repair", "--only", "no_such_code"]).status(2);
}

#[test]
fn rows_ids_and_lines() {
    let kit = Kit::new();
    damage::torn_tail(&kit.segment());
    let out = kit.wagg(&["repair"]).status(1);
    let row: Vec<&str> = out.stdout().trim_end().split('\t').collect();
    assert_eq!(row[..5], ["1", "planned", "automatic", "torn_tail", "7"]);
    let out = kit.wagg(&["repair", "--ids"]).status(1);
    assert_eq!(out.stdout(), "7\n");
    let out = kit.wagg(&["repair", "--format", "ndjson"]).status(1);
    let lines = out.lines();
    assert_eq!(lines[0]["type"], "item");
    assert_eq!(lines[1]["type"], "summary");
    assert_eq!(lines[1]["items"], 1);
    assert_eq!(lines[1]["outcome"], "planned");
    let out = kit.wagg(&["repair", "--format", "table"]).status(1);
    for words in [
        "automatic[torn_tail]",
        "would cut the file",
        "before",
        "assistant_item",
    ] {
        assert!(out.stdout().contains(words), "{words}: {out}");
    }
    assert!(out.stderr.contains("repair --apply"), "{out}");
}

/// What is in a plan file is carried out, and what moved since is refused, item by item.
#[test]
fn a_plan_file_is_that_very_plan() {
    let kit = Kit::new();
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    let other = kit.worker.segment_path(0x72);
    damage::torn_tail(&kit.segment());
    damage::torn_tail(&other);
    let out = kit
        .json(&["repair", "7", "--plan-out", "plan.json"])
        .status(1);
    assert_eq!(states(&out), ["planned", "planned"]);
    // shown again from the file
    let again = kit.json(&["repair", "--plan", "plan.json"]).status(1);
    assert_eq!(again.json()["items"], out.json()["items"]);
    // one file moves on, and new damage comes that is not in the plan
    damage::append(&other, "more");
    kit.worker.run_folder(5);
    let out = kit
        .json(&["repair", "--plan", "plan.json", "--apply"])
        .status(1);
    assert_eq!(states(&out), ["done", "refused"]);
    let refusal = &out.json()["items"][1]["refusal"];
    assert_eq!(refusal["code"], "fenced");
    assert!(
        refusal["message"].as_str().unwrap().contains("digest"),
        "{refusal}"
    );
    let left = kit.json(&["repair"]).status(1);
    assert_eq!(states(&left), ["planned", "planned"]);
    // once more: what was done is no change, what moved is refused as before
    let out = kit
        .json(&["repair", "--plan", "plan.json", "--apply"])
        .status(3);
    assert_eq!(states(&out), ["no_change", "refused"]);
    assert_eq!(out.error()["code"], "fenced", "{out}");
}

/// Every kind of work that a plan can hold, carried out twice: the second time nothing is claimed,
/// nothing is written, and no undo is offered.
#[test]
fn a_plan_that_was_carried_out_is_nothing_to_do() {
    let kit = Kit::new();
    let _ = kit.wagg(&["segment", "fork", "7/active"]).status(0);
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    // lines: a tail, an automatic edit, a record taken out with one in its place
    damage::torn_tail(&kit.segment());
    damage::broken_utf8(&kit.worker.segment_path(0x72), 3);
    damage::append(&kit.worker.segment_path(0x72), "tail");
    // documents, in a Worker and in the catalog
    kit.worker.run_folder(9);
    edit(kit.store.path("runtime.json"), |c| {
        c["next_worker_sequence"] = 2.into();
    });
    // leftovers of both kinds
    put(kit.worker.path(".metadata.json.tmp-999999999-1"), "{}");
    std::fs::create_dir_all(kit.store.path(".wagg/staging/.w.staging-999999999")).unwrap();
    damage::append(&kit.store.path(".wagg/journal.jsonl"), "torn");
    let lossy = ["repair", "--allow-lossy", "--plan-out", "plan.json"];
    let planned = states(&kit.json(&lossy).status(1));
    assert!(
        planned.iter().all(|state| state == "planned"),
        "{planned:?}"
    );
    assert!(planned.len() >= 7, "{planned:?}");

    let apply = ["repair", "--plan", "plan.json", "--apply"];
    let out = kit.json(&apply).status(0);
    assert!(states(&out).iter().all(|state| state == "done"), "{out}");
    let before = kit.tree();
    let journal = std::fs::read(kit.store.path(".wagg/journal.jsonl")).unwrap();

    let out = kit.json(&apply).status(0);
    let document = out.json();
    assert!(
        states(&out).iter().all(|state| state == "no_change"),
        "{out}"
    );
    assert_eq!(document["outcome"], "no_change", "{out}");
    assert_eq!(document["summary"]["no_change"], planned.len(), "{out}");
    for receipt in document["operations"].as_array().unwrap() {
        assert_eq!(receipt["operation_id"], Value::Null, "{out}");
    }
    let out = kit.wagg(&apply).status(0);
    assert!(out.stderr.starts_with("nothing to do\n"), "{out}");
    assert!(!out.stderr.contains("undo"), "{out}");
    let out = kit
        .wagg(&[
            "repair",
            "--format",
            "table",
            "--plan",
            "plan.json",
            "--apply",
        ])
        .status(0);
    assert!(out.stdout().contains("no change"), "{out}");
    same_trees(&kit.tree(), &before, "carried out before");
    let after = std::fs::read(kit.store.path(".wagg/journal.jsonl")).unwrap();
    assert_eq!(after, journal, "no new operation");

    // what is appended to a mended file does not make its repair undone
    damage::append(&kit.segment(), Log::empty().turn("more").bytes());
    let out = kit.json(&apply).status(0);
    assert!(
        states(&out).iter().all(|state| state == "no_change"),
        "{out}"
    );
}

/// An operation that only settled an earlier one has nothing of its own: no undo is offered that
/// would be refused.
#[test]
fn no_undo_is_offered_where_there_is_nothing_to_undo() {
    let kit = Kit::new();
    let _ = kit.wagg(&["run", "reserve", "7"]).status(0);
    damage::append(&kit.store.path(".wagg/journal.jsonl"), "torn");
    let out = kit.wagg(&["repair", "--apply"]).status(0);
    assert!(out.stdout().contains("done"), "{out}");
    assert!(!out.stderr.contains("undo"), "{out}");
}

#[test]
fn an_edited_plan_file_is_refused() {
    let kit = Kit::new();
    damage::torn_tail(&kit.segment());
    let _ = kit.wagg(&["repair", "--plan-out", "plan.json"]).status(1);
    let before = kit.tree();
    let plan = kit.env.path("plan.json");
    let text = std::fs::read_to_string(&plan).unwrap();
    for (from, to) in [
        ("\"offset\": ", "\"offset\": 1"),
        ("torn_tail", "torn_tale"),
        ("\"allow_lossy\": false", "\"allow_lossy\": true"),
    ] {
        put(&plan, text.replacen(from, to, 1));
        let out = kit
            .json(&["repair", "--plan", "plan.json", "--apply"])
            .status(3);
        assert_eq!(out.error()["code"], "plan_mismatch", "{out}");
    }
    // spaces and the order of fields do not count
    let value: Value = serde_json::from_str(&text).unwrap();
    put(&plan, value.to_string());
    let _ = kit.json(&["repair", "--plan", "plan.json"]).status(1);
    put(&plan, "no plan");
    let out = kit.json(&["repair", "--plan", "plan.json"]).status(3);
    assert_eq!(out.error()["code"], "plan_mismatch", "{out}");
    same_trees(&kit.tree(), &before, "refused");
}

/// A file with a digest of its own that asks for what wagg would never plan is not obeyed.
#[test]
fn a_forged_plan_does_nothing() {
    use wagg::ops::change::fingerprint;
    let kit = Kit::new();
    damage::torn_tail(&kit.segment());
    let _ = kit.wagg(&["repair", "--plan-out", "plan.json"]).status(1);
    let before = kit.tree();
    let plan = kit.env.path("plan.json");
    let mut value: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    let map = value.as_object_mut().unwrap();
    map.remove("digest");
    map["works"][0]["work"]["edits"][0]["with"] = "{\"kind\":\"evil\"}\n".into();
    let digest = fingerprint("wagg.repair.plan/1", &value);
    value["digest"] = digest.into();
    put(&plan, value.to_string());
    let out = kit
        .json(&["repair", "--plan", "plan.json", "--apply"])
        .status(3);
    assert_eq!(out.error()["code"], "fenced", "{out}");
    same_trees(&kit.tree(), &before, "a forged plan");
}

/// C13: the ground is not pulled from under a live run; other Segments are mended all the same.
#[test]
fn c13_a_live_run_keeps_its_ground() {
    let kit = Kit::new();
    kit.worker.segment(0x72, &Log::forked(7, 0x71, 1).turns(1));
    damage::torn_tail(&kit.segment());
    let live = kit.worker.live(1);
    let before = kit.tree();
    let out = kit.json(&["repair"]).status(1);
    assert_eq!(states(&out), ["refused"]);
    let out = kit.json(&["repair", "7", "--apply"]).status(3);
    assert_eq!(out.error()["code"], "worker_live", "{out}");
    same_trees(&kit.tree(), &before, "live");
    damage::torn_tail(&kit.worker.segment_path(0x72));
    let out = kit.json(&["repair", "7", "--apply"]).status(1);
    assert_eq!(states(&out), ["refused", "done"]);
    // the catalog is the Runtime's
    crate::support::store::edit(kit.store.path("runtime.json"), |r| {
        r["next_worker_sequence"] = 2.into();
    });
    let out = kit
        .json(&["repair", "--only", "sequence_behind", "--apply"])
        .status(3);
    assert_eq!(out.error()["code"], "runtime_live", "{out}");
    drop(live);
    let out = kit.json(&["repair", "--apply"]).status(0);
    assert_eq!(states(&out), ["done", "done"]);
}

/// C15: the same request gives the same answer, to the byte, also after the store moved on.
#[test]
fn c15_a_retry_gives_the_same_answer() {
    let kit = Kit::new();
    damage::torn_tail(&kit.segment());
    kit.worker.run_folder(4);
    let args = ["repair", "7", "--apply", "--request-id", "r1"];
    let first = kit.json(&args).status(0);
    damage::torn_tail(&kit.segment());
    let second = kit.json(&args).status(0);
    assert_eq!(first.bytes(), second.bytes());
    assert_eq!(
        kit.wagg(&["op", "list", "--ids"])
            .ok()
            .stdout()
            .lines()
            .count(),
        1
    );
    let other = [
        "repair",
        "7",
        "--apply",
        "--allow-lossy",
        "--request-id",
        "r1",
    ];
    let out = kit.json(&other).status(3);
    assert_eq!(out.error()["code"], "request_mismatch", "{out}");
    // nothing to do binds it too
    let _ = kit.json(&["repair", "7", "--apply"]).status(0);
    let args = ["repair", "7", "--apply", "--request-id", "r2"];
    let first = kit.json(&args).status(0);
    assert_eq!(first.json()["outcome"], "no_change", "{first}");
    damage::torn_tail(&kit.segment());
    let second = kit.json(&args).status(0);
    assert_eq!(first.bytes(), second.bytes());
    // one request, one operation
    let args = ["repair", "--apply", "--request-id", "r3"];
    let _ = kit.json(&args).status(2);
}

/// A full disk: nothing is begun, and nothing is left in quarantine.
#[test]
fn a_full_disk_stops_a_repair_before_it_begins() {
    let mut full = 0;
    for step in 1..80 {
        let kit = Kit::new();
        damage::broken_utf8(&kit.segment(), 5);
        let before = kit.tree();
        let args = [
            "--store",
            "store",
            "--format",
            "json",
            "repair",
            "--apply",
            "--allow-lossy",
        ];
        let run = kit.env.prepare(args);
        let out = run.env("WAGG_FAULT", format!("ENOSPC:{step}")).run();
        if out.code == Some(14) {
            full += 1;
            same_trees(&kit.tree(), &before, "a full disk");
            let kept = kit.wagg(&["quarantine", "list", "--ids"]).status(0);
            assert_eq!(kept.stdout(), "", "step {step}");
            assert_eq!(out.error()["effects_applied"], "none", "step {step}: {out}");
        }
        // Whatever it said, the next one leads to the end.
        let _ = kit.json(&["repair", "--apply", "--allow-lossy"]).status(0);
        let _ = kit.json(&["verify", "--strict"]).status(0);
    }
    assert!(full > 5, "{full}");
}

/// Hidden ways out of the store are not taken: a link in the place of a Segment is nobody's to mend.
#[test]
fn c31_links_are_not_followed() {
    let kit = Kit::new();
    let outside = kit.env.write("outside.jsonl", "{\"torn");
    damage::symlink(&kit.segment(), &outside);
    let out = kit.json(&["repair", "--apply"]).status(1);
    assert!(!states(&out).contains(&"done".to_owned()), "{out}");
    assert_eq!(std::fs::read(&outside).unwrap(), b"{\"torn");
}

/// A temporary file whose process lives is not ours to clear.
#[test]
fn c7_a_leftover_of_a_living_process_stays() {
    let kit = Kit::new();
    let name = format!(".worker.json.tmp-{}-1", std::process::id());
    put(kit.worker.path(&name), "{");
    let out = kit.json(&["repair", "--apply"]).status(0);
    assert_eq!(states(&out), ["manual"]);
    assert!(kit.worker.path(&name).exists());
}

/// Where all else agrees on the id the document is written; where it does not, nobody guesses.
#[test]
fn a_session_is_never_guessed() {
    let kit = Kit::new();
    let path = kit.worker.path("session/session.json");
    std::fs::remove_file(&path).unwrap();
    kit.worker.active(9, Some(0x71));
    let out = kit.json(&["repair", "--apply"]).status(1);
    let document = out.json();
    let item = document["items"].as_array().unwrap();
    let item = item
        .iter()
        .find(|i| i["code"] == "missing_session_document")
        .unwrap();
    assert_eq!(item["class"], "manual", "{out}");
    assert!(!path.exists());
    kit.worker.active(7, Some(0x71));
    // another Worker that says it is its Session is a person's decision too
    kit.store.worker(8).usual(7);
    let _ = kit.json(&["repair", "7", "--apply"]).status(1);
    assert!(!path.exists());
    std::fs::remove_dir_all(kit.store.path("workers/8")).unwrap();
    let _ = kit.json(&["repair", "7", "--apply"]).status(0);
    let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(document["session_id"], id(7));
}

/// A call that nobody answered, with turns behind it, is answered where a provider expects it.
#[test]
fn a_result_is_made_up_only_when_asked_for_and_says_so() {
    let kit = Kit::new();
    let log = Log::start(7)
        .invoke()
        .user("Two things.")
        .call("call_a")
        .call("call_b")
        .result("call_b")
        .assistant("One of two.")
        .turn_end()
        .completed()
        .turn("And now?");
    kit.worker.segment(0x71, &log);
    let out = kit.json(&["repair", "--apply"]).status(1);
    assert_eq!(states(&out), ["needs_allow_lossy"]);
    let before = std::fs::read(kit.segment()).unwrap();
    let out = kit.json(&["repair", "--apply", "--allow-lossy"]).status(0);
    let after = std::fs::read_to_string(kit.segment()).unwrap();
    let lines: Vec<&str> = after.lines().collect();
    let made: Value = serde_json::from_str(lines[6]).unwrap();
    assert_eq!(made["kind"], "tool_result", "{after}");
    assert_eq!(made["item"]["call_id"], "call_a");
    assert_eq!(made["item"]["is_error"], true);
    let said = made["item"].to_string();
    assert!(said.contains("made up"), "{said}");
    assert!(
        said.contains(out.json()["operation_id"].as_str().unwrap()),
        "{said}"
    );
    let without: String = after
        .split_inclusive('\n')
        .enumerate()
        .filter(|(n, _)| *n != 6)
        .map(|(_, line)| line)
        .collect();
    assert_eq!(without.as_bytes(), before);
    let _ = kit.json(&["verify", "--strict"]).status(0);
}

/// Taking a record out may leave its call or its result alone: that is in the same plan.
#[test]
fn what_follows_from_taking_a_record_out_is_in_the_plan() {
    let kit = Kit::new();
    let log = Log::start(7).tool_turn("One.").turn("Two.");
    kit.worker.segment(0x71, &log);
    // line 4 is the call, line 5 its result
    damage::broken_utf8(&kit.segment(), 4);
    let out = kit.json(&["repair", "--allow-lossy"]).status(1);
    let document = out.json();
    let codes: Vec<&str> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["invalid_utf8", "orphan_tool_result"], "{out}");
    assert_eq!(document["items"][1]["line"], 5, "{out}");
    // asked for alone, the line goes and nothing else
    let only = ["repair", "--allow-lossy", "--only", "invalid_utf8"];
    assert_eq!(states(&kit.json(&only).status(1)), ["planned"]);
    let _ = kit.json(&["repair", "--allow-lossy", "--apply"]).status(0);
    let _ = kit.json(&["verify", "--strict"]).status(0);
    let _ = kit.json(&["repair", "--allow-lossy"]).status(0);
}

/// The head of a Segment can not be made up, and junk before it is no reason to lose it.
#[test]
fn the_head_of_a_segment_is_no_record_like_others() {
    let kit = Kit::new();
    damage::insert_line(&kit.segment(), 1, "junk");
    let out = kit.json(&["repair", "--allow-lossy", "--apply"]).status(0);
    assert_eq!(states(&out), ["done"]);
    let text = std::fs::read_to_string(kit.segment()).unwrap();
    let kinds: Vec<String> = text
        .lines()
        .take(2)
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"segment_start\"", "\"extension\""]);
    let _ = kit.json(&["verify", "--strict"]).status(0);
    damage::broken_utf8(&kit.segment(), 1);
    let out = kit.json(&["repair", "--allow-lossy", "--apply"]).status(1);
    assert_eq!(states(&out), ["manual"]);
    let action = out.json()["items"][0]["action"].to_string();
    assert!(action.contains("can not be made up"), "{action}");
}

/// A store of version 3 is read, and not written.
#[test]
fn version_3_is_not_written() {
    let env = TestEnv::new();
    let store = TestStore::v3(env.path("store"));
    let worker = store.worker(1);
    worker.usual(1);
    damage::torn_tail(&worker.segment_path(0x11));
    let before = tree(store.root());
    let _ = env.wagg(["--store", "store", "repair"]).status(1);
    let out = env
        .wagg(["--store", "store", "--format", "json", "repair", "--apply"])
        .status(12);
    assert_eq!(out.error()["code"], "unsupported_schema_version", "{out}");
    same_trees(&tree(store.root()), &before, "version 3");
}

/// Traces are mended like Segments, with a record of their own kind in the place of a bad one.
#[test]
fn traces_are_mended_too() {
    let kit = Kit::new();
    kit.worker.trace(0x71);
    let trace = kit.worker.trace_path(0x71);
    damage::insert_line(&trace, 2, "junk");
    damage::torn_tail(&trace);
    let out = kit.json(&["repair", "--allow-lossy", "--apply"]).status(0);
    assert_eq!(states(&out), ["done", "done"]);
    let text = std::fs::read_to_string(&trace).unwrap();
    let marker: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(marker["label"], "wagg.repair");
    let _ = kit.json(&["verify", "--strict"]).status(0);
}

/// What a plan promises is what carrying it out does, also where nothing can be written.
#[test]
fn plan_and_apply_agree_about_a_damaged_catalog() {
    type Damage = fn(&std::path::Path);
    let all: [(&str, Damage); 4] = [
        ("missing_catalog", |path| {
            std::fs::remove_file(path).unwrap()
        }),
        ("corrupt_document", |path| {
            std::fs::write(path, "{\"schema_").unwrap();
        }),
        ("symbolic_link", |path| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("elsewhere", path).unwrap();
        }),
        ("corrupt_document", |path| {
            let text = std::fs::read_to_string(path).unwrap();
            std::fs::write(path, format!("\u{feff}{text}")).unwrap();
        }),
    ];
    for (code, harm) in all {
        let kit = Kit::new();
        damage::torn_tail(&kit.segment());
        harm(&kit.store.path("runtime.json"));
        let before = kit.tree();
        let out = kit.json(&["repair", "7"]).status(1);
        assert_eq!(states(&out), ["refused"], "{out}");
        assert_eq!(out.json()["items"][0]["refusal"]["code"], code, "{out}");
        let out = kit.wagg(&["repair", "7"]).status(1);
        assert!(!out.stderr.contains("--apply"), "{out}");
        // a row has no room for the reason
        assert!(
            out.stderr.contains(&format!("is refused: {code}: ")),
            "{out}"
        );
        let out = kit.json(&["repair", "7", "--apply"]);
        assert_eq!(out.error()["code"], code, "{out}");
        same_trees(&kit.tree(), &before, code);
    }
}

/// What stands in the way of an item is mended in the same run.
#[test]
fn one_run_does_what_there_is_to_do() {
    let kit = Kit::new();
    let session = kit.worker.path("session/session.json");
    let bytes = std::fs::read(&session).unwrap();
    put(
        kit.worker.path("session/.session.json.tmp-999999-1"),
        &bytes,
    );
    std::fs::remove_file(&session).unwrap();
    let out = kit.json(&["repair", "7", "--apply"]).status(0);
    assert_eq!(states(&out), ["done", "done"], "{out}");
    let out = kit.wagg(&["repair", "7"]).status(0);
    assert_eq!(out.stderr, "nothing to do\n", "{out}");
}
