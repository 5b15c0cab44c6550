use serde_json::json;

use super::{Place, first, made, wrong_with};
use crate::support::Log;
use crate::support::log::{call_item, result_item, text_item};
use crate::support::store::id;

/// C27, C29: the summary first, then whole turns; the source as it was.
#[test]
fn c29_a_summary_and_the_last_turns() {
    let place = Place::usual();
    let (before, metadata) = (place.bytes(&first()), place.metadata());
    let args = [
        "compact",
        "1/active",
        "--summary",
        "-",
        "--retain-turns",
        "1",
        "--activate",
    ];
    let receipt = place.receipt(&args, "They spoke of lamps.\n");
    let line = &place.lines(&made(&receipt))[0];
    assert_eq!(
        line["history"],
        json!([
            text_item("system", "They spoke of lamps.\n"),
            text_item("user", "Question number 3."),
            text_item("assistant", "A short answer."),
        ])
    );
    assert_eq!(
        line["compacted_from"],
        json!({ "segment_id": first(), "at_turn_index": 3 })
    );
    assert_eq!(receipt["kept"]["turns"], 1);
    assert_eq!(receipt["kept"]["items"], 2);
    assert_eq!(receipt["dropped"]["turns"], 2);
    assert_eq!(receipt["dropped"]["items"], 6);
    assert_eq!(receipt["pulled_back"]["items"], 0);
    assert_eq!(
        receipt["tokens"].as_u64().unwrap(),
        receipt["summary_tokens"].as_u64().unwrap() + receipt["kept"]["tokens"].as_u64().unwrap()
    );
    assert_eq!(place.bytes(&first()), before);
    assert_eq!(
        place.metadata(),
        metadata.replace(&first(), &made(&receipt))
    );
    assert_eq!(place.codes(), Vec::<String>::new());
    // And a turn can follow.
    let turn = "{\"kind\":\"turn_end\",\"ts\":4000000000000,\"turn_count\":4}";
    let _ = place.fed(&["append", "1/active"], turn).ok();
    assert_eq!(place.codes(), Vec::<String>::new());
}

#[test]
fn nothing_is_retained_unless_it_is_asked_for() {
    let place = Place::usual();
    let receipt = place.receipt(&["compact", &first(), "--summary", "-"], "All of it.");
    assert_eq!(receipt["history_items"], 1);
    assert_eq!(receipt["dropped"]["items"], 8);
    assert_eq!(receipt["estimate"], "bytes");
    assert_eq!(receipt["active"], false);
    // More turns than there are: all of them.
    let all = [
        "compact",
        &first(),
        "--summary",
        "-",
        "--retain-turns",
        "99",
    ];
    assert_eq!(place.receipt(&all, "x")["dropped"]["items"], 0);
    // With both limits, the narrower one holds.
    let tokens = ["--retain-tokens", "40"];
    let some: Vec<&str> = all.iter().copied().chain(tokens).collect();
    let receipt = place.receipt(&some, "x");
    assert_eq!(receipt["kept"]["turns"], 1, "{receipt}");
    assert!(receipt["kept"]["tokens"].as_u64().unwrap() <= 40);
    let none = [
        "compact",
        &first(),
        "--summary",
        "-",
        "--retain-tokens",
        "3",
    ];
    assert_eq!(place.receipt(&none, "x")["kept"]["turns"], 0);
}

/// C29: where a result would be cut off its call, the tail begins earlier.
#[test]
fn c29_pairs_stay_together() {
    let place = Place::usual();
    let log = Log::start(1)
        .turn("first")
        .invoke()
        .user("second")
        .call("call_9")
        .turn_end()
        .completed()
        .invoke()
        .user("third")
        .result("call_9")
        .turn_end()
        .completed();
    place.worker().segment(0x12, &log);
    let args = [
        "compact",
        &id(0x12),
        "--summary",
        "-",
        "--retain-turns",
        "1",
    ];
    let receipt = place.receipt(&args, "First things.");
    let line = &place.lines(&made(&receipt))[0];
    assert_eq!(
        line["history"],
        json!([
            text_item("system", "First things."),
            text_item("user", "second"),
            call_item("call_9"),
            text_item("user", "third"),
            result_item("call_9"),
        ])
    );
    assert_eq!(receipt["pulled_back"]["turns"], 1);
    assert_eq!(receipt["pulled_back"]["items"], 2);
    assert_eq!(receipt["kept"]["turns"], 2);
    assert!(!place.codes().contains(&"orphan_tool_result".to_owned()));
}

