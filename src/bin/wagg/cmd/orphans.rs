//! `wagg orphans`: what nobody owns, and what is claimed twice.

use std::path::PathBuf;

use serde::Serialize;
use wagg::diag::{Code, Exit, Finding, Result, Severity, shell};
use wagg::ops::legacy::Roots;
use wagg::ops::orphans::{Item, Options, Report, orphans};

use super::findings::{self, Group};
use super::store;
use crate::ui::{Cell, Column, Format, ListFlags, Row, Ui, text};

/// List what nobody owns and what is claimed twice, in the store and in legacy roots
///
/// Nothing is changed, moved or called disposable: each finding says who might own the thing and
/// what a person can check. A Segment in a Worker's Session is never an orphan. Without legacy
/// roots only the store is looked at. Information other than leftovers is counted, and shown
/// with -v.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg orphans\n  wagg orphans --sessions /data/sessions --metadata /data/workers --format json"
)]
pub struct Args {
    /// The legacy Session root: one folder a Session
    #[arg(long, value_name = "DIR", requires = "metadata")]
    pub sessions: Option<PathBuf>,

    /// The legacy metadata root: one folder a Worker name
    #[arg(long, value_name = "DIR", requires = "sessions")]
    pub metadata: Option<PathBuf>,

    /// Hold the store's lock while looking, so that no other wagg changes it meanwhile
    ///
    /// Shared with other readers, and only where the store has a lock file. A Runtime does not
    /// know this lock.
    #[arg(long)]
    pub locked: bool,

    /// With --locked: how many seconds to wait for the lock; 0 does not wait
    #[arg(long, value_name = "SECS", env = crate::env::WAIT, default_value = "10", value_parser = super::change::parse_wait)]
    pub wait: std::time::Duration,

    #[command(flatten)]
    pub list: ListFlags,
}

/// Prints the answer.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    let _lock = args
        .locked
        .then(|| store::lock_shared(&store, "orphans", args.wait, ui))
        .transpose()?;
    let roots = match (args.sessions, args.metadata) {
        (Some(sessions), Some(metadata)) => Some(Roots { sessions, metadata }),
        _ => None,
    };
    let options = Options {
        roots,
        now: jiff::Timestamp::now(),
    };
    let mut report = orphans(&store, &options, ui.progress())?;
    findings::paste(report.items.iter_mut().map(|item| &mut item.finding), ui);
    show(&report, &options, &args.list, ui)?;
    Ok(exit(&report))
}

/// The status that a report ends with.
pub fn exit(report: &Report) -> Exit {
    if report.interrupted {
        Exit::Interrupted
    } else if report.is_clean() && report.summary.roots.iter().all(|root| root.present) {
        Exit::Ok
    } else {
        Exit::Left
    }
}

/// One finding of the answer.
#[derive(Serialize)]
#[serde(transparent)]
struct Found<'a>(&'a Item);

impl Row for Found<'_> {
    const NOUN: &'static str = Finding::NOUN;
    const TYPE: &'static str = Finding::TYPE;
    const COLUMNS: &'static [Column] = Finding::COLUMNS;

    fn cells(&self) -> Vec<Cell> {
        self.0.finding.cells()
    }

    fn id(&self) -> String {
        self.0.finding.locus.path.to_string_lossy().into_owned()
    }
}

/// Prints a report in the format that was asked for.
pub fn show(report: &Report, options: &Options, list: &ListFlags, ui: &Ui) -> Result<()> {
    for root in report.summary.roots.iter().filter(|root| !root.present) {
        ui.warn(format!(
            "the {} root {} is not there: it counts as empty, and not all that was asked for was looked at",
            root.kind, root.path
        ));
    }
    let people = matches!(ui.format(), Format::Table | Format::Tsv);
    let shown: Vec<&Item> = report
        .items
        .iter()
        .filter(|item| !people || is_shown(&item.finding, ui.verbose()))
        .collect();
    if ui.format() == Format::Table && !list.ids && !list.null {
        let mut groups = Kind::ALL.map(|kind| Group {
            heading: kind.heading(),
            findings: Vec::new(),
        });
        for item in &shown {
            groups[Kind::of(item.finding.code) as usize]
                .findings
                .push(&item.finding);
        }
        findings::groups(&groups, ui)?;
    } else {
        let rows = shown.iter().map(|item| Found(item));
        ui.list(
            "wagg.orphans/1",
            rows,
            list,
            Some(&report.summary),
            "no findings",
        )?;
    }
    if people {
        close(report, options, report.items.len() - shown.len(), ui);
    }
    Ok(())
}

