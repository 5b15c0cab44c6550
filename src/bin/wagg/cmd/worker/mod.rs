//! `wagg worker`

mod children;
mod create;
mod list;
mod peer;
mod reclaim;
mod show;

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Look at Workers, create them, and change whom they know
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Create(create::Args),
    Children(children::Args),
    Reclaim(reclaim::Args),
    Peer(peer::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Create(args) => create::run(args, ui),
        Command::Children(args) => children::run(args, ui),
        Command::Reclaim(args) => reclaim::run(args, ui),
        Command::Peer(args) => peer::run(args, ui),
    }
}
