//! The commands: one line each here, one file each beside.

mod change;
mod completions;
mod explain;
mod findings;
mod man;
mod orphans;
mod store;
pub mod verify;

use clap::Subcommand;
use wagg::diag::{Exit, Result};

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
