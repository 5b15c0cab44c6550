//! WHAT: bytes to values. The scanner of Segments and traces, the shapes of records and documents,
//! and the replay.
//!
//! Nothing here opens a file: callers bring a [`Source`].

pub mod diagnose;
pub mod document;
mod documents;
pub mod edit;
pub mod facts;
pub mod fold;
#[cfg(test)]
mod format_tests;
mod helped;
pub mod item;
pub mod json;
mod marks;
pub mod mend;
pub(crate) mod pack;
mod picked;
pub mod preview;
pub mod replay;
pub mod scan;
pub mod schema;
pub mod shape;
mod source;
pub mod step;
pub(crate) mod threads;
mod view;
pub mod write;

pub use edit::{Edit, Edited, Rope};
pub use facts::{Facts, ItemFact, Origin, Role};
pub use fold::{Fold, MAX_CARRY, Outline, Remark, Start};
pub use helped::Spare;
pub use item::{ItemDigest, Said};
pub use json::Fault;
pub use replay::{Replay, ReplayError, Until};
pub use scan::{Format, Limits, Line, Resume, Scanned, Scanner, Tail, Verdict};
pub use schema::{ItemKind, RecordKind};
pub use source::Source;
pub use step::{Step, Usage};
