//! Carrying effects out, for one operation or for many that share their syncs.
//!
//! Effects go in rounds: the first of every operation, then the second, and so on. In a round all
//! temporary files and folders are written, then synced, then renamed, then their folders are
//! synced; only then does the next round begin, so that no operation's later effect can outlive an
//! earlier one in a power cut. With one operation the syncs are those of its own files; with many
//! they are one sync of the file system each, where the kernel reports its errors.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::effect::{Act, Effect};
use super::{Work, aside, split};
use crate::diag::{Code, Effects, Error, Locus, Result};
use crate::layout::OperationId;
use crate::store::fs::{
    Appender, StagedDir, SyncFs, TempFile, WriteDir, ensure_dir_via, ensure_dirs, failed,
    remove_empty, sync_dir,
};
use crate::store::{Guard, Quarantine, empty_quarantine_via};

/// An operation that is being carried out.
pub(super) struct Item<'w> {
    operation: OperationId,
    acts: &'w [Act],
    commit: usize,
    error: Option<Error>,
    /// How many effects are on disk and durable.
    done: usize,
    /// An effect was begun whose sync is not known to have worked.
    doubtful: bool,
}

/// How an operation ended.
pub(super) enum Ended {
    /// All effects are there.
    Done,
    /// It failed before its commit point, and what it had begun was taken back.
    Without(Error),
    /// Its commit point has passed, and somebody who holds no lock of ours took the place of what
    /// follows.
    Taken(Error),
    /// Its commit point has passed and something must follow still.
    Unknown(Error),
    /// A sync failed: it is not known what is on disk.
    Doubtful(Error),
}

impl<'w> Item<'w> {
    pub fn new(operation: OperationId, work: &'w Work) -> Self {
        Self::of(operation, &work.acts, work.commit)
    }

    pub fn of(operation: OperationId, acts: &'w [Act], commit: usize) -> Self {
        Self {
            operation,
            acts,
            commit,
            error: None,
            done: 0,
            doubtful: false,
        }
    }

    fn fail(&mut self, error: Error) {
        self.doubtful |= error.code == Code::OutcomeUnknown;
        self.error.get_or_insert(error);
    }

    fn act(&self, round: usize) -> Option<&'w Act> {
        if self.error.is_some() {
            None
        } else {
            self.acts.get(round)
        }
    }

    pub fn ended(self) -> Ended {
        match self.error {
            None => Ended::Done,
            Some(error) if self.doubtful => Ended::Doubtful(error),
            Some(error) if self.done > self.commit && error.code == Code::TargetExists => {
                Ended::Taken(error)
            }
            Some(error) if self.done > self.commit => Ended::Unknown(committed(error)),
            Some(error) => Ended::Without(error),
        }
    }
}

/// The error of a change that stopped behind its commit point.
pub(super) fn committed(error: Error) -> Error {
    Error::new(
        Code::OutcomeUnknown,
        "the change was committed and what follows it is not done yet; the next change carries it forward",
    )
    .effects(Effects::Some)
    .hint("wagg op list")
    .caused_by(error)
}

/// What a round works with, for one item.
enum Begun<'d, 'g> {
    Nothing,
    Temp(TempFile<'d, 'g>, bool),
    Staged {
        staged: StagedDir<'d, 'g>,
        target: &'d WriteDir<'g>,
        over_empty: &'d [String],
    },
}

