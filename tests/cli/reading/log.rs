//! `wagg segment log`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Place;
use crate::support::store::id;
use crate::support::{Log, damage, schema};

#[test]
fn records_read_like_a_conversation() {
    let place = Place::usual();
    let out = place.line("segment log 1/active").ok();
    let rows: Vec<Vec<&str>> = out
        .stdout()
        .lines()
        .map(|l| l.split('\t').collect())
        .collect();
    let pick: Vec<[&str; 4]> = rows.iter().map(|r| [r[0], r[2], r[3], r[4]]).collect();
    let start = format!(
        "Session {}, compacted from {} at turn 2, 1 item of seed history, prompt: You help in a workshop.",
        id(1),
        id(0x11)
    );
    assert_eq!(
        pick,
        [
            ["1", "segment_start", "-", &start],
            ["2", "invoke", "-", "user_send"],
            ["3", "user_input", "user", "Go on."],
            ["4", "assistant_item", "assistant", "A short answer."],
            [
                "5",
                "llm_usage",
                "-",
                "160 tokens in, 20 out, 3 items of history"
            ],
            ["6", "turn_end", "-", "turn 3"],
            ["7", "run_completed", "-", "finished"],
            ["8", "invoke", "-", "user_send"],
            ["9", "user_input", "user", "And now something long."],
            [
                "10",
                "assistant_item",
                "assistant",
                "list_dir {\"path\":\"bench\"}"
            ],
        ]
    );
    assert_eq!(rows[0][1], "2023-11-14T22:13:20.000Z");
    let document = place.line("segment log 1/active --format json").ok().json();
    schema::check("segment.log", &document);
    assert_eq!(document["records"].as_array().unwrap().len(), 10);
    let out = place
        .line("segment log 1/active --from 3 --limit 2 --format table")
        .ok();
    assert_eq!(
        out.stdout(),
        "  LINE  TIME      KIND            SPEAKER    TEXT\n        \
         2023-11-14\n     \
         3  22:13:20  user_input      user       Go on.\n     \
         4  22:13:20  assistant_item  assistant  A short answer.\n"
    );
}

#[test]
fn paging_and_kinds() {
    let place = Place::usual();
    let lines = |more: &str| {
        let out = place.line(&format!("segment log 1/active{more}")).status(0);
        let lines: Vec<String> = out
            .stdout()
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned())
            .collect();
        lines.join(" ")
    };
    assert_eq!(lines(" --from 8"), "8 9 10");
    assert_eq!(lines(" --from 11"), "");
    assert_eq!(lines(" --from 99"), "");
    assert_eq!(lines(" --limit 0"), "");
    assert_eq!(lines(" --limit 3"), "1 2 3");
    assert_eq!(lines(" --kind user_input"), "3 9");
    assert_eq!(lines(" --kind user_input --kind turn_end --from 4"), "6 9");
    assert_eq!(lines(" --kind user_input --limit 1"), "3");
    assert_eq!(lines(" --ids --from 9"), "9 10");
    let _ = place.line("segment log 1/active --kind nonsense").status(2);
    let _ = place.line("segment log 1/active --from 0").status(2);
    let _ = place
        .line("segment log 1/active --follow --format json")
        .status(2);
}

/// Lines that are no record are shown as such and counted; the tail is not shown.
#[test]
fn bad_lines_are_shown_and_counted() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x13);
    damage::replace_line(&path, 4, b"{\"kind\":\"assistant_item\",\"ts\":1}");
    damage::insert_line(&path, 6, b"");
    damage::broken_utf8(&path, 3);
    damage::append(&path, b"{\"kind\":\"torn");
    let out = place.line("segment log 1/active").status(0);
    let rows: Vec<&str> = out.stdout().lines().collect();
    assert_eq!(rows.len(), 10, "{out}");
    assert!(rows[2].starts_with("3\t-\tbad\t-\tinvalid_utf8: "), "{out}");
    assert!(
        rows[3].starts_with("4\t-\tbad\t-\tmissing_field: "),
        "{out}"
    );
    assert!(rows[5].starts_with("7\t"), "{out}");
    assert!(out.stderr.contains("2 lines are no good record"), "{out}");
    assert!(
        out.stderr.contains("hint: wagg --store store verify 1"),
        "{out}"
    );
    assert!(
        out.stderr
            .contains("13 bytes behind the last newline were never committed"),
        "{out}"
    );
    let document = place
        .line("segment log 1/active --format json")
        .status(0)
        .json();
    schema::check("segment.log", &document);
    assert_eq!(
        document["summary"],
        json!({"bad_lines": 2, "uncommitted_bytes": 13})
    );
    assert_eq!(document["records"][2]["code"], "invalid_utf8");
    assert_eq!(document["records"][2]["kind"], json!(null));
}

