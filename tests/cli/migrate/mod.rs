//! `wagg migrate`.

mod answers;
mod cases;
mod corpus;
mod gone;
mod inputs;
mod reruns;

use std::path::PathBuf;

use crate::support::store::Legacy;
use crate::support::{Output, TestEnv, TestStore, tree};

/// A store and its legacy roots.
pub struct Old {
    pub env: TestEnv,
    pub store: TestStore,
    pub legacy: Legacy,
}

impl Old {
    /// So many Workers with a Session each.
    pub fn with(workers: u64) -> Self {
        let env = TestEnv::new();
        let this = Self {
            store: TestStore::v1(env.path("store")),
            legacy: Legacy::new(env.path("legacy")),
            env,
        };
        for n in 1..=workers {
            this.store.worker(n);
            this.legacy.usual(n);
        }
        this
    }

    /// A path in the store.
    pub fn path(&self, name: &str) -> PathBuf {
        self.store.path(name)
    }

    /// Runs a migration, which must leave the sources as they are.
    #[track_caller]
    pub fn migrate(&self, more: &[&str]) -> Output {
        let legacy = self.env.path("legacy");
        tree::unchanged(&[&legacy], "migrate", || self.prepare(more).run())
    }

    /// The same, to be set up further.
    pub fn prepare(&self, more: &[&str]) -> crate::support::env::Run {
        self.env.prepare(ROOTS.iter().chain(more))
    }

    /// The answer as JSON, whatever the status.
    #[track_caller]
    pub fn answer(&self, more: &[&str]) -> serde_json::Value {
        let more: Vec<&str> = ["--format", "json"].iter().chain(more).copied().collect();
        let document = self.migrate(&more).json();
        crate::support::schema::check("migrate", &document);
        document
    }

    /// What became of each Worker, with the reason where there is one.
    #[track_caller]
    pub fn did(&self, more: &[&str]) -> Vec<String> {
        did(&self.answer(more))
    }

    /// The store without our own folder.
    pub fn tree(&self) -> Vec<String> {
        let all = tree::tree(&self.env.path("store"));
        all.into_iter()
            .filter(|line| !line.contains(".wagg"))
            .collect()
    }
}

/// A list of all that is in a folder. Lock files do not count: they are written to by whoever
/// holds them, and are empty again after that.
pub fn whole(root: &std::path::Path) -> Vec<String> {
    let all = tree::tree(root);
    all.into_iter()
        .filter(|line| !line.contains(".lock file"))
        .collect()
}

/// What became of each Worker of an answer.
#[track_caller]
pub fn did(answer: &serde_json::Value) -> Vec<String> {
    let workers = answer["workers"].as_array().unwrap().iter();
    workers
        .map(|worker| {
            let id = worker["worker_id"].as_str().unwrap_or("?");
            let did = worker["did"].as_str().unwrap();
            match worker["code"].as_str() {
                Some(code) => format!("{id} {did} {code}"),
                None => format!("{id} {did}"),
            }
        })
        .collect()
}

/// Something that happens to a store or its sources.
pub type Happens = Box<dyn Fn(&Old)>;

/// The arguments of every run.
pub const ROOTS: [&str; 7] = [
    "--store",
    "store",
    "migrate",
    "--sessions",
    "legacy/sessions",
    "--metadata",
    "legacy/workers",
];
