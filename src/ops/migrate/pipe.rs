//! Batches between their steps: each goes one further with each sync. [`act`](super::act) says why
//! this order is safe.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::act::{Act, Batch, Carried, Names, Underway};
use super::facts::{Notes, time_of};
use super::manifest::Manifest;
use super::plan::{Plan, Step};
use super::report::Brief;
use crate::diag::{Code, Error, Finding, Locus, Result, Subject};
use crate::layout::{Paths, WorkerId, file};
use crate::store::fs::{
    KeptDir, KeptFile, SyncFs, Synced, TempFile, ensure_dirs, failed, make_durable, sync_dir,
};
use crate::store::{Guard, StoreGuard};

/// Batches between their steps.
pub(super) struct Pipe<'a, 'p> {
    pub act: &'a Act<'a>,
    /// Written under temporary names.
    pub staged: Batch<'p>,
    /// Whose Session is in place.
    pub placed: Batch<'p>,
    /// Whose metadata is in place too.
    pub described: Batch<'p>,
    pub manifest: &'a mut Manifest,
    pub notes: &'a mut Notes,
    pub plan: &'a Plan,
    /// Checkpoints that are not in the manifest on disk yet.
    pub unwritten: usize,
    /// Checkpoints that are.
    pub written: usize,
}

impl<'p> Pipe<'_, 'p> {
    pub fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.placed.is_empty() && self.described.is_empty()
    }

    /// All batches go one step further, the foremost first.
    pub fn advance(&mut self, synced: Option<&Synced>, carried: &mut Carried) -> Result<()> {
        let described = std::mem::take(&mut self.described);
        self.checkpoint(described, carried)?;
        let placed = std::mem::take(&mut self.placed);
        self.describe(placed, synced, carried)?;
        let staged = std::mem::take(&mut self.staged);
        self.place(staged, synced, carried)
    }

    /// Puts the Sessions of a batch in place: each Worker's commit point.
    fn place(
        &mut self,
        batch: Batch<'p>,
        synced: Option<&Synced>,
        carried: &mut Carried,
    ) -> Result<()> {
        let mut rest = batch.into_iter();
        while let Some(mut one) = rest.next() {
            let placed = match one.session.take() {
                Some(kept) => self.place_one(&one, kept, synced),
                None => Ok(()),
            };
            let Err(e) = placed else {
                self.placed.push(one);
                continue;
            };
            let trouble = trouble(&one, e, carried);
            self.act.take_back(vec![one]);
            if let Err(e) = trouble {
                self.act.take_back(rest.collect());
                return Err(e);
            }
        }
        Ok(())
    }

    fn place_one(&self, one: &Underway<'_>, kept: KeptDir, synced: Option<&Synced>) -> Result<()> {
        let dir = self.act.folder(one.item.id)?;
        let mut staged = kept.take_up(&dir)?;
        if let Some(synced) = synced {
            staged.synced_by(synced);
        }
        let name = file::SESSION_DIR.as_ref();
        if one.moving.session.is_some_and(|session| session.over_shell) {
            staged.place_over_empty_unsynced(&dir, name, &[file::SEGMENTS])?;
        } else {
            staged.place_unsynced(&dir, name)?;
        }
        if synced.is_none() {
            sync_dir(&dir)?;
        }
        Ok(())
    }

    /// Puts the metadata of a batch in place, whose Sessions are durable.
    fn describe(
        &mut self,
        batch: Batch<'p>,
        synced: Option<&Synced>,
        carried: &mut Carried,
    ) -> Result<()> {
        let mut noted = Vec::with_capacity(batch.len());
        let mut rest = batch.into_iter();
        while let Some(mut one) = rest.next() {
            let described = match one.metadata.take() {
                Some(kept) => self.describe_one(&mut one, kept, synced),
                None => Ok(()),
            };
            let Err(e) = described else {
                if one.moving.collides.is_none() {
                    noted.push(one.moved.clone());
                }
                self.described.push(one);
                continue;
            };
            if let Err(e) = trouble(&one, e, carried) {
                self.act.take_back(rest.collect());
                return Err(e);
            }
        }
        self.notes.moved(noted)
    }

    fn describe_one(
        &self,
        one: &mut Underway<'_>,
        kept: KeptFile,
        synced: Option<&Synced>,
    ) -> Result<()> {
        let dir = self.act.folder(one.item.id)?;
        let mut file = kept.take_up(&dir)?;
        if let Some(synced) = synced {
            file.synced_by(synced);
        }
        file.place_new_unsynced()?;
        drop(file);
        if let Some(glance) = &mut one.moved.glance {
            // All names are there by now.
            glance.folder_time = dir.own_stat().map_or(0, |stat| time_of(&stat));
        }
        if synced.is_none() {
            sync_dir(&dir)?;
        }
        Ok(())
    }

    /// Notes the Workers of a batch that are whole and durable, and writes the manifest once
    /// twice as many are done as it knows of: so all writing of it together is linear in the
    /// number of Workers.
    fn checkpoint(&mut self, batch: Batch<'p>, carried: &mut Carried) -> Result<()> {
        self.count(batch, carried);
        if self.unwritten >= self.written.max(FIRST_WRITE) {
            self.manifest.conclude(false, &self.plan.diagnostics);
            write_manifest(self.act.guard, self.manifest, self.act.names)?;
            self.written += std::mem::take(&mut self.unwritten);
        }
        Ok(())
    }

    fn count(&mut self, batch: Batch<'p>, carried: &mut Carried) {
        for one in batch {
            if let Some(state) = one.item.state {
                self.manifest.set(one.item.id, state);
            }
            carried.notes.extend(one.notes);
            if let Some(finding) = &one.moving.collides {
                carried.left.insert(one.item.id, (**finding).clone());
            }
            carried.moved.push((one.item.id, Brief::of(&one.moved)));
            self.unwritten += 1;
        }
    }

    /// Ends where it was stopped. Workers that are whole in place are made durable and counted,
    /// though the disk may have no room left to note them; what has no name yet is taken back.
    ///
    /// # Errors
    /// The sync failed.
    pub fn stop(&mut self, shared: Option<&SyncFs<'_>>, carried: &mut Carried) -> Result<()> {
        carried.in_place |= !self.placed.is_empty() || !self.described.is_empty();
        let described = std::mem::take(&mut self.described);
        let synced = match described.is_empty() {
            true => Ok(()),
            false => sync_all(shared).map(drop),
        };
        if synced.is_ok() {
            self.count(described, carried);
        }
        self.take_back();
        synced
    }

    /// Takes back all that has no name yet.
    pub fn take_back(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        let placed = std::mem::take(&mut self.placed);
        self.act.take_back(staged);
        self.act.take_back(placed);
    }
}

