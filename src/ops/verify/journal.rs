//! Our own folder: operations without an outcome, damage of the journal, what was left in staging.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::Found;
use super::names::{self, Expect};
use super::segment::{SHORTER, committed_length, unreadable};
use crate::diag::{Code, Error, Finding, Locus, Subject, plural};
use crate::layout::{OperationId, Paths, WorkerId, file};
use crate::record::Source;
use crate::store::fs::stat_of;
use crate::store::journal::{Intent, Scope, operations};
use crate::store::{Dir, EntryKind, Folder, Held, Store, lock_states, read_folder};

/// What our own folder holds, beside what stands in a folder of its own.
fn expected(name: &str) -> Option<Expect> {
    match name {
        "store.lock" | "journal.lock" | "journal.index" | file::JOURNAL => Some(Expect::File),
        "workers" | "staging" | "quarantine" | "migrations" => Some(Expect::Folder),
        _ => None,
    }
}

/// Operations that had no outcome when the look at the store began. Most of them are at work just
/// now: only those that still have none at its end are worth a word.
pub(super) fn open_operations(store: &Store) -> BTreeSet<OperationId> {
    read(store.dir()).map_or_else(
        |_| BTreeSet::new(),
        |(open, _)| open.into_iter().map(|intent| intent.operation_id).collect(),
    )
}

/// Whether the store itself is still being made: an `init` that was killed. What is missing then
/// has that as its one cause.
pub(super) fn is_being_made(store: &Store) -> bool {
    read(store.dir()).is_ok_and(|(open, _)| open.iter().any(|intent| intent.command == "init"))
}

/// The intents without an outcome, and where lines begin that could not be read.
fn read(root: &Dir) -> Result<(Vec<Intent>, Vec<u64>), Error> {
    let mut all = operations(root)?;
    let mut open = Vec::new();
    for operation in &mut all {
        let operation = operation?;
        if operation.ending.is_none() {
            open.push(operation.intent);
        }
    }
    Ok((open, all.damaged().to_vec()))
}

/// Adds operations that are unsettled, those of these Workers only if some were named.
pub(super) fn check_operations(
    store: &Store,
    before: &BTreeSet<OperationId>,
    workers: &[WorkerId],
    found: &mut Found,
) {
    // One whose lock is held is at work, or is settled by who holds it. What a holder wrote into a
    // lock file decides nothing.
    // Asked for before the journal is read, and only where it matters: the kernel's table of locks
    // takes milliseconds to read.
    let held = if before.is_empty() {
        Vec::new()
    } else {
        lock_states(store.dir()).unwrap_or_default()
    };
    let at_work = |intent: &Intent| {
        let lock = match (intent.scope, intent.worker_id) {
            (Scope::Worker, Some(id)) => Paths::worker_lock(id),
            _ => Paths::store_lock(),
        };
        held.iter()
            .any(|state| state.path == lock && state.held == Held::Exclusive && state.sure)
    };
    let wanted = |intent: &Intent| {
        before.contains(&intent.operation_id)
            && !at_work(intent)
            && (workers.is_empty() || intent.worker_id.is_some_and(|id| workers.contains(&id)))
    };
    let (open, damaged) = match read(store.dir()) {
        Ok(read) => read,
        // A look at the whole store said so where it looked at the folder.
        Err(_) if workers.is_empty() => return,
        Err(e) => {
            let reason = e.source.map_or(e.message, |source| source.to_string());
            found.not_looked_at(Paths::journal(), format!("it can not be read: {reason}"));
            return;
        }
    };
    for intent in open.iter().rev().filter(|intent| wanted(intent)) {
        found.findings.push(
            Finding::new(
                Code::UnsettledOperation,
                Subject {
                    worker_id: intent.worker_id,
                    generation: intent.generation,
                    ..Subject::default()
                },
                Locus::file(Paths::journal()),
                format!(
                    "operation {} ({}) of {} began at {} and has no outcome; it is settled before the next change",
                    intent.operation_id, intent.command, intent.actor, intent.ts
                ),
            )
            .with_hint(format!("wagg op show {}", intent.operation_id)),
        );
    }
    if workers.is_empty() {
        for at in damaged.into_iter().rev() {
            found.findings.push(
                Finding::new(
                    Code::CorruptRecord,
                    Subject::default(),
                    place(store.dir(), at),
                    "a line of the journal that can not be read: what it says of an operation is not known",
                )
                .with_hint("wagg explain corrupt_record"),
            );
        }
    }
}

