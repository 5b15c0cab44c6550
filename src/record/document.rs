//! Documents: bytes to typed values, with the place of whatever is wrong.
//!
//! A document is held against its table for the place of a fault, and the few fields that the
//! contract needs are picked on the way (see `picked`). One with lists in it, which is rare, is read
//! once more by `serde`. Everything else stays in the bytes (C8): a change goes through
//! [`serde_json::Value`] with its order and digits kept.

use std::str::FromStr;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::documents;
use super::json::{Whole, check};
use super::picked::{Picked, Spelt};
use super::shape::Ty;
use crate::diag::{Code, plural};
use crate::layout::{
    CatalogVersion, MANIFEST_SCHEMA, SESSION_SCHEMA, SegmentId, SessionId, WorkerId,
};

/// Documents above this size, in bytes, are not read; the largest known are far below 1 MiB.
pub const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Why a document could not be read, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFault {
    /// `empty_document`, `corrupt_document` or `unsupported_schema_version`.
    pub code: Code,
    /// Counts from 1, if a place inside is known.
    pub line: Option<u64>,
    /// Counts from 0, from the start of the file.
    pub byte: Option<u64>,
    /// A lower-case fragment.
    pub message: String,
}

/// A document's version decides which table holds it.
trait Document: Sized + for<'de> Deserialize<'de> {
    /// The table for this version, if there is one.
    fn table(version: Option<u64>) -> Option<&'static Ty>;
    /// Whether the document states a version at all.
    const VERSIONED: bool = true;
    /// What it says, if all of it was picked.
    fn picked(_: Picked) -> Option<Self> {
        None
    }
}

fn read<T: Document>(bytes: &[u8]) -> Result<T, DocumentFault> {
    let fault = |code, at: Option<u64>, message: String| {
        let line = at.map(|at| {
            let before = &bytes[..usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len())];
            1 + memchr::memchr_iter(b'\n', before).count() as u64
        });
        DocumentFault {
            code,
            line,
            byte: at,
            message,
        }
    };
    if bytes.is_empty() {
        return Err(fault(
            Code::EmptyDocument,
            None,
            "the document is empty: 0 bytes".to_owned(),
        ));
    }
    if simdutf8::basic::from_utf8(bytes).is_err()
        && let Err(e) = std::str::from_utf8(bytes)
    {
        let at = e.valid_up_to() as u64;
        return Err(fault(
            Code::CorruptDocument,
            Some(at),
            "bytes that are not UTF-8".to_owned(),
        ));
    }
    if bytes.iter().all(|&b| b == 0) {
        let nul = plural(bytes.len() as u64, "NUL byte", "NUL bytes");
        let message = format!("{nul} and nothing else");
        return Err(fault(Code::CorruptDocument, Some(0), message));
    }
    if bytes.starts_with(super::diagnose::BOM) {
        return Err(fault(
            Code::CorruptDocument,
            Some(0),
            "a byte order mark before the document".to_owned(),
        ));
    }
    let holds = |ty: &'static Ty| -> Result<Picked, DocumentFault> {
        let mut picked = Picked::default();
        let walk = check(Whole::new(bytes, 0), ty, &mut picked, false);
        match walk.fault {
            Some(f) => Err(fault(Code::CorruptDocument, Some(f.at), f.message)),
            None if walk.more => Err(fault(
                Code::CorruptDocument,
                Some(walk.end),
                "bytes behind the document".to_owned(),
            )),
            None => Ok(picked),
        }
    };
    // The version mostly stands at the very beginning; a table that holds and finds it spares
    // looking for it first.
    let guess = likely_version(bytes).filter(|_| T::VERSIONED);
    let held = guess
        .and_then(|_| T::table(guess))
        .and_then(|table| holds(table).ok())
        .filter(|picked| picked.version == guess);
    let picked = match held {
        Some(picked) => picked,
        None => {
            let version = if T::VERSIONED {
                holds(&documents::VERSION_ONLY)?.version
            } else {
                None
            };
            let Some(table) = T::table(version) else {
                let version = version.map_or_else(|| "none".to_owned(), |v| v.to_string());
                return Err(fault(
                    Code::UnsupportedSchemaVersion,
                    None,
                    format!("schema_version {version}, which this wagg does not know"),
                ));
            };
            holds(table)?
        }
    };
    if let Some(document) = picked.complete().and_then(T::picked) {
        return Ok(document);
    }
    serde_json::from_slice(bytes).map_err(|e| {
        // The table let it pass, so only what serde adds can end here; the place is serde's.
        let before: usize = bytes
            .split_inclusive(|b| *b == b'\n')
            .take(e.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let at = (before + e.column().saturating_sub(1)) as u64;
        fault(Code::CorruptDocument, Some(at), e.to_string())
    })
}

