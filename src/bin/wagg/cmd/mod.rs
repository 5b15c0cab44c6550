//! The commands: one line each here, one file each beside.

mod apply;
mod certificate;
mod change;
mod completions;
mod demo;
mod explain;
mod findings;
mod init;
pub mod input;
pub mod later;
mod lock;
mod man;
mod migrate;
mod numbers;
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
use later::Later;
use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Every command.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(Later<init::Args>),
    Show(Later<show::Args>),
    Worker(Later<worker::Args>),
    Segment(Later<segment::Args>),
    Run(Later<run::Args>),
    Verify(Later<verify::Args>),
    Report(Later<report::Args>),
    Repair(Later<repair::Args>),
    Explain(Later<explain::Args>),
    Apply(Later<apply::Args>),
    Quarantine(Later<quarantine::Args>),
    Op(Later<op::Args>),
    Lock(Later<lock::Args>),
    Completions(Later<completions::Args>),
    Man(Later<man::Args>),
    Orphans(Later<orphans::Args>),
    Migrate(Later<migrate::Args>),
    Demo(Later<demo::Args>),
}

impl Command {
    /// Carries the command out.
    pub fn run(self, ui: &Ui) -> Result<Exit> {
        match self {
            Self::Init(Later(args)) => init::run(args, ui),
            Self::Show(Later(args)) => show::run(args, ui),
            Self::Worker(Later(args)) => worker::run(args, ui),
            Self::Segment(Later(args)) => segment::run(args, ui),
            Self::Run(Later(args)) => run::run(args, ui),
            Self::Verify(Later(args)) => verify::run(args, ui),
            Self::Report(Later(args)) => report::run(args, ui),
            Self::Repair(Later(args)) => repair::run(args, ui),
            Self::Explain(Later(args)) => explain::run(args, ui),
            Self::Apply(Later(args)) => apply::run(args, ui),
            Self::Quarantine(Later(args)) => quarantine::run(args, ui),
            Self::Op(Later(args)) => op::run(args, ui),
            Self::Lock(Later(args)) => lock::run(args, ui),
            Self::Completions(Later(args)) => completions::run(args, ui),
            Self::Man(Later(args)) => man::run(args, ui),
            Self::Orphans(Later(args)) => orphans::run(args, ui),
            Self::Migrate(Later(args)) => migrate::run(args, ui),
            Self::Demo(Later(args)) => demo::run(args, ui),
        }
    }
}
