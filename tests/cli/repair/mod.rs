//! `wagg repair`, `wagg quarantine`, `wagg op undo`.

mod cases;
mod codes;
mod kit;
mod property;
