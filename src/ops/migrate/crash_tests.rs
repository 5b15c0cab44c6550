//! A migration under crashes: killed, or without power, at each of its numbered steps; then run
//! again, and held against a run that nobody disturbed (C6, C7, C24).

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::{Done, Home, Options, migrate};
use crate::diag::{Code, Effects, Error, NoProgress, Severity};
use crate::ops::change::crash_tests::flags;
use crate::ops::legacy::Roots;
use crate::ops::verify::{self, verify};
use crate::store::fs::Loss;
use crate::store::fs::fault::{Crash, Fault, Plan, Step, is_death, is_tried};
use crate::store::{Store, journal};

/// Everything below a folder, `.wagg/` and lock files aside.
type Tree = BTreeMap<PathBuf, Option<String>>;

fn tree(root: &Path) -> Tree {
    fn walk(dir: &Path, root: &Path, all: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if name == Path::new(".wagg") {
                continue;
            }
            if path.is_dir() {
                all.insert(name, None);
                walk(&path, root, all);
            } else {
                let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
                let above = root.parent().unwrap().to_str().unwrap();
                all.insert(name, Some(text.replace(above, "$ROOT")));
            }
        }
    }
    let mut all = Tree::new();
    walk(root, root, &mut all);
    all
}

/// Insists that two trees are the same, with few words.
fn same(now: &Tree, expected: &Tree, what: &str) {
    for (path, text) in expected {
        assert_eq!(now.get(path), Some(text), "{what}: {}", path.display());
    }
    let more: Vec<_> = now
        .keys()
        .filter(|path| !expected.contains_key(*path))
        .collect();
    assert!(more.is_empty(), "{what}: {more:?}");
}

fn id(n: u64) -> String {
    format!("01890000-0000-7000-8000-{n:012x}")
}

fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn worker(n: u64) -> String {
    let profile = r#"{"kind":"builtin","value":"builtin:coder"}"#;
    let graph = r#"{"source_count":0,"total_source_bytes":0,"entrypoints":{},"import_count":0}"#;
    let source = format!(
        r#"{{"kind":"embedded","archive":{{"reference":{{"id":"a","digest":"b","size_bytes":0,"source_graph":{graph}}},"content":[]}}}}"#
    );
    format!(
        r#"{{"schema_version":1,"worker_ref":{{"worker_id":{n}}},"worker_id":{n},"request":{{"profile":{profile},"profile_source":{source}}},"run_generation":0}}"#
    )
}

fn segment(session: u64, turns: u64) -> String {
    let config = r#"{"max_tokens":null,"temperature":null,"top_p":null,"top_k":null,"stop_sequences":[],"reasoning":null}"#;
    let mut text = format!(
        "{{\"kind\":\"segment_start\",\"ts\":1,\"session_id\":\"{}\",\"system_prompt\":null,\"config\":{config},\"history\":[]}}\n",
        id(session)
    );
    for turn in 1..=turns {
        text.push_str(&format!(
            "{{\"kind\":\"turn_end\",\"ts\":{turn},\"turn_count\":{turn}}}\n"
        ));
    }
    text
}

fn metadata(n: u64, session: Option<u64>, segment: Option<u64>) -> String {
    let active = match (session, segment) {
        (Some(session), Some(segment)) => format!(
            ",\n  \"active\": {{ \"session_id\": \"{}\", \"segment_id\": \"{}\" }}",
            id(session),
            id(segment)
        ),
        (Some(session), None) => {
            format!(",\n  \"active\": {{ \"session_id\": \"{}\" }}", id(session))
        }
        _ => String::new(),
    };
    format!("{{\n  \"worker_name\": \"worker-runtime-{n}\"{active}\n}}")
}

/// A store of five Workers, and one more whose history can not be moved: a whole Session, nothing,
/// an empty shell, a Session that is only reserved, and metadata alone.
struct Place(PathBuf);

