//! `wagg run reserve`

use wagg::diag::{Exit, Result};
use wagg::ops::run::reserve::Reserve;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Reserve the next generation of a Worker and make its folder
///
/// The number is made durable before anything else happens, is never given out again, and is
/// printed. Then the run's folder appears whole. The highest of worker.json and the run folders
/// counts, also where worker.json is an old copy.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  gen=$(wagg run reserve 7 --request-id \"$JOB\")\n  wagg run reserve name:helper --expect-generation 3 --format json"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let change = Reserve {
        worker: args.worker,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.run.reserve/1", &change, &args.flags, expect, ui)
}
