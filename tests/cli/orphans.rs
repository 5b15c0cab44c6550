//! `wagg orphans`: C26, C30, C31, and that it changes nothing.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::support::store::{edit, id};
use crate::support::{Legacy, Log, Output, TestEnv, TestStore, damage, schema, tree};

/// A store and legacy roots in one folder.
struct Place {
    env: TestEnv,
    store: TestStore,
    legacy: Legacy,
}

impl Place {
    fn new() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        let legacy = Legacy::new(env.path("legacy"));
        Self { env, store, legacy }
    }

    /// Runs it over store and roots; nothing may change.
    fn run(&self, more: &[&str]) -> Output {
        let roots = [
            "--sessions",
            "legacy/sessions",
            "--metadata",
            "legacy/workers",
        ];
        self.within(&[&roots, more].concat())
    }

    /// Runs it over the store alone, or with the flags given.
    fn within(&self, more: &[&str]) -> Output {
        let mut args: Vec<OsString> = vec!["--store".into(), "store".into(), "orphans".into()];
        args.extend(more.iter().map(Into::into));
        let dir = self.env.dir();
        tree::unchanged(&[&dir], "orphans", || self.env.wagg(args))
    }

    fn findings(&self, status: i32) -> Findings {
        Findings::of(self.run(&["--format", "json"]), status)
    }

    fn in_store(&self, status: i32) -> Findings {
        Findings::of(self.within(&["--format", "json"]), status)
    }
}

/// The findings of one answer.
struct Findings(Vec<Value>);

impl Findings {
    #[track_caller]
    fn of(out: Output, status: i32) -> Self {
        let out = out.status(status);
        let document = out.json();
        schema::check("orphans", &document);
        for word in ["dispos", "delete", "garbage", "safe to", "can be removed"] {
            assert!(!out.stdout().contains(word), "{word}: {out}");
        }
        Self(document["findings"].as_array().unwrap().clone())
    }

    /// Code and path of each, in order.
    fn places(&self) -> Vec<(&str, &str)> {
        let text = |f: &'_ Value, key: &str| f[key].as_str().unwrap().to_owned().leak() as &str;
        self.0
            .iter()
            .map(|f| (text(f, "code"), text(f, "path")))
            .collect()
    }

    #[track_caller]
    fn one(&self, code: &str) -> &Value {
        let all: Vec<_> = self.0.iter().filter(|f| f["code"] == code).collect();
        assert_eq!(all.len(), 1, "{code} in {:#?}", self.0);
        all[0]
    }
}

#[track_caller]
fn says(finding: &Value, phrases: &[&str]) {
    let message = finding["message"].as_str().unwrap();
    for phrase in phrases {
        assert!(message.contains(phrase), "{phrase:?} in {message:?}");
    }
}

#[test]
fn a_store_in_order_has_no_findings() {
    let place = Place::new();
    place.store.worker(1).usual(1);
    place.store.worker(2);
    place.legacy.usual(2);
    let out = place.within(&[]).status(0);
    assert_eq!(out.stdout(), "");
    assert!(out.stderr.contains("no findings"), "{out}");
    assert!(place.findings(0).0.is_empty());
    // a Segment in a Worker's Session is no orphan, whoever points at it
    place
        .store
        .worker_folder(1)
        .segment(0x12, &Log::compacted(1, 0x11, 2).turn("after the summary"));
    assert!(place.in_store(0).0.is_empty());
}

