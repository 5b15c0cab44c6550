//! Each command that makes, extends or activates a Segment, crashed at every step.

use std::path::Path;

use serde_json::json;

use super::{Activate, Append, Compact, Create, Fork, Input};
use crate::diag::Code;
use crate::ops::change::Change;
use crate::ops::change::crash_tests::{Crashes, Tally, stores};

const SESSION: u64 = 1;
const SEGMENT: u64 = 0x11;

/// What a crash may show of these commands beside leftovers: the pointer follows the Segment.
const BETWEEN: [Code; 4] = [
    Code::MissingMetadata,
    Code::ActivePending,
    Code::UnreferencedLeaf,
    Code::InterruptedRun,
];

/// Worker 7 with a Segment of three turns, and the pointer at it.
fn usual(root: &Path) {
    without_pointer(root);
    stores::metadata(
        root,
        7,
        &json!({ "active": { "session_id": stores::id(SESSION), "segment_id": stores::id(SEGMENT) } }),
    );
}

fn without_pointer(root: &Path) {
    stores::seven(root);
    stores::session(root, 7, SESSION, &[(SEGMENT, 3)]);
}

/// A Worker that a Runtime has opened: a reserved Session and the empty folders.
fn opened(root: &Path) {
    stores::seven(root);
    let reserved = json!({ "active": { "session_id": stores::id(SESSION) } });
    stores::metadata(root, 7, &reserved);
    std::fs::create_dir_all(root.join("workers/7/session/segments")).unwrap();
}

/// A record that was never committed, with the line end that the text of a tree puts behind it.
const TORN: &str = "{\"kind\":\"invo\n";

fn torn(root: &Path) {
    usual(root);
    let path = format!("workers/7/session/segments/{}.jsonl", stores::id(SEGMENT));
    let mut bytes = std::fs::read(root.join(&path)).unwrap();
    bytes.extend_from_slice(TORN.trim_end().as_bytes());
    stores::put(root, path, bytes);
}

fn tried(
    name: &str,
    setup: &dyn Fn(&Path),
    change: &dyn Fn() -> Box<dyn Change>,
    syncs: usize,
) -> Tally {
    let tally = Crashes::of(name, setup, change)
        // C4: a torn tail is cut, and kept, before anything else happens to its file.
        .numbers(|text| text.replace("{\"kind\":\"invo\n", "\n"))
        .allow(&BETWEEN)
        .allow(&[Code::TornTail])
        .alike(|text, _| without_tail(&text))
        // C4: a failed append leaves its file at the committed length. What was torn is kept.
        .numbers(|text| text.replace(TORN, "\n"))
        .everywhere();
    assert!(tally.steps > 10, "{tally:?}");
    // Intent, outcome, and two since it is the first change of that store (store/README.md).
    assert_eq!(tally.syncs, 4 + syncs, "{name}");
    tally
}

/// A power cut may leave a torn tail, so that the retry finds one that the first try did not; or
/// the first try had cut it before it died.
fn without_tail(text: &str) -> String {
    let Some((before, rest)) = text.split_once(",\"torn_tail_bytes\":") else {
        return text.to_owned();
    };
    let end = rest.find(",\"line\"").unwrap_or(rest.len());
    format!("{before}{}", &rest[end..])
}

fn create(activate: bool) -> Box<dyn Change> {
    let history =
        r#"[{"kind":"message","role":"user","content":[{"kind":"text","text":"hello"}]}]"#;
    Box::new(Create {
        worker: "7".to_owned(),
        system_prompt: Some(Input::new("p", "Be kind.")),
        config: None,
        history: Some(Input::new("h", history)),
        activate,
    })
}

/// C2, C7, C28: the Session and its first Segment are one step.
#[test]
fn c2_the_first_segment_under_crashes() {
    tried("segment create", &stores::seven, &|| create(false), 5);
    tried(
        "segment create over an opened Session",
        &opened,
        &|| create(true),
        7,
    );
}

#[test]
fn c28_a_further_segment_under_crashes() {
    tried(
        "segment create, a further one",
        &without_pointer,
        &|| create(true),
        4,
    );
}

fn append(lines: &str) -> Box<dyn Change> {
    Box::new(Append {
        segment: stores::id(SEGMENT),
        records: Input::new("-", lines),
    })
}

const TURN: &str = "{\"kind\":\"invoke\",\"ts\":1700000000100,\"trigger\":\"user_send\"}\n\
    {\"kind\":\"user_input\",\"ts\":1700000000101,\"segments\":[]}\n\
    {\"kind\":\"turn_end\",\"ts\":1700000000102,\"turn_count\":4}\n\
    {\"kind\":\"run_completed\",\"ts\":1700000000103,\"interrupted\":false,\"result\":\"finished\"}";

/// C4: all or nothing, also where a crash leaves some of the lines.
#[test]
fn c4_append_under_crashes() {
    tried("segment append", &usual, &|| append(TURN), 1);
}

#[test]
fn c4_append_behind_a_torn_tail_under_crashes() {
    tried(
        "segment append behind a torn tail",
        &torn,
        &|| append(TURN),
        5,
    );
}

fn fork(activate: bool) -> Box<dyn Change> {
    Box::new(Fork {
        segment: stores::id(SEGMENT),
        at_turn: Some(2),
        activate,
    })
}

#[test]
fn c28_fork_under_crashes() {
    tried("segment fork", &usual, &|| fork(false), 2);
    tried("segment fork --activate", &usual, &|| fork(true), 4);
}

fn compact() -> Box<dyn Change> {
    Box::new(Compact {
        segment: stores::id(SEGMENT),
        summary: Input::new("s", "They spoke of lamps."),
        retain_turns: Some(1),
        retain_tokens: None,
        budget_tokens: Some(1000),
        activate: true,
    })
}

#[test]
fn c29_compact_under_crashes() {
    tried("segment compact --activate", &without_pointer, &compact, 4);
}

fn activate() -> Box<dyn Change> {
    Box::new(Activate {
        segment: stores::id(SEGMENT),
    })
}

#[test]
fn c28_activate_under_crashes() {
    let elsewhere = |root: &Path| {
        without_pointer(root);
        stores::session(root, 7, SESSION, &[(SEGMENT, 3), (SEGMENT + 1, 1)]);
        stores::metadata(
            root,
            7,
            &json!({ "active": { "session_id": stores::id(SESSION), "segment_id": stores::id(SEGMENT + 1) }, "later": 1.50 }),
        );
    };
    tried("segment activate, moved", &elsewhere, &activate, 2);
}
