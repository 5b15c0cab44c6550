//! What killed processes left behind: temporary files and staging folders, told by their names.
//!
//! Of each it is said how large and how old it is, and whether what it was meant to become is
//! whole. Where that is not so, the leftover may hold the only copy.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use super::Item;
use super::history::{count, rfc3339};
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{Leftover, SegmentEntry, classify_segment, file, leftover};
use crate::ops::ownership::Trouble;
use crate::record::document::{
    ManifestDocument, MetadataDocument, RuntimeDocument, SessionDocument, WorkerDocument,
    check_object,
};
use crate::record::{Format, Limits, Scanner, Verdict};
use crate::store::fs::no_handles;
use crate::store::{Dir, Document, Entry, EntryKind, FileStat, read_document};

/// Segments above this size, in bytes, are not read to tell whether they are whole.
const READ_WHOLE: u64 = 64 * 1024 * 1024;

/// What is known of a leftover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The process that wrote it, if its name says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Files in it; 1 for a file.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// When it was last written.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub modified: Option<Timestamp>,
    /// Seconds since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<i64>,
    /// What it was meant to become.
    pub target: String,
    /// How that stands now.
    pub target_state: TargetState,
}

/// How the real thing beside a leftover stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetState {
    /// It reads well.
    Whole,
    /// It is not there.
    Missing,
    /// It does not read.
    Broken,
    /// It was not looked at.
    NotChecked,
}

/// Finds leftovers in folders.
pub struct Leftovers {
    now: Timestamp,
    scanner: Scanner,
    /// What was told of the targets of the folder at hand.
    told: BTreeMap<OsString, (TargetState, String)>,
}

