//! What the legacy roots say of one Worker, and what is to be done about it.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::copy::{Stop, Whose, interrupted};
use super::diagnostics::names_of;
use super::facts::Known;
use super::judge::Seen;
use super::manifest::{Manifest, State};
use super::plan::{Item, Step};
use super::target::{self, Metadata};
use super::{Sources, noted};
use crate::diag::{Code, Finding, Locus, Progress, Result, Severity, Subject};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId, WorkerName, file};
use crate::ops::ownership::{Claim, Ownership, Source};
use crate::record::Scanner;
use crate::record::document::MetadataDocument;
use crate::store::{Dir, Document, Store, read_bytes};

/// Looks at one Worker after the other, on any thread.
pub(super) struct Examiner<'a> {
    pub store: &'a Store,
    pub sources: &'a Sources,
    pub manifest: &'a Manifest,
    pub known: &'a Known,
    pub ownership: &'a Ownership,
    /// Workers that are in the store as a run of ours noted them.
    pub as_noted: &'a [WorkerId],
    pub deep: bool,
    pub check: bool,
    pub progress: &'a dyn Progress,
}

/// The legacy metadata of a Worker, read once more.
pub(super) struct Legacy {
    pub bytes: Vec<u8>,
    pub digest: [u8; 32],
}

