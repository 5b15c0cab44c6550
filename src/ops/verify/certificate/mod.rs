//! The certificate of an earlier look: a disposable file outside the store that says how far each
//! Segment and trace was read and what its lines came to, so that the next look parses only what
//! was appended since.
//!
//! It is never an authority. What it says of a file counts only as long as the bytes that it was
//! said of are the same: their digest is taken anew, or, if the caller trusts times, the file's
//! number, size and times are those of then. Another build of `wagg`, another limit, a byte that
//! differs, a name that is not known: then the file, or all, is read in full, and that is said.
//! Documents are always read, and what only all Workers together tell is always judged anew.
//!
//! Digests are BLAKE3: taken with SHA-256 they would cost as much as parsing does.
//!
//! On disk: a line that names it, the header, one entry a file, the number of entries, and the
//! digest of all that. It is written beside its place and renamed. There is no promise about it
//! after a crash but that it is whole or not used.

mod entry;
mod load;
mod save;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(super) use entry::{Entry, Settled};
use load::Loaded;
use save::Saver;

use crate::diag::{Code, Error, Result, plural};
use crate::record::Format;
use crate::record::pack::Pack;
use crate::store::Store;

/// The first bytes of a certificate.
const MAGIC: &[u8] = b"wagg certificate\n";

/// Rises when the form of the file changes.
const FORMAT: u64 = 2;

/// The length of a BLAKE3 digest, in bytes: of the certificate at its end, of each file's prefix.
pub(super) const DIGEST: usize = 32;

/// A file that changed less than this before it was looked at may change again without another
/// time: the clocks of file systems tick up to two seconds apart.
pub const SETTLE: Duration = Duration::from_secs(2);

/// Where certificates are, and how far they count.
#[derive(Debug, Clone)]
pub struct CertificateOptions {
    /// What an earlier look said.
    pub since: Option<PathBuf>,
    /// Where to say what this one found; may be the same file. A link, a pipe or a device that
    /// stands there takes the bytes and stays what it is.
    pub save: Option<PathBuf>,
    /// Take a file for unchanged if its number, size and times are.
    pub trust_mtime: bool,
    /// Times count only of files that had this age when they were looked at; see [`SETTLE`].
    pub settle: Duration,
    /// The limit of a line, which has to be the same in both looks.
    pub max_line: u64,
}

/// The certificates of one run: one that was read, one that is being written.
pub struct Certificate {
    options: CertificateOptions,
    since: Option<Loaded>,
    saver: Option<Mutex<Saver>>,
    /// Why what an earlier look said is not used at all.
    refused: Option<String>,
    changed: Mutex<Changed>,
    /// Not all files of the store were looked at.
    partial: AtomicBool,
    /// Something was asked of the earlier one.
    asked: AtomicBool,
    /// It had an answer.
    known: AtomicBool,
}

/// Files that are not as the certificate has them.
#[derive(Default)]
struct Changed {
    count: u64,
    first: Option<(PathBuf, &'static str)>,
}

/// What a certificate must begin with to count here.
fn header(max_line: u64) -> Vec<u8> {
    let mut to = Pack::default();
    to.number(FORMAT);
    to.text(env!("CARGO_PKG_VERSION"));
    to.text(env!("SOURCE_FINGERPRINT"));
    to.number(max_line);
    to.into_bytes()
}

impl Certificate {
    /// Reads one certificate and begins the other.
    ///
    /// # Errors
    /// `usage` for a path inside the store; what the system says if nothing can be written beside
    /// the place of the new one. What can not be read is no error: then everything is read.
    pub fn open(store: &Store, options: CertificateOptions) -> Result<Self> {
        for path in [&options.since, &options.save].into_iter().flatten() {
            Self::outside(store, path)?;
        }
        let (mut since, mut refused) = (None, None);
        if let Some(path) = &options.since {
            match load::load(path, &header(options.max_line)) {
                Ok(loaded) => since = Some(loaded),
                Err(reason) => refused = Some(format!("{} is not used: {reason}", path.display())),
            }
        }
        let saver = options
            .save
            .as_deref()
            .map(|path| Saver::begin(path, &header(options.max_line)).map(Mutex::new))
            .transpose()?;
        Ok(Self {
            options,
            since,
            saver,
            refused,
            changed: Mutex::default(),
            partial: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            known: AtomicBool::new(false),
        })
    }

