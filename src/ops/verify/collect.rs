//! What the parts of a run find, and how it becomes one report.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::{Digest, NotLookedAt, Report, Run, Summary, fingerprint};
use crate::diag::{Finding, Severity};

/// Findings beyond this many are counted and not kept, so that memory stays bounded.
const MAX_KEPT: usize = 50_000;

/// What one part of a run found.
#[derive(Default)]
pub(super) struct Found {
    pub findings: Vec<Finding>,
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
}

/// Puts parts together, in the order in which they are given.
pub(super) struct Collector<'a> {
    run: &'a Run<'a>,
    pub report: Report,
    loud: u64,
}

impl<'a> Collector<'a> {
    pub fn new(run: &'a Run<'a>) -> Self {
        Self {
            run,
            report: Report::default(),
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
            self.report.summary.count(finding.severity);
            self.keep(finding);
        }
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
        let findings = &mut self.report.findings;
        findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        findings.truncate(MAX_KEPT);
    }

    pub fn finish(mut self) -> Report {
        self.sort();
        let summary = &mut self.report.summary;
        let counted = summary.errors + summary.warnings + summary.infos;
        summary.not_listed = counted - self.report.findings.len() as u64;
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
