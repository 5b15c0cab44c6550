//! Runs of a Worker.

pub mod reserve;