/// C29: a budget is kept or nothing changes, and the numbers say by how much it was missed.
#[test]
fn c29_over_the_budget_nothing_changes() {
    let place = Place::usual();
    let base = ["compact", "1/active", "--summary", "-", "--activate"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let long = "word ".repeat(1000);
    let error = place.refused(
        &with(&["--budget-tokens", "100"]),
        &long,
        "compact_over_budget",
        3,
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("over the budget of 100"), "{message}");
    assert!(message.contains("summary 12"), "{message}");
    assert!(error["hint"].as_str().unwrap().contains("shorter summary"));
    // With fewer turns it would fit; that very hint then works.
    let three = with(&["--retain-turns", "3", "--budget-tokens", "90"]);
    let error = place.refused(&three, "x", "compact_over_budget", 3);
    let hint = error["hint"].as_str().unwrap();
    let turns = hint.split(' ').nth(1).unwrap().to_owned();
    let mut fits = with(&["--budget-tokens", "90", "--retain-turns"]);
    fits.push(&turns);
    let receipt = place.receipt(&fits, "x");
    assert_eq!(receipt["kept"]["turns"].to_string(), turns);
    assert!(receipt["tokens"].as_u64().unwrap() <= 90);
    assert_eq!(receipt["budget_tokens"], 90);
    let one_more = (turns.parse::<u64>().unwrap() + 1).to_string();
    *fits.last_mut().unwrap() = &one_more;
    fits[1] = "01890000";
    place.refused(&fits, "x", "compact_over_budget", 3);
}

/// Usage records say what the retained turns cost, where they cover them.
#[test]
fn tokens_are_told_from_usage() {
    let place = Place::usual();
    let args = ["compact", &first(), "--summary", "-", "--retain-turns", "2"];
    let receipt = place.receipt(&args, "x");
    assert_eq!(receipt["estimate"], "usage");
    // The test's log counts 20 tokens an item.
    assert_eq!(receipt["kept"]["items"], 4);
    assert_eq!(receipt["kept"]["tokens"], 80);
    let plain = Log::start(1)
        .invoke()
        .user("a question of forty-two letters, or nearly")
        .turn_end();
    place.worker().segment(0x12, &plain);
    let args = [
        "compact",
        &id(0x12),
        "--summary",
        "-",
        "--retain-turns",
        "2",
    ];
    let receipt = place.receipt(&args, "x");
    assert_eq!(receipt["estimate"], "bytes");
    let item = text_item("user", "a question of forty-two letters, or nearly").to_string();
    assert_eq!(receipt["kept"]["tokens"], item.len().div_ceil(4));
}

#[test]
fn a_summary_must_say_something() {
    let place = Place::usual();
    for nothing in ["", " \n\t\n", "\u{3000}"] {
        let error = place.refused(
            &["compact", &first(), "--summary", "-"],
            nothing,
            "usage",
            2,
        );
        assert_eq!(error["path"], "-");
    }
    let bad = place.env.write("bad", b"abc\ndef\xff");
    let args = ["compact", &first(), "--summary", bad.to_str().unwrap()];
    let error = place.refused(&args, "", "bad_input", 2);
    assert_eq!(wrong_with(&error), "invalid_utf8");
    assert_eq!((&error["line"], &error["byte"]), (&json!(2), &json!(7)));
    let _ = place.wagg(&["compact", &first()]).status(2);
}

/// What is apart in the source already is not carried on in silence; without it there is a way.
#[test]
fn what_was_apart_before_is_refused_in_the_tail() {
    let place = Place::usual();
    let seed = vec![
        text_item("user", "a"),
        result_item("call_1"),
        text_item("assistant", "b"),
    ];
    let log = Log::compacted_with(1, 0x11, 3, seed).turn("more");
    place.worker().segment(0x12, &log);
    let base = ["compact", &id(0x12), "--summary", "-", "--retain-turns"];
    let with = |n: &'static str| [&base[..], &[n]].concat();
    let error = place.refused(&with("2"), "x", "orphan_tool_result", 5);
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("retain fewer turns"), "{hint}");
    place.receipt(&with("1"), "x");
}

#[test]
fn an_interrupted_turn_is_left_behind_and_said() {
    let place = Place::usual();
    place
        .worker()
        .segment(0x12, &Log::start(1).turns(2).interrupted());
    let args = [
        "compact",
        &id(0x12),
        "--summary",
        "-",
        "--retain-turns",
        "1",
    ];
    let out = place.fed(&args, "x").status(0);
    assert!(
        out.stderr.contains("2 history items are left behind"),
        "{out}"
    );
    assert_eq!(
        place.lines(out.stdout().trim_end())[0]["history"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

/// The summary of an earlier compaction stands for nothing once there is a new one.
#[test]
fn a_compaction_can_be_compacted() {
    let place = Place::usual();
    let one = place.receipt(
        &[
            "compact",
            &first(),
            "--summary",
            "-",
            "--retain-turns",
            "1",
            "--activate",
        ],
        "old",
    );
    let turn = Log::empty().at(4_000_000_000_000).turn("new");
    let lines = String::from_utf8(turn.bytes())
        .unwrap()
        .replace("\"turn_count\":1", "\"turn_count\":4");
    let _ = place.fed(&["append", "1/active"], lines).ok();
    let two = place.receipt(
        &[
            "compact",
            "1/active",
            "--summary",
            "-",
            "--retain-turns",
            "2",
        ],
        "newer",
    );
    let line = &place.lines(&made(&two))[0];
    let texts: Vec<&str> = line["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "newer",
            "Question number 3.",
            "A short answer.",
            "new",
            "A short answer."
        ]
    );
    assert_eq!(
        line["compacted_from"],
        json!({ "segment_id": made(&one), "at_turn_index": 4 })
    );
    assert_eq!(two["dropped"]["turns"], 1, "the old summary");
}
