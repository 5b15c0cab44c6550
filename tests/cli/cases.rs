//! The cases of `tests/cases`: small stores that are broken in the ways that people report. Each
//! says in `expect.json` what a correct tool must do; here that is held against what `wagg` says.
//!
//! Verdict, sense and place are read from the file. What it asks for in words stands in [`WORDS`]
//! beside what must be heard; a sentence that has no row there fails the test, so that none is
//! passed over.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::damage::copy_tree;
use crate::support::sample::every;
use crate::support::{TestEnv, source, tree};

/// A case, built in a temporary folder.
struct Case {
    name: String,
    expect: Value,
    env: TestEnv,
}

impl Case {
    /// All cases that hold a store.
    fn all() -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = walkdir::WalkDir::new(source().join("tests/cases"))
            .min_depth(2)
            .max_depth(2)
            .into_iter()
            .map(|entry| entry.unwrap().into_path())
            .filter(|dir| dir.join("store").is_dir() || dir.join("base/store").is_dir())
            .collect();
        all.sort();
        assert_eq!(all.len(), 34, "cases that hold a store");
        all
    }

    fn build(dir: &Path) -> Self {
        let env = TestEnv::new();
        let out = env.path("case");
        let script = dir.join("make.sh");
        if script.exists() {
            let status = Command::new("bash")
                .arg(&script)
                .arg(&out)
                .arg("5")
                .status()
                .unwrap();
            assert!(status.success(), "{}", script.display());
        } else {
            copy_tree(dir, &out);
        }
        let expect = std::fs::read(dir.join("expect.json")).unwrap();
        Self {
            name: dir
                .strip_prefix(source().join("tests/cases"))
                .unwrap()
                .display()
                .to_string(),
            expect: serde_json::from_slice(&expect).unwrap(),
            env,
        }
    }

    /// What is expected of a command, if anything.
    fn expected(&self, verb: &str) -> Vec<Value> {
        let mut all = vec![self.expect.clone()];
        all.extend(
            self.expect["also"]
                .as_array()
                .into_iter()
                .flatten()
                .cloned(),
        );
        let fits = |e: &Value| {
            let command = e["command"].as_str().unwrap();
            command.split([' ', ',']).any(|word| word == verb)
        };
        all.retain(fits);
        all
    }

    /// Runs a command on the case; it may change nothing.
    fn answer(&self, args: &[&str]) -> (i32, Value) {
        let case = self.env.path("case");
        let mut all = vec!["--store", "case/store", "--format", "json"];
        all.extend(args);
        let out = tree::unchanged(&[&case], &self.name, || self.env.wagg(all));
        assert!(matches!(out.code, Some(0 | 1)), "{}: {out}", self.name);
        (out.code.unwrap(), out.json())
    }

    fn orphans(&self) -> (i32, Value) {
        if self.env.path("case/legacy").exists() {
            self.answer(&[
                "orphans",
                "--sessions",
                "case/legacy/sessions",
                "--metadata",
                "case/legacy/workers",
            ])
        } else {
            self.answer(&["orphans"])
        }
    }
}

fn list(value: &Value) -> Vec<&str> {
    let all = value.as_array().into_iter().flatten();
    all.map(|item| item.as_str().unwrap()).collect()
}

/// The codes that mean what a case calls so.
fn codes(sense: &str) -> &'static [&'static str] {
    match sense {
        "lineage_source_missing" => &["lineage_missing_source"],
        "uncommitted_tail" => &["torn_tail"],
        "cut_record_then_record" => &["spliced_record"],
        "active_segment_missing" => &["active_missing_segment"],
        "tool_result_without_call" => &["orphan_tool_result"],
        "leftover_temp" => &["leftover_temporary"],
        "link_outside_store" => &["symbolic_link"],
        "run_ahead_of_catalog" => &["generation_behind"],
        "socket_hint" => &["stale_socket"],
        "orphan_session, orphan_metadata" => &["orphan_session", "orphan_worker_metadata"],
        "lineage_cycle" => &["lineage_cycle"],
        "lineage_other_session" => &["lineage_other_session"],
        "byte_order_mark" => &["byte_order_mark"],
        "lone_surrogate" => &["lone_surrogate"],
        "unsafe_name" => &["unsafe_name"],
        "duplicate_worker_id" => &["duplicate_worker_id"],
        "session_mismatch" => &["session_mismatch"],
        "invalid_utf8" => &["invalid_utf8"],
        "nul_bytes" => &["nul_bytes"],
        "glued_records" => &["glued_records"],
        "unreferenced_leaf" => &["unreferenced_leaf"],
        "interrupted_run" => &["interrupted_run"],
        "second_segment_start" => &["second_segment_start"],
        "empty_document" => &["empty_document"],
        other => panic!("no code for {other:?}"),
    }
}

