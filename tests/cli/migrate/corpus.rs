//! The reference corpus: our tree must equal what the reference left, byte for byte, or the case
//! is one where a tool may do better. Those stand in [`BETTER`] with exactly what we do instead;
//! `docs/migration.md` says why.
//!
//! Where the corpus is not there, these tests say so and pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::damage::copy_tree;
use crate::support::reference::corpus;
use crate::support::{Output, TestEnv};

/// What we do in a case where the reference's outcome is not the target.
struct Ours {
    name: &'static str,
    exit: i32,
    /// Our tree is the one before, with what follows.
    tree: Tree,
    /// Remarks that must be there.
    notes: &'static [&'static str],
}

enum Tree {
    /// As the reference left it.
    AsTheReference,
    /// As it was, to the byte.
    Untouched,
    /// As it was, with these Workers moved, and this manifest.
    Moved {
        workers: &'static [u64],
        complete: bool,
        entries: &'static [(u64, &'static str)],
        /// Kind, folder name or its end, and a word of the message.
        diagnostics: &'static [(&'static str, &'static str, &'static str)],
        /// Who was left, and why.
        left: &'static [&'static str],
    },
}

use Tree::{AsTheReference, Moved, Untouched};

const ONE: &[(u64, &str)] = &[(1, "migrated")];
const LEFT_IN_PLACE: &str = "and was left in place";

