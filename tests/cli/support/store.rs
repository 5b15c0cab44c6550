//! Small stores made by code, as the reference writes them: ids, times and bytes are the same on
//! every run.
//!
//! Ids are numbers: `id(0x11)` is `01890000-0000-7000-8000-000000000011`. Each call writes to disk
//! at once, so a test can do anything to the files in between.
//!
//! ```ignore
//! let store = TestStore::v1(env.path("store"));
//! let worker = store.worker(1);
//! worker.session(1).segment(0x11, &Log::start(1).turns(2)).active(1, Some(0x11));
//! worker.run(1);
//! ```

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::log::Log;

/// The id of a Session or Segment of this number, in its one spelling.
pub fn id(n: u64) -> String {
    format!("01890000-0000-7000-8000-{n:012x}")
}

/// The Worker id of this number in a store of version 3.
pub fn worker_uuid(n: u64) -> String {
    format!("01890000-0000-7000-9000-{n:012x}")
}

/// Writes a file, with the folders above it.
pub fn put(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let path = path.as_ref();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Pretty JSON with a final newline, as all documents but `metadata.json` are written.
pub fn document(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap();
    bytes.push(b'\n');
    bytes
}

/// Changes a JSON document in place; a final newline stays if there was one.
pub fn edit(path: impl AsRef<Path>, change: impl FnOnce(&mut Value)) {
    let path = path.as_ref();
    let old = std::fs::read(path).unwrap();
    let mut value = serde_json::from_slice(&old).unwrap();
    change(&mut value);
    let mut new = serde_json::to_vec_pretty(&value).unwrap();
    if old.ends_with(b"\n") {
        new.push(b'\n');
    }
    std::fs::write(path, new).unwrap();
}

/// `metadata.json` of this name: no final newline, the pointer left out where there is none.
pub fn metadata(name: &str, active: Option<(u64, Option<u64>)>) -> Value {
    let mut value = json!({ "worker_name": name });
    if let Some((session, segment)) = active {
        value["active"] = json!({ "session_id": id(session) });
        if let Some(segment) = segment {
            value["active"]["segment_id"] = id(segment).into();
        }
    }
    value["workspace_id"] = "workspace-a".into();
    value
}

/// A store in a folder.
pub struct TestStore {
    root: PathBuf,
    version: u64,
}

impl TestStore {
    /// An empty store of version 1.
    pub fn v1(root: impl Into<PathBuf>) -> Self {
        Self::new(root.into(), 1)
    }

    /// An empty store of version 3: UUIDs as Worker ids, no sequence.
    pub fn v3(root: impl Into<PathBuf>) -> Self {
        Self::new(root.into(), 3)
    }

    fn new(root: PathBuf, version: u64) -> Self {
        let this = Self { root, version };
        std::fs::create_dir_all(this.path("workers")).unwrap();
        let mut runtime = json!({
            "schema_version": version,
            "display_name": null,
            "backend": "fs_store",
            "status": "stopped",
        });
        if version == 1 {
            runtime["next_worker_sequence"] = 1.into();
        }
        runtime["next_diagnostic_id"] = 1.into();
        runtime["config_bundles"] = json!({});
        runtime["workspace_owners"] = json!({});
        runtime["diagnostics"] = json!([]);
        put(this.path("runtime.json"), document(&runtime));
        this
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    /// The id of this Worker as its folder is named.
    pub fn worker_id(&self, n: u64) -> String {
        if self.version == 1 {
            n.to_string()
        } else {
            worker_uuid(n)
        }
    }

    /// A Worker that was created and never ran; raises the sequence. If its folder exists,
    /// `worker.json` is written anew and all else stays.
    pub fn worker(&self, n: u64) -> TestWorker {
        if self.version == 1 {
            edit(self.path("runtime.json"), |runtime| {
                let next = runtime["next_worker_sequence"].as_u64().unwrap();
                runtime["next_worker_sequence"] = next.max(n + 1).into();
            });
        }
        let worker = self.worker_folder(n);
        put(
            worker.path("worker.json"),
            document(&worker_document(self.version, n, 0)),
        );
        worker
    }

    /// A folder in `workers/` as a handle; nothing is written.
    pub fn worker_folder(&self, n: u64) -> TestWorker {
        let id = self.worker_id(n);
        TestWorker {
            root: self.path("workers").join(&id),
            id,
        }
    }

    /// The manifest of the migration. A Worker of version 1 is its number.
    pub fn manifest(&self, complete: bool, workers: &[(u64, Option<u64>, &str)]) -> &Self {
        let workers: serde_json::Map<String, Value> = workers
            .iter()
            .map(|(n, session, state)| {
                let entry = json!({
                    "worker_name": format!("worker-runtime-{n}"),
                    "session_id": session.map(id),
                    "state": state,
                });
                (n.to_string(), entry)
            })
            .collect();
        let manifest = json!({
            "schema_version": 1,
            "complete": complete,
            "workers": workers,
            "diagnostics": [],
        });
        put(
            self.path("migrations/worker-aggregate-v1.json"),
            document(&manifest),
        );
        self
    }
}

/// `worker.json` as the reference writes it.
pub fn worker_document(version: u64, n: u64, generation: u64) -> Value {
    let id: Value = if version == 1 {
        n.into()
    } else {
        worker_uuid(n).into()
    };
    let mut request = json!({});
    if version != 1 {
        request["worker_id"] = id.clone();
        request["create_fingerprint"] = format!("legacy:workspace-a:runtime-a:{n}").into();
    }
    request["profile"] = json!({ "kind": "builtin", "value": "builtin:coder" });
    request["display_name"] = format!("demo {n}").into();
    request["profile_source"] = json!({
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
                    "import_count": 0
                }
            }
        }
    });
    json!({
        "schema_version": version,
        "worker_ref": { "worker_id": id },
        "worker_id": id,
        "request": request,
        "run_generation": generation,
        "workspace_id": "workspace-a",
    })
}

