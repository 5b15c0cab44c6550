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
mod collect;
mod cross;
mod documents;
mod file;
mod journal;
mod lineage;
mod merge;
mod names;
mod partition;
mod resume;
mod runs;
mod segment;
mod unlisted;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use serde::{Deserialize, Serialize};

pub(in crate::ops) use catalog::none_left;
pub use certificate::{Certificate, CertificateOptions, SETTLE};
use collect::{Collector, Found};
pub use file::verify_files;
pub use merge::{PartReport, merge};
pub use partition::{Part, Partition};
pub use unlisted::Unlisted;

use crate::diag::{Code, Error, Finding, Progress, Result, Severity};
use crate::layout::{CatalogVersion, SegmentId, WorkerId};
use crate::record::threads::start;
use crate::record::{Limits, Scanner, Spare};
use crate::store::{Dir, Store, WorkerFolder};

/// What to verify, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only these Workers; all if empty.
    pub workers: Vec<WorkerId>,
    /// Only this part of the store, without what only the whole tells.
    pub partition: Option<Partition>,
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
    /// As many threads as there are processors.
    fn default() -> Self {
        Self::with_jobs(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Options {
    /// All of the store, by so many threads. To ask how many there could be takes a few reads.
    #[must_use]
    pub fn with_jobs(jobs: NonZeroUsize) -> Self {
        Self {
            workers: Vec::new(),
            partition: None,
            quick: false,
            digest: false,
            jobs,
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotLookedAt {
    /// Relative to the store; empty for the store as a whole.
    pub path: String,
    /// Why, a lower-case fragment.
    pub reason: String,
}

/// The digest of one Segment's committed prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Findings that are counted here and not listed, beyond the first twenty thousand of all
    /// and the first five thousand of one code in one file.
    pub not_listed: u64,
    /// Only documents, first records and file ends were read.
    pub quick: bool,
    /// Bytes of Segments and traces that were not parsed again; none if no earlier certificate was
    /// to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused_bytes: Option<u64>,
}

impl Summary {
    fn count(&mut self, severity: Severity, count: u64) {
        match severity {
            Severity::Error => self.errors += count,
            Severity::Warning => self.warnings += count,
            Severity::Info => self.infos += count,
        }
    }

    /// Adds the counts of another part. What is counted from lists is counted at the end.
    fn add(&mut self, other: &Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
        self.workers += other.workers;
        self.segments += other.segments;
        self.traces += other.traces;
        self.records += other.records;
        self.bytes += other.bytes;
        self.suppressed += other.suppressed;
        if let Some(bytes) = other.reused_bytes {
            *self.reused_bytes.get_or_insert(0) += bytes;
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
    /// Whose findings are not all listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<Unlisted>,
    /// What was asked for and not looked at.
    pub not_looked_at: Vec<NotLookedAt>,
    /// Digests, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<Digest>,
    /// The Workers that were looked at, in their order; those that are only a folder aside.
    #[serde(skip)]
    pub workers: Vec<WorkerId>,
    /// What the reports of the other parts are put together with, if this is that of a part.
    #[serde(skip)]
    pub part: Option<Part>,
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
    /// Threads that have no Worker to look at: they help with large files.
    spare: Spare,
}

impl Run<'_> {
    /// A scanner as this run needs it.
    fn scanner(&self) -> Scanner {
        Scanner::new(self.options.limits).hashing(self.options.digest)
    }

    /// The time, where it is asked for: before a file's state, which a certificate may keep.
    fn now(&self) -> Option<SystemTime> {
        self.certificate.map(|_| SystemTime::now())
    }

    /// Whether as much was found as was asked for.
    fn has_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// Why to stop now, if there is a reason.
    fn stop(&self) -> Option<&'static str> {
        if self.progress.interrupted() {
            Some("interrupted")
        } else if self.has_enough() {
            Some("--max-findings was reached")
        } else if self.options.deadline.is_some_and(|at| Instant::now() >= at) {
            Some("--max-duration was over")
        } else {
            None
        }
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
    let mut root = Found::default();
    if certificate.is_some_and(Certificate::reuses) {
        root.summary.reused_bytes = Some(0);
    }
    // Before runtime.json: its sequence is raised before a folder appears, so that one which comes
    // between the two reads is never above it (C2, C12).
    let folders = catalog::folders(store, &mut root)?;
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
        spare: Spare::default(),
    };
    let mut collector = Collector::new(&run);
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
    let partition = options.partition;
    let whole = options.workers.is_empty() && partition.is_none();
    // What is no Worker's is looked at by one of the parts.
    let with_root = partition.map_or(whole, Partition::holds_root);
    let mut part = partition.map(|p| Part::begin(p, store, &runtime, &folders, options));
    let open = if partition.is_none() || with_root {
        journal::open_operations(store)
    } else {
        BTreeSet::new()
    };
    if with_root {
        let next = runtime.good().and_then(|r| r.next_worker_sequence);
        root.findings
            .extend(catalog::none_left(store, next, &folders));
        catalog::check_root(store, &runtime, &run, &mut root);
        journal::check_folder(store, &mut root);
        if version == CatalogVersion::V3 {
            archives::check(store, &run, &mut root);
        }
    }
    if partition.is_some() && !with_root {
        root.findings.clear();
        root.not_looked_at.clear();
    }
    root.findings.retain(|f| {
        with_root
            || f.subject
                .worker_id
                .is_some_and(|id| options.workers.contains(&id))
    });
    collector.take(root);

    let wanted = |folder: &WorkerFolder| match partition {
        Some(partition) => partition.holds(&folder.name),
        None => whole || folder.id.is_some_and(|id| options.workers.contains(&id)),
    };
    let todo: Vec<&WorkerFolder> = folders.iter().filter(|f| wanted(f)).collect();
    let all = each_worker(store, &todo, &run, &mut collector);

    let mut together = Found::default();
    match &mut part {
        Some(part) => part.fill(&folders, &all),
        None => {
            // Read anew: whoever made a Worker that was listed had raised the sequence before.
            let runtime = store.runtime();
            cross::check(store, &runtime, &folders, all, whole, &mut together);
        }
    }
    if partition.is_none() || with_root {
        journal::check_operations(store, &open, &options.workers, &mut together);
    }
    collector.take(together);
    collector.report.part = part;
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
        spare: Spare::default(),
    };
    let mut scanner = run.scanner();
    let mut findings = worker::check(store, None, folder, &run, &mut scanner)
        .found
        .findings;
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    findings
}

/// Workers that are handed out in order, and results that come in as they are done and are taken
/// in the same order.
struct Line<'c, 'r, 'a> {
    next: usize,
    taken: usize,
    /// Results that wait for one before them.
    waiting: BTreeMap<usize, worker::Checked<'a>>,
    run: &'r Run<'r>,
    collector: &'c mut Collector<'r>,
    all: cross::All<'a>,
}

impl<'a> Line<'_, '_, 'a> {
    fn hand_in(&mut self, index: usize, checked: worker::Checked<'a>) {
        if index != self.taken {
            self.waiting.insert(index, checked);
            return;
        }
        self.take(checked);
        while let Some(checked) = self.waiting.remove(&self.taken) {
            self.take(checked);
        }
    }

    fn take(&mut self, mut checked: worker::Checked<'a>) {
        self.taken += 1;
        if self.run.has_enough()
            && let Some(reason) = self.run.stop()
        {
            // One thread alone would not have come to it.
            checked = checked.not_looked_at(reason);
        }
        if checked.census.looked_at {
            let id = checked.census.folder.id;
            self.collector.report.workers.extend(id);
        }
        self.collector.take(checked.found);
        self.all.push(checked.census, &checked.segments);
    }
}

/// Verifies Workers in parallel and takes the results in their order: of each what others ask of
/// it.
fn each_worker<'a, 'r>(
    store: &Store,
    todo: &[&'a WorkerFolder],
    run: &'r Run<'r>,
    collector: &mut Collector<'r>,
) -> cross::All<'a> {
    collector.report.workers.reserve_exact(todo.len());
    let line = Mutex::new(Line {
        next: 0,
        taken: 0,
        waiting: BTreeMap::new(),
        run,
        collector,
        all: cross::All::with_capacity(todo.len()),
    });
    let work = || {
        let mut scanner = run.scanner();
        // Opened once for all Workers, and by each thread for itself: what they share they wait
        // for, be it a counter.
        let workers = store.workers_dir().ok().flatten().map(Dir::unshared);
        let mut done = None;
        loop {
            let index = {
                let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((index, checked)) = done.take() {
                    line.hand_in(index, checked);
                }
                line.next += 1;
                line.next - 1
            };
            let Some(folder) = todo.get(index) else {
                return;
            };
            let checked = worker::check(store, workers.as_ref(), folder, run, &mut scanner);
            done = Some((index, checked));
        }
    };
    // Largest first would need the size of every file before the first is read; whoever runs out
    // of Workers helps with the large files of others instead.
    let jobs = run.options.jobs.get().min(todo.len());
    for _ in jobs.max(1)..run.options.jobs.get() {
        run.spare.give();
    }
    let work = || {
        work();
        run.spare.give();
    };
    std::thread::scope(|scope| {
        // This thread is one of them, so that the work is done if no other can be started.
        for _ in 1..jobs {
            if start(scope, work).is_none() {
                break;
            }
        }
        work();
    });
    let line = line.into_inner();
    line.unwrap_or_else(PoisonError::into_inner).all
}
