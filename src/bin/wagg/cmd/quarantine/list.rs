//! `wagg quarantine list`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::quarantine::{self, PutAside};

use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Ui};

/// List the operations that put something aside, oldest first
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg quarantine list\n  wagg quarantine list --ids | xargs -n 1 wagg quarantine show"
)]
pub struct Args {
    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let all = quarantine::list(&store)?;
    ui.list(
        "wagg.quarantine.list/1",
        all.into_iter().map(Line),
        &args.list,
        NO_SUMMARY,
        "nothing was put aside",
    )?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(PutAside);

impl Row for Line {
    const NOUN: &'static str = "operations";
    const TYPE: &'static str = "operation";
    const COLUMNS: &'static [Column] = &[
        Column::new("id"),
        Column::new("since"),
        Column::new("command"),
        Column::new("worker").spare(1),
        Column::number("items"),
        Column::number("size"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let line = &self.0;
        let since = line.since.parse().map_or_else(|_| Cell::none(), Cell::time);
        vec![
            Cell::new(line.operation_id),
            since,
            Cell::maybe(line.command.as_ref()),
            Cell::maybe(line.worker_id),
            Cell::new(line.items),
            Cell::size(line.bytes),
        ]
    }

    fn id(&self) -> String {
        self.0.operation_id.to_string()
    }
}
