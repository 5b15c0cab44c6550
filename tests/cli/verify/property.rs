//! Properties: what holds for any bytes. In this process, since thousands of inputs are tried.

use std::ops::ControlFlow;

use proptest::prelude::*;
use proptest::test_runner::Config;
use wagg::diag::{Code, Finding, NoProgress, Severity};
use wagg::ops::verify::{Options, verify};
use wagg::record::document::check_object;
use wagg::record::{Fold, Format, Limits, Outline, Remark, Scanned, Scanner, Verdict};
use wagg::store::Store;

use super::case::Kit;
use crate::support::Log;
use crate::support::log::trace;
use crate::support::sample::cases;

/// As many cases as PROPTEST_CASES says, 256 without it; nothing is written into the source.
pub fn config() -> Config {
    let all = Config::default();
    Config {
        failure_persistence: None,
        cases: cases(all.cases),
        ..all
    }
}

/// A line as a scan shows it: where, how long, and its code if it is bad.
type Seen = (u64, u64, u64, Option<Code>);

fn scan(bytes: &[u8], format: Format, buffer: usize) -> (Vec<Seen>, Scanned, Fold) {
    let limits = Limits {
        buffer,
        ..Limits::default()
    };
    let (mut lines, mut fold) = (Vec::new(), Fold::new());
    let scanned = Scanner::new(limits)
        .scan(bytes, bytes.len() as u64, format, |line| {
            let code = match &line.verdict {
                Verdict::Bad(fault) => Some(fault.code),
                Verdict::Record(_) | Verdict::Blank => None,
            };
            lines.push((line.number, line.offset, line.length, code));
            match format {
                Format::Segment => fold.push(line),
                Format::Trace => fold.push_trace(line),
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (lines, scanned, fold)
}

fn segment(bytes: &[u8]) -> (Outline, Vec<Remark>) {
    let (_, scanned, fold) = scan(bytes, Format::Segment, 64 * 1024);
    fold.finish(&scanned)
}

/// One step of a life: what a Segment may go through.
pub fn life() -> impl Strategy<Value = Log> {
    let step = prop_oneof![
        3 => "[a-z ]{0,40}".prop_map(Step::Turn),
        3 => "[é☂😀\u{2028}\"\\\\/\u{1}-\u{1f}]{0,20}".prop_map(Step::ToolTurn),
        1 => Just(Step::Usage),
        1 => Just(Step::Interrupted),
    ];
    proptest::collection::vec(step, 0..8).prop_map(|steps| {
        let mut log = Log::start(1);
        for step in steps {
            log = match step {
                Step::Turn(text) => log.turn(&text),
                Step::ToolTurn(text) => log.tool_turn(&text),
                Step::Usage => log.usage(),
                // a restore closes the call before the next turn
                Step::Interrupted => {
                    let log = log.interrupted();
                    let call = format!("call_{}", log.calls());
                    log.result(&call).turn_end().completed()
                }
            };
        }
        log
    })
}

#[derive(Debug, Clone)]
enum Step {
    Turn(String),
    ToolTurn(String),
    Usage,
    Interrupted,
}

/// Bytes that look a little like what is read, and a little like damage.
pub fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"{\"kind\":\"".to_vec()),
        Just(b"{\"ts\":1,".to_vec()),
        Just(b"{\"kind\":\"paused_turn_abandoned\",\"ts\":1}".to_vec()),
        Just(b"\"\\ud83d\\".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(vec![0; 5]),
        Just("☂😀".as_bytes().to_vec()),
        Just(b"1e309,[[[{\"a\":".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Small changes to bytes: what a bad disk, an editor or a second writer does.
pub fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let byte = proptest::sample::select(
        b"{}[]\",:\\ud8/ \t\r\n\0\x1f\x7f-+.eE019tfnaN\xe2\x82\xed\xa0\xff\xc0".to_vec(),
    );
    let edit = prop_oneof![
        4 => byte.clone().prop_map(Edit::Put),
        4 => byte.prop_map(Edit::Insert),
        2 => (1_usize..8).prop_map(Edit::Remove),
        1 => (1_usize..60).prop_map(Edit::Double),
    ];
    proptest::collection::vec((any::<usize>(), edit), 0..4)
}

#[derive(Debug, Clone)]
pub enum Edit {
    Put(u8),
    Insert(u8),
    Remove(usize),
    Double(usize),
}

pub fn edited(bytes: &[u8], edits: &[(usize, Edit)]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for (at, edit) in edits {
        if all.is_empty() {
            return all;
        }
        let at = at % all.len();
        match edit {
            Edit::Put(b) => all[at] = *b,
            Edit::Insert(b) => all.insert(at, *b),
            Edit::Remove(n) => drop(all.drain(at..(at + n).min(all.len()))),
            Edit::Double(n) => {
                let part = all[at..(at + n).min(all.len())].to_vec();
                all.splice(at..at, part);
            }
        }
    }
    all
}

/// C4: whatever is cut off, what is left is a good prefix and at most one torn tail.
fn check_cut(bytes: &[u8], at: usize) {
    let cut = &bytes[..at];
    let (outline, remarks) = segment(cut);
    let committed = cut.iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    assert_eq!(outline.committed, committed as u64, "cut at {at}");
    assert_eq!(outline.tail, (at - committed) as u64, "cut at {at}");
    assert_eq!(outline.bad_lines, 0, "cut at {at}");
    let lines = cut.iter().filter(|b| **b == b'\n').count() as u64;
    assert_eq!(outline.records, lines, "cut at {at}");
    let tails = remarks.iter().filter(|r| r.code == Code::TornTail).count();
    assert_eq!(tails, usize::from(at > committed), "cut at {at}");
    for remark in &remarks {
        let fine = matches!(
            remark.code,
            Code::TornTail | Code::InterruptedRun | Code::EmptySegment
        );
        assert!(fine, "cut at {at}: {remark:?}");
    }
}

#[test]
fn c4_every_truncation_of_one_segment() {
    let bytes = Log::start(1)
        .tool_turn("é☂😀")
        .turn("Two.")
        .interrupted()
        .bytes();
    for at in 0..=bytes.len() {
        check_cut(&bytes, at);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn c4_truncations(log in life(), at in any::<proptest::sample::Index>()) {
        let bytes = log.bytes();
        check_cut(&bytes, at.index(bytes.len() + 1));
    }

    /// Lines and tail lie one behind the other and leave no byte out, whatever the buffer.
    #[test]
    fn spans_tile_the_file(bytes in soup(), buffer in 64_usize..300) {
        for format in [Format::Segment, Format::Trace] {
            let (lines, scanned, _) = scan(&bytes, format, buffer);
            let mut at = 0;
            for (n, (number, offset, length, _)) in lines.iter().enumerate() {
                prop_assert_eq!(*number, n as u64 + 1);
                prop_assert_eq!(*offset, at);
                at += length;
                prop_assert_eq!(bytes[at as usize], b'\n');
                at += 1;
            }
            prop_assert_eq!(at, scanned.committed);
            let tail = scanned.tail.map_or(0, |tail| tail.length);
            prop_assert_eq!(at + tail, bytes.len() as u64);
            let (large, whole, _) = scan(&bytes, format, 1 << 20);
            prop_assert_eq!(lines, large);
            prop_assert_eq!(scanned.committed, whole.committed);
        }
    }

    /// Any bytes as a Segment come to remarks that the table knows, in the order of lines, inside
    /// the file.
    #[test]
    fn any_bytes_come_to_remarks(bytes in soup()) {
        let (outline, remarks) = segment(&bytes);
        prop_assert!(outline.committed + outline.tail == bytes.len() as u64);
        let mut last = 0;
        for remark in &remarks {
            prop_assert!(remark.code.info().severity.is_some(), "{:?}", remark);
            prop_assert!(!remark.message.is_empty());
            let byte = remark.byte.unwrap_or(0);
            prop_assert!(byte >= last && byte <= bytes.len() as u64, "{:?}", remark);
            last = byte;
            if let (Some(at), Some(length)) = (remark.byte, remark.length) {
                prop_assert!(at + length <= bytes.len() as u64, "{:?}", remark);
            }
        }
    }

    /// A line that is called good is JSON to another parser too, and one that is called broken is
    /// broken to it as well.
    #[test]
    fn lines_agree_with_another_parser(log in life(), edits in edits()) {
        let bytes = edited(&log.bytes(), &edits);
        agree(&bytes, Format::Segment)?;
        agree(&edited(&trace(), &edits), Format::Trace)?;
    }

    #[test]
    fn objects_agree_with_another_parser(log in life(), edits in edits()) {
        let bytes = log.bytes();
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            object_agrees(&edited(line, &edits))?;
        }
    }
}

/// Any bytes as a document: an answer, never a panic.
#[test]
fn any_document_gives_an_answer() {
    let kit = Kit::v1();
    kit.store.manifest(true, &[(1, Some(1), "migrated")]);
    let documents: Vec<(&str, Vec<u8>)> = [
        "runtime.json",
        "workers/1/worker.json",
        "workers/1/metadata.json",
        "workers/1/session/session.json",
        "migrations/worker-aggregate-v1.json",
    ]
    .into_iter()
    .map(|name| (name, std::fs::read(kit.store.path(name)).unwrap()))
    .collect();
    let inputs = (0..documents.len(), soup(), edits());
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let checked = runner.run(&inputs, |(which, bytes, edits)| {
        let (name, good) = &documents[which];
        for bytes in [bytes, edited(good, &edits)] {
            std::fs::write(kit.store.path(name), &bytes).unwrap();
            answers(&kit, name, bytes.len() as u64)?;
        }
        std::fs::write(kit.store.path(name), good).unwrap();
        Ok(())
    });
    checked.unwrap_or_else(|e| panic!("{e}"));
}

fn answers(kit: &Kit, name: &str, len: u64) -> Result<(), TestCaseError> {
    let store = Store::open(kit.store.root()).unwrap();
    let report = verify(&store, &Options::default(), &NoProgress).unwrap();
    for finding in &report.findings {
        prop_assert!(finding.code.info().severity.is_some());
        let inside = finding.locus.path.ends_with(name);
        if let Some(byte) = finding.locus.byte.filter(|_| inside) {
            prop_assert!(byte <= len, "{finding:?}");
        }
    }
    let is_error = |f: &&Finding| f.severity == Severity::Error;
    let errors = report.findings.iter().filter(is_error).count();
    prop_assert_eq!(report.summary.errors, errors as u64);
    let clean = errors == 0 && report.not_looked_at.is_empty();
    prop_assert_eq!(report.is_clean(false), clean);
    Ok(())
}

fn agree(bytes: &[u8], format: Format) -> Result<(), TestCaseError> {
    let (lines, _, _) = scan(bytes, format, 1 << 20);
    for (number, offset, length, code) in lines {
        let line = &bytes[offset as usize..(offset + length) as usize];
        let other = serde_json::from_slice::<serde_json::Map<_, _>>(line);
        let text = String::from_utf8_lossy(line);
        match code {
            None => {
                let blank = std::str::from_utf8(line).is_ok_and(|t| t.trim().is_empty());
                prop_assert!(
                    other.is_ok() || blank,
                    "line {number} is called good: {text:?}"
                );
            }
            Some(
                Code::CorruptRecord
                | Code::InvalidUtf8
                | Code::NulBytes
                | Code::GluedRecords
                | Code::SplicedRecord
                | Code::ByteOrderMark
                | Code::TooDeep
                | Code::LoneSurrogate,
            ) => prop_assert!(other.is_err(), "line {number} is called {code:?}: {text:?}"),
            // JSON, and not what its kind should be
            Some(code) => prop_assert!(
                other.is_ok(),
                "line {number} is called {code} and is no JSON: {text:?}"
            ),
        }
    }
    Ok(())
}

fn object_agrees(bytes: &[u8]) -> Result<(), TestCaseError> {
    let ours = check_object(bytes);
    let other = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes);
    if let Err(fault) = &ours
        && fault.message.contains("double")
    {
        return Ok(()); // the other one keeps digits and never makes a double of them
    }
    prop_assert_eq!(
        ours.is_ok(),
        other.is_ok(),
        "{:?}: {:?}, {:?}",
        String::from_utf8_lossy(bytes),
        ours,
        other.err()
    );
    Ok(())
}

/// Real histories of other tools: every line is read, most are no records, none is in the way.
#[test]
fn real_lines_of_other_tools() {
    let root = std::env::var_os("WAGG_REALDATA").map_or_else(
        || crate::support::source().join("../shared/realdata"),
        std::path::PathBuf::from,
    );
    if !root.is_dir() {
        eprintln!("skipped: {} is not there", root.display());
        return;
    }
    let files = crate::support::files_below(&root, ".jsonl");
    assert!(files.len() > 50, "{} files", files.len());
    let mut lines = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let (seen, scanned, fold) = scan(&bytes, Format::Segment, 64 * 1024);
        lines += seen.len();
        let _ = fold.finish(&scanned);
        agree(&bytes, Format::Segment).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            object_agrees(line).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }
    assert!(lines > 1000, "{lines} lines");
}