/// C26: no catalog-backed owner is an orphan, left where it is; it fails nothing.
#[test]
fn c26_orphans_are_listed_and_fail_nothing() {
    let place = Place::new();
    place.store.worker(1);
    place.store.worker(5);
    place
        .legacy
        .usual(1)
        .session(9)
        .metadata("worker-runtime-3", None)
        .metadata("worker-runtime-99", Some((8, Some(0x81))))
        .session(8)
        .metadata("old agent", Some((7, None)));
    let found = place.findings(0);
    let session = |n| format!("legacy/sessions/{}", id(n));
    assert_eq!(
        found.places(),
        [
            ("orphan_session", session(8).as_str()),
            ("orphan_session", session(9).as_str()),
            ("orphan_worker_metadata", "legacy/workers/old agent"),
            ("orphan_worker_metadata", "legacy/workers/worker-runtime-3"),
            ("orphan_worker_metadata", "legacy/workers/worker-runtime-99"),
        ]
    );
    let [eight, nine, old, three, ninety_nine] = &found.0[..] else {
        panic!()
    };
    says(
        eight,
        &[
            "no Worker of the catalog points at it",
            "legacy/workers/worker-runtime-99/metadata.json",
            "1 Segment",
            "15 records from 2023-11-14T22:13:20Z to 2023-11-14T22:13:20Z",
        ],
    );
    assert_eq!(eight["owners"][0]["worker_id"], "99");
    assert_eq!(eight["owners"][0]["standing"], "unknown");
    assert_eq!(eight["history"]["records"], 15);
    says(nine, &["no metadata points at it"]);
    assert!(
        nine["hint"]
            .as_str()
            .unwrap()
            .starts_with("wagg verify --file legacy/sessions/")
    );
    says(
        old,
        &[
            "no Worker of the catalog has that name",
            "not in the Session root",
        ],
    );
    says(
        three,
        &[
            "the sequence of the store is past it (6)",
            "it points at no Session",
        ],
    );
    says(
        ninety_nine,
        &["the store gives out 6 next", "which is in the Session root"],
    );
}

