//! `wagg run`

mod list;
mod reserve;
mod show;
mod stop;

use wagg::diag::{Exit, Result};
use wagg::ops::run::{Run, RunState};

use crate::ui::{Cell, Style, Ui};

/// Look at runs, reserve and stop them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Reserve(reserve::Args),
    Stop(stop::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Reserve(args) => reserve::run(args, ui),
        Command::Stop(args) => stop::run(args, ui),
    }
}

/// The state of a run in its colour.
fn state(run: &Run) -> Cell {
    let style = match run.state {
        RunState::Live => Style::Good,
        RunState::LeftoverSocket | RunState::Unknown => Style::Warning,
        RunState::Reserved | RunState::Prepared => Style::Note,
        RunState::Missing | RunState::Stopped => Style::Plain,
    };
    Cell::two(run.state.as_str().replace('_', " "), run.state.as_str()).style(style)
}
