//! The checkpoints of the manifest, kept small: as the state that they stand for where they say
//! nothing else, which is nearly always, and as they are written otherwise.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::manifest::State;
use crate::layout::{SessionId, WorkerId, WorkerName};

/// By Worker, in the order of the ids as text when they are written.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Those that say just what a state stands for, in our own spelling.
    plain: BTreeMap<WorkerId, State>,
    /// All others, to the last digit.
    others: BTreeMap<String, Value>,
}

impl Checkpoints {
    /// What a Worker's checkpoint says of its state, as written.
    pub fn state(&self, id: WorkerId) -> Option<&str> {
        match self.plain.get(&id) {
            Some(state) => Some(state.word()),
            None => self.other(id)?.get("state")?.as_str(),
        }
    }

    /// The Session that it names.
    pub fn session(&self, id: WorkerId) -> Option<SessionId> {
        match self.plain.get(&id) {
            Some(state) => state.session(),
            None => {
                let text = self.other(id)?.get("session_id")?.as_str()?;
                SessionId::parse_loose(text).ok().map(|(id, _)| id)
            }
        }
    }

    fn other(&self, id: WorkerId) -> Option<&Value> {
        if self.others.is_empty() {
            return None;
        }
        self.others.get(&id.to_string())
    }

    /// Makes a Worker's checkpoint say this. What is not ours in it stays.
    pub fn set(&mut self, id: WorkerId, state: State) {
        let other = match self.others.is_empty() {
            true => None,
            false => self.others.get_mut(&id.to_string()),
        };
        let Some(entry) = other else {
            self.plain.insert(id, state);
            return;
        };
        if !entry.is_object() {
            *entry = Value::Object(Map::new());
        }
        if let Value::Object(entry) = entry {
            let session = state.session();
            let session = session.map_or(Value::Null, |session| session.to_string().into());
            let name = WorkerName::of(id).as_str().to_owned();
            entry.insert("worker_name".to_owned(), name.into());
            entry.insert("session_id".to_owned(), session);
            entry.insert("state".to_owned(), state.word().into());
        }
    }
}

/// A checkpoint as the reference writes it.
#[derive(serde::Serialize)]
struct Written<'a> {
    worker_name: &'a str,
    session_id: Option<SessionId>,
    state: &'a str,
}

impl Serialize for Checkpoints {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut plain: Vec<(WorkerId, State)> = self.plain.iter().map(|(i, s)| (*i, *s)).collect();
        plain.sort_unstable_by(|(a, _), (b, _)| as_text(*a, *b));
        let mut others = self.others.iter().peekable();
        let mut map = s.serialize_map(Some(plain.len() + self.others.len()))?;
        for (id, state) in plain {
            if others.peek().is_some() {
                let text = id.to_string();
                while let Some((key, value)) = others.next_if(|(key, _)| **key < text) {
                    map.serialize_entry(key, value)?;
                }
            }
            let name = WorkerName::of(id);
            let written = Written {
                worker_name: name.as_str(),
                session_id: state.session(),
                state: state.word(),
            };
            map.serialize_entry(&id, &written)?;
        }
        for (key, value) in others {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The order of two ids as text: `10` before `2`.
fn as_text(a: WorkerId, b: WorkerId) -> Ordering {
    match (a, b) {
        (WorkerId::Number(a), WorkerId::Number(b)) => {
            // With as many digits as the longest has; of equal ones the shorter comes first.
            let wide = |n: u64| u128::from(n) * 10_u128.pow(19 - n.checked_ilog10().unwrap_or(0));
            (wide(a), a).cmp(&(wide(b), b))
        }
        _ => a.to_string().cmp(&b.to_string()),
    }
}

impl<'de> Deserialize<'de> for Checkpoints {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Checkpoints;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("checkpoints")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Checkpoints, A::Error> {
                let mut all = Checkpoints::default();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    // Of two with one id the later counts.
                    let id = key.parse::<WorkerId>().ok();
                    match id.and_then(|id| Some((id, plain(id, value.get())?))) {
                        Some((id, state)) => {
                            all.others.remove(&key);
                            all.plain.insert(id, state);
                        }
                        None => {
                            if let Some(id) = id {
                                all.plain.remove(&id);
                            }
                            let value = serde_json::from_str(value.get());
                            all.others
                                .insert(key, value.map_err(serde::de::Error::custom)?);
                        }
                    }
                }
                Ok(all)
            }
        }
        d.deserialize_map(All)
    }
}

/// The state that a checkpoint stands for, if it would be written just so.
fn plain(id: WorkerId, text: &str) -> Option<State> {
    let Fields(name, session, state) = serde_json::from_str(text).ok()?;
    if name != WorkerName::of(id).as_str() {
        return None;
    }
    let session = match session {
        Some(session) => Some(session.parse().ok()?),
        None => None,
    };
    let all = [
        Some(State::Migrated(session)),
        Some(State::NoLegacyMetadata).filter(|_| session.is_none()),
        session.map(State::Shared),
        session.map(State::Pending),
    ];
    all.into_iter().flatten().find(|s| s.word() == state)
}

