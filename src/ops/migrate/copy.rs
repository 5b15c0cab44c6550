//! A legacy Session, read once: each byte is checked, hashed and handed on in the same pass.
//!
//! The scanner reads through a [`Tee`], which hands every byte that it gives out for the first
//! time to a [`Sink`] as well: to the copy, to a comparison with what is in the store already, or
//! to nobody. So what lands is what was checked, and a file is read once and written once.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::facts::{CopiedFile, time_of};
use crate::diag::{Code, Error, Finding, Locus, Progress, Severity, Subject, hex, plural};
use crate::layout::{SegmentEntry, SegmentId, SessionId, WorkerId, classify_segment};
use crate::ops::ownership::Trouble;
use crate::record::{Format, RecordKind, Scanner, Source, Verdict};
use crate::store::fs::{WriteDir, failed};
use crate::store::{Dir, EntryKind, FileStat, fs::stat_of, wrong_kind};

/// Why a Worker is not moved.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is this Worker's trouble: the others go on.
    Left(Box<Finding>),
    /// It is everybody's trouble: the disk is full, or a person asked to stop.
    All(Box<Error>),
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Left(Box::new(finding))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::All(Box::new(error))
    }
}

/// The error of a person who asked to stop.
pub(super) fn interrupted() -> Error {
    Error::new(Code::Interrupted, "interrupted")
        .hint("run the same command again: it goes on where it stopped")
}

/// Whose history is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose<'a> {
    pub worker: WorkerId,
    pub session: SessionId,
    /// The Segment that its metadata points at.
    pub active: Option<SegmentId>,
    /// The path of the Session's folder, as findings name it.
    pub path: &'a Path,
}

impl Whose<'_> {
    fn subject(&self) -> Subject {
        Subject {
            worker_id: Some(self.worker),
            session_id: Some(self.session),
            ..Subject::default()
        }
    }

    fn left(&self, code: Code, locus: Locus, message: impl Into<String>) -> Finding {
        // Whatever it is elsewhere, here it keeps a history from being moved.
        Finding::new(code, self.subject(), locus, message).with_severity(Severity::Error)
    }

    /// What the system does not let be read, or what is no file, is this Worker's trouble.
    fn unreadable(&self, path: PathBuf, e: &io::Error) -> Finding {
        let trouble = match wrong_kind(e) {
            Some(kind) => Trouble::wrong_kind(kind),
            None if e.kind() == io::ErrorKind::NotFound => {
                return self.changed(path, "it went away while it was read");
            }
            None => Trouble::unreadable(e),
        };
        trouble.finding(self.subject(), path, "this source can not be copied")
    }

    /// The source is not what it was when reading began.
    fn changed(&self, path: PathBuf, what: &str) -> Finding {
        self.left(
            Code::SourceChanged,
            Locus::file(path),
            format!("the source changed: {what}; nothing of this Worker was moved"),
        )
        .with_hint("stop what still writes there, then run the same command again")
    }
}

/// One file of a legacy Session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub name: String,
    pub format: Format,
    segment: Option<SegmentId>,
}

/// The files of a legacy Session, in the order of their names. What does not belong there keeps
/// the Worker where it is, as with the reference.
pub(super) fn list(source: &Dir, whose: &Whose<'_>) -> Result<Vec<SourceFile>, Stop> {
    let entries = source
        .entries()
        .map_err(|e| whose.unreadable(whose.path.to_owned(), &e))?;
    let mut files = Vec::with_capacity(entries.len());
    for entry in entries {
        let path = whose.path.join(&entry.name);
        let refuse = |code, message: &str| {
            let hint = "move it away by hand if nothing needs it, then run the same command again";
            let finding = whose.left(code, Locus::file(&path), message);
            Err(Stop::from(finding.with_hint(hint)))
        };
        match entry.kind {
            EntryKind::File => {}
            EntryKind::Symlink => {
                return refuse(
                    Code::SymbolicLink,
                    "a symbolic link in a Session's folder; it is not followed",
                );
            }
            kind => {
                let text = format!("{} in a Session's folder", kind.noun());
                return refuse(Code::NotARegularFile, &text);
            }
        }
        let Some(name) = entry.name.to_str() else {
            return refuse(Code::BadFileName, "a name that is not UTF-8");
        };
        let (format, segment) = match classify_segment(name) {
            SegmentEntry::Segment(id) => (Format::Segment, Some(id)),
            SegmentEntry::Trace(id) => (Format::Trace, Some(id)),
            // Nothing looks for a trace by its name.
            SegmentEntry::Alias { trace: true, .. } => (Format::Trace, None),
            SegmentEntry::Alias { id, trace: false } => {
                let text = format!(
                    "no reader finds a Segment under this spelling of its id; it should be {id}.jsonl"
                );
                return refuse(Code::BadFileName, &text);
            }
            SegmentEntry::BadStem => {
                return refuse(Code::BadFileName, "the name is not that of a Segment");
            }
            SegmentEntry::Other => {
                return refuse(
                    Code::UnknownFile,
                    "a file that is neither a Segment nor a trace",
                );
            }
        };
        files.push(SourceFile {
            name: name.to_owned(),
            format,
            segment,
        });
    }
    Ok(files)
}

