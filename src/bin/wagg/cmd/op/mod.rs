//! `wagg op`

mod list;
mod prune;
mod show;
mod undo;

use wagg::diag::{Exit, Result};
use wagg::ops::operation::{OperationLine, Settledness};
use wagg::store::journal::Outcome;

use crate::ui::{Cell, Style, Ui};

/// Look at what wagg changed in a store, undo it, and forget what is old
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Undo(undo::Args),
    Prune(prune::Args),
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    match args.command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Undo(args) => undo::run(args, ui),
        Command::Prune(args) => prune::run(args, ui),
    }
}

/// How an operation ended, or that it did not.
fn outcome(line: &OperationLine) -> Cell {
    let (text, style) = match (line.state, line.outcome) {
        (Settledness::Unsettled, _) => ("unsettled", Style::Warning),
        (_, Some(Outcome::Done)) => ("done", Style::Good),
        (_, Some(Outcome::NoChange)) => ("no_change", Style::Plain),
        (_, Some(Outcome::Partial)) => ("partial", Style::Warning),
        (_, Some(Outcome::Unknown)) => ("unknown", Style::Error),
        (_, Some(Outcome::Cleared)) => ("cleared", Style::Note),
        (Settledness::Settled, None) => ("settled", Style::Plain),
    };
    Cell::new(text).style(style)
}

/// A time of the journal.
fn time(text: &str) -> Cell {
    text.parse().map_or_else(|_| Cell::new(text), Cell::time)
}
