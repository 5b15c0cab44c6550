//! How the answer of a migration is printed.

use serde::Serialize;
use wagg::diag::{Error, Result};
use wagg::ops::change::{Passed, Settled};
use wagg::ops::migrate::{Did, Report, WorkerReport};
use wagg::record::document::MigrationDiagnostic;

use super::status::Left;
use crate::cmd::output::OutFile;
use crate::ui::{Block, Cell, Column, Format, ListFlags, Row, Style, Ui, text};

/// The schema of the whole answer.
const SCHEMA: &str = "wagg.migrate/1";
/// On a terminal more Workers than this are counted, and listed with `-v`.
const LISTED: usize = 40;

/// Prints a report in the format that was asked for.
pub fn show(report: &Report, settled: &[Settled], ui: &Ui) -> Result<()> {
    for root in report.roots.iter().filter(|root| !root.present) {
        ui.warn(format!(
            "the {} root {} is not there: it counts as empty, and the answer is not complete; if there never was one, name an empty folder",
            root.kind, root.path
        ));
    }
    for one in settled {
        ui.status(format!(
            "operation {} ({}) had been interrupted; {}",
            one.operation_id,
            one.command,
            match one.passed {
                Passed::Yes => "what it left was carried forward",
                Passed::No => "what it left was cleared",
                Passed::Unknown => "what it came to can not be told",
            }
        ));
    }
    match ui.format() {
        Format::Json => ui.object(SCHEMA, report, |_| {}),
        Format::Ndjson => ui.list(
            SCHEMA,
            &report.workers,
            &ListFlags::default(),
            Some(Rest::of(report)),
            "no Workers",
        ),
        Format::Tsv => {
            ui.list(
                SCHEMA,
                &report.workers,
                &ListFlags::default(),
                Some(&report.summary),
                "no Workers",
            )?;
            close(report, ui);
            Ok(())
        }
        Format::Table => {
            ui.object(SCHEMA, report, |block| blocks(report, ui, block))?;
            close(report, ui);
            Ok(())
        }
    }
}

/// Writes the whole report to a file; an earlier one is replaced.
pub fn write(report: &Report, file: &OutFile) -> Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'a str,
        #[serde(flatten)]
        report: &'a Report,
    }
    let document = Document {
        schema: SCHEMA,
        report,
    };
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(|e| Error::io("write", file.place(), e.into()))?;
    text.push('\n');
    file.write(text.as_bytes())
}

/// The report without its Workers, for the last line of a stream.
#[derive(Serialize)]
struct Rest<'a> {
    operation_id: Option<String>,
    outcome: &'a str,
    roots: &'a [wagg::ops::migrate::RootReport],
    moved_up: Option<&'a str>,
    diagnostics: &'a [MigrationDiagnostic],
    findings: &'a [serde_json::Value],
    summary: &'a wagg::ops::migrate::Summary,
    facts: Option<&'a str>,
    next: Option<&'a str>,
}

impl<'a> Rest<'a> {
    fn of(report: &'a Report) -> Self {
        Self {
            operation_id: report.operation_id.map(|id| id.to_string()),
            outcome: &report.outcome,
            roots: &report.roots,
            moved_up: report.moved_up.as_deref(),
            diagnostics: &report.diagnostics,
            findings: &report.findings,
            summary: &report.summary,
            facts: report.facts.as_deref(),
            next: report.next.as_deref(),
        }
    }
}

impl Row for WorkerReport {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[
        Column::new("worker"),
        Column::new("did"),
        Column::new("session"),
        Column::number("files"),
        Column::number("bytes"),
        Column::new("reason"),
        Column::text("place"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let did = match (self.did, self.pending) {
            (Did::Migrate | Did::Migrated, true) => format!("{} (pending)", self.did.as_str()),
            _ => self.did.as_str().to_owned(),
        };
        let did = Cell::new(did);
        let did = match self.did {
            Did::Left | Did::NotReached => did.style(Style::Warning),
            _ => did,
        };
        let counted = self.bytes > 0 || self.files > 0;
        let why = self.why.as_ref();
        let place = why.map(|why| {
            let line = why.line.map_or_else(String::new, |line| format!(":{line}"));
            let byte = match (why.line, why.byte) {
                (Some(_), Some(byte)) => format!(":{byte}"),
                _ => String::new(),
            };
            format!("{}{line}{byte}", why.path)
        });
        vec![
            Cell::maybe(self.worker_id),
            did,
            Cell::maybe(self.session_id),
            Cell::maybe(Some(self.files).filter(|n| *n > 0)),
            if counted {
                Cell::size(self.bytes)
            } else {
                Cell::none()
            },
            Cell::maybe(why.map(|why| why.code.as_str())),
            Cell::maybe(place),
            Cell::maybe(why.map(|why| why.message.as_str())),
        ]
    }

    fn id(&self) -> String {
        self.worker_id.map_or_else(String::new, |id| id.to_string())
    }
}

/// A Worker that was moved or is there, for a person.
#[derive(Serialize)]
#[serde(transparent)]
struct Short<'a>(&'a WorkerReport);

