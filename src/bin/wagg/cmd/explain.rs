//! `wagg explain`: what a code means.

use serde::Serialize;
use wagg::diag::{Code, Error, Exit, RepairClass, Result, Severity};

use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Ui};

/// Explain a code: what it means, how it comes about, what to do
///
/// Codes stand in square brackets in what verify, orphans and failing commands print.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg explain torn_tail\n  wagg explain --all --format json"
)]
pub struct Args {
    /// The code, for example torn_tail; without it all are listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,

    /// List every code
    #[arg(long, conflicts_with = "code")]
    pub all: bool,

    #[command(flatten)]
    pub list: ListFlags,
}

#[derive(Serialize)]
struct Entry {
    code: Code,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<u8>,
    repair: RepairClass,
    meaning: &'static str,
    since: &'static str,
}

impl Entry {
    fn of(code: Code) -> Self {
        let info = code.info();
        Self {
            code,
            kind: match (info.severity, info.exit) {
                (Some(_), Some(_)) => "finding and error",
                (Some(_), None) => "finding",
                (None, _) => "error",
            },
            severity: info.severity,
            exit: info.exit.map(Exit::status),
            repair: info.repair,
            meaning: info.meaning,
            since: info.since,
        }
    }
}

impl Row for Entry {
    const NOUN: &'static str = "codes";
    const TYPE: &'static str = "code";
    const COLUMNS: &'static [Column] = &[
        Column::new("code"),
        Column::new("severity"),
        Column::number("exit"),
        Column::new("repair"),
        Column::text("meaning"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(self.code),
            self.severity.map_or_else(Cell::none, Cell::severity),
            Cell::maybe(self.exit),
            Cell::new(self.repair.as_str()),
            Cell::new(self.meaning),
        ]
    }

    fn id(&self) -> String {
        self.code.to_string()
    }
}

/// Prints one code, or all.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let Some(name) = args.code else {
        let rows = Code::ALL.iter().map(|code| Entry::of(*code));
        ui.list("wagg.explain/1", rows, &args.list, NO_SUMMARY, "no codes")?;
        return Ok(Exit::Ok);
    };
    let code: Code = name
        .parse()
        .map_err(|e: wagg::diag::codes::UnknownCode| Error::new(Code::NotFound, e.to_string()))?;
    ui.object("wagg.explain/1", &Entry::of(code), |block| {
        block.field("code", Cell::new(code));
    })?;
    Ok(Exit::Ok)
}