/// Takes what a [`Tee`] read, in order and once.
pub(super) trait Sink {
    /// The next bytes, and where they stand.
    fn take(&mut self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Where they go, for messages.
    fn path(&self) -> &Path;
}

/// Takes nothing: the source is only checked.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn take(&mut self, _: &[u8], _: u64) -> io::Result<()> {
        Ok(())
    }

    fn path(&self) -> &Path {
        Path::new("")
    }
}

/// A file that is read by a scanner, and whose bytes go to a sink when they are first read.
struct Tee<'a> {
    file: &'a File,
    progress: &'a dyn Progress,
    state: RefCell<TeeState<'a>>,
}

struct TeeState<'a> {
    /// All before this went to the sink.
    at: u64,
    hasher: Sha256,
    sink: &'a mut dyn Sink,
    /// Why the sink takes no more.
    failed: Option<io::Error>,
}

impl Source for Tee<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = Source::read_at(self.file, buf, offset)?;
        let end = offset + n as u64;
        let mut state = self.state.borrow_mut();
        if offset > state.at {
            return Err(io::Error::other("a part of the file was passed over"));
        }
        if end > state.at {
            let from = usize::try_from(state.at - offset).map_err(io::Error::other)?;
            let (fresh, at) = (&buf[from..n], state.at);
            state.hasher.update(fresh);
            if let Err(e) = state.sink.take(fresh, at) {
                state.failed = Some(e);
                return Err(io::Error::other("the copy can not be written"));
            }
            state.at = end;
            self.progress.add(fresh.len() as u64);
        }
        if self.progress.interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(n)
    }
}

/// What became of one file.
pub(super) struct Passed {
    pub stat: FileStat,
    pub sha256: String,
}

