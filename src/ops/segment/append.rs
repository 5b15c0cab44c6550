//! `segment append`: records at the end of a Segment, all or none (C4).
//!
//! Lines are held against the tables and then written as they came, byte for byte. What an append
//! must know of the Segment is read from its end and from its head, so it costs the same however
//! long the history is; only where no turn was finished since is more looked at.

use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::input::Input;
use super::make::{Home, active_segment, segment_of, worker_of};
use super::tail::{Backwards, LastTurn, last_turn};
use crate::diag::{Code, Error, Locus, Result, plural};
use crate::layout::{SegmentId, SessionId};
use crate::ops::change::{Act, Answer, Change, Plan, Planned, Records, Scope, View};
use crate::ops::read::SegmentRef;
use crate::ops::resolve::Resolver;
use crate::record::scan::read_line;
use crate::record::{Facts, Fault, Format, Limits, RecordKind, Scanner, Source, Verdict};
use crate::store::Store;
use crate::store::fs::failed;

/// So much of the first line is looked at for its Session; as a Runtime writes it, it stands there.
const HEAD: usize = 1024;

/// Adds records to a Segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// What names the Segment.
    pub segment: String,
    /// The records, one a line; the last newline may be missing.
    #[serde(alias = "from")]
    pub records: Input,
}

/// What the lines come to.
#[derive(Debug, Default)]
struct Lines {
    records: u64,
    /// The first turn that they end, and its line.
    first_turn: Option<(u64, u64, u64)>,
    last_turn: Option<u64>,
}

impl Change for Append {
    fn command(&self) -> &'static str {
        "segment append"
    }

    fn arguments(&self) -> Value {
        json!({ "segment": self.segment, "records": self.records.fingerprint() })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).segment(&self.segment)?.worker)
    }

    fn segment(&self, store: &Store) -> Result<Option<SegmentId>> {
        let found = Resolver::new(store).segment(&self.segment)?;
        Ok(Some(found.segment))
    }

    fn groups(&self) -> bool {
        true
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let worker = worker_of(scope)?;
        let segment = segment_of(view, &self.segment, worker)?;
        let home = Home::of(view, worker)?;
        let lines = self.check()?;
        let path = segment.path();
        let records = view.records(&path)?;
        self.guard(view, &home, &segment)?;
        let end = records.committed();
        sound_head(&home, &segment, &records)?;
        sound_end(&home, &segment, &records)?;
        if let Some((count, line, byte)) = lines.first_turn {
            let before = turn_before(&home, &segment, &records)?;
            if before.checked_add(1) != Some(count) {
                return Err(self.bad_turn(before, count, line, byte));
            }
        }
        let mut answer = Answer::of(worker, segment.segment.to_string());
        answer.field("segment_id", segment.segment);
        answer.field("session_id", home.session);
        answer.field("records", lines.records);
        if lines.records == 0 {
            answer.field("bytes", 0);
            answer.field("committed_bytes", end);
            answer.field("turn", Value::Null);
            answer.field("torn_tail_bytes", 0);
            return Ok(Planned::Nothing(answer));
        }
        let mut bytes = self.records.bytes.clone();
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        answer.field("bytes", bytes.len());
        answer.field("committed_bytes", end + bytes.len() as u64);
        answer.field("turn", lines.last_turn);
        answer.field("torn_tail_bytes", records.tail());
        if records.tail() > 0 {
            answer.warn(Some(format!(
                "{} behind the last newline, never committed, cut off first and kept in quarantine",
                plural(records.tail(), "byte", "bytes")
            )));
        }
        Ok(Planned::Do(Plan {
            worker: Some(worker),
            generation: home.generation,
            args: json!({
                "worker_id": worker,
                "segment_id": segment.segment,
                "records": lines.records,
            }),
            minted: Value::Null,
            acts: vec![Act::append(path, end, bytes)],
            commit: 0,
            answer,
        }))
    }
}

impl Append {
    /// Holds every line against the tables.
    fn check(&self) -> Result<Lines> {
        let mut lines = Lines::default();
        let bytes = match self.records.bytes.strip_suffix(b"\n") {
            Some(bytes) => bytes,
            None if self.records.bytes.is_empty() => return Ok(lines),
            None => &self.records.bytes,
        };
        let mut at = 0;
        for (n, line) in bytes.split(|b| *b == b'\n').enumerate() {
            let number = n as u64 + 1;
            let text = line.strip_suffix(b"\r").unwrap_or(line);
            let facts = read_line(text, Format::Segment).map_err(|mut fault| {
                fault.at += at;
                self.records.error("nothing was appended", &fault)
            })?;
            self.follows(&mut lines, &facts, number, at)?;
            at += line.len() as u64 + 1;
        }
        Ok(lines)
    }

