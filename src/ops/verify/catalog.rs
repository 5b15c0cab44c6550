//! The catalog, and what stands beside it in the store's root.

use std::io;

use super::cross::Census;
use super::names::{self, Expect};
use super::segment::unreadable;
use super::{Found, Run, documents};
use crate::diag::{Code, Finding, Locus, Result, Severity, Subject, plural};
use crate::layout::{CatalogVersion, Paths, WorkerId, file};
use crate::record::document::{ManifestDocument, RuntimeDocument};
use crate::store::{Document, EntryKind, Folder, Store, WorkerFolder, read_document, read_folder};

/// The version of a store whose `runtime.json` says none: that of its Workers' names.
pub(super) fn guess_version(store: &Store) -> CatalogVersion {
    let folders = store.worker_folders().unwrap_or_default();
    if folders
        .iter()
        .any(|f| matches!(f.id, Some(WorkerId::Uuid(_))))
    {
        CatalogVersion::V3
    } else {
        CatalogVersion::V1
    }
}

/// The folders of `workers/`, with findings for what is no folder of a Worker.
pub(super) fn folders(store: &Store, found: &mut Found) -> Result<Vec<WorkerFolder>> {
    let path = Paths::workers();
    let dir = match store.dir().dir(file::WORKERS) {
        Ok(dir) => dir,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => {
            // A link or a file is reported with the names of the root.
            if crate::store::wrong_kind(&e).is_none() {
                unreadable(&path, Subject::default(), &e, found);
            }
            return Ok(Vec::new());
        }
    };
    let entries = match dir.entries() {
        Ok(entries) => entries,
        Err(e) => {
            unreadable(&path, Subject::default(), &e, found);
            return Ok(Vec::new());
        }
    };
    let collide = entries.iter().any(names::has_upper);
    let (mut folders, mut others) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        let id = WorkerFolder::id_of(&entry.name);
        match entry.kind {
            EntryKind::Dir => {
                if id.is_none()
                    && let Some(meant) = other_spelling(&entry.name.to_string_lossy())
                {
                    found.findings.push(Finding::new(
                        Code::BadFileName,
                        Subject::default(),
                        Locus::file(dir.path_of(&entry.name)),
                        format!(
                            "another spelling of the Worker id {meant}; a Worker's folder has one"
                        ),
                    ));
                }
                let name = entry.name;
                folders.push(WorkerFolder { name, id });
            }
            EntryKind::Symlink if id.is_some() => {
                let subject = Subject {
                    worker_id: id,
                    ..Subject::default()
                };
                found.findings.push(names::link(&dir, &entry.name, subject));
            }
            // A file or pipe under a Worker's name hides whatever was there.
            kind if id.is_some() => found.findings.push(Finding::new(
                Code::NotARegularFile,
                Subject {
                    worker_id: id,
                    ..Subject::default()
                },
                Locus::file(dir.path_of(&entry.name)),
                format!(
                    "{} stands where a Worker's folder should be; it was not opened",
                    kind.noun()
                ),
            )),
            _ => others.push(entry),
        }
    }
    folders.sort_unstable();
    names::each(&dir, &others, Subject::default(), |_| None, found);
    if !collide {
        return Ok(folders);
    }
    // Case collisions are looked for among all names, folders too.
    others.extend(folders.iter().map(|f| crate::store::Entry {
        name: f.name.clone(),
        kind: EntryKind::Dir,
    }));
    others.sort_by(|a, b| a.name.cmp(&b.name));
    names::case_collisions(&dir, &others, Subject::default(), found);
    Ok(folders)
}

/// The id that a folder's name means, if it is another spelling of one.
fn other_spelling(name: &str) -> Option<WorkerId> {
    let trimmed = name
        .strip_prefix('+')
        .unwrap_or(name)
        .trim_start_matches('0');
    let digits = if trimmed.is_empty() && name.ends_with('0') {
        "0"
    } else {
        trimmed
    };
    // A UUID without hyphens can be all digits; it is too long for a number.
    if name != digits
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && let Ok(id) = digits.parse()
    {
        return Some(id);
    }
    let (id, canonical) = crate::layout::SessionId::parse_loose(name).ok()?;
    if canonical {
        None
    } else {
        id.to_string().parse().ok()
    }
}

