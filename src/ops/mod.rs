//! WHICH change or answer is wanted: one file per operation, free of any UI.

pub mod read;
pub mod resolve;
pub mod verify;
pub mod legacy;
pub mod orphans;
pub mod ownership;
