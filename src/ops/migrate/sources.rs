//! The legacy roots of a migration: opened read-only, held apart from the store (C21).

use std::path::{Path, PathBuf};

use super::copy::interrupted;
use super::each::each;
use super::facts::Known;
use super::{Options, noted};
use crate::diag::{Code, Error, Locus, Progress, Result};
use crate::layout::{WorkerId, file};
use crate::ops::legacy::{Root, Roots, SessionRoot};
use crate::ops::ownership::{Says, Source, Trouble};
use crate::record::document::MetadataDocument;
use crate::store::{Dir, Document, Entry, EntryKind, read_document, wrong_kind};

/// Both roots, listed, and every metadata document read.
pub struct Sources {
    /// As given, made absolute: what the manifest names.
    absolute: Roots,
    /// As given.
    pub roots: Roots,
    /// The metadata root itself.
    pub metadata: Root,
    /// What it says, taken out for the judgement of ownership.
    pub said: Vec<Source>,
    /// Workers whose metadata is as a run of ours noted it, in order.
    pub as_noted: Vec<WorkerId>,
    /// How many folders it has.
    pub metadata_folders: u64,
    /// The Session root.
    pub sessions: SessionRoot,
}

impl Sources {
    /// Looks at both roots. Metadata that is as a run of ours noted it is not read again.
    ///
    /// # Errors
    /// One of them is there and can not be listed: what nobody can look at must not be taken for
    /// empty.
    pub fn read(options: &Options, known: &Known, progress: &dyn Progress) -> Result<Self> {
        let roots = &options.roots;
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (metadata, entries) = list(&roots.metadata);
        let sessions = SessionRoot::read(&roots.sessions);
        usable(&metadata, &roots.metadata, "metadata")?;
        usable(&sessions.root, &roots.sessions, "Session")?;
        let mut this = Self {
            absolute: Roots {
                sessions: absolute(&roots.sessions),
                metadata: absolute(&roots.metadata),
            },
            roots: roots.clone(),
            said: Vec::new(),
            as_noted: Vec::new(),
            metadata_folders: 0,
            metadata,
            sessions,
        };
        let Root::Open(root) = &this.metadata else {
            return Ok(this);
        };
        let folders: Vec<Entry> = entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::Dir)
            .collect();
        let (mut said, mut as_noted) = (Vec::with_capacity(folders.len()), Vec::new());
        each(
            options.jobs,
            &folders,
            || (),
            |(), entry| {
                if progress.interrupted() {
                    return None;
                }
                one(root, entry, known, options.deep)
            },
            |read| {
                if let Some((source, same)) = read {
                    as_noted.extend(source.worker.filter(|_| same));
                    said.push(source);
                }
            },
        );
        if progress.interrupted() {
            return Err(interrupted());
        }
        as_noted.sort_unstable();
        this.metadata_folders = said.len() as u64;
        (this.said, this.as_noted) = (said, as_noted);
        Ok(this)
    }

    /// The Session root as the manifest names it.
    #[must_use]
    pub fn sessions_path(&self) -> &Path {
        &self.absolute.sessions
    }

    /// The metadata root as the manifest names it.
    #[must_use]
    pub fn metadata_path(&self) -> &Path {
        &self.absolute.metadata
    }

    /// Whether both roots are there.
    #[must_use]
    pub fn are_there(&self) -> bool {
        !self.sessions.root.is_absent() && !self.metadata.is_absent()
    }

    /// The open Session root, if it is there.
    #[must_use]
    pub fn sessions_dir(&self) -> Option<&Dir> {
        self.sessions.root.dir()
    }

    /// The open metadata root, if it is there.
    #[must_use]
    pub fn metadata_dir(&self) -> Option<&Dir> {
        self.metadata.dir()
    }
}

/// Whether neither root is there.
#[must_use]
pub(super) fn are_absent(roots: &Roots) -> bool {
    [&roots.sessions, &roots.metadata]
        .into_iter()
        .all(|root| Dir::open_root(root).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound))
}

/// Opens the metadata root and lists it.
fn list(path: &Path) -> (Root, Vec<Entry>) {
    let root = Root::open(path);
    match root.dir().map(Dir::entries) {
        None => (root, Vec::new()),
        Some(Ok(entries)) => (root, entries),
        Some(Err(e)) => (Root::Trouble(Trouble::unreadable(&e)), Vec::new()),
    }
}

