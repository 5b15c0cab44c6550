//! `wagg verify`

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wagg::diag::{Code, Error, Exit, Finding, Locus, Result, Severity};
use wagg::layout::{SegmentId, WorkerId};
use wagg::ops::verify::{self, Options, Part, Partition, Report, Summary};
use wagg::record::Limits;

use super::output::Outputs;
use super::{input, numbers, store};
use crate::ui::{Cell, Column, Format, ListFlags, NO_SUMMARY, Row, Ui, sanitize, text, with_store};

/// Check a store against every rule of its format
///
/// Reads every document, every Segment and every trace, and reports what breaks a rule as a
/// finding: what it is, which file, line and byte, what it means for the history, and what to do.
/// Takes no lock, waits for nobody and writes nothing, so it can run while agents work, on a
/// read-only mount and in CI. The order of findings is the same on each run.
///
/// Information is counted, and listed with -v. The exit status is 1 if a finding is an error (with
/// --strict: or a warning), or if something that was asked for could not be looked at.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg verify\n  wagg verify 7 --format json\n  wagg verify --file ./01890000-0000-7000-8000-000000000011.jsonl"
)]
pub struct Args {
    /// Only these Workers: an id, a name, or anything that names one
    #[arg(value_name = "WORKER", conflicts_with = "file")]
    workers: Vec<String>,

    /// Check single Segment or trace files, without a store
    ///
    /// A name that ends in .trace.jsonl is a trace; every other file is taken for a Segment.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    file: Vec<PathBuf>,

    /// Hold the store's lock while checking, so that no other wagg changes it meanwhile
    ///
    /// Shared with other readers, and only where the store has a lock file. A Runtime does not
    /// know this lock.
    #[arg(long, conflicts_with = "file")]
    locked: bool,

    /// With --locked: how many seconds to wait for the lock; 0 does not wait
    #[arg(long, value_name = "SECS", env = crate::env::WAIT, default_value = "10", value_parser = super::change::parse_wait)]
    wait: Duration,

    /// Read documents, first records and file ends only
    #[arg(long)]
    quick: bool,

    /// Let warnings fail too
    #[arg(long)]
    strict: bool,

    /// Give the SHA-256 of each Segment's committed records
    #[arg(long)]
    digest: bool,

    /// Look at part K of N only: each Worker is in one part, by its id
    ///
    /// For N jobs that share a store. What only all Workers together tell is left to wagg report
    /// merge, which puts the JSON reports of all parts together.
    #[arg(long, value_name = "K/N", conflicts_with_all = ["workers", "file", "max_findings"])]
    partition: Option<Partition>,

    /// How many threads work, at most 256 [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = numbers::parse_jobs, allow_negative_numbers = true)]
    jobs: Option<NonZeroUsize>,

    /// Do not look at lines longer than this (1GiB, 64MiB, 1000000)
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = numbers::parse_limit)]
    max_line: u64,

    /// Stop after this many errors and warnings
    #[arg(long, value_name = "N", value_parser = numbers::parse_count::<NonZeroU64>, allow_negative_numbers = true)]
    max_findings: Option<NonZeroU64>,

    /// Stop after this time (30s, 5m, 2h)
    #[arg(long, value_name = "D", value_parser = numbers::parse_duration)]
    max_duration: Option<Duration>,

    /// Neither show nor count findings of this code
    #[arg(long, value_name = "CODE", value_parser = super::explain::parse_code)]
    ignore: Vec<Code>,

    /// Neither show nor count findings that this earlier JSON report has
    ///
    /// A finding is known by its code, its path and its line.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write a report to a file too: junit=FILE, sarif=FILE or json=FILE
    #[arg(long, value_name = "KIND=FILE")]
    report: Vec<crate::report::Target>,

    #[command(flatten)]
    certificate: super::certificate::Flags,

    #[command(flatten)]
    list: ListFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    no_stdin(&args.file)?;
    let options = Options {
        workers: Vec::new(),
        partition: args.partition,
        quick: args.quick,
        digest: args.digest,
        jobs: args.jobs.unwrap_or(Options::default().jobs),
        limits: Limits {
            max_line: args.max_line,
            ..Limits::default()
        },
        max_findings: args.max_findings.map(NonZeroU64::get),
        deadline: args
            .max_duration
            .and_then(|d| Instant::now().checked_add(d)),
        ignore: args.ignore.iter().copied().collect(),
        baseline: known(args.baseline.as_deref())?,
    };
    let mut kept = None;
    let read = args.file.iter().chain(&args.baseline);
    let reports;
    let mut report = if args.file.is_empty() {
        let store = store::find(ui)?;
        let mut outputs = Outputs::of(store.path()).not(read);
        let save = args.certificate.place(&mut outputs)?;
        outputs = outputs.not(args.certificate.since());
        reports = crate::report::open(&args.report, &mut outputs)?;
        let _lock = args
            .locked
            .then(|| store::lock_shared(&store, "verify", args.wait, ui))
            .transpose()?;
        let workers = store::workers(&store, &args.workers)?;
        kept = args.certificate.open(&store, save, args.max_line, ui)?;
        let certificate = kept.as_ref().map(|kept| &kept.certificate);
        let options = Options { workers, ..options };
        verify::verify_since(&store, &options, certificate, ui.progress())?
    } else {
        reports = crate::report::open(&args.report, &mut Outputs::default().not(read))?;
        verify::verify_files(&args.file, &options, ui.progress())
    };
    super::findings::paste(&mut report.findings, ui);
    if let Some(part) = &mut report.part {
        part.name_store(ui.named_store());
    }
    for target in &reports {
        target.write(&report)?;
    }
    let of = match args.file.is_empty() {
        true => Of::Store(ui.named_store()),
        false => Of::Files,
    };
    show(&report, &args.list, &of, ui)?;
    if let Some(kept) = kept {
        for note in kept.certificate.notes() {
            ui.status(note);
        }
        kept.finish(ui)?;
    }
    Ok(exit(&report, args.strict))
}

