//! `wagg run stop`

use wagg::diag::{Exit, Result};
use wagg::layout::Generation;
use wagg::ops::run::stop::Stop;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Take away the socket of a run that ended
///
/// Sends no signal: stop the process by its own means. Waits for the run to stop answering, for as
/// long as --wait says, then removes worker.sock and nothing else; the folder and its files are
/// evidence. A run that still answers is refused. A run that is stopped already stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg run stop 7\n  wagg run stop 7 3 --wait 60")]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder or to that of a run
    #[arg(value_name = "WORKER")]
    worker: String,

    /// The generation [default: the last one]
    #[arg(value_name = "GEN")]
    generation: Option<Generation>,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let change = Stop {
        worker: args.worker,
        generation: args.generation.map(Generation::get),
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.run.stop/1", &change, &args.flags, expect, ui)
}
