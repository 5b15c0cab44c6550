//! One record as what it does to the state that a restore sees.
//!
//! Read by hand from the record's fields: an enum that a field tells apart would pass every value
//! through a buffer, and numbers would lose their digits there.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::facts::Origin;
use super::schema::RecordKind;
use crate::layout::{SegmentId, SessionId};

/// What one record does.
#[derive(Debug)]
pub enum Step<'a> {
    /// A history begins.
    Start(Box<Start<'a>>),
    /// A run was asked for; without an end it restores as interrupted.
    Invoke,
    /// A person said something.
    Input {
        /// The parts as stored: an array.
        parts: &'a RawValue,
        /// The parts as one text, as the history holds them.
        text: String,
        /// What others attached to it.
        extensions: Vec<Extension<'a>>,
    },
    /// An item of the history, as stored.
    Item(&'a RawValue),
    /// What the Runtime put into the history, as its text.
    System(Cow<'a, str>),
    /// A turn is over; its count.
    Turn(u64),
    /// A run is over; whether a restore takes it for interrupted.
    Ended(bool),
    /// The request config from here on.
    Config(&'a RawValue),
    /// What a request cost.
    Usage(Usage),
    /// Somebody else's data.
    Extension(Extension<'a>),
}

/// The head of a Segment.
#[derive(Debug)]
pub struct Start<'a> {
    /// The Session.
    pub session: SessionId,
    /// The prompt, if there is one.
    pub system_prompt: Option<Cow<'a, str>>,
    /// The request config, as stored.
    pub config: &'a RawValue,
    /// The seed history, as stored.
    pub history: Vec<&'a RawValue>,
    /// `forked_from`
    pub forked: Option<Origin>,
    /// `compacted_from`
    pub compacted: Option<Origin>,
}

/// Data of a domain.
#[derive(Debug, Deserialize)]
pub struct Extension<'a> {
    /// Whose it is.
    #[serde(borrow)]
    pub domain: Cow<'a, str>,
    /// Any JSON, as stored.
    #[serde(borrow)]
    pub payload: &'a RawValue,
}

/// What a request cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct Usage {
    /// History items that the request held.
    pub history_len: u64,
    /// In, cached ones too.
    pub input_total_tokens: u64,
    /// Of those, read from the cache.
    pub cache_read_tokens: u64,
    /// Of those, written to the cache.
    pub cache_write_tokens: u64,
    /// Out.
    pub output_tokens: u64,
}

#[derive(Deserialize)]
struct RawOrigin<'a> {
    #[serde(borrow)]
    segment_id: Cow<'a, str>,
    at_turn_index: u64,
}

impl RawOrigin<'_> {
    fn read(self) -> serde_json::Result<Origin> {
        let (segment, _) =
            SegmentId::parse_loose(&self.segment_id).map_err(serde::de::Error::custom)?;
        Ok(Origin {
            segment,
            turn: self.at_turn_index,
        })
    }
}

#[derive(Deserialize)]
struct RawStart<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    system_prompt: Option<Cow<'a, str>>,
    #[serde(borrow)]
    config: &'a RawValue,
    #[serde(borrow)]
    history: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    forked_from: Option<RawOrigin<'a>>,
    #[serde(borrow, default)]
    compacted_from: Option<RawOrigin<'a>>,
}

#[derive(Deserialize)]
struct RawInput<'a> {
    #[serde(borrow)]
    segments: &'a RawValue,
    #[serde(borrow, default)]
    extensions: Vec<Extension<'a>>,
}

/// A part of a user's input; parts of other kinds have no text.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    selector: Option<&'a RawValue>,
}

impl Part<'_> {
    fn add_to(&self, text: &mut String) -> serde_json::Result<()> {
        // A part of an unknown kind may hold anything under these names.
        let read = |raw: Option<&RawValue>| -> serde_json::Result<String> {
            raw.map_or_else(|| Ok(String::new()), |raw| serde_json::from_str(raw.get()))
        };
        match &*self.kind {
            "text" | "paste" => text.push_str(&read(self.content)?),
            "file_ref" => {
                text.push('@');
                text.push_str(&read(self.path)?);
            }
            "flow" => {
                text.push_str("[Flow: ");
                text.push_str(&read(self.selector)?);
                text.push(']');
            }
            _ => {}
        }
        Ok(())
    }
}

