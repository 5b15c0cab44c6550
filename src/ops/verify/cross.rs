//! What only all Workers together can tell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Found, catalog};
use crate::diag::{Code, Finding, Locus, Subject, plural};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId, WorkerName, file};
use crate::record::document::RuntimeDocument;
use crate::store::{Document, Store, WorkerFolder, WorkerState};

/// What is kept of a Worker after it was looked at.
///
/// There is one for each Worker of a store until the end, so it is small.
pub(super) struct Census<'a> {
    pub folder: &'a WorkerFolder,
    /// What `worker.json` says.
    pub document_id: Option<WorkerId>,
    /// What `session.json` says.
    pub session: Option<SessionId>,
    /// Whether it was looked at as a Worker.
    pub looked_at: bool,
    /// What few Workers have.
    rare: Option<Box<Rare>>,
}

#[derive(Default)]
struct Rare {
    foreign: Vec<Foreign>,
    named: Vec<Named>,
}

impl<'a> Census<'a> {
    pub fn of(folder: &'a WorkerFolder) -> Self {
        Self {
            folder,
            document_id: None,
            session: None,
            looked_at: false,
            rare: None,
        }
    }

    /// The little that is known of a Worker without reading its Segments, and their ids.
    fn light(store: &Store, folder: &'a WorkerFolder) -> (Self, Vec<SegmentId>) {
        let mut census = Self::of(folder);
        let Ok(Some(dir)) = store.worker_dir(&folder.name) else {
            return (census, Vec::new());
        };
        let Ok(state) = WorkerState::read(folder.clone(), dir) else {
            return (census, Vec::new());
        };
        census.document_id = state.worker.good().and_then(|d| d.worker_id());
        census.session = state.session_document().and_then(|d| d.session());
        let segments = state
            .segments()
            .map_or_else(Vec::new, |s| s.segments().collect());
        (census, segments)
    }

    /// Sources that are not among the Segments of its Session.
    pub fn foreign(&self) -> &[Foreign] {
        self.rare.as_ref().map_or(&[], |rare| &rare.foreign)
    }

    /// Workers that its metadata names.
    pub fn named(&self) -> &[Named] {
        self.rare.as_ref().map_or(&[], |rare| &rare.named)
    }

    pub fn add_foreign(&mut self, foreign: Vec<Foreign>) {
        if !foreign.is_empty() {
            self.rare.get_or_insert_default().foreign.extend(foreign);
        }
    }

    pub fn add_named(&mut self, named: Named) {
        self.rare.get_or_insert_default().named.push(named);
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path()
    }
}

/// Where each Segment id stands: the number of its Worker.
type Places = Vec<(SegmentId, u32)>;

/// What is kept of all Workers.
pub(super) struct All<'a> {
    pub workers: Vec<Census<'a>>,
    /// In the order of the Workers, until they are judged.
    pub segments: Places,
}

impl<'a> All<'a> {
    /// Room for so many Workers.
    pub fn with_capacity(workers: usize) -> Self {
        Self {
            workers: Vec::with_capacity(workers),
            segments: Vec::with_capacity(workers),
        }
    }

    /// Adds the next Worker and the ids of its Segments.
    pub fn push(&mut self, census: Census<'a>, segments: &[SegmentId]) {
        let number = self.workers.len() as u32;
        self.segments
            .extend(segments.iter().map(|id| (*id, number)));
        self.workers.push(census);
    }
}

/// A source that is not among the Segments of its Session.
pub(super) struct Foreign {
    pub subject: Subject,
    pub locus: Locus,
    pub segment: SegmentId,
    pub source: SegmentId,
    pub turn: u64,
    pub how: &'static str,
}

/// As what a Worker is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NamedAs {
    #[serde(rename = "spawned_children")]
    Child,
    #[serde(rename = "reclaimed_children")]
    Reclaimed,
    #[serde(rename = "peers")]
    Peer,
}

impl NamedAs {
    pub fn field(self) -> &'static str {
        match self {
            Self::Child => "spawned_children",
            Self::Reclaimed => "reclaimed_children",
            Self::Peer => "peers",
        }
    }
}

/// A Worker that metadata names.
pub(super) struct Named {
    pub role: NamedAs,
    pub name: WorkerName,
    /// Rules of scope that it was given.
    pub rules: u64,
}