/// Reads one file to its end, hands its bytes on, and checks each committed line.
///
/// # Errors
/// `Left` for a bad record, a source that can not be read or that changed; `All` if the sink can
/// take no more or a person asked to stop.
pub(super) fn pass(
    source: &Dir,
    file: &SourceFile,
    whose: &Whose<'_>,
    tools: &mut Scanner,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    notes: &mut Vec<Finding>,
) -> Result<Passed, Stop> {
    let path = whose.path.join(&file.name);
    let unreadable = |e: &io::Error| Stop::from(whose.unreadable(path.clone(), e));
    let open = source.file(&file.name).map_err(|e| unreadable(&e))?;
    let before = stat_of(&open).map_err(|e| unreadable(&e))?;
    let tee = Tee {
        file: &open,
        progress,
        state: RefCell::new(TeeState {
            at: 0,
            hasher: Sha256::new(),
            sink,
            failed: None,
        }),
    };
    let subject = Subject {
        segment_id: file.segment,
        ..whose.subject()
    };
    let mut bad: Option<Finding> = None;
    let mut bad_lines = 0_u64;
    let mut first = file.format == Format::Segment;
    let scanned = tools.scan(&tee, before.len, file.format, |line| {
        match &line.verdict {
            Verdict::Blank => {}
            Verdict::Record(facts) => {
                if std::mem::take(&mut first) {
                    let locus = Locus::at(&path, line.number, line.offset);
                    let kind = facts.kind();
                    let start = kind == Some(RecordKind::SegmentStart);
                    notes.extend(opening(start, facts.session, whose, subject, locus));
                }
            }
            Verdict::Bad(fault) => {
                bad_lines += 1;
                if bad.is_none() {
                    let locus = Locus {
                        line: Some(line.number),
                        byte: Some(fault.at),
                        length: fault.length,
                        ..Locus::file(&path)
                    };
                    let finding = Finding::new(fault.code, subject, locus, fault.message.clone());
                    bad = Some(finding);
                }
                if file.format == Format::Segment {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    });
    let state = tee.state.into_inner();
    if progress.interrupted() {
        return Err(interrupted().into());
    }
    if let Some(e) = state.failed {
        return Err(failed("write", state.sink.path(), e).into());
    }
    let scanned = scanned.map_err(|e| unreadable(&e))?;
    if let (Some(finding), Format::Segment) = (bad.as_ref(), file.format) {
        return Err(unfit(finding.clone(), whose).into());
    }
    if let Some(finding) = bad {
        notes.push(trace_note(finding, bad_lines));
    }
    if let Some(tail) = scanned.tail {
        let locus = Locus {
            byte: Some(scanned.committed),
            length: Some(tail.length),
            ..Locus::file(&path)
        };
        let message = "a record that was never committed stands at the end; it is copied with the rest and no reader takes it";
        notes.push(Finding::new(Code::TornTail, subject, locus, message));
    }
    let after = stat_of(&open).map_err(|e| unreadable(&e))?;
    if state.at != before.len || after.len != before.len {
        let had = plural(before.len, "byte", "bytes");
        let text = format!("it had {had} and has {} now", after.len);
        return Err(whose.changed(path, &text).into());
    }
    if time_of(&after) != time_of(&before) {
        return Err(whose.changed(path, "it was written to").into());
    }
    Ok(Passed {
        stat: before,
        sha256: hex(&state.hasher.finalize()),
    })
}

/// A Segment that holds a committed record which no Runtime reads.
fn unfit(finding: Finding, whose: &Whose<'_>) -> Finding {
    let what = finding.message.clone();
    let hint = format!("wagg explain {}", finding.code);
    Finding {
        message: format!("a committed record that no Runtime reads: {what}"),
        ..finding
    }
    .with_severity(Severity::Error)
    .with_hint(hint)
    .of(whose.worker)
}

/// A trace that holds lines which nobody can read. Nothing replays a trace.
fn trace_note(finding: Finding, lines: u64) -> Finding {
    let more = match lines {
        1 => String::new(),
        n => format!(" (and {})", plural(n - 1, "more line", "more lines")),
    };
    Finding {
        message: format!(
            "a line of the trace can not be read{more}: {}; it is copied as it is, since nothing replays a trace",
            finding.message
        ),
        ..finding
    }
    .with_severity(Severity::Warning)
}

trait Of {
    fn of(self, worker: WorkerId) -> Self;
}

impl Of for Finding {
    fn of(mut self, worker: WorkerId) -> Self {
        self.subject.worker_id = Some(worker);
        self
    }
}

/// What is to be said of a Segment's first record.
fn opening(
    start: bool,
    session: Option<SessionId>,
    whose: &Whose<'_>,
    subject: Subject,
    locus: Locus,
) -> Option<Finding> {
    if !start {
        let message = "the first record is no segment_start, so no restore starts here; it is copied as it is";
        return Some(Finding::new(
            Code::MissingSegmentStart,
            subject,
            locus,
            message,
        ));
    }
    let named = session.filter(|session| *session != whose.session)?;
    let message = format!(
        "the first record names the Session {named} and its folder is that of {}; it is copied as it is",
        whose.session
    );
    Some(Finding::new(Code::SessionMismatch, subject, locus, message))
}

/// Reads all files of a Session; each goes to a sink of its own, which `sink` makes.
///
/// # Errors
/// As [`pass`] and [`list`].
pub(super) fn pass_all(
    source: &Dir,
    whose: &Whose<'_>,
    tools: &mut Scanner,
    progress: &dyn Progress,
    out: Option<&WriteDir<'_>>,
) -> Result<(Vec<CopiedFile>, Vec<Finding>), Stop> {
    let files = list(source, whose)?;
    let mut copied = Vec::with_capacity(files.len());
    let mut notes = Vec::new();
    for file in &files {
        let mut time = 0;
        let passed = match out {
            None => {
                let sink = &mut Nowhere;
                pass(source, file, whose, tools, sink, progress, &mut notes)?
            }
            Some(dir) => {
                let path = dir.path_of(&file.name);
                let fail = |action: &str, e| Stop::from(failed(action, &path, e));
                // One that is not there any more is told by the reading.
                let out = match source.stat(&file.name) {
                    Ok(stat) => dir.create_from(&file.name, &stat),
                    Err(_) => dir.create(&file.name),
                };
                let mut copy = Copy {
                    out: out.map_err(|e| fail("make", e))?,
                };
                let passed = pass(source, file, whose, tools, &mut copy, progress, &mut notes)?;
                let stat = stat_of(copy.out.file()).map_err(|e| fail("look at", e))?;
                time = time_of(&stat);
                passed
            }
        };
        copied.push(CopiedFile {
            name: file.name.clone(),
            bytes: passed.stat.len,
            sha256: passed.sha256,
            source_time: time_of(&passed.stat),
            time,
        });
    }
    // Whoever adds a file while the others are read is still at work there.
    if list(source, whose)? != files {
        return Err(whose
            .changed(whose.path.to_owned(), "files came or went")
            .into());
    }
    notes.extend(active_note(whose, &files));
    Ok((copied, notes))
}

/// What is to be said of the Segment that the metadata points at.
fn active_note(whose: &Whose<'_>, files: &[SourceFile]) -> Option<Finding> {
    let active = whose.active?;
    let there = files
        .iter()
        .any(|file| file.format == Format::Segment && file.segment == Some(active));
    if there {
        return None;
    }
    let subject = Subject {
        segment_id: Some(active),
        ..whose.subject()
    };
    let message = format!(
        "the metadata points at the Segment {active}, which the Session does not hold: it is moved all the same, and can not be restored from there"
    );
    let finding = Finding::new(
        Code::ActiveMissingSegment,
        subject,
        Locus::file(whose.path),
        message,
    );
    Some(finding.with_hint(format!("wagg segment list {}", whose.worker)))
}

/// A copy in the making.
struct Copy {
    out: crate::store::fs::OutFile,
}

impl Sink for Copy {
    fn take(&mut self, bytes: &[u8], _: u64) -> io::Result<()> {
        self.out.put(bytes)
    }

    fn path(&self) -> &Path {
        self.out.path()
    }
}