/// What one folder of the metadata root says, and whether that is told from our own notes.
fn one(root: &Dir, entry: &Entry, known: &Known, deep: bool) -> Option<(Source, bool)> {
    let folder = match root.dir(&entry.name) {
        Ok(folder) => folder,
        // It went away while the root was read.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
        Err(e) => {
            let document = match wrong_kind(&e) {
                Some(kind) => Document::NotAFile(kind),
                None => Document::Unreadable(e),
            };
            return Some((Source::new(entry.name.clone(), &document), false));
        }
    };
    let mut source = Source::new(entry.name.clone(), &Document::Missing);
    let id = source.worker.filter(|_| !deep);
    if let Some(moved) = id.and_then(|id| known.moved.get_bare(id))
        && noted::metadata(&folder, &moved)
    {
        source.says = Says::Points {
            // The folder is named as it is.
            other_name: None,
            session: moved.session_id,
            segment: moved.segment_id,
        };
        return Some((source, true));
    }
    let document = read_document(&folder, file::METADATA, MetadataDocument::read);
    Some((Source::new(entry.name.clone(), &document), false))
}

fn usable(root: &Root, path: &Path, what: &str) -> Result<()> {
    let Root::Trouble(trouble) = root else {
        return Ok(());
    };
    Err(Error::new(
        trouble.code,
        format!(
            "the legacy {what} root {} can not be looked at: {}",
            path.display(),
            trouble.message
        ),
    )
    .at(Locus::file(path))
    .hint(format!(
        "look at it with ls -ld {}",
        crate::diag::shell(path)
    )))
}

/// Refuses roots that are not apart from the store or from each other: what is read must not be
/// what is written.
///
/// # Errors
/// `usage`, with the two folders.
pub fn apart(store: &Dir, options: &Options) -> Result<()> {
    let real = |path: &Path| real_path(path).unwrap_or_else(|| path.to_owned());
    let home = real(store.root());
    let refuse = |text: String| Err(Error::new(Code::Usage, text).hint("wagg migrate --help"));
    let named = [
        ("Session root", "--sessions", &options.roots.sessions),
        ("metadata root", "--metadata", &options.roots.metadata),
    ];
    for (what, flag, given) in named {
        let root = real(given);
        let same = is_same(store, given);
        if same || root == home {
            return refuse(format!(
                "{flag} names the store itself: {}",
                given.display()
            ));
        }
        if root.starts_with(&home) {
            return refuse(format!(
                "the {what} {} lies inside the store {}: a legacy root is only read, and the store is written",
                given.display(),
                store.root().display()
            ));
        }
        if home.starts_with(&root) {
            return refuse(format!(
                "the store {} lies inside the {what} {}: a legacy root is only read, and the store is written",
                store.root().display(),
                given.display()
            ));
        }
    }
    let (sessions, metadata) = (&options.roots.sessions, &options.roots.metadata);
    let same = match (Dir::open_root(sessions), Dir::open_root(metadata)) {
        (Ok(a), Ok(b)) => same_folder(&a, &b),
        _ => false,
    };
    if same || real(sessions) == real(metadata) {
        return refuse(format!(
            "--sessions and --metadata name the same folder: {}",
            sessions.display()
        ));
    }
    Ok(())
}

fn is_same(store: &Dir, given: &Path) -> bool {
    Dir::open_root(given).is_ok_and(|root| same_folder(store, &root))
}

fn same_folder(a: &Dir, b: &Dir) -> bool {
    match (a.own_stat(), b.own_stat()) {
        (Ok(a), Ok(b)) => a.same_file(&b),
        _ => false,
    }
}

/// A path without links. Of one that is not there, as much as is there.
fn real_path(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut missing = Vec::new();
    let mut at = path.as_path();
    loop {
        if let Ok(real) = at.canonicalize() {
            return Some(
                missing
                    .iter()
                    .rev()
                    .fold(real, |real, name| real.join(name)),
            );
        }
        missing.push(at.file_name()?);
        at = at.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_that_are_not_apart_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for dir in ["store/workers", "sessions", "metadata"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink("store", root.join("link")).unwrap();
        std::os::unix::fs::symlink("sessions", root.join("again")).unwrap();
        let store = Dir::open_root(&root.join("store")).unwrap();
        let ask = |sessions: &str, metadata: &str| {
            let options = Options {
                roots: Roots {
                    sessions: root.join(sessions),
                    metadata: root.join(metadata),
                },
                ..Options::default()
            };
            apart(&store, &options).map_err(|e| e.message)
        };
        assert_eq!(ask("sessions", "metadata"), Ok(()));
        assert_eq!(ask("none", "metadata"), Ok(()));
        for (sessions, metadata, text) in [
            ("sessions", "sessions", "the same folder"),
            ("sessions", "again", "the same folder"),
            ("none", "none", "the same folder"),
            ("store", "metadata", "the store itself"),
            ("link", "metadata", "the store itself"),
            ("store/workers", "metadata", "lies inside the store"),
            ("sessions", "link/nothing/here", "lies inside the store"),
            (".", "metadata", "lies inside the Session root"),
            ("sessions", "", "lies inside the metadata root"),
        ] {
            let message = ask(sessions, metadata).unwrap_err();
            assert!(message.contains(text), "{sessions} {metadata}: {message}");
        }
    }
}
