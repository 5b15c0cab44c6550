//! `demo`: two small stores with the usual damage, made by the program itself. Ids, times and bytes
//! are the same on every run.
//!
//! ```text
//! old/store/          the catalog of an old store: runtime.json, workers/<id>/worker.json
//! old/trial/          a copy of it, to try the migration on
//! old/sessions/       its Session root
//! old/metadata/       its metadata root
//! store/              a store of today's layout, after a few crashes
//! ```
//!
//! The bytes are written as a Runtime would leave them, torn and glued, so not through the store
//! layer; only into a folder that was new or empty.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::diag::{Code, Effects, Error, IoContext, Result};

/// When the histories begin: 2026-01-05T10:00:00Z, in milliseconds since 1970.
const START_MS: u64 = 1_767_607_200_000;
/// When the crashes were: an hour later, in seconds since 1970.
const CRASH_S: u64 = START_MS / 1000 + 3600;

/// Builds both stores in a folder, which must be new or empty.
///
/// # Errors
/// `target_exists` if the folder holds anything; what the system says otherwise.
pub fn build(dir: &Path) -> Result<()> {
    claim(dir)?;
    let wrote = old(&dir.join("old")).and_then(|()| native(&dir.join("store")));
    wrote.map_err(|e| e.effects(Effects::Some))
}

/// Makes the folder, or takes an empty one.
fn claim(dir: &Path) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "a demo need not survive a crash")]
    match std::fs::create_dir(dir) {
        Ok(()) => return Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(Error::io("create", dir, e)),
    }
    let taken = |what: &str| {
        Error::new(
            Code::TargetExists,
            format!(
                "{} {what}; the demo writes into a new or empty folder only",
                dir.display()
            ),
        )
        .hint("wagg demo")
    };
    if !dir.is_dir() {
        return Err(taken("is no folder"));
    }
    let mut entries = std::fs::read_dir(dir).io("read", dir)?;
    match entries.next() {
        Some(_) => Err(taken("is not empty")),
        None => Ok(()),
    }
}

/// Writes a new file, with the folders above it.
fn put(path: PathBuf, bytes: &[u8]) -> Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "new files of a demo, in a folder that was empty"
    )]
    let file = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| File::create_new(&path));
    file.and_then(|mut file| file.write_all(bytes))
        .io("write", path)
}

/// Writes a file that a killed process left, with the time of the crash.
fn put_left(path: PathBuf, bytes: &[u8]) -> Result<()> {
    put(path.clone(), bytes)?;
    File::open(&path)
        .and_then(|file| file.set_modified(UNIX_EPOCH + Duration::from_secs(CRASH_S)))
        .io("write", path)
}

