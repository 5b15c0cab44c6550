//! `wagg segment activate`

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Activate;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Let a restore of the Worker start from this Segment
///
/// Moves the active pointer in metadata.json, and makes that document if there is none. The
/// Segment is read first: one that would not restore is refused. If it is the active one already,
/// nothing changes. Refused while a run of the Worker answers.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment activate 7/latest\n  wagg segment activate 01890000 --expect-active 7/active --request-id move-7"
)]
pub struct Args {
    /// The Segment: an id, the beginning of one, 7/latest
    #[arg(value_name = "SEGMENT")]
    segment: String,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let activate = Activate {
        segment: args.segment,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run(
        "wagg.segment.activate/1",
        &activate,
        &args.flags,
        expect,
        ui,
    )
}