/// What an answer comes to, in the words of the cases.
fn verdicts(answer: &Value) -> Vec<&'static str> {
    let count = |key: &str| answer["summary"][key].as_u64().unwrap();
    match (count("errors"), count("warnings"), count("infos")) {
        (0, 0, 0) => vec!["clean"],
        (0, 0, _) => vec!["clean", "notes"],
        (0, ..) => vec!["notes"],
        // two owners are shown and none is chosen
        _ => vec!["damaged", "ambiguous"],
    }
}

/// A place as a case names it.
#[derive(Debug, Default, PartialEq)]
struct Place {
    paths: Vec<String>,
    line: Option<u64>,
    byte: Option<u64>,
    length: Option<u64>,
}

/// `store/…/x.jsonl, line 12, bytes 1281 to 1410 (129 bytes)` and the like.
fn place(text: &str) -> Place {
    let number = |text: &str| -> Option<u64> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let after = |key: &str| text.split_once(key).and_then(|(_, rest)| number(rest));
    let paths = text
        .split([' ', ',', ';'])
        .filter_map(|word| Some(word.split_once("store/")?.1.to_owned()))
        .filter(|path| !path.is_empty() && !path.ends_with('/'))
        .collect();
    let (from, to) = (after("bytes "), after(" to "));
    Place {
        paths,
        line: after("line "),
        byte: after("first bad byte ")
            .or(after("escape at byte "))
            .or(after(", byte "))
            .or(from),
        length: from.and_then(|from| to.map(|to| to - from)),
    }
}

#[test]
fn places_are_read_as_they_are_written() {
    let read = place("store/a/x.jsonl, line 12, bytes 1281 to 1410 (129 bytes)");
    assert_eq!(
        (read.line, read.byte, read.length),
        (Some(12), Some(1281), Some(129))
    );
    let read = place("OUT/store/a/x.jsonl, line 5 (from byte 555), first bad byte 676");
    assert_eq!(
        (read.paths.as_slice(), read.line, read.byte),
        (&["a/x.jsonl".to_owned()][..], Some(5), Some(676))
    );
    assert_eq!(
        place("store/a; store/b/c, `run_generation`").paths,
        ["a", "b/c"]
    );
}

/// What must be heard where a case asks for something in words.
enum Heard {
    /// Each of these stands in one finding, in its message, path or hint.
    Says(&'static [&'static str]),
    /// None of these stands in any.
    Never(&'static [&'static str]),
    /// The summary counts so many records.
    Records(u64),
    /// So many findings that are no information.
    Loud(usize),
    /// Held by how every case is run: it may change nothing, and must end.
    ByTheRun,
    /// Held by another test, which is named.
    Elsewhere(&'static str),
}

use Heard::{ByTheRun, Elsewhere, Loud, Never, Records, Says};

