//! `wagg segment append`

use std::path::{Path, PathBuf};

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Append;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::cmd::input;
use crate::ui::Ui;

/// Add records to the end of a Segment, all or none
///
/// Each line must be a whole record that a Runtime reads; it is stored as it is, byte for byte. The
/// last one may lack its newline. If one line is no good record, nothing is appended and the line
/// is named. A segment_start is refused, and a turn_end that does not count on from the last turn.
///
/// What follows the last newline of the Segment was never committed: it is cut off first, and kept
/// in quarantine. Refused for the active Segment while a run of the Worker answers.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment append 7/active --from records.jsonl\n  wagg segment log 7/active --raw --from 40 | wagg segment append 7/latest --request-id copy-40"
)]
pub struct Args {
    /// The Segment: an id, the beginning of one, 7/active, 7/latest
    #[arg(value_name = "SEGMENT")]
    segment: String,

    /// The records, one a line; - is standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    from: PathBuf,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let append = Append {
        segment: args.segment,
        records: input::read(Path::new(&args.from))?,
    };
    let empty = append.records.bytes.is_empty();
    let expect = |store: &_| args.fences.expect(store, None);
    let exit = change::run("wagg.segment.append/1", &append, &args.flags, expect, ui)?;
    // Most often a pipe whose first command failed.
    if empty {
        ui.warn("nothing to append: the input is empty");
    }
    Ok(exit)
}
