//! `wagg quarantine empty`

use std::time::Duration;

use serde::Deserialize;
use wagg::diag::{Code, Error, Exit, Result};
use wagg::ops::change as ops;
use wagg::ops::quarantine::Empty;

use crate::cmd::change::{self, ChangeFlags};
use crate::cmd::{numbers, store};
use crate::ui::{Ui, text};

/// Remove what was put aside, and print the ids of its operations
///
/// The files are removed from .wagg/quarantine/ and no wagg brings them back, so operations that
/// need them can not be undone any more. They are not overwritten: the disk, its snapshots and
/// backups may still hold the bytes, and the journal goes on saying what each operation did, with
/// sizes and digests. What belongs to an unfinished operation stays.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg quarantine empty --older-than 30d --dry-run\n  wagg quarantine empty --older-than 30d\n  wagg quarantine empty 0198c3f2"
)]
pub struct Args {
    /// Only what these operations put aside [default: all]
    #[arg(value_name = "OP")]
    operations: Vec<String>,

    /// Only what was put aside longer ago than this: 30s, 5m, 2h, 7d
    #[arg(long, value_name = "D", value_parser = numbers::parse_duration)]
    older_than: Option<Duration>,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    #[derive(Deserialize)]
    struct Receipt {
        #[serde(default)]
        emptied: Vec<String>,
    }
    let store = store::find(ui)?;
    let empty = Empty {
        operations: args.operations,
        older_than: args.older_than,
    };
    let done = args
        .flags
        .with(ui, |flags| ops::run(&store, flags, &empty))?;
    if ui.is_data() {
        change::print("wagg.quarantine.empty/1", &done, ui)?;
        return Ok(Exit::Ok);
    }
    let receipt: Receipt = done
        .receipt
        .parse()
        .map_err(|e| Error::new(Code::Internal, "a receipt can not be read back").caused_by(e))?;
    change::print_as(&done, ui, || {
        ui.write(|out| {
            for id in &receipt.emptied {
                writeln!(out, "{id}")?;
            }
            Ok(())
        })
    })?;
    let what = if done.dry_run {
        "would be let go of"
    } else {
        "let go of"
    };
    let count = receipt.emptied.len() as u64;
    ui.status(format!(
        "what {} put aside {what}",
        text::plural(count, "operation", "operations")
    ));
    Ok(Exit::Ok)
}
