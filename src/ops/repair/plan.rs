//! From findings to a plan. Pure reading; the same store and options give the same plan.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::lines::Lines;
use super::{Item, Options, Plan, Planned, Refusal, State, Work, documents, leftovers, manual};
use crate::diag::{
    Code, Error, Finding, NoProgress, Progress, RepairClass, Result, Severity, Subject, plural,
};
use crate::layout::{Paths, SegmentEntry, WorkerId, classify_segment, file};
use crate::ops::change::{Scope, any_live_run, can_settle, live_run, writable};
use crate::ops::verify::{self, verify};
use crate::record::Format;
use crate::record::document::{Active, MetadataDocument};
use crate::store::fs::{failed, stat_of};
use crate::store::journal;
use crate::store::journal::{Intent, unsettled};
use crate::store::{Store, WorkerFolder, read_document};

/// Makes the plan for a store, or for some of its Workers.
///
/// # Errors
/// The store can not be read at all. What can not be read inside is counted.
pub fn plan(store: &Store, options: &Options, progress: &dyn Progress) -> Result<Plan> {
    make(store, options, &options.workers, false, &|_| true, progress)
}

/// Makes the plan of one lock again, under it. The catalog's own findings come from documents, so
/// that no Segment is read while everybody waits.
pub(super) fn of_scope(store: &Store, options: &Options, scope: Scope) -> Result<Plan> {
    let (workers, quick) = match scope {
        Scope::Worker(id) => (vec![id], false),
        Scope::Catalog => (Vec::new(), true),
    };
    make(
        store,
        options,
        &workers,
        quick,
        &|found| found == scope,
        &NoProgress,
    )
}

fn make(
    store: &Store,
    options: &Options,
    workers: &[WorkerId],
    quick: bool,
    wanted: &dyn Fn(Scope) -> bool,
    progress: &dyn Progress,
) -> Result<Plan> {
    // Another wagg or a Runtime may cut or move what is being read; the second look is at rest.
    let once = || make_once(store, options, workers, quick, wanted, progress);
    let made = match once() {
        Err(e) if is_moving(&e) => once(),
        made => made,
    };
    made.map_err(|e| {
        if !is_moving(&e) {
            return e;
        }
        let path = e.locus.as_ref().map(|locus| locus.path.clone());
        let what = path.map_or_else(|| "the store".to_owned(), |path| path.display().to_string());
        let mut fenced = Error::new(
            Code::Fenced,
            format!("{what} changed while the plan was made; nothing was changed by this repair"),
        )
        .hint("wagg op list");
        fenced.locus = e.locus;
        fenced
    })
}

/// Whether an error tells that a file became shorter or went while it was read.
fn is_moving(e: &Error) -> bool {
    let source = e
        .source
        .as_ref()
        .and_then(|s| s.downcast_ref::<io::Error>());
    e.code == Code::IoFailed
        && source.is_some_and(|e| {
            matches!(
                e.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound
            )
        })
}

