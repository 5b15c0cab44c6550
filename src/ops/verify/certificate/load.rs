//! A certificate that is read. Of a large one only where each entry stands is kept in memory, so
//! that it does not grow with what the files came to.

use std::borrow::Cow;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use blake3::Hasher;

use super::entry::{self, Entry};
use super::{DIGEST, MAGIC};
use crate::record::{Format, MAX_CARRY, Source};

/// No entry is longer than this, in bytes: a path, some numbers, what a fold carries over.
const MAX_ENTRY: usize = MAX_CARRY + 64 * 1024;

/// A certificate below this length, in bytes, is kept in memory.
const SMALL: u64 = 4 * 1024 * 1024;

/// Where an entry stands.
struct Place {
    key: u64,
    at: u64,
    len: u32,
    /// The hash of its bytes, since somebody may write into the file after it was read; unused if
    /// they are kept.
    check: u64,
    looked_at: AtomicBool,
}

/// A certificate whose digest is right.
pub(super) struct Loaded {
    file: File,
    hasher: RandomState,
    /// The bytes of the whole file, if they are few.
    kept: Option<Vec<u8>>,
    /// By key.
    places: Vec<Place>,
}

/// Reads a certificate that begins with this header; else says why not, a lower-case fragment.
pub(super) fn load(path: &Path, header: &[u8]) -> Result<Loaded, String> {
    let refuse = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::UnexpectedEof => "it is cut off".to_owned(),
        _ => format!("it can not be read: {e}"),
    };
    // Opening a pipe would wait for its other end.
    if !std::fs::metadata(path).map_err(refuse)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let file = File::open(path).map_err(refuse)?;
    let len = file.metadata().map_err(refuse)?.len();
    let mut kept = None;
    if len < SMALL {
        let mut bytes = Vec::with_capacity(len as usize + 1);
        // One byte more than the length tells that there is more.
        (&file)
            .take(len + 1)
            .read_to_end(&mut bytes)
            .map_err(refuse)?;
        kept = Some(bytes);
    }
    let source: &mut dyn Read = match &kept {
        Some(kept) => &mut &kept[..],
        None => &mut &file,
    };
    let hashing = Hashing {
        source,
        hasher: Hasher::new(),
        left: len.saturating_sub(DIGEST as u64),
    };
    let mut from = Reader {
        file: BufReader::with_capacity(BLOCK, hashing),
        at: 0,
    };
    let mut magic = [0; MAGIC.len()];
    match from.take(&mut magic) {
        Ok(()) if magic == MAGIC => {}
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(refuse(e)),
        _ => return Err("it is no certificate of wagg verify".to_owned()),
    }
    let mut bytes = Vec::new();
    let damaged = || "it is damaged".to_owned();
    if !from.block(&mut bytes).map_err(refuse)? {
        return Err(damaged());
    }
    if bytes != header {
        return Err("another build of wagg made it, or one with another --max-line".to_owned());
    }
    let hasher = RandomState::new();
    let mut places = Vec::new();
    loop {
        let at = from.at + 4;
        if !from.block(&mut bytes).map_err(refuse)? {
            return Err(damaged());
        }
        if bytes.is_empty() {
            break;
        }
        let (path, format) = entry::name_of(&bytes).ok_or_else(damaged)?;
        let check = match kept {
            Some(_) => 0,
            None => hasher.hash_one(&bytes),
        };
        places.push(Place {
            key: key(&hasher, path, format),
            at,
            len: bytes.len() as u32,
            check,
            looked_at: AtomicBool::new(false),
        });
    }
    let mut count = [0; 8];
    from.take(&mut count).map_err(refuse)?;
    let mut theirs = [0; DIGEST];
    from.take(&mut theirs).map_err(refuse)?;
    let at_end = from.file.read(&mut [0]).map_err(refuse)? == 0;
    let ours: [u8; DIGEST] = from.file.get_ref().hasher.finalize().into();
    if ours != theirs || u64::from_le_bytes(count) != places.len() as u64 || !at_end {
        return Err(damaged());
    }
    places.sort_unstable_by_key(|place| place.key);
    Ok(Loaded {
        file,
        hasher,
        kept,
        places,
    })
}

/// What an entry is looked up by.
fn key(hasher: &RandomState, path: &Path, format: Format) -> u64 {
    hasher.hash_one((path.as_os_str().as_bytes(), format == Format::Trace))
}

/// How much is read and hashed at a time, in bytes.
const BLOCK: usize = 128 * 1024;

/// Hashes a file as it is read, in blocks and not in the small pieces that it is made of; all but
/// the digest at its end.
struct Hashing<'a> {
    source: &'a mut dyn Read,
    hasher: Hasher,
    left: u64,
}

impl Read for Hashing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buf)?;
        let hashed = usize::try_from(self.left).unwrap_or(n).min(n);
        self.hasher.update(&buf[..hashed]);
        self.left -= hashed as u64;
        Ok(n)
    }
}

