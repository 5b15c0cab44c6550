//! `init`: a new empty store.
//!
//! `workers/` comes first and `runtime.json` last: that is the commit point, and what marks a folder
//! as a store. A folder that holds anything else is refused before anything is made in it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Leftover, Paths, file, leftover};
use crate::ops::change::{
    self, Act, Answer, Change, Done, Flags, Plan, Planned, Scope, View, document_error, edit,
};
use crate::store::fs::{ensure_dirs, failed};
use crate::store::{Dir, Document, EntryKind, Store, WriteDir};

/// Makes a store.
#[derive(Debug)]
struct Init {
    /// As given.
    dir: PathBuf,
}

/// Makes a store in a folder, and the folder itself if there is none.
///
/// # Errors
/// `target_exists` if the folder holds something that is no store; whatever stops a change.
pub fn init(dir: &Path, flags: &Flags<'_>) -> Result<Done> {
    let init = Init {
        dir: dir.to_owned(),
    };
    let store = match Dir::open_root(dir) {
        Ok(root) => Store::founding(root, dir),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            if flags.dry_run {
                return change::dry_answer(flags, &init, &init.fresh(true)?);
            }
            make(dir)?;
            let root = Dir::open_root(dir).map_err(|e| Error::io("open", dir, e))?;
            Store::founding(root, dir)
        }
        Err(e) => return Err(not_a_folder(dir, e)),
    };
    // Looked at before even a lock file is made: what is no store stays as it is, and so does one
    // that is there already.
    let planned = init.plan(&View::plain(&store), Scope::Catalog)?;
    if let (Planned::Nothing(answer), None) = (&planned, &flags.request_id) {
        return change::no_change(&init, answer);
    }
    change::run(&store, flags, &init)
}

fn not_a_folder(dir: &Path, e: std::io::Error) -> Error {
    match crate::store::wrong_kind(&e) {
        Some(kind) if kind != EntryKind::Symlink => taken(dir, kind.noun()),
        _ if e.kind() == std::io::ErrorKind::NotADirectory => taken(dir, "no folder"),
        _ => failed("open", dir, e),
    }
}

fn taken(dir: &Path, what: &str) -> Error {
    Error::new(
        Code::TargetExists,
        format!("{} is {what}, so no store can be made there", dir.display()),
    )
    .at(Locus::file(dir))
    .hint("name an empty folder, or one that is not there yet")
}

/// Makes the folder, and those above that are not there.
fn make(dir: &Path) -> Result<()> {
    let whole = std::path::absolute(dir).map_err(|e| Error::io("look from", dir, e))?;
    let mut missing = Vec::new();
    for at in whole.ancestors() {
        match Dir::open_root(at) {
            Ok(root) => {
                missing.reverse();
                let root = WriteDir::outside_stores(root);
                return ensure_dirs(&root, missing).map(drop);
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                missing.extend(at.file_name());
            }
            Err(e) => return Err(not_a_folder(at, e)),
        }
    }
    Err(failed("make", dir, std::io::ErrorKind::NotFound.into()))
}

/// `runtime.json` of a store in which nothing happened yet, as a Runtime writes it.
fn runtime() -> Result<Vec<u8>> {
    let value = json!({
        "schema_version": 1,
        "display_name": null,
        "backend": "fs_store",
        "status": "stopped",
        "next_worker_sequence": 1,
        "next_diagnostic_id": 1,
        "config_bundles": {},
        "workspace_owners": {},
        "diagnostics": [],
    });
    let map: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
    edit::render(&map, true)
}

impl Init {
    fn answer(&self) -> Answer {
        let text = self.dir.to_string_lossy().into_owned();
        let mut answer = Answer::line(text.clone());
        answer.field("store", text);
        answer
    }

    fn workers() -> Result<Act> {
        Act::folder(Paths::workers(), &[], Vec::new())
    }

    /// A whole store; `workers` says whether that folder is to be made.
    fn fresh(&self, workers: bool) -> Result<Planned> {
        let mut acts = Vec::new();
        if workers {
            acts.push(Self::workers()?);
        }
        acts.push(Act::document(Paths::runtime(), None, runtime()?)?);
        Ok(self.plan_of(acts))
    }

    fn plan_of(&self, acts: Vec<Act>) -> Planned {
        Planned::Do(Plan {
            worker: None,
            generation: None,
            args: json!({ "dir": self.dir }),
            minted: Value::Null,
            commit: acts.len() - 1,
            acts,
            answer: self.answer(),
        })
    }
}

impl Change for Init {
    fn command(&self) -> &'static str {
        "init"
    }

    fn arguments(&self) -> Value {
        json!({ "dir": self.dir })
    }

    fn scope(&self, _: &Store) -> Result<Scope> {
        Ok(Scope::Catalog)
    }

    fn founds(&self) -> bool {
        true
    }

    fn plan(&self, view: &View<'_>, _: Scope) -> Result<Planned> {
        let store = view.store();
        let dir = &self.dir;
        let entries = store
            .dir()
            .entries()
            .map_err(|e| Error::io("read", dir, e))?;
        let workers = entries.iter().find(|e| e.name == file::WORKERS);
        if let Some(entry) = workers.filter(|e| e.kind != EntryKind::Dir) {
            let code = match entry.kind {
                EntryKind::Symlink => Code::SymbolicLink,
                _ => Code::NotARegularFile,
            };
            return Err(
                Error::new(code, format!("workers is {}", entry.kind.noun()))
                    .at(Locus::file(dir.join(file::WORKERS)))
                    .hint("name an empty folder, or one that is not there yet"),
            );
        }
        match store.runtime() {
            Document::Missing => {}
            Document::Good(_) if workers.is_some() => {
                return Ok(Planned::Nothing(self.answer()));
            }
            Document::Good(_) => return Ok(self.plan_of(vec![Self::workers()?])),
            Document::Faulty(fault) => return Err(document_error(&fault, Paths::runtime())),
            Document::NotAFile(kind) => {
                let e = crate::store::fs::WrongKind { kind }.into();
                return Err(failed("read", &Paths::runtime(), e));
            }
            Document::Unreadable(e) => return Err(Error::io("read", &Paths::runtime(), e)),
        }
        let ours = entries.iter().any(|e| e.name == file::WAGG);
        for entry in &entries {
            let name = entry.name.to_string_lossy();
            let known = match &*name {
                file::WAGG | file::WORKERS => true,
                file::RUNTIMES => {
                    return Err(taken(dir, "a store of the oldest layout")
                        .hint("a migration moves it up: wagg migrate --help"));
                }
                // Ours, from a try that was killed.
                name => {
                    ours && matches!(leftover(name), Some(Leftover::Temporary { target, .. }) if target == file::RUNTIME || target == file::WORKERS)
                }
            };
            if !known {
                return Err(taken(
                    dir,
                    &format!("no store and not empty (it holds {name})"),
                ));
            }
        }
        if workers.is_some() {
            let inside = store.workers_dir()?.map_or(Ok(Vec::new()), |w| w.entries());
            let inside = inside.map_err(|e| Error::io("read", &Paths::workers(), e))?;
            if !inside.is_empty() {
                return Err(Error::new(
                    Code::MissingCatalog,
                    "it holds Workers and has lost its runtime.json; none is made up",
                )
                .at(Locus::file(Paths::runtime()))
                .hint(format!("wagg verify --store {}", crate::diag::shell(dir))));
            }
        }
        self.fresh(workers.is_none())
    }
}