/// The version that the first bytes seem to state; a guess.
fn likely_version(bytes: &[u8]) -> Option<u64> {
    let rest = bytes.strip_prefix(b"{")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"schema_version\":")?;
    let digits = rest.trim_ascii_start();
    match digits {
        [digit @ b'0'..=b'9', next, ..] if !next.is_ascii_digit() => Some(u64::from(digit - b'0')),
        _ => None,
    }
}

/// An id of a Worker: a number, or in version 3 a UUID. Read from the value as it stands: a number
/// of any length would pass through a map of digits otherwise.
#[derive(Debug, Clone)]
pub(super) enum Id {
    Number(u64),
    Text(String),
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(d)?.get();
        match raw.parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => serde_json::from_str(raw)
                .map(Self::Text)
                .map_err(serde::de::Error::custom),
        }
    }
}

impl Id {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Text(text) => Some(text),
        }
    }
}

/// A list that may be missing.
fn list<T>() -> Vec<T> {
    Vec::new()
}

/// `runtime.json`
#[derive(Debug, Clone, Deserialize)]
pub struct RuntimeDocument {
    /// As written.
    pub schema_version: u64,
    /// A name for people.
    #[serde(default)]
    pub display_name: Option<String>,
    /// `fs_store`; a Runtime refuses `memory` on a disk.
    pub backend: String,
    /// `running` or `stopped`, as last written.
    pub status: String,
    /// Version 1: the next Worker id to give out.
    #[serde(default)]
    pub next_worker_sequence: Option<u64>,
}

impl Document for RuntimeDocument {
    fn table(version: Option<u64>) -> Option<&'static Ty> {
        match CatalogVersion::from_number(version?) {
            CatalogVersion::V1 => Some(&documents::RUNTIME_V1),
            CatalogVersion::V3 => Some(&documents::RUNTIME_V3),
            CatalogVersion::Other(_) => None,
        }
    }
}

impl RuntimeDocument {
    /// Reads the bytes of the document.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        read(bytes)
    }

    /// The store's version.
    #[must_use]
    pub fn version(&self) -> CatalogVersion {
        CatalogVersion::from_number(self.schema_version)
    }
}

/// `worker.json`
#[derive(Debug, Clone, Deserialize)]
pub struct WorkerDocument {
    /// As written.
    pub schema_version: u64,
    worker_id: Id,
    worker_ref: WorkerRef,
    /// The last generation given out; 0 if none was.
    #[serde(default)]
    pub run_generation: u64,
    /// The workspace it belongs to.
    #[serde(default)]
    pub workspace_id: Option<String>,
    request: Request,
}

#[derive(Debug, Clone, Deserialize)]
struct WorkerRef {
    worker_id: Id,
}

#[derive(Debug, Clone, Deserialize)]
struct Request {
    #[serde(default)]
    display_name: Option<String>,
    profile: Profile,
    #[serde(default)]
    workspace_api: Option<WorkspaceApi>,
}

#[derive(Debug, Clone, Deserialize)]
struct Profile {
    value: String,
}

#[derive(Debug, Clone, Deserialize)]
struct WorkspaceApi {
    workspace_id: String,
}

impl Document for WorkerDocument {
    fn table(version: Option<u64>) -> Option<&'static Ty> {
        match CatalogVersion::from_number(version?) {
            CatalogVersion::V1 => Some(&documents::WORKER_V1),
            CatalogVersion::V3 => Some(&documents::WORKER_V3),
            CatalogVersion::Other(_) => None,
        }
    }

    fn picked(picked: Picked) -> Option<Self> {
        let workspace_api = picked
            .api_workspace_id
            .map(|workspace_id| WorkspaceApi { workspace_id });
        Some(Self {
            schema_version: picked.version?,
            worker_id: picked.worker_id?,
            worker_ref: WorkerRef {
                worker_id: picked.worker_ref?,
            },
            run_generation: picked.run_generation.unwrap_or_default(),
            workspace_id: picked.workspace_id,
            request: Request {
                display_name: picked.display_name,
                profile: Profile {
                    value: picked.profile?,
                },
                workspace_api,
            },
        })
    }
}

fn worker_id(id: &Id) -> Option<WorkerId> {
    match id {
        Id::Number(n) => Some(WorkerId::Number(*n)),
        // Version 3 takes any spelling of a UUID inside JSON, like all ids.
        Id::Text(s) => {
            let id = SessionId::parse_loose(s).ok()?.0.uuid();
            (id.get_version_num() == 7).then_some(WorkerId::Uuid(id))
        }
    }
}

