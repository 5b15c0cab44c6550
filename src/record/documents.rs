//! The shapes of the documents of a store, as tables, by version.

use super::shape::{Field, Presence, Shape, Slot, Ty};
use Presence::{Default as Dflt, Nullable, Optional, Required};

const fn req(name: &'static str, ty: Ty) -> Field {
    Field {
        name,
        ty,
        presence: Required,
        slot: Slot::None,
    }
}
const fn version() -> Field {
    Field {
        slot: Slot::SchemaVersion,
        ..req("schema_version", Ty::U32)
    }
}
const fn shown(slot: Slot, field: Field) -> Field {
    Field { slot, ..field }
}
const fn opt(name: &'static str, ty: Ty) -> Field {
    Field {
        name,
        ty,
        presence: Optional,
        slot: Slot::None,
    }
}
const fn dflt(name: &'static str, ty: Ty) -> Field {
    Field {
        name,
        ty,
        presence: Dflt,
        slot: Slot::None,
    }
}
const fn nullable(name: &'static str, ty: Ty) -> Field {
    Field {
        name,
        ty,
        presence: Nullable,
        slot: Slot::None,
    }
}

macro_rules! shape {
    ($vis:vis $name:ident, $words:literal, [$($field:expr),* $(,)?]) => {
        $vis static $name: Shape = Shape::new($words, &[$($field),*]);
    };
}

/// What every document of a known kind has; read before its version is known.
pub(crate) static VERSION_ONLY: Ty = Ty::Object(&VERSION_SHAPE);
shape!(VERSION_SHAPE, "a document with a version", [version()]);

// ---------------------------------------------------------------- runtime.json

static BACKENDS: &[&str] = &["fs_store", "memory"];
static STATUSES: &[&str] = &["running", "stopped"];
static SEVERITIES: &[&str] = &["info", "warning", "error"];
static DECLARATIONS: &[&str] = &[
    "secret_ref",
    "mount_grant",
    "network_policy",
    "shell_policy",
    "git_policy",
    "capability_grant",
    "unsupported",
];

shape!(
    DIAGNOSTIC_REF,
    "a Worker reference",
    [req("worker_id", Ty::StrOrU64)]
);
shape!(
    DIAGNOSTIC,
    "a diagnostic",
    [
        req("id", Ty::U64),
        req("severity", Ty::Enum(SEVERITIES)),
        req("code", Ty::Str),
        req("message", Ty::Str),
        opt("worker_ref", Ty::Object(&DIAGNOSTIC_REF)),
    ]
);
static DIAGNOSTICS: Ty = Ty::Object(&DIAGNOSTIC);
shape!(
    BUNDLE_PROVENANCE,
    "a provenance",
    [req("source", Ty::Str), opt("detail", Ty::Str)]
);
shape!(
    BUNDLE_METADATA,
    "a bundle's metadata",
    [
        req("id", Ty::Str),
        req("digest", Ty::Str),
        req("revision", Ty::Str),
        req("workspace_id", Ty::Str),
        req("created_at", Ty::Str),
        req("provenance", Ty::Object(&BUNDLE_PROVENANCE)),
    ]
);
shape!(
    BUNDLE_PROFILE,
    "a profile",
    [req("selector", Ty::Object(&PROFILE)), opt("label", Ty::Str)]
);
static BUNDLE_PROFILES: Ty = Ty::Object(&BUNDLE_PROFILE);
shape!(
    BUNDLE_DECLARATION,
    "a declaration",
    [
        req("kind", Ty::Enum(DECLARATIONS)),
        req("name", Ty::Str),
        req("reference", Ty::Any),
    ]
);
static BUNDLE_DECLARATIONS: Ty = Ty::Object(&BUNDLE_DECLARATION);
shape!(
    BUNDLE,
    "a config bundle",
    [
        req("metadata", Ty::Object(&BUNDLE_METADATA)),
        dflt("profiles", Ty::Array(&BUNDLE_PROFILES)),
        dflt("declarations", Ty::Array(&BUNDLE_DECLARATIONS)),
        opt("profile_source_archive", Ty::Object(&ARCHIVE)),
        opt("profile_source_archive_handle", Ty::Any),
    ]
);
static BUNDLES: Ty = Ty::Object(&BUNDLE);
static STR: Ty = Ty::Str;

