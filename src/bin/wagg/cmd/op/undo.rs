//! `wagg op undo`

use wagg::diag::{Exit, Result};
use wagg::ops::change::Expect;
use wagg::ops::undo::Undo;

use crate::cmd::change::{self, ChangeFlags};
use crate::ui::Ui;

/// Bring back what an operation changed, to the byte
///
/// For repair, segment create, append, fork, compact and activate, worker create, reclaim and peer,
/// and for undo itself. What was made goes to quarantine, a pointer goes back, what was taken away
/// comes back. Refused (undo_conflict) if any of it changed since, or if something was built on it:
/// undo the later operation first. Reservations and migrations are not undone.
///
/// A repair of a whole store is one operation a Worker, and latest names the last of them only. The
/// status lines of wagg repair and wagg op list have the id of each.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg op undo 0198c3f2\n  wagg op undo latest --dry-run")]
pub struct Args {
    /// The operation's id, a beginning of it that no other has, or latest
    #[arg(value_name = "OP")]
    operation: String,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let undo = Undo {
        operation: args.operation,
    };
    change::run(
        "wagg.op.undo/1",
        &undo,
        &args.flags,
        |_| Ok(Expect::default()),
        ui,
    )
}
