//! What is left where it was because nobody owns it or more than one does (C26), in the words and
//! in the order of the reference's manifest: metadata by name, Sessions by name, then Sessions
//! that are shared, by id.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Sources;
use crate::layout::{SessionId, WorkerId, WorkerName};
use crate::ops::ownership::{Catalog, Claimant, Ownership, Party, Place, Says, Standing};
use crate::record::document::MigrationDiagnostic;
use crate::store::EntryKind;

/// All diagnostics, in order. One pass over the sources and one over the Session folders.
pub(super) fn diagnostics(
    catalog: &Catalog,
    ownership: &Ownership,
    sources: &Sources,
    gone: impl Iterator<Item = WorkerId>,
) -> Vec<MigrationDiagnostic> {
    let known = |worker: Option<WorkerId>| {
        worker.is_some_and(|id| catalog.standing(id) != Standing::Unknown)
    };
    let mut all = Vec::new();
    // Workers whose legacy metadata does not read, or went away before they were moved: any of the Sessions may be theirs.
    let mut silent: Vec<String> = gone
        .map(|id| WorkerName::of(id).as_str().to_owned())
        .collect();
    let mut referenced: BTreeSet<SessionId> = BTreeSet::new();
    for source in ownership.sources() {
        if known(source.worker) {
            referenced.extend(source.session());
            if matches!(source.says, Says::Trouble(_)) {
                silent.push(source.folder.to_string_lossy().into_owned());
            }
        } else if source.says != Says::Nothing {
            all.push(one(
                "orphan_worker_metadata",
                sources.metadata_path(),
                &source.folder,
                "legacy Worker metadata has no Runtime catalog Worker and was left in place"
                    .to_owned(),
            ));
        }
    }
    let owned = |session: SessionId| {
        referenced.contains(&session)
            // A Worker that has it in the store keeps it when its legacy metadata is gone.
            || ownership.is_owned(session)
    };
    let folders = sources.sessions.folders.iter().filter(|id| !owned(**id));
    let mut orphans: Vec<Vec<u8>> = folders.map(|id| id.to_string().into_bytes()).collect();
    let others = sources.sessions.strays.iter();
    orphans.extend(
        others
            .filter(|stray| stray.kind == EntryKind::Dir)
            .map(|stray| stray.name.as_bytes().to_vec()),
    );
    orphans.sort_unstable();
    let message = no_reference(silent);
    for name in orphans {
        all.push(one(
            "orphan_session",
            sources.sessions_path(),
            OsStr::from_bytes(&name),
            message.clone(),
        ));
    }
    for (session, claimants) in ownership.shared() {
        // What only the store itself claims twice is none of this migration's.
        if claimants.iter().all(|claimant| legacy(claimant).is_empty()) {
            continue;
        }
        let mut names: Vec<String> = claimants.iter().flat_map(names_of).collect();
        names.sort_unstable();
        let message = format!(
            "legacy Session {session} is referenced by metadata sources {} and was not assigned",
            names.join(", ")
        );
        let name = session.to_string();
        let path = sources.sessions_path();
        all.push(one(
            "shared_session_reference",
            path,
            name.as_ref(),
            message,
        ));
    }
    all
}

/// What is said of a Session that nobody points at, as far as that can be told.
fn no_reference(mut silent: Vec<String>) -> String {
    if silent.is_empty() {
        return "legacy Session has no catalog-backed Worker reference and was left in place"
            .to_owned();
    }
    let more = if silent.len() > NAMED {
        " and others"
    } else {
        ""
    };
    silent.truncate(NAMED);
    format!(
        "legacy Session has no catalog-backed Worker reference that can be read and was left in place; what {}{more} points at can not be told",
        silent.join(", ")
    )
}

/// How many sources a message names before it only says that there are more.
const NAMED: usize = 10;

fn one(kind: &str, root: &Path, name: &OsStr, message: String) -> MigrationDiagnostic {
    MigrationDiagnostic {
        kind: kind.to_owned(),
        source: root.join(name).to_string_lossy().into_owned(),
        message,
    }
}

/// The legacy folders of a claimant.
fn legacy(claimant: &Claimant) -> Vec<String> {
    let legacy = claimant.places.iter().filter_map(|place| match place {
        Place::Legacy(folder) => Some(folder.to_string_lossy().into_owned()),
        Place::Store(_) => None,
    });
    legacy.collect()
}

/// How a claimant is called: by its legacy folders, else by what it would be called there.
pub(super) fn names_of(claimant: &Claimant) -> Vec<String> {
    let names = legacy(claimant);
    if !names.is_empty() {
        return names;
    }
    let name = match &claimant.party {
        Party::Worker(id) => WorkerName::of(*id).as_str().to_owned(),
        Party::Named(name) => name.to_string_lossy().into_owned(),
    };
    vec![format!("{name} (in the store)")]
}