    /// Takes one record more.
    fn follows(&self, lines: &mut Lines, facts: &Facts, line: u64, byte: u64) -> Result<()> {
        lines.records += 1;
        match facts.kind() {
            Some(RecordKind::SegmentStart) => Err(Error::input(
                Code::SecondSegmentStart,
                format!("nothing was appended: line {line} is a segment_start, which only begins a Segment"),
                Locus::at(&self.records.name, line, byte),
            )
            .hint("a new Segment is made with wagg segment create WORKER or wagg segment fork SEGMENT")),
            Some(RecordKind::TurnEnd) => {
                let Some(count) = facts.turn_count else {
                    return Ok(());
                };
                if let Some(before) = lines.last_turn
                    && before.checked_add(1) != Some(count)
                {
                    return Err(self.bad_turn(before, count, line, byte));
                }
                lines.first_turn.get_or_insert((count, line, byte));
                lines.last_turn = Some(count);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn bad_turn(&self, before: u64, count: u64, line: u64, byte: u64) -> Error {
        let expected = before.saturating_add(1);
        Error::input(
            Code::TurnCountMismatch,
            format!("nothing was appended: line {line} ends turn {count} where turn {expected} would end"),
            Locus::at(&self.records.name, line, byte),
        )
        .hint(format!("the turn_end on line {line} has to say \"turn_count\":{expected}"))
    }

    /// Keeps off what a live run writes to (C13).
    fn guard(&self, view: &View<'_>, home: &Home, segment: &SegmentRef) -> Result<()> {
        let active = view.metadata(home.worker)?.map(|(_, document)| document);
        match active_segment(active.as_ref()) {
            Some(other) if other != segment.segment => Ok(()),
            // Without a pointer any of them may be the one.
            _ => view.refuse_live(home.worker),
        }
    }
}

/// The Session that a first line names, told from its beginning if it stands there as a Runtime
/// writes it.
fn session_in_head(head: &[u8]) -> Option<SessionId> {
    let rest = head.strip_prefix(br#"{"kind":"segment_start","ts":"#)?;
    let digits = rest.iter().position(|b| !b.is_ascii_digit())?;
    let id = rest[digits..]
        .strip_prefix(br#","session_id":""#)?
        .get(..37)?;
    let id = std::str::from_utf8(id.strip_suffix(b"\"")?).ok()?;
    id.parse().ok()
}

/// Checks that the first record is the head of a Segment of this Session.
fn sound_head(home: &Home, segment: &SegmentRef, records: &Records) -> Result<()> {
    let path = segment.path();
    let end = records.committed();
    let mut beginning = vec![0; HEAD.min(usize::try_from(end).unwrap_or(HEAD))];
    // A short read is no error: then it is read as a whole.
    let n = records
        .read_at(&mut beginning, 0)
        .map_err(|e| failed("read", &path, e))?;
    if let Some(session) = session_in_head(&beginning[..n]) {
        return home.owns(segment, session, 1, 0);
    }
    let mut found = Err(Error::new(
        Code::MissingSegmentStart,
        format!(
            "Segment {} does not begin with a segment_start, so nothing is added to it",
            segment.segment
        ),
    )
    .at(Locus::file(&path))
    .hint(format!("wagg verify {}", home.worker)));
    Scanner::new(Limits::default())
        .scan(records, end, Format::Segment, |line| {
            match &line.verdict {
                Verdict::Blank => return ControlFlow::Continue(()),
                Verdict::Bad(fault) => {
                    found = Err(damaged(home, segment, fault, Some(line.number)));
                }
                Verdict::Record(facts) => {
                    if let Some(session) = facts.session {
                        found = home.owns(segment, session, line.number, line.offset);
                    }
                }
            }
            ControlFlow::Break(())
        })
        .map_err(|e| failed("read", &path, e))?;
    found
}

/// A line that is no good record, at a number if it is known.
fn damaged(home: &Home, segment: &SegmentRef, fault: &Fault, line: Option<u64>) -> Error {
    let mut locus = Locus::file(segment.path());
    (locus.line, locus.byte) = (line, Some(fault.at));
    Error::new(
        fault.code,
        format!(
            "Segment {} is damaged at byte {}, so nothing is added to it: {}",
            segment.segment, fault.at, fault.message
        ),
    )
    .at(locus)
    .hint(format!("wagg verify {}", home.worker))
}

/// Checks that the last record is a good one: nothing is built on one that is not.
fn sound_end(home: &Home, segment: &SegmentRef, records: &Records) -> Result<()> {
    let path = segment.path();
    let mut lines = Backwards::new(records, records.committed());
    while let Some(line) = lines.next().map_err(|e| failed("read", &path, e))? {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        return match read_line(&line.bytes, Format::Segment) {
            Ok(_) => Ok(()),
            Err(mut fault) => {
                fault.at += line.offset;
                Err(damaged(home, segment, &fault, None))
            }
        };
    }
    Ok(())
}

/// The turn count that the next `turn_end` has to follow (C27).
fn turn_before(home: &Home, segment: &SegmentRef, records: &Records) -> Result<u64> {
    let path = segment.path();
    let found = last_turn(records, records.committed()).map_err(|e| failed("read", &path, e))?;
    match found {
        LastTurn::Ended(count) => Ok(count),
        LastTurn::Bad(line, mut fault) => {
            fault.at += line.offset;
            Err(damaged(home, segment, &fault, None))
        }
        LastTurn::Empty => Ok(0),
        LastTurn::Begins(line) => inherited(&line.bytes, &path),
    }
}

/// The turn that a Segment begins behind, as its first record says.
fn inherited(line: &[u8], path: &Path) -> Result<u64> {
    let facts = read_line(line, Format::Segment).map_err(|fault| {
        Error::new(fault.code, fault.message.clone()).at(Locus::at(path, 1, fault.at))
    })?;
    Ok(facts.forked.or(facts.compacted).map_or(0, |o| o.turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::change::crash_tests::{flags, stores};
    use crate::ops::change::run;

    /// An append whose plan saw less of the file than there is by now.
    struct Stale(Append, u64);

    impl Change for Stale {
        fn command(&self) -> &'static str {
            self.0.command()
        }
        fn arguments(&self) -> Value {
            self.0.arguments()
        }
        fn scope(&self, store: &Store) -> Result<Scope> {
            self.0.scope(store)
        }
        fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
            let mut planned = self.0.plan(view, scope)?;
            if let Planned::Do(plan) = &mut planned {
                let path = plan.acts[0].effect.path().to_owned();
                plan.acts = vec![Act::append(path, self.1, self.0.records.bytes.clone())];
            }
            Ok(planned)
        }
    }

    /// A Runtime knows no lock of ours: what it added since the plan was made is not built upon.
    #[test]
    fn a_segment_that_grew_since_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        stores::seven(temp.path());
        stores::session(temp.path(), 7, 1, &[(0x11, 1)]);
        let path = temp.path().join(format!(
            "workers/7/session/segments/{}.jsonl",
            stores::id(0x11)
        ));
        let before = std::fs::read(&path).unwrap();
        let append = || Append {
            segment: stores::id(0x11),
            records: Input::new("-", "{\"kind\":\"paused_turn_abandoned\",\"ts\":1}\n"),
        };
        let store = Store::open(temp.path()).unwrap();
        let stale = Stale(append(), before.len() as u64 - 9);
        let e = run(&store, &flags(None), &stale).unwrap_err();
        assert_eq!(e.code, Code::SourceChanged, "{e:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        run(&store, &flags(None), &append()).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(&before));
    }

    #[test]
    fn the_session_is_told_from_a_head_that_a_runtime_wrote() {
        let id = stores::id(1);
        let head = format!("{{\"kind\":\"segment_start\",\"ts\":17,\"session_id\":\"{id}\",\"x\"");
        assert_eq!(
            session_in_head(head.as_bytes()).map(|s| s.to_string()),
            Some(id.clone())
        );
        for other in [
            &head[..40],
            &head.replace("17", "-1"),
            &head.replace(&id, &id.to_uppercase().replace('-', "_")),
            &head.replace("segment_start", "invoke"),
            "",
        ] {
            assert_eq!(session_in_head(other.as_bytes()), None, "{other}");
        }
    }
}
