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
//! than one job that sync runs while the next batch is being copied; it then covers all that was
//! done before it began, and what it covers is only acted upon once it has ended.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::copy::{Stop, Whose, interrupted, pass_all};
use super::each::{each, under};
use super::facts::{CopiedFile, Glance, Moved, Notes, time_of};
use super::manifest::{Manifest, State};
use super::plan::{Item, Move, Plan, SessionMove, Step};
use super::report::Brief;
use super::{Options, Sources};
use crate::diag::{Code, Error, Finding, Locus, Progress, Result, Subject};
use crate::layout::{Paths, SessionId, WorkerId, WorkerName, file};
use crate::ops::change::hex;
use crate::record::{Limits, Scanner};
use crate::store::fs::{
    KeptDir, KeptFile, StagedDir, SyncFs, Synced, TempFile, ensure_dirs, failed, make_durable,
    replace_via, stat_of, sync_dir,
};
use crate::store::{Dir, Guard, StoreGuard, WriteDir, read_bytes};

/// A batch ends with so many Workers; in the crash tests with so few that batches overlap.
const BATCH_WORKERS: usize = if cfg!(test) { 2 } else { 512 };
/// or with so many bytes.
const BATCH_BYTES: u64 = 128 << 20;

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
        let mut all: Vec<PathBuf> = vec![
            PathBuf::from(file::MIGRATIONS).join(&self.manifest),
            Notes::temp_path(&self.latest),
        ];
        for item in &plan.items {
            let Step::Move(moving) = &item.step else {
                continue;
            };
            let worker = Paths::worker(item.id);
            if moving.session.is_some() {
                all.push(worker.join(&self.staging));
            }
            if moving.metadata {
                all.push(worker.join(&self.metadata));
            }
        }
        all.into_iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }
}

/// What became of the Workers of a plan.
#[derive(Default)]
pub(super) struct Carried {
    /// Those that were moved.
    pub moved: BTreeMap<WorkerId, Brief>,
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
struct Underway<'p> {
    item: &'p Item,
    moving: &'p Move,
    session: Option<KeptDir>,
    metadata: Option<KeptFile>,
    moved: Moved,
    notes: Vec<Finding>,
}

/// A batch on its way.
type Batch<'p> = Vec<Underway<'p>>;

