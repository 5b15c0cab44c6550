//! What is in the store already, held against its source (C24): equal to the byte, or, where a
//! former run put it there, what a Runtime made of it since.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::copy::{Sink, SourceFile, Stop, Whose, interrupted, list, pass};
use super::target::Session;
use crate::diag::{Code, Finding, Locus, Progress, Severity, Subject, plural};
use crate::layout::{SegmentEntry, classify_segment};
use crate::ops::ownership::Trouble;
use crate::record::{Scanner, Source};
use crate::store::fs::committed_len;
use crate::store::{Dir, fs::stat_of, wrong_kind};

/// How a target stands to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// The same files with the same bytes.
    Equal,
    /// All that the source has, and more: a Runtime went on from it.
    Advanced,
}

/// The refusal of a target that is something else. Neither copy is touched.
pub(super) fn differs(whose: &Whose<'_>, locus: Locus, message: String) -> Finding {
    let subject = Subject {
        worker_id: Some(whose.worker),
        session_id: Some(whose.session),
        ..Subject::default()
    };
    Finding::new(Code::TargetDiffers, subject, locus, message)
        .with_severity(Severity::Error)
        .with_hint(
            "compare both, and move away by hand the one that is wrong; nothing is ever replaced",
        )
}

/// Holds a Session that is in the store against its source, byte for byte.
///
/// `went_on` says that a former run put it there, so that a Runtime may have gone on from it. If
/// not, the source is checked as it would be for a copy.
///
/// # Errors
/// `Left` with the first file that differs.
pub(super) fn session(
    source: &Dir,
    target: &Session,
    whose: &Whose<'_>,
    went_on: bool,
    tools: &mut Scanner,
    progress: &dyn Progress,
    notes: &mut Vec<Finding>,
) -> Result<Match, Stop> {
    let files = list(source, whose)?;
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let there: BTreeSet<&str> = target.names.iter().filter_map(|n| n.to_str()).collect();
    let place = &target.segments_path;
    if let Some(name) = names.iter().find(|name| !there.contains(*name)) {
        let text = format!("{name} of the source is not in the store's Session");
        return Err(differs(whose, Locus::file(place), text).into());
    }
    let mut grown = false;
    for name in &target.names {
        if name.to_str().is_some_and(|name| names.contains(name)) {
            continue;
        }
        // All that a Runtime adds is Segments and traces.
        if went_on && name.to_str().is_some_and(is_of_a_runtime) {
            grown = true;
            continue;
        }
        let name = name.to_string_lossy();
        let text = format!("{name} of the store's Session is not in the source");
        return Err(differs(whose, Locus::file(place), text).into());
    }
    for file in &files {
        let one = Pair {
            source,
            target,
            file,
            whose,
        };
        if went_on {
            grown |= one.prefix(progress)? == Match::Advanced;
        } else {
            one.equal(tools, progress, notes)?;
        }
    }
    Ok(if grown { Match::Advanced } else { Match::Equal })
}

/// Whether a Runtime gives a file of a Session such a name.
fn is_of_a_runtime(name: &str) -> bool {
    matches!(
        classify_segment(name),
        SegmentEntry::Segment(_) | SegmentEntry::Trace(_)
    )
}

/// One file in both places.
struct Pair<'a> {
    source: &'a Dir,
    target: &'a Session,
    file: &'a SourceFile,
    whose: &'a Whose<'a>,
}

