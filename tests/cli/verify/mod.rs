//! `wagg verify`: for every code the smallest input that shows it, and how the command behaves.

pub mod case;
mod certificate;
mod documents;
mod incremental;
mod lines;
mod meanwhile;
mod moving;
mod options;
mod output;
pub mod partition;
mod places;
mod property;
mod reports;
mod rights;
mod segments;
mod v3;

use std::collections::BTreeSet;

use wagg::diag::Code;

use case::{Case, Kit};

/// Every row of every table.
pub fn all() -> impl Iterator<Item = &'static Case> {
    lines::CASES
        .iter()
        .chain(segments::CASES)
        .chain(documents::CASES)
        .chain(places::CASES)
}

/// Codes that only `orphans` says; its own tests show them.
const OF_ORPHANS: [Code; 4] = [
    Code::SharedSessionReference,
    Code::MissingReferencedSession,
    Code::OrphanWorkerMetadata,
    Code::OrphanSession,
];

/// Codes that need more than a table row to show; tests beside the tables do.
const OF_OTHERS: [Code; 1] = [
    // a listener that has to be kept: places::a_live_run_is_a_remark
    Code::LiveRun,
];

#[test]
fn every_finding_code_has_a_case() {
    let shown: BTreeSet<Code> = all()
        .map(|case| case.code)
        .chain(OF_ORPHANS)
        .chain(OF_OTHERS)
        .collect();
    let without: Vec<String> = Code::ALL
        .iter()
        .filter(|code| code.info().severity.is_some() && !shown.contains(code))
        .map(ToString::to_string)
        .collect();
    assert!(without.is_empty(), "no case for {}", without.join(", "));
}

#[test]
fn codes_of_orphans_are_in_its_tests() {
    let tests = include_str!("../orphans.rs");
    for code in OF_ORPHANS {
        assert!(tests.contains(&format!("\"{code}\"")), "{code}");
    }
}

#[test]
fn the_store_that_cases_damage_is_good() {
    for kit in [Kit::v1(), Kit::v3()] {
        let out = kit.verify(&["--format", "json", "--strict"]).status(0);
        assert!(case::findings(&out).is_empty(), "{out}");
        let summary = &out.json()["summary"];
        assert_eq!(summary["workers"], 1, "{out}");
        assert_eq!(summary["segments"], 1, "{out}");
        assert_eq!(summary["records"], 15, "{out}");
    }
}
