//! `wagg worker peer`

use wagg::diag::{Exit, Result};
use wagg::ops::worker::peer::{Named, PeerChange, Wish};

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::ui::Ui;

/// Change whom a Worker may talk to
///
/// A peer grants nothing. One that is no Worker of this store may live elsewhere.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Put a peer on a Worker's list
    ///
    /// The list stays sorted by name, as a Runtime keeps it.
    #[command(
        after_long_help = "Examples:\n  wagg worker peer add 7 8\n  wagg worker peer add 7 name:reviewer"
    )]
    Add(PeerArgs),
    /// Take a peer off a Worker's list
    ///
    /// One that is not on it is no error.
    #[command(
        after_long_help = "Examples:\n  wagg worker peer remove 7 8\n  wagg worker peer remove 7 name:reviewer"
    )]
    Remove(PeerArgs),
}

#[derive(Debug, clap::Args)]
struct PeerArgs {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    /// The peer: a Worker of the store, or any name as name:NAME
    #[arg(value_name = "PEER")]
    peer: String,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let (schema, wish, args) = match args.command {
        Command::Add(args) => ("wagg.worker.peer.add/1", Wish::Add, args),
        Command::Remove(args) => ("wagg.worker.peer.remove/1", Wish::Remove, args),
    };
    let change = PeerChange {
        wish,
        named: Named {
            worker: args.worker,
            peer: args.peer,
        },
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run(schema, &change, &args.flags, expect, ui)
}
