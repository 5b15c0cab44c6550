//! `wagg report`

mod merge;

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Work with the JSON reports of verify
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Merge(merge::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::Merge(args) => merge::run(args, ui),
    }
}