/// What the cases ask of `verify` and `orphans`, and what must be heard.
const WORDS: &[(&str, &str, Heard)] = &[
    // must
    ("big/", "count 15 records", Records(15)),
    (
        "big/",
        "stay well under 256 MiB of memory",
        Elsewhere("record::scan: long lines go through windows"),
    ),
    (
        "big/",
        "take no more than about a second on a quick disk",
        Elsewhere("benches"),
    ),
    (
        "broken-lineage/compaction",
        "name both Segments",
        Says(&["00000012", "00000011"]),
    ),
    (
        "broken-lineage/compaction",
        "say that 01890000-0000-7000-8000-000000000012 can be restored and that the history before it can not",
        Says(&["00000012 itself can be restored, what its source held before that can not"]),
    ),
    ("broken-lineage/fork-cycle", "end within a second", ByTheRun),
    (
        "broken-lineage/fork-cycle",
        "name 01890000-0000-7000-8000-000000000011 and 01890000-0000-7000-8000-000000000012 as the cycle, once",
        Loud(1),
    ),
    (
        "broken-lineage/fork-cycle",
        "not name 01890000-0000-7000-8000-000000000013 as part of the cycle",
        Never(&["00000013"]),
    ),
    (
        "broken-lineage/fork-from",
        "name worker 1's Segment, the source, and the worker where the source lies",
        Says(&["00000011", "00000021", "workers/2"]),
    ),
    (
        "compact/",
        "say that the Segment names itself as its source, so the source was overwritten",
        Says(&["compacted from itself", "the source was overwritten"]),
    ),
    (
        "encoding/byte-order-mark",
        "one finding, for worker 1 only",
        Loud(1),
    ),
    (
        "encoding/byte-order-mark",
        "report worker 2 as clean",
        Never(&["workers/2"]),
    ),
    (
        "encoding/lone-surrogate",
        "say that it is a lone surrogate, not a truncated file",
        Says(&["is a high surrogate without its other half"]),
    ),
    ("encoding/valid", "count 13 records", Records(13)),
    (
        "identity/dots",
        "report the Worker's name (not `worker-runtime-1`), the child's and the peer's",
        Loud(3),
    ),
    (
        "identity/one-worker",
        "name both folders and the id",
        Says(&["worker_id 3", "workers/3", "workers/4"]),
    ),
    (
        "identity/one-worker",
        "say that the folder name and the id of folder 4 disagree",
        Says(&["the folder is \"4\" and worker_id is 3"]),
    ),
    (
        "identity/one-worker",
        "give the same findings in the same order on each run",
        ByTheRun,
    ),
    (
        "identity/session",
        "name both Session ids and the file",
        Says(&["000000000007", "000000000001", "000000000012.jsonl"]),
    ),
    (
        "inner-damage/cut",
        "name file, line and the byte of the first bad byte",
        ByTheRun,
    ),
    (
        "inner-damage/cut",
        "say that records after it are whole",
        Says(&["4 after it are whole"]),
    ),
    (
        "inner-damage/cut",
        "say that call_1 has no readable result",
        Says(&["without a readable result: \"call_1\""]),
    ),
    (
        "inner-damage/nul",
        "say how many NUL bytes",
        Says(&["300 NUL bytes"]),
    ),
    (
        "inner-damage/nul",
        "say that a whole record follows on the line",
        Says(&["before a whole record that begins at byte 862"]),
    ),
    (
        "inner-damage/nul",
        "check the rest",
        Says(&["10 after it are whole"]),
    ),
    (
        "leftover-temp/",
        "mention them at most as leftovers",
        Loud(0),
    ),
    (
        "leftover-temp/",
        "list all four with size and age, and say that the real documents are whole",
        Says(&["206 bytes", " ago)", "metadata.json beside it is whole"]),
    ),
    (
        "link-escape/",
        "report the link and where it points",
        Says(&["../../../../../outside/secret.jsonl"]),
    ),
    (
        "lock/held",
        "work while the lock is held: it only reads",
        ByTheRun,
    ),
    (
        "lock/left-over",
        "mention the foreign lock file at most as an unknown file",
        Loud(0),
    ),
    (
        "migrate/one-session",
        "show the shared reference, as text and as data",
        Says(&[
            "000000000001",
            "worker-runtime-1/metadata.json",
            "worker-runtime-2/metadata.json",
        ]),
    ),
    (
        "migrate/plain",
        "list 01890000-0000-7000-8000-000000000009 and worker-runtime-99",
        Loud(2),
    ),
    (
        "migrate/stopped",
        "say that a migration is unfinished",
        Says(&["a migration was begun and is not finished"]),
    ),
    (
        "run/folder",
        "name the folder and both numbers",
        Says(&["runs/3", "folder 3 is above run_generation 2"]),
    ),
    (
        "run/socket",
        "at most: a socket is there, and what that means is not known",
        Loud(0),
    ),
    (
        "spliced-records/cut",
        "say that a cut record is followed by a whole one on the same line",
        Says(&[
            "the first 57 bytes of a record that was cut, then a whole record that begins at byte 738",
        ]),
    ),
    (
        "spliced-records/cut",
        "check the lines after it",
        Says(&["3 after it are whole"]),
    ),
    (
        "spliced-records/two",
        "say that two whole records stand on the line",
        Says(&["2 whole records stand on this line; the second begins at byte 761"]),
    ),
    (
        "spliced-records/two",
        "go on and check the lines after it",
        Says(&["6 after it are whole"]),
    ),
    (
        "stale-pointer/active",
        "name the missing Segment and the pointer's file",
        Says(&["00000019", "metadata.json"]),
    ),
    (
        "stale-pointer/active",
        "list the Segments that could be restored instead",
        Says(&["these can be restored", "00000011", "00000012"]),
    ),
    (
        "stale-pointer/pointer",
        "say that 01890000-0000-7000-8000-000000000011 has a newer compacted child that nothing points to",
        Says(&[
            "00000011 has a compacted child",
            "00000012 that nothing points to",
        ]),
    ),
    (
        "stale-pointer/pointer",
        "treat both Segments as owned by worker 1",
        Loud(0),
    ),
    (
        "tool-pairs/open",
        "say that the last run was interrupted and that call_2 is open",
        Says(&["interrupted; open: \"call_2\""]),
    ),
    (
        "tool-pairs/result",
        "name the call id `call_1` and the place in the seed history",
        Says(&["\"call_1\"", "seed history, item 2 of 3"]),
    ),
    (
        "torn-tail/cut",
        "say that 11 records are committed and whole",
        Says(&["11 records before it are committed and whole"]),
    ),
    (
        "torn-tail/cut",
        "call the tail uncommitted (a warning), not damage of committed history",
        Says(&["never committed"]),
    ),
    (
        "torn-tail/cut",
        "say that the last run was interrupted",
        Says(&["the last run counts as interrupted"]),
    ),
    (
        "torn-tail/nul",
        "say that 15 records are whole",
        Says(&["15 records before it are committed and whole"]),
    ),
    (
        "torn-tail/nul",
        "say that the tail is NUL bytes, how many",
        Says(&["4096 NUL bytes"]),
    ),
    (
        "two-writers/",
        "say what a restore would lose: 15 records before the second start",
        Says(&["loses the 15 records before it"]),
    ),
    (
        "zero-length/",
        "say that the document is empty (not `missing`, not `corrupt history`)",
        Says(&["the document is empty"]),
    ),
    (
        "zero-length/",
        "say that 15 records of the Segment are whole and which id they carry",
        Says(&[
            "15 records",
            "whole",
            "Session 01890000-0000-7000-8000-000000000001",
        ]),
    ),
    // must not
    ("big/", "drop the Segment or the line", Records(15)),
    (
        "big/",
        "call the line damaged because a buffer ended",
        Loud(0),
    ),
    (
        "broken-lineage/compaction",
        "say that the session is lost",
        Never(&["is lost"]),
    ),
    ("", "loop, or grow in memory", ByTheRun),
    ("", "overflow the stack", ByTheRun),
    ("", "loop", ByTheRun),
    (
        "broken-lineage/fork-from",
        "accept it because the file exists somewhere",
        Says(&["a fork or compaction stays in its source's Session"]),
    ),
    (
        "broken-lineage/fork-from",
        "call worker 2 damaged",
        Never(&["workers/2/session"]),
    ),
    (
        "encoding/byte-order-mark",
        "fail the whole store because of one file",
        Records(23),
    ),
    (
        "encoding/byte-order-mark",
        "report each line of the file",
        Loud(1),
    ),
    (
        "encoding/lone-surrogate",
        "say `unexpected end` only",
        Never(&["unexpected end"]),
    ),
    ("encoding/valid", "report damage", Loud(0)),
    (
        "encoding/valid",
        "split a line at U+2028, U+2029, U+0085 or a lone CR",
        Records(13),
    ),
    (
        "identity/dots",
        "open, create or change anything in `outside`",
        ByTheRun,
    ),
    (
        "identity/dots",
        "connect to a socket",
        Elsewhere("store::probe asks one path only, below the run's own folder"),
    ),
    ("identity/dots", "join such a name to a path", ByTheRun),
    (
        "identity/one-worker",
        "pick one",
        Says(&["neither is chosen here"]),
    ),
    ("identity/one-worker", "merge them", ByTheRun),
    ("identity/session", "rewrite the id in the record", ByTheRun),
    ("identity/session", "change session.json", ByTheRun),
    (
        "inner-damage/cut",
        "say only that a stream was not UTF-8",
        Says(&["the line begins at byte 555"]),
    ),
    (
        "inner-damage/cut",
        "name another file (such as the trace)",
        Never(&["trace"]),
    ),
    (
        "inner-damage/nul",
        "call it an uncommitted tail",
        Never(&["tail", "committed"]),
    ),
    (
        "leftover-temp/",
        "read one as a Segment or as metadata",
        Loud(0),
    ),
    ("leftover-temp/", "remove one", ByTheRun),
    (
        "leftover-temp/",
        "list real documents",
        Never(&["\"path\":\"workers/1/metadata.json\""]),
    ),
    ("link-escape/", "read the target", Never(&["CANARY"])),
    ("link-escape/", "print CANARY-7731", Never(&["CANARY"])),
    ("link-escape/", "count it as a Segment", Records(9)),
    ("lock/held", "take a lock", ByTheRun),
    ("lock/held", "create a file", ByTheRun),
    (
        "lock/left-over",
        "call the Worker locked",
        Never(&["is locked", "holds"]),
    ),
    (
        "migrate/one-session",
        "resolve it",
        Says(&["it goes to none of them"]),
    ),
    (
        "migrate/plain",
        "offer to delete them",
        Never(&["delete", "remove", "rm "]),
    ),
    ("run/folder", "remove or rename it", ByTheRun),
    ("run/socket", "hang", ByTheRun),
    ("run/socket", "connect without a time limit", ByTheRun),
    (
        "run/socket",
        "say that the Worker is alive",
        Never(&["alive", "is live"]),
    ),
    ("run/socket", "read the socket as a file", Loud(0)),
    (
        "spliced-records/cut",
        "say only `invalid JSON`",
        Says(&["57 bytes"]),
    ),
    (
        "spliced-records/two",
        "stop at this line without saying how much comes after",
        Says(&["6 after it are whole"]),
    ),
    (
        "spliced-records/two",
        "count the Segment as empty",
        Records(11),
    ),
    (
        "stale-pointer/active",
        "say that the history is lost",
        Never(&["lost"]),
    ),
    ("stale-pointer/pointer", "call it damage", Loud(0)),
    (
        "stale-pointer/pointer",
        "call the child an orphan to be removed",
        Never(&["orphan", "remove"]),
    ),
    (
        "stale-pointer/pointer",
        "list 01890000-0000-7000-8000-000000000012 as an orphan",
        Never(&["orphan"]),
    ),
    ("tool-pairs/open", "call it damage", Loud(0)),
    (
        "tool-pairs/open",
        "say that the tool did, or did not, run",
        Says(&["whether it ran is not known"]),
    ),
    (
        "torn-tail/cut",
        "say `invalid UTF-8` of the whole file",
        Never(&["UTF-8"]),
    ),
    ("torn-tail/cut", "change a byte or a file time", ByTheRun),
    (
        "torn-tail/nul",
        "report 4,096 findings or one per byte",
        Loud(1),
    ),
    ("torn-tail/nul", "stall on a long run of NUL", ByTheRun),
    (
        "two-writers/",
        "call it clean because each line parses",
        Loud(1),
    ),
    ("zero-length/", "skip the Worker's Segments", Records(15)),
];

