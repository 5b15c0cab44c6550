//! What a certificate says of one file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::DIGEST;
use crate::record::pack::{Pack, Unpack};
use crate::record::{Fold, Format, Scanned, Tail};
use crate::store::FileStat;

/// Whether a file's times were old enough to tell the next change from this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops::verify) struct Settled(pub bool);

impl Settled {
    /// Says whether a file whose state was asked for at `asked`, or a little later, had changed
    /// longer than `settle` before.
    pub fn of(stat: &FileStat, asked: SystemTime, settle: Duration) -> Self {
        let nanos = |s: i64, ns: u32| i128::from(s) * 1_000_000_000 + i128::from(ns);
        let changed = nanos(stat.mtime_s, stat.mtime_ns).max(nanos(stat.ctime_s, stat.ctime_ns));
        let asked = match asked.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(0),
            Err(_) => return Self(false),
        };
        let settle = i128::try_from(settle.as_nanos()).unwrap_or(i128::MAX / 2);
        // A time in the future is never old enough.
        Self(changed.saturating_add(settle) < asked)
    }
}

/// The state of a file as the system tells it, as far as a change of its bytes shows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    dev: u64,
    inode: u64,
    len: u64,
    mtime: (i64, u32),
    ctime: (i64, u32),
}

impl State {
    fn of(stat: &FileStat) -> Self {
        Self {
            dev: stat.dev,
            inode: stat.inode,
            len: stat.len,
            mtime: (stat.mtime_s, stat.mtime_ns),
            ctime: (stat.ctime_s, stat.ctime_ns),
        }
    }
}

/// One file: how far it was read, what those bytes were, and what its lines came to.
pub(in crate::ops::verify) struct Entry<'a> {
    state: State,
    settled: Settled,
    /// The length of the committed prefix.
    pub committed: u64,
    /// Its lines.
    pub lines: u64,
    /// Its BLAKE3, which is taken much faster than its SHA-256.
    pub digest: [u8; DIGEST],
    /// Its SHA-256, if that was asked for then.
    sha256: Option<[u8; 32]>,
    tail: Option<Tail>,
    /// Where the carry begins in the bytes.
    carry: usize,
    /// The entry as it stands in the file.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> Entry<'a> {
    /// The entry of a file that was read to its end; none if it can not be continued.
    pub fn write(
        path: &Path,
        format: Format,
        stat: &FileStat,
        settled: Settled,
        fold: &Fold,
        scanned: &Scanned,
        digest: [u8; DIGEST],
    ) -> Option<Vec<u8>> {
        let tail = scanned.tail.map_or(0, |tail| tail.length);
        // One that became shorter while it was read is not what its state says.
        if scanned.stopped || scanned.committed + tail != stat.len {
            return None;
        }
        let carry = fold.carry()?;
        let mut to = Pack::default();
        put_name(&mut to, path, format);
        let State {
            dev,
            inode,
            len,
            mtime,
            ctime,
        } = State::of(stat);
        to.number(dev);
        to.number(inode);
        to.number(len);
        for (s, ns) in [mtime, ctime] {
            to.number(s.cast_unsigned());
            to.number(u64::from(ns));
        }
        to.flag(settled.0);
        to.number(scanned.committed);
        to.number(scanned.lines);
        to.raw(&digest);
        to.maybe(scanned.sha256, |to, sha256| to.raw(&sha256));
        to.maybe(scanned.tail, |to, tail| {
            to.number(tail.length);
            to.flag(tail.all_nul);
            to.flag(tail.whole);
        });
        to.raw(&carry);
        Some(to.into_bytes())
    }

    /// Reads an entry.
    pub fn read(bytes: Cow<'a, [u8]>) -> Option<Self> {
        let mut from = Unpack::new(&bytes);
        take_name(&mut from)?;
        let (dev, inode, len) = (from.number()?, from.number()?, from.number()?);
        let mut time = || {
            let s = from.number()?.cast_signed();
            Some((s, u32::try_from(from.number()?).ok()?))
        };
        let state = State {
            dev,
            inode,
            len,
            mtime: time()?,
            ctime: time()?,
        };
        let settled = Settled(from.flag()?);
        let (committed, lines) = (from.number()?, from.number()?);
        let digest = from.raw(DIGEST)?.try_into().ok()?;
        let sha256 = from.maybe(|from| from.raw(32)?.try_into().ok())?;
        let tail = from.maybe(|from| {
            Some(Tail {
                length: from.number()?,
                all_nul: from.flag()?,
                whole: from.flag()?,
            })
        })?;
        let carry = bytes.len() - from.rest().len();
        let whole = committed.checked_add(tail.map_or(0, |tail| tail.length))? == len;
        whole.then_some(Self {
            state,
            settled,
            committed,
            lines,
            digest,
            sha256,
            tail,
            carry,
            bytes,
        })
    }

    /// Whether the system says that nothing changed since, and its times can tell.
    pub fn is_untouched(&self, stat: &FileStat) -> bool {
        self.settled.0 && self.state == State::of(stat)
    }

    /// Whether the SHA-256 of the prefix is known.
    pub fn has_sha256(&self) -> bool {
        self.sha256.is_some()
    }

    /// What the lines of the prefix came to, to be continued.
    pub fn fold(&self) -> Option<Fold> {
        Fold::carried(&self.bytes[self.carry..], true)
    }

    /// What a scan of the whole file came to.
    pub fn scanned(&self) -> Option<(Fold, Scanned)> {
        let scanned = Scanned {
            committed: self.committed,
            lines: self.lines,
            tail: self.tail,
            stopped: false,
            sha256: self.sha256,
        };
        Some((Fold::carried(&self.bytes[self.carry..], false)?, scanned))
    }
}