#[test]
fn raw_lines_are_those_of_the_file() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x13);
    damage::insert_line(&path, 3, b" ");
    damage::replace_line(&path, 5, b"{\xff\r");
    damage::crlf(&path);
    let committed = std::fs::read(&path).unwrap();
    damage::append(&path, b"torn");
    let lines: Vec<&[u8]> = committed.split_inclusive(|b| *b == b'\n').collect();
    let raw = |more: &str| {
        let out = place
            .line(&format!("segment log 1/active --raw{more}"))
            .status(0);
        out.bytes().to_vec()
    };
    assert_eq!(raw(""), committed);
    assert_eq!(raw(" --from 4"), lines[3..].concat());
    assert_eq!(raw(" --limit 2"), lines[..2].concat());
    assert_eq!(raw(" --kind user_input"), [lines[3], lines[9]].concat());
}

/// A line of any length costs no more memory than another; of it the beginning is shown.
#[test]
fn a_very_long_line_is_cut() {
    let place = Place::usual();
    let worker = place.store.worker_folder(1);
    let long = "word ".repeat(400_000);
    worker.segment(
        0x15,
        &Log::start(1)
            .turn("Before.")
            .assistant(&long)
            .turn("After."),
    );
    let out = place
        .run(["segment", "log", &id(0x15), "--format", "json"])
        .ok();
    let document = out.json();
    let record = &document["records"][7];
    assert_eq!(record["truncated"], true);
    assert!(record["length"].as_u64().unwrap() > 2_000_000);
    let text = record["text"].as_str().unwrap();
    assert!(
        text.starts_with("word word") && text.len() < 70_000,
        "{}",
        text.len()
    );
    assert_eq!(record["speaker"], "assistant");
    assert_eq!(document["records"][8]["truncated"], false);
    let out = place
        .run(["segment", "log", &id(0x15), "--format", "table"])
        .ok();
    let longest = out
        .stdout()
        .lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap();
    assert_eq!(longest, 200, "{longest}");
    let out = place.run(["segment", "log", &id(0x15), "--raw"]).ok();
    assert_eq!(
        out.bytes(),
        std::fs::read(worker.segment_path(0x15)).unwrap()
    );
}

/// `--follow` shows what is committed as it comes, and ends at SIGINT with its status.
#[test]
fn following_waits_at_the_committed_end() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x13);
    let mut child = place
        .env
        .prepare([
            "--store", "store", "segment", "log", "1/active", "--from", "10", "--follow",
        ])
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        line.split('\t').take(1).collect::<String>()
    };
    assert_eq!(next(), "10");
    let more = Log::empty().result("call_1").turn_end_at(4).bytes();
    let half = more.len() - 5;
    damage::append(&path, &more[..half]);
    assert_eq!(next(), "11");
    // the second record is not committed yet
    std::thread::sleep(Duration::from_millis(500));
    damage::append(&path, &more[half..]);
    assert_eq!(next(), "12");
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let begun = Instant::now();
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(status.code(), Some(130));
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(stderr, "");
}

/// A file that takes the Segment's place is gone on with; a Segment that is gone ends it.
#[test]
fn following_sees_a_replacement() {
    let place = Place::usual();
    let path = place.store.worker_folder(1).segment_path(0x13);
    let mut child = place
        .env
        .prepare([
            "--store", "store", "segment", "log", "1/active", "--from", "10", "--follow",
        ])
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("10\t"));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(Log::empty().result("call_1").bytes());
    let new = path.with_extension("new");
    std::fs::write(&new, &bytes).unwrap();
    std::fs::rename(&new, &path).unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("11\t"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(
        stderr.contains("another file took the Segment's place"),
        "{stderr}"
    );
}
