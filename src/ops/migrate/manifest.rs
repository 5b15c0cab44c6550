//! The reference's own document, `migrations/worker-aggregate-v1.json`, as it writes it: two
//! spaces, a newline at the end, Workers sorted as text (`10` before `2`).
//!
//! Entries of Workers that left the catalog stay, and so does every field that is not ours (C8).

use std::fmt;
use std::io;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::checkpoints::Checkpoints;
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, SessionId, WorkerId, file};
use crate::record::document::{ManifestDocument, MigrationDiagnostic};
use crate::store::{Document, Store, read_document};

/// The fields that the reference writes, in its order. Others follow in theirs.
const OURS: [&str; 4] = ["schema_version", "complete", "workers", "diagnostics"];

/// What a checkpoint says of a Worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its metadata is in the store, and its Session if it had one.
    Migrated(Option<SessionId>),
    /// The legacy roots have nothing of it.
    NoLegacyMetadata,
    /// Others point at its Session too.
    Shared(SessionId),
    /// Its Session is reserved and was never written; its metadata is in the store.
    Pending(SessionId),
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Migrated(_) => "migrated",
            Self::NoLegacyMetadata => "no_legacy_metadata",
            Self::Shared(_) => "shared_session_collision",
            Self::Pending(_) => "pending",
        }
    }

    pub(super) const fn session(self) -> Option<SessionId> {
        match self {
            Self::Migrated(session) => session,
            Self::NoLegacyMetadata => None,
            Self::Shared(session) | Self::Pending(session) => Some(session),
        }
    }
}

/// The manifest: what was read, and what it is to become.
#[derive(Debug)]
pub struct Manifest {
    /// Everything but the Workers, in its order.
    fields: Map<String, Value>,
    workers: Checkpoints,
    /// It was read from disk.
    there: bool,
    /// It says something that the one on disk does not, spelling aside.
    more: bool,
}

impl Manifest {
    /// Reads the manifest of a store; one that is not there is empty.
    ///
    /// # Errors
    /// What is wrong with it: it is never made anew over another.
    pub fn read(store: &Store) -> Result<Self> {
        let path = Paths::manifest();
        let dir = match store.dir().dir(file::MIGRATIONS) {
            Ok(dir) => dir,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::empty()),
            Err(e) => return Err(crate::store::fs::failed("open", &path, e)),
        };
        let document = read_document(&dir, file::MANIFEST, |bytes| {
            ManifestDocument::check(bytes)?;
            Ok(serde_json::from_slice::<Whole>(bytes))
        });
        if document.is_missing() {
            return Ok(Self::empty());
        }
        if let Some(trouble) = crate::ops::ownership::Trouble::of(&document) {
            let locus = Locus {
                line: trouble.line,
                byte: trouble.byte,
                ..Locus::file(&path)
            };
            return Err(Error::new(
                trouble.code,
                format!("the migration's manifest: {}", trouble.message),
            )
            .at(locus)
            .hint("it is never made anew: put a good copy back, or move it away by hand, then run the same command again; Workers that are in place are found"));
        }
        let Document::Good(whole) = document else {
            return Ok(Self::empty());
        };
        let Whole { fields, workers } = whole.map_err(|e| {
            Error::new(Code::CorruptDocument, "the migration's manifest").caused_by(e)
        })?;
        Ok(Self {
            fields,
            workers,
            there: true,
            more: false,
        })
    }

    fn empty() -> Self {
        let mut fields = Map::new();
        fields.insert("schema_version".to_owned(), 1.into());
        fields.insert("complete".to_owned(), false.into());
        fields.insert("workers".to_owned(), Value::Null);
        fields.insert("diagnostics".to_owned(), Value::Array(Vec::new()));
        Self {
            fields,
            workers: Checkpoints::default(),
            there: false,
            more: true,
        }
    }

    /// The state that a Worker's checkpoint has, as written.
    #[must_use]
    pub fn state(&self, id: WorkerId) -> Option<&str> {
        self.workers.state(id)
    }

    /// Whether it was there when it was read.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.there
    }

    /// What it says was left where it was.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<MigrationDiagnostic> {
        let said = self.fields.get("diagnostics").cloned();
        said.and_then(|said| serde_json::from_value(said).ok())
            .unwrap_or_default()
    }

    /// The Session that a Worker's checkpoint names.
    #[must_use]
    pub fn session(&self, id: WorkerId) -> Option<SessionId> {
        self.workers.session(id)
    }

    /// Whether a Worker's checkpoint says this already.
    #[must_use]
    pub fn says(&self, id: WorkerId, state: State) -> bool {
        self.state(id) == Some(state.word()) && self.session(id) == state.session()
    }

    /// Sets a Worker's checkpoint. One that says so already stays as it is, to the byte.
    pub fn set(&mut self, id: WorkerId, state: State) {
        if !self.says(id, state) {
            self.more = true;
            self.workers.set(id, state);
        }
    }

    /// Whether it concludes so already.
    #[must_use]
    pub fn concludes(&self, complete: bool, diagnostics: &[MigrationDiagnostic]) -> bool {
        self.fields.get("complete") == Some(&complete.into()) && self.names(diagnostics)
    }

    /// Whether it names this as left where it was.
    fn names(&self, diagnostics: &[MigrationDiagnostic]) -> bool {
        self.fields.get("diagnostics").is_some_and(|old| {
            Vec::<MigrationDiagnostic>::deserialize(old).is_ok_and(|old| {
                old.len() == diagnostics.len() && old.iter().zip(diagnostics).all(same)
            })
        })
    }

    /// Says whether no Worker is left, and what was left where it was.
    pub fn conclude(&mut self, complete: bool, diagnostics: &[MigrationDiagnostic]) {
        let old = self.fields.insert("complete".to_owned(), complete.into());
        self.more |= old != Some(complete.into());
        if self.names(diagnostics) {
            return;
        }
        self.more = true;
        let diagnostics = diagnostics
            .iter()
            .map(|d| {
                let mut one = Map::new();
                one.insert("kind".to_owned(), d.kind.as_str().into());
                one.insert("source".to_owned(), d.source.as_str().into());
                one.insert("message".to_owned(), d.message.as_str().into());
                Value::Object(one)
            })
            .collect();
        self.fields
            .insert("diagnostics".to_owned(), Value::Array(diagnostics));
    }

    /// Writes the bytes as the reference writes them.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, mut out: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")
    }

    /// Whether it says something that the one on disk does not, however that is spelt.
    #[must_use]
    pub const fn says_more(&self) -> bool {
        self.more
    }

    /// Takes it that it is on disk now.
    pub const fn written(&mut self) {
        self.more = false;
    }
}

