//! A file of lines, read from where an earlier look came to, if it is still what it was.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use blake3::Hasher;
use sha2::{Digest, Sha256};

use super::certificate::{Certificate, DIGEST, Entry, Settled};
use super::segment::{CLOCK_EVERY, fold_from, whole};
use super::{Found, Run};
use crate::record::{Fold, Format, Resume, Scanned, Scanner, Source};
use crate::store::fs::stat_of;
use crate::store::{Dir, FileStat};

/// How much is hashed at a time, in bytes: little enough to stay in the processor's cache.
const BLOCK: usize = 128 * 1024;

/// Where a file is. Its path is only put together where somebody wants it.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    /// At this path.
    Path(&'a Path),
    /// In this folder, under this name.
    In(&'a Dir, &'a OsStr),
}

impl<'a> At<'a> {
    /// As findings name it.
    pub fn path(self) -> Cow<'a, Path> {
        match self {
            Self::Path(path) => path.into(),
            Self::In(dir, name) => dir.path_of(name).into(),
        }
    }
}

/// A file that is looked at, and its state at the time.
pub(super) struct Looked<'a> {
    pub file: &'a File,
    pub at: At<'a>,
    pub format: Format,
    pub stat: FileStat,
    /// When the state was asked for, or a little before; only for a certificate.
    pub asked: Option<SystemTime>,
}

/// What an earlier look came to, if times are trusted and say that nothing changed since. The file
/// itself need not be open for that.
pub(super) fn untouched(
    at: At<'_>,
    format: Format,
    stat: impl FnOnce() -> io::Result<FileStat>,
    run: &Run<'_>,
    found: &mut Found,
) -> Option<(Fold, Scanned)> {
    let certificate = run.certificate?;
    if !certificate.trusts_mtime() || run.options.quick {
        return None;
    }
    let path = &*at.path();
    let entry = certificate.find(path, format)?;
    let stat = stat().ok()?;
    if !entry.is_untouched(&stat) || (run.options.digest && !entry.has_sha256()) {
        return None;
    }
    let known = entry.scanned()?;
    reused(entry.committed, found);
    certificate.looked_at(path, format);
    if certificate.saves() {
        found.certified.push(entry.bytes.into_owned());
    }
    Some(known)
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
        at,
        format,
        stat,
        ..
    } = looked;
    let Some(certificate) = run.certificate else {
        return whole(file, stat.len, format, run, scanner);
    };
    let path = &*at.path();
    if let Some(entry) = certificate.find(path, format) {
        match taken_up(file, stat.len, &entry, run)? {
            TakenUp::At(at) => {
                let (fold, from, prefix) = *at;
                let done = scan(looked, fold, from, prefix, run, scanner, found)?;
                if !done.1.stopped {
                    reused(entry.committed, found);
                    if certificate.saves() && found.certified.is_empty() {
                        // Nothing new can be said, and the old is still true of the prefix.
                        found.certified.push(entry.bytes.into_owned());
                    }
                }
                return Ok(done);
            }
            TakenUp::Stopped => return Ok((Fold::new(), stopped())),
            TakenUp::Not(how) => found.changed.push((path.to_owned(), how)),
        }
    }
    if certificate.saves() {
        let (fold, from) = (Fold::new(), Resume::default());
        return scan(looked, fold, from, Hasher::new(), run, scanner, found);
    }
    certificate.looked_at(path, format);
    whole(file, stat.len, format, run, scanner)
}

fn reused(bytes: u64, found: &mut Found) {
    *found.summary.reused_bytes.get_or_insert(0) += bytes;
}

/// What a scan comes to that a person stopped before its first line.
fn stopped() -> Scanned {
    Scanned {
        committed: 0,
        lines: 0,
        tail: None,
        stopped: true,
        sha256: None,
    }
}

