//! The cases of `tests/cases` that say what a repair must do: each held against its words.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::kit::tree;
use crate::support::damage::copy_tree;
use crate::support::{Output, TestEnv, schema, source};

/// A case in a folder of its own, where its store is `case/store`.
struct Case {
    name: &'static str,
    env: TestEnv,
}

/// The one Segment that most cases damage.
const SEGMENT: &str = "workers/1/session/segments/01890000-0000-7000-8000-000000000011.jsonl";

impl Case {
    fn new(name: &'static str) -> Self {
        let env = TestEnv::new();
        let dir = source().join("tests/cases").join(name);
        let script = dir.join("make.sh");
        if script.exists() {
            let status = Command::new("bash")
                .arg(&script)
                .arg(env.path("case"))
                .status()
                .unwrap();
            assert!(status.success(), "{name}");
        } else {
            copy_tree(&dir, &env.path("case"));
        }
        Self { name, env }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.env.path("case/store").join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn wagg(&self, args: &[&str]) -> Output {
        let mut all = vec!["--store", "case/store", "--format", "json"];
        all.extend(args);
        self.env.wagg(all)
    }

    /// The plan, which changes nothing, not even a time.
    fn plan(&self, args: &[&str]) -> Vec<Value> {
        let mut all = vec!["repair"];
        all.extend(args);
        let case = self.env.path("case");
        let out = crate::support::tree::unchanged(&[&case], self.name, || self.wagg(&all));
        items(&out)
    }

    /// Carries the plan out, and insists that a second one is empty and that verify holds.
    fn repair(&self, args: &[&str]) -> Value {
        let mut all = vec!["repair", "--apply"];
        all.extend(args);
        let out = self.wagg(&all).status(0);
        let document = out.json();
        assert_eq!(document["outcome"], "done", "{out}");
        let mut again = vec!["repair"];
        again.extend(args);
        let out = self.wagg(&again).status(0);
        assert!(items(&out).is_empty(), "{}: {out}", self.name);
        let _ = self.wagg(&["verify", "--strict"]).status(0);
        document
    }

    /// Undoes what was done, and insists on the old bytes.
    fn undo(&self, done: &Value, before: &std::collections::BTreeMap<PathBuf, Vec<u8>>) {
        let operation = done["operation_id"].as_str().unwrap();
        let out = self.wagg(&["op", "undo", operation]).status(0);
        schema::check("op.undo", &out.json());
        super::kit::same_trees(&tree(&self.env.path("case/store")), before, self.name);
    }

    fn tree(&self) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.env.path("case/store"))
    }

    /// The bytes of the first thing that an operation put aside.
    fn kept(&self, done: &Value) -> Vec<u8> {
        let operation = done["operation_id"].as_str().unwrap();
        let out = self
            .wagg(&["quarantine", "show", operation, "--raw", "1"])
            .status(0);
        out.bytes().to_vec()
    }
}

fn items(out: &Output) -> Vec<Value> {
    let document = out.json();
    schema::check("repair", &document);
    document["items"].as_array().unwrap().clone()
}

/// One edit of the old bytes is all that a repair did.
#[track_caller]
fn only(before: &[u8], after: &[u8], at: usize, goes: usize, comes: &[u8]) {
    let mut wanted = before.to_vec();
    wanted.splice(at..at + goes, comes.iter().copied());
    assert!(after == wanted, "not that edit alone");
}

/// A row: what makes one edit, where, and what is kept.
fn mends(name: &'static str, args: &[&str], at: usize, goes: usize, comes: &[u8]) -> Case {
    let case = Case::new(name);
    let (tree, before) = (case.tree(), case.bytes(SEGMENT));
    let plan = case.plan(args);
    assert_eq!(plan.len(), 1, "{name}: {plan:#?}");
    assert_eq!(plan[0]["state"], "planned", "{name}");
    let edit = &plan[0]["edits"][0];
    assert_eq!(edit["offset"], at, "{name}");
    assert_eq!(edit["length"], goes, "{name}");
    let done = case.repair(args);
    only(&before, &case.bytes(SEGMENT), at, goes, comes);
    if goes > 0 {
        let kept = case.kept(&done);
        let gone = &before[at..at + goes];
        assert!(kept.windows(goes).any(|part| part == gone), "{name}");
    }
    // nothing else in the store changed
    let mut now = case.tree();
    now.insert(SEGMENT.into(), before.clone());
    super::kit::same_trees(&now, &tree, name);
    case.undo(&done, &tree);
    case
}

