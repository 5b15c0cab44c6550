//! Names in a folder: what belongs there, what a killed process left, what nobody knows.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use super::Found;
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{Leftover, leftover};
use crate::store::{Dir, Entry, EntryKind};

/// What a folder expects under a name.
pub(super) enum Expect {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// Adds what is wrong with the names of a folder. `expect` tells what belongs there.
pub(super) fn check(
    dir: &Dir,
    entries: &[Entry],
    subject: Subject,
    expect: impl Fn(&str) -> Option<Expect>,
    found: &mut Found,
) {
    each(dir, entries, subject, expect, found);
    case_collisions(dir, entries, subject, found);
}

/// As [`check`], each name for itself.
pub(super) fn each(
    dir: &Dir,
    entries: &[Entry],
    subject: Subject,
    expect: impl Fn(&str) -> Option<Expect>,
    found: &mut Found,
) {
    for entry in entries {
        let known = entry.name.to_str().and_then(&expect);
        match (known, entry.kind) {
            (Some(Expect::File), EntryKind::File) | (Some(Expect::Folder), EntryKind::Dir) => {}
            (Some(_), EntryKind::Symlink) => {
                found.findings.push(link(dir, &entry.name, subject));
            }
            (Some(expect), kind) => {
                let wanted = if matches!(expect, Expect::Folder) {
                    "a folder"
                } else {
                    "a file"
                };
                found.findings.push(Finding::new(
                    Code::NotARegularFile,
                    subject,
                    Locus::file(dir.path_of(&entry.name)),
                    format!(
                        "{} stands where {wanted} should be; it was not opened",
                        kind.noun()
                    ),
                ));
            }
            (None, _) => {
                let name = entry.name.to_string_lossy();
                unknown(dir, entry, &name, subject, found);
            }
        }
    }
}

/// The finding of a symbolic link, with where it points. It is never followed.
pub(super) fn link(dir: &Dir, name: &OsStr, subject: Subject) -> Finding {
    let target = dir.read_link(name).map_or_else(
        |e| format!("somewhere ({e})"),
        |target| target.display().to_string(),
    );
    Finding::new(
        Code::SymbolicLink,
        subject,
        Locus::file(dir.path_of(name)),
        format!(
            "a symbolic link to {target}; it is not followed, and what it points at was not read"
        ),
    )
}

/// Adds what a name is that belongs nowhere: a leftover, or nothing that anybody knows.
pub(super) fn unknown(dir: &Dir, entry: &Entry, name: &str, subject: Subject, found: &mut Found) {
    let locus = Locus::file(dir.path_of(&entry.name));
    let finding = match (leftover(name), entry.kind) {
        (Some(Leftover::Temporary { target, pid }), EntryKind::File) => {
            let real = match dir.try_stat(target) {
                Ok(Some(_)) => format!("{target} itself is there"),
                _ => format!("{target} itself is not there, so this may be the only copy"),
            };
            Finding::new(
                Code::LeftoverTemporary,
                subject,
                locus,
                format!("left by process {pid}, which was to rename it to {target}; {real}"),
            )
        }
        (Some(Leftover::Staging { pid }), EntryKind::Dir) => Finding::new(
            Code::LeftoverStaging,
            subject,
            locus,
            format!(
                "left by process {pid}, which was to rename it to session; it is no part of the store"
            ),
        ),
        (Some(Leftover::Temporary { target, pid }), EntryKind::Dir) => Finding::new(
            Code::LeftoverStaging,
            subject,
            locus,
            format!(
                "left by process {pid}, which was to rename it to {target}; it is no part of the store"
            ),
        ),
        (_, EntryKind::Dir) => Finding::new(
            Code::UnknownFolder,
            subject,
            locus,
            "a folder that is no part of a store",
        ),
        (_, EntryKind::Symlink) => {
            let target = dir
                .read_link(&entry.name)
                .map_or_else(|_| "somewhere".to_owned(), |t| t.display().to_string());
            Finding::new(
                Code::UnknownFile,
                subject,
                locus,
                format!("a symbolic link to {target} that is no part of a store; not followed"),
            )
        }
        (_, kind) => Finding::new(
            Code::UnknownFile,
            subject,
            locus,
            format!("{} that is no part of a store", kind.noun()),
        ),
    };
    found.findings.push(finding);
}

/// Whether a name could be another in lower case.
pub(super) fn has_upper(entry: &Entry) -> bool {
    // Without an early end, so that it is done many bytes at a time.
    let odd = |odd, &b: &u8| odd | (b.is_ascii_uppercase() | !b.is_ascii());
    let name = &entry.name;
    name.as_encoded_bytes().iter().fold(false, odd)
        && name
            .to_str()
            .is_some_and(|n| n.chars().any(char::is_uppercase))
}

/// Names that only differ in case would be one name on some file systems.
pub(super) fn case_collisions(dir: &Dir, entries: &[Entry], subject: Subject, found: &mut Found) {
    if !entries.iter().any(has_upper) {
        return;
    }
    let mut lower: BTreeMap<String, &OsStr> = BTreeMap::new();
    for entry in entries {
        let Some(name) = entry.name.to_str() else {
            continue;
        };
        match lower.entry(name.to_lowercase()) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(&entry.name);
            }
            std::collections::btree_map::Entry::Occupied(other) => {
                found.findings.push(Finding::new(
                    Code::CaseCollision,
                    subject,
                    Locus::file(dir.path_of(&entry.name)),
                    format!(
                        "{} differs from it in upper and lower case only; a file system that does not tell them apart loses one",
                        other.get().to_string_lossy()
                    ),
                ));
            }
        }
    }
}
