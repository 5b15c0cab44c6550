use proptest::prelude::*;

use super::super::marks::Marks;
use super::*;
use crate::record::scan::{Format, check_line};
use crate::record::schema::RECORD;

static ANY: Ty = Ty::Any;

/// The walk with the marks of a block in which the text begins at `place` and others stand around
/// it, as the scanner makes them.
fn walk_marked(text: &[u8], ty: &'static Ty, place: usize) -> Walk {
    let before = [&b"\\\"\\u"[..], &vec![b'x'; place]].concat();
    let block = [
        &before[..place.saturating_sub(1)],
        b"\n",
        text,
        b"\n\"\\u\"\n",
    ]
    .concat();
    let at = place.max(1);
    let mut marks = Marks::default();
    marks.start(&block);
    let marked = Marked { marks: &marks, at };
    check(
        Whole::marked(&block[at..at + text.len()], 0, Some(marked)),
        ty,
        &mut NoSink,
        marks.control_free(),
    )
}

/// Where a text can begin so that its bytes stand at each place of a word at least once.
const PLACES: [usize; 9] = [0, 1, 7, 31, 32, 62, 63, 64, 129];

/// Bytes that come one at a time, so that every token is cut everywhere.
#[derive(Clone, Copy)]
struct Drip<'a> {
    all: &'a [u8],
    at: usize,
    width: usize,
}

impl Bytes for Drip<'_> {
    fn window(&self) -> &[u8] {
        &self.all[self.at..(self.at + self.width).min(self.all.len())]
    }
    fn base(&self) -> u64 {
        self.at as u64
    }
    fn advance(&mut self) -> bool {
        self.at = (self.at + self.width).min(self.all.len());
        self.at < self.all.len()
    }
    fn fork(&self, at: usize) -> Self {
        Self {
            at: self.at + at,
            ..*self
        }
    }
}

fn verdict(walk: &Walk) -> (Option<Code>, Option<u64>, bool) {
    (
        walk.fault.as_ref().map(|f| f.code),
        walk.fault.as_ref().map(|f| f.at),
        walk.more,
    )
}

fn good(text: &str) -> bool {
    let walk = check(Whole::new(text.as_bytes(), 0), &ANY, &mut NoSink, false);
    for width in [1, 2, 3, 7] {
        let drip = check(
            Drip {
                all: text.as_bytes(),
                at: 0,
                width,
            },
            &ANY,
            &mut NoSink,
            false,
        );
        assert_eq!(
            verdict(&walk),
            verdict(&drip),
            "{text} in windows of {width}"
        );
    }
    for place in PLACES {
        let marked = walk_marked(text.as_bytes(), &ANY, place);
        assert_eq!(told(&walk), told(&marked), "{text} at {place}");
    }
    walk.fault.is_none() && !walk.more
}

/// All that a walk says.
fn told(walk: &Walk) -> (Option<Fault>, bool, u64, bool) {
    (walk.fault.clone(), walk.broken, walk.end, walk.more)
}

/// The grammar is serde_json's own, which a Runtime reads with; its typed reader checks every
/// string, so that is what we compare with.
#[test]
fn the_grammar_is_that_of_serde_json() {
    let mut texts: Vec<String> = [
        "",
        " ",
        "null",
        "nul",
        "true",
        "false",
        "tru",
        "0",
        "-0",
        "01",
        "-",
        "1.",
        ".5",
        "1.5e",
        "1e5",
        "1E+5",
        "1e-5",
        "1e400",
        "-1e400",
        "1e-400",
        "0e999",
        "0.0e999",
        "123456789012345678901234567890",
        "\"\"",
        "\"a",
        "\"\\\"",
        "\"\\q\"",
        "\"\\u12\"",
        "\"\\u0041\"",
        "\"\\ud83c\"",
        "\"\\ud83c\\udf55\"",
        "\"\\udf55\"",
        "\"\\ud83c\\n\"",
        "\"\\ud83c\\ud83c\"",
        "\"\\ud83cx\"",
        "\"\u{1}\"",
        "\"\t\"",
        "[]",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,]",
        "[1 2]",
        "{}",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" : [ 1 , {\"b\":null} ] }",
        "[] []",
        "{}x",
        " {} ",
        "\u{feff}{}",
        "'a'",
        "NaN",
        "Infinity",
        "+1",
        "1 ",
        "\"\u{2028}\"",
        "[[[[]]]]",
        "[}",
        "{]",
        "{\"a\":}",
        "[1,,2]",
        "{\"a\":1,,\"b\":2}",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        r#"{"a":1e400,"a":1}"#,
        "0.00000000001e320",
        "17976931348623159e292",
        "179769313486231580793e289",
    ]
    .map(str::to_owned)
    .to_vec();
    for n in [1, 126, 127, 128, 129, 200] {
        texts.push("[".repeat(n) + &"]".repeat(n));
        texts.push("{\"a\":".repeat(n) + "1" + &"}".repeat(n));
    }
    for digits in [300, 308, 309, 310, 400] {
        texts.push("9".repeat(digits));
        texts.push(format!("0.{}1e{digits}", "0".repeat(digits)));
    }
    for text in texts {
        // Without arbitrary precision a number above a double is an error; f64 asks the same.
        let theirs = serde_json::from_str::<Strict>(&text).is_ok();
        assert_eq!(good(&text), theirs, "{text}");
    }
}

