//! What can be wrong with names, folders, links, sockets and runs.

use serde_json::json;
use wagg::diag::{Code, Severity};

use super::case::{Case, Kit, Place, SEGMENT, case, hold_all};
use crate::support::store::{id, put};
use crate::support::{Log, damage};

/// A symbolic link in the place of something, to a good copy of it outside the store.
fn link(kit: &Kit, name: &str) -> Place {
    let path = kit.store.path(name);
    let outside = kit.env.path("outside");
    std::fs::rename(&path, &outside).unwrap();
    damage::symlink(&path, &outside);
    kit.whole(&path)
        .says(outside.display().to_string())
        .says("not followed")
}

/// A named pipe in the place of something: an open that waits would hang.
fn pipe(kit: &Kit, name: &str) -> Place {
    damage::fifo(&kit.store.path(name));
    kit.whole(kit.store.path(name)).says("a named pipe stands")
}

fn segment_name(segment: u64) -> String {
    format!("workers/1/session/segments/{}.jsonl", id(segment))
}

/// A file above the size to which documents are read; it takes no room on the disk.
fn huge(kit: &mut Kit, name: &str) -> Place {
    let file = std::fs::File::options()
        .write(true)
        .open(kit.store.path(name))
        .unwrap();
    file.set_len(64 * 1024 * 1024 + 1).unwrap();
    kit.not_looked_at = 1;
    kit.whole(kit.store.path(name)).says("over the limit")
}

