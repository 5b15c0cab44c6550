//! The journal (C14 to C16): what every change is about to do, and how it ended.
//!
//! An intent is synced before the first effect, an outcome follows the last one. A request id is
//! bound by the outcome: asked again, the stored receipt is given, and nothing is done. An intent
//! without an outcome is unsettled: whoever holds the lock that it was made under finds it, looks
//! at the store, carries forward or clears, and writes the outcome.
//!
//! Appends go under the journal's own lock, which is taken after every other and held for one.

mod index;
mod lookup;
mod read;
mod record;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use lookup::{Lookup, Replay, lookup, make_journal_durable};
pub use read::{Operation, Operations, find_operation, operations, unsettled};
pub use record::{Ending, Intent, JOURNAL_SCHEMA, Outcome, Receipt, Scope, now};
pub use write::{Begin, Journal, OpenOperation};
