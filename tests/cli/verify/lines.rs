//! What can be wrong with one line of a Segment or a trace.

use serde_json::json;
use wagg::diag::{Code, Severity};

use super::case::{Case, Kit, Place, SEGMENT, case, hold_all};
use crate::support::{Log, damage};

/// Puts a line in the place of line 3 (what a person said); the place of its fault is `at` bytes
/// behind its start.
fn third(kit: &Kit, line: impl AsRef<[u8]>, at: u64) -> Place {
    damage::replace_line(&kit.segment(), 3, line);
    let mut place = kit.line(kit.segment(), 3);
    place.byte = place.byte.map(|byte| byte + at);
    let gap = "2 records before it and 12 after it are whole";
    if at > 0 {
        let start = damage::offset_of(&kit.segment(), 3);
        place = place.says(format!("the line begins at byte {start}"));
    }
    place.says(gap)
}

/// A `turn_end`-like record on line 3 with this text behind its kind and time.
fn third_with(kit: &Kit, rest: &str, fault: &str) -> Place {
    let line = format!("{{\"kind\":\"extension\",\"ts\":1700000000020,{rest}}}");
    let at = line.find(fault).unwrap();
    third(kit, &line, at as u64)
}

/// An array nested so deep, inside a record that nests one level itself.
fn nested(levels: usize) -> String {
    format!(
        "\"domain\":\"x\",\"payload\":{}{}",
        "[".repeat(levels),
        "]".repeat(levels)
    )
}

