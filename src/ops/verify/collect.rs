//! What the parts of a run find, and how it becomes one report.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::unlisted::Tally;
use super::{Digest, NotLookedAt, Report, Run, Summary, fingerprint};
use crate::diag::{Code, Finding, Severity};
use crate::layout::WorkerId;

/// Findings beyond this many are counted and not kept, so that memory stays bounded.
const MAX_KEPT: usize = 20_000;

/// Findings of one kind that are counted and not kept.
pub(super) struct Beyond {
    pub code: Code,
    pub severity: Severity,
    pub worker_id: Option<WorkerId>,
    pub count: u64,
}

/// What one part of a run found.
#[derive(Default)]
pub(super) struct Found {
    pub findings: Vec<Finding>,
    pub beyond: Vec<Beyond>,
    pub summary: Summary,
    pub not_looked_at: Vec<NotLookedAt>,
    pub digests: Vec<Digest>,
    /// Entries of the new certificate.
    pub certified: Vec<Vec<u8>>,
    /// Files that are not as the earlier certificate has them, and how they differ.
    pub changed: Vec<(PathBuf, &'static str)>,
}

impl Found {
    pub fn not_looked_at(&mut self, path: impl AsRef<Path>, reason: impl Into<String>) {
        self.not_looked_at.push(NotLookedAt {
            path: path.as_ref().to_string_lossy().into_owned(),
            reason: reason.into(),
        });
    }

    /// Keeps memory bounded: of many findings only those stay that can be listed.
    pub fn bound(&mut self) {
        if self.findings.len() < MAX_KEPT + MAX_KEPT / 4 {
            return;
        }
        for finding in drop_beyond(&mut self.findings) {
            self.beyond.push(Beyond {
                code: finding.code,
                severity: finding.severity,
                worker_id: finding.subject.worker_id,
                count: 1,
            });
        }
        // Of one kind there are many.
        self.beyond
            .sort_by_key(|beyond| (beyond.code, beyond.severity, beyond.worker_id));
        self.beyond.dedup_by(|next, first| {
            let kind = |b: &Beyond| (b.code, b.severity, b.worker_id);
            let same = kind(next) == kind(first);
            first.count += if same { next.count } else { 0 };
            same
        });
    }
}

/// Puts findings into their order, and gives those that are too many.
fn drop_beyond(findings: &mut Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    findings.split_off(findings.len().min(MAX_KEPT))
}

/// Puts parts together, in the order in which they are given.
pub(super) struct Collector<'a> {
    run: &'a Run<'a>,
    pub report: Report,
    pub unlisted: Tally,
    loud: u64,
}

impl<'a> Collector<'a> {
    pub fn new(run: &'a Run<'a>) -> Self {
        Self {
            run,
            report: Report::default(),
            unlisted: Tally::default(),
            loud: 0,
        }
    }

    pub fn take(&mut self, found: Found) {
        self.report.summary.add(&found.summary);
        if let Some(certificate) = self.run.certificate {
            certificate.keep(found.certified);
            certificate.differ(found.changed);
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
            self.report.summary.count(finding.severity, 1);
            self.keep(finding);
        }
        for beyond in found.beyond {
            self.count(&beyond);
        }
    }

    /// Counts findings that nobody kept.
    fn count(&mut self, beyond: &Beyond) {
        let options = self.run.options;
        if options.ignore.contains(&beyond.code) {
            self.report.summary.suppressed += beyond.count;
            return;
        }
        let mut count = beyond.count;
        if let Some(most) = options.max_findings
            && beyond.severity != Severity::Info
        {
            count = count.min(most - self.loud);
            self.loud += count;
            if self.loud >= most {
                self.run.enough.store(true, Ordering::Relaxed);
            }
        }
        self.report.summary.count(beyond.severity, count);
        self.unlisted.add(beyond.worker_id, beyond.severity, count);
    }

    /// Keeps a finding that was counted, as long as it is among the first of all in their order:
    /// what is kept then does not depend on who found it when.
    pub fn keep(&mut self, finding: Finding) {
        self.report.findings.push(finding);
        if self.report.findings.len() >= MAX_KEPT + MAX_KEPT / 4 {
            self.sort();
        }
    }

    fn sort(&mut self) {
        for finding in drop_beyond(&mut self.report.findings) {
            let worker = finding.subject.worker_id;
            self.unlisted.add(worker, finding.severity, 1);
        }
    }

    pub fn finish(mut self) -> Report {
        self.sort();
        self.report.unlisted = self.unlisted.into_list();
        let not_listed = self.report.unlisted.iter().map(super::Unlisted::all);
        self.report.summary.not_listed = not_listed.sum();
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
