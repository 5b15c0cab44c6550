//! What forbids a change before it is planned: live runs (C13) and fences (C17).

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Generation, Paths, SegmentId, WorkerId};
use crate::record::document::Active;
use crate::store::fs::failed;
use crate::store::{Folder, RunsFolder, Store, probe, read_folder};

use super::view::View;
use super::{Change, Scope};

/// What a live run forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Nothing: the change only adds.
    None,
    /// The change pulls the ground from under a live run of this Worker.
    Worker(WorkerId),
    /// The Runtime holds in memory what the change touches.
    Store,
}

/// What the store must be like for a change to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// The Worker's last generation; 0 for none.
    pub generation: Option<u64>,
    /// The Worker's active Segment.
    pub active: Option<SegmentId>,
    /// SHA-256 of the committed prefix of a Segment, in hex, and which one.
    pub digest: Option<String>,
    /// The Segment that the digest is of; none means the one that the change is about, else the
    /// active one.
    pub segment: Option<SegmentId>,
}

/// Refuses what a live run or a fence forbids.
pub(super) fn check(
    view: &View<'_>,
    scope: Scope,
    change: &dyn Change,
    expect: &Expect,
) -> Result<()> {
    match change.liveness(scope) {
        Liveness::None => {}
        Liveness::Worker(id) => {
            if let Some(generation) = live_run(view.store(), id)? {
                return Err(worker_live(id, generation));
            }
        }
        Liveness::Store => {
            if let Some((id, generation)) = any_live_run(view.store())? {
                return Err(runtime_live(id, generation));
            }
        }
    }
    match scope {
        Scope::Worker(id) => fences(view, id, change, expect),
        Scope::Catalog => Ok(()),
    }
}

/// The refusal of a change that would pull the ground from under a run.
pub(crate) fn worker_live(id: WorkerId, generation: Generation) -> Error {
    Error::new(
        Code::WorkerLive,
        format!("run {generation} of Worker {id} answers on its socket, so the Worker is treated as live"),
    )
    .at(Locus::file(Paths::socket(id, generation)))
    .hint(format!("stop the run, then: wagg run stop {id}"))
}

/// The refusal of a change that the Runtime would write over.
pub(crate) fn runtime_live(id: WorkerId, generation: Generation) -> Error {
    Error::new(
        Code::RuntimeLive,
        format!("run {generation} of Worker {id} answers, so a Runtime holds the catalog and would write over this change"),
    )
    .at(Locus::file(Paths::socket(id, generation)))
    .hint("stop the Runtime first, or ask it to make the change")
}

/// The highest generation of a Worker that answers, if one does.
pub(crate) fn live_run(store: &Store, id: WorkerId) -> Result<Option<Generation>> {
    let name = Store::folder_of(id);
    let Some(dir) = store.worker_dir(&name)? else {
        return Ok(None);
    };
    let runs = read_folder(&dir, crate::layout::file::RUNS, |dir| {
        Ok(RunsFolder {
            entries: dir.entries()?,
            dir,
        })
    });
    let runs = match runs {
        Folder::Read(runs) => runs,
        Folder::Missing | Folder::NotAFolder(_) => return Ok(None),
        Folder::Unreadable(e) => return Err(failed("read", &Paths::runs(id), e)),
    };
    for generation in runs.generations().into_iter().rev() {
        let name = generation.to_string();
        let path = Paths::run(id, generation);
        let run = runs.dir.dir(&name).map_err(|e| failed("open", &path, e))?;
        // What can not be asked is treated as live by a writer.
        match probe(&run) {
            Ok(answer) if answer.is_live() => return Ok(Some(generation)),
            Ok(_) => {}
            Err(e) => return Err(failed("ask", &Paths::socket(id, generation), e)),
        }
    }
    Ok(None)
}

/// A run of the store that answers, if one does.
pub(crate) fn any_live_run(store: &Store) -> Result<Option<(WorkerId, Generation)>> {
    for folder in store.worker_folders()? {
        if let Some(id) = folder.id
            && let Some(generation) = live_run(store, id)?
        {
            return Ok(Some((id, generation)));
        }
    }
    Ok(None)
}

fn fenced(what: &str, wanted: &dyn std::fmt::Display, now: &dyn std::fmt::Display) -> Error {
    Error::new(
        Code::Fenced,
        format!("{what} is {now}, and {wanted} was expected"),
    )
    .hint("look at what changed, then retry with what is so now")
}

fn fences(view: &View<'_>, id: WorkerId, change: &dyn Change, expect: &Expect) -> Result<()> {
    if let Some(wanted) = expect.generation {
        let (_, document) = view.worker(id)?;
        let now = view.highest_generation(id, &document)?;
        if now != wanted {
            return Err(fenced(
                &format!("the generation of Worker {id}"),
                &wanted,
                &now,
            ));
        }
    }
    if expect.active.is_none() && expect.digest.is_none() {
        return Ok(());
    }
    let active = view
        .metadata(id)?
        .and_then(|(_, m)| m.active.as_ref().and_then(Active::segment));
    if let Some(wanted) = expect.active
        && active != Some(wanted)
    {
        let now = active.map_or_else(|| "none".to_owned(), |id| id.to_string());
        return Err(fenced(
            &format!("the active Segment of Worker {id}"),
            &wanted,
            &now,
        ));
    }
    if let Some(wanted) = &expect.digest {
        let addressed = match expect.segment {
            Some(segment) => Some(segment),
            None => change.segment(view.store())?,
        };
        let Some(segment) = addressed.or(active) else {
            return Err(fenced(
                &format!("the active Segment of Worker {id}"),
                wanted,
                &"none",
            ));
        };
        let path = Paths::segment(id, segment);
        let now = view.records(&path)?.sha256(&path)?;
        if now != *wanted {
            return Err(fenced(
                &format!("the digest of Segment {segment}"),
                wanted,
                &now,
            ));
        }
    }
    Ok(())
}
