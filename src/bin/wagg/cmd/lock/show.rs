//! `wagg lock show`

use serde::Serialize;
use wagg::diag::{Exit, Result};
use wagg::store::{Held, LockState, lock_states};

use crate::cmd::store;
use crate::ui::{Cell, Column, ListFlags, NO_SUMMARY, Row, Style, Ui};

/// Show who holds which lock of a store
///
/// Reads only. All locks are let go by the kernel when their process ends, so there is no stale
/// lock and nothing to unlock. What a holder says of itself is for people; whether a lock is held
/// is asked of the kernel where it tells.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg lock show\n  wagg lock show --all --format json")]
pub struct Args {
    /// Also those that nobody holds
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    list: ListFlags,
}

/// Prints the list.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let rows = lock_states(store.dir())?
        .into_iter()
        .filter(|state| args.all || state.held != Held::Free)
        .map(Line::of);
    ui.list(
        "wagg.lock.show/1",
        rows,
        &args.list,
        NO_SUMMARY,
        "nobody holds a lock",
    )?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Line {
    lock: String,
    #[serde(flatten)]
    state: LockState,
}

impl Line {
    fn of(state: LockState) -> Self {
        let path = state.path.to_string_lossy();
        let lock = match &*path {
            ".wagg/store.lock" => "store".to_owned(),
            ".wagg/journal.lock" => "journal".to_owned(),
            wagg::layout::file::MIGRATION_LOCK => "migration".to_owned(),
            path => match path
                .strip_prefix(".wagg/workers/")
                .and_then(|name| name.strip_suffix(".lock"))
            {
                Some(id) => format!("worker {id}"),
                None => path.to_owned(),
            },
        };
        Self { lock, state }
    }
}

impl Row for Line {
    const NOUN: &'static str = "locks";
    const TYPE: &'static str = "lock";
    const COLUMNS: &'static [Column] = &[
        Column::new("lock"),
        Column::new("held"),
        Column::new("pid"),
        Column::text("command"),
        Column::new("since").spare(1),
        Column::new("host").spare(2),
    ];

    fn cells(&self) -> Vec<Cell> {
        let holder = self.state.holder.as_ref();
        let (held, style) = match self.state.held {
            Held::Free => ("free", Style::Plain),
            Held::Shared => ("shared", Style::Note),
            Held::Exclusive => ("exclusive", Style::Warning),
        };
        let pids: Vec<String> = if self.state.pids.is_empty() {
            holder.map(|h| h.pid.to_string()).into_iter().collect()
        } else {
            self.state.pids.iter().map(u32::to_string).collect()
        };
        vec![
            Cell::new(&self.lock),
            Cell::new(held).style(style),
            Cell::new(pids.join(",")),
            Cell::maybe(holder.map(|h| &h.command)),
            Cell::maybe(holder.map(|h| &h.since)),
            Cell::maybe(holder.map(|h| &h.host)),
        ]
    }

    fn id(&self) -> String {
        self.state.path.to_string_lossy().into_owned()
    }
}
