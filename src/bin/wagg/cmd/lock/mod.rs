//! `wagg lock`

mod run;
mod show;

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Look at locks, and run commands under one
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Show(show::Args),
    Run(run::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::Show(args) => show::run(args, ui),
        Command::Run(args) => run::run(args, ui),
    }
}
