//! `op undo`: brings back, to the byte, what an operation changed.
//!
//! An operation's effects stand in its intent, with digests of what was before and what came after.
//! Each is turned round, the last one first: a document gets its old bytes, a file that was written
//! anew gets back what it lost, what was made or moved goes to quarantine or back to its place. All
//! of it must be exactly what the operation left, and nothing may have been built on it; otherwise
//! the undo is refused, and says what is in the way. An undo is an operation like any other, so it
//! can be undone too.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{
    OperationId, Paths, SegmentEntry, SegmentId, WorkerId, classify_segment, file,
};
use crate::ops::change::aside::{Cut, Kept, Move, kept_path, part_digest};
use crate::ops::change::effect::NewFile;
use crate::ops::change::rewrite::{Rewrite, Splice, With};
use crate::ops::change::{
    Act, Answer, Change, Effect, Plan, Planned, Scope, View, any_live_run, live_run, runtime_live,
    sha256, worker_live,
};
use crate::ops::operation;
use crate::record::document::Active;
use crate::record::{Format, Limits, Scanner, Verdict};
use crate::store::fs::{failed, stat_of};
use crate::store::journal::{self, Intent, Operation, Outcome, operations};
use crate::store::{Dir, EntryKind, Item, Store, What, quarantined_items};

/// Undoes an operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Its id, or a beginning of it.
    pub operation: String,
}

/// Why operations of a command are not undone, if they are not.
fn never(command: &str) -> Option<&'static str> {
    Some(match command {
        "run reserve" => {
            "a generation that was given out stays used up: given out again, two runs would have one number"
        }
        "run stop" => "it took away the socket of a run that had ended, and nothing else",
        "migrate" => {
            "its sources were left as they were, and what was migrated may have gone on since"
        }
        "init" => "a new store is not unmade; remove the folder by hand if nothing is in it",
        "op prune" | "quarantine empty" => "what it let go of is gone",
        _ => return None,
    })
}

fn not_undoable(intent: &Intent, why: impl std::fmt::Display) -> Error {
    Error::new(
        Code::NotUndoable,
        format!(
            "operation {} ({}) is not undone: {why}",
            intent.operation_id, intent.command
        ),
    )
    .hint(format!("wagg op show {}", intent.operation_id))
}

/// The part of an intent that an undo needs.
#[derive(Deserialize)]
struct Did {
    effects: Vec<Effect>,
}

impl Change for Undo {
    fn command(&self) -> &'static str {
        "op undo"
    }

    fn arguments(&self) -> Value {
        json!({ "operation": self.operation })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        let intent = operation::find(store, &self.operation)?.intent;
        if let Some(why) = never(&intent.command) {
            return Err(not_undoable(&intent, why));
        }
        Ok(match (intent.scope, intent.worker_id) {
            (journal::Scope::Worker, Some(id)) => Scope::Worker(id),
            _ => Scope::Catalog,
        })
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let store = view.store();
        let operation = operation::find(store, &self.operation)?;
        let intent = &operation.intent;
        if self.scope(store)? != scope {
            return Err(Error::new(
                Code::Fenced,
                format!("{} is another operation by now", self.operation),
            )
            .hint("wagg op list"));
        }
        match operation.ending.as_ref().map(|e| e.outcome) {
            Some(Outcome::Done | Outcome::Partial) => {}
            Some(Outcome::NoChange) => return Err(not_undoable(intent, "it changed nothing")),
            Some(Outcome::Cleared) => {
                return Err(not_undoable(intent, "it came to nothing and was cleared"));
            }
            Some(Outcome::Unknown) => {
                return Err(not_undoable(intent, "it is not known what it changed"));
            }
            None => {
                return Err(Error::new(
                    Code::UnsettledOperation,
                    format!("operation {} has no outcome yet", intent.operation_id),
                )
                .hint(format!("wagg op show {}", intent.operation_id)));
            }
        }
        let did: Did = serde_json::from_value(intent.follow.clone()).map_err(|e| {
            not_undoable(
                intent,
                "its intent can not be read: it may be a later wagg's",
            )
            .caused_by(e)
        })?;
        let mut turn = Turn {
            store,
            operation: &operation,
            kept: quarantined_items(store.dir(), intent.operation_id)?.unwrap_or_default(),
            undo: view.operation(),
            acts: Vec::new(),
            keep: Vec::new(),
            moved: 0,
        };
        let mut answer = Answer {
            worker_id: intent.worker_id,
            line: Some(intent.operation_id.to_string()),
            ..Answer::default()
        };
        answer.field("undone", intent.operation_id);
        if turn.is_undone(&did.effects)? {
            return Ok(Planned::Nothing(answer));
        }
        for effect in did.effects.iter().rev() {
            turn.effect(effect)?;
        }
        turn.built_on(&did.effects)?;
        if turn.acts.is_empty() {
            return Err(not_undoable(
                intent,
                "it changed nothing that is still there",
            ));
        }
        turn.live(scope)?;
        let mut acts = turn.acts;
        let commit = usize::from(!turn.keep.is_empty());
        if commit > 0 {
            acts.insert(0, Act::keep(turn.keep));
            let place = Paths::quarantine().join(view.operation().to_string());
            answer.field("quarantine", place);
        }
        Ok(Planned::Do(Plan {
            worker: intent.worker_id,
            generation: None,
            args: json!({ "operation_id": intent.operation_id }),
            minted: Value::Null,
            acts,
            commit,
            answer,
        }))
    }
}