impl Place {
    fn make(root: &Path, oldest: bool) -> Self {
        let this = Self(root.to_path_buf());
        let home = if oldest {
            this.store().join("runtimes/local")
        } else {
            this.store()
        };
        put(
            home.join("runtime.json"),
            r#"{"schema_version":1,"display_name":null,"backend":"fs_store","status":"stopped","next_worker_sequence":7,"next_diagnostic_id":1,"config_bundles":{},"workspace_owners":{},"diagnostics":[]}"#,
        );
        for n in 1..=6 {
            put(home.join(format!("workers/{n}/worker.json")), &worker(n));
        }
        fs::create_dir_all(home.join("workers/3/session/segments")).unwrap();
        let sessions = root.join("sessions");
        let file = |session: u64, name: String| sessions.join(id(session)).join(name);
        put(file(1, format!("{}.jsonl", id(0x11))), &segment(1, 3));
        put(file(1, format!("{}.jsonl", id(0x12))), &segment(1, 1));
        put(
            file(1, format!("{}.trace.jsonl", id(0x11))),
            "{\"ts\":1,\"turn\":1,\"kind\":\"lifecycle\",\"label\":\"start\"}\n",
        );
        put(file(3, format!("{}.jsonl", id(0x31))), &segment(3, 2));
        put(
            file(6, format!("{}.jsonl", id(0x61))),
            &format!("{}not a record\n", segment(6, 1)),
        );
        put(file(9, format!("{}.jsonl", id(0x91))), &segment(9, 1));
        let documents = root.join("metadata");
        for (n, session, segment) in [
            (1, Some(1), Some(0x11)),
            (3, Some(3), Some(0x31)),
            (4, Some(4), None),
            (5, None, None),
            (6, Some(6), Some(0x61)),
        ] {
            put(
                documents.join(format!("worker-runtime-{n}/metadata.json")),
                &metadata(n, session, segment),
            );
        }
        this
    }

    fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    fn sources(&self) -> Tree {
        let mut all = tree(&self.0.join("sessions"));
        all.extend(tree(&self.0.join("metadata")));
        all
    }

    fn options(&self, jobs: usize) -> Options {
        Options {
            roots: Roots {
                sessions: self.0.join("sessions"),
                metadata: self.0.join("metadata"),
            },
            jobs: NonZeroUsize::new(jobs).unwrap(),
            ..Options::default()
        }
    }

    fn migrate(&self, request: Option<&str>) -> Result<Done, Error> {
        self.migrate_with(request, 1)
    }

    fn migrate_with(&self, request: Option<&str>, jobs: usize) -> Result<Done, Error> {
        let home = Home::open(&self.store())?;
        migrate(home, &self.options(jobs), &flags(request), &NoProgress)
    }

    /// The codes of what verify says, worst first.
    fn verify(&self) -> Vec<(Severity, Code, PathBuf)> {
        let store = Store::open(&self.store()).unwrap();
        let report = verify(&store, &verify::Options::default(), &NoProgress).unwrap();
        let mut all: Vec<_> = report
            .findings
            .iter()
            .map(|f| (f.severity, f.code, f.locus.path.clone()))
            .collect();
        all.sort();
        all
    }
}

/// What a run that nobody disturbed leaves.
struct Expected {
    tree: Tree,
    sources: Tree,
    steps: u64,
    syncs: usize,
}

fn undisturbed(oldest: bool, how: impl Fn(Fault) -> Fault) -> Expected {
    let temp = tempfile::tempdir().unwrap();
    let place = Place::make(temp.path(), oldest);
    let sources = place.sources();
    let fault = how(Fault::new(Plan::Count));
    let done = fault.run(|| place.migrate(None)).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let s = &done.report.summary;
    assert_eq!(
        (s.migrated, s.pending, s.no_legacy_metadata, s.left),
        (4, 1, 1, 1),
        "{:#?}",
        done.report
    );
    same(&place.sources(), &sources, "sources");
    let syncs = [Step::SyncFile, Step::SyncDir, Step::SyncFs];
    Expected {
        tree: tree(&place.store()),
        sources,
        steps: fault.trail().len() as u64,
        syncs: syncs.into_iter().map(|step| fault.count(step)).sum(),
    }
}

/// The ways that differ most.
const SOME: [Crash; 4] = [
    Crash::ProcessTorn,
    Crash::Power(Loss::All),
    Crash::Power(Loss::Data),
    Crash::Power(Loss::Names),
];

