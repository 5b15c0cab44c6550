//! HOW: how a store's files are reached, read and changed. `README.md` in this folder tells the
//! format of `.wagg/`, the locks and what survives a crash.

mod document;
pub mod fs;
mod holder;
pub mod journal;
mod lock;
#[cfg(test)]
mod lock_tests;
mod probe;
mod quarantine;
#[cfg(test)]
mod quarantine_tests;
mod root;
mod worker;

pub use document::{Document, read_bytes, read_document, read_whole};
pub use fs::{Dir, Entry, EntryKind, FileStat, WriteDir, wrong_kind};
pub use holder::{Held, Holder, LockState, host, lives, lock_states};
pub use lock::{
    Guard, LockRequest, Locks, ReadLock, StoreGuard, Waiting, WorkerGuard, lock_for_reading,
};
pub use probe::{Answer, probe};
pub use quarantine::{
    Item, Quarantine, What, empty_quarantine, empty_quarantine_via, quarantined, quarantined_bytes,
    quarantined_file, quarantined_items,
};
pub use root::{Store, Wanted};
pub use worker::{
    Folder, RunsFolder, SegmentsFolder, SessionFolder, WorkerFolder, WorkerState, read_folder,
};