pub const CASES: &[Case] = &[
    case(Code::CorruptRecord, "a word", |kit| {
        third(kit, "word", 0).says("expected a value")
    }),
    case(Code::CorruptRecord, "an array", |kit| {
        third(kit, "[1]", 0).says("not an object")
    }),
    case(Code::CorruptRecord, "a committed half", |kit| {
        let half = "{\"kind\":\"invoke\",\"ts\":17";
        third(kit, half, half.len() as u64).says("the text ends where")
    }),
    case(Code::CorruptRecord, "bytes behind a record", |kit| {
        let line = "{\"kind\":\"paused_turn_abandoned\",\"ts\":1}";
        third(kit, format!("{line} x"), line.len() as u64 + 1).says("and 1 byte more behind it")
    }),
    case(Code::CorruptRecord, "a raw control character", |kit| {
        third_with(kit, "\"domain\":\"a\u{1}\",\"payload\":1", "\u{1}").says("control character")
    }),
    case(Code::CorruptRecord, "a comma too many", |kit| {
        let line = "{\"kind\":\"extension\",\"ts\":1,\"domain\":\"x\",\"payload\":[1,]}";
        third(kit, line, line.find(']').unwrap() as u64).says("expected a value")
    }),
    case(Code::InvalidUtf8, "a character cut in its middle", |kit| {
        third_bytes(kit, b"{\"kind\":\"x\xe2\x82\"}", 10).says("not UTF-8")
    }),
    case(Code::InvalidUtf8, "an overlong slash", |kit| {
        third_bytes(kit, b"{\"kind\":\"x\xc0\xaf\"}", 10).says("not UTF-8")
    }),
    case(Code::NulBytes, "a run before a record", |kit| {
        damage::nul_run(&kit.segment(), 3, 300);
        kit.line(kit.segment(), 3)
            .long(300)
            .says("300 NUL bytes before a whole record")
    }),
    case(Code::NulBytes, "a line of nothing else", |kit| {
        third(kit, [0; 8], 0).long(8).says("nothing else")
    }),
    case(Code::NulBytes, "one inside a record", |kit| {
        third_bytes(kit, b"{\"kind\":\"\0\"}", 9)
            .long(1)
            .says("1 NUL byte inside")
    }),
    case(Code::GluedRecords, "a newline that is not there", |kit| {
        let (start, end) = kit_line(kit, 3);
        let (_, last) = kit_line(kit, 4);
        damage::glue(&kit.segment(), 3);
        kit.line(kit.segment(), 3)
            .long(last - start - 1)
            .says("2 whole records")
            .says(format!("the second begins at byte {end}"))
    }),
    case(Code::SplicedRecord, "a stub before a whole record", |kit| {
        damage::splice(&kit.segment(), 3, 20);
        let (start, end) = kit_line(kit, 3);
        kit.line(kit.segment(), 3)
            .long(end - start)
            .says("the first 20 bytes")
            .says(format!("begins at byte {}", start + 20))
    }),
    case(Code::ByteOrderMark, "before the first record", |kit| {
        damage::byte_order_mark(&kit.segment());
        kit.at(kit.segment(), 1, 0)
            .long(3)
            .says("before a whole record")
    }),
    case(Code::OversizedLine, "a limit of 400 bytes", |kit| {
        let text = "x".repeat(400);
        damage::replace_line(
            &kit.segment(),
            3,
            format!(
                "{{\"kind\":\"user_input\",\"ts\":1700000000020,\"segments\":[{{\"kind\":\"text\",\"content\":\"{text}\"}}]}}"
            ),
        );
        kit.args = vec!["--max-line", "400"];
        let (start, end) = kit_line(kit, 3);
        kit.line(kit.segment(), 3)
            .long(end - start)
            .says("over the limit of 400")
            .says("not looked at")
    }),
    case(Code::TooDeep, "the first level too many", |kit| {
        let line = format!(
            "{{\"kind\":\"extension\",\"ts\":1700000000020,{}}}",
            nested(127)
        );
        let open = line.find('[').unwrap() as u64;
        third(kit, line, open + 126).says("nested 128 levels deep")
    }),
    case(Code::DuplicateKey, "a known field", |kit| {
        third_with(
            kit,
            "\"domain\":\"x\",\"payload\":1,\"payload\":2",
            "\"payload\":2",
        )
        .says("`payload` stands twice")
    }),
    case(Code::NumberOutOfRange, "above a double", |kit| {
        third_with(kit, "\"domain\":\"x\",\"payload\":1e999", "1e999").says("a double")
    }),
    case(Code::NumberOutOfRange, "above its field", |kit| {
        let line =
            "{\"kind\":\"turn_end\",\"ts\":1700000000020,\"turn_count\":18446744073709551616}";
        third(kit, line, line.find("1844").unwrap() as u64).says("18446744073709551616")
    }),
    case(Code::UnknownKind, "a record", |kit| {
        third(kit, "{\"kind\":\"turn_started\",\"ts\":1}", 8).says("\"turn_started\"")
    }),
    case(Code::UnknownKind, "an item", |kit| {
        let line = "{\"kind\":\"assistant_item\",\"ts\":1,\"item\":{\"kind\":\"song\"}}";
        third(kit, line, line.find("\"song\"").unwrap() as u64).says("\"song\"")
    }),
    case(Code::MissingField, "of a record", |kit| {
        third(kit, "{\"kind\":\"turn_end\",\"ts\":1700000000020}", 0).says("`turn_count`")
    }),
    case(Code::MissingField, "the kind itself", |kit| {
        third(kit, "{\"ts\":1700000000020}", 0).says("`kind`")
    }),
    case(Code::MissingField, "of an item", |kit| {
        let line = "{\"kind\":\"assistant_item\",\"ts\":1,\"item\":{\"kind\":\"tool_call\",\"call_id\":\"c\",\"name\":\"n\"}}";
        third(
            kit,
            line,
            line.find("{\"kind\":\"tool_call\"").unwrap() as u64,
        )
        .says("`arguments`")
    }),
    case(Code::WrongType, "text for a number", |kit| {
        third(
            kit,
            "{\"kind\":\"paused_turn_abandoned\",\"ts\":\"now\"}",
            37,
        )
        .says("`ts`: not a whole number from 0 to 2^64-1")
    }),
    case(Code::WrongType, "a negative count", |kit| {
        let line = "{\"kind\":\"turn_end\",\"ts\":1700000000020,\"turn_count\":-1}";
        third(kit, line, line.find("-1}").unwrap() as u64)
            .says("`turn_count`: not a whole number from 0 to 2^64-1: -1")
    }),
    case(Code::WrongType, "null where none may be", |kit| {
        let line = "{\"kind\":\"turn_end\",\"ts\":null,\"turn_count\":1}";
        third(kit, line, line.find("null").unwrap() as u64).says("`ts`: null where")
    }),
    case(Code::WrongType, "a word that is none of its list", |kit| {
        let line = "{\"kind\":\"invoke\",\"ts\":1700000000020,\"trigger\":\"alarm\"}";
        third(kit, line, line.find("\"alarm\"").unwrap() as u64)
            .says("`trigger`: not one of user_send")
            .says("\"alarm\"")
    }),
    case(Code::WrongType, "base64 without its padding", |kit| {
        let line = "{\"kind\":\"tool_result\",\"ts\":1,\"item\":{\"kind\":\"tool_result\",\"call_id\":\"c\",\"summary\":\"s\",\"attachments\":[{\"kind\":\"image\",\"mime_type\":\"image/png\",\"data\":\"AAA\"}]}}";
        third(kit, line, line.find("\"AAA\"").unwrap() as u64).says("`data`: not standard base64")
    }),
    case(Code::LoneSurrogate, "the first half of an emoji", |kit| {
        let at = damage::lone_surrogate(&kit.segment(), 3);
        let start = damage::offset_of(&kit.segment(), 3);
        kit.at(kit.segment(), 3, at)
            .long(6)
            .says("high surrogate")
            .says(format!("the line begins at byte {start}"))
    }),
    case(Code::LoneSurrogate, "a second half alone", |kit| {
        third_with(kit, "\"domain\":\"x\",\"payload\":\"\\udc00\"", "\\udc00")
            .long(6)
            .says("low surrogate")
    }),
    case(Code::CorruptRecord, "in a trace, a warning", |kit| {
        kit.worker.trace(SEGMENT);
        let trace = kit.worker.trace_path(SEGMENT);
        damage::replace_line(&trace, 2, "word");
        kit.line(&trace, 2)
            .but(Severity::Warning)
            .says("never replayed")
    }),
    case(Code::UnknownKind, "in a trace, a warning", |kit| {
        kit.worker.trace(SEGMENT);
        let trace = kit.worker.trace_path(SEGMENT);
        let line = "{\"ts\":1,\"turn\":0,\"kind\":\"stream_event\",\"event\":{\"Song\":{}}}";
        damage::replace_line(&trace, 2, line);
        let mut place = kit.line(&trace, 2).but(Severity::Warning).says("\"Song\"");
        place.byte = place
            .byte
            .map(|b| b + line.find("\"Song\"").unwrap() as u64);
        place
    }),
    case(Code::TornTail, "the start of a record", |kit| {
        let end = std::fs::metadata(kit.segment()).unwrap().len();
        let tail = damage::torn_tail(&kit.segment());
        kit.at(kit.segment(), 16, end)
            .long(tail as u64)
            .says("never committed")
            .says("the 15 records before it are committed and whole")
    }),
    case(
        Code::TornTail,
        "a whole record without its newline",
        |kit| {
            let whole = Log::start(1).turns(2).completed().bytes();
            let end = std::fs::metadata(kit.segment()).unwrap().len();
            std::fs::write(kit.segment(), &whole[..whole.len() - 1]).unwrap();
            kit.at(kit.segment(), 16, end)
                .long(whole.len() as u64 - 1 - end)
                .says("whole record but for its newline")
        },
    ),
    case(Code::TornTail, "room that was never filled", |kit| {
        let end = std::fs::metadata(kit.segment()).unwrap().len();
        damage::append(&kit.segment(), [0; 4096]);
        kit.at(kit.segment(), 16, end)
            .long(4096)
            .says("4096 NUL bytes")
    }),
    case(Code::TornTail, "of a trace", |kit| {
        kit.worker.trace(SEGMENT);
        let trace = kit.worker.trace_path(SEGMENT);
        let end = std::fs::metadata(&trace).unwrap().len();
        damage::append(&trace, b"{\"ts\":1");
        kit.at(&trace, 3, end).long(7).says("never committed")
    }),
    case(Code::BlankLine, "between two records", |kit| {
        damage::insert_line(&kit.segment(), 3, "");
        damage::insert_line(&kit.segment(), 5, " \t");
        kit.line(kit.segment(), 3).says("blank lines: 2")
    }),
    case(Code::Crlf, "every line", |kit| {
        damage::crlf(&kit.segment());
        kit.at(kit.segment(), 1, 0).says("CR LF: 15")
    }),
    case(Code::LongLine, "over 16 MiB", |kit| {
        let text = "x".repeat(16 * 1024 * 1024);
        let log = Log::start(1).turn(&text);
        kit.worker.segment(SEGMENT, &log);
        let (start, end) = kit_line(kit, 3);
        kit.line(kit.segment(), 3)
            .long(end - start)
            .says(format!("a line of {} bytes", end - start))
    }),
    case(Code::TimeGoesBack, "an hour", |kit| {
        let log = Log::start(1).at(1_600_000_000_000).turns(2);
        kit.worker.segment(SEGMENT, &log);
        kit.line(kit.segment(), 2).says("once")
    }),
    case(Code::NoncanonicalId, "in a Segment's first record", |kit| {
        let upper = "01890000-0000-7000-8000-000000000001".replace('-', "");
        let log = std::fs::read_to_string(kit.segment()).unwrap();
        let log = log.replacen("01890000-0000-7000-8000-000000000001", &upper, 1);
        std::fs::write(kit.segment(), &log).unwrap();
        let at = log.find(&upper).unwrap() as u64;
        kit.at(kit.segment(), 1, at - 1).says(upper)
    }),
];