/// Holds one answer against what is expected of it; gives what does not fit.
fn differences(case: &str, expected: &Value, answer: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let findings = answer["findings"].as_array().unwrap();
    let verdict = expected["verdict"].as_str().unwrap();
    let fits = verdicts(answer).iter().any(|got| {
        verdict
            .split(['(', ','])
            .next()
            .is_some_and(|head| head.split(" or ").any(|word| word.trim() == *got))
    });
    // a refusal is for commands that write; here the finding of it is an error
    if !fits && !verdict.starts_with("refused") {
        wrong.push(format!("verdict {verdict:?}, got {:?}", verdicts(answer)));
    }
    let mut sense: Vec<&Value> = findings.iter().collect();
    let (must, must_not) = (list(&expected["must"]), list(&expected["must_not"]));
    for text in &must {
        if let Some(word) = text.strip_prefix("report the sense of: ") {
            for code in codes(word) {
                if !findings.iter().any(|f| f["code"] == *code) {
                    wrong.push(format!("no {code}"));
                }
            }
            sense.retain(|f| codes(word).iter().any(|code| f["code"] == *code));
        }
    }
    for text in must.iter().chain(&must_not) {
        if text.starts_with("report the sense of: ") {
            continue;
        }
        if let Some(text) = text.strip_prefix("name the place: ") {
            // a clean answer has no place to name
            if !findings.is_empty() && !has_place(&sense, &place(text)) {
                wrong.push(format!("no finding at {text}: {sense:#?}"));
            }
            continue;
        }
        let row = WORDS
            .iter()
            .find(|(name, words, _)| case.starts_with(name) && words == text);
        let Some((_, _, heard)) = row else {
            wrong.push(format!("nobody listens for {text:?}"));
            continue;
        };
        if !is_heard(heard, answer) {
            wrong.push(format!("{text:?} is not held: {answer:#}"));
        }
    }
    wrong
}

