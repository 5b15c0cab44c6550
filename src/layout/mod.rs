//! WHERE: the ids, names and paths of a store. Pure text and arithmetic, no I/O.
//!
//! Every path that `wagg` reads or writes is made here and nowhere else, so that a name is
//! spelt once and an id from a document can not reach a path before it parsed as its type.

mod ids;
mod names;
mod paths;
mod version;

pub(crate) use ids::uuid_on_disk;
pub use ids::{
    Generation, IdError, IdKind, OperationId, SegmentId, SessionId, WorkerId, WorkerName,
    WorkerNameError,
};
pub use names::{Leftover, RunEntry, SegmentEntry, classify_run, classify_segment, leftover};
pub use paths::{LegacyMetadata, LegacySessions, Paths, file};
pub use version::{CatalogVersion, MANIFEST_SCHEMA, SESSION_SCHEMA};