const BETTER: &[Ours] = &[
    // The reference's tree; a root that is not there is no root that was looked at.
    Ours {
        name: "no-legacy-roots",
        exit: 1,
        tree: AsTheReference,
        notes: &[],
    },
    Ours {
        name: "only-metadata-root",
        exit: 1,
        tree: AsTheReference,
        notes: &[],
    },
    Ours {
        name: "only-session-root",
        exit: 1,
        tree: AsTheReference,
        notes: &[],
    },
    // The reference's tree, and a remark that it does not make.
    Ours {
        name: "active-segment-missing",
        exit: 0,
        tree: AsTheReference,
        notes: &["active_missing_segment"],
    },
    Ours {
        name: "segment-without-start",
        exit: 0,
        tree: AsTheReference,
        notes: &["missing_segment_start"],
    },
    Ours {
        name: "segment-start-names-other-session",
        exit: 0,
        tree: AsTheReference,
        notes: &["session_mismatch"],
    },
    Ours {
        name: "crash-staging-leftover",
        exit: 0,
        tree: AsTheReference,
        notes: &["leftover_staging"],
    },
    Ours {
        name: "crash-tmp-files-leftover",
        exit: 0,
        tree: AsTheReference,
        notes: &["leftover_temporary"],
    },
    Ours {
        name: "killed-before-session-rename",
        exit: 0,
        tree: AsTheReference,
        notes: &["leftover_staging"],
    },
    Ours {
        name: "killed-before-metadata-rename",
        exit: 0,
        tree: AsTheReference,
        notes: &["leftover_temporary"],
    },
    Ours {
        name: "killed-before-checkpoint-rename",
        exit: 0,
        tree: AsTheReference,
        notes: &[],
    },
    // Refused as by the reference, with the reason named.
    Ours {
        name: "deep-nesting-written-by-library",
        exit: 1,
        tree: AsTheReference,
        notes: &[],
    },
    Ours {
        name: "target-session-schema-unsupported",
        exit: 1,
        tree: AsTheReference,
        notes: &[],
    },
    // A Worker that went on since is done.
    Ours {
        name: "rerun-after-new-records",
        exit: 0,
        tree: Untouched,
        notes: &[],
    },
    Ours {
        name: "rerun-after-new-segment",
        exit: 0,
        tree: Untouched,
        notes: &[],
    },
    Ours {
        name: "rerun-after-metadata-update",
        exit: 0,
        tree: Untouched,
        notes: &[],
    },
    Ours {
        name: "rerun-source-removed",
        exit: 0,
        tree: Untouched,
        notes: &[],
    },
    Ours {
        name: "target-session-tmp-file",
        exit: 0,
        tree: Untouched,
        notes: &["leftover_temporary"],
    },
    Ours {
        name: "runtime-root-missing",
        exit: 10,
        tree: Untouched,
        notes: &[],
    },
    // What is in nobody's way stops nobody.
    Ours {
        name: "corrupt-trace-line",
        exit: 0,
        tree: Moved {
            workers: &[1],
            complete: true,
            entries: ONE,
            diagnostics: &[],
            left: &[],
        },
        notes: &["corrupt_record"],
    },
    Ours {
        name: "orphan-metadata-corrupt",
        exit: 0,
        tree: Moved {
            workers: &[1],
            complete: true,
            entries: ONE,
            diagnostics: &[(
                "orphan_worker_metadata",
                "worker-runtime-999",
                LEFT_IN_PLACE,
            )],
            left: &[],
        },
        notes: &["corrupt_document"],
    },
    Ours {
        name: "shared-session-two-orphans",
        exit: 0,
        tree: Moved {
            workers: &[1],
            complete: true,
            entries: ONE,
            diagnostics: &[
                ("orphan_worker_metadata", "companion", LEFT_IN_PLACE),
                (
                    "orphan_worker_metadata",
                    "worker-runtime-998",
                    LEFT_IN_PLACE,
                ),
                ("orphan_session", "77ba5f9051dc", LEFT_IN_PLACE),
                (
                    "shared_session_reference",
                    "77ba5f9051dc",
                    "sources companion, worker-runtime-998 and was not assigned",
                ),
            ],
            left: &[],
        },
        notes: &[],
    },
    Ours {
        name: "old-event-files-removed",
        exit: 0,
        tree: Moved {
            workers: &[1],
            complete: true,
            entries: ONE,
            diagnostics: &[],
            left: &[],
        },
        notes: &[],
    },
    Ours {
        name: "target-session-without-manifest",
        exit: 0,
        tree: Moved {
            workers: &[1],
            complete: true,
            entries: ONE,
            diagnostics: &[],
            left: &[],
        },
        notes: &[],
    },
    Ours {
        name: "pending-session-never-written",
        exit: 0,
        tree: Moved {
            workers: &[1, 2],
            complete: true,
            entries: &[(1, "pending"), (2, "migrated")],
            diagnostics: &[],
            left: &[],
        },
        notes: &[],
    },
    // One Worker's trouble is its own.
    Ours {
        name: "good-then-bad-worker",
        exit: 1,
        tree: Moved {
            workers: &[1, 3],
            complete: false,
            entries: &[(1, "migrated"), (3, "migrated")],
            diagnostics: &[],
            left: &["2 left missing_field"],
        },
        notes: &[],
    },
    Ours {
        name: "numeric-order-of-workers",
        exit: 1,
        tree: Moved {
            workers: &[10],
            complete: false,
            entries: &[(10, "migrated")],
            diagnostics: &[],
            left: &["2 left missing_field"],
        },
        notes: &[],
    },
    Ours {
        name: "shared-session-two-catalog-workers",
        exit: 1,
        tree: Moved {
            workers: &[3],
            complete: false,
            entries: &[
                (1, "shared_session_collision"),
                (2, "shared_session_collision"),
                (3, "migrated"),
            ],
            diagnostics: &[(
                "shared_session_reference",
                "a69e6f0861c9",
                "sources worker-runtime-1, worker-runtime-2 and was not assigned",
            )],
            left: &[
                "1 left shared_session_reference",
                "2 left shared_session_reference",
            ],
        },
        notes: &[],
    },
    Ours {
        name: "metadata-corrupt-json",
        exit: 1,
        tree: Moved {
            workers: &[],
            complete: false,
            entries: &[],
            diagnostics: &[(
                "orphan_session",
                "a69e6f0861c9",
                "what worker-runtime-1 points at can not be told",
            )],
            left: &["1 left corrupt_document"],
        },
        notes: &[],
    },
    Ours {
        name: "metadata-bad-session-id",
        exit: 1,
        tree: Moved {
            workers: &[],
            complete: false,
            entries: &[],
            diagnostics: &[(
                "orphan_session",
                "a69e6f0861c9",
                "what worker-runtime-1 points at can not be told",
            )],
            left: &["1 left corrupt_document"],
        },
        notes: &[],
    },
    // Who a Worker is can not be told: it is left, and its sources are no orphans.
    Ours {
        name: "worker-schema-unsupported",
        exit: 1,
        tree: Moved {
            workers: &[2],
            complete: false,
            entries: &[(2, "migrated")],
            diagnostics: &[],
            left: &["1 left unsupported_schema_version"],
        },
        notes: &[],
    },
    Ours {
        name: "worker-json-corrupt",
        exit: 1,
        tree: Moved {
            workers: &[2],
            complete: false,
            entries: &[(2, "migrated")],
            diagnostics: &[],
            left: &["1 left corrupt_document"],
        },
        notes: &[],
    },
    Ours {
        name: "worker-json-missing",
        exit: 1,
        tree: Moved {
            workers: &[2],
            complete: false,
            entries: &[(2, "migrated")],
            diagnostics: &[],
            left: &["1 left missing_worker_document"],
        },
        notes: &[],
    },
    Ours {
        name: "worker-ref-mismatch",
        exit: 1,
        tree: Moved {
            workers: &[],
            complete: false,
            entries: &[],
            diagnostics: &[],
            left: &["1 left worker_id_mismatch"],
        },
        notes: &[],
    },
    Ours {
        name: "worker-directory-name-mismatch",
        exit: 1,
        tree: Moved {
            workers: &[],
            complete: false,
            entries: &[],
            diagnostics: &[],
            left: &["7 left worker_id_mismatch"],
        },
        notes: &[],
    },
    Ours {
        name: "worker-directory-duplicate-id",
        exit: 1,
        tree: Moved {
            workers: &[],
            complete: false,
            entries: &[],
            diagnostics: &[],
            left: &["1 left duplicate_worker_id", "7 left worker_id_mismatch"],
        },
        notes: &[],
    },
];

