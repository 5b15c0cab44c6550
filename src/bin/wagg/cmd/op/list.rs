//! `wagg op list`

use std::io;

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::operation::{self, OperationLine, Settledness};
use wagg::ops::read::Time;
use wagg::store::journal;

use crate::cmd::{reading, store};
use crate::ui::{Cell, Column, Format, ListFlags, Row, Style, Ui, text};

/// List the operations of a store, newest first
///
/// Each change that wagg made or began is one. Unsettled means that it has no outcome: it runs
/// now, or its process died; the next change settles it.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg op list --limit 20\n  wagg op list --format ndjson | jq -r 'select(.state==\"unsettled\").operation_id'"
)]
pub struct Args {
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    list: ListFlags,
}

#[derive(Serialize)]
struct Summary {
    unsettled: u64,
    /// Lines of the journal that could not be read.
    damaged_lines: u64,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let mut operations = journal::operations(store.dir())?;
    let mut failed = Ok(());
    let mut count = 0_u64;
    let mut summary = Summary {
        unsettled: 0,
        damaged_lines: 0,
    };
    let line = |row: &Line| as_text(row, ui);
    let is_table = ui.format() == Format::Table && !args.list.ids && !args.list.null;
    ui.stream("wagg.op.list/1", &args.list, &line, |rows| {
        for operation in operations.by_ref().take(args.limit.unwrap_or(usize::MAX)) {
            let operation = match operation {
                Ok(operation) => operation,
                Err(e) => {
                    failed = Err(e);
                    break;
                }
            };
            let row = Line(operation::line(&operation));
            if count == 0 && is_table {
                rows.raw(header(ui).as_bytes())?;
            }
            count += 1;
            summary.unsettled += u64::from(row.0.state == Settledness::Unsettled);
            rows.push(&row)?;
        }
        summary.damaged_lines = operations.damaged().len() as u64;
        Ok::<_, io::Error>(&summary)
    })?;
    failed?;
    if count == 0 {
        ui.status("no operations");
    }
    if summary.damaged_lines > 0 {
        ui.warn(format!(
            "{} of the journal could not be read",
            text::plural(summary.damaged_lines, "line", "lines")
        ));
    }
    Ok(Exit::Ok)
}

/// What stands above the rows on a terminal.
fn header(ui: &Ui) -> String {
    let line = if ui.width().is_some_and(|width| width < 100) {
        format!("{:36}  {:11}  {:9}  COMMAND", "ID", "BEGAN", "OUTCOME")
    } else {
        format!(
            "{:36}  {:19}  {:9}  {:18}  {:6}  {:18}  REQUEST",
            "ID", "BEGAN", "OUTCOME", "COMMAND", "WORKER", "ACTOR"
        )
    };
    format!("{}\n", Style::Bold.paint(&line, ui.color()))
}

/// A row on a terminal: lined up by hand, since rows are never held. A narrow one gets what an
/// eighty-column line has room for.
fn as_text(row: &Line, ui: &Ui) -> String {
    let line = &row.0;
    let cells = row.cells();
    let pad = |cell: &Cell, width: usize| {
        let shown = cell.shown();
        let room = width.saturating_sub(text::columns(&shown));
        format!("{}{}", cell.paint(&shown, ui.color()), " ".repeat(room))
    };
    if ui.width().is_some_and(|width| width < 100) {
        let began = line.began.parse().ok().map(Time);
        let began = reading::minute(began, ui);
        return format!(
            "{}  {}  {}  {} {}\n",
            line.operation_id,
            pad(&began, 11),
            pad(&cells[2], 9),
            pad(&cells[3], 0),
            pad(&cells[4], 0),
        );
    }
    let mut out = format!(
        "{}  {}  {}  {}  {}",
        line.operation_id,
        pad(&cells[1], 19),
        pad(&cells[2], 9),
        pad(&cells[3], 18),
        pad(&cells[4], 6),
    );
    out.push_str("  ");
    let width = if line.request_id.is_some() { 18 } else { 0 };
    out.push_str(&pad(&cells[5], width));
    if let Some(request_id) = &line.request_id {
        out.push_str("  ");
        out.push_str(&pad(&Cell::new(request_id), 0));
    }
    out.push('\n');
    out
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(OperationLine);

impl Row for Line {
    const NOUN: &'static str = "operations";
    const TYPE: &'static str = "operation";
    const COLUMNS: &'static [Column] = &[
        Column::new("id"),
        Column::new("began"),
        Column::new("outcome"),
        Column::new("command"),
        Column::new("worker"),
        Column::text("actor"),
        Column::text("request"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let line = &self.0;
        vec![
            Cell::new(line.operation_id),
            super::time(&line.began),
            super::outcome(line),
            Cell::new(&line.command),
            Cell::maybe(line.worker_id),
            Cell::new(&line.actor),
            Cell::maybe(line.request_id.as_ref()),
        ]
    }

    fn id(&self) -> String {
        self.0.operation_id.to_string()
    }
}
