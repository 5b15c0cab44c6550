use super::{Place, first, wrong_with};
use crate::support::log::START_MS;
use crate::support::store::id;
use crate::support::{Log, schema};

fn turn(n: u64) -> String {
    let ts = START_MS * 3;
    format!(
        "{{\"kind\":\"invoke\",\"ts\":{ts},\"trigger\":\"user_send\"}}\n{{\"kind\":\"turn_end\",\"ts\":{ts},\"turn_count\":{n}}}\n{{\"kind\":\"run_completed\",\"ts\":{ts},\"interrupted\":false,\"result\":\"finished\"}}\n"
    )
}

/// C4: lines are kept to the byte, and the last newline is made up.
#[test]
fn c4_records_are_appended_as_they_came() {
    let place = Place::usual();
    let before = place.bytes(&first());
    let spaced = turn(4).replace(",\"ts\"", " ,\t\"ts\"");
    let receipt = place.receipt(&["append", "1/active"], spaced.trim_end());
    assert_eq!(
        place.bytes(&first()),
        [&before[..], spaced.as_bytes()].concat()
    );
    assert_eq!(receipt["segment_id"], first());
    assert_eq!(receipt["records"], 3);
    assert_eq!(receipt["bytes"], spaced.len());
    assert_eq!(receipt["committed_bytes"], before.len() + spaced.len());
    assert_eq!(receipt["turn"], 4);
    assert_eq!(receipt["torn_tail_bytes"], 0);
    let file = place.env.write("more", turn(5));
    let file = file.to_str().unwrap();
    let out = place.wagg(&["append", &first()[..35], "--from", file]).ok();
    assert_eq!(out.stdout(), format!("{}\n", first()));
    assert_eq!(place.codes(), Vec::<String>::new());
}

