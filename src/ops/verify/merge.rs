//! The reports of all parts of a store, put together to that of the whole.
//!
//! What each part found stays as it is. What only all Workers together tell was judged by none of
//! them, and is judged here from what they carry.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::cross::All;
use super::partition::{How, Part, PartWorker, baseline};
use super::{
    Collector, Digest, Found, NotLookedAt, Options, Report, Run, Summary, Unlisted, cross,
};
use crate::diag::{Code, Error, Finding, Locus, NoProgress, Result, Severity, Subject, plural};
use crate::layout::{CatalogVersion, Generation, SegmentId, SessionId, WorkerId};
use crate::record::Spare;

/// How many numbers of parts a message names before it only counts.
const MAX_NAMED: usize = 10;

/// The name of the document that is read.
const SCHEMA: &str = "wagg.verify/1";

/// The report of one part, as it stands in a file.
#[derive(Debug)]
pub struct PartReport {
    file: PathBuf,
    findings: Vec<Finding>,
    summary: Summary,
    unlisted: Vec<Unlisted>,
    not_looked_at: Vec<NotLookedAt>,
    digests: Vec<Digest>,
    part: Part,
}

#[derive(Deserialize)]
struct RawReport<'a> {
    schema: String,
    findings: Vec<RawFinding>,
    #[serde(borrow)]
    summary: &'a RawValue,
}

#[derive(Deserialize)]
struct RawSummary {
    #[serde(default)]
    not_listed_workers: Vec<Unlisted>,
    #[serde(default)]
    not_looked_at_places: Vec<NotLookedAt>,
    #[serde(default)]
    digests: Vec<Digest>,
    partition: Option<Part>,
}

#[derive(Deserialize)]
struct RawFinding {
    code: String,
    severity: Severity,
    worker_id: Option<WorkerId>,
    session_id: Option<SessionId>,
    segment_id: Option<SegmentId>,
    generation: Option<u64>,
    path: PathBuf,
    line: Option<u64>,
    byte: Option<u64>,
    length: Option<u64>,
    message: String,
    hint: Option<String>,
}

impl RawFinding {
    fn finding(self) -> std::result::Result<Finding, String> {
        let generation = match self.generation {
            Some(n) => Some(Generation::new(n).ok_or_else(|| "generation 0".to_owned())?),
            None => None,
        };
        Ok(Finding {
            code: self.code.parse().map_err(|e| format!("{e}"))?,
            severity: self.severity,
            subject: Subject {
                worker_id: self.worker_id,
                session_id: self.session_id,
                segment_id: self.segment_id,
                generation,
            },
            locus: Locus {
                path: self.path,
                line: self.line,
                byte: self.byte,
                length: self.length,
            },
            message: self.message,
            hint: self.hint,
        })
    }
}

impl PartReport {
    /// How the command line of the look named the store, as a shell takes it, if it did.
    #[must_use]
    pub fn named_store(&self) -> Option<&str> {
        self.part.store.named.as_deref()
    }

    /// Reads the report of a part.
    ///
    /// # Errors
    /// `usage` if it is no JSON report of `verify`, `partition_mismatch` if it is one of no part.
    pub fn read(file: &Path, bytes: &[u8]) -> Result<Self> {
        let no_report = |why: String| {
            Error::new(
                Code::Usage,
                format!("{} is no JSON report of wagg verify: {why}", file.display()),
            )
            .hint("make one with wagg verify --partition K/N --report json=FILE")
        };
        let raw: RawReport<'_> =
            serde_json::from_slice(bytes).map_err(|e| no_report(e.to_string()))?;
        if raw.schema != SCHEMA {
            return Err(no_report(format!("its schema is {:?}", raw.schema)));
        }
        let text = raw.summary.get();
        let summary: Summary = serde_json::from_str(text).map_err(|e| no_report(e.to_string()))?;
        let rest: RawSummary = serde_json::from_str(text).map_err(|e| no_report(e.to_string()))?;
        let findings: std::result::Result<_, String> =
            raw.findings.into_iter().map(RawFinding::finding).collect();
        let findings = findings.map_err(no_report)?;
        let Some(part) = rest.partition else {
            return Err(mismatch(format!(
                "{} is not the report of a part: it was made without --partition",
                file.display()
            )));
        };
        Ok(Self {
            file: file.to_owned(),
            findings,
            summary,
            unlisted: rest.not_listed_workers,
            not_looked_at: rest.not_looked_at_places,
            digests: rest.digests,
            part,
        })
    }
}

fn mismatch(what: String) -> Error {
    Error::new(Code::PartitionMismatch, what)
        .hint("give the reports of all parts of one look, each once")
        .hint("wagg explain partition_mismatch")
}

