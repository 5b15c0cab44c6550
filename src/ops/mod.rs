//! WHICH change or answer is wanted: one file per operation, free of any UI.

pub mod change;
pub mod legacy;
pub mod migrate;
pub mod orphans;
pub mod ownership;
pub mod read;
pub mod resolve;
pub mod run;
pub mod verify;
