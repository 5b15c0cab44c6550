//! C12: a store that changes while it is read gives no finding that was never true.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use wagg::diag::{NoProgress, Severity};
use wagg::ops::verify::{Options, Report, verify};
use wagg::store::Store;

use super::case::{Kit, SEGMENT};
use crate::support::Log;
use crate::support::store::{document, id, metadata, worker_document};

/// How long each store is moved and read.
const LONG: Duration = Duration::from_millis(1500);

/// Replaces a document as every writer does: beside it, then by rename.
fn replace(path: &Path, bytes: &[u8]) {
    static N: AtomicU64 = AtomicU64::new(0);
    let n = N.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap().to_str().unwrap();
    let temporary = path.with_file_name(format!(".{name}.tmp-{}-{n}", std::process::id()));
    fs::write(&temporary, bytes).unwrap();
    fs::rename(temporary, path).unwrap();
}

/// Runs `write` over and over in a thread of its own while the store is read over and over.
fn while_moving(root: PathBuf, mut write: impl FnMut(u64) + Send, mut look: impl FnMut(&Report)) {
    let stop = AtomicBool::new(false);
    let mut rounds = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) {
                write(n);
                n += 1;
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let begun = Instant::now();
            while begun.elapsed() < LONG {
                let store = Store::open(&root).unwrap();
                let report = verify(&store, &Options::default(), &NoProgress).unwrap();
                look(&report);
                rounds += 1;
            }
        }));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    assert!(rounds > 3, "only {rounds} rounds");
}

#[track_caller]
fn no_error(report: &Report) {
    let errors: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(
        report.not_looked_at.is_empty(),
        "{:?}",
        report.not_looked_at
    );
}

/// A record is written in pieces, a torn tail is cut and written anew: always a whole prefix.
#[test]
fn c12_appends_and_cut_tails() {
    let kit = Kit::v1();
    let path = kit.segment();
    let good = fs::read(&path).unwrap();
    let turn = Log::empty().turn("Again.").bytes();
    let mut length = good.len() as u64;
    let mut records = 0;
    while_moving(
        kit.store.root().to_owned(),
        |n| {
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            let half = turn.len() / 2;
            file.write_all(&turn[..half]).unwrap();
            std::thread::yield_now();
            if n % 3 == 0 {
                // the writer died here; the next one cuts to the last newline
                let end = turn[..half].iter().rposition(|b| *b == b'\n').unwrap() + 1;
                file.set_len(length + end as u64).unwrap();
                file.write_all(&turn[end..]).unwrap();
            } else {
                file.write_all(&turn[half..]).unwrap();
            }
            length += turn.len() as u64;
            if length > 4 << 20 {
                // a whole new file by rename, as a repair does
                replace(&path, &good);
                length = good.len() as u64;
            }
        },
        |report| {
            // the turns say 1 over and over, which is a warning; nothing is worse
            no_error(report);
            records = records.max(report.summary.records);
        },
    );
    assert!(records > 15, "{records}");
}

/// Forks that appear by rename, and a pointer that then moves to them. On a file system in memory a
/// listing may miss a name that was there all the time, or give it twice.
#[test]
fn c12_new_segments_and_the_pointer() {
    new_segments(&Kit::v1());
    #[cfg(target_os = "linux")]
    if let Ok(memory) = tempfile::tempdir_in("/dev/shm") {
        new_segments(&Kit::v1_in(memory.path()));
    }
}

fn new_segments(kit: &Kit) {
    let name = format!("worker-runtime-{}", kit.worker.id());
    let (segments, pointer) = (
        kit.worker.path("session/segments"),
        kit.worker.path("metadata.json"),
    );
    while_moving(
        kit.store.root().to_owned(),
        |n| {
            let new = 0x1000 + n % 200;
            let source = if n % 200 == 0 { SEGMENT } else { new - 1 };
            let log = Log::forked(1, source, 1).turns(1);
            replace(&segments.join(format!("{}.jsonl", id(new))), &log.bytes());
            let value = metadata(&name, Some((1, Some(new))));
            replace(&pointer, &serde_json::to_vec_pretty(&value).unwrap());
        },
        no_error,
    );
}

