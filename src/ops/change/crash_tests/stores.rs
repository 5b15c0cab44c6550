//! Small stores for these tests, as a Runtime writes them.

use std::path::Path;

use serde_json::{Value, json};

/// Writes a file, with the folders above it.
pub fn put(root: &Path, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Pretty JSON with a final newline, as all documents but `metadata.json` are written.
pub fn document(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap();
    bytes.push(b'\n');
    bytes
}

/// The id of a Session or Segment of this number.
pub fn id(n: u64) -> String {
    format!("01890000-0000-7000-8000-{n:012x}")
}

/// A store without Workers.
pub fn empty(root: &Path) {
    std::fs::create_dir_all(root.join("workers")).unwrap();
    next(root, 1);
}

/// `runtime.json` with this next Worker id.
pub fn next(root: &Path, next: u64) {
    let runtime = json!({
        "schema_version": 1, "display_name": null, "backend": "fs_store", "status": "stopped",
        "next_worker_sequence": next, "next_diagnostic_id": 1,
        "config_bundles": {}, "workspace_owners": {}, "diagnostics": [],
    });
    put(root, "runtime.json", document(&runtime));
}

/// Worker `n` with the last generation `generation`, and no Session.
pub fn worker(root: &Path, n: u64, generation: u64) {
    let worker = json!({
        "schema_version": 1, "worker_ref": { "worker_id": n }, "worker_id": n,
        "request": {
            "profile": { "kind": "builtin", "value": "builtin:coder" },
            "display_name": format!("demo {n}"),
            "profile_source": { "kind": "embedded", "archive": {
                "reference": { "id": "a", "digest": "sha256:00", "size_bytes": 0,
                    "source_graph": { "source_count": 0, "total_source_bytes": 0,
                        "entrypoints": {}, "import_count": 0 } },
                "content": [] } },
        },
        "run_generation": generation,
        "zz_unknown": 1.50,
    });
    put(root, format!("workers/{n}/worker.json"), document(&worker));
}

/// Worker 7 of a store, without a Session, after generation 2.
pub fn seven(root: &Path) {
    empty(root);
    next(root, 8);
    worker(root, 7, 2);
    run(root, 7, 1);
    run(root, 7, 2);
}

/// The folder of a run.
pub fn run(root: &Path, n: u64, generation: u64) {
    let run = root.join(format!("workers/{n}/runs/{generation}"));
    for name in ["artifacts", "spawned"] {
        std::fs::create_dir_all(run.join(name)).unwrap();
    }
    for name in ["worker.out.log", "worker.err.log"] {
        std::fs::write(run.join(name), b"").unwrap();
    }
}

/// `metadata.json` of Worker `n`: no final newline.
pub fn metadata(root: &Path, n: u64, more: &Value) {
    let mut value = json!({ "worker_name": format!("worker-runtime-{n}") });
    for (key, one) in more.as_object().unwrap() {
        value[key] = one.clone();
    }
    let bytes = serde_json::to_vec_pretty(&value).unwrap();
    put(root, format!("workers/{n}/metadata.json"), bytes);
}

/// `session.json` of Worker `n`, and Segments of these ids with a `segment_start` and turns.
pub fn session(root: &Path, n: u64, session: u64, segments: &[(u64, u64)]) {
    let value = json!({ "schema_version": 1, "session_id": id(session) });
    put(
        root,
        format!("workers/{n}/session/session.json"),
        document(&value),
    );
    for (segment, turns) in segments {
        let path = format!("workers/{n}/session/segments/{}.jsonl", id(*segment));
        put(root, path, lines(session, *turns));
    }
}

/// The records of a Segment with so many turns.
pub fn lines(session: u64, turns: u64) -> Vec<u8> {
    let mut ts = 1_700_000_000_000_u64;
    let mut out = Vec::new();
    let mut line = |mut value: Value| {
        ts += 1;
        value["ts"] = ts.into();
        out.extend(serde_json::to_vec(&value).unwrap());
        out.push(b'\n');
    };
    line(
        json!({ "kind": "segment_start", "session_id": id(session), "system_prompt": null,
        "config": { "stop_sequences": [] }, "history": [] }),
    );
    for turn in 1..=turns {
        line(json!({ "kind": "invoke", "trigger": "user_send" }));
        line(json!({ "kind": "user_input",
            "segments": [{ "kind": "text", "content": format!("question {turn}") }] }));
        line(
            json!({ "kind": "assistant_item", "item": { "kind": "message",
            "role": "assistant",
            "content": [{ "kind": "text", "text": format!("answer {turn}") }] } }),
        );
        line(json!({ "kind": "turn_end", "turn_count": turn }));
        line(json!({ "kind": "run_completed", "interrupted": false, "result": "finished" }));
    }
    out
}