/// `runtime.json` of version 1.
pub(crate) static RUNTIME_V1: Ty = Ty::Object(&RUNTIME_SHAPE);
shape!(
    RUNTIME_SHAPE,
    "runtime.json",
    [
        version(),
        opt("display_name", Ty::Str),
        req("backend", Ty::Enum(BACKENDS)),
        req("status", Ty::Enum(STATUSES)),
        req("next_worker_sequence", Ty::U64),
        req("next_diagnostic_id", Ty::U64),
        dflt("config_bundles", Ty::Map(&BUNDLES)),
        dflt("workspace_owners", Ty::Map(&STR)),
        req("diagnostics", Ty::Array(&DIAGNOSTICS)),
    ]
);
/// `runtime.json` of version 3: no sequence.
pub(crate) static RUNTIME_V3: Ty = Ty::Object(&RUNTIME_V3_SHAPE);
shape!(
    RUNTIME_V3_SHAPE,
    "runtime.json",
    [
        version(),
        opt("display_name", Ty::Str),
        req("backend", Ty::Enum(BACKENDS)),
        req("status", Ty::Enum(STATUSES)),
        req("next_diagnostic_id", Ty::U64),
        dflt("config_bundles", Ty::Map(&BUNDLES)),
        dflt("workspace_owners", Ty::Map(&STR)),
        req("diagnostics", Ty::Array(&DIAGNOSTICS)),
    ]
);

// ---------------------------------------------------------------- worker.json

static PROFILE_KINDS: &[&str] = &["builtin", "named"];
static SOURCE_KINDS: &[&str] = &["http", "embedded"];
static INPUT_KINDS: &[&str] = &[
    "user",
    "notify",
    "compact",
    "list_rewind_targets",
    "register_peer",
];
static MATERIALIZERS: &[&str] = &["local_git_worktree"];
static DIRECTORY_STATUSES: &[&str] = &[
    "active",
    "cleanup_pending",
    "corrupted",
    "not_found",
    "unknown",
];

