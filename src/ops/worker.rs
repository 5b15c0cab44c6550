//! Workers as a person asks about them: the catalog in a table, and one Worker with all that its
//! documents say. A list counts and sizes Segments; those of one Worker are read.

pub mod children;
pub mod create;
mod metadata;
pub mod peer;

use std::num::NonZeroUsize;
use std::path::Path;

use serde::Serialize;

use crate::diag::{Code, Finding, NoProgress, Result, Severity};
use crate::layout::{
    Generation, SegmentEntry, SegmentId, SessionId, WorkerId, WorkerName, classify_segment, file,
};
use crate::ops::read::{Time, WorkerRef};
use crate::ops::run;
use crate::ops::verify::{self, verify_folder};
use crate::record::document::{MetadataDocument, ScopeRule, WorkerDocument};
use crate::store::{
    Document, EntryKind, Folder, SegmentsFolder, SessionFolder, Store, WorkerFolder, WorkerState,
};

/// What there is of a Worker's Session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// None, and none is reserved.
    None,
    /// An id in `metadata.json`, and nothing on disk yet.
    Reserved,
    /// It is there.
    Present,
    /// Something is there that does not say which Session it is.
    Damaged,
    /// Something is there that can not be read.
    Unreadable,
    /// It is of a version that this program does not know.
    UnsupportedVersion,
}

impl SessionStatus {
    /// The word that stands in tables and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reserved => "reserved",
            Self::Present => "present",
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
            Self::UnsupportedVersion => "unsupported_version",
        }
    }
}

/// One Worker in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its id: that of the folder, else that of `worker.json`; none if neither has one.
    pub worker_id: Option<WorkerId>,
    /// Its folder, relative to the store.
    pub path: String,
    /// The name for people, from `worker.json`.
    pub display_name: Option<String>,
    /// The name in `metadata.json`.
    pub worker_name: Option<String>,
    /// What there is of its Session.
    pub session: SessionStatus,
    /// The Session's id.
    pub session_id: Option<SessionId>,
    /// The Segment that a restore starts from.
    pub active_segment_id: Option<SegmentId>,
    /// How many Segments it has.
    pub segments: u64,
    /// Bytes of its Segments.
    pub segment_bytes: u64,
    /// Bytes of the traces beside them.
    pub trace_bytes: u64,
    /// When a Segment was last written.
    pub changed: Option<Time>,
    /// The last generation that `worker.json` gave out.
    pub generation: Option<Generation>,
    /// `worker.json` is there and can not be read, so that nothing in it is known.
    #[serde(skip)]
    pub is_shut: bool,
    /// How many run folders there are.
    pub runs: u64,
    /// Runs that answer on their socket: a hint, no proof.
    pub live_runs: Vec<String>,
    /// Runs with a socket on which nothing answers.
    pub stale_sockets: Vec<String>,
    /// What is wrong, as far as documents and names tell; each code once.
    pub problems: Vec<Code>,
}

/// Lists the Workers of a store one after the other, in the order of their ids, then folders that
/// name none, then what stands under a Worker's id and is no folder. Another folder of `workers/`
/// that holds nothing of a Worker is none.
///
/// # Errors
/// `workers/` can not be read. A Worker that can not be read is listed with that as its problem.
pub fn list(store: &Store) -> Result<impl Iterator<Item = Summary>> {
    let folders = store.worker_folders()?;
    let others = store.no_worker_folders()?;
    // What a store of another version holds may mean something else.
    let unknown = store.is_of_unknown_version();
    let listed = folders.into_iter().filter_map(move |folder| {
        let state = match store.worker_dir(&folder.name) {
            Ok(Some(dir)) => WorkerState::read(folder.clone(), dir).ok(),
            Ok(None) => return None, // it went since it was listed
            Err(_) => None,
        };
        let Some(state) = state else {
            return Some(unreadable(&folder, Code::Unreadable));
        };
        state.is_a_worker().then(|| summary(&state))
    });
    let others = others
        .into_iter()
        .map(|(folder, kind)| unreadable(&folder, of_kind(kind)));
    Ok(listed.chain(others).map(move |mut summary| {
        if unknown {
            summary.problems.push(Code::UnsupportedSchemaVersion);
            summary.problems.sort_unstable();
            summary.problems.dedup();
        }
        summary
    }))
}