enum TakenUp {
    /// What the lines so far came to, where the next one begins, and the hasher behind them.
    At(Box<(Fold, Resume, Hasher)>),
    Stopped,
    /// It is not what it was.
    Not(&'static str),
}

/// Holds the part that was read before against its digest.
fn taken_up(file: &File, len: u64, entry: &Entry<'_>, run: &Run<'_>) -> io::Result<TakenUp> {
    if len < entry.committed {
        return Ok(TakenUp::Not("it became shorter"));
    }
    let Some((prefix, sha256)) = hashed(file, entry.committed, run)? else {
        return Ok(TakenUp::Stopped);
    };
    if prefix.finalize() != entry.digest {
        return Ok(TakenUp::Not("the part that was read before changed"));
    }
    let Some(fold) = entry.fold() else {
        return Ok(TakenUp::Not("what is said of it can not be read"));
    };
    let from = Resume {
        offset: entry.committed,
        lines: entry.lines,
        hasher: sha256,
    };
    Ok(TakenUp::At(Box::new((fold, from, prefix))))
}

/// The hashers behind the first bytes of a file, that of SHA-256 only if it is asked for; none if
/// it was stopped.
fn hashed(file: &File, len: u64, run: &Run<'_>) -> io::Result<Option<(Hasher, Sha256)>> {
    let (mut prefix, mut sha256) = (Hasher::new(), Sha256::new());
    let room = usize::try_from(len).unwrap_or(BLOCK).min(BLOCK);
    let mut buf = vec![0; room];
    let (mut at, mut said) = (0, 0);
    while at < len {
        let room = usize::try_from(len - at).unwrap_or(BLOCK).min(BLOCK);
        match Source::read_at(file, &mut buf[..room], at)? {
            0 => break, // it became shorter, and the digest will differ
            n => {
                prefix.update(&buf[..n]);
                if run.options.digest {
                    sha256.update(&buf[..n]);
                }
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
    Ok(Some((prefix, sha256)))
}

/// Parses a file from a line on, and says in the new certificate what it came to.
fn scan(
    looked: &Looked<'_>,
    fold: Fold,
    from: Resume,
    prefix: Hasher,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> io::Result<(Fold, Scanned)> {
    let &Looked {
        file, format, stat, ..
    } = looked;
    let hashing = Hashing {
        file,
        state: RefCell::new(Hashed::from(from.offset, prefix)),
    };
    let (fold, scanned) = fold_from(fold, from.offset, format, run, |visit| {
        scanner.scan_from(&hashing, from, stat.len, format, visit)
    })?;
    if let Some(certificate) = run.certificate
        && !scanned.stopped
        && !scanned.is_short_of(stat.len)
    {
        let hashed = hashing.state.into_inner();
        certify(looked, certificate, &fold, &scanned, &hashed, found)?;
    }
    Ok((fold, scanned))
}

/// A file whose bytes are hashed as a scan reads them, so that what is hashed is what is parsed.
struct Hashing<'a> {
    file: &'a File,
    state: RefCell<Hashed>,
}

/// How far a file was hashed.
struct Hashed {
    /// Behind the last byte.
    next: u64,
    all: Hasher,
    /// Behind the last newline, and the hasher there.
    committed: u64,
    prefix: Hasher,
    /// A byte was passed over.
    gap: bool,
    /// A byte was read more than once, so what was parsed may be the later of the two.
    again: bool,
}

impl Hashed {
    fn from(offset: u64, prefix: Hasher) -> Self {
        Self {
            next: offset,
            all: prefix.clone(),
            committed: offset,
            prefix,
            gap: false,
            again: false,
        }
    }

    /// Takes what was read at an offset, as far as it was not seen before: a scan reads on and on,
    /// and looks back into a long line.
    fn take(&mut self, bytes: &[u8], offset: u64) {
        let Some(old) = self.next.checked_sub(offset) else {
            self.gap = true;
            return;
        };
        self.again |= old > 0 && !bytes.is_empty();
        let Some(fresh) = usize::try_from(old).ok().and_then(|old| bytes.get(old..)) else {
            return;
        };
        let rest = match memchr::memrchr(b'\n', fresh) {
            Some(newline) => {
                let (lines, rest) = fresh.split_at(newline + 1);
                self.all.update(lines);
                self.prefix.clone_from(&self.all);
                self.committed = self.next + lines.len() as u64;
                rest
            }
            None => fresh,
        };
        self.all.update(rest);
        self.next += fresh.len() as u64;
    }

    /// The digest of the committed prefix, if that is what was hashed.
    fn digest(&self, committed: u64) -> Option<[u8; DIGEST]> {
        (!self.gap && self.committed == committed).then(|| self.prefix.finalize().into())
    }
}

impl Source for Hashing<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = Source::read_at(self.file, buf, offset)?;
        self.state.borrow_mut().take(&buf[..n], offset);
        Ok(n)
    }
}

/// Says in the new certificate what a file came to.
fn certify(
    looked: &Looked<'_>,
    certificate: &Certificate,
    fold: &Fold,
    scanned: &Scanned,
    hashed: &Hashed,
    found: &mut Found,
) -> io::Result<()> {
    let &Looked {
        file,
        at,
        format,
        stat,
        asked,
    } = looked;
    let path = &*at.path();
    certificate.looked_at(path, format);
    if !certificate.saves() {
        return Ok(());
    }
    let Some(digest) = hashed.digest(scanned.committed) else {
        return Ok(());
    };
    let (mut stat, mut scanned) = (stat, *scanned);
    let settled = if stat_of(file)? == stat {
        asked.map_or(Settled(false), |asked| {
            Settled::of(&stat, asked, certificate.settle())
        })
    } else if hashed.again {
        return Ok(());
    } else {
        // It changed meanwhile, most likely by an append: what was read is no one state of it, but
        // the bytes that were parsed are those that were hashed. Only that is said, of its lines.
        stat.len = scanned.committed;
        scanned.tail = None;
        Settled(false)
    };
    found.certified.extend(Entry::write(
        path, format, &stat, settled, fold, &scanned, digest,
    ));
    Ok(())
}
