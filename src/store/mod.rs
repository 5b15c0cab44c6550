//! HOW: how a store's files are reached, read and changed. `README.md` in this folder tells the
//! format of `.wagg/`, the locks and what survives a crash.

pub mod fs;
mod probe;

pub use fs::{Dir, Entry, EntryKind, FileStat, wrong_kind};
pub use probe::{Answer, probe};
