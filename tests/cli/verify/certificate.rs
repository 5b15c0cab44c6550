//! `--since`, `--save`, `--cache`: an incremental look says what a full one says.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::case::{Case, Kit, findings, verify as look};
use crate::support::sample::every;
use crate::support::tree::tree;
use crate::support::{Log, Output, damage};

/// An answer without what it says of its own cost.
fn answer(out: &Output) -> (Vec<Value>, Value, Option<i32>) {
    let found = findings(out);
    let mut summary = out.json()["summary"].clone();
    summary.as_object_mut().unwrap().remove("reused_bytes");
    (found, summary, out.code)
}

fn reused(out: &Output) -> u64 {
    out.json()["summary"]["reused_bytes"].as_u64().unwrap()
}

/// The arguments of an incremental look that keeps its own state.
fn with(state: &Path, more: &[&str]) -> Vec<String> {
    let state = state.to_str().unwrap();
    let mut all = ["--since", state, "--save", state, "--format", "json"]
        .map(str::to_owned)
        .to_vec();
    all.extend(more.iter().map(|arg| (*arg).to_owned()));
    all
}

fn run(kit: &Kit, args: &[String]) -> Output {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    kit.verify(&args)
}

#[test]
fn what_was_appended_is_parsed_and_no_more() {
    let kit = Kit::v1();
    let state = kit.env.path("state");
    let first = run(&kit, &with(&state, &[])).status(0);
    assert!(
        first.stderr.contains("is not used: it is not there"),
        "{first}"
    );
    assert_eq!(reused(&first), 0, "{first}");
    let before = fs::read(kit.segment()).unwrap().len() as u64;
    let again = run(&kit, &with(&state, &["-v"])).status(0);
    assert_eq!(reused(&again), before, "{again}");
    assert_eq!(answer(&again), answer(&first));
    assert!(again.stderr.contains("of it known from before"), "{again}");
    assert_eq!(again.stderr.lines().count(), 2, "{again}");
    let more = Log::start(1).turns(3).bytes();
    fs::write(kit.segment(), &more[..more.len() - 1]).unwrap();
    let grown = run(&kit, &with(&state, &["--digest"])).status(0);
    assert_eq!(reused(&grown), before, "{grown}");
    let full = kit.verify(&["--digest", "--format", "json"]).status(0);
    assert_eq!(answer(&grown), answer(&full));
    assert_eq!(findings(&grown)[1]["code"], "torn_tail", "{grown}");
    assert!(!grown.stderr.contains("read in full"), "{grown}");
    // digests come from it too
    let same = run(&kit, &with(&state, &["--digest", "--trust-mtime"])).status(0);
    assert_eq!(answer(&same), answer(&full));
}

#[test]
fn what_changed_is_read_in_full_and_named() {
    let kit = Kit::v1();
    for n in 2..=4 {
        kit.store.worker(n).usual(n);
    }
    let state = kit.env.path("state");
    let _ = run(&kit, &with(&state, &[])).status(0);
    damage::flip(&kit.segment(), 3);
    damage::cut(&kit.store.worker_folder(3).segment_path(0x31), 40);
    let out = run(&kit, &with(&state, &["--trust-mtime"])).status(1);
    assert_eq!(answer(&out), answer(&kit.verify(&["--format", "json"])));
    assert!(out.stderr.contains("2 files were read in full"), "{out}");
    assert!(
        out.stderr
            .contains("the part that was read before changed, and 1 more"),
        "{out}"
    );
    let out = run(&kit, &with(&state, &[])).status(1);
    assert!(!out.stderr.contains("in full"), "{out}");
}

/// A Worker whose documents disagree is read twice, and its files count once.
#[test]
fn what_is_read_twice_is_named_once() {
    let kit = Kit::v1();
    let state = kit.env.path("state");
    let _ = run(&kit, &with(&state, &[])).status(0);
    damage::flip(&kit.segment(), 3);
    kit.worker.active(1, Some(0x99));
    let out = run(&kit, &with(&state, &[])).status(1);
    assert!(out.stderr.contains("1 file was read in full"), "{out}");
    assert_eq!(reused(&out), 0, "{out}");
    let again = run(&kit, &with(&state, &[])).status(1);
    assert_eq!(reused(&again), again.json()["summary"]["bytes"], "{again}");
}

