//! Where the reader lacks a right: said as such, everything else is looked at, nothing is changed.
//!
//! Root may read everything, so as root the program is run by somebody else; where that can not
//! be done the tests say so and end.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::case::{Kit, findings};
use crate::support::damage::{chmod, is_root};
use crate::support::store::put;
use crate::support::tree::unchanged;
use crate::support::{Log, Output, damage};

/// Runs the program without root's rights; nothing may change.
struct Plain {
    kit: Kit,
    program: PathBuf,
}

impl Plain {
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn new() -> Option<Self> {
        let kit = Kit::v1();
        let mut program = PathBuf::from(env!("CARGO_BIN_EXE_wagg"));
        if is_root() {
            // the folders of the test and of the build may be root's alone
            let home = kit.env.dir();
            for dir in [home.parent().unwrap(), &home] {
                chmod(dir, 0o755);
            }
            program = kit.env.path("wagg");
            std::fs::copy(env!("CARGO_BIN_EXE_wagg"), &program).unwrap();
            chmod(&program, 0o755);
            let can = Command::new("setpriv")
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .arg(&program)
                .arg("--version")
                .output();
            if !can.is_ok_and(|out| out.status.success()) {
                eprintln!("skipped: root, and no setpriv to be somebody else");
                return None;
            }
        }
        Some(Self { kit, program })
    }

    fn verify(&self, args: &[&str]) -> Output {
        let store = self.kit.store.root();
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .arg(&self.program);
            command
        } else {
            Command::new(&self.program)
        };
        command
            .current_dir(self.kit.env.dir())
            .env("TZ", "UTC")
            .args(["verify", "--store"])
            .arg(store)
            .args(args);
        unchanged(&[store], "verify", || Output::of(command))
    }

    /// Takes all rights away from something, verifies, and gives them back.
    fn without(&self, path: &std::path::Path, args: &[&str]) -> (Output, Vec<Value>) {
        let mode = path.metadata().unwrap().permissions().mode();
        chmod(path, 0);
        let out = self.verify(args);
        chmod(path, mode);
        let found = findings(&out);
        (out, found)
    }
}

#[test]
fn what_can_not_be_read_is_one_finding() {
    let Some(plain) = Plain::new() else { return };
    let kit = &plain.kit;
    kit.store.worker(2).usual(2);
    let good = plain.verify(&["--format", "json"]).status(0);
    assert!(findings(&good).is_empty(), "{good}");
    for name in [
        "runtime.json",
        "workers/1",
        "workers/1/worker.json",
        "workers/1/metadata.json",
        "workers/1/session",
        "workers/1/session/session.json",
        "workers/1/session/segments",
        "workers/1/session/segments/01890000-0000-7000-8000-000000000011.jsonl",
        "workers/1/runs",
        "workers/1/runs/1",
    ] {
        let (out, found) = plain.without(&kit.store.path(name), &["--format", "json"]);
        assert_eq!(out.code, Some(1), "{name}\n{out}");
        let said: Vec<_> = found.iter().map(|f| &f["code"]).collect();
        assert_eq!(said, ["unreadable"], "{name}\n{out}");
        assert_eq!(found[0]["path"], name, "{out}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(message.contains("Permission denied"), "{message}");
        let summary = &out.json()["summary"];
        assert_eq!(summary["not_looked_at"], 1, "{name}\n{out}");
        let places = summary["not_looked_at_places"].as_array().unwrap();
        assert_eq!(places[0]["path"], name, "{out}");
        // the other Worker was looked at
        assert!(summary["records"].as_u64().unwrap() >= 15, "{name}\n{out}");
    }
}

/// A Segment that can not be read is there: it is no missing source and no missing active one.
#[test]
fn what_can_not_be_read_is_not_missing() {
    let Some(plain) = Plain::new() else { return };
    let kit = &plain.kit;
    kit.worker
        .segment(0x12, &Log::forked(1, super::case::SEGMENT, 1).turns(1));
    let (out, found) = plain.without(&kit.segment(), &["--format", "json"]);
    assert_eq!(found.len(), 1, "{out}");
    assert_eq!(found[0]["code"], "unreadable", "{out}");
}

#[test]
fn a_store_whose_workers_can_not_be_listed() {
    let Some(plain) = Plain::new() else { return };
    let (out, found) = plain.without(&plain.kit.store.path("workers"), &["--format", "json"]);
    assert_eq!(out.code, Some(1), "{out}");
    assert_eq!(found.len(), 1, "{out}");
    assert_eq!(found[0]["path"], "workers", "{out}");
}

#[test]
fn a_root_that_can_not_be_read_is_an_error() {
    let Some(plain) = Plain::new() else { return };
    let root = plain.kit.store.root().to_owned();
    chmod(&root, 0);
    let out = plain.verify(&[]);
    chmod(&root, 0o755);
    assert_eq!(out.code, Some(14), "{out}");
    assert!(out.stderr.contains("Permission denied"), "{out}");
}

/// A socket that may not be asked tells nothing, and is no reason to stop.
#[test]
fn a_socket_that_may_not_be_asked() {
    let Some(plain) = Plain::new() else { return };
    if !is_root() {
        eprintln!("skipped: one's own socket may always be asked");
        return;
    }
    let listener = plain.kit.worker.live(1);
    chmod(&plain.kit.worker.path("runs/1/worker.sock"), 0o600);
    let out = plain.verify(&["--format", "json"]).status(0);
    let found = findings(&out);
    assert_eq!(found.len(), 1, "{out}");
    assert_eq!(found[0]["code"], "stale_socket", "{out}");
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("can not be told"), "{message}");
    drop(listener);
}

