//! `wagg segment list`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::segment::{self, Order, Segment};

use crate::cmd::reading::{self, ShortIds};
use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Style, Ui};

/// List the Segments of a Worker, with what each comes to
///
/// The Segment that a restore starts from is marked with *. With --tree each stands below the one
/// that it was forked or compacted from. Every Segment is read through once. On a terminal ids are
/// cut as short as they are unique in the store.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment list 7 --tree\n  wagg segment list 7 --ids | tail -n1"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    /// Show how they descend from each other
    #[arg(long)]
    tree: bool,

    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let worker = Resolver::new(&store).worker(&args.worker)?;
    store::tell_worker(&store, &worker, ui);
    let order = if args.tree { Order::Tree } else { Order::Id };
    let segments = segment::list(&store, &worker, order, ui.progress())?;
    let short = ShortIds::of(&store, ui)?;
    let branches = if args.tree {
        branches(&segments)
    } else {
        vec![String::new(); segments.len()]
    };
    let rows = segments.iter().zip(branches).map(|(segment, branch)| Line {
        segment,
        id: Cell::two(
            format!("{branch}{}", short.segment(segment.segment_id)),
            segment.segment_id,
        ),
        // In a tree the source stands above, so that its turn is enough.
        from: super::from(segment, &short, args.tree),
        last: reading::minute(segment.last_time, ui),
    });
    ui.list(
        "wagg.segment.list/1",
        rows,
        &args.list,
        NO_SUMMARY,
        "no Segments",
    )?;
    Ok(Exit::Ok)
}

/// The lines of the tree before each id.
fn branches(segments: &[Segment]) -> Vec<String> {
    // For each level above, whether more siblings follow there.
    let mut open: Vec<bool> = Vec::new();
    segments
        .iter()
        .map(|segment| {
            let depth = usize::try_from(segment.depth).unwrap_or(0).min(64);
            open.truncate(depth);
            let mut out = String::new();
            if depth > 0 {
                for more in open.iter().skip(1) {
                    out.push_str(if *more { "│ " } else { "  " });
                }
                out.push_str(if segment.last_sibling {
                    "└─"
                } else {
                    "├─"
                });
            }
            open.resize(depth, false);
            open.push(!segment.last_sibling);
            out
        })
        .collect()
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    segment: &'a Segment,
    #[serde(skip)]
    id: Cell,
    #[serde(skip)]
    from: Cell,
    #[serde(skip)]
    last: Cell,
}

impl Row for Line<'_> {
    const NOUN: &'static str = "segments";
    const TYPE: &'static str = "segment";
    const COLUMNS: &'static [Column] = &[
        Column::mark("active"),
        Column::new("segment"),
        Column::text("from").spare(1),
        Column::number("turn"),
        Column::number("records"),
        Column::number("size").spare(2),
        Column::new("last").spare(3),
        Column::text("state"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let segment = self.segment;
        let active = if segment.active { "yes" } else { "no" };
        let mark = if segment.active { "*" } else { " " };
        vec![
            Cell::two(mark, active).style(Style::Good),
            self.id.clone(),
            self.from.clone(),
            Cell::new(segment.turn),
            Cell::new(segment.records),
            Cell::size(segment.bytes),
            self.last.clone(),
            state(segment),
        ]
    }

    fn id(&self) -> String {
        self.segment.segment_id.to_string()
    }
}

/// What is wrong; else whether the last run counts as interrupted.
fn state(segment: &Segment) -> Cell {
    if segment.problems.is_empty() && segment.interrupted {
        return Cell::new("interrupted").style(Style::Note);
    }
    reading::verdict(&segment.problems)
}