/// A document as a Runtime writes it: pretty, with a final newline.
fn document(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// The id of a Session or Segment of this number.
fn id(n: u64) -> String {
    format!("019b8d1c-2a00-7000-8000-{n:012x}")
}

/// `runtime.json` and the `worker.json` of each Worker.
fn catalog(root: &Path, next: u64, workers: &[(u64, &str, u64)]) -> Result<()> {
    let runtime = json!({
        "schema_version": 1,
        "display_name": "demo",
        "backend": "fs_store",
        "status": "stopped",
        "next_worker_sequence": next,
        "next_diagnostic_id": 1,
        "config_bundles": {},
        "workspace_owners": {},
        "diagnostics": [],
    });
    put(root.join("runtime.json"), &document(&runtime))?;
    for (n, name, generation) in workers {
        let worker = json!({
            "schema_version": 1,
            "worker_ref": { "worker_id": n },
            "worker_id": n,
            "request": {
                "profile": { "kind": "builtin", "value": "builtin:coder" },
                "display_name": name,
                "profile_source": {
                    "kind": "http",
                    "location": {
                        "url": "http://backend.invalid/profile-source.tar",
                        "archive": {
                            "id": "profiles-demo",
                            "digest": "sha256:00",
                            "size_bytes": 0,
                            "source_graph": {
                                "source_count": 0,
                                "total_source_bytes": 0,
                                "entrypoints": {},
                                "import_count": 0,
                            },
                        },
                    },
                },
            },
            "run_generation": generation,
        });
        put(
            root.join(format!("workers/{n}/worker.json")),
            &document(&worker),
        )?;
    }
    Ok(())
}

/// `metadata.json`, without a final newline.
fn metadata(n: u64, active: Option<(u64, Option<u64>)>) -> Vec<u8> {
    let mut value = json!({ "worker_name": format!("worker-runtime-{n}") });
    if let Some((session, segment)) = active {
        value["active"] = json!({ "session_id": id(session) });
        if let Some(segment) = segment {
            value["active"]["segment_id"] = id(segment).into();
        }
    }
    format!("{value:#}").into_bytes()
}

/// The records of one Segment, a line each.
struct Log {
    bytes: Vec<u8>,
    clock: u64,
    turn: u64,
    calls: u64,
}

impl Log {
    fn start(session: u64, origin: Option<(&str, u64, u64)>) -> Self {
        let mut log = Self {
            bytes: Vec::new(),
            clock: START_MS + session * 60_000,
            turn: 0,
            calls: 0,
        };
        let seed = match origin {
            Some(("compacted_from", ..)) => json!([{
                "kind": "message",
                "role": "user",
                "content": [{ "kind": "text", "text": "Summary: the shelf is measured and sawn." }],
            }]),
            _ => json!([]),
        };
        let mut start = json!({
            "session_id": id(session),
            "system_prompt": "You help in a workshop.",
            "config": {
                "max_tokens": 4096,
                "temperature": null,
                "top_p": null,
                "top_k": null,
                "stop_sequences": [],
                "reasoning": null,
            },
            "history": seed,
        });
        if let Some((kind, source, turn)) = origin {
            start[kind] = json!({ "segment_id": id(source), "at_turn_index": turn });
            log.turn = turn;
        }
        log.record("segment_start", start);
        log
    }

    fn record(&mut self, kind: &str, fields: Value) -> &mut Self {
        let mut record = json!({ "kind": kind, "ts": self.clock });
        self.clock += 700;
        if let (Some(record), Value::Object(fields)) = (record.as_object_mut(), fields) {
            record.extend(fields);
        }
        self.bytes.extend_from_slice(record.to_string().as_bytes());
        self.bytes.push(b'\n');
        self
    }

    fn ask(&mut self, text: &str) -> &mut Self {
        self.record("invoke", json!({ "trigger": "user_send" }));
        self.record(
            "user_input",
            json!({ "segments": [{ "kind": "text", "content": text }] }),
        )
    }

    fn call(&mut self) -> &mut Self {
        self.calls += 1;
        self.record(
            "assistant_item",
            json!({ "item": {
                "kind": "tool_call",
                "call_id": format!("call_{}", self.calls),
                "name": "list_dir",
                "arguments": "{\"path\":\"bench\"}",
            } }),
        )
    }

    fn result(&mut self) -> &mut Self {
        self.record(
            "tool_result",
            json!({ "item": {
                "kind": "tool_result",
                "call_id": format!("call_{}", self.calls),
                "summary": "3 entries",
            } }),
        )
    }

    fn answer(&mut self, text: &str) -> &mut Self {
        self.record(
            "assistant_item",
            json!({ "item": {
                "kind": "message",
                "role": "assistant",
                "content": [{ "kind": "text", "text": text }],
            } }),
        );
        self.turn += 1;
        self.record("turn_end", json!({ "turn_count": self.turn }));
        self.record(
            "run_completed",
            json!({ "interrupted": false, "result": "finished" }),
        )
    }

    /// Two whole turns.
    fn usual(&mut self) -> &mut Self {
        self.ask("Which screws fit the hinge?")
            .call()
            .result()
            .answer("The short ones, on the left of the bench.")
            .ask("And the glue?")
            .answer("Behind them.")
    }

    /// The start of a record that was never committed.
    fn torn(&mut self) -> &mut Self {
        let tail = "{\"kind\":\"assistant_item\",\"ts\":1767610800000,\"item\":{\"kind\":\"mess";
        self.bytes.extend_from_slice(tail.as_bytes());
        self
    }

    /// Takes away the newline behind the last record, so that the next stands on its line.
    fn glue(&mut self) -> &mut Self {
        self.bytes.pop();
        self
    }
}

/// The old layout: catalog, Session root and metadata root apart.
fn old(root: &Path) -> Result<()> {
    let store = root.join("store");
    let workers = [
        (1, "planner", 1),
        (2, "builder", 1),
        (3, "tester", 0),
        (4, "writer", 1),
        (5, "copy of writer", 1),
    ];
    catalog(&store, 8, &workers)?;
    catalog(&root.join("trial"), 8, &workers)?;
    let left = store.join(".runtime.json.tmp-4242-1");
    put_left(left, b"{\n  \"schema_version\": 1,\n  \"disp")?;
    let session = |n: u64, log: &Log| {
        let name = format!("sessions/{}/{}.jsonl", id(n), id(n * 16 + 1));
        put(root.join(name), &log.bytes)
    };
    let meta = |n: u64, active: Option<(u64, Option<u64>)>| {
        let name = format!("metadata/worker-runtime-{n}/metadata.json");
        put(root.join(name), &metadata(n, active))
    };
    // 1: killed while it appended
    let mut log = Log::start(1, None);
    session(1, log.usual().torn())?;
    meta(1, Some((1, Some(0x11))))?;
    // 2: two processes wrote at once
    let mut log = Log::start(2, None);
    log.ask("Saw the shelf.").answer("Sawn.").glue();
    session(2, log.usual())?;
    meta(2, Some((2, Some(0x21))))?;
    // 3: created, never run
    meta(3, Some((3, None)))?;
    // 4 and 5: metadata copied by hand, so that both point at one Session
    session(4, Log::start(4, None).usual())?;
    meta(4, Some((4, Some(0x41))))?;
    meta(5, Some((4, Some(0x41))))?;
    // 7: its Worker was removed from the catalog, its metadata was not
    meta(7, None)?;
    // a history that nobody points at
    session(9, Log::start(9, None).usual())
}

/// Today's layout, after a few crashes.
fn native(root: &Path) -> Result<()> {
    let workers = [
        (1, "planner", 1),
        (2, "builder", 2),
        (3, "tester", 1),
        (4, "writer", 1),
    ];
    catalog(root, 5, &workers)?;
    let worker = |n: u64, name: &str| root.join(format!("workers/{n}/{name}"));
    let segment = |n: u64, segment: u64, log: &Log| {
        let name = format!("session/segments/{}.jsonl", id(segment));
        put(worker(n, &name), &log.bytes)
    };
    for (n, active, runs) in [
        (1, 0x12, &[1][..]),
        (2, 0x21, &[1, 2]),
        // the pointer names a Segment that is not there
        (3, 0x3f, &[1]),
        // a run that worker.json forgot
        (4, 0x41, &[1, 3]),
    ] {
        let session = json!({ "schema_version": 1, "session_id": id(n) });
        put(worker(n, "session/session.json"), &document(&session))?;
        put(
            worker(n, "metadata.json"),
            &metadata(n, Some((n, Some(active)))),
        )?;
        for run in runs {
            for log in ["worker.out.log", "worker.err.log"] {
                put(worker(n, &format!("runs/{run}/{log}")), b"")?;
            }
        }
    }
    // 1: a fork, killed while it appended
    segment(1, 0x11, Log::start(1, None).usual())?;
    let mut fork = Log::start(1, Some(("forked_from", 0x11, 1)));
    segment(
        1,
        0x12,
        fork.ask("Use nails instead.").answer("Done.").torn(),
    )?;
    // 2: two records on one line, then killed while a tool ran
    let mut log = Log::start(2, None);
    log.ask("Saw the shelf.").answer("Sawn.").glue();
    segment(2, 0x21, log.usual().ask("Sand it.").call())?;
    // 3: only what the pointer does not name
    segment(3, 0x31, Log::start(3, None).usual())?;
    // 4: compacted, and what a killed write left
    segment(4, 0x41, Log::start(4, None).usual())?;
    let mut compacted = Log::start(4, Some(("compacted_from", 0x41, 2)));
    segment(4, 0x42, compacted.ask("What is left?").answer("The paint."))?;
    let left = worker(4, ".metadata.json.tmp-4242-7");
    put_left(left, b"{\n  \"worker_name\": \"worker-runt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_or_empty_folder_is_taken() {
        let temp = tempfile::tempdir().unwrap();
        build(temp.path()).unwrap();
        let again = build(temp.path()).unwrap_err();
        assert_eq!(
            (again.code, again.effects),
            (Code::TargetExists, Effects::None)
        );
        let file = temp.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert_eq!(build(&file).unwrap_err().code, Code::TargetExists);
        build(&temp.path().join("new")).unwrap();
    }
}
