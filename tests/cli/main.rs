//! The one test binary of the command line: it runs the built `wagg` as a person would.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "what a test writes is no store of anybody's, and a test that can not go on panics"
)]

mod cases;
mod changes;
mod corpus;
mod demo;
mod docs;
mod errors;
mod hints;
mod inputs;
mod layers;
mod limits;
mod migrate;
mod migrate_status;
mod named;
mod orphans;
mod output;
mod outputs;
mod reading;
mod readme;
mod repair;
mod segment;
mod shut;
mod stranger;
#[allow(dead_code, reason = "a kit for all test modules")]
mod support;
mod verify;
