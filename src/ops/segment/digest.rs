//! The SHA-256 over the committed prefix of a Segment, as `--expect-digest` takes it.

use std::ops::ControlFlow;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::interrupted;
use crate::diag::{Code, Error, Progress, Result, hex};
use crate::layout::{SegmentId, WorkerId};
use crate::ops::read::{SegmentRef, open_error};
use crate::record::{Format, Limits, Scanner, Source, Verdict};
use crate::store::Store;

/// A digest and what it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// Whose it is.
    pub worker_id: WorkerId,
    /// The Segment.
    pub segment_id: SegmentId,
    /// Its file, relative to the store.
    pub path: String,
    /// So many committed lines that are not blank, whatever they hold.
    pub records: u64,
    /// So many bytes, the last newline included.
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

/// Gives the digest of the committed prefix, or of that up to and with record `at_record`.
///
/// Records are counted without looking into them, as a Runtime does where it looks for a second
/// writer: a line that is not blank is one.
///
/// # Errors
/// It can not be opened or read; `not_found` if it has fewer records; `interrupted`.
pub fn digest(
    store: &Store,
    segment: &SegmentRef,
    at_record: Option<u64>,
    progress: &dyn Progress,
) -> Result<Digest> {
    let file = segment.open(store)?;
    progress.start(Some(file.stat.len));
    let mut records = 0;
    let mut end = 0;
    let mut stopped = false;
    let whole = at_record.is_none();
    let scanned = Scanner::new(Limits::default())
        .hashing(whole)
        .scan(&file.file, file.stat.len, Format::Segment, |line| {
            if at_record == Some(records) {
                return ControlFlow::Break(());
            }
            if !matches!(line.verdict, Verdict::Blank) {
                records += 1;
                end = line.offset + line.length + 1;
            }
            progress.add(line.length + 1);
            if progress.interrupted() {
                stopped = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .map_err(|e| open_error(&file.path, e));
    progress.finish();
    let scanned = scanned?;
    if stopped {
        return Err(interrupted());
    }
    let sha256 = match at_record {
        None => {
            end = scanned.committed;
            scanned.sha256.unwrap_or_default().into()
        }
        Some(wanted) if wanted > records => {
            return Err(Error::new(
                Code::NotFound,
                format!(
                    "Segment {} has {records} committed records, and no record {wanted}",
                    segment.segment
                ),
            )
            .hint(format!("wagg segment show {}", segment.segment)));
        }
        Some(_) => prefix(&file.file, end).map_err(|e| open_error(&file.path, e))?,
    };
    Ok(Digest {
        worker_id: segment.worker.id,
        segment_id: segment.segment,
        path: file.path.to_string_lossy().into_owned(),
        records,
        bytes: end,
        sha256: hex(&sha256),
    })
}

/// The digest of the first `end` bytes.
fn prefix(source: &impl Source, end: u64) -> std::io::Result<Vec<u8>> {
    let mut hasher = Sha256::new();
    let mut buf = vec![0; 256 * 1024];
    let mut at = 0;
    while at < end {
        let room = usize::try_from(end - at)
            .unwrap_or(buf.len())
            .min(buf.len());
        match source.read_at(&mut buf[..room], at)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => {
                hasher.update(&buf[..n]);
                at += n as u64;
            }
        }
    }
    Ok(hasher.finalize().to_vec())
}