fn unreadable(folder: &WorkerFolder, why: Code) -> Summary {
    Summary {
        worker_id: folder.id,
        path: path_of(folder),
        display_name: None,
        worker_name: None,
        session: SessionStatus::Unreadable,
        session_id: None,
        active_segment_id: None,
        segments: 0,
        segment_bytes: 0,
        trace_bytes: 0,
        changed: None,
        generation: None,
        is_shut: true,
        runs: 0,
        live_runs: Vec::new(),
        stale_sockets: Vec::new(),
        problems: vec![why],
    }
}

fn path_of(folder: &WorkerFolder) -> String {
    Path::new(file::WORKERS)
        .join(&folder.name)
        .to_string_lossy()
        .into_owned()
}

/// Sums one Worker up.
#[must_use]
pub fn summary(state: &WorkerState) -> Summary {
    let document = state.worker.good();
    let metadata = state.metadata.good();
    let segments = state.segments();
    let sizes = segments.map(sizes).unwrap_or_default();
    let own = state.session_document().and_then(|d| d.session());
    let active = metadata.and_then(|m| m.active.as_ref());
    let reserved = active.and_then(|active| active.session());
    let (live_runs, stale_sockets) = state.runs.read().map(run::sockets).unwrap_or_default();
    Summary {
        worker_id: state.folder.id.or_else(|| state.id()),
        path: path_of(&state.folder),
        display_name: document
            .and_then(WorkerDocument::display_name)
            .map(str::to_owned),
        worker_name: metadata.map(|m| m.worker_name.clone()),
        session: status(state, sizes.segments, reserved),
        session_id: own.or(reserved),
        active_segment_id: active.and_then(|active| active.segment()),
        segments: sizes.segments,
        segment_bytes: sizes.segment_bytes,
        trace_bytes: sizes.trace_bytes,
        changed: sizes.changed,
        generation: document.and_then(|d| Generation::new(d.run_generation)),
        is_shut: document.is_none() && !state.worker.is_missing(),
        runs: state
            .runs
            .read()
            .map_or(0, |runs| runs.generations().len() + runs.named().count()) as u64,
        live_runs,
        stale_sockets,
        problems: problems(state),
    }
}

#[derive(Default)]
struct Sizes {
    segments: u64,
    segment_bytes: u64,
    trace_bytes: u64,
    changed: Option<Time>,
}

fn sizes(folder: &SegmentsFolder) -> Sizes {
    let mut sizes = Sizes::default();
    let files = folder.entries.iter().filter(|e| e.kind == EntryKind::File);
    for entry in files {
        let is_trace = match entry.name.to_str().map(classify_segment) {
            Some(SegmentEntry::Segment(_)) => false,
            Some(SegmentEntry::Trace(_)) => true,
            _ => continue,
        };
        // One that went since it was listed has no size.
        let stat = folder.dir.try_stat(&entry.name).ok().flatten();
        let len = stat.map_or(0, |stat| stat.len);
        if is_trace {
            sizes.trace_bytes = sizes.trace_bytes.saturating_add(len);
            continue;
        }
        sizes.segments += 1;
        sizes.segment_bytes = sizes.segment_bytes.saturating_add(len);
        sizes.changed = sizes.changed.max(stat.as_ref().and_then(Time::of));
    }
    sizes
}

fn status(state: &WorkerState, segments: u64, reserved: Option<SessionId>) -> SessionStatus {
    match &state.session {
        Folder::NotAFolder(_) => return SessionStatus::Damaged,
        Folder::Unreadable(_) => return SessionStatus::Unreadable,
        Folder::Read(session) => match &session.document {
            Document::Good(_) => return SessionStatus::Present,
            Document::Missing if segments == 0 => {}
            Document::Unreadable(_) => return SessionStatus::Unreadable,
            Document::Faulty(fault) if fault.code == Code::UnsupportedSchemaVersion => {
                return SessionStatus::UnsupportedVersion;
            }
            _ => return SessionStatus::Damaged,
        },
        Folder::Missing => {}
    }
    match reserved {
        Some(_) => SessionStatus::Reserved,
        None => SessionStatus::None,
    }
}

