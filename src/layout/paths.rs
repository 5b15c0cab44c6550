//! Every path of a store, of the legacy roots and of `.wagg/`, relative to its root.
//!
//! A path is a [`RelPath`](std::path::PathBuf) below one root; nothing here touches a disk.
//!
//! ```text
//! runtime.json                                   the catalog document
//! workers/<worker_id>/worker.json                who this Worker is
//! workers/<worker_id>/metadata.json              the active pointer, children, peers
//! workers/<worker_id>/session/session.json       the Session's id
//! workers/<worker_id>/session/segments/<id>.jsonl, <id>.trace.jsonl
//! workers/<worker_id>/runs/<generation>/         worker.sock, logs, artifacts/, spawned/
//! migrations/worker-aggregate-v1.json            the migration's manifest
//! .wagg/                                         ours: locks, journal, staging, quarantine
//! ```

use std::path::PathBuf;

use super::ids::{Generation, SegmentId, SessionId, WorkerId, WorkerName};

/// The names that files and folders of a store have.
pub mod file {
    /// The catalog document, and what marks a folder as a store.
    pub const RUNTIME: &str = "runtime.json";
    /// The folder of the Workers.
    pub const WORKERS: &str = "workers";
    /// A Worker's identity.
    pub const WORKER: &str = "worker.json";
    /// A Worker's metadata.
    pub const METADATA: &str = "metadata.json";
    /// The folder of a Worker's Session.
    pub const SESSION_DIR: &str = "session";
    /// A Session's identity.
    pub const SESSION: &str = "session.json";
    /// The folder of a Session's Segments.
    pub const SEGMENTS: &str = "segments";
    /// The folder of a Worker's runs.
    pub const RUNS: &str = "runs";
    /// A run's socket.
    pub const SOCKET: &str = "worker.sock";
    /// A run's standard output.
    pub const OUT_LOG: &str = "worker.out.log";
    /// A run's standard error.
    pub const ERR_LOG: &str = "worker.err.log";
    /// What a run made.
    pub const ARTIFACTS: &str = "artifacts";
    /// What a run spawned.
    pub const SPAWNED: &str = "spawned";
    /// Output of a run's shell commands, made by the Runtime.
    pub const BASH_OUTPUT: &str = "bash-output";
    /// The folder of the migrations' manifests.
    pub const MIGRATIONS: &str = "migrations";
    /// The manifest of the migration to one folder a Worker.
    pub const MANIFEST: &str = "worker-aggregate-v1.json";
    /// The reference Runtime's own migration lock; stays empty.
    pub const MIGRATION_LOCK: &str = ".worker-aggregate-v1.lock";
    /// The folder of the oldest layout, one folder a runtime.
    pub const RUNTIMES: &str = "runtimes";
    /// Version 3: what retention put away.
    pub const ARCHIVES: &str = "archives";
    /// Version 3: receipts of retention.
    pub const RETENTION: &str = "retention";
    /// Version 3: the lock of retention.
    pub const RETENTION_LOCK: &str = ".worker-retention.lock";
    /// Our own folder.
    pub const WAGG: &str = ".wagg";
    /// Our journal, in our own folder.
    pub const JOURNAL: &str = "journal.jsonl";
}

/// Paths of a store, relative to its root.
#[derive(Debug, Clone, Copy)]
pub struct Paths;

impl Paths {
    /// `runtime.json`
    #[must_use]
    pub fn runtime() -> PathBuf {
        PathBuf::from(file::RUNTIME)
    }

    /// `workers`
    #[must_use]
    pub fn workers() -> PathBuf {
        PathBuf::from(file::WORKERS)
    }

    /// `workers/<id>`
    #[must_use]
    pub fn worker(id: WorkerId) -> PathBuf {
        Self::workers().join(id.to_string())
    }

    /// `workers/<id>/worker.json`
    #[must_use]
    pub fn worker_document(id: WorkerId) -> PathBuf {
        Self::worker(id).join(file::WORKER)
    }

    /// `workers/<id>/metadata.json`
    #[must_use]
    pub fn metadata(id: WorkerId) -> PathBuf {
        Self::worker(id).join(file::METADATA)
    }

