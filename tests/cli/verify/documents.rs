//! What can be wrong with documents, and between them.

use serde_json::json;
use wagg::diag::{Code, Severity};

use super::case::{Case, Kit, Place, SEGMENT, case, hold_all};
use crate::support::store::{document, edit, id, put};
use crate::support::{Log, damage};

/// Puts bytes in the place of a document.
fn bytes(kit: &Kit, name: &str, bytes: impl AsRef<[u8]>) -> Place {
    std::fs::write(kit.store.path(name), bytes).unwrap();
    kit.whole(kit.store.path(name))
}

/// Puts text in the place of another in a document; the fault is at `fault`.
fn text(kit: &Kit, name: &str, from: &str, to: &str, fault: &str) -> Place {
    let path = kit.store.path(name);
    let old = std::fs::read_to_string(&path).unwrap();
    let new = old.replacen(from, to, 1);
    assert_ne!(new, old);
    std::fs::write(&path, &new).unwrap();
    let byte = new.find(fault).unwrap();
    let line = 1 + new[..byte].matches('\n').count();
    kit.at(path, line as u64, byte as u64)
}

const RUNTIME: &str = "runtime.json";
const WORKER: &str = "workers/1/worker.json";
const METADATA: &str = "workers/1/metadata.json";
const SESSION: &str = "workers/1/session/session.json";
const MANIFEST: &str = "migrations/worker-aggregate-v1.json";

