//! What happens to a file in the middle of a look, at a moment that is always the same: the look
//! itself says how far it is, and the file changes there.

use std::fs::{self, OpenOptions};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;

use proptest::prelude::*;
use wagg::diag::{NoProgress, Progress};
use wagg::ops::verify::{Options, verify, verify_files};
use wagg::store::Store;

use super::case::Kit;
use super::incremental::{Stored, plain, said};
use super::property::{Edit, config, edited, edits, soup};
use crate::support::{Log, damage};

/// Does something whenever a look says how far it is.
struct Meanwhile<F>(Mutex<F>);

impl<F: FnMut() + Send> Meanwhile<F> {
    fn new(act: F) -> Self {
        Self(Mutex::new(act))
    }
}

impl<F: FnMut() + Send> Progress for Meanwhile<F> {
    fn start(&self, _: Option<u64>) {}
    fn add(&self, _: u64) {
        (self.0.lock().unwrap())();
    }
    fn message(&self, _: &str) {}
    fn finish(&self) {}
}

/// A Segment so long that a look says how far it is before its end.
fn long_segment(kit: &Kit, len: usize) {
    let mut bytes = fs::read(kit.segment()).unwrap();
    let text = "b".repeat(100_000);
    let more = Log::empty().turn(&text).turn(&text).bytes();
    while bytes.len() < len {
        bytes.extend(&more);
    }
    fs::write(kit.segment(), bytes).unwrap();
}

/// Cuts a file behind the line that ends before this place.
fn cut(path: &Path, at: usize) {
    let bytes = fs::read(path).unwrap();
    let end = bytes[..at].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(end as u64).unwrap();
}

/// What was read before a file became shorter is no state of it: it is read once more.
#[test]
fn a_segment_that_becomes_shorter_is_read_once_more() {
    let zeros = |path: &Path, len| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(0).unwrap();
        file.set_len(len).unwrap();
    };
    let acts: [&(dyn Fn(&Path) + Sync); 3] = [
        &|path| cut(path, 9 << 20),
        &|path| fs::write(path, "").unwrap(),
        &|path| zeros(path, 6 << 20),
    ];
    for act in acts {
        let kit = Kit::v1();
        long_segment(&kit, 12 << 20);
        let path = kit.segment();
        let store = Store::open(kit.store.root()).unwrap();
        let mut done = false;
        let meanwhile = Meanwhile::new(|| {
            if !std::mem::replace(&mut done, true) {
                act(&path);
            }
        });
        let report = verify(&store, &plain(), &meanwhile).unwrap();
        let after = verify(&store, &plain(), &NoProgress).unwrap();
        assert_eq!(said(&report), said(&after));
    }
}

#[test]
fn one_that_becomes_shorter_again_and_again_is_not_judged() {
    let kit = Kit::v1();
    let path = kit.segment();
    // in the first try, at its end, and in the second
    let shorter = || {
        let mut ends = vec![17 << 18, 5 << 20, 6 << 20];
        let path = kit.segment();
        Meanwhile::new(move || {
            if let Some(end) = ends.pop() {
                cut(&path, end);
            }
        })
    };
    long_segment(&kit, 7 << 20);
    let store = Store::open(kit.store.root()).unwrap();
    let report = verify(&store, &plain(), &shorter()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.digests.is_empty(), "{:?}", report.digests);
    let summary = &report.summary;
    assert_eq!(
        (summary.segments, summary.records, summary.bytes),
        (0, 0, 0)
    );
    assert_eq!(report.not_looked_at.len(), 1);
    let place = &report.not_looked_at[0];
    assert!(path.ends_with(&place.path), "{place:?}");
    assert_eq!(place.reason, "it became shorter while it was read");

    long_segment(&kit, 7 << 20);
    let files = [path.clone()];
    let report = verify_files(&files, &Options::with_jobs(NonZeroUsize::MIN), &shorter());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.summary.segments, 0);
    assert_eq!(report.not_looked_at[0].reason, place.reason);
}

/// A Segment that grows whenever it is looked at gets its certificate all the same: that of the
/// lines that were there.
#[test]
fn what_is_appended_during_a_look_costs_no_certificate() {
    let stored = Stored::new();
    let path = stored.store.worker(1).usual(1).segment_path(0x11);
    let turn = Log::empty().turn("more").bytes();
    let mut known = 0;
    for look in 0..4 {
        let before = fs::metadata(&path).unwrap().len();
        // the last one in two pieces
        let more = [&turn[..], &turn[..20]].concat();
        let meanwhile = Meanwhile::new(|| damage::append(&path, &more));
        let mut options = stored.options(true, std::time::Duration::ZERO);
        let (report, notes) = stored.look_at(options.clone(), &plain(), &meanwhile);
        assert_eq!(report.summary.reused_bytes, Some(known), "look {look}");
        if look > 0 {
            assert!(notes.is_empty(), "{notes:?}");
        }
        damage::append(&path, &turn[20..]);
        // nothing happens during this one
        options.save = None;
        let (report, _) = stored.look_with(options, &plain());
        assert_eq!(said(&report), said(&stored.full()), "look {look}");
        known = report.summary.reused_bytes.unwrap();
        assert!(known >= before, "look {look}: {known} of {before}");
    }
}

#[derive(Debug, Clone)]
enum Act {
    Append(Vec<u8>),
    Edit(Vec<(usize, Edit)>),
    Cut(usize),
}

/// Whatever happens to a file while it is looked at, the next look says what a full one says.
#[test]
fn any_change_during_a_look_is_found_by_the_next() {
    let act = prop_oneof![
        soup().prop_map(Act::Append),
        edits().prop_map(Act::Edit),
        any::<usize>().prop_map(Act::Cut),
    ];
    let rounds =
        proptest::collection::vec((proptest::collection::vec(act, 0..3), any::<bool>()), 1..4);
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let checked = runner.run(&rounds, |rounds| {
        let stored = Stored::new();
        let path = stored.store.worker(1).usual(1).segment_path(0x11);
        let tick = super::incremental::TICK;
        for (acts, trust) in rounds {
            let mut acts = acts.into_iter();
            let meanwhile = Meanwhile::new(|| {
                let old = fs::read(&path).unwrap();
                let new = match acts.next() {
                    Some(Act::Append(bytes)) => return damage::append(&path, &bytes),
                    Some(Act::Edit(edits)) => edited(&old, &edits),
                    Some(Act::Cut(at)) => old[..at % (old.len() + 1)].to_vec(),
                    None => return,
                };
                fs::write(&path, new).unwrap();
            });
            let _ = stored.look_at(stored.options(trust, tick), &plain(), &meanwhile);
            let full = said(&stored.full());
            let (report, _) = stored.look(stored.options(trust, tick));
            prop_assert_eq!(&said(&report), &full);
        }
        Ok(())
    });
    checked.unwrap_or_else(|e| panic!("{e}"));
}
