//! The commands that only read: `show`, `worker`, `segment`, `run`.

mod log;
mod runs;
mod segments;
mod show;
mod workers;

use std::ffi::OsString;

use crate::support::{Log, Output, TestEnv, TestStore, tree};

/// A store to read from, beside the folder that commands run in.
pub struct Place {
    pub env: TestEnv,
    pub store: TestStore,
}

impl Place {
    /// An empty store of version 1.
    pub fn new() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        Self { env, store }
    }

    /// A Worker 1 with a small tree of Segments: 0x11 the root of two turns, 0x12 a fork at its
    /// first, 0x13 compacted from it and active, 0x14 a fork of 0x13; and Worker 2 without any.
    pub fn usual() -> Self {
        let this = Self::new();
        this.store
            .worker(1)
            .session(1)
            .segment(0x11, &Log::start(1).turns(2))
            .segment(0x12, &Log::forked(1, 0x11, 1).turn("On another way."))
            .segment(
                0x13,
                &Log::compacted(1, 0x11, 2).turn("Go on.").interrupted(),
            )
            .segment(0x14, &Log::forked(1, 0x13, 3).turn("A branch."))
            .trace(0x11)
            .active(1, Some(0x13))
            .run(1);
        this.store.worker(2);
        this
    }

    /// Runs a command on the store; nothing in it may change (C12).
    #[track_caller]
    pub fn run<I>(&self, args: I) -> Output
    where
        I: IntoIterator<Item: Into<OsString>>,
    {
        let mut all: Vec<OsString> = vec!["--store".into(), "store".into()];
        all.extend(args.into_iter().map(Into::into));
        let what = format!("{all:?}");
        let dir = self.env.dir();
        tree::unchanged(&[&dir], &what, || self.env.wagg(&all))
    }

    /// The same for a command line without blanks in its words.
    #[track_caller]
    pub fn line(&self, line: &str) -> Output {
        self.run(line.split(' '))
    }
}

/// What every command of this kind does with what is not there or not a store.
#[test]
fn c12_nothing_is_made_where_there_is_nothing() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.path("empty")).unwrap();
    let store = TestStore::v1(env.path("store"));
    let dir = env.dir();
    for line in [
        "show 7",
        "worker list",
        "worker show 7",
        "segment list 7",
        "segment show 7/active",
        "segment log 7/active",
        "segment diff 7/active 7/latest",
        "segment digest 7/active",
        "run list 7",
        "run show 7",
    ] {
        let args = |store: &str| {
            let mut all = vec!["--store".to_owned(), store.to_owned()];
            all.extend(line.split(' ').map(str::to_owned));
            all
        };
        tree::unchanged(&[&dir], line, || {
            let _ = env.wagg(args("empty")).status(10);
            let _ = env.wagg(args("nowhere")).status(10);
            let out = env.wagg(args("store"));
            if line == "worker list" {
                let out = out.status(0);
                assert_eq!((out.stdout(), &*out.stderr), ("", "no Workers\n"));
            } else {
                let out = out.status(4);
                assert!(out.stderr.contains("no Worker has the id 7"), "{out}");
                assert_eq!(out.stdout(), "");
            }
        });
    }
    assert!(!store.path(".wagg").exists());
}
