//! `wagg segment create`, `append`, `fork`, `compact` and `activate`.

mod activate;
mod append;
mod compact;
mod create;
mod faults;
mod fork;
mod full;
mod refusals;
mod retry;

use std::path::Path;

use serde_json::Value;

use crate::support::store::id;
use crate::support::{Log, Output, TestEnv, TestStore, TestWorker, schema, tree};

/// A store with one Worker: Session 1, the Segment 0x11 of three turns, active, one run.
struct Place {
    env: TestEnv,
    store: TestStore,
}

impl Place {
    fn usual() -> Self {
        let place = Self::with(|worker| {
            worker
                .session(1)
                .segment(0x11, &Log::start(1).turns(3))
                .active(1, Some(0x11));
        });
        place.worker().run(1);
        place
    }

    fn with(fill: impl FnOnce(&TestWorker)) -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        fill(&store.worker(1));
        Self { env, store }
    }

    fn worker(&self) -> TestWorker {
        self.store.worker_folder(1)
    }

    fn wagg(&self, args: &[&str]) -> Output {
        self.fed(args, "")
    }

    fn fed(&self, args: &[&str], stdin: impl Into<Vec<u8>>) -> Output {
        let mut all = vec!["--store", "store", "segment"];
        all.extend(args);
        self.env.prepare(all).stdin(stdin).run()
    }

    /// Runs a command with `--format json` and holds its receipt against its schema.
    fn receipt(&self, args: &[&str], stdin: &str) -> Value {
        let mut all = args.to_vec();
        all.extend(["--format", "json"]);
        let receipt = self.fed(&all, stdin).ok().json();
        schema::check(&format!("segment.{}", args[0]), &receipt);
        receipt
    }

    /// The records of a Segment.
    fn lines(&self, segment: &str) -> Vec<Value> {
        self.bytes(segment)
            .split_inclusive(|b| *b == b'\n')
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    fn bytes(&self, segment: &str) -> Vec<u8> {
        let path = format!("session/segments/{segment}.jsonl");
        std::fs::read(self.worker().path(path)).unwrap()
    }

    fn metadata(&self) -> String {
        std::fs::read_to_string(self.worker().path("metadata.json")).unwrap()
    }

    /// What `verify` finds, information too.
    fn codes(&self) -> Vec<String> {
        let out = self
            .env
            .wagg(["--store", "store", "verify", "--format", "json"]);
        let report = out.json();
        let codes = report["findings"].as_array().unwrap().iter();
        codes
            .map(|f| f["code"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Insists that a command is refused with this code and status, in words that help, and that
    /// nothing in the store changed, our own folder aside.
    #[track_caller]
    fn refused(&self, args: &[&str], stdin: &str, code: &str, status: i32) -> Value {
        let before = of_store(self.store.root());
        let mut all = args.to_vec();
        all.extend(["--wait", "0", "--format", "json"]);
        let out = self.fed(&all, stdin).status(status);
        tree::assert_same(&before, &of_store(self.store.root()), &args.join(" "));
        assert_eq!(out.stdout(), "", "{out}");
        let error = out.error();
        assert_eq!(error["code"], code, "{out}");
        assert_eq!(error["effects_applied"], "none", "{out}");
        assert!(error["hint"].is_string(), "{out}");
        schema::check("error", &serde_json::json!({ "error": error }));
        // A dry run refuses the same, and does not even make our own folder.
        all.push("--dry-run");
        let dry = tree::unchanged(&[self.store.root()], "a dry run", || {
            self.fed(&all, stdin).status(status)
        });
        assert_eq!(dry.error()["code"], code, "{dry}");
        error
    }
}

/// What is wrong with an input that was refused, as the hint of its error says.
fn wrong_with(error: &Value) -> &str {
    let hint = error["hint"].as_str().unwrap();
    let said = hint.lines().find_map(|l| l.strip_prefix("wagg explain "));
    said.unwrap_or_default()
}

/// The store's tree without `.wagg/`.
fn of_store(root: &Path) -> Vec<String> {
    tree::tree(root)
        .into_iter()
        .filter(|line| !line.starts_with(".wagg") && !line.starts_with(" dir"))
        .collect()
}

/// The new Segment of a receipt.
fn made(receipt: &Value) -> String {
    receipt["segment_id"].as_str().unwrap().to_owned()
}

/// The Segment that all of these tests begin with.
fn first() -> String {
    id(0x11)
}
