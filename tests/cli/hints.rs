//! A hint that is a command can be pasted as it is printed, whatever the store is called.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::store::{id, put};
use crate::support::{Log, Output, TestEnv, TestStore, damage};

/// Like a flag, with a space and a quote.
const NAME: &str = "-odd 'name";
/// The same as a shell takes it.
const QUOTED: &str = "'./-odd '\\''name'";
/// What needs no store.
const ALONE: &[&str] = &["explain"];

fn store(env: &TestEnv) -> TestStore {
    let store = TestStore::v1(env.path(NAME));
    store.worker(7).usual(7);
    store.worker(8).usual(8);
    store
}

fn args(command: &str, format: &str) -> Vec<String> {
    let mut all = vec![format!("--store={NAME}"), format!("--format={format}")];
    all.extend(command.split(' ').map(str::to_owned));
    all
}

/// Every command that an answer names, in its error, its findings, its choices and what comes next.
fn commands(out: &Output, data: bool) -> BTreeSet<String> {
    let mut texts = Vec::new();
    if data {
        for stream in [out.stdout().to_owned(), out.stderr.clone()] {
            if let Ok(value) = serde_json::from_str::<Value>(&stream) {
                collect(&value, &mut texts);
            }
        }
    } else {
        for line in out.stdout().lines().chain(out.stderr.lines()) {
            let line = line.trim_start();
            let said = line.strip_prefix("hint: ").or(line.strip_prefix("choice "));
            texts.extend(said.map(|text| text.trim().to_owned()));
        }
    }
    texts.iter().filter_map(|text| command(text)).collect()
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if matches!(&**key, "hint" | "next") => {
                        texts.extend(text.lines().map(str::to_owned));
                    }
                    Value::String(text) if key == "command" && text.starts_with("wagg ") => {
                        texts.push(text.clone());
                    }
                    _ => collect(value, texts),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, texts)),
        _ => {}
    }
}

/// The command in a hint: all of it, or what stands behind a colon.
fn command(hint: &str) -> Option<String> {
    let at = if hint.starts_with("wagg ") {
        0
    } else {
        hint.find(": wagg ")? + 2
    };
    Some(hint[at..].to_owned())
}

