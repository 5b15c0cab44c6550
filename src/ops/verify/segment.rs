//! One Segment or trace: its lines, and the findings that they give.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::collect::Beyond;
use super::resume::{self, At, Looked};
use super::{Digest, Found, NotLookedAt, Run};
use crate::diag::{Code, Finding, Locus, RepairClass, Severity, Subject, hex};
use crate::record::{Fold, Format, Line, Outline, Remark, Scanned, Scanner, Source, Verdict};
use crate::store::fs::no_handles;
use crate::store::{Dir, EntryKind, FileStat, wrong_kind};

/// How often a scan looks at the clock, in bytes.
pub(super) const CLOCK_EVERY: u64 = 4 * 1024 * 1024;

/// Where a file of lines is and what it is.
pub(super) struct Place<'a> {
    pub dir: &'a Dir,
    pub name: &'a OsStr,
    pub subject: Subject,
    pub format: Format,
}

impl Place<'_> {
    /// As findings name it.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(self.name)
    }
}

/// Scans a file and adds what is wrong with it; gives its outline if it could be read to its end.
pub(super) fn check(
    place: &Place<'_>,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> Option<Outline> {
    if let Some(reason) = run.stop() {
        found.not_looked_at(place.path(), reason);
        return None;
    }
    let at = At::In(place.dir, place.name);
    let stat = || place.dir.stat(place.name);
    if let Some((fold, scanned)) = resume::untouched(at, place.format, stat, run, found) {
        return Some(judge(
            fold,
            &scanned,
            at,
            place.format,
            place.subject,
            run,
            found,
        ));
    }
    let open = || place.dir.file_and_stat(place.name);
    let checked = check_file(at, place.format, place.subject, open, run, scanner, found);
    checked.unwrap_or_else(|e| {
        unreadable(&place.path(), place.subject, &e, found);
        None
    })
}

