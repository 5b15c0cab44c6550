//! What holds for any history: a fork keeps the replayed state, a compaction keeps pairs together,
//! an append keeps bytes, and what is written is what a Runtime would have written.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Activate, Append, Compact, Create, Fork, Input};
use crate::ops::change::crash_tests::{codes, flags, stores};
use crate::ops::change::{Change, Done, run};
use crate::record::schema::RECORD;
use crate::record::shape::{Presence, Shape, TAG, Ty};
use crate::record::{Limits, Replay, Until};
use crate::store::Store;

const SESSION: u64 = 1;
const SEGMENT: u64 = 0x11;

/// One thing that happens in a turn.
#[derive(Debug, Clone)]
enum Event {
    User(String),
    Said(String),
    Thought(String),
    Call(String),
    /// The result of the oldest open call, if there is one.
    Result(String),
    Told(String),
    Config(u32),
    Usage(u32),
    Extension(f64),
}

fn event() -> impl Strategy<Value = Event> {
    let text = "[a-zé\\n\"\\\\灯 ]{0,40}";
    prop_oneof![
        text.prop_map(Event::User),
        text.prop_map(Event::Said),
        text.prop_map(Event::Thought),
        text.prop_map(Event::Call),
        text.prop_map(Event::Call),
        text.prop_map(Event::Result),
        text.prop_map(Event::Result),
        text.prop_map(Event::Told),
        any::<u32>().prop_map(Event::Config),
        (1..5000u32).prop_map(Event::Usage),
        (-1e9..1e9f64).prop_map(Event::Extension),
    ]
}

fn turns() -> impl Strategy<Value = Vec<Vec<Event>>> {
    prop::collection::vec(prop::collection::vec(event(), 0..8), 0..7)
}

/// A Segment as a Runtime writes it, with the items of its replay in the order of their turns.
struct Log {
    bytes: Vec<u8>,
    ts: u64,
    calls: u64,
    open: Vec<String>,
    items: u64,
    tokens: u64,
}

impl Log {
    fn start() -> Self {
        let mut log = Self {
            bytes: Vec::new(),
            ts: 1_700_000_000_000,
            calls: 0,
            open: Vec::new(),
            items: 0,
            tokens: 100,
        };
        log.line(
            "segment_start",
            json!({
                "session_id": stores::id(SESSION),
                "system_prompt": "Keep the lamp \"lit\".",
                "config": config(1),
                "history": [],
            }),
        );
        log
    }

    fn line(&mut self, kind: &str, fields: Value) {
        self.ts += 7;
        let mut record = json!({ "kind": kind, "ts": self.ts });
        if let (Some(record), Value::Object(fields)) = (record.as_object_mut(), fields) {
            record.extend(fields);
        }
        self.bytes.extend(serde_json::to_vec(&record).unwrap());
        self.bytes.push(b'\n');
    }

    fn item(&mut self, kind: &str, item: Value) {
        self.items += 1;
        self.tokens += item.to_string().len() as u64 / 3;
        self.line(kind, json!({ "item": item }));
    }

    fn answer(&mut self, text: &str) {
        if self.open.is_empty() {
            return;
        }
        let call = self.open.remove(0);
        let item = json!({ "kind": "tool_result", "call_id": call, "summary": text });
        self.item("tool_result", item);
    }

