//! What the reference's manifest has no place for: `.wagg/migrations/`.
//!
//! Each run that changes something has a file of its own, `<operation>.jsonl`, one JSON object a
//! line, committed by its newline: first a `run` with the Workers that it is about to move, then a
//! `worker` for each one that it moved with the name, size, times and SHA-256 of every file, a
//! `left` for each one that it left and why, and last a `summary`. `latest.json` names the newest
//! file, and each file's first line the one before it.
//!
//! Nothing here is ever needed for a right answer: without it a rerun compares bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

use super::packed::MovedWorkers;
use crate::diag::{Code, Error, Finding, Locus, Result};
use crate::layout::{OperationId, Paths, SegmentId, SessionId, WorkerId, file};
use crate::ops::legacy::Roots;
use crate::store::fs::{OutFile, ensure_dirs, failed, replace_via, unknown};
use crate::store::{Dir, FileStat, Guard, StoreGuard, read_bytes};

const LATEST: &str = "latest.json";

/// When a file was last written, in nanoseconds since 1970.
pub(super) fn time_of(stat: &FileStat) -> i64 {
    stat.mtime_s
        .saturating_mul(1_000_000_000)
        .saturating_add(i64::from(stat.mtime_ns))
}

/// One file that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// Its name, the same in both places.
    pub name: String,
    /// In bytes, the same in both places.
    pub bytes: u64,
    /// Of its content, in hex.
    pub sha256: String,
    /// When the source was last written, in nanoseconds since 1970.
    pub source_time: i64,
    /// When the copy was written, in nanoseconds since 1970.
    pub time: i64,
}

/// What else shows at a glance that nothing changed since: times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// Of `worker.json`, in bytes.
    pub worker_bytes: u64,
    /// Of `worker.json`.
    pub worker_time: i64,
    /// Of the Worker's folder: it changes when a name in it does.
    pub folder_time: i64,
    /// Of `session.json`.
    pub session_time: i64,
    /// Of `segments/`.
    pub segments_time: i64,
    /// Of the Session's legacy folder.
    pub source_time: i64,
}

/// One Worker that was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Which.
    pub worker_id: WorkerId,
    /// Its Session, if it has one.
    pub session_id: Option<SessionId>,
    /// The Segment that its metadata pointed at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment_id: Option<SegmentId>,
    /// Its Session is reserved and was not written yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// Its `metadata.json`.
    pub metadata: Option<CopiedFile>,
    /// The files of its Session, in the order of their names.
    pub files: Vec<CopiedFile>,
    /// Not there if a part of it was found in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glance: Option<Glance>,
}

/// Of a file that was copied, what a rerun looks at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NotedFile {
    /// Its name.
    pub name: Box<str>,
    /// In bytes.
    pub bytes: u64,
    /// When the source was last written, in nanoseconds since 1970.
    pub source_time: i64,
    /// When the copy was written, in nanoseconds since 1970.
    pub time: i64,
}

/// Of a Worker that was moved, what a rerun looks at: a [`Moved`] without its digests.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Noted {
    /// Which.
    pub worker_id: WorkerId,
    /// Its Session, if it has one.
    pub session_id: Option<SessionId>,
    /// The Segment that its metadata pointed at.
    #[serde(default)]
    pub segment_id: Option<SegmentId>,
    /// Its Session was reserved and not written yet.
    #[serde(default)]
    pub pending: bool,
    /// Its `metadata.json`.
    pub metadata: Option<NotedFile>,
    /// The files of its Session, in the order of their names.
    pub files: Vec<NotedFile>,
    /// Not there if a part of it was found in place.
    #[serde(default)]
    pub glance: Option<Glance>,
}

/// One Worker that was left.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftWorker {
    /// Which, if it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// Why: a code of `wagg explain`.
    pub code: String,
    /// Where the reason is.
    pub path: String,
    /// The line there, from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte there, from 0, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// A sentence for a person.
    pub message: String,
}