/// Everything below a folder, `.wagg/` aside; the folder of the case is written as `$ROOT`.
type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn files(root: &Path, home: &Path) -> Files {
    let mut all = Files::new();
    if root.is_file() {
        all.insert(PathBuf::new(), Some(std::fs::read(root).unwrap()));
        return all;
    }
    for entry in walkdir::WalkDir::new(root)
        .min_depth(1)
        .into_iter()
        .filter_entry(|entry| entry.file_name() != ".wagg")
        .filter_map(Result::ok)
    {
        let name = entry.path().strip_prefix(root).unwrap().to_owned();
        let bytes = (!entry.file_type().is_dir()).then(|| {
            let bytes = std::fs::read(entry.path()).unwrap();
            replaced(&bytes, home.to_str().unwrap(), "$ROOT")
        });
        all.insert(name, bytes);
    }
    all
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.replace(from, to).into_bytes(),
        Err(_) => bytes.to_vec(),
    }
}

/// One case, copied.
struct Case {
    name: String,
    env: TestEnv,
    ok: bool,
}

impl Case {
    fn copy(dir: &Path, name: String) -> Self {
        let env = TestEnv::new();
        for side in ["before", "after"] {
            std::fs::create_dir(env.path(side)).unwrap();
            if dir.join(side).exists() {
                copy_tree(&dir.join(side), &env.path(side));
            }
        }
        // git keeps no empty folders
        let tree = std::fs::read_to_string(dir.join("tree.txt")).unwrap();
        for line in tree.lines() {
            let fields: Vec<&str> = line.splitn(5, ' ').collect();
            if let [side, "d", _, _, path] = fields[..] {
                std::fs::create_dir_all(env.path(side).join(path)).unwrap();
            }
        }
        let home = env.path("before");
        for path in crate::support::files_below(&home, ".json") {
            if path.parent().unwrap().ends_with("migrations") {
                let bytes = std::fs::read(&path).unwrap();
                std::fs::write(&path, replaced(&bytes, "$ROOT", home.to_str().unwrap())).unwrap();
            }
        }
        let result = std::fs::read_to_string(dir.join("after/result.txt")).unwrap();
        Self {
            name,
            env,
            ok: result.lines().any(|line| line == "result: ok"),
        }
    }