    fn take(&mut self, event: &Event) {
        let message = |role: &str, text: &str| json!({ "kind": "message", "role": role, "content": [{ "kind": "text", "text": text }] });
        match event {
            Event::User(text) => {
                self.items += 1;
                self.tokens += text.len() as u64;
                self.line(
                    "user_input",
                    json!({ "segments": [{ "kind": "text", "content": text }, { "kind": "file_ref", "path": "a" }] }),
                );
            }
            Event::Said(text) => self.item("assistant_item", message("assistant", text)),
            Event::Thought(text) => self.item(
                "assistant_item",
                json!({ "kind": "reasoning", "text": text, "signature": "s" }),
            ),
            Event::Call(text) => {
                self.calls += 1;
                let call = format!("call_{}", self.calls);
                self.open.push(call.clone());
                self.item(
                    "assistant_item",
                    json!({ "kind": "tool_call", "call_id": call, "name": "n", "arguments": text }),
                );
            }
            Event::Result(text) => self.answer(text),
            Event::Told(text) => {
                self.items += 1;
                self.tokens += text.len() as u64;
                self.line(
                    "system_item",
                    json!({ "item": { "kind": "interrupt", "body": text } }),
                );
            }
            Event::Config(n) => self.line("config_changed", json!({ "config": config(*n) })),
            Event::Usage(more) => {
                self.tokens += u64::from(*more);
                let (items, tokens) = (self.items, self.tokens);
                self.line(
                    "llm_usage",
                    json!({ "history_len": items, "input_total_tokens": tokens,
                        "cache_read_tokens": 0, "cache_write_tokens": 0, "output_tokens": 9 }),
                );
            }
            Event::Extension(n) => self.line(
                "extension",
                json!({ "domain": "demo", "payload": { "n": n } }),
            ),
        }
    }

    /// Whole turns; what is open at the end is answered there.
    fn turns(mut self, turns: &[Vec<Event>]) -> Self {
        for (n, events) in turns.iter().enumerate() {
            self.line("invoke", json!({ "trigger": "user_send" }));
            for event in events {
                self.take(event);
            }
            if n + 1 == turns.len() {
                while !self.open.is_empty() {
                    self.answer("late");
                }
            }
            self.line("turn_end", json!({ "turn_count": n + 1 }));
            self.line(
                "run_completed",
                json!({ "interrupted": false, "result": "finished" }),
            );
        }
        self
    }
}

fn config(max_tokens: u32) -> Value {
    json!({ "max_tokens": max_tokens, "temperature": 0.7, "top_p": null, "top_k": null,
        "stop_sequences": ["</end>"], "reasoning": "high" })
}

/// A store with Worker 7, whose Session has these Segments; the first one is active.
fn store(segments: &[(u64, &[u8])]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    stores::seven(temp.path());
    stores::session(temp.path(), 7, SESSION, &[]);
    for (id, bytes) in segments {
        stores::put(temp.path(), path_of(&stores::id(*id)), bytes);
    }
    let first = segments.first().map(|(id, _)| stores::id(*id));
    let active = json!({ "active": { "session_id": stores::id(SESSION), "segment_id": first } });
    stores::metadata(temp.path(), 7, &active);
    temp
}

fn path_of(segment: &str) -> PathBuf {
    PathBuf::from(format!("workers/7/session/segments/{segment}.jsonl"))
}

fn done(root: &Path, change: &dyn Change) -> (Done, Value) {
    let done = run(&Store::open(root).unwrap(), &flags(None), change).unwrap();
    let receipt: Value = serde_json::from_str(done.receipt.as_json()).unwrap();
    (done, receipt)
}

fn made(root: &Path, done: &Done) -> Vec<u8> {
    std::fs::read(root.join(path_of(done.line.as_deref().unwrap()))).unwrap()
}

fn replayed(bytes: &[u8], until: Until) -> Replay {
    Replay::read(bytes, bytes.len() as u64, Limits::default(), until).unwrap()
}

fn items(replay: &Replay) -> Vec<&str> {
    replay.history.iter().map(|item| item.json.get()).collect()
}

/// Insists that every record is one that a Runtime could have written: no field that its table
/// does not have, in the order of the table, and nothing left out that is always written.
fn strict(bytes: &[u8]) {
    assert_eq!(bytes.last(), Some(&b'\n'));
    for line in bytes[..bytes.len() - 1].split(|b| *b == b'\n') {
        let value: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(
            serde_json::to_vec(&value).unwrap(),
            line,
            "compact, and spelt as serde spells"
        );
        tagged(&RECORD, &value);
        if value["kind"] == "segment_start" {
            assert!(value.get("system_prompt").is_some(), "{value}");
            assert_eq!(value["config"].as_object().unwrap().len(), 6, "{value}");
        }
    }
}