/// Information is counted; leftovers are what this command is asked for.
fn is_shown(finding: &Finding, verbose: u8) -> bool {
    finding.severity != Severity::Info || verbose > 0 || Kind::of(finding.code) == Kind::Leftover
}

/// What was looked at and found, and the command that goes on from here.
fn close(report: &Report, options: &Options, hidden: usize, ui: &Ui) {
    let s = &report.summary;
    let mut seen = vec![text::plural(s.workers, "Worker", "Workers")];
    for root in &s.roots {
        let (one, many) = match root.kind {
            "sessions" => ("legacy Session", "legacy Sessions"),
            _ => ("legacy metadata folder", "legacy metadata folders"),
        };
        seen.push(text::plural(root.folders, one, many));
    }
    let mut found = [
        text::plural(s.errors, "error", "errors"),
        text::plural(s.warnings, "warning", "warnings"),
        text::plural(s.infos, "remark", "remarks"),
    ]
    .join(", ");
    if hidden > 0 {
        found.push_str(&format!(" ({hidden} of them with -v)"));
    }
    ui.status(format!("{}: {found}", seen.join(", ")));
    if report.interrupted {
        ui.warn("interrupted: the rest was not looked at");
        return;
    }
    if let Some(next) = next(report, options) {
        ui.hint(next);
    }
}

/// The command that a person wants next.
fn next(report: &Report, options: &Options) -> Option<String> {
    let worst = report
        .items
        .iter()
        .map(|item| (item.finding.severity, item.finding.code))
        .min();
    match (worst, &options.roots) {
        (Some((Severity::Error, code)), _) => Some(format!("wagg explain {code}")),
        (_, Some(roots)) => Some(format!(
            "wagg migrate --sessions {} --metadata {} --dry-run",
            shell(&roots.sessions),
            shell(&roots.metadata)
        )),
        (Some(_), None) => Some("wagg verify".to_owned()),
        (None, None) => None,
    }
}

/// What findings have in common, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shared,
    Nobody,
    Missing,
    Doubt,
    Behind,
    Leftover,
    Other,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Shared,
        Self::Nobody,
        Self::Missing,
        Self::Doubt,
        Self::Behind,
        Self::Leftover,
        Self::Other,
    ];

    fn of(code: Code) -> Self {
        match code {
            Code::SharedSessionReference | Code::SessionShared => Self::Shared,
            Code::OrphanSession
            | Code::OrphanWorkerMetadata
            | Code::MissingWorkerDocument
            | Code::TraceWithoutSegment => Self::Nobody,
            Code::MissingReferencedSession
            | Code::ActivePending
            | Code::MissingWorkers
            | Code::ChildMissing
            | Code::PeerMissing => Self::Missing,
            Code::GenerationBehind => Self::Behind,
            Code::LeftoverStaging | Code::LeftoverTemporary => Self::Leftover,
            Code::UnknownFile | Code::UnknownFolder => Self::Other,
            _ => Self::Doubt,
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Shared => "Claimed by more than one owner",
            Self::Nobody => "Owned by nobody in the catalog",
            Self::Missing => "Pointed at, and not here",
            Self::Doubt => "Owners that can not be told",
            Self::Behind => "Runs above their document",
            Self::Leftover => "Left behind by killed processes",
            Self::Other => "No part of a store",
        }
    }
}
