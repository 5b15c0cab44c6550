//! `wagg repair`, `wagg quarantine`, `wagg op undo`.

mod cases;
mod codes;
mod command;
mod killed;
mod kit;
mod property;
mod undo;