/// Crashes everywhere, in these ways, on a system that `how` describes.
fn everywhere(
    oldest: bool,
    last: u64,
    ways: &[Crash],
    how: impl Fn(Fault) -> Fault + Copy,
) -> Expected {
    let expected = undisturbed(oldest, how);
    for (way, crash) in (0..).zip(ways.iter().copied()) {
        for at in 1..=last.min(expected.steps + 1) {
            if way > 0 && !is_tried(way, at) {
                continue;
            }
            crash_at(crash, at, oldest, &expected, how);
        }
    }
    expected
}

fn crash_at(
    crash: Crash,
    at: u64,
    oldest: bool,
    expected: &Expected,
    how: impl Fn(Fault) -> Fault,
) {
    let temp = tempfile::tempdir().unwrap();
    let (root, aside) = (temp.path().join("root"), temp.path().join("aside"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&aside).unwrap();
    let place = Place::make(&root, oldest);
    let plan = match crash {
        Crash::ProcessTorn => Plan::DieTorn(at),
        Crash::Process | Crash::Power(_) => Plan::Die(at),
    };
    let fault = how(Fault::with_power(plan, &aside).unwrap());
    let first = fault.run(|| place.migrate(Some("r")));
    if let Crash::Power(loss) = crash {
        fault.power_off(loss).unwrap();
    }
    let step = fault.trail().get(at as usize - 1).cloned();
    let what = format!("{crash:?} at {at}: {step:?}");
    same(&place.sources(), &expected.sources, &what);
    if let Err(e) = &first {
        assert!(
            is_death(e) || e.effects == Effects::Unknown,
            "{what}: {e:?}"
        );
    }
    let calm = how(Fault::new(Plan::Count));
    calm.run(|| {
        // C7: every state between is one that the rules allow. Of the oldest layout there is no
        // store to look at before it was moved up.
        if place.store().join("workers").is_dir() && place.store().join("runtime.json").is_file() {
            for (severity, code, path) in place.verify() {
                assert!(
                    severity != Severity::Error,
                    "{what}: {code} {}",
                    path.display()
                );
            }
        }
    });
    // The rerun, and the power goes after it: all that it answered must stand.
    let again_aside = temp.path().join("again");
    fs::create_dir(&again_aside).unwrap();
    let again = how(Fault::with_power(Plan::Count, &again_aside).unwrap());
    let done = again
        .run(|| place.migrate(Some("r")))
        .unwrap_or_else(|e| panic!("{what}: {e:?}"));
    again.power_off(Loss::All).unwrap();
    assert!(done.stopped.is_none(), "{what}: {:?}", done.stopped);
    assert_eq!(done.report.summary.left, 1, "{what}: {:#?}", done.report);
    same(&tree(&place.store()), &expected.tree, &what);
    same(&place.sources(), &expected.sources, &what);
    if !at.is_multiple_of(8) {
        return;
    }
    calm.run(|| {
        let store = Store::open(&place.store()).unwrap();
        assert!(
            journal::unsettled(store.dir()).unwrap().is_empty(),
            "{what}"
        );
        // What is bound to the request id is answered again, and a run without one finds nothing.
        let third = place.migrate(Some("r")).unwrap();
        assert!(third.replayed, "{what}");
        let fourth = place.migrate(None).unwrap();
        assert_eq!(
            fourth.report.outcome, "no_change",
            "{what}: {:#?}",
            fourth.report
        );
    });
}

/// One sync of the file system for a batch.
#[test]
fn c6_killed_or_without_power_anywhere() {
    let all = everywhere(false, u64::MAX, &Crash::ALL, |fault| fault);
    println!("{} steps, {} syncs", all.steps, all.syncs);
}

/// A sync for each file and folder, where there is no other.
#[test]
fn c6_the_same_where_each_file_has_its_own_sync() {
    let all = everywhere(false, u64::MAX, &SOME, Fault::without_sync_fs);
    println!("{} steps, {} syncs", all.steps, all.syncs);
}

/// The oldest layout is moved up first; what follows is as above.
#[test]
fn c23_the_oldest_layout_moved_up_under_crashes() {
    let all = everywhere(true, 60, &SOME, Fault::plain_rename_only);
    everywhere(true, 60, &SOME, |fault| fault);
    println!("{} steps, {} syncs", all.steps, all.syncs);
}

/// C4, C18: the disk fills up at any point. Nothing half-made is left, and the rerun ends in the
/// same tree.
#[test]
fn c18_a_full_disk_anywhere() {
    let expected = undisturbed(false, |fault| fault);
    for at in 1..=expected.steps {
        let temp = tempfile::tempdir().unwrap();
        let place = Place::make(temp.path(), false);
        let before = tree(&place.store());
        let fault = Fault::new(Plan::FullFrom(at));
        let first = fault.run(|| place.migrate(None));
        let what = format!("full from {at}");
        match first {
            Ok(done) => {
                if let Some(error) = done.stopped {
                    assert_eq!(error.code, Code::DiskFull, "{what}: {error:?}");
                    let moved = done.report.summary.migrated > 0;
                    let honest = if moved { Effects::Some } else { Effects::None };
                    assert_eq!(error.effects, honest, "{what}");
                }
            }
            Err(e) if e.code == Code::OutcomeUnknown => {}
            Err(e) => {
                assert_eq!(
                    (e.code, e.effects),
                    (Code::DiskFull, Effects::None),
                    "{what}"
                );
            }
        }
        // No temporary file and no staging folder stays.
        let dots = tree(&place.store()).into_keys().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with('.') && !before.contains_key(path) && !name.ends_with(".lock")
        });
        let dots: Vec<_> = dots.collect();
        assert!(dots.is_empty(), "{what}: {dots:?}");
        let done = Fault::new(Plan::Count).run(|| place.migrate(None)).unwrap();
        assert!(done.stopped.is_none(), "{what}");
        same(&tree(&place.store()), &expected.tree, &what);
        same(&place.sources(), &expected.sources, &what);
    }
}

