//! `migrate`: an old store moved into one folder a Worker (`worker-aggregate-v1`), killable
//! anywhere, never overwriting.
//!
//! The legacy roots are only ever read. Ownership is judged over all of them before the first
//! Worker is touched ([`plan`](self::plan)); the plan is one value, which a dry run prints and a
//! run carries out. A Worker's commit point is the rename of its staged Session. Progress is the
//! reference's manifest; what it has no place for stands in `.wagg/migrations/`. The whole run is
//! one operation of the catalog in the journal. A process that dies leaves staging folders that
//! its intent names, and the next change of the catalog clears them; what was in place stays, and
//! a rerun finds it, compares it and goes on.

mod act;
mod carry;
mod catalog;
mod checkpoints;
mod compare;
mod copy;
#[cfg(test)]
mod crash_tests;
mod diagnostics;
mod each;
mod examine;
mod facts;
mod gone;
mod judge;
mod layout_up;
mod manifest;
mod noted;
mod packed;
mod pipe;
mod plan;
mod report;
mod run;
mod sources;
mod stage;
mod staging;
mod target;

use std::num::NonZeroUsize;
use std::path::PathBuf;

pub use facts::{CopiedFile, Glance, Known, LeftWorker, Moved, Noted, NotedFile};
pub use layout_up::Home;
pub use packed::MovedWorkers;
pub use report::{Did, Report, RootReport, Sum, Summary, Why, WorkerReport};
pub use run::{Done, migrate};
pub use sources::{Sources, apart};

use crate::ops::legacy::Roots;

/// The command, as it stands in the journal.
pub(crate) const COMMAND: &str = "migrate";

/// What to migrate, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The legacy roots.
    pub roots: Roots,
    /// Stop at the first Worker that can not be moved, as the reference does.
    pub fail_fast: bool,
    /// Compare every byte of what former runs moved.
    pub deep: bool,
    /// Threads.
    pub jobs: NonZeroUsize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            roots: Roots {
                sessions: PathBuf::new(),
                metadata: PathBuf::new(),
            },
            fail_fast: false,
            deep: false,
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }
}