/// Reads like a Runtime: every string is decoded, every number must fit a double.
struct Strict;

impl<'de> serde::Deserialize<'de> for Strict {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw: Box<serde_json::value::RawValue> = serde::Deserialize::deserialize(d)?;
        serde_json::from_str::<Numbers>(raw.get()).map_err(serde::de::Error::custom)?;
        serde_json::from_str::<serde_json::Value>(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self)
    }
}

/// Reads every number, also that of a key which stands again later.
struct Numbers;

impl<'de> serde::Deserialize<'de> for Numbers {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Self)
    }
}

impl<'de> serde::de::Visitor<'de> for Numbers {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self, E> {
        if number.is_finite() {
            Ok(self)
        } else {
            Err(E::custom(number))
        }
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<Self, A::Error> {
        while all.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut all: A) -> Result<Self, A::Error> {
        use serde::de::Error;
        while let Some(key) = all.next_key::<String>()? {
            // so a number comes here when it is kept to the last digit
            if key == "$serde_json::private::Number" {
                let digits: String = all.next_value()?;
                let fits = digits.parse::<f64>().is_ok_and(f64::is_finite);
                return if fits {
                    Ok(self)
                } else {
                    Err(A::Error::custom(digits))
                };
            }
            all.next_value::<Self>()?;
        }
        Ok(self)
    }
}

fn record(text: &str) -> (Option<Code>, Option<u64>) {
    static TY: Ty = Ty::Tagged(&RECORD);
    let walk = check(Whole::new(text.as_bytes(), 0), &TY, &mut NoSink, false);
    for width in [1, 2, 5, 64] {
        let drip = check(
            Drip {
                all: text.as_bytes(),
                at: 0,
                width,
            },
            &TY,
            &mut NoSink,
            false,
        );
        assert_eq!(
            verdict(&walk),
            verdict(&drip),
            "{text} in windows of {width}"
        );
    }
    for place in PLACES {
        let marked = walk_marked(text.as_bytes(), &TY, place);
        assert_eq!(told(&walk), told(&marked), "{text} at {place}");
    }
    let (code, at, _) = verdict(&walk);
    (code, at)
}

#[test]
fn typed_faults_have_a_code_and_a_place() {
    let turn = r#"{"kind":"turn_end","ts":1,"turn_count":2}"#;
    assert_eq!(record(turn), (None, None));
    for (text, code, at) in [
        (r#"{"kind":"turn_end","ts":1}"#, Code::MissingField, 0),
        (r#"{"ts":1,"turn_count":2}"#, Code::MissingField, 0),
        (
            r#"{"kind":"turn_end","ts":-1,"turn_count":2}"#,
            Code::WrongType,
            24,
        ),
        (
            r#"{"kind":"turn_end","ts":1.0,"turn_count":2}"#,
            Code::WrongType,
            24,
        ),
        (
            r#"{"kind":"turn_end","ts":null,"turn_count":2}"#,
            Code::WrongType,
            24,
        ),
        (
            r#"{"kind":"turn_end","ts":18446744073709551616,"turn_count":2}"#,
            Code::NumberOutOfRange,
            24,
        ),
        (
            r#"{"kind":"turn_end","ts":1,"turn_count":2,"turn_count":3}"#,
            Code::DuplicateKey,
            41,
        ),
        (
            r#"{"kind":"turn_end","kind":"turn_end","ts":1,"turn_count":2}"#,
            Code::DuplicateKey,
            19,
        ),
        (r#"{"kind":"from_the_future","ts":1}"#, Code::UnknownKind, 8),
        (r#"{"kind":7,"ts":1}"#, Code::WrongType, 8),
        (
            r#"{"kind":"extension","ts":1,"domain":"d"}"#,
            Code::MissingField,
            0,
        ),
        (
            r#"{"kind":"extension","ts":1,"domain":"d","payload":1e400}"#,
            Code::NumberOutOfRange,
            50,
        ),
        (
            r#"{"kind":"extension","ts":1,"domain":"\ud83c","payload":1}"#,
            Code::LoneSurrogate,
            37,
        ),
        (
            r#"{"kind":"invoke","ts":1,"trigger":"other"}"#,
            Code::WrongType,
            34,
        ),
        (
            r#"{"kind":"assistant_item","ts":1,"item":{"kind":"nope"}}"#,
            Code::UnknownKind,
            47,
        ),
        (
            r#"{"kind":"assistant_item","ts":1,"item":{"kind":"reasoning"}}"#,
            Code::MissingField,
            39,
        ),
    ] {
        assert_eq!(record(text), (Some(code), Some(at)), "{text}");
    }
}

#[test]
fn the_kind_may_stand_anywhere() {
    for text in [
        r#"{"ts":1,"turn_count":2,"kind":"turn_end"}"#,
        r#"{ "ts" : 1 , "k\u0069nd" : "turn_end" , "turn_count" : 2 }"#,
        r#"{"item":{"call_id":"c","arguments":"","name":"n","kind":"tool_call"},"ts":1,"kind":"assistant_item"}"#,
        r#"{"ts":1,"unknown":[{"kind":7}],"segments":[{"x":1,"kind":"newer"}],"kind":"user_input"}"#,
    ] {
        assert_eq!(record(text), (None, None), "{text}");
    }
    assert_eq!(
        record(r#"{"ts":1,"kind":"turn_end","kind":"turn_end","turn_count":2}"#).0,
        Some(Code::DuplicateKey)
    );
}

#[test]
fn a_broken_grammar_counts_more_than_a_missing_field() {
    assert_eq!(
        record(r#"{"kind":"turn_end","x":[1,}"#).0,
        Some(Code::CorruptRecord)
    );
    assert_eq!(record(r#"{"ts":1,"x":[1,}"#).0, Some(Code::CorruptRecord));
}

#[test]
fn base64_is_checked_to_its_unused_bits() {
    for (data, fine) in [
        ("", true),
        ("c3ludGhldGlj", true),
        ("YQ==", true),
        ("YWI=", true),
        ("\\u0059Q=\\u003d", true),
        ("YR==", false),
        ("YQ=", false),
        ("YQ", false),
        ("*", false),
        ("Y Q==", false),
        ("YQ==YQ==", false),
    ] {
        let line = format!(
            r#"{{"kind":"tool_result","ts":1,"item":{{"kind":"tool_result","call_id":"c","summary":"","attachments":[{{"kind":"image","mime_type":"image/png","data":"{data}"}}]}}}}"#
        );
        assert_eq!(
            check_line(line.as_bytes(), Format::Segment).is_ok(),
            fine,
            "{data}"
        );
        assert_eq!(
            record(&line).0,
            (!fine).then_some(Code::WrongType),
            "{data}"
        );
    }
}

/// One piece of a string, whole or not.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,70}",
        4 => prop::sample::select(vec![
            "\\n", "\\\"", "\\\\", "\\t", "\\/", "\\u0041", "\\u00e4", "\\ud83c\\udf55", "\u{e4}",
            "\u{1f355}", "\u{7f}", "\u{2028}",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\\ud83c", "\\udf55", "\\ud83c\\n", "\\ud83c\\ud83c", "\\ud83cx", "\\q", "\\u12", "\\",
            "\"", "\u{1}", "\t", "\\u12g4",
        ]).prop_map(str::to_owned),
    ]
}

fn string() -> impl Strategy<Value = String> {
    proptest::collection::vec(piece(), 0..6).prop_map(|all| format!("\"{}\"", all.concat()))
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => string(),
        1 => prop::sample::select(vec![
            "0", "-0", "12", "1e5", "1E+400", "1.5", "01", "-", "1.", "null", "true", "false", "nul",
            "18446744073709551616", "1e-400",
        ]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let member = (string(), inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            proptest::collection::vec(member, 0..4)
                .prop_map(|all| format!("{{{}}}", all.join(" , "))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 20_000 }))]

    /// Any value, whole, cut or with a byte changed: what we accept is what serde_json accepts,
    /// and windows and marks change nothing.
    #[test]
    fn any_text_is_judged_as_serde_json_does(
        text in json(),
        cut in any::<prop::sample::Index>(),
        byte in prop::option::weighted(0.3, prop::sample::select(&b"\"\\,:[]{}0n \x02"[..])),
        end in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut bytes = text.into_bytes();
        if let Some(byte) = byte {
            let at = cut.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len() + 1));
        }
        // A changed byte may break a character; the scanner looks for that first.
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let theirs = serde_json::from_str::<Strict>(text).is_ok();
            prop_assert_eq!(good(text), theirs, "{}", text);
        }
    }

    /// The same of records with known fields, in which strings are read, passed over and picked.
    #[test]
    fn any_record_is_the_same_with_marks_and_in_windows(
        text in string(),
        payload in json(),
        id in string(),
        place in 1usize..200,
    ) {
        static TY: Ty = Ty::Tagged(&RECORD);
        for line in [
            format!(r#"{{"kind":"assistant_item","ts":1,"item":{{"kind":"message","role":"assistant","content":[{{"kind":"text","text":{text}}}]}}}}"#),
            format!(r#"{{"kind":"tool_result","ts":1,"item":{{"kind":"tool_result","call_id":{id},"summary":{text},"attachments":[{{"kind":"image","mime_type":"image/png","data":{id}}}]}}}}"#),
            format!(r#"{{"ts":1,"domain":{id},"payload":{payload},"kind":"extension"}}"#),
        ] {
            record(&line);
            let walk = check(Whole::new(line.as_bytes(), 0), &TY, &mut NoSink, false);
            prop_assert_eq!(told(&walk), told(&walk_marked(line.as_bytes(), &TY, place)), "{}", line);
        }
    }
}
