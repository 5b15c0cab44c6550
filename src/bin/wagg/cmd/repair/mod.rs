//! `wagg repair`

mod answer;
mod item;

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::{Value, json};
use wagg::diag::{Code, Error, Exit, Locus, Result, shell_word};
use wagg::layout::WorkerId;
use wagg::ops::change::{Flags, Scope, fingerprint};
use wagg::ops::repair::{self, Options, PlanFile};
use wagg::record::Limits;
use wagg::store::Store;

use self::answer::{end, planned};
use super::output::{Kind, Outputs};
use super::{change, input, numbers, store};
use crate::ui::{ListFlags, Ui};

/// Mend a store: show what would be done, or do it
///
/// Without --apply nothing is changed: the plan is printed item by item, with the bytes before and
/// after. With --apply that very plan is carried out, one operation a Worker, under its lock. What
/// goes is kept in .wagg/quarantine/ with its SHA-256 before anything changes, and wagg op undo
/// brings it back to the byte.
///
/// Automatic items lose nothing that was committed. Lossy items take a committed record out, or
/// make a result up, and are carried out with --allow-lossy only. Manual items are a person's: they
/// say what to compare and which command carries out which choice.
///
/// The exit status is 0 if there is nothing to do, 1 if the plan is not empty or, with --apply, if
/// something of it is left.
#[derive(Debug, ClapArgs)]
#[command(
    after_long_help = "Examples:\n  wagg repair 7\n  wagg repair 7 --apply\n  wagg repair --only torn_tail --apply\n  wagg repair 7 --allow-lossy --plan-out plan.json && wagg repair --plan plan.json --apply"
)]
pub struct Args {
    /// Only these Workers: an id, a name, or anything that names one [default: the whole store]
    #[arg(value_name = "WORKER", conflicts_with = "plan")]
    workers: Vec<String>,

    /// Carry the plan out
    #[arg(long)]
    apply: bool,

    /// Only findings of this code; may be given more than once
    #[arg(long, value_name = "CODE", conflicts_with = "plan")]
    only: Vec<Code>,

    /// Take records out that can not be read, drop results without a call, make up missing results
    ///
    /// Each such record goes to quarantine, and an extension record of the domain wagg.repair in
    /// its place says what stood there. A result that is made up says so, and is an error.
    #[arg(long, conflicts_with = "plan")]
    allow_lossy: bool,

    /// Write the plan to a file, to be looked at and carried out later
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    plan_out: Option<PathBuf>,

    /// Take the plan from a file that --plan-out wrote
    ///
    /// What moved since is refused, item by item; a file that was changed is refused as a whole.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Do not look at lines longer than this (1GiB, 64MiB, 1000000)
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = numbers::parse_limit, conflicts_with = "plan")]
    max_line: u64,

    #[command(flatten)]
    flags: change::ChangeFlags,

    #[command(flatten)]
    list: ListFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    args.flags
        .with(ui, |flags| in_store(&store, &args, flags, ui))
}

fn in_store(store: &Store, args: &Args, flags: &Flags<'_>, ui: &Ui) -> Result<Exit> {
    // Looked at before the store is, which takes long.
    let out = match &args.plan_out {
        Some(path) => Some(Outputs::of(store.path()).file(path, Kind::Report)?),
        None => None,
    };
    let file = match &args.plan {
        Some(path) => {
            let bytes = input::bytes(path, input::MAX_INPUT)?;
            let plan = PlanFile::read(&bytes).map_err(|e| e.at(Locus::file(path)))?;
            Some((plan, given_file(&bytes)))
        }
        None => None,
    };
    let (options, given) = match &file {
        Some((file, given)) => (file.options.clone(), given.clone()),
        None => (options(args), json!(args.workers)),
    };
    let single = single(args, flags)?;
    let single = match single {
        Some(text) => Some(Scope::Worker(worker(store, text)?)),
        None => None,
    };
    // A retry is answered before anything is looked at: it may all be another by now.
    if let (Some(scope), true) = (single, args.apply && !flags.dry_run)
        && let Some(applied) = repair::answered(store, flags, &options, &given, scope)?
    {
        return end(&applied, args, ui);
    }
    let plan = match file {
        Some((file, _)) => file,
        None => {
            let options = Options {
                workers: store::workers(store, &args.workers)?,
                ..options
            };
            PlanFile::of(&repair::plan(store, &options, ui.progress())?, &options)?
        }
    };
    if ui.stop().load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Error::new(
            Code::Interrupted,
            "interrupted while the plan was made; nothing was changed",
        ));
    }
    if let Some(out) = &out {
        out.write(&plan.to_bytes(store.path())?)?;
    }
    if !args.apply || flags.dry_run {
        return planned(&plan, args, flags, ui);
    }
    let applied = repair::apply(store, flags, &plan, &given, single)?;
    end(&applied, args, ui)
}

fn options(args: &Args) -> Options {
    Options {
        only: args.only.iter().copied().collect(),
        allow_lossy: args.allow_lossy,
        limits: Limits {
            max_line: args.max_line,
            ..Limits::default()
        },
        ..Options::default()
    }
}

/// What a request id is bound to where the plan is in a file.
fn given_file(bytes: &[u8]) -> Value {
    json!({ "plan": fingerprint("plan", &Value::from(String::from_utf8_lossy(bytes))) })
}

/// With a request id there is one operation, so one Worker is named.
fn single<'a>(args: &'a Args, flags: &Flags<'_>) -> Result<Option<&'a str>> {
    if flags.request_id.is_none() || !args.apply {
        return Ok(None);
    }
    match args.workers.as_slice() {
        [one] => Ok(Some(one)),
        workers => {
            let error = Error::new(
                Code::Usage,
                "--request-id makes one operation exactly-once, so it needs exactly one WORKER",
            );
            let given = flags.request_id.as_deref().unwrap_or_default();
            Err(match workers.first() {
                Some(first) => error.hint(format!(
                    "wagg repair {} --apply --request-id {}",
                    shell_word(first),
                    shell_word(given)
                )),
                None => error.hint("wagg repair --apply"),
            })
        }
    }
}

fn worker(store: &Store, text: &str) -> Result<WorkerId> {
    let all = store::workers(store, &[text.to_owned()])?;
    all.first().copied().ok_or_else(|| {
        Error::new(Code::NotFound, format!("{text} names no Worker")).hint("wagg worker list")
    })
}
