//! Segments as a person asks about them: what they come to, how they descend from each other, what
//! they say, where two of them part.

mod activate;
mod append;
mod compact;
mod create;
pub mod diff;
pub mod digest;
mod fork;
mod input;
mod list;
pub mod log;
mod make;
mod show;
mod source;
mod tail;
pub mod tokens;
mod tree;
mod turns;

use std::ops::ControlFlow;

use crate::diag::{Code, Error, Finding, Locus, Progress, Result, Subject};
use crate::layout::SessionId;
use crate::ops::read::{SegmentFile, SegmentRef, open_error};
use crate::record::{Fold, Format, Limits, Outline, Remark, Scanned, Scanner};
use crate::store::Store;

pub use activate::Activate;
pub use append::Append;
pub use compact::Compact;
pub use create::Create;
pub use fork::Fork;
pub use input::{Input, MAX_INPUT};
pub use list::{Lineage, Order, Segment, list};
pub use show::{Details, show};

/// What one look through a Segment came to.
#[derive(Debug)]
pub struct Reading {
    /// The counts.
    pub outline: Outline,
    /// What is worth a word, in the order of lines.
    pub remarks: Vec<Remark>,
    /// The scan.
    pub scanned: Scanned,
    /// The file as it was opened.
    pub file: SegmentFile,
}

/// Reads a Segment once, in flat memory, and goes on behind damage.
///
/// # Errors
/// It can not be opened or read; `interrupted`.
pub fn read(
    store: &Store,
    segment: &SegmentRef,
    hashing: bool,
    progress: &dyn Progress,
) -> Result<Reading> {
    let file = segment.open(store)?;
    let mut scanner = Scanner::new(Limits::default()).hashing(hashing);
    let mut fold = Fold::new();
    let mut told = 0;
    let mut stopped = false;
    let scanned = scanner
        .scan(&file.file, file.stat.len, Format::Segment, |line| {
            fold.push(line);
            let end = line.offset + line.length + 1;
            if end - told >= 1 << 20 {
                progress.add(end - told);
                told = end;
                if progress.interrupted() {
                    stopped = true;
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })
        .map_err(|e| open_error(&file.path, e))?;
    if stopped {
        return Err(interrupted());
    }
    progress.add(file.stat.len.saturating_sub(told));
    let (outline, remarks) = fold.finish(&scanned);
    Ok(Reading {
        outline,
        remarks,
        scanned,
        file,
    })
}

/// Reads a Segment up to its first good record: enough for where it descends from.
///
/// # Errors
/// It can not be opened or read.
pub fn read_head(store: &Store, segment: &SegmentRef) -> Result<Outline> {
    let file = segment.open(store)?;
    let mut fold = Fold::new();
    let mut scanner = Scanner::new(Limits {
        buffer: 64 * 1024,
        ..Limits::default()
    });
    let scanned = scanner
        .scan(&file.file, file.stat.len, Format::Segment, |line| {
            fold.push(line);
            if matches!(line.verdict, crate::record::Verdict::Record(_)) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .map_err(|e| open_error(&file.path, e))?;
    Ok(fold.finish(&scanned).0)
}

/// A person asked to stop.
#[must_use]
pub fn interrupted() -> Error {
    Error::new(Code::Interrupted, "interrupted; nothing was changed")
}

/// What is worth a word about a Segment, as findings.
fn findings(segment: &SegmentRef, session: Option<SessionId>, reading: &Reading) -> Vec<Finding> {
    let subject = Subject {
        worker_id: Some(segment.worker.id),
        session_id: session,
        segment_id: Some(segment.segment),
        generation: None,
    };
    let place = |remark: &Remark| Locus {
        path: reading.file.path.clone(),
        line: remark.line,
        byte: remark.byte,
        length: remark.length,
    };
    reading
        .remarks
        .iter()
        .map(|remark| Finding::new(remark.code, subject, place(remark), &remark.message))
        .collect()
}

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
