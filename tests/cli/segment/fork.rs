use serde_json::{Value, json};

use super::{Place, first, made};
use crate::support::Log;
use crate::support::log::text_item;
use crate::support::store::id;

/// C27, C28: the state behind a turn, with where it comes from; the source as it was.
#[test]
fn c27_a_fork_begins_where_a_turn_ended() {
    let place = Place::usual();
    let (before, metadata) = (place.bytes(&first()), place.metadata());
    let receipt = place.receipt(&["fork", "1/active", "--at-turn", "1"], "");
    let line = &place.lines(&made(&receipt))[0];
    assert_eq!(
        line["forked_from"],
        json!({ "segment_id": first(), "at_turn_index": 1 })
    );
    assert_eq!(receipt["forked_from"], line["forked_from"]);
    let history = line["history"].as_array().unwrap();
    assert_eq!(history.len(), 4);
    assert_eq!(history[0], text_item("user", "Question number 1."));
    assert_eq!(line["system_prompt"], "You help in a workshop.");
    assert_eq!(line["config"]["max_tokens"], 4096);
    assert_eq!(receipt["active"], false);
    assert_eq!(receipt["items_left_behind"], Value::Null);
    assert_eq!(place.bytes(&first()), before);
    assert_eq!(place.metadata(), metadata, "it is not activated");
    // The last finished turn, and before the first.
    let receipt = place.receipt(&["fork", &first()], "");
    assert_eq!(receipt["forked_from"]["at_turn_index"], 3);
    assert_eq!(receipt["history_items"], 8);
    assert_eq!(receipt["items_left_behind"], 0);
    let receipt = place.receipt(&["fork", &first(), "--at-turn", "0", "--activate"], "");
    assert_eq!(receipt["history_items"], 0);
    assert_eq!(receipt["active"], true);
    assert_eq!(
        place.metadata(),
        metadata.replace(&first(), &made(&receipt))
    );
    assert_eq!(place.codes(), Vec::<String>::new());
    let out = place.wagg(&["fork", &first()]).ok();
    assert_eq!(out.stdout().lines().count(), 1);
    assert_eq!(place.lines(out.stdout().trim_end()).len(), 1);
}

/// C27: in the turns of a fork and of a compaction too, and of a fork without a turn.
#[test]
fn c27_turns_count_on() {
    let place = Place::usual();
    let worker = place.worker();
    worker.segment(0x12, &Log::forked(1, 0x11, 2).turns(2));
    worker.segment(0x13, &Log::compacted(1, 0x12, 4).turn("x"));
    worker.segment(0x14, &Log::forked(1, 0x13, 5));
    for (source, turn, index) in [
        (0x12, Some("3"), 3),
        (0x12, None, 4),
        (0x13, None, 5),
        (0x13, Some("0"), 0),
        (0x14, None, 0),
    ] {
        let source = id(source);
        let mut args = vec!["fork", &source];
        args.extend(turn.iter().flat_map(|turn| ["--at-turn", turn]));
        let receipt = place.receipt(&args, "");
        assert_eq!(receipt["forked_from"]["at_turn_index"], index, "{args:?}");
    }
    assert_eq!(place.codes(), Vec::<String>::new());
}

#[test]
fn a_turn_that_does_not_exist_is_named_with_those_that_do() {
    let place = Place::usual();
    let worker = place.worker();
    worker.segment(0x12, &Log::forked(1, 0x11, 2).turns(2));
    worker.segment(0x13, &Log::forked(1, 0x11, 2));
    for (source, turn, words, hint) in [
        (0x11, "4", "1 to 3", "--at-turn 3"),
        (0x12, "2", "3 to 4", "--at-turn 0"),
        (0x13, "2", "no turn of it is finished", "--at-turn 0"),
        (0x11, "18446744073709551615", "1 to 3", "--at-turn 3"),
    ] {
        let error = place.refused(
            &["fork", &id(source), "--at-turn", turn],
            "",
            "not_found",
            4,
        );
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
    }
}

/// An interrupted turn is left behind, and that is said.
#[test]
fn what_is_left_behind_is_said() {
    let place = Place::usual();
    let log = Log::start(1).turns(2).interrupted();
    place.worker().segment(0x12, &log);
    let out = place.wagg(&["fork", &id(0x12)]).status(0);
    assert!(
        out.stderr.contains("2 history items are left behind"),
        "{out}"
    );
    let out = place.wagg(&["fork", &id(0x12), "--format", "json"]).ok();
    let receipt = out.json();
    assert_eq!(receipt["items_left_behind"], 2);
    assert!(receipt["warnings"][0].as_str().unwrap().contains("turn 2"));
    crate::support::schema::check("segment.fork", &receipt);
}

/// Damage behind the split is no reason to refuse: that is how the rest is saved.
#[test]
fn damage_counts_up_to_the_split() {
    let place = Place::usual();
    let log = Log::start(1).turns(2).raw("nope").turn("lost");
    place.worker().segment(0x12, &log);
    let source = id(0x12);
    let error = place.refused(&["fork", &source], "", "corrupt_record", 5);
    assert_eq!(error["line"], 16);
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("wagg --store store verify 1"), "{hint}");
    assert!(
        hint.contains(&format!(
            "wagg --store store segment fork {source} --at-turn 2"
        )),
        "{hint}"
    );
    place.refused(
        &["fork", &source, "--at-turn", "3"],
        "",
        "corrupt_record",
        5,
    );
    let receipt = place.receipt(&["fork", &source, "--at-turn", "2"], "");
    assert_eq!(receipt["history_items"], 6);
    // A second start: what stands before it can still be had.
    let mut log = Log::start(1).turns(1);
    let second = Log::start(1).turns(1);
    for line in second.bytes().split_inclusive(|b| *b == b'\n') {
        log = log.raw(&line[..line.len() - 1]);
    }
    place.worker().segment(0x13, &log);
    place.refused(&["fork", &id(0x13)], "", "second_segment_start", 5);
    place.receipt(&["fork", &id(0x13), "--at-turn", "1"], "");
    place.worker().segment(0x14, &Log::empty());
    place.refused(&["fork", &id(0x14)], "", "missing_segment_start", 5);
    place.refused(
        &["fork", &id(0x14), "--at-turn", "0"],
        "",
        "missing_segment_start",
        5,
    );
    place.worker().segment(0x15, &Log::empty().turn("x"));
    place.refused(&["fork", &id(0x15)], "", "missing_segment_start", 5);
}

/// What the source has that no table knows comes along, to the byte.
#[test]
fn items_and_config_are_copied_to_the_byte() {
    let place = Place::usual();
    let item = r#"{ "later":1.50, "kind":"message","role":"user", "content":[{"kind":"text","text":"\u0061"}] }"#;
    let config = r#"{"stop_sequences":[],"temperature":0.10,"later":[ 1 ]}"#;
    let log = Log::start(1)
        .raw(format!(
            "{{\"kind\":\"assistant_item\",\"ts\":1800000000000,\"item\":{item}}}"
        ))
        .raw(format!(
            "{{\"kind\":\"config_changed\",\"ts\":1800000000000,\"config\":{config}}}"
        ))
        .at(1_800_000_000_000)
        .turn_end();
    place.worker().segment(0x12, &log);
    let receipt = place.receipt(&["fork", &id(0x12)], "");
    let text = String::from_utf8(place.bytes(&made(&receipt))).unwrap();
    assert!(
        text.contains(&format!("\"config\":{config},\"history\":[{item}]")),
        "{text}"
    );
}
