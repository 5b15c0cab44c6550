//! What was taken away is found again, byte for byte, whatever was killed when.

use std::path::Path;

use super::fs::fault::{Fault, Plan, Step, crash_everywhere};
use super::fs::{Dir, WriteDir, replace};
use super::quarantine::*;
use crate::diag::{Code, Result};
use crate::layout::OperationId;

const OLD: &[u8] = b"one\ntwo bad\nthree\n";
const BAD: &[u8] = b"two bad\n";
const NEW: &[u8] = b"one\nthree\n";

fn open(root: &Path) -> WriteDir<'static> {
    WriteDir::outside_stores(Dir::open_root(root).unwrap())
}

fn fill(root: &Path) {
    std::fs::create_dir_all(root.join(".wagg")).unwrap();
    std::fs::create_dir_all(root.join("folder")).unwrap();
    std::fs::write(root.join("folder/inner"), OLD).unwrap();
    std::fs::write(root.join("log"), OLD).unwrap();
    std::fs::write(root.join("file"), OLD).unwrap();
}

/// Cuts bytes out of one file, and takes another and a folder away.
fn take_away(root: &Path, operation: OperationId) -> Result<()> {
    let root = open(root);
    let wagg = root.dir(".wagg").unwrap();
    let mut quarantine = Quarantine::open(&wagg, operation)?;
    quarantine.keep(Path::new("log"), 4, BAD)?;
    quarantine.keep(Path::new("log"), 0, b"")?;
    quarantine.sync()?;
    replace(&root, "log", NEW)?;
    quarantine.take(&root, "file")?;
    quarantine.take(&root, "folder")
}

#[test]
fn what_is_taken_away_survives_every_crash() {
    let operation = OperationId::mint();
    crash_everywhere(
        |root| {
            fill(root);
            root.to_path_buf()
        },
        |root| drop(take_away(root, operation)),
        |root, crashed| {
            let store = Dir::open_root(root).unwrap();
            let aside = root.join(".wagg/quarantine").join(operation.to_string());
            let items = quarantined_items(&store, operation)
                .unwrap_or_else(|e| panic!("{crashed:?}: {e}"))
                .unwrap_or_default();
            let kept = |path: &str, want: &[u8]| {
                items
                    .iter()
                    .filter(|i| i.path == Path::new(path))
                    .any(|item| {
                        quarantined_bytes(&store, operation, item)
                            .is_ok_and(|bytes| bytes.as_deref() == Some(want))
                    })
            };
            let log = std::fs::read(root.join("log")).unwrap();
            assert!(
                log == OLD || (log == NEW && kept("log", BAD)),
                "{crashed:?}"
            );
            let there = std::fs::read(root.join("file")).is_ok_and(|b| b == OLD);
            assert!(there || kept("file", OLD), "{crashed:?}");
            let moved = items.iter().any(|item| {
                item.what == What::Folder
                    && std::fs::read(aside.join(item.item.to_string()).join("inner"))
                        .is_ok_and(|b| b == OLD)
            });
            let there = std::fs::read(root.join("folder/inner")).is_ok_and(|b| b == OLD);
            assert!(there || moved, "{crashed:?}");
            // Adding goes on after a crash.
            let wagg = open(root).dir(".wagg").unwrap();
            let mut quarantine = Quarantine::open(&wagg, operation).unwrap();
            quarantine.keep(Path::new("more"), 0, b"more").unwrap();
            quarantine.sync().unwrap();
            let items = quarantined_items(&store, operation).unwrap().unwrap();
            let last = items.last().unwrap();
            assert_eq!(
                quarantined_bytes(&store, operation, last).unwrap().unwrap(),
                b"more",
                "{crashed:?}"
            );
            let mut numbers: Vec<_> = items.iter().map(|i| i.item).collect();
            numbers.dedup();
            assert_eq!(numbers.len(), items.len(), "{crashed:?}");
        },
    )
    .unwrap();
}

#[test]
fn many_items_share_the_syncs() {
    let temp = tempfile::tempdir().unwrap();
    fill(temp.path());
    let wagg = open(temp.path()).dir(".wagg").unwrap();
    let fault = Fault::new(Plan::Count);
    fault.run(|| {
        let mut quarantine = Quarantine::open(&wagg, OperationId::mint()).unwrap();
        for n in 0..100 {
            quarantine.keep(Path::new("log"), n, BAD).unwrap();
        }
        quarantine.sync().unwrap();
    });
    assert_eq!(
        (fault.count(Step::SyncFile), fault.count(Step::SyncDir)),
        (2, 3)
    );
}

#[test]
fn a_changed_item_is_told_and_an_emptied_one_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    fill(temp.path());
    let operation = OperationId::mint();
    take_away(temp.path(), operation).unwrap();
    let root = Dir::open_root(temp.path()).unwrap();
    assert_eq!(quarantined(&root).unwrap(), [operation]);
    let bytes = temp
        .path()
        .join(format!(".wagg/quarantine/{operation}/bytes"));
    std::fs::write(bytes, b"two BAD\n").unwrap();
    let items = quarantined_items(&root, operation).unwrap().unwrap();
    let error = quarantined_bytes(&root, operation, &items[0]).unwrap_err();
    assert_eq!(error.code, Code::CorruptDocument);
    let wagg = open(temp.path()).dir(".wagg").unwrap();
    empty_quarantine(&wagg, operation).unwrap();
    empty_quarantine(&wagg, operation).unwrap();
    assert!(quarantined(&root).unwrap().is_empty());
    let left = std::fs::read_dir(temp.path().join(".wagg/quarantine"))
        .unwrap()
        .count();
    assert_eq!(left, 0);
}