impl LeftWorker {
    /// What a finding says, kept.
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        Self {
            worker_id: finding.subject.worker_id,
            code: finding.code.to_string(),
            path: finding.locus.path.to_string_lossy().into_owned(),
            line: finding.locus.line,
            byte: finding.locus.byte,
            message: finding.message.clone(),
        }
    }

    /// Whether all that is known is that its source is not there any more.
    fn is_gone(&self) -> bool {
        self.code == Code::SourceGone.info().name
    }
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Run {
    schema_version: u32,
    operation_id: OperationId,
    ts: String,
    sessions: String,
    metadata: String,
    /// The Workers that it is about to move: ids and ranges of ids.
    moving: Vec<String>,
    /// The file before this one.
    previous: Option<OperationId>,
}

/// One line, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Run(Run),
    Worker(Moved),
    Left(LeftWorker),
    Summary(serde_json::Value),
}

/// What a line is. The rest is read when that is known, since a value that was held in between
/// would lose its numbers.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
}

impl Kind<'_> {
    const WORKER: Self = Self {
        kind: std::borrow::Cow::Borrowed("worker"),
    };
}

/// How the line of a Worker begins as we write it: nearly all lines are of this kind, and need not
/// be read twice.
const WORKER_LINE: &[u8] = br#"{"type":"worker","#;

#[derive(Serialize, Deserialize)]
struct Latest {
    schema_version: u32,
    operation_id: OperationId,
}

/// What one file says.
#[derive(Default)]
struct OneFile {
    roots: Option<Roots>,
    moved: Vec<WorkerId>,
    left: Vec<LeftWorker>,
    /// It has its last line, and no Worker was left out.
    came_to_all: bool,
}

/// What former runs noted.
#[derive(Debug, Default)]
pub struct Known {
    /// The newest run that noted anything.
    pub latest: Option<OperationId>,
    /// Workers that a run of ours moved, as they were then.
    pub moved: MovedWorkers,
    /// Workers that a run of ours was about to move, whether or not it came to it.
    moving: Vec<(u64, u64)>,
    /// What the newest run left.
    pub left: BTreeSet<LeftWorker>,
    left_ids: BTreeSet<WorkerId>,
    /// Workers that were left when they were last come to.
    unsettled: BTreeMap<WorkerId, LeftWorker>,
    /// The legacy roots of the newest run that found anything in them, absolute.
    pub roots: Option<Roots>,
    /// What the newest run came to, if it came to an end.
    pub summary: Option<serde_json::Value>,
}

impl Known {
    /// Reads what is there. What can not be read is as good as not there: bytes are compared then.
    #[must_use]
    pub fn read(root: &Dir) -> Self {
        Self::read_back(root, usize::MAX)
    }

    /// The same of the newest run alone: what it left, and how it ended.
    #[must_use]
    pub fn newest(root: &Dir) -> Self {
        Self::read_back(root, 1)
    }

