//! Carrying a plan out: batches of Workers that share their syncs.
//!
//! Why this keeps C6 and C7. A batch goes through three steps, and a sync of the whole file system
//! stands between each two of them:
//!
//! 1. every file of its Sessions is written below `.session.migrating-…`, and its metadata under a
//!    temporary name;
//! 2. each staged folder is renamed to `session`, replacing nothing: the commit point of a Worker;
//! 3. each metadata file gets its name, replacing nothing.
//!
//! A name is therefore given only to what a sync that began after its last write has made durable,
//! and a pointer appears only after a sync that began after the rename of what it points at. The
//! checkpoint is written after one more. The handle of the sync is opened before the first write,
//! on a kernel that reports on it whatever went wrong since ([`SyncFs`]); one that fails ends the
//! run, since what reached the disk is not known (C9). Where there is no such sync, each file and
//! folder has its own.
//!
//! To need one sync a batch and not three, batches overlap: the sync that makes batch 3 durable
//! where it is staged also covers the renames of batch 2 and the metadata of batch 1. With more
//! than one job threads stage on and on meanwhile, and a batch is what they have come to; a sync
//! covers all that was done before it began, and what it covers is only acted upon once it ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::copy::Stop;
use super::facts::{Moved, Notes};
use super::manifest::Manifest;
use super::pipe::{Pipe, sync_all};
use super::plan::{Item, Move, Plan, Step};
use super::report::Brief;
use super::staging::Staging;
use super::{Options, Sources};
use crate::diag::{Code, Error, Finding, Progress, Result};
use crate::layout::{Paths, WorkerId, file};
use crate::store::fs::{KeptDir, KeptFile, SyncFs};
use crate::store::{Guard, StoreGuard, WriteDir};

/// The temporary names of one operation. They are the same in every Worker's folder.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// Of a Session's folder.
    pub staging: String,
    /// Of `metadata.json`.
    pub metadata: String,
    /// Of the manifest.
    pub manifest: String,
    /// Of `latest.json`.
    pub latest: String,
}

impl Names {
    pub fn mint() -> Self {
        let temp = |name: &str| {
            crate::store::fs::temp_name(name)
                .to_string_lossy()
                .into_owned()
        };
        Self {
            staging: crate::store::fs::session_staging_name()
                .to_string_lossy()
                .into_owned(),
            metadata: temp(file::METADATA),
            manifest: temp(file::MANIFEST),
            latest: temp("latest.json"),
        }
    }

    /// All that a kill may leave, relative to the store.
    pub fn leftovers(&self, plan: &Plan) -> Vec<String> {
        let text = |path: PathBuf| {
            let mut text = path.to_string_lossy().into_owned();
            // There are as many as Workers.
            text.shrink_to_fit();
            text
        };
        let mut all = vec![
            text(PathBuf::from(file::MIGRATIONS).join(&self.manifest)),
            text(Notes::temp_path(&self.latest)),
        ];
        for item in &plan.items {
            let Step::Move(moving) = &item.step else {
                continue;
            };
            let worker = Paths::worker(item.id);
            if moving.session.is_some() {
                all.push(text(worker.join(&self.staging)));
            }
            if moving.metadata {
                all.push(text(worker.join(&self.metadata)));
            }
        }
        all
    }
}

/// What became of the Workers of a plan.
#[derive(Default)]
pub(super) struct Carried {
    /// Those that were moved, in order.
    pub moved: Vec<(WorkerId, Brief)>,
    /// Something is in place that is not counted among them.
    pub in_place: bool,
    /// Those that were left, found only when their source was read.
    pub left: BTreeMap<WorkerId, Finding>,
    /// Remarks.
    pub notes: Vec<Finding>,
    /// What stopped it, with what it had done by then.
    pub stopped: Option<Error>,
}

/// All that carrying out needs.
pub(super) struct Act<'a> {
    pub guard: &'a StoreGuard<'a>,
    pub sources: &'a Sources,
    pub options: &'a Options,
    pub names: &'a Names,
    pub progress: &'a dyn Progress,
}

/// A Worker on its way.
pub(super) struct Underway<'p> {
    pub item: &'p Item,
    pub moving: &'p Move,
    pub session: Option<KeptDir>,
    pub metadata: Option<KeptFile>,
    pub moved: Moved,
    pub notes: Vec<Finding>,
}