impl Leftovers {
    /// One that reckons ages from `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            scanner: Scanner::new(Limits::default()),
            told: BTreeMap::new(),
        }
    }

    /// Finds those of one folder. `place` is the folder's path as findings name it.
    pub fn of_folder(
        &mut self,
        dir: &Dir,
        entries: &[Entry],
        subject: Subject,
        place: &std::path::Path,
        items: &mut Vec<Item>,
    ) {
        self.told.clear();
        for entry in entries {
            let Some(kind) = entry.name.to_str().and_then(leftover) else {
                continue;
            };
            let path = place.join(&entry.name);
            let item = match (kind, entry.kind) {
                (Leftover::Temporary { target, pid }, EntryKind::File) => {
                    self.temporary(dir, &entry.name, target, pid, subject, path)
                }
                (Leftover::Staging { pid }, EntryKind::Dir) => {
                    self.staging(dir, &entry.name, Some(pid), subject, path)
                }
                // A link or a folder of such a name is nobody's leftover.
                _ => None,
            };
            items.extend(item);
        }
    }

    /// A folder that `wagg` itself staged.
    pub fn our_staging(&mut self, dir: &Dir, entry: &Entry, path: PathBuf) -> Option<Item> {
        match entry.kind {
            EntryKind::Dir => self.staging(dir, &entry.name, None, Subject::default(), path),
            _ => None,
        }
    }

    fn temporary(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        target: &str,
        pid: u32,
        subject: Subject,
        path: PathBuf,
    ) -> Option<Item> {
        let stat = dir.stat(name).ok()?;
        let (state, told) = self.target(dir, target);
        let (modified, age_s, written) = self.written(&stat);
        let message = format!(
            "{} of process {pid} that were meant to become {target}{written}; {told}",
            count(stat.len, "byte", "bytes"),
        );
        let finding = Finding::new(Code::LeftoverTemporary, subject, Locus::file(path), message)
            .with_hint(hint(state, Code::LeftoverTemporary, target));
        let left = Left {
            pid: Some(pid),
            files: 1,
            bytes: stat.len,
            modified,
            age_s,
            target: target.to_owned(),
            target_state: state,
        };
        Some(Item {
            leftover: Some(left),
            ..Item::new(finding)
        })
    }

    fn staging(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        pid: Option<u32>,
        subject: Subject,
        path: PathBuf,
    ) -> Option<Item> {
        let stat = dir.stat(name).ok()?;
        let mut weight = Weight::default();
        if let Ok(folder) = dir.dir(name) {
            weight.add(&folder, 0);
        }
        let (modified, age_s, written) = self.written(&stat);
        let (state, told, target) = match pid {
            Some(_) => {
                let (state, told) = self.target(dir, file::SESSION_DIR);
                (state, told, file::SESSION_DIR.to_owned())
            }
            None => (
                TargetState::NotChecked,
                "an operation staged it; whether one is unsettled: wagg op list".to_owned(),
                String::new(),
            ),
        };
        let of = pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
        let message = format!(
            "a staging folder{of} with {}, {}{written}; {told}",
            count(weight.files, "file", "files"),
            count(weight.bytes, "byte", "bytes"),
        );
        let hint = match pid {
            Some(_) => hint(state, Code::LeftoverStaging, &target),
            None => "wagg op list".to_owned(),
        };
        let finding = Finding::new(Code::LeftoverStaging, subject, Locus::file(path), message)
            .with_hint(hint);
        let left = Left {
            pid,
            files: weight.files,
            bytes: weight.bytes,
            modified,
            age_s,
            target,
            target_state: state,
        };
        Some(Item {
            leftover: Some(left),
            ..Item::new(finding)
        })
    }

    /// When something was last written, in three forms; the last for a message.
    fn written(&self, stat: &FileStat) -> (Option<Timestamp>, Option<i64>, String) {
        let Ok(modified) = Timestamp::from_second(stat.mtime_s) else {
            return (None, None, String::new());
        };
        let age = self.now.as_second() - stat.mtime_s;
        let text = format!(", last written {modified} ({})", age_text(age));
        (Some(modified), Some(age), text)
    }

    fn target(&mut self, dir: &Dir, name: &str) -> (TargetState, String) {
        if let Some(told) = self.told.get(OsStr::new(name)) {
            return told.clone();
        }
        let told = self.look_at(dir, name);
        self.told.insert(name.into(), told.clone());
        told
    }

    fn look_at(&mut self, dir: &Dir, name: &str) -> (TargetState, String) {
        match name {
            file::RUNTIME => document(name, &read_document(dir, name, RuntimeDocument::read)),
            file::WORKER => document(name, &read_document(dir, name, WorkerDocument::read)),
            file::METADATA => document(name, &read_document(dir, name, MetadataDocument::read)),
            file::SESSION => document(name, &read_document(dir, name, SessionDocument::read)),
            file::MANIFEST => document(name, &read_document(dir, name, ManifestDocument::read)),
            file::SESSION_DIR => session_folder(dir),
            _ => match classify_segment(name) {
                SegmentEntry::Segment(_) => self.log(dir, name, Format::Segment),
                SegmentEntry::Trace(_) => self.log(dir, name, Format::Trace),
                _ if name.ends_with(".json") => {
                    document(name, &read_document(dir, name, check_object))
                }
                _ => match dir.try_stat(name) {
                    Ok(None) => missing(name),
                    _ => (
                        TargetState::NotChecked,
                        format!("{name} beside it is there and was not looked at"),
                    ),
                },
            },
        }
    }

    fn log(&mut self, dir: &Dir, name: &str, format: Format) -> (TargetState, String) {
        let looked = dir.file(name).and_then(|file| {
            let len = crate::store::fs::stat_of(&file)?.len;
            if len > READ_WHOLE {
                return Ok(None);
            }
            let mut bad = None;
            let mut records = 0_u64;
            let scanned = self.scanner.scan(&file, len, format, |line| {
                match &line.verdict {
                    Verdict::Record(_) => records += 1,
                    Verdict::Blank => {}
                    Verdict::Bad(_) => {
                        bad.get_or_insert(line.number);
                    }
                }
                ControlFlow::Continue(())
            })?;
            Ok(Some((records, bad, scanned.tail)))
        });
        match looked {
            Err(e) if e.kind() == io::ErrorKind::NotFound => missing(name),
            Err(e) => (
                of_failure(&e),
                format!("{name} beside it can not be read: {e}"),
            ),
            Ok(None) => (
                TargetState::NotChecked,
                format!("{name} beside it is too large to be read here: wagg verify reads it"),
            ),
            Ok(Some((_, Some(line), _))) => (
                TargetState::Broken,
                format!("{name} beside it is damaged from line {line} on"),
            ),
            Ok(Some((records, None, tail))) => {
                let tail = if tail.is_some() {
                    ", with a torn tail"
                } else {
                    ""
                };
                let records = count(records, "record", "records");
                (
                    TargetState::Whole,
                    format!("{name} beside it is whole: {records}{tail}"),
                )
            }
        }
    }
}

