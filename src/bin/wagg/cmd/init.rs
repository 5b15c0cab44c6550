//! `wagg init`

use std::path::PathBuf;

use wagg::diag::{Exit, Result};
use wagg::ops::init;

use super::change;
use super::output::Outputs;
use crate::ui::Ui;

/// Make a new empty store
///
/// Makes the folder if there is none. One that is a store already stays as it is; one that holds
/// anything else is refused. A Runtime can open the result. Killed at any point, the same command
/// again finishes.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg init /srv/agents\n  cd /srv/agents && wagg worker create --name helper"
)]
pub struct Args {
    /// Where [default: --store, else this folder]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    flags: change::ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let dir = args
        .dir
        .or_else(|| ui.store().map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."));
    Outputs::default().root(&dir)?;
    let done = args.flags.with(ui, |flags| init::init(&dir, flags))?;
    if done.outcome() == "no_change" && !done.dry_run {
        ui.status("it is a store already; nothing was changed");
    }
    change::print("wagg.init/1", &done, ui)?;
    Ok(Exit::Ok)
}
