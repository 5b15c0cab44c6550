//! The part in the legacy roots: each source and each Session folder is looked at once (C26).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::history::Looker;
use super::leftovers::Leftovers;
use super::within::{self, Within};
use super::{Item, Owner, describe, document_of, owner};
use crate::diag::{Code, Finding, Locus, Progress, Subject, shell};
use crate::layout::{SegmentId, SessionId, WorkerId, WorkerName, leftover};
use crate::ops::legacy::{MetadataRoot, Root, Roots, SessionRoot};
use crate::ops::ownership::{Ownership, Says, Source, Standing};
use crate::store::{Dir, Entry, EntryKind};

/// All that the legacy part needs.
pub(super) struct Legacy<'a> {
    pub(super) roots: &'a Roots,
    pub(super) metadata: &'a MetadataRoot,
    pub(super) sessions: &'a SessionRoot,
    pub(super) within: &'a Within,
    pub(super) ownership: &'a Ownership,
    pub(super) now: Timestamp,
}

impl Legacy<'_> {
    /// Looks at both roots.
    pub(super) fn look(&self, progress: &dyn Progress, items: &mut Vec<Item>) {
        self.root_trouble(&self.sessions.root, &self.roots.sessions, items);
        self.root_trouble(&self.metadata.root, &self.roots.metadata, items);
        let aliases = self.aliases();
        for source in self.ownership.sources() {
            if progress.interrupted() {
                return;
            }
            self.source(source, &aliases, items);
        }
        let mut looker = Looker::new();
        for (session, claimants) in self.ownership.shared() {
            match within::shared_in_store(session, claimants) {
                Some(item) => items.push(item),
                None => self.shared(session, &mut looker, items),
            }
        }
        self.session_folders(progress, &mut looker, items);
        self.strays(
            &self.metadata.root,
            &self.metadata.strays,
            &self.roots.metadata,
            items,
        );
    }

    fn root_trouble(&self, root: &Root, path: &Path, items: &mut Vec<Item>) {
        if let Root::Trouble(trouble) = root {
            let what = "this legacy root was not looked at";
            items.push(trouble.finding(Subject::default(), path, what).into());
        }
    }

    /// Folders whose name spells a Session id in another way.
    fn aliases(&self) -> BTreeMap<SessionId, &OsStr> {
        let strays = self.sessions.strays.iter();
        strays
            .filter(|stray| stray.kind == EntryKind::Dir)
            .filter_map(|stray| Some((alias(&stray.name)?, stray.name.as_os_str())))
            .collect()
    }

    // ------------------------------------------------------------ metadata

    fn source(
        &self,
        source: &Source,
        aliases: &BTreeMap<SessionId, &OsStr>,
        items: &mut Vec<Item>,
    ) {
        let standing = source
            .worker
            .map_or(Standing::Unknown, |id| self.within.catalog.standing(id));
        let owned = standing != Standing::Unknown;
        let subject = Subject {
            worker_id: source.worker.filter(|_| owned),
            session_id: source.session(),
            ..Subject::default()
        };
        let document = document_of(self.roots, &source.folder);
        match &source.says {
            Says::Nothing => {
                let path = self.roots.metadata.join(&source.folder);
                if source.folder.to_str().and_then(leftover).is_none() {
                    let message = "a folder without metadata.json, so nothing points from here";
                    let locus = Locus::file(path);
                    items.push(Finding::new(Code::UnknownFolder, subject, locus, message).into());
                }
                return;
            }
            Says::Trouble(trouble) => {
                let what = format!(
                    "which Session {} points at can not be told",
                    source.folder.to_string_lossy()
                );
                items.push(trouble.finding(subject, document, &what).into());
            }
            Says::Points {
                session, segment, ..
            } if owned => {
                self.misnamed(source, subject, &document, items);
                if let Some(session) = session {
                    let target = Target {
                        session: *session,
                        segment: *segment,
                        alias: aliases.get(session).copied(),
                    };
                    self.target(source, &target, subject, document, items);
                }
            }
            Says::Points { .. } => {}
        }
        if !owned {
            self.orphan_metadata(source, subject, items);
        }
    }

    fn misnamed(&self, source: &Source, subject: Subject, document: &Path, items: &mut Vec<Item>) {
        let Some(name) = source.other_name() else {
            return;
        };
        let (code, why) = match name.parse::<WorkerName>() {
            Ok(_) => (Code::WorkerNameMismatch, String::new()),
            Err(e) => (
                Code::UnsafeName,
                format!(", which can be nobody's name: {e}"),
            ),
        };
        let message = format!(
            "the folder is {:?} and worker_name in it is {name:?}{why}",
            source.folder.to_string_lossy()
        );
        items.push(Finding::new(code, subject, Locus::file(document), message).into());
    }

    /// Whether the Session that a Worker's metadata points at is there.
    fn target(
        &self,
        source: &Source,
        target: &Target<'_>,
        subject: Subject,
        document: PathBuf,
        items: &mut Vec<Item>,
    ) {
        let session = target.session;
        let moved = source
            .worker
            .and_then(|id| self.within.catalog.session_of(id));
        if self.sessions.folders.contains(&session)
            || moved == Some(session)
            // That finding says what is there.
            || self.ownership.claimants(session).len() > 1
            || matches!(self.sessions.root, Root::Trouble(_))
        {
            return;
        }
        let subject = Subject {
            segment_id: target.segment,
            ..subject
        };
        let locus = Locus::file(document);
        let instead = self.sessions.instead_of(session);
        if instead == Some(EntryKind::Symlink) {
            return; // the link is a finding of its own, which names who points at it
        }
        let instead = match (instead, target.alias) {
            (Some(kind), _) => format!("{} stands where its folder should be", kind.noun()),
            (None, Some(alias)) => format!(
                "no folder has that name; {:?} spells the same id in another way, which no reader takes",
                alias.to_string_lossy()
            ),
            (None, None) if target.segment.is_none() => {
                let message = format!(
                    "the Session {session} is reserved and was never written: nothing is missing"
                );
                items.push(Finding::new(Code::ActivePending, subject, locus, message).into());
                return;
            }
            (None, None) if self.sessions.root.is_absent() => {
                "the Session root is not there".to_owned()
            }
            (None, None) => "no folder of that name is in the Session root".to_owned(),
        };
        let segment = target
            .segment
            .map_or_else(String::new, |segment| format!(" (Segment {segment})"));
        let message = format!("points at the Session {session}{segment}, and {instead}");
        let hint = format!(
            "look for {} in other copies of the Session root",
            target
                .segment
                .map_or_else(|| session.to_string(), |s| format!("{s}.jsonl"))
        );
        let finding = Finding::new(Code::MissingReferencedSession, subject, locus, message);
        items.push(finding.with_hint(hint).into());
    }

    fn orphan_metadata(&self, source: &Source, subject: Subject, items: &mut Vec<Item>) {
        let folder = source.folder.to_string_lossy();
        let mut message = match source.worker {
            Some(id) => self.no_worker(id),
            None => match self.within.names.get(folder.as_ref()) {
                Some(ids) => {
                    let ids: Vec<_> = ids
                        .iter()
                        .take(super::NAMED)
                        .map(|id| format!("Worker {id}"))
                        .collect();
                    format!(
                        "no Worker of the catalog owns it by its id; {} goes by that name",
                        ids.join(", ")
                    )
                }
                None => "no Worker of the catalog has that name".to_owned(),
            },
        };
        if let Some(name) = source.other_name() {
            message.push_str(&format!("; worker_name in it is {name:?}"));
        }
        match &source.says {
            Says::Points {
                session: Some(session),
                ..
            } => {
                let others = self.ownership.claimants(*session).len().saturating_sub(1);
                let there = if self.sessions.folders.contains(session) {
                    "which is in the Session root"
                } else {
                    "which is not in the Session root"
                };
                message.push_str(&format!("; it points at the Session {session}, {there}"));
                if others > 0 {
                    message.push_str(&format!(" and to which {others} more point"));
                }
            }
            Says::Points { session: None, .. } => message.push_str("; it points at no Session"),
            Says::Trouble(_) | Says::Nothing => {
                message.push_str("; what it points at can not be told");
            }
        }
        let path = self.roots.metadata.join(&source.folder);
        let finding = Finding::new(
            Code::OrphanWorkerMetadata,
            subject,
            Locus::file(path),
            message,
        );
        // Who else points at the Session stands with the Session, once.
        items.push(finding.into());
    }

    /// Why an id has no Worker, as far as the sequence tells.
    fn no_worker(&self, id: WorkerId) -> String {
        let more = match (id, self.within.sequence) {
            (WorkerId::Number(n), Some(next)) if n < next => {
                format!(
                    "; the sequence of the store is past it ({next}), so there may have been one that was removed"
                )
            }
            (WorkerId::Number(_), Some(next)) => {
                format!("; the store gives out {next} next, so this may belong to another store")
            }
            _ => String::new(),
        };
        format!("no Worker {id} is in the catalog{more}")
    }

    // ------------------------------------------------------------ Sessions

    fn shared(&self, session: SessionId, looker: &mut Looker, items: &mut Vec<Item>) {
        let owners = self.owners(session);
        let name = OsString::from(session.to_string());
        let root = self.sessions.root.dir();
        let there = root.filter(|_| self.sessions.folders.contains(&session));
        let history = there.and_then(|root| looker.look(&root.dir(&name).ok()?).ok());
        let path = match (&there, owners.first().and_then(|o| o.documents.first())) {
            (None, Some(document)) => PathBuf::from(document),
            _ => self.roots.sessions.join(&name),
        };
        let state = match (&there, &history) {
            (None, _) => ", and it is not in the Session root".to_owned(),
            (Some(_), None) => String::new(),
            (Some(_), Some(history)) => format!("; it holds {}", history.describe()),
        };
        let message = format!(
            "{} owners point at the Session {session}: {}; it goes to none of them{state}",
            owners.len(),
            describe(&owners)
        );
        let subject = Subject {
            session_id: Some(session),
            ..Subject::default()
        };
        let finding = Finding::new(
            Code::SharedSessionReference,
            subject,
            Locus::file(path),
            message,
        )
        .with_hint("a person decides whose it is: take the pointer out of the metadata that is wrong, then run the same command again");
        items.push(Item {
            owners,
            history,
            ..Item::new(finding)
        });
    }

    /// All who point at a Session, as data.
    fn owners(&self, session: SessionId) -> Vec<Owner> {
        let claimants = self.ownership.claimants(session);
        let claimants = claimants.iter();
        claimants.map(|c| owner(c, Some(self.roots))).collect()
    }

    /// Those who point at a Session, for a message; as many as it names.
    fn named(&self, session: SessionId) -> String {
        let claimants = self.ownership.claimants(session);
        let owners: Vec<_> = claimants
            .iter()
            .take(super::NAMED + 1)
            .map(|c| owner(c, Some(self.roots)))
            .collect();
        describe(&owners)
    }

    fn session_folders(&self, progress: &dyn Progress, looker: &mut Looker, items: &mut Vec<Item>) {
        let Some(root) = self.sessions.root.dir() else {
            return;
        };
        let nobody = self.nobody_points();
        for session in &self.sessions.folders {
            if progress.interrupted() {
                return;
            }
            if self.ownership.is_owned(*session) {
                continue;
            }
            let owners = self.owners(*session);
            let who = if owners.is_empty() {
                nobody.clone()
            } else {
                format!(
                    "no Worker of the catalog points at it; {} does",
                    describe(&owners)
                )
            };
            let name = OsString::from(session.to_string());
            let item = self.orphan_session(root, &name, Some(*session), who, looker);
            items.push(Item { owners, ..item });
        }
        for stray in &self.sessions.strays {
            let name = &stray.name;
            if stray.kind != EntryKind::Dir || name.to_str().and_then(leftover).is_some() {
                continue;
            }
            let who = match alias(name) {
                Some(session) => {
                    let text = match self.named(session) {
                        none if none.is_empty() => "no metadata points at that".to_owned(),
                        who => format!("{who} points at that"),
                    };
                    format!(
                        "its name spells the Session {session} in a way that no reader takes; {text}"
                    )
                }
                None => "its name is no Session id, so nothing can point at it".to_owned(),
            };
            items.push(self.orphan_session(root, name, alias(name), who, looker));
        }
        self.strays(
            &self.sessions.root,
            &self.sessions.strays,
            &self.roots.sessions,
            items,
        );
    }

    /// That no document points at a Session, as far as they can be read.
    fn nobody_points(&self) -> String {
        let silent = self.ownership.sources().iter();
        let silent: Vec<_> = silent
            .filter(|source| matches!(source.says, Says::Trouble(_)))
            .map(|source| source.folder.to_string_lossy())
            .chain(self.within.silent.iter().map(|path| path.to_string_lossy()))
            .take(super::NAMED + 1)
            .collect();
        if silent.is_empty() {
            return "no metadata points at it".to_owned();
        }
        let more = if silent.len() > super::NAMED {
            " and others"
        } else {
            ""
        };
        let named = silent[..silent.len().min(super::NAMED)].join(", ");
        format!(
            "no metadata that can be read points at it; what {named}{more} points at can not be told"
        )
    }

    fn orphan_session(
        &self,
        root: &Dir,
        name: &OsStr,
        session: Option<SessionId>,
        who: String,
        looker: &mut Looker,
    ) -> Item {
        let path = self.roots.sessions.join(name);
        let subject = Subject {
            session_id: session,
            ..Subject::default()
        };
        let history = root.dir(name).and_then(|dir| looker.look(&dir));
        let (told, history) = match history {
            Ok(history) => (history.describe(), Some(history)),
            Err(e) => (format!("what it holds can not be told: {e}"), None),
        };
        let finding = Finding::new(
            Code::OrphanSession,
            subject,
            Locus::file(&path),
            format!("{who}; {told}"),
        );
        let segment = history
            .as_ref()
            .and_then(|history| history.a_segment.as_ref());
        let finding = match segment {
            Some(segment) => {
                let file = path.join(segment);
                finding.with_hint(format!("wagg verify --file {}", shell(&file)))
            }
            None => finding,
        };
        Item {
            history,
            ..Item::new(finding)
        }
    }

    // ------------------------------------------------------------ all else

    /// What is no folder of its root's kind: links, leftovers, files.
    fn strays(&self, root: &Root, strays: &[Entry], place: &Path, items: &mut Vec<Item>) {
        if let Some(dir) = root.dir() {
            let mut leftovers = Leftovers::new(self.now);
            leftovers.of_folder(dir, strays, Subject::default(), place, items);
        }
        for stray in strays {
            if stray.kind == EntryKind::Dir || stray.name.to_str().and_then(leftover).is_some() {
                continue;
            }
            items.push(self.stray(stray, place).into());
        }
    }

    fn stray(&self, stray: &Entry, place: &Path) -> Finding {
        let locus = Locus::file(place.join(&stray.name));
        let session = stray
            .name
            .to_str()
            .filter(|_| place == self.roots.sessions)
            .and_then(|name| name.parse::<SessionId>().ok());
        let subject = Subject {
            session_id: session,
            ..Subject::default()
        };
        if stray.kind != EntryKind::Symlink {
            let message = format!("{} that is no part of a legacy root", stray.kind.noun());
            return Finding::new(Code::UnknownFile, subject, locus, message);
        }
        let who = session.map(|session| self.named(session));
        let who = who.filter(|who| !who.is_empty());
        let who = who.map_or_else(String::new, |who| format!("; {who} points at that Session"));
        let message = format!("a symbolic link, which is not followed{who}");
        Finding::new(Code::SymbolicLink, subject, locus, message)
    }
}