#[test]
fn a_newline_goes_between_two_whole_records() {
    let name = "spliced-records/two-whole-records-on-one-line";
    mends(name, &[], 761, 0, b"\n");
}

#[test]
fn the_stub_of_a_record_goes_aside() {
    let name = "spliced-records/cut-record-then-whole-record";
    mends(name, &[], 681, 57, b"");
}

#[test]
fn nul_bytes_before_a_record_go() {
    mends("inner-damage/nul-run-before-a-record", &[], 562, 300, b"");
}

#[test]
fn a_byte_order_mark_goes() {
    mends("encoding/byte-order-mark", &[], 0, 3, b"");
}

/// The whole of the old line is kept.
#[test]
fn half_a_pair_becomes_the_replacement_character() {
    let case = mends("encoding/lone-surrogate", &[], 666, 6, b"\\ufffd");
    let before = case.bytes(SEGMENT);
    let done = case.repair(&[]);
    let line = before.split_inclusive(|b| *b == b'\n').nth(4).unwrap();
    assert_eq!(case.kept(&done), line);
}

#[test]
fn torn_tails_are_cut() {
    let at = (1281, 129);
    mends("torn-tail/cut-inside-a-character", &[], at.0, at.1, b"");
    let at = (1706, 4096);
    mends("torn-tail/nul-filled-tail", &[], at.0, at.1, b"");
}

/// Only when asked for, the one item of the seed goes, and nothing else of the record changes.
#[test]
fn a_result_without_a_call_leaves_the_seed() {
    let case = Case::new("tool-pairs/result-without-call-after-compaction");
    let name = SEGMENT.replace("0011.jsonl", "0012.jsonl");
    let (tree, before, source) = (case.tree(), case.bytes(&name), case.bytes(SEGMENT));
    let plan = case.plan(&[]);
    assert_eq!(plan[0]["state"], "needs_allow_lossy");
    let _ = case.wagg(&["repair", "--apply"]).status(1);
    assert_eq!(case.bytes(&name), before);
    let item = br#"{"kind":"tool_result","call_id":"call_1","summary":"3 entries"},"#;
    let at = before.windows(item.len()).position(|w| w == item).unwrap();
    let done = case.repair(&["--allow-lossy"]);
    only(&before, &case.bytes(&name), at, item.len(), b"");
    assert_eq!(case.kept(&done), item);
    assert_eq!(case.bytes(SEGMENT), source);
    case.undo(&done, &tree);
}

/// The line goes aside whole, the call that it answered is said to be open, and a result is made
/// up only if asked for; here no turn follows, so none is.
#[test]
fn a_line_that_can_not_be_read_makes_room_for_one_that_says_so() {
    let case = Case::new("inner-damage/cut-character-in-a-committed-line");
    let (tree, before) = (case.tree(), case.bytes(SEGMENT));
    let plan = case.plan(&[]);
    assert_eq!(plan[0]["state"], "needs_allow_lossy");
    let action = plan[0]["action"].as_str().unwrap();
    assert!(
        action.contains("the call \"call_1\" is open then"),
        "{action}"
    );
    assert!(action.contains("looks like a tool_result"), "{action}");
    let _ = case.wagg(&["repair", "--apply"]).status(1);
    let done = case.repair(&["--allow-lossy"]);
    let after = case.bytes(SEGMENT);
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, new) = (lines(&before), lines(&after));
    assert_eq!(old.len(), new.len());
    for (n, (old, new)) in old.iter().zip(&new).enumerate() {
        assert_eq!(old == new, n != 4, "line {}", n + 1);
    }
    assert_eq!(case.kept(&done), old[4]);
    let marker: Value = serde_json::from_slice(&new[4]).unwrap();
    assert_eq!(marker["kind"], "extension");
    assert_eq!(marker["domain"], "wagg.repair");
    let payload = &marker["payload"];
    assert_eq!(payload["taken_out"], "invalid_utf8");
    assert_eq!(payload["line"], 5);
    assert_eq!(payload["bytes"], old[4].len());
    assert_eq!(payload["operation"], done["operation_id"]);
    case.undo(&done, &tree);
}