/// The parts of a user's input as one text.
///
/// # Errors
/// They are no array of parts.
pub fn parts_as_text(parts: &RawValue) -> serde_json::Result<String> {
    let all: Vec<Part<'_>> = serde_json::from_str(parts.get())?;
    let mut text = String::new();
    for part in &all {
        part.add_to(&mut text)?;
    }
    Ok(text)
}

#[derive(Deserialize)]
struct RawItem<'a> {
    #[serde(borrow)]
    item: &'a RawValue,
}

#[derive(Deserialize)]
struct RawSystem<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    slug: Option<&'a RawValue>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// The text that a system item puts into the history.
///
/// # Errors
/// It is no system item.
pub fn system_text(item: &RawValue) -> serde_json::Result<Cow<'_, str>> {
    let raw: RawSystem<'_> = serde_json::from_str(item.get())?;
    match &*raw.kind {
        // Two old kinds that a Runtime no longer brings back.
        "knowledge" => Ok(Cow::Borrowed("")),
        "workflow" => {
            let slug: String = raw
                .slug
                .map_or_else(|| Ok(String::new()), |raw| serde_json::from_str(raw.get()))?;
            Ok(Cow::Owned(format!(
                "Ignored legacy procedure item: /{slug}"
            )))
        }
        _ => match raw.body {
            Some(body) => serde_json::from_str::<String>(body.get()).map(Cow::Owned),
            None => Err(serde::de::Error::missing_field("body")),
        },
    }
}

impl<'a> Step<'a> {
    /// Reads a record of this kind. Its bytes hold one good record.
    ///
    /// # Errors
    /// They do not.
    pub fn read(kind: RecordKind, bytes: &'a [u8]) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Turn {
            turn_count: u64,
        }
        #[derive(Deserialize)]
        struct Ended {
            interrupted: bool,
        }
        #[derive(Deserialize)]
        struct Config<'a> {
            #[serde(borrow)]
            config: &'a RawValue,
        }
        Ok(match kind {
            RecordKind::SegmentStart => {
                let raw: RawStart<'_> = serde_json::from_slice(bytes)?;
                let (session, _) =
                    SessionId::parse_loose(&raw.session_id).map_err(serde::de::Error::custom)?;
                Self::Start(Box::new(Start {
                    session,
                    system_prompt: raw.system_prompt,
                    config: raw.config,
                    history: raw.history,
                    forked: raw.forked_from.map(RawOrigin::read).transpose()?,
                    compacted: raw.compacted_from.map(RawOrigin::read).transpose()?,
                }))
            }
            RecordKind::Invoke => Self::Invoke,
            RecordKind::UserInput => {
                let raw: RawInput<'_> = serde_json::from_slice(bytes)?;
                Self::Input {
                    text: parts_as_text(raw.segments)?,
                    parts: raw.segments,
                    extensions: raw.extensions,
                }
            }
            RecordKind::AssistantItem | RecordKind::ToolResult => {
                Self::Item(serde_json::from_slice::<RawItem<'_>>(bytes)?.item)
            }
            RecordKind::SystemItem => {
                let raw: RawItem<'_> = serde_json::from_slice(bytes)?;
                Self::System(system_text(raw.item)?)
            }
            RecordKind::TurnEnd => Self::Turn(serde_json::from_slice::<Turn>(bytes)?.turn_count),
            RecordKind::RunCompleted | RecordKind::RunErrored => {
                Self::Ended(serde_json::from_slice::<Ended>(bytes)?.interrupted)
            }
            RecordKind::PausedTurnAbandoned => Self::Ended(false),
            RecordKind::ConfigChanged => {
                Self::Config(serde_json::from_slice::<Config<'_>>(bytes)?.config)
            }
            RecordKind::LlmUsage => Self::Usage(serde_json::from_slice(bytes)?),
            RecordKind::Extension => Self::Extension(serde_json::from_slice(bytes)?),
        })
    }
}

/// A message of plain text as the history holds it.
#[must_use]
pub fn message(role: &str, text: &str) -> Box<RawValue> {
    #[derive(serde::Serialize)]
    struct Text<'a> {
        kind: &'a str,
        text: &'a str,
    }
    #[derive(serde::Serialize)]
    struct Message<'a> {
        kind: &'a str,
        role: &'a str,
        content: [Text<'a>; 1],
    }
    let message = Message {
        kind: "message",
        role,
        content: [Text { kind: "text", text }],
    };
    // Strings always serialize; null stands for what can not happen.
    serde_json::value::to_raw_value(&message).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
