//! `run stop`: takes away the socket of a run that ended (C20).
//!
//! No signal is sent. The run is waited for, without a lock, until it no longer answers; then
//! `worker.sock` is removed and nothing else. The folder and what is in it are evidence.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Generation, Paths, WorkerId, file};
use crate::ops::change::{
    Act, Answer, Change, Flags, Plan, Planned, Scope, View, no_worker, worker_live,
};
use crate::ops::resolve::{Identity, Resolver, RunName, wrong_kind};
use crate::store::fs::failed;
use crate::store::{self, Dir, EntryKind, Store, Waiting, probe};

/// Stops a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// What names the Worker, or the run itself.
    pub worker: String,
    /// Which run; the last generation if none is named.
    #[serde(default)]
    pub generation: Option<u64>,
}

impl Stop {
    fn target(&self, store: &Store) -> Result<(crate::ops::read::WorkerRef, Option<u64>)> {
        match Resolver::new(store).resolve(&self.worker)? {
            Identity::Worker(worker) => Ok((worker, self.generation)),
            Identity::Run {
                worker,
                run: RunName::Generation(generation),
            } if self.generation.is_none_or(|g| g == generation.get()) => {
                Ok((worker, Some(generation.get())))
            }
            Identity::Run { worker, .. } => Err(Error::new(
                Code::WrongIdKind,
                format!(
                    "{} is another run than the one named, or has no generation",
                    self.worker
                ),
            )
            .hint(format!("wagg run list {}", worker.id))),
            other => Err(wrong_kind(store, &self.worker, "a Worker", &other)),
        }
    }

    /// The run that is meant.
    fn generation(&self, view: &View<'_>, id: WorkerId) -> Result<Generation> {
        let (_, named) = self.target(view.store())?;
        let (_, document) = view.worker(id)?;
        let last = view.highest_generation(id, &document)?;
        let wanted = named.unwrap_or(last);
        match Generation::new(wanted) {
            Some(generation) if wanted <= last => Ok(generation),
            _ if last == 0 => Err(Error::new(
                Code::NotFound,
                format!("Worker {id} has no run yet"),
            )
            .hint(format!("wagg run reserve {id}"))),
            _ => Err(Error::new(
                Code::NotFound,
                format!("Worker {id} has no run {wanted}; its last one is {last}"),
            )
            .hint(format!("wagg run list {id}"))),
        }
    }
}

/// The folder of a run; none if there is none.
fn folder(store: &Store, id: WorkerId, generation: Generation) -> Result<Option<Dir>> {
    let name = Store::folder_of(id);
    let dir = store.worker_dir(&name)?.ok_or_else(|| no_worker(id))?;
    match dir.dir_at([file::RUNS, &generation.to_string()]) {
        Ok(run) => Ok(Some(run)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("open", &Paths::run(id, generation), e)),
    }
}

/// What a run's socket says. What can not be asked is no reason to remove anything.
fn ask(run: &Dir, path: &std::path::Path) -> Result<store::Answer> {
    probe(run).map_err(|e| failed("ask", path, e))
}

impl Change for Stop {
    fn command(&self) -> &'static str {
        "run stop"
    }

    fn arguments(&self) -> Value {
        json!({ "worker": self.worker, "generation": self.generation })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&self.target(store)?.0)
    }

    /// Waits for the run to stop answering, without keeping anybody else off.
    fn wait(&self, store: &Store, scope: Scope, flags: &Flags<'_>) -> Result<()> {
        let Scope::Worker(id) = scope else {
            return Ok(());
        };
        let generation = self.generation(&View::plain(store), id)?;
        let Some(run) = folder(store, id, generation)? else {
            return Ok(());
        };
        let path = Paths::socket(id, generation);
        let deadline = Instant::now() + flags.wait;
        let mut pause = Duration::from_millis(5);
        let mut said = false;
        while ask(&run, &path)?.is_live() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(worker_live(id, generation));
            }
            if !said {
                said = true;
                (flags.on_wait)(&Waiting {
                    path: &path,
                    holder: None,
                    wait: left,
                });
            }
            if flags
                .stop
                .is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
            {
                return Err(Error::new(
                    Code::Interrupted,
                    format!("interrupted while waiting for run {generation} of Worker {id}"),
                ));
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(100));
        }
        Ok(())
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let Scope::Worker(id) = scope else {
            return Err(Error::new(Code::Internal, "to stop a run needs a Worker"));
        };
        let generation = self.generation(view, id)?;
        let mut answer = Answer::of(id, generation.to_string());
        answer.field("generation", generation);
        let path = Paths::socket(id, generation);
        let said = match folder(view.store(), id, generation)? {
            Some(run) => (ask(&run, &path)?, run),
            None => return Ok(Planned::Nothing(answer)),
        };
        match said {
            (store::Answer::Absent, _) => Ok(Planned::Nothing(answer)),
            (store::Answer::Answers, _) => Err(worker_live(id, generation)),
            (store::Answer::NotASocket, run) => Err(no_socket(&run, path)),
            (store::Answer::Silent, _) => Ok(Planned::Do(Plan {
                worker: Some(id),
                generation: Some(generation),
                args: json!({ "worker_id": id, "generation": generation }),
                minted: Value::Null,
                acts: vec![Act::remove(path)],
                commit: 0,
                answer,
            })),
        }
    }
}

fn no_socket(run: &Dir, path: std::path::PathBuf) -> Error {
    let kind = run.try_stat(file::SOCKET).ok().flatten().map(|s| s.kind);
    let (code, noun) = match kind {
        Some(EntryKind::Symlink) => (Code::SymbolicLink, EntryKind::Symlink.noun()),
        Some(kind) => (Code::NotARegularFile, kind.noun()),
        None => (Code::NotARegularFile, "something else"),
    };
    Error::new(
        code,
        format!(
            "{} is {noun} and no socket; it was not removed",
            path.display()
        ),
    )
    .at(Locus::file(path))
}