    fn home(&self) -> PathBuf {
        self.env.path("before")
    }

    fn store(&self) -> Files {
        files(&self.home().join("runtime"), &self.home())
    }

    fn sources(&self) -> [Files; 2] {
        ["legacy-sessions", "legacy-metadata"]
            .map(|root| files(&self.home().join(root), &self.home()))
    }

    fn migrate(&self, more: &[&str]) -> Output {
        let home = self.home();
        let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
        let mut args = vec![
            "--store".to_owned(),
            path("runtime"),
            "--format".to_owned(),
            "json".to_owned(),
            "migrate".to_owned(),
            "--sessions".to_owned(),
            path("legacy-sessions"),
            "--metadata".to_owned(),
            path("legacy-metadata"),
        ];
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        let before = self.sources();
        let out = self.env.wagg(args);
        assert_eq!(before, self.sources(), "{}: a source changed", self.name);
        assert!(!out.stderr.contains("panicked"), "{}: {out}", self.name);
        out
    }

    /// Runs the case, and holds tree and outcome against what they should be.
    fn check(&self) {
        let name = &self.name;
        let ours = BETTER.iter().find(|ours| ours.name == name);
        let before = self.store();
        // A dry run writes nothing, and ends as the run will.
        let planned = self.migrate(&["--dry-run"]);
        assert_eq!(before, self.store(), "{name}: a dry run wrote");
        assert!(
            !self.home().join("runtime/.wagg").exists(),
            "{name}: a dry run wrote"
        );
        let out = self.migrate(&[]);
        assert_eq!(planned.code, out.code, "{name}: {planned}{out}");
        let expected = match ours.map(|ours| &ours.tree) {
            None | Some(AsTheReference) => files(
                &self.env.path("after").join("runtime"),
                &self.env.path("after"),
            ),
            Some(Untouched) => before.clone(),
            Some(moved) => self.expected(before, moved),
        };
        same(name, &self.store(), &expected);
        match ours {
            None if self.ok => assert_eq!(out.code, Some(0), "{name}: {out}"),
            None => assert_ne!(out.code, Some(0), "{name}: {out}"),
            Some(ours) => assert_eq!(out.code, Some(ours.exit), "{name}: {out}"),
        }
        if let Some(ours) = ours.filter(|ours| ours.exit < 2) {
            let answer = out.json();
            for code in ours.notes {
                let notes = answer["findings"].as_array().unwrap();
                assert!(
                    notes.iter().any(|note| note["code"] == *code),
                    "{name}: no {code}: {out}"
                );
            }
            if let Moved { left, .. } = ours.tree {
                let did = super::did(&answer);
                let mut found: Vec<&String> = did.iter().filter(|d| d.contains(" left ")).collect();
                found.sort();
                assert_eq!(found, left, "{name}: {out}");
            }
        }
        // C22: a second run changes no byte, ours included.
        let ours = super::whole(&self.home());
        let again = self.migrate(&[]);
        assert_eq!(again.code, out.code, "{name}: {again}");
        let now = super::whole(&self.home());
        crate::support::tree::assert_same(&ours, &now, name);
    }

