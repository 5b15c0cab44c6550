//! What the frame promises whatever the command is: honest about what it can not know (C9, C18),
//! exactly once (C15), settled first (C16).

use std::cell::Cell;
use std::path::Path;

use serde_json::{Value, json};

use super::crash_tests::{codes, flags, settle, stores, tree};
use super::{Answer, Change, Done, Flags, Liveness, Member, Planned, Scope, View, run, run_many};
use crate::diag::{Code, Effects, Error, Exit, Result};
use crate::ops::run::reserve::Reserve;
use crate::ops::worker::create::Create;
use crate::store::Store;
use crate::store::fs::fault::{Fault, Plan, Step};
use crate::store::journal::{self, Outcome};

fn open(root: &Path) -> Store {
    Store::open(root).unwrap()
}

fn reserve(worker: &str) -> Reserve {
    Reserve {
        worker: worker.to_owned(),
    }
}

fn made(root: &Path, change: &dyn Change, request_id: &str) -> Result<Done> {
    run(&open(root), &flags(Some(request_id)), change)
}

/// Runs a change that is killed before the first step that `at` says yes to.
fn killed(root: &Path, change: &dyn Change, request_id: &str, at: impl Fn(Step, &str) -> bool) {
    let probe = tempfile::tempdir().unwrap();
    copy(root, probe.path());
    let count = Fault::new(Plan::Count);
    count
        .run(|| made(probe.path(), change, request_id))
        .unwrap();
    let step = count
        .trail()
        .iter()
        .position(|(step, path)| at(*step, &path.to_string_lossy()))
        .unwrap();
    let fault = Fault::new(Plan::Die(step as u64 + 1));
    fault.run(|| made(root, change, request_id)).unwrap_err();
    assert!(fault.died());
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).min_depth(1) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Writes a document as a Runtime does that knows it.
fn rewrite(path: impl AsRef<Path>, change: impl FnOnce(&mut Value)) {
    let bytes = std::fs::read(&path).unwrap();
    let mut value = serde_json::from_slice(&bytes).unwrap();
    change(&mut value);
    std::fs::write(path, stores::document(&value)).unwrap();
}

fn outcomes(root: &Path) -> Vec<Option<Outcome>> {
    let all = journal::operations(open(root).dir()).unwrap();
    all.map(|o| o.unwrap().ending.map(|e| e.outcome)).collect()
}

/// A store with Worker 7, and a change that was killed before the outcome of its commit point.
fn store() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    stores::seven(temp.path());
    temp
}

/// C9, C15: where something else stands by now, nobody says that it was done, or acts again.
#[test]
fn c15_what_can_not_be_known_is_said_so() {
    let temp = store();
    let root = temp.path();
    // Its rename took place, or it never came to that: both look alike once the Runtime wrote.
    killed(root, &reserve("7"), "r", |step, path| {
        step == Step::Create && path.contains("worker.json")
    });
    rewrite(root.join("workers/7/worker.json"), |w| {
        w["run_generation"] = 5.into();
    });
    let before = tree(root);
    for _ in 0..2 {
        let error = made(root, &reserve("7"), "r").unwrap_err();
        assert_eq!(error.code, Code::OutcomeUnknown, "{error:?}");
        assert_eq!(error.exit(), Exit::Unknown);
        assert_eq!(error.effects, Effects::Unknown);
        assert!(error.hints[0].contains("wagg op show"), "{error:?}");
    }
    assert_eq!(tree(root), before);
    assert_eq!(outcomes(root), [Some(Outcome::Unknown)]);
    assert_eq!(codes(root, ""), [Code::MissingRunFolder]);
    let done = made(root, &reserve("7"), "another").unwrap();
    assert_eq!(done.line.as_deref(), Some("6"));
}

/// C15: as long as the temporary file is there, it is known that nothing was put in place.
#[test]
fn c15_what_is_known_is_used() {
    let temp = store();
    let root = temp.path();
    killed(root, &reserve("7"), "r", |step, path| {
        step == Step::Rename && path.contains("worker.json")
    });
    rewrite(root.join("workers/7/worker.json"), |w| {
        w["run_generation"] = 5.into();
    });
    let done = made(root, &reserve("7"), "r").unwrap();
    assert_eq!(done.line.as_deref(), Some("6"));
    assert_eq!(
        outcomes(root),
        [Some(Outcome::Done), Some(Outcome::Cleared)]
    );
    assert_eq!(codes(root, ""), []);
}

fn create() -> Create {
    Create {
        name: Some("helper".to_owned()),
        ..Create::default()
    }
}

