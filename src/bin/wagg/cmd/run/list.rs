//! `wagg run list`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::run::{self, Run};

use crate::cmd::{reading, store};
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Ui};

/// List the runs of a Worker, as far as reading tells
///
/// One line for each folder in runs/, and for the last generation if it has none. The current one
/// is marked with *. Whether a run is live is asked on its socket and is a hint, no proof.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg run list 7\n  wagg run list 7 --format ndjson")]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let worker = Resolver::new(&store).worker(&args.worker)?;
    store::tell_worker(&store, &worker, ui);
    let rows = run::list(&store, &worker)?.into_iter().map(|run| Line {
        changed: reading::minute(run.changed, ui),
        run,
    });
    ui.list("wagg.run.list/1", rows, &args.list, NO_SUMMARY, "no runs")?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    run: Run,
    #[serde(skip)]
    changed: Cell,
}

impl Row for Line {
    const NOUN: &'static str = "runs";
    const TYPE: &'static str = "run";
    const COLUMNS: &'static [Column] = &[
        Column::new("run"),
        Column::mark("current"),
        Column::new("state"),
        Column::number("out").spare(1),
        Column::number("err").spare(2),
        Column::number("artifacts").spare(3),
        Column::new("changed"),
        Column::text("reason"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let run = &self.run;
        let size = |bytes: Option<u64>| bytes.map_or_else(Cell::none, Cell::size);
        vec![
            Cell::new(&run.name),
            Cell::two(if run.current { "*" } else { " " }, yes_no(run.current)),
            super::state(run),
            size(run.out_log_bytes),
            size(run.err_log_bytes),
            Cell::size(run.artifacts.bytes),
            self.changed.clone(),
            Cell::new(&run.reason),
        ]
    }

    fn id(&self) -> String {
        self.run.name.clone()
    }
}

fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}
