//! Who owns which Session (C26): a pure function of what the catalog and the legacy metadata say.
//!
//! A Session that more than one party points at belongs to none of them. A party is a Worker id,
//! or a name where a name means no Worker; the same Worker in the store and in a legacy root is
//! one party. Nothing is guessed: what does not read has no claim, and its Worker keeps its place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{SegmentId, SessionId, WorkerId, WorkerName};
use crate::record::document::MetadataDocument;
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
            message: format!("it can not be read: {error}"),
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

/// What the store itself says: its Workers, and the Sessions that they have.
#[derive(Debug, Default)]
pub struct Catalog {
    standing: BTreeMap<WorkerId, Standing>,
    sessions: BTreeMap<WorkerId, SessionId>,
    claims: Vec<(SessionId, Party, Place)>,
}

impl Catalog {
    /// Notes a Worker. Once doubtful, it stays so.
    pub fn add(&mut self, id: WorkerId, standing: Standing) {
        let old = self.standing.entry(id).or_insert(standing);
        *old = (*old).max(standing);
    }

    /// Notes that a document of the store points at a Session.
    pub fn claim(&mut self, session: SessionId, party: Party, document: PathBuf) {
        self.claims.push((session, party, Place::Store(document)));
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
        /// The Worker's name as written; may be unsafe.
        name: String,
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
                    name: document.worker_name.clone(),
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
            Says::Points { name, .. } if self.folder.as_os_str() != name.as_str() => Some(name),
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
    claims: BTreeMap<SessionId, Vec<Claimant>>,
}

impl Ownership {
    /// Puts together what the store and the legacy metadata say. The sources stay in their order.
    #[must_use]
    pub fn judge(catalog: &Catalog, sources: Vec<Source>) -> Self {
        let mut all: Vec<(SessionId, Party, Place)> = catalog.claims.clone();
        let mut by_worker = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            if let Some(id) = source.worker {
                by_worker.insert(id, index);
            }
            if let Some(session) = source.session() {
                let place = Place::Legacy(source.folder.clone());
                all.push((session, source.party(), place));
            }
        }
        all.sort();
        all.dedup();
        let mut claims: BTreeMap<SessionId, Vec<Claimant>> = BTreeMap::new();
        for (session, party, place) in all {
            let parties = claims.entry(session).or_default();
            match parties.last_mut() {
                Some(last) if last.party == party => last.places.push(place),
                _ => parties.push(Claimant {
                    standing: match &party {
                        Party::Worker(id) => catalog.standing(*id),
                        Party::Named(_) => Standing::Unknown,
                    },
                    party,
                    places: vec![place],
                }),
            }
        }
        Self {
            sources,
            by_worker,
            claims,
        }
    }

    /// The folders of the metadata root.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// All parties that point at a Session, in order; more than one means that it is shared.
    #[must_use]
    pub fn claimants(&self, session: SessionId) -> &[Claimant] {
        self.claims.get(&session).map_or(&[], Vec::as_slice)
    }

    /// The Sessions that more than one party points at, in order.
    pub fn shared(&self) -> impl Iterator<Item = (SessionId, &[Claimant])> + '_ {
        self.claims
            .iter()
            .filter(|(_, parties)| parties.len() > 1)
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
        match self.claimants(session) {
            parties if parties.len() > 1 => Claim::Shared(session, parties),
            _ => Claim::Sole(session, segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u64) -> SessionId {
        format!("01890000-0000-7000-8000-{n:012x}").parse().unwrap()
    }

    fn source(folder: &str, name: &str, session: Option<u64>) -> Source {
        let says = Says::Points {
            name: name.to_owned(),
            session: session.map(id),
            segment: None,
        };
        Source {
            says,
            ..Source::new(folder.into(), &Document::Missing)
        }
    }

    fn catalog(ids: &[u64]) -> Catalog {
        let mut catalog = Catalog::default();
        for n in ids {
            catalog.add(WorkerId::Number(*n), Standing::Known);
        }
        catalog
    }

    fn claim(ownership: &Ownership, n: u64) -> Claim<'_> {
        ownership.claim_of(WorkerId::Number(n))
    }

    /// C26: a Session that more than one source points at, catalog Worker or not, goes to none.
    #[test]
    fn c26_a_shared_session_belongs_to_none() {
        let sources = vec![
            source("worker-runtime-1", "worker-runtime-1", Some(1)),
            source("worker-runtime-2", "worker-runtime-2", Some(2)),
            source("worker-runtime-99", "worker-runtime-99", Some(1)),
            source("old agent", "old agent", Some(2)),
        ];
        let ownership = Ownership::judge(&catalog(&[1, 2, 3]), sources);
        for n in [1, 2] {
            let Claim::Shared(session, parties) = claim(&ownership, n) else {
                panic!("{n}");
            };
            assert_eq!((session, parties.len()), (id(n), 2));
        }
        assert_eq!(claim(&ownership, 3), Claim::Nothing);
        assert_eq!(ownership.shared().count(), 2);
        let [first, second] = ownership.claimants(id(1)) else {
            panic!()
        };
        assert_eq!(
            (first.standing, second.standing),
            (Standing::Known, Standing::Unknown)
        );
    }

    /// C26: the same Worker in the store and in a legacy root is one owner; another is not.
    #[test]
    fn c26_a_worker_shares_nothing_with_itself() {
        let sources = || vec![source("worker-runtime-1", "worker-runtime-1", Some(1))];
        let mut catalog = catalog(&[1, 2]);
        let own = Party::Worker(WorkerId::Number(1));
        catalog.claim(id(1), own, "workers/1/metadata.json".into());
        let ownership = Ownership::judge(&catalog, sources());
        assert_eq!(claim(&ownership, 1), Claim::Sole(id(1), None));
        assert_eq!(ownership.claimants(id(1))[0].places.len(), 2);
        let other = Party::Worker(WorkerId::Number(2));
        catalog.claim(id(1), other, "workers/2/session/session.json".into());
        let ownership = Ownership::judge(&catalog, sources());
        assert!(matches!(claim(&ownership, 1), Claim::Shared(..)));
    }

    #[test]
    fn a_name_of_somebody_else_and_doubt_stay_what_they_are() {
        let sources = vec![
            source("worker-runtime-1", "worker-runtime-2", Some(1)),
            source("worker-runtime-3", "worker-runtime-3", None),
        ];
        let mut catalog = catalog(&[1, 2, 3]);
        catalog.add(WorkerId::Number(3), Standing::Doubtful);
        catalog.add(WorkerId::Number(3), Standing::Known);
        assert_eq!(catalog.standing(WorkerId::Number(3)), Standing::Doubtful);
        let ownership = Ownership::judge(&catalog, sources);
        assert_eq!(claim(&ownership, 1), Claim::OtherName("worker-runtime-2"));
        assert_eq!(claim(&ownership, 3), Claim::NoSession);
    }
}
