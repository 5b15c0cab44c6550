//! `wagg show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::show::{self, Shown};

use super::{reading, store};
use crate::ui::{Cell, Column, Row, Ui};

/// Say what a reference is: kind, place, owner, state, and the command to go on with
///
/// A reference is the id of a Worker, Session or Segment; four or more hex digits that a Segment's
/// id begins with; a Worker's name; 7/active or 7/latest; 7/0189ab for a Segment of Worker 7; or a
/// path inside the store (from its root if it begins with workers/, else from here). What looks
/// like an id is never taken for a name: name:X says that a name is meant.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg show 7\n  wagg show 7/active\n  wagg show 'name:deploy bot' --format json"
)]
pub struct Args {
    /// Anything that names something in the store
    #[arg(value_name = "REF")]
    reference: String,
}

/// Prints what it is.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let mut shown = show::show(&store, &args.reference)?;
    shown.next = ui.pasted(&shown.next);
    let shown = Line(shown);
    reading::one(ui, "wagg.show/1", &shown, |block| {
        let names = [
            "kind",
            "id",
            "worker",
            "session",
            "segment",
            "generation",
            "place",
        ];
        let names = names
            .into_iter()
            .chain(["state", "size", "changed", "next"]);
        for (name, cell) in names.zip(shown.fields()) {
            if let Some(cell) = cell {
                block.field(name, cell);
            }
        }
    })?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Shown);

impl Row for Line {
    const NOUN: &'static str = "references";
    const TYPE: &'static str = "reference";
    const COLUMNS: &'static [Column] = &[
        Column::new("kind"),
        Column::new("id"),
        Column::new("worker"),
        Column::new("session"),
        Column::new("segment"),
        Column::new("generation"),
        Column::text("place"),
        Column::text("state"),
        Column::number("size"),
        Column::new("changed"),
        Column::text("next"),
    ];

    fn cells(&self) -> Vec<Cell> {
        self.fields()
            .into_iter()
            .map(|cell| cell.unwrap_or_else(Cell::none))
            .collect()
    }

    fn id(&self) -> String {
        self.0.id.clone().unwrap_or_else(|| self.0.path.clone())
    }
}

impl Line {
    /// One a column; none where there is nothing to say.
    fn fields(&self) -> Vec<Option<Cell>> {
        let shown = &self.0;
        // What the thing is itself stands under its id already.
        let unless =
            |kind: &str, text: Option<String>| text.filter(|_| shown.kind != kind).map(Cell::new);
        let place = if shown.path.is_empty() {
            "."
        } else {
            &shown.path
        };
        vec![
            Some(Cell::new(shown.kind)),
            shown.id.as_ref().map(Cell::new),
            unless("worker", shown.worker_id.map(|id| id.to_string())),
            unless("session", shown.session_id.map(|id| id.to_string())),
            unless("segment", shown.segment_id.map(|id| id.to_string())),
            unless("run", shown.generation.map(|id| id.to_string())),
            Some(Cell::new(place)),
            Some(Cell::new(&shown.state)),
            shown.bytes.map(Cell::size),
            shown.changed.map(|time| Cell::time(time.0)),
            Some(Cell::new(&shown.next)),
        ]
    }
}
