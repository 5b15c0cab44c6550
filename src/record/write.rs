//! Records and items in the form in which a Runtime writes them: compact, fields in the order of
//! their table, defaults left out of items and nulls written in a config.
//!
//! What a person brings is brought into that form. What a Segment holds already is not: it is
//! copied to the byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::diagnose::BOM;
use super::facts::Origin;
use super::json::{Fault, NoSink, Whole, check};
use super::schema::{CONFIG, ITEM};
use super::shape::{Presence, Shape, TAG, Ty};
use crate::diag::Code;
use crate::layout::{SegmentId, SessionId};

static ITEM_TY: Ty = Ty::Tagged(&ITEM);
static ITEMS_TY: Ty = Ty::Array(&ITEM_TY);
static CONFIG_TY: Ty = Ty::Object(&CONFIG);

/// Where a new Segment comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// Nowhere: its history begins with it.
    Root,
    /// It is a branch.
    Forked(Origin),
    /// It is a compacted projection.
    Compacted(Origin),
}

/// The first record of a new Segment.
#[derive(Debug, Clone, Copy)]
pub struct NewStart<'a> {
    /// Milliseconds since 1970.
    pub ts: u64,
    /// The Session.
    pub session: SessionId,
    /// The prompt, if there is one.
    pub system_prompt: Option<&'a str>,
    /// The request config, as it is to be stored.
    pub config: &'a RawValue,
    /// The seed history, as it is to be stored.
    pub history: &'a [&'a RawValue],
    /// Where it comes from.
    pub lineage: Lineage,
}

#[derive(Serialize)]
struct StartRecord<'a> {
    kind: &'a str,
    ts: u64,
    session_id: SessionId,
    system_prompt: Option<&'a str>,
    config: &'a RawValue,
    history: &'a [&'a RawValue],
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<OriginRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compacted_from: Option<OriginRecord>,
}

#[derive(Serialize)]
struct OriginRecord {
    segment_id: SegmentId,
    at_turn_index: u64,
}

impl From<Origin> for OriginRecord {
    fn from(origin: Origin) -> Self {
        Self {
            segment_id: origin.segment,
            at_turn_index: origin.turn,
        }
    }
}