/// The problems of a Worker that documents and names tell: errors and warnings, each once, in the
/// order of the table. `verify` says more, with places.
#[must_use]
pub fn problems(state: &WorkerState) -> Vec<Code> {
    let mut codes = Vec::new();
    of_document(&state.worker, &mut codes);
    of_document(&state.metadata, &mut codes);
    if state.worker.is_missing() {
        codes.push(Code::MissingWorkerDocument);
    }
    let known = [
        state.folder.id,
        state.worker.good().and_then(WorkerDocument::worker_id),
    ];
    if let Some(document) = state.worker.good() {
        let id = document.worker_id();
        if id != document.worker_ref() || id != state.folder.id {
            codes.push(Code::WorkerIdMismatch);
        }
    }
    if let Some(metadata) = state.metadata.good() {
        of_names(metadata, &known, &mut codes);
    }
    of_session(state, &mut codes);
    of_runs(state, &mut codes);
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn of_kind(kind: EntryKind) -> Code {
    match kind {
        EntryKind::Symlink => Code::SymbolicLink,
        _ => Code::NotARegularFile,
    }
}

fn of_document<T>(document: &Document<T>, codes: &mut Vec<Code>) {
    match document {
        Document::Good(_) | Document::Missing => {}
        Document::NotAFile(kind) => codes.push(of_kind(*kind)),
        Document::Unreadable(_) => codes.push(Code::Unreadable),
        Document::Faulty(fault) => codes.push(fault.code),
    }
}

fn of_folder<T>(folder: &Folder<T>, codes: &mut Vec<Code>) {
    match folder {
        Folder::Missing | Folder::Read(_) => {}
        Folder::NotAFolder(kind) => codes.push(of_kind(*kind)),
        Folder::Unreadable(_) => codes.push(Code::Unreadable),
    }
}

fn of_names(metadata: &MetadataDocument, known: &[Option<WorkerId>], codes: &mut Vec<Code>) {
    match metadata.worker_name.parse::<WorkerName>() {
        Err(_) => codes.push(Code::UnsafeName),
        Ok(name) => {
            let fits = |id: &WorkerId| WorkerName::of(*id) == name;
            if !known.iter().flatten().any(fits) {
                codes.push(Code::WorkerNameMismatch);
            }
        }
    }
    let children = metadata.spawned_children.iter().map(|c| &c.worker_name);
    let reclaimed = metadata.reclaimed_children.iter().map(|c| &c.worker_name);
    let peers = metadata.peers.iter().map(|p| &p.worker_name);
    let mut others = children.clone().chain(reclaimed.clone()).chain(peers);
    if others.any(|name| name.parse::<WorkerName>().is_err()) {
        codes.push(Code::UnsafeName);
    }
    if children.clone().any(|c| reclaimed.clone().any(|r| r == c)) {
        codes.push(Code::ScopeNotReclaimed);
    }
}

fn of_session(state: &WorkerState, codes: &mut Vec<Code>) {
    of_folder(&state.session, codes);
    let session: Option<&SessionFolder> = state.session.read();
    let mut segments: Vec<SegmentId> = Vec::new();
    // Something stands under the name, whatever it is.
    let mut taken: Vec<SegmentId> = Vec::new();
    let mut own = None;
    if let Some(session) = session {
        of_document(&session.document, codes);
        of_folder(&session.segments, codes);
        own = session.document.good().and_then(|d| d.session());
        for entry in session.segments.read().map_or(&[][..], |s| &s.entries) {
            if let Some(SegmentEntry::Segment(id)) = entry.name.to_str().map(classify_segment) {
                taken.push(id);
            }
            match (entry.name.to_str().map(classify_segment), entry.kind) {
                (Some(SegmentEntry::Segment(id)), EntryKind::File) => segments.push(id),
                (Some(SegmentEntry::Trace(_)), EntryKind::File) => {}
                (Some(SegmentEntry::Other) | None, EntryKind::Symlink) => {
                    codes.push(Code::SymbolicLink);
                }
                (Some(SegmentEntry::Other) | None, _) => {}
                (Some(SegmentEntry::Alias { .. } | SegmentEntry::BadStem), EntryKind::File) => {
                    codes.push(Code::BadFileName);
                }
                (_, kind) => codes.push(of_kind(kind)),
            }
        }
        if session.document.is_missing() && !segments.is_empty() {
            codes.push(Code::MissingSessionDocument);
        }
    }
    let active = state.metadata.good().and_then(|m| m.active.as_ref());
    let Some(active) = active else {
        let readable = state.metadata.is_missing() || state.metadata.good().is_some();
        if readable && (own.is_some() || !segments.is_empty()) {
            codes.push(Code::MissingMetadata);
        }
        return;
    };
    if own.is_some() && active.session() != own {
        codes.push(Code::ActiveOtherSession);
    } else if let Some(segment) = active.segment()
        && !taken.contains(&segment)
        && can_tell(state)
    {
        codes.push(Code::ActiveMissingSegment);
    }
}

/// Whether a Segment that is not seen is not there.
fn can_tell(state: &WorkerState) -> bool {
    match &state.session {
        Folder::Missing => true,
        Folder::Read(session) => matches!(session.segments, Folder::Missing | Folder::Read(_)),
        Folder::NotAFolder(_) | Folder::Unreadable(_) => false,
    }
}

fn of_runs(state: &WorkerState, codes: &mut Vec<Code>) {
    of_folder(&state.runs, codes);
    let highest = state
        .runs
        .read()
        .and_then(|runs| runs.generations().last().copied());
    if let (Some(highest), Some(document)) = (highest, state.worker.good())
        && highest.get() > document.run_generation
    {
        codes.push(Code::GenerationBehind);
    }
}

/// A Worker that another one may know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Relative {
    /// As written; never used as a path.
    pub worker_name: String,
    /// The Worker of this store that the name means, as Runtimes give names.
    pub worker_id: Option<WorkerId>,
    /// The scope that was delegated to it, or taken back from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<ScopeRule>>,
}

