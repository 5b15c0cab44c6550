//! What the tests of repairs share: trees, plans carried out in-process, undos.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wagg::diag::NoProgress;
use wagg::ops::change::{self, Done, Flags};
use wagg::ops::repair::{self, Applied, Options, Plan, PlanFile};
use wagg::ops::undo::Undo;
use wagg::store::Store;

/// Everything below a folder, our own folder aside: files with their bytes, folders, links.
pub fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root).min_depth(1) {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(root).unwrap().to_path_buf();
        if name.starts_with(".wagg") {
            continue;
        }
        let kind = entry.file_type();
        let bytes = if kind.is_file() {
            std::fs::read(entry.path()).unwrap()
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            format!("-> {}", target.display()).into_bytes()
        } else {
            b"a folder".to_vec()
        };
        all.insert(name, bytes);
    }
    all
}

/// Where two trees differ, for a message.
pub fn difference(a: &BTreeMap<PathBuf, Vec<u8>>, b: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let mut names: Vec<&PathBuf> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&PathBuf| a.get(*name) != b.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

/// Insists that two trees are the same.
#[track_caller]
pub fn same_trees(a: &BTreeMap<PathBuf, Vec<u8>>, b: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    assert_eq!(difference(a, b), Vec::<PathBuf>::new(), "{what}");
}

/// Flags of a test.
pub fn flags() -> Flags<'static> {
    let mut flags = Flags::plain("tester@host");
    flags.wait = std::time::Duration::from_secs(20);
    flags
}

/// A plan.
pub fn plan(store: &Store, options: &Options) -> Plan {
    repair::plan(store, options, &NoProgress).unwrap()
}

/// Carries a plan out.
pub fn apply(store: &Store, plan: &Plan, options: &Options) -> Applied {
    let file = PlanFile::of(plan, options).unwrap();
    repair::apply(store, &flags(), &file, &json!([]), None).unwrap()
}

/// The operations of an answer.
pub fn operations(applied: &Applied) -> Vec<String> {
    applied
        .operations
        .iter()
        .filter_map(|receipt| receipt.get("operation_id").and_then(Value::as_str))
        .map(str::to_owned)
        .collect()
}

/// Undoes an operation.
pub fn undo(store: &Store, operation: &str) -> wagg::diag::Result<Done> {
    let undo = Undo {
        operation: operation.to_owned(),
    };
    change::run(store, &flags(), &undo)
}

/// The id of the operation that a receipt is of.
pub fn operation_of(done: &Done) -> String {
    let receipt: Value = done.receipt.parse().unwrap();
    receipt["operation_id"].as_str().unwrap().to_owned()
}
