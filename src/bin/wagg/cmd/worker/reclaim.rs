//! `wagg worker reclaim`

use wagg::diag::{Exit, Result};
use wagg::ops::worker::children::Reclaim;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Take back what a Worker delegated to a child
///
/// Moves the child's scope to the list of reclaimed children in one replacement of metadata.json.
/// Nothing else is touched, the child itself least of all.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg worker reclaim 7 8\n  wagg worker reclaim 7 name:worker-runtime-8"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    /// The child: a Worker of the store, or its name as name:NAME
    #[arg(value_name = "CHILD")]
    child: String,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let change = Reclaim {
        worker: args.worker,
        child: args.child,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.worker.reclaim/1", &change, &args.flags, expect, ui)
}
