//! A list of all that is in a folder, to prove that a command changed nothing.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use sha2::{Digest, Sha256};

/// One line an entry: kind, mode, size, time of change and digest of the content, path.
///
/// Folders count with their time, so that a file that came and went is seen.
pub fn tree(root: &Path) -> Vec<String> {
    let mut all: Vec<String> = walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| {
            let entry = match entry {
                Ok(entry) => entry,
                // a folder that this user may not list
                Err(e) => return format!("{} closed", e.path().unwrap().display()),
            };
            let meta = entry.path().symlink_metadata().unwrap();
            let kind = meta.file_type();
            let (kind, what) = if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                ("link", target.display().to_string())
            } else if kind.is_dir() {
                ("dir", String::new())
            } else if kind.is_file() {
                ("file", digest(entry.path()))
            } else if kind.is_socket() {
                ("socket", String::new())
            } else if kind.is_fifo() {
                ("fifo", String::new())
            } else {
                ("other", String::new())
            };
            let path = entry
                .path()
                .strip_prefix(root)
                .unwrap()
                .display()
                .to_string();
            let time = (meta.mtime(), meta.mtime_nsec());
            let size = if kind == "dir" { 0 } else { meta.len() };
            format!("{path} {kind} {:o} {size} {time:?} {what}", meta.mode())
        })
        .collect();
    all.sort();
    all
}

/// Insists that two lists are the same, and names what is not.
#[track_caller]
pub fn assert_same(before: &[String], after: &[String], what: &str) {
    let (before, after) = (BTreeSet::from_iter(before), BTreeSet::from_iter(after));
    let gone: Vec<_> = before.difference(&after).collect();
    let new: Vec<_> = after.difference(&before).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "{what} changed the tree\nbefore: {gone:#?}\nafter: {new:#?}"
    );
}

/// Runs something and insists that nothing below these folders changed.
#[track_caller]
pub fn unchanged<T>(roots: &[&Path], what: &str, run: impl FnOnce() -> T) -> T {
    let before: Vec<_> = roots.iter().map(|root| tree(root)).collect();
    let result = run();
    for (root, before) in roots.iter().zip(&before) {
        assert_same(before, &tree(root), what);
    }
    result
}

/// The SHA-256 of a file, in hexadecimal; `unreadable` where the right is lacking.
pub fn digest(path: &Path) -> String {
    match std::fs::read(path) {
        Ok(bytes) => Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        Err(_) => "unreadable".to_owned(),
    }
}
