//! What a migration would do, Worker by Worker: the very value that is carried out.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::catalog::{self, Found};
use super::compare::{self, Match, at_byte, differs, first_difference};
use super::copy::{Stop, Whose, interrupted, pass_all};
use super::diagnostics::{diagnostics, names_of};
use super::each::each;
use super::facts::{Known, LeftWorker};
use super::manifest::{Manifest, State};
use super::target::{self, Metadata, SessionPlace};
use super::{Options, Sources, noted};
use crate::diag::{Code, Finding, Locus, Progress, Result, Severity, Subject};
use crate::layout::{Paths, SegmentId, SessionId, WorkerId, WorkerName, file};
use crate::ops::ownership::{Claim, Ownership, Source};
use crate::record::document::{MetadataDocument, MigrationDiagnostic};
use crate::record::{Limits, Scanner};
use crate::store::{Dir, Document, Store, read_bytes};

/// What is to be done for one Worker.
#[derive(Debug)]
pub(super) enum Step {
    /// Something is copied.
    Move(Move),
    /// All is in the store already.
    Done,
    /// It is in the store, and its Runtime went on from there.
    Advanced,
    /// The legacy roots have nothing of it.
    Nothing,
    /// It is left as it is, and why.
    Left(Box<Finding>),
    /// It was not come to.
    NotReached,
}

/// What is copied for one Worker.
#[derive(Debug)]
pub(super) struct Move {
    /// Its Session.
    pub session: Option<SessionMove>,
    /// Its metadata.
    pub metadata: bool,
    /// SHA-256 of the legacy metadata, so that one that changes meanwhile is noticed.
    pub digest: [u8; 32],
    /// The Segment that its metadata points at.
    pub segment: Option<SegmentId>,
    /// The metadata collides: the Session is moved, and the Worker is left all the same.
    pub collides: Option<Box<Finding>>,
    /// How many bytes there are to copy, as far as it was looked at.
    pub bytes: u64,
}

/// A Session that is copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionMove {
    pub id: SessionId,
    pub active: Option<SegmentId>,
    /// It takes the place of an empty folder.
    pub over_shell: bool,
}

/// One Worker of the plan.
#[derive(Debug)]
pub(super) struct Item {
    pub id: WorkerId,
    pub step: Step,
    /// Its checkpoint once that is done; none if it stays as it is.
    pub state: Option<State>,
    /// Its Session, as far as it is known.
    pub session: Option<SessionId>,
}

/// The whole plan.
pub(super) struct Plan {
    /// Every Worker that can be told, in order.
    pub items: Vec<Item>,
    /// Folders whose Worker can not be told.
    pub doubtful: Vec<Finding>,
    /// For the manifest.
    pub diagnostics: Vec<MigrationDiagnostic>,
    /// What is worth a remark and in nobody's way.
    pub notes: Vec<Finding>,
    /// Bytes to copy.
    pub bytes: u64,
}

impl Plan {
    /// A plan of nothing.
    pub const fn empty() -> Self {
        Self {
            items: Vec::new(),
            doubtful: Vec::new(),
            diagnostics: Vec::new(),
            notes: Vec::new(),
            bytes: 0,
        }
    }

    /// The Workers of which something is copied.
    pub fn moving(&self) -> impl Iterator<Item = WorkerId> + '_ {
        let moving = self.items.iter();
        moving
            .filter(|item| matches!(item.step, Step::Move(_)))
            .map(|item| item.id)
    }

    /// Those of them whose folder is from then on what a run of ours made of it. Where the metadata
    /// collides, it is somebody else's too.
    pub fn becoming_ours(&self) -> impl Iterator<Item = WorkerId> + '_ {
        let moving = self.items.iter();
        moving
            .filter(|item| matches!(&item.step, Step::Move(m) if m.collides.is_none()))
            .map(|item| item.id)
    }

    /// All that is left, and why.
    pub fn left(&self) -> impl Iterator<Item = &Finding> {
        let of_items = self.items.iter().filter_map(|item| match &item.step {
            Step::Left(finding) => Some(&**finding),
            _ => None,
        });
        of_items.chain(&self.doubtful)
    }

    /// The same as it is noted.
    pub fn left_set(&self) -> BTreeSet<LeftWorker> {
        self.left().map(LeftWorker::of).collect()
    }

    /// Whether all Workers were come to and none is left.
    pub fn is_complete(&self) -> bool {
        self.left().next().is_none()
            && self
                .items
                .iter()
                .all(|item| !matches!(item.step, Step::NotReached))
    }
}

