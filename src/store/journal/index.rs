//! What spares a change from reading the whole journal: `.wagg/journal.index`.
//!
//! It covers a prefix of the journal: a table from the hash of each request id that is bound there
//! to the place of its outcome, and the places of the intents there that have no outcome. It is
//! never an authority. Whatever it says is checked against the journal, a page whose checksum is
//! wrong or a prefix that is not the journal's makes it void, and then it is built anew.
//!
//! Pages of 4 KiB, each ending in 8 bytes of its SHA-256. Page 0 is the header. A request id's
//! page is its hash modulo their number; a full page goes on in the next. An entry of the table
//! becomes durable before the header that covers it, so what the header covers is never missing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::diag::Result;
use crate::layout::{Leftover, leftover};
use crate::store::fs::{Dir, TempFile, WriteDir, failed, remove, temp_name, unknown};

/// The index file's name, in our own folder.
pub(super) const INDEX: &str = "journal.index";

const PAGE: usize = 4096;
const BODY: usize = PAGE - 8;
const MAGIC: &[u8; 8] = b"waggidx1";
const ENTRY: usize = 24;
/// How many entries a page holds after its count.
const PER_PAGE: usize = (BODY - 2) / ENTRY;
const FIXED: usize = 8 + 16 + 8 + 32 + 8 + 8 + 2;
/// How many intents without an outcome the header can name.
pub(super) const MOST_OPEN: usize = (BODY - FIXED) / 8;
/// How many pages a table begins with.
const FIRST_PAGES: u64 = 8;

/// The hash of a request id.
pub(super) type Key = [u8; 16];

pub(super) fn key(request_id: &str) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(&Sha256::digest(request_id)[..16]);
    key
}

/// The header: which journal is covered, and how far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Covered {
    pub journal: uuid::Uuid,
    /// The length of the prefix, in bytes; it ends after a newline.
    pub len: u64,
    /// SHA-256 of the end of that prefix.
    anchor: [u8; 32],
    /// How many pages the table has.
    pages: u64,
    /// How many entries it has.
    count: u64,
    /// Where the intents without an outcome begin.
    pub open: Vec<u64>,
}

/// An index that fits the journal.
#[derive(Debug)]
pub(super) struct Index {
    file: File,
    pub covered: Covered,
}

fn anchor(journal: &File, len: u64) -> io::Result<[u8; 32]> {
    let part = len.min(256);
    let mut end = vec![0; usize::try_from(part).unwrap_or_default()];
    journal.read_exact_at(&mut end, len - part)?;
    Ok(Sha256::digest(&end).into())
}

fn seal(mut page: Vec<u8>) -> Vec<u8> {
    page.resize(BODY, 0);
    let sum = Sha256::digest(&page);
    page.extend_from_slice(&sum[..8]);
    page
}

/// Reads a page; none if it is not what was written.
fn page(file: &File, n: u64) -> io::Result<Option<Vec<u8>>> {
    let mut page = vec![0; PAGE];
    match file.read_exact_at(&mut page, n * PAGE as u64) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let sum = Sha256::digest(&page[..BODY]);
    let sound = page[BODY..] == sum[..8];
    page.truncate(BODY);
    Ok(sound.then_some(page))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut n = [0; 8];
    n.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(n)
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn entries(page: &[u8]) -> impl Iterator<Item = (Key, u64)> + '_ {
    page[2..2 + u16_at(page, 0).min(PER_PAGE) * ENTRY]
        .chunks_exact(ENTRY)
        .map(|entry| {
            let mut key = [0; 16];
            key.copy_from_slice(&entry[..16]);
            (key, u64_at(entry, 16))
        })
}

fn home(key: &Key, pages: u64) -> u64 {
    u64_at(key, 0) % pages
}

impl Covered {
    fn to_page(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(PAGE);
        page.extend_from_slice(MAGIC);
        page.extend_from_slice(self.journal.as_bytes());
        page.extend_from_slice(&self.len.to_le_bytes());
        page.extend_from_slice(&self.anchor);
        page.extend_from_slice(&self.pages.to_le_bytes());
        page.extend_from_slice(&self.count.to_le_bytes());
        // At most `MOST_OPEN`, which fits.
        page.extend_from_slice(&(self.open.len() as u16).to_le_bytes());
        for at in &self.open {
            page.extend_from_slice(&at.to_le_bytes());
        }
        seal(page)
    }