    /// The tree of a [`Moved`].
    fn expected(&self, mut tree: Files, moved: &Tree) -> Files {
        let Moved {
            workers,
            complete,
            entries,
            diagnostics,
            ..
        } = moved
        else {
            return tree;
        };
        let home = self.home();
        tree.insert(".worker-aggregate-v1.lock".into(), Some(Vec::new()));
        tree.insert("migrations".into(), None);
        for worker in *workers {
            let legacy = home.join(format!(
                "legacy-metadata/worker-runtime-{worker}/metadata.json"
            ));
            let folder = PathBuf::from(format!("workers/{worker}"));
            tree.insert(
                folder.join("metadata.json"),
                Some(std::fs::read(&legacy).unwrap()),
            );
            let session = self.session_of(*worker);
            let source = home.join("legacy-sessions").join(&session);
            if !source.exists() {
                continue;
            }
            tree.insert(folder.join("session"), None);
            tree.insert(folder.join("session/segments"), None);
            let document =
                format!("{{\n  \"schema_version\": 1,\n  \"session_id\": \"{session}\"\n}}\n");
            tree.insert(
                folder.join("session/session.json"),
                Some(document.into_bytes()),
            );
            for (name, bytes) in files(&source, &home) {
                tree.insert(folder.join("session/segments").join(name), bytes);
            }
        }
        let mut all = serde_json::Map::new();
        let mut sorted: Vec<_> = entries.to_vec();
        sorted.sort_by_key(|(id, _)| id.to_string());
        for (worker, state) in sorted {
            let session = self.session_of(worker);
            all.insert(
                worker.to_string(),
                json!({"worker_name": format!("worker-runtime-{worker}"), "session_id": session, "state": state}),
            );
        }
        let found = tree.get(Path::new("migrations/worker-aggregate-v1.json"));
        assert!(found.is_none_or(|old| old.is_some()));
        let told = self.store()[Path::new("migrations/worker-aggregate-v1.json")].clone();
        let told: Value = serde_json::from_slice(&told.unwrap()).unwrap();
        let told = told["diagnostics"].as_array().unwrap();
        assert_eq!(told.len(), diagnostics.len(), "{}: {told:#?}", self.name);
        for (told, (kind, source, message)) in told.iter().zip(*diagnostics) {
            let text = |field: &str| told[field].as_str().unwrap().to_owned();
            assert_eq!(text("kind"), *kind, "{}", self.name);
            assert!(text("source").starts_with("$ROOT/legacy-"), "{told}");
            assert!(text("source").ends_with(source), "{told}");
            assert!(text("message").contains(message), "{told}");
        }
        let manifest = json!({
            "schema_version": 1,
            "complete": complete,
            "workers": all,
            "diagnostics": told,
        });
        let mut text = serde_json::to_string_pretty(&manifest).unwrap();
        text.push('\n');
        tree.insert(
            "migrations/worker-aggregate-v1.json".into(),
            Some(text.into_bytes()),
        );
        tree
    }

    /// The Session that the legacy metadata points at.
    fn session_of(&self, worker: u64) -> String {
        let path = format!("legacy-metadata/worker-runtime-{worker}/metadata.json");
        let bytes = std::fs::read(self.home().join(path)).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        document["active"]["session_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

fn same(name: &str, now: &Files, expected: &Files) {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes
            .as_ref()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    for (path, bytes) in expected {
        let there = now.get(path);
        assert_eq!(
            there.map(text),
            Some(text(bytes)),
            "{name}: {}",
            path.display()
        );
        assert_eq!(there, Some(bytes), "{name}: {}", path.display());
    }
    let more: Vec<_> = now.keys().filter(|p| !expected.contains_key(*p)).collect();
    assert!(more.is_empty(), "{name}: {more:?}");
}

#[test]
fn the_reference_corpus_case_by_case() {
    let Some(corpus) = corpus() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&corpus)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 108, "cases of the corpus");
    for ours in BETTER {
        assert!(names.iter().any(|name| name == ours.name), "{}", ours.name);
    }
    assert_eq!(BETTER.len(), 36, "the cases that are listed as better");
    for name in names {
        Case::copy(&corpus.join(&name), name).check();
    }
}

/// `--fail-fast` is the old way: what comes after the first trouble is not touched, and a Session
/// that is shared stops it before anything is moved.
#[test]
fn c25_fail_fast_stops_as_the_reference_does() {
    let Some(corpus) = corpus() else { return };
    for name in [
        "good-then-bad-worker",
        "numeric-order-of-workers",
        "shared-session-two-catalog-workers",
        "shared-session-catalog-and-orphan",
        "target-metadata-collision",
    ] {
        let case = Case::copy(&corpus.join(name), name.to_owned());
        let out = case.migrate(&["--fail-fast"]);
        assert_eq!(out.code, Some(1), "{name}: {out}");
        let after = case.env.path("after");
        same(name, &case.store(), &files(&after.join("runtime"), &after));
    }
}