/// Everything may be read and nothing written: all the same to a check.
#[test]
fn a_read_only_store_is_checked_like_any_other() {
    let Some(plain) = Plain::new() else { return };
    let kit = &plain.kit;
    damage::torn_tail(&kit.segment());
    put(kit.store.path(".wagg/store.lock"), b"");
    let all: Vec<PathBuf> = walkdir::WalkDir::new(kit.store.root())
        .into_iter()
        .map(|e| e.unwrap().into_path())
        .collect();
    for path in &all {
        chmod(path, if path.is_dir() { 0o555 } else { 0o444 });
    }
    for args in [
        &["--format", "json"][..],
        &["--digest", "--format", "json"],
        &["--locked", "--format", "json"],
        &["--quick", "--format", "json"],
    ] {
        let out = plain.verify(args).status(0);
        let found = findings(&out);
        assert_eq!(found.len(), 1, "{out}");
        assert_eq!(found[0]["code"], "torn_tail", "{out}");
    }
    for path in &all {
        chmod(path, if path.is_dir() { 0o755 } else { 0o644 });
    }
}

/// A mount that takes no write at all, where one can be made.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_mount_is_checked_like_any_other() {
    let kit = Kit::v1();
    let mount = kit.env.path("mount");
    std::fs::create_dir(&mount).unwrap();
    // in a mount namespace of its own, which goes away with the process
    let script = format!(
        "mount --bind {store} {mount} && mount -o remount,bind,ro {mount} && \
         ! touch {mount}/x 2>/dev/null && echo mounted && exec {wagg} verify --store {mount}",
        store = kit.store.root().display(),
        mount = mount.display(),
        wagg = env!("CARGO_BIN_EXE_wagg"),
    );
    let out = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .output();
    match out {
        Ok(out) if out.stdout.starts_with(b"mounted") => {
            let stderr = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(0), "{stderr}");
            assert!(stderr.contains("looked at 1 Worker"), "{stderr}");
        }
        _ => eprintln!("skipped: no read-only mount can be made here"),
    }
}

/// Devices can only be made by root, and not everywhere.
#[test]
fn a_device_is_not_opened() {
    let kit = Kit::v1();
    let path = kit.worker.segment_path(0x12);
    let made = Command::new("mknod")
        .arg(&path)
        .args(["c", "1", "5"])
        .status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: no device can be made here");
        return;
    }
    // /dev/zero: who opens it reads for ever
    let place = kit.whole(&path).says("a device");
    super::case::hold_in(&kit, wagg::diag::Code::NotARegularFile, "a device", &place);
}