fn kit_line(kit: &Kit, line: usize) -> (u64, u64) {
    let bytes = std::fs::read(kit.segment()).unwrap();
    let (start, end) = damage::line_at(&bytes, line);
    (start as u64, end as u64)
}

fn third_bytes(kit: &Kit, line: &[u8], at: u64) -> Place {
    third(kit, line, at)
}

#[test]
fn each_gives_its_one_finding() {
    hold_all(CASES);
}

/// What looks odd and is right: nothing is said of it.
#[test]
fn valid_lines_give_no_finding() {
    let odd = [
        // the deepest that a Runtime's reader takes: the record and 126 arrays
        format!("{{\"kind\":\"extension\",\"ts\":1700000000020,{}}}", nested(126)),
        // fields in another order, spaces, unknown fields twice
        "{ \"ts\" : 1700000000020 , \"x\":1,\"x\":2, \"kind\" : \"paused_turn_abandoned\" }".into(),
        // a line and a paragraph separator inside a string end no line
        json!({ "kind": "extension", "ts": 1_700_000_000_020_u64, "domain": "\u{2028}\u{2029}\u{85}", "payload": null }).to_string(),
        // numbers at the edge of what fits
        "{\"kind\":\"extension\",\"ts\":1700000000020,\"domain\":\"x\",\"payload\":[1.7976931348623157e308,-0,1e-999,18446744073709551616]}".into(),
        // escapes and a whole surrogate pair
        "{\"kind\":\"extension\",\"ts\":1700000000020,\"domain\":\"\\ud83c\\udf89\\u0000\\/\",\"payload\":1}".into(),
        // an input part that nobody knows
        "{\"kind\":\"user_input\",\"ts\":1700000000020,\"segments\":[{\"kind\":\"hologram\",\"x\":1}]}".into(),
    ];
    for line in odd {
        let kit = Kit::v1();
        damage::replace_line(&kit.segment(), 3, &line);
        let out = kit.verify(&["--format", "json"]).status(0);
        assert!(super::case::findings(&out).is_empty(), "{line}\n{out}");
    }
}
