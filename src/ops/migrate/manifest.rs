//! The reference's own document, `migrations/worker-aggregate-v1.json`, as it writes it: two
//! spaces, a newline at the end, Workers sorted as text (`10` before `2`).
//!
//! Entries of Workers that left the catalog stay, and so does every field that is not ours (C8).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, SessionId, WorkerId, WorkerName, file};
use crate::record::document::{ManifestDocument, MigrationDiagnostic};
use crate::store::{Store, read_document};

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
    const fn word(self) -> &'static str {
        match self {
            Self::Migrated(_) => "migrated",
            Self::NoLegacyMetadata => "no_legacy_metadata",
            Self::Shared(_) => "shared_session_collision",
            Self::Pending(_) => "pending",
        }
    }

    const fn session(self) -> Option<SessionId> {
        match self {
            Self::Migrated(session) => session,
            Self::NoLegacyMetadata => None,
            Self::Shared(session) | Self::Pending(session) => Some(session),
        }
    }
}

/// The manifest: what was read, and what it is to become.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Everything but the Workers, in its order.
    fields: Map<String, Value>,
    workers: BTreeMap<String, Value>,
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
        let mut bytes = Vec::new();
        let document = read_document(&dir, file::MANIFEST, |all| {
            bytes = all.to_vec();
            ManifestDocument::read(all)
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
        let unreadable =
            |e| Error::new(Code::CorruptDocument, "the migration's manifest").caused_by(e);
        let mut fields: Map<String, Value> = serde_json::from_slice(&bytes).map_err(unreadable)?;
        let workers = match fields.get_mut("workers").map(Value::take) {
            Some(Value::Object(workers)) => workers.into_iter().collect(),
            _ => BTreeMap::new(),
        };
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
            workers: BTreeMap::new(),
            there: false,
            more: true,
        }
    }

    /// The state that a Worker's checkpoint has, as written.
    #[must_use]
    pub fn state(&self, id: WorkerId) -> Option<&str> {
        self.workers.get(&id.to_string())?.get("state")?.as_str()
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
        let text = self
            .workers
            .get(&id.to_string())?
            .get("session_id")?
            .as_str()?;
        SessionId::parse_loose(text).ok().map(|(id, _)| id)
    }
    /// Whether a Worker's checkpoint says this already.
    #[must_use]
    pub fn says(&self, id: WorkerId, state: State) -> bool {
        self.state(id) == Some(state.word()) && self.session(id) == state.session()
    }

    /// Sets a Worker's checkpoint. One that says so already stays as it is, to the byte.
    pub fn set(&mut self, id: WorkerId, state: State) {
        let session = state
            .session()
            .map_or(Value::Null, |session| session.to_string().into());
        if self.says(id, state) {
            return;
        }
        self.more = true;
        let entry = self.workers.entry(id.to_string()).or_default();
        if !entry.is_object() {
            *entry = Value::Object(Map::new());
        }
        if let Value::Object(entry) = entry {
            let name = WorkerName::of(id).as_str().to_owned();
            entry.insert("worker_name".to_owned(), name.into());
            entry.insert("session_id".to_owned(), session);
            entry.insert("state".to_owned(), state.word().into());
        }
    }

    /// Says whether no Worker is left, and what was left where it was.
    pub fn conclude(&mut self, complete: bool, diagnostics: &[MigrationDiagnostic]) {
        let old = self.fields.insert("complete".to_owned(), complete.into());
        self.more |= old != Some(complete.into());
        let same = self.fields.get("diagnostics").and_then(|old| {
            let old: Vec<MigrationDiagnostic> = serde_json::from_value(old.clone()).ok()?;
            Some(old.len() == diagnostics.len() && old.iter().zip(diagnostics).all(same))
        });
        if same == Some(true) {
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

    /// The bytes as the reference writes them.
    ///
    /// # Errors
    /// It can not be written as JSON.
    pub fn render(&self) -> Result<Vec<u8>> {
        /// The fields with the Workers in their place, without a copy of either.
        struct Whole<'a>(&'a Manifest);
        impl serde::Serialize for Whole<'_> {
            fn serialize<S: serde::Serializer>(
                &self,
                s: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = s.serialize_map(Some(self.0.fields.len()))?;
                for key in OURS {
                    match (key, self.0.fields.get(key)) {
                        ("workers", _) => map.serialize_entry(key, &self.0.workers)?,
                        (_, Some(value)) => map.serialize_entry(key, value)?,
                        (_, None) => {}
                    }
                }
                for (key, value) in &self.0.fields {
                    if !OURS.contains(&key.as_str()) {
                        map.serialize_entry(key, value)?;
                    }
                }
                map.end()
            }
        }
        let mut bytes = serde_json::to_vec_pretty(&Whole(self)).map_err(|e| {
            Error::new(Code::Internal, "the manifest can not be written").caused_by(e)
        })?;
        bytes.push(b'\n');
        Ok(bytes)
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

    const SESSION: &str = "01890000-0000-7000-8000-000000000001";

    /// C22: the bytes are those of the reference.
    #[test]
    fn c22_bytes_as_the_reference_writes_them() {
        let mut manifest = Manifest::empty();
        let empty = "{\n  \"schema_version\": 1,\n  \"complete\": false,\n  \"workers\": {},\n  \"diagnostics\": []\n}\n";
        assert_eq!(manifest.render().unwrap(), empty.as_bytes());
        manifest.set(WorkerId::Number(2), State::NoLegacyMetadata);
        let session = SESSION.parse().unwrap();
        manifest.set(WorkerId::Number(10), State::Migrated(Some(session)));
        manifest.conclude(true, &[]);
        let text = String::from_utf8(manifest.render().unwrap()).unwrap();
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
        let bytes = String::from_utf8(manifest.render().unwrap()).unwrap();
        assert!(bytes.contains("\"later\": 1.10") && bytes.contains("\"note\": \"x\""));
        assert!(bytes.contains(&SESSION.replace('-', "")));
        manifest.set(seven, State::NoLegacyMetadata);
        assert!(manifest.says_more());
        assert_eq!(manifest.state(seven), Some("no_legacy_metadata"));
        assert_eq!(manifest.session(seven), None);
    }
}