    fn read_back(root: &Dir, files: usize) -> Self {
        let mut known = Self::default();
        let Ok(dir) = root.dir_at([file::WAGG, file::MIGRATIONS]) else {
            return known;
        };
        let latest = read_bytes(&dir, LATEST)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Latest>(&bytes).ok());
        known.latest = latest.map(|latest| latest.operation_id);
        let mut next = known.latest;
        let mut seen = BTreeSet::new();
        let (mut newer, mut settled) = (BTreeSet::new(), false);
        // From the newest to the oldest: what is known already is newer.
        while let Some(operation) = next.take()
            && seen.len() < files
            && seen.insert(operation)
        {
            let mut file = OneFile::default();
            next = known
                .read_one(&dir, operation, &mut file)
                .unwrap_or_default();
            let found = !file.moved.is_empty() || file.left.iter().any(|l| !l.is_gone());
            if known.roots.is_none() && found {
                known.roots = file.roots;
            }
            if !settled {
                for left in file.left {
                    let id = left.worker_id.filter(|id| !newer.contains(id));
                    if let Some(id) = id {
                        known.unsettled.entry(id).or_insert(left);
                    }
                }
                // A run that came to every Worker says all that was left by then; one that was
                // stopped does not.
                settled = file.came_to_all;
                if !settled {
                    newer.extend(file.moved);
                }
            }
        }
        known.moving = merged(std::mem::take(&mut known.moving));
        known
    }

    fn read_one(
        &mut self,
        dir: &Dir,
        operation: OperationId,
        file: &mut OneFile,
    ) -> io::Result<Option<OperationId>> {
        let newest = self.latest == Some(operation);
        let mut lines = io::BufReader::with_capacity(256 * 1024, dir.file(name_of(operation))?);
        let mut line = Vec::new();
        let mut before = None;
        loop {
            line.clear();
            lines.read_until(b'\n', &mut line)?;
            // The newline commits a line here too.
            if line.last() != Some(&b'\n') {
                return Ok(before);
            }
            if let Some(previous) = self.take(&line, newest, file) {
                before = previous;
            }
        }
    }

    /// Takes one line in. Gives what the file before is, if the line says so.
    fn take(
        &mut self,
        line: &[u8],
        newest: bool,
        file: &mut OneFile,
    ) -> Option<Option<OperationId>> {
        let kind: Kind<'_> = match line.starts_with(WORKER_LINE) {
            true => Kind::WORKER,
            false => serde_json::from_slice(line).ok()?,
        };
        match &*kind.kind {
            "run" => {
                let run: Run = serde_json::from_slice(line).ok()?;
                self.moving
                    .extend(run.moving.iter().filter_map(|r| range(r)));
                let roots = Roots {
                    sessions: run.sessions.into(),
                    metadata: run.metadata.into(),
                };
                // One that was noted as it was given means nothing from another folder.
                let absolute = roots.sessions.is_absolute() && roots.metadata.is_absolute();
                file.roots = absolute.then_some(roots);
                return Some(run.previous);
            }
            "worker" => {
                let noted: Noted = serde_json::from_slice(line).ok()?;
                file.moved.push(noted.worker_id);
                self.moved.add(&noted);
            }
            "left" => {
                let left: LeftWorker = serde_json::from_slice(line).ok()?;
                if newest {
                    self.left_ids.extend(left.worker_id);
                    self.left.insert(left.clone());
                }
                file.left.push(left);
            }
            "summary" => {
                let mut summary: serde_json::Value = serde_json::from_slice(line).ok()?;
                file.came_to_all = summary.get("not_reached").and_then(|n| n.as_u64()) == Some(0);
                if !newest {
                    return None;
                }
                if let Some(fields) = summary.as_object_mut() {
                    fields.remove("type");
                }
                self.summary = Some(summary);
            }
            _ => {}
        }
        None
    }

    /// Whether a run of ours put this Worker in place, or was about to.
    #[must_use]
    pub fn is_ours(&self, id: WorkerId) -> bool {
        self.moved.contains(id)
            || matches!(id, WorkerId::Number(n) if {
                let at = self.moving.partition_point(|(from, _)| *from <= n);
                at > 0 && self.moving[at - 1].1 >= n
            })
    }

    /// Why this Worker was left when a run last came to it, if it was, and something of it was in
    /// the legacy roots then.
    #[must_use]
    pub fn left_source(&self, id: WorkerId) -> Option<&LeftWorker> {
        // Who it is could not be told: nothing was said of its sources.
        let identity = [Paths::worker(id), Paths::worker_document(id)];
        self.unsettled
            .get(&id)
            .filter(|left| !identity.iter().any(|path| path.as_os_str() == &*left.path))
    }

    /// Whether the newest run left this Worker.
    #[must_use]
    pub fn was_left(&self, id: WorkerId) -> bool {
        self.left_ids.contains(&id)
    }
}

fn name_of(operation: OperationId) -> String {
    format!("{operation}.jsonl")
}

/// `7` or `7-12`
fn range(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// Ranges in order that have no id in common.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (from, to) in ranges {
        match all.last_mut() {
            Some((_, last)) if *last >= from => *last = (*last).max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

/// Ids in order as ids and ranges of ids.
fn ranges(ids: impl Iterator<Item = WorkerId>) -> Vec<String> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for id in ids {
        let WorkerId::Number(n) = id else { continue };
        match all.last_mut() {
            Some((_, to)) if to.checked_add(1) == Some(n) => *to = n,
            _ => all.push((n, n)),
        }
    }
    all.into_iter()
        .map(|(from, to)| match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        })
        .collect()
}