impl Act<'_> {
    /// Carries the plan out.
    ///
    /// # Errors
    /// `outcome_unknown`: a sync failed. All else that stops it is in the answer, with what was
    /// done by then.
    pub fn run(&self, plan: &Plan, manifest: &mut Manifest, notes: &mut Notes) -> Result<Carried> {
        let mut carried = Carried::default();
        // Opened before the first write, so that it hears of every error since.
        let root = self.guard.write_at(std::path::Path::new(""))?;
        let sync = SyncFs::before_writing(&root)?;
        let todo: Vec<&Item> = plan
            .items
            .iter()
            .filter(|item| matches!(item.step, Step::Move(_)))
            .collect();
        self.progress.start(Some(plan.bytes));
        let mut batches = Batches { todo: &todo, at: 0 };
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
        let shared = sync.as_ref();
        let overlap = self.options.jobs.get() > 1 && shared.is_some();
        loop {
            if pipe.is_empty() {
                if !batches.any(&carried) {
                    break;
                }
                pipe.staged = self.stage_next(&mut batches, shared.is_some(), &mut carried);
                continue;
            }
            let (synced, next) = if overlap && batches.any(&carried) {
                std::thread::scope(|scope| {
                    let syncing = scope.spawn(under(move || sync_all(shared)));
                    let next = self.stage_next(&mut batches, true, &mut carried);
                    match syncing.join() {
                        Ok(synced) => (synced, next),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                })
            } else {
                let synced = sync_all(shared);
                let next = match &synced {
                    Ok(_) => self.stage_next(&mut batches, shared.is_some(), &mut carried),
                    Err(_) => Vec::new(),
                };
                (synced, next)
            };
            let further = synced.and_then(|synced| pipe.advance(synced.as_ref(), &mut carried));
            pipe.staged.extend(next);
            if let Err(e) = further {
                pipe.take_back();
                self.progress.finish();
                if e.code == Code::OutcomeUnknown {
                    return Err(e);
                }
                carried.stopped.get_or_insert(e);
                return Ok(carried);
            }
        }
        self.progress.finish();
        Ok(carried)
    }

    /// Stages the next batch. Workers that can not be moved are left; if it is everybody's
    /// trouble, the rest is not begun.
    fn stage_next<'p>(
        &self,
        batches: &mut Batches<'_, 'p>,
        shared_sync: bool,
        carried: &mut Carried,
    ) -> Batch<'p> {
        let Some(items) = batches.next(carried) else {
            return Vec::new();
        };
        let jobs = self.options.jobs;
        let staged = each(
            jobs,
            items,
            || Scanner::new(Limits::default()),
            |tools, item| self.stage(item, tools, shared_sync),
        );
        let mut batch = Vec::with_capacity(staged.len());
        let mut rest = Vec::new();
        for (item, staged) in items.iter().zip(staged) {
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
        if self.options.fail_fast && !carried.left.is_empty() {
            batches.end();
        }
        batch
    }

    /// Removes what was staged and will not be put in place.
    fn take_back(&self, batch: Batch<'_>) {
        for one in batch {
            let Ok(dir) = self.folder(one.item.id) else {
                continue;
            };
            // What is dropped before it was put in place is removed.
            drop(one.session.map(|kept| kept.take_up(&dir)));
            drop(one.metadata.map(|kept| kept.take_up(&dir)));
        }
    }

    fn folder(&self, id: WorkerId) -> Result<WriteDir<'_>> {
        self.guard.write_at(&Paths::worker(id))
    }

    /// Writes one Worker's files under temporary names.
    fn stage<'p>(
        &self,
        item: &&'p Item,
        tools: &mut Scanner,
        shared_sync: bool,
    ) -> Result<Underway<'p>, Stop> {
        let item: &'p Item = item;
        let Step::Move(moving) = &item.step else {
            return Err(Error::new(Code::Internal, "nothing of this Worker is to be moved").into());
        };
        if self.progress.interrupted() {
            return Err(interrupted().into());
        }
        self.progress.message(&format!("Worker {}", item.id));
        let dir = self.folder(item.id)?;
        let (metadata, source_time) = self.legacy(item, moving)?;
        let mut glance = Glance::default();
        let mut moved = Moved {
            worker_id: item.id,
            session_id: item.session,
            segment_id: moving.segment,
            pending: matches!(item.state, Some(State::Pending(_))),
            metadata: None,
            files: Vec::new(),
            glance: None,
        };
        let mut notes = Vec::new();
        let staged = match &moving.session {
            Some(session) => {
                let mut staged = StagedDir::begin(&dir, self.names.staging.as_str())?;
                moved.files = self.fill(item, session, &staged, tools, &mut glance, &mut notes)?;
                if !shared_sync {
                    staged.sync_each()?;
                }
                Some(staged)
            }
            None => {
                // Its Session was found in place; the metadata must not outlive it.
                if !shared_sync && dir.try_stat(file::SESSION_DIR).is_ok_and(|s| s.is_some()) {
                    make_durable(&dir, file::SESSION_DIR)?;
                }
                None
            }
        };
        let file = if moving.metadata {
            let temp = self.names.metadata.as_str();
            let mut file = TempFile::begin(&dir, file::METADATA, temp)?;
            file.put(&metadata)?;
            if !shared_sync {
                file.sync()?;
            }
            moved.metadata = Some(CopiedFile {
                name: file::METADATA.to_owned(),
                bytes: metadata.len() as u64,
                sha256: hex(&moving.digest),
                source_time,
                time: time_of(&file.stat()?),
            });
            self.progress.add(metadata.len() as u64);
            Some(file)
        } else {
            None
        };
        // Only what was made here as a whole is known again at a glance.
        if moving.metadata && (moving.session.is_some() || item.session.is_none() || moved.pending)
        {
            let worker = dir.stat(file::WORKER);
            let worker = worker.map_err(|e| failed("look at", &dir.path_of(file::WORKER), e))?;
            glance.worker_bytes = worker.len;
            glance.worker_time = time_of(&worker);
            moved.glance = Some(glance);
        }
        Ok(Underway {
            item,
            moving,
            session: staged.map(StagedDir::leave),
            metadata: file.map(TempFile::leave),
            moved,
            notes,
        })
    }

    /// The legacy metadata, which must be what the plan was made from.
    fn legacy(&self, item: &Item, moving: &Move) -> Result<(Vec<u8>, i64), Stop> {
        let name = WorkerName::of(item.id);
        let path = self
            .sources
            .roots
            .metadata
            .join(name.as_str())
            .join(file::METADATA);
        let changed = |what: &str| {
            let subject = Subject::worker(item.id);
            let message = format!(
                "the legacy metadata changed since the plan was made{what}; nothing of this Worker was moved"
            );
            let finding = Finding::new(Code::SourceChanged, subject, Locus::file(&path), message);
            Stop::from(finding.with_hint("run wagg migrate again"))
        };
        let read = || -> io::Result<(Vec<u8>, i64)> {
            let root = self.sources.metadata_dir();
            let root: &Dir = root.ok_or(io::ErrorKind::NotFound)?;
            let folder = root.dir(name.as_str())?;
            let time = time_of(&folder.stat(file::METADATA)?);
            Ok((read_bytes(&folder, file::METADATA)?, time))
        };
        let (bytes, time) = read().map_err(|e| changed(&format!(": {e}")))?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        if digest != moving.digest {
            return Err(changed(""));
        }
        Ok((bytes, time))
    }

    /// Fills a staged Session: `session.json`, and every file byte for byte.
    fn fill(
        &self,
        item: &Item,
        session: &SessionMove,
        staged: &StagedDir<'_, '_>,
        tools: &mut Scanner,
        glance: &mut Glance,
        notes: &mut Vec<Finding>,
    ) -> Result<Vec<CopiedFile>, Stop> {
        let name = session.id.to_string();
        let path = self.sources.roots.sessions.join(&name);
        let whose = Whose {
            worker: item.id,
            session: session.id,
            active: session.active,
            path: &path,
        };
        let source = self
            .sources
            .sessions_dir()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
            .and_then(|root| root.dir(&name));
        let source = source.map_err(|e| {
            let finding = Finding::new(
                Code::SourceChanged,
                Subject::worker(item.id),
                Locus::file(&path),
                format!("the Session's folder can not be opened any more: {e}"),
            );
            Stop::from(finding.with_hint("run wagg migrate again"))
        })?;
        let dir = staged.dir();
        let document = dir.path_of(file::SESSION);
        let put = |action: &str, e| Stop::from(failed(action, &document, e));
        let mut out = dir.create(file::SESSION).map_err(|e| put("make", e))?;
        out.put(session_document(session.id).as_bytes())
            .map_err(|e| put("write", e))?;
        let written = stat_of(out.file()).map_err(|e| put("look at", e))?;
        glance.session_time = time_of(&written);
        drop(out);
        // Looked at before it is listed: a name that comes later changes it.
        glance.source_time = source.own_stat().map_or(0, |stat| time_of(&stat));
        let segments = dir
            .make_dir(file::SEGMENTS)
            .map_err(|e| Stop::from(failed("make", &dir.path_of(file::SEGMENTS), e)))?;
        let (files, found) = pass_all(&source, &whose, tools, self.progress, Some(&segments))?;
        notes.extend(found);
        glance.segments_time = segments.own_stat().map_or(0, |stat| time_of(&stat));
        Ok(files)
    }
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
    let root = guard.write_at(std::path::Path::new(""))?;
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

