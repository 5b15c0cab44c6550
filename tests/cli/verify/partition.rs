//! `--partition K/N` and `report merge`: all parts together are the whole.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::case::{Case, Kit, findings};
use super::property::{config, life};
use crate::support::sample::every;
use crate::support::store::{edit, put};
use crate::support::{Log, Output, TestEnv, TestStore, damage, schema};

/// Holds that parts of a store, merged, say to the byte what one look at the whole says. `run`
/// runs `wagg` on the store in the folder `dir`.
pub fn parts_make_the_whole(dir: &Path, run: &dyn Fn(&[&str]) -> Output, args: &[&str]) {
    let _ = so_many_make_the_whole(&[1, 3], dir, run, args);
}

/// The same for so many parts; gives what is said of the whole.
fn so_many_make_the_whole(
    parts: &[u32],
    dir: &Path,
    run: &dyn Fn(&[&str]) -> Output,
    args: &[&str],
) -> Output {
    let verify = |more: &[&str]| {
        let mut all = vec!["verify", "--format", "json"];
        all.extend(args);
        all.extend(more);
        run(&all)
    };
    let whole = verify(&[]);
    if whole.code == Some(10) {
        return whole; // no store
    }
    for of in parts {
        let (mut files, mut looked_at) = (Vec::new(), BTreeSet::new());
        for number in 1..=*of {
            let file = dir.join(format!("part-{number}-of-{of}.json"));
            let target = format!("json={}", file.display());
            let part = format!("{number}/{of}");
            let out = verify(&["--partition", &part, "--report", &target]);
            let document = out.json();
            schema::check("verify", &document);
            for worker in document["summary"]["partition"]["workers"]
                .as_array()
                .unwrap()
            {
                let new = looked_at.insert(worker["folder"].to_string());
                assert!(new, "{worker} is in two parts");
            }
            files.push(file.to_str().unwrap().to_owned());
        }
        files.reverse();
        let mut merge = vec!["report", "merge", "--format", "json"];
        merge.extend(files.iter().map(String::as_str));
        let merged = run(&merge);
        assert_eq!(merged.code, whole.code, "{of} parts\n{merged}\n{whole}");
        assert_eq!(
            merged.stdout(),
            whole.stdout(),
            "{of} parts\n{merged}\n{whole}"
        );
        assert_eq!(merged.stderr, whole.stderr, "{of} parts");
        for file in files {
            fs::remove_file(file).unwrap();
        }
    }
    whole
}

fn hold(env: &TestEnv, store: &TestStore, args: &[&str]) {
    parts_make_the_whole(&env.dir(), &in_store(env, store), args);
}

fn in_store(env: &TestEnv, store: &TestStore) -> impl Fn(&[&str]) -> Output {
    let root = store.root().to_str().unwrap();
    move |args| {
        let mut all = vec!["--store", root];
        all.extend(args);
        env.wagg(all)
    }
}

/// Rows of every table.
#[test]
fn every_case_gives_what_the_whole_gives() {
    let hold = |case: &Case| {
        let mut kit = Kit::v1();
        (case.damage)(&mut kit);
        hold(&kit.env, &kit.store, &kit.args);
    };
    let failed: Vec<&str> = every(3, super::all())
        .filter(|case| std::panic::catch_unwind(|| hold(case)).is_err())
        .map(|case| case.what)
        .collect();
    assert!(failed.is_empty(), "these rows do not hold: {failed:?}");
}

#[test]
fn archives_the_journal_and_other_names_are_in_one_part() {
    let kit = Kit::v3();
    put(
        kit.store
            .path("archives/workers/old/session/segments/x.jsonl"),
        b"x\n",
    );
    put(kit.store.path("workers/stray"), b"");
    put(kit.store.path("workers/no-worker/x"), b"");
    std::os::unix::fs::symlink(
        "/",
        kit.store
            .path(format!("workers/{}", kit.store.worker_id(7))),
    )
    .unwrap();
    put(kit.store.path(".wagg/journal.jsonl"), b"{\"torn");
    for n in 2..=6 {
        kit.store.worker(n).usual(n);
    }
    hold(&kit.env, &kit.store, &["--digest"]);
    hold(&kit.env, &kit.store, &["--quick"]);
    hold(
        &kit.env,
        &kit.store,
        &["--ignore", "unknown_file", "--ignore", "torn_tail"],
    );
    hold(&kit.env, &kit.store, &["--max-duration", "0s"]);
}

