//! WHICH change or answer is wanted: one file per operation, free of any UI.

pub mod apply;
pub mod change;
pub mod demo;
pub mod init;
pub mod legacy;
pub mod migrate;
pub mod migrate_status;
pub mod operation;
pub mod orphans;
pub mod ownership;
pub mod quarantine;
pub mod read;
pub mod repair;
pub mod resolve;
pub mod run;
pub mod segment;
pub mod show;
pub mod undo;
pub mod verify;
pub mod worker;
