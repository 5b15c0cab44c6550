//! `wagg worker show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::worker::{self, Details, Relative};

use super::list::{name, run_cell, session};
use crate::cmd::{findings, reading, store};
use crate::ui::{Cell, Column, Row, Style, Ui};

/// Show one Worker: its Session and active Segment, runs, children, peers, and what is wrong
///
/// Reads its documents and its Segments, as wagg verify WORKER does.
/// Findings that are mere information are shown with -v.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg worker show 7\n  wagg worker show 'deploy bot' --format json"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,
}

/// Prints what there is to know.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let worker = Resolver::new(&store).worker(&args.worker)?;
    let mut details = worker::show(&store, &worker)?;
    findings::paste(&mut details.findings, ui);
    let line = Line(details);
    let details = &line.0;
    let summary = &details.summary;
    let shown = reading::findings(&details.findings, ui);
    reading::one(ui, "wagg.worker.show/1", &line, |block| {
        block
            .field("worker", Cell::new(worker.id))
            .field("name", name(summary))
            .field("place", Cell::new(&summary.path))
            .field("profile", Cell::maybe(details.profile.as_ref()))
            .field("workspace", Cell::maybe(details.workspace_id.as_ref()))
            .field("session", session(summary))
            .field("session id", Cell::maybe(summary.session_id))
            .field("active segment", Cell::maybe(summary.active_segment_id))
            .field("segments", Cell::new(summary.segments))
            .field("size", Cell::size(summary.segment_bytes))
            .field("traces", Cell::size(summary.trace_bytes))
            .field("changed", reading::time(summary.changed))
            .field("last run", run_cell(summary))
            .field("run folders", Cell::new(summary.runs));
        if !summary.live_runs.is_empty() {
            let text = "something answers: a hint that it is live, no proof";
            block.field("live", Cell::new(text).style(Style::Note));
        }
        relatives(block, "child", &details.children);
        relatives(block, "reclaimed child", &details.reclaimed_children);
        relatives(block, "peer", &details.peers);
        block.field("state", reading::verdict(&summary.problems));
        reading::add_rows(block, &shown, ui);
    })?;
    reading::below(shown, worker.id, ui)?;
    Ok(Exit::Ok)
}

fn relatives(block: &mut crate::ui::Block, name: &str, all: &[Relative]) {
    for one in all {
        let scope = one.scope.as_ref().map_or(0, Vec::len);
        let text = match scope {
            0 => one.worker_name.clone(),
            1 => format!("{} (1 scope rule)", one.worker_name),
            n => format!("{} ({n} scope rules)", one.worker_name),
        };
        block.field(name, Cell::new(text));
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Details);

impl Row for Line {
    const NOUN: &'static str = "workers";
    const TYPE: &'static str = "worker";
    const COLUMNS: &'static [Column] = &[Column::new("id")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(self.id())]
    }

    fn id(&self) -> String {
        let summary = &self.0.summary;
        summary
            .worker_id
            .map_or_else(|| summary.path.clone(), |id| id.to_string())
    }
}
