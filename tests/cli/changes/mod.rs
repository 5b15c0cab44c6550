//! The commands that change a store's catalog, Workers' metadata and runs, and those that look at
//! locks and operations.

mod concurrent;
mod init;
mod killed;
mod locks;
mod operations;
mod private;
mod runs;
mod workers;

use std::path::Path;

use serde_json::Value;

use crate::support::tree::{assert_same, tree};
use crate::support::{Output, TestEnv, TestStore, schema};

/// All of a store but `.wagg/`: what a refusal leaves as it was.
fn outside_wagg(root: &Path) -> Vec<String> {
    // The root's own time is that of `.wagg` when that is made.
    tree(root)
        .into_iter()
        .filter(|line| !line.starts_with(".wagg") && !line.starts_with(" dir"))
        .collect()
}

/// What a refusal must say.
struct Refusal {
    code: &'static str,
    exit: i32,
    /// Stands in the message or in the place.
    says: &'static str,
    /// Stands in the hint.
    hint: &'static str,
}

/// Runs a command that is refused, as a person and as a script sees it, and insists that nothing
/// changed. In a dry run it is refused in the same way.
#[track_caller]
fn refused(env: &TestEnv, store: &TestStore, args: &[&str], wanted: &Refusal) {
    let before = outside_wagg(store.root());
    let root = store.root().to_str().unwrap();
    let mut all: Vec<&str> = vec!["--store", root, "--format", "json"];
    all.extend(args);
    // A lock that is busy is no matter of a dry run, which takes none.
    for dry in [false, true] {
        if dry {
            if wanted.code == "lock_busy" {
                continue;
            }
            all.push("--dry-run");
        }
        let out = env.wagg(&all).status(wanted.exit);
        let error = out.error();
        schema::check("error", &serde_json::json!({ "error": error }));
        assert_eq!(error["code"], wanted.code, "{out}");
        assert_eq!(error["exit"], wanted.exit, "{out}");
        assert_eq!(error["effects_applied"], "none", "{out}");
        let said = format!("{} {}", error["message"], error["path"]);
        assert!(said.contains(wanted.says), "{out}");
        // A command in a hint names the store, too.
        let named = format!("--store {} ", store.root().display());
        let hint = error["hint"]
            .as_str()
            .unwrap_or_default()
            .replace(&named, "");
        assert!(hint.contains(wanted.hint), "{out}");
        assert_eq!(out.stdout(), "", "{out}");
        assert_same(&before, &outside_wagg(store.root()), &args.join(" "));
    }
}

/// Runs a changing command with `--format json` and holds its receipt against the schema.
#[track_caller]
fn receipt(env: &TestEnv, store: &TestStore, name: &str, args: &[&str]) -> Value {
    let root = store.root().to_str().unwrap();
    let mut all: Vec<&str> = vec!["--store", root, "--format", "json"];
    all.extend(args);
    let receipt = env.wagg(&all).ok().json();
    schema::check(name, &receipt);
    receipt
}

/// Runs a command in this store.
fn wagg(env: &TestEnv, store: &TestStore, args: &[&str]) -> Output {
    let root = store.root().to_str().unwrap();
    let mut all: Vec<&str> = vec!["--store", root];
    all.extend(args);
    env.wagg(&all)
}

/// Insists that `verify` has nothing to say.
#[track_caller]
fn clean(env: &TestEnv, store: &TestStore) {
    let out = wagg(env, store, &["verify", "--strict", "--format", "json"]).status(0);
    assert_eq!(out.json()["findings"], serde_json::json!([]), "{out}");
}
