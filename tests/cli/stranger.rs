//! What a stranger ran into: small traps, each held so that it stays mended.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::TestEnv;

fn store(env: &TestEnv) {
    let _ = env.wagg(["init", "s"]).ok();
    let _ = env.wagg(["--store", "s", "worker", "create"]).ok();
}

/// A file under a Worker's name hides whatever was there: an error, not a remark.
#[test]
fn a_file_where_a_workers_folder_was_is_an_error() {
    let env = TestEnv::new();
    store(&env);
    std::fs::remove_dir_all(env.path("s/workers/1")).unwrap();
    std::fs::write(env.path("s/workers/1"), "").unwrap();
    let out = env
        .wagg(["--store", "s", "verify", "--format", "json"])
        .status(1);
    let report = out.json();
    assert_eq!(report["findings"][0]["code"], "not_a_regular_file");
    assert_eq!(report["findings"][0]["path"], "workers/1");
}

/// C18: where the answer can not be written, nobody is told that nothing changed.
#[test]
fn c18_an_answer_that_can_not_be_written_is_not_nothing_changed() {
    let env = TestEnv::new();
    store(&env);
    if !std::path::Path::new("/dev/full").exists() {
        return; // there is no such device on this system
    }
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_wagg"))
        .args(["--store", "s", "run", "reserve", "1"])
        .current_dir(env.path("."))
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(15));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("the change was made"), "{said}");
}

/// Of a key that stands twice nobody knows which was meant.
#[test]
fn a_line_of_apply_with_a_key_twice_is_refused() {
    let env = TestEnv::new();
    store(&env);
    std::fs::write(
        env.path("lines"),
        "{\"command\":\"run reserve\",\"worker\":1,\"worker\":1}\n",
    )
    .unwrap();
    let out = env
        .wagg(["--store", "s", "apply", "lines", "--format", "json"])
        .status(1);
    assert_eq!(out.json()["receipts"][0]["error"]["code"], "usage");
    assert!(!env.path("s/workers/1/runs").exists());
}

/// C18: the same for every command that changes something, and also where the reader of the answer
/// has gone. What only reads ends quietly then.
#[test]
fn c18_every_change_says_that_its_answer_was_lost() {
    let full = || {
        let device = std::fs::OpenOptions::new().write(true).open("/dev/full");
        device.ok().map(Stdio::from)
    };
    let gone = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Some(Stdio::from(writer))
    };
    let reserve = r#"{"command":"run reserve","worker":1}"#;
    let nonsense = r#"{"command":"nonsense"}"#;
    for (args, stdin, effects) in [
        (&["worker", "create"][..], "", "all"),
        (&["run", "reserve", "1"], "", "all"),
        (&["segment", "create", "1"], "", "all"),
        (&["apply"], reserve, "all"),
        (
            &["apply", "--ids"],
            &format!("{reserve}\n{nonsense}\n"),
            "some",
        ),
        (&["repair", "--apply"], "", "all"),
        (&["op", "prune", "--older-than", "0s"], "", "all"),
        (&["quarantine", "empty"], "", "all"),
    ] {
        for format in ["auto", "json", "ndjson"] {
            for stdout in [full(), gone()].into_iter().flatten() {
                let env = TestEnv::new();
                store(&env);
                let run = |args: &[&str]| env.wagg(["--store", "s"].iter().chain(args)).status(0);
                let _ = run(&["run", "reserve", "1"]);
                std::fs::create_dir(env.path("s/.wagg/staging/.w.staging-999999999")).unwrap();
                if args[0] == "quarantine" {
                    let _ = run(&["repair", "--apply"]);
                }
                let mut command = env
                    .prepare(["--store", "s", "--format", format])
                    .into_command();
                command
                    .args(args)
                    .stdin(Stdio::piped())
                    .stdout(stdout)
                    .stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let mut input = child.stdin.take().unwrap();
                let _ = input.write_all(stdin.as_bytes());
                drop(input);
                let out = child.wait_with_output().unwrap();
                let said = String::from_utf8_lossy(&out.stderr).into_owned();
                assert_eq!(out.status.code(), Some(15), "{args:?} {format}: {said}");
                assert!(said.contains("the change was made"), "{args:?}: {said}");
                if format != "auto" {
                    let wanted = format!("\"effects_applied\":\"{effects}\"");
                    assert!(said.contains(&wanted), "{args:?}: {said}");
                }
            }
        }
    }
    let env = TestEnv::new();
    store(&env);
    for args in [
        &["worker", "list"][..],
        &["verify", "--format", "json"],
        &["worker", "create", "--dry-run"],
        &["repair", "--apply"],
        &["apply", "--format", "json"],
    ] {
        let mut command = env.prepare(["--store", "s"]).into_command();
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(gone().unwrap());
        assert_eq!(command.status().unwrap().code(), Some(0), "{args:?}");
    }
}

