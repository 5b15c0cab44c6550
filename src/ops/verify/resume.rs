//! A file of lines, read from where an earlier look came to, if it is still what it was.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::certificate::{Certificate, Entry, Settled};
use super::segment::{CLOCK_EVERY, push, whole};
use super::{Found, Run};
use crate::record::{Fold, Format, Resume, Scanned, Scanner, Source};
use crate::store::FileStat;
use crate::store::fs::stat_of;

/// How much is hashed at a time, in bytes: little enough to stay in the processor's cache.
const BLOCK: usize = 128 * 1024;

/// A file that is looked at, and its state at the time.
pub(super) struct Looked<'a> {
    pub file: &'a File,
    pub path: &'a Path,
    pub format: Format,
    pub stat: FileStat,
    /// When the state was asked for, or a little before.
    pub asked: SystemTime,
}

/// Reads a file whole, or what was appended to it.
pub(super) fn read(
    looked: &Looked<'_>,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> io::Result<(Fold, Scanned)> {
    let &Looked {
        file,
        path,
        format,
        stat,
        ..
    } = looked;
    let Some(certificate) = run.certificate else {
        return whole(file, stat.len, format, run, scanner);
    };
    if let Some(entry) = certificate.find(path, format) {
        if certificate.trusts_mtime()
            && entry.is_untouched(&stat)
            && let Some(known) = entry.scanned()
        {
            reused(entry.committed, found);
            certificate.looked_at(path, format);
            if certificate.saves() {
                found.certified.push(entry.bytes);
            }
            return Ok(known);
        }
        match continued(looked, &entry, run, scanner)? {
            Continued::Stopped => {
                return Ok((Fold::new(), stopped()));
            }
            Continued::To(fold, scanned) => {
                if !scanned.stopped {
                    reused(entry.committed, found);
                    certify(looked, certificate, &fold, &scanned, found)?;
                }
                return Ok((*fold, scanned));
            }
            Continued::Not(how) => certificate.differs(path, how),
        }
    }
    let (fold, scanned) = whole(file, stat.len, format, run, scanner)?;
    if !scanned.stopped {
        certify(looked, certificate, &fold, &scanned, found)?;
    }
    Ok((fold, scanned))
}

fn reused(bytes: u64, found: &mut Found) {
    *found.summary.reused_bytes.get_or_insert(0) += bytes;
}

/// What a scan that a person stopped before its first line came to.
fn stopped() -> Scanned {
    Scanned {
        committed: 0,
        lines: 0,
        tail: None,
        stopped: true,
        sha256: None,
    }
}

enum Continued {
    To(Box<Fold>, Scanned),
    Stopped,
    /// It is not what it was.
    Not(&'static str),
}

/// Holds the prefix against its digest and parses what follows it.
fn continued(
    looked: &Looked<'_>,
    entry: &Entry,
    run: &Run<'_>,
    scanner: &mut Scanner,
) -> io::Result<Continued> {
    let &Looked {
        file, format, stat, ..
    } = looked;
    if stat.len < entry.committed {
        return Ok(Continued::Not("it became shorter"));
    }
    let Some(hasher) = hashed(file, entry.committed, run)? else {
        return Ok(Continued::Stopped);
    };
    if <[u8; 32]>::from(hasher.clone().finalize()) != entry.sha256 {
        return Ok(Continued::Not("the part that was read before changed"));
    }
    let Some(mut fold) = entry.fold() else {
        return Ok(Continued::Not("what is said of it can not be read"));
    };
    let from = Resume {
        offset: entry.committed,
        lines: entry.lines,
        hasher,
    };
    let mut seen = entry.committed;
    let scanned = scanner.scan_from(file, from, stat.len, format, |line| {
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
    Ok(Continued::To(Box::new(fold), scanned))
}

/// The hasher behind the first bytes of a file; none if it was stopped.
fn hashed(file: &File, len: u64, run: &Run<'_>) -> io::Result<Option<Sha256>> {
    let mut hasher = Sha256::new();
    let room = usize::try_from(len).unwrap_or(BLOCK).min(BLOCK);
    let mut buf = vec![0; room];
    let (mut at, mut said) = (0, 0);
    while at < len {
        let room = usize::try_from(len - at).unwrap_or(BLOCK).min(BLOCK);
        match Source::read_at(file, &mut buf[..room], at)? {
            0 => break, // it became shorter, and the digest will differ
            n => {
                hasher.update(&buf[..n]);
                at += n as u64;
            }
        }
        if at - said >= CLOCK_EVERY {
            run.progress.add(at - said);
            said = at;
            if run.stop().is_some() {
                return Ok(None);
            }
        }
    }
    run.progress.add(at - said);
    Ok(Some(hasher))
}

/// Says in the new certificate what a file came to.
fn certify(
    looked: &Looked<'_>,
    certificate: &Certificate,
    fold: &Fold,
    scanned: &Scanned,
    found: &mut Found,
) -> io::Result<()> {
    let &Looked {
        file,
        path,
        format,
        stat,
        asked,
    } = looked;
    certificate.looked_at(path, format);
    // Nothing is said of a file that changed meanwhile: what was hashed may not be what was parsed.
    if !certificate.saves() || stat_of(file)? != stat {
        return Ok(());
    }
    let settled = Settled::of(&stat, asked, certificate.settle());
    found
        .certified
        .extend(Entry::write(path, format, &stat, settled, fold, scanned));
    Ok(())
}
