//! `wagg quarantine`

mod empty;
mod list;
mod show;

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Look at what operations put aside, and let go of it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Empty(empty::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Empty(args) => empty::run(args, ui),
    }
}