/// A document that is replaced is always one of its versions.
#[test]
fn c12_documents_that_are_replaced() {
    let kit = Kit::v1();
    let (worker, runtime) = (
        kit.worker.path("worker.json"),
        kit.store.path("runtime.json"),
    );
    let old = fs::read(&runtime).unwrap();
    while_moving(
        kit.store.root().to_owned(),
        |n| {
            // a generation is persisted first, and only then is there a folder
            let generation = 2 + n;
            replace(&worker, &document(&worker_document(1, 1, generation)));
            fs::create_dir(kit.worker.path(format!("runs/{generation}"))).unwrap();
            if generation > 60 {
                let _ = fs::remove_dir(kit.worker.path(format!("runs/{}", generation - 50)));
            }
            let mut value: serde_json::Value = serde_json::from_slice(&old).unwrap();
            value["next_diagnostic_id"] = n.into();
            replace(&runtime, &document(&value));
        },
        no_error,
    );
}

/// Workers and Sessions that come by rename, and Workers that go.
#[test]
fn c12_workers_that_come_and_go() {
    let kit = Kit::v1();
    let staging = kit.env.path("staging");
    fs::create_dir(&staging).unwrap();
    let runtime = kit.store.path("runtime.json");
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs::read(&runtime).unwrap()).unwrap();
    while_moving(
        kit.store.root().to_owned(),
        |n| {
            let number = 100 + n;
            // the sequence first, then the folder
            value["next_worker_sequence"] = (number + 1).into();
            replace(&runtime, &document(&value));
            let staged = staging.join(number.to_string());
            fs::create_dir(&staged).unwrap();
            let worker = document(&worker_document(1, number, 0));
            fs::write(staged.join("worker.json"), worker).unwrap();
            let place = kit.store.path(format!("workers/{number}"));
            fs::rename(&staged, &place).unwrap();
            // the Session, whole, then the pointer at it
            let session = place.join(".session.migrating-4242-1");
            fs::create_dir_all(session.join("segments")).unwrap();
            let text = document(&json!({ "schema_version": 1, "session_id": id(number) }));
            fs::write(session.join("session.json"), text).unwrap();
            let segment = 0x10_0000 + number;
            fs::write(
                session.join(format!("segments/{}.jsonl", id(segment))),
                Log::start(number).turns(1).bytes(),
            )
            .unwrap();
            fs::rename(session, place.join("session")).unwrap();
            let value = metadata(
                &format!("worker-runtime-{number}"),
                Some((number, Some(segment))),
            );
            replace(
                &place.join("metadata.json"),
                &serde_json::to_vec_pretty(&value).unwrap(),
            );
            if n >= 20 {
                let gone = number - 20;
                let away = staging.join(format!("gone-{gone}"));
                fs::rename(kit.store.path(format!("workers/{gone}")), &away).unwrap();
                fs::remove_dir_all(away).unwrap();
            }
        },
        no_error,
    );
}

/// The binary too, with its threads, on a store that moves.
#[test]
fn c12_the_command_on_a_moving_store() {
    let kit = Kit::v1();
    for n in 2..5 {
        kit.store.worker(n).usual(n);
    }
    let stop = AtomicBool::new(false);
    let turn = Log::empty().turn("Again.").bytes();
    std::thread::scope(|scope| {
        for n in 2..5 {
            let path = kit.store.worker_folder(n).segment_path(n * 16 + 1);
            let (turn, stop) = (&turn, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                    file.write_all(turn).unwrap();
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
        let outs: Vec<_> = (0..5)
            .map(|_| {
                kit.env.wagg([
                    "verify", "--digest", "--format", "json", "--jobs", "4", "--store", "store",
                ])
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        for out in outs {
            let out = out.status(0);
            assert_eq!(out.json()["summary"]["errors"], 0, "{out}");
        }
    });
}
