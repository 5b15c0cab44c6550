//! `wagg quarantine show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::quarantine::{self, Thing};

use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, Row, Ui};

/// Show what one operation put aside: what it is, where it was, its SHA-256
///
/// With --raw the bytes of one item are written to standard output as they were, after they were
/// checked against their SHA-256.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg quarantine show 0198c3f2\n  wagg quarantine show 0198c3f2 --raw 1 > line.json"
)]
pub struct Args {
    /// The operation's id, a beginning of it that no other has, or latest
    #[arg(value_name = "OP")]
    operation: String,

    /// Write the bytes of this item, and nothing else
    #[arg(long, value_name = "ITEM")]
    raw: Option<u64>,

    #[command(flatten)]
    list: ListFlags,
}

/// Prints what there is.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let operation = quarantine::find(&store, &args.operation)?;
    if let Some(number) = args.raw {
        let bytes = quarantine::bytes(&store, operation, number)?;
        ui.write(|out| out.write_all(&bytes))?;
        return Ok(Exit::Ok);
    }
    #[derive(Serialize)]
    struct Of {
        operation_id: String,
    }
    let of = Of {
        operation_id: operation.to_string(),
    };
    let things = quarantine::things(&store, operation)?;
    ui.list(
        "wagg.quarantine.show/1",
        things.into_iter().map(Line),
        &args.list,
        Some(of),
        "nothing is in it",
    )?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Thing);

impl Row for Line {
    const NOUN: &'static str = "items";
    const TYPE: &'static str = "item";
    const COLUMNS: &'static [Column] = &[
        Column::number("item"),
        Column::new("what"),
        Column::text("path"),
        Column::number("offset").spare(1),
        Column::number("size"),
        Column::new("here"),
        Column::new("sha256"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let item = &self.0.item;
        let what = serde_json::to_value(item.what).ok();
        vec![
            Cell::new(item.item),
            Cell::maybe(what.as_ref().and_then(|w| w.as_str())),
            Cell::new(item.path.display()),
            Cell::new(item.offset),
            Cell::size(item.length),
            Cell::yes_no(self.0.present),
            Cell::maybe((!item.sha256.is_empty()).then_some(&item.sha256)),
        ]
    }

    fn id(&self) -> String {
        self.0.item.item.to_string()
    }
}
