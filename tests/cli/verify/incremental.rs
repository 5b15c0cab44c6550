//! Certificates from inside this process: whatever happens to a store or to the certificate, an
//! incremental look says what a full one says.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use wagg::diag::{NoProgress, Progress};
use wagg::ops::verify::{
    Certificate, CertificateOptions, Options, Report, SETTLE, verify, verify_since,
};
use wagg::record::{Fold, Format, Limits, Outline, Remark, Resume, Scanner};
use wagg::store::Store;

use super::property::{Edit, config, edited, edits, life, soup};
use crate::support::store::{id, put};
use crate::support::{Log, TestStore, damage};

/// A store whose certificates are looked at from inside this process.
pub struct Stored {
    env: crate::support::TestEnv,
    pub store: TestStore,
    state: PathBuf,
}

impl Stored {
    pub fn new() -> Self {
        let env = crate::support::TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        let state = env.path("state");
        Self { env, store, state }
    }

    pub fn options(&self, trust_mtime: bool, settle: Duration) -> CertificateOptions {
        CertificateOptions {
            since: Some(self.state.clone()),
            save: Some(self.state.clone()),
            trust_mtime,
            settle,
            max_line: Limits::default().max_line,
        }
    }

    /// An incremental look, and what it has to say of the certificate.
    pub fn look(&self, options: CertificateOptions) -> (Report, Vec<String>) {
        self.look_with(options, &plain())
    }

    pub fn look_with(&self, options: CertificateOptions, how: &Options) -> (Report, Vec<String>) {
        self.look_at(options, how, &NoProgress)
    }

    pub fn look_at(
        &self,
        options: CertificateOptions,
        how: &Options,
        progress: &dyn Progress,
    ) -> (Report, Vec<String>) {
        let store = Store::open(self.store.root()).unwrap();
        let certificate = Certificate::open(&store, options).unwrap();
        let report = verify_since(&store, how, Some(&certificate), progress).unwrap();
        let notes = certificate.notes();
        certificate.finish().unwrap();
        (report, notes)
    }

    pub fn full(&self) -> Report {
        self.full_with(&plain())
    }

    fn full_with(&self, how: &Options) -> Report {
        let store = Store::open(self.store.root()).unwrap();
        verify(&store, how, &NoProgress).unwrap()
    }
}

pub fn plain() -> Options {
    Options {
        digest: true,
        jobs: std::num::NonZeroUsize::MIN,
        ..Options::default()
    }
}

/// All that a report says, but for its cost.
pub fn said(report: &Report) -> Value {
    let mut report = serde_json::to_value(report).unwrap();
    report["summary"]
        .as_object_mut()
        .unwrap()
        .remove("reused_bytes");
    report
}

/// Any byte that differs, and any end that is missing, makes it useless.
#[test]
fn a_damaged_certificate_is_not_used() {
    let stored = Stored::new();
    let worker = stored.store.worker(1);
    worker.usual(1).trace(0x11);
    damage::replace_line(&worker.segment_path(0x11), 3, "x");
    let full = said(&stored.full());
    let _ = stored.look(stored.options(false, SETTLE));
    let good = fs::read(&stored.state).unwrap();
    let store = Store::open(stored.store.root()).unwrap();
    let mut options = stored.options(false, SETTLE);
    options.save = None;
    let notes = |bytes: &[u8]| {
        fs::write(&stored.state, bytes).unwrap();
        Certificate::open(&store, options.clone()).unwrap().notes()
    };
    assert!(notes(&good).is_empty());
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        assert_eq!(notes(&bytes).len(), 1, "byte {at}");
        assert_eq!(notes(&good[..at]).len(), 1, "cut at {at}");
    }
    assert_eq!(notes(&[&good[..], b"x"].concat()).len(), 1);
    let (report, notes) = stored.look(stored.options(true, Duration::ZERO));
    assert_eq!(said(&report), full);
    assert_eq!(report.summary.reused_bytes, Some(0));
    assert!(
        notes[0].ends_with("is damaged; everything is read in full"),
        "{notes:?}"
    );
}