    fn from_page(page: &[u8]) -> Option<Self> {
        if &page[..8] != MAGIC {
            return None;
        }
        let open = u16_at(page, FIXED - 2);
        if open > MOST_OPEN {
            return None;
        }
        Some(Self {
            journal: uuid::Uuid::from_slice(&page[8..24]).ok()?,
            len: u64_at(page, 24),
            anchor: page[32..64].try_into().ok()?,
            pages: u64_at(page, 64),
            count: u64_at(page, 72),
            open: (0..open).map(|n| u64_at(page, FIXED + 8 * n)).collect(),
        })
    }
}

impl Index {
    /// Opens the index if there is one and it fits this journal.
    pub(super) fn load(
        wagg: &Dir,
        journal: &File,
        id: uuid::Uuid,
        committed: u64,
    ) -> io::Result<Option<Self>> {
        let file = match wagg.file(INDEX) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let Some(covered) = page(&file, 0)?.as_deref().and_then(Covered::from_page) else {
            return Ok(None);
        };
        let fits = covered.journal == id
            && covered.len <= committed
            && covered.pages > 0
            && covered.open.iter().all(|at| *at < covered.len)
            && anchor(journal, covered.len)? == covered.anchor;
        Ok(fits.then_some(Self { file, covered }))
    }

    /// The places of outcomes that may be of this request id. None if the table is damaged.
    pub(super) fn find(&self, key: &Key) -> io::Result<Option<Vec<u64>>> {
        let pages = self.covered.pages;
        let mut found = Vec::new();
        for step in 0..pages {
            let n = (home(key, pages) + step) % pages;
            let Some(page) = page(&self.file, 1 + n)? else {
                return Ok(None);
            };
            found.extend(entries(&page).filter(|(k, _)| k == key).map(|(_, at)| at));
            if u16_at(&page, 0) < PER_PAGE {
                break;
            }
        }
        Ok(Some(found))
    }

    /// Every entry. None if the table is damaged.
    fn all(&self) -> io::Result<Option<Vec<(Key, u64)>>> {
        let mut all = Vec::new();
        for n in 0..self.covered.pages {
            let Some(page) = page(&self.file, 1 + n)? else {
                return Ok(None);
            };
            all.extend(entries(&page));
        }
        Ok(Some(all))
    }

    /// The same index over more of the journal: adds entries, syncs them, and only then writes the
    /// header. False if the table has no room left or is damaged, and a new one must be built.
    /// Costs one sync.
    pub(super) fn extend(
        &self,
        wagg: &WriteDir<'_>,
        journal: &File,
        upto: &Upto<'_>,
    ) -> Result<bool> {
        let path = wagg.path_of(INDEX);
        let fail = |e| failed("write", &path, e);
        let mut covered = self.covered.clone();
        covered.count += upto.entries.len() as u64;
        if covered.count > covered.pages * PER_PAGE as u64 / 2 {
            return Ok(false);
        }
        let mut changed: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (key, at) in upto.entries {
            let mut n = home(key, covered.pages);
            loop {
                if let std::collections::btree_map::Entry::Vacant(place) = changed.entry(n) {
                    let Some(page) = page(&self.file, 1 + n).map_err(fail)? else {
                        return Ok(false);
                    };
                    place.insert(page);
                }
                let Some(page) = changed.get_mut(&n) else {
                    return Ok(false);
                };
                if push(page, key, *at) {
                    break;
                }
                // There is room somewhere: the table is at most half full.
                n = (n + 1) % covered.pages;
            }
        }
        upto.apply(&mut covered, journal).map_err(fail)?;
        let file = wagg.open_existing(INDEX, OFlags::RDWR).map_err(fail)?;
        for (n, page) in changed {
            let at = (1 + n) * PAGE as u64;
            file.put_at(&seal(page), at).map_err(fail)?;
        }
        file.sync_data().map_err(|e| unknown("sync", &path, e))?;
        // Should this be lost, the old header stands, and covers less.
        file.put_at(&covered.to_page(), 0).map_err(fail)?;
        Ok(true)
    }
}

