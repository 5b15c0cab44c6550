//! `wagg segment digest`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::segment::digest::{self, Digest};

use crate::cmd::store;
use crate::ui::{Cell, Column, Format, ListFlags, NO_SUMMARY, Row, Ui, text};

/// Print the SHA-256 over the committed records of a Segment
///
/// What follows the last newline was never committed and does not count. The digest is what
/// --expect-digest takes. With --at-record only the first N records count: lines that are not
/// blank, whatever they hold.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment digest 7/active\n  wagg segment digest 0189ab --at-record 100"
)]
pub struct Args {
    /// The Segment: an id or its first hex digits, 7/active, 7/latest, or a path
    #[arg(value_name = "SEGMENT")]
    segment: String,

    /// Only up to and with this record, counted from 1
    #[arg(long, value_name = "N")]
    at_record: Option<u64>,
}

/// Prints it.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let segment = Resolver::new(&store).segment(&args.segment)?;
    let line = Line(digest::digest(
        &store,
        &segment,
        args.at_record,
        ui.progress(),
    )?);
    match ui.format() {
        Format::Json | Format::Ndjson => {
            let flags = ListFlags::default();
            ui.list("wagg.segment.digest/1", [&line], &flags, NO_SUMMARY, "")?;
        }
        Format::Table | Format::Tsv => {
            let digest = &line.0;
            ui.write(|out| writeln!(out, "{}", digest.sha256))?;
            if ui.format() == Format::Table {
                let records = text::plural(digest.records, "record", "records");
                let bytes = text::plural(digest.bytes, "byte", "bytes");
                ui.status(format!("over {records}, {bytes}"));
            }
        }
    }
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Digest);

impl Row for Line {
    const NOUN: &'static str = "segments";
    const TYPE: &'static str = "segment";
    const COLUMNS: &'static [Column] = &[Column::new("sha256")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(&self.0.sha256)]
    }

    fn id(&self) -> String {
        self.0.sha256.clone()
    }
}
