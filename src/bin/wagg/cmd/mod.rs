//! The commands: one line each here, one file each beside.

mod apply;
mod certificate;
mod change;
mod completions;
mod demo;
mod explain;
mod findings;
mod init;
mod input;
mod lock;
mod man;
mod migrate;
mod op;
mod orphans;
pub mod output;
mod quarantine;
mod reading;
mod repair;
mod report;
mod run;
mod segment;
mod show;
mod store;
pub mod verify;
mod worker;

use clap::Subcommand;
use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::Args),
    Show(show::Args),
    Worker(worker::Args),
    Segment(segment::Args),
    Run(run::Args),
    Verify(verify::Args),
    Report(report::Args),
    Repair(repair::Args),
    Explain(explain::Args),
    Apply(apply::Args),
    Quarantine(quarantine::Args),
    Op(op::Args),
    Lock(lock::Args),
    Completions(completions::Args),
    Man(man::Args),
    Orphans(orphans::Args),
    Migrate(migrate::Args),
    Demo(demo::Args),
}

impl Command {
    /// Carries the command out.
    pub fn run(self, ui: &Ui) -> Result<Exit> {
        match self {
            Self::Init(args) => init::run(args, ui),
            Self::Show(args) => show::run(args, ui),
            Self::Worker(args) => worker::run(args, ui),
            Self::Segment(args) => segment::run(args, ui),
            Self::Run(args) => run::run(args, ui),
            Self::Verify(args) => verify::run(args, ui),
            Self::Report(args) => report::run(args, ui),
            Self::Repair(args) => repair::run(args, ui),
            Self::Explain(args) => explain::run(args, ui),
            Self::Apply(args) => apply::run(args, ui),
            Self::Quarantine(args) => quarantine::run(args, ui),
            Self::Op(args) => op::run(args, ui),
            Self::Lock(args) => lock::run(args, ui),
            Self::Completions(args) => completions::run(args, ui),
            Self::Man(args) => man::run(args, ui),
            Self::Orphans(args) => orphans::run(args, ui),
            Self::Migrate(args) => migrate::run(args, ui),
            Self::Demo(args) => demo::run(args, ui),
        }
    }
}
