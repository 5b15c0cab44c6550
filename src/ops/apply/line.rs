//! One line of `apply`: the command that it names, with the command's own arguments.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::diag::{Code, Error, Result};
use crate::layout::SegmentId;
use crate::ops::change::{Change, Expect, Flags, Member, edit};
use crate::ops::run::reserve::Reserve;
use crate::ops::run::stop::Stop;
use crate::ops::segment::{Activate, Append, Compact, Create, Fork};
use crate::ops::worker;
use crate::ops::worker::children::Reclaim;
use crate::ops::worker::create::GivenRequest;
use crate::ops::worker::peer::{Named, PeerChange, Wish};

/// The commands that a line may name.
pub const COMMANDS: &[&str] = &[
    "run reserve",
    "run stop",
    "segment activate",
    "segment append",
    "segment compact",
    "segment create",
    "segment fork",
    "worker create",
    "worker peer add",
    "worker peer remove",
    "worker reclaim",
];

/// What any line may say beside its command's own arguments.
#[derive(Debug, Default, Deserialize)]
struct Common {
    command: String,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    actor: Option<String>,
    #[serde(default)]
    expect_generation: Option<u64>,
    #[serde(default)]
    expect_active: Option<SegmentId>,
    #[serde(default)]
    expect_digest: Option<String>,
}

const COMMON: [&str; 6] = [
    "command",
    "request_id",
    "actor",
    "expect_generation",
    "expect_active",
    "expect_digest",
];

/// Reads a line. A field that its command does not know is refused: a typo must not be a change.
///
/// # Errors
/// `usage`, with the command as far as it could be read.
pub fn parse<'a>(
    line: &[u8],
    flags: &Flags<'a>,
) -> std::result::Result<(String, Member<'a>), (String, Error)> {
    let object = object(line).map_err(|e| (String::new(), e))?;
    let named = object
        .get("command")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    member(object, flags)
        .map(|member| (named.clone(), member))
        .map_err(|e| (named, e))
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
        .hint("a line is like {\"command\":\"run reserve\",\"worker\":7,\"request_id\":\"r1\"}")
}

fn object(line: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(line) {
        // Of a key that stands twice one would be lost, and nobody knows which was meant.
        Ok(Value::Object(_)) => edit::parse(line)
            .map_err(|e| wrong("a key stands twice on the line").caused_by(e.to_string())),
        Ok(_) => Err(wrong("the line is not a JSON object")),
        Err(e) => Err(wrong("the line is not JSON").caused_by(e)),
    }
}

fn member<'a>(mut object: Map<String, Value>, flags: &Flags<'a>) -> Result<Member<'a>> {
    let mut common = Map::new();
    for key in COMMON {
        if let Some(value) = object.shift_remove(key) {
            common.insert(key.to_owned(), value);
        }
    }
    let common: Common = typed(common)?;
    for reference in ["worker", "segment", "child", "peer"] {
        // An id of version 1 may stand there as a number.
        if let Some(number @ Value::Number(_)) = object.get(reference) {
            let text = number.to_string();
            object.insert(reference.to_owned(), text.into());
        }
    }
    let change: Box<dyn Change> = match common.command.as_str() {
        "run reserve" => Box::new(typed::<Reserve>(object)?),
        "segment activate" => Box::new(typed::<Activate>(object)?),
        "segment append" => Box::new(typed::<Append>(object)?),
        "segment compact" => Box::new(typed::<Compact>(object)?),
        "segment create" => Box::new(typed::<Create>(object)?),
        "segment fork" => Box::new(typed::<Fork>(object)?),
        "run stop" => Box::new(typed::<Stop>(object)?),
        "worker create" => Box::new(create(object)?),
        "worker reclaim" => Box::new(typed::<Reclaim>(object)?),
        "worker peer add" => Box::new(peer(Wish::Add, object)?),
        "worker peer remove" => Box::new(peer(Wish::Remove, object)?),
        "" => return Err(wrong("the line names no command")),
        other => {
            return Err(
                wrong(format!("{other:?} is no command that a line may name"))
                    .hint(format!("these are: {}", COMMANDS.join(", "))),
            );
        }
    };
    let flags = Flags {
        actor_named: flags.actor_named || common.actor.is_some(),
        actor: common.actor.unwrap_or_else(|| flags.actor.clone()),
        request_id: common.request_id,
        expect: Expect {
            generation: common.expect_generation,
            active: common.expect_active,
            digest: common.expect_digest,
            segment: None,
        },
        ..flags.clone()
    };
    Ok(Member { change, flags })
}

fn peer(wish: Wish, object: Map<String, Value>) -> Result<PeerChange> {
    let named: Named = typed(object)?;
    Ok(PeerChange { wish, named })
}

/// A new Worker, whose whole request may stand on the line.
fn create(mut object: Map<String, Value>) -> Result<worker::create::Create> {
    let request = object.shift_remove("request");
    let mut create: worker::create::Create = typed(object)?;
    if let Some(request) = request {
        if create.name.is_some() || create.profile.is_some() {
            return Err(wrong("a request stands alone, without name and profile"));
        }
        create.request = Some(GivenRequest {
            path: "-".into(),
            bytes: request.to_string().into_bytes(),
        });
    }
    Ok(create)
}

fn typed<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(object)).map_err(|e| wrong(e.to_string()))
}
