//! Flags that change what is looked at and what fails.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::case::{Kit, SEGMENT, counts, findings, verify};
use crate::support::store::{edit, id, put};
use crate::support::{Log, Output, TestEnv, TestStore, damage, schema};

/// Codes of the findings, in their order.
fn codes(out: &Output) -> Vec<String> {
    findings(out)
        .iter()
        .map(|f| f["code"].as_str().unwrap().to_owned())
        .collect()
}

/// A store with damage of many kinds in many Workers.
fn damaged() -> Kit {
    let kit = Kit::v1();
    for n in 2..=12 {
        let worker = kit.store.worker(n);
        worker.usual(n);
        let segment = worker.segment_path(n * 16 + 1);
        match n % 6 {
            0 => damage::replace_line(&segment, 3, "x"),
            1 => drop(damage::torn_tail(&segment)),
            2 => damage::glue(&segment, 4),
            3 => damage::remove(&worker.path("session/session.json")),
            4 => put(worker.path("session/segments/x.jsonl"), b""),
            _ => drop(worker.active(n, Some(0x999))),
        }
    }
    put(kit.store.path("stray"), b"");
    kit
}

/// A file so large that idle threads help with it: damage in the middle of it, lines across the
/// places where it is cut, a tail; and the same where the look ends early.
#[test]
fn a_large_file_by_many_threads_gives_the_same_bytes() {
    let kit = Kit::v1();
    let worker = kit.store.worker(2);
    worker.usual(2);
    let segment = worker.segment_path(2 * 16 + 1);
    let mut bytes = std::fs::read(&segment).unwrap();
    for n in 0..70 {
        let size = if n == 20 {
            4_000_000
        } else {
            200_000 + n * 101
        };
        let payload = "\\n\\u00e4 x".repeat(size / 10);
        let line = match n % 10 {
            3 => format!(r#"{{"kind":"extension","ts":{n},"domain":"d","payload":"{payload}\q"}}"#),
            5 => format!(r#"{{"kind":"turn_end","ts":{n},"turn_count":{n}}}"#),
            7 => String::new(),
            _ => format!(r#"{{"kind":"extension","ts":{n},"domain":"d","payload":"{payload}"}}"#),
        };
        bytes.extend(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes.extend(b"{\"kind\":");
    assert!(bytes.len() > 10 * 1024 * 1024);
    put(&segment, &bytes);
    for flags in [&["--digest"][..], &["--max-findings", "3"]] {
        let run = |jobs| kit.verify(&[flags, &["--format", "json", "--jobs", jobs]].concat());
        let one = run("1").status(1);
        for jobs in ["2", "5"] {
            assert_eq!(
                one.bytes(),
                run(jobs).status(1).bytes(),
                "{flags:?}, {jobs} jobs"
            );
        }
    }
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let kit = damaged();
    for format in ["auto", "table", "json", "ndjson"] {
        let run = |jobs| kit.verify(&["-v", "--digest", "--format", format, "--jobs", jobs]);
        let one = run("1").status(1);
        for jobs in ["2", "8", "100"] {
            let many = run(jobs).status(1);
            assert_eq!(one.bytes(), many.bytes(), "{format}, {jobs} jobs");
            assert_eq!(one.stderr, many.stderr, "{format}, {jobs} jobs");
        }
    }
    let _ = kit.verify(&["--jobs", "0"]).status(2);
}

#[test]
fn a_digest_is_that_of_the_committed_bytes() {
    let kit = Kit::v1();
    // longer than the buffer, with a line that is read through windows
    let long = Log::start(1).turn(&"x".repeat(2_000_000)).turns(3);
    kit.worker
        .segment(SEGMENT, &long)
        .segment(0x12, &Log::forked(1, SEGMENT, 1).turns(1))
        .segment(0x13, &Log::empty())
        .trace(SEGMENT);
    damage::torn_tail(&kit.segment());
    let out = kit.verify(&["--digest", "--format", "json"]).status(0);
    let document = out.json();
    schema::check("verify", &document);
    let shown = kit.verify(&["--digest", "--format", "table"]).status(0);
    // columns and ids have no room for them, and that is said whatever is kept quiet
    for (flags, why) in [
        (&[][..], "digests stand in --format json"),
        (&["-q"], "digests stand in --format json"),
        (&["-q", "--ids"], "print ids alone"),
    ] {
        let piped = kit.verify(&[&["--digest"], flags].concat()).status(0);
        assert_eq!(piped.stdout(), kit.verify(flags).status(0).stdout());
        assert!(piped.stderr.contains("warning: no digest is"), "{piped}");
        assert!(piped.stderr.contains(why), "{piped}");
    }
    let digests = document["summary"]["digests"].as_array().unwrap();
    let committed = [
        (SEGMENT, long.bytes()),
        (0x12, Log::forked(1, SEGMENT, 1).turns(1).bytes()),
        (0x13, Vec::new()),
    ];
    assert_eq!(digests.len(), committed.len(), "{out}");
    for (digest, (segment, bytes)) in digests.iter().zip(&committed) {
        let sum: String = Sha256::digest(bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(digest["worker_id"], "1", "{digest}");
        assert_eq!(digest["segment_id"], id(*segment), "{digest}");
        assert_eq!(digest["bytes"], bytes.len(), "{digest}");
        assert_eq!(digest["sha256"], sum, "{digest}");
        let line = format!("{sum}  {}\n", kit.name(kit.worker.segment_path(*segment)));
        assert!(shown.stdout().contains(&line), "{shown}");
    }
}

#[test]
fn quick_says_what_it_did_not_look_at() {
    let kit = Kit::v1();
    // the middle is not read, the first record, the end and the documents are
    damage::replace_line(&kit.segment(), 3, "x");
    let out = kit.verify(&["--quick", "--format", "json"]).status(0);
    assert!(findings(&out).is_empty(), "{out}");
    assert_eq!(out.json()["summary"]["quick"], true);
    assert!(
        out.stderr
            .contains("quick: first records and file ends only"),
        "{out}"
    );
    let tail = damage::torn_tail(&kit.segment()) as u64;
    kit.worker.active(1, Some(0x19));
    kit.worker
        .segment(0x12, &Log::forked(1, 0x77, 1).turns(1))
        .segment(0x13, &Log::start(9).turns(1));
    let out = kit.verify(&["--quick", "--format", "json"]).status(1);
    assert_eq!(
        codes(&out),
        [
            "active_missing_segment",
            "torn_tail",
            "lineage_missing_source",
            "session_mismatch"
        ],
        "{out}"
    );
    assert_eq!(findings(&out)[1]["length"], tail, "{out}");
}

/// In a file that is only a tail, in an empty one, and in one whose first line is damage.
#[test]
fn quick_sees_the_ends_that_a_whole_look_sees() {
    for log in [
        b"{\"kind\":\"segment_start\"".to_vec(),
        Vec::new(),
        b"x\n".to_vec(),
        b"\n\n \n".to_vec(),
        [&b"\n"[..], &Log::start(1).turns(1).bytes()].concat(),
        [&Log::start(1).turns(1).bytes()[..], b"{"].concat(),
        Log::start(1).turn(&"x".repeat(700_000)).bytes(),
    ] {
        let kit = Kit::v1();
        std::fs::write(kit.segment(), &log).unwrap();
        let look = |args: &[&str]| {
            let mut args = args.to_vec();
            args.extend(["--format", "json"]);
            let mut found = findings(&kit.verify(&args));
            for finding in &mut found {
                // what stands before the tail was not counted
                let finding = finding.as_object_mut().unwrap();
                finding.shift_remove("message");
                finding.shift_remove("line");
            }
            found
        };
        let head = String::from_utf8_lossy(&log[..log.len().min(40)]).into_owned();
        assert_eq!(look(&["--quick"]), look(&[]), "{head:?}");
    }
}

#[test]
fn limits_end_a_look_and_say_so() {
    let kit = damaged();
    let out = kit
        .verify(&["--max-duration", "0s", "--format", "json"])
        .status(1);
    let summary = out.json()["summary"].clone();
    assert_eq!(summary["segments"], 0, "{out}");
    assert_eq!(
        summary["not_looked_at"],
        summary["not_looked_at_places"].as_array().unwrap().len(),
        "{out}"
    );
    assert!(summary["not_looked_at"].as_u64().unwrap() >= 1, "{out}");
    assert!(out.stderr.contains("--max-duration was over"), "{out}");
    // what was not looked at is not praised
    let whole = Kit::v1();
    let segment = whole.segment();
    let file = ["--file", segment.to_str().unwrap()];
    for (what, args) in [("Worker", &[][..]), ("file", &file)] {
        for format in [&[][..], &["--format", "table"]] {
            let args = [&["verify", "--max-duration", "0s"], args, format].concat();
            let out = whole
                .env
                .prepare(args)
                .current_dir(whole.store.root())
                .run();
            let nothing = format!("no {what} was looked at: 0 errors");
            assert!(out.stderr.contains(&nothing), "{out}");
            assert!(!out.stderr.contains("no findings"), "{out}");
        }
    }
    let out = kit.verify(&["--max-duration", "1h"]).status(1);
    assert!(!out.stderr.contains("not looked at"), "{out}");

    let all = kit.verify(&["--format", "json"]).status(1);
    let loud = |out: &Output| {
        let found = findings(out);
        found.iter().filter(|f| f["severity"] != "info").count()
    };
    assert!(loud(&all) > 3, "{all}");
    for n in [1, 2, 3] {
        let n_text = n.to_string();
        let args = ["--max-findings", &n_text, "--format", "json", "--jobs", "1"];
        let out = kit.verify(&args).status(1);
        assert_eq!(loud(&out), n, "{out}");
        assert!(out.stderr.contains("--max-findings was reached"), "{out}");
        let found = findings(&out);
        assert!(
            found.iter().all(|f| findings(&all).contains(f)),
            "a limit makes no finding of its own\n{out}"
        );
    }
    // a limit that is not reached changes nothing
    let out = kit
        .verify(&["--max-findings", "1000", "--format", "json"])
        .status(1);
    assert_eq!(out.bytes(), all.bytes());
}

#[test]
fn sizes_and_times_are_read_as_people_write_them() {
    let kit = Kit::v1();
    for good in ["400", "400B", "1k", "1KiB", "64MiB", "1g", "2TiB"] {
        let _ = kit.verify(&["--max-line", good]).status(0);
    }
    for bad in ["", "x", "-1", "1.5M", "10 furlongs", "99999999999T"] {
        let out = kit.verify(&[&format!("--max-line={bad}")]).status(2);
        assert!(out.stderr.contains("--max-line"), "{out}");
    }
    for good in ["60", "60s", "5m", "2h", "1d"] {
        let _ = kit.verify(&["--max-duration", good]).status(0);
    }
    for bad in ["", "soon", "-1s", "1w", "1.5h"] {
        let out = kit.verify(&[&format!("--max-duration={bad}")]).status(2);
        assert!(out.stderr.contains("--max-duration"), "{out}");
    }
}

#[test]
fn ignored_codes_are_counted_as_such() {
    let kit = Kit::v1();
    damage::replace_line(&kit.segment(), 3, "x");
    damage::torn_tail(&kit.segment());
    let out = kit
        .verify(&["--ignore", "corrupt_record", "--format", "json"])
        .status(0);
    assert_eq!(codes(&out), ["torn_tail"], "{out}");
    assert_eq!(out.json()["summary"]["suppressed"], 1, "{out}");
    assert_eq!(out.json()["summary"]["errors"], 0, "{out}");
    assert!(
        out.stderr.contains("1 finding known before or ignored"),
        "{out}"
    );
    let both = [
        "--ignore",
        "corrupt_record",
        "--ignore",
        "torn_tail",
        "--strict",
    ];
    let out = kit.verify(&both).status(0);
    assert_eq!(out.stdout(), "");
    let out = kit.verify(&["--ignore", "torn_tial"]).status(2);
    assert!(out.stderr.contains("torn_tial"), "{out}");
}

#[test]
fn a_baseline_hides_what_was_known() {
    let kit = Kit::v1();
    damage::replace_line(&kit.segment(), 3, "x");
    let known = kit.verify(&["--format", "json"]).status(1);
    let baseline = kit.env.write("known.json", known.bytes());
    let baseline = baseline.to_str().unwrap();
    let out = kit
        .verify(&["--baseline", baseline, "--format", "json"])
        .status(0);
    assert!(findings(&out).is_empty(), "{out}");
    assert_eq!(out.json()["summary"]["suppressed"], 1, "{out}");
    // what the file grew by since is no news, what is new is
    damage::torn_tail(&kit.segment());
    damage::replace_line(&kit.segment(), 7, "y");
    let out = kit
        .verify(&["--baseline", baseline, "--format", "json"])
        .status(1);
    assert_eq!(codes(&out), ["corrupt_record", "torn_tail"], "{out}");
    counts(&out, 0);
    // --report json=FILE makes one too, and so does --format ndjson with jq, but not by itself
    let report = kit.env.path("report.json");
    let _ = kit
        .verify(&["--report", &format!("json={}", report.display())])
        .status(1);
    let out = kit
        .verify(&["--strict", "--baseline", report.to_str().unwrap()])
        .status(0);
    assert_eq!(out.stdout(), "", "{out}");
    for bad in [&b"not json"[..], b"{}", b"[]"] {
        let file = kit.env.write("bad.json", bad);
        let out = kit.verify(&["--baseline", file.to_str().unwrap()]);
        assert_eq!(out.code, Some(2), "{out}");
        assert!(out.stderr.contains("is no JSON report"), "{out}");
    }
    let out = kit.verify(&["--baseline", "nowhere.json"]).status(14);
    assert!(out.stderr.contains("nowhere.json"), "{out}");
}

#[test]
fn files_are_checked_without_a_store() {
    let env = TestEnv::new();
    let good = env.write("good.jsonl", Log::start(1).turns(1).bytes());
    let name = format!("{}.jsonl", id(SEGMENT));
    let torn = env.write(&name, Log::start(1).turns(1).bytes());
    damage::torn_tail(&torn);
    let trace = env.write("x.trace.jsonl", crate::support::log::trace());
    let bad = env.write("sub/bad.jsonl", b"x\n");
    let run = |args: &[&str]| {
        let mut all = vec!["verify", "--format", "json", "--file"];
        all.extend(args);
        env.wagg(all)
    };
    let out = run(&["good.jsonl", "x.trace.jsonl"]).status(0);
    assert!(findings(&out).is_empty(), "{out}");
    let summary = out.json()["summary"].clone();
    assert_eq!(summary["segments"], 1, "{out}");
    assert_eq!(summary["traces"], 1, "{out}");
    let out = run(&[&name, "sub/bad.jsonl", bad.to_str().unwrap()]).status(1);
    let found = findings(&out);
    let paths: Vec<&str> = found.iter().map(|f| f["path"].as_str().unwrap()).collect();
    // as given, in the order of places
    let mut wanted = vec![name.as_str(), "sub/bad.jsonl", bad.to_str().unwrap()];
    wanted.sort_unstable();
    assert_eq!(paths, wanted, "{out}");
    let torn = found.iter().find(|f| f["code"] == "torn_tail").unwrap();
    assert_eq!(torn["segment_id"], id(SEGMENT), "{out}");
    // what is not there, a folder, a link
    for (path, code) in [
        ("nowhere.jsonl", "unreadable"),
        ("sub", "not_a_regular_file"),
        ("nowhere/x.jsonl", "unreadable"),
    ] {
        let out = run(&[path]).status(1);
        assert_eq!(codes(&out), [code], "{out}");
    }
    std::os::unix::fs::symlink("good.jsonl", env.path("link.jsonl")).unwrap();
    let out = run(&["link.jsonl"]).status(1);
    assert_eq!(codes(&out), ["symbolic_link"], "{out}");
    let _ = run(&["good.jsonl", "--quick", "--digest"]).status(0);
    let _ = run(&["good.jsonl", "--locked"]).status(2);
    let out = env.wagg(["verify", "7", "--file", "good.jsonl"]);
    assert_eq!(out.code, Some(2), "{out}");
    let _ = (good, trace);
}

#[test]
fn workers_can_be_named() {
    let kit = Kit::v1();
    for n in [2, 3] {
        kit.store.worker(n).usual(n);
        damage::torn_tail(&kit.store.worker_folder(n).segment_path(n * 16 + 1));
    }
    put(kit.store.path("stray"), b"");
    let out = kit.verify(&["--format", "json", "3", "1"]).status(0);
    let found = findings(&out);
    assert_eq!(found.len(), 1, "{out}");
    assert_eq!(found[0]["worker_id"], "3", "{out}");
    assert_eq!(out.json()["summary"]["workers"], 2, "{out}");
    // what Workers are to each other is known of those that were not asked for
    kit.worker.segment(0x12, &Log::forked(1, 0x21, 1).turns(1));
    let out = kit.verify(&["--format", "json", "1"]).status(1);
    assert_eq!(codes(&out), ["lineage_other_session"], "{out}");
    let out = kit.verify(&["--format", "json", "99"]).status(4);
    assert_eq!(out.error()["code"], "not_found", "{out}");
    let out = kit.verify(&["99"]).status(4);
    assert!(out.stderr.contains("99"), "{out}");
}

/// The lock is taken where its file exists, shared, and never made.
#[test]
fn locked_makes_nothing_and_waits_for_nobody_without_a_lock_file() {
    let kit = Kit::v1();
    let _ = kit.verify(&["--locked"]).status(0);
    assert!(!kit.store.path(".wagg").exists());
    put(kit.store.path(".wagg/store.lock"), b"");
    let _ = kit.verify(&["--locked"]).status(0);
    let lock = std::fs::File::open(kit.store.path(".wagg/store.lock")).unwrap();
    // another reader is no hindrance
    fs2::FileExt::lock_shared(&lock).unwrap();
    let _ = kit.verify(&["--locked"]).status(0);
    fs2::FileExt::unlock(&lock).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    let out = kit
        .env
        .prepare(["verify", "--locked", "--format", "json", "--store"])
        .arg(kit.store.root())
        .env("WAGG_WAIT", "0")
        .run()
        .status(11);
    assert_eq!(out.error()["code"], "lock_busy", "{out}");
    // without the flag nobody waits
    let _ = kit.verify(&[]).status(0);
}

#[test]
fn a_store_is_found_or_said_not_to_be_there() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(1).usual(1);
    let below = store.path("workers/1/session");
    let out = env.prepare(["verify"]).current_dir(&below).run().status(0);
    assert!(out.stderr.contains("looked at 1 Worker"), "{out}");
    let root = store.root().to_str().unwrap();
    let out = env.prepare(["verify"]).env("WAGG_STORE", root).run();
    assert_eq!(out.code, Some(0), "{out}");
    let out = env.wagg(["verify", "--format", "json"]).status(10);
    assert_eq!(out.error()["code"], "store_not_found", "{out}");
    let out = env.wagg(["verify", "--store", "nowhere"]).status(10);
    assert!(out.stderr.contains("nowhere"), "{out}");
    // a store of a version that nobody knows is read as far as it goes
    edit(store.path("runtime.json"), |r| {
        r["schema_version"] = 7.into()
    });
    let out = verify(&env, store.root(), &["--format", "json"]).status(1);
    assert_eq!(codes(&out), ["unsupported_schema_version"], "{out}");
    assert_eq!(out.json()["summary"]["segments"], 1, "{out}");
}

/// A warning fails only with `--strict`, information never does.
#[test]
fn strict_lets_warnings_fail() {
    let kit = Kit::v1();
    put(kit.store.path("stray"), b"");
    let _ = kit.verify(&["--strict"]).status(0);
    damage::torn_tail(&kit.segment());
    let _ = kit.verify(&[]).status(0);
    let out = kit.verify(&["--strict", "--format", "json"]).status(1);
    let warnings: &Value = &out.json()["summary"]["warnings"];
    assert_eq!(warnings, 1, "{out}");
}
