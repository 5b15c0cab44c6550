//! JUnit's XML: a test case for each Worker, which fails if one of its findings is an error.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};
use wagg::diag::{Finding, Severity, plural};
use wagg::layout::WorkerId;
use wagg::ops::verify::Report;

/// The report as one document.
pub fn text(report: &Report) -> String {
    let mut by_worker: BTreeMap<Option<WorkerId>, Vec<&Finding>> = BTreeMap::new();
    by_worker.entry(None).or_default();
    for worker in &report.workers {
        by_worker.entry(Some(*worker)).or_default();
    }
    for finding in &report.findings {
        by_worker
            .entry(finding.subject.worker_id)
            .or_default()
            .push(finding);
    }
    let mut unlisted: BTreeMap<Option<WorkerId>, u64> = BTreeMap::new();
    for more in &report.unlisted {
        unlisted.insert(more.worker_id, more.errors);
        by_worker.entry(more.worker_id).or_default();
    }
    let mut suite = TestSuite::new("wagg verify");
    for (worker, findings) in by_worker {
        let name = worker.map_or_else(|| "store".to_owned(), |id| format!("Worker {id}"));
        let more = unlisted.get(&worker).copied().unwrap_or(0);
        let mut case = TestCase::new(name, status(&findings, more));
        case.set_classname("wagg.verify");
        let rest: Vec<String> = findings
            .iter()
            .filter(|f| f.severity != Severity::Error)
            .map(|f| line(f))
            .collect();
        if !rest.is_empty() {
            case.set_system_out(rest.join("\n"));
        }
        suite.add_test_case(case);
    }
    for place in &report.not_looked_at {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(format!("not looked at: {}", place.reason));
        let name = match place.path.as_str() {
            "" => "store",
            path => path,
        };
        let mut case = TestCase::new(name, status);
        case.set_classname("wagg.verify");
        suite.add_test_case(case);
    }
    let mut junit = Junit::new("wagg verify");
    junit.add_test_suite(suite);
    // The document is made of text that is escaped, so only a lack of memory could end here.
    let text = junit.to_string().unwrap_or_default();
    // Control characters are left out already; these two are no characters of XML either.
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The status of findings, and of `more` errors that are not listed.
fn status(findings: &[&Finding], more: u64) -> TestCaseStatus {
    let mut errors: Vec<String> = findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .map(|f| line(f))
        .collect();
    if more > 0 {
        let beside = if errors.is_empty() {
            ""
        } else {
            " beside these"
        };
        errors.push(format!(
            "{}{beside} counted and not listed",
            plural(more, "error", "errors")
        ));
    }
    let Some(first) = errors.first() else {
        return TestCaseStatus::success();
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(first.clone());
    status.set_description(errors.join("\n"));
    status
}

fn line(finding: &Finding) -> String {
    format!(
        "{}: {}[{}]: {}",
        finding.locus, finding.severity, finding.code, finding.message
    )
}
