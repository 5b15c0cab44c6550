//! One Worker: its documents, its Session and Segments, its runs.

mod session;

use std::io;
use std::path::PathBuf;

use super::cross::{Census, Named, NamedAs};
use super::lineage;
use super::names::{self, Expect};
use super::segment::unreadable;
use super::{Found, Run, documents, runs};
use crate::diag::{Code, Finding, Locus, Severity, Subject};
use crate::layout::{SegmentEntry, SegmentId, WorkerName, WorkerNameError, classify_segment, file};
use crate::record::Scanner;
use crate::record::document::MetadataDocument;
use crate::store::{Dir, Folder, Store, WorkerFolder, WorkerState};

/// What a Worker came to.
pub(super) struct Checked<'a> {
    pub found: Found,
    pub census: Census<'a>,
    /// Its Segments.
    pub segments: Vec<SegmentId>,
}

impl Checked<'_> {
    /// The same Worker as if nobody had come to it. What is to be said of its files in a
    /// certificate is true all the same.
    pub fn not_looked_at(self, reason: &'static str) -> Self {
        let folder = self.census.folder;
        let mut found = Found {
            certified: self.found.certified,
            ..Found::default()
        };
        found.not_looked_at(folder.path(), reason);
        Self {
            found,
            census: Census::of(folder),
            segments: Vec::new(),
        }
    }
}

/// Codes that two documents of a Worker in the middle of a change can give.
fn may_be_a_moment(code: Code) -> bool {
    matches!(
        code,
        Code::ActiveMissingSegment
            | Code::ActiveOtherSession
            | Code::MissingSessionDocument
            | Code::SessionMismatch
            | Code::MissingWorkerDocument
            | Code::WorkerIdMismatch
            | Code::LineageMissingSource
            | Code::MissingMetadata
            | Code::GenerationBehind
            | Code::EmptyDocument
            | Code::CorruptDocument
    )
}

/// Verifies one Worker; once more if what it found may be the middle of a change (C12). `workers`
/// is the folder of that name, if it is open already.
pub(super) fn check<'a>(
    store: &Store,
    workers: Option<&Dir>,
    folder: &'a WorkerFolder,
    run: &Run<'_>,
    scanner: &mut Scanner,
) -> Checked<'a> {
    let mut once = |read| once(store, workers, folder, run, scanner, read);
    let first = once(WorkerState::read);
    let doubtful = |f: &Finding| f.severity != Severity::Info && may_be_a_moment(f.code);
    // A source that is not there becomes a finding only where all Workers are known.
    let moment = first.found.findings.iter().any(doubtful) || !first.census.foreign().is_empty();
    if moment && run.stop().is_none() {
        return once(WorkerState::read_settled);
    }
    first
}

type Read = fn(WorkerFolder, Dir) -> io::Result<WorkerState>;

fn once<'a>(
    store: &Store,
    workers: Option<&Dir>,
    folder: &'a WorkerFolder,
    run: &Run<'_>,
    scanner: &mut Scanner,
    read: Read,
) -> Checked<'a> {
    let mut found = Found::default();
    let subject = Subject {
        worker_id: folder.id,
        ..Subject::default()
    };
    let nothing = |found| Checked {
        found,
        census: Census::of(folder),
        segments: Vec::new(),
    };
    if let Some(reason) = run.stop() {
        found.not_looked_at(folder.path(), reason);
        return nothing(found);
    }
    let opened = match workers {
        Some(workers) => Store::worker_dir_in(workers, &folder.name),
        None => store.worker_dir(&folder.name),
    };
    let state = match opened {
        Ok(Some(dir)) => read(folder.clone(), dir),
        Ok(None) => return nothing(found), // it went since the folder was listed
        Err(e) => {
            let e = match e.source {
                // As it is, so that what kind of error it is stays known.
                Some(source) => match source.downcast::<io::Error>() {
                    Ok(e) => *e,
                    Err(other) => io::Error::other(other),
                },
                None => io::Error::other("unknown"),
            };
            unreadable(&folder.path(), subject, &e, &mut found);
            return nothing(found);
        }
    };
    let state = match state {
        Ok(state) => state,
        Err(e) => {
            unreadable(&folder.path(), subject, &e, &mut found);
            return nothing(found);
        }
    };
    if !state.is_a_worker() {
        found.findings.push(Finding::new(
            Code::UnknownFolder,
            subject,
            Locus::file(folder.path()),
            "its name is no Worker id and it holds nothing of a Worker",
        ));
        return nothing(found);
    }
    found.summary.workers = 1;
    let mut census = Census::of(folder);
    census.looked_at = true;
    let mut one = Worker {
        state: &state,
        subject,
        run,
        found,
        census,
        segments: Vec::new(),
    };
    one.identity();
    names::check(
        &state.dir,
        &state.entries,
        subject,
        runs::expected,
        &mut one.found,
    );
    one.session(scanner);
    runs::check(&state, subject, &mut one.found);
    Checked {
        found: one.found,
        census: one.census,
        segments: one.segments,
    }
}

