//! `wagg op show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::operation::{self, OperationDetails, Settledness};
use wagg::store::Item;

use crate::cmd::{change, reading, store};
use crate::ui::{Cell, Column, Row, Ui};

/// Show one operation: what it was to do, how it ended, what it took away
///
/// The journal alone is read. What was taken away lies in .wagg/quarantine/, with its SHA-256.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg op show 0198c3f2\n  wagg op show 0198c3f2 --format json"
)]
pub struct Args {
    /// The operation's id, a beginning of it that no other has, or latest
    #[arg(value_name = "OP")]
    operation: String,
}

/// Prints what there is to know.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let operation = operation::find(&store, &args.operation)?;
    let line = Line(operation::details(&store, &operation)?);
    let details = &line.0;
    let one = &details.line;
    reading::one(ui, "wagg.op.show/1", &line, |block| {
        block
            .field("operation", Cell::new(one.operation_id))
            .field("command", Cell::new(&one.command))
            .field("outcome", super::outcome(one))
            .field("actor", Cell::new(&one.actor))
            .field("began", super::time(&one.began));
        if let Some(ended) = &one.ended {
            block.field("ended", super::time(ended));
        }
        if let Some(request_id) = &one.request_id {
            block.field("request", Cell::new(request_id));
        }
        if let Some(worker) = one.worker_id {
            block.field("worker", Cell::new(worker));
        }
        if let Some(generation) = one.generation {
            block.field("generation", Cell::new(generation));
        }
        for (name, value) in [("arguments", &details.args), ("made", &details.minted)] {
            if !value.is_null() {
                block.field(name, Cell::new(value));
            }
        }
        let effects: Vec<Did> = details
            .known_effects()
            .enumerate()
            .map(|(n, effect)| Did {
                commit: details.commit == Some(n as u64),
                text: change::describe(&effect),
            })
            .collect();
        if !effects.is_empty() {
            let settled = one.state == Settledness::Settled;
            let heading = if settled {
                "What it was to do"
            } else {
                "What it is to do"
            };
            block.heading(heading).rows(effects);
        }
        if !details.quarantine.is_empty() {
            block
                .heading("What it took away and kept")
                .rows(details.quarantine.iter().map(Kept));
        }
    })?;
    if one.state == Settledness::Unsettled {
        ui.hint("any next change of the same Worker settles it, if its process is gone");
    }
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(OperationDetails);

impl Row for Line {
    const NOUN: &'static str = "operations";
    const TYPE: &'static str = "operation";
    const COLUMNS: &'static [Column] = &[Column::new("id")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(self.id())]
    }

    fn id(&self) -> String {
        self.0.line.operation_id.to_string()
    }
}

#[derive(Serialize)]
struct Did {
    commit: bool,
    text: String,
}

impl Row for Did {
    const NOUN: &'static str = "effects";
    const TYPE: &'static str = "effect";
    const COLUMNS: &'static [Column] = &[Column::text("effect"), Column::new("commit")];

    fn cells(&self) -> Vec<Cell> {
        let commit = if self.commit { "commit point" } else { "" };
        vec![Cell::new(&self.text), Cell::new(commit)]
    }

    fn id(&self) -> String {
        self.text.clone()
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Kept<'a>(&'a Item);

impl Row for Kept<'_> {
    const NOUN: &'static str = "quarantine";
    const TYPE: &'static str = "item";
    const COLUMNS: &'static [Column] = &[
        Column::number("item"),
        Column::new("what"),
        Column::number("size"),
        Column::text("path"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let what = serde_json::to_value(self.0.what).ok();
        vec![
            Cell::new(self.0.item),
            Cell::maybe(what.as_ref().and_then(|w| w.as_str())),
            Cell::size(self.0.length),
            Cell::new(self.0.path.display()),
        ]
    }

    fn id(&self) -> String {
        self.0.path.to_string_lossy().into_owned()
    }
}