/// C2, C15: a Worker is known by its request, also once its Runtime went on in it.
#[test]
fn c15_a_worker_is_not_created_twice() {
    let temp = store();
    let root = temp.path();
    killed(root, &create(), "r", |step, path| {
        step == Step::SyncDir && path == "workers"
    });
    rewrite(root.join("workers/8/worker.json"), |w| {
        w["run_generation"] = 1.into();
        let source = &mut w["request"]["profile_source"]["archive"];
        // As another writer spells the same.
        source["reference"]["source_graph"]["entrypoints"] = json!({});
        w["request"]["idempotency_key"] = Value::Null;
    });
    let done = made(root, &create(), "r").unwrap();
    assert_eq!((done.line.as_deref(), done.replayed), (Some("8"), true));
    assert!(!root.join("workers/9").exists());
    // What a Runtime made in its place is another Worker.
    let temp = store();
    let root = temp.path();
    killed(root, &create(), "r", |step, path| {
        step == Step::MakeDir && path.contains("staging")
    });
    stores::worker(root, 8, 1);
    let done = made(root, &create(), "r").unwrap();
    assert_eq!(done.line.as_deref(), Some("9"));
}

/// C16: a change in a Worker first settles what the catalog left about it.
#[test]
fn c16_the_catalog_is_settled_before_its_worker_changes() {
    let temp = store();
    let root = temp.path();
    killed(root, &create(), "r", |step, path| {
        step == Step::SyncDir && path == "workers"
    });
    assert_eq!(codes(root, ""), [Code::UnsettledOperation]);
    let done = run(&open(root), &flags(None), &reserve("8")).unwrap();
    assert_eq!(done.line.as_deref(), Some("1"));
    assert_eq!(outcomes(root), [Some(Outcome::Done); 2]);
    // The same in a group.
    let temp = store();
    let root = temp.path();
    killed(root, &create(), "r", |step, path| {
        step == Step::SyncDir && path == "workers"
    });
    let members = ["7", "8"].map(|worker| Member {
        change: Box::new(reserve(worker)),
        flags: flags(None),
    });
    for done in run_many(&open(root), &members) {
        done.unwrap();
    }
    assert_eq!(outcomes(root), [Some(Outcome::Done); 3]);
}

/// C15: a request id is looked up before references are resolved, also where it is unfinished.
#[test]
fn c15_an_unfinished_request_needs_no_reference() {
    let temp = store();
    let root = temp.path();
    killed(root, &reserve("demo 7"), "r", |step, path| {
        step == Step::Create && path.contains("worker.out.log")
    });
    rewrite(root.join("workers/7/worker.json"), |w| {
        assert_eq!(w["run_generation"], 3);
    });
    // The name means nobody any more.
    let path = root.join("workers/7/worker.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let before = super::sha256(text.as_bytes());
    assert!(made(root, &reserve("demo 8"), "other").is_err());
    let done = made(root, &reserve("demo 7"), "r").unwrap();
    assert_eq!(done.line.as_deref(), Some("3"));
    assert_eq!(super::sha256(&std::fs::read(&path).unwrap()), before);
    // With other arguments it is refused, and settled all the same.
    let temp = store();
    let root = temp.path();
    killed(root, &reserve("demo 7"), "r", |step, path| {
        step == Step::Create && path.contains("worker.out.log")
    });
    let error = made(root, &reserve("nobody"), "r").unwrap_err();
    assert_eq!(error.code, Code::RequestMismatch, "{error:?}");
    assert_eq!(outcomes(root), [Some(Outcome::Done)]);
}

/// A reservation in whose way somebody gets who holds no lock.
struct Raced<'a>(Reserve, &'a Path);

impl Change for Raced<'_> {
    fn command(&self) -> &'static str {
        self.0.command()
    }
    fn arguments(&self) -> Value {
        self.0.arguments()
    }
    fn scope(&self, store: &Store) -> Result<Scope> {
        self.0.scope(store)
    }
    fn taken(&self, path: &Path) -> Option<Error> {
        self.0.taken(path)
    }
    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let planned = self.0.plan(view, scope)?;
        std::fs::create_dir(self.1).unwrap();
        Ok(planned)
    }
}

/// C19: a folder that exists is a collision and never reused; the generation stays used up.
#[test]
fn c19_a_folder_that_is_there_is_a_collision() {
    let temp = store();
    let root = temp.path();
    let run3 = root.join("workers/7/runs/3");
    let error = made(root, &Raced(reserve("7"), &run3), "r").unwrap_err();
    assert_eq!(error.code, Code::GenerationCollision, "{error:?}");
    assert_eq!(error.effects, Effects::Some);
    assert_eq!(std::fs::read_dir(&run3).unwrap().count(), 0);
    assert_eq!(outcomes(root), [Some(Outcome::Cleared)]);
    // The next one takes the next, with the same request id too.
    let done = made(root, &reserve("7"), "r").unwrap();
    assert_eq!(done.line.as_deref(), Some("4"));
    assert_eq!(codes(root, ""), []);
    // An empty folder above the document counts as well.
    std::fs::create_dir(root.join("workers/7/runs/9")).unwrap();
    let done = made(root, &reserve("7"), "s").unwrap();
    assert_eq!(done.line.as_deref(), Some("10"));
}