struct Worker<'a, 'f> {
    state: &'a WorkerState,
    subject: Subject,
    run: &'a Run<'a>,
    found: Found,
    census: Census<'f>,
    segments: Vec<SegmentId>,
}

impl<'a> Worker<'a, '_> {
    fn push(&mut self, finding: Finding) {
        self.found.findings.push(finding);
    }

    /// The path of something in the Worker's folder.
    fn path(&self, name: &str) -> PathBuf {
        self.state.folder.path().join(name)
    }

    fn doc(&self, name: &str) -> Locus {
        Locus::file(self.path(name))
    }

    /// Folder, `worker_id` and `worker_ref` must be one id.
    fn identity(&mut self) {
        let (state, subject) = (self.state, self.subject);
        let path = || state.folder.path().join(file::WORKER);
        if state.worker.is_missing() {
            self.push(
                Finding::new(
                    Code::MissingWorkerDocument,
                    subject,
                    Locus::file(state.folder.path()),
                    "the folder has no worker.json, so no Runtime loads this Worker; what else it holds is untouched",
                )
                .with_hint("wagg explain missing_worker_document"),
            );
            return;
        }
        let also = "a Runtime passes over this Worker; its Segments were looked at all the same";
        if !documents::check(&state.worker, path, subject, also, &mut self.found) {
            return;
        }
        let Some(document) = state.worker.good() else {
            return;
        };
        if document.schema_version != self.run.version.number() {
            self.push(
                Finding::new(
                    Code::UnsupportedSchemaVersion,
                    subject,
                    Locus::file(path()),
                    format!(
                        "worker.json is of version {} in a store of version {}: a Runtime passes over this Worker",
                        document.schema_version,
                        self.run.version.number()
                    ),
                )
                .with_hint("wagg explain unsupported_schema_version"),
            );
        }
        let (id, reference) = (document.worker_id(), document.worker_ref());
        self.census.document_id = id;
        if let Some(text) = document.noncanonical_id() {
            self.push(documents::noncanonical(&text, path(), subject));
        }
        let wrong_folder = id.is_some() && id != state.folder.id;
        let wrong_reference = id != reference;
        if wrong_folder || wrong_reference {
            let says = id.map_or_else(String::new, |id| id.to_string());
            let mut parts = Vec::new();
            if wrong_folder {
                let stem = state.folder.name.to_string_lossy();
                parts.push(format!("the folder is {stem:?} and worker_id is {says}"));
            }
            if wrong_reference {
                let reference = reference.map_or_else(|| "none".to_owned(), |r| r.to_string());
                parts.push(format!(
                    "worker_id is {says} and worker_ref says {reference}"
                ));
            }
            self.push(
                Finding::new(
                    Code::WorkerIdMismatch,
                    subject,
                    Locus::file(path()),
                    format!(
                        "{}; which one is right can not be told from here",
                        parts.join("; ")
                    ),
                )
                .with_hint("wagg explain worker_id_mismatch"),
            );
        }
    }

    /// The Session, its Segments and the pointer at them.
    fn session(&mut self, scanner: &mut Scanner) {
        let state = self.state;
        documents::check(
            &state.metadata,
            || state.folder.path().join(file::METADATA),
            self.subject,
            "",
            &mut self.found,
        );
        if let Some(metadata) = state.metadata.good() {
            self.names(metadata);
        }
        let session = match &state.session {
            Folder::Read(session) => Some(session),
            Folder::Unreadable(e) => {
                unreadable(
                    &self.path(file::SESSION_DIR),
                    self.subject,
                    e,
                    &mut self.found,
                );
                None
            }
            Folder::Missing | Folder::NotAFolder(_) => None,
        };
        let nodes = session.map_or_else(Vec::new, |session| self.segments(session, scanner));
        if let Some(session) = session {
            self.session_document(session, &nodes);
        }
        self.segments = nodes.iter().map(|n| n.id).collect();
        let segments = session.and_then(|s| s.segments.read());
        let closed = |id| segments.is_some_and(|s| lineage::is_closed(&s.entries, id));
        let foreign = lineage::check(&nodes, closed, self.run.options.quick, &mut self.found);
        self.census.add_foreign(foreign);
        let active = state.metadata.good().and_then(|m| m.active.as_ref());
        // What can not be looked into has a finding of its own, and its Segments are not missing.
        let shut = state.session.is_shut() || session.is_some_and(|s| s.segments.is_shut());
        if let Some(active) = active {
            let there = |id| shut || closed(id);
            self.active(active, session, &nodes, there);
        } else if session.is_some_and(|s| s.document.good().is_some() || !nodes.is_empty())
            && (state.metadata.is_missing() || state.metadata.good().is_some())
        {
            let what = if state.metadata.is_missing() {
                "no metadata.json"
            } else {
                "no active pointer in metadata.json"
            };
            let choice = self.choice(&nodes);
            self.push(
                Finding::new(
                    Code::MissingMetadata,
                    self.subject,
                    self.doc(file::METADATA),
                    format!("there is a Session and {what}, so a restore does not know where to start; {choice}"),
                )
                .with_hint(self.tree_hint()),
            );
        }
    }

    fn tree_hint(&self) -> String {
        format!(
            "wagg segment list {} --tree",
            self.state.folder.name.to_string_lossy()
        )
    }

    /// Names in metadata: the Worker's own, children's, peers'.
    fn names(&mut self, metadata: &MetadataDocument) {
        let subject = self.subject;
        let name = &metadata.worker_name;
        match WorkerName::check(name) {
            Err(e) => self.unsafe_name("worker_name", name, e),
            Ok(()) => {
                // The folder counts here: an id that differs is a finding of its own.
                let expected = [self.state.folder.id, self.census.document_id];
                let fits = expected
                    .iter()
                    .flatten()
                    .any(|id| WorkerName::means(name) == Some(*id));
                if !fits && let Some(id) = self.state.folder.id {
                    let expected = WorkerName::of(id);
                    self.push(Finding::new(
                        Code::WorkerNameMismatch,
                        subject,
                        self.doc(file::METADATA),
                        format!("worker_name is {name:?} where {:?} was expected: this metadata may belong to another Worker", expected.as_str()),
                    ));
                }
            }
        }
        let children = metadata.spawned_children.iter().map(|c| {
            (
                NamedAs::Child,
                &c.worker_name,
                c.scope_delegated.len() as u64,
            )
        });
        let reclaimed = metadata
            .reclaimed_children
            .iter()
            .map(|c| (NamedAs::Reclaimed, &c.worker_name, 0));
        let peers = metadata
            .peers
            .iter()
            .map(|p| (NamedAs::Peer, &p.worker_name, 0));
        for (role, text, rules) in children.chain(reclaimed).chain(peers) {
            match text.parse::<WorkerName>() {
                Err(e) => self.unsafe_name(role.field(), text, e),
                Ok(name) => self.census.add_named(Named { role, name, rules }),
            }
        }
        for child in &metadata.spawned_children {
            let reclaimed = metadata
                .reclaimed_children
                .iter()
                .find(|r| r.worker_name == child.worker_name);
            if let Some(reclaimed) = reclaimed {
                let both = child
                    .scope_delegated
                    .iter()
                    .filter(|rule| reclaimed.scope_delegated.contains(rule))
                    .count();
                self.push(Finding::new(
                    Code::ScopeNotReclaimed,
                    subject,
                    self.doc(file::METADATA),
                    format!(
                        "the child {:?} stands in spawned_children and in reclaimed_children at once; {} of its scope rules are in both",
                        child.worker_name, both
                    ),
                ));
            }
        }
    }

    fn unsafe_name(&mut self, field: &str, text: &str, e: WorkerNameError) {
        let text: String = text.chars().take(120).collect();
        self.push(
            Finding::new(
                Code::UnsafeName,
                self.subject,
                self.doc(file::METADATA),
                format!("{field} {text:?} is no name that could be one folder: {e}; it is never used as a path"),
            )
            .with_hint("wagg explain unsafe_name"),
        );
    }
}

/// What `session/` expects.
pub(super) fn expected_in_session(name: &str) -> Option<Expect> {
    match name {
        file::SESSION => Some(Expect::File),
        file::SEGMENTS => Some(Expect::Folder),
        _ => None,
    }
}

/// What `segments/` expects: a name that is meant for a Segment or a trace should be a file's,
/// rightly spelt or not.
pub(super) fn expected_in_segments(name: &str) -> Option<Expect> {
    (classify_segment(name) != SegmentEntry::Other).then_some(Expect::File)
}
