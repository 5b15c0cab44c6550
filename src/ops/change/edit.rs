//! Changing one field of a document and nothing else (C8): fields keep their order, numbers their
//! digits, and what `wagg` does not know stays.

use serde_json::{Map, Value};

use crate::diag::{Code, Error, Result};

/// A document as an object that keeps order and digits.
///
/// # Errors
/// `corrupt_document`: it is no object, or has a key twice, one of which would be lost.
pub fn parse(bytes: &[u8]) -> Result<Map<String, Value>> {
    let corrupt = |e: String| {
        Error::new(
            Code::CorruptDocument,
            format!("the document can not be changed: {e}"),
        )
        .hint("wagg verify")
    };
    match serde_json::from_slice::<Unique>(bytes) {
        Ok(Unique(Value::Object(map))) => Ok(map),
        Ok(_) => Err(corrupt("it is not one JSON object".to_owned())),
        Err(e) => Err(corrupt(e.to_string())),
    }
}

/// The bytes of a new document as a Runtime writes it: two spaces, and a newline at the end where
/// that kind of document has one.
///
/// # Errors
/// It can not be written as JSON.
pub fn render(map: &Map<String, Value>, newline: bool) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(map)
        .map_err(|e| Error::new(Code::Internal, "a document can not be written").caused_by(e))?;
    if newline {
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Sets one field; a new one comes last.
///
/// # Errors
/// As [`change`].
pub fn set(bytes: &[u8], field: &str, value: Value) -> Result<Vec<u8>> {
    change(bytes, |map| {
        map.insert(field.to_owned(), value);
    })
}

/// Changes a document's fields. The bytes of fields that stay the same stay as they are, down to
/// their spaces and the spelling of their numbers; their order is that of the map.
///
/// # Errors
/// As [`parse`].
pub fn change(bytes: &[u8], f: impl FnOnce(&mut Map<String, Value>)) -> Result<Vec<u8>> {
    let before = parse(bytes)?;
    let mut after = before.clone();
    f(&mut after);
    let text = std::str::from_utf8(bytes).unwrap_or_default(); // `parse` has seen that it is UTF-8
    let members: Members<'_> = serde_json::from_str(text).map_err(|e| {
        Error::new(Code::CorruptDocument, "the document can not be changed").caused_by(e)
    })?;
    let pretty = text.trim_end().contains('\n');
    let mut out = String::with_capacity(text.len() + 256);
    out.push('{');
    let mut first = true;
    let mut member = |key: &str, value: &str, out: &mut String| {
        if !first {
            out.push(',');
        }
        first = false;
        if pretty {
            out.push_str("\n  ");
        }
        out.push_str(&Value::from(key).to_string());
        out.push_str(if pretty { ": " } else { ":" });
        out.push_str(value);
    };
    for (key, value) in &after {
        let same = before.get(key) == Some(value);
        match members.0.iter().find(|(name, _)| same && name == key) {
            Some((_, raw)) => member(key, raw.get(), &mut out),
            None => member(key, &rendered(value, pretty)?, &mut out),
        }
    }
    if pretty {
        out.push('\n');
    }
    out.push('}');
    out.push_str(&text[text.trim_end().len()..]);
    Ok(out.into_bytes())
}

/// A value as it stands behind its key, one level down.
fn rendered(value: &Value, pretty: bool) -> Result<String> {
    let text = if pretty {
        serde_json::to_string_pretty(value).map(|text| text.replace('\n', "\n  "))
    } else {
        serde_json::to_string(value)
    };
    text.map_err(|e| Error::new(Code::Internal, "a document can not be written").caused_by(e))
}

/// The fields of an object, each as its own text.
struct Members<'a>(Vec<(String, &'a serde_json::value::RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = Vec<(String, &'de serde_json::value::RawValue)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(all)
            }
        }
        d.deserialize_map(Fields).map(Self)
    }
}

/// A value none of whose objects has a key twice.
struct Unique(Value);

impl<'de> serde::Deserialize<'de> for Unique {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(d)?;
        unique(raw.get()).map_err(serde::de::Error::custom)?;
        serde_json::from_str(raw.get())
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

/// Looks for a key that stands twice in one object.
fn unique(text: &str) -> std::result::Result<(), serde_json::Error> {
    use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
    struct Walk;
    impl<'de> DeserializeSeed<'de> for Walk {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, d: D) -> std::result::Result<(), D::Error> {
            d.deserialize_any(self)
        }
    }
    impl<'de> Visitor<'de> for Walk {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("JSON")
        }
        fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> std::result::Result<(), E> {
            Ok(())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
            while seq.next_element_seed(Walk)?.is_some() {}
            Ok(())
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
            let mut seen = std::collections::HashSet::new();
            while let Some(key) = map.next_key::<String>()? {
                if let Some(twice) = seen.replace(key) {
                    return Err(serde::de::Error::custom(format!(
                        "the key {twice:?} stands twice in one object, and one would be lost"
                    )));
                }
                map.next_value_seed(Walk)?;
            }
            Ok(())
        }
    }
    let mut d = serde_json::Deserializer::from_str(text);
    Walk.deserialize(&mut d)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C8: what is not changed stays, to the last digit.
    #[test]
    fn c8_order_and_digits_stay() {
        let before = "{\n  \"z\": 1.10,\n  \"n\": 123456789012345678901234567890,\n  \"a\": {\n    \"é\": 1e400\n  },\n  \"run_generation\": 1\n}\n";
        let after = set(before.as_bytes(), "run_generation", Value::from(2)).unwrap();
        assert_eq!(
            String::from_utf8(after).unwrap(),
            before.replace("\"run_generation\": 1", "\"run_generation\": 2")
        );
    }

    #[test]
    fn a_key_that_stands_twice_is_refused() {
        for text in ["{\"a\":1,\"a\":2}", "{\"a\":[{\"b\":1,\"b\":{}}]}"] {
            let e = parse(text.as_bytes()).unwrap_err();
            assert_eq!(e.code, Code::CorruptDocument, "{text}");
        }
        assert!(parse(b"[]").is_err());
        assert!(parse(b"{\"a\":{\"b\":1},\"b\":1.5e300,\"c\":null}").is_ok());
    }
}