/// Standard input has no name that says what it is, and no place for a finding.
fn no_stdin(files: &[PathBuf]) -> Result<()> {
    match files.iter().find(|path| path.as_os_str() == "-") {
        None => Ok(()),
        Some(_) => Err(Error::new(
            Code::Usage,
            "--file takes files only, and - is no name of one: standard input is not supported",
        )
        .hint("put it into a file; one that is called - is ./-")),
    }
}

/// The status that a report comes to.
pub fn exit(report: &Report, strict: bool) -> Exit {
    if report.interrupted {
        Exit::Interrupted
    } else if report.is_clean(strict) {
        Exit::Ok
    } else {
        Exit::Left
    }
}

/// The findings of a baseline; none without one.
pub fn known(baseline: Option<&std::path::Path>) -> Result<BTreeSet<String>> {
    Ok(baseline.map(read_baseline).transpose()?.unwrap_or_default())
}

/// The name of the JSON document, on stdout and in a report.
pub const SCHEMA: &str = "wagg.verify/1";

/// What a report is of.
pub enum Of {
    /// Of a store, and how a command line named it, as a shell takes it, if one did.
    Store(Option<String>),
    /// Of single files.
    Files,
}

/// Prints a report: findings to stdout, the rest of a person's answer to stderr.
pub fn show(report: &Report, list: &ListFlags, of: &Of, ui: &Ui) -> Result<()> {
    if !report.unlisted.is_empty() && !ui.is_data() && (list.ids || list.null) {
        ui.list(SCHEMA, whose(report, ui), list, NO_SUMMARY, "no findings")?;
    } else {
        let (none, summary) = (no_findings(report, of), Shown::of(report));
        super::findings::show(SCHEMA, &report.findings, list, &summary, none, ui)?;
    }
    digests(report, list, ui)?;
    tell(report, of, ui);
    Ok(())
}

/// One whose findings there are, listed or not.
#[derive(Serialize)]
#[serde(transparent)]
struct Whose(String);

impl Row for Whose {
    const NOUN: &'static str = "findings";
    const TYPE: &'static str = "finding";
    const COLUMNS: &'static [Column] = &[Column::new("WORKER")];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::new(&self.0)]
    }

    fn id(&self) -> String {
        self.0.clone()
    }
}

/// Each of whom findings are listed, and then each of whom others are not.
fn whose(report: &Report, ui: &Ui) -> Vec<Whose> {
    let infos = ui.verbose() > 0;
    let listed = report
        .findings
        .iter()
        .filter(|f| infos || f.severity != Severity::Info)
        .map(Finding::id);
    let others = report
        .unlisted
        .iter()
        .filter(|u| u.errors + u.warnings > 0 || infos)
        .filter_map(|u| u.worker_id)
        .map(|id| id.to_string());
    let mut seen = BTreeSet::new();
    listed
        .chain(others)
        .filter(|id| seen.insert(id.clone()))
        .map(Whose)
        .collect()
}

/// What is said where nothing was found: that is no praise of what was not looked at.
fn no_findings(report: &Report, of: &Of) -> &'static str {
    match nothing(report, of) {
        Some(nothing) => nothing,
        None if report.not_looked_at.is_empty() => "no findings",
        None => "no findings in what was looked at",
    }
}