/// Adds an entry unless the page is full.
fn push(page: &mut [u8], key: &Key, at: u64) -> bool {
    let count = u16_at(page, 0);
    if count >= PER_PAGE {
        return false;
    }
    let place = 2 + count * ENTRY;
    page[place..place + 16].copy_from_slice(key);
    page[place + 16..place + ENTRY].copy_from_slice(&at.to_le_bytes());
    page[..2].copy_from_slice(&(count as u16 + 1).to_le_bytes());
    true
}

/// How far an index is to reach, and what is new up to there.
pub(super) struct Upto<'a> {
    pub journal: uuid::Uuid,
    /// The length of the journal to be covered.
    pub len: u64,
    /// Request ids that are bound since, and where.
    pub entries: &'a [(Key, u64)],
    /// All intents without an outcome, in their order.
    pub open: &'a [u64],
}

impl Upto<'_> {
    fn apply(&self, covered: &mut Covered, journal: &File) -> io::Result<()> {
        covered.journal = self.journal;
        // What the header has no place for is not covered, so that it is found by reading.
        let fits = self.open.len().min(MOST_OPEN);
        covered.len = self.open.get(fits).map_or(self.len, |at| self.len.min(*at));
        covered.open = self.open[..fits].to_vec();
        covered.anchor = anchor(journal, covered.len)?;
        Ok(())
    }
}

/// Clears what a process left that died while it made an index anew: no intent names it, and it
/// is worth nothing. Not synced: what comes back is cleared by the next.
fn clear_torn_indexes(wagg: &WriteDir<'_>) -> Result<()> {
    let fail = |e| failed("read", wagg.path(), e);
    for entry in wagg.entries().map_err(fail)? {
        if let Some(Leftover::Temporary { target, .. }) = entry.name.to_str().and_then(leftover)
            && target == INDEX
        {
            remove(wagg, &entry.name)?;
        }
    }
    Ok(())
}

/// Builds the index anew, from the entries of an old one that is sound and those that are new. One
/// sync, and the old one stands until the new one is whole.
pub(super) fn build(
    wagg: &WriteDir<'_>,
    journal: &File,
    old: Option<&Index>,
    upto: &Upto<'_>,
) -> Result<bool> {
    let path = wagg.path_of(INDEX);
    let fail = |e| failed("write", &path, e);
    let mut all = match old {
        Some(old) => match old.all().map_err(fail)? {
            Some(all) => all,
            None => return Ok(false),
        },
        None => Vec::new(),
    };
    all.extend_from_slice(upto.entries);
    let mut pages = FIRST_PAGES;
    while (all.len() as u64) > pages * PER_PAGE as u64 / 8 {
        pages *= 2;
    }
    let mut covered = Covered {
        journal: upto.journal,
        len: 0,
        anchor: [0; 32],
        pages,
        count: all.len() as u64,
        open: Vec::new(),
    };
    upto.apply(&mut covered, journal).map_err(fail)?;
    let mut table = vec![vec![0; BODY]; usize::try_from(pages).unwrap_or_default()];
    for (key, at) in &all {
        let mut n = home(key, pages);
        while !push(&mut table[usize::try_from(n).unwrap_or_default()], key, *at) {
            n = (n + 1) % pages;
        }
    }
    clear_torn_indexes(wagg)?;
    let mut file = TempFile::begin(wagg, INDEX, temp_name(INDEX))?;
    file.put(&covered.to_page())?;
    let mut out = Vec::with_capacity(64 * PAGE);
    for page in table {
        out.extend_from_slice(&seal(page));
        if out.len() >= 64 * PAGE {
            file.put(&out)?;
            out.clear();
        }
    }
    if !out.is_empty() {
        file.put(&out)?;
    }
    // The folder is not synced: should the rename be lost, the old index stands.
    file.replace_unsynced()?;
    Ok(true)
}
