//! `wagg migrate`: old stores into one folder a Worker.

mod status;

use clap::Subcommand;
use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Show how far the move of a store to one folder a Worker has come
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::Status(args) => status::run(args, ui),
    }
}