/// Carries out all effects of all items. Each item ends alone; a failed sync that was shared is
/// the end of all that shared it.
pub(super) fn execute(guard: &dyn Guard, items: &mut [Item<'_>], batch: Option<&SyncFs<'_>>) {
    let rounds = items.iter().map(|item| item.acts.len()).max().unwrap_or(0);
    for round in 0..rounds {
        run_round(guard, items, round, batch);
        for item in items.iter_mut() {
            if item.error.is_none() && item.acts.len() > round {
                item.done = round + 1;
            }
        }
        fail_what_was_built_on_failures(items);
    }
    for item in items {
        take_back(guard, item);
    }
}

/// Removes the empty folders that an operation made before it failed. A document that was replaced
/// before the commit point stays: it is a number that is used up.
fn take_back(guard: &dyn Guard, item: &mut Item<'_>) {
    if item.doubtful || item.done > item.commit {
        return;
    }
    let Some(error) = &mut item.error else { return };
    for act in item.acts.iter().take(item.done) {
        let Effect::Folder { path, files, .. } = &act.effect else {
            continue;
        };
        let removed = split(path).and_then(|(parent, name)| {
            let dir = guard.write_at(&parent)?;
            if files.is_empty() {
                remove_empty(&dir, &name)?;
            }
            Ok(files.is_empty())
        });
        if !matches!(removed, Ok(true)) {
            error.effects = Effects::Some;
        }
    }
}

/// An operation that was planned upon one that failed fails too, before it touches anything more.
/// What it did in the same round stays done.
fn fail_what_was_built_on_failures(items: &mut [Item<'_>]) {
    for i in 0..items.len() {
        if items[i].error.is_none() {
            continue;
        }
        let touched: Vec<&Path> = items[i].acts.iter().map(|act| act.effect.path()).collect();
        for later in &mut items[i + 1..] {
            let done = later.done;
            if later.error.is_none()
                && later
                    .acts
                    .iter()
                    .skip(done)
                    .any(|a| touched.contains(&a.effect.path()))
            {
                later.fail(
                    Error::new(
                        Code::Fenced,
                        "a change before it in its group failed, and it was planned upon that",
                    )
                    .hint("retry it alone"),
                );
            }
        }
    }
}

/// The folders that an effect works in: where it is filled, and where it will be.
struct Places<'g> {
    from: WriteDir<'g>,
    to: WriteDir<'g>,
}

fn places<'g>(guard: &'g dyn Guard, effect: &Effect) -> Result<Places<'g>> {
    let (parent, _) = split(effect.path())?;
    match effect {
        Effect::Folder { staging, above, .. } => {
            for (path, temp) in above {
                let (parent, name) = split(path)?;
                ensure_dir_via(&guard.write_at(&parent)?, &name, temp)?;
            }
            let to = ensure(guard, &parent)?;
            let (from, _) = split(staging)?;
            let from = if from == parent {
                to.try_clone().map_err(|e| failed("open", &parent, e))?
            } else {
                ensure(guard, &from)?
            };
            Ok(Places { from, to })
        }
        Effect::Move(other) => {
            let (from, _) = split(&other.from)?;
            Ok(Places {
                from: guard.write_at(&from)?,
                to: ensure(guard, &parent)?,
            })
        }
        _ => {
            let to = guard.write_at(&parent)?;
            let from = to.try_clone().map_err(|e| failed("open", &parent, e))?;
            Ok(Places { from, to })
        }
    }
}

/// Opens a folder of the store, and makes what is missing of it below what the guard covers.
fn ensure<'g>(guard: &'g dyn Guard, path: &Path) -> Result<WriteDir<'g>> {
    match guard.write_at(path) {
        Ok(dir) => Ok(dir),
        Err(e) if is_missing(&e) => {
            let (parent, name) = split(path)?;
            ensure_dirs(&guard.write_at(&parent)?, [name])
        }
        Err(e) => Err(e),
    }
}

/// Whether an error says that something is not there.
pub(super) fn is_missing(e: &Error) -> bool {
    e.source
        .as_ref()
        .and_then(|s| s.downcast_ref::<std::io::Error>())
        .is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound)
}