/// C26: shared between catalog Workers, or with metadata that nobody owns.
#[test]
fn c26_shared_references_name_all_owners() {
    let place = Place::new();
    place.store.worker(1);
    place.store.worker(2);
    place.store.worker(3);
    place
        .legacy
        .usual(1)
        .usual(3)
        .metadata("worker-runtime-2", Some((1, Some(0x11))))
        .metadata("worker-runtime-8", Some((3, Some(0x31))));
    let found = place.findings(1);
    let session = |n| format!("legacy/sessions/{}", id(n));
    assert_eq!(
        found.places(),
        [
            ("shared_session_reference", session(1).as_str()),
            ("shared_session_reference", session(3).as_str()),
            ("orphan_worker_metadata", "legacy/workers/worker-runtime-8"),
        ]
    );
    let owners = |index: usize| -> Vec<(&str, &str)> {
        let owners = found.0[index]["owners"].as_array().unwrap();
        owners
            .iter()
            .map(|o| {
                (
                    o["worker_id"].as_str().unwrap(),
                    o["standing"].as_str().unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(owners(0), [("1", "known"), ("2", "known")]);
    assert_eq!(owners(1), [("3", "known"), ("8", "unknown")]);
    says(
        &found.0[0],
        &[
            &id(1),
            "Worker 1 (legacy/workers/worker-runtime-1/metadata.json)",
            "Worker 2 (legacy/workers/worker-runtime-2/metadata.json)",
            "it goes to none of them",
        ],
    );
    let text = place.run(&["--format", "table"]).status(1);
    assert!(
        text.stdout()
            .starts_with("Claimed by more than one owner (2)\n"),
        "{text}"
    );
    assert!(
        text.stderr
            .contains("hint: wagg explain shared_session_reference")
    );
}

/// C26: two of nobody share a Session; it is an orphan, and shared.
#[test]
fn c26_two_orphans_share_a_session() {
    let place = Place::new();
    place.store.worker(1);
    place
        .legacy
        .usual(1)
        .session(9)
        .metadata("a", Some((9, Some(0x91))))
        .metadata("b", Some((9, Some(0x91))));
    let found = place.findings(1);
    let codes: Vec<_> = found.places().into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        [
            "shared_session_reference",
            "orphan_session",
            "orphan_worker_metadata",
            "orphan_worker_metadata"
        ]
    );
}

/// C26: what a Worker of the store already has counts as a claim, but never against itself.
#[test]
fn c26_the_store_counts_as_an_owner() {
    let place = Place::new();
    place.store.worker(1).usual(1);
    place.store.worker(2);
    place.legacy.usual(1);
    assert!(
        place.findings(0).0.is_empty(),
        "migrated, the source is still there"
    );
    place
        .legacy
        .metadata("worker-runtime-2", Some((1, Some(0x11))));
    let found = place.findings(1);
    let shared = found.one("shared_session_reference");
    says(
        shared,
        &[
            "workers/1/metadata.json",
            "workers/1/session/session.json",
            "legacy/workers/worker-runtime-1/metadata.json",
            "legacy/workers/worker-runtime-2/metadata.json",
        ],
    );
}

#[test]
fn what_is_pointed_at_and_not_there() {
    let place = Place::new();
    for n in 1..=4 {
        place.store.worker(n);
    }
    place.store.worker_folder(3).usual(3); // moved in already, its source is gone
    place
        .legacy
        .metadata("worker-runtime-1", Some((1, Some(0x11))))
        .metadata("worker-runtime-2", Some((2, None)))
        .metadata("worker-runtime-3", Some((3, Some(0x31))))
        .metadata("worker-runtime-4", Some((4, Some(0x41))));
    // another spelling of the folder's name is no folder of that Session
    let alias = id(4).replace('-', "");
    std::fs::create_dir(place.legacy.sessions().join(&alias)).unwrap();
    let found = place.findings(1);
    assert_eq!(
        found.places(),
        [
            (
                "orphan_session",
                format!("legacy/sessions/{alias}").as_str()
            ),
            (
                "missing_referenced_session",
                "legacy/workers/worker-runtime-1/metadata.json"
            ),
            (
                "active_pending",
                "legacy/workers/worker-runtime-2/metadata.json"
            ),
            (
                "missing_referenced_session",
                "legacy/workers/worker-runtime-4/metadata.json"
            ),
        ]
    );
    assert_eq!(found.0[1]["worker_id"], "1");
    says(&found.0[0], &["Worker 4", "in a way that no reader takes"]);
    says(&found.0[1], &[&id(1), &id(0x11), "no folder of that name"]);
    says(&found.0[2], &["reserved and was never written"]);
    says(&found.0[3], &[&alias, "spells the same id in another way"]);
    // a file in the folder's place
    std::fs::write(place.legacy.sessions().join(id(1)), b"").unwrap();
    let found = place.findings(1);
    says(
        found
            .0
            .iter()
            .find(|f| f["code"] == "missing_referenced_session")
            .unwrap(),
        &["a file stands where its folder should be"],
    );
}

/// What does not read is a finding with its place, of whomever it is, and stops nothing.
#[test]
fn metadata_that_does_not_read_stops_nothing() {
    let place = Place::new();
    place.store.worker(1);
    place.store.worker(2);
    place
        .legacy
        .put_metadata("worker-runtime-1", "{\n  \"worker_name\": \"worker")
        .put_metadata("stranger", "")
        .metadata("worker-runtime-9", None)
        .session(1)
        .usual(2);
    let found = place.findings(1);
    assert_eq!(
        found.places(),
        [
            (
                "orphan_session",
                format!("legacy/sessions/{}", id(1)).as_str()
            ),
            ("orphan_worker_metadata", "legacy/workers/stranger"),
            ("empty_document", "legacy/workers/stranger/metadata.json"),
            ("orphan_worker_metadata", "legacy/workers/worker-runtime-9"),
            (
                "corrupt_document",
                "legacy/workers/worker-runtime-1/metadata.json"
            ),
        ]
    );
    says(
        &found.0[0],
        &[
            "no metadata that can be read points at it; what stranger, worker-runtime-1 points at can not be told",
        ],
    );
    assert_eq!(found.0[4]["line"], 2);
    says(
        &found.0[4],
        &["which Session worker-runtime-1 points at can not be told"],
    );
    says(&found.0[1], &["what it points at can not be told"]);
}

/// A `worker.json` that does not read is that Worker's trouble; its sources are no orphans.
#[test]
fn sources_of_a_worker_in_doubt_are_no_orphans() {
    type Damage = fn(&Place);
    let cases: [(&str, Damage); 6] = [
        ("corrupt_document", |p| {
            std::fs::write(p.store.path("workers/1/worker.json"), "{").unwrap();
        }),
        ("empty_document", |p| {
            damage::empty(&p.store.path("workers/1/worker.json"));
        }),
        ("missing_worker_document", |p| {
            damage::remove(&p.store.path("workers/1/worker.json"));
        }),
        ("unsupported_schema_version", |p| {
            crate::support::store::edit(p.store.path("workers/1/worker.json"), |w| {
                w["schema_version"] = 2.into();
            });
        }),
        ("worker_id_mismatch", |p| {
            crate::support::store::edit(p.store.path("workers/1/worker.json"), |w| {
                w["worker_ref"]["worker_id"] = 7.into();
            });
        }),
        // the folder of another number says that it is Worker 1
        ("worker_id_mismatch", |p| {
            std::fs::rename(p.store.path("workers/1"), p.store.path("workers/7")).unwrap();
        }),
    ];
    for (code, damage) in cases {
        let place = Place::new();
        place.store.worker(1);
        place.legacy.usual(1);
        damage(&place);
        let found = place.findings(1);
        assert_eq!(found.places().len(), 1, "{:?}", found.places());
        assert_eq!(found.places()[0].0, code);
    }
}

/// C31: what is no file or folder is named and not followed, and nothing hangs on it.
#[test]
fn c31_links_and_special_files_are_named() {
    let place = Place::new();
    for n in 1..=3 {
        place.store.worker(n);
        place.legacy.usual(n);
    }
    let sessions = place.legacy.sessions();
    let workers = place.legacy.workers();
    place.env.write("outside/metadata.json", "{}");
    damage::symlink(&sessions.join(id(1)), place.env.path("outside"));
    damage::symlink(&workers.join("worker-runtime-4"), place.env.path("outside"));
    damage::fifo(&workers.join("worker-runtime-2/metadata.json"));
    damage::symlink(
        &workers.join("worker-runtime-3/metadata.json"),
        "../worker-runtime-1/metadata.json",
    );
    let found = place.findings(1);
    let session = |n| format!("legacy/sessions/{}", id(n));
    assert_eq!(
        found.places(),
        [
            ("symbolic_link", session(1).as_str()),
            ("orphan_session", session(2).as_str()),
            ("orphan_session", session(3).as_str()),
            ("symbolic_link", "legacy/workers/worker-runtime-4"),
            (
                "not_a_regular_file",
                "legacy/workers/worker-runtime-2/metadata.json"
            ),
            (
                "symbolic_link",
                "legacy/workers/worker-runtime-3/metadata.json"
            ),
        ]
    );
    says(&found.0[0], &["Worker 1", "not followed"]);
}

/// C30: children and peers are hints; a name that leads out of the store is never a path.
#[test]
fn c30_children_and_peers_that_are_not_here() {
    let place = Place::new();
    place.store.worker(1).usual(1).edit_metadata(|metadata| {
        let child = |name: &str| {
            json!({
                "worker_name": name, "socket_path": "/run/demo/x.sock",
                "scope_delegated": [], "callback_address": "/run/demo/y.sock"
            })
        };
        metadata["spawned_children"] = json!([
            child("worker-runtime-2"),
            child("worker-runtime-66"),
            child("../../outside")
        ]);
        metadata["peers"] = json!([
            { "worker_name": "demo 2" },
            { "worker_name": "somewhere else" }
        ]);
    });
    place.store.worker(2).usual(2);
    let found = place.in_store(1);
    let codes: Vec<_> = found.places().into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["unsafe_name", "child_missing", "peer_missing"]);
    says(found.one("child_missing"), &["worker-runtime-66"]);
    says(
        found.one("peer_missing"),
        &["somewhere else", "may live elsewhere"],
    );
}

/// Both tell the same of each folder that stands in `workers/`, and count the same Workers.
#[test]
fn a_folder_of_workers_is_to_orphans_what_it_is_to_verify() {
    type Make = fn(&Place);
    let folders: [(&str, Make, Option<&str>, u64); 7] = [
        ("an empty folder", |p| make(p, "workers/zz"), None, 1),
        ("another spelling", |p| make(p, "workers/02"), None, 1),
        (
            "a file in a folder of no id",
            |p| {
                make(p, "workers/zz");
                std::fs::write(p.store.path("workers/zz/notes"), "x").unwrap();
            },
            None,
            1,
        ),
        (
            "a number and nothing in it",
            |p| {
                make(p, "workers/7");
                edit(p.store.path("runtime.json"), |r| {
                    r["next_worker_sequence"] = 9.into()
                });
            },
            Some("missing_worker_document"),
            2,
        ),
        (
            "a history in a folder of no id",
            |p| {
                p.store.worker_folder(9).usual_without_catalog(9);
                std::fs::rename(p.store.path("workers/9"), p.store.path("workers/old")).unwrap();
            },
            Some("missing_worker_document"),
            2,
        ),
        (
            "a Worker in a folder of no id",
            |p| {
                p.store.worker(3).usual(3);
                std::fs::rename(p.store.path("workers/3"), p.store.path("workers/old")).unwrap();
            },
            Some("worker_id_mismatch"),
            2,
        ),
        (
            "all gone",
            |p| {
                std::fs::remove_dir_all(p.store.path("workers/1")).unwrap();
                edit(p.store.path("runtime.json"), |r| {
                    r["next_worker_sequence"] = 9.into()
                });
            },
            Some("missing_workers"),
            0,
        ),
    ];
    for (what, prepare, code, workers) in folders {
        let place = Place::new();
        place.store.worker(1).usual(1);
        prepare(&place);
        let codes = |command: &str| {
            let out = place
                .env
                .wagg(["--store", "store", "--format", "json", command]);
            let answer = out.json();
            assert_eq!(answer["summary"]["workers"], workers, "{command}, {what}");
            let mut codes: Vec<String> = answer["findings"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|f| f["severity"] != "info")
                .map(|f| f["code"].as_str().unwrap().to_owned())
                // what only verify looks at
                .filter(|code| code != "bad_file_name" && code != "missing_metadata")
                .collect();
            codes.dedup();
            codes
        };
        let expected: Vec<String> = code.into_iter().map(str::to_owned).collect();
        assert_eq!(codes("verify"), expected, "verify, {what}");
        assert_eq!(codes("orphans"), expected, "orphans, {what}");
    }
}

fn make(place: &Place, path: &str) {
    std::fs::create_dir(place.store.path(path)).unwrap();
}

#[test]
fn what_nobody_owns_inside_the_store() {
    let place = Place::new();
    let one = place.store.worker(1);
    one.usual(1).trace(0x15);
    one.run_folder(4);
    let two = place.store.worker(2);
    two.usual(2).session(1);
    let lost = place.store.worker_folder(9);
    lost.usual_without_catalog(9);
    let found = place.in_store(1);
    let trace = format!("workers/1/session/segments/{}.trace.jsonl", id(0x15));
    assert_eq!(
        found.places(),
        [
            ("session_shared", "workers/1/metadata.json"),
            ("generation_behind", "workers/1/runs/4"),
            ("trace_without_segment", trace.as_str()),
            ("missing_worker_document", "workers/9"),
        ]
    );
    says(
        found.one("session_shared"),
        &[
            "workers/1/session/session.json",
            "workers/2/session/session.json",
        ],
    );
    says(
        found.one("generation_behind"),
        &["runs/4", "run_generation 1", "takes 5"],
    );
    says(found.one("missing_worker_document"), &["15 records"]);
}

#[test]
fn leftovers_with_size_age_and_what_stands_beside_them() {
    let place = Place::new();
    let worker = place.store.worker(1);
    worker.usual(1);
    let tmp = |name: &str, bytes: &str| {
        let path = place.env.write(format!("store/{name}"), bytes);
        damage::mtime(&path, 1_700_000_000);
    };
    tmp(".runtime.json.tmp-4242-1", "");
    tmp("workers/1/.metadata.json.tmp-4242-7", "{\"worker_na");
    let segments = "workers/1/session/segments";
    let beside = format!("{segments}/.{}.jsonl.tmp-4242-{}", id(0x11), id(0x98));
    tmp(&beside, "{}");
    let alone = format!("{segments}/.{}.jsonl.tmp-4242-{}", id(0x12), id(0x97));
    tmp(&alone, "{}");
    let staged = format!(
        "workers/1/.session.migrating-4242-7/segments/{}.jsonl",
        id(0x11)
    );
    tmp(&staged, "{\"kind\"");
    tmp(".wagg/staging/7/worker.json", "{}");
    tmp("workers/1/.not-a-leftover", "");
    let found = place.in_store(0);
    let mut places = found.places();
    places.sort_unstable();
    assert_eq!(
        places,
        [
            ("leftover_staging", ".wagg/staging/7"),
            ("leftover_staging", "workers/1/.session.migrating-4242-7"),
            ("leftover_temporary", ".runtime.json.tmp-4242-1"),
            ("leftover_temporary", "workers/1/.metadata.json.tmp-4242-7"),
            ("leftover_temporary", beside.as_str()),
            ("leftover_temporary", alone.as_str()),
        ]
    );
    let at = |path: &str| found.0.iter().find(|f| f["path"] == path).unwrap();
    says(
        at("workers/1/.metadata.json.tmp-4242-7"),
        &[
            "11 bytes of process 4242",
            "2023-11-14T22:13:20Z (",
            "days ago)",
            "metadata.json beside it is whole",
        ],
    );
    says(at(&beside), &["beside it is whole: 15 records"]);
    says(at(&alone), &["there is no"]);
    assert!(at(&alone)["hint"].as_str().unwrap().starts_with("keep it"));
    assert_eq!(at(&beside)["leftover"]["target_state"], "whole");
    says(
        at("workers/1/.session.migrating-4242-7"),
        &["1 file, 7 bytes", "session/session.json beside it is whole"],
    );
    // what a person sees without -v
    let out = place.within(&["--format", "table"]).status(0);
    assert!(
        out.stdout()
            .starts_with("Left behind by killed processes (6)\n"),
        "{out}"
    );
    // the real document is damaged: the leftover may be all there is
    damage::empty(&worker.path("metadata.json"));
    let found = place.in_store(1);
    let left = found
        .0
        .iter()
        .find(|f| f["path"] == "workers/1/.metadata.json.tmp-4242-7")
        .unwrap();
    says(left, &["does not read"]);
    assert!(left["hint"].as_str().unwrap().starts_with("keep it"));
}

/// Stores of version 3 are read alike.
#[test]
fn version_3_is_read_too() {
    let env = TestEnv::new();
    let store = TestStore::v3(env.path("store"));
    let worker = store.worker(1);
    worker.usual(1);
    worker.run_folder(3);
    let out = env.wagg(["--store", "store", "orphans", "--format", "json"]);
    let found = Findings::of(out, 0);
    assert_eq!(found.one("generation_behind")["worker_id"], worker.id());
    assert_eq!(found.0.len(), 1);
}

/// C21: a root that is not there counts as empty, said aloud.
#[test]
fn c21_absent_roots_are_said_aloud() {
    let place = Place::new();
    place.store.worker(1);
    damage::remove(&place.legacy.sessions());
    place
        .legacy
        .metadata("worker-runtime-1", Some((1, Some(0x11))));
    let out = place.run(&["--format", "json"]).status(1);
    assert!(
        out.stderr.contains(
            "the sessions root legacy/sessions is not there: it counts as empty, and not all"
        ),
        "{out}"
    );
    let summary = &out.json()["summary"];
    assert_eq!(summary["roots"][0]["present"], false);
    says(
        &out.json()["findings"][0],
        &["the Session root is not there"],
    );
    // a file is no root
    std::fs::write(place.legacy.sessions(), b"").unwrap();
    let found = place.findings(1);
    assert_eq!(found.places(), [("not_a_regular_file", "legacy/sessions")]);
}

#[test]
fn formats_and_flags() {
    let place = Place::new();
    place.store.worker(1).usual(1).trace(0x15);
    place.legacy.session(9);
    let path = format!("legacy/sessions/{}", id(9));
    let out = place.run(&[]).status(0);
    let line: Vec<_> = out.stdout().trim_end().split('\t').collect();
    assert_eq!(line[..4], ["warning", "orphan_session", "-", &path]);
    assert_eq!(line.len(), 8);
    assert!(
        out.stderr
            .contains("1 warning, 1 remark (1 of them with -v)"),
        "{out}"
    );
    assert_eq!(place.run(&["-v"]).status(0).stdout().lines().count(), 2);
    assert_eq!(
        place.run(&["--ids"]).status(0).stdout(),
        format!("{path}\n")
    );
    assert_eq!(place.run(&["-0"]).status(0).stdout(), format!("{path}\0"));
    let lines = place.run(&["--format", "ndjson"]).status(0).lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["type"], "finding");
    assert_eq!(lines[2]["type"], "summary");
    assert_eq!(lines[2]["findings"], 2);
    assert_eq!(lines[2]["warnings"], 1);
    // both roots or none
    let _ = place.within(&["--sessions", "legacy/sessions"]).status(2);
    let again = place.run(&["--format", "json"]).status(0);
    let first = place.run(&["--format", "json"]).status(0);
    assert_eq!(first.stdout(), again.stdout());
    let none = place.env.wagg(["orphans"]).status(10);
    assert!(none.stderr.contains("store_not_found"), "{none}");
}

/// Many sources on disk; that the work is linear is tested where it is done.
#[test]
fn many_sources_are_all_told() {
    const SOURCES: u64 = 2_000;
    let place = Place::new();
    for n in 1..=SOURCES {
        // every tenth Session is shared with the one before it
        let session = if n % 10 == 0 { n - 1 } else { n };
        let name = format!("worker-runtime-{n}");
        place.legacy.metadata(&name, Some((session, None)));
        std::fs::create_dir(place.legacy.sessions().join(id(n))).unwrap();
    }
    let out = place.run(&["--format", "json"]).status(1);
    let summary = &out.json()["summary"];
    assert_eq!(summary["errors"], SOURCES / 10);
    assert_eq!(summary["warnings"], 2 * SOURCES);
}