/// C4: one bad line among good ones, and nothing is appended.
#[test]
fn c4_all_or_nothing() {
    let place = Place::usual();
    let good = turn(4);
    let invoke = good.lines().next().unwrap();
    for (bad, code, line) in [
        (format!("{invoke}\nnope\n{invoke}\n"), "corrupt_record", 2),
        (format!("{invoke}\n\n{invoke}\n"), "corrupt_record", 2),
        (format!("{invoke}\n{invoke}{invoke}\n"), "glued_records", 2),
        (
            format!("{invoke}\n{{\"kind\":\"invoke\"}}"),
            "missing_field",
            2,
        ),
        (
            format!("{invoke}\n{{\"kind\":\"x\",\"ts\":1}}\n"),
            "unknown_kind",
            2,
        ),
        (format!("{invoke}\n\0\0{invoke}"), "nul_bytes", 2),
        (format!("\u{feff}{invoke}"), "byte_order_mark", 1),
        (
            String::from_utf8(Log::start(1).bytes()).unwrap(),
            "second_segment_start",
            1,
        ),
        (turn(3), "turn_count_mismatch", 2),
        (turn(5), "turn_count_mismatch", 2),
        (turn(4) + &turn(6), "turn_count_mismatch", 5),
        (turn(u64::MAX), "turn_count_mismatch", 2),
    ] {
        let error = place.refused(&["append", "1/active"], &bad, "bad_input", 2);
        assert_eq!(wrong_with(&error), code, "{bad}");
        assert_eq!(error["line"].as_u64(), Some(line), "{bad}");
        assert_eq!(error["path"], "-", "{bad}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("nothing was appended"), "{message}");
        assert!(message.contains(&format!("line {line}")), "{message}");
    }
}

#[test]
fn turns_count_on_from_where_the_segment_came() {
    let place = Place::usual();
    let worker = place.worker();
    worker.segment(0x12, &Log::forked(1, 0x11, 2));
    worker.segment(0x13, &Log::start(1));
    place.refused(&["append", &id(0x12)], &turn(1), "bad_input", 2);
    let _ = place.fed(&["append", &id(0x12)], turn(3)).ok();
    let _ = place.fed(&["append", &id(0x12)], turn(4)).ok();
    place.refused(&["append", &id(0x13)], &turn(2), "bad_input", 2);
    let _ = place.fed(&["append", &id(0x13)], turn(1)).ok();
    // Records without a turn's end need no count.
    let _ = place
        .fed(&["append", &id(0x13)], turn(1).lines().next().unwrap())
        .ok();
}

/// C4: what was never committed is cut off first, and kept.
#[test]
fn c4_a_torn_tail_goes_into_quarantine() {
    let place = Place::usual();
    let before = place.bytes(&first());
    let path = place.worker().segment_path(0x11);
    let mut torn = before.clone();
    torn.extend_from_slice(b"{\"kind\":\"invo");
    std::fs::write(&path, &torn).unwrap();
    let receipt = {
        let out = place
            .fed(&["append", "1/active", "--format", "json"], turn(4))
            .status(0);
        out.json()
    };
    assert_eq!(receipt["torn_tail_bytes"], 13);
    assert!(
        receipt["warnings"][0]
            .as_str()
            .unwrap()
            .contains("13 bytes")
    );
    assert_eq!(
        place.bytes(&first()),
        [&before[..], turn(4).as_bytes()].concat()
    );
    let op = receipt["operation_id"].as_str().unwrap();
    let kept = place.store.path(format!(".wagg/quarantine/{op}/bytes"));
    assert_eq!(std::fs::read(kept).unwrap(), b"{\"kind\":\"invo");
    assert_eq!(place.codes(), Vec::<String>::new());
}

#[test]
fn nothing_to_append_is_no_change() {
    let place = Place::usual();
    let out = place.fed(&["append", "1/active", "--format", "json"], "");
    let out = out.status(0);
    assert!(out.stderr.contains("the input is empty"), "{out}");
    let receipt = out.json();
    schema::check("segment.append", &receipt);
    assert_eq!(receipt["outcome"], "no_change");
    assert_eq!(receipt["operation_id"], serde_json::Value::Null);
    assert!(!place.store.path(".wagg/journal.jsonl").exists());
}

/// What is damaged is not built upon, as far as an append looks.
#[test]
fn damage_at_either_end_is_seen() {
    let place = Place::usual();
    let worker = place.worker();
    worker.segment(0x12, &Log::start(1).turns(1).raw("nope"));
    let error = place.refused(&["append", &id(0x12)], &turn(2), "corrupt_record", 5);
    assert!(error["path"].as_str().unwrap().contains(&id(0x12)));
    assert_eq!(error["hint"], "wagg --store store verify 1");
    worker.segment(0x13, &Log::empty().turn("no start"));
    place.refused(&["append", &id(0x13)], &turn(2), "missing_segment_start", 5);
    worker.segment(0x14, &Log::empty());
    place.refused(&["append", &id(0x14)], &turn(1), "missing_segment_start", 5);
    worker.segment(0x15, &Log::start(2).turns(1));
    place.refused(&["append", &id(0x15)], &turn(2), "session_mismatch", 3);
    worker.segment(0x16, &Log::start(1).invoke().raw("nope").invoke());
    place.refused(&["append", &id(0x16)], &turn(1), "corrupt_record", 5);
    // A first record in another spelling is read as a whole.
    let start = String::from_utf8(Log::start(1).bytes()).unwrap();
    let odd = start.replace(
        "{\"kind\":\"segment_start\",",
        "{ \"kind\" : \"segment_start\",",
    );
    worker.segment(0x17, &Log::empty().raw(odd.trim_end()));
    let _ = place.fed(&["append", &id(0x17)], turn(1)).ok();
}

/// C13
#[test]
fn c13_the_active_segment_of_a_live_run_is_left_alone() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::start(1));
    let _live = place.worker().live(1);
    place.refused(&["append", "1/active"], &turn(4), "worker_live", 3);
    let _ = place.fed(&["append", &id(0x12)], turn(1)).ok();
    // Without a pointer any of them may be the one.
    std::fs::remove_file(place.worker().path("metadata.json")).unwrap();
    place.refused(&["append", &id(0x12)], &turn(2), "worker_live", 3);
}

