use std::ops::ControlFlow;

use super::*;

fn start() -> String {
    r#"{"kind":"segment_start","ts":1,"session_id":"01890000-0000-7000-8000-000000000001","system_prompt":null,"config":{"stop_sequences":[]},"history":[]}"#.to_owned()
}

fn turn(n: u64) -> String {
    format!(r#"{{"kind":"turn_end","ts":{n},"turn_count":{n}}}"#)
}

/// Every line's verdict as text, and what the scan came to, for one size of buffer.
fn told(bytes: &[u8], buffer: usize, max_line: u64) -> (Vec<String>, Scanned) {
    let mut lines = Vec::new();
    let scanned = Scanner::new(Limits { buffer, max_line })
        .scan(bytes, bytes.len() as u64, Format::Segment, |line| {
            let verdict = match &line.verdict {
                Verdict::Record(facts) => format!("{:?} ts={}", facts.kind(), facts.ts),
                Verdict::Blank => "blank".to_owned(),
                Verdict::Bad(f) => format!("{} at {} {:?}: {}", f.code, f.at, f.length, f.message),
            };
            lines.push(format!(
                "{} {}+{}{} {verdict}",
                line.number,
                line.offset,
                line.length,
                if line.crlf { " crlf" } else { "" }
            ));
            ControlFlow::Continue(())
        })
        .unwrap();
    (lines, scanned)
}

/// The same answer whatever the size of the buffer: cut lines, cut characters, cut tokens.
fn scan(bytes: &[u8]) -> (Vec<String>, Scanned) {
    let whole = told(bytes, 1 << 20, 1 << 30);
    for buffer in [64, 65, 100, 177, 300] {
        let mut small = told(bytes, buffer, 1 << 30);
        if let (Some(a), Some(b)) = (&mut small.1.tail, &whole.1.tail) {
            a.whole = b.whole; // a tail longer than the buffer is not looked into
        }
        assert_eq!(small, whole, "with a buffer of {buffer} bytes");
    }
    whole
}

#[test]
fn lines_and_their_places() {
    let text = format!("{}\n\n{}\r\n   \n{}", start(), turn(1), turn(2));
    let (lines, scanned) = scan(text.as_bytes());
    assert_eq!(lines.len(), 4);
    assert!(
        lines[0].ends_with("Some(SegmentStart) ts=1"),
        "{}",
        lines[0]
    );
    assert!(lines[1].ends_with("blank") && lines[3].ends_with("blank"));
    assert!(lines[2].contains("crlf Some(TurnEnd)"), "{}", lines[2]);
    let tail = scanned.tail.unwrap();
    assert_eq!(
        (tail.length, tail.whole, tail.all_nul),
        (turn(2).len() as u64, true, false)
    );
    assert_eq!(scanned.committed, (text.len() - turn(2).len()) as u64);
}

#[test]
fn what_is_wrong_with_a_line_is_named() {
    let stub = &turn(1)[..15];
    for (line, code, at, words) in [
        (
            b"garbage".to_vec(),
            Code::CorruptRecord,
            0,
            "expected a value",
        ),
        (b"[1]".to_vec(), Code::CorruptRecord, 0, "not an object"),
        (
            b"{\"kind\":\"turn_end\",\"ts\":1\xff}".to_vec(),
            Code::InvalidUtf8,
            25,
            "not UTF-8",
        ),
        (
            [&[0; 300][..], turn(1).as_bytes()].concat(),
            Code::NulBytes,
            0,
            "300 NUL bytes before a whole record that begins at byte",
        ),
        (vec![0; 9], Code::NulBytes, 0, "nothing else"),
        (
            [turn(1).as_bytes(), turn(2).as_bytes()].concat(),
            Code::GluedRecords,
            0,
            "2 whole records stand on this line",
        ),
        (
            [stub.as_bytes(), turn(2).as_bytes()].concat(),
            Code::SplicedRecord,
            0,
            "whole record that begins at byte",
        ),
        (
            ["\u{feff}".as_bytes(), turn(2).as_bytes()].concat(),
            Code::ByteOrderMark,
            0,
            "before a whole record",
        ),
        (
            [turn(1).as_bytes(), b" x"].concat(),
            Code::CorruptRecord,
            turn(1).len() as u64 + 1,
            "1 byte more behind it",
        ),
        (
            turn(1).as_bytes()[..20].to_vec(),
            Code::CorruptRecord,
            20,
            "ends inside a string",
        ),
    ] {
        let head = start();
        let bytes = [
            head.as_bytes(),
            b"\n",
            &line,
            b"\n",
            turn(3).as_bytes(),
            b"\n",
        ]
        .concat();
        let (lines, _) = scan(&bytes);
        let base = head.len() as u64 + 1;
        assert_eq!(lines.len(), 3, "{lines:?}");
        let told = &lines[1];
        assert!(
            told.contains(&format!(" {code} at {} ", base + at)),
            "{told}"
        );
        assert!(told.contains(words), "{told}");
        assert!(
            lines[2].contains("TurnEnd"),
            "the line behind it is read: {lines:?}"
        );
    }
}

#[test]
fn an_oversized_line_is_passed_over() {
    let big = format!(
        r#"{{"kind":"extension","ts":1,"domain":"d","payload":"{}"}}"#,
        "x".repeat(500)
    );
    let text = format!("{}\n{big}\n{}\n", start(), turn(1));
    for buffer in [64, 1 << 20] {
        let (lines, _) = told(text.as_bytes(), buffer, 300);
        assert!(lines[1].contains("oversized_line"), "{lines:?}");
        assert!(lines[2].contains("TurnEnd"), "{lines:?}");
    }
    let (lines, _) = scan(text.as_bytes());
    assert!(lines[1].contains("Extension"), "{lines:?}");
}

#[test]
fn tails() {
    for (tail, all_nul, whole) in [
        (&b"{\"kind\":"[..], false, false),
        (&[0; 4096], true, false),
        (turn(1).as_bytes(), false, true),
    ] {
        let bytes = [start().as_bytes(), b"\n", tail].concat();
        let (_, scanned) = told(&bytes, 1 << 20, 1 << 30);
        assert_eq!(
            scanned.tail,
            Some(Tail {
                length: tail.len() as u64,
                all_nul,
                whole
            })
        );
        let (_, scanned) = told(&bytes, 64, 1 << 30);
        let small = scanned.tail.unwrap();
        assert_eq!((small.length, small.all_nul), (tail.len() as u64, all_nul));
    }
    assert_eq!(
        told(b"", 64, 1 << 30).1,
        Scanned {
            committed: 0,
            lines: 0,
            tail: None,
            stopped: false,
            sha256: None
        }
    );
}

#[test]
fn a_file_that_became_shorter_ends_there() {
    let text = format!("{}\n{}\n", start(), turn(1));
    let lines = RefCell::new(0);
    let scanned = Scanner::new(Limits::default())
        .scan(
            text.as_bytes(),
            text.len() as u64 + 1000,
            Format::Segment,
            |_| {
                *lines.borrow_mut() += 1;
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    assert_eq!(
        (lines.into_inner(), scanned.committed),
        (2, text.len() as u64)
    );
}

#[test]
fn the_digest_is_that_of_the_committed_prefix() {
    let big = format!(
        r#"{{"kind":"extension","ts":1,"domain":"d","payload":"{}"}}"#,
        "é".repeat(500_000)
    );
    for tail in ["", "{\"kind\":", &big] {
        let committed = format!("{}\n{big}\n{}\n", start(), turn(1));
        let text = format!("{committed}{tail}");
        for buffer in [64, 1 << 20, 1 << 24] {
            let scanned = Scanner::new(Limits {
                buffer,
                ..Limits::default()
            })
            .hashing(true)
            .scan(
                text.as_bytes(),
                text.len() as u64,
                Format::Segment,
                |line| {
                    assert!(
                        matches!(line.verdict, Verdict::Record(_)),
                        "line {}",
                        line.number
                    );
                    ControlFlow::Continue(())
                },
            )
            .unwrap();
            let want: [u8; 32] = Sha256::digest(committed.as_bytes()).into();
            assert_eq!(
                scanned.sha256,
                Some(want),
                "tail {} buffer {buffer}",
                tail.len()
            );
        }
    }
}

/// A line that is read through windows is the same wherever its escapes are cut.
#[test]
fn escapes_across_windows() {
    let head = r#"{"kind":"extension","ts":1,"domain":"d","payload":""#;
    for cluster in [
        r#"\\\"\u00e4\ud83c\udf55\n"#,
        r"\\\\\\\\\\\\\\\\\\\\\\",
        r#"\"\"\"\"\"\"\"\"\"\"\""#,
        r"\ud83c\n",
        r"\\\q",
        "ä\u{1f355}",
        "\u{1}",
    ] {
        for back in 0..24 {
            let filler = "x".repeat(WINDOW - head.len() - back);
            let line = format!("{head}{filler}{cluster}\"}}");
            let bytes = format!("{line}\n{}\n", turn(2));
            let whole = told(bytes.as_bytes(), 1 << 20, 1 << 30);
            let windows = told(bytes.as_bytes(), 100, 1 << 30);
            assert_eq!(whole, windows, "{cluster} {back} bytes before the end");
            let good = !cluster.contains(['q', '\u{1}']) && !cluster.ends_with("83c\\n");
            assert_eq!(whole.0[0].contains("Extension"), good, "{}", whole.0[0]);
        }
    }
}
