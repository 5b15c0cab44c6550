//! Documents that can be written again because everything else says what stood in them: a
//! `session.json` that is missing or empty, a sequence or a generation that is behind.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Item, Options, ShownEdit, State, Work, bytes, manual};
use crate::diag::{Code, Finding, RepairClass, Result};
use crate::layout::{Paths, SessionId, WorkerId, file};
use crate::ops::change::{View, edit, sha256};
use crate::record::document::Active;
use crate::record::{Format, Limits, Scanner, Verdict};
use crate::store::fs::{failed, stat_of};
use crate::store::{Document, Store, WorkerFolder, WorkerState};

/// An item that writes a document, with the work for it.
fn written(
    finding: Finding,
    options: &Options,
    action: String,
    path: PathBuf,
    before: Option<&[u8]>,
    after: String,
) -> (Item, Option<Work>) {
    let mut item = Item::of(finding, RepairClass::Automatic, action);
    if options.does(RepairClass::Automatic) {
        item.state = State::Planned;
    }
    let old = before.map(String::from_utf8_lossy).unwrap_or_default();
    item.edits.push(changed_part(&old, &after));
    let work = Work::Document {
        path,
        before: before.map(sha256),
        after,
    };
    (item, Some(work))
}

/// The part in which two texts differ.
fn changed_part(old: &str, new: &str) -> ShownEdit {
    let head = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let most = old.len().min(new.len()) - head;
    let foot = old
        .bytes()
        .rev()
        .zip(new.bytes().rev())
        .take(most)
        .take_while(|(a, b)| a == b)
        .count();
    let part = |text: &str| {
        String::from_utf8_lossy(&text.as_bytes()[head..text.len() - foot]).into_owned()
    };
    ShownEdit {
        offset: head as u64,
        length: (old.len() - foot - head) as u64,
        before: bytes::show_text(&part(old)),
        after: bytes::show_text(&part(new)),
    }
}

fn left(finding: Finding, store: &Store, why: &str) -> (Item, Option<Work>) {
    let mut item = manual::item(finding, Some(store));
    item.action = format!("nothing is changed: {why}. {}", item.action);
    (item, None)
}

/// The next Worker id goes above the highest that there is.
pub(super) fn sequence(
    store: &Store,
    options: &Options,
    finding: Finding,
) -> Result<(Item, Option<Work>)> {
    let mut highest = 0;
    for folder in store.worker_folders()? {
        let document = store.worker_dir(&folder.name)?.and_then(|dir| {
            let worker = crate::store::read_document(
                &dir,
                file::WORKER,
                crate::record::document::WorkerDocument::read,
            );
            worker.good().and_then(|d| d.worker_id())
        });
        if let Some(WorkerId::Number(n)) = document.or(folder.id) {
            highest = highest.max(n);
        }
    }
    let Some(next) = highest.checked_add(1) else {
        return Ok(left(
            finding,
            store,
            "there is no number above the highest id",
        ));
    };
    let path = Paths::runtime();
    let view = View::plain(store);
    let Some(before) = view.document(&path)? else {
        return Ok(left(finding, store, "runtime.json is not there"));
    };
    let after = match edit::set(&before, "next_worker_sequence", Value::from(next)) {
        Ok(after) => text(after),
        Err(e) => return Ok(left(finding, store, &e.message)),
    };
    let action = format!("raise next_worker_sequence to {next}; the old document is kept");
    Ok(written(
        finding,
        options,
        action,
        path,
        Some(&before),
        after,
    ))
}

