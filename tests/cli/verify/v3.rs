//! Stores of version 3: UUIDs for Workers, runs of other names, archives and receipts of retention.

use std::path::PathBuf;

use serde_json::json;
use wagg::diag::{Code, Severity};

use super::case::{Kit, Place, SEGMENT, findings, hold_in};
use crate::support::store::{document, edit, id, put, worker_uuid};
use crate::support::{Log, damage};

type Row = (Code, &'static str, fn(&mut Kit) -> Place);

fn archive(kit: &Kit, name: &str) -> PathBuf {
    let archive = kit.store.path(format!("archives/workers/{name}"));
    put(
        archive.join("manifest.json"),
        document(&json!({ "schema_version": 1 })),
    );
    let session = json!({ "schema_version": 1, "session_id": id(5) });
    put(archive.join("session/session.json"), document(&session));
    let segments = archive.join("session/segments");
    put(
        segments.join(format!("{}.jsonl", id(0x51))),
        Log::start(5).turns(1).bytes(),
    );
    archive
}

fn receipt(kit: &Kit, name: &str) -> PathBuf {
    let receipt = kit.store.path(format!("retention/operations/{name}.json"));
    let value = json!({ "schema_version": 1, "request": {}, "result": null });
    put(&receipt, document(&value));
    receipt
}

const ROWS: &[Row] = &[
    (Code::UnknownKind, "a warning here", |kit| {
        damage::replace_line(&kit.segment(), 3, "{\"kind\":\"turn_started\",\"ts\":1}");
        let mut place = kit.line(kit.segment(), 3).but(Severity::Warning);
        place.byte = place.byte.map(|b| b + 8);
        place.says("\"turn_started\"")
    }),
    (Code::WorkerIdMismatch, "worker_ref says another", |kit| {
        edit(kit.worker.path("worker.json"), |w| {
            w["worker_ref"]["worker_id"] = worker_uuid(2).into();
        });
        kit.whole(kit.worker.path("worker.json"))
            .says(worker_uuid(2))
    }),
    (Code::NoncanonicalId, "a Worker in upper case", |kit| {
        let upper = format!("{{{}}}", worker_uuid(1));
        edit(kit.worker.path("worker.json"), |w| {
            w["worker_id"] = upper.clone().into()
        });
        kit.whole(kit.worker.path("worker.json")).says(upper)
    }),
    (
        Code::CorruptDocument,
        "an id that is not of version 7",
        |kit| {
            let four = "01890000-0000-4000-8000-000000000001";
            edit(kit.worker.path("worker.json"), |w| {
                w["worker_id"] = four.into()
            });
            kit.whole(kit.worker.path("worker.json"))
                .says("not of version 7")
        },
    ),
    (
        Code::BadFileName,
        "a Worker's folder without hyphens",
        |kit| {
            let name = worker_uuid(2).replace('-', "");
            std::fs::create_dir(kit.store.path(format!("workers/{name}"))).unwrap();
            kit.also = vec![Code::UnknownFolder];
            kit.whole(kit.store.path(format!("workers/{name}")))
                .says(worker_uuid(2))
        },
    ),
    (
        Code::UnsupportedSchemaVersion,
        "a receipt of a later version",
        |kit| {
            let path = receipt(kit, "op-1");
            edit(&path, |r| r["schema_version"] = 2.into());
            kit.whole(path).says("schema_version 2")
        },
    ),
    (
        Code::CorruptDocument,
        "a receipt without its request",
        |kit| {
            let path = receipt(kit, "op-1");
            put(&path, b"{\"schema_version\": 1, \"result\": null}\n");
            kit.at(path, 1, 0).says("`request`")
        },
    ),
    (Code::BadFileName, "a receipt of no id", |kit| {
        let path = receipt(kit, "op 1");
        kit.whole(path).says("1 to 160")
    }),
    (Code::UnknownFile, "no receipt", |kit| {
        receipt(kit, "op-1");
        let path = kit.store.path("retention/operations/notes.txt");
        put(&path, b"");
        kit.whole(path)
    }),
    (
        Code::CorruptDocument,
        "an archive without a manifest",
        |kit| {
            let path = archive(kit, "a-1").join("manifest.json");
            damage::remove(&path);
            kit.whole(path).says("not there")
        },
    ),
    (Code::CorruptRecord, "an archived Segment", |kit| {
        let path = archive(kit, "a-1").join(format!("session/segments/{}.jsonl", id(0x51)));
        damage::replace_line(&path, 3, "x");
        kit.line(&path, 3)
    }),
    (Code::SessionMismatch, "an archived Segment", |kit| {
        let path = archive(kit, "a-1").join(format!("session/segments/{}.jsonl", id(0x52)));
        put(&path, Log::start(6).turns(1).bytes());
        kit.at(path, 1, 0).says(id(6)).says(id(5))
    }),
    (Code::LineageMissingSource, "an archived Segment", |kit| {
        let path = archive(kit, "a-1").join(format!("session/segments/{}.jsonl", id(0x52)));
        put(&path, Log::forked(5, 0x77, 1).turns(1).bytes());
        kit.at(path, 1, 0).says(id(0x77)).says("this archive")
    }),
    (Code::MissingSessionDocument, "an archived Session", |kit| {
        let path = archive(kit, "a-1").join("session/session.json");
        damage::remove(&path);
        kit.whole(path)
    }),
    (Code::SymbolicLink, "an archived Segment", |kit| {
        let path = archive(kit, "a-1").join(format!("session/segments/{}.jsonl", id(0x52)));
        damage::symlink(&path, "/etc/passwd");
        kit.whole(path).says("/etc/passwd")
    }),
    (Code::SymbolicLink, "an archive", |kit| {
        archive(kit, "a-1");
        let path = kit.store.path("archives/workers/a-2");
        damage::symlink(&path, "a-1");
        kit.whole(path).says("a-1")
    }),
    (Code::SymbolicLink, "all archives", |kit| {
        let path = kit.store.path("archives");
        damage::symlink(&path, "/tmp");
        kit.whole(path).says("/tmp")
    }),
    (Code::NotARegularFile, "segments/ of an archive", |kit| {
        let path = archive(kit, "a-1").join("session/segments");
        damage::remove(&path);
        damage::fifo(&path);
        kit.whole(path).says("a named pipe")
    }),
    (Code::UnknownFolder, "in archives", |kit| {
        archive(kit, "a-1");
        let path = kit.store.path("archives/more");
        std::fs::create_dir(&path).unwrap();
        kit.whole(path)
    }),
    (Code::LeftoverTemporary, "in an archive", |kit| {
        let path = archive(kit, "a-1").join(".manifest.json.tmp-4242-1");
        put(&path, b"{");
        kit.whole(path).says("process 4242")
    }),
    (Code::UnknownFolder, "a run by another name", |kit| {
        let path = kit.worker.path(format!("runs/{}", id(0x99)));
        std::fs::create_dir(&path).unwrap();
        kit.whole(path).says("not named by a generation")
    }),
];

#[test]
fn each_gives_its_one_finding() {
    let failed: Vec<&str> = ROWS
        .iter()
        .filter(|(code, what, damage)| {
            let held = std::panic::catch_unwind(|| {
                let mut kit = Kit::v3();
                let place = damage(&mut kit);
                hold_in(&kit, *code, what, &place);
            });
            held.is_err()
        })
        .map(|(_, what, _)| *what)
        .collect();
    assert!(failed.is_empty(), "these rows do not hold: {failed:?}");
}

/// All that a store of version 3 may hold beside its Workers.
#[test]
fn a_whole_store_gives_no_finding() {
    let kit = Kit::v3();
    archive(&kit, "worker:1.archive_A-2");
    receipt(&kit, "retention-01890000-0000-7000-8000-000000000001");
    put(kit.store.path(".worker-retention.lock"), b"");
    put(
        kit.store.path("archives/diagnostics/op-1/manifest.json"),
        b"{}\n",
    );
    put(
        kit.store.path("archives/diagnostics/op-1/1/worker.out.log"),
        b"",
    );
    kit.worker.edit_metadata(|m| {
        m["peers"] = json!([{ "worker_name": format!("worker-runtime-{}", worker_uuid(1)) }]);
    });
    let out = kit.verify(&["--format", "json"]).status(0);
    assert!(findings(&out).is_empty(), "{out}");
    let summary = &out.json()["summary"];
    // the archived Session's Segment counts, its Worker is none of the catalog
    assert_eq!(summary["workers"], 1, "{out}");
    assert_eq!(summary["segments"], 2, "{out}");
}

/// The Worker id is a string in both versions, so that one script reads both.
#[test]
fn worker_ids_are_strings() {
    for (kit, worker) in [(Kit::v1(), "1".to_owned()), (Kit::v3(), worker_uuid(1))] {
        damage::torn_tail(&kit.segment());
        let out = kit.verify(&["--format", "json", &worker]).status(0);
        let found = findings(&out);
        assert_eq!(found[0]["worker_id"], worker.as_str(), "{out}");
        assert_eq!(found[0]["segment_id"], id(SEGMENT), "{out}");
    }
}

/// A catalog that says nothing: what its Workers are called tells the version.
#[test]
fn the_version_is_told_from_the_workers_if_the_catalog_is_gone() {
    let kit = Kit::v3();
    damage::remove(&kit.store.path("runtime.json"));
    let place = kit.whole(kit.store.path("runtime.json"));
    hold_in(&kit, Code::MissingCatalog, "version 3", &place);
}