/// Adds what the Workers are to each other. With `whole` false only findings about the Workers
/// that were looked at are added, and the others are read just far enough.
pub(super) fn check<'a>(
    store: &Store,
    runtime: &Document<RuntimeDocument>,
    folders: &'a [WorkerFolder],
    mut all: All<'a>,
    whole: bool,
    found: &mut Found,
) {
    if whole {
        let next = runtime.good().and_then(|r| r.next_worker_sequence);
        together(next, all, found);
        return;
    }
    let asked = all.workers.len();
    for folder in folders {
        let known = |census: &Census<'_>| census.folder.name == folder.name;
        if !all.workers[..asked].iter().any(known) {
            let (census, segments) = Census::light(store, folder);
            all.push(census, &segments);
        }
    }
    judge(&all.workers, all.segments, &|index| index < asked, found);
}

/// Adds what all Workers of a store are to each other, and to the next id that it gives out.
pub(super) fn together(next_worker_sequence: Option<u64>, all: All<'_>, found: &mut Found) {
    judge(&all.workers, all.segments, &|_| true, found);
    catalog::check_sequence(next_worker_sequence, &all.workers, found);
}

fn judge(all: &[Census<'_>], mut places: Places, asked: &dyn Fn(usize) -> bool, found: &mut Found) {
    duplicate_workers(all, asked, found);
    let shared = shared_sessions(all, asked, found);
    places.sort_unstable();
    duplicate_segments(all, asked, &shared, &places, found);
    foreign_sources(all, asked, &places, found);
    names(all, asked, found);
}

/// Workers that have the same, in its order.
fn sharing<T: Ord + Copy>(
    all: &[Census<'_>],
    what: impl Fn(&Census<'_>) -> Option<T>,
) -> Vec<(T, Vec<usize>)> {
    let mut by_value: Vec<(T, u32)> = Vec::with_capacity(all.len());
    let numbered = all.iter().zip(0..);
    by_value.extend(numbered.filter_map(|(census, i)| Some((what(census)?, i))));
    by_value.sort_unstable();
    by_value
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > 1)
        .map(|group| (group[0].0, group.iter().map(|&(_, i)| i as usize).collect()))
        .collect()
}

fn list(names: &[String]) -> String {
    names.join(" and ")
}

fn duplicate_workers(all: &[Census<'_>], asked: &dyn Fn(usize) -> bool, found: &mut Found) {
    for (id, places) in sharing(all, |census| census.document_id) {
        if !places.iter().any(|&i| asked(i)) {
            continue;
        }
        let names: Vec<String> = places
            .iter()
            .map(|&i| all[i].path().display().to_string())
            .collect();
        found.findings.push(
            Finding::new(
                Code::DuplicateWorkerId,
                Subject::worker(id),
                Locus::file(all[places[0]].path().join(file::WORKER)),
                format!(
                    "worker_id {id} stands in {}: a Runtime takes the last of them and never says so; neither is chosen here",
                    list(&names)
                ),
            )
            .with_hint("wagg explain duplicate_worker_id"),
        );
    }
}

/// Workers that have the same Session, by index.
fn shared_sessions(
    all: &[Census<'_>],
    asked: &dyn Fn(usize) -> bool,
    found: &mut Found,
) -> BTreeMap<SessionId, Vec<usize>> {
    let by_session: BTreeMap<_, _> = sharing(all, |census| census.session).into_iter().collect();
    for (id, owners) in &by_session {
        if !owners.iter().any(|&i| asked(i)) {
            continue;
        }
        let names: Vec<String> = owners
            .iter()
            .map(|&i| all[i].path().display().to_string())
            .collect();
        let first = &all[owners[0]];
        found.findings.push(
            Finding::new(
                Code::SessionShared,
                Subject { worker_id: first.folder.id, session_id: Some(*id), ..Subject::default() },
                Locus::file(first.path().join(file::SESSION_DIR).join(file::SESSION)),
                format!(
                    "Session {id} stands in {}: one history with two owners; compare them before either goes on",
                    list(&names)
                ),
            )
            .with_hint("wagg explain session_shared"),
        );
    }
    by_session
}

/// `places` are sorted.
fn duplicate_segments(
    all: &[Census<'_>],
    asked: &dyn Fn(usize) -> bool,
    shared: &BTreeMap<SessionId, Vec<usize>>,
    places: &Places,
    found: &mut Found,
) {
    for group in places.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() > 1) {
        let owners: Vec<usize> = group.iter().map(|&(_, i)| i as usize).collect();
        // Two copies of one Session have all ids twice: that is one cause, and it was said.
        let one_session = all[owners[0]].session.is_some_and(|id| {
            shared
                .get(&id)
                .is_some_and(|s| owners.iter().all(|o| s.contains(o)))
        });
        if one_session || !owners.iter().any(|&i| asked(i)) {
            continue;
        }
        let id = group[0].0;
        let first = &all[owners[0]];
        let names: Vec<String> = owners
            .iter()
            .map(|&i| all[i].path().display().to_string())
            .collect();
        found.findings.push(Finding::new(
            Code::DuplicateSegmentId,
            Subject {
                worker_id: first.folder.id,
                session_id: first.session,
                segment_id: Some(id),
                ..Subject::default()
            },
            Locus::file(
                first
                    .path()
                    .join(file::SESSION_DIR)
                    .join(file::SEGMENTS)
                    .join(Paths::segment_name(id)),
            ),
            format!(
                "Segment {id} stands in {}: a copy, or a foreign history",
                list(&names)
            ),
        ));
    }
}

fn foreign_sources(
    all: &[Census<'_>],
    asked: &dyn Fn(usize) -> bool,
    places: &Places,
    found: &mut Found,
) {
    for (i, census) in all.iter().enumerate() {
        if !asked(i) {
            continue;
        }
        for foreign in census.foreign() {
            let at = places.partition_point(|(id, _)| *id < foreign.source);
            let elsewhere = places.get(at).filter(|(id, _)| *id == foreign.source);
            let finding = match elsewhere {
                Some(&(_, owner)) => Finding::new(
                    Code::LineageOtherSession,
                    foreign.subject,
                    foreign.locus.clone(),
                    format!(
                        "Segment {} says that it was {} {} at turn {}, which lies in {}: a fork or compaction stays in its source's Session",
                        foreign.segment,
                        foreign.how,
                        foreign.source,
                        foreign.turn,
                        all[owner as usize].path().display()
                    ),
                )
                .with_hint(format!("wagg segment diff {} {}", foreign.segment, foreign.source)),
                None => Finding::new(
                    Code::LineageMissingSource,
                    foreign.subject,
                    foreign.locus.clone(),
                    format!(
                        "Segment {} says that it was {} {} at turn {}, which is not in this store: {} itself can be restored, what its source held before that can not",
                        foreign.segment, foreign.how, foreign.source, foreign.turn, foreign.segment
                    ),
                )
                .with_hint("look for the file in a backup, or in the legacy Session root"),
            };
            found.findings.push(finding);
        }
    }
}

fn names(all: &[Census<'_>], asked: &dyn Fn(usize) -> bool, found: &mut Found) {
    if all.iter().all(|census| census.named().is_empty()) {
        return;
    }
    let ids: Vec<WorkerId> = {
        let mut ids: Vec<WorkerId> = all
            .iter()
            .flat_map(|c| [c.folder.id, c.document_id])
            .flatten()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    for (i, census) in all.iter().enumerate() {
        if !asked(i) {
            continue;
        }
        for named in census.named() {
            let here = named
                .name
                .worker_id()
                .is_some_and(|id| ids.binary_search(&id).is_ok());
            let code = match named.role {
                _ if here => continue,
                NamedAs::Reclaimed => continue, // its scope is back; where it is matters to nobody
                NamedAs::Child => Code::ChildMissing,
                NamedAs::Peer => Code::PeerMissing,
            };
            let message = match named.role {
                NamedAs::Peer => format!(
                    "the peer {:?} is no Worker of this store; it may live elsewhere, and grants nothing",
                    named.name.as_str()
                ),
                _ => format!(
                    "the child {:?} is no Worker of this store; it may live elsewhere; delegated to it: {}",
                    named.name.as_str(),
                    plural(named.rules, "scope rule", "scope rules")
                ),
            };
            found.findings.push(Finding::new(
                code,
                Subject {
                    worker_id: census.folder.id,
                    ..Subject::default()
                },
                Locus::file(census.path().join(file::METADATA)),
                message,
            ));
        }
    }
}