impl WorkerDocument {
    /// Reads the bytes of the document.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        let this: Self = read(bytes)?;
        if this.worker_id().is_none() {
            return Err(DocumentFault {
                code: Code::CorruptDocument,
                line: None,
                byte: None,
                message: format!(
                    "worker_id {:?} is not of version 7",
                    this.worker_id.text().unwrap_or_default()
                ),
            });
        }
        Ok(this)
    }

    /// The id that the document states; none only for a UUID that is not of version 7.
    #[must_use]
    pub fn worker_id(&self) -> Option<WorkerId> {
        worker_id(&self.worker_id)
    }

    /// The id inside `worker_ref`.
    #[must_use]
    pub fn worker_ref(&self) -> Option<WorkerId> {
        worker_id(&self.worker_ref.worker_id)
    }

    /// An id of version 3 that is not in its one spelling, as written.
    #[must_use]
    pub fn noncanonical_id(&self) -> Option<String> {
        [&self.worker_id, &self.worker_ref.worker_id]
            .into_iter()
            .filter_map(|id| id.text())
            .find(|text| SessionId::from_str(text).is_err())
            .map(str::to_owned)
    }

    /// The display name.
    #[must_use]
    pub fn display_name(&self) -> Option<&str> {
        self.request.display_name.as_deref()
    }

    /// The profile's selector.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.request.profile.value
    }

    /// The workspace: its own field, else that of the request.
    #[must_use]
    pub fn workspace(&self) -> Option<&str> {
        self.workspace_id.as_deref().or_else(|| {
            self.request
                .workspace_api
                .as_ref()
                .map(|api| api.workspace_id.as_str())
        })
    }
}

/// The pointer that a restore starts from.
#[derive(Debug, Clone, Deserialize)]
pub struct Active {
    session_id: Spelt,
    #[serde(default)]
    segment_id: Option<Spelt>,
}

impl Active {
    /// The Session.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        Some(SessionId::from_uuid(self.session_id.id()))
    }

    /// The Segment; none if the Session is only reserved.
    #[must_use]
    pub fn segment(&self) -> Option<SegmentId> {
        let segment = self.segment_id.as_ref()?;
        Some(SegmentId::from_uuid(segment.id()))
    }

    /// The first id that is not in its one spelling.
    #[must_use]
    pub fn noncanonical_id(&self) -> Option<&str> {
        let segment = || self.segment_id.as_ref().and_then(Spelt::odd);
        self.session_id.odd().or_else(segment)
    }
}

/// A rule of delegated scope.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct ScopeRule {
    /// A path, never used as one.
    pub target: String,
    /// `read` or `write`, as written.
    pub permission: String,
    /// Whether what is below the path is meant too.
    pub recursive: bool,
}

/// A child that was spawned.
#[derive(Debug, Clone, Deserialize)]
pub struct Child {
    /// As written; may be unsafe.
    pub worker_name: String,
    /// A last-known hint, never opened.
    pub socket_path: String,
    /// What the child was given.
    pub scope_delegated: Vec<ScopeRule>,
}

/// A child whose scope was taken back.
#[derive(Debug, Clone, Deserialize)]
pub struct Reclaimed {
    /// As written; may be unsafe.
    pub worker_name: String,
    /// What was taken back.
    pub scope_delegated: Vec<ScopeRule>,
}

/// A Worker that this one may talk to; grants nothing.
#[derive(Debug, Clone, Deserialize)]
pub struct Peer {
    /// As written; may be unsafe.
    pub worker_name: String,
}

/// `metadata.json`
#[derive(Debug, Clone, Deserialize)]
pub struct MetadataDocument {
    /// As written; may be unsafe.
    pub worker_name: String,
    /// The active pointer.
    #[serde(default)]
    pub active: Option<Active>,
    /// Children that were spawned.
    #[serde(default = "list")]
    pub spawned_children: Vec<Child>,
    /// Children whose scope was taken back.
    #[serde(default = "list")]
    pub reclaimed_children: Vec<Reclaimed>,
    /// Peers.
    #[serde(default = "list")]
    pub peers: Vec<Peer>,
}

impl Document for MetadataDocument {
    fn table(_: Option<u64>) -> Option<&'static Ty> {
        Some(&documents::METADATA)
    }
    const VERSIONED: bool = false;

    fn picked(picked: Picked) -> Option<Self> {
        let segment_id = picked.segment_id;
        let active = picked.session_id.map(|session_id| Active {
            session_id,
            segment_id,
        });
        Some(Self {
            worker_name: picked.worker_name?,
            active,
            spawned_children: Vec::new(),
            reclaimed_children: Vec::new(),
            peers: Vec::new(),
        })
    }
}

impl MetadataDocument {
    /// Reads the bytes of the document.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        read(bytes)
    }
}

/// `session.json`
#[derive(Debug, Clone, Deserialize)]
pub struct SessionDocument {
    session_id: Spelt,
}

impl Document for SessionDocument {
    fn table(version: Option<u64>) -> Option<&'static Ty> {
        (version == Some(SESSION_SCHEMA)).then_some(&documents::SESSION)
    }

    fn picked(picked: Picked) -> Option<Self> {
        let session_id = picked.session_id?;
        Some(Self { session_id })
    }
}