fn text(bytes: Vec<u8>) -> String {
    // It was parsed as JSON, so it is UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// The generation of `worker.json` becomes that of the highest run folder.
pub(super) fn generation(
    store: &Store,
    options: &Options,
    folder: &Path,
    finding: Finding,
) -> Result<(Item, Option<Work>)> {
    let Some(highest) = finding.subject.generation else {
        return Ok((manual::item(finding, Some(store)), None));
    };
    let path = folder.join(file::WORKER);
    let view = View::plain(store);
    let Some(before) = view.document(&path)? else {
        return Ok(left(finding, store, "worker.json is not there"));
    };
    let after = match edit::set(&before, "run_generation", Value::from(highest.get())) {
        Ok(after) => text(after),
        Err(e) => return Ok(left(finding, store, &e.message)),
    };
    let action = format!("raise run_generation to {highest}; the old document is kept");
    Ok(written(
        finding,
        options,
        action,
        path,
        Some(&before),
        after,
    ))
}

/// `session.json` is written where everything else agrees on the id.
pub(super) fn session(
    store: &Store,
    options: &Options,
    folder: &WorkerFolder,
    finding: Finding,
) -> Result<(Item, Option<Work>)> {
    let path = Paths::workers()
        .join(&folder.name)
        .join(file::SESSION_DIR)
        .join(file::SESSION);
    let Some(dir) = store.worker_dir(&folder.name)? else {
        return Ok(left(finding, store, "the Worker is gone by now"));
    };
    let state = WorkerState::read(folder.clone(), dir).map_err(|e| failed("read", &path, e))?;
    let mut said: BTreeSet<SessionId> = BTreeSet::new();
    match &state.metadata {
        Document::Good(metadata) => {
            said.extend(metadata.active.as_ref().and_then(Active::session));
        }
        Document::Missing => {}
        _ => {
            return Ok(left(
                finding,
                store,
                "metadata.json can not be read, so nobody knows whether it agrees",
            ));
        }
    }
    let mut segments = 0;
    if let Some(found) = state.segments() {
        for id in found.segments().collect::<Vec<_>>() {
            let session = found
                .dir
                .file(Paths::segment_name(id))
                .and_then(|file| named_session(&file))
                .map_err(|e| failed("read", &found.dir.path_of(Paths::segment_name(id)), e))?;
            if let Some(session) = session {
                said.insert(session);
                segments += 1;
            }
        }
    }
    let mut said = said.into_iter();
    let (Some(id), None) = (said.next(), said.next()) else {
        return Ok(left(
            finding,
            store,
            "metadata.json and the first records of the Segments do not name one Session",
        ));
    };
    if let Some(other) = other_owner(store, folder, id)? {
        return Ok(left(
            finding,
            store,
            &format!(
                "Session {id} is that of {} too",
                Paths::workers().join(&other.name).display()
            ),
        ));
    }
    let before = View::plain(store).document(&path)?;
    if before.as_ref().is_some_and(|bytes| !bytes.is_empty()) {
        return Ok(left(finding, store, "the document is there by now"));
    }
    let mut map = Map::new();
    map.insert("schema_version".to_owned(), 1.into());
    map.insert("session_id".to_owned(), id.to_string().into());
    let after = text(edit::render(&map, true)?);
    let who = match (segments, state.metadata.good().is_some()) {
        (0, _) => "metadata.json names it".to_owned(),
        (n, true) => format!(
            "metadata.json and {} agree on it",
            crate::diag::plural(n, "Segment", "Segments")
        ),
        (n, false) => format!(
            "{} agree on it",
            crate::diag::plural(n, "Segment", "Segments")
        ),
    };
    let kept = if before.is_some() {
        "; the empty document is kept"
    } else {
        ""
    };
    let action = format!("write session.json with Session {id}: {who}{kept}");
    Ok(written(
        finding,
        options,
        action,
        path,
        before.as_deref(),
        after,
    ))
}

/// The Session that the first `segment_start` of a Segment names.
fn named_session(file: &std::fs::File) -> std::io::Result<Option<SessionId>> {
    let len = stat_of(file)?.len;
    let mut session = None;
    Scanner::new(Limits::default()).scan(file, len, Format::Segment, |line| {
        if let Verdict::Record(facts) = &line.verdict {
            session = facts.session;
        }
        if session.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(session)
}

/// Another Worker that has this Session.
fn other_owner(store: &Store, but: &WorkerFolder, id: SessionId) -> Result<Option<WorkerFolder>> {
    for folder in store.worker_folders()? {
        if folder.name == but.name {
            continue;
        }
        let Some(dir) = store.worker_dir(&folder.name)? else {
            continue;
        };
        let session = dir.dir(file::SESSION_DIR).map(|dir| {
            crate::store::read_document(
                &dir,
                file::SESSION,
                crate::record::document::SessionDocument::read,
            )
        });
        if let Ok(document) = session
            && document.good().and_then(|d| d.session()) == Some(id)
        {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Whether a finding is about a `session.json` that may be written again.
pub(super) fn is_session(finding: &Finding) -> bool {
    finding.code == Code::MissingSessionDocument
        || (finding.code == Code::EmptyDocument
            && finding
                .locus
                .path
                .ends_with(Path::new(file::SESSION_DIR).join(file::SESSION)))
}