/// C9: a sync that fails behind the rename is unknown, now and later; one before it is not done.
#[test]
fn c9_a_failed_sync_is_not_asked_again() {
    let steps = |path: &'static str, step: Step| {
        let temp = store();
        let count = Fault::new(Plan::Count);
        count.run(|| made(temp.path(), &reserve("7"), "r")).unwrap();
        let at = count
            .trail()
            .iter()
            .position(|(s, p)| *s == step && p.to_string_lossy().contains(path))
            .unwrap();
        at as u64 + 1
    };
    let temp = store();
    let root = temp.path();
    let fault = Fault::new(Plan::Fail(steps("workers/7", Step::SyncDir), 5));
    let error = fault.run(|| made(root, &reserve("7"), "r")).unwrap_err();
    assert_eq!(
        (error.code, error.exit()),
        (Code::OutcomeUnknown, Exit::Unknown)
    );
    assert_eq!(outcomes(root), [Some(Outcome::Unknown)]);
    let error = made(root, &reserve("7"), "r").unwrap_err();
    assert_eq!(error.code, Code::OutcomeUnknown);
    // The number is used up, and the store goes on.
    assert_eq!(
        made(root, &reserve("7"), "s").unwrap().line.as_deref(),
        Some("4")
    );

    let temp = store();
    let root = temp.path();
    let fault = Fault::new(Plan::Fail(steps(".worker.json.tmp", Step::SyncFile), 5));
    let error = fault.run(|| made(root, &reserve("7"), "r")).unwrap_err();
    assert_eq!(error.exit(), Exit::Unknown);
    assert_eq!(outcomes(root), [None]);
    assert_eq!(
        made(root, &reserve("7"), "r").unwrap().line.as_deref(),
        Some("3")
    );
    assert_eq!(
        outcomes(root),
        [Some(Outcome::Done), Some(Outcome::Cleared)]
    );
}

/// A change that says no, after it waited.
struct Refusing<'a>(&'a Cell<u32>);

impl Change for Refusing<'_> {
    fn command(&self) -> &'static str {
        "test refuse"
    }
    fn arguments(&self) -> Value {
        Value::Null
    }
    fn scope(&self, _: &Store) -> Result<Scope> {
        Ok(Scope::Catalog)
    }
    fn liveness(&self, _: Scope) -> Liveness {
        Liveness::Store
    }
    fn wait(&self, _: &Store, _: Scope, _: &Flags<'_>) -> Result<()> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
    fn plan(&self, _: &View<'_>, _: Scope) -> Result<Planned> {
        if self.0.get() < 3 {
            return Err(Error::new(Code::Fenced, "not yet"));
        }
        Ok(Planned::Nothing(Answer::line("x")))
    }
}

/// C15: a refusal does not bind a request id; the first try that is not refused does.
#[test]
fn c15_a_refusal_does_not_bind() {
    let temp = store();
    let root = temp.path();
    let tries = Cell::new(0);
    let change = Refusing(&tries);
    for _ in 0..2 {
        assert_eq!(made(root, &change, "r").unwrap_err().code, Code::Fenced);
    }
    let first = made(root, &change, "r").unwrap();
    let again = made(root, &change, "r").unwrap();
    assert_eq!(first.receipt, again.receipt);
    assert_eq!((tries.get(), again.replayed), (3, true));
    let other = made(root, &reserve("7"), "r").unwrap_err();
    assert_eq!(other.code, Code::RequestMismatch);
    let mut named = flags(Some("r"));
    named.actor = "somebody else".to_owned();
    named.actor_named = true;
    let other = run(&open(root), &named, &change).unwrap_err();
    assert_eq!(other.code, Code::RequestMismatch);
}

/// C14: what finds nothing to do writes nothing, unless it has a request id.
#[test]
fn c14_nothing_to_do_is_noted_only_for_a_request_id() {
    let temp = store();
    let root = temp.path();
    let tries = Cell::new(3);
    let done = run(&open(root), &flags(None), &Refusing(&tries)).unwrap();
    assert_eq!(done.outcome(), "no_change");
    assert_eq!(outcomes(root), []);
    made(root, &Refusing(&tries), "r").unwrap();
    assert_eq!(outcomes(root), [Some(Outcome::NoChange)]);
}

/// C16: settling everything settles a Worker's and the catalog's.
#[test]
fn c16_settle_everything() {
    let temp = store();
    let root = temp.path();
    killed(root, &reserve("7"), "r", |step, path| {
        step == Step::Create && path.contains("worker.out.log")
    });
    settle(root);
    assert!(root.join("workers/7/runs/3/spawned").is_dir());
    assert_eq!(outcomes(root), [Some(Outcome::Done)]);
    assert_eq!(codes(root, ""), []);
}