pub const CASES: &[Case] = &[
    case(Code::MissingSessionDocument, "Segments without it", |kit| {
        damage::remove(&kit.store.path(SESSION));
        kit.whole(kit.store.path(SESSION))
            .says("a Runtime refuses to read them")
            .says(format!(
                "all 15 records of 1 Segment beside it are whole and carry Session {}",
                id(1)
            ))
    }),
    case(Code::SessionShared, "a copied Session", |kit| {
        let two = kit.store.worker(2);
        two.usual(1).generation(1);
        kit.whole(kit.store.path(SESSION))
            .says(id(1))
            .says("workers/1 and workers/2")
    }),
    case(Code::SessionShared, "with Segments of its own", |kit| {
        let two = kit.store.worker(2);
        two.session(1)
            .segment(0x21, &Log::start(1).turns(1))
            .active(1, Some(0x21));
        kit.whole(kit.store.path(SESSION))
            .says("one history with two owners")
    }),
    case(
        Code::ActiveMissingSegment,
        "a Segment that is gone",
        |kit| {
            kit.worker.active(1, Some(0x19));
            kit.whole(kit.store.path(METADATA))
                .says(id(0x19))
                .says(format!("these can be restored: {}", id(SEGMENT)))
        },
    ),
    case(Code::ActiveMissingSegment, "no Session at all", |kit| {
        damage::remove(&kit.worker.path("session"));
        kit.whole(kit.store.path(METADATA))
            .says(id(SEGMENT))
            .says("no Segment here can be restored")
    }),
    case(Code::ActiveOtherSession, "another Session", |kit| {
        kit.worker.active(9, Some(SEGMENT));
        kit.whole(kit.store.path(METADATA))
            .says(id(9))
            .says(id(1))
            .says("one Session for life")
    }),
    case(Code::MissingWorkerDocument, "no worker.json", |kit| {
        damage::remove(&kit.store.path(WORKER));
        kit.whole(kit.store.path("workers/1"))
            .says("no Runtime loads this Worker")
    }),
    case(Code::WorkerIdMismatch, "worker_ref says another", |kit| {
        edit(kit.store.path(WORKER), |w| {
            w["worker_ref"]["worker_id"] = 2.into()
        });
        kit.whole(kit.store.path(WORKER))
            .says("worker_id is 1 and worker_ref says 2")
    }),
    case(Code::WorkerIdMismatch, "the folder says another", |kit| {
        std::fs::rename(kit.worker.path(""), kit.store.path("workers/7")).unwrap();
        edit(kit.store.path(RUNTIME), |r| {
            r["next_worker_sequence"] = 8.into()
        });
        kit.whole(kit.store.path("workers/7/worker.json"))
            .says("the folder is \"7\" and worker_id is 1")
            .says("can not be told from here")
    }),
    case(Code::DuplicateWorkerId, "a copied folder", |kit| {
        kit.store.worker(2);
        std::fs::copy(
            kit.store.path(WORKER),
            kit.store.path("workers/2/worker.json"),
        )
        .unwrap();
        // one of two folders with one id can not be named rightly; the copy has no run folder
        kit.also = vec![Code::WorkerIdMismatch, Code::MissingRunFolder];
        kit.whole(kit.store.path(WORKER))
            .says("workers/1 and workers/2")
            .says("neither is chosen")
    }),
    case(Code::WorkerNameMismatch, "another Worker's name", |kit| {
        kit.worker
            .edit_metadata(|m| m["worker_name"] = "worker-runtime-2".into());
        kit.whole(kit.store.path(METADATA))
            .says("\"worker-runtime-2\"")
            .says("\"worker-runtime-1\" was expected")
    }),
    case(Code::UnsafeName, "a path", |kit| {
        kit.worker
            .edit_metadata(|m| m["worker_name"] = "../../outside".into());
        kit.whole(kit.store.path(METADATA))
            .says("worker_name \"../../outside\"")
            .says("never used as a path")
    }),
    case(Code::UnsafeName, "a peer of no name", |kit| {
        kit.worker
            .edit_metadata(|m| m["peers"] = json!([{ "worker_name": "" }]));
        kit.whole(kit.store.path(METADATA)).says("peers \"\"")
    }),
    case(Code::UnsafeName, "a child that is two dots", |kit| {
        kit.worker.edit_metadata(|m| {
            m["reclaimed_children"] = json!([{ "worker_name": "..", "scope_delegated": [] }]);
        });
        kit.whole(kit.store.path(METADATA))
            .says("reclaimed_children \"..\"")
    }),
    case(Code::UnsupportedSchemaVersion, "of the catalog", |kit| {
        edit(kit.store.path(RUNTIME), |r| r["schema_version"] = 9.into());
        kit.whole(kit.store.path(RUNTIME)).says("schema_version 9")
    }),
    case(Code::UnsupportedSchemaVersion, "of a Worker", |kit| {
        edit(kit.store.path(WORKER), |r| r["schema_version"] = 9.into());
        kit.whole(kit.store.path(WORKER)).says("schema_version 9")
    }),
    case(Code::UnsupportedSchemaVersion, "of a Session", |kit| {
        edit(kit.store.path(SESSION), |r| r["schema_version"] = 2.into());
        kit.whole(kit.store.path(SESSION)).says("schema_version 2")
    }),
    case(Code::UnsupportedSchemaVersion, "of the manifest", |kit| {
        kit.store.manifest(true, &[]);
        edit(kit.store.path(MANIFEST), |r| r["schema_version"] = 2.into());
        kit.whole(kit.store.path(MANIFEST)).says("schema_version 2")
    }),
    case(Code::CorruptDocument, "half a catalog", |kit| {
        let old = std::fs::read(kit.store.path(RUNTIME)).unwrap();
        let mut place = bytes(kit, RUNTIME, &old[..60]);
        place.line = Some(1 + old[..60].iter().filter(|b| **b == b'\n').count() as u64);
        place.byte = Some(60);
        place
    }),
    case(Code::CorruptDocument, "a word for a number", |kit| {
        text(
            kit,
            RUNTIME,
            "\"next_worker_sequence\": 2",
            "\"next_worker_sequence\": \"two\"",
            "\"two\"",
        )
        .says("`next_worker_sequence`: not a whole number")
    }),
    case(Code::CorruptDocument, "a backend in memory", |kit| {
        edit(kit.store.path(RUNTIME), |r| r["backend"] = "memory".into());
        kit.whole(kit.store.path(RUNTIME)).says("\"memory\"")
    }),
    case(Code::CorruptDocument, "a Worker without a profile", |kit| {
        text(
            kit,
            WORKER,
            "\"profile\"",
            "\"profiel\"",
            "{\n    \"profiel\"",
        )
        .says("`profile`")
    }),
    case(Code::CorruptDocument, "a key twice", |kit| {
        let twice = "\"run_generation\": 1,\n  \"run_generation\": 1";
        let mut place = text(kit, WORKER, "\"run_generation\": 1", twice, twice);
        place.line = place.line.map(|l| l + 1);
        place.byte = place.byte.map(|b| b + 23);
        place.says("`run_generation` stands twice")
    }),
    case(Code::CorruptDocument, "an active id that is none", |kit| {
        text(kit, METADATA, &id(1), "the first", "\"the first\"").says("`session_id`: not a UUID")
    }),
    case(Code::CorruptDocument, "bytes behind a document", |kit| {
        damage::append(&kit.store.path(SESSION), b"{}");
        let len = std::fs::metadata(kit.store.path(SESSION)).unwrap().len();
        kit.at(kit.store.path(SESSION), 5, len - 2)
            .says("bytes behind the document")
    }),
    case(Code::CorruptDocument, "a Session of NUL bytes", |kit| {
        let mut place = bytes(kit, SESSION, [0; 90]).says("90 NUL bytes");
        (place.line, place.byte) = (Some(1), Some(0));
        place.says(format!("carry Session {}", id(1)))
    }),
    case(Code::CorruptDocument, "a byte order mark", |kit| {
        damage::byte_order_mark(&kit.store.path(METADATA));
        kit.at(kit.store.path(METADATA), 1, 0)
            .says("byte order mark")
    }),
    case(Code::CorruptDocument, "not UTF-8", |kit| {
        let mut place = bytes(kit, METADATA, b"{\n\"worker_name\": \"\xff\"}");
        (place.line, place.byte) = (Some(2), Some(18));
        place.says("not UTF-8")
    }),
    case(Code::CorruptDocument, "the manifest", |kit| {
        put(kit.store.path(MANIFEST), b"[]");
        kit.at(kit.store.path(MANIFEST), 1, 0)
    }),
    case(Code::EmptyDocument, "the catalog", |kit| {
        bytes(kit, RUNTIME, b"").says("0 bytes")
    }),
    case(Code::EmptyDocument, "a Worker", |kit| {
        bytes(kit, WORKER, b"").says("a Runtime passes over this Worker")
    }),
    case(Code::EmptyDocument, "metadata", |kit| {
        bytes(kit, METADATA, b"").says("0 bytes")
    }),
    case(Code::EmptyDocument, "a Session", |kit| {
        bytes(kit, SESSION, b"").says(format!(
            "all 15 records of 1 Segment beside it are whole and carry Session {}",
            id(1)
        ))
    }),
    case(Code::MissingCatalog, "no runtime.json", |kit| {
        damage::remove(&kit.store.path(RUNTIME));
        kit.whole(kit.store.path(RUNTIME))
            .says("no Runtime opens this store")
    }),
    case(Code::SequenceBehind, "a Worker above the sequence", |kit| {
        edit(kit.store.path(RUNTIME), |r| {
            r["next_worker_sequence"] = 1.into()
        });
        kit.whole(kit.store.path(RUNTIME))
            .says("next_worker_sequence is 1 and Worker 1 exists")
    }),
    case(Code::MissingWorkers, "an emptied workers/", |kit| {
        std::fs::remove_dir_all(kit.store.path("workers/1")).unwrap();
        edit(kit.store.path(RUNTIME), |r| {
            r["next_worker_sequence"] = 5.into()
        });
        kit.whole(kit.store.path(RUNTIME))
            .says("next_worker_sequence is 5, so 4 ids were given out")
    }),
    case(
        Code::MissingWorkers,
        "one id, which a killed creation costs",
        |kit| {
            std::fs::remove_dir_all(kit.store.path("workers/1")).unwrap();
            edit(kit.store.path(RUNTIME), |r| {
                r["next_worker_sequence"] = 2.into()
            });
            kit.whole(kit.store.path(RUNTIME))
                .but(Severity::Info)
                .says("1 id was given out")
        },
    ),
    case(Code::MissingMetadata, "no metadata.json", |kit| {
        damage::remove(&kit.store.path(METADATA));
        kit.whole(kit.store.path(METADATA))
            .says("no metadata.json")
            .says(format!("these can be restored: {}", id(SEGMENT)))
    }),
    case(Code::MissingMetadata, "no pointer in it", |kit| {
        kit.worker.edit_metadata(|m| {
            m.as_object_mut().unwrap().shift_remove("active");
        });
        kit.whole(kit.store.path(METADATA))
            .says("no active pointer in metadata.json")
    }),
    case(Code::MigrationIncomplete, "a manifest that is not", |kit| {
        kit.store.manifest(false, &[(1, Some(1), "migrated")]);
        kit.whole(kit.store.path(MANIFEST))
            .says("checkpoints for 1 Worker")
    }),
    case(Code::ScopeNotReclaimed, "on both lists", |kit| {
        kit.store.worker(2);
        kit.worker.edit_metadata(|m| {
            let scope = json!([{ "target": "/w", "permission": "write", "recursive": true }]);
            m["spawned_children"] = json!([{
                "worker_name": "worker-runtime-2",
                "socket_path": "/s",
                "scope_delegated": scope,
                "callback_address": "/c",
            }]);
            m["reclaimed_children"] =
                json!([{ "worker_name": "worker-runtime-2", "scope_delegated": scope }]);
        });
        kit.whole(kit.store.path(METADATA))
            .says("\"worker-runtime-2\"")
            .says("1 of its scope rules")
    }),
    case(Code::ActivePending, "reserved, nothing written", |kit| {
        damage::remove(&kit.worker.path("session"));
        kit.worker.active(1, None);
        kit.whole(kit.store.path(METADATA))
            .says(id(1))
            .says("is reserved")
    }),
    case(Code::NoncanonicalId, "in session.json", |kit| {
        let upper = format!("{{{}}}", id(1).to_uppercase());
        let value = json!({ "schema_version": 1, "session_id": upper });
        bytes(kit, SESSION, document(&value)).says(&upper)
    }),
    case(Code::NoncanonicalId, "in metadata.json", |kit| {
        let bare = id(SEGMENT).replace('-', "");
        kit.worker
            .edit_metadata(|m| m["active"]["segment_id"] = bare.clone().into());
        kit.whole(kit.store.path(METADATA)).says(&bare)
    }),
    case(Code::ChildMissing, "no Worker of this store", |kit| {
        kit.worker.edit_metadata(|m| {
            m["spawned_children"] = json!([{
                "worker_name": "worker-runtime-9",
                "socket_path": "/s",
                "scope_delegated": [{ "target": "/w", "permission": "read", "recursive": false }],
                "callback_address": "/c",
            }]);
        });
        kit.whole(kit.store.path(METADATA))
            .says("\"worker-runtime-9\"")
            .says("delegated to it: 1 scope rule")
    }),
    case(Code::PeerMissing, "no Worker of this store", |kit| {
        kit.worker
            .edit_metadata(|m| m["peers"] = json!([{ "worker_name": "reviewer" }]));
        kit.whole(kit.store.path(METADATA))
            .says("\"reviewer\"")
            .says("grants nothing")
    }),
];

#[test]
fn each_gives_its_one_finding() {
    hold_all(CASES);
}

/// What is no finding: Workers that are young, unknown fields, a Session that opening made.
#[test]
fn young_workers_give_no_finding() {
    let kit = Kit::v1();
    kit.store.worker(2);
    let three = kit.store.worker(3);
    three.metadata(&json!({ "worker_name": "worker-runtime-3" }));
    let four = kit.store.worker(4);
    std::fs::create_dir_all(four.path("session/segments")).unwrap();
    let five = kit.store.worker(5);
    five.metadata(&json!({ "worker_name": "worker-runtime-5", "active": null, "x": { "y": 1 } }));
    for (name, worker) in [("worker-runtime-2", "peers"), ("worker-runtime-1", "peers")] {
        three.edit_metadata(|m| m[worker] = json!([{ "worker_name": name }]));
    }
    let out = kit.verify(&["--format", "json"]).status(0);
    assert!(super::case::findings(&out).is_empty(), "{out}");
}