/// C9: a sync that fails ends the run with an unknown outcome; what is there is found.
#[test]
fn c9_a_failed_sync_is_unknown() {
    let expected = undisturbed(false, |fault| fault);
    let count = Fault::new(Plan::Count);
    let temp = tempfile::tempdir().unwrap();
    let place = Place::make(temp.path(), false);
    count.run(|| place.migrate(None)).unwrap();
    for (i, (step, path)) in count.trail().into_iter().enumerate() {
        if !matches!(step, Step::SyncFile | Step::SyncDir | Step::SyncFs) {
            continue;
        }
        let temp = tempfile::tempdir().unwrap();
        let place = Place::make(temp.path(), false);
        let fault = Fault::new(Plan::Fail(
            i as u64 + 1,
            rustix::io::Errno::IO.raw_os_error(),
        ));
        let error = match fault.run(|| place.migrate(None)) {
            Ok(done) => done.stopped,
            Err(e) => Some(e),
        };
        let what = format!("{step:?} {}", path.display());
        let error = error.unwrap_or_else(|| panic!("{what}: nothing was said"));
        assert_eq!(error.code, Code::OutcomeUnknown, "{what}: {error:?}");
        let again = Fault::new(Plan::Count).run(|| place.migrate(None)).unwrap();
        assert!(again.stopped.is_none(), "{what}");
        same(&tree(&place.store()), &expected.tree, &what);
    }
}

/// Several threads end in the same tree.
#[test]
fn threads_make_no_difference() {
    let expected = undisturbed(false, |fault| fault);
    for _ in 0..5 {
        let temp = tempfile::tempdir().unwrap();
        let place = Place::make(temp.path(), false);
        place.migrate_with(None, 4).unwrap();
        same(&tree(&place.store()), &expected.tree, "threads");
    }
}

/// C10: of two at once one waits, and finds all done.
#[test]
fn c10_two_at_once_are_one_migration() {
    let expected = undisturbed(false, |fault| fault);
    let temp = tempfile::tempdir().unwrap();
    let place = Place::make(temp.path(), false);
    let outcomes: Vec<String> = std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| place.migrate_with(None, 2)));
        both.map(|one| one.join().unwrap().unwrap().report.outcome)
            .into()
    });
    let mut outcomes = outcomes;
    outcomes.sort();
    assert_eq!(outcomes, ["no_change", "partial"]);
    same(&tree(&place.store()), &expected.tree, "threads");
}
