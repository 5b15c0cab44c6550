//! Who owns which Session (C26): a pure function of what the catalog and the legacy metadata say.
//!
//! A Session that more than one party points at belongs to none of them. A party is a Worker id,
//! or a name where a name means no Worker; the same Worker in the store and in a legacy root is
//! one party. Nothing is guessed: what does not read has no claim, and its Worker keeps its place.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId, WorkerName};
use crate::record::document::MetadataDocument;
use crate::store::fs::no_handles;
use crate::store::{Document, EntryKind};

/// Why a document says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// `corrupt_document`, `empty_document`, `unsupported_schema_version`, `symbolic_link`,
    /// `not_a_regular_file` or `unreadable`.
    pub code: Code,
    /// Counts from 1, if a place inside is known.
    pub line: Option<u64>,
    /// Counts from 0, from the start of the file.
    pub byte: Option<u64>,
    /// A lower-case fragment.
    pub message: String,
}

impl Trouble {
    /// What keeps a document from being read; none if it is good or not there.
    #[must_use]
    pub fn of<T>(document: &Document<T>) -> Option<Self> {
        match document {
            Document::Missing | Document::Good(_) => None,
            Document::NotAFile(kind) => Some(Self::wrong_kind(*kind)),
            Document::Unreadable(e) => Some(Self::unreadable(e)),
            Document::Faulty(fault) => Some(Self {
                code: fault.code,
                line: fault.line,
                byte: fault.byte,
                message: fault.message.clone(),
            }),
        }
    }

    /// Something else stands there.
    #[must_use]
    pub fn wrong_kind(kind: EntryKind) -> Self {
        Self {
            code: match kind {
                EntryKind::Symlink => Code::SymbolicLink,
                _ => Code::NotARegularFile,
            },
            line: None,
            byte: None,
            message: match kind {
                EntryKind::Symlink => "it is a symbolic link, which is not followed".to_owned(),
                kind => format!("it is {}", kind.noun()),
            },
        }
    }

    /// The system does not let it be read.
    #[must_use]
    pub fn unreadable(error: &std::io::Error) -> Self {
        Self {
            code: Code::Unreadable,
            line: None,
            byte: None,
            message: match no_handles(error) {
                Some(reason) => format!("it was not opened: {reason}"),
                None => format!("it can not be read: {error}"),
            },
        }
    }

    /// The finding of it, `what` before its own words.
    #[must_use]
    pub fn finding(&self, subject: Subject, path: impl Into<PathBuf>, what: &str) -> Finding {
        let locus = Locus {
            line: self.line,
            byte: self.byte,
            ..Locus::file(path)
        };
        Finding::new(
            self.code,
            subject,
            locus,
            format!("{what}: {}", self.message),
        )
    }
}

/// How the catalog stands to a Worker id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// No folder of the catalog has it or states it.
    Unknown,
    /// Its folder and its `worker.json` agree.
    Known,
    /// A folder has it or states it, and its `worker.json` does not read or does not agree. That
    /// is this Worker's trouble; what points at it is no orphan.
    Doubtful,
}

/// Somebody who points at a Session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// A Worker, in the catalog or not.
    Worker(WorkerId),
    /// A folder whose name means no Worker.
    Named(OsString),
}

/// Where somebody says that they own a Session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A document of the store, relative to it.
    Store(PathBuf),
    /// A folder of the legacy metadata root.
    Legacy(OsString),
}

/// One party that points at a Session, with all the places where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// Who.
    pub party: Party,
    /// Whether the catalog knows it.
    pub standing: Standing,
    /// Where it says so, in order.
    pub places: Vec<Place>,
}

/// Where a claim stands, and how the catalog stands to whose it is. A store has some for each
/// Worker, so that they are as small as they can be.
#[derive(Debug, Clone, Copy)]
enum By {
    /// A Worker's own `metadata.json`.
    Metadata(Standing, WorkerId),
    /// The `session.json` in its own folder.
    Session(Standing, WorkerId),
    /// One of the documents of the store that are neither.
    Other(Standing, usize),
    /// One of the sources.
    Source(Standing, usize),
}

