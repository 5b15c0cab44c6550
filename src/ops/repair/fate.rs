//! How a work of a plan stands to the store as it is now: still to be done, done already, or
//! overtaken by something else.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::pairs::OPERATION;
use super::{Plan, Planned, Refusal, Work, bytes};
use crate::diag::{Code, Result};
use crate::layout::{OperationId, Paths};
use crate::ops::change::aside::part_digest;
use crate::ops::change::{View, sha256};
use crate::record::{Edit, Edited, Rope, Source};
use crate::store::fs::stat_of;
use crate::store::journal::unsettled;
use crate::store::{Dir, EntryKind, Store};

/// What becomes of a work.
pub(super) enum Fate {
    /// It is to be done.
    Do,
    /// It was done by this very repair when it took the lock.
    Settled,
    /// It was so before.
    Already,
    /// Something else stands in the way.
    No(Refusal),
}

/// What whoever takes a lock does at once, as it stood before this repair took one.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    unsettled: BTreeSet<OperationId>,
    torn_journal: bool,
}

impl Before {
    /// Looks at the journal, if one of the works is about it.
    pub fn look<'w>(store: &Store, works: impl Iterator<Item = &'w Work>) -> Self {
        let mut before = Self::default();
        let mut settles = false;
        for work in works {
            match work {
                Work::Settle { .. } => settles = true,
                Work::JournalTail { .. } => before.torn_journal = is_torn(store),
                _ => {}
            }
        }
        if settles {
            // What can not be read there stops the change itself.
            let open = unsettled(store.dir()).unwrap_or_default();
            before.unsettled = open.into_iter().map(|i| i.operation_id).collect();
        }
        before
    }
}

fn is_torn(store: &Store) -> bool {
    let Ok(journal) = open(store.dir(), &Paths::journal()) else {
        return false;
    };
    let mut last = [0];
    stat_of(&journal)
        .ok()
        .and_then(|stat| stat.len.checked_sub(1))
        .is_some_and(|at| journal.read_at(&mut last, at).is_ok() && last != *b"\n")
}

/// How a work stands to the plan as it is now.
pub(super) fn fate(store: &Store, wanted: &Planned, now: &Plan, before: &Before) -> Result<Fate> {
    let found = now.works.iter().position(|p| p.work == wanted.work);
    if let Some(index) = found {
        let refusal = now
            .items
            .iter()
            .filter(|item| item.work == Some(index))
            .find_map(|item| item.refusal.clone());
        return Ok(refusal.map_or(Fate::Do, Fate::No));
    }
    let moved = |path: &Path, message: &str| {
        let path_now = match kind(store.dir(), path) {
            None => "it is gone".to_owned(),
            Some(EntryKind::File) => message.to_owned(),
            Some(kind)
                if matches!(wanted.work, Work::Leftover { sha256: None, .. })
                    && kind == EntryKind::Dir =>
            {
                message.to_owned()
            }
            Some(kind) => format!("it is {} by now", kind.noun()),
        };
        Fate::No(Refusal::new(
            Code::Fenced,
            format!("{}: {path_now}", path.display()),
        ))
    };
    let settled = |by_us: bool| if by_us { Fate::Settled } else { Fate::Already };
    Ok(match &wanted.work {
        // Whoever takes the lock settles first, and cuts what tore.
        Work::Settle { operation } => settled(before.unsettled.contains(operation)),
        Work::JournalTail { .. } => settled(before.torn_journal),
        Work::Leftover { path, .. } => {
            if View::plain(store).exists(path)? {
                moved(path, "it changed since the plan was made")
            } else {
                Fate::Already
            }
        }
        Work::Lines {
            path,
            bytes,
            sha256,
            edits,
            after,
            ..
        } => {
            let same = length(store.dir(), path).is_some_and(|len| len >= *bytes)
                && part_digest(store.dir(), path, 0, *bytes).is_ok_and(|d| d == *sha256);
            if same && length(store.dir(), path) == Some(*bytes) {
                moved(
                    path,
                    "what else stands in the store changed since, so the plan is another by now",
                )
            } else if !same && !is_planned(now, path) && is_after(store, path, *bytes, edits, after)
            {
                Fate::Already
            } else {
                moved(
                    path,
                    "the file changed since the plan was made: its digest is another",
                )
            }
        }
        Work::Document { path, after, .. } => {
            let is = match kind(store.dir(), path) {
                Some(EntryKind::File) => View::plain(store).document(path)?,
                _ => None,
            };
            if is.is_some_and(|is| sha256(&is) == sha256(after.as_bytes())) {
                Fate::Already
            } else {
                moved(
                    path,
                    "the document, or what it was to agree with, changed since the plan was made",
                )
            }
        }
    })
}

/// Whether something is to be done to the lines of a file.
fn is_planned(now: &Plan, file: &Path) -> bool {
    now.works.iter().any(|planned| match &planned.work {
        Work::Lines { path, .. } => path == file,
        _ => false,
    })
}

/// Whether a file begins with what edits make of it. What was appended since does not count.
fn is_after(store: &Store, path: &Path, bytes: u64, edits: &[Edit], after: &str) -> bool {
    let look = || -> io::Result<bool> {
        let file = open(store.dir(), path)?;
        let rope = Rope::edited(bytes, edits);
        if stat_of(&file)?.len < rope.len() {
            return Ok(false);
        }
        // The id of the operation that did it is not known: it counts as the word in its place.
        let word = OPERATION.len() as u64;
        let words: Vec<Edit> = named(edits)
            .into_iter()
            .map(|place| Edit {
                offset: place.start,
                length: word,
                with: OPERATION.to_owned(),
            })
            .collect();
        let back = Rope::edited(rope.len(), &words);
        let digest = bytes::sha256(&Edited::new(&file, &back), &(0..back.len()))?;
        Ok(digest == after)
    };
    look().unwrap_or(false)
}

/// Where in the new file the operation's id stands.
fn named(edits: &[Edit]) -> Vec<Range<u64>> {
    let word = OPERATION.len() as u64;
    let mut places = Vec::new();
    let (mut added, mut gone) = (0, 0);
    for edit in edits {
        let start = (edit.offset + added).saturating_sub(gone);
        for (at, _) in edit.with.match_indices(OPERATION) {
            let at = start + at as u64;
            places.push(at..at + word);
        }
        added += edit.with.len() as u64;
        gone += edit.length;
    }
    places
}

fn open(root: &Dir, path: &Path) -> io::Result<std::fs::File> {
    root.dir_at(path.parent().unwrap_or(Path::new("")))?
        .file(path.file_name().unwrap_or_default())
}

/// What stands at a path.
fn kind(root: &Dir, path: &Path) -> Option<EntryKind> {
    let dir = root.dir_at(path.parent().unwrap_or(Path::new(""))).ok()?;
    let stat = dir.try_stat(path.file_name().unwrap_or_default()).ok()??;
    Some(stat.kind)
}

fn length(root: &Dir, path: &Path) -> Option<u64> {
    stat_of(&open(root, path).ok()?).ok().map(|stat| stat.len)
}