/// A Worker's folder.
pub struct TestWorker {
    root: PathBuf,
    id: String,
}

impl TestWorker {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A path below its folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    /// Where a Segment lies.
    pub fn segment_path(&self, segment: u64) -> PathBuf {
        self.path(format!("session/segments/{}.jsonl", id(segment)))
    }

    /// Where a trace lies.
    pub fn trace_path(&self, segment: u64) -> PathBuf {
        self.path(format!("session/segments/{}.trace.jsonl", id(segment)))
    }

    /// `session.json` and an empty `segments/`.
    pub fn session(&self, session: u64) -> &Self {
        std::fs::create_dir_all(self.path("session/segments")).unwrap();
        let value = json!({ "schema_version": 1, "session_id": id(session) });
        put(self.path("session/session.json"), document(&value));
        self
    }

    /// A Segment.
    pub fn segment(&self, segment: u64, log: &Log) -> &Self {
        put(self.segment_path(segment), log.bytes());
        self
    }

    /// A trace of two records beside a Segment that may not exist.
    pub fn trace(&self, segment: u64) -> &Self {
        put(self.trace_path(segment), super::log::trace());
        self
    }

    /// `metadata.json` with this pointer; other fields are lost.
    pub fn active(&self, session: u64, segment: Option<u64>) -> &Self {
        self.metadata(&metadata(
            &format!("worker-runtime-{}", self.id),
            Some((session, segment)),
        ))
    }

    /// `metadata.json` as given, without a final newline.
    pub fn metadata(&self, value: &Value) -> &Self {
        put(
            self.path("metadata.json"),
            serde_json::to_vec_pretty(value).unwrap(),
        );
        self
    }

    /// Changes `metadata.json`.
    pub fn edit_metadata(&self, change: impl FnOnce(&mut Value)) -> &Self {
        edit(self.path("metadata.json"), change);
        self
    }

    /// Sets the generation in `worker.json` and nothing else.
    pub fn generation(&self, n: u64) -> &Self {
        edit(self.path("worker.json"), |worker| {
            worker["run_generation"] = n.into();
        });
        self
    }

    /// The folder of a run with empty logs; `worker.json` is not changed.
    pub fn run_folder(&self, generation: u64) -> PathBuf {
        let run = self.path(format!("runs/{generation}"));
        for name in ["artifacts", "spawned"] {
            std::fs::create_dir_all(run.join(name)).unwrap();
        }
        put(run.join("worker.out.log"), b"");
        put(run.join("worker.err.log"), b"");
        run
    }

    /// A run that ended: its folder, and its generation in `worker.json`.
    pub fn run(&self, generation: u64) -> &Self {
        self.run_folder(generation);
        self.generation(generation)
    }

    /// Listens on the socket of a run; it is live as long as the listener is kept.
    pub fn live(&self, generation: u64) -> UnixListener {
        let socket = self.path(format!("runs/{generation}/worker.sock"));
        UnixListener::bind(socket).unwrap()
    }

    /// A Session with one Segment, and no `worker.json`.
    pub fn usual_without_catalog(&self, n: u64) -> &Self {
        self.session(n).segment(n * 16 + 1, &Log::start(n).turns(2))
    }

