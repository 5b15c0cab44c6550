//! The way out of the process.

use std::process::ExitCode;

use wagg::diag::Exit;

/// The process's exit code for a status of the table.
pub fn exit_code(exit: Exit) -> ExitCode {
    ExitCode::from(exit.status())
}
