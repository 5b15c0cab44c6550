//! `wagg migrate` itself.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use wagg::diag::{Code, Effects, Error, Exit, Result};
use wagg::ops::legacy::Roots;
use wagg::ops::migrate::{Done, Home, Options, migrate};

use super::answer;
use crate::cmd::change::{self, ChangeFlags, Made};
use crate::cmd::output::{Kind, Outputs};
use crate::cmd::store;
use crate::ui::Ui;

/// What to move, and how.
#[derive(Debug, clap::Args)]
pub struct Start {
    /// The legacy Session root: one folder a Session
    #[arg(long, value_name = "DIR", required = true)]
    sessions: Option<PathBuf>,

    /// The legacy metadata root: one folder a Worker name
    #[arg(long, value_name = "DIR", required = true)]
    metadata: Option<PathBuf>,

    /// Stop at the first Worker that can not be moved, as the Runtime's own migration did
    #[arg(long)]
    fail_fast: bool,

    /// Compare every byte of what former runs moved, not names, sizes and times only
    #[arg(long)]
    deep: bool,

    /// How many threads to work with, at most 256 [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = crate::cmd::numbers::parse_jobs, allow_negative_numbers = true)]
    jobs: Option<NonZeroUsize>,

    /// Write the whole answer to a file as well
    #[arg(long, value_name = "json=FILE", value_parser = parse_report)]
    report: Option<PathBuf>,

    #[command(flatten)]
    change: ChangeFlags,
}

fn parse_report(text: &str) -> std::result::Result<PathBuf, String> {
    match text.split_once('=') {
        Some(("json", path)) if !path.is_empty() => Ok(path.into()),
        Some((kind, _)) if kind != "json" => {
            Err(format!("{kind:?} is no kind of report here; json is"))
        }
        _ => Err("expected json=FILE".to_owned()),
    }
}

/// Migrates, and prints what became of it.
pub fn run(args: Start, ui: &Ui) -> Result<Exit> {
    let (Some(sessions), Some(metadata)) = (args.sessions, args.metadata) else {
        return Err(Error::new(
            Code::Usage,
            "--sessions and --metadata are both needed",
        ));
    };
    let options = Options {
        roots: Roots { sessions, metadata },
        fail_fast: args.fail_fast,
        deep: args.deep,
        jobs: args.jobs.unwrap_or(Options::default().jobs),
    };
    // A store of the oldest layout is found only by its name.
    let path = match ui.store() {
        Some(path) => path.to_owned(),
        None => store::find(ui)?.path().to_owned(),
    };
    // Looked at before the work, so that a migration does not end without its report.
    let report = match &args.report {
        Some(file) => {
            let mut outputs = Outputs::of(&path)
                .beside(&options.roots.sessions, "the legacy Session root")
                .beside(&options.roots.metadata, "the legacy metadata root");
            Some(outputs.file(file, Kind::Report)?)
        }
        None => None,
    };
    let home = Home::open(&path)?;
    // What an error says of places below it can then be looked at.
    ui.opened(home.root.root());
    let mut done = args
        .change
        .with(ui, |flags| migrate(home, &options, flags, ui.progress()))?;
    done.report.next = done.report.next.map(|next| ui.pasted(&next));
    let made = Made {
        effects: if args.change.is_dry_run() || done.report.operation_id.is_none() {
            Effects::None
        } else if done.report.is_complete() {
            Effects::All
        } else {
            Effects::Some
        },
        retried: done.report.request_id.is_some(),
    };
    change::answer(made, ui, || answer::show(&done.report, &done.settled, ui))?;
    if let Some(file) = &report {
        // The migration has been made whatever becomes of its report.
        let made = done.report.operation_id.is_some();
        let effects = if made { Effects::All } else { Effects::None };
        answer::write(&done.report, file).map_err(|e| e.effects(effects))?;
    }
    Ok(exit(done, ui))
}

/// The status that it ends with, after an error that stopped it was told.
fn exit(done: Done, ui: &Ui) -> Exit {
    let Some(error) = done.stopped else {
        return if done.report.is_complete() {
            Exit::Ok
        } else {
            Exit::Left
        };
    };
    ui.error(&error);
    match error.effects {
        _ if error.code == Code::Interrupted => Exit::Interrupted,
        // Some were moved and others are left: the next run goes on.
        Effects::Some => Exit::Left,
        _ => error.exit(),
    }
}