fn has_place(findings: &[&Value], place: &Place) -> bool {
    let at = |path: Option<&String>| {
        findings.iter().any(|f| {
            path.is_none_or(|path| f["path"] == path.as_str())
                && place.line.is_none_or(|line| f["line"] == line)
                && place.byte.is_none_or(|byte| f["byte"] == byte)
                && place.length.is_none_or(|length| f["length"] == length)
        })
    };
    // further places of one cause are named in its message
    let named = |path: &String| {
        let file = path.strip_suffix("/worker.json").unwrap_or(path);
        findings
            .iter()
            .any(|f| f["message"].as_str().unwrap().contains(file))
    };
    at(place.paths.first()) && place.paths.iter().skip(1).all(|p| at(Some(p)) || named(p))
}

fn is_heard(heard: &Heard, answer: &Value) -> bool {
    let findings = answer["findings"].as_array().unwrap();
    let text: Vec<String> = findings.iter().map(Value::to_string).collect();
    let plain = |text: &String| text.replace("\\\"", "\"");
    match heard {
        Says(phrases) => text
            .iter()
            .map(plain)
            .any(|finding| phrases.iter().all(|phrase| finding.contains(phrase))),
        Never(phrases) => !text
            .iter()
            .any(|finding| phrases.iter().any(|phrase| finding.contains(phrase))),
        Records(n) => answer["summary"]["records"].as_u64() == Some(*n),
        Loud(n) => findings.iter().filter(|f| f["severity"] != "info").count() == *n,
        ByTheRun => true,
        Elsewhere(test) => !test.is_empty(),
    }
}

