//! Every code of the table: what repair does about it, held against the smallest input that shows
//! it. The rows are those of the tests of verify, so a code without a row fails there, and a code
//! whose repair does not keep its promise fails here.

use wagg::diag::{Code, Finding, NoProgress, RepairClass};
use wagg::ops::repair::{Item, Options, State};
use wagg::ops::verify::{self, verify};
use wagg::record::Limits;
use wagg::store::Store;

use super::kit::{apply, operations, plan, same_trees, tree, undo};
use crate::verify::case::{Case, Kit};

/// The classes that items of a code may have: what stands on a line counts more than its code.
fn allowed(code: Code) -> &'static [RepairClass] {
    use RepairClass::{Automatic, Lossy, Manual};
    match code {
        // a leftover, or a document, that may be the only copy of something is a person's
        Code::LeftoverStaging
        | Code::LeftoverTemporary
        | Code::EmptyDocument
        | Code::MissingSessionDocument
        | Code::SequenceBehind
        // an intent that a later wagg wrote
        | Code::UnsettledOperation => &[Automatic, Manual],
        // the head of a Segment can not be made up
        Code::NulBytes | Code::ByteOrderMark | Code::SplicedRecord | Code::GluedRecords => {
            &[Automatic, Lossy, Manual]
        }
        _ => match code.info().repair {
            Automatic => &[Automatic],
            Lossy => &[Automatic, Lossy, Manual],
            Manual => &[Manual],
            RepairClass::None => &[],
        },
    }
}

fn options(kit: &Kit) -> Options {
    let mut options = Options {
        allow_lossy: true,
        ..Options::default()
    };
    if let [.., "--max-line", limit] = kit.args.as_slice() {
        options.limits = Limits {
            max_line: limit.parse().unwrap(),
            ..Limits::default()
        };
    }
    options
}

fn findings(store: &Store, options: &Options) -> Vec<Finding> {
    let options = verify::Options {
        limits: options.limits,
        ..verify::Options::default()
    };
    verify(store, &options, &NoProgress).unwrap().findings
}

fn hold(case: &Case) {
    let mut kit = Kit::v1();
    let place = (case.damage)(&mut kit);
    let what = format!("{}: {}", case.code, case.what);
    let options = options(&kit);
    let root = kit.store.root().to_owned();
    let Ok(store) = Store::open(&root) else {
        return; // no store at all any more
    };
    let before = tree(&root);
    let first = plan(&store, &options);
    same_trees(&tree(&root), &before, &what);
    let mine: Vec<&Item> = first
        .items
        .iter()
        .filter(|i| i.finding.code == case.code)
        .collect();
    let classes = allowed(case.code);
    // In a trace, and under another name, some codes are remarks that nothing is done about.
    assert!(
        classes.is_empty() == mine.is_empty(),
        "{what}: {:?} where {classes:?} was expected, at {place:?}",
        mine.iter().map(|i| i.class).collect::<Vec<_>>()
    );
    for item in &mine {
        assert!(classes.contains(&item.class), "{what}: {:?}", item.class);
        assert!(!item.action.is_empty(), "{what}");
        let state = match item.class {
            RepairClass::Automatic | RepairClass::Lossy => State::Planned,
            _ => State::Manual,
        };
        assert_eq!(item.state, state, "{what}: {:?}", item.refusal);
    }
    let planned: Vec<Code> = first
        .items
        .iter()
        .filter(|i| i.state == State::Planned)
        .map(|i| i.finding.code)
        .collect();
    if store.runtime().good().is_none() || planned.is_empty() {
        return;
    }
    let applied = apply(&store, &first, &options);
    assert!(applied.error.is_none(), "{what}: {:?}", applied.error);
    assert_eq!(applied.done(), planned.len() as u64, "{what}");
    for finding in findings(&store, &options) {
        let promised = first
            .items
            .iter()
            .any(|i| i.state == State::Planned && i.finding.code == finding.code);
        assert!(
            !promised,
            "{what}: still {} at {}",
            finding.code, finding.locus
        );
    }
    let second = plan(&store, &options);
    assert!(
        second.items.iter().all(|i| i.state == State::Manual),
        "{what}: {:?}",
        second.items
    );
    for operation in operations(&applied).iter().rev() {
        match undo(&store, operation) {
            Ok(_) => {}
            // the journal's own tail, which is no part of anybody's history
            Err(e) if planned == [Code::TornTail] && e.code == Code::NotUndoable => {}
            Err(e) => panic!("{what}: {e}"),
        }
    }
    same_trees(&tree(&root), &before, &what);
}

#[test]
fn every_code_is_mended_or_explained() {
    let failed: Vec<String> = crate::verify::all()
        .filter(|case| std::panic::catch_unwind(|| hold(case)).is_err())
        .map(|case| format!("{}: {}", case.code, case.what))
        .collect();
    assert!(failed.is_empty(), "these rows do not hold: {failed:#?}");
}

/// A code without a row there is one that nothing can be done about, or that a person decides.
#[test]
fn every_code_has_a_class() {
    let rows: std::collections::BTreeSet<Code> =
        crate::verify::all().map(|case| case.code).collect();
    for code in Code::ALL
        .iter()
        .filter(|code| code.info().severity.is_some())
    {
        let class = code.info().repair;
        let shown = rows.contains(code);
        let idle = matches!(class, RepairClass::Manual | RepairClass::None);
        assert!(
            shown || idle,
            "{code} is {} and no row shows it",
            class.as_str()
        );
    }
    for code in Code::ALL
        .iter()
        .filter(|code| code.info().severity.is_none())
    {
        assert_eq!(
            code.info().repair,
            RepairClass::None,
            "{code} is no finding"
        );
    }
}