/// The line of a first record, its newline included.
///
/// # Errors
/// It can not be written as JSON.
pub fn segment_start(start: &NewStart<'_>) -> serde_json::Result<Vec<u8>> {
    let (forked, compacted) = match start.lineage {
        Lineage::Root => (None, None),
        Lineage::Forked(origin) => (Some(origin), None),
        Lineage::Compacted(origin) => (None, Some(origin)),
    };
    let history = start.history.iter().map(|item| item.get().len() + 1);
    let mut line = Vec::with_capacity(1024 + history.sum::<usize>());
    let record = StartRecord {
        kind: "segment_start",
        ts: start.ts,
        session_id: start.session,
        system_prompt: start.system_prompt,
        config: start.config,
        history: start.history,
        forked_from: forked.map(Into::into),
        compacted_from: compacted.map(Into::into),
    };
    serde_json::to_writer(&mut line, &record)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads history items that a person brought, one JSON array or one item a line, and gives them
/// in the form in which a Runtime writes them. Unknown fields stay, behind the known ones.
///
/// # Errors
/// What is wrong with them; the offset counts from the first byte.
pub fn items(bytes: &[u8]) -> Result<Vec<Box<RawValue>>, Fault> {
    text(bytes)?;
    let first = bytes.iter().position(|b| !b.is_ascii_whitespace());
    if first.is_some_and(|at| bytes[at] == b'[') {
        hold(bytes, 0, &ITEMS_TY)?;
        let all: Vec<&RawValue> = serde_json::from_slice(bytes).map_err(|e| refused(0, e))?;
        return all
            .into_iter()
            .map(|raw| canonical(&ITEM_TY, raw).map_err(|e| refused(0, e)))
            .collect();
    }
    let mut all = Vec::new();
    let mut at = 0;
    for line in bytes.split(|b| *b == b'\n') {
        if !line.trim_ascii().is_empty() {
            hold(line, at, &ITEM_TY)?;
            let item = serde_json::from_slice::<&RawValue>(line.trim_ascii())
                .and_then(|raw| canonical(&ITEM_TY, raw))
                .map_err(|e| refused(at, e))?;
            all.push(item);
        }
        at += line.len() as u64 + 1;
    }
    Ok(all)
}

/// A request config that a person brought.
#[derive(Debug)]
pub struct NewConfig {
    /// In the form in which a Runtime writes it, unknown fields left out.
    pub json: Box<RawValue>,
    /// Fields that no config has.
    pub unknown: Vec<String>,
}

/// The config of a person who brought none: nothing is set.
///
/// # Errors
/// Never.
pub fn default_config() -> Result<Box<RawValue>, Fault> {
    Ok(config(b"{\"stop_sequences\":[]}")?.json)
}

/// Reads a request config that a person brought. `stop_sequences` may be left out.
///
/// # Errors
/// What is wrong with it; the offset counts from the first byte.
pub fn config(bytes: &[u8]) -> Result<NewConfig, Fault> {
    text(bytes)?;
    let walk = check(Whole::new(bytes, 0), &CONFIG_TY, &mut NoSink, false);
    match walk.fault {
        Some(fault) if fault.code != Code::MissingField => return Err(fault),
        _ if walk.more => return Err(behind(walk.end)),
        _ => {}
    }
    let Entries(all) = serde_json::from_slice(bytes).map_err(|e| refused(0, e))?;
    let known = |name: &str| CONFIG.fields.iter().any(|field| field.name == name);
    let unknown = all
        .iter()
        .filter(|(name, _)| !known(name))
        .map(|(name, _)| name.clone().into_owned())
        .collect();
    let mut out = vec![b'{'];
    for field in CONFIG.fields {
        if out.len() > 1 {
            out.push(b',');
        }
        write_text(field.name, &mut out).map_err(|e| refused(0, e))?;
        out.push(b':');
        let value = all.iter().find(|(name, _)| name == field.name);
        match value {
            Some((_, raw)) if matches!(field.ty, Ty::Float) && raw.get() != "null" => {
                let number: f32 = serde_json::from_str(raw.get()).map_err(|e| refused(0, e))?;
                if !number.is_finite() {
                    let message = format!("{} does not fit a number of 32 bits", field.name);
                    return Err(Fault::new(Code::NumberOutOfRange, 0, message));
                }
                serde_json::to_writer(&mut out, &number).map_err(|e| refused(0, e))?;
            }
            Some((_, raw)) => write(&field.ty, raw, &mut out).map_err(|e| refused(0, e))?,
            None if field.presence == Presence::Required => out.extend_from_slice(b"[]"),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
    Ok(NewConfig {
        json: raw_of(out).map_err(|e| refused(0, e))?,
        unknown,
    })
}

/// The names of a config's fields, for a message.
#[must_use]
pub fn config_fields() -> Vec<&'static str> {
    CONFIG.fields.iter().map(|field| field.name).collect()
}

/// Refuses what is no text at all.
fn text(bytes: &[u8]) -> Result<(), Fault> {
    if bytes.starts_with(BOM) {
        let message = "a byte order mark before the first value";
        return Err(Fault::new(Code::ByteOrderMark, 0, message));
    }
    match simdutf8::compat::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(e) => Err(Fault::new(
            Code::InvalidUtf8,
            e.valid_up_to() as u64,
            "bytes that are not UTF-8",
        )),
    }
}

fn hold(bytes: &[u8], base: u64, ty: &'static Ty) -> Result<(), Fault> {
    let walk = check(Whole::new(bytes, base), ty, &mut NoSink, false);
    match walk.fault {
        Some(fault) => Err(fault),
        None if walk.more => Err(behind(walk.end)),
        None => Ok(()),
    }
}

fn behind(at: u64) -> Fault {
    Fault::new(Code::CorruptRecord, at, "bytes behind the value")
}

/// The checker let it pass and the reader did not.
fn refused(at: u64, e: serde_json::Error) -> Fault {
    Fault::new(Code::CorruptRecord, at, e.to_string())
}

/// The fields of an object in their order, those that stand twice too.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Walk;
        impl<'de> Visitor<'de> for Walk {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    all.push((key.0, map.next_value()?));
                }
                Ok(Entries(all))
            }
        }
        d.deserialize_map(Walk)
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

