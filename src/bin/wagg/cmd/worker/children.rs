//! `wagg worker children`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::ops::resolve::Resolver;
use wagg::ops::worker::children::{self, ChildLine};

use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Ui, text};

/// List what a Worker delegated to its children
///
/// Children are what metadata.json says now: no history, and no sign of life. Those whose scope
/// was taken back come last.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg worker children 7\n  wagg worker children 7 --ids | xargs -n1 wagg worker reclaim 7"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let worker = Resolver::new(&store).worker(&args.worker)?;
    let rows = children::children(&store, &worker)?.into_iter().map(Line);
    ui.list(
        "wagg.worker.children/1",
        rows,
        &args.list,
        NO_SUMMARY,
        "no children",
    )?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(ChildLine);

impl Row for Line {
    const NOUN: &'static str = "children";
    const TYPE: &'static str = "child";
    const COLUMNS: &'static [Column] = &[
        Column::text("name"),
        Column::new("worker"),
        Column::new("state"),
        Column::text("scope"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let scope: Vec<String> = self
            .0
            .scope
            .iter()
            .map(|rule| {
                let below = if rule.recursive { "/**" } else { "" };
                format!("{} {}{below}", rule.permission, rule.target)
            })
            .collect();
        let human = match &scope[..] {
            [] => String::new(),
            [one] => one.clone(),
            [first, rest @ ..] => {
                let more = text::plural(rest.len() as u64, "more rule", "more rules");
                format!("{first} and {more}")
            }
        };
        vec![
            Cell::new(&self.0.worker_name),
            Cell::maybe(self.0.worker_id),
            Cell::new(self.0.state.as_str()),
            Cell::two(human, scope.join("; ")),
        ]
    }

    fn id(&self) -> String {
        format!("name:{}", self.0.worker_name)
    }
}
