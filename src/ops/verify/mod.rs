//! `verify`: every rule of the contract, as findings.
//!
//! A store is looked at in three steps: the catalog and what stands beside it, each Worker for
//! itself (in parallel), and what only all Workers together can tell: ids that stand twice,
//! lineage into another Session, children and peers. It takes no lock and creates nothing. A
//! Worker whose documents disagree is read once more before that becomes a finding, since a
//! Runtime may have been in the middle of a change.

mod archives;
mod catalog;
mod certificate;
mod cross;
mod documents;
mod file;
mod journal;
mod lineage;
mod names;
mod resume;
mod runs;
mod segment;
mod worker;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

pub(in crate::ops) use catalog::none_left;
pub use certificate::{Certificate, CertificateOptions, SETTLE};
pub use file::verify_files;

use crate::diag::{Code, Error, Finding, Progress, Result, Severity};
use crate::layout::{CatalogVersion, SegmentId, WorkerId};
use crate::record::{Limits, Scanner};
use crate::store::{Store, WorkerFolder};

/// Findings beyond this many are counted and not kept, so that memory stays bounded.
const MAX_KEPT: usize = 50_000;

/// What to verify, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these Workers; all if empty.
    pub workers: Vec<WorkerId>,
    /// Documents, first records and file ends only.
    pub quick: bool,
    /// Give the SHA-256 of each Segment's committed prefix.
    pub digest: bool,
    /// Threads.
    pub jobs: NonZeroUsize,
    /// Limits of a line.
    pub limits: Limits,
    /// Stop after this many findings that are no information.
    pub max_findings: Option<u64>,
    /// Stop at this moment.
    pub deadline: Option<Instant>,
    /// Findings of these codes are neither shown nor counted.
    pub ignore: BTreeSet<Code>,
    /// Findings that were known before, as [`fingerprint`] gives them: neither shown nor counted.
    pub baseline: BTreeSet<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: Vec::new(),
            quick: false,
            digest: false,
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            limits: Limits::default(),
            max_findings: None,
            deadline: None,
            ignore: BTreeSet::new(),
            baseline: BTreeSet::new(),
        }
    }
}

/// What a finding is recognised by in a baseline: its code and its place without offsets, so that
/// a file that grew keeps its old findings known.
#[must_use]
pub fn fingerprint(finding: &Finding) -> String {
    let line = finding
        .locus
        .line
        .map_or_else(String::new, |line| line.to_string());
    format!("{}\t{}\t{line}", finding.code, finding.locus.path.display())
}

/// Something that was asked for and not looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotLookedAt {
    /// Relative to the store; empty for the store as a whole.
    pub path: String,
    /// Why, a lower-case fragment.
    pub reason: String,
}

/// The digest of one Segment's committed prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Digest {
    /// The Worker.
    pub worker_id: Option<WorkerId>,
    /// The Segment.
    pub segment_id: Option<SegmentId>,
    /// Relative to the store.
    pub path: String,
    /// Length of the committed prefix.
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

/// The counts of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity information.
    pub infos: u64,
    /// Workers looked at.
    pub workers: u64,
    /// Segments looked at.
    pub segments: u64,
    /// Traces looked at.
    pub traces: u64,
    /// Good records.
    pub records: u64,
    /// Bytes of Segments and traces read.
    pub bytes: u64,
    /// How much was asked for and not looked at; an answer lists it.
    pub not_looked_at: u64,
    /// Findings that were known before or are ignored.
    pub suppressed: u64,
    /// Findings that are counted here and not listed, beyond the first fifty thousand.
    pub not_listed: u64,
    /// Only documents, first records and file ends were read.
    pub quick: bool,
    /// Bytes of Segments and traces that were not parsed again; none if no earlier certificate was
    /// to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused_bytes: Option<u64>,
}

impl Summary {
    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
    }
}

/// What `verify` answers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// In a fixed order: by Worker, then by place.
    pub findings: Vec<Finding>,
    /// The counts.
    pub summary: Summary,
    /// What was asked for and not looked at.
    pub not_looked_at: Vec<NotLookedAt>,
    /// Digests, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<Digest>,
    /// The Workers that were looked at, in their order; those that are only a folder aside.
    #[serde(skip)]
    pub workers: Vec<WorkerId>,
    /// Whether a person stopped it.
    #[serde(skip)]
    pub interrupted: bool,
}