/// What is said of a look that ended before it came to anything.
fn nothing(report: &Report, of: &Of) -> Option<&'static str> {
    let s = &report.summary;
    let nothing = s.workers + s.segments + s.traces == 0 && !report.not_looked_at.is_empty();
    nothing.then_some(if matches!(of, Of::Store(_)) {
        "no Worker was looked at"
    } else {
        "no file was looked at"
    })
}

/// Digests for a person, as `sha256sum` writes them. The columns of a pipe are those of findings.
fn digests(report: &Report, list: &ListFlags, ui: &Ui) -> Result<()> {
    let ids = list.ids || list.null;
    if report.digests.is_empty() || (ui.is_data() && !ids) {
        return Ok(());
    }
    if ids || ui.format() != Format::Table {
        // Who asked for them and gets none hears it with -q too.
        ui.warn(if ids {
            "no digest is printed: --ids and -0 print ids alone"
        } else {
            "no digest is printed: digests stand in --format json, ndjson and table"
        });
        return Ok(());
    }
    ui.write(|out| {
        for digest in &report.digests {
            let path = sanitize::terminal(&digest.path).into_owned();
            writeln!(out, "{}  {path}", digest.sha256)?;
        }
        Ok(())
    })
}

/// The report's summary as JSON shows it.
#[derive(Serialize)]
pub struct Shown<'a> {
    #[serde(flatten)]
    counts: &'a Summary,
    #[serde(
        rename = "not_looked_at_places",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    not_looked_at: &'a [verify::NotLookedAt],
    #[serde(rename = "not_listed_workers", skip_serializing_if = "<[_]>::is_empty")]
    unlisted: &'a [verify::Unlisted],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    digests: &'a [verify::Digest],
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<&'a Part>,
}

impl<'a> Shown<'a> {
    /// That of this report.
    pub fn of(report: &'a Report) -> Self {
        Self {
            counts: &report.summary,
            not_looked_at: &report.not_looked_at,
            unlisted: &report.unlisted,
            digests: &report.digests,
            partition: report.part.as_ref(),
        }
    }
}

/// Says in a few lines what was looked at, whose histories are concerned, and what to do next.
fn tell(report: &Report, of: &Of, ui: &Ui) {
    let store = matches!(of, Of::Store(_));
    let s = &report.summary;
    let workers = match (store, s.traces) {
        (true, _) => format!("{}, ", text::plural(s.workers, "Worker", "Workers")),
        (false, 0) => String::new(),
        (false, n) => format!("{}, ", text::plural(n, "trace", "traces")),
    };
    let known = match s.reused_bytes {
        Some(bytes) if bytes > 0 => format!(", {} of it known from before", text::size(bytes)),
        _ => String::new(),
    };
    let looked = format!(
        "{workers}{}, {}, {}{known}{}",
        text::plural(s.segments, "Segment", "Segments"),
        text::plural(s.records, "record", "records"),
        text::size(s.bytes),
        if s.quick {
            " (quick: first records and file ends only)"
        } else {
            ""
        },
    );
    let counts = format!(
        "{}, {}, {}",
        text::plural(s.errors, "error", "errors"),
        text::plural(s.warnings, "warning", "warnings"),
        text::plural(s.infos, "remark", "remarks")
    );
    ui.status(match nothing(report, of) {
        Some(nothing) => format!("{nothing}: {counts}"),
        None => format!("looked at {looked}: {counts}"),
    });
    if s.suppressed > 0 {
        ui.status(format!(
            "{} known before or ignored",
            text::plural(s.suppressed, "finding", "findings")
        ));
    }
    if s.not_listed > 0 {
        ui.status(format!("{} more are counted and not listed", s.not_listed));
    }
    for place in report.not_looked_at.iter().take(5) {
        let what = if place.path.is_empty() {
            "the store"
        } else {
            &place.path
        };
        ui.warn(format!("not looked at: {what}: {}", place.reason));
    }
    if report.not_looked_at.len() > 5 {
        let more = report.not_looked_at.len() as u64 - 5;
        ui.warn(format!(
            "and {} not looked at",
            text::plural(more, "more place was", "more places were")
        ));
    }
    if let Some(part) = &report.part {
        ui.status(format!(
            "part {part} of the store: what only all Workers together tell is judged by wagg report merge"
        ));
    }
    // Single files belong to nobody here, and each finding names its file.
    if store {
        for victim in victims(report) {
            ui.status(victim);
        }
    }
    let next = next_command(report).or_else(|| {
        let hidden = s.infos > 0 && ui.verbose() == 0 && !report.findings.is_empty();
        hidden.then(|| "the remarks too: wagg verify -v".to_owned())
    });
    if let Some(next) = next {
        ui.hint(match of {
            Of::Store(Some(named)) => with_store(&next, named),
            _ => next,
        });
    }
}

