//! Stores of agent Workers: where their bytes live, what they mean, what is wrong with them.
//!
//! The modules stand in one order, and each imports only from those before it:
//! [`layout`] (where), [`diag`] (codes and findings), [`record`] (what bytes mean), [`store`] (how
//! a store is opened and read), [`ops`] (what a person wants done). The binary `wagg` parses
//! arguments, calls one operation and prints its answer.

// what a test writes is no store of anybody's
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod diag;
pub mod layout;
pub mod ops;
pub mod record;
pub mod store;
