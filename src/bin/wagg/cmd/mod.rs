//! The commands: one line each here, one file each beside.

mod completions;
mod explain;
mod findings;
mod man;
mod store;
mod verify;
mod orphans;

use clap::Subcommand;
use wagg::diag::{Exit, IoContext, Result};
use wagg::store::{Store, Wanted};

use crate::ui::Ui;

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    Verify(verify::Args),
    Explain(explain::Args),
    Completions(completions::Args),
    Man(man::Args),
    Orphans(orphans::Args),
}

impl Command {
    /// Carries the command out.
    pub fn run(self, ui: &Ui) -> Result<Exit> {
        match self {
            Self::Verify(args) => verify::run(args, ui),
            Self::Explain(args) => explain::run(args, ui),
            Self::Completions(args) => completions::run(args, ui),
            Self::Man(args) => man::run(args, ui),
            Self::Orphans(args) => orphans::run(args, ui),
        }
    }
}

/// Opens the store that was named, else the nearest one upwards from here.
fn open_store(ui: &Ui) -> Result<Store> {
    let wanted = match ui.store() {
        Some(path) => Wanted::Named(path.to_owned()),
        None => Wanted::Upwards(std::env::current_dir().io("find", ".")?),
    };
    Store::find(&wanted)
}
