//! `run reserve`: the next generation of a Worker (C19).
//!
//! The number is persisted in `worker.json` before anything else happens; that replacement is the
//! commit point. Only then does the run's folder appear. A crash in between costs nothing: the
//! folder is in the intent and is carried forward.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result, shell_word};
use crate::layout::{Generation, Paths, WorkerId, file};
use crate::ops::change::{Act, Answer, Change, Liveness, Plan, Planned, Scope, View, edit};
use crate::ops::resolve::Resolver;
use crate::store::Store;

/// Reserves the next generation of a Worker.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserve {
    /// What names the Worker.
    pub worker: String,
}

impl Change for Reserve {
    fn command(&self) -> &'static str {
        "run reserve"
    }

    fn arguments(&self) -> Value {
        json!({ "worker": self.worker })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).worker(&self.worker)?)
    }

    fn liveness(&self, scope: Scope) -> Liveness {
        match scope {
            Scope::Worker(id) => Liveness::Worker(id),
            Scope::Catalog => Liveness::Store,
        }
    }

    fn groups(&self) -> bool {
        true
    }

    fn taken(&self, path: &Path) -> Option<Error> {
        Some(
            Error::new(
                Code::GenerationCollision,
                format!(
                    "somebody else made {} meanwhile; the generation stays used up",
                    path.display()
                ),
            )
            .at(Locus::file(path))
            .hint(format!("wagg run list {}", shell_word(&self.worker))),
        )
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let Scope::Worker(id) = scope else {
            return Err(Error::new(Code::Internal, "a reservation needs a Worker"));
        };
        let (bytes, document) = view.worker(id)?;
        let last = view.highest_generation(id, &document)?;
        let next = last
            .checked_add(1)
            .and_then(Generation::new)
            .ok_or_else(|| exhausted(id))?;
        let run = Paths::run(id, next);
        if view.exists(&run)? {
            return Err(collision(id, next));
        }
        let raised = edit::set(&bytes, "run_generation", Value::from(next.get()))?;
        let files = [file::OUT_LOG, file::ERR_LOG]
            .map(|name| (PathBuf::from(name), Vec::new()))
            .to_vec();
        let mut answer = Answer::of(id, next.to_string());
        answer.field("generation", next);
        Ok(Planned::Do(Plan {
            worker: Some(id),
            generation: Generation::new(last),
            args: json!({ "worker_id": id }),
            minted: json!({ "generation": next }),
            acts: vec![
                Act::document(Paths::worker_document(id), Some(&bytes), raised)?,
                Act::folder(run, &[file::ARTIFACTS, file::SPAWNED], files)?,
            ],
            commit: 0,
            answer,
        }))
    }
}

fn exhausted(id: WorkerId) -> Error {
    Error::new(
        Code::GenerationCollision,
        format!("Worker {id} has used up all generations"),
    )
    .at(Locus::file(Paths::worker_document(id)))
}

fn collision(id: WorkerId, generation: Generation) -> Error {
    Error::new(
        Code::GenerationCollision,
        format!("the folder of generation {generation} is already there"),
    )
    .at(Locus::file(Paths::run(id, generation)))
    .hint(format!("wagg run list {id}"))
}