    /// Refuses a path that lies in the store: a command that reads makes nothing there.
    ///
    /// # Errors
    /// `usage`; what the system says of the path and of the store.
    pub fn outside(store: &Store, path: &Path) -> Result<()> {
        let absolute =
            std::path::absolute(path).map_err(|e| Error::io("look at", path, e).given())?;
        // What does not exist lies in the nearest folder that does.
        let Some(real) = absolute
            .ancestors()
            .skip(1)
            .find_map(|folder| folder.canonicalize().ok())
        else {
            return Ok(());
        };
        let root = store
            .dir()
            .own_stat()
            .map_err(|e| Error::io("look at", store.path(), e))?;
        let inside = real.ancestors().any(|folder| {
            folder
                .metadata()
                .is_ok_and(|m| m.ino() == root.inode && m.dev() == root.dev)
        });
        if !inside {
            return Ok(());
        }
        Err(Error::new(
            Code::Usage,
            format!(
                "{} lies in the store, where a look writes nothing",
                path.display()
            ),
        )
        .hint("name a file outside the store, or let --cache choose one"))
    }

    /// Whether a file that begins like this is a certificate, of whichever build.
    #[must_use]
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Whether a new certificate is written.
    pub(super) fn saves(&self) -> bool {
        self.saver.is_some()
    }

    /// Whether what an earlier look said is asked for.
    pub(super) fn reuses(&self) -> bool {
        self.options.since.is_some()
    }

    /// Whether times are taken for a proof.
    pub(super) fn trusts_mtime(&self) -> bool {
        self.options.trust_mtime
    }

    /// How old a file has to be for its times to count.
    pub(super) fn settle(&self) -> Duration {
        self.options.settle
    }

    /// What an earlier look said of a file.
    pub(super) fn find(&self, path: &Path, format: Format) -> Option<Entry<'_>> {
        let entry = self.since.as_ref()?.find(path, format);
        raise(&self.asked);
        if entry.is_some() {
            raise(&self.known);
        }
        entry
    }

    /// Notes files that are not as an earlier look said.
    pub(super) fn differ(&self, files: Vec<(PathBuf, &'static str)>) {
        let mut changed = lock(&self.changed);
        changed.count += files.len() as u64;
        if changed.first.is_none() {
            changed.first = files.into_iter().next();
        }
    }

    /// Notes that a file was looked at to its end, so that what an earlier look said is done with.
    pub(super) fn looked_at(&self, path: &Path, format: Format) {
        // Only a new one asks for it.
        if let (Some(since), Some(_)) = (&self.since, &self.saver) {
            since.looked_at(path, format);
        }
    }

    /// Takes entries into the new certificate.
    pub(super) fn keep(&self, entries: Vec<Vec<u8>>) {
        if let Some(saver) = &self.saver {
            let mut saver = lock(saver);
            entries.iter().for_each(|entry| saver.put(entry));
        }
    }

    /// Notes that this run does not look at all files, so that the others keep what was said of
    /// them.
    pub(super) fn is_partial(&self) {
        self.partial.store(true, Ordering::Relaxed);
    }

    /// What a person should know of how the earlier certificate was used: a line each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(refused) = &self.refused {
            notes.push(format!("{refused}; everything is read in full"));
        }
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if let Some(state) = &self.options.since
            && self.since.as_ref().is_some_and(|since| !since.is_empty())
            && is(&self.asked)
            && !is(&self.known)
        {
            notes.push(format!(
                "{} knows none of the files that were looked at; everything is read in full",
                state.display()
            ));
        }
        let changed = lock(&self.changed);
        if let (Some((path, how)), Some(state)) = (&changed.first, &self.options.since) {
            let more = match changed.count {
                1 => String::new(),
                n => format!(", and {} more", n - 1),
            };
            notes.push(format!(
                "{} read in full, since not as {} has it: {}: {how}{more}",
                plural(changed.count, "file was", "files were"),
                state.display(),
                path.display(),
            ));
        }
        notes
    }

    /// Puts the new certificate in its place.
    ///
    /// # Errors
    /// What the system says; the old one then stands as it was.
    pub fn finish(self) -> Result<()> {
        let Some(saver) = self.saver else {
            return Ok(());
        };
        let mut saver = saver.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.partial.into_inner()
            && let Some(since) = &self.since
        {
            since.each_other(|entry| saver.put(entry));
        }
        saver.finish()
    }
}

/// Sets a flag that many threads set, and that they would wait for if each wrote.
fn raise(flag: &AtomicBool) {
    if !flag.load(Ordering::Relaxed) {
        flag.store(true, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