fn run_round(guard: &dyn Guard, items: &mut [Item<'_>], round: usize, batch: Option<&SyncFs<'_>>) {
    let mut all: Vec<Option<Places<'_>>> = Vec::with_capacity(items.len());
    for item in items.iter_mut() {
        let opened = item.act(round).map(|act| places(guard, &act.effect));
        all.push(match opened {
            Some(Ok(places)) => Some(places),
            Some(Err(e)) => {
                item.fail(e);
                None
            }
            None => None,
        });
    }
    let mut begun: Vec<Begun<'_, '_>> = Vec::with_capacity(items.len());
    for (item, places) in items.iter_mut().zip(&all) {
        let prepared = match (item.act(round), places) {
            (Some(act), Some(places)) => prepare(guard, act, places, batch.is_some()),
            _ => Ok(Begun::Nothing),
        };
        begun.push(prepared.unwrap_or_else(|e| {
            item.fail(e);
            Begun::Nothing
        }));
    }
    let staged_any = begun.iter().any(|b| !matches!(b, Begun::Nothing));
    if let (Some(batch), true) = (batch, staged_any) {
        match batch.sync() {
            Ok(synced) => {
                for one in &mut begun {
                    match one {
                        Begun::Temp(file, _) => file.synced_by(&synced),
                        Begun::Staged { staged, .. } => staged.synced_by(&synced),
                        Begun::Nothing => {}
                    }
                }
            }
            Err(e) => {
                share(items, round, &e);
                return;
            }
        }
    }
    put_in_place(items, round, begun, &all);
    append_all(guard, items, round, batch);
    remove_all(items, round, &all);
    set_aside(guard, items, round, &all);
    sync_parents(items, round, &all, batch);
}

/// One sync failed for all that shared it.
fn share(items: &mut [Item<'_>], round: usize, e: &Error) {
    for item in items.iter_mut().filter(|item| item.act(round).is_some()) {
        item.fail(again(e));
    }
}

/// The same error for somebody else.
pub(super) fn again(e: &Error) -> Error {
    let mut copy = Error::new(e.code, e.message.clone()).effects(e.effects);
    copy.locus.clone_from(&e.locus);
    copy.hints.clone_from(&e.hints);
    match &e.source {
        Some(source) => copy.caused_by(source.to_string()),
        None => copy,
    }
}

/// Writes what goes to temporary names.
fn prepare<'d, 'g>(
    guard: &dyn Guard,
    act: &'d Act,
    places: &'d Places<'g>,
    batch: bool,
) -> Result<Begun<'d, 'g>> {
    let content = |i: usize| act.content.get(i).map_or(&[][..], Vec::as_slice);
    match &act.effect {
        Effect::Document { path, temp, .. } | Effect::File { path, temp, .. } => {
            let (_, name) = split(path)?;
            let source = match &act.effect {
                Effect::File { rights_of, .. } => rights_of.as_ref(),
                _ => None,
            };
            let source = source.and_then(|source| places.to.stat(source).ok());
            let mut file = TempFile::begin_from(&places.to, name, temp.as_str(), source.as_ref())?;
            file.put(content(0))?;
            if !batch {
                file.sync()?;
            }
            let new = matches!(act.effect, Effect::File { .. });
            Ok(Begun::Temp(file, new))
        }
        Effect::Folder {
            staging,
            folders,
            files,
            over_empty,
            ..
        } => {
            let (_, temp) = split(staging)?;
            let mut staged = StagedDir::begin_for(&places.from, temp, &places.to)?;
            for folder in folders {
                inside(staged.dir(), folder)?;
            }
            for (i, file) in files.iter().enumerate() {
                let (parent, name) = split(&file.path)?;
                let dir = inside(staged.dir(), &parent)?;
                let path = dir.path_of(&name);
                let mut out = dir.create(&name).map_err(|e| failed("make", &path, e))?;
                out.write_all(content(i))
                    .map_err(|e| failed("write", &path, e))?;
            }
            if !batch {
                staged.sync_each()?;
            }
            Ok(Begun::Staged {
                staged,
                target: &places.to,
                over_empty,
            })
        }
        Effect::Rewrite(rewrite) => {
            let mut file = rewrite.begin(guard.root(), &places.to)?;
            if !batch {
                file.sync()?;
            }
            Ok(Begun::Temp(file, false))
        }
        Effect::Append { .. }
        | Effect::Remove { .. }
        | Effect::Keep { .. }
        | Effect::Cut(_)
        | Effect::Move(_)
        | Effect::Empty { .. } => Ok(Begun::Nothing),
    }
}

/// A folder inside one that is being filled, made if need be. Its sync is that of the whole.
fn inside<'g>(dir: &WriteDir<'g>, path: &Path) -> Result<WriteDir<'g>> {
    let mut at = dir.try_clone().map_err(|e| failed("open", dir.path(), e))?;
    for part in path {
        let made = at
            .ensure_dir(part)
            .map_err(|e| failed("make", &at.path_of(part), e))?;
        at = made.0;
    }
    Ok(at)
}