#[test]
fn every_case_is_answered_as_it_must_be() {
    let mut wrong = Vec::new();
    let mut answered = 0;
    for dir in Case::all() {
        let case = Case::build(&dir);
        for expected in case.expected("verify") {
            let (status, answer) = case.answer(&["verify"]);
            let errors = answer["summary"]["errors"] != 0;
            assert_eq!(status, i32::from(errors), "{}", case.name);
            let found = differences(&case.name, &expected, &answer);
            wrong.extend(found.iter().map(|w| format!("{} verify: {w}", case.name)));
            if case.name.starts_with("identity/") {
                let (_, again) = case.answer(&["verify"]);
                assert_eq!(answer, again, "{}: not the same each time", case.name);
            }
            answered += 1;
        }
        for expected in case.expected("orphans") {
            let (status, answer) = case.orphans();
            let errors = answer["summary"]["errors"] != 0;
            assert_eq!(status, i32::from(errors), "{}", case.name);
            let found = differences(&case.name, &expected, &answer);
            wrong.extend(found.iter().map(|w| format!("{} orphans: {w}", case.name)));
            answered += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(answered, 35, "answers that the cases ask for");
}

/// Each row of [`WORDS`] is asked for by some case, so that none is left over.
#[test]
fn no_row_of_words_is_left_over() {
    let mut asked = Vec::new();
    for dir in Case::all() {
        let name = dir.strip_prefix(source().join("tests/cases")).unwrap();
        let expect: Value =
            serde_json::from_slice(&std::fs::read(dir.join("expect.json")).unwrap()).unwrap();
        let also = expect["also"].as_array().cloned().unwrap_or_default();
        for one in also.iter().chain([&expect]) {
            for text in list(&one["must"]).into_iter().chain(list(&one["must_not"])) {
                asked.push((name.display().to_string(), text.to_owned()));
            }
        }
    }
    for (name, words, _) in WORDS {
        assert!(
            asked
                .iter()
                .any(|(case, text)| case.starts_with(name) && text == words),
            "no case {name} asks for {words:?}"
        );
    }
}

/// Parts of a store, merged, say what one look at the whole says.
#[test]
fn parts_make_the_whole() {
    for dir in every(3, Case::all()) {
        let case = Case::build(&dir);
        let run = |args: &[&str]| {
            let mut all = vec!["--store", "case/store"];
            all.extend(args);
            case.env.wagg(all)
        };
        crate::verify::partition::parts_make_the_whole(&case.env.dir(), &run, &[]);
    }
}
