//! Files that a person names for output: no command writes over a history, over a file of a
//! person's own, or over what it reads, and it says so before it works.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::store::put;
use crate::support::tree::unchanged;
use crate::support::{
    Legacy, Log, Output, TestEnv, TestStore, damage, files_below, schema, source,
};

/// Every command that writes a file, `{}` for its name.
const COMMANDS: &[&str] = &[
    "repair --plan-out {}",
    "repair --apply --plan-out {}",
    "verify --report json={}",
    "verify --report junit={}",
    "verify --report sarif={}",
    "verify --save {}",
    "verify --file outside.jsonl --report json={}",
    "report merge part.json --report json={}",
    "report merge part.json --report junit={}",
    "report merge part.json --report sarif={}",
    "migrate --sessions old/sessions --metadata old/workers --dry-run --report json={}",
    "migrate --sessions old/sessions --metadata old/workers --report json={}",
];

struct Kit {
    env: TestEnv,
    store: TestStore,
}

impl Kit {
    fn new() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        store.worker(7).usual(7);
        TestStore::v1(env.path("other")).worker(8).usual(8);
        Legacy::new(env.path("old")).usual(1);
        put(env.path("outside.jsonl"), Log::start(1).turn("a").bytes());
        let kit = Self { env, store };
        let part = ["verify", "--partition", "1/1", "--report", "json=part.json"];
        let _ = kit.run(&part.join(" "), "").status(0);
        kit
    }

    fn run(&self, command: &str, name: &str) -> Output {
        let args = ["--store", "store", "--format", "json"].map(str::to_owned);
        let words = command.split(' ').map(|word| word.replace("{}", name));
        self.env.wagg(args.into_iter().chain(words))
    }

    fn segment(&self) -> String {
        let all = files_below(self.store.root(), ".jsonl");
        let segment = all
            .iter()
            .find(|path| path.to_str().unwrap().contains("/segments/"));
        segment.unwrap().to_str().unwrap().to_owned()
    }

    /// Nothing is changed anywhere, and the answer says which name it is about.
    fn refused(&self, command: &str, name: &str, what: &str) {
        let dir = self.env.dir();
        let out = unchanged(&[&dir], command, || self.run(command, name));
        let told = format!("{command} {name}: {out}");
        let out = out.status(2);
        let error = out.error();
        assert_eq!(error["code"], "usage", "{told}");
        assert_eq!(error["path"], name, "{told}");
        assert_eq!(error["effects_applied"], "none", "{told}");
        assert!(error["message"].as_str().unwrap().contains(what), "{told}");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{told}");
        schema::check("error", &serde_json::json!({ "error": error }));
        assert_eq!(out.stdout(), "", "{told}");
    }
}

/// In the store, in any other, and behind every kind of link to them.
#[test]
fn nothing_is_written_into_a_store() {
    let kit = Kit::new();
    let segment = kit.segment();
    symlink(&segment, kit.env.path("link.json")).unwrap();
    symlink(
        Path::new(&segment).parent().unwrap(),
        kit.env.path("folder"),
    )
    .unwrap();
    symlink(kit.env.path("nowhere"), kit.env.path("dangling")).unwrap();
    for command in COMMANDS {
        // an earlier part of a store is no other place when the store is not known
        for name in [
            segment.as_str(),
            "store/runtime.json",
            "store/new.json",
            "store/new/new.json",
            "store/workers/new.json",
            "store/../store/.wagg/new.json",
            "other/runtime.json",
            "other/workers/new",
            "folder/new.json",
            "link.json",
        ] {
            kit.refused(command, name, "lies in the store");
        }
        kit.refused(command, "dangling", "link to what is not there");
        kit.refused(command, "other", "");
        // not standard output, and not taken for a file of that name by chance
        kit.refused(command, "-", "no name of a file");
        kit.refused(command, "new/../x", "not there");
        if command.starts_with("migrate") {
            kit.refused(command, "old/sessions/new.json", "legacy Session root");
            kit.refused(command, "old/workers/a/new", "legacy metadata root");
        }
    }
    for command in ["man {}", "demo {}", "init {}"] {
        for name in ["store/new", "store/workers", "other/a/b", "folder/man"] {
            kit.refused(command, name, "lies in the store");
        }
    }
    let _ = kit.run("init store", "").status(0);
}

/// What a person wrote is not replaced, whatever its name; what wagg wrote is, and keeps its mode.
#[test]
fn only_files_of_their_kind_are_replaced() {
    let kit = Kit::new();
    for (name, bytes) in [
        ("notes.txt", &b"mine"[..]),
        ("other.json", b"{\"a\":1}"),
        (
            "other.xml",
            b"<?xml version=\"1.0\"?><testsuites name=\"cargo\"/>",
        ),
        ("blank", b"\n"),
        ("copy.jsonl", &fs::read(kit.segment()).unwrap()),
    ] {
        kit.env.write(name, bytes);
        for command in COMMANDS {
            kit.refused(command, name, "is there and is no");
        }
    }
    for command in COMMANDS.iter().filter(|c| !c.contains("--apply")) {
        let _ = fs::remove_file(kit.env.path("out"));
        let _ = kit.run(command, "out");
        let first = fs::read(kit.env.path("out")).unwrap();
        assert!(!first.is_empty(), "{command}");
        damage::chmod(&kit.env.path("out"), 0o640);
        for before in [&first[..], b""] {
            put(kit.env.path("out"), before);
            symlink("out", kit.env.path("link")).unwrap();
            let _ = kit.run(command, "link");
            assert!(kit.env.path("link").is_symlink());
            fs::remove_file(kit.env.path("link")).unwrap();
            let met = fs::metadata(kit.env.path("out")).unwrap();
            assert!(met.len() > 0, "{command}");
            if !command.contains("--save") {
                assert_eq!(met.permissions().mode() & 0o777, 0o640, "{command}");
            }
        }
        let left = fs::read_dir(kit.env.dir()).unwrap().flatten();
        let left = left.filter(|e| e.file_name().to_str().unwrap().starts_with(".wagg-"));
        assert_eq!(left.count(), 0, "{command}");
    }
    // a state is no report, nor the other way round
    let _ = kit.run("verify --save state", "").status(0);
    kit.refused("verify --report json={}", "state", "no report");
    kit.refused("verify --save {}", "part.json", "no state");
    kit.env.write("man/wagg.1", "mine");
    let out = kit.run("man man", "").status(2);
    assert_eq!(out.error()["path"], "man/wagg.1", "{out}");
    fs::remove_file(kit.env.path("man/wagg.1")).unwrap();
    let _ = kit.run("man man", "").status(0);
    let _ = kit.run("man man", "").status(0);
}

