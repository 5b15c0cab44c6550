//! What is wrong with a file or with standard input is no damage of the store: one status, one form
//! of the place, whichever way it was handed over.

use crate::support::{TestEnv, TestStore, schema};

/// The commands that take a file, `{}` for it, with an input that is wrong, where, and how.
const BAD: &[(&str, &[u8], &str, &str)] = &[
    (
        "worker create --request {}",
        b"{\n\"profile\":",
        "{}:2:12",
        "corrupt_document",
    ),
    ("worker create --request {}", b"", "{}", "empty_document"),
    ("worker create --request {}", b"{\"a\":1,\"a\":2}", "{}", ""),
    (
        "segment create 7 --config {}",
        b"{\n\"max_tokens\":\"x\"}",
        "{}:2:",
        "wrong_type",
    ),
    (
        "segment create 7 --history {}",
        b"\n{",
        "{}:2:",
        "corrupt_record",
    ),
    (
        "segment create 7 --system-prompt {}",
        b"a\n\xff",
        "{}:2:2",
        "invalid_utf8",
    ),
    (
        "segment append 7/active --from {}",
        b"{\"kind\":\"invoke\",\"ts\":1,\"trigger\":\"wakeup\"}\nnope\n",
        "{}:2:45",
        "corrupt_record",
    ),
    (
        "segment append 7/active --from {}",
        b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":99}\n",
        "{}:1:0",
        "turn_count_mismatch",
    ),
    (
        "segment compact 7/active --summary {}",
        b"ab\xff",
        "{}:1:2",
        "invalid_utf8",
    ),
];

#[test]
fn a_bad_input_is_no_damage_of_the_store() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    for (command, bytes, place, code) in BAD {
        for name in ["-", "input file"] {
            env.write("input file", bytes);
            let args = |format: &str| {
                let mut args = vec!["--store".to_owned(), "store".to_owned()];
                args.extend(["--format".to_owned(), format.to_owned()]);
                args.extend(command.split(' ').map(|word| word.replace("{}", name)));
                env.prepare(args).stdin(*bytes).run().status(2)
            };
            let error = args("json").error();
            let told = format!("{command} {name}: {error}");
            assert_eq!(error["code"], "bad_input", "{told}");
            assert_eq!(error["path"], name, "{told}");
            assert_eq!(error["effects_applied"], "none", "{told}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains(&format!("wagg explain {code}")), "{told}");
            assert!(!hint.contains("verify"), "{told}");
            schema::check("error", &serde_json::json!({ "error": error }));
            let text = args("table").stderr;
            let place = place.replace("{}", name);
            assert!(text.contains(&format!("\n  {place}")), "{place}\n{text}");
        }
    }
    assert!(!store.path(".wagg/journal.jsonl").exists());
}

/// What can not be read at all is named as it was given.
#[test]
fn an_input_that_can_not_be_read_has_its_name() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    for command in [
        "apply .",
        "segment append 7/active --from .",
        "segment create 7 --config .",
        "worker create --request .",
        "repair --plan .",
        "verify --baseline .",
    ] {
        let out = env
            .prepare(
                ["--store", "store", "--format", "json"]
                    .into_iter()
                    .chain(command.split(' ')),
            )
            .run()
            .status(14);
        let error = out.error();
        assert_eq!(error["path"], ".", "{out}");
        assert!(error["message"].as_str().unwrap().ends_with(" ."), "{out}");
    }
    for (command, code) in [
        ("repair --plan bad", "plan_mismatch"),
        ("verify --baseline bad", "bad_input"),
    ] {
        env.write("bad", "no JSON");
        let args = ["--store", "store", "--format", "json"]
            .into_iter()
            .chain(command.split(' '));
        let out = env.wagg(args);
        assert_eq!(out.error()["code"], code, "{out}");
        assert_eq!(out.error()["path"], "bad", "{out}");
    }
}

/// What stands in a line of `apply` has its place in that stream.
#[test]
fn a_bad_line_of_apply_has_its_place() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    let lines = "{\"command\":\"worker create\",\"request\":{}}\n\nno JSON\n{\"command\":\"segment append\",\"segment\":\"7/active\",\"records\":\"nope\"}\n";
    env.write("lines", lines);
    for name in ["-", "lines"] {
        let out = env
            .prepare(["--store", "store", "--format", "json", "apply", name])
            .stdin(lines)
            .run()
            .status(1);
        let document = out.json();
        for (receipt, line) in document["receipts"]
            .as_array()
            .unwrap()
            .iter()
            .zip([1, 3, 4])
        {
            let error = &receipt["error"];
            assert_eq!(error["exit"], 2, "{out}");
            assert_eq!(error["path"], name, "{out}");
            assert_eq!(error["line"], line, "{out}");
        }
    }
}

/// No file takes all memory: neither one that is too large nor one that has no end.
#[test]
fn an_input_has_a_limit() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    let large = std::fs::File::create(env.path("large")).unwrap();
    large.set_len(256 * 1024 * 1024 + 1).unwrap();
    for command in [
        "segment append 7/active --from",
        "segment create 7 --config",
        "worker create --request",
        "repair --plan",
        "verify --baseline",
        "verify --file large --baseline",
        "report merge",
        "report merge large --baseline",
    ] {
        // one that never ends is read up to the limit, which takes its time
        let endless = [
            "worker create --request",
            "repair --plan",
            "verify --baseline",
            "report merge",
        ]
        .contains(&command);
        for name in ["large", "/dev/zero"]
            .into_iter()
            .take(1 + usize::from(endless))
        {
            let args = ["--store", "store", "--format", "json"].into_iter();
            let out = env.wagg(args.chain(command.split(' ')).chain([name]));
            let error = out.status(2).error();
            assert_eq!(error["code"], "bad_input", "{command} {name}: {error}");
            let told = error["message"].as_str().unwrap();
            assert!(told.contains("over the limit of "), "{command}: {told}");
        }
    }
    let out = env.wagg(["report", "merge", "-", "-"]).status(2);
    assert!(out.stderr.contains("one file only"), "{out}");
}

/// What is no file, or nothing, is called what it is.
#[test]
fn an_empty_input_and_a_folder_are_named() {
    let env = TestEnv::new();
    let store = TestStore::v1(env.path("store"));
    store.worker(7).usual(7);
    for format in ["table", "json"] {
        let args = [
            "--store", "store", "--format", format, "segment", "append", "7/active",
        ];
        let out = env.prepare(args).stdin("").run().status(0);
        assert!(
            out.stderr.contains("nothing to append: the input is empty"),
            "{out}"
        );
    }
    for name in [".", "..", "./", "/", "store", "store/workers/"] {
        let out = env.wagg(["verify", "--file", name]).status(1);
        assert!(out.stdout().contains("a folder, where"), "{name}: {out}");
        assert!(!out.stdout().contains("component"), "{name}: {out}");
    }
    let out = env.wagg(["verify", "--file", "-"]).status(2);
    assert!(
        out.stderr.contains("standard input is not supported"),
        "{out}"
    );
}
