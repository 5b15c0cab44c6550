//! Tests of the resolver on small stores, with a naive oracle for beginnings of ids.

use std::path::{Path, PathBuf};

use super::form::MIN_PREFIX;
use super::*;
use crate::store::Store;

const SESSION: &str = "01890000-0000-7000-8000-0000000000a1";
const SEGMENT: &str = "01890000-0000-7000-8000-000000000011";
const OTHER: &str = "01890000-0000-7000-8000-000000000012";

struct Made {
    root: tempfile::TempDir,
}

impl Made {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let made = Self { root };
        made.write("runtime.json", r#"{"schema_version":1,"display_name":null,"backend":"fs_store","status":"stopped","next_worker_sequence":9,"next_diagnostic_id":1,"config_bundles":{},"workspace_owners":{},"diagnostics":[]}"#);
        std::fs::create_dir(made.path("workers")).unwrap();
        made
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: impl AsRef<Path>, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn worker(&self, folder: &str, id: &str, display: Option<&str>) -> PathBuf {
        let (version, id) = match id.parse::<u64>() {
            Ok(_) => (1, id.to_owned()),
            Err(_) => (3, format!("{id:?}")),
        };
        let display = display.map_or_else(String::new, |d| format!(r#""display_name":{d:?},"#));
        let more = if version == 3 {
            format!(r#""worker_id":{id},"create_fingerprint":"f","#)
        } else {
            String::new()
        };
        let dir = PathBuf::from("workers").join(folder);
        self.write(
            dir.join("worker.json"),
            &format!(
                r#"{{"schema_version":{version},"worker_ref":{{"worker_id":{id}}},"worker_id":{id},"run_generation":1,"request":{{{more}{display}"profile":{{"kind":"builtin","value":"builtin:coder"}},"profile_source":{{"kind":"embedded","archive":{{"reference":{{"id":"a","digest":"d","size_bytes":0,"source_graph":{{"source_count":0,"total_source_bytes":0,"entrypoints":{{}},"import_count":0}}}},"content":[]}}}}}}}}"#
            ),
        );
        dir
    }

    fn session(&self, dir: &Path, session: &str, segments: &[&str]) {
        self.write(
            dir.join("session/session.json"),
            &format!(r#"{{"schema_version":1,"session_id":"{session}"}}"#),
        );
        std::fs::create_dir_all(self.path(dir.join("session/segments"))).unwrap();
        for id in segments {
            self.write(dir.join(format!("session/segments/{id}.jsonl")), "");
        }
    }

    fn metadata(&self, dir: &Path, name: &str, active: &str) {
        self.write(
            dir.join("metadata.json"),
            &format!(r#"{{"worker_name":"{name}","active":{active}}}"#),
        );
    }

    fn store(&self) -> Store {
        Store::open(self.root.path()).unwrap()
    }
}

fn active(session: &str, segment: &str) -> String {
    format!(r#"{{"session_id":"{session}","segment_id":"{segment}"}}"#)
}

/// A store with Worker 7 that has two Segments, and Worker 8 that has none.
fn small() -> Made {
    let made = Made::new();
    let dir = made.worker("7", "7", Some("deploy bot"));
    made.session(&dir, SESSION, &[SEGMENT, OTHER]);
    made.metadata(&dir, "worker-runtime-7", &active(SESSION, SEGMENT));
    made.write(dir.join("runs/1/worker.out.log"), "");
    made.write(dir.join("runs/restore-x/worker.out.log"), "");
    let dir = made.worker("8", "8", None);
    made.metadata(&dir, "worker-runtime-8", "null");
    made
}

fn segment(id: &str) -> Identity {
    Identity::Segment(SegmentRef {
        worker: WorkerRef::of(WorkerId::Number(7)),
        segment: id.parse().unwrap(),
    })
}

fn worker(id: u64) -> Identity {
    Identity::Worker(WorkerRef::of(WorkerId::Number(id)))
}

#[track_caller]
fn fails(result: Result<impl std::fmt::Debug>, code: Code, part: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.code, code, "{error}: {:?}", error.hints);
    assert!(error.message.contains(part), "{error}");
    error
}

/// C3: every kind of reference leads to one typed identity.
#[test]
fn c3_every_reference_resolves() {
    let made = small();
    let store = made.store();
    let resolver = Resolver::new(&store);
    let session = Identity::Session {
        worker: WorkerRef::of(WorkerId::Number(7)),
        session: SESSION.parse().unwrap(),
    };
    let root = made.root.path().display();
    for (text, identity) in [
        ("7", worker(7)),
        ("deploy bot", worker(7)),
        ("name:deploy bot", worker(7)),
        ("worker-runtime-8", worker(8)),
        (SEGMENT, segment(SEGMENT)),
        (&SEGMENT.to_uppercase(), segment(SEGMENT)),
        (&SEGMENT.replace('-', ""), segment(SEGMENT)),
        ("7/active", segment(SEGMENT)),
        ("7/latest", segment(OTHER)),
        ("deploy bot/active", segment(SEGMENT)),
        (&format!("7/{SEGMENT}"), segment(SEGMENT)),
        (SESSION, session.clone()),
        ("workers/7", worker(7)),
        ("workers/7/", worker(7)),
        ("workers/8/../7/metadata.json", worker(7)),
        ("workers/7/session", session.clone()),
        ("workers/7/session/session.json", session.clone()),
        (
            &format!("workers/7/session/segments/{SEGMENT}.jsonl"),
            segment(SEGMENT),
        ),
        (
            &format!("{root}/workers/7/session/segments/{SEGMENT}.jsonl"),
            segment(SEGMENT),
        ),
        (&format!("{root}/workers/8/../7/./session"), session),
        (&format!("{root}"), Identity::Store),
        ("workers/7/runs", worker(7)),
        (
            "workers/7/runs/1/worker.out.log",
            Identity::Run {
                worker: WorkerRef::of(WorkerId::Number(7)),
                run: RunName::Generation(crate::layout::Generation::new(1).unwrap()),
            },
        ),
        (
            "workers/7/runs/restore-x",
            Identity::Run {
                worker: WorkerRef::of(WorkerId::Number(7)),
                run: RunName::Named("restore-x".into()),
            },
        ),
        (
            "runtime.json",
            Identity::Other {
                path: "runtime.json".into(),
                kind: EntryKind::File,
                worker: None,
            },
        ),
    ] {
        assert_eq!(resolver.resolve(text).unwrap(), identity, "{text}");
    }
}

/// C3: the wrong kind of id is refused with the right one named.
#[test]
fn c3_the_wrong_kind_names_the_right_one() {
    let made = small();
    let store = made.store();
    let resolver = Resolver::new(&store);
    let error = fails(
        resolver.segment(SESSION),
        Code::WrongIdKind,
        &format!("{SESSION} is the Session of Worker 7; its active Segment is {SEGMENT}"),
    );
    assert_eq!(error.exit().status(), 4);
    fails(
        resolver.worker(SESSION),
        Code::WrongIdKind,
        &format!("is the Session of Worker 7; its active Segment is {SEGMENT}"),
    );
    fails(
        resolver.segment("7"),
        Code::WrongIdKind,
        &format!("7 is a Worker; its active Segment is {SEGMENT}"),
    );
    let error = fails(
        resolver.worker(SEGMENT),
        Code::WrongIdKind,
        "is the Segment of Worker 7, and not a Worker",
    );
    assert_eq!(error.hints, ["the Worker is 7"]);
    fails(
        resolver.segment("workers/7/runs/1"),
        Code::WrongIdKind,
        "the run 1 of Worker 7",
    );
    // a Worker without an active Segment still says how to go on
    let error = fails(resolver.segment("8"), Code::WrongIdKind, "8 is a Worker");
    assert_eq!(error.hints, ["wagg segment list 8"]);
}

/// C3: a slip in an id says that there is no such id, whatever it looks like.
#[test]
fn c3_nothing_there_is_not_found() {
    let made = small();
    let store = made.store();
    let resolver = Resolver::new(&store);
    for (text, part) in [
        ("9", "no Worker has the id 9"),
        ("07", "07 is no id"),
        ("ffff", "no id begins with ffff"),
        ("99999", "no Segment id begins with it"),
        (
            "01890000-0000-7000-8000-00000000ffff",
            "no Worker, Session or Segment",
        ),
        ("nobody", "no Worker has the name \"nobody\""),
        ("", "no Worker has the name"),
        ("9/active", "no Worker has the id 9"),
        ("8/active", "holds no active pointer"),
        ("8/latest", "Worker 8 has no Segment"),
        ("7/ffff", "no Segment of Worker 7"),
        ("7/2", "no such id"),
        ("workers/9", "no such id, and nothing is at workers/9"),
        ("workers/7/session/x/y", "no such id"),
        ("workers/7/worker.json/x", "no such id"),
        ("workers/../../x", "leads out of the store"),
        ("/no/such/place", "no such id"),
        ("../x", "no such id"),
        ("\u{0}/x", "no such"),
    ] {
        let error = fails(resolver.resolve(text), Code::NotFound, part);
        assert_eq!(error.exit().status(), 4, "{text}");
    }
    let hints = |text: &str| resolver.resolve(text).unwrap_err().hints;
    assert_eq!(hints("007"), ["wagg show 7"]);
    assert_eq!(
        hints("Deploy Bot"),
        ["a Worker has a name like that: wagg worker show 7"]
    );
}

/// C3: two matches are refused and both are listed.
#[test]
fn c3_two_matches_are_both_listed() {
    let made = small();
    let dir = made.worker("9", "9", Some("deploy bot"));
    made.session(&dir, SESSION, &[SEGMENT]);
    let dir = made.worker("1234", "1234", Some("cafe"));
    made.session(
        &dir,
        "01890000-0000-7000-8000-0000000000a2",
        &["12340000-0000-4000-8000-000000000001"],
    );
    let store = made.store();
    let resolver = Resolver::new(&store);
    let error = fails(
        resolver.worker("deploy bot"),
        Code::AmbiguousReference,
        "Worker 7, Worker 9",
    );
    assert_eq!(error.hints, ["wagg show 7", "wagg show 9"]);
    let error = fails(
        resolver.segment(SEGMENT),
        Code::AmbiguousReference,
        "the Segment of Worker 7, the Segment of Worker 9",
    );
    // what the hints say is not ambiguous any more
    for hint in &error.hints {
        let reference = hint.strip_prefix("wagg show ").unwrap();
        resolver.segment(reference).unwrap();
    }
    fails(
        resolver.resolve(SESSION),
        Code::AmbiguousReference,
        "the Session of Worker 7, the Session of Worker 9",
    );
    fails(
        resolver.segment("0189"),
        Code::AmbiguousReference,
        "fits 3 things",
    );
    // the whole number of a Worker is that Worker; where a Segment is wanted, both are named
    assert_eq!(resolver.resolve("1234").unwrap(), worker(1234));
    fails(
        resolver.segment("1234"),
        Code::AmbiguousReference,
        "Worker 1234, the Segment 12340000-0000-4000-8000-000000000001 of Worker 1234",
    );
    // what looks like an id is never a name
    let error = fails(resolver.resolve("cafe"), Code::NotFound, "no id begins");
    assert!(error.hints[0].contains("wagg worker show 1234"));
    assert_eq!(resolver.resolve("name:cafe").unwrap(), worker(1234));
}

/// C31: a link in the store is not followed, wherever a reference meets it.
#[test]
fn c31_links_are_refused() {
    let made = small();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, made.path(at)).unwrap();
    link("7", "workers/6");
    let name = "01890000-0000-7000-8000-000000000013.jsonl";
    link("/etc/passwd", &format!("workers/7/session/segments/{name}"));
    let store = made.store();
    let resolver = Resolver::new(&store);
    for text in [
        "6",
        "workers/6",
        "workers/6/session",
        &format!("workers/7/session/segments/{name}"),
    ] {
        fails(resolver.resolve(text), Code::SymbolicLink, "symbolic link");
    }
    let segment = resolver.segment("7/latest").unwrap();
    fails(segment.open(&store), Code::SymbolicLink, "symbolic link");
    // the store itself may be reached through one
    let outside = tempfile::tempdir().unwrap();
    let alias = outside.path().join("alias");
    std::os::unix::fs::symlink(made.root.path(), &alias).unwrap();
    let text = alias.join("workers/7").display().to_string();
    assert_eq!(resolver.resolve(&text).unwrap(), self::worker(7));
}

#[test]
fn damage_in_the_way_is_named() {
    let made = small();
    made.metadata(
        Path::new("workers/8"),
        "worker-runtime-8",
        &active(SESSION, SEGMENT),
    );
    made.write("workers/5/metadata.json", "{");
    made.worker("old", "4", None);
    let store = made.store();
    let resolver = Resolver::new(&store);
    let error = fails(
        resolver.segment("8/active"),
        Code::ActiveMissingSegment,
        "is not there",
    );
    assert_eq!(error.exit().status(), 5);
    let error = fails(
        resolver.segment("5/active"),
        Code::CorruptDocument,
        "workers/5/metadata.json",
    );
    assert_eq!(error.exit().status(), 5);
    // a folder that was renamed by hand is found by what its document says
    let found = resolver.worker("4").unwrap();
    assert_eq!(
        (found.id, found.folder),
        (WorkerId::Number(4), "old".into())
    );
}

#[test]
fn version_3_ids_are_uuids() {
    let made = Made::new();
    let id = "01990000-0000-7000-8000-000000000001";
    let dir = made.worker(id, id, None);
    made.session(&dir, SESSION, &[SEGMENT]);
    made.metadata(
        &dir,
        &format!("worker-runtime-{id}"),
        &active(SESSION, SEGMENT),
    );
    let store = made.store();
    let resolver = Resolver::new(&store);
    let found = resolver.worker(id).unwrap();
    assert_eq!(found.id.to_string(), id);
    assert_eq!(resolver.worker("0199").unwrap(), found);
    assert_eq!(
        resolver.worker(&format!("worker-runtime-{id}")).unwrap(),
        found
    );
    let segment = resolver.segment(&format!("{id}/active")).unwrap();
    assert_eq!(segment.worker, found);
    assert_eq!(resolver.segment("0189").unwrap(), segment);
    fails(
        resolver.segment(id),
        Code::WrongIdKind,
        &format!("is a Worker; its active Segment is {SEGMENT}"),
    );
}

/// A generator of numbers that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }
}

/// C3: a beginning of an id is unique, ambiguous or unknown just as a naive look says.
#[test]
fn c3_beginnings_agree_with_an_oracle() {
    let mut numbers = Numbers(7);
    let made = Made::new();
    let mut all: Vec<(u64, String)> = Vec::new();
    for number in 1..=4_u64 {
        let dir = made.worker(&number.to_string(), &number.to_string(), None);
        let ids: Vec<String> = (0..12)
            .map(|_| {
                // few first digits, so that many ids begin alike
                let a = numbers.next() % 3;
                let b = numbers.next() % 4;
                let c = numbers.next() % 0x10000;
                format!("0189000{a}-000{b}-7000-8000-{c:012x}")
            })
            .collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        made.session(
            &dir,
            &format!("0189ffff-0000-7000-8000-{number:012x}"),
            &names,
        );
        all.extend(ids.into_iter().map(|id| (number, id)));
    }
    all.sort();
    all.dedup();
    let store = made.store();
    let resolver = Resolver::new(&store);
    for round in 0..600 {
        let (_, id) = &all[numbers.next() as usize % all.len()];
        let length = MIN_PREFIX + numbers.next() as usize % (36 - MIN_PREFIX);
        let mut text = id[..length].to_owned();
        if round % 5 == 0 {
            text.replace_range(length - 1.., "f");
        }
        if round % 7 == 0 {
            text = text.replace('-', "");
        }
        if round % 3 == 0 {
            text = text.to_uppercase();
        }
        let bare = text.replace('-', "").to_lowercase();
        let fitting: Vec<&(u64, String)> = all
            .iter()
            .filter(|(_, id)| id.replace('-', "").starts_with(&bare))
            .collect();
        match (&fitting[..], resolver.segment(&text)) {
            ([(worker, id)], Ok(found)) => {
                assert_eq!(found.segment.to_string(), *id, "{text}");
                assert_eq!(found.worker.id, WorkerId::Number(*worker), "{text}");
            }
            // it may begin the ids of Sessions, which are no Segments
            ([], Err(e)) => assert!(
                e.code == Code::NotFound || e.message.contains("the Session"),
                "{text}: {e}"
            ),
            (many, Err(e)) => {
                assert!(many.len() > 1, "{text}: {e}");
                assert_eq!(e.code, Code::AmbiguousReference, "{text}");
                assert!(
                    e.message.contains(&format!("fits {} things", many.len())),
                    "{e}"
                );
                for (_, id) in many.iter().take(10) {
                    assert!(e.message.contains(id.as_str()), "{e}");
                }
            }
            (fitting, Ok(found)) => panic!("{text}: {fitting:?} and {found:?}"),
        }
        // within one Worker
        let worker = 1 + numbers.next() % 4;
        let fitting = fitting.iter().filter(|(w, _)| *w == worker).count();
        let found = resolver.segment(&format!("{worker}/{text}"));
        assert_eq!(found.is_ok(), fitting == 1, "{worker}/{text}");
    }
    // the short ids of tables lead to the ids that they stand for
    let ids = resolver.all_ids().unwrap();
    let doubles = all.len() - ids.len();
    for (id, length) in form::unique_lengths(&ids) {
        let short = &id.to_string()[..length];
        match resolver.segment(short) {
            Ok(found) => assert_eq!(found.segment.uuid(), id),
            Err(e) => assert!(doubles > 0 && e.code == Code::AmbiguousReference, "{e}"),
        }
    }
}
