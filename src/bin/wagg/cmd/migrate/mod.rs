//! `wagg migrate`: old stores into one folder a Worker.

mod answer;
mod start;
mod status;

use clap::Subcommand;
use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Move an old store's Workers into one folder each, killable anywhere, never overwriting
///
/// Reads the two legacy roots and copies each Worker's Session and metadata into its folder in the
/// store, byte for byte, after every record was checked. The roots are never changed. A Worker that
/// can not be moved is left as it is with its reason, and the others go on. Run it again after
/// whatever happened: what is in place is found, compared and left alone.
///
/// It ends with 0 if no Worker is left, with 1 if some are.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "Examples:\n  wagg migrate --sessions /data/sessions --metadata /data/workers --dry-run\n  wagg migrate --sessions /data/sessions --metadata /data/workers --report json=migration.json\n  wagg migrate status"
)]
pub struct Args {
    #[command(flatten)]
    start: start::Start,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Some(Command::Status(args)) => status::run(args, ui),
        None => start::run(args.start, ui),
    }
}