/// The time of an append does not grow with the Segment: it looks at the ends only.
#[test]
fn an_append_reads_the_ends_only() {
    let place = Place::usual();
    let long = Log::start(1).turns(3);
    let mut bytes = long.bytes();
    // Something that nobody reads who does not have to.
    let middle = bytes.len() / 2;
    let at = bytes[middle..].iter().position(|b| *b == b'\n').unwrap() + middle + 1;
    let hidden = b"this is no record\n".repeat(20_000);
    bytes.splice(at..at, hidden);
    std::fs::write(place.worker().segment_path(0x11), &bytes).unwrap();
    let _ = place.fed(&["append", "1/active"], turn(4)).ok();
    let out = place.wagg(&["fork", "1/active"]).status(5);
    assert!(out.stderr.contains("corrupt_record"), "{out}");
}

/// In one stream each append counts on from those before it, before any of them is on disk; one
/// that is refused leaves no gap.
#[test]
fn appends_of_one_stream_build_upon_each_other() {
    let place = Place::usual();
    let before = place.bytes(&first());
    let line = |text: &str, more: serde_json::Value| {
        let mut line =
            serde_json::json!({ "command": "segment append", "segment": first(), "records": text });
        for (key, value) in more.as_object().unwrap() {
            line[key] = value.clone();
        }
        format!("{line}\n")
    };
    let none = serde_json::json!({});
    let then = [before.clone(), turn(4).into_bytes()].concat();
    let digest = serde_json::json!({ "expect_digest": super::refusals::sha(&then) });
    let stream = [
        line(&turn(4), none.clone()),
        line(&turn(4), none.clone()),
        line(&turn(5), digest.clone()),
        line(&turn(6), digest),
        line("nope", none.clone()),
        line(&turn(6), serde_json::json!({ "request_id": "r" })),
    ]
    .concat();
    let run = || {
        let args = ["--store", "store", "apply", "--format", "json"];
        place
            .env
            .prepare(args)
            .stdin(stream.clone())
            .run()
            .status(1)
    };
    let document = run().json();
    let codes: Vec<String> = document["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            let word = r.get("outcome").or_else(|| r["error"].get("code"));
            word.unwrap().as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        codes,
        ["done", "bad_input", "done", "fenced", "bad_input", "done"]
    );
    let all = [turn(4), turn(5), turn(6)].concat();
    assert_eq!(
        place.bytes(&first()),
        [&before[..], all.as_bytes()].concat()
    );
    assert_eq!(place.codes(), Vec::<String>::new());
    // Records may stand there as objects, too.
    let objects = serde_json::json!({ "command": "segment append", "segment": "1/active",
        "records": [{ "kind": "invoke", "ts": 4_000_000_000_000_u64, "trigger": "wakeup" }] });
    let args = ["--store", "store", "apply"];
    let out = place.env.prepare(args).stdin(objects.to_string()).run();
    assert_eq!(out.code, Some(0), "{out}");
    // Each line has its answer, also with ids alone: one that stands twice is printed twice.
    let ids = place.env.prepare([&args[..], &["--ids"]].concat());
    let stream = [objects.to_string(), objects.to_string()].join("\n");
    let out = ids.stdin(stream).run().status(0);
    let rows: Vec<&str> = out.stdout().lines().collect();
    assert!(rows.len() == 2 && rows[0] == rows[1], "{out}");
    assert!(
        place
            .bytes(&first())
            .ends_with(b"{\"kind\":\"invoke\",\"ts\":4000000000000,\"trigger\":\"wakeup\"}\n")
    );
}