/// One that somebody writes into after it was opened.
#[test]
fn a_certificate_that_changes_while_it_is_used_is_not_believed() {
    let stored = Stored::new();
    stored.store.worker(1).usual(1);
    let _ = stored.look(stored.options(false, SETTLE));
    let full = said(&stored.full());
    let store = Store::open(stored.store.root()).unwrap();
    let good = fs::read(&stored.state).unwrap();
    for at in 0..good.len() {
        fs::write(&stored.state, &good).unwrap();
        let mut options = stored.options(false, SETTLE);
        options.save = None;
        let certificate = Certificate::open(&store, options).unwrap();
        damage::flip(&stored.state, at);
        let report = verify_since(&store, &plain(), Some(&certificate), &NoProgress).unwrap();
        assert_eq!(said(&report), full, "byte {at}");
    }
}

/// A file that had just changed when it was looked at may change again within the same tick, so
/// its times say nothing, and its bytes are hashed.
#[test]
fn times_of_files_that_just_changed_are_not_trusted() {
    let stored = Stored::new();
    let worker = stored.store.worker(1);
    worker.usual(1);
    let hour = Duration::from_secs(3600);
    let _ = stored.look(stored.options(true, hour));
    // hashed, not parsed: the times are the same and count for nothing
    let (report, _) = stored.look(stored.options(true, hour));
    assert_eq!(report.summary.reused_bytes, Some(report.summary.bytes));
    std::thread::sleep(Duration::from_millis(30));
    let settle = Duration::from_millis(15);
    let _ = stored.look(stored.options(true, settle));
    // a change that keeps size and time of writing shows in the other time
    let path = worker.segment_path(0x11);
    let before = fs::metadata(&path).unwrap();
    damage::flip(&path, 5);
    let file = fs::File::options().write(true).open(&path).unwrap();
    let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
    file.set_times(times).unwrap();
    drop(file);
    let after = fs::metadata(&path).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    let (report, notes) = stored.look(stored.options(true, settle));
    assert_eq!(said(&report), said(&stored.full()));
    assert!(report.summary.errors > 0, "{report:?}");
    assert_eq!(notes.len(), 1, "{notes:?}");
}

/// What happens to a store between two looks.
#[derive(Debug, Clone)]
enum Change {
    Append(usize, Vec<u8>),
    AppendTurn(usize),
    Edit(usize, Vec<(usize, Edit)>, bool),
    Truncate(usize, usize),
    /// Another file of the same size and time in its place.
    Replace(usize, usize),
    Touch(usize),
    Delete(usize),
    Rename(usize, u64),
    Segment(u64, u64, Log),
    Trace(u64, u64),
    Worker(u64),
    Pointer(u64, u64),
    /// The certificate itself.
    Certificate(usize),
    Nothing,
}

fn change() -> impl Strategy<Value = Change> {
    let any_file = any::<usize>;
    prop_oneof![
        2 => (any_file(), soup()).prop_map(|(f, bytes)| Change::Append(f, bytes)),
        3 => any_file().prop_map(Change::AppendTurn),
        2 => (any_file(), edits(), any::<bool>()).prop_map(|(f, e, t)| Change::Edit(f, e, t)),
        2 => (any_file(), any_file()).prop_map(|(f, at)| Change::Truncate(f, at)),
        2 => (any_file(), any_file()).prop_map(|(f, at)| Change::Replace(f, at)),
        1 => any_file().prop_map(Change::Touch),
        1 => any_file().prop_map(Change::Delete),
        1 => (any_file(), 1_u64..40).prop_map(|(f, n)| Change::Rename(f, n)),
        2 => (1_u64..4, 1_u64..4, life()).prop_map(|(w, s, log)| Change::Segment(w, s, log)),
        1 => (1_u64..4, 1_u64..4).prop_map(|(w, s)| Change::Trace(w, s)),
        1 => (1_u64..4).prop_map(Change::Worker),
        1 => (1_u64..4, 1_u64..4).prop_map(|(w, s)| Change::Pointer(w, s)),
        1 => any_file().prop_map(Change::Certificate),
        2 => Just(Change::Nothing),
    ]
}

impl Stored {
    /// One of the files of lines, if there is one.
    fn file(&self, n: usize) -> Option<PathBuf> {
        let files = crate::support::files_below(self.store.root(), ".jsonl");
        (!files.is_empty()).then(|| files[n % files.len()].clone())
    }

