//! History items as a restore sees them: what they say, and when two are the same.
//!
//! An item is kept as the JSON that it stood in, so that nothing of it is lost when it is written
//! again. To compare two, both are brought into one form: keys in order, and a field that says
//! what its absence says (`is_error: false`, `content: null`, no attachments) left out.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::facts::Role;
use super::schema::ItemKind;

/// The digest of an item in its one form. Equal digests mean the same item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemDigest([u8; 16]);

/// Gives the digest of an item.
///
/// # Errors
/// It is no JSON.
pub fn digest(item: &RawValue) -> serde_json::Result<ItemDigest> {
    let mut value: Value = serde_json::from_str(item.get())?;
    drop_defaults(&mut value);
    let mut text = Vec::with_capacity(item.get().len());
    write_ordered(&value, &mut text)?;
    let mut out = [0; 16];
    out.copy_from_slice(&Sha256::digest(&text)[..16]);
    Ok(ItemDigest(out))
}

fn drop_defaults(item: &mut Value) {
    let Some(item) = item.as_object_mut() else {
        return;
    };
    item.retain(|key, value| match (key.as_str(), &*value) {
        ("content" | "encrypted_content" | "signature", Value::Null) => false,
        ("is_error", Value::Bool(false)) => false,
        ("attachments" | "summary", Value::Array(all)) => !all.is_empty(),
        _ => true,
    });
}

fn write_ordered(value: &Value, out: &mut Vec<u8>) -> serde_json::Result<()> {
    match value {
        Value::Array(all) => {
            out.push(b'[');
            for one in all {
                write_ordered(one, out)?;
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut all: Vec<_> = map.iter().collect();
            all.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (key, one) in all {
                serde_json::to_writer(&mut *out, key)?;
                out.push(b':');
                write_ordered(one, out)?;
                out.push(b',');
            }
            out.push(b'}');
        }
        scalar => serde_json::to_writer(out, scalar)?,
    }
    Ok(())
}

/// What an item says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'a> {
    /// Its kind.
    pub kind: ItemKind,
    /// Who speaks, if it is a message.
    pub role: Option<Role>,
    /// The tool's name of a call, the call id of a result.
    pub name: Option<Cow<'a, str>>,
    /// The text: of a message its parts, of a call the arguments, of a result summary and
    /// content, of reasoning what was thought.
    pub text: Cow<'a, str>,
}

/// The fields of all kinds; which of them are known depends on the kind, so none is read yet.
#[derive(Deserialize)]
struct Any<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
}

/// A field that may be missing or null; then the empty value.
fn read<'a, T: Default + Deserialize<'a>>(raw: Option<&'a RawValue>) -> serde_json::Result<T> {
    raw.map_or_else(|| Ok(T::default()), |raw| serde_json::from_str(raw.get()))
}

/// Reads what an item says.
///
/// # Errors
/// It is no item.
pub fn said(item: &RawValue) -> serde_json::Result<Said<'_>> {
    let any: Any<'_> = serde_json::from_str(item.get())?;
    let mut said = Said {
        kind: ItemKind::Message,
        role: None,
        name: None,
        text: Cow::Borrowed(""),
    };
    match &*any.kind {
        "message" => {
            let role: Cow<'_, str> = read(any.role)?;
            said.role = match &*role {
                "user" => Some(Role::User),
                "assistant" => Some(Role::Assistant),
                "system" => Some(Role::System),
                _ => None,
            };
            let mut all = Vec::new();
            for part in read::<Vec<Part<'_>>>(any.content)? {
                let text = match &*part.kind {
                    "refusal" => part.refusal,
                    _ => part.text,
                };
                all.push(read::<String>(text)?);
            }
            said.text = Cow::Owned(all.join("\n"));
        }
        "tool_call" => {
            said.kind = ItemKind::ToolCall;
            said.name = Some(read(any.name)?);
            said.text = read(any.arguments)?;
        }
        "tool_result" => {
            said.kind = ItemKind::ToolResult;
            said.name = Some(read(any.call_id)?);
            let mut text: String = read(any.summary)?;
            if let Some(content) = read::<Option<String>>(any.content)? {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&content);
            }
            said.text = Cow::Owned(text);
        }
        "reasoning" => {
            said.kind = ItemKind::Reasoning;
            let mut all: Vec<String> = read(any.summary)?;
            let text: String = read(any.text)?;
            if !text.is_empty() {
                all.insert(0, text);
            }
            said.text = Cow::Owned(all.join("\n"));
        }
        other => {
            return Err(serde::de::Error::custom(format!(
                "no item is of the kind {other:?}"
            )));
        }
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn same(a: &str, b: &str) -> bool {
        digest(&raw(a)).unwrap() == digest(&raw(b)).unwrap()
    }

    #[test]
    fn the_same_item_in_two_spellings_is_one() {
        assert!(same(
            r#"{"kind":"tool_result","call_id":"a","summary":"s","is_error":false}"#,
            r#"{ "summary" : "\u0073", "call_id":"a", "content":null,"attachments":[],"kind":"tool_result"}"#,
        ));
        assert!(same(
            r#"{"kind":"reasoning","text":"","summary":[],"signature":null}"#,
            r#"{"kind":"reasoning","text":""}"#,
        ));
        for (a, b) in [
            (
                r#"{"kind":"tool_result","call_id":"a","summary":"s","is_error":true}"#,
                r#"{"kind":"tool_result","call_id":"a","summary":"s"}"#,
            ),
            (
                r#"{"kind":"message","role":"user","content":[{"kind":"text","text":"ab"}]}"#,
                r#"{"kind":"message","role":"user","content":[{"kind":"text","text":"a"},{"kind":"text","text":"b"}]}"#,
            ),
            (
                r#"{"kind":"message","role":"user","content":[],"new":9007199254740993}"#,
                r#"{"kind":"message","role":"user","content":[],"new":9007199254740992}"#,
            ),
            // an empty result is no missing one
            (
                r#"{"kind":"tool_result","call_id":"a","summary":"s","content":""}"#,
                r#"{"kind":"tool_result","call_id":"a","summary":"s"}"#,
            ),
            (r#"["a,","b"]"#, r#"["a",",b"]"#),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn what_items_say() {
        for (item, kind, name, text) in [
            (
                r#"{"kind":"message","role":"assistant","content":[{"kind":"text","text":"a\nb"},{"kind":"refusal","refusal":"no"}]}"#,
                ItemKind::Message,
                None,
                "a\nb\nno",
            ),
            (
                r#"{"kind":"tool_call","call_id":"c","name":"Bash","arguments":""}"#,
                ItemKind::ToolCall,
                Some("Bash"),
                "",
            ),
            (
                r#"{"kind":"tool_result","call_id":"c","summary":"2 lines","content":"x"}"#,
                ItemKind::ToolResult,
                Some("c"),
                "2 lines\nx",
            ),
            (
                r#"{"kind":"reasoning","text":"","summary":["one","two"]}"#,
                ItemKind::Reasoning,
                None,
                "one\ntwo",
            ),
        ] {
            let item = raw(item);
            let said = said(&item).unwrap();
            assert_eq!(
                (said.kind, said.name.as_deref(), &*said.text),
                (kind, name, text)
            );
        }
    }
}
