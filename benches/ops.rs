//! How fast the program's main work is, on stores that are made here: `cargo bench`, or
//! `cargo bench -- verify` for some of it. Figures of different machines, or of a busy one, say
//! nothing beside each other; `docs/performance.md` says how to compare.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "what a benchmark writes is no store of anybody's"
)]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use divan::{Bencher, counter::BytesCount, counter::ItemsCount};
use tempfile::TempDir;
use wagg::diag::NoProgress;
use wagg::ops::change::{self, Flags};
use wagg::ops::legacy::Roots;
use wagg::ops::run::reserve::Reserve;
use wagg::ops::segment::Fork;
use wagg::ops::verify::{Options, verify as verify_store};
use wagg::ops::{migrate as migration, worker};
use wagg::record::{Fold, Format, Limits, Replay, Scanner, Until};
use wagg::store::Store;

#[path = "../tests/cli/support/log.rs"]
#[allow(dead_code, reason = "a kit for the tests too")]
mod log;
#[path = "../tests/cli/support/store.rs"]
#[allow(dead_code, reason = "a kit for the tests too")]
mod store;

use log::Log;
use store::{Legacy, TestStore};

fn main() {
    divan::main();
}

/// A text as tools print it: lines, quotes, tabs, some letters beyond ASCII.
fn text(bytes: usize) -> String {
    let line = "     1\tlet name = \"größe\"; // a line of code as a tool prints it\n";
    line.repeat(bytes / line.len() + 1)
}

/// A history of about so many bytes, of turns with long and short texts.
fn history(bytes: usize) -> Log {
    let (short, long) = (text(300), text(4000));
    let mut log = Log::start(1);
    for turn in 0..bytes / 5000 {
        log = log.tool_turn(if turn % 2 == 0 { &long } else { &short });
    }
    log
}

/// A store of so many Workers, each with one small Segment and one run.
fn small_workers(root: &Path, count: u64) -> Store {
    let store = TestStore::v1(root);
    for n in 1..=count {
        store.worker(n).usual(n);
    }
    Store::open(root).unwrap()
}

const MB: usize = 1_000_000;

/// Lines checked and folded, as `verify` does, from memory.
#[divan::bench]
fn scanner(bencher: Bencher<'_, '_>) {
    let bytes = history(16 * MB).bytes();
    let mut scanner = Scanner::new(Limits::default());
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| {
            let mut fold = Fold::new();
            let len = bytes.len() as u64;
            let scanned = scanner.scan(&bytes[..], len, Format::Segment, |line| {
                fold.push(line);
                ControlFlow::Continue(())
            });
            fold.finish(&scanned.unwrap())
        });
}

/// The history of a Segment as a restore sees it.
#[divan::bench]
fn replay(bencher: Bencher<'_, '_>) {
    let bytes = history(4 * MB).bytes();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| {
            let len = bytes.len() as u64;
            Replay::read(&bytes[..], len, Limits::default(), Until::End).unwrap()
        });
}

/// A store of one large Segment, so that threads have to share it.
#[divan::bench(args = [1, 2])]
fn verify(bencher: Bencher<'_, '_>, jobs: usize) {
    let temp = TempDir::new().unwrap();
    let log = history(64 * MB);
    let store = TestStore::v1(temp.path());
    store
        .worker(1)
        .session(1)
        .segment(17, &log)
        .active(1, Some(17));
    let store = Store::open(temp.path()).unwrap();
    bencher
        .counter(BytesCount::new(log.bytes().len()))
        .bench_local(|| verify_store(&store, &options(jobs), &NoProgress).unwrap());
}

/// A store of many small Workers, where opening and listing is the work.
#[divan::bench(args = [1, 2])]
fn walk(bencher: Bencher<'_, '_>, jobs: usize) {
    let temp = TempDir::new().unwrap();
    let store = small_workers(temp.path(), 1000);
    bencher
        .counter(ItemsCount::new(1000usize))
        .bench_local(|| verify_store(&store, &options(jobs), &NoProgress).unwrap());
}

fn options(jobs: usize) -> Options {
    Options {
        jobs: NonZeroUsize::new(jobs).unwrap(),
        ..Options::default()
    }
}

/// Small Workers out of the old layout, with every sync.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn migrate(bencher: Bencher<'_, '_>) {
    const WORKERS: u64 = 100;
    bencher
        .counter(ItemsCount::new(WORKERS as usize))
        .with_inputs(|| {
            let temp = TempDir::new().unwrap();
            let legacy = Legacy::new(temp.path().join("old"));
            let new = TestStore::v1(temp.path().join("new"));
            for n in 1..=WORKERS {
                new.worker(n);
                legacy.usual(n);
            }
            let options = migration::Options {
                roots: Roots {
                    sessions: legacy.sessions(),
                    metadata: legacy.workers(),
                },
                ..migration::Options::default()
            };
            (migration::Home::open(new.root()).unwrap(), options, temp)
        })
        .bench_local_values(|(home, options, temp)| {
            let done = migration::migrate(home, &options, &Flags::plain("bench"), &NoProgress);
            (done.unwrap(), temp)
        });
}

/// A branch of a Segment of 1 MB, durable.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn fork(bencher: Bencher<'_, '_>) {
    let temp = TempDir::new().unwrap();
    let made = TestStore::v1(temp.path());
    made.worker(1)
        .session(1)
        .segment(17, &history(MB))
        .active(1, Some(17));
    let store = Store::open(temp.path()).unwrap();
    let fork = Fork {
        segment: "1/active".to_owned(),
        at_turn: None,
        activate: false,
    };
    bencher.bench_local(|| change::run(&store, &Flags::plain("bench"), &fork).unwrap());
}

/// The next generation of a Worker, durable.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn reserve(bencher: Bencher<'_, '_>) {
    let temp = TempDir::new().unwrap();
    let store = small_workers(temp.path(), 1);
    let reserve = Reserve {
        worker: "1".to_owned(),
    };
    bencher.bench_local(|| change::run(&store, &Flags::plain("bench"), &reserve).unwrap());
}

/// The table of `wagg worker list`: documents only.
#[divan::bench]
fn list(bencher: Bencher<'_, '_>) {
    let temp = TempDir::new().unwrap();
    let store = small_workers(temp.path(), 1000);
    bencher
        .counter(ItemsCount::new(1000usize))
        .bench_local(|| worker::list(&store).unwrap().count());
}
