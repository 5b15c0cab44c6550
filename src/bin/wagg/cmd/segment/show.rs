//! `wagg segment show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::segment::{self, Details};

use crate::cmd::reading::{self, ShortIds};
use crate::cmd::{findings, store};
use crate::ui::{Cell, Column, Row, Style, Ui};

/// Show one Segment: counts, turns, tokens, lineage, digest, and what is wrong with it
///
/// Reads it through once, behind damage too. What a restore would start with is counted: items of
/// history, the turn, whether the last run counts as interrupted. Findings that are mere
/// information are shown with -v.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment show 7/active\n  wagg segment show 0189ab --format json"
)]
pub struct Args {
    /// The Segment: an id or its first hex digits, 7/active, 7/latest, or a path
    #[arg(value_name = "SEGMENT")]
    segment: String,
}

/// Prints what there is to know.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let reference = Resolver::new(&store).segment(&args.segment)?;
    let mut details = segment::show(&store, &reference, ui.progress())?;
    findings::paste(&mut details.findings, ui);
    let line = Line(details);
    let details = &line.0;
    let one = &details.segment;
    let short = ShortIds::of(&store, ui)?;
    let shown = reading::findings(&details.findings, ui);
    reading::one(ui, "wagg.segment.show/1", &line, |block| {
        let ids = |all: &[wagg::layout::SegmentId]| {
            let texts = |f: &dyn Fn(wagg::layout::SegmentId) -> String| {
                let all: Vec<String> = all.iter().map(|id| f(*id)).collect();
                all.join(" ")
            };
            Cell::two(texts(&|id| short.segment(id)), texts(&|id| id.to_string()))
        };
        block
            .field("segment", Cell::new(one.segment_id))
            .field("worker", Cell::new(one.worker_id))
            .field("session", Cell::maybe(one.session_id))
            .field("place", Cell::new(&one.path))
            .field("active", Cell::yes_no(one.active))
            .field("from", super::from(one, &short, false))
            .field("ancestors", ids(&details.ancestors))
            .field("children", ids(&details.child_segment_ids))
            .field("records", Cell::new(one.records))
            .field("turn", Cell::new(one.turn))
            .field("history items", Cell::new(one.history_items))
            .field("user inputs", Cell::new(one.inputs));
        let interrupted = Cell::yes_no(one.interrupted);
        block
            .field(
                "interrupted",
                if one.interrupted {
                    interrupted.style(Style::Note)
                } else {
                    interrupted
                },
            )
            .field("requests", Cell::new(one.usage_records))
            .field("tokens in", Cell::new(one.input_tokens))
            .field("tokens out", Cell::new(one.output_tokens))
            .field("last request", Cell::new(one.last_input_tokens))
            .field("extensions", Cell::new(one.extensions))
            .field("first record", reading::time(one.first_time))
            .field("last record", reading::time(one.last_time))
            .field("changed", reading::time(one.changed))
            .field("size", Cell::size(one.bytes))
            .field("committed", Cell::size(one.committed_bytes));
        if one.tail_bytes > 0 {
            block.field(
                "torn tail",
                Cell::size(one.tail_bytes).style(Style::Warning),
            );
        }
        if one.bad_lines > 0 {
            block.field("bad lines", Cell::new(one.bad_lines).style(Style::Error));
        }
        block
            .field("trace", one.trace_bytes.map_or_else(Cell::none, Cell::size))
            .field("sha256", Cell::new(&details.sha256))
            .field("state", reading::verdict(&one.problems));
        reading::add_rows(block, &shown, ui);
    })?;
    reading::below(shown, one.worker_id, ui)?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Details);

impl Row for Line {
    const NOUN: &'static str = "segments";
    const TYPE: &'static str = "segment";
    const COLUMNS: &'static [Column] = &[Column::new("segment")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(self.id())]
    }

    fn id(&self) -> String {
        self.0.segment.segment_id.to_string()
    }
}