fn make_once(
    store: &Store,
    options: &Options,
    workers: &[WorkerId],
    quick: bool,
    wanted: &dyn Fn(Scope) -> bool,
    progress: &dyn Progress,
) -> Result<Plan> {
    let report = verify(
        store,
        &verify::Options {
            workers: workers.to_vec(),
            quick,
            jobs: options.jobs,
            limits: options.limits,
            ..verify::Options::default()
        },
        progress,
    )?;
    let mut maker = Maker {
        store,
        options,
        plan: Plan {
            not_looked_at: report.summary.not_looked_at,
            ..Plan::default()
        },
        errors: report
            .findings
            .iter()
            .filter(|f| f.severity == Severity::Error)
            .fold(BTreeMap::new(), |mut errors, finding| {
                *errors.entry(finding.locus.path.clone()).or_default() += 1;
                errors
            }),
        // What can not be read there is a finding of its own.
        unsettled: unsettled(store.dir()).unwrap_or_default(),
    };
    let mut files: BTreeMap<PathBuf, Vec<Finding>> = BTreeMap::new();
    let mut leftovers = Vec::new();
    for finding in report.findings {
        if !options.wants(finding.code) || !wanted(maker.scope(&finding)) {
            continue;
        }
        if matches!(
            finding.code,
            Code::LeftoverTemporary | Code::LeftoverStaging
        ) {
            leftovers.push(finding);
            continue;
        }
        if is_of_lines(finding.code) && format_of(&finding.locus.path).is_some() {
            let of_file = files.entry(finding.locus.path.clone()).or_default();
            of_file.push(finding);
        } else {
            maker.one(finding)?;
        }
    }
    for (path, findings) in files {
        maker.lines(&path, findings)?;
    }
    // Last, since what else is mended decides whether one may be the only copy of something.
    for finding in leftovers {
        maker.one(finding)?;
    }
    maker.live()?;
    maker.shut();
    let mut plan = maker.plan;
    plan.items.retain(|item| item.class != RepairClass::None);
    plan.items
        .sort_by(|a, b| a.finding.sort_key().cmp(&b.finding.sort_key()));
    plan.number();
    Ok(plan)
}

/// Codes of what is wrong with lines of a Segment or trace, or between them.
fn is_of_lines(code: Code) -> bool {
    matches!(
        code,
        Code::CorruptRecord
            | Code::InvalidUtf8
            | Code::NulBytes
            | Code::GluedRecords
            | Code::SplicedRecord
            | Code::ByteOrderMark
            | Code::OversizedLine
            | Code::TooDeep
            | Code::DuplicateKey
            | Code::NumberOutOfRange
            | Code::UnknownKind
            | Code::MissingField
            | Code::WrongType
            | Code::LoneSurrogate
            | Code::TornTail
            | Code::OrphanToolResult
            | Code::UnansweredToolCall
    )
}

/// What a path in a Worker's `segments/` holds.
fn format_of(path: &Path) -> Option<Format> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let [workers, _, session, segments, name] = parts.as_slice() else {
        return None;
    };
    if (*workers, *session, *segments) != (file::WORKERS, file::SESSION_DIR, file::SEGMENTS) {
        return None;
    }
    match classify_segment(name) {
        SegmentEntry::Segment(_) | SegmentEntry::Alias { trace: false, .. } => {
            Some(Format::Segment)
        }
        SegmentEntry::Trace(_) | SegmentEntry::Alias { trace: true, .. } => Some(Format::Trace),
        SegmentEntry::BadStem | SegmentEntry::Other => None,
    }
}

/// The folder of `workers/` that a path lies in.
fn folder_of(path: &Path) -> Option<WorkerFolder> {
    let mut parts = path.iter();
    if parts.next()? != file::WORKERS {
        return None;
    }
    Some(WorkerFolder::of(parts.next()?.to_owned()))
}

/// The lock under which something at a path changes.
fn scope_of(path: &Path) -> Scope {
    folder_of(path)
        .and_then(|folder| folder.id)
        .map_or(Scope::Catalog, Scope::Worker)
}

struct Maker<'a> {
    store: &'a Store,
    options: &'a Options,
    plan: Plan,
    /// Places with errors, and how many.
    errors: BTreeMap<PathBuf, usize>,
    unsettled: Vec<Intent>,
}

