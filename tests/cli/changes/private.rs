//! What stands in `.wagg/` are parts of histories and of metadata: nobody but its owner gets at it,
//! and what is made from a file that others may not read may not be read by them either.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::store::{Legacy, id};
use crate::support::{TestEnv, TestStore, damage};

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

/// Every file and folder below, itself too.
fn each(root: &Path, mut see: impl FnMut(&Path, bool)) {
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        see(entry.path(), entry.file_type().is_dir());
    }
}

/// Each command that changes something, over a store that all may read, or that its owner alone
/// may, whatever `.wagg/` was before.
#[test]
fn nothing_of_ours_is_for_others() {
    for (folders, files) in [(0o755, 0o644), (0o777, 0o666), (0o700, 0o600)] {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        let legacy = Legacy::new(env.path("legacy"));
        store.worker(1).usual(1);
        store.worker(2).usual(2);
        store.worker(3);
        store.worker(4);
        legacy.usual(3).usual(4);
        let torn = format!("workers/2/session/segments/{}.jsonl", id(0x21));
        damage::append(&store.path(&torn), b"{\"kind\":\"turn");
        std::fs::create_dir(store.path(".wagg")).unwrap();
        for root in [store.root(), &*env.path("legacy")] {
            each(root, |path, dir| {
                chmod(path, if dir { folders } else { files })
            });
        }
        // Of these Workers others may see that they are there, and nothing else.
        let one = format!("workers/1/session/segments/{}.jsonl", id(0x11));
        let secret = [
            store.path(&one),
            store.path("workers/1/metadata.json"),
            legacy
                .sessions()
                .join(id(3))
                .join(format!("{}.jsonl", id(0x31))),
            legacy.workers().join("worker-runtime-3/metadata.json"),
        ];
        for path in &secret {
            chmod(path, 0o600);
        }
        let roots = [
            "--sessions",
            "legacy/sessions",
            "--metadata",
            "legacy/workers",
        ];
        let commands: &[&[&str]] = &[
            &["worker", "create"],
            &[
                "segment",
                "fork",
                "1/active",
                "--at-turn",
                "1",
                "--activate",
            ],
            &[
                "segment",
                "compact",
                "1/active",
                "--summary",
                "-",
                "--retain-turns",
                "1",
            ],
            &["repair", "2", "--apply"],
            &["op", "undo", "latest"],
            &["repair", "2", "--apply"],
            &["run", "reserve", "1"],
            &["migrate"],
        ];
        for command in commands {
            let mut args = vec!["--store", "store"];
            args.extend(*command);
            if *command == ["migrate"] {
                args.extend(roots);
            }
            let last = env
                .wagg(["--store", "store", "op", "list", "--ids"])
                .stdout()
                .to_owned();
            if let Some(at) = args.iter().position(|arg| *arg == "latest") {
                args[at] = last.lines().next().unwrap();
            }
            let out = env.prepare(&args).stdin("A summary.").run().status(0);
            each(&store.path(".wagg"), |path, dir| {
                // A group that works in the store works in here too.
                let group = folders & 0o020 != 0;
                let expected = match (dir, group) {
                    (true, false) => 0o700,
                    (true, true) => 0o770,
                    (false, false) => 0o600,
                    (false, true) => 0o660,
                };
                assert_eq!(
                    mode(path),
                    expected,
                    "{command:?}: {}: {out}",
                    path.display()
                );
            });
        }
        // What came from a file that only its owner may read.
        each(&store.path("workers/1"), |path, dir| {
            let made = path.to_string_lossy().contains("segments/");
            if made && !dir {
                assert_eq!(mode(path), 0o600, "{}", path.display());
            }
        });
        assert_eq!(mode(&store.path("workers/1/metadata.json")), 0o600);
        let three = format!("workers/3/session/segments/{}.jsonl", id(0x31));
        assert_eq!(mode(&store.path(&three)), 0o600);
        assert_eq!(mode(&store.path("workers/3/metadata.json")), 0o600);
        // All else as its place: repaired and undone, moved, made anew.
        let four = format!("workers/4/session/segments/{}.jsonl", id(0x41));
        for path in [
            &*torn,
            &four,
            "workers/4/metadata.json",
            "workers/5/worker.json",
        ] {
            assert_eq!(mode(&store.path(path)), files, "{path}");
        }
        for path in [
            "workers/5",
            "workers/4/session",
            "workers/4/session/segments",
        ] {
            assert_eq!(mode(&store.path(path)), folders, "{path}");
        }
    }
}
