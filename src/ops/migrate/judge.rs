//! How what is in the store stands to its source, and what follows from it (C24).

use super::compare::{self, Match, at_byte, differs, first_difference};
use super::copy::{Stop, Whose, list, pass_all};
use super::examine::{Examiner, Legacy};
use super::manifest::State;
use super::noted;
use super::plan::{Item, Move, SessionMove, Step};
use super::target::{self, Metadata, SessionPlace};
use crate::diag::{Code, Finding, Locus, Result, Subject};
use crate::layout::{Paths, SessionId, WorkerName};
use crate::record::Scanner;
use crate::store::Dir;

/// What was read of one Worker.
pub(super) struct Seen<'a> {
    pub whose: &'a Whose<'a>,
    /// Its legacy metadata.
    pub legacy: &'a Legacy,
    /// Its metadata in the store.
    pub metadata: &'a Metadata,
}

impl Seen<'_> {
    /// Its metadata is moved and nothing else.
    fn metadata_alone(&self) -> Move {
        Move {
            session: None,
            metadata: true,
            digest: self.legacy.digest,
            segment: self.whose.active,
            collides: None,
            bytes: self.legacy.bytes.len() as u64,
        }
    }
}

impl Examiner<'_> {
    /// The legacy metadata points at no Session: only the metadata is moved.
    pub fn without_session(&self, item: &mut Item, seen: &Seen<'_>) -> Result<Step, Stop> {
        item.state = Some(State::Migrated(None));
        match self.metadata(seen, None)? {
            At::Free => Ok(Step::Move(Box::new(seen.metadata_alone()))),
            At::Equal => Ok(Step::Done),
            At::Moved => Ok(Step::Advanced),
            At::Differs(finding) => Err(Stop::Left(finding)),
        }
    }

    /// The Session that the legacy metadata points at is not in the Session root.
    pub fn without_source(
        &self,
        item: &mut Item,
        seen: &Seen<'_>,
        place: &SessionPlace,
    ) -> Result<Step, Stop> {
        let whose = seen.whose;
        let id = whose.worker;
        let there = matches!(place, SessionPlace::There(s) if s.id == whose.session);
        if whose.active.is_some() {
            // Its source was cleared away after it was moved.
            if there && self.was_moved(id) {
                return match self.metadata(seen, Some(whose.session))? {
                    At::Equal => {
                        item.state = Some(State::Migrated(Some(whose.session)));
                        Ok(Step::Done)
                    }
                    At::Moved => {
                        item.state = Some(State::Migrated(Some(whose.session)));
                        Ok(Step::Advanced)
                    }
                    At::Free => Err(self.missing(whose)),
                    At::Differs(finding) => Err(Stop::Left(finding)),
                };
            }
            return Err(self.missing(whose));
        }
        if let SessionPlace::There(session) = place
            && !there
        {
            return Err(other_session(whose, session.id).into());
        }
        if let SessionPlace::Trouble(finding) = place {
            return Err(finding.clone().into());
        }
        if let Some(stop) = self.session_gone(whose).filter(|_| !there) {
            return Err(stop);
        }
        // A Worker that was migrated before keeps that; one that never ran is pending.
        item.state = Some(match self.manifest.state(id) {
            Some("migrated") => State::Migrated(Some(whose.session)),
            _ => State::Pending(whose.session),
        });
        match self.metadata(seen, Some(whose.session))? {
            At::Free => Ok(Step::Move(Box::new(seen.metadata_alone()))),
            At::Equal if there => Ok(Step::Advanced),
            At::Equal => Ok(Step::Done),
            At::Moved => Ok(Step::Advanced),
            At::Differs(finding) => Err(Stop::Left(finding)),
        }
    }

    fn missing(&self, whose: &Whose<'_>) -> Stop {
        let subject = Subject {
            worker_id: Some(whose.worker),
            session_id: Some(whose.session),
            segment_id: whose.active,
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
    pub fn with_source(
        &self,
        item: &mut Item,
        seen: &Seen<'_>,
        source: &Dir,
        place: SessionPlace,
        tools: &mut Scanner,
        notes: &mut Vec<Finding>,
    ) -> Result<Step, Stop> {
        let whose = seen.whose;
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
                if self.is_as_noted(seen, source, &there) {
                    return Ok(Step::Done);
                }
                let matched =
                    compare::session(source, &there, whose, went_on, tools, self.progress, notes)?;
                (false, Some(matched))
            }
        };
        let at = self.metadata(seen, Some(session))?;
        let mut moving = seen.metadata_alone();
        match (matched, at) {
            (Some(Match::Equal), At::Equal) => return Ok(Step::Done),
            (Some(_), At::Equal | At::Moved) => return Ok(Step::Advanced),
            (Some(Match::Equal), At::Free) => {}
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
                moving.bytes += self.check_source(whose, source, tools, notes)?;
            }
            (Some(_), At::Differs(finding)) => return Err(Stop::Left(finding)),
        }
        Ok(Step::Move(Box::new(moving)))
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
        let files = list(source, whose)?;
        Ok(files
            .iter()
            .filter_map(|file| source.stat(&file.name).ok())
            .map(|stat| stat.len)
            .sum())
    }

    /// How the metadata in the store stands to the legacy one.
    fn metadata(&self, seen: &Seen<'_>, session: Option<SessionId>) -> Result<At, Stop> {
        let (whose, legacy) = (seen.whose, seen.legacy);
        let id = whose.worker;
        let bytes = match seen.metadata {
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
        let document = seen.metadata.document();
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
    fn is_as_noted(&self, seen: &Seen<'_>, source: &Dir, there: &target::Session) -> bool {
        let noted = self.known.moved.get(seen.whose.worker);
        let same = matches!(seen.metadata, Metadata::There(bytes) if *bytes == seen.legacy.bytes);
        let (Some(noted), Some(segments), true, false) = (noted, &there.segments, same, self.deep)
        else {
            return false;
        };
        noted.session_id == Some(seen.whose.session)
            && noted::files(&noted, source, segments, &there.names)
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