/// What a Worker may be to others.
#[derive(Debug, Clone)]
enum Tie {
    Session(u64, u64),
    Segment(u64, u64),
    Fork(u64, u64, u64),
    Compact(u64, u64, u64),
    WorkerId(u64, u64),
    Child(u64, u64),
    Peer(u64, u64),
    Folder(u64),
    Torn(u64),
    Bad(u64),
    Log(u64, u64, Log),
    Sequence(u64),
    Gone(u64),
}

fn tie() -> impl Strategy<Value = Tie> {
    let worker = || 1_u64..6;
    let segment = || prop_oneof![(1_u64..6).prop_map(|n| n * 16 + 1), 0x81_u64..0x84];
    prop_oneof![
        (worker(), worker()).prop_map(|(w, s)| Tie::Session(w, s)),
        (worker(), segment()).prop_map(|(w, s)| Tie::Segment(w, s)),
        (worker(), segment(), segment()).prop_map(|(w, s, from)| Tie::Fork(w, s, from)),
        (worker(), segment(), segment()).prop_map(|(w, s, from)| Tie::Compact(w, s, from)),
        (worker(), worker()).prop_map(|(w, n)| Tie::WorkerId(w, n)),
        (worker(), 1_u64..8).prop_map(|(w, n)| Tie::Child(w, n)),
        (worker(), 1_u64..8).prop_map(|(w, n)| Tie::Peer(w, n)),
        worker().prop_map(Tie::Folder),
        worker().prop_map(Tie::Torn),
        worker().prop_map(Tie::Bad),
        (worker(), segment(), life()).prop_map(|(w, s, log)| Tie::Log(w, s, log)),
        (1_u64..8).prop_map(Tie::Sequence),
        worker().prop_map(Tie::Gone),
    ]
}