impl Report {
    /// Whether all was looked at and no finding is an error (with `strict`: nor a warning).
    #[must_use]
    pub fn is_clean(&self, strict: bool) -> bool {
        self.summary.errors == 0
            && self.summary.not_looked_at == 0
            && !(strict && self.summary.warnings > 0)
    }
}

/// What all parts of a run share.
struct Run<'a> {
    options: &'a Options,
    progress: &'a dyn Progress,
    certificate: Option<&'a Certificate>,
    version: CatalogVersion,
    /// Set when enough was found.
    enough: AtomicBool,
}

impl Run<'_> {
    /// A scanner as this run needs it.
    fn scanner(&self) -> Scanner {
        let hashing = self.options.digest || self.certificate.is_some_and(Certificate::saves);
        Scanner::new(self.options.limits).hashing(hashing)
    }

    /// Why to stop now, if there is a reason.
    fn stop(&self) -> Option<&'static str> {
        if self.progress.interrupted() {
            Some("interrupted")
        } else if self.enough.load(Ordering::Relaxed) {
            Some("--max-findings was reached")
        } else if self.options.deadline.is_some_and(|at| Instant::now() >= at) {
            Some("--max-duration was over")
        } else {
            None
        }
    }
}

/// What one part of a run found.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    summary: Summary,
    not_looked_at: Vec<NotLookedAt>,
    digests: Vec<Digest>,
    /// Entries of the new certificate.
    certified: Vec<Vec<u8>>,
}

impl Found {
    fn not_looked_at(&mut self, path: impl Into<PathBuf>, reason: impl Into<String>) {
        self.not_looked_at.push(NotLookedAt {
            path: path.into().to_string_lossy().into_owned(),
            reason: reason.into(),
        });
    }
}

/// Puts parts together, in the order in which they are given.
struct Collector<'a> {
    run: &'a Run<'a>,
    report: Report,
    loud: u64,
}

impl Collector<'_> {
    fn take(&mut self, found: Found) {
        let summary = &mut self.report.summary;
        summary.workers += found.summary.workers;
        summary.segments += found.summary.segments;
        summary.traces += found.summary.traces;
        summary.records += found.summary.records;
        summary.bytes += found.summary.bytes;
        if let Some(bytes) = found.summary.reused_bytes {
            *summary.reused_bytes.get_or_insert(0) += bytes;
        }
        if let Some(certificate) = self.run.certificate {
            certificate.keep(found.certified);
        }
        self.report.not_looked_at.extend(found.not_looked_at);
        self.report.digests.extend(found.digests);
        for finding in found.findings {
            let options = self.run.options;
            if options.ignore.contains(&finding.code)
                || (!options.baseline.is_empty()
                    && options.baseline.contains(&fingerprint(&finding)))
            {
                self.report.summary.suppressed += 1;
                continue;
            }
            if let Some(most) = options.max_findings
                && finding.severity != Severity::Info
            {
                if self.loud >= most {
                    self.run.enough.store(true, Ordering::Relaxed);
                    continue;
                }
                self.loud += 1;
                if self.loud >= most {
                    self.run.enough.store(true, Ordering::Relaxed);
                }
            }
            self.report.summary.count(finding.severity);
            if self.report.findings.len() < MAX_KEPT {
                self.report.findings.push(finding);
            } else {
                self.report.summary.not_listed += 1;
            }
        }
    }

    fn finish(mut self) -> Report {
        self.report
            .findings
            .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        self.report.digests.sort();
        self.report.not_looked_at.sort();
        self.report.not_looked_at.dedup();
        self.report.summary.not_looked_at = self.report.not_looked_at.len() as u64;
        self.report.summary.quick = self.run.options.quick;
        self.report.interrupted = self.run.progress.interrupted();
        self.run.progress.finish();
        self.report
    }
}

/// Verifies a store.
///
/// # Errors
/// The store's folders can not be listed at all, or a Worker that was asked for is not there
/// (`not_found`). What can not be read inside is a finding.
pub fn verify(store: &Store, options: &Options, progress: &dyn Progress) -> Result<Report> {
    verify_since(store, options, None, progress)
}