/// `session.json` as the reference writes it.
fn session_document(session: SessionId) -> String {
    format!("{{\n  \"schema_version\": 1,\n  \"session_id\": \"{session}\"\n}}\n")
}

/// The Workers that are to be moved, some at a time.
struct Batches<'t, 'p> {
    todo: &'t [&'p Item],
    at: usize,
}

impl<'t, 'p> Batches<'t, 'p> {
    fn any(&self, carried: &Carried) -> bool {
        carried.stopped.is_none() && self.at < self.todo.len()
    }

    fn next(&mut self, carried: &Carried) -> Option<&'t [&'p Item]> {
        if !self.any(carried) {
            return None;
        }
        let rest = &self.todo[self.at..];
        let mut bytes = 0;
        let mut count = 0;
        for item in rest.iter().take(BATCH_WORKERS) {
            count += 1;
            if let Step::Move(moving) = &item.step {
                bytes += moving.bytes;
            }
            if bytes >= BATCH_BYTES {
                break;
            }
        }
        self.at += count;
        Some(&rest[..count])
    }

    /// No more of them.
    fn end(&mut self) {
        self.at = self.todo.len();
    }
}

/// Batches between their steps.
struct Pipe<'a, 'p> {
    act: &'a Act<'a>,
    /// Written under temporary names.
    staged: Batch<'p>,
    /// Whose Session is in place.
    placed: Batch<'p>,
    /// Whose metadata is in place too.
    described: Batch<'p>,
    manifest: &'a mut Manifest,
    notes: &'a mut Notes,
    plan: &'a Plan,
    /// Checkpoints that are not in the manifest on disk yet.
    unwritten: usize,
    /// Checkpoints that are.
    written: usize,
}