impl Relative {
    fn of(name: &str, scope: Option<&[ScopeRule]>) -> Self {
        Self {
            worker_id: name
                .parse::<WorkerName>()
                .ok()
                .and_then(|name| name.worker_id()),
            worker_name: name.to_owned(),
            scope: scope.map(<[ScopeRule]>::to_vec),
        }
    }
}

/// One Worker with all that its documents say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Details {
    /// What a list says of it.
    #[serde(flatten)]
    pub summary: Summary,
    /// The version of `worker.json`.
    pub schema_version: Option<u64>,
    /// The profile's selector.
    pub profile: Option<String>,
    /// The workspace that it belongs to.
    pub workspace_id: Option<String>,
    /// Children that it spawned.
    pub children: Vec<Relative>,
    /// Children whose scope was taken back.
    pub reclaimed_children: Vec<Relative>,
    /// Workers that it may talk to.
    pub peers: Vec<Relative>,
    /// What is worth a look, in documents and in Segments.
    pub findings: Vec<Finding>,
}

/// Shows one Worker.
///
/// # Errors
/// Its folder can not be read.
pub fn show(store: &Store, worker: &WorkerRef) -> Result<Details> {
    let state = worker.state(store)?;
    let document = state.worker.good();
    let metadata = state.metadata.good();
    let options = verify::Options::with_jobs(NonZeroUsize::MIN);
    let folder = WorkerFolder::of(worker.folder.clone());
    let mut findings = verify_folder(store, &folder, &options, &NoProgress);
    findings.sort_by_key(|finding| finding.severity);
    let mut summary = summary(&state);
    let loud = findings.iter().filter(|f| f.severity != Severity::Info);
    summary.problems.extend(loud.map(|finding| finding.code));
    summary.problems.sort_unstable();
    summary.problems.dedup();
    Ok(Details {
        summary,
        schema_version: document.map(|d| d.schema_version),
        profile: document.map(|d| d.profile().to_owned()),
        workspace_id: document
            .and_then(WorkerDocument::workspace)
            .map(str::to_owned),
        children: relatives(metadata, |m| {
            m.spawned_children
                .iter()
                .map(|c| Relative::of(&c.worker_name, Some(&c.scope_delegated)))
                .collect()
        }),
        reclaimed_children: relatives(metadata, |m| {
            m.reclaimed_children
                .iter()
                .map(|c| Relative::of(&c.worker_name, Some(&c.scope_delegated)))
                .collect()
        }),
        peers: relatives(metadata, |m| {
            m.peers
                .iter()
                .map(|p| Relative::of(&p.worker_name, None))
                .collect()
        }),
        findings,
    })
}

fn relatives(
    metadata: Option<&MetadataDocument>,
    read: impl FnOnce(&MetadataDocument) -> Vec<Relative>,
) -> Vec<Relative> {
    metadata.map(read).unwrap_or_default()
}