impl Examiner<'_> {
    /// Looks at one Worker.
    pub fn worker(&self, id: WorkerId, tools: &mut Scanner) -> Result<(Item, Vec<Finding>)> {
        if self.progress.interrupted() {
            return Err(interrupted());
        }
        let mut notes = Vec::new();
        let mut item = Item {
            id,
            step: Step::Nothing,
            state: None,
            session: None,
        };
        match self.examine(&mut item, tools, &mut notes) {
            Ok(step) => item.step = step,
            Err(Stop::Left(finding)) => {
                item.step = Step::Left(finding);
                // A collision leaves the checkpoint as it was, if there is one.
                if !matches!(item.state, Some(State::Shared(_))) {
                    item.state = None;
                }
            }
            Err(Stop::All(error)) => return Err(*error),
        }
        Ok((item, notes))
    }

    pub fn metadata_path(&self, id: WorkerId) -> PathBuf {
        let name = WorkerName::of(id);
        let folder = self.sources.roots.metadata.join(name.as_str());
        folder.join(file::METADATA)
    }

    /// Whether a former run put this Worker in the store, so that its Runtime may have gone on.
    pub fn was_moved(&self, id: WorkerId) -> bool {
        matches!(self.manifest.state(id), Some("migrated" | "pending")) || self.known.is_ours(id)
    }

    fn examine(
        &self,
        item: &mut Item,
        tools: &mut Scanner,
        notes: &mut Vec<Finding>,
    ) -> Result<Step, Stop> {
        let id = item.id;
        let document = || Locus::file(self.metadata_path(id));
        let claim = self.ownership.claim_of(id);
        let (session, segment) = match claim {
            Claim::Nothing => return self.without_claim(item),
            Claim::Trouble(trouble) => {
                let what = "the legacy metadata can not be read";
                let finding = trouble.finding(Subject::worker(id), self.metadata_path(id), what);
                return Err(finding.with_severity(Severity::Error).into());
            }
            Claim::OtherName(name) => {
                let message = format!(
                    "the legacy metadata of Worker {id} says that it is {name:?}: whose it is can not be told"
                );
                let subject = Subject::worker(id);
                let finding = Finding::new(Code::WorkerNameMismatch, subject, document(), message);
                return Err(finding.into());
            }
            Claim::Shared(session, claimants) => {
                item.session = Some(session);
                item.state = Some(State::Shared(session));
                let mut names: Vec<String> = claimants.iter().flat_map(names_of).collect();
                names.sort_unstable();
                let more = names.len().saturating_sub(NAMED);
                names.truncate(NAMED);
                let more = match more {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                let message = format!(
                    "the Session {session} is claimed by {}{more}: it goes to none of them",
                    names.join(", ")
                );
                let subject = Subject {
                    worker_id: Some(id),
                    session_id: Some(session),
                    ..Subject::default()
                };
                let finding =
                    Finding::new(Code::SharedSessionReference, subject, document(), message);
                return Err(finding.with_hint(self.orphans_hint()).into());
            }
            Claim::NoSession => (None, None),
            Claim::Sole(session, segment) => (Some(session), segment),
        };
        item.session = session;
        if let Some(state) = self.at_a_glance(id, session) {
            item.state = Some(state);
            return Ok(Step::Done);
        }
        let whose_path = self.session_path(session);
        let whose = Whose {
            worker: id,
            session: session.unwrap_or_else(|| SessionId::from_uuid(uuid::Uuid::nil())),
            active: segment,
            path: &whose_path,
        };
        let dir = self.target(id)?;
        let legacy = self.legacy(&whose)?;
        let seen = Seen {
            whose: &whose,
            legacy: &legacy,
            metadata: &Metadata::read(&dir, id),
        };
        let Some(session) = session else {
            return self.without_session(item, &seen);
        };
        let place = target::session(&dir, id);
        let Some(source) = self.source(&whose, session, segment)? else {
            return self.without_source(item, &seen, &place);
        };
        self.with_source(item, &seen, &source, place, tools, notes)
    }

    /// Whether all of a Worker is as a run of ours noted it, in the store and in the legacy roots;
    /// its checkpoint then.
    fn at_a_glance(&self, id: WorkerId, session: Option<SessionId>) -> Option<State> {
        let is_in = |all: &[WorkerId]| all.binary_search(&id).is_ok();
        if !is_in(self.as_noted) || !is_in(&self.sources.as_noted) {
            return None;
        }
        let moved = self.known.moved.get(id)?;
        let Some(session) = session else {
            return Some(State::Migrated(None));
        };
        let there = self.sources.sessions.folders.contains(&session);
        if moved.pending {
            let free = !there && self.sources.sessions.instead_of(session).is_none();
            let state = match self.manifest.state(id) {
                Some("migrated") => State::Migrated(Some(session)),
                _ => State::Pending(session),
            };
            return free.then_some(state);
        }
        let root = self.sources.sessions_dir().filter(|_| there)?;
        let dir = root.dir(session.to_string()).ok()?;
        noted::source(&dir, &moved).then_some(State::Migrated(Some(session)))
    }

    pub fn orphans_hint(&self) -> String {
        let roots = &self.sources.roots;
        format!(
            "wagg orphans --sessions {} --metadata {}",
            crate::diag::shell(&roots.sessions),
            crate::diag::shell(&roots.metadata)
        )
    }

    fn session_path(&self, session: Option<SessionId>) -> PathBuf {
        let root = &self.sources.roots.sessions;
        session.map_or_else(|| root.clone(), |id| root.join(id.to_string()))
    }

    /// The Worker's folder in the store.
    fn target(&self, id: WorkerId) -> Result<Dir, Stop> {
        let name = Store::folder_of(id);
        match self.store.worker_dir(&name) {
            Ok(Some(dir)) => Ok(dir),
            Ok(None) => {
                let finding = Finding::new(
                    Code::NotFound,
                    Subject::worker(id),
                    Locus::file(Paths::worker(id)),
                    "the Worker went away while the catalog was read",
                );
                Err(finding.into())
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Reads the legacy metadata once more: it must still say what ownership was judged by.
    fn legacy(&self, whose: &Whose<'_>) -> Result<Legacy, Stop> {
        let id = whose.worker;
        let path = self.metadata_path(id);
        let name = WorkerName::of(id);
        let bytes = self
            .sources
            .metadata_dir()
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
            .and_then(|root| root.dir(name.as_str()))
            .and_then(|folder| read_bytes(&folder, file::METADATA));
        let changed = |what: String| {
            let finding = Finding::new(
                Code::SourceChanged,
                Subject::worker(id),
                Locus::file(&path),
                format!("the legacy metadata changed while the plan was made{what}"),
            );
            Stop::from(finding.with_hint("run the same command again"))
        };
        let bytes = bytes.map_err(|e| changed(format!(": {e}")))?;
        let document = match MetadataDocument::read(&bytes) {
            Ok(document) => Document::Good(document),
            Err(fault) => Document::Faulty(fault),
        };
        let now = Source::new(name.as_str().into(), &document);
        let said = self.ownership.sources();
        let at = said.binary_search_by(|source| source.folder.cmp(&now.folder));
        if at.ok().and_then(|at| said.get(at)) != Some(&now) {
            return Err(changed(String::new()));
        }
        let digest = Sha256::digest(&bytes).into();
        Ok(Legacy { bytes, digest })
    }

    /// The legacy folder of a Session; none if it is not there and that is as it may be.
    fn source(
        &self,
        whose: &Whose<'_>,
        session: SessionId,
        segment: Option<SegmentId>,
    ) -> Result<Option<Dir>, Stop> {
        let sessions = &self.sources.sessions;
        let subject = Subject {
            worker_id: Some(whose.worker),
            session_id: Some(session),
            segment_id: segment,
            ..Subject::default()
        };
        let missing = |code, message: String| {
            let locus = Locus::file(whose.path);
            let finding = Finding::new(code, subject, locus, message);
            Err(Stop::from(finding.with_hint(self.orphans_hint())))
        };
        if !sessions.folders.contains(&session) {
            return match sessions.instead_of(session) {
                Some(kind @ crate::store::EntryKind::Symlink) => missing(
                    Code::SymbolicLink,
                    format!("the Session is {}, which is not followed", kind.noun()),
                ),
                Some(kind) => missing(
                    Code::MissingReferencedSession,
                    format!(
                        "{} stands where the Session's folder should be",
                        kind.noun()
                    ),
                ),
                None => Ok(None),
            };
        }
        let root = self.sources.sessions_dir();
        let opened = root
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
            .and_then(|root| root.dir(session.to_string()));
        match opened {
            Ok(dir) => Ok(Some(dir)),
            Err(e) => missing(
                Code::Unreadable,
                format!("the Session's folder can not be read: {e}"),
            ),
        }
    }
}

/// How many owners a message names before it only counts.
const NAMED: usize = 10;