/// Puts the reports of all parts together. `known` is the baseline that they were given.
///
/// # Errors
/// `partition_mismatch` if they are not all parts of one look, each once; `source_changed` if the
/// store was not the same for all of them.
pub fn merge(mut parts: Vec<PartReport>, known: BTreeSet<String>) -> Result<Report> {
    parts.sort_by_key(|report| report.part.number);
    belong_together(&parts, &known)?;
    let first = &parts[0].part;
    let next_worker_sequence = first.store.next_worker_sequence;
    let mut ignore = BTreeSet::new();
    for code in &first.options.ignore {
        ignore.insert(code.parse().map_err(|e| mismatch(format!("{e}")))?);
    }
    let options = Options {
        quick: first.options.quick,
        ignore,
        baseline: known,
        ..Options::default()
    };
    let run = Run {
        options: &options,
        progress: &NoProgress,
        certificate: None,
        version: CatalogVersion::V1,
        enough: false.into(),
        spare: Spare::default(),
    };
    let folders = first.store.folders;
    let mut collector = Collector::new(&run);
    let mut workers = BTreeMap::new();
    for report in parts {
        collector.report.summary.add(&report.summary);
        for finding in report.findings {
            collector.keep(finding);
        }
        for unlisted in &report.unlisted {
            collector.unlisted.add_all(unlisted);
        }
        collector.report.not_looked_at.extend(report.not_looked_at);
        collector.report.digests.extend(report.digests);
        for worker in report.part.workers {
            let (place, name) = (worker.place, worker.folder.clone());
            if !worker.has_good_names() {
                let file = report.file.display();
                return Err(mismatch(format!(
                    "{file} has a name in {name} that is none"
                )));
            }
            if workers.insert(place, worker).is_some() {
                return Err(mismatch(format!("{name} was looked at by two parts")));
            }
        }
    }
    if workers.len() as u64 != folders || workers.keys().next_back().is_some_and(|n| *n >= folders)
    {
        return Err(mismatch(format!(
            "the parts looked at {}, and the store has {folders}",
            plural(workers.len() as u64, "folder", "folders")
        )));
    }
    let folders: Vec<_> = workers.values().map(PartWorker::worker_folder).collect();
    let mut all = All::with_capacity(folders.len());
    for (worker, folder) in workers.values().zip(&folders) {
        if worker.looked_at {
            collector.report.workers.extend(folder.id);
        }
        all.push(worker.census(folder), &worker.segments);
    }
    let mut together = Found::default();
    cross::together(next_worker_sequence, all, &mut together);
    collector.take(together);
    Ok(collector.finish())
}

/// Whether these are all parts of one look, each once.
fn belong_together(parts: &[PartReport], known: &BTreeSet<String>) -> Result<()> {
    let Some(first) = parts.first() else {
        return Err(mismatch("no report was given".to_owned()));
    };
    let (file, part) = (first.file.display(), &first.part);
    for other in &parts[1..] {
        let (name, its) = (other.file.display(), &other.part);
        if its.of != part.of {
            return Err(mismatch(format!(
                "{file} is part {} of {} and {name} part {} of {}",
                part.number, part.of, its.number, its.of
            )));
        }
        if its.wagg != part.wagg {
            return Err(mismatch(format!(
                "{file} was made by wagg {} and {name} by wagg {}",
                part.wagg, its.wagg
            )));
        }
        if its.options != part.options {
            return Err(mismatch(format!(
                "{file} and {name} differ in {}",
                differing(&part.options, &its.options)
            )));
        }
        if its.store.catalog == part.store.catalog && its.store.folders == part.store.folders {
            continue;
        }
        if its.store.path != part.store.path {
            return Err(mismatch(format!(
                "{file} is of the store {} and {name} of {}, which has other Workers or another runtime.json",
                part.store.path, its.store.path
            )));
        }
        return Err(Error::new(
            Code::SourceChanged,
            format!(
                "the store changed between {file} ({}) and {name} ({}): its Workers or its runtime.json are not the same, so the parts make no whole",
                plural(part.store.folders, "folder", "folders"),
                plural(its.store.folders, "folder", "folders"),
            ),
        )
        .hint("look at all parts again while no Worker is created or removed, or without --partition"));
    }
    for pair in parts.windows(2) {
        if pair[0].part.number == pair[1].part.number {
            return Err(mismatch(format!(
                "part {} of {} is there twice: {} and {}",
                part_number(&pair[0]),
                part.of,
                pair[0].file.display(),
                pair[1].file.display()
            )));
        }
    }
    if parts.len() as u64 != u64::from(part.of) {
        return Err(mismatch(missing(parts, part.of)));
    }
    if part.options.baseline != baseline(known) {
        return Err(mismatch(match (&part.options.baseline, known.is_empty()) {
            (Some(_), true) => {
                "the parts were looked at with --baseline; give the same file here".to_owned()
            }
            (Some(_), false) => "the parts were looked at with another --baseline".to_owned(),
            (None, _) => "the parts were looked at without --baseline".to_owned(),
        }));
    }
    Ok(())
}

fn part_number(report: &PartReport) -> u32 {
    report.part.number
}

/// Which parts are not there. Their numbers are in order, and none stands twice.
fn missing(parts: &[PartReport], of: u32) -> String {
    let there: BTreeSet<u32> = parts.iter().map(part_number).collect();
    let count = u64::from(of).saturating_sub(there.len() as u64);
    let named: Vec<String> = (1..=of)
        .filter(|n| !there.contains(n))
        .take(MAX_NAMED)
        .map(|n| n.to_string())
        .collect();
    let more = match count.saturating_sub(named.len() as u64) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "{count} of {} {are} missing: {}{more}",
        plural(u64::from(of), "part", "parts"),
        named.join(", ")
    )
}

/// The first option in which two looks differ.
fn differing(a: &How, b: &How) -> &'static str {
    if a.quick != b.quick {
        "--quick"
    } else if a.digest != b.digest {
        "--digest"
    } else if a.max_line != b.max_line {
        "--max-line"
    } else if a.ignore != b.ignore {
        "--ignore"
    } else {
        "--baseline"
    }
}
