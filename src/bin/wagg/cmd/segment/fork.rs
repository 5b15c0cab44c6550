//! `wagg segment fork`

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Fork;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Make a new Segment that begins where a turn of another ended
///
/// The new Segment holds the history, the system prompt and the config as they were behind that
/// turn, and says where it comes from. The source is not changed. What stands behind the turn is
/// left behind; with damage there, a fork before it saves what is whole.
///
/// A fork only adds, so it is allowed while a run of the Worker answers; with --activate it is not.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment fork 7/active\n  wagg segment fork 01890000 --at-turn 3 --activate --expect-active 01890000"
)]
pub struct Args {
    /// The source: an id, the beginning of one, 7/active, 7/latest
    #[arg(value_name = "SEGMENT")]
    segment: String,

    /// The turn after which it branches off; 0 is before the first [default: the last finished]
    #[arg(long, value_name = "N")]
    at_turn: Option<u64>,

    /// Let a restore start from it
    #[arg(long)]
    activate: bool,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let fork = Fork {
        segment: args.segment,
        at_turn: args.at_turn,
        activate: args.activate,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.segment.fork/1", &fork, &args.flags, expect, ui)
}