/// Whether a person has to put something in the place of a name in capitals first.
fn has_gaps(command: &str) -> bool {
    command
        .split(' ')
        .any(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
}

fn paste(env: &TestEnv, command: &str) -> Output {
    let mut shell = Command::new("sh");
    let program = Path::new(env!("CARGO_BIN_EXE_wagg")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    shell
        .args(["-c", command])
        .current_dir(env.dir())
        .env_clear()
        .env("HOME", env.dir())
        .env("PATH", format!("{}:{path}", program.display()));
    Output::of(shell)
}

/// Makes a store as it is before a command.
type Before = fn(&TestEnv, &TestStore);

const NOTHING: Before = |_, _| ();

fn in_usual(store: &TestStore) -> std::path::PathBuf {
    store.worker_folder(7).segment_path(0x71)
}

const CASES: &[(&str, Before)] = &[
    ("show 99", NOTHING),
    ("worker show 007", NOTHING),
    ("segment show 7", NOTHING),
    ("worker show 0189", NOTHING),
    ("worker show ../elsewhere", NOTHING),
    ("run show 7 99", NOTHING),
    ("run stop 7 99", NOTHING),
    ("op show 0198ffff", NOTHING),
    ("quarantine show 0198ffff", NOTHING),
    ("explain torn-tail", NOTHING),
    ("show 7", NOTHING),
    ("show workers/7/runs", NOTHING),
    ("segment fork 7/active --at-turn 99", NOTHING),
    ("worker reclaim 7 nobody", NOTHING),
    ("worker peer remove 7 nobody", NOTHING),
    ("worker create --name 12", NOTHING),
    ("worker create --request no-file", NOTHING),
    ("segment create 99", NOTHING),
    ("segment activate 7", NOTHING),
    ("segment append 7/active --from bad", |env, _| {
        env.write("bad", "nope\n");
    }),
    ("repair --apply --request-id r", NOTHING),
    ("repair 7 8 --apply --request-id r$1", NOTHING),
    ("repair --plan bad", |env, _| {
        env.write("bad", "nope\n");
    }),
    ("verify --baseline bad", |env, _| {
        env.write("bad", "nope\n");
    }),
    ("run reserve 8 --request-id r", |env, _| {
        let first = args("run reserve 7 --request-id r", "json");
        let _ = env.wagg(first).status(0);
    }),
    ("op undo 0", |env, _| {
        let _ = env.wagg(args("run reserve 7", "json")).status(0);
    }),
    ("verify", |_, store| damage_all(store)),
    ("verify -v", |_, store| damage_all(store)),
    ("orphans", |_, store| damage_all(store)),
    ("repair", |_, store| damage_all(store)),
    ("repair --apply", |_, store| damage_all(store)),
    ("worker show 7", |_, store| damage_all(store)),
    ("segment show 7/active", |_, store| damage_all(store)),
    ("segment fork 7/active", |_, store| damage_all(store)),
    ("segment activate 7/active", |_, store| damage_all(store)),
    ("segment compact 7/active --summary s", |env, store| {
        damage_all(store);
        env.write("s", "short");
    }),
    ("segment log 7/active", |_, store| damage_all(store)),
    ("segment append 7/active --from more", |env, store| {
        damage_all(store);
        env.write(
            "more",
            "{\"kind\":\"invoke\",\"ts\":1,\"trigger\":\"wakeup\"}\n",
        );
    }),
    ("repair", |_, store| {
        // which Segment to go on from
        std::fs::remove_file(store.path("workers/7/metadata.json")).unwrap();
        let start = Log::start(8).bytes();
        damage::append(&store.worker_folder(8).segment_path(0x81), start);
    }),
    ("repair", |_, store| {
        store.worker_folder(7).edit_metadata(|m| {
            m["spawned_children"] = serde_json::json!([{
                "worker_name": "it's a child", "socket_path": "/x", "scope_delegated": [],
                "callback_address": "y"
            }]);
        });
    }),
    ("worker show 7", |_, store| {
        put(store.path("workers/7/worker.json"), "{");
    }),
    ("worker create", |_, store| {
        put(store.path("runtime.json"), "{");
    }),
    ("worker children 7", |_, store| {
        put(store.path("workers/7/metadata.json"), "{");
    }),
    ("migrate --sessions none --metadata none", NOTHING),
    ("migrate status", NOTHING),
];

fn damage_all(store: &TestStore) {
    damage::broken_utf8(&in_usual(store), 3);
    damage::torn_tail(&in_usual(store));
    store.worker_folder(7).run_folder(9);
    store.worker_folder(8).edit_metadata(|m| {
        m["active"]["segment_id"] = id(0x99).into();
    });
}

#[test]
fn a_command_in_a_hint_can_be_pasted() {
    let mut pasted = BTreeSet::new();
    for (command, before) in CASES {
        for format in ["table", "json"] {
            let env = TestEnv::new();
            let store = store(&env);
            before(&env, &store);
            let mut args = args(command, format);
            if *command == "op undo 0" {
                let list = self::args("op list --ids", "auto");
                *args.last_mut().unwrap() = env.wagg(list).status(0).stdout().trim().to_owned();
            }
            let out = env.wagg(&args);
            for hint in commands(&out, format == "json") {
                let told = format!("{command}: {hint}\n{out}");
                let first = hint.split(' ').nth(1).unwrap_or_default();
                let named = hint.contains(&format!("--store {QUOTED} "));
                assert_eq!(named, !ALONE.contains(&first), "{told}");
                if has_gaps(&hint) {
                    continue;
                }
                let answer = paste(&env, &hint);
                assert_ne!(answer.code, Some(2), "{told}\n{answer}");
                assert_ne!(answer.code, Some(10), "{told}\n{answer}");
                assert!(
                    answer.code.is_some_and(|code| code < 100),
                    "{told}\n{answer}"
                );
                pasted.insert(hint);
            }
        }
    }
    assert!(pasted.len() >= 30, "{pasted:#?}");
}

/// A hint that begins like a command is one to its end: no prose follows it, and nothing is left
/// to be filled in.
#[test]
fn a_hint_that_begins_like_a_command_is_one() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for entry in walkdir::WalkDir::new(dir) {
        let entry = entry.unwrap();
        let name = entry.path().to_string_lossy().into_owned();
        if !name.ends_with(".rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for call in ["hint(\"wagg ", "hint(format!(\"wagg "] {
            for (at, _) in text.match_indices(call) {
                let from = at + call.find('"').unwrap() + 1;
                let hint = text[from..].split('"').next().unwrap();
                let prose = [
                    "then", "first", "shows", "lists", "makes", "moves", "again", "or",
                ];
                let words = hint.split([' ', ',']).any(|word| prose.contains(&word));
                if words || has_gaps(hint) {
                    wrong.push(format!("{name}: {hint}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Of a request id is spoken only where one was given.
#[test]
fn a_request_id_is_spoken_of_where_one_was_given() {
    if !Path::new("/dev/full").exists() {
        return; // there is no such device on this system
    }
    for (command, given) in [
        ("run reserve 7", false),
        ("run reserve 7 --request-id r", true),
    ] {
        let env = TestEnv::new();
        let _store = store(&env);
        let mut run = env.prepare(args(command, "json")).into_command();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        run.stdout(full.unwrap());
        let output = run.output().unwrap();
        assert_eq!(output.status.code(), Some(15));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("--request-id"), given, "{said}");
        assert!(said.contains("op list"), "{said}");
    }
}

/// Where the system says no, a hint shows how to look at the place, from wherever one stands.
#[test]
fn a_place_that_the_system_refuses_has_its_whole_path() {
    let env = TestEnv::new();
    let store = store(&env);
    let metadata = store.path("workers/7/metadata.json");
    std::fs::rename(&metadata, store.path("elsewhere")).unwrap();
    damage::symlink(&metadata, "../../elsewhere");
    for format in ["table", "json"] {
        let out = env.wagg(args("segment fork 7/active", format)).status(3);
        let hint = format!("ls -ld '{}/", env.dir().display());
        assert!(out.stderr.contains(&hint), "{out}");
    }
}

/// What a person names is looked for from where they stand, not in the store, though the store may
/// have a place of that name.
#[test]
fn a_place_that_a_person_named_is_none_of_the_store() {
    let env = TestEnv::new();
    let _ = store(&env);
    env.write("q/x", b"");
    let here = env.dir();
    let (q, here) = (here.join("q"), here.display());
    for (command, there) in [
        ("verify --save {}", 14),
        ("verify --report json={}", 14),
        ("verify --report sarif={}", 14),
        ("repair --plan-out {}", 14),
        ("repair --plan {}", 14),
        ("verify --baseline {}", 14),
        ("apply {}", 14),
        ("segment append 7/active --from {}", 14),
        ("segment compact 7/active --summary {}", 14),
        ("report merge {}", 14),
    ] {
        for (name, place) in [
            ("q/nodir/a", q.display().to_string()),
            ("workers/nodir/a", here.to_string()),
        ] {
            let out = env.wagg(args(&command.replace("{}", name), "json"));
            let out = out.status(there);
            let hint = out.error()["hint"].as_str().unwrap().to_owned();
            let last = hint.lines().last().unwrap().to_owned();
            assert_eq!(last, format!("ls -ld {place}"), "{command}: {out}");
        }
    }
}