impl Maker<'_> {
    fn scope(&self, finding: &Finding) -> Scope {
        match self.intent(finding).map(|i| (i.scope, i.worker_id)) {
            Some((journal::Scope::Worker, Some(id))) => Scope::Worker(id),
            Some(_) => Scope::Catalog,
            None => scope_of(&finding.locus.path),
        }
    }

    /// The operation that a finding is about.
    fn intent(&self, finding: &Finding) -> Option<&Intent> {
        if finding.code != Code::UnsettledOperation {
            return None;
        }
        self.unsettled
            .iter()
            .find(|intent| finding.message.contains(&intent.operation_id.to_string()))
    }

    fn add(&mut self, scope: Scope, (mut item, work): (Item, Option<Work>)) {
        if let Some(work) = work.filter(|_| item.state == State::Planned) {
            item.work = Some(self.plan.works.len());
            self.plan.works.push(Planned { scope, work });
        }
        self.plan.items.push(item);
    }

    /// A finding that is not about lines.
    fn one(&mut self, finding: Finding) -> Result<()> {
        let scope = self.scope(&finding);
        let path = finding.locus.path.clone();
        let made = match finding.code {
            Code::SequenceBehind => documents::sequence(self.store, self.options, finding)?,
            Code::GenerationBehind => match folder_of(&path) {
                Some(folder) => {
                    let folder = Paths::workers().join(folder.name);
                    documents::generation(self.store, self.options, &folder, finding)?
                }
                None => (manual::item(finding, Some(self.store)), None),
            },
            _ if documents::is_session(&finding) => match folder_of(&path) {
                Some(folder) => documents::session(self.store, self.options, &folder, finding)?,
                None => (manual::item(finding, Some(self.store)), None),
            },
            Code::LeftoverTemporary | Code::LeftoverStaging => {
                let name = path.to_string_lossy();
                if self
                    .unsettled
                    .iter()
                    .any(|intent| intent.leftovers.iter().any(|left| *left == name))
                {
                    return Ok(()); // it goes with its operation
                }
                let errors = &self.errors;
                let damaged = |path: &Path| errors.contains_key(path);
                let written = |path: &Path| self.is_mended(path);
                leftovers::plan(self.store, self.options, finding, &damaged, &written)?
            }
            Code::UnsettledOperation => self.settle(finding),
            Code::TornTail if path == Paths::journal() => self.journal_tail(finding),
            code if code.info().repair == RepairClass::None => return Ok(()),
            _ => (manual::item(finding, Some(self.store)), None),
        };
        self.add(scope, made);
        Ok(())
    }

    /// Whether the plan writes a file, and has no error of it left then.
    fn is_mended(&self, path: &Path) -> bool {
        let is_written = self.plan.works.iter().any(|planned| match &planned.work {
            Work::Lines { path: p, .. } | Work::Document { path: p, .. } => p == path,
            _ => false,
        });
        let mended = self
            .plan
            .items
            .iter()
            .filter(|item| {
                item.state == State::Planned
                    && item.finding.severity == Severity::Error
                    && item.finding.locus.path == path
            })
            .count();
        is_written && mended >= self.errors.get(path).copied().unwrap_or(0)
    }

    fn settle(&self, finding: Finding) -> (Item, Option<Work>) {
        let Some(intent) = self.intent(&finding) else {
            return (Item::of(finding, RepairClass::None, "it is settled"), None);
        };
        let operation = intent.operation_id;
        if !can_settle(intent) {
            let mut item = manual::item(finding, Some(self.store));
            item.action = format!(
                "nothing is changed: the intent of operation {operation} can not be read, so it may be a later wagg's, which settles it; until then nothing can be changed under its lock"
            );
            return (item, None);
        }
        let left = match intent.leftovers.len() as u64 {
            0 => String::new(),
            n => format!(
                "; it may have left {}, which go with it",
                plural(n, "leftover", "leftovers")
            ),
        };
        let action = format!(
            "settle operation {operation} ({}): carry it forward if its commit point has passed, clear it if not{left}",
            intent.command
        );
        let mut item = Item::of(finding, RepairClass::Automatic, action);
        item.state = State::Planned;
        (item, Some(Work::Settle { operation }))
    }

    fn journal_tail(&self, finding: Finding) -> (Item, Option<Work>) {
        let (offset, bytes) = (
            finding.locus.byte.unwrap_or(0),
            finding.locus.length.unwrap_or(0),
        );
        let action = format!(
            "cut the journal to {}; {} kept in quarantine",
            plural(offset, "byte", "bytes"),
            plural(bytes, "byte is", "bytes are")
        );
        let mut item = Item::of(finding, RepairClass::Automatic, action);
        item.state = State::Planned;
        (item, Some(Work::JournalTail { offset, bytes }))
    }

    /// Everything about the lines of one file.
    fn lines(&mut self, path: &Path, findings: Vec<Finding>) -> Result<()> {
        let Some(format) = format_of(path) else {
            return Ok(());
        };
        if scope_of(path) == Scope::Catalog {
            // No lock is its own, and the store's is not held while Segments are read.
            for finding in findings {
                let mut item = manual::item(finding, Some(self.store));
                item.action = "nothing is changed: the folder's name is no Worker id; give it the one that its worker.json says, then repair it".to_owned();
                self.plan.items.push(item);
            }
            return Ok(());
        }
        let look = |e: io::Error| failed("read", path, e);
        let parent = path.parent().unwrap_or(Path::new(""));
        let opened = self
            .store
            .dir()
            .dir_at(parent)
            .and_then(|dir| dir.file(path.file_name().unwrap_or_default()));
        let opened = match opened {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(look(e)),
        };
        let lines = Lines {
            len: stat_of(&opened).map_err(look)?.len,
            file: &opened,
            path,
            subject: findings.first().map_or(Subject::default(), |f| f.subject),
            format,
            options: self.options,
        };
        let mended = lines.plan(findings).map_err(look)?;
        let work = mended.work.map(|work| {
            self.plan.works.push(Planned {
                scope: scope_of(path),
                work,
            });
            self.plan.works.len() - 1
        });
        for mut item in mended.items {
            if item.state == State::Planned {
                item.work = work;
            }
            self.plan.items.push(item);
        }
        Ok(())
    }

    /// Refuses all if nothing can be written into the store, so that a plan promises nothing that
    /// carrying it out would not do.
    fn shut(&mut self) {
        let Err(e) = writable(self.store) else {
            return;
        };
        let refusal = Refusal::new(e.code, e.message);
        for item in &mut self.plan.items {
            if matches!(item.state, State::Planned | State::NeedsAllowLossy) {
                item.state = State::Refused;
                item.refusal = Some(refusal.clone());
            }
        }
    }

    /// Refuses what would pull the ground from under a live run (C13).
    fn live(&mut self) -> Result<()> {
        for scope in self.plan.scopes() {
            let refusal = match scope {
                Scope::Worker(id) => live_run(self.store, id)?.map(|generation| {
                    let message = format!(
                        "run {generation} of Worker {id} answers on its socket, so the Worker is treated as live"
                    );
                    (Refusal::new(Code::WorkerLive, message), active(self.store, id))
                }),
                Scope::Catalog => any_live_run(self.store)?.map(|(id, generation)| {
                    let message = format!(
                        "run {generation} of Worker {id} answers, so a Runtime holds the catalog and would write over this"
                    );
                    (Refusal::new(Code::RuntimeLive, message), None)
                }),
            };
            let Some((refusal, active)) = refusal else {
                continue;
            };
            for item in &mut self.plan.items {
                let Some(planned) = item.work.and_then(|work| self.plan.works.get(work)) else {
                    continue;
                };
                if planned.scope == scope && pulls_the_ground(&planned.work, active.as_deref()) {
                    item.state = State::Refused;
                    item.refusal = Some(refusal.clone());
                }
            }
        }
        Ok(())
    }
}

/// Whether a live run stands on what a work changes. `active` is the stem of the file that it may
/// be adding to; none means that nobody can tell which that is.
fn pulls_the_ground(work: &Work, active: Option<&str>) -> bool {
    match work {
        Work::Lines { path, .. } => active.is_none_or(|active| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(active)
        }),
        Work::Document { .. } | Work::Leftover { .. } => true,
        Work::Settle { .. } | Work::JournalTail { .. } => false,
    }
}

/// The id of a Worker's active Segment, as its file is named.
fn active(store: &Store, id: WorkerId) -> Option<String> {
    let dir = store.worker_dir(&Store::folder_of(id)).ok()??;
    let metadata = read_document(&dir, file::METADATA, MetadataDocument::read);
    let active = metadata.good()?.active.as_ref()?;
    Active::segment(active).map(|segment| segment.to_string())
}
