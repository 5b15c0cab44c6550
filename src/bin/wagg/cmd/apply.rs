//! `wagg apply`

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use wagg::diag::{Effects, Error, Exit, Result};
use wagg::ops::apply::{self, Answered, Counts};

use super::{change, input, store};
use crate::ui::{Cell, Column, ListFlags, Row, Ui, text};

/// Make many changes from a stream of JSON lines
///
/// Each line names a command and its arguments, under the names of the command's flags with `_`
/// for `-`, and may have its own request_id, actor and expect_… conditions. What a flag takes from
/// a file stands in the line itself, as text or as JSON. Each is checked and
/// refused alone; neighbours share their syncs, which makes many changes several times faster than
/// a process each. Answers come in the order of the lines, each once it is durable.
///
/// The exit status is 1 if a line was refused.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg apply changes.ndjson\n  echo '{\"command\":\"run reserve\",\"worker\":7,\"request_id\":\"r1\"}' | wagg apply --format ndjson"
)]
pub struct Args {
    /// The lines; - or nothing is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// How many neighbours share a sync at the most
    #[arg(long, value_name = "N", default_value_t = apply::GROUP, value_parser = super::numbers::parse_count::<NonZeroUsize>, allow_negative_numbers = true)]
    group: NonZeroUsize,

    #[command(flatten)]
    flags: change::StreamFlags,

    #[command(flatten)]
    list: ListFlags,
}

/// One answer, as it is printed.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown {
    Receipt(Value),
    Refused {
        line: u64,
        command: String,
        error: Value,
    },
}

impl Row for Shown {
    const NOUN: &'static str = "receipts";
    const TYPE: &'static str = "receipt";
    const COLUMNS: &'static [Column] = &[
        Column::number("LINE"),
        Column::new("OUTCOME"),
        Column::new("COMMAND"),
        Column::new("ID"),
        Column::text("MESSAGE"),
    ];
    const ANSWERS: bool = true;

    fn cells(&self) -> Vec<Cell> {
        match self {
            Self::Receipt(receipt) => {
                let text = |name: &str| {
                    receipt
                        .get(name)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                vec![
                    Cell::new(
                        receipt
                            .get("line")
                            .map(ToString::to_string)
                            .unwrap_or_default(),
                    ),
                    Cell::new(text("outcome")),
                    Cell::new(text("command")),
                    Cell::new(self.id()),
                    Cell::none(),
                ]
            }
            Self::Refused {
                line,
                command,
                error,
            } => vec![
                Cell::new(line),
                Cell::new(
                    error
                        .get("code")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                ),
                Cell::new(command),
                Cell::none(),
                Cell::new(
                    error
                        .get("message")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                ),
            ],
        }
    }

    fn id(&self) -> String {
        let Self::Receipt(receipt) = self else {
            return String::new();
        };
        let field = |name: &str| match receipt.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(n)) => Some(n.to_string()),
            _ => None,
        };
        ["generation", "segment_id", "worker_id"]
            .into_iter()
            .find_map(field)
            .unwrap_or_default()
    }
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let name = args.file.as_deref().unwrap_or(Path::new("-"));
    let input = input::open(name).map_err(|e| Error::io("open", name, e).given())?;
    let mut ended = Ok(Counts::default());
    // As far as it came, if the input could not be read to its end.
    let mut done = 0;
    let line = |shown: &Shown| text_line(shown);
    let printed = ui.stream("wagg.apply/1", &args.list, &line, |rows| {
        let mut lost = None;
        ended = args.flags.with(ui, |flags| {
            apply::apply(&store, flags, input, name, args.group.get(), |answered| {
                done += u64::from(answered.result.is_ok());
                let shown = shown(answered, ui)?;
                // An answer that can not be written is no reason to leave lines undone.
                if lost.is_none() {
                    lost = rows.push(&shown).and_then(|()| rows.flush()).err();
                }
                Ok(())
            })
        });
        match lost {
            Some(e) => Err(e),
            None => Ok(ended.as_ref().copied().unwrap_or_default()),
        }
    });
    let counts = ended?;
    tell(&counts, ui);
    let made = change::Made {
        effects: match (done, counts.refused + counts.unknown) {
            _ if args.flags.is_dry_run() => Effects::None,
            (0, _) => Effects::None,
            (_, 0) => Effects::All,
            _ => Effects::Some,
        },
        retried: false,
    };
    change::answer(made, ui, || printed)?;
    Ok(if counts.unknown > 0 {
        Exit::Unknown
    } else if counts.refused > 0 {
        Exit::Left
    } else {
        Exit::Ok
    })
}

fn shown(answered: Answered, ui: &Ui) -> Result<Shown> {
    match &answered.result {
        Ok(done) => apply::receipt_of(&answered, done).map(Shown::Receipt),
        Err(e) => Ok(Shown::Refused {
            line: answered.line,
            command: answered.command.clone(),
            error: ui.error_value(e),
        }),
    }
}

/// An answer as a terminal shows it.
fn text_line(shown: &Shown) -> String {
    let cells = shown.cells();
    let mut text = cells.iter().map(Cell::shown).collect::<Vec<_>>().join("  ");
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn tell(counts: &Counts, ui: &Ui) {
    ui.status(format!(
        "{}: {} done, {} no change, {} refused, {} unknown",
        text::plural(counts.lines, "line", "lines"),
        counts.done,
        counts.no_change,
        counts.refused,
        counts.unknown
    ));
}