/// A journal of one operation, with its outcome or without; gives its path.
fn journal(kit: &Kit, settled: bool) -> std::path::PathBuf {
    let path = kit.store.path(".wagg/journal.jsonl");
    let mut lines = vec![
        json!({ "type": "journal", "schema_version": 1, "journal_id": id(0x900), "ts": TIME }),
        json!({
            "type": "intent", "operation_id": id(0x901), "ts": TIME, "actor": "anna@host",
            "command": "segment fork", "fingerprint": "00", "scope": "worker", "worker_id": "1",
            "generation": 1, "args": {}, "minted": {}, "follow": {}, "leftovers": [],
        }),
    ];
    if settled {
        lines.push(json!({
            "type": "outcome", "operation_id": id(0x901), "ts": TIME, "outcome": "done",
            "receipt": {},
        }));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    put(&path, text);
    path
}

const TIME: &str = "2026-01-05T10:00:00Z";

pub const CASES: &[Case] = &[
    case(Code::BadFileName, "a Segment in upper case", |kit| {
        let path = kit.worker.path("session/segments");
        let name = format!("{}.jsonl", id(0x1a).to_uppercase());
        put(path.join(&name), Log::start(1).bytes());
        // a file system that does not tell case apart would show the other name
        kit.whole(path.join(name)).says(id(0x1a))
    }),
    case(Code::BadFileName, "a Segment without hyphens", |kit| {
        let name = format!("session/segments/{}.jsonl", id(0x1a).replace('-', ""));
        put(kit.worker.path(&name), Log::start(1).bytes());
        kit.whole(kit.worker.path(name)).says(id(0x1a))
    }),
    case(
        Code::BadFileName,
        "a trace without hyphens, a warning",
        |kit| {
            let name = format!(
                "session/segments/{}.trace.jsonl",
                id(SEGMENT).replace('-', "")
            );
            put(kit.worker.path(&name), crate::support::log::trace());
            kit.whole(kit.worker.path(name))
                .but(Severity::Warning)
                .says(id(SEGMENT))
        },
    ),
    case(Code::BadFileName, "a Segment of no id", |kit| {
        let path = kit.worker.path("session/segments/backup.jsonl");
        put(&path, Log::start(1).bytes());
        kit.whole(path).says("not read")
    }),
    case(Code::BadFileName, "a Worker with a leading zero", |kit| {
        std::fs::create_dir(kit.store.path("workers/07")).unwrap();
        kit.also = vec![Code::UnknownFolder];
        kit.whole(kit.store.path("workers/07"))
            .says("another spelling of the Worker id 7")
    }),
    case(Code::SymbolicLink, "runtime.json", |kit| {
        link(kit, "runtime.json")
    }),
    case(Code::SymbolicLink, "workers/", |kit| link(kit, "workers")),
    case(Code::SymbolicLink, "a Worker", |kit| link(kit, "workers/1")),
    case(Code::SymbolicLink, "worker.json", |kit| {
        link(kit, "workers/1/worker.json")
    }),
    case(Code::SymbolicLink, "metadata.json", |kit| {
        link(kit, "workers/1/metadata.json")
    }),
    case(Code::SymbolicLink, "session/", |kit| {
        link(kit, "workers/1/session")
    }),
    case(Code::SymbolicLink, "session.json", |kit| {
        link(kit, "workers/1/session/session.json")
    }),
    case(Code::SymbolicLink, "segments/", |kit| {
        link(kit, "workers/1/session/segments")
    }),
    case(Code::SymbolicLink, "a Segment", |kit| {
        kit.worker.segment(0x12, &Log::start(1).turns(1));
        link(kit, &segment_name(0x12))
    }),
    case(Code::SymbolicLink, "the active Segment", |kit| {
        link(kit, &segment_name(SEGMENT))
    }),
    case(Code::SymbolicLink, "runs/", |kit| {
        link(kit, "workers/1/runs")
    }),
    case(Code::SymbolicLink, "a run", |kit| {
        link(kit, "workers/1/runs/1")
    }),
    case(Code::SymbolicLink, "to nothing", |kit| {
        let path = kit.worker.segment_path(0x12);
        damage::symlink(&path, "nowhere");
        kit.whole(path).says("nowhere")
    }),
    case(Code::NotARegularFile, "runtime.json", |kit| {
        pipe(kit, "runtime.json")
    }),
    case(Code::NotARegularFile, "worker.json", |kit| {
        pipe(kit, "workers/1/worker.json")
    }),
    case(Code::NotARegularFile, "metadata.json", |kit| {
        pipe(kit, "workers/1/metadata.json")
    }),
    case(Code::NotARegularFile, "session.json", |kit| {
        pipe(kit, "workers/1/session/session.json")
    }),
    case(Code::NotARegularFile, "a Segment", |kit| {
        pipe(kit, &segment_name(0x12))
    }),
    case(Code::NotARegularFile, "the active Segment", |kit| {
        pipe(kit, &segment_name(SEGMENT))
    }),
    case(Code::NotARegularFile, "a folder for a Segment", |kit| {
        std::fs::create_dir(kit.worker.segment_path(0x12)).unwrap();
        kit.whole(kit.worker.segment_path(0x12))
            .says("a folder stands where a file should be")
    }),
    case(Code::NotARegularFile, "a socket for a Segment", |kit| {
        // beside the store, since a socket's path must be short
        let socket = kit.env.path("s");
        damage::dead_socket(&socket);
        std::fs::rename(socket, kit.worker.segment_path(0x12)).unwrap();
        kit.whole(kit.worker.segment_path(0x12)).says("a socket")
    }),
    case(Code::NotARegularFile, "a file for session/", |kit| {
        let session = kit.worker.path("session");
        damage::remove(&session);
        put(&session, b"x");
        kit.worker
            .metadata(&crate::support::store::metadata("worker-runtime-1", None));
        kit.whole(session).says("where a folder should be")
    }),
    case(Code::NotARegularFile, "a file for segments/", |kit| {
        let segments = kit.worker.path("session/segments");
        damage::remove(&segments);
        put(&segments, b"x");
        kit.worker.active(1, None);
        kit.also = vec![Code::ActivePending];
        kit.whole(segments).says("where a folder should be")
    }),
    case(Code::NotARegularFile, "a file for a run", |kit| {
        put(kit.worker.path("runs/2"), b"x");
        kit.whole(kit.worker.path("runs/2"))
            .says("where the folder of a run should be")
    }),
    case(Code::NotARegularFile, "a file for runs/", |kit| {
        damage::remove(&kit.worker.path("runs"));
        put(kit.worker.path("runs"), b"x");
        kit.whole(kit.worker.path("runs"))
    }),
    case(Code::Unreadable, "a catalog above all sizes", |kit| {
        huge(kit, "runtime.json")
    }),
    case(Code::Unreadable, "metadata above all sizes", |kit| {
        huge(kit, "workers/1/metadata.json")
    }),
    case(Code::CaseCollision, "a file beside another", |kit| {
        put(kit.worker.path("Worker.json"), b"{}");
        kit.also = vec![Code::UnknownFile];
        kit.whole(kit.worker.path("worker.json"))
            .says("Worker.json")
            .says("upper and lower case")
    }),
    case(Code::GenerationBehind, "a run above the document", |kit| {
        let run = kit.worker.run_folder(3);
        kit.whole(run)
            .says("run folder 3 is above run_generation 1")
            .says("the next generation is 4")
    }),
    case(Code::MissingRunFolder, "given out, no folder", |kit| {
        kit.worker.generation(2);
        kit.whole(kit.worker.path("worker.json"))
            .says("generation 2 was given out")
            .says("stays used up")
    }),
    case(Code::StaleSocket, "nobody listens", |kit| {
        drop(kit.worker.live(1));
        kit.whole(kit.worker.path("runs/1/worker.sock"))
            .says("nobody listens")
    }),
    case(Code::UnknownFile, "no socket under its name", |kit| {
        put(kit.worker.path("runs/1/worker.sock"), b"");
        kit.whole(kit.worker.path("runs/1/worker.sock"))
            .says("no socket")
    }),
    case(Code::UnknownFile, "in the root", |kit| {
        put(kit.store.path("events.jsonl"), b"");
        kit.whole(kit.store.path("events.jsonl"))
    }),
    case(Code::UnknownFile, "beside Segments", |kit| {
        put(kit.worker.path("session/segments/notes.txt"), b"");
        kit.whole(kit.worker.path("session/segments/notes.txt"))
    }),
    case(Code::UnknownFile, "a link that is no part", |kit| {
        damage::symlink(&kit.store.path("shortcut"), "/etc/passwd");
        kit.whole(kit.store.path("shortcut")).says("/etc/passwd")
    }),
    case(Code::UnknownFolder, "in the root", |kit| {
        std::fs::create_dir(kit.store.path("tmp")).unwrap();
        kit.whole(kit.store.path("tmp"))
    }),
    case(Code::UnknownFolder, "among the Workers", |kit| {
        std::fs::create_dir(kit.store.path("workers/notes")).unwrap();
        kit.whole(kit.store.path("workers/notes"))
            .says("no Worker id")
    }),
    case(
        Code::MissingWorkerDocument,
        "a history in a folder of no id",
        |kit| {
            let put_away = kit.store.path("workers/old");
            std::fs::rename(kit.worker.path("session"), kit.store.path("s")).unwrap();
            std::fs::create_dir(&put_away).unwrap();
            std::fs::rename(kit.store.path("s"), put_away.join("session")).unwrap();
            kit.also = vec![Code::ActiveMissingSegment, Code::MissingMetadata];
            kit.whole(put_away).says("no worker.json")
        },
    ),
    case(Code::UnknownFolder, "a run of another name", |kit| {
        std::fs::create_dir(kit.worker.path("runs/restore-1")).unwrap();
        kit.whole(kit.worker.path("runs/restore-1"))
            .says("not named by a generation")
    }),
    case(Code::LeftoverTemporary, "of a document", |kit| {
        put(kit.worker.path(".metadata.json.tmp-4242-7"), b"{");
        kit.whole(kit.worker.path(".metadata.json.tmp-4242-7"))
            .says("process 4242")
            .says("metadata.json itself is there")
    }),
    case(
        Code::LeftoverTemporary,
        "the only copy of a Segment",
        |kit| {
            let name = format!("session/segments/.{}.jsonl.tmp-4242-{}", id(0x12), id(9));
            put(kit.worker.path(&name), Log::start(1).bytes());
            kit.whole(kit.worker.path(name))
                .says("may be the only copy")
        },
    ),
    case(
        Code::UnsettledOperation,
        "an intent without an outcome",
        |kit| {
            let path = journal(kit, false);
            kit.whole(path)
                .says(format!(
                    "operation {} (segment fork) of anna@host",
                    id(0x901)
                ))
                .says("settled before the next change")
        },
    ),
    case(Code::CorruptRecord, "a line of the journal", |kit| {
        let path = journal(kit, true);
        damage::insert_line(&path, 3, "x");
        kit.line(path, 3).says("a line of the journal")
    }),
    case(Code::TornTail, "of the journal", |kit| {
        let path = journal(kit, true);
        let end = std::fs::metadata(&path).unwrap().len();
        damage::append(&path, "{\"type\"");
        let mut place = kit.whole(path).long(7).says("the next change cuts it off");
        place.byte = Some(end);
        place
    }),
    case(Code::SymbolicLink, "the journal", |kit| {
        journal(kit, false);
        link(kit, ".wagg/journal.jsonl")
    }),
    case(Code::SymbolicLink, ".wagg/", |kit| {
        journal(kit, false);
        link(kit, ".wagg")
    }),
    case(Code::UnknownFile, "in .wagg/", |kit| {
        put(kit.store.path(".wagg/notes.txt"), b"");
        kit.whole(kit.store.path(".wagg/notes.txt"))
    }),
    case(Code::LeftoverStaging, "in .wagg/staging/", |kit| {
        let path = kit.store.path(".wagg/staging/7");
        std::fs::create_dir_all(&path).unwrap();
        kit.whole(path).says("did not move it into place")
    }),
    case(Code::LeftoverStaging, "a Session never moved", |kit| {
        let path = kit.worker.path(".session.migrating-4242-1");
        std::fs::create_dir_all(path.join("segments")).unwrap();
        kit.whole(path).says("process 4242")
    }),
];

#[test]
fn each_gives_its_one_finding() {
    hold_all(CASES);
}

/// A run that answers is a remark, and asking it neither waits nor leaves anything behind.
#[test]
fn a_live_run_is_a_remark() {
    let kit = Kit::v1();
    let listener = kit.worker.live(1);
    let place = kit
        .whole(kit.worker.path("runs/1/worker.sock"))
        .says("a hint, no proof");
    super::case::hold_in(&kit, Code::LiveRun, "a listener", &place);
    // nobody accepted: what asked must have gone by itself
    drop(listener);
}

/// What operations that ended leave in our own folder is no finding.
#[test]
fn our_own_folder_gives_no_finding() {
    let kit = Kit::v1();
    journal(&kit, true);
    for name in [
        "store.lock",
        "journal.lock",
        "journal.index",
        "workers/1.lock",
        "quarantine/x/manifest.jsonl",
        "migrations/report.json",
    ] {
        put(kit.store.path(".wagg").join(name), b"");
    }
    std::fs::create_dir(kit.store.path(".wagg/staging")).unwrap();
    let out = kit.verify(&["--format", "json"]).status(0);
    assert!(super::case::findings(&out).is_empty(), "{out}");
}

/// Operations of other Workers are nobody's business who asked for one.
#[test]
fn an_unsettled_operation_is_told_to_who_asks_for_its_worker() {
    let kit = Kit::v1();
    kit.store.worker(2).usual(2);
    journal(&kit, false);
    for (worker, said) in [("1", 1), ("2", 0)] {
        let out = kit.verify(&["--format", "json", worker]).status(0);
        assert_eq!(super::case::findings(&out).len(), said, "{out}");
    }
}

#[test]
fn what_stands_in_a_run_is_nobodys_business() {
    let kit = Kit::v1();
    let run = kit.worker.path("runs/1");
    std::fs::create_dir(run.join("bash-output")).unwrap();
    put(run.join("artifacts/deep/er/file"), b"x");
    put(run.join("spawned_workers.json"), b"not json");
    damage::symlink(&run.join("artifacts/link"), "/");
    let out = kit.verify(&["--format", "json"]).status(0);
    assert!(super::case::findings(&out).is_empty(), "{out}");
}

/// A folder with `workers/` and nothing in it is a store to be read; nothing is made in it.
#[test]
fn an_empty_store_is_an_answer() {
    let env = crate::support::TestEnv::new();
    let store = crate::support::TestStore::v1(env.path("store"));
    let out = super::case::verify(&env, store.root(), &["--format", "json"]).status(0);
    assert_eq!(out.json()["summary"]["workers"], 0);
    let out = super::case::verify(&env, store.root(), &[]).status(0);
    assert_eq!(out.stdout(), "");
    assert!(out.stderr.contains("no findings"), "{out}");
}