/// The fields of a checkpoint, which are these in this order and no more.
struct Fields<'a>(&'a str, Option<&'a str>, &'a str);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a checkpoint as the reference writes it")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut next = |name: &str| match map.next_key::<&str>()? {
                    Some(key) if key == name => map.next_value::<Option<&str>>(),
                    _ => Err(serde::de::Error::custom(name)),
                };
                let (name, session, state) =
                    (next("worker_name")?, next("session_id")?, next("state")?);
                match (name, state, map.next_key::<&str>()?) {
                    (Some(name), Some(state), None) => Ok(Fields(name, session, state)),
                    _ => Err(serde::de::Error::custom("another field")),
                }
            }
        }
        d.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "01890000-0000-7000-8000-000000000001";

    fn number(n: u64) -> WorkerId {
        WorkerId::Number(n)
    }

    #[test]
    fn ids_stand_in_the_order_of_their_text() {
        let mut ids = [0, 1, 2, 9, 10, 11, 19, 100, 101, 1_000, u64::MAX, 18].map(number);
        ids.sort_by(|a, b| as_text(*a, *b));
        let mut texts = ids.map(|id| id.to_string());
        let sorted = texts.clone();
        texts.sort();
        assert_eq!(sorted, texts);
    }

    /// C8: what goes in comes out, in the order of the ids as text, whatever it is.
    #[test]
    fn c8_what_is_read_is_written_again() {
        let one = |name: &str, rest: &str| format!("{{\"worker_name\":\"{name}\",{rest}}}");
        let session = format!("\"session_id\":\"{SESSION}\"");
        let bare = format!("\"session_id\":\"{}\"", SESSION.replace('-', ""));
        let entries = [
            (
                "1",
                one(
                    "worker-runtime-1",
                    &format!("{session},\"state\":\"migrated\""),
                ),
            ),
            (
                "10",
                one(
                    "worker-runtime-10",
                    "\"session_id\":null,\"state\":\"no_legacy_metadata\"",
                ),
            ),
            (
                "11",
                one(
                    "worker-runtime-11",
                    &format!("{session},\"state\":\"no_legacy_metadata\""),
                ),
            ),
            (
                "12",
                one(
                    "worker-runtime-12",
                    &format!("{session},\"state\":\"pending\",\"more\":1.10"),
                ),
            ),
            (
                "13",
                one(
                    "worker-runtime-13",
                    &format!("\"state\":\"pending\",{session}"),
                ),
            ),
            (
                "14",
                one(
                    "worker-runtime-14",
                    &format!("{bare},\"state\":\"pending\""),
                ),
            ),
            (
                "15",
                one(
                    "worker-runtime-1",
                    &format!("{session},\"state\":\"pending\""),
                ),
            ),
            (
                "2",
                one(
                    "worker-runtime-2",
                    &format!("{session},\"state\":\"shared_session_collision\""),
                ),
            ),
            (
                "3",
                one(
                    "worker-runtime-3",
                    &format!("{session},\"state\":\"another\""),
                ),
            ),
            ("4", one("worker-runtime-4", "\"state\":\"migrated\"")),
            ("5", "7".to_owned()),
            (
                "x",
                one(
                    "worker-runtime-5",
                    &format!("{session},\"state\":\"pending\""),
                ),
            ),
        ];
        let text = entries
            .each_ref()
            .map(|(id, entry)| format!("\"{id}\":{entry}"))
            .join(",");
        let text = format!("{{{text}}}");
        let mut all: Checkpoints = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&all).unwrap(), text);
        let plain: Vec<String> = all.plain.keys().map(ToString::to_string).collect();
        assert_eq!(plain, ["1", "2", "10"]);
        let id = SESSION.parse().unwrap();
        assert_eq!(
            (all.state(number(14)), all.session(number(14))),
            (Some("pending"), Some(id))
        );
        assert_eq!(
            (all.state(number(11)), all.session(number(10))),
            (Some("no_legacy_metadata"), None)
        );
        for n in [1, 5, 12, 99] {
            all.set(number(n), State::Migrated(None));
            assert_eq!(
                (all.state(number(n)), all.session(number(n))),
                (Some("migrated"), None)
            );
        }
        let then = serde_json::to_string(&all).unwrap();
        assert!(
            then.contains("\"session_id\":null,\"state\":\"migrated\",\"more\":1.10}"),
            "{then}"
        );
        // of two with one id the later counts, whichever is the plain one
        let (plain, other) = (&entries[0].1, &entries[3].1);
        for (first, second) in [(plain, other), (other, plain)] {
            let twice = format!("{{\"1\":{first},\"1\":{second}}}");
            let all: Checkpoints = serde_json::from_str(&twice).unwrap();
            assert_eq!(
                serde_json::to_string(&all).unwrap(),
                format!("{{\"1\":{second}}}")
            );
        }
    }
}