/// Verifies a store, and parses only what an earlier certificate does not know. The answer is that
/// of [`verify`], but for the number of bytes that were not parsed again.
///
/// # Errors
/// As [`verify`].
pub fn verify_since(
    store: &Store,
    options: &Options,
    certificate: Option<&Certificate>,
    progress: &dyn Progress,
) -> Result<Report> {
    let runtime = store.runtime();
    let version = runtime.good().map_or_else(
        || catalog::guess_version(store),
        crate::record::document::RuntimeDocument::version,
    );
    let run = Run {
        options,
        progress,
        certificate,
        version,
        enough: AtomicBool::new(false),
    };
    let mut collector = Collector {
        run: &run,
        report: Report::default(),
        loud: 0,
    };
    let mut root = Found::default();
    if certificate.is_some_and(Certificate::reuses) {
        root.summary.reused_bytes = Some(0);
    }
    let folders = catalog::folders(store, &mut root)?;
    for id in &options.workers {
        if !folders.iter().any(|folder| folder.id == Some(*id)) {
            return Err(Error::new(
                Code::NotFound,
                format!("no Worker of this store is called {id}"),
            )
            .hint("wagg worker list"));
        }
    }
    progress.start(None);
    let whole = options.workers.is_empty();
    if whole {
        let next = runtime.good().and_then(|r| r.next_worker_sequence);
        root.findings
            .extend(catalog::none_left(store, next, &folders));
    }
    let open = journal::open_operations(store);
    if whole {
        catalog::check_root(store, &runtime, &run, &mut root);
        journal::check_folder(store, &mut root);
        if version == CatalogVersion::V3 {
            archives::check(store, &run, &mut root);
        }
    }
    root.findings.retain(|f| {
        whole
            || f.subject
                .worker_id
                .is_some_and(|id| options.workers.contains(&id))
    });
    collector.take(root);

    let wanted =
        |folder: &WorkerFolder| whole || folder.id.is_some_and(|id| options.workers.contains(&id));
    let todo: Vec<&WorkerFolder> = folders.iter().filter(|f| wanted(f)).collect();
    let census = each_worker(store, &todo, &run, &mut collector);

    let mut together = Found::default();
    cross::check(store, &runtime, &folders, census, whole, &mut together);
    journal::check_operations(store, &open, &options.workers, &mut together);
    collector.take(together);
    if let Some(certificate) = certificate
        && (!whole || run.stop().is_some())
    {
        certificate.is_partial();
    }
    Ok(collector.finish())
}

/// Verifies the folder of one Worker by itself, without what only all Workers together tell: its
/// cost does not grow with the store. The findings stand in the order of a report.
pub fn verify_folder(
    store: &Store,
    folder: &WorkerFolder,
    options: &Options,
    progress: &dyn Progress,
) -> Vec<Finding> {
    let run = Run {
        options,
        progress,
        certificate: None,
        version: store.version(),
        enough: AtomicBool::new(false),
    };
    let mut scanner = run.scanner();
    let mut findings = worker::check(store, folder, &run, &mut scanner)
        .found
        .findings;
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    findings
}

/// Verifies Workers in parallel and takes the results in their order.
fn each_worker(
    store: &Store,
    todo: &[&WorkerFolder],
    run: &Run<'_>,
    collector: &mut Collector<'_>,
) -> Vec<cross::Census> {
    struct Line {
        next: usize,
        /// Results that wait for one before them.
        waiting: std::collections::BTreeMap<usize, worker::Checked>,
        taken: usize,
    }
    let line = Mutex::new(Line {
        next: 0,
        waiting: std::collections::BTreeMap::new(),
        taken: 0,
    });
    let sink = Mutex::new((collector, Vec::new()));
    let lock = |m| Mutex::lock(m).unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let mut scanner = run.scanner();
        loop {
            let index = {
                let mut line = lock(&line);
                let index = line.next;
                line.next += 1;
                index
            };
            let Some(folder) = todo.get(index) else {
                return;
            };
            let checked = worker::check(store, folder, run, &mut scanner);
            let mut line = lock(&line);
            line.waiting.insert(index, checked);
            let mut ready = Vec::new();
            loop {
                let taken = line.taken;
                let Some(first) = line.waiting.remove(&taken) else {
                    break;
                };
                line.taken += 1;
                ready.push(first);
            }
            // Both locks are held while results move on, so that their order stays.
            if !ready.is_empty() {
                let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
                drop(line);
                for checked in ready {
                    if checked.found.summary.workers > 0 {
                        sink.0.report.workers.extend(checked.census.folder.id);
                    }
                    sink.0.take(checked.found);
                    sink.1.push(checked.census);
                }
            }
        }
    };
    let jobs = run.options.jobs.get().min(todo.len());
    if jobs <= 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
    }
    sink.into_inner().unwrap_or_else(PoisonError::into_inner).1
}