impl<'p> Pipe<'_, 'p> {
    fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.placed.is_empty() && self.described.is_empty()
    }

    /// All batches go one step further, the foremost first.
    fn advance(&mut self, synced: Option<&Synced>, carried: &mut Carried) -> Result<()> {
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
        for one in batch {
            if let Some(state) = one.item.state {
                self.manifest.set(one.item.id, state);
            }
            carried.notes.extend(one.notes);
            if let Some(finding) = &one.moving.collides {
                carried.left.insert(one.item.id, (**finding).clone());
            }
            carried.moved.insert(one.item.id, Brief::of(&one.moved));
            self.unwritten += 1;
        }
        if self.unwritten >= self.written.max(FIRST_WRITE) {
            self.manifest.conclude(false, &self.plan.diagnostics);
            write_manifest(self.act.guard, self.manifest, self.act.names)?;
            self.written += std::mem::take(&mut self.unwritten);
        }
        Ok(())
    }

    /// Takes back all that has no name yet.
    fn take_back(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        let placed = std::mem::take(&mut self.placed);
        self.act.take_back(staged);
        self.act.take_back(placed);
    }
}

/// Makes all durable that was done so far. None where each thing has its own sync.
fn sync_all(shared: Option<&SyncFs<'_>>) -> Result<Option<Synced>> {
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

/// Writes the manifest, if it says anything new.
pub(super) fn write_manifest(
    guard: &StoreGuard<'_>,
    manifest: &mut Manifest,
    names: &Names,
) -> Result<()> {
    if !manifest.says_more() {
        return Ok(());
    }
    let bytes = manifest.render()?;
    let root = guard.write_at(std::path::Path::new(""))?;
    let dir = ensure_dirs(&root, [file::MIGRATIONS])?;
    replace_via(&dir, file::MANIFEST, names.manifest.as_str(), &bytes)?;
    manifest.written();
    Ok(())
}