/// A place in the journal, with its line.
fn place(root: &Dir, at: u64) -> Locus {
    let path = Paths::journal();
    let lines = || -> std::io::Result<u64> {
        let journal = root.dir(file::WAGG)?.file(file::JOURNAL)?;
        let (mut buf, mut seen, mut lines) = (vec![0; 64 * 1024], 0, 1);
        while seen < at {
            let room = usize::try_from(at - seen)
                .unwrap_or(buf.len())
                .min(buf.len());
            match Source::read_at(&journal, &mut buf[..room], seen)? {
                0 => break,
                n => {
                    lines += memchr::memchr_iter(b'\n', &buf[..n]).count() as u64;
                    seen += n as u64;
                }
            }
        }
        Ok(lines)
    };
    match lines() {
        Ok(line) => Locus::at(path, line, at),
        Err(_) => Locus::file(path),
    }
}

/// Adds what is wrong with the names and the end of the journal.
pub(super) fn check_folder(store: &Store, found: &mut Found) {
    let subject = Subject::default();
    let opened = read_folder(store.dir(), file::WAGG, |dir| Ok((dir.entries()?, dir)));
    let (entries, dir) = match opened {
        Folder::Read(opened) => opened,
        Folder::Missing | Folder::NotAFolder(_) => return,
        Folder::Unreadable(e) => {
            unreadable(Path::new(file::WAGG), subject, &e, found);
            return;
        }
    };
    names::check(&dir, &entries, subject, expected, found);
    let staging = read_folder(&dir, "staging", |dir| Ok((dir.entries()?, dir)));
    match staging {
        Folder::Read((entries, dir)) => {
            for entry in entries {
                found.findings.push(Finding::new(
                    Code::LeftoverStaging,
                    subject,
                    Locus::file(dir.path_of(&entry.name)),
                    "an operation filled it and did not move it into place, or is at work just now",
                ));
            }
        }
        Folder::Missing | Folder::NotAFolder(_) => {}
        Folder::Unreadable(e) => unreadable(&dir.path_of("staging"), subject, &e, found),
    }
    if entries
        .iter()
        .any(|e| e.name == *file::JOURNAL && e.kind == EntryKind::File)
    {
        tail(&dir, found);
    }
}

fn tail(dir: &Dir, found: &mut Found) {
    let path = dir.path_of(file::JOURNAL);
    let measure = || {
        let journal = dir.file(file::JOURNAL)?;
        let len = stat_of(&journal)?.len;
        Ok((committed_length(&journal, len)?, len))
    };
    let shorter = |e: &io::Error| e.kind() == io::ErrorKind::UnexpectedEof;
    // A change cuts off what is torn when it begins.
    let measured = match measure() {
        Err(e) if shorter(&e) => measure(),
        done => done,
    };
    match measured {
        Err(e) if shorter(&e) => found.not_looked_at(path, SHORTER),
        Ok((committed, len)) if committed < len => found.findings.push(
            Finding::new(
                Code::TornTail,
                Subject::default(),
                Locus {
                    byte: Some(committed),
                    length: Some(len - committed),
                    ..Locus::file(path)
                },
                format!(
                    "{} without a newline at the end of the journal: a line that was never committed; the next change cuts it off",
                    plural(len - committed, "byte", "bytes")
                ),
            )
            .with_hint("wagg repair --only torn_tail"),
        ),
        Ok(_) => {}
        Err(e) => unreadable(&path, Subject::default(), &e, found),
    }
}
