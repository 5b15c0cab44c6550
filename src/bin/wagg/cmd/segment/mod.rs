//! `wagg segment`

mod activate;
mod append;
mod compact;
mod create;
mod diff;
mod digest;
mod fork;
mod list;
mod log;
mod show;

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Segment;

use super::reading::ShortIds;
use crate::ui::{Cell, Ui};

/// Look at Segments, make new ones, and choose the one that a restore starts from
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Log(log::Args),
    Diff(diff::Args),
    Digest(digest::Args),
    Create(create::Args),
    Append(append::Args),
    Fork(fork::Args),
    Compact(compact::Args),
    Activate(activate::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Log(args) => log::run(args, ui),
        Command::Diff(args) => diff::run(args, ui),
        Command::Digest(args) => digest::run(args, ui),
        Command::Create(args) => create::run(args, ui),
        Command::Append(args) => append::run(args, ui),
        Command::Fork(args) => fork::run(args, ui),
        Command::Compact(args) => compact::run(args, ui),
        Command::Activate(args) => activate::run(args, ui),
    }
}

/// Where a Segment descends from: `fork 019fd5e5 @2`, `compact 019fd5e5 @5`; for people without
/// the id where that is plain.
fn from(segment: &Segment, short: &ShortIds, plain: bool) -> Cell {
    let lineage = match (segment.forked_from, segment.compacted_from) {
        (Some(lineage), _) => Some(("fork", lineage)),
        (None, Some(lineage)) => Some(("compact", lineage)),
        (None, None) => None,
    };
    let Some((how, lineage)) = lineage else {
        return Cell::none();
    };
    let turn = lineage.at_turn_index;
    let missing = if lineage.present { "" } else { " (not here)" };
    let source = if plain && lineage.present {
        String::new()
    } else {
        format!("{} ", short.segment(lineage.segment_id))
    };
    Cell::two(
        format!("{how} {source}@{turn}{missing}"),
        format!("{how} {} @{turn}{missing}", lineage.segment_id),
    )
}