fn put_name(to: &mut Pack, path: &Path, format: Format) {
    to.bytes(path.as_os_str().as_bytes());
    to.flag(format == Format::Trace);
}

fn take_name<'a>(from: &mut Unpack<'a>) -> Option<(&'a Path, Format)> {
    let path = Path::new(OsStr::from_bytes(from.bytes()?));
    let format = if from.flag()? {
        Format::Trace
    } else {
        Format::Segment
    };
    Some((path, format))
}

/// The name that an entry is of.
pub(super) fn name_of(bytes: &[u8]) -> Option<(&Path, Format)> {
    take_name(&mut Unpack::new(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::EntryKind;

    fn stat(mtime: (i64, u32), ctime: (i64, u32)) -> FileStat {
        FileStat {
            kind: EntryKind::File,
            len: 5,
            mtime_s: mtime.0,
            mtime_ns: mtime.1,
            ctime_s: ctime.0,
            ctime_ns: ctime.1,
            inode: 7,
            dev: 8,
            links: 1,
            mode: 0o644,
            uid: 0,
            gid: 0,
        }
    }

    /// A time that the next change could have too says nothing, nor does one in the future.
    #[test]
    fn only_old_times_count() {
        let asked = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let settled =
            |mtime, ctime| Settled::of(&stat(mtime, ctime), asked, super::super::SETTLE).0;
        assert!(settled((997, 0), (990, 0)));
        assert!(settled((997, 999_999_999), (997, 999_999_999)));
        assert!(!settled((998, 0), (990, 0)));
        assert!(!settled((990, 0), (998, 0)));
        assert!(!settled((2000, 0), (990, 0)));
        assert!(!settled((i64::MAX, 0), (i64::MIN, 0)));
    }

    #[test]
    fn each_part_of_a_state_counts() {
        let good = stat((1, 2), (3, 4));
        let mut scanned = Scanned {
            committed: 5,
            lines: 1,
            tail: None,
            stopped: false,
            sha256: Some([9; 32]),
        };
        let write = |settled, scanned: &Scanned| {
            let (path, fold) = (Path::new("a"), Fold::new());
            let settled = Settled(settled);
            Entry::write(
                path,
                Format::Trace,
                &good,
                settled,
                &fold,
                scanned,
                [8; DIGEST],
            )
        };
        let read = |bytes: Vec<u8>| Entry::read(bytes.into()).unwrap();
        let bytes = write(true, &scanned).unwrap();
        assert_eq!(name_of(&bytes), Some((Path::new("a"), Format::Trace)));
        let entry = read(bytes);
        assert!(entry.is_untouched(&good));
        let changes: [fn(&mut FileStat); 7] = [
            |s| s.dev += 1,
            |s| s.inode += 1,
            |s| s.len += 1,
            |s| s.mtime_s += 1,
            |s| s.mtime_ns += 1,
            |s| s.ctime_s += 1,
            |s| s.ctime_ns += 1,
        ];
        for change in changes {
            let mut other = good;
            change(&mut other);
            assert!(!entry.is_untouched(&other));
        }
        assert!(!read(write(false, &scanned).unwrap()).is_untouched(&good));
        // what was not read to the end that the system names
        scanned.committed = 4;
        assert!(write(true, &scanned).is_none());
        scanned.committed = 5;
        assert!(entry.has_sha256());
        scanned.sha256 = None;
        assert!(!read(write(true, &scanned).unwrap()).has_sha256());
        scanned.stopped = true;
        assert!(write(true, &scanned).is_none());
    }
}