fn apply(store: &TestStore, tie: &Tie) {
    let folder = |n: &u64| store.worker_folder(*n);
    let names = |w: &u64, field: &str, value: Value| {
        folder(w).edit_metadata(|metadata| {
            let list = metadata
                .as_object_mut()
                .unwrap()
                .entry(field)
                .or_insert(json!([]));
            list.as_array_mut().unwrap().push(value);
        });
    };
    match tie {
        Tie::Session(w, session) => {
            folder(w).session(*session);
        }
        Tie::Segment(w, s) => {
            folder(w).segment(*s, &Log::start(*w).turns(1));
        }
        Tie::Fork(w, s, from) => {
            folder(w).segment(*s, &Log::forked(*w, *from, 1).turns(1));
        }
        Tie::Compact(w, s, from) => {
            folder(w).segment(*s, &Log::compacted(*w, *from, 9).turns(1));
        }
        Tie::WorkerId(w, n) => edit(folder(w).path("worker.json"), |worker| {
            worker["worker_id"] = (*n).into();
            worker["worker_ref"]["worker_id"] = (*n).into();
        }),
        Tie::Child(w, n) => names(
            w,
            "spawned_children",
            json!({ "worker_name": format!("worker-runtime-{n}"), "socket_path": "/x/worker.sock", "scope_delegated": [], "callback_address": "/x/cb" }),
        ),
        Tie::Peer(w, n) => names(
            w,
            "peers",
            json!({ "worker_name": format!("worker-runtime-{n}") }),
        ),
        Tie::Folder(w) => {
            let copy = store.path(format!("workers/copy-{w}"));
            fs::create_dir_all(&copy).unwrap();
            if let Ok(bytes) = fs::read(folder(w).path("worker.json")) {
                put(copy.join("worker.json"), bytes);
            }
        }
        Tie::Torn(w) => each_segment(store, w, |path| {
            damage::torn_tail(path);
        }),
        Tie::Bad(w) => each_segment(store, w, |path| damage::append(path, b"x\n")),
        Tie::Log(w, s, log) => {
            folder(w).segment(*s, log);
        }
        Tie::Sequence(n) => edit(store.path("runtime.json"), |runtime| {
            runtime["next_worker_sequence"] = (*n).into();
        }),
        Tie::Gone(w) => {
            let path = folder(w).path("session");
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn each_segment(store: &TestStore, worker: &u64, change: impl Fn(&Path)) {
    let root = store.worker_folder(*worker).path("");
    for path in crate::support::files_below(&root, ".jsonl") {
        if fs::metadata(&path).unwrap().len() > 0 {
            change(&path);
        }
    }
}

#[test]
fn any_store_is_the_sum_of_its_parts() {
    let mut config = config();
    config.cases = config.cases.div_ceil(4);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let checked = runner.run(&proptest::collection::vec(tie(), 0..12), |ties| {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        for n in 1..6 {
            store.worker(n).usual(n);
        }
        for tie in &ties {
            apply(&store, tie);
        }
        hold(&env, &store, &[]);
        Ok(())
    });
    checked.unwrap_or_else(|e| panic!("{e}"));
}

/// Five Workers of which two share a Session, looked at in three parts.
struct Parts {
    kit: Kit,
    files: Vec<String>,
}

impl Parts {
    fn new() -> Self {
        let kit = Kit::v1();
        for n in 2..=5 {
            kit.store.worker(n).usual(n);
        }
        kit.store.worker_folder(5).session(1);
        let mut this = Self {
            kit,
            files: Vec::new(),
        };
        this.files = (1..=3).map(|n| this.part(&format!("{n}/3"), &[])).collect();
        this
    }

    /// The report of a part, in a file of its own.
    fn part(&self, part: &str, args: &[&str]) -> String {
        self.part_of(self.kit.store.root(), part, args)
    }

    fn part_of(&self, store: &Path, part: &str, args: &[&str]) -> String {
        let n = fs::read_dir(self.kit.env.dir()).unwrap().count();
        let file = self.kit.env.path(format!("{n}.json"));
        let target = format!("json={}", file.display());
        let mut all = vec!["--partition", part, "--report", &target];
        all.extend(args);
        let _ = super::case::verify(&self.kit.env, store, &all);
        file.to_str().unwrap().to_owned()
    }

    fn merge(&self, files: &[&str], args: &[&str]) -> Output {
        let mut all = vec!["report", "merge"];
        all.extend(files);
        all.extend(args);
        self.kit.env.wagg(all)
    }

    fn files(&self) -> [&str; 3] {
        [&self.files[0], &self.files[1], &self.files[2]]
    }

    /// What must be refused, with a code and words.
    #[track_caller]
    fn refused(&self, files: &[&str], code: &str, words: &str) {
        let out = self.merge(files, &["--format", "json"]).status(3);
        let error = out.error();
        assert_eq!(error["code"], code, "{out}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{words:?}: {out}");
        assert_eq!(out.stdout(), "", "{out}");
    }
}

#[test]
fn only_the_merged_parts_know_what_the_whole_knows() {
    let parts = Parts::new();
    let out = parts
        .kit
        .verify(&["--partition", "1/3", "--format", "json"]);
    assert!(
        findings(&out).iter().all(|f| f["code"] != "session_shared"),
        "{out}"
    );
    assert!(
        out.stderr
            .contains("part 1/3 of the store: what only all Workers together tell"),
        "{out}"
    );
    let [one, two, three] = parts.files();
    let out = parts
        .merge(&[three, one, two], &["--format", "json"])
        .status(1);
    let shared = findings(&out)
        .iter()
        .filter(|f| f["code"] == "session_shared")
        .count();
    assert_eq!(shared, 1, "{out}");
    // in every form that verify has
    let target = format!("junit={}", parts.kit.env.path("merged.xml").display());
    let whole = format!("junit={}", parts.kit.env.path("whole.xml").display());
    let _ = parts
        .merge(&[one, two, three], &["--report", &target])
        .status(1);
    let _ = parts.kit.verify(&["--report", &whole]).status(1);
    let read = |name: &str| fs::read_to_string(parts.kit.env.path(name)).unwrap();
    assert_eq!(read("merged.xml"), read("whole.xml"));
    for format in ["auto", "table", "ndjson"] {
        let merged = parts
            .merge(&[one, two, three], &["--format", format])
            .status(1);
        let whole = parts.kit.verify(&["--format", format]).status(1);
        assert_eq!(merged.bytes(), whole.bytes(), "{format}");
    }
    // --strict is of the merge
    let parts = {
        fs::remove_dir_all(parts.kit.store.path("workers/5")).unwrap();
        damage::torn_tail(&parts.kit.segment());
        parts
    };
    let all: Vec<String> = (1..=2)
        .map(|n| parts.part(&format!("{n}/2"), &[]))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let _ = parts.merge(&all, &[]).status(0);
    let out = parts.merge(&all, &["--strict"]).status(1);
    // what to do next names the store as the parts do
    let next = format!(
        "hint: wagg --store {} repair\n",
        parts.kit.store.root().display()
    );
    assert!(out.stderr.ends_with(&next), "{out}");
    assert!(parts.kit.verify(&[]).stderr.ends_with(&next), "{out}");
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let parts = Parts::new();
    let [one, two, three] = parts.files();
    let code = "partition_mismatch";
    parts.refused(&[one, three], code, "1 of 3 parts is missing: 2");
    parts.refused(&[three], code, "2 of 3 parts are missing: 1, 2");
    parts.refused(&[one, two, three, two], code, "part 2 of 3 is there twice");
    parts.refused(&[one, two, &parts.part("3/4", &[])], code, "part 3 of 4");
    for args in [
        &["--quick"][..],
        &["--digest"],
        &["--max-line", "2GiB"],
        &["--ignore", "torn_tail"],
    ] {
        let other = parts.part("2/3", args);
        parts.refused(&[one, &other, three], code, args[0]);
    }
    let known = parts
        .kit
        .env
        .write("known", parts.kit.verify(&["--format", "json"]).bytes());
    let known = known.to_str().unwrap();
    let other = parts.part("2/3", &["--baseline", known]);
    parts.refused(&[one, &other, three], code, "--baseline");
    let whole = parts.kit.env.path("whole.json");
    let target = format!("json={}", whole.display());
    let _ = parts.kit.verify(&["--report", &target]);
    parts.refused(
        &[one, whole.to_str().unwrap(), three],
        code,
        "without --partition",
    );
    // another wagg
    let text = fs::read_to_string(two).unwrap();
    let older = text.replace(env!("CARGO_PKG_VERSION"), "0.0.9");
    let older = parts.kit.env.write("older", older);
    parts.refused(
        &[one, older.to_str().unwrap(), three],
        code,
        "by wagg 0.0.9",
    );
    // a part that says too little of its own Workers, or of another's
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let workers = document["summary"]["partition"]["workers"]
        .as_array_mut()
        .unwrap();
    assert!(!workers.is_empty());
    workers.remove(0);
    let short = parts.kit.env.write("short", document.to_string());
    parts.refused(
        &[one, short.to_str().unwrap(), three],
        code,
        "the store has 5",
    );
    // another store
    let other = TestStore::v1(parts.kit.env.path("other"));
    other.worker(1).usual(1);
    let other = parts.part_of(other.root(), "2/3", &[]);
    parts.refused(&[one, &other, three], code, "which has other Workers");
    // the same one, changed
    parts.kit.store.worker(6).usual(6);
    let later = parts.part("3/3", &[]);
    parts.refused(
        &[one, two, &later],
        "source_changed",
        "the store changed between",
    );
    // what is no report at all
    for bad in [&b"x"[..], b"{}", b"[]", b"{\"schema\":\"wagg.verify/1\"}"] {
        let bad = parts.kit.env.write("bad", bad);
        let out = parts
            .merge(&[one, bad.to_str().unwrap(), three], &[])
            .status(2);
        assert!(out.stderr.contains("is no JSON report"), "{out}");
    }
    let _ = parts.merge(&["nowhere.json"], &[]).status(14);
    let _ = parts.merge(&[], &[]).status(2);
}

#[test]
fn a_baseline_is_given_to_the_parts_and_to_the_merge() {
    let parts = Parts::new();
    let known = parts
        .kit
        .env
        .write("known", parts.kit.verify(&["--format", "json"]).bytes());
    let known = known.to_str().unwrap();
    let files: Vec<String> = (1..=3)
        .map(|n| parts.part(&format!("{n}/3"), &["--baseline", known]))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let out = parts
        .merge(&files, &["--baseline", known, "--format", "json"])
        .status(0);
    let whole = parts
        .kit
        .verify(&["--baseline", known, "--format", "json"])
        .status(0);
    assert_eq!(out.bytes(), whole.bytes());
    parts.refused(&files, "partition_mismatch", "give the same file here");
    let out = parts
        .merge(&parts.files(), &["--baseline", known])
        .status(3);
    assert!(out.stderr.contains("without --baseline"), "{out}");
}

#[test]
fn a_part_goes_with_what_narrows_nothing_else() {
    let kit = Kit::v1();
    for wrong in [
        &["--partition", "0/3"][..],
        &["--partition", "4/3"],
        &["--partition", "x"],
        &["--partition", "1/3", "1"],
        &["--partition", "1/3", "--max-findings", "3"],
        &["--partition", "1/3", "--file", "x"],
    ] {
        let _ = kit.verify(wrong).status(2);
    }
    // a part has a certificate as the whole has
    let state = kit.env.path("state");
    let state = state.to_str().unwrap();
    for part in ["1/2", "2/2", "1/2", "2/2"] {
        let _ = kit
            .verify(&["--partition", part, "--since", state, "--save", state])
            .status(0);
    }
    let out = kit
        .verify(&["--since", state, "--format", "json"])
        .status(0);
    let summary = &out.json()["summary"];
    assert_eq!(summary["reused_bytes"], summary["bytes"], "{out}");
}

/// More findings than are listed: the same ones are, whoever found them, and no Worker passes whose
/// findings have no room.
#[test]
fn the_same_findings_are_listed_of_very_many() {
    let kit = Kit::v1();
    for n in 2..=7 {
        let worker = kit.store.worker(n);
        worker.usual(n);
        damage::append(&worker.segment_path(n * 16 + 1), b"x\n".repeat(5_500));
    }
    let run = in_store(&kit.env, &kit.store);
    let whole = so_many_make_the_whole(&[2], &kit.env.dir(), &run, &[]);
    assert_eq!(findings(&whole).len(), 20_000);
    let summary = &whole.json()["summary"];
    assert_eq!(summary["errors"], 33_000, "all are counted");
    assert_eq!(summary["not_listed"], 13_000, "not listed");
    let unlisted: Vec<_> = summary["not_listed_workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|u| {
            (
                u["worker_id"].as_str().unwrap(),
                u["errors"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(unlisted[0], ("2", 500), "of one file");
    assert_eq!(unlisted[4..], [("6", 5_500), ("7", 5_500)], "of all");
    let junit = kit.env.path("report.xml");
    let report = format!("junit={}", junit.display());
    let out = kit.verify(&["--report", &report, "--ids"]).status(1);
    let ids: Vec<String> = (2..=7).map(|n| n.to_string()).collect();
    assert_eq!(out.stdout(), ids.join("\n") + "\n");
    assert!(
        out.stderr.contains("concerned: Worker 2 (5500 errors)"),
        "{}",
        out.stderr
    );
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("failures=\"6\""), "{}", &junit[..300]);
    let sarif = kit.env.path("report.sarif");
    let report = format!("sarif={}", sarif.display());
    let _ = kit.verify(&["--report", &report, "-q"]).status(1);
    let sarif = std::fs::read_to_string(sarif).unwrap();
    assert!(sarif.contains("13000 findings counted and not listed, in 6 Workers"));
}
