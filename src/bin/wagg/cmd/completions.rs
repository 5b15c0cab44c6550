//! `wagg completions`: what `completions/` holds.

use clap_complete::Shell;
use wagg::diag::{Exit, Result};

use crate::cli::Cli;
use crate::ui::Ui;

/// Print the completion script for a shell
///
/// The same scripts stand in the folder completions/ of the source.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg completions bash > ~/.local/share/bash-completion/completions/wagg\n  wagg completions zsh > ~/.zfunc/_wagg"
)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::whole(), "wagg", &mut script);
    ui.write(|out| out.write_all(&script))?;
    Ok(Exit::Ok)
}