/// Makes the plan. Only reads.
///
/// `check` says that every source is read to its end, as the copy would: for a dry run.
pub(super) fn plan(
    store: &Store,
    sources: &mut Sources,
    manifest: &Manifest,
    known: &Known,
    options: &Options,
    check: bool,
    progress: &dyn Progress,
) -> Result<Plan> {
    progress.message("the catalog");
    let found = catalog::look(store, known, options, progress)?;
    progress.message("who owns what");
    let said = std::mem::take(&mut sources.said);
    let ownership = Ownership::judge(&found.catalog, said);
    if found.interrupted || progress.interrupted() {
        return Err(interrupted());
    }
    let diagnostics = diagnostics(&found.catalog, &ownership, sources);
    let Found {
        workers,
        doubtful,
        as_noted,
        mut notes,
        ..
    } = found;
    notes.extend(of_orphans(&ownership, &found.catalog, sources));
    progress.message("what is there");
    let examiner = Examiner {
        store,
        sources,
        manifest,
        known,
        ownership: &ownership,
        as_noted: &as_noted,
        deep: options.deep,
        check,
        progress,
    };
    let looked = each(
        options.jobs,
        &workers,
        || Scanner::new(Limits::default()),
        |tools, id| examiner.worker(*id, tools),
    );
    let mut plan = Plan {
        items: Vec::with_capacity(looked.len()),
        doubtful,
        diagnostics,
        notes,
        bytes: 0,
    };
    for looked in looked {
        let (item, notes) = looked?;
        plan.notes.extend(notes);
        plan.items.push(item);
    }
    if options.fail_fast {
        stop_early(&mut plan);
    }
    plan.bytes = plan
        .items
        .iter()
        .map(|item| match &item.step {
            Step::Move(moving) => moving.bytes,
            _ => 0,
        })
        .sum();
    Ok(plan)
}

/// The old way: the first trouble ends it, and one that concerns a shared Session before anything
/// is moved.
fn stop_early(plan: &mut Plan) {
    let shared = plan
        .items
        .iter()
        .any(|item| matches!(item.state, Some(State::Shared(_))));
    let mut stopped = shared || !plan.doubtful.is_empty();
    for item in &mut plan.items {
        let is_shared = matches!(item.state, Some(State::Shared(_)));
        if stopped && !is_shared {
            item.step = Step::NotReached;
            item.state = None;
        }
        stopped |= match &item.step {
            Step::Left(_) => true,
            Step::Move(moving) => moving.collides.is_some(),
            _ => false,
        };
    }
}

/// Metadata of somebody else that does not read: in nobody's way.
fn of_orphans(
    ownership: &Ownership,
    catalog: &crate::ops::ownership::Catalog,
    sources: &Sources,
) -> Vec<Finding> {
    use crate::ops::ownership::{Says, Standing};
    let mut notes = Vec::new();
    for source in ownership.sources() {
        let Says::Trouble(trouble) = &source.says else {
            continue;
        };
        let standing = source.worker.map(|id| catalog.standing(id));
        if standing.is_some_and(|standing| standing != Standing::Unknown) {
            continue;
        }
        let path = sources
            .roots
            .metadata
            .join(&source.folder)
            .join(file::METADATA);
        let what = "metadata that no Worker of the catalog owns";
        notes.push(
            trouble
                .finding(Subject::default(), path, what)
                .with_severity(Severity::Warning),
        );
    }
    notes
}

/// Looks at one Worker after the other, on any thread.
struct Examiner<'a> {
    store: &'a Store,
    sources: &'a Sources,
    manifest: &'a Manifest,
    known: &'a Known,
    ownership: &'a Ownership,
    /// Workers that are in the store as a run of ours noted them.
    as_noted: &'a BTreeSet<WorkerId>,
    deep: bool,
    check: bool,
    progress: &'a dyn Progress,
}

/// The legacy metadata of a Worker, read once more.
struct Legacy {
    bytes: Vec<u8>,
    digest: [u8; 32],
}

