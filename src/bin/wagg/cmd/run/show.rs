//! `wagg run show`

use serde::Serialize;
use wagg::diag::{Code, Error, Exit, Result};
use wagg::ops::resolve::{Identity, Resolver, RunName, wrong_kind};
use wagg::ops::run::{self, Details, RunFile};

use crate::cmd::{reading, store};
use crate::ui::{Cell, Column, Row, Ui, text};

/// Show one run: its state with the reason, and the files that it left
///
/// The state is what reading tells: reserved (a generation without a folder), prepared (nothing
/// happened in it yet), live (its socket answers: a hint, no proof), leftover socket, stopped.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg run show 7\n  wagg run show 7 3 --format json")]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder or to that of a run
    #[arg(value_name = "WORKER")]
    worker: String,

    /// The generation, or the name of a run's folder [default: the current one]
    #[arg(value_name = "GEN")]
    run: Option<String>,
}

/// Prints what there is to know.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find_to_read(ui)?;
    let resolver = Resolver::new(&store);
    let named = args.run.as_ref().map(|name| RunName::of(name.as_ref()));
    let (worker, named) = match (resolver.resolve(&args.worker)?, named) {
        (Identity::Worker(worker), named) => (worker, named),
        (Identity::Run { worker, run }, None) => (worker, Some(run)),
        (Identity::Run { .. }, Some(_)) => {
            return Err(Error::new(
                Code::Usage,
                format!("{} is a run already; leave the second one out", args.worker),
            ));
        }
        (other, _) => return Err(wrong_kind(&store, &args.worker, "a Worker", &other)),
    };
    store::tell_worker(&store, &worker, ui);
    let line = Line(run::show(&store, &worker, named.as_ref())?);
    let (details, run) = (&line.0, &line.0.run);
    reading::one(ui, "wagg.run.show/1", &line, |block| {
        let total = |total: run::Total| {
            let files = text::plural(total.files, "file", "files");
            let size = text::size(total.bytes);
            Cell::two(format!("{size} in {files}"), total.bytes)
        };
        let size = |bytes: Option<u64>| bytes.map_or_else(Cell::none, Cell::size);
        block
            .field("worker", Cell::new(run.worker_id))
            .field("run", Cell::new(&run.name))
            .field("current", Cell::yes_no(run.current))
            .field("state", super::state(run))
            .field("reason", Cell::new(&run.reason))
            .field("place", Cell::new(&run.path))
            .field("changed", reading::time(run.changed))
            .field("out log", size(run.out_log_bytes))
            .field("err log", size(run.err_log_bytes))
            .field("artifacts", total(run.artifacts))
            .field("spawned", total(run.spawned))
            .field("in all", total(run.total));
        if !details.files.is_empty() {
            block.heading("Files").rows(details.files.iter().map(File));
        }
        if details.files_not_listed > 0 {
            let more = details.files_not_listed;
            block.field(
                "not listed",
                Cell::new(text::plural(more, "more file", "more files")),
            );
        }
    })?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Line(Details);

impl Row for Line {
    const NOUN: &'static str = "runs";
    const TYPE: &'static str = "run";
    const COLUMNS: &'static [Column] = &[Column::new("run")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(self.id())]
    }

    fn id(&self) -> String {
        self.0.run.name.clone()
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct File<'a>(&'a RunFile);

impl Row for File<'_> {
    const NOUN: &'static str = "files";
    const TYPE: &'static str = "file";
    const COLUMNS: &'static [Column] = &[
        Column::number("size"),
        Column::new("kind"),
        Column::text("path"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::size(self.0.bytes),
            Cell::new(self.0.kind),
            Cell::new(&self.0.path),
        ]
    }

    fn id(&self) -> String {
        self.0.path.clone()
    }
}
