use serde_json::json;

use super::{Place, made, wrong_with};
use crate::support::Log;
use crate::support::store::{document, id};

/// C2, C28: Session and Segment appear together; the bytes are those of the reference.
#[test]
fn c2_the_first_segment_brings_the_session() {
    let place = Place::with(|_| ());
    let receipt = place.receipt(&["create", "1", "--activate"], "");
    let segment = made(&receipt);
    let session = receipt["session_id"].as_str().unwrap();
    let lines = place.lines(&segment);
    let ts = lines[0]["ts"].as_u64().unwrap();
    assert_eq!(
        String::from_utf8(place.bytes(&segment)).unwrap(),
        format!(
            "{{\"kind\":\"segment_start\",\"ts\":{ts},\"session_id\":\"{session}\",\"system_prompt\":null,\"config\":{{\"max_tokens\":null,\"temperature\":null,\"top_p\":null,\"top_k\":null,\"stop_sequences\":[],\"reasoning\":null}},\"history\":[]}}\n"
        )
    );
    let document_of = std::fs::read(place.worker().path("session/session.json")).unwrap();
    assert_eq!(
        document_of,
        document(&json!({ "schema_version": 1, "session_id": session }))
    );
    assert_eq!(
        place.metadata(),
        format!(
            "{{\n  \"worker_name\": \"worker-runtime-1\",\n  \"active\": {{\n    \"session_id\": \"{session}\",\n    \"segment_id\": \"{segment}\"\n  }}\n}}"
        )
    );
    assert!(place.codes().is_empty(), "{:?}", place.codes());
    assert_eq!(receipt["active"], true);
    assert_eq!(receipt["history_items"], 0);
}

/// C2: the id that `metadata.json` reserves, and in the place of what a Runtime leaves.
#[test]
fn c2_a_reserved_session_begins() {
    for opened in [false, true] {
        let place = Place::with(|worker| {
            worker.active(9, None);
            if opened {
                std::fs::create_dir_all(worker.path("session/segments")).unwrap();
            }
        });
        let receipt = place.receipt(&["create", "1"], "");
        assert_eq!(receipt["session_id"], id(9));
        assert_eq!(place.lines(&made(&receipt))[0]["session_id"], id(9));
        assert!(!place.metadata().contains("segment_id"));
        let receipt = place.receipt(&["create", "1", "--activate"], "");
        assert_eq!(receipt["session_id"], id(9), "the same Session for life");
        assert!(place.metadata().contains(&made(&receipt)));
        assert!(place.metadata().contains("workspace-a"), "the rest stays");
        assert!(place.codes().is_empty());
    }
}

