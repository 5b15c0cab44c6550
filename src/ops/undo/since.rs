//! What came after an operation: a later undo of it, who changed what it left, what was built on
//! it, and a run that stands on it.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::Did;
use super::turn::{Turn, look};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::{Paths, SegmentEntry, SegmentId, WorkerId, classify_segment, file};
use crate::ops::change::aside::part_digest;
use crate::ops::change::{
    Effect, Scope, View, any_live_run, live_run, runtime_live, sha256, worker_live,
};
use crate::record::document::Active;
use crate::record::{Format, Limits, Scanner, Verdict};
use crate::store::EntryKind;
use crate::store::fs::{failed, stat_of};
use crate::store::journal::{Operation, Outcome, operations};

impl Turn<'_> {
    /// Whether a later undo of this very operation put everything back already.
    pub fn is_undone(&self, effects: &[Effect]) -> Result<bool> {
        let mut undone = false;
        for later in self.later()? {
            let later = later?;
            if undoes(&later).is_some_and(|id| id == self.intent().operation_id.to_string()) {
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
    pub fn conflict(&self, path: &Path, what: &str) -> Error {
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
        // One that was undone later, and that undo, left nothing: neither is in the way.
        let mut undone = BTreeSet::new();
        let mut in_force: Vec<Operation> = Vec::new();
        for later in self.later().into_iter().flatten().filter_map(Result::ok) {
            if undone.remove(&later.intent.operation_id.to_string()) {
                continue;
            }
            if let Some(target) = undoes(&later) {
                undone.insert(target);
            }
            in_force.push(later);
        }
        in_force.retain(|later| match undoes(later) {
            // What is still in the set is older than the operation, or is that itself.
            Some(target) => undone.contains(&target),
            None => true,
        });
        let by = in_force.into_iter().find(touches);
        let (by, hint) = match by {
            Some(later) => (
                format!(
                    "by operation {} ({})",
                    later.intent.operation_id, later.intent.command
                ),
                format!("wagg op undo {}", later.intent.operation_id),
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

    /// Refuses if something was built on a Segment that would go.
    pub fn built_on(&self, effects: &[Effect]) -> Result<()> {
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
    pub fn live(&self, scope: Scope) -> Result<()> {
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

/// The operation that another one undid.
fn undoes(operation: &Operation) -> Option<String> {
    let done = operation
        .ending
        .as_ref()
        .is_some_and(|e| e.outcome == Outcome::Done);
    let target = operation.intent.args.get("operation_id")?.as_str()?;
    (done && operation.intent.command == "op undo").then(|| target.to_owned())
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