/// As [`check`], with the way to open the file.
///
/// # Errors
/// Those of opening it.
pub(super) fn check_file(
    at: At<'_>,
    format: Format,
    subject: Subject,
    mut open: impl FnMut() -> io::Result<(File, FileStat)>,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> io::Result<Option<Outline>> {
    // A Runtime that starts may cut a torn tail, so a file that became shorter is read once more.
    for _ in 0..2 {
        let asked = run.now();
        let (file, stat) = open()?;
        // What is said of bytes that went away is not kept. Only a certificate says something yet.
        let mut tried = run.certificate.map(|_| Found::default());
        let scanned = if run.options.quick {
            quick(&file, stat.len, format, scanner)
        } else {
            let looked = Looked {
                file: &file,
                at,
                format,
                stat,
                asked,
            };
            resume::read(&looked, run, scanner, tried.as_mut().unwrap_or(found))
        };
        let (fold, scanned) = match scanned {
            Ok((_, scanned)) if scanned.is_short_of(stat.len) => continue,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => continue,
            Ok(both) => both,
            Err(e) => {
                unreadable(&at.path(), subject, &e, found);
                return Ok(None);
            }
        };
        if scanned.stopped && !run.options.quick {
            found.not_looked_at(at.path(), run.stop().unwrap_or("interrupted"));
            return Ok(None);
        }
        if let Some(mut tried) = tried {
            found.summary.add(&tried.summary);
            found.certified.append(&mut tried.certified);
            found.changed.append(&mut tried.changed);
        }
        let outline = judge(fold, &scanned, at, format, subject, run, found);
        return Ok(Some(outline));
    }
    found.not_looked_at(at.path(), SHORTER);
    Ok(None)
}

/// Why a file that loses bytes again and again is not looked at.
pub(super) const SHORTER: &str = "it became shorter while it was read";

/// Adds what a scan came to.
fn judge(
    fold: Fold,
    scanned: &Scanned,
    at: At<'_>,
    format: Format,
    subject: Subject,
    run: &Run<'_>,
    found: &mut Found,
) -> Outline {
    let (outline, remarks) = fold.finish(scanned);
    match format {
        Format::Segment => found.summary.segments += 1,
        Format::Trace => found.summary.traces += 1,
    }
    found.summary.records += outline.records;
    found.summary.bytes += outline.committed + outline.tail;
    if outline.calls_not_followed {
        found.not_looked_at(at.path(), "it has more tool calls than are followed, so calls without a result were not all looked for");
    }
    if let Some(sha256) = scanned.sha256
        && format == Format::Segment
        && run.options.digest
        && !run.options.quick
    {
        found.digests.push(Digest {
            worker_id: subject.worker_id,
            segment_id: subject.segment_id,
            path: at.path().to_string_lossy().into_owned(),
            bytes: outline.committed,
            sha256: hex(&sha256),
        });
    }
    for (code, count) in &outline.beyond {
        found.beyond.push(Beyond {
            code: *code,
            severity: severity(*code, format, run),
            worker_id: subject.worker_id,
            count: *count,
        });
    }
    for remark in remarks {
        if let Some(finding) = finding(remark, &at.path(), subject, format, run) {
            found.findings.push(finding);
        }
    }
    found.bound();
    outline
}

pub(super) fn whole(
    file: &File,
    len: u64,
    format: Format,
    run: &Run<'_>,
    scanner: &mut Scanner,
) -> io::Result<(Fold, Scanned)> {
    fold_from(Fold::new(), 0, format, run, |visit| {
        scanner.scan_helped(file, len, format, &run.spare, visit)
    })
}

/// Pushes the lines that a scan shows from an offset on, and looks at the clock now and then.
pub(super) fn fold_from(
    mut fold: Fold,
    offset: u64,
    format: Format,
    run: &Run<'_>,
    scan: impl FnOnce(&mut dyn FnMut(&Line<'_>) -> ControlFlow<()>) -> io::Result<Scanned>,
) -> io::Result<(Fold, Scanned)> {
    let mut seen = offset;
    let scanned = scan(&mut |line| {
        push(&mut fold, line, format);
        let at = line.offset + line.length + 1;
        if at - seen >= CLOCK_EVERY {
            run.progress.add(at - seen);
            seen = at;
            if run.stop().is_some() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    run.progress.add(scanned.committed.saturating_sub(seen));
    Ok((fold, scanned))
}

fn push(fold: &mut Fold, line: &Line<'_>, format: Format) {
    match format {
        Format::Segment => fold.push(line),
        Format::Trace => fold.push_trace(line),
    }
}

/// The first record and the end of the file.
fn quick(
    file: &File,
    len: u64,
    format: Format,
    scanner: &mut Scanner,
) -> io::Result<(Fold, Scanned)> {
    let mut fold = Fold::new();
    let mut scanned = scanner.scan(file, len, format, |line| {
        push(&mut fold, line, format);
        if matches!(line.verdict, Verdict::Blank) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    if scanned.stopped {
        let committed = committed_length(file, len)?;
        fold.skip_to_end();
        scanned.committed = committed;
        scanned.tail = (committed < len).then_some(crate::record::Tail {
            length: len - committed,
            all_nul: false,
            whole: false,
        });
    }
    Ok((fold, scanned))
}

/// The offset behind the last newline of the first `len` bytes.
///
/// # Errors
/// Those of reading; `UnexpectedEof` if there are not so many.
pub(super) fn committed_length(file: &File, len: u64) -> io::Result<u64> {
    let mut buf = vec![0; 64 * 1024];
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(buf.len() as u64);
        let part = &mut buf[..(end - start) as usize];
        let mut done = 0;
        while done < part.len() {
            match Source::read_at(file, &mut part[done..], start + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => done += n,
            }
        }
        if let Some(n) = memchr::memrchr(b'\n', part) {
            return Ok(start + n as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// What stands where a file should be, or why it can not be read.
pub(super) fn unreadable(path: &Path, subject: Subject, e: &io::Error, found: &mut Found) {
    // What is gone since the folder was listed is nobody's fault.
    if e.kind() == io::ErrorKind::NotFound {
        return;
    }
    // Nor is it the store's that no more can be opened here.
    if let Some(reason) = no_handles(e) {
        found.not_looked_at(path, reason);
        return;
    }
    let finding = match wrong_kind(e) {
        Some(EntryKind::Symlink) => Finding::new(
            Code::SymbolicLink,
            subject,
            Locus::file(path),
            "a symbolic link; it is not followed, and what it points at was not read",
        ),
        Some(kind) => Finding::new(
            Code::NotARegularFile,
            subject,
            Locus::file(path),
            format!(
                "{} stands where something else should be; it was not opened",
                kind.noun()
            ),
        ),
        None => {
            found.not_looked_at.push(NotLookedAt {
                path: path.to_string_lossy().into_owned(),
                reason: format!("it can not be read: {e}"),
            });
            Finding::new(
                Code::Unreadable,
                subject,
                Locus::file(path),
                format!("it can not be read: {e}"),
            )
            .with_hint("run as a user who may read it")
        }
    };
    found.findings.push(finding);
}

fn finding(
    remark: Remark,
    path: &Path,
    subject: Subject,
    format: Format,
    run: &Run<'_>,
) -> Option<Finding> {
    let code = remark.code;
    let trace = format == Format::Trace;
    if trace && code == Code::EmptySegment {
        return None; // an empty trace says nothing
    }
    let locus = Locus {
        path: path.to_owned(),
        line: remark.line,
        byte: remark.byte,
        length: remark.length,
    };
    let mut message = remark.message;
    if trace && code.info().severity == Some(Severity::Error) {
        message.push_str("; a trace is never replayed, so no history is concerned");
    }
    let line = remark.line.filter(|_| !trace);
    let hint = hint(code, subject, line);
    let finding =
        Finding::new(code, subject, locus, message).with_severity(severity(code, format, run));
    Some(match hint {
        Some(hint) => finding.with_hint(hint),
        None => finding,
    })
}

/// How bad what a code says is in such a file.
fn severity(code: Code, format: Format, run: &Run<'_>) -> Severity {
    let severity = code.info().severity.unwrap_or(Severity::Error);
    let newer = run.version != crate::layout::CatalogVersion::V1;
    let milder = format == Format::Trace || (code == Code::UnknownKind && newer);
    if milder && severity == Severity::Error {
        return Severity::Warning;
    }
    severity
}

/// The command to go on with; `line` is one of a Segment.
fn hint(code: Code, subject: Subject, line: Option<u64>) -> Option<String> {
    if code.info().severity? == Severity::Info {
        return None;
    }
    let mends = matches!(
        code.info().repair,
        RepairClass::Automatic | RepairClass::Lossy
    );
    if let (true, Some(worker)) = (mends, subject.worker_id) {
        return Some(format!("wagg repair {worker}"));
    }
    match (subject.segment_id, line) {
        // Only a Segment of a Worker can be asked for by its id.
        (Some(segment), Some(line)) if subject.worker_id.is_some() => Some(format!(
            "wagg segment log {segment} --from {line} --limit 1 --raw"
        )),
        _ => Some(format!("wagg explain {code}")),
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