/// The file of this run, open for adding.
pub(super) struct Notes {
    out: OutFile,
}

/// How a run is introduced.
pub(super) struct Begin<'a> {
    pub operation: OperationId,
    pub sessions: &'a str,
    pub metadata: &'a str,
    pub moving: &'a [WorkerId],
    pub previous: Option<OperationId>,
    /// The temporary name of `latest.json` on its way.
    pub temp: &'a str,
}

impl Notes {
    /// Begins the file, and makes it the latest. Durable when this returns.
    pub fn begin(guard: &StoreGuard<'_>, begin: &Begin<'_>) -> Result<Self> {
        let dir = ensure_dirs(guard.wagg(), [file::MIGRATIONS])?;
        let name = name_of(begin.operation);
        let path = dir.path_of(&name);
        let out = dir.create(&name).map_err(|e| failed("make", &path, e))?;
        let mut notes = Self { out };
        notes.put(&[Line::Run(Run {
            schema_version: 1,
            operation_id: begin.operation,
            ts: crate::store::journal::now(),
            sessions: begin.sessions.to_owned(),
            metadata: begin.metadata.to_owned(),
            moving: ranges(begin.moving.iter().copied()),
            previous: begin.previous,
        })])?;
        notes.sync()?;
        let latest = Latest {
            schema_version: 1,
            operation_id: begin.operation,
        };
        let mut bytes = serde_json::to_vec(&latest).map_err(unwritable)?;
        bytes.push(b'\n');
        replace_via(&dir, LATEST, begin.temp, &bytes)?;
        Ok(notes)
    }

    /// Where `latest.json` is while it is written, relative to the store.
    pub fn temp_path(temp: &str) -> std::path::PathBuf {
        Paths::wagg().join(file::MIGRATIONS).join(temp)
    }

    fn put(&mut self, lines: &[Line]) -> Result<()> {
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, line).map_err(unwritable)?;
            bytes.push(b'\n');
        }
        let put = self.out.put(&bytes);
        put.map_err(|e| failed("write", self.out.path(), e))
    }

    /// Notes Workers that were moved. The next sync of the run makes it durable.
    pub fn moved(&mut self, moved: Vec<Moved>) -> Result<()> {
        let lines: Vec<Line> = moved.into_iter().map(Line::Worker).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.put(&lines)
    }

    /// Where the file of an operation is, relative to the store.
    pub fn path(operation: OperationId) -> String {
        let path = Paths::wagg()
            .join(file::MIGRATIONS)
            .join(name_of(operation));
        path.to_string_lossy().into_owned()
    }

    /// Notes what was left, and how it all ended.
    pub fn end(
        &mut self,
        left: BTreeSet<LeftWorker>,
        outcome: &str,
        mut summary: serde_json::Value,
    ) -> Result<()> {
        let mut lines: Vec<Line> = left.into_iter().map(Line::Left).collect();
        if let Some(fields) = summary.as_object_mut() {
            fields.insert("outcome".to_owned(), outcome.into());
            fields.insert("ts".to_owned(), crate::store::journal::now().into());
        }
        lines.push(Line::Summary(summary));
        self.put(&lines)?;
        self.sync()
    }

    fn sync(&mut self) -> Result<()> {
        self.out
            .sync()
            .map_err(|e| unknown("sync", self.out.path(), e))
    }
}

fn unwritable(e: serde_json::Error) -> Error {
    Error::new(Code::Internal, "a note of the migration can not be written")
        .at(Locus::file(Paths::wagg()))
        .caused_by(e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_ranges_and_come_back() {
        let ids = [1, 2, 3, 7, 9, 10].map(WorkerId::Number);
        let text = ranges(ids.into_iter());
        assert_eq!(text, ["1-3", "7", "9-10"]);
        let known = Known {
            moving: merged(text.iter().filter_map(|r| range(r)).collect()),
            ..Known::default()
        };
        for n in 0..12 {
            let id = WorkerId::Number(n);
            assert_eq!(known.is_ours(id), ids.contains(&id), "{n}");
        }
    }
}