/// Turns an operation's effects round.
struct Turn<'a> {
    store: &'a Store,
    operation: &'a Operation,
    /// What it took away.
    kept: Vec<Item>,
    /// The undo.
    undo: OperationId,
    acts: Vec<Act>,
    keep: Vec<Kept>,
    moved: u64,
}

fn look<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|e| failed("read", path, e))
}

impl Turn<'_> {
    fn root(&self) -> &Dir {
        self.store.dir()
    }

    fn intent(&self) -> &Intent {
        &self.operation.intent
    }

    /// Whether a later undo of this very operation put everything back already.
    fn is_undone(&self, effects: &[Effect]) -> Result<bool> {
        let mut undone = false;
        for later in self.later()? {
            let later = later?;
            let of_this = later.intent.command == "op undo"
                && later.intent.args.get("operation_id")
                    == Some(&Value::from(self.intent().operation_id.to_string()));
            let done = later
                .ending
                .as_ref()
                .is_some_and(|e| e.outcome == Outcome::Done);
            if of_this && done {
                undone = true;
                break;
            }
        }
        if !undone {
            return Ok(false);
        }
        for effect in effects {
            if !self.is_before(effect)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the store is as it was before an effect.
    fn is_before(&self, effect: &Effect) -> Result<bool> {
        let view = View::plain(self.store);
        Ok(match effect {
            Effect::Document { path, before, .. } => {
                view.document(path)?.as_deref().map(sha256) == *before
            }
            Effect::File { path, .. } | Effect::Folder { path, .. } => !view.exists(path)?,
            Effect::Append { path, offset, .. } => {
                view.records(path).is_ok_and(|r| r.committed() == *offset)
            }
            Effect::Remove { .. } | Effect::Empty { .. } => false,
            Effect::Keep { .. } => true,
            Effect::Rewrite(rewrite) => {
                self.is_whole(&rewrite.path, rewrite.bytes_before, &rewrite.before)?
            }
            Effect::Cut(cut) => {
                let bytes = cut.to + cut.bytes;
                self.len(&cut.path)? == Some(bytes)
                    && part_digest(self.root(), &cut.path, cut.to, cut.bytes)? == cut.sha256
            }
            Effect::Move(other) => {
                look(&other.from, other.is(self.root(), &other.from))? && !view.exists(&other.to)?
            }
        })
    }

    /// The operations after this one, newest first.
    fn later(&self) -> Result<impl Iterator<Item = Result<Operation>>> {
        let id = self.intent().operation_id;
        Ok(operations(self.root())?.take_while(move |operation| {
            operation
                .as_ref()
                .map_or(true, |o| o.intent.operation_id != id)
        }))
    }

    /// The refusal for something that is not what the operation left, with who changed it.
    fn conflict(&self, path: &Path, what: &str) -> Error {
        let touches = |later: &Operation| {
            let done = later
                .ending
                .as_ref()
                .is_none_or(|e| !matches!(e.outcome, Outcome::Cleared | Outcome::NoChange));
            let did = serde_json::from_value::<Did>(later.intent.follow.clone());
            done && did.is_ok_and(|did| {
                did.effects.iter().any(|effect| {
                    effect
                        .touches()
                        .into_iter()
                        .any(|other| path.starts_with(other) || other.starts_with(path))
                })
            })
        };
        let by = self
            .later()
            .ok()
            .and_then(|mut all| all.find_map(|o| o.ok().filter(touches)));
        let (by, hint) = match by {
            Some(later) => (
                format!(
                    "by operation {} ({})",
                    later.intent.operation_id, later.intent.command
                ),
                format!("wagg op undo {} first", later.intent.operation_id),
            ),
            None => (
                "by somebody else, as the Runtime that owns it".to_owned(),
                format!("wagg op show {}", self.intent().operation_id),
            ),
        };
        Error::new(
            Code::UndoConflict,
            format!(
                "operation {} can not be undone: {} {what} since, {by}",
                self.intent().operation_id,
                path.display()
            ),
        )
        .at(Locus::file(path))
        .hint(hint)
    }

    fn gone(&self) -> Error {
        not_undoable(
            self.intent(),
            "what it took away is not in quarantine any more, or is not what was put there",
        )
    }

    fn len(&self, path: &Path) -> Result<Option<u64>> {
        let opened = self
            .root()
            .dir_at(path.parent().unwrap_or(Path::new("")))
            .and_then(|dir| dir.file(path.file_name().unwrap_or_default()));
        match opened {
            Ok(file) => look(path, stat_of(&file)).map(|stat| Some(stat.len)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(failed("open", path, e)),
        }
    }

    /// Whether a file is these bytes and nothing more.
    fn is_whole(&self, path: &Path, bytes: u64, sha256: &str) -> Result<bool> {
        Ok(self.len(path)? == Some(bytes) && part_digest(self.root(), path, 0, bytes)? == sha256)
    }

    fn effect(&mut self, effect: &Effect) -> Result<()> {
        match effect {
            Effect::Keep { .. } => Ok(()),
            Effect::Document {
                path,
                before,
                after,
                previous,
                ..
            } => self.document(path, before.as_deref(), after, previous.as_deref()),
            Effect::File {
                path,
                bytes,
                sha256,
                ..
            } => {
                if !self.is_whole(path, *bytes, sha256)? {
                    return Err(self.conflict(path, "changed"));
                }
                self.put_away(path, What::File, *bytes, sha256)
            }
            Effect::Folder {
                path,
                folders,
                files,
                ..
            } => {
                self.exact_folder(path, folders, files)?;
                self.put_away(path, What::Folder, 0, "")
            }
            Effect::Append {
                path,
                offset,
                bytes,
                sha256,
                ..
            } => self.append(path, *offset, *bytes, sha256),
            Effect::Remove { .. } => Err(not_undoable(
                self.intent(),
                "it removed a socket, which nobody can bring back",
            )),
            Effect::Empty { .. } => Err(self.gone()),
            Effect::Rewrite(rewrite) => self.rewrite(rewrite),
            Effect::Cut(cut) => self.cut(cut),
            Effect::Move(other) => self.back(other),
        }
    }

    fn document(
        &mut self,
        path: &Path,
        before: Option<&str>,
        after: &str,
        previous: Option<&str>,
    ) -> Result<()> {
        let now = View::plain(self.store).document(path)?;
        let Some(now) = now.filter(|now| sha256(now) == after) else {
            return Err(self.conflict(path, "changed"));
        };
        let Some(before) = before else {
            return self.put_away(path, What::File, now.len() as u64, after);
        };
        let Some(previous) = previous.filter(|text| sha256(text.as_bytes()) == before) else {
            return Err(not_undoable(
                self.intent(),
                format!("it does not know what {} said before", path.display()),
            ));
        };
        self.keep.push(Kept::part(
            self.root(),
            path,
            What::Bytes,
            0,
            now.len() as u64,
        )?);
        self.acts.push(Act::document(
            path.to_path_buf(),
            Some(&now),
            previous.as_bytes().to_vec(),
        )?);
        Ok(())
    }

    /// What was made goes to the quarantine of the undo.
    fn put_away(&mut self, path: &Path, what: What, bytes: u64, sha256: &str) -> Result<()> {
        self.moved += 1;
        let name = format!("made-{}", self.moved);
        self.keep.push(Kept {
            path: path.to_path_buf(),
            what,
            offset: 0,
            bytes,
            sha256: sha256.to_owned(),
            stored_as: Some(name.clone()),
        });
        let to = kept_path(self.undo, &name);
        self.acts
            .push(Act::relocate(self.root(), path.to_path_buf(), to)?);
        Ok(())
    }

    /// A folder that was made must hold what was put in it and nothing else.
    fn exact_folder(&self, path: &Path, folders: &[PathBuf], files: &[NewFile]) -> Result<()> {
        let dir = match self.root().dir_at(path) {
            Ok(dir) => dir,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(self.conflict(path, "was taken away"));
            }
            Err(e) => return Err(failed("open", path, e)),
        };
        let mut wanted: BTreeMap<PathBuf, Option<&NewFile>> = BTreeMap::new();
        for folder in folders {
            wanted.insert(folder.clone(), None);
        }
        for file in files {
            for above in file.path.ancestors().skip(1) {
                if !above.as_os_str().is_empty() {
                    wanted.entry(above.to_path_buf()).or_insert(None);
                }
            }
            wanted.insert(file.path.clone(), Some(file));
        }
        let mut todo = vec![(dir, PathBuf::new())];
        while let Some((dir, at)) = todo.pop() {
            for entry in look(path, dir.entries())? {
                let inner = at.join(&entry.name);
                let place = path.join(&inner);
                match (wanted.remove(&inner), entry.kind) {
                    (Some(None), EntryKind::Dir) => {
                        todo.push((look(&place, dir.dir(&entry.name))?, inner));
                    }
                    (Some(Some(file)), EntryKind::File) => {
                        if !self.is_whole(&place, file.bytes, &file.sha256)? {
                            return Err(self.conflict(&place, "changed"));
                        }
                    }
                    _ => return Err(self.conflict(&place, "came")),
                }
            }
        }
        match wanted.keys().next() {
            Some(missing) => Err(self.conflict(&path.join(missing), "was taken away")),
            None => Ok(()),
        }
    }

    fn append(&mut self, path: &Path, offset: u64, bytes: u64, digest: &str) -> Result<()> {
        let exact = self.len(path)? == Some(offset + bytes)
            && part_digest(self.root(), path, offset, bytes)? == digest;
        if !exact {
            return Err(self.conflict(path, "changed"));
        }
        self.keep
            .push(Kept::part(self.root(), path, What::Bytes, offset, bytes)?);
        // A torn tail that was cut on the way comes back too.
        let tail = self
            .kept
            .iter()
            .find(|item| item.what == What::Tail && item.path == path && item.offset == offset);
        let act = match tail.and_then(|item| Some((item, item.stored_at?))) {
            Some((item, at)) => {
                self.check(item, at)?;
                let with = With::Kept {
                    operation: self.intent().operation_id,
                    at,
                    bytes: item.length,
                };
                let edit = Splice {
                    offset,
                    length: bytes,
                    with: vec![with],
                };
                Act::rewrite(self.root(), path.to_path_buf(), vec![edit])?
            }
            None => Act::cut(self.root(), path.to_path_buf(), offset, bytes)?,
        };
        self.acts.push(act);
        Ok(())
    }

    /// Where bytes that the operation took out of a file are kept.
    fn kept(&self, path: &Path, offset: u64, length: u64) -> Result<With> {
        let item = self.kept.iter().find(|item| {
            item.path == path
                && item.stored_at.is_some()
                && item.offset <= offset
                && item.offset + item.length >= offset + length
        });
        let Some((item, at)) = item.and_then(|item| Some((item, item.stored_at?))) else {
            return Err(self.gone());
        };
        self.check(item, at)?;
        Ok(With::Kept {
            operation: self.intent().operation_id,
            at: at + (offset - item.offset),
            bytes: length,
        })
    }

    /// What is in quarantine must be what was put there.
    fn check(&self, item: &Item, at: u64) -> Result<()> {
        let path = kept_path(self.intent().operation_id, &item.place().0);
        match part_digest(self.root(), &path, at, item.length) {
            Ok(digest) if digest == item.sha256 => Ok(()),
            Ok(_) => Err(self.gone()),
            Err(e) => Err(self.gone().caused_by(e)),
        }
    }

    fn rewrite(&mut self, rewrite: &Rewrite) -> Result<()> {
        let path = &rewrite.path;
        if !self.is_whole(path, rewrite.bytes_after, &rewrite.after)? {
            return Err(self.conflict(path, "changed"));
        }
        let mut edits = Vec::new();
        let (mut grown, mut shrunk) = (0, 0);
        for edit in &rewrite.edits {
            let offset = edit.offset + grown - shrunk;
            let with = match edit.length {
                0 => Vec::new(),
                length => vec![self.kept(path, edit.offset, length)?],
            };
            if edit.comes() > 0 {
                let part = Kept::part(self.root(), path, What::Bytes, offset, edit.comes())?;
                self.keep.push(part);
            }
            edits.push(Splice {
                offset,
                length: edit.comes(),
                with,
            });
            grown += edit.comes();
            shrunk += edit.length;
        }
        self.bring_back(path, edits, rewrite.bytes_before, &rewrite.before)
    }

    /// Writes a file anew, if that makes exactly what it was.
    fn bring_back(
        &mut self,
        path: &Path,
        edits: Vec<Splice>,
        bytes: u64,
        sha256: &str,
    ) -> Result<()> {
        let back = Rewrite::of(self.root(), path.to_path_buf(), edits).map_err(|e| {
            // What can not be read out of the quarantine is not there.
            if e.code == Code::IoFailed {
                self.gone().caused_by(e)
            } else {
                e
            }
        })?;
        if (back.bytes_after, back.after.as_str()) != (bytes, sha256) {
            return Err(self.gone());
        }
        self.acts.push(Act {
            effect: Effect::Rewrite(back),
            content: Vec::new(),
        });
        Ok(())
    }

    fn cut(&mut self, cut: &Cut) -> Result<()> {
        if self.len(&cut.path)? != Some(cut.to) {
            return Err(self.conflict(&cut.path, "changed"));
        }
        let edit = Splice {
            offset: cut.to,
            length: 0,
            with: vec![self.kept(&cut.path, cut.to, cut.bytes)?],
        };
        let back = Rewrite::of(self.root(), cut.path.clone(), vec![edit])
            .map_err(|e| self.gone().caused_by(e))?;
        self.acts.push(Act {
            effect: Effect::Rewrite(back),
            content: Vec::new(),
        });
        Ok(())
    }

    /// What was moved goes back to its place.
    fn back(&mut self, other: &Move) -> Result<()> {
        let kept = other.to.starts_with(Paths::quarantine());
        if !look(&other.to, other.is(self.root(), &other.to))? {
            return Err(if kept {
                self.gone()
            } else {
                self.conflict(&other.to, "changed")
            });
        }
        if View::plain(self.store).exists(&other.from)? {
            return Err(self.conflict(&other.from, "came"));
        }
        if kept {
            let act = Act::relocate(self.root(), other.to.clone(), other.from.clone())?;
            self.acts.push(act);
            return Ok(());
        }
        // It was brought back by an undo; now it goes to the quarantine of this one.
        let (bytes, sha256) = match other.what {
            What::Folder => (0, String::new()),
            _ => (other.bytes, other.sha256.clone()),
        };
        self.put_away(&other.to, other.what, bytes, &sha256)
    }

    /// Refuses if something was built on a Segment that would go.
    fn built_on(&self, effects: &[Effect]) -> Result<()> {
        let mut gone: Vec<(WorkerId, SegmentId)> = Vec::new();
        for effect in effects {
            match effect {
                Effect::File { path, .. } => gone.extend(segment_of(path)),
                Effect::Folder { path, files, .. } => {
                    gone.extend(files.iter().filter_map(|f| segment_of(&path.join(&f.path))));
                }
                Effect::Move(other) if !other.to.starts_with(Paths::quarantine()) => {
                    gone.extend(segment_of(&other.to));
                }
                _ => {}
            }
        }
        let reverts = |path: &Path| {
            effects
                .iter()
                .any(|e| matches!(e, Effect::Document { path: p, .. } if p.as_path() == path))
        };
        for (worker, segment) in gone {
            let metadata = Paths::metadata(worker);
            let active = View::plain(self.store)
                .metadata(worker)?
                .and_then(|(_, m)| m.active.as_ref().and_then(Active::segment));
            if active == Some(segment) && !reverts(&metadata) {
                return Err(self.conflict(&metadata, "came to point at its Segment"));
            }
            let trace = Paths::trace(worker, segment);
            if View::plain(self.store).exists(&trace)? {
                return Err(self.conflict(&trace, "came"));
            }
            if let Some(child) = self.child_of(worker, segment)? {
                return Err(self.conflict(&Paths::segment(worker, child), "was made from it"));
            }
        }
        Ok(())
    }

    /// A Segment whose first record says that it comes from another.
    fn child_of(&self, worker: WorkerId, source: SegmentId) -> Result<Option<SegmentId>> {
        let path = Paths::segments(worker);
        let dir = match self.root().dir_at(&path) {
            Ok(dir) => dir,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed("open", &path, e)),
        };
        for entry in look(&path, dir.entries())? {
            let Some(SegmentEntry::Segment(id)) = entry.name.to_str().map(classify_segment) else {
                continue;
            };
            if id == source || entry.kind != EntryKind::File {
                continue;
            }
            let opened = look(&path, dir.file(&entry.name))?;
            let len = look(&path, stat_of(&opened))?.len;
            let mut child = false;
            let scanned =
                Scanner::new(Limits::default()).scan(&opened, len, Format::Segment, |line| {
                    match &line.verdict {
                        Verdict::Record(facts) if facts.session.is_some() => {
                            let origins = [facts.forked, facts.compacted];
                            child = origins.iter().flatten().any(|o| o.segment == source);
                            ControlFlow::Break(())
                        }
                        _ => ControlFlow::Continue(()),
                    }
                });
            look(&path, scanned)?;
            if child {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Refuses what would pull the ground from under a live run (C13).
    fn live(&self, scope: Scope) -> Result<()> {
        match scope {
            Scope::Catalog => match any_live_run(self.store)? {
                Some((id, generation)) => Err(runtime_live(id, generation)),
                None => Ok(()),
            },
            Scope::Worker(id) => {
                let Some(generation) = live_run(self.store, id)? else {
                    return Ok(());
                };
                let active = View::plain(self.store)
                    .metadata(id)?
                    .and_then(|(_, m)| m.active.as_ref().and_then(Active::segment));
                let stands_on = |path: &Path| match segment_of(path) {
                    Some((_, segment)) => active.is_none_or(|active| active == segment),
                    None => !path.starts_with(file::WAGG),
                };
                let touched = self
                    .acts
                    .iter()
                    .flat_map(|act| act.effect.touches())
                    .any(stands_on);
                if touched {
                    Err(worker_live(id, generation))
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// The Segment, or the Segment of the trace, that a path is the file of.
fn segment_of(path: &Path) -> Option<(WorkerId, SegmentId)> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let [workers, worker, session, segments, name] = parts.as_slice() else {
        return None;
    };
    if (*workers, *session, *segments) != (file::WORKERS, file::SESSION_DIR, file::SEGMENTS) {
        return None;
    }
    match classify_segment(name) {
        SegmentEntry::Segment(id) | SegmentEntry::Trace(id) => Some((worker.parse().ok()?, id)),
        _ => None,
    }
}