    /// A whole Worker: Session `n`, one Segment `n * 16 + 1` of two turns that is active, one run.
    pub fn usual(&self, n: u64) -> &Self {
        let segment = n * 16 + 1;
        self.session(n)
            .segment(segment, &Log::start(n).turns(2))
            .active(n, Some(segment))
            .run(1)
    }
}

/// The two legacy roots, in a folder of their own.
pub struct Legacy {
    root: PathBuf,
}

impl Legacy {
    /// Two empty roots.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let this = Self { root: root.into() };
        std::fs::create_dir_all(this.sessions()).unwrap();
        std::fs::create_dir_all(this.workers()).unwrap();
        this
    }

    /// The Session root.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The metadata root.
    pub fn workers(&self) -> PathBuf {
        self.root.join("workers")
    }

    /// A Segment in the folder of a Session.
    pub fn segment(&self, session: u64, segment: u64, log: &Log) -> &Self {
        let name = format!("{}/{}.jsonl", id(session), id(segment));
        put(self.sessions().join(name), log.bytes());
        self
    }

    /// A Session of one Segment, `session * 16 + 1`, with two turns.
    pub fn session(&self, session: u64) -> &Self {
        self.segment(session, session * 16 + 1, &Log::start(session).turns(2))
    }

    /// `metadata.json` of this Worker name.
    pub fn metadata(&self, name: &str, active: Option<(u64, Option<u64>)>) -> &Self {
        self.put_metadata(
            name,
            serde_json::to_vec_pretty(&metadata(name, active)).unwrap(),
        )
    }

    /// `metadata.json` of these bytes.
    pub fn put_metadata(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        put(self.workers().join(name).join("metadata.json"), bytes);
        self
    }

    /// The Session `n` and the metadata of Worker `n` that points at its Segment.
    pub fn usual(&self, n: u64) -> &Self {
        self.session(n)
            .metadata(&format!("worker-runtime-{n}"), Some((n, Some(n * 16 + 1))))
    }
}

/// What the builder makes is what the library takes for good, in both versions.
#[test]
fn built_stores_read_well() {
    use wagg::record::document::{
        ManifestDocument, MetadataDocument, RuntimeDocument, SessionDocument, WorkerDocument,
    };
    use wagg::record::{Fold, Format, Limits, Scanner, Verdict};

    let temp = tempfile::tempdir().unwrap();
    for (version, store) in [
        (1, TestStore::v1(temp.path().join("v1"))),
        (3, TestStore::v3(temp.path().join("v3"))),
    ] {
        let worker = store.worker(1);
        let seed = vec![
            super::log::text_item("user", "a summary"),
            super::log::call_item("call_7"),
            super::log::result_item("call_7"),
        ];
        worker
            .usual(1)
            .segment(0x12, &Log::forked(1, 0x11, 1).turns(1))
            .segment(0x13, &Log::compacted_with(1, 0x12, 2, seed).turn("x"))
            .trace(0x13);
        store.manifest(true, &[(1, Some(1), "migrated")]);
        let read = |name: &str| std::fs::read(store.path(name)).unwrap();
        let runtime = RuntimeDocument::read(&read("runtime.json")).unwrap();
        assert_eq!(runtime.version().number(), version);
        ManifestDocument::read(&read("migrations/worker-aggregate-v1.json")).unwrap();
        let of_worker = |name: &str| std::fs::read(worker.path(name)).unwrap();
        let document = WorkerDocument::read(&of_worker("worker.json")).unwrap();
        assert_eq!(document.worker_id().unwrap().to_string(), worker.id());
        assert_eq!(document.run_generation, 1);
        let active = MetadataDocument::read(&of_worker("metadata.json"))
            .unwrap()
            .active;
        assert_eq!(active.unwrap().segment().unwrap().to_string(), id(0x11));
        let session = SessionDocument::read(&of_worker("session/session.json")).unwrap();
        assert_eq!(session.session().unwrap().to_string(), id(1));
        for (path, format) in [
            (worker.segment_path(0x11), Format::Segment),
            (worker.segment_path(0x12), Format::Segment),
            (worker.segment_path(0x13), Format::Segment),
            (worker.trace_path(0x13), Format::Trace),
        ] {
            let bytes = std::fs::read(&path).unwrap();
            let mut fold = Fold::new();
            let scanned = Scanner::new(Limits::default())
                .scan(bytes.as_slice(), bytes.len() as u64, format, |line| {
                    assert!(
                        matches!(line.verdict, Verdict::Record(_)),
                        "line {}",
                        line.number
                    );
                    if format == Format::Segment {
                        fold.push(line);
                    }
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            assert!(scanned.tail.is_none());
            if format == Format::Segment {
                assert_eq!(fold.finish(&scanned).1, []);
            }
        }
    }
}