    fn apply(&self, change: &Change) {
        match change {
            Change::Append(n, bytes) => {
                if let Some(path) = self.file(*n) {
                    damage::append(&path, bytes);
                }
            }
            Change::AppendTurn(n) => {
                if let Some(path) = self.file(*n) {
                    let log = Log::start(1).turn("more").bytes();
                    let (_, end) = damage::line_at(&log, 1);
                    damage::append(&path, &log[end..]);
                }
            }
            Change::Edit(n, edits, keep) => self.rewrite(*n, *keep, |old| edited(old, edits)),
            Change::Truncate(n, at) => {
                self.rewrite(*n, false, |old| old[..at % (old.len() + 1)].to_vec())
            }
            Change::Replace(n, at) => {
                if let Some(path) = self.file(*n) {
                    let mut bytes = fs::read(&path).unwrap();
                    let times = fs::metadata(&path).unwrap().modified().unwrap();
                    if !bytes.is_empty() {
                        let at = at % bytes.len();
                        bytes[at] ^= 1;
                    }
                    let beside = self.env.path("beside");
                    fs::write(&beside, bytes).unwrap();
                    let file = fs::File::options().write(true).open(&beside).unwrap();
                    file.set_times(fs::FileTimes::new().set_modified(times))
                        .unwrap();
                    fs::rename(beside, path).unwrap();
                }
            }
            Change::Touch(n) => {
                if let Some(path) = self.file(*n) {
                    let file = fs::File::options().write(true).open(path).unwrap();
                    file.set_modified(std::time::SystemTime::now()).unwrap();
                }
            }
            Change::Delete(n) => {
                if let Some(path) = self.file(*n) {
                    fs::remove_file(path).unwrap();
                }
            }
            Change::Rename(n, segment) => {
                if let Some(path) = self.file(*n) {
                    let name = path.with_file_name(format!("{}.jsonl", id(*segment)));
                    fs::rename(path, name).unwrap();
                }
            }
            Change::Segment(worker, segment, log) => {
                let worker = self.store.worker_folder(*worker);
                put(worker.segment_path(*segment), log.bytes());
            }
            Change::Trace(worker, segment) => {
                self.store.worker_folder(*worker).trace(*segment);
            }
            Change::Worker(n) => {
                self.store.worker(*n).usual(*n);
            }
            Change::Pointer(worker, segment) => {
                self.store
                    .worker_folder(*worker)
                    .active(*worker, Some(*segment));
            }
            Change::Certificate(n) => {
                if let Ok(bytes) = fs::read(&self.state) {
                    damage::flip(&self.state, n % bytes.len());
                }
            }
            Change::Nothing => {}
        }
    }

    /// Writes a file anew, in place, with its old time of writing if `keep` says so.
    fn rewrite(&self, n: usize, keep: bool, change: impl FnOnce(&[u8]) -> Vec<u8>) {
        let Some(path) = self.file(n) else { return };
        let old = fs::read(&path).unwrap();
        let times = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, change(&old)).unwrap();
        if keep {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(times).unwrap();
        }
    }
}

/// How long the times of a file system tick at most, where these tests run.
pub const TICK: Duration = Duration::from_millis(15);

#[test]
fn any_changes_give_what_a_full_look_gives() {
    let rounds = proptest::collection::vec(
        (
            proptest::collection::vec(change(), 0..4),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        ),
        1..5,
    );
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let checked = runner.run(&rounds, |rounds| {
        let stored = Stored::new();
        stored.store.worker(1).usual(1).trace(0x11);
        stored.store.worker(2).usual(2);
        let _ = stored.look(stored.options(false, TICK));
        for (changes, trust, wait, digest) in rounds {
            // one that was made without digests has none to give
            let how = Options { digest, ..plain() };
            changes.iter().for_each(|change| stored.apply(change));
            if wait {
                std::thread::sleep(TICK + Duration::from_millis(1));
            }
            let full = said(&stored.full_with(&how));
            // the second has the certificate of the first, and nothing changed since
            for look in 0..2 {
                let (report, _) = stored.look_with(stored.options(trust, TICK), &how);
                prop_assert_eq!(&said(&report), &full, "look {}: {:?}", look, changes);
                if look == 1 {
                    prop_assert_eq!(
                        report.summary.reused_bytes.unwrap() + torn(&report),
                        report.summary.bytes
                    );
                }
            }
        }
        Ok(())
    });
    checked.unwrap_or_else(|e| panic!("{e}"));
}