/// One place that points at a Session.
#[derive(Debug, Clone, Copy)]
struct Pointer {
    session: SessionId,
    by: By,
}

/// What the store itself says: its Workers, and the Sessions that they have.
#[derive(Debug, Default)]
pub struct Catalog {
    standing: BTreeMap<WorkerId, Standing>,
    sessions: BTreeMap<WorkerId, SessionId>,
    pointers: Vec<Pointer>,
    others: Vec<(Party, PathBuf)>,
}

impl Catalog {
    /// Notes a Worker. Once doubtful, it stays so.
    pub fn add(&mut self, id: WorkerId, standing: Standing) {
        let old = self.standing.entry(id).or_insert(standing);
        *old = (*old).max(standing);
    }

    /// Notes that a document of the store points at a Session.
    pub fn claim(&mut self, session: SessionId, party: Party, document: PathBuf) {
        match party {
            Party::Worker(id) if document == Paths::metadata(id) => {
                self.has_metadata_of(id, session);
            }
            Party::Worker(id) if document == Paths::session_document(id) => {
                self.has_session_of(id, session);
            }
            party => {
                self.others.push((party, document));
                let by = By::Other(Standing::Unknown, self.others.len() - 1);
                self.pointers.push(Pointer { session, by });
            }
        }
    }

    /// Notes that a Worker's own `metadata.json` points at a Session.
    pub fn has_metadata_of(&mut self, id: WorkerId, session: SessionId) {
        let by = By::Metadata(Standing::Unknown, id);
        self.pointers.push(Pointer { session, by });
    }

    /// Notes that the `session.json` in a Worker's own folder points at a Session.
    pub fn has_session_of(&mut self, id: WorkerId, session: SessionId) {
        let by = By::Session(Standing::Unknown, id);
        self.pointers.push(Pointer { session, by });
    }

    /// Notes that a Worker's Session is in place, in its own folder.
    pub fn in_place(&mut self, id: WorkerId, session: SessionId) {
        self.sessions.insert(id, session);
    }

    /// How the catalog stands to an id.
    #[must_use]
    pub fn standing(&self, id: WorkerId) -> Standing {
        self.standing.get(&id).copied().unwrap_or(Standing::Unknown)
    }

    /// The Session in a Worker's own folder, if it has one.
    #[must_use]
    pub fn session_of(&self, id: WorkerId) -> Option<SessionId> {
        self.sessions.get(&id).copied()
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = (WorkerId, Standing)> + '_ {
        self.standing.iter().map(|(id, standing)| (*id, *standing))
    }
}

/// What the document of a legacy metadata folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// There is none.
    Nothing,
    /// It does not read.
    Trouble(Trouble),
    /// It reads.
    Points {
        /// The Worker's name as written, if it is not that of the folder; may be unsafe.
        other_name: Option<String>,
        /// The Session that it points at, if it does.
        session: Option<SessionId>,
        /// The Segment; none if the Session is only reserved.
        segment: Option<SegmentId>,
    },
}

/// One folder of the legacy metadata root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name, one path component.
    pub folder: OsString,
    /// The Worker that the name means, if a Runtime gave it.
    pub worker: Option<WorkerId>,
    /// What its document says.
    pub says: Says,
}

impl Source {
    /// A folder of this name, with what its document says.
    #[must_use]
    pub fn new(folder: OsString, document: &Document<MetadataDocument>) -> Self {
        let worker = folder
            .to_str()
            .and_then(|name| name.parse::<WorkerName>().ok())
            .and_then(|name| name.worker_id());
        let says = match document {
            Document::Missing => Says::Nothing,
            Document::Good(document) => {
                let active = document.active.as_ref();
                Says::Points {
                    other_name: Some(document.worker_name.as_str())
                        .filter(|name| folder.as_os_str() != *name)
                        .map(str::to_owned),
                    session: active.and_then(|a| a.session()),
                    segment: active.and_then(|a| a.segment()),
                }
            }
            other => Trouble::of(other).map_or(Says::Nothing, Says::Trouble),
        };
        Self {
            folder,
            worker,
            says,
        }
    }