/// What to do about a leftover.
fn hint(state: TargetState, code: Code, target: &str) -> String {
    match state {
        TargetState::Whole => format!("wagg repair --only {code}"),
        TargetState::Broken => {
            format!("keep it: it may hold what {target} lost; compare the two")
        }
        TargetState::Missing => {
            format!("keep it until {target} is there: it may hold the only copy")
        }
        TargetState::NotChecked => "wagg verify".to_owned(),
    }
}

fn missing(name: &str) -> (TargetState, String) {
    (
        TargetState::Missing,
        format!("there is no {name} beside it"),
    )
}

/// What is known of a file that the system did not let be read.
fn of_failure(e: &io::Error) -> TargetState {
    match no_handles(e) {
        Some(_) => TargetState::NotChecked,
        None => TargetState::Broken,
    }
}

fn document<T>(name: &str, document: &Document<T>) -> (TargetState, String) {
    match Trouble::of(document) {
        None if document.is_missing() => missing(name),
        None => (TargetState::Whole, format!("{name} beside it is whole")),
        Some(trouble) => (
            match document {
                Document::Unreadable(e) => of_failure(e),
                _ => TargetState::Broken,
            },
            format!("{name} beside it does not read: {}", trouble.message),
        ),
    }
}

/// `session/` stands and falls with its `session.json`.
fn session_folder(dir: &Dir) -> (TargetState, String) {
    match dir.dir(file::SESSION_DIR) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => (
            TargetState::Missing,
            "there is no session/ beside it, so the history was not moved in; its source is the one to go by"
                .to_owned(),
        ),
        Err(e) => (
            of_failure(&e),
            format!("session/ beside it can not be read: {e}"),
        ),
        Ok(session) => {
            let read = read_document(&session, file::SESSION, SessionDocument::read);
            match document("session/session.json", &read) {
                (TargetState::Missing, _) => (
                    TargetState::Missing,
                    "session/ beside it has no session.json".to_owned(),
                ),
                told => told,
            }
        }
    }
}

/// What lies in a folder, a few levels deep.
#[derive(Default)]
struct Weight {
    files: u64,
    bytes: u64,
}

impl Weight {
    fn add(&mut self, dir: &Dir, depth: usize) {
        for entry in dir.entries().unwrap_or_default() {
            match entry.kind {
                EntryKind::Dir if depth < 8 => {
                    if let Ok(inner) = dir.dir(&entry.name) {
                        self.add(&inner, depth + 1);
                    }
                }
                EntryKind::Dir => {}
                _ => {
                    self.files += 1;
                    self.bytes += dir.stat(&entry.name).map_or(0, |stat| stat.len);
                }
            }
        }
    }
}

/// `3 days ago`
fn age_text(seconds: i64) -> String {
    if seconds < 0 {
        return "in the future".to_owned();
    }
    let n = seconds.unsigned_abs();
    let (n, one, many) = match n {
        0..60 => (n, "second", "seconds"),
        60..3600 => (n / 60, "minute", "minutes"),
        3600..86_400 => (n / 3600, "hour", "hours"),
        _ => (n / 86_400, "day", "days"),
    };
    format!("{} ago", count(n, one, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_well() {
        for (seconds, text) in [
            (-5, "in the future"),
            (1, "1 second ago"),
            (59, "59 seconds ago"),
            (7200, "2 hours ago"),
            (86_400 * 400, "400 days ago"),
        ] {
            assert_eq!(age_text(seconds), text);
        }
    }
}
