//! `wagg worker list`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::worker::{self, SessionStatus, Summary};

use crate::cmd::reading::{self, ShortIds};
use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Style, Ui};

/// List the Workers of a store
///
/// Says of each what its documents and the names of its files tell: the Session, the active
/// Segment, the last run, sizes, and problems at a glance. No Segment is read, so the
/// best that is said is documents ok; wagg worker show and wagg verify read them. An answering socket is a hint that a run is live, and no proof.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg worker list\n  wagg worker list --ids | xargs -n1 wagg run list"
)]
pub struct Args {
    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let short = ShortIds::of(&store, ui)?;
    let rows = worker::list(&store)?.map(|summary| Line {
        worker: short.worker(summary.worker_id, &summary.path),
        active: short.maybe(summary.active_segment_id),
        summary,
    });
    ui.list(
        "wagg.worker.list/1",
        rows,
        &args.list,
        NO_SUMMARY,
        "no Workers",
    )?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip)]
    worker: Cell,
    #[serde(skip)]
    active: Cell,
}

impl Row for Line {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[
        Column::new("id"),
        Column::text("name"),
        Column::new("session").spare(1),
        Column::new("active"),
        Column::number("segs"),
        Column::number("size").spare(2),
        Column::new("run"),
        Column::text("state"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let summary = &self.summary;
        vec![
            self.worker.clone(),
            name(summary),
            session(summary),
            self.active.clone(),
            Cell::new(summary.segments),
            Cell::size(summary.segment_bytes.saturating_add(summary.trace_bytes)),
            run_cell(summary),
            if summary.problems.is_empty() {
                Cell::new("documents ok").style(Style::Good)
            } else {
                reading::verdict(&summary.problems)
            },
        ]
    }

    fn id(&self) -> String {
        self.summary
            .worker_id
            .map_or_else(|| self.summary.path.clone(), |id| id.to_string())
    }
}

/// The name for people, else the one that is no more than the id.
pub(super) fn name(summary: &Summary) -> Cell {
    let own = summary.worker_id.map(wagg::layout::WorkerName::of);
    let other = summary
        .worker_name
        .as_deref()
        .filter(|name| own.as_ref().is_none_or(|own| own.as_str() != *name));
    Cell::maybe(summary.display_name.as_deref().or(other))
}

pub(super) fn session(summary: &Summary) -> Cell {
    Cell::new(summary.session.as_str()).style(match summary.session {
        SessionStatus::Present => Style::Plain,
        SessionStatus::None | SessionStatus::Reserved => Style::Dim,
        SessionStatus::Damaged | SessionStatus::Unreadable | SessionStatus::UnsupportedVersion => {
            Style::Error
        }
    })
}

/// The last generation, and what answers.
pub(super) fn run_cell(summary: &Summary) -> Cell {
    let last = summary
        .generation
        .map_or_else(|| "-".to_owned(), |generation| generation.to_string());
    if !summary.live_runs.is_empty() {
        let live = summary.live_runs.join(",");
        let text = if live == last {
            format!("{last} live")
        } else {
            format!("{last} ({live} live)")
        };
        return Cell::new(text).style(Style::Good);
    }
    if !summary.stale_sockets.is_empty() {
        return Cell::new(format!("{last} (old socket)"));
    }
    Cell::new(last)
}