/// What a Worker's metadata points at.
struct Target<'a> {
    session: SessionId,
    segment: Option<SegmentId>,
    /// A folder whose name spells the id in another way.
    alias: Option<&'a OsStr>,
}

/// The Session that a name means in another spelling than that of the disk.
fn alias(name: &OsStr) -> Option<SessionId> {
    match SessionId::parse_loose(name.to_str()?) {
        Ok((id, false)) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::diag::NoProgress;
    use crate::ops::ownership::Catalog;

    fn id(n: u64) -> SessionId {
        format!("01890000-0000-7000-8000-{n:012x}").parse().unwrap()
    }

    /// A hundred thousand sources, each with a Session, and as many that all share one: it ends in
    /// seconds. Comparing each with each would be ten thousand million steps.
    #[test]
    fn a_hundred_thousand_sources_are_one_pass() {
        const MANY: u64 = 100_000;
        let source = |n: u64, session: u64| {
            let folder = OsString::from(format!("worker-runtime-{n}"));
            let says = Says::Points {
                other_name: None,
                session: Some(id(session)),
                segment: None,
            };
            Source {
                says,
                ..Source::new(folder, &crate::store::Document::Missing)
            }
        };
        let alone = (1..=MANY).map(|n| source(n, n));
        let together = (MANY + 1..=2 * MANY).map(|n| source(n, 0));
        let mut within = Within {
            catalog: Catalog::default(),
            names: BTreeMap::new(),
            silent: Vec::new(),
            sequence: Some(1),
            workers: 0,
            segments: 0,
        };
        let ownership = Ownership::judge(&mut within.catalog, alone.chain(together).collect());
        let temp = tempfile::tempdir().unwrap();
        let open = || Root::Open(Dir::open_root(temp.path()).unwrap());
        let roots = Roots {
            sessions: temp.path().to_owned(),
            metadata: temp.path().to_owned(),
        };
        let legacy = Legacy {
            roots: &roots,
            metadata: &MetadataRoot {
                root: open(),
                sources: Vec::new(),
                strays: Vec::new(),
            },
            // as if listed: a folder that is gone by the time it is looked into is told as such
            sessions: &SessionRoot {
                root: open(),
                folders: (0..=MANY).map(id).collect::<BTreeSet<_>>(),
                strays: Vec::new(),
            },
            within: &within,
            ownership: &ownership,
            now: Timestamp::UNIX_EPOCH,
        };
        let mut items = Vec::new();
        legacy.look(&NoProgress, &mut items);
        let count = |code| items.iter().filter(|i| i.finding.code == code).count() as u64;
        assert_eq!(count(Code::OrphanWorkerMetadata), 2 * MANY);
        assert_eq!(count(Code::OrphanSession), MANY + 1);
        assert_eq!(count(Code::SharedSessionReference), 1);
        let shared = items
            .iter()
            .find(|i| !i.owners.is_empty() && i.owners.len() as u64 == MANY);
        assert!(shared.is_some_and(|i| i.finding.message.len() < 4096));
        let named: usize = items.iter().map(|i| i.owners.len()).sum();
        assert!(named as u64 <= 4 * MANY, "{named} owners are named in all");
    }
}
