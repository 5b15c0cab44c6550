use super::*;
use crate::record::Format;
use crate::record::scan::check_line;

fn texts(all: &[Box<RawValue>]) -> Vec<&str> {
    all.iter().map(|raw| raw.get()).collect()
}

#[test]
fn items_come_out_as_a_runtime_writes_them() {
    let array = br#" [
        { "role": "user", "kind": "message",
          "content": [ { "text": "a\u00e9 \/ b", "kind": "text" } ] },
        { "kind":"tool_result", "is_error": false, "summary":"s", "content": null,
          "attachments": [ ], "call_id":"c", "later": { "n" : 1.50, "t": "a  \" b" } },
        { "kind":"tool_result", "is_error": true, "call_id":"d", "content":"x", "summary":"",
          "attachments": [ {"data":"AA==", "kind":"image","mime_type":"image/png"} ] },
        { "signature":"s", "kind":"reasoning", "summary":[], "text":"" }
    ] "#;
    let wanted = [
        r#"{"kind":"message","role":"user","content":[{"kind":"text","text":"aé / b"}]}"#,
        r#"{"kind":"tool_result","call_id":"c","summary":"s","later":{"n":1.50,"t":"a  \" b"}}"#,
        r#"{"kind":"tool_result","call_id":"d","summary":"","content":"x","attachments":[{"kind":"image","mime_type":"image/png","data":"AA=="}],"is_error":true}"#,
        r#"{"kind":"reasoning","text":"","signature":"s"}"#,
    ];
    let all = items(array).unwrap();
    assert_eq!(texts(&all), wanted);
    // what came out comes out again, a line each
    let lines = wanted.join("\n");
    assert_eq!(texts(&items(lines.as_bytes()).unwrap()), wanted);
    let blank = format!("\n{lines}\r\n\n");
    assert_eq!(texts(&items(blank.as_bytes()).unwrap()), wanted);
    assert!(items(b"").unwrap().is_empty());
    assert!(items(b"[]").unwrap().is_empty());
}

#[test]
fn what_is_wrong_with_items_has_its_place() {
    let good = r#"{"kind":"message","role":"user","content":[]}"#;
    for (text, code, at) in [
        (
            format!("{good}\n{{\"kind\":\"message\"}}"),
            Code::MissingField,
            good.len() + 1,
        ),
        (
            format!("[{good},{{\"kind\":\"nothing\"}}]"),
            Code::UnknownKind,
            good.len() + 2,
        ),
        (format!("[{good}"), Code::CorruptRecord, 0),
        (
            format!("{good} {good}"),
            Code::CorruptRecord,
            good.len() + 1,
        ),
        (format!("[{good}] x"), Code::CorruptRecord, good.len() + 3),
        ("7".to_owned(), Code::WrongType, 0),
        ("\u{feff}[]".to_owned(), Code::ByteOrderMark, 0),
    ] {
        let fault = items(text.as_bytes()).unwrap_err();
        assert_eq!(fault.code, code, "{text}: {fault:?}");
        assert!(fault.at >= at as u64, "{text}: {fault:?}");
    }
    assert_eq!(items(b"[\"\xff\"]").unwrap_err().code, Code::InvalidUtf8);
}

#[test]
fn a_config_has_all_its_fields_in_order() {
    let nothing = r#"{"max_tokens":null,"temperature":null,"top_p":null,"top_k":null,"stop_sequences":[],"reasoning":null}"#;
    assert_eq!(default_config().unwrap().get(), nothing);
    assert_eq!(config(b"{}").unwrap().json.get(), nothing);
    let some = config(
        br#"{ "reasoning": "h\u0069gh", "temperature": 0.70000000001, "top_p": 1,
              "stop_sequences": [ "</end>" ], "max_tokens": 8192, "max_token": 1 }"#,
    )
    .unwrap();
    assert_eq!(
        some.json.get(),
        r#"{"max_tokens":8192,"temperature":0.7,"top_p":1.0,"top_k":null,"stop_sequences":["</end>"],"reasoning":"high"}"#
    );
    assert_eq!(some.unknown, ["max_token"]);
    let budget = config(br#"{"reasoning":-1}"#).unwrap();
    assert!(budget.json.get().ends_with(r#""reasoning":-1}"#));
    for (text, code) in [
        ("[]", Code::WrongType),
        ("", Code::CorruptRecord),
        ("{\"max_tokens\":-1}", Code::WrongType),
        ("{\"temperature\":1e39}", Code::NumberOutOfRange),
        ("{\"stop_sequences\":null}", Code::WrongType),
        ("{\"top_k\":1,\"top_k\":2}", Code::DuplicateKey),
        ("{} {}", Code::CorruptRecord),
    ] {
        let fault = config(text.as_bytes()).unwrap_err();
        assert_eq!(fault.code, code, "{text}: {fault:?}");
    }
}

#[test]
fn the_first_record_is_the_reference_s_to_the_byte() {
    let session: SessionId = "019fd5e5-6b10-712a-9374-a69e6f0861c9".parse().unwrap();
    let segment: SegmentId = "01a22d3f-e0b3-7de0-a5f9-375d0bf96c9f".parse().unwrap();
    let config = default_config().unwrap();
    let history =
        items(br#"[{"kind":"message","role":"user","content":[{"kind":"text","text":"turn 1"}]}]"#)
            .unwrap();
    let history: Vec<&RawValue> = history.iter().map(|raw| &**raw).collect();
    let origin = Origin { segment, turn: 4 };
    let mut start = NewStart {
        ts: 1_796_055_490_739,
        session,
        system_prompt: None,
        config: &config,
        history: &history,
        lineage: Lineage::Forked(origin),
    };
    let line = segment_start(&start).unwrap();
    assert_eq!(
        String::from_utf8(line.clone()).unwrap(),
        concat!(
            r#"{"kind":"segment_start","ts":1796055490739,"session_id":"019fd5e5-6b10-712a-9374-a69e6f0861c9","system_prompt":null,"config":{"max_tokens":null,"temperature":null,"top_p":null,"top_k":null,"stop_sequences":[],"reasoning":null},"history":[{"kind":"message","role":"user","content":[{"kind":"text","text":"turn 1"}]}],"forked_from":{"segment_id":"01a22d3f-e0b3-7de0-a5f9-375d0bf96c9f","at_turn_index":4}}"#,
            "\n"
        )
    );
    check_line(&line[..line.len() - 1], Format::Segment).unwrap();
    start.lineage = Lineage::Root;
    start.system_prompt = Some("灯台を守る。\n\"x\"");
    let line = String::from_utf8(segment_start(&start).unwrap()).unwrap();
    assert!(
        line.contains(r#""system_prompt":"灯台を守る。\n\"x\"","config""#),
        "{line}"
    );
    assert!(line.ends_with("]}]}\n"), "{line}");
    start.lineage = Lineage::Compacted(origin);
    let line = String::from_utf8(segment_start(&start).unwrap()).unwrap();
    assert!(
        line.ends_with(
            r#""at_turn_index":4}}
"#
        ),
        "{line}"
    );
    assert!(
        line.contains(r#"],"compacted_from":{"segment_id""#),
        "{line}"
    );
}
