//! What a person and a script are told when a command stops.

use std::process::Stdio;

use crate::support::{TestEnv, schema};

#[test]
fn an_unknown_code_names_those_near_it() {
    let env = TestEnv::new();
    let out = env.wagg(["explain", "torn_tial"]).status(4);
    assert_eq!(
        out.stderr,
        "error[not_found]: no code is called torn_tial\nhint: wagg explain torn_tail\n"
    );
    assert_eq!(out.stdout(), "");
}

#[test]
fn json_errors_are_one_object_on_the_last_line() {
    let env = TestEnv::new();
    for format in ["json", "ndjson"] {
        let out = env
            .wagg(["--format", format, "explain", "nothing"])
            .status(4);
        assert_eq!(out.stderr.lines().count(), 1, "{out}");
        let error = out.error();
        assert_eq!(error["code"], "not_found");
        assert_eq!(error["exit"], 4);
        assert_eq!(error["effects_applied"], "none");
        schema::check("error", &serde_json::json!({ "error": error }));
    }
}

#[test]
fn usage_errors_have_status_2_in_every_format() {
    let env = TestEnv::new();
    let out = env.wagg(["explain", "--al"]).status(2);
    assert!(
        out.stderr
            .starts_with("error[usage]: unexpected argument '--al' found\n"),
        "{out}"
    );
    let wrong: [&[&str]; 5] = [
        &["--format", "json", "explian"],
        &["explain", "--format=json", "--al"],
        &["completions", "--format", "ndjson"],
        &["--format", "json"],
        &["--format", "json", "--verbose=3", "man"],
    ];
    for args in wrong {
        let out = env.wagg(args).status(2);
        let error = out.error();
        assert_eq!(error["code"], "usage", "{out}");
        assert_eq!(error["exit"], 2, "{out}");
        assert!(!error["message"].as_str().unwrap().contains('\n'), "{out}");
        schema::check("error", &serde_json::json!({ "error": error }));
    }
    let out = env
        .prepare(["explian"])
        .env("WAGG_FORMAT", "json")
        .run()
        .status(2);
    assert_eq!(out.error()["code"], "usage");
    let out = env
        .prepare(["explain"])
        .env("WAGG_FORMAT", "xml")
        .run()
        .status(2);
    assert!(out.stderr.contains("xml"), "{out}");
}

#[test]
fn help_and_version_are_answers() {
    let env = TestEnv::new();
    for args in [["--help"], ["-h"], ["--version"]] {
        let _ = env.wagg(args).ok();
    }
    let out = env.wagg::<[&str; 0]>([]).status(2);
    assert!(out.stderr.contains("Usage: wagg"), "{out}");
}

#[test]
fn a_bug_says_so_and_has_its_own_status() {
    if !cfg!(debug_assertions) {
        return;
    }
    let env = TestEnv::new();
    let out = env
        .prepare(["explain"])
        .env("WAGG_TEST_PANIC", "1")
        .run()
        .status(70);
    assert!(
        out.stderr
            .starts_with("error[internal]: this is a bug in wagg"),
        "{out}"
    );
    let out = env
        .prepare(["explain", "--format", "json"])
        .env("WAGG_TEST_PANIC", "1")
        .run()
        .status(70);
    let error = out.error();
    assert_eq!(error["code"], "internal");
    assert_eq!(error["effects_applied"], "unknown");
    schema::check("error", &serde_json::json!({ "error": error }));
}

/// A reader that goes away ends the output quietly and changes no status.
#[test]
fn a_closed_pipe_is_no_error() {
    let env = TestEnv::new();
    for format in ["auto", "table", "json", "ndjson"] {
        let mut child = env
            .prepare(["explain", "--format", format])
            .into_command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{format}");
        assert!(out.stderr.is_empty(), "{format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let env = TestEnv::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let out = env
        .prepare(["explain"])
        .into_command()
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(14));
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(
        stderr.starts_with("error[disk_full]: failed to write to standard output\n"),
        "{stderr}"
    );
}

/// Help is the same wherever it is asked for, and names what each command does.
#[test]
fn help_is_whole_wherever_it_is_asked_for() {
    let env = TestEnv::new();
    let help = |args: &[&str]| env.wagg(args).status(0).stdout().to_owned();
    for args in [
        &["-q", "help", "verify"][..],
        &["--store", "man", "help", "verify"],
        &["--color=never", "help", "verify"],
        &["help", "help", "verify"],
        &["--store", "man", "verify", "--help"],
    ] {
        assert_eq!(help(args), help(&["verify", "--help"]), "{args:?}");
    }
    assert_eq!(help(&["help", "help"]), help(&["--help"]));
    for args in [["help", "segment", "fork"], ["segment", "help", "fork"]] {
        assert_eq!(
            help(&args),
            help(&["segment", "fork", "--help"]),
            "{args:?}"
        );
    }
    assert_eq!(help(&["-q", "version"]), help(&["--version"]));
    // where nothing is called, what there is is listed with what it does
    let out = env.wagg(["--"]);
    assert_eq!(out.code, Some(2), "{out}");
    assert!(out.stderr.contains("verify       Check a store"), "{out}");
}

/// A number that must not be zero says so, in every command that takes one.
#[test]
fn a_number_that_would_do_nothing_is_refused_in_words() {
    let env = TestEnv::new();
    for args in [
        &["verify", "--jobs"][..],
        &["verify", "--max-findings"],
        &["migrate", "--jobs"],
        &["apply", "--group"],
        &["segment", "log", "7/active", "--from"],
    ] {
        for bad in ["0", "-1", "x", "99999999999999999999999"] {
            let flag = args.last().unwrap();
            let out = env.wagg(args.iter().chain([&bad])).status(2);
            let said =
                format!("invalid value '{bad}' for '{flag} <N>': not a whole number of at least 1");
            assert!(out.stderr.contains(&said), "{out}");
        }
    }
    for (part, said) in [
        ("1/99999999999", "K and N are at most 4294967295"),
        ("99999999999/2", "K and N are at most 4294967295"),
        ("0/2", "expected K/N, as 2/5"),
        ("1/", "expected K/N, as 2/5"),
        ("3/2", "there is no part 3 of 2"),
    ] {
        let out = env.wagg(["verify", "--partition", part]).status(2);
        assert!(out.stderr.contains(said), "{out}");
    }
    let out = env.wagg(["verify", "--ignore", "torn-tial"]).status(2);
    assert!(out.stderr.contains("did you mean torn_tail?"), "{out}");
}
