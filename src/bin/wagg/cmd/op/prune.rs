//! `wagg op prune`

use std::time::Duration;

use serde::Deserialize;
use wagg::diag::{Code, Error, Exit, Result};
use wagg::ops::change as ops;

use crate::cmd::change::{self, ChangeFlags};
use crate::cmd::{numbers, store};
use crate::ui::{Ui, text};

/// Forget old operations, and print their ids
///
/// Only settled ones are forgotten. Their request ids are free again, and they can not be undone
/// or shown any more; what they put aside stays in quarantine.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg op prune --older-than 90d --dry-run\n  wagg op prune --older-than 90d"
)]
pub struct Args {
    /// Forget what ended longer ago than this: 30s, 5m, 2h, 7d
    #[arg(long, value_name = "D", value_parser = numbers::parse_duration)]
    older_than: Duration,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    #[derive(Deserialize)]
    struct Receipt {
        #[serde(default)]
        forgotten: Vec<String>,
    }
    let store = store::find(ui)?;
    let done = args
        .flags
        .with(ui, |flags| ops::prune(&store, flags, args.older_than))?;
    if ui.is_data() {
        change::print("wagg.op.prune/1", &done, ui)?;
        return Ok(Exit::Ok);
    }
    let receipt: Receipt = done
        .receipt
        .parse()
        .map_err(|e| Error::new(Code::Internal, "a receipt can not be read back").caused_by(e))?;
    let count = receipt.forgotten.len() as u64;
    let what = if done.dry_run {
        "would be forgotten"
    } else {
        "forgotten"
    };
    change::print_as(&done, ui, || {
        ui.write(|out| {
            for id in &receipt.forgotten {
                writeln!(out, "{id}")?;
            }
            Ok(())
        })
    })?;
    ui.status(format!(
        "{} {what}",
        text::plural(count, "operation", "operations")
    ));
    Ok(Exit::Ok)
}