/// The fields with the Workers in their place, without a copy of either.
impl serde::Serialize for Manifest {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = s.serialize_map(Some(self.fields.len()))?;
        for key in OURS {
            match (key, self.fields.get(key)) {
                ("workers", _) => map.serialize_entry(key, &self.workers)?,
                (_, Some(value)) => map.serialize_entry(key, value)?,
                (_, None) => {}
            }
        }
        for (key, value) in &self.fields {
            if !OURS.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// A manifest as it is read, the Workers apart from all else.
struct Whole {
    fields: Map<String, Value>,
    workers: Checkpoints,
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the migration's manifest")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Whole, A::Error> {
                let (mut fields, mut workers) = (Map::new(), Checkpoints::default());
                while let Some(key) = map.next_key::<String>()? {
                    let value = if key == "workers" {
                        workers = map.next_value()?;
                        Value::Null
                    } else {
                        map.next_value()?
                    };
                    fields.insert(key, value);
                }
                Ok(Whole { fields, workers })
            }
        }
        d.deserialize_map(Fields)
    }
}

fn same((a, b): (&MigrationDiagnostic, &MigrationDiagnostic)) -> bool {
    a.kind == b.kind && a.source == b.source && a.message == b.message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Manifest {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(temp.path().join("workers")).unwrap();
        std::fs::create_dir_all(temp.path().join("migrations")).unwrap();
        std::fs::write(temp.path().join(Paths::manifest()), text).unwrap();
        Manifest::read(&Store::open(temp.path()).unwrap()).unwrap()
    }

    fn bytes(manifest: &Manifest) -> Vec<u8> {
        let mut bytes = Vec::new();
        manifest.write(&mut bytes).unwrap();
        bytes
    }

    const SESSION: &str = "01890000-0000-7000-8000-000000000001";

    /// C22: the bytes are those of the reference.
    #[test]
    fn c22_bytes_as_the_reference_writes_them() {
        let mut manifest = Manifest::empty();
        let empty = "{\n  \"schema_version\": 1,\n  \"complete\": false,\n  \"workers\": {},\n  \"diagnostics\": []\n}\n";
        assert_eq!(bytes(&manifest), empty.as_bytes());
        manifest.set(WorkerId::Number(2), State::NoLegacyMetadata);
        let session = SESSION.parse().unwrap();
        manifest.set(WorkerId::Number(10), State::Migrated(Some(session)));
        manifest.conclude(true, &[]);
        let text = String::from_utf8(bytes(&manifest)).unwrap();
        let (ten, two) = (text.find("\"10\"").unwrap(), text.find("\"2\"").unwrap());
        assert!(ten < two, "{text}");
        assert!(text.contains("\"session_id\": null"), "{text}");
    }

    /// C8: what is not ours stays; what says the same is not spelt anew.
    #[test]
    fn c8_other_fields_stay() {
        let text = format!(
            "{{\"schema_version\":1,\"complete\":true,\"later\":1.10,\"workers\":{{\"7\":{{\"worker_name\":\"worker-runtime-7\",\"session_id\":\"{}\",\"state\":\"migrated\",\"note\":\"x\"}}}},\"diagnostics\":[]}}",
            SESSION.replace('-', "")
        );
        let mut manifest = manifest(&text);
        let seven = WorkerId::Number(7);
        manifest.set(seven, State::Migrated(Some(SESSION.parse().unwrap())));
        manifest.conclude(true, &[]);
        assert!(!manifest.says_more());
        let bytes = String::from_utf8(bytes(&manifest)).unwrap();
        assert!(bytes.contains("\"later\": 1.10") && bytes.contains("\"note\": \"x\""));
        assert!(bytes.contains(&SESSION.replace('-', "")));
        manifest.set(seven, State::NoLegacyMetadata);
        assert!(manifest.says_more());
        assert_eq!(manifest.state(seven), Some("no_legacy_metadata"));
        assert_eq!(manifest.session(seven), None);
    }
}