/// A line for each Worker that has an error: which of its histories are concerned.
fn victims(report: &Report) -> Vec<String> {
    let mut all: Vec<(Option<WorkerId>, u64, BTreeSet<SegmentId>)> = Vec::new();
    let errors = report.findings.iter();
    // The findings of one Worker stand together.
    for finding in errors.filter(|f| f.severity == Severity::Error) {
        let worker = finding.subject.worker_id;
        let segment = finding.subject.segment_id;
        match all.last_mut().filter(|(id, ..)| *id == worker) {
            Some((_, errors, segments)) => {
                *errors += 1;
                segments.extend(segment);
            }
            None => all.push((worker, 1, segment.into_iter().collect())),
        }
    }
    let unlisted = report.unlisted.iter().filter(|more| more.errors > 0);
    let mut unlisted: BTreeMap<_, _> = unlisted.map(|more| (more.worker_id, more.errors)).collect();
    for (id, errors, _) in &mut all {
        *errors += unlisted.remove(id).unwrap_or(0);
    }
    let others = unlisted.into_iter();
    all.extend(others.map(|(id, errors)| (id, errors, BTreeSet::new())));
    let more = all.len().saturating_sub(10);
    let mut lines: Vec<String> = all
        .into_iter()
        .take(10)
        .map(|(worker, errors, segments)| {
            let errors = text::plural(errors, "error", "errors");
            let whose = worker.map_or_else(
                || "the store itself".to_owned(),
                |id| format!("Worker {id}"),
            );
            match segments.len() {
                0 => format!("concerned: {whose} ({errors})"),
                n => {
                    let names: Vec<String> =
                        segments.iter().take(3).map(ToString::to_string).collect();
                    let rest = if n > 3 {
                        format!(" and {} more", n - 3)
                    } else {
                        String::new()
                    };
                    format!(
                        "concerned: {whose} ({errors}), Segment {}{rest}",
                        names.join(", ")
                    )
                }
            }
        })
        .collect();
    if more > 0 {
        lines.pop();
        lines.push(format!("concerned: {} more Workers", more + 1));
    }
    lines
}

/// The command to go on with, for the worst finding.
fn next_command(report: &Report) -> Option<String> {
    let worst = report
        .findings
        .iter()
        .filter(|f| f.severity != Severity::Info)
        .min_by_key(|f| f.severity)?;
    let mends = |f: &Finding| {
        f.severity != Severity::Info
            && f.hint
                .as_ref()
                .is_some_and(|h| h.starts_with("wagg ") && h.contains(" repair"))
    };
    Some(if report.findings.iter().any(mends) {
        "wagg repair".to_owned()
    } else {
        format!("wagg explain {}", worst.code)
    })
}

/// The part of a JSON report that a baseline needs.
#[derive(Deserialize)]
struct Known {
    findings: Vec<KnownFinding>,
}

#[derive(Deserialize)]
struct KnownFinding {
    code: String,
    path: String,
    #[serde(default)]
    line: Option<u64>,
}

fn read_baseline(path: &std::path::Path) -> Result<BTreeSet<String>> {
    let bytes = input::bytes(path, input::MAX_INPUT)?;
    let known: Known = serde_json::from_slice(&bytes).map_err(|e| {
        Error::new(
            Code::BadInput,
            format!("{} is no JSON report of wagg verify", path.display()),
        )
        .at(Locus::file(path))
        .caused_by(e)
        .hint("make one: wagg verify --format json > FILE")
    })?;
    Ok(known
        .findings
        .into_iter()
        .map(|f| {
            let line = f.line.map_or_else(String::new, |line| line.to_string());
            format!("{}\t{}\t{line}", f.code, f.path)
        })
        .collect())
}

impl Row for Finding {
    const NOUN: &'static str = "findings";
    const TYPE: &'static str = "finding";
    const COLUMNS: &'static [Column] = &[
        Column::new("SEVERITY"),
        Column::new("CODE"),
        Column::new("WORKER"),
        Column::new("PATH"),
        Column::number("LINE"),
        Column::number("BYTE"),
        Column::number("LENGTH"),
        Column::text("MESSAGE"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::severity(self.severity),
            Cell::new(self.code),
            Cell::maybe(self.subject.worker_id),
            Cell::new(self.locus.path.display()),
            Cell::maybe(self.locus.line),
            Cell::maybe(self.locus.byte),
            Cell::maybe(self.locus.length),
            Cell::new(&self.message),
        ]
    }

    fn id(&self) -> String {
        self.subject.worker_id.map_or_else(
            || self.locus.path.display().to_string(),
            |id| id.to_string(),
        )
    }
}
