//! What is picked out of a document while it is held against its table: all of one that has no
//! lists, without a second reading.

use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::document::Id;
use super::json::{MAX_CAPTURE, Sink, Value};
use super::shape::Slot;
use crate::layout::SessionId;

/// An id, with its text where that is not the one spelling.
#[derive(Debug, Clone)]
pub(super) struct Spelt {
    id: Uuid,
    odd: Option<Box<str>>,
}

impl Spelt {
    pub fn id(&self) -> Uuid {
        self.id
    }

    pub fn odd(&self) -> Option<&str> {
        self.odd.as_deref()
    }
}

impl<'de> Deserialize<'de> for Spelt {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let (id, on_disk) = SessionId::parse_loose(&text).map_err(serde::de::Error::custom)?;
        Ok(Self {
            id: id.uuid(),
            odd: (!on_disk).then(|| text.into()),
        })
    }
}

/// The values that stood in the fields that documents ask for.
#[derive(Debug, Default)]
pub(super) struct Picked {
    pub version: Option<u64>,
    pub worker_id: Option<Id>,
    pub worker_ref: Option<Id>,
    pub run_generation: Option<u64>,
    pub workspace_id: Option<String>,
    pub display_name: Option<String>,
    pub profile: Option<String>,
    pub api_workspace_id: Option<String>,
    pub worker_name: Option<String>,
    pub session_id: Option<Spelt>,
    pub segment_id: Option<Spelt>,
    /// There is more: an entry of a list, or a text that was cut.
    more: bool,
}

impl Picked {
    /// Itself, if it is all that there is.
    pub fn complete(self) -> Option<Self> {
        (!self.more).then_some(self)
    }

    fn text(&mut self, text: &[u8]) -> Option<String> {
        let whole = text.len() < MAX_CAPTURE;
        let text = std::str::from_utf8(text).ok().filter(|_| whole);
        self.more |= text.is_none();
        text.map(str::to_owned)
    }
}

impl Sink for Picked {
    fn value(&mut self, slot: Slot, value: Value<'_>, _: u64) {
        match (slot, value) {
            (Slot::SchemaVersion, Value::U64(version)) => {
                self.version.get_or_insert(version);
            }
            (Slot::WorkerId, Value::U64(n)) => self.worker_id = Some(Id::Number(n)),
            (Slot::WorkerRef, Value::U64(n)) => self.worker_ref = Some(Id::Number(n)),
            (Slot::WorkerId, Value::Id { text, .. }) => {
                self.worker_id = self.text(text).map(Id::Text);
            }
            (Slot::WorkerRef, Value::Id { text, .. }) => {
                self.worker_ref = self.text(text).map(Id::Text);
            }
            (Slot::RunGeneration, Value::U64(n)) => self.run_generation = Some(n),
            (Slot::WorkspaceId, Value::Str(text)) => self.workspace_id = self.text(text),
            (Slot::DisplayName, Value::Str(text)) => self.display_name = self.text(text),
            (Slot::Profile, Value::Str(text)) => self.profile = self.text(text),
            (Slot::ApiWorkspaceId, Value::Str(text)) => self.api_workspace_id = self.text(text),
            (Slot::WorkerName, Value::Str(text)) => self.worker_name = self.text(text),
            (Slot::DocumentSession | Slot::ActiveSegment, Value::Id { id, text, on_disk }) => {
                let odd = if on_disk { None } else { self.text(text) };
                let spelt = Some(Spelt {
                    id,
                    odd: odd.map(String::into_boxed_str),
                });
                if slot == Slot::ActiveSegment {
                    self.segment_id = spelt;
                } else {
                    self.session_id = spelt;
                }
            }
            (Slot::Entry, _) => self.more = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::super::document::{
        DocumentFault, MetadataDocument, SessionDocument, WorkerDocument,
    };
    use super::*;

    const A: &str = "01890000-0000-7000-8000-00000000000a";
    const ODD: &str = "01890000-0000-7000-8000-00000000000A";

    /// A good document says what `serde` reads in it, picked or not.
    fn same<T: Debug + DeserializeOwned>(
        text: &str,
        read: fn(&[u8]) -> Result<T, DocumentFault>,
    ) -> String {
        let read = format!("{:?}", read(text.as_bytes()).unwrap());
        let serde = format!("{:?}", serde_json::from_str::<T>(text).unwrap());
        assert_eq!(read, serde, "{text}");
        read
    }

    #[test]
    fn what_is_picked_is_what_serde_reads() {
        let long = "x".repeat(MAX_CAPTURE + 3);
        for (id, version) in [
            ("7".to_owned(), 1),
            (format!("{A:?}"), 3),
            (format!("{ODD:?}"), 3),
        ] {
            let request = if version == 1 {
                String::new()
            } else {
                format!("\"worker_id\":{id},\"create_fingerprint\":\"f\",")
            };
            for name in ["plain", "a \\\"b\\\" \\u00e9 \\ud83d\\ude00", &long] {
                let api = format!(
                    r#""workspace_api":{{"workspace_id":"{name}","base_url":"u"}},"display_name":"{name}","#
                );
                let own = format!(r#""run_generation":3,"workspace_id":"{name}","#);
                for (api, own) in [("", ""), (&api, ""), ("", &own), (&api, &own)] {
                    let text = format!(
                        r#"{{"other":[1,{{"worker_id":"x"}}],"worker_id":{id},{own}
                        "request":{{{request}"profile":{{"kind":"named","value":"{name}"}},{api}"profile_source":{{"kind":"http"}}}},
                        "worker_ref":{{"worker_id":{id}}},"schema_version":{version},"execution":null}}"#
                    );
                    let said = same(&text, WorkerDocument::read);
                    assert!(name != "plain" || said.contains("plain"));
                }
            }
        }
        for (id, segment) in [(A, ODD), (ODD, A)] {
            same(
                &format!(r#"{{"schema_version":1,"session_id":"{id}"}}"#),
                SessionDocument::read,
            );
            for active in [
                "null".to_owned(),
                format!(r#"{{"session_id":"{id}"}}"#),
                format!(r#"{{"session_id":"{id}","segment_id":null}}"#),
                format!(r#"{{"segment_id":"{segment}","session_id":"{id}"}}"#),
            ] {
                for lists in [
                    "",
                    r#","spawned_children":[],"peers":[]"#,
                    r#","peers":[{"worker_name":"p"}]"#,
                    r#","reclaimed_children":[{"worker_name":"r","scope_delegated":[]}]"#,
                    r#","spawned_children":[{"worker_name":"c","socket_path":"s","callback_address":"c","scope_delegated":[{"target":"t","permission":"read","recursive":true}]}]"#,
                ] {
                    for name in ["worker-runtime-7", &long] {
                        same(
                            &format!(r#"{{"active":{active},"worker_name":"{name}"{lists}}}"#),
                            MetadataDocument::read,
                        );
                    }
                }
            }
        }
    }
}
