//! What a stranger ran into: small traps, each held so that it stays mended.

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