/// Makes all durable that was done so far. None where each thing has its own sync.
pub(super) fn sync_all(shared: Option<&SyncFs<'_>>) -> Result<Option<Synced>> {
    shared.map(SyncFs::sync).transpose()
}

/// One Worker could not be put in place. What somebody else put under its name meanwhile is this
/// Worker's trouble; all else is everybody's.
fn trouble(one: &Underway<'_>, e: Error, carried: &mut Carried) -> Result<()> {
    if !matches!(
        e.code,
        Code::TargetExists | Code::SymbolicLink | Code::NotARegularFile
    ) {
        return Err(e);
    }
    let id = one.item.id;
    let path = e
        .locus
        .as_ref()
        .map_or_else(|| Paths::worker(id), |locus| locus.path.clone());
    let message = format!(
        "{} since the plan was made; nothing was replaced",
        e.message
    );
    let finding = Finding::new(e.code, Subject::worker(id), Locus::file(path), message);
    carried.left.insert(id, finding);
    Ok(())
}

/// The manifest is not written again before so many Workers were moved.
const FIRST_WRITE: usize = if cfg!(test) { 2 } else { 64 };

/// So many bytes of it are held at once.
const WRITTEN_AT_ONCE: usize = 256 * 1024;

/// Writes the manifest, if it says anything new.
pub(super) fn write_manifest(
    guard: &StoreGuard<'_>,
    manifest: &mut Manifest,
    names: &Names,
) -> Result<()> {
    if !manifest.says_more() {
        return Ok(());
    }
    let root = guard.write_at(Path::new(""))?;
    let dir = ensure_dirs(&root, [file::MIGRATIONS])?;
    let mut temp = TempFile::begin(&dir, file::MANIFEST, names.manifest.as_str())?;
    let mut out = BufWriter::with_capacity(WRITTEN_AT_ONCE, &mut temp);
    let written = manifest.write(&mut out).and_then(|()| out.flush());
    drop(out.into_parts());
    written.map_err(|e| failed("write", temp.path(), e))?;
    temp.replace()?;
    manifest.written();
    Ok(())
}

/// Makes durable what was found in place and is about to get its checkpoint: whoever put it there
/// may have died before its own sync.
pub(super) fn make_found_durable(
    guard: &StoreGuard<'_>,
    plan: &Plan,
    manifest: &Manifest,
) -> Result<()> {
    let found: Vec<WorkerId> = plan
        .items
        .iter()
        .filter(|item| matches!(item.step, Step::Done | Step::Advanced))
        .filter(|item| {
            item.state
                .is_some_and(|state| !manifest.says(item.id, state))
        })
        .map(|item| item.id)
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    let root = guard.write_at(Path::new(""))?;
    if let Some(sync) = SyncFs::before_writing(&root)? {
        return sync.sync().map(drop);
    }
    for id in found {
        let dir = guard.write_at(&Paths::worker(id))?;
        for name in [file::SESSION_DIR, file::METADATA] {
            if dir
                .try_stat(name)
                .map_err(|e| failed("look at", &dir.path_of(name), e))?
                .is_some()
            {
                make_durable(&dir, name)?;
            }
        }
    }
    Ok(())
}
