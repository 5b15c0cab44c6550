//! What is said to people and scripts: codes, places, findings, errors.
//!
//! An **error** stops a command; a **finding** is one item of an answer. Both take their code from
//! the one table in [`codes`], which also feeds `wagg explain`, `docs/codes.md` and the man pages.

pub mod codes;
mod error;
mod explain;
mod finding;
mod hex;
mod locus;
mod plural;
mod progress;
mod shell;

pub use codes::{Code, CodeInfo, Exit, RepairClass, Severity, UnknownCode};
pub use error::{Effects, Error, IoContext, Result};
pub use explain::Text;
pub use finding::{Finding, Subject};
pub use hex::hex;
pub use locus::Locus;
pub use plural::plural;
pub use progress::{NoProgress, Progress};
pub use shell::{is_deceptive, shell, shell_word};