/// Rows of every table: damage behind the back of a certificate, and a certificate of damage.
#[test]
fn every_case_gives_what_a_full_look_gives() {
    let failed: Vec<&str> = every(4, super::all())
        .filter(|case| std::panic::catch_unwind(|| hold(case)).is_err())
        .map(|case| case.what)
        .collect();
    assert!(failed.is_empty(), "these rows do not hold: {failed:?}");
}

fn hold(case: &Case) {
    for before in [true, false] {
        let mut kit = Kit::v1();
        let state = kit.env.path("state");
        if before {
            let _ = run(&kit, &with(&state, &[]));
        }
        (case.damage)(&mut kit);
        let mut args = kit.args.clone();
        if !before {
            let _ = run(&kit, &with(&state, &args));
        }
        let full = |args: &[&str]| {
            let mut args = args.to_vec();
            args.extend(["--format", "json"]);
            answer(&kit.verify(&args))
        };
        if args.contains(&"--quick") {
            return;
        }
        for more in [None, Some("--trust-mtime")] {
            args.extend(more);
            let out = run(&kit, &with(&state, &args));
            let plain: Vec<&str> = kit.args.clone();
            assert_eq!(
                answer(&out),
                full(&plain),
                "{}: {}\n{out}",
                case.code,
                case.what
            );
        }
    }
}

/// The state is one file outside the store, and nothing else is left anywhere.
#[test]
fn a_state_lies_outside_the_store() {
    let kit = Kit::v1();
    let below = kit.store.path("workers/1/state");
    let link = kit.env.path("link");
    std::os::unix::fs::symlink(kit.store.path("workers"), &link).unwrap();
    for path in [
        kit.store.path("state"),
        below,
        link.join("state"),
        kit.store.path("new/state"),
    ] {
        for flag in ["--save", "--since"] {
            let out = kit.verify(&[flag, path.to_str().unwrap()]).status(2);
            assert!(out.stderr.contains("lies in the store"), "{out}");
        }
    }
    // a folder that is not there, and one that takes nothing
    let out = kit.verify(&["--save", "nowhere/state"]).status(14);
    assert!(out.stderr.contains("nowhere/state"), "{out}");
    for wrong in [
        &["--trust-mtime"][..],
        &["--save", "s", "--quick"],
        &["--since", "s", "--cache"],
        &["--cache", "--file", "x"],
    ] {
        let _ = kit.verify(wrong).status(2);
    }
    fs::create_dir(kit.env.path("folder")).unwrap();
    let before = tree(&kit.env.dir());
    let _ = kit.verify(&["--save", "folder"]).status(2);
    crate::support::tree::assert_same(&before, &tree(&kit.env.dir()), "a state that is a folder");
    let _ = kit.verify(&["--save", "folder/state"]).status(0);
    assert_eq!(fs::read_dir(kit.env.path("folder")).unwrap().count(), 1);
    let out = kit.verify(&["--since", "folder"]).status(0);
    assert!(
        out.stderr
            .contains("it is no file; everything is read in full"),
        "{out}"
    );
}

#[test]
fn a_certificate_of_other_limits_is_not_used() {
    let kit = Kit::v1();
    let state = kit.env.path("state");
    let _ = run(&kit, &with(&state, &[])).status(0);
    let out = run(&kit, &with(&state, &["--max-line", "150"])).status(1);
    assert!(out.stderr.contains("another --max-line"), "{out}");
    assert_eq!(reused(&out), 0);
    assert_eq!(
        answer(&out),
        answer(&kit.verify(&["--max-line", "150", "--format", "json"]))
    );
}

#[test]
fn a_look_at_some_workers_keeps_what_is_known_of_the_others() {
    let kit = Kit::v1();
    kit.store.worker(2).usual(2);
    let state = kit.env.path("state");
    let whole = run(&kit, &with(&state, &[])).status(0);
    let bytes = whole.json()["summary"]["bytes"].as_u64().unwrap();
    let _ = run(&kit, &with(&state, &["2"])).status(0);
    // and so does one that was ended early
    let _ = run(&kit, &with(&state, &["--max-duration", "0s"])).status(1);
    let again = run(&kit, &with(&state, &[])).status(0);
    assert_eq!(reused(&again), bytes, "{again}");
    // what is gone is forgotten by a look at everything
    let size = fs::metadata(&state).unwrap().len();
    fs::remove_dir_all(kit.store.path("workers/2")).unwrap();
    let _ = run(&kit, &with(&state, &[])).status(0);
    assert!(fs::metadata(&state).unwrap().len() < size);
}

