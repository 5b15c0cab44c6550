//! `wagg repair`, `wagg quarantine`, `wagg op undo`.

mod kit;
mod property;
