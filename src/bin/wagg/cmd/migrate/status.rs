//! `wagg migrate status`: what the manifest says, and what was left.

use wagg::diag::{Exit, Result};
use wagg::layout::Paths;
use wagg::ops::migrate::LeftWorker;
use wagg::ops::migrate_status::{NO_CHECKPOINT, Status, WorkerStatus, status};
use wagg::record::document::MigrationDiagnostic;

use crate::cmd::store;
use crate::ui::{Cell, Column, Format, ListFlags, Row, Style, Ui, text};

/// Show what the migration's manifest says, and what was left
///
/// Each Worker with its state, whether its Session is in its folder now, and what was left in the
/// legacy roots and why. A store without a manifest was never migrated: that is an answer too.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg migrate status\n  wagg migrate status --format json"
)]
pub struct Args {
    #[command(flatten)]
    list: ListFlags,
}

/// Prints the answer.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let status = status(&store)?;
    show(&status, &args.list, ui)?;
    Ok(Exit::Ok)
}

fn show(status: &Status, list: &ListFlags, ui: &Ui) -> Result<()> {
    let s = &status.summary;
    if ui.format() == Format::Table && s.manifest && !list.ids && !list.null {
        ui.object("wagg.migrate.status/1", &s, |block| {
            block
                .field("manifest", Cell::new(Paths::manifest().display()))
                .field("complete", Cell::yes_no(s.complete))
                .field("workers", Cell::new(states(status)));
            if !status.workers.is_empty() {
                block.heading("Workers").rows(&status.workers);
            }
            if !s.folders.is_empty() {
                let folders = s.folders.iter().map(Folder);
                block.heading("Folders of no Worker").rows(folders);
            }
            if !s.diagnostics.is_empty() {
                let left = s.diagnostics.iter().map(Left);
                block.heading("Left in the legacy roots").rows(left);
            }
        })?;
    } else {
        let empty = if s.manifest {
            "no Workers"
        } else {
            "no migration here"
        };
        ui.list(
            "wagg.migrate.status/1",
            &status.workers,
            list,
            Some(s),
            empty,
        )?;
    }
    if matches!(ui.format(), Format::Table | Format::Tsv) && s.manifest {
        let not_reached = s.states.get(NO_CHECKPOINT).copied().unwrap_or(0);
        ui.status(format!(
            "{}; {} left{}, {} in the legacy roots",
            if s.complete {
                "the manifest says that no Worker is left"
            } else {
                "the manifest says that the migration is not complete"
            },
            text::plural(s.left, "Worker", "Workers"),
            match not_reached {
                0 => String::new(),
                n if n == s.left => " since no run has come to them".to_owned(),
                n => format!(", to {n} of which no run has come"),
            },
            text::plural(s.diagnostics.len() as u64, "source", "sources"),
        ));
        if s.left > 0 || !s.complete {
            ui.hint("wagg explain migration_incomplete");
        }
    }
    Ok(())
}

/// `3 migrated, 1 no_legacy_metadata`
fn states(status: &Status) -> String {
    let states: Vec<String> = status
        .summary
        .states
        .iter()
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    if states.is_empty() {
        "none".to_owned()
    } else {
        states.join(", ")
    }
}

impl Row for WorkerStatus {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[
        Column::new("worker"),
        Column::text("state"),
        Column::new("session"),
        Column::new("in_place"),
        Column::new("reason"),
        Column::text("place"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let state = Cell::new(&self.state);
        let in_place = match (self.in_catalog, self.session_in_place) {
            (false, _) => Cell::new("no Worker"),
            (true, None) if self.session_id.is_none() => Cell::none(),
            (true, None) => Cell::new("no"),
            (true, Some(there)) if self.session_id.is_none_or(|said| said == there) => {
                Cell::new("yes")
            }
            (true, Some(_)) => Cell::new("another"),
        };
        vec![
            Cell::new(&self.worker_id),
            if self.is_left() {
                state.style(Style::Warning)
            } else {
                state
            },
            Cell::maybe(self.session_id.or(self.session_in_place)),
            in_place,
            Cell::maybe(self.why.as_ref().map(|why| &why.code)),
            Cell::maybe(self.why.as_ref().map(place)),
            Cell::maybe(self.why.as_ref().map(|why| &why.message)),
        ]
    }

    fn id(&self) -> String {
        self.worker_id.clone()
    }
}

/// Where a reason is.
fn place(why: &LeftWorker) -> String {
    match (why.line, why.byte) {
        (Some(line), Some(byte)) => format!("{}:{line}:{byte}", why.path),
        (Some(line), None) => format!("{}:{line}", why.path),
        _ => why.path.clone(),
    }
}

/// A folder whose Worker nobody can tell.
#[derive(serde::Serialize)]
#[serde(transparent)]
struct Folder<'a>(&'a LeftWorker);

impl Row for Folder<'_> {
    const NOUN: &'static str = "folders";
    const TYPE: &'static str = "folder";
    const COLUMNS: &'static [Column] = &[
        Column::new("reason"),
        Column::text("place"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(&self.0.code),
            Cell::new(place(self.0)),
            Cell::new(&self.0.message),
        ]
    }

    fn id(&self) -> String {
        self.0.path.clone()
    }
}

/// What was left in a legacy root.
#[derive(serde::Serialize)]
#[serde(transparent)]
pub(super) struct Left<'a>(pub &'a MigrationDiagnostic);

impl Row for Left<'_> {
    const NOUN: &'static str = "diagnostics";
    const TYPE: &'static str = "diagnostic";
    const COLUMNS: &'static [Column] = &[
        Column::new("kind"),
        Column::text("source"),
        Column::text("message"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(&self.0.kind),
            Cell::new(&self.0.source),
            Cell::new(&self.0.message),
        ]
    }

    fn id(&self) -> String {
        self.0.source.clone()
    }
}