fn raw_of(json: Vec<u8>) -> serde_json::Result<Box<RawValue>> {
    // Made of strings and of JSON that was read before.
    let text = String::from_utf8(json).map_err(serde::de::Error::custom)?;
    RawValue::from_string(text)
}

fn canonical(ty: &Ty, raw: &RawValue) -> serde_json::Result<Box<RawValue>> {
    let mut out = Vec::with_capacity(raw.get().len());
    write(ty, raw, &mut out)?;
    raw_of(out)
}

fn write_text(text: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(out, text)
}

/// Writes a value that was held against its type.
fn write(ty: &Ty, raw: &RawValue, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let json = raw.get();
    match ty {
        Ty::Tagged(union) => {
            let entries: Entries<'_> = serde_json::from_str(json)?;
            let kind = entries.0.iter().find(|(name, _)| name == TAG);
            let kind: String =
                kind.map_or(Ok(String::new()), |(_, k)| serde_json::from_str(k.get()))?;
            out.push(b'{');
            write_text(TAG, out)?;
            out.push(b':');
            write_text(&kind, out)?;
            let shape = union.variants.iter().find(|(name, _)| *name == kind);
            write_fields(shape.map(|(_, shape)| *shape), &entries, out)
        }
        Ty::Object(shape) => {
            let entries: Entries<'_> = serde_json::from_str(json)?;
            out.push(b'{');
            write_fields(Some(shape), &entries, out)
        }
        Ty::Array(inner) => {
            let all: Vec<&RawValue> = serde_json::from_str(json)?;
            out.push(b'[');
            for (n, one) in all.into_iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write(inner, one, out)?;
            }
            out.push(b']');
            Ok(())
        }
        Ty::Str | Ty::Base64 | Ty::Enum(_) | Ty::Id => {
            write_text(&serde_json::from_str::<Cow<'_, str>>(json)?, out)
        }
        Ty::StrOrI32 if json.starts_with('"') => {
            write_text(&serde_json::from_str::<Cow<'_, str>>(json)?, out)
        }
        _ => {
            compact(json, out);
            Ok(())
        }
    }
}

/// Writes the fields of an object behind its brace, and what closes it.
fn write_fields(
    shape: Option<&Shape>,
    entries: &Entries<'_>,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let known = shape.map_or(&[][..], |shape| shape.fields);
    for field in known {
        let Some((_, raw)) = entries.0.iter().find(|(name, _)| name == field.name) else {
            continue;
        };
        let left_out = match field.presence {
            Presence::Optional => raw.get() == "null",
            Presence::Default => raw.get() == "false" || is_empty_array(raw.get()),
            Presence::Required | Presence::Nullable => false,
        };
        if !left_out {
            key(field.name, out)?;
            write(&field.ty, raw, out)?;
        }
    }
    for (name, raw) in &entries.0 {
        let is_known = name == TAG || known.iter().any(|field| name == field.name);
        if !is_known {
            key(name, out)?;
            compact(raw.get(), out);
        }
    }
    out.push(b'}');
    Ok(())
}

fn key(name: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_text(name, out)?;
    out.push(b':');
    Ok(())
}

fn is_empty_array(json: &str) -> bool {
    let inner = json.strip_prefix('[').and_then(|j| j.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Copies JSON without the white space between its parts: no digit and no escape changes.
fn compact(json: &str, out: &mut Vec<u8>) {
    let (mut string, mut escaped) = (false, false);
    for &byte in json.as_bytes() {
        if string {
            string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            continue;
        } else {
            string = byte == b'"';
        }
        out.push(byte);
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