struct Reader<R> {
    file: R,
    at: u64,
}

impl<R: Read> Reader<R> {
    fn take(&mut self, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_exact(buf)?;
        self.at += buf.len() as u64;
        Ok(())
    }

    /// Bytes with their number before them; false if there can not be so many.
    fn block(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let mut len = [0; 4];
        self.take(&mut len)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > MAX_ENTRY {
            return Ok(false);
        }
        bytes.resize(len, 0);
        self.take(bytes)?;
        Ok(true)
    }
}

impl Loaded {
    fn places(&self, path: &Path, format: Format) -> &[Place] {
        let key = key(&self.hasher, path, format);
        let start = self.places.partition_point(|place| place.key < key);
        let same = self.places[start..].iter();
        let same = same.take_while(|place| place.key == key).count();
        &self.places[start..start + same]
    }

    fn bytes(&self, place: &Place) -> Option<Cow<'_, [u8]>> {
        if let Some(kept) = &self.kept {
            let at = usize::try_from(place.at).ok()?;
            return Some(kept.get(at..at + place.len as usize)?.into());
        }
        let mut bytes = vec![0; place.len as usize];
        let mut done = 0;
        while done < bytes.len() {
            match Source::read_at(&self.file, &mut bytes[done..], place.at + done as u64) {
                Ok(n) if n > 0 => done += n,
                _ => return None,
            }
        }
        (self.hasher.hash_one(&bytes) == place.check).then_some(bytes.into())
    }

    /// What is said of a file.
    pub fn find(&self, path: &Path, format: Format) -> Option<Entry<'_>> {
        self.places(path, format).iter().find_map(|place| {
            let bytes = self.bytes(place)?;
            let named = entry::name_of(&bytes)? == (path, format);
            named.then(|| Entry::read(bytes))?
        })
    }

    /// Whether it says nothing of any file.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Notes that a file was looked at.
    pub fn looked_at(&self, path: &Path, format: Format) {
        for place in self.places(path, format) {
            place.looked_at.store(true, Ordering::Relaxed);
        }
    }

    /// Shows the entries of the files that were not looked at.
    pub fn each_other(&self, mut show: impl FnMut(&[u8])) {
        for place in &self.places {
            if !place.looked_at.load(Ordering::Relaxed)
                && let Some(bytes) = self.bytes(place)
            {
                show(&bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::save::Saver;
    use super::super::{Settled, header};
    use super::*;
    use crate::record::{Fold, Scanned};
    use crate::store::fs::stat_of;

    fn write(to: &Path, files: usize) {
        let empty = stat_of(tempfile::tempfile().unwrap()).unwrap();
        let scanned = Scanned {
            committed: 0,
            lines: 0,
            tail: None,
            stopped: false,
            sha256: None,
        };
        let mut saver = Saver::begin(to, &header(1)).unwrap();
        for n in 0..files {
            let entry = Entry::write(
                &name(n),
                Format::Segment,
                &empty,
                Settled(true),
                &Fold::new(),
                &scanned,
                [n as u8; DIGEST],
            );
            saver.put(&entry.unwrap());
        }
        saver.finish().unwrap();
    }

    fn name(n: usize) -> PathBuf {
        PathBuf::from(format!("workers/{n}/session/segments/{n}.jsonl"))
    }

    /// A certificate that is kept in memory and one that is not tell the same of each file, and no
    /// byte of either can change.
    #[test]
    fn a_certificate_of_any_length_is_read_or_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("state");
        for (files, kept) in [(0, true), (3, true), (50_000, false)] {
            write(&path, files);
            let bytes = std::fs::read(&path).unwrap();
            let loaded = load(&path, &header(1)).unwrap();
            assert_eq!(loaded.kept.is_some(), kept, "{} bytes", bytes.len());
            for n in (0..files).step_by(files / 3 + 1) {
                let entry = loaded.find(&name(n), Format::Segment).unwrap();
                assert_eq!(entry.digest, [n as u8; DIGEST]);
                assert!(loaded.find(&name(n), Format::Trace).is_none());
                loaded.looked_at(&name(n), Format::Segment);
            }
            let mut others = 0;
            loaded.each_other(|_| others += 1);
            assert_eq!(others, files - (0..files).step_by(files / 3 + 1).count());
            for at in (0..bytes.len()).step_by(bytes.len() / 12 + 1) {
                let mut bad = bytes.clone();
                bad[at] ^= 1;
                std::fs::write(&path, &bad).unwrap();
                assert!(load(&path, &header(1)).is_err(), "byte {at}");
                std::fs::write(&path, &bytes[..at]).unwrap();
                assert!(load(&path, &header(1)).is_err(), "cut at {at}");
            }
            std::fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
            assert!(load(&path, &header(1)).is_err(), "one byte more");
        }
    }
}
