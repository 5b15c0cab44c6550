//! `wagg segment diff`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::segment::diff::{self, Diff, Shown, Side};

use crate::cmd::store;
use crate::ui::{Cell, Column, Format, ListFlags, Row, Style, Ui, text};

/// Show where the histories of two Segments part, and what each has from there
///
/// Both are replayed as a restore would, and compared item by item: not by their bytes, but by what
/// they say. They may belong to different Workers. A Segment that does not replay ends it.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment diff 7/active 7/latest\n  wagg segment diff 0189ab 0189cd --limit 3 --format json"
)]
pub struct Args {
    /// One Segment: an id or its first hex digits, 7/active, 7/latest, or a path
    #[arg(value_name = "A")]
    a: String,

    /// The other
    #[arg(value_name = "B")]
    b: String,

    /// How many items of each are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Prints where they part.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let resolver = Resolver::new(&store);
    let (a, b) = (resolver.segment(&args.a)?, resolver.segment(&args.b)?);
    let diff = diff::diff(&store, &a, &b, args.limit, ui.progress())?;
    let sides = [("a", &diff.segments[0]), ("b", &diff.segments[1])];
    const SCHEMA: &str = "wagg.segment.diff/1";
    if matches!(ui.format(), Format::Json | Format::Ndjson) {
        let rows = sides.map(|(_, side)| Whole(side));
        let summary = Summary::of(&diff);
        ui.list(SCHEMA, rows, &ListFlags::default(), Some(summary), "")?;
        return Ok(Exit::Ok);
    }
    ui.object(SCHEMA, &(), |block| {
        for (name, side) in sides {
            block.field(name, Cell::new(describe(side)));
        }
        block
            .field("common items", Cell::new(diff.common_items))
            .field("last common", last(&diff))
            .field("same history", Cell::yes_no(diff.same_history))
            .field("same prompt", Cell::yes_no(diff.same_system_prompt))
            .field("same config", Cell::yes_no(diff.same_config));
        for (name, side) in sides {
            if side.own_items == 0 {
                continue;
            }
            let items = text::plural(side.own_items, "item", "items");
            block.heading(&format!("{}: {items} from there", name.to_uppercase()));
            let room = ui
                .width()
                .map_or(200, |width| usize::from(width).saturating_sub(52));
            block.rows(side.items.iter().map(|item| Line {
                side: name,
                item,
                room: if ui.format() == Format::Table {
                    room.max(24)
                } else {
                    usize::MAX
                },
            }));
            let more = side.own_items - side.items.len() as u64;
            if more > 0 {
                block.text(&format!("… and {more} more"));
            }
        }
    })?;
    Ok(Exit::Ok)
}

/// One of the two, in JSON.
#[derive(Serialize)]
#[serde(transparent)]
struct Whole<'a>(&'a Side);

impl Row for Whole<'_> {
    const NOUN: &'static str = "segments";
    const TYPE: &'static str = "segment";
    const COLUMNS: &'static [Column] = &[Column::new("segment")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(self.id())]
    }

    fn id(&self) -> String {
        self.0.segment_id.to_string()
    }
}

/// What both have in common, in JSON.
#[derive(Serialize)]
struct Summary<'a> {
    common_items: u64,
    last_common: Option<&'a Shown>,
    same_history: bool,
    same_system_prompt: bool,
    same_config: bool,
}

impl<'a> Summary<'a> {
    fn of(diff: &'a Diff) -> Self {
        Self {
            common_items: diff.common_items,
            last_common: diff.last_common.as_ref(),
            same_history: diff.same_history,
            same_system_prompt: diff.same_system_prompt,
            same_config: diff.same_config,
        }
    }
}

fn describe(side: &Side) -> String {
    format!(
        "{} of Worker {}: {}, turn {}",
        side.segment_id,
        side.worker_id,
        text::plural(side.history_items, "item", "items"),
        side.turn
    )
}

fn last(diff: &Diff) -> Cell {
    match &diff.last_common {
        Some(item) => {
            let text = text::shorten(&text::one_line(&item.text), 60);
            Cell::new(format!("line {} of B, {}: {text}", item.line, item.speaker))
        }
        None => Cell::none(),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip)]
    side: &'static str,
    #[serde(flatten)]
    item: &'a Shown,
    #[serde(skip)]
    room: usize,
}

impl Row for Line<'_> {
    const NOUN: &'static str = "items";
    const TYPE: &'static str = "item";
    const COLUMNS: &'static [Column] = &[
        Column::new("side"),
        Column::number("item"),
        Column::number("line"),
        Column::number("turn"),
        Column::new("speaker"),
        Column::new("kind"),
        Column::text("text"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let item = self.item;
        let line = text::one_line(&item.text);
        vec![
            Cell::new(self.side),
            Cell::new(item.index),
            Cell::new(item.line),
            Cell::new(item.turn),
            Cell::new(item.speaker).style(Style::Bold),
            Cell::new(item.kind),
            Cell::two(text::shorten(&line, self.room), &item.text),
        ]
    }

    fn id(&self) -> String {
        self.item.index.to_string()
    }
}