/// A batch on its way.
pub(super) type Batch<'p> = Vec<Underway<'p>>;

impl Act<'_> {
    /// Carries the plan out.
    ///
    /// # Errors
    /// `outcome_unknown`: a sync failed. All else that stops it is in the answer, with what was
    /// done by then.
    pub fn run(&self, plan: &Plan, manifest: &mut Manifest, notes: &mut Notes) -> Result<Carried> {
        let mut carried = Carried::default();
        // Opened before the first write, so that it hears of every error since.
        let root = self.guard.write_at(Path::new(""))?;
        let sync = SyncFs::before_writing(&root)?;
        let todo: Vec<&Item> = plan
            .items
            .iter()
            .filter(|item| matches!(item.step, Step::Move(_)))
            .collect();
        self.progress.start(Some(plan.bytes));
        let mut pipe = Pipe {
            act: self,
            staged: Vec::new(),
            placed: Vec::new(),
            described: Vec::new(),
            manifest,
            notes,
            plan,
            unwritten: 0,
            written: 0,
        };
        let staging = Staging::new(self, &todo, sync.is_some());
        let ended = staging
            .during(|staging| self.put_in_place(staging, sync.as_ref(), &mut pipe, &mut carried));
        if let Err(e) = ended {
            if e.code == Code::OutcomeUnknown {
                pipe.take_back();
                self.progress.finish();
                return Err(e);
            }
            let whole = pipe.stop(sync.as_ref(), &mut carried);
            self.progress.finish();
            whole?;
            carried.stopped.get_or_insert(e);
            return Ok(carried);
        }
        self.progress.finish();
        Ok(carried)
    }

    /// Makes durable and puts in place what is staged, until nothing more comes.
    fn put_in_place<'p>(
        &self,
        staging: &Staging<'_, 'p>,
        shared: Option<&SyncFs<'_>>,
        pipe: &mut Pipe<'_, 'p>,
        carried: &mut Carried,
    ) -> Result<()> {
        loop {
            let taken = staging.take();
            let none = taken.is_empty();
            pipe.staged.extend(self.sorted_out(taken, staging, carried));
            if !pipe.is_empty() {
                let synced = sync_all(shared)?;
                pipe.advance(synced.as_ref(), carried)?;
            } else if none {
                return Ok(());
            }
        }
    }

    /// Of the next Workers those that go on. Those that can not be moved are left; behind what is
    /// everybody's trouble nothing more is begun.
    fn sorted_out<'p>(
        &self,
        taken: Vec<(&'p Item, Result<Underway<'p>, Stop>)>,
        staging: &Staging<'_, 'p>,
        carried: &mut Carried,
    ) -> Batch<'p> {
        let mut batch = Vec::with_capacity(taken.len());
        let mut rest = Vec::new();
        for (item, staged) in taken {
            let stop_here =
                carried.stopped.is_some() || (self.options.fail_fast && !carried.left.is_empty());
            match staged {
                Ok(one) if stop_here => rest.push(one),
                Ok(one) => batch.push(one),
                Err(Stop::Left(_)) if stop_here => {}
                Err(Stop::Left(finding)) => {
                    carried.left.insert(item.id, *finding);
                }
                Err(Stop::All(error)) => {
                    carried.stopped.get_or_insert(*error);
                }
            }
        }
        self.take_back(rest);
        if carried.stopped.is_some() || (self.options.fail_fast && !carried.left.is_empty()) {
            staging.end();
        }
        batch
    }

    /// Removes what was staged and will not be put in place.
    pub fn take_back(&self, batch: Batch<'_>) {
        for one in batch {
            let Ok(dir) = self.folder(one.item.id) else {
                continue;
            };
            // What is dropped before it was put in place is removed.
            drop(one.session.map(|kept| kept.take_up(&dir)));
            drop(one.metadata.map(|kept| kept.take_up(&dir)));
        }
    }

    /// A Worker's folder, to be changed.
    pub fn folder(&self, id: WorkerId) -> Result<WriteDir<'_>> {
        self.guard.write_at(&Paths::worker(id))
    }
}