/// One of another store is of no use, and that is said.
#[test]
fn a_certificate_of_another_store_is_named() {
    let (kit, other) = (Kit::v1(), Kit::v1());
    other.store.worker(2).usual(2);
    fs::remove_dir_all(other.store.path("workers/1")).unwrap();
    let state = kit.env.path("state");
    let _ = run(&kit, &with(&state, &[])).status(0);
    let since = ["--since", state.to_str().unwrap(), "--format", "json"];
    let note = "state knows none of the files that were looked at; everything is read in full";
    let out = other.verify(&since);
    assert!(out.stderr.contains(note), "{out}");
    assert_eq!(reused(&out), 0, "{out}");
    // one file is enough
    kit.store.worker(3).usual(3);
    let out = kit.verify(&since).status(0);
    assert!(!out.stderr.contains("knows none"), "{out}");
    let out = kit.verify(&[&since[..], &["3"]].concat()).status(0);
    assert!(out.stderr.contains(note), "{out}");
}

#[test]
fn the_cache_is_the_users_and_may_fail() {
    let kit = Kit::v1();
    let root = kit.store.root().to_str().unwrap().to_owned();
    let run = |store: &str, cache: Option<PathBuf>| {
        let run = kit
            .env
            .prepare(["verify", "--cache", "--format", "json", "--store", store]);
        match cache {
            Some(path) => run.env("XDG_CACHE_HOME", path.into_os_string()).run(),
            None => run.run(),
        }
    };
    let home = kit
        .env
        .dir()
        .parent()
        .unwrap()
        .join("home/.cache/wagg/verify");
    assert_eq!(reused(&run(&root, None).status(0)), 0);
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    // by the store, whatever way leads to it
    std::os::unix::fs::symlink(&root, kit.env.path("other")).unwrap();
    let again = run("other", None).status(0);
    assert_eq!(reused(&again), again.json()["summary"]["bytes"], "{again}");
    let out = run(&root, Some(kit.env.path("xdg"))).status(0);
    assert_eq!(reused(&out), 0);
    assert_eq!(
        fs::read_dir(kit.env.path("xdg/wagg/verify"))
            .unwrap()
            .count(),
        1
    );
    // where nothing can be written, the look is a full one
    let file = kit.env.write("file", b"");
    let out = run(&root, Some(file)).status(0);
    assert!(out.stderr.contains("the cache is not written"), "{out}");
    let out = run(&root, Some(kit.store.path("cache"))).status(2);
    assert!(out.stderr.contains("lies in the store"), "{out}");
    assert!(!kit.store.path("cache").exists());
}

#[test]
fn any_number_of_jobs_and_any_format() {
    let kit = Kit::v1();
    for n in 2..=9 {
        let worker = kit.store.worker(n);
        worker.usual(n);
        if n % 2 == 0 {
            damage::replace_line(&worker.segment_path(n * 16 + 1), 3, "x");
        }
    }
    let state = kit.env.path("state");
    let state = state.to_str().unwrap();
    let save = |jobs| kit.verify(&["--save", state, "--jobs", jobs]).status(1);
    let _ = save("1");
    damage::flip(&kit.segment(), 3);
    damage::flip(&kit.store.worker_folder(5).segment_path(0x51), 3);
    for format in ["auto", "table", "json", "ndjson"] {
        let one = look(
            &kit.env,
            kit.store.root(),
            &["--since", state, "--format", format, "--jobs", "1"],
        );
        let many = look(
            &kit.env,
            kit.store.root(),
            &["--since", state, "--format", format, "--jobs", "8"],
        );
        assert_eq!(one.bytes(), many.bytes(), "{format}");
        assert_eq!(one.stderr, many.stderr, "{format}");
    }
}