impl Pair<'_> {
    fn path(&self) -> PathBuf {
        self.target.segments_path.join(&self.file.name)
    }

    fn open_target(&self) -> Result<File, Stop> {
        let opened = match &self.target.segments {
            Some(dir) => dir.file(&self.file.name),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        opened.map_err(|e| self.unreadable(self.path(), &e))
    }

    fn unreadable(&self, path: PathBuf, e: &io::Error) -> Stop {
        let trouble = match wrong_kind(e) {
            Some(kind) => Trouble::wrong_kind(kind),
            None => Trouble::unreadable(e),
        };
        let subject = Subject::worker(self.whose.worker);
        let finding = trouble.finding(subject, path, "this can not be compared");
        finding.with_severity(Severity::Error).into()
    }

    fn differ(&self, at: u64, lengths: Option<(u64, u64)>) -> Stop {
        let locus = Locus {
            byte: Some(at),
            ..Locus::file(self.path())
        };
        let text = match lengths {
            Some((source, target)) if source > target => format!(
                "the source has {} and the store's file {target}: the source grew, and its newer records are not in the store",
                plural(source, "byte", "bytes")
            ),
            Some((source, target)) => {
                let has = plural(source, "byte", "bytes");
                format!("the source has {has} and the store's file {target}")
            }
            None => format!("byte {at} is not that of the source"),
        };
        differs(self.whose, locus, text).into()
    }

    /// Both must be the same to the byte; the source is checked on the way.
    fn equal(
        &self,
        tools: &mut Scanner,
        progress: &dyn Progress,
        notes: &mut Vec<Finding>,
    ) -> Result<(), Stop> {
        let target = self.open_target()?;
        let path = self.path();
        let mut against = Against {
            path: &path,
            file: &target,
            buf: Vec::new(),
            differs_at: None,
            failed: None,
        };
        let passed = pass(
            self.source,
            self.file,
            self.whose,
            tools,
            &mut against,
            progress,
            notes,
        )?;
        if let Some(e) = &against.failed {
            return Err(self.unreadable(path.clone(), e));
        }
        let len = stat_of(&target)
            .map_err(|e| self.unreadable(self.path(), &e))?
            .len;
        let source = passed.stat.len;
        match against.differs_at {
            Some(at) if at < source.min(len) => Err(self.differ(at, None)),
            _ if len != source => Err(self.differ(source.min(len), Some((source, len)))),
            Some(at) => Err(self.differ(at, None)),
            None => Ok(()),
        }
    }

    /// What is committed in the source must be how the target begins. What follows its last
    /// newline was never a record, and the next append of a Runtime cuts it off.
    fn prefix(&self, progress: &dyn Progress) -> Result<Match, Stop> {
        let path = self.whose.path.join(&self.file.name);
        let mine = |e: io::Error| self.unreadable(path.clone(), &e);
        let theirs = |e: io::Error| self.unreadable(self.path(), &e);
        let source = self.source.file(&self.file.name).map_err(mine)?;
        let target = self.open_target()?;
        let len = stat_of(&source).map_err(mine)?.len;
        let there = stat_of(&target).map_err(theirs)?.len;
        let committed = committed_len(&source, len).map_err(mine)?;
        let (mut a, mut b) = (vec![0; BLOCK], vec![0; BLOCK]);
        let mut at = 0;
        while at < len {
            if progress.interrupted() {
                return Err(interrupted().into());
            }
            let want = usize::try_from(len - at).unwrap_or(BLOCK).min(BLOCK);
            let got = read_full(&source, &mut a[..want], at).map_err(mine)?;
            let other = read_full(&target, &mut b[..got], at).map_err(theirs)?;
            let same = common(&a[..got], &b[..other]);
            progress.add(same as u64);
            if same < got || got == 0 {
                at += same as u64;
                break;
            }
            at += same as u64;
        }
        if at >= len && there == len {
            Ok(Match::Equal)
        } else if at >= committed {
            Ok(Match::Advanced)
        } else if at == there {
            Err(self.differ(at, Some((len, there))))
        } else {
            Err(self.differ(at, None))
        }
    }
}

const BLOCK: usize = 256 * 1024;

fn read_full(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match Source::read_at(file, &mut buf[done..], at + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

/// How many bytes from the start are the same.
fn common(a: &[u8], b: &[u8]) -> usize {
    if a == b {
        return a.len();
    }
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Takes the bytes of a source and holds them against a file.
struct Against<'a> {
    path: &'a Path,
    file: &'a File,
    buf: Vec<u8>,
    differs_at: Option<u64>,
    failed: Option<io::Error>,
}

impl Sink for Against<'_> {
    fn take(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.differs_at.is_some() || self.failed.is_some() {
            return Ok(()); // the rest of the source is checked all the same
        }
        self.buf.resize(bytes.len(), 0);
        match read_full(self.file, &mut self.buf, at) {
            Ok(n) => {
                let same = common(bytes, &self.buf[..n]);
                if same < bytes.len() {
                    self.differs_at = Some(at + same as u64);
                }
            }
            Err(e) => self.failed = Some(e),
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.path
    }
}

/// Where two documents begin to differ.
pub(super) fn first_difference(a: &[u8], b: &[u8]) -> u64 {
    common(a, b) as u64
}

/// A path below the store, for a finding.
pub(super) fn at_byte(path: &Path, byte: u64) -> Locus {
    Locus {
        byte: Some(byte),
        ..Locus::file(path)
    }
}