    /// `workers/<id>/session`
    #[must_use]
    pub fn session_dir(id: WorkerId) -> PathBuf {
        Self::worker(id).join(file::SESSION_DIR)
    }

    /// `workers/<id>/session/session.json`
    #[must_use]
    pub fn session_document(id: WorkerId) -> PathBuf {
        Self::session_dir(id).join(file::SESSION)
    }

    /// `workers/<id>/session/segments`
    #[must_use]
    pub fn segments(id: WorkerId) -> PathBuf {
        Self::session_dir(id).join(file::SEGMENTS)
    }

    /// `workers/<id>/session/segments/<segment>.jsonl`
    #[must_use]
    pub fn segment(id: WorkerId, segment: SegmentId) -> PathBuf {
        Self::segments(id).join(Self::segment_name(segment))
    }

    /// `workers/<id>/session/segments/<segment>.trace.jsonl`
    #[must_use]
    pub fn trace(id: WorkerId, segment: SegmentId) -> PathBuf {
        Self::segments(id).join(Self::trace_name(segment))
    }

    /// `workers/<id>/runs`
    #[must_use]
    pub fn runs(id: WorkerId) -> PathBuf {
        Self::worker(id).join(file::RUNS)
    }

    /// `workers/<id>/runs/<generation>`
    #[must_use]
    pub fn run(id: WorkerId, generation: Generation) -> PathBuf {
        Self::runs(id).join(generation.to_string())
    }

    /// `workers/<id>/runs/<generation>/worker.sock`
    #[must_use]
    pub fn socket(id: WorkerId, generation: Generation) -> PathBuf {
        Self::run(id, generation).join(file::SOCKET)
    }

    /// `migrations/worker-aggregate-v1.json`
    #[must_use]
    pub fn manifest() -> PathBuf {
        PathBuf::from(file::MIGRATIONS).join(file::MANIFEST)
    }

    /// `.wagg`
    #[must_use]
    pub fn wagg() -> PathBuf {
        PathBuf::from(file::WAGG)
    }

    /// `.wagg/journal.jsonl`
    #[must_use]
    pub fn journal() -> PathBuf {
        Self::wagg().join(file::JOURNAL)
    }

    /// `.wagg/store.lock`
    #[must_use]
    pub fn store_lock() -> PathBuf {
        Self::wagg().join("store.lock")
    }

    /// `.wagg/journal.lock`
    #[must_use]
    pub fn journal_lock() -> PathBuf {
        Self::wagg().join("journal.lock")
    }

    /// `.wagg/workers/<id>.lock`
    #[must_use]
    pub fn worker_lock(id: WorkerId) -> PathBuf {
        Self::wagg().join("workers").join(format!("{id}.lock"))
    }

    /// `.wagg/staging`
    #[must_use]
    pub fn staging() -> PathBuf {
        Self::wagg().join("staging")
    }

    /// `.wagg/quarantine`
    #[must_use]
    pub fn quarantine() -> PathBuf {
        Self::wagg().join("quarantine")
    }

    /// `<segment>.jsonl`
    #[must_use]
    pub fn segment_name(segment: SegmentId) -> String {
        format!("{segment}.jsonl")
    }

    /// `<segment>.trace.jsonl`
    #[must_use]
    pub fn trace_name(segment: SegmentId) -> String {
        format!("{segment}.trace.jsonl")
    }
}

/// Paths below a legacy Session root.
#[derive(Debug, Clone, Copy)]
pub struct LegacySessions;

impl LegacySessions {
    /// `<session>`
    #[must_use]
    pub fn session(session: SessionId) -> PathBuf {
        PathBuf::from(session.to_string())
    }
}

/// Paths below a legacy metadata root.
#[derive(Debug, Clone, Copy)]
pub struct LegacyMetadata;

impl LegacyMetadata {
    /// `<worker name>/metadata.json`
    #[must_use]
    pub fn document(name: &WorkerName) -> PathBuf {
        PathBuf::from(name.as_str()).join(file::METADATA)
    }
}