impl Examiner<'_> {
    fn worker(&self, id: WorkerId, tools: &mut Scanner) -> Result<(Item, Vec<Finding>)> {
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

    fn metadata_path(&self, id: WorkerId) -> PathBuf {
        let name = WorkerName::of(id);
        let folder = self.sources.roots.metadata.join(name.as_str());
        folder.join(file::METADATA)
    }

    /// Whether a former run put this Worker in the store, so that its Runtime may have gone on.
    fn was_moved(&self, id: WorkerId) -> bool {
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
            Claim::Nothing => {
                // What was migrated stays so when its source is gone.
                if matches!(self.manifest.state(id), Some("migrated" | "pending")) {
                    item.session = self.manifest.session(id);
                    return Ok(Step::Done);
                }
                item.state = Some(State::NoLegacyMetadata);
                return Ok(Step::Nothing);
            }
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
        let metadata = Metadata::read(&dir, id);
        let Some(session) = session else {
            return self.without_session(item, &whose, &legacy, &metadata);
        };
        let place = target::session(&dir, id);
        let Some(source) = self.source(&whose, session, segment)? else {
            return self.without_source(item, &whose, &legacy, &metadata, &place, segment);
        };
        self.with_source(
            item, &whose, &source, &legacy, &metadata, place, tools, notes,
        )
    }

    /// Whether all of a Worker is as a run of ours noted it, in the store and in the legacy roots;
    /// its checkpoint then.
    fn at_a_glance(&self, id: WorkerId, session: Option<SessionId>) -> Option<State> {
        if !self.as_noted.contains(&id) || !self.sources.as_noted.contains(&id) {
            return None;
        }
        let moved = self.known.moved.get(&id)?;
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
        noted::source(&dir, moved).then_some(State::Migrated(Some(session)))
    }

    fn orphans_hint(&self) -> String {
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
            Stop::from(finding.with_hint("run wagg migrate again"))
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

    /// The legacy metadata points at no Session: only the metadata is moved.
    fn without_session(
        &self,
        item: &mut Item,
        whose: &Whose<'_>,
        legacy: &Legacy,
        metadata: &Metadata,
    ) -> Result<Step, Stop> {
        item.state = Some(State::Migrated(None));
        match self.metadata(whose, legacy, metadata, None)? {
            At::Free => Ok(Step::Move(Move {
                session: None,
                metadata: true,
                digest: legacy.digest,
                segment: whose.active,
                collides: None,
                bytes: legacy.bytes.len() as u64,
            })),
            At::Equal => Ok(Step::Done),
            At::Moved => Ok(Step::Advanced),
            At::Differs(finding) => Err(Stop::Left(finding)),
        }
    }

    /// The Session that the legacy metadata points at is not in the Session root.
    fn without_source(
        &self,
        item: &mut Item,
        whose: &Whose<'_>,
        legacy: &Legacy,
        metadata: &Metadata,
        place: &SessionPlace,
        segment: Option<SegmentId>,
    ) -> Result<Step, Stop> {
        let id = whose.worker;
        let there = matches!(place, SessionPlace::There(s) if s.id == whose.session);
        if segment.is_some() {
            // Its source was cleared away after it was moved.
            if there && self.was_moved(id) {
                return match self.metadata(whose, legacy, metadata, Some(whose.session))? {
                    At::Equal => {
                        item.state = Some(State::Migrated(Some(whose.session)));
                        Ok(Step::Done)
                    }
                    At::Moved => {
                        item.state = Some(State::Migrated(Some(whose.session)));
                        Ok(Step::Advanced)
                    }
                    At::Free => Err(self.missing(whose, segment)),
                    At::Differs(finding) => Err(Stop::Left(finding)),
                };
            }
            return Err(self.missing(whose, segment));
        }
        if let SessionPlace::There(session) = place
            && !there
        {
            return Err(other_session(whose, session.id).into());
        }
        if let SessionPlace::Trouble(finding) = place {
            return Err(finding.clone().into());
        }
        // A Worker that was migrated before keeps that; one that never ran is pending.
        item.state = Some(match self.manifest.state(id) {
            Some("migrated") => State::Migrated(Some(whose.session)),
            _ => State::Pending(whose.session),
        });
        match self.metadata(whose, legacy, metadata, Some(whose.session))? {
            At::Free => Ok(Step::Move(Move {
                session: None,
                metadata: true,
                digest: legacy.digest,
                segment: whose.active,
                collides: None,
                bytes: legacy.bytes.len() as u64,
            })),
            At::Equal if there => Ok(Step::Advanced),
            At::Equal => Ok(Step::Done),
            At::Moved => Ok(Step::Advanced),
            At::Differs(finding) => Err(Stop::Left(finding)),
        }
    }

    fn missing(&self, whose: &Whose<'_>, segment: Option<SegmentId>) -> Stop {
        let subject = Subject {
            worker_id: Some(whose.worker),
            session_id: Some(whose.session),
            segment_id: segment,
            ..Subject::default()
        };
        let alias = self.sources.sessions.strays.iter().find(|stray| {
            let name = stray.name.to_str().map(SessionId::parse_loose);
            matches!(name, Some(Ok((id, false))) if id == whose.session)
        });
        let instead = match alias {
            Some(alias) => format!(
                "no folder has that name; {:?} spells the same id in another way, which no reader takes",
                alias.name.to_string_lossy()
            ),
            None if self.sources.sessions.root.is_absent() => {
                "the Session root is not there".to_owned()
            }
            None => "no folder of that name is in the Session root".to_owned(),
        };
        let message = format!(
            "the legacy metadata points at the Session {}, and {instead}",
            whose.session
        );
        let locus = Locus::file(whose.path);
        let finding = Finding::new(Code::MissingReferencedSession, subject, locus, message);
        finding.with_hint(self.orphans_hint()).into()
    }

    /// The Session is in the Session root: it is compared with what is in the store, or moved.
    #[expect(clippy::too_many_arguments, reason = "all that is known of one Worker")]
    fn with_source(
        &self,
        item: &mut Item,
        whose: &Whose<'_>,
        source: &Dir,
        legacy: &Legacy,
        metadata: &Metadata,
        place: SessionPlace,
        tools: &mut Scanner,
        notes: &mut Vec<Finding>,
    ) -> Result<Step, Stop> {
        let session = whose.session;
        item.state = Some(State::Migrated(Some(session)));
        let went_on = self.was_moved(whose.worker);
        let (over_shell, matched) = match place {
            SessionPlace::Trouble(finding) => return Err(finding.into()),
            SessionPlace::Free => (false, None),
            SessionPlace::Shell => (true, None),
            SessionPlace::There(there) => {
                notes.extend(there.leftovers.iter().cloned());
                if there.id != session {
                    return Err(other_session(whose, there.id).into());
                }
                if self.is_as_noted(whose, source, &there, legacy, metadata) {
                    return Ok(Step::Done);
                }
                let matched =
                    compare::session(source, &there, whose, went_on, tools, self.progress, notes)?;
                (false, Some(matched))
            }
        };
        let at = self.metadata(whose, legacy, metadata, Some(session))?;
        let mut moving = Move {
            session: None,
            metadata: false,
            digest: legacy.digest,
            segment: whose.active,
            collides: None,
            bytes: 0,
        };
        match (matched, at) {
            (Some(Match::Equal), At::Equal) => return Ok(Step::Done),
            (Some(_), At::Equal | At::Moved) => return Ok(Step::Advanced),
            (Some(Match::Equal), At::Free) => {
                moving.metadata = true;
                moving.bytes = legacy.bytes.len() as u64;
            }
            (Some(Match::Advanced), At::Free) => {
                let text = "the Runtime went on in this Session, and its metadata.json is gone: the legacy one may point at an older Segment";
                let locus = Locus::file(Paths::metadata(whose.worker));
                return Err(differs(whose, locus, text.to_owned()).into());
            }
            (None, At::Differs(finding)) if went_on => return Err(Stop::Left(finding)),
            (None, At::Moved) => {
                let text = "the metadata in the store and the legacy one have parted, and the store has no Session";
                let locus = Locus::file(Paths::session_dir(whose.worker));
                return Err(differs(whose, locus, text.to_owned()).into());
            }
            (None, at) => {
                moving.session = Some(SessionMove {
                    id: session,
                    active: whose.active,
                    over_shell,
                });
                moving.metadata = matches!(at, At::Free);
                if let At::Differs(finding) = at {
                    moving.collides = Some(finding);
                    item.state = None;
                }
                moving.bytes = self.check_source(whose, source, tools, notes)?;
                moving.bytes += legacy.bytes.len() as u64;
            }
            (Some(_), At::Differs(finding)) => return Err(Stop::Left(finding)),
        }
        Ok(Step::Move(moving))
    }

    /// How many bytes a Session has. For a dry run, and for one that was left before, all of them
    /// are read and checked, as the copy would.
    fn check_source(
        &self,
        whose: &Whose<'_>,
        source: &Dir,
        tools: &mut Scanner,
        notes: &mut Vec<Finding>,
    ) -> Result<u64, Stop> {
        if self.check || self.known.was_left(whose.worker) {
            let (files, found) = pass_all(source, whose, tools, self.progress, None)?;
            if self.check {
                notes.extend(found);
            }
            return Ok(files.iter().map(|file| file.bytes).sum());
        }
        let files = super::copy::list(source, whose)?;
        Ok(files
            .iter()
            .filter_map(|file| source.stat(&file.name).ok())
            .map(|stat| stat.len)
            .sum())
    }

    /// How the metadata in the store stands to the legacy one.
    fn metadata(
        &self,
        whose: &Whose<'_>,
        legacy: &Legacy,
        metadata: &Metadata,
        session: Option<SessionId>,
    ) -> Result<At, Stop> {
        let id = whose.worker;
        let bytes = match metadata {
            Metadata::Free => return Ok(At::Free),
            Metadata::Trouble(finding) => return Ok(At::Differs(Box::new(finding.clone()))),
            Metadata::There(bytes) => bytes,
        };
        if *bytes == legacy.bytes {
            return Ok(At::Equal);
        }
        let path = Paths::metadata(id);
        let byte = first_difference(bytes, &legacy.bytes);
        let refuse = |text: String| {
            let locus = at_byte(&path, byte);
            Ok(At::Differs(Box::new(differs(whose, locus, text))))
        };
        let document = metadata.document();
        if let Some(document) = &document
            && same_sense(bytes, &legacy.bytes)
            && document.worker_name == WorkerName::of(id).as_str()
        {
            return Ok(At::Equal);
        }
        if !self.was_moved(id) {
            return refuse(format!(
                "the store has another metadata.json than the legacy one, from byte {byte} on"
            ));
        }
        let Some(document) = document else {
            return refuse("the store's metadata.json can not be read, so it can not be told whether its Worker went on".to_owned());
        };
        if document.worker_name != WorkerName::of(id).as_str() {
            return refuse(format!(
                "the store's metadata.json carries the name {:?}",
                document.worker_name
            ));
        }
        let active = document.active.as_ref().and_then(|a| a.session());
        match (active, session) {
            (Some(now), Some(then)) if now != then => refuse(format!(
                "the store's metadata.json points at the Session {now}, the legacy one at {then}"
            )),
            _ => Ok(At::Moved),
        }
    }

    /// Whether all is as it was when a run of ours moved it: by names, sizes and times.
    fn is_as_noted(
        &self,
        whose: &Whose<'_>,
        source: &Dir,
        there: &target::Session,
        legacy: &Legacy,
        metadata: &Metadata,
    ) -> bool {
        let Some(noted) = self.known.moved.get(&whose.worker) else {
            return false;
        };
        let Metadata::There(bytes) = metadata else {
            return false;
        };
        let Some(segments) = &there.segments else {
            return false;
        };
        let names = |listed: &[std::ffi::OsString]| {
            listed.len() == noted.files.len()
                && listed
                    .iter()
                    .zip(&noted.files)
                    .all(|(a, b)| a == b.name.as_str())
        };
        let Ok(entries) = source.entries() else {
            return false;
        };
        let listed: Vec<_> = entries.into_iter().map(|e| e.name).collect();
        !self.deep
            && *bytes == legacy.bytes
            && noted.session_id == Some(whose.session)
            && names(&there.names)
            && names(&listed)
            && noted.files.iter().all(|file| {
                let is = |dir: &Dir, time| {
                    dir.stat(&file.name).is_ok_and(|stat| {
                        stat.kind == crate::store::EntryKind::File
                            && stat.len == file.bytes
                            && super::facts::time_of(&stat) == time
                    })
                };
                is(source, file.source_time) && is(segments, file.time)
            })
    }
}

/// Whether two documents say the same, spelt in another way.
fn same_sense(a: &[u8], b: &[u8]) -> bool {
    use serde_json::Value;
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    parse(a).is_some_and(|a| Some(a) == parse(b))
}

/// How the metadata in the store stands to the legacy one.
enum At {
    /// There is none.
    Free,
    /// It says the same.
    Equal,
    /// A former run put it there, and its Worker went on.
    Moved,
    /// It is something else.
    Differs(Box<Finding>),
}

/// The Session in the store is another one.
fn other_session(whose: &Whose<'_>, there: SessionId) -> Finding {
    let subject = Subject {
        worker_id: Some(whose.worker),
        session_id: Some(whose.session),
        ..Subject::default()
    };
    let message = format!(
        "the store's Session is {there}, and the legacy metadata points at {}",
        whose.session
    );
    let path = Paths::session_document(whose.worker);
    Finding::new(Code::SessionMismatch, subject, Locus::file(path), message)
        .with_hint(format!("wagg show {}", whose.worker))
}

/// How many owners a message names before it only counts.
const NAMED: usize = 10;