/// The bytes behind the last newlines, which are never known from before.
fn torn(report: &Report) -> u64 {
    report
        .findings
        .iter()
        .filter(|f| f.code == wagg::diag::Code::TornTail)
        .filter_map(|f| f.locus.length)
        .sum()
}

fn push(fold: &mut Fold, line: &wagg::record::Line<'_>, format: Format) -> ControlFlow<()> {
    match format {
        Format::Segment => fold.push(line),
        Format::Trace => fold.push_trace(line),
    }
    ControlFlow::Continue(())
}

/// What the lines come to, read in one go or put down and taken up at each of these lines.
fn read(bytes: &[u8], format: Format, stops: &[u64]) -> (Outline, Vec<Remark>) {
    let mut scanner = Scanner::new(Limits {
        buffer: 200,
        ..Limits::default()
    });
    let (mut fold, mut from) = (Fold::new(), Resume::default());
    let len = bytes.len() as u64;
    for stop in stops {
        let (mut end, mut lines) = (from.offset, from.lines);
        scanner
            .scan_from(bytes, from.clone(), len, format, |line| {
                if line.number > *stop {
                    return ControlFlow::Break(());
                }
                end = line.offset + line.length + 1;
                lines = line.number;
                push(&mut fold, line, format)
            })
            .unwrap();
        (from.offset, from.lines) = (end, lines);
        let carry = fold.carry().unwrap();
        fold = Fold::carried(&carry, true).unwrap();
        assert_eq!(fold.carry().unwrap(), carry);
        for cut in [carry.len() - 1, carry.len() / 2, 0] {
            assert!(Fold::carried(&carry[..cut], true).is_none(), "cut at {cut}");
        }
    }
    let scanned = scanner
        .scan_from(bytes, from, len, format, |line| {
            push(&mut fold, line, format)
        })
        .unwrap();
    fold.finish(&scanned)
}

proptest! {
    #![proptest_config(config())]

    /// A fold that is put down between any two lines comes to the same.
    #[test]
    fn a_fold_can_be_put_down_anywhere(
        log in life(),
        edits in edits(),
        soup in soup(),
        mut stops in proptest::collection::vec(0_u64..30, 0..3),
    ) {
        stops.sort_unstable();
        let bytes = edited(&[log.bytes(), soup].concat(), &edits);
        for format in [Format::Segment, Format::Trace] {
            prop_assert_eq!(read(&bytes, format, &stops), read(&bytes, format, &[]));
        }
    }
}

/// Of very many faults those beyond some thousands are counted: with every fold alike, whether it
/// was put down or not.
#[test]
fn what_is_only_counted_is_carried_too() {
    let mut bytes = Log::start(1).turns(2).bytes();
    for n in 0..12_000 {
        let call = format!(
            r#"{{"kind":"assistant_item","ts":1,"item":{{"kind":"tool_call","call_id":"c{n}","name":"n","arguments":"x"}}}}"#
        );
        bytes.extend([call.as_bytes(), b"\nx\n"].concat());
    }
    for format in [Format::Segment, Format::Trace] {
        let whole = read(&bytes, format, &[]);
        assert_eq!(read(&bytes, format, &[30, 11_000, 23_000]), whole);
        let kept = |code| whole.1.iter().filter(|r| r.code == code).count() as u64;
        let all = |code| kept(code) + whole.0.beyond.get(&code).unwrap_or(&0);
        assert_eq!(kept(wagg::diag::Code::CorruptRecord), 5_000);
        assert!(
            all(wagg::diag::Code::CorruptRecord) >= 12_000,
            "{:?}",
            whole.0.beyond
        );
    }
}

/// A file of very many faults is known from before as any other.
#[test]
fn a_file_of_very_many_faults_is_not_read_anew() {
    let stored = Stored::new();
    let worker = stored.store.worker(1);
    worker.usual(1);
    let path = worker.segment_path(0x11);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"x\n".repeat(200_000));
    fs::write(&path, bytes).unwrap();
    let (first, _) = stored.look(stored.options(false, SETTLE));
    let (report, notes) = stored.look(stored.options(false, SETTLE));
    assert_eq!(report.summary.reused_bytes, Some(report.summary.bytes));
    assert_eq!(report.summary.errors, 200_000);
    assert_eq!(report.findings, first.findings);
    assert_eq!(report.unlisted, first.unlisted);
    assert!(notes.is_empty(), "{notes:?}");
}
