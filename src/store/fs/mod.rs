//! Files and folders below one root: reading here, and writing in the ways that survive a crash.

mod dir;
mod entry;

pub use dir::{Dir, stat_of};
pub use entry::{Entry, EntryKind, FileStat, WrongKind, wrong_kind};
