//! Files and folders below one root: reading, and writing in the ways that survive a crash.

mod append;
mod atomic;
mod beside;
mod change;
mod dir;
mod entry;
mod failure;
pub mod fault;
mod place;
#[cfg(any(test, debug_assertions))]
mod power;
mod staged;
#[cfg(test)]
mod tests;

pub use append::{Appender, TornTail, append, committed_len};
pub use atomic::{KeptFile, TempFile, create_new_via, replace, replace_via};
pub use beside::beside;
pub use change::{OutFile, WriteDir};
pub use dir::{Dir, stat_of};
pub use entry::{Entry, EntryKind, FileStat, WrongKind, wrong_kind};
pub use failure::{exists, failed, no_handles, not_a, not_opened, unknown};
pub use place::{
    clear_leftover, ensure_dir_via, ensure_dirs, make_durable, move_aside, remove, remove_empty,
    session_staging_name, sync_dir, temp_name,
};
#[cfg(any(test, debug_assertions))]
pub use power::Loss;
pub use staged::{KeptDir, StagedDir, SyncFs, Synced};