impl Row for Short<'_> {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[
        Column::new("worker"),
        Column::new("did"),
        Column::new("session"),
        Column::number("files"),
        Column::number("bytes"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let mut cells = self.0.cells();
        cells.truncate(Self::COLUMNS.len());
        cells
    }

    fn id(&self) -> String {
        self.0.id()
    }
}

/// A Worker that was left, for a person.
#[derive(Serialize)]
#[serde(transparent)]
struct Reason<'a>(&'a WorkerReport);

impl Row for Reason<'_> {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[
        Column::new("worker"),
        Column::new("reason"),
        Column::text("place"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let mut cells = self.0.cells();
        let mut last = cells.split_off(5);
        cells.truncate(1);
        cells.append(&mut last);
        cells
    }

    fn id(&self) -> String {
        self.0.id()
    }
}

/// What a person reads: what was left first, since that is what there is to do.
fn blocks(report: &Report, ui: &Ui, block: &mut Block) {
    let planned = report.outcome == "planned";
    let s = &report.summary;
    if let Some(folder) = &report.moved_up {
        let told = if planned {
            "to be moved up"
        } else {
            "moved up"
        };
        block.field("oldest layout", Cell::new(format!("{folder}, {told}")));
    }
    let left = |worker: &&WorkerReport| worker.why.is_some();
    let (reasons, others): (Vec<&WorkerReport>, Vec<&WorkerReport>) =
        report.workers.iter().partition(left);
    if planned || ui.verbose() > 0 || others.len() <= LISTED {
        if !others.is_empty() {
            block
                .heading(if planned { "Plan" } else { "Workers" })
                .rows(others.into_iter().map(Short));
        }
    } else {
        block.field("migrated", Cell::new(s.migrated));
        block.field("there already", Cell::new(s.done + s.advanced));
        block.field("without legacy metadata", Cell::new(s.no_legacy_metadata));
    }
    if !reasons.is_empty() {
        let heading = if planned { "Would be left" } else { "Left" };
        block.heading(heading).rows(reasons.into_iter().map(Reason));
    }
    if !report.diagnostics.is_empty() {
        block
            .heading("Owned by nobody in the catalog, or claimed twice")
            .rows(report.diagnostics.iter().map(Left));
    }
    if ui.verbose() > 0 && !report.findings.is_empty() {
        block
            .heading("Remarks")
            .rows(report.findings.iter().map(Remark));
    }
}

/// A finding that is in nobody's way.
#[derive(Serialize)]
#[serde(transparent)]
struct Remark<'a>(&'a serde_json::Value);

impl Row for Remark<'_> {
    const NOUN: &'static str = "findings";
    const TYPE: &'static str = "finding";
    const COLUMNS: &'static [Column] = &[
        Column::new("severity"),
        Column::new("code"),
        Column::text("place"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let text = |field: &str| Cell::maybe(self.0.get(field).and_then(|v| v.as_str()));
        vec![
            text("severity"),
            text("code"),
            text("path"),
            text("message"),
        ]
    }

    fn id(&self) -> String {
        let path = self.0.get("path").and_then(|v| v.as_str());
        path.unwrap_or_default().to_owned()
    }
}

/// What was done, in a line, and the command that goes on from here.
fn close(report: &Report, ui: &Ui) {
    let s = &report.summary;
    let mut told = vec![match report.outcome.as_str() {
        "planned" => format!(
            "{} would be moved ({})",
            text::plural(s.migrated, "Worker", "Workers"),
            text::size(s.bytes)
        ),
        _ => format!(
            "{} moved ({}, {})",
            text::plural(s.migrated, "Worker", "Workers"),
            text::plural(s.files, "file", "files"),
            text::size(s.bytes)
        ),
    }];
    let mut also = |n: u64, what: &str| {
        if n > 0 {
            told.push(format!("{n} {what}"));
        }
    };
    also(s.done, "there already");
    also(s.advanced, "that went on since");
    also(s.pending, "pending");
    also(s.no_legacy_metadata, "without legacy metadata");
    also(s.left, "left");
    also(s.not_reached, "not come to");
    also(s.orphan_metadata, "orphan metadata");
    let sessions = |n: u64, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    also(
        s.orphan_sessions,
        sessions(s.orphan_sessions, "orphan Session", "orphan Sessions"),
    );
    also(
        s.shared_sessions,
        sessions(s.shared_sessions, "shared Session", "shared Sessions"),
    );
    ui.status(told.join(", "));
    let remarks = report.findings.len() as u64;
    if remarks > 0 && ui.verbose() == 0 {
        ui.status(format!(
            "{} with -v",
            text::plural(remarks, "remark", "remarks")
        ));
    }
    if let Some(facts) = &report.facts {
        ui.status(format!("digests, sizes and times: {facts}"));
    }
    if let Some(next) = &report.next {
        ui.hint(next);
    }
}