#[test]
fn an_empty_session_document_is_written_again() {
    let case = Case::new("zero-length/empty-session-json");
    let tree = case.tree();
    let plan = case.plan(&[]);
    let action = plan[0]["action"].as_str().unwrap();
    assert!(
        action.contains("01890000-0000-7000-8000-000000000001"),
        "{action}"
    );
    let done = case.repair(&[]);
    let document: Value =
        serde_json::from_slice(&case.bytes("workers/1/session/session.json")).unwrap();
    assert_eq!(
        document["session_id"],
        "01890000-0000-7000-8000-000000000001"
    );
    assert_eq!(case.kept(&done), b"");
    case.undo(&done, &tree);
}

/// What needs a person is said, with what to compare, and nothing is changed.
#[test]
fn nothing_is_chosen_for_a_person() {
    for (name, code, words) in [
        (
            "broken-lineage/compaction-source-is-gone",
            "lineage_missing_source",
            "nothing here to repair from",
        ),
        (
            "broken-lineage/fork-cycle",
            "lineage_cycle",
            "can not be known",
        ),
        (
            "stale-pointer/active-segment-is-missing",
            "active_missing_segment",
            "a person's choice",
        ),
        (
            "two-writers/second-start-in-the-middle",
            "second_segment_start",
            "none is dropped",
        ),
        (
            "link-escape/segment-is-a-link-to-outside",
            "symbolic_link",
            "nothing is changed",
        ),
        (
            "identity/dots-and-slashes-in-names",
            "unsafe_name",
            "nothing is changed",
        ),
    ] {
        let case = Case::new(name);
        let plan = case.plan(&["--allow-lossy"]);
        assert!(!plan.is_empty(), "{name}");
        for item in &plan {
            assert_eq!(item["code"], code, "{name}");
            assert_eq!(item["class"], "manual", "{name}");
            let action = item["action"].as_str().unwrap();
            assert!(action.contains(words), "{name}: {action}");
        }
        let tree = case.tree();
        let out = case.wagg(&["repair", "--apply", "--allow-lossy"]).status(1);
        assert_eq!(out.json()["outcome"], "no_change", "{out}");
        super::kit::same_trees(&case.tree(), &tree, name);
        assert!(!case.path(".wagg").exists(), "{name}: nothing is noted");
    }
}

/// More than one Segment could be gone on from, and each is offered.
#[test]
fn a_pointer_is_asked_about() {
    let case = Case::new("stale-pointer/active-segment-is-missing");
    let plan = case.plan(&[]);
    let commands: Vec<&str> = plan[0]["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["command"].as_str().unwrap())
        .collect();
    for end in ["0011", "0012"] {
        let command = format!("segment activate 01890000-0000-7000-8000-00000000{end}");
        assert!(
            commands.iter().any(|c| c.ends_with(&command)),
            "{commands:?}"
        );
    }
}

#[test]
fn what_is_valid_stays_as_it_is() {
    for name in [
        "encoding/valid-but-unusual-line-ends",
        "stale-pointer/pointer-behind-a-compaction",
        "tool-pairs/open-call-after-a-crash",
    ] {
        let case = Case::new(name);
        let tree = case.tree();
        assert!(case.plan(&["--allow-lossy"]).is_empty(), "{name}");
        let out = case.wagg(&["repair", "--apply", "--allow-lossy"]).status(0);
        assert_eq!(out.json()["outcome"], "no_change", "{out}");
        super::kit::same_trees(&case.tree(), &tree, name);
    }
}

/// Every case with a repair part has a test here.
#[test]
fn no_case_is_passed_over() {
    let here = std::fs::read_to_string(source().join("tests/cli/repair/cases.rs")).unwrap();
    for path in crate::support::files_below(&source().join("tests/cases"), "expect.json") {
        let expect: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut all = vec![expect.clone()];
        all.extend(expect["also"].as_array().into_iter().flatten().cloned());
        let has = all.iter().any(|part| {
            let command = part["command"].as_str().unwrap_or_default();
            command.split([' ', ',']).any(|word| word == "repair")
        });
        let dir = path.parent().unwrap();
        let name = dir.strip_prefix(source().join("tests/cases")).unwrap();
        let named = here.contains(&format!("\"{}\"", name.display()));
        assert!(
            !has || named,
            "{} has a repair part and no test",
            name.display()
        );
    }
}
