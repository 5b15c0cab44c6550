//! Tests of the replay, against itself, the fold and what the reference reader made of the corpus.

use super::*;
use crate::record::Fold;
use crate::record::item::said;

const START: &str = r#"{"kind":"segment_start","ts":1,"session_id":"01890000-0000-7000-8000-000000000001","system_prompt":"be brief","config":{"max_tokens":1,"temperature":0.70,"stop_sequences":[]},"history":[{"kind":"message","role":"user","content":[{"kind":"text","text":"seed"}]}]}"#;

fn lines(all: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in all {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn replay(bytes: &[u8], until: Until) -> Result<Replay, ReplayError> {
    Replay::read(bytes, bytes.len() as u64, Limits::default(), until)
}

fn texts(replay: &Replay) -> Vec<String> {
    replay
        .history
        .iter()
        .map(|item| said(&item.json).unwrap().text.into_owned())
        .collect()
}

fn turns() -> Vec<u8> {
    lines(&[
        START,
        r#"{"kind":"invoke","ts":2,"trigger":"user_send"}"#,
        r#"{"kind":"user_input","ts":3,"segments":[{"kind":"text","content":"see "},{"kind":"file_ref","path":"a b"},{"kind":"paste","id":1,"chars":1,"lines":1,"content":"\n"},{"kind":"flow","selector":"w:r"},{"kind":"unknown"},{"kind":"later","content":["x"]}],"extensions":[{"domain":"d","payload":1.50}]}"#,
        r#"{"kind":"assistant_item","ts":4,"item":{"kind":"tool_call","call_id":"c","name":"Bash","arguments":"{}"}}"#,
        r#"{"kind":"turn_end","ts":5,"turn_count":1}"#,
        "",
        r#"{"kind":"run_completed","ts":6,"interrupted":false,"result":"finished"}"#,
        r#"{"kind":"invoke","ts":7,"trigger":"wakeup"}"#,
        r#"{"kind":"system_item","ts":8,"item":{"kind":"knowledge","slug":"s","body":"old"}}"#,
        r#"{"kind":"system_item","ts":9,"item":{"kind":"workflow","slug":"s"}}"#,
        r#"{"kind":"system_item","ts":10,"item":{"kind":"interrupt","body":"cut"}}"#,
        r#"{"kind":"extension","ts":11,"domain":"e","payload":null}"#,
        r#"{"kind":"config_changed","ts":12,"config":{"stop_sequences":["x"]}}"#,
        r#"{"kind":"turn_end","ts":13,"turn_count":2}"#,
        r#"{"kind":"turn_end","ts":14,"turn_count":2}"#,
    ])
}

#[test]
fn a_history_is_what_a_restore_sees() {
    let bytes = turns();
    let all = replay(&bytes, Until::End).unwrap();
    assert_eq!(
        texts(&all),
        [
            "seed",
            "see @a b\n[Flow: w:r]",
            "{}",
            "",
            "Ignored legacy procedure item: /s",
            "cut"
        ]
    );
    assert_eq!(
        (all.records, all.turn, all.interrupted, all.bytes),
        (14, 2, true, bytes.len() as u64)
    );
    assert_eq!(all.system_prompt.as_deref(), Some("be brief"));
    assert_eq!(all.config.unwrap().get(), r#"{"stop_sequences":["x"]}"#);
    let payloads: Vec<_> = all.extensions.iter().map(|e| e.payload.get()).collect();
    assert_eq!(payloads, ["1.50", "null"]);
    let places: Vec<_> = all
        .history
        .iter()
        .map(|item| (item.line, item.seed, item.turn))
        .collect();
    assert_eq!(
        places,
        [
            (1, Some(0), 0),
            (3, None, 0),
            (4, None, 0),
            (9, None, 1),
            (10, None, 1),
            (11, None, 1)
        ]
    );
}

/// C27: the turn count at a split; a fork takes the first `turn_end` of that count.
#[test]
fn c27_a_replay_ends_at_a_turn() {
    let bytes = turns();
    let text = String::from_utf8(bytes.clone()).unwrap();
    for (turn, records, last_line, reached) in [
        (0, 1, 1, true),
        (1, 5, 5, true),
        (2, 13, 14, true),
        (3, 14, 15, false),
    ] {
        let part = replay(&bytes, Until::Turn(turn)).unwrap();
        let end: usize = text
            .split_inclusive('\n')
            .take(last_line)
            .map(str::len)
            .sum();
        assert_eq!(
            (part.records, part.bytes, part.reached),
            (records, end as u64, reached),
            "turn {turn}"
        );
        if reached {
            assert_eq!(part.turn, turn);
        }
    }
    let headless = lines(&[r#"{"kind":"invoke","ts":7,"trigger":"wakeup"}"#, START]);
    let part = replay(&headless, Until::Turn(0)).unwrap();
    assert_eq!((part.records, part.bytes, part.reached), (0, 0, false));
}

/// C4: the torn tail counts for nothing; a committed line that is bad stops the replay.
#[test]
fn c4_the_tail_is_passed_over_and_a_bad_line_is_not() {
    let mut bytes = turns();
    let committed = bytes.len() as u64;
    bytes.extend_from_slice(br#"{"kind":"turn_end","ts":15,"turn_count":3}"#);
    let all = replay(&bytes, Until::End).unwrap();
    assert_eq!((all.turn, all.bytes), (2, committed));
    bytes.extend_from_slice(b" x\n");
    match replay(&bytes, Until::End) {
        Err(ReplayError::Bad { line: 16, fault }) => {
            assert_eq!(fault.code, Code::CorruptRecord);
            assert!(fault.at > committed);
        }
        other => panic!("{other:?}"),
    }
    // what lies behind the turn that was asked for is not looked at
    assert!(replay(&bytes, Until::Turn(1)).is_ok());
}

#[test]
fn a_line_longer_than_the_buffer_replays_the_same() {
    let text = "x".repeat(3000);
    let item = format!(
        r#"{{"kind":"assistant_item","ts":4,"item":{{"kind":"message","role":"user","content":[{{"kind":"text","text":"{text}"}}]}}}}"#
    );
    let mut bytes = lines(&[START]);
    bytes.extend_from_slice(item.as_bytes());
    bytes.extend_from_slice(b"\r\n");
    let limits = Limits {
        buffer: 64,
        ..Limits::default()
    };
    let all = Replay::read(&bytes[..], bytes.len() as u64, limits, Until::End).unwrap();
    assert_eq!(texts(&all), ["seed", &text]);
}

#[path = "../../tests/cli/support/reference.rs"]
mod reference;

/// What one line of a `segments.txt` says: the numbers, or the line that is corrupt.
fn expected(text: &str) -> Result<Vec<u64>, u64> {
    let number = |text: &str| match text {
        "yes" => 1,
        "no" => 0,
        digits => digits.parse().unwrap(),
    };
    if let Some(rest) = text.strip_prefix("corrupt line=") {
        return Err(number(rest.split(' ').next().unwrap()));
    }
    Ok(text
        .split(' ')
        .map(|pair| number(pair.split_once('=').unwrap().1))
        .collect())
}

#[test]
fn the_reference_reads_the_same() {
    let Some(corpus) = reference::corpus() else {
        return;
    };
    let mut seen = 0;
    let mut cases: Vec<_> = std::fs::read_dir(&corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    for case in cases {
        let Ok(list) = std::fs::read_to_string(case.join("segments.txt")) else {
            continue;
        };
        for line in list.lines() {
            let (name, rest) = line.split_once(' ').unwrap();
            let path = case
                .join("before/legacy-sessions")
                .join(format!("{name}.jsonl"));
            if rest == "not-found" {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let at = format!("{}: {line}", case.display());
            let mut fold = Fold::new();
            let mut first_bad = None;
            let scanned = Scanner::new(Limits::default())
                .scan(&bytes[..], bytes.len() as u64, Format::Segment, |line| {
                    if matches!(line.verdict, Verdict::Bad(_)) {
                        first_bad.get_or_insert(line.number);
                    }
                    fold.push(line);
                    ControlFlow::Continue(())
                })
                .unwrap();
            let (outline, _) = fold.finish(&scanned);
            let ours = replay(&bytes, Until::End);
            match (expected(rest), ours) {
                (Ok(wanted), Ok(r)) => {
                    let counted = [
                        outline.records,
                        outline.history,
                        outline.turn,
                        u64::from(outline.interrupted),
                        outline.usage,
                        outline.extensions,
                        outline.inputs,
                    ];
                    let replayed = [
                        r.records,
                        r.history.len() as u64,
                        r.turn,
                        u64::from(r.interrupted),
                        r.usage.len() as u64,
                        r.extensions.len() as u64,
                        r.inputs.len() as u64,
                    ];
                    assert_eq!(replayed[..], wanted, "replay of {at}");
                    assert_eq!(counted[..], wanted, "fold of {at}");
                    assert_eq!(first_bad, None, "{at}");
                    for item in &r.history {
                        said(&item.json).unwrap();
                        crate::record::item::digest(&item.json).unwrap();
                    }
                }
                (Err(wanted), Err(ReplayError::Bad { line, .. })) => {
                    assert_eq!((line, first_bad), (wanted, Some(wanted)), "{at}");
                }
                (wanted, ours) => panic!("{at}: {wanted:?} and {:?}", ours.map(|r| r.records)),
            }
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} Segments in {}", corpus.display());
}