#[test]
fn files_are_taken_by_content() {
    let place = Place::with(|_| ());
    place.env.write("prompt", "Be kind.\n\"Always\".\n");
    place.env.write(
        "config.json",
        "{ \"temperature\": 0.7, \"max_tokens\": 100 }\n",
    );
    place.env.write(
        "history.json",
        "[\n  { \"role\": \"user\", \"kind\": \"message\", \"content\": [{\"kind\":\"text\",\"text\":\"hi\"}] }\n]\n",
    );
    let all = [
        "create",
        "1",
        "--system-prompt",
        "prompt",
        "--config",
        "config.json",
        "--history",
        "history.json",
        "--activate",
    ];
    let receipt = place.receipt(&all, "");
    let line = &place.lines(&made(&receipt))[0];
    assert_eq!(line["system_prompt"], "Be kind.\n\"Always\".\n");
    assert_eq!(line["config"]["temperature"].to_string(), "0.7");
    let text = String::from_utf8(place.bytes(&made(&receipt))).unwrap();
    assert!(text.contains(
        r#""history":[{"kind":"message","role":"user","content":[{"kind":"text","text":"hi"}]}]}"#
    ));
    assert!(text.contains(r#""config":{"max_tokens":100,"temperature":0.7,"top_p":null,"top_k":null,"stop_sequences":[],"reasoning":null}"#));
    // The plain answer is the id and nothing else; standard input stands for one file.
    let out = place
        .fed(&["create", "1", "--system-prompt", "-"], "From a pipe")
        .ok();
    let segment = out.stdout().trim_end().to_owned();
    assert_eq!(out.stdout(), format!("{segment}\n"));
    assert_eq!(place.lines(&segment)[0]["system_prompt"], "From a pipe");
    assert_eq!(place.codes(), Vec::<String>::new());
}

#[test]
fn what_a_person_brings_is_held_against_the_tables() {
    let place = Place::with(|_| ());
    let good = r#"{"kind":"message","role":"user","content":[]}"#;
    for (flag, text, code, line) in [
        (
            "--history",
            format!("{good}\n{{\"kind\":\"message\"}}\n"),
            "missing_field",
            Some(2),
        ),
        (
            "--history",
            format!("[{good},\n{{\"kind\":\"x\"}}]"),
            "unknown_kind",
            Some(2),
        ),
        ("--history", "[".to_owned(), "corrupt_record", Some(1)),
        (
            "--history",
            Log::start(1).bytes().iter().map(|b| *b as char).collect(),
            "unknown_kind",
            Some(1),
        ),
        (
            "--config",
            "{\"max_tokens\":\"x\"}".to_owned(),
            "wrong_type",
            Some(1),
        ),
        ("--config", "{}{}".to_owned(), "corrupt_record", Some(1)),
    ] {
        let error = place.refused(&["create", "1", flag, "-"], &text, "bad_input", 2);
        assert_eq!(wrong_with(&error), code, "{text}");
        assert_eq!(error["path"], "-", "{text}");
        assert_eq!(error["line"].as_u64(), line, "{text}");
    }
    let error = place.refused(
        &["create", "1", "--config", "-"],
        "{\"max_token\":1}",
        "usage",
        2,
    );
    assert!(error["hint"].as_str().unwrap().contains("max_tokens"));
    let out = place
        .wagg(&["create", "1", "--config", "-", "--history", "-"])
        .status(2);
    assert!(out.stderr.contains("one file only"), "{out}");
    let out = place
        .wagg(&["create", "1", "--history", "nowhere"])
        .status(14);
    assert!(out.stderr.contains("nowhere"), "{out}");
    let bad = place.env.write("bad", b"\xff");
    let bad = bad.to_str().unwrap();
    place.refused(&["create", "1", "--system-prompt", bad], "", "bad_input", 2);
    assert!(!place.worker().path("session").exists());
}

#[test]
fn what_stands_in_the_way_is_named() {
    // A Segment without its Session's document.
    let place = Place::with(|worker| {
        worker.segment(0x11, &Log::start(1));
    });
    place.refused(&["create", "1"], "", "missing_session_document", 5);
    // Something else in the place of a Session.
    let place = Place::with(|worker| {
        std::fs::create_dir_all(worker.path("session/segments")).unwrap();
        std::fs::write(worker.path("session/segments/.x.jsonl.tmp-1-1"), b"x").unwrap();
    });
    let error = place.refused(&["create", "1"], "", "target_exists", 3);
    assert!(error["path"].as_str().unwrap().ends_with(".tmp-1-1"));
    let place = Place::with(|worker| std::fs::write(worker.path("session"), b"x").unwrap());
    place.refused(&["create", "1"], "", "not_a_regular_file", 5);
    // The pointer names a history that is gone: it is not made anew in silence.
    let place = Place::with(|worker| {
        worker.active(9, Some(0x11));
    });
    place.refused(&["create", "1"], "", "active_missing_segment", 5);
    let _ = place.wagg(&["create", "1", "--activate"]).ok();
    assert!(place.codes().is_empty(), "{:?}", place.codes());
}

/// A reserved id that two Workers claim goes to neither.
#[test]
fn c26_a_reserved_session_that_is_shared() {
    for with_history in [false, true] {
        let place = Place::with(|worker| {
            worker.active(9, None);
        });
        let other = place.store.worker(2);
        if with_history {
            other.session(9);
        } else {
            other.active(9, None);
        }
        let error = place.refused(&["create", "1"], "", "session_shared", 5);
        assert!(
            error["path"]
                .as_str()
                .unwrap()
                .contains("workers/1/metadata")
        );
    }
}

/// C13: the first Segment is the Runtime's to make while one runs; a further one only adds.
#[test]
fn c13_a_live_worker_makes_its_own_first_segment() {
    let place = Place::with(|worker| {
        worker.run(1);
    });
    let live = place.worker().live(1);
    place.refused(&["create", "1"], "", "worker_live", 3);
    drop(live);
    let _ = place.wagg(&["create", "1"]).ok();
    std::fs::remove_file(place.worker().path("runs/1/worker.sock")).unwrap();
    let _live = place.worker().live(1);
    place.refused(&["create", "1", "--activate"], "", "worker_live", 3);
    let _ = place.wagg(&["create", "1"]).ok();
}