fn put_in_place(
    items: &mut [Item<'_>],
    round: usize,
    begun: Vec<Begun<'_, '_>>,
    places: &[Option<Places<'_>>],
) {
    for ((item, one), places) in items.iter_mut().zip(begun).zip(places) {
        let Some(act) = item.act(round) else { continue };
        let placed = match one {
            Begun::Nothing => Ok(()),
            Begun::Temp(mut file, true) => file.place_new_unsynced(),
            Begun::Temp(mut file, false) => match (&act.effect, places) {
                (Effect::Rewrite(rewrite), Some(places)) => rewrite
                    .still_there(&file, &places.to)
                    .and_then(|()| file.replace_unsynced()),
                _ => file.replace_unsynced(),
            },
            Begun::Staged {
                mut staged,
                target,
                over_empty,
            } => {
                let name = act.effect.path().file_name().unwrap_or_default();
                if over_empty.is_empty() {
                    staged.place_unsynced(target, name)
                } else {
                    let inner: Vec<&str> = over_empty.iter().map(String::as_str).collect();
                    place_over(staged, target, name, &inner)
                }
            }
        };
        if let Err(e) = placed {
            item.fail(e);
        }
    }
}

/// Puts a folder where there is none, or only an empty one.
fn place_over(
    mut staged: StagedDir<'_, '_>,
    target: &WriteDir<'_>,
    name: &std::ffi::OsStr,
    inner: &[&str],
) -> Result<()> {
    let there = target
        .try_stat(name)
        .map_err(|e| failed("look at", &target.path_of(name), e))?;
    if there.is_some() {
        staged.place_over_empty_unsynced(target, name, inner)
    } else {
        staged.place_unsynced(target, name)
    }
}

/// Adds records; several operations may add to one file, which is then synced once, or with all
/// else of the round.
fn append_all(guard: &dyn Guard, items: &mut [Item<'_>], round: usize, batch: Option<&SyncFs<'_>>) {
    let mut files: Vec<PathBuf> = Vec::new();
    for item in items.iter() {
        if let Some(Effect::Append { path, .. }) = item.act(round).map(|act| &act.effect)
            && !files.contains(path)
        {
            files.push(path.clone());
        }
    }
    for file in files {
        let same = |item: &&mut Item<'_>| matches!(item.act(round).map(|act| &act.effect), Some(Effect::Append { path, .. }) if *path == file);
        let first = items.iter_mut().find(same).map(|item| item.operation);
        let Some(first) = first else { continue };
        let acts: Vec<&Act> = items
            .iter_mut()
            .filter(same)
            .filter_map(|item| item.act(round))
            .collect();
        if let Err(e) = append_one(guard, &file, first, &acts, batch) {
            for item in items.iter_mut().filter(same) {
                item.fail(again(&e));
            }
        }
    }
}

fn append_one(
    guard: &dyn Guard,
    path: &Path,
    operation: OperationId,
    acts: &[&Act],
    batch: Option<&SyncFs<'_>>,
) -> Result<()> {
    let (parent, name) = split(path)?;
    let dir = guard.write_at(&parent)?;
    let mut appender = Appender::open(&dir, &name, |tail| {
        let mut quarantine = Quarantine::open(guard.wagg(), operation)?;
        quarantine.keep_tail(path, tail)?;
        quarantine.sync()
    })?;
    let planned = acts.iter().find_map(|act| match act.effect {
        Effect::Append { offset, .. } => Some(offset),
        _ => None,
    });
    if planned.is_some_and(|offset| offset != appender.committed()) {
        // A Runtime, which knows no lock of ours, added to it since the plan was made.
        return Err(Error::new(
            Code::SourceChanged,
            format!(
                "{} grew while records were about to be added to it",
                path.display()
            ),
        )
        .at(Locus::file(path))
        .hint("look at what was added, then try again"));
    }
    for part in acts.iter().filter_map(|act| act.content.first()) {
        appender.write(part)?;
    }
    match batch {
        Some(batch) => {
            appender.left_to(batch);
            Ok(())
        }
        None => appender.commit().map(|_| ()),
    }
}

fn remove_all(items: &mut [Item<'_>], round: usize, places: &[Option<Places<'_>>]) {
    for (item, places) in items.iter_mut().zip(places) {
        let (Some(Effect::Remove { path }), Some(places)) =
            (item.act(round).map(|act| &act.effect), places)
        else {
            continue;
        };
        let name = path.file_name().unwrap_or_default();
        match crate::store::fs::remove(&places.to, name) {
            Ok(()) => {}
            Err(e) => item.fail(e),
        }
    }
}

/// Keeps, cuts and moves. Each syncs for itself.
fn set_aside(
    guard: &dyn Guard,
    items: &mut [Item<'_>],
    round: usize,
    places: &[Option<Places<'_>>],
) {
    for (item, places) in items.iter_mut().zip(places) {
        let done = match (item.act(round).map(|act| &act.effect), places) {
            (Some(Effect::Keep { parts }), _) => aside::room(guard, item.acts)
                .and_then(|()| aside::keep(guard, item.operation, parts)),
            (Some(Effect::Cut(cut)), _) => aside::cut(guard, cut),
            (Some(Effect::Empty { operation, temp }), _) => {
                empty_quarantine_via(guard.wagg(), *operation, OsStr::new(temp))
            }
            (Some(Effect::Move(what)), Some(places)) => {
                aside::relocate(guard, what, &places.from, &places.to)
            }
            _ => continue,
        };
        if let Err(e) = done {
            item.fail(e);
        }
    }
}

/// Makes the names of a round durable.
fn sync_parents(
    items: &mut [Item<'_>],
    round: usize,
    places: &[Option<Places<'_>>],
    batch: Option<&SyncFs<'_>>,
) {
    let renames = |item: &Item<'_>| {
        item.act(round).is_some_and(|act| {
            !matches!(
                act.effect,
                Effect::Append { .. }
                    | Effect::Keep { .. }
                    | Effect::Cut(_)
                    | Effect::Move(_)
                    | Effect::Empty { .. }
            )
        })
    };
    if let Some(batch) = batch {
        // What was appended in this round waits for this sync too.
        if items.iter().any(|item| item.act(round).is_some())
            && let Err(e) = batch.sync()
        {
            share(items, round, &e);
        }
        return;
    }
    for (item, places) in items.iter_mut().zip(places) {
        let (true, Some(places)) = (renames(item), places) else {
            continue;
        };
        let mut synced = sync_dir(&places.to);
        if synced.is_ok() && places.from.path() != places.to.path() {
            synced = sync_dir(&places.from);
        }
        if let Err(e) = synced {
            item.fail(e);
        }
    }
}