impl SessionDocument {
    /// Reads the bytes of the document.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        read(bytes)
    }

    /// The Session's id.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        Some(SessionId::from_uuid(self.session_id.id()))
    }

    /// The id as written, if that is not its one spelling.
    #[must_use]
    pub fn noncanonical_id(&self) -> Option<&str> {
        self.session_id.odd()
    }
}

/// A Worker's checkpoint in the migration's manifest.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
pub struct Checkpoint {
    /// The Worker's name.
    pub worker_name: String,
    /// The Session that was moved, if one was.
    #[serde(default)]
    pub session_id: Option<SessionId>,
    /// `migrated`, `no_legacy_metadata`, `shared_session_collision`, `pending`; free text for a reader.
    pub state: String,
}

/// What the migration left where it was.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
pub struct MigrationDiagnostic {
    /// `orphan_worker_metadata`, `orphan_session` or `shared_session_reference`.
    pub kind: String,
    /// The absolute path of the legacy folder, as written; never opened for that.
    pub source: String,
    /// A sentence for a person.
    pub message: String,
}

/// `migrations/worker-aggregate-v1.json`
#[derive(Debug, Clone, Deserialize)]
pub struct ManifestDocument {
    /// No Worker is left.
    pub complete: bool,
    /// By Worker id, as written.
    pub workers: std::collections::BTreeMap<String, Checkpoint>,
    /// Made anew on every run.
    #[serde(default = "list")]
    pub diagnostics: Vec<MigrationDiagnostic>,
}

impl Document for ManifestDocument {
    fn table(version: Option<u64>) -> Option<&'static Ty> {
        (version == Some(MANIFEST_SCHEMA)).then_some(&documents::MANIFEST)
    }
}

/// The same, looked at and not kept.
#[derive(Deserialize)]
struct ManifestPassed {
    #[serde(rename = "complete")]
    _complete: bool,
    #[serde(rename = "workers")]
    _workers: CheckpointsPassed,
    #[serde(rename = "diagnostics", default = "list")]
    _diagnostics: Vec<MigrationDiagnostic>,
}

impl Document for ManifestPassed {
    fn table(version: Option<u64>) -> Option<&'static Ty> {
        ManifestDocument::table(version)
    }
}

struct CheckpointsPassed;

impl<'de> Deserialize<'de> for CheckpointsPassed {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> serde::de::Visitor<'de> for Each {
            type Value = CheckpointsPassed;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                while map.next_entry::<String, Checkpoint>()?.is_some() {}
                Ok(CheckpointsPassed)
            }
        }
        d.deserialize_map(Each)
    }
}

impl ManifestDocument {
    /// Checks the bytes of the document as [`ManifestDocument::read`] does, and keeps nothing: it
    /// has an entry for each Worker.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn check(bytes: &[u8]) -> Result<(), DocumentFault> {
        read::<ManifestPassed>(bytes).map(drop)
    }

    /// Reads the bytes of the document.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        read(bytes)
    }
}

/// Checks a receipt of retention (version 3).
///
/// # Errors
/// What is wrong with it, and where.
pub fn check_retention_receipt(bytes: &[u8]) -> Result<(), DocumentFault> {
    #[derive(Deserialize)]
    struct Receipt {}
    impl Document for Receipt {
        fn table(version: Option<u64>) -> Option<&'static Ty> {
            (version == Some(1)).then_some(&documents::RETENTION_RECEIPT)
        }
    }
    read::<Receipt>(bytes).map(|_| ())
}

/// Checks the request of a new Worker, as it stands in `worker.json` of version 1.
///
/// # Errors
/// What is wrong with it, and where.
pub fn check_request(bytes: &[u8]) -> Result<(), DocumentFault> {
    #[derive(Deserialize)]
    struct Request {}
    impl Document for Request {
        fn table(_: Option<u64>) -> Option<&'static Ty> {
            static REQUEST: Ty = Ty::Object(&documents::REQUEST);
            Some(&REQUEST)
        }
        const VERSIONED: bool = false;
    }
    read::<Request>(bytes).map(|_| ())
}

/// Checks that bytes are one JSON object, whatever it holds.
///
/// # Errors
/// What is wrong with it, and where.
pub fn check_object(bytes: &[u8]) -> Result<(), DocumentFault> {
    #[derive(Deserialize)]
    struct AnyObject {}
    impl Document for AnyObject {
        fn table(_: Option<u64>) -> Option<&'static Ty> {
            static ANY: Ty = Ty::Map(&Ty::Any);
            Some(&ANY)
        }
        const VERSIONED: bool = false;
    }
    read::<AnyObject>(bytes).map(|_| ())
}