fn tagged(union: &'static crate::record::shape::Union, value: &Value) {
    let kind = value[TAG].as_str().unwrap();
    let found = union.variants.iter().find(|(name, _)| *name == kind);
    fields(found.unwrap().1, value, true);
}

fn fields(shape: &'static Shape, value: &Value, has_tag: bool) {
    let object = value.as_object().unwrap();
    let mut keys = object.keys().map(String::as_str).peekable();
    if has_tag {
        assert_eq!(keys.next(), Some(TAG), "{value}");
    }
    for field in shape.fields {
        if keys.next_if_eq(&field.name).is_some() {
            of(&field.ty, &object[field.name]);
        } else {
            assert_ne!(
                field.presence,
                Presence::Required,
                "{}: {value}",
                field.name
            );
        }
    }
    assert_eq!(
        keys.next(),
        None,
        "no such field, or not in its place: {value}"
    );
}

fn of(ty: &'static Ty, value: &Value) {
    match (ty, value) {
        (_, Value::Null) => {}
        (Ty::Array(inner), Value::Array(all)) => all.iter().for_each(|one| of(inner, one)),
        (Ty::Object(shape), _) => fields(shape, value, false),
        (Ty::Tagged(union), _) => tagged(union, value),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// C27: the replayed state of a fork is that of its source at the split, to the byte, and the
    /// source is as it was.
    #[test]
    fn c27_a_fork_keeps_the_replayed_state(turns in turns(), at in any::<prop::sample::Index>(), activate in any::<bool>()) {
        let log = Log::start().turns(&turns);
        strict(&log.bytes);
        let temp = store(&[(SEGMENT, &log.bytes)]);
        let before = codes(temp.path(), "before");
        let turn = at.index(turns.len() + 1) as u64;
        let mut apart = false;
        for at_turn in [Some(turn), None] {
            let fork = Fork { segment: stores::id(SEGMENT), at_turn, activate };
            let (done, receipt) = done(temp.path(), &fork);
            let bytes = made(temp.path(), &done);
            strict(&bytes);
            let turn = at_turn.unwrap_or(turns.len() as u64);
            let was = replayed(&log.bytes, Until::Turn(turn));
            let is = replayed(&bytes, Until::End);
            prop_assert!(was.reached);
            prop_assert_eq!(items(&was), items(&is));
            prop_assert_eq!(was.system_prompt, is.system_prompt);
            prop_assert_eq!(was.config.unwrap().to_string(), is.config.unwrap().to_string());
            let origin = is.forked.unwrap();
            prop_assert_eq!(origin.segment.to_string(), stores::id(SEGMENT));
            prop_assert_eq!(origin.turn, was.turn);
            prop_assert_eq!(receipt["forked_from"]["at_turn_index"].as_u64(), Some(was.turn));
            prop_assert_eq!(receipt["history_items"].as_u64(), Some(is.history.len() as u64));
            // A call that is answered behind the split only is open here.
            let cut = receipt["warnings"].to_string().contains("has no result");
            apart |= cut;
            // And a turn can be added to it.
            let next = was.turn + 1;
            let lines = format!("{{\"kind\":\"turn_end\",\"ts\":4000000000000,\"turn_count\":{next}}}");
            let append = Append { segment: receipt["segment_id"].as_str().unwrap().to_owned(), records: Input::new("-", lines.clone()) };
            self::done(temp.path(), &append);
            let longer = made(temp.path(), &done);
            prop_assert_eq!(longer, [&bytes[..], lines.as_bytes(), b"\n"].concat());
        }
        prop_assert_eq!(std::fs::read(temp.path().join(path_of(&stores::id(SEGMENT)))).unwrap(), log.bytes);
        let after = codes(temp.path(), "after");
        prop_assert!(after == before || apart, "{:?}", after);
    }

    /// C29: the retained tail begins at a turn, holds each result with its call, is what it is in
    /// the source to the byte, and fits the budget or nothing changes.
    #[test]
    fn c29_a_compaction_keeps_pairs_and_turns(
        turns in turns(),
        retain_turns in prop::option::of(0..9u64),
        retain_tokens in prop::option::of(0..9000u64),
        budget_tokens in prop::option::of(0..9000u64),
    ) {
        let log = Log::start().turns(&turns);
        let temp = store(&[(SEGMENT, &log.bytes)]);
        let before = codes(temp.path(), "before");
        let compact = Compact {
            segment: stores::id(SEGMENT),
            summary: Input::new("s", "What was said.\n"),
            retain_turns,
            retain_tokens,
            budget_tokens,
            activate: true,
        };
        let tree = crate::ops::change::crash_tests::tree(temp.path());
        let result = run(&Store::open(temp.path()).unwrap(), &flags(None), &compact);
        let done = match result {
            Ok(done) => done,
            Err(e) => {
                prop_assert_eq!(e.code, crate::diag::Code::CompactOverBudget, "{:?}", e);
                prop_assert!(budget_tokens.is_some());
                prop_assert_eq!(e.effects, crate::diag::Effects::None);
                prop_assert_eq!(crate::ops::change::crash_tests::tree(temp.path()), tree);
                return Ok(());
            }
        };
        let receipt: Value = serde_json::from_str(done.receipt.as_json()).unwrap();
        let bytes = made(temp.path(), &done);
        strict(&bytes);
        let was = replayed(&log.bytes, Until::End);
        let is = replayed(&bytes, Until::End);
        let whole = items(&was);
        let (summary, tail) = (items(&is)[0].to_owned(), items(&is)[1..].to_vec());
        prop_assert_eq!(summary, r#"{"kind":"message","role":"system","content":[{"kind":"text","text":"What was said.\n"}]}"#);
        let start = whole.len() - tail.len();
        prop_assert_eq!(&whole[start..], &tail[..]);
        // At a turn: the item before it belongs to an earlier one.
        if start > 0 && start < whole.len() {
            prop_assert_ne!(was.history[start - 1].turn, was.history[start].turn);
        }
        let count = |part: &str, what: &str| receipt[part][what].as_u64().unwrap();
        prop_assert_eq!(count("kept", "items"), tail.len() as u64);
        prop_assert_eq!(count("dropped", "items"), start as u64);
        let asked = count("kept", "turns") - count("pulled_back", "turns");
        if let Some(most) = retain_turns {
            prop_assert!(asked <= most);
        }
        if retain_turns.is_none() && retain_tokens.is_none() {
            prop_assert_eq!(asked, 0);
        }
        if let Some(most) = retain_tokens.filter(|_| count("pulled_back", "turns") == 0) {
            prop_assert!(count("kept", "tokens") <= most);
        }
        if let Some(budget) = budget_tokens {
            prop_assert!(receipt["tokens"].as_u64().unwrap() <= budget);
        }
        let origin = is.compacted.unwrap();
        prop_assert_eq!(origin.turn, turns.len() as u64);
        // Pairs stay together: verify finds nothing that was not there before.
        prop_assert_eq!(codes(temp.path(), "after"), before);
        prop_assert_eq!(std::fs::read(temp.path().join(path_of(&stores::id(SEGMENT)))).unwrap(), log.bytes);
    }

    /// What is created holds what was brought, in the form in which a Runtime writes it.
    #[test]
    fn what_is_created_is_what_was_brought(turns in turns(), as_array in any::<bool>()) {
        let log = Log::start().turns(&turns);
        let was = replayed(&log.bytes, Until::End);
        let lines = items(&was);
        let text = if as_array {
            format!("[\n  {}\n]\n", lines.join(",\n  "))
        } else {
            lines.join("\n")
        };
        let temp = tempfile::tempdir().unwrap();
        stores::seven(temp.path());
        let before = codes(temp.path(), "before");
        let create = Create {
            worker: "7".to_owned(),
            system_prompt: Some(Input::new("p", "Keep the lamp \"lit\".")),
            config: Some(Input::new("c", config(9).to_string())),
            history: Some(Input::new("h", text)),
            activate: true,
        };
        let (done, _) = done(temp.path(), &create);
        let bytes = made(temp.path(), &done);
        strict(&bytes);
        let is = replayed(&bytes, Until::End);
        prop_assert_eq!(items(&is), lines);
        prop_assert_eq!(is.config.unwrap().to_string(), config(9).to_string());
        prop_assert_eq!(is.forked, None);
        prop_assert_eq!(codes(temp.path(), "after"), before);
    }

    /// C4: whatever is appended, it is all of it to the byte, or nothing.
    #[test]
    fn c4_an_append_is_all_or_nothing(turns in turns(), more in turns(), bad in prop::option::of(any::<prop::sample::Index>()), newline in any::<bool>()) {
        let log = Log::start().turns(&turns);
        let temp = store(&[(SEGMENT, &log.bytes)]);
        let all: Vec<Vec<Event>> = turns.iter().chain(&more).cloned().collect();
        let longer = Log::start().turns(&all);
        // Calls of the first part were answered at its end, so only the lines behind count on.
        let mut lines: Vec<Vec<u8>> = longer.bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let first = lines.iter().position(|l| {
            let text = format!("\"turn_count\":{}}}", turns.len() + 1);
            String::from_utf8_lossy(l).contains(&text)
        }).unwrap_or(lines.len());
        let mut lines = lines.split_off(first);
        if let Some(at) = &bad && !lines.is_empty() {
            let at = at.index(lines.len());
            lines[at] = b"{\"kind\":\"turn_end\",\"ts\":1}\n".to_vec();
        }
        let mut bytes = lines.concat();
        if !newline {
            bytes.pop();
        }
        let append = Append { segment: stores::id(SEGMENT), records: Input::new("-", bytes.clone()) };
        let result = run(&Store::open(temp.path()).unwrap(), &flags(None), &append);
        let now = std::fs::read(temp.path().join(path_of(&stores::id(SEGMENT)))).unwrap();
        if bad.is_some() && !lines.is_empty() {
            prop_assert_eq!(result.unwrap_err().code, crate::diag::Code::BadInput);
            prop_assert_eq!(now, log.bytes);
        } else {
            result.unwrap();
            prop_assert_eq!(now, [log.bytes, lines.concat()].concat());
        }
    }
}

/// C8, C28: the pointer moves, and everything else in `metadata.json` stays.
#[test]
fn c28_activation_moves_the_pointer_only() {
    let log = Log::start().turns(&[vec![Event::User("a".to_owned())]]);
    let temp = store(&[(SEGMENT, &log.bytes), (SEGMENT + 1, &log.bytes)]);
    let more = json!({ "active": { "session_id": stores::id(SESSION), "segment_id": stores::id(SEGMENT) }, "later": { "n": 1.50 }, "peers": [] });
    stores::metadata(temp.path(), 7, &more);
    let read = || std::fs::read_to_string(temp.path().join("workers/7/metadata.json")).unwrap();
    let before = read();
    let activate = Activate {
        segment: stores::id(SEGMENT + 1),
    };
    let (_, receipt) = done(temp.path(), &activate);
    assert_eq!(receipt["previous_segment_id"], stores::id(SEGMENT));
    assert_eq!(
        read(),
        before.replace(&stores::id(SEGMENT), &stores::id(SEGMENT + 1))
    );
    let (_, receipt) = done(temp.path(), &activate);
    assert_eq!(receipt["outcome"], "no_change");
    // Without a document it is made as a Runtime makes it.
    std::fs::remove_file(temp.path().join("workers/7/metadata.json")).unwrap();
    done(temp.path(), &activate);
    assert_eq!(
        read(),
        format!(
            "{{\n  \"worker_name\": \"worker-runtime-7\",\n  \"active\": {{\n    \"session_id\": \"{}\",\n    \"segment_id\": \"{}\"\n  }}\n}}",
            stores::id(SESSION),
            stores::id(SEGMENT + 1)
        )
    );
}