/// Where standard output is closed, the one answer that tells an id stands on standard error.
#[test]
fn an_answer_is_not_lost_where_standard_output_is_closed() {
    let env = TestEnv::new();
    store(&env);
    let script = format!("{} --store s run reserve 1 >&-", env!("CARGO_BIN_EXE_wagg"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(env.dir());
    let out = shell.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("the answer is 1"), "{said}");
}

/// A limit of nothing is a slip of the finger and no limit.
#[test]
fn a_limit_of_nothing_is_refused() {
    let env = TestEnv::new();
    store(&env);
    for args in [
        &["apply", "--group", "0"][..],
        &["verify", "--max-line", "0"],
        &["verify", "--max-line", "0KiB"],
        &["verify", "--max-findings", "0"],
        &["verify", "--jobs", "0"],
        &["repair", "--max-line", "0"],
    ] {
        let out = env.wagg(["--store", "s"].iter().chain(args)).status(2);
        assert!(out.stderr.contains(args[1]), "{out}");
    }
}

/// A variable that is set and empty is named, since nobody sees it on the command line.
#[test]
fn an_empty_variable_is_named() {
    let env = TestEnv::new();
    store(&env);
    for (name, command) in [
        ("WAGG_STORE", "worker list"),
        ("WAGG_FORMAT", "worker list"),
        ("WAGG_WAIT", "run reserve 1"),
    ] {
        let run = |format: &str| {
            let words = command.split(' ').map(str::to_owned);
            let format = (name != "WAGG_FORMAT").then(|| format!("--format={format}"));
            env.prepare(words.chain(format))
                .env(name, "")
                .run()
                .status(2)
        };
        let says = format!("{name} is set and empty");
        assert!(run("table").stderr.contains(&says), "{}", run("table"));
        assert!(run("json").stderr.contains(&says), "{}", run("json"));
    }
}

/// `--locked` waits for as long as it is told to.
#[test]
fn a_locked_look_waits_as_it_is_told() {
    let env = TestEnv::new();
    store(&env);
    let held = std::fs::File::open(env.path("s/.wagg/store.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    for command in ["verify", "orphans"] {
        let begun = std::time::Instant::now();
        let args = ["--store", "s", command, "--locked", "--wait", "0"];
        let out = env.wagg(args).status(11);
        assert!(out.stderr.contains("lock_busy"), "{out}");
        let out = env
            .prepare(["--store", "s", command, "--locked"])
            .env("WAGG_WAIT", "0.2")
            .run()
            .status(11);
        assert!(out.stderr.contains("waiting up to"), "{out}");
        assert!(begun.elapsed().as_secs() < 8, "{out}");
    }
}

/// A count and its noun come from one place, which knows that one is not many.
#[test]
fn counts_agree_with_their_nouns() {
    const NOUNS: &[&str] = &[
        "Workers",
        "Segments",
        "Sessions",
        "files",
        "bytes",
        "records",
        "lines",
        "turns",
        "runs",
        "findings",
        "errors",
        "warnings",
        "remarks",
        "items",
        "sources",
        "owners",
        "things",
        "operations",
        "folders",
        "places",
        "entries",
        "runtimes",
        "links",
        "rules",
        "calls",
        "results",
        "edits",
        "parts",
        "changes",
        "tokens",
    ];
    // Where there are always several, or one has words of its own.
    const SEVERAL: &[&str] = &[
        "{} Segments are there, from",
        "{text} fits {} things",
        "({length} bytes)",
        "({} bytes)",
        "{} runtimes, {}",
        "{} owners point at",
        "{} Workers point at",
        "{n} Segments here can be",
        "would have {} bytes, over",
        "{n} items of seed",
        "{len} bytes, over the limit",
        "longer than {MAX_LINE} bytes",
        "limit of {most} bytes",
        "limit of {MAX_INPUT} bytes",
        "concerned: {} more Workers",
        "the {n} records before",
        "{n} retained turns",
        "about {} tokens",
        "about {total} tokens",
        "{count} whole records",
        "{left} history items",
    ];
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for entry in walkdir::WalkDir::new(dir) {
        let entry = entry.unwrap();
        let name = entry.path().to_string_lossy().into_owned();
        if !name.ends_with(".rs") || name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            for (at, _) in line.match_indices("} ") {
                let words: Vec<&str> = line[at + 2..]
                    .split(|c: char| !c.is_ascii_alphabetic() && c != ' ')
                    .next()
                    .unwrap()
                    .split(' ')
                    .take(2)
                    .collect();
                let counted = match words.as_slice() {
                    [one, ..] if NOUNS.contains(one) => true,
                    [
                        "more" | "whole" | "legacy" | "orphan" | "history" | "retained",
                        two,
                    ] => NOUNS.contains(two),
                    _ => false,
                };
                if counted && !SEVERAL.iter().any(|known| line.contains(known)) {
                    wrong.push(format!("{name}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