/// What is read is not written, under any name; only a state goes on from itself.
#[test]
fn an_input_is_no_output() {
    let kit = Kit::new();
    fs::hard_link(kit.env.path("part.json"), kit.env.path("same.json")).unwrap();
    for name in ["part.json", "./part.json", "same.json"] {
        for command in [
            "report merge part.json --report json={}",
            "verify --baseline part.json --report json={}",
            "verify --baseline part.json --save {}",
            "verify --file outside.jsonl --baseline part.json --report json={}",
            "verify --since part.json --report json={}",
        ] {
            let what = if command.contains("--save") {
                "part.json"
            } else {
                "this command reads"
            };
            kit.refused(command, name, what);
        }
    }
    kit.refused(
        "verify --file outside.jsonl --report json={}",
        "outside.jsonl",
        "",
    );
    kit.refused("verify --report json=new --report sarif={}", "new", "twice");
    kit.refused("verify --save new --report json={}", "new", "twice");
    for _ in 0..2 {
        let _ = kit.run("verify --since state --save state", "").status(0);
    }
}

/// A pipe takes the bytes and stays a pipe; standard output is written to where it stands.
#[test]
fn what_is_no_file_is_written_through() {
    let kit = Kit::new();
    let pipe = kit.env.path("pipe");
    damage::fifo(&pipe);
    for command in COMMANDS.iter().filter(|c| !c.contains("--apply")) {
        let reader = Command::new("cat")
            .arg(&pipe)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = kit.run(command, "pipe");
        let got = reader.wait_with_output().unwrap().stdout;
        assert!(!got.is_empty(), "{command}: {out}");
        assert!(
            pipe.symlink_metadata().unwrap().file_type().is_fifo(),
            "{command}"
        );
    }
    damage::dead_socket(&kit.env.path("socket"));
    for command in COMMANDS {
        kit.refused(command, "socket", "nothing that takes a text");
    }
    let out = kit.run("verify --report json=/dev/stdout", "").status(0);
    assert_eq!(out.stdout().matches("\"schema\"").count(), 2, "{out}");
    // the shell's file is not replaced under it
    let file = fs::File::create(kit.env.path("shell")).unwrap();
    let status = kit
        .env
        .prepare([
            "--store",
            "store",
            "verify",
            "--report",
            "json=/dev/stdout",
            "--format",
            "json",
        ])
        .into_command()
        .stdout(file)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = fs::read_to_string(kit.env.path("shell")).unwrap();
    assert_eq!(text.matches("\"schema\"").count(), 2, "{text}");
}

/// Files that are named are read by one function that has a limit, and written by one that refuses.
#[test]
fn one_place_reads_and_one_writes() {
    let bin = source().join("src/bin/wagg");
    for path in files_below(&bin, ".rs") {
        let code = fs::read_to_string(&path).unwrap();
        let name = path
            .strip_prefix(&bin)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let reads = [
            "fs::read(",
            "fs::read_to_string(",
            "read_to_end(",
            "read_to_string(",
            "File::open(",
        ];
        let writes = [
            "fs::write(",
            "File::create",
            "OpenOptions",
            "fs::copy(",
            ".persist(",
            "fs::rename(",
        ];
        // the kind of what is there is told by its first bytes
        let reader = ["cmd/input.rs", "cmd/output.rs"].contains(&name.as_str());
        for word in reads.iter().filter(|_| !reader) {
            assert!(!code.contains(word), "{name}: {word} is for cmd/input.rs");
        }
        for word in writes.iter().filter(|_| name != "cmd/output.rs") {
            assert!(!code.contains(word), "{name}: {word} is for cmd/output.rs");
        }
    }
}

/// What a killed command left beside its place is removed by the next that writes there, and what
/// one that lives is writing is not.
#[test]
fn what_killed_commands_left_beside_their_place_goes() {
    let kit = Kit::new();
    let dead = [".wagg-certificate-AbC123", ".wagg-output-xYz789"];
    for name in dead {
        put(kit.env.path(name), b"");
    }
    let alive = fs::File::create(kit.env.path(".wagg-certificate-alive0")).unwrap();
    fs2::FileExt::try_lock_exclusive(&alive).unwrap();
    symlink("outside.jsonl", kit.env.path(".wagg-output-linked")).unwrap();
    let _ = kit
        .run("verify --save state --report json=report", "")
        .status(0);
    for name in dead {
        assert!(!kit.env.path(name).exists(), "{name}");
    }
    for name in [
        ".wagg-certificate-alive0",
        ".wagg-output-linked",
        "outside.jsonl",
    ] {
        assert!(kit.env.path(name).symlink_metadata().is_ok(), "{name}");
    }
}
