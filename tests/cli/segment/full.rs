//! A disk that is full, and one that can not be written: on a small file system of its own, where
//! the tests may mount one; else they say so and end.

use std::path::Path;
use std::process::Command;

use super::{Place, first, of_store};
use crate::support::damage::is_root;
use crate::support::{Log, TestEnv, TestStore, tree};

/// A file system in memory, gone when dropped.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn at(path: &'a Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let mount = || {
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
                .arg(path)
                .output()
        };
        if is_root() && mount().is_ok_and(|out| out.status.success()) {
            return Some(Self(path));
        }
        eprintln!("skipped: no right to mount a file system of 2 MiB");
        None
    }

    fn read_only(&self, on: bool) {
        let how = if on { "remount,ro" } else { "remount,rw" };
        let out = Command::new("mount").args(["-o", how]).arg(self.0).output();
        assert!(out.unwrap().status.success());
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

/// The store's tree without times: an append that was cut back has touched its file.
fn content(root: &Path) -> Vec<String> {
    of_store(root)
        .into_iter()
        .map(|line| {
            let (before, rest) = line.split_once(" (").unwrap();
            format!("{before}{}", rest.split_once(')').unwrap().1)
        })
        .collect()
}

fn fill(root: &Path) -> TestStore {
    let store = TestStore::v1(root.join("store"));
    let worker = store.worker(1);
    worker
        .session(1)
        .segment(0x11, &Log::start(1).turns(40))
        .active(1, Some(0x11))
        .run(1);
    store
}

/// Takes all room but so many pages.
fn brim(root: &Path, free: usize) {
    let path = root.join("filler");
    let mut size = 0;
    std::fs::write(&path, b"").unwrap();
    let page = vec![b'x'; 4096];
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    while std::io::Write::write_all(&mut file, &page).is_ok() {
        size += page.len();
    }
    file.set_len((size - (free * page.len()).min(size)) as u64)
        .unwrap();
}

/// C4, C18: with any number of free pages a command is done or nothing changed, and it says so; the
/// same command is done once there is room.
#[test]
fn c4_a_full_disk() {
    let long = "word ".repeat(4000);
    let mut records = String::new();
    for n in 0..200 {
        records.push_str(&format!(
            "{{\"kind\":\"invoke\",\"ts\":{},\"trigger\":\"wakeup\"}}\n",
            4_000_000_000_000_u64 + n
        ));
    }
    for (args, stdin) in [
        (&["append", "1/active"][..], records.as_str()),
        (
            &["create", "1", "--system-prompt", "-", "--activate"],
            &long,
        ),
        (&["fork", "1/active", "--activate"], ""),
        (
            &[
                "compact",
                "1/active",
                "--summary",
                "-",
                "--retain-turns",
                "9",
                "--activate",
            ],
            &long,
        ),
        (&["activate", "1/latest"], ""),
    ] {
        let (mut refused, mut done) = (0, false);
        for free in 0..40 {
            let env = TestEnv::new();
            let root = env.path("disk");
            let Some(_mounted) = Mounted::at(&root) else {
                return;
            };
            let store = fill(&root);
            store.worker_folder(1).segment(0x12, &Log::start(1));
            let place = Place { env, store };
            let run = |format: &[&str]| {
                let all = [
                    &["--store", "disk/store", "segment"],
                    args,
                    &["--request-id", "r"],
                    format,
                ]
                .concat();
                place.env.prepare(all).stdin(stdin).run()
            };
            brim(&root, free);
            let before = content(place.store.root());
            let out = run(&["--format", "json"]);
            let verify = ["--store", "disk/store", "verify"];
            match out.code {
                Some(0) => {
                    done = true;
                    let _ = place.env.wagg(verify).status(0);
                    break;
                }
                Some(14) => {
                    refused += 1;
                    let error = out.error();
                    assert_eq!(error["code"], "disk_full", "{out}");
                    assert_eq!(error["effects_applied"], "none", "{out}");
                    tree::assert_same(
                        &before,
                        &content(place.store.root()),
                        &format!("{args:?} with {free} pages"),
                    );
                }
                // The commit point has passed, and what follows waits for room.
                Some(15) => {
                    refused += 1;
                    assert_eq!(out.error()["code"], "outcome_unknown", "{out}");
                    assert_ne!(out.error()["effects_applied"], "none", "{out}");
                }
                _ => panic!("{args:?} with {free} pages: {out}"),
            }
            let _ = place.env.wagg(verify).status(0);
            std::fs::remove_file(root.join("filler")).unwrap();
            let again = run(&[]).ok();
            assert_eq!(run(&[]).ok().bytes(), again.bytes());
            let _ = place.env.wagg(verify).status(0);
        }
        assert!(done && refused > 0, "{args:?}: refused {refused} times");
    }
}

/// C18: a store that can not be written is as it was.
#[test]
fn c18_a_read_only_store() {
    let env = TestEnv::new();
    let root = env.path("disk");
    let Some(mounted) = Mounted::at(&root) else {
        return;
    };
    let store = fill(&root);
    store.worker_folder(1).segment(0x12, &Log::start(1));
    let place = Place { env, store };
    for seen_before in [false, true] {
        if seen_before {
            mounted.read_only(false);
            let all = ["--store", "disk/store", "segment", "fork", &first()];
            let _ = place.env.wagg(all).ok();
        }
        mounted.read_only(true);
        for args in [
            &["append", "1/active"][..],
            &["create", "1"],
            &["fork", "1/active"],
            &["compact", "1/active", "--summary", "-"],
            &["activate", "1/latest"],
        ] {
            let all = [
                &["--store", "disk/store", "segment"],
                args,
                &["--format", "json"],
            ]
            .concat();
            let record = r#"{"kind":"invoke","ts":4000000000000,"trigger":"wakeup"}"#;
            let out = place.env.prepare(&all).stdin(record).run().status(14);
            let error = out.error();
            assert_eq!(error["code"], "read_only_store", "{out}");
            assert_eq!(error["effects_applied"], "none", "{out}");
            // Looking is still allowed.
            let all = [&all[..], &["--dry-run"]].concat();
            let _ = place.env.prepare(&all).stdin(record).run().ok();
        }
    }
}