/// `runtime.json`, the manifest, our own journal, and the names of the root.
pub(super) fn check_root(
    store: &Store,
    runtime: &Document<RuntimeDocument>,
    run: &Run<'_>,
    found: &mut Found,
) {
    let subject = Subject::default();
    if runtime.is_missing() && !super::journal::is_being_made(store) {
        found.findings.push(
            Finding::new(
                Code::MissingCatalog,
                subject,
                Locus::file(Paths::runtime()),
                "there is no runtime.json: no Runtime opens this store, and the next Worker id is not known; the Workers were looked at all the same",
            )
            .with_hint("wagg explain missing_catalog"),
        );
    }
    if documents::check(
        runtime,
        Paths::runtime,
        subject,
        "the Workers were looked at all the same",
        found,
    ) && let Some(document) = runtime.good()
        && document.backend != "fs_store"
    {
        found.findings.push(Finding::new(
            Code::CorruptDocument,
            subject,
            Locus::file(Paths::runtime()),
            format!(
                "backend is {:?}, which a Runtime refuses to open on a disk",
                document.backend
            ),
        ));
    }
    let entries = match store.dir().entries() {
        Ok(entries) => entries,
        Err(e) => {
            unreadable(&std::path::PathBuf::from("."), subject, &e, found);
            return;
        }
    };
    let v3 = run.version == CatalogVersion::V3;
    names::check(
        store.dir(),
        &entries,
        subject,
        |name| match name {
            file::RUNTIME | file::MIGRATION_LOCK => Some(Expect::File),
            file::WORKERS | file::MIGRATIONS | file::WAGG => Some(Expect::Folder),
            file::RETENTION_LOCK if v3 => Some(Expect::File),
            file::ARCHIVES | file::RETENTION if v3 => Some(Expect::Folder),
            _ => None,
        },
        found,
    );
    manifest(store, found);
}

fn manifest(store: &Store, found: &mut Found) {
    let subject = Subject::default();
    let folder = read_folder(store.dir(), file::MIGRATIONS, |dir| {
        Ok((dir.entries()?, dir))
    });
    let (entries, dir) = match &folder {
        Folder::Read((entries, dir)) => (entries, dir),
        Folder::Unreadable(e) => {
            unreadable(std::path::Path::new(file::MIGRATIONS), subject, e, found);
            return;
        }
        Folder::Missing | Folder::NotAFolder(_) => return,
    };
    names::check(
        dir,
        entries,
        subject,
        |name| (name == file::MANIFEST).then_some(Expect::File),
        found,
    );
    let manifest = read_document(dir, file::MANIFEST, ManifestDocument::read);
    let path = Paths::manifest();
    if !documents::check(
        &manifest,
        || path.clone(),
        subject,
        "a migration does not go on over it",
        found,
    ) {
        return;
    }
    if let Some(manifest) = manifest.good()
        && !manifest.complete
    {
        let done = plural(manifest.workers.len() as u64, "Worker", "Workers");
        found.findings.push(
            Finding::new(
                Code::MigrationIncomplete,
                subject,
                Locus::file(path),
                format!("a migration was begun and is not finished; it has checkpoints for {done}"),
            )
            .with_hint("wagg migrate status"),
        );
    }
}

/// The next Worker id must be one that was never given out.
pub(super) fn check_sequence(next: Option<u64>, all: &[Census<'_>], found: &mut Found) {
    let Some(next) = next else { return };
    let highest = all
        .iter()
        // A folder that holds another Worker's document has its own finding.
        .filter_map(|c| c.document_id.or(c.folder.id))
        .filter_map(|id| match id {
            WorkerId::Number(n) => Some(n),
            WorkerId::Uuid(_) => None,
        })
        .max();
    if let Some(highest) = highest
        && next <= highest
    {
        found.findings.push(
            Finding::new(
                Code::SequenceBehind,
                Subject::default(),
                Locus::file(Paths::runtime()),
                format!("next_worker_sequence is {next} and Worker {highest} exists: a Runtime would give an id out again and write over its folder"),
            )
            .with_hint("wagg repair --only sequence_behind"),
        );
    }
}

/// A finding if ids were given out and nothing in `workers/` has the name of one. Where that can
/// not be told, something else is wrong with the folder.
pub(in crate::ops) fn none_left(
    store: &Store,
    next: Option<u64>,
    folders: &[WorkerFolder],
) -> Option<Finding> {
    let next = next?;
    let given_out = next.saturating_sub(1);
    if given_out == 0 || folders.iter().any(|folder| folder.id.is_some()) {
        return None;
    }
    match store.dir().dir(file::WORKERS).and_then(|dir| dir.entries()) {
        Ok(entries) => {
            if entries
                .into_iter()
                .any(|entry| WorkerFolder::of(entry.name).id.is_some())
            {
                return None;
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(_) => return None,
    }
    let finding = Finding::new(
        Code::MissingWorkers,
        Subject::default(),
        Locus::file(Paths::runtime()),
        format!(
            "next_worker_sequence is {next}, so {} given out, and workers/ holds no Worker",
            plural(given_out, "id was", "ids were")
        ),
    )
    .with_hint("wagg quarantine list");
    // A creation that was killed costs its number.
    Some(if given_out == 1 {
        finding.with_severity(Severity::Info)
    } else {
        finding
    })
}