shape!(
    PROFILE,
    "a profile selector",
    [
        req("kind", Ty::Enum(PROFILE_KINDS)),
        shown(Slot::Profile, req("value", Ty::Str)),
    ]
);
shape!(
    SOURCE_GRAPH,
    "a source graph",
    [
        req("source_count", Ty::U64),
        req("total_source_bytes", Ty::U64),
        req("entrypoints", Ty::Map(&STR)),
        req("import_count", Ty::U64),
    ]
);
shape!(
    ARCHIVE_REF,
    "an archive reference",
    [
        req("id", Ty::Str),
        req("digest", Ty::Str),
        req("size_bytes", Ty::U64),
        req("source_graph", Ty::Object(&SOURCE_GRAPH)),
    ]
);
static BYTE: Ty = Ty::U32;
shape!(
    ARCHIVE,
    "an embedded archive",
    [
        req("reference", Ty::Object(&ARCHIVE_REF)),
        req("content", Ty::Array(&BYTE)),
    ]
);
shape!(
    HTTP_LOCATION,
    "an http location",
    [
        req("url", Ty::Str),
        opt("etag", Ty::Str),
        req("archive", Ty::Object(&ARCHIVE_REF)),
    ]
);
shape!(
    PROFILE_SOURCE,
    "a profile source",
    [
        req("kind", Ty::Enum(SOURCE_KINDS)),
        opt("location", Ty::Object(&HTTP_LOCATION)),
        opt("archive", Ty::Object(&ARCHIVE)),
    ]
);
shape!(
    BUNDLE_REF,
    "a bundle reference",
    [req("id", Ty::Str), req("digest", Ty::Str)]
);
static INPUT_PART: Ty = Ty::Tagged(&super::schema::INPUT_PART);
shape!(
    INITIAL_INPUT,
    "an initial input",
    [
        req("kind", Ty::Enum(INPUT_KINDS)),
        req("content", Ty::Str),
        opt("segments", Ty::Array(&INPUT_PART)),
    ]
);
shape!(
    REPOSITORY,
    "a repository",
    [
        req("id", Ty::Str),
        req("provider", Ty::Str),
        req("uri", Ty::Str),
        opt("local_path", Ty::Str),
        opt("selector", Ty::Str),
    ]
);
shape!(
    DIRECTORY_REQUEST,
    "a working directory request",
    [
        req("repository", Ty::Object(&REPOSITORY)),
        dflt("materializer", Ty::Enum(MATERIALIZERS)),
        opt("backend_workdir_id", Ty::Str),
    ]
);
shape!(
    DIRECTORY_REF,
    "a working directory reference",
    [
        req("working_directory_id", Ty::Str),
        opt("relative_cwd", Ty::Str),
    ]
);
shape!(
    GRANT,
    "an observation grant",
    [req("runtime_id", Ty::Str), req("worker_id", Ty::Str)]
);
static GRANTS: Ty = Ty::Object(&GRANT);
shape!(
    WORKSPACE_API,
    "a workspace api",
    [
        shown(Slot::ApiWorkspaceId, req("workspace_id", Ty::Str)),
        req("base_url", Ty::Str),
        opt("runtime_id", Ty::Str),
    ]
);
shape!(pub(crate) REQUEST, "a request", [
    opt("idempotency_key", Ty::Str),
    opt("idempotency_fingerprint", Ty::Str),
    req("profile", Ty::Object(&PROFILE)),
    shown(Slot::DisplayName, opt("display_name", Ty::Str)),
    req("profile_source", Ty::Object(&PROFILE_SOURCE)),
    opt("config_bundle", Ty::Object(&BUNDLE_REF)),
    opt("initial_input", Ty::Object(&INITIAL_INPUT)),
    opt("working_directory_request", Ty::Object(&DIRECTORY_REQUEST)),
    opt("working_directory", Ty::Object(&DIRECTORY_REF)),
    dflt("worker_observation_enabled", Ty::Bool),
    dflt("worker_observation_grants", Ty::Array(&GRANTS)),
    opt("workspace_api", Ty::Object(&WORKSPACE_API)),
]);
shape!(
    REQUEST_V3,
    "a request",
    [
        req("worker_id", Ty::Str),
        req("create_fingerprint", Ty::Str),
        req("profile", Ty::Object(&PROFILE)),
        shown(Slot::DisplayName, opt("display_name", Ty::Str)),
        req("profile_source", Ty::Object(&PROFILE_SOURCE)),
        opt("config_bundle", Ty::Object(&BUNDLE_REF)),
        opt("initial_input", Ty::Object(&INITIAL_INPUT)),
        opt("working_directory_request", Ty::Object(&DIRECTORY_REQUEST)),
        opt("working_directory", Ty::Object(&DIRECTORY_REF)),
        dflt("worker_observation_enabled", Ty::Bool),
        dflt("worker_observation_grants", Ty::Array(&GRANTS)),
        opt("workspace_api", Ty::Object(&WORKSPACE_API)),
        opt("memory_settings", Ty::Any),
    ]
);
shape!(
    CLEANUP_TARGET,
    "a cleanup target",
    [
        req("kind", Ty::Str),
        req("working_directory_id", Ty::Str),
        req("repository_id", Ty::Str),
    ]
);
shape!(
    OCCUPIED_BY,
    "an occupant",
    [
        req("runtime_id", Ty::Str),
        req("worker_id", Ty::StrOrU64),
        opt("display_name", Ty::Str),
        opt("linked_at", Ty::Str),
    ]
);
shape!(
    DIRECTORY_SUMMARY,
    "a working directory's summary",
    [
        req("working_directory_id", Ty::Str),
        req("repository_id", Ty::Str),
        req("materializer_kind", Ty::Enum(MATERIALIZERS)),
        req("status", Ty::Enum(DIRECTORY_STATUSES)),
        opt("creation_selector", Ty::Str),
        opt("creation_ref", Ty::Str),
        opt("current_selector", Ty::Str),
        opt("current_ref", Ty::Str),
        opt("cleanliness", Ty::Str),
        opt("cleanup_target", Ty::Object(&CLEANUP_TARGET)),
        opt("primary_worker_id", Ty::StrOrU64),
        opt("occupied_by", Ty::Object(&OCCUPIED_BY)),
    ]
);
shape!(
    DIRECTORY,
    "a working directory",
    [req("summary", Ty::Object(&DIRECTORY_SUMMARY))]
);
shape!(
    EXECUTION,
    "an execution",
    [opt("working_directory", Ty::Object(&DIRECTORY))]
);
shape!(
    WORKER_REF_V1,
    "a Worker reference",
    [shown(Slot::WorkerRef, req("worker_id", Ty::U64))]
);
shape!(
    WORKER_REF_V3,
    "a Worker reference",
    [shown(Slot::WorkerRef, req("worker_id", Ty::Id))]
);

/// `worker.json` of version 1.
pub(crate) static WORKER_V1: Ty = Ty::Object(&WORKER_V1_SHAPE);
shape!(
    WORKER_V1_SHAPE,
    "worker.json",
    [
        version(),
        req("worker_ref", Ty::Object(&WORKER_REF_V1)),
        shown(Slot::WorkerId, req("worker_id", Ty::U64)),
        req("request", Ty::Object(&REQUEST)),
        shown(Slot::RunGeneration, dflt("run_generation", Ty::U64)),
        shown(Slot::WorkspaceId, opt("workspace_id", Ty::Str)),
        opt("working_directory", Ty::Object(&DIRECTORY)),
        opt("execution", Ty::Object(&EXECUTION)),
    ]
);
/// `worker.json` of version 3.
pub(crate) static WORKER_V3: Ty = Ty::Object(&WORKER_V3_SHAPE);
shape!(
    WORKER_V3_SHAPE,
    "worker.json",
    [
        version(),
        req("worker_ref", Ty::Object(&WORKER_REF_V3)),
        shown(Slot::WorkerId, req("worker_id", Ty::Id)),
        req("request", Ty::Object(&REQUEST_V3)),
        shown(Slot::RunGeneration, dflt("run_generation", Ty::U64)),
        shown(Slot::WorkspaceId, opt("workspace_id", Ty::Str)),
        opt("working_directory", Ty::Object(&DIRECTORY)),
        opt("execution", Ty::Object(&EXECUTION)),
    ]
);

