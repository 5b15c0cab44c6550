//! WHICH change or answer is wanted: one file per operation, free of any UI.

pub mod legacy;
pub mod orphans;
pub mod ownership;
pub mod verify;