    /// Whom it speaks for.
    #[must_use]
    pub fn party(&self) -> Party {
        match self.worker {
            Some(id) => Party::Worker(id),
            None => Party::Named(self.folder.clone()),
        }
    }

    /// The Session that it points at.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match &self.says {
            Says::Points { session, .. } => *session,
            _ => None,
        }
    }

    /// The name inside the document, if it is another than the folder's.
    #[must_use]
    pub fn other_name(&self) -> Option<&str> {
        match &self.says {
            Says::Points { other_name, .. } => other_name.as_deref(),
            _ => None,
        }
    }
}

/// What the legacy metadata says of one Worker of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'a> {
    /// Nothing: no folder, or no document in it.
    Nothing,
    /// Its document does not read.
    Trouble(&'a Trouble),
    /// Its document carries another name.
    OtherName(&'a str),
    /// It has metadata and no Session.
    NoSession,
    /// It alone points at this Session. Without a Segment the Session is only reserved.
    Sole(SessionId, Option<SegmentId>),
    /// Others point at this Session too: it goes to none of them.
    Shared(SessionId, &'a [Claimant]),
}

/// Who points at which Session.
#[derive(Debug, Default)]
pub struct Ownership {
    sources: Vec<Source>,
    by_worker: BTreeMap<WorkerId, usize>,
    /// Documents of the store that are not in their usual place.
    others: Vec<(Party, PathBuf)>,
    /// All that points at Sessions, by Session, party and place.
    pointers: Vec<Pointer>,
    /// The Sessions that more than one party points at.
    shared: BTreeMap<SessionId, Vec<Claimant>>,
}

impl Ownership {
    /// Puts together what the store and the legacy metadata say. The sources stay in their order.
    /// The catalog gives away what it knows of who points where, and keeps all else.
    #[must_use]
    pub fn judge(catalog: &mut Catalog, sources: Vec<Source>) -> Self {
        let mut this = Self {
            by_worker: BTreeMap::new(),
            others: std::mem::take(&mut catalog.others),
            pointers: std::mem::take(&mut catalog.pointers),
            shared: BTreeMap::new(),
            sources,
        };
        this.pointers.reserve_exact(this.sources.len());
        for (index, source) in this.sources.iter().enumerate() {
            if let Some(id) = source.worker {
                this.by_worker.insert(id, index);
            }
            if let Some(session) = source.session() {
                let by = By::Source(Standing::Unknown, index);
                this.pointers.push(Pointer { session, by });
            }
        }
        let mut pointers = std::mem::take(&mut this.pointers);
        for pointer in &mut pointers {
            let worker = this.worker(pointer.by);
            let now = worker.map_or(Standing::Unknown, |id| catalog.standing(id));
            let (By::Metadata(standing, _)
            | By::Session(standing, _)
            | By::Other(standing, _)
            | By::Source(standing, _)) = &mut pointer.by;
            *standing = now;
        }
        let order = |a: &Pointer, b: &Pointer| {
            a.session
                .cmp(&b.session)
                .then_with(|| this.parties(a.by, b.by))
                .then_with(|| this.places(a.by, b.by))
        };
        pointers.sort_unstable_by(order);
        pointers.dedup_by(|a, b| order(a, b).is_eq());
        for of_one in pointers.chunk_by(|a, b| a.session == b.session) {
            let (first, last) = (of_one[0], of_one[of_one.len() - 1]);
            if this.parties(first.by, last.by).is_ne() {
                let claimants = this.claimants_of(of_one);
                this.shared.insert(first.session, claimants);
            }
        }
        this.pointers = pointers;
        this
    }

    /// The Worker that it speaks for, if it is one.
    fn worker(&self, by: By) -> Option<WorkerId> {
        match by {
            By::Metadata(_, id) | By::Session(_, id) => Some(id),
            By::Source(_, at) => self.sources[at].worker,
            By::Other(_, at) => match self.others[at].0 {
                Party::Worker(id) => Some(id),
                Party::Named(_) => None,
            },
        }
    }

    /// The order of two parties, as that of [`Party`].
    fn parties(&self, a: By, b: By) -> Ordering {
        match (self.worker(a), self.worker(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.party(a).cmp(&self.party(b)),
        }
    }

    /// The order of two places of one party, as that of [`Place`].
    fn places(&self, a: By, b: By) -> Ordering {
        // Mostly told without the paths: in a Worker's folder `metadata.json` comes before what is
        // in `session/`, and all of the store before the sources.
        let rank = |by| match by {
            By::Metadata(..) => Some(0),
            By::Session(..) => Some(1),
            By::Source(..) => Some(2),
            By::Other(..) => None,
        };
        match (rank(a), rank(b)) {
            (Some(a), Some(b)) if (a, b) != (2, 2) => a.cmp(&b),
            _ => self.place(a).cmp(&self.place(b)),
        }
    }

    fn party(&self, by: By) -> Party {
        match by {
            By::Metadata(_, id) | By::Session(_, id) => Party::Worker(id),
            By::Other(_, at) => self.others[at].0.clone(),
            By::Source(_, at) => self.sources[at].party(),
        }
    }

    fn place(&self, by: By) -> Place {
        match by {
            By::Metadata(_, id) => Place::Store(Paths::metadata(id)),
            By::Session(_, id) => Place::Store(Paths::session_document(id)),
            By::Other(_, at) => Place::Store(self.others[at].1.clone()),
            By::Source(_, at) => Place::Legacy(self.sources[at].folder.clone()),
        }
    }

    /// The parties of what points at one Session.
    fn claimants_of(&self, pointers: &[Pointer]) -> Vec<Claimant> {
        let mut claimants: Vec<Claimant> = Vec::new();
        for Pointer { by, .. } in pointers {
            let (party, place) = (self.party(*by), self.place(*by));
            let (By::Metadata(standing, _)
            | By::Session(standing, _)
            | By::Other(standing, _)
            | By::Source(standing, _)) = *by;
            match claimants.last_mut() {
                Some(last) if last.party == party => last.places.push(place),
                _ => claimants.push(Claimant {
                    party,
                    standing,
                    places: vec![place],
                }),
            }
        }
        claimants
    }

    /// The folders of the metadata root.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// All parties that point at a Session, in order; more than one means that it is shared.
    #[must_use]
    pub fn claimants(&self, session: SessionId) -> Cow<'_, [Claimant]> {
        if let Some(shared) = self.shared.get(&session) {
            return Cow::Borrowed(shared);
        }
        let from = self.pointers.partition_point(|p| p.session < session);
        let rest = &self.pointers[from..];
        let upto = rest.partition_point(|p| p.session == session);
        Cow::Owned(self.claimants_of(&rest[..upto]))
    }

    /// Whether a Worker of the catalog points at a Session.
    #[must_use]
    pub fn is_owned(&self, session: SessionId) -> bool {
        self.claimants(session)
            .iter()
            .any(|claimant| claimant.standing != Standing::Unknown)
    }

    /// The Sessions that more than one party points at, in order.
    pub fn shared(&self) -> impl Iterator<Item = (SessionId, &[Claimant])> + '_ {
        self.shared
            .iter()
            .map(|(session, parties)| (*session, parties.as_slice()))
    }

    /// What the legacy metadata says of a Worker.
    #[must_use]
    pub fn claim_of(&self, id: WorkerId) -> Claim<'_> {
        let Some(source) = self.by_worker.get(&id).and_then(|i| self.sources.get(*i)) else {
            return Claim::Nothing;
        };
        let (session, segment) = match &source.says {
            Says::Nothing => return Claim::Nothing,
            Says::Trouble(trouble) => return Claim::Trouble(trouble),
            Says::Points {
                session, segment, ..
            } => (*session, *segment),
        };
        if let Some(name) = source.other_name() {
            return Claim::OtherName(name);
        }
        let Some(session) = session else {
            return Claim::NoSession;
        };
        match self.shared.get(&session) {
            Some(parties) => Claim::Shared(session, parties),
            None => Claim::Sole(session, segment),
        }
    }
}

#[cfg(test)]
#[path = "ownership_tests.rs"]
mod tests;