// ---------------------------------------------------------------- metadata.json

shape!(
    SCOPE_RULE,
    "a scope rule",
    [
        req("target", Ty::Str),
        req("permission", Ty::Str),
        req("recursive", Ty::Bool),
    ]
);
static SCOPE_RULES: Ty = Ty::Object(&SCOPE_RULE);
shape!(
    CHILD,
    "a child",
    [
        req("worker_name", Ty::Str),
        req("socket_path", Ty::Str),
        req("scope_delegated", Ty::Array(&SCOPE_RULES)),
        req("callback_address", Ty::Str),
    ]
);
static CHILDREN: Ty = Ty::Object(&CHILD);
shape!(
    RECLAIMED,
    "a reclaimed child",
    [
        req("worker_name", Ty::Str),
        req("scope_delegated", Ty::Array(&SCOPE_RULES)),
    ]
);
static RECLAIMED_CHILDREN: Ty = Ty::Object(&RECLAIMED);
shape!(PEER, "a peer", [req("worker_name", Ty::Str)]);
static PEERS: Ty = Ty::Object(&PEER);
shape!(
    ACTIVE,
    "an active pointer",
    [
        shown(Slot::DocumentSession, req("session_id", Ty::Id)),
        shown(Slot::ActiveSegment, opt("segment_id", Ty::Id)),
    ]
);

/// `metadata.json`.
pub(crate) static METADATA: Ty = Ty::Object(&METADATA_SHAPE);
shape!(
    METADATA_SHAPE,
    "metadata.json",
    [
        shown(Slot::WorkerName, req("worker_name", Ty::Str)),
        opt("active", Ty::Object(&ACTIVE)),
        opt("workspace_root", Ty::Str),
        opt("workspace_id", Ty::Str),
        shown(Slot::Entry, dflt("spawned_children", Ty::Array(&CHILDREN))),
        shown(
            Slot::Entry,
            dflt("reclaimed_children", Ty::Array(&RECLAIMED_CHILDREN))
        ),
        shown(Slot::Entry, dflt("peers", Ty::Array(&PEERS))),
        opt("resolved_manifest_snapshot", Ty::Any),
    ]
);

// ---------------------------------------------------------------- session.json, the manifest

/// `session.json`.
pub(crate) static SESSION: Ty = Ty::Object(&SESSION_SHAPE);
shape!(
    SESSION_SHAPE,
    "session.json",
    [
        version(),
        shown(Slot::DocumentSession, req("session_id", Ty::Id)),
    ]
);

shape!(
    CHECKPOINT,
    "a checkpoint",
    [
        req("worker_name", Ty::Str),
        opt("session_id", Ty::Id),
        req("state", Ty::Str),
    ]
);
static CHECKPOINTS: Ty = Ty::Object(&CHECKPOINT);
shape!(
    MIGRATION_DIAGNOSTIC,
    "a diagnostic",
    [
        req("kind", Ty::Str),
        req("source", Ty::Str),
        req("message", Ty::Str),
    ]
);
static MIGRATION_DIAGNOSTICS: Ty = Ty::Object(&MIGRATION_DIAGNOSTIC);
/// `migrations/worker-aggregate-v1.json`.
pub(crate) static MANIFEST: Ty = Ty::Object(&MANIFEST_SHAPE);
shape!(
    MANIFEST_SHAPE,
    "the migration's manifest",
    [
        version(),
        req("complete", Ty::Bool),
        req("workers", Ty::Map(&CHECKPOINTS)),
        dflt("diagnostics", Ty::Array(&MIGRATION_DIAGNOSTICS)),
    ]
);

/// A receipt of retention, version 3.
pub(crate) static RETENTION_RECEIPT: Ty = Ty::Object(&RETENTION_RECEIPT_SHAPE);
shape!(
    RETENTION_RECEIPT_SHAPE,
    "a retention receipt",
    [
        version(),
        req("request", Ty::Any),
        nullable("result", Ty::Any),
    ]
);
