//! `wagg worker`

mod list;
mod show;

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Look at Workers
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
    }
}
