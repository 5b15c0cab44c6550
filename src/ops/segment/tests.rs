//! Tests of what is hard to see from outside: histories that begin anew, files that grow.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::*;
use crate::diag::NoProgress;
use crate::layout::WorkerId;
use crate::ops::read::WorkerRef;
use crate::ops::segment::log::{Filter, Reader};
use crate::record::RecordKind;

const SESSION: &str = "01890000-0000-7000-8000-0000000000a1";

struct Made {
    root: tempfile::TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            root: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(made.folder()).unwrap();
        made
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("workers/7/session/segments")
    }

    fn store(&self) -> Store {
        Store::open(self.root.path()).unwrap()
    }

    /// Writes a Segment of these lines.
    fn segment(&self, n: u8, lines: &[String]) -> SegmentRef {
        let segment: SegmentRef = SegmentRef {
            worker: WorkerRef::of(WorkerId::Number(7)),
            segment: format!("01890000-0000-7000-8000-0000000000{n:02}")
                .parse()
                .unwrap(),
        };
        let path = self.root.path().join(segment.path());
        std::fs::write(path, lines.concat()).unwrap();
        segment
    }
}

fn start(seed: &[&str]) -> String {
    let seed: Vec<String> = seed.iter().map(|text| message(text)).collect();
    format!(
        r#"{{"kind":"segment_start","ts":1,"session_id":"{SESSION}","system_prompt":null,"config":{{"stop_sequences":[]}},"history":[{}]}}"#,
        seed.join(",")
    ) + "\n"
}

fn message(text: &str) -> String {
    format!(r#"{{"kind":"message","role":"user","content":[{{"kind":"text","text":"{text}"}}]}}"#)
}

fn item(text: &str) -> String {
    format!(
        r#"{{"kind":"assistant_item","ts":2,"item":{}}}"#,
        message(text)
    ) + "\n"
}

fn input(text: &str) -> String {
    format!(r#"{{"kind":"user_input","ts":2,"segments":[{{"kind":"text","content":"{text}"}}]}}"#)
        + "\n"
}

/// A second `segment_start` begins the history anew, on either side.
#[test]
fn a_diff_follows_histories_that_begin_anew() {
    let made = Made::new();
    let store = made.store();
    let plain = made.segment(11, &[start(&["a"]), input("b"), item("c")]);
    let anew = made.segment(
        12,
        &[
            start(&["x"]),
            item("y"),
            start(&["a"]),
            item("b"),
            item("d"),
        ],
    );
    for (a, b, own) in [(&plain, &anew, ["c", "d"]), (&anew, &plain, ["d", "c"])] {
        let diff = diff::diff(&store, a, b, 9, &NoProgress).unwrap();
        assert_eq!(
            diff.common_items, 2,
            "an input and an item are the same message"
        );
        assert_eq!(diff.last_common.as_ref().unwrap().text, "b");
        let texts: Vec<_> = diff
            .segments
            .iter()
            .map(|side| (side.history_items, side.items.len(), &*side.items[0].text))
            .collect();
        assert_eq!(texts, [(3, 1, own[0]), (3, 1, own[1])]);
    }
    let prefix = made.segment(13, &[start(&["a", "b"])]);
    let diff = diff::diff(&store, &prefix, &plain, 9, &NoProgress).unwrap();
    assert_eq!((diff.common_items, diff.same_history), (2, false));
    assert_eq!(
        (diff.segments[0].own_items, diff.segments[1].own_items),
        (0, 1)
    );
}

fn lines(reader: &mut Reader, file: &SegmentFile) -> (Vec<u64>, u64) {
    let mut seen = Vec::new();
    let tail = reader
        .read(file, |line| {
            if let Some(entry) = line.entry().unwrap() {
                assert_eq!(entry.text.is_empty(), entry.kind.is_none());
                seen.push(entry.line);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (seen, tail)
}

/// C12: a reader takes what is committed, and goes on from there when there is more.
#[test]
fn c12_a_log_goes_on_where_it_ended() {
    let made = Made::new();
    let store = made.store();
    let mut all = vec![
        start(&[]),
        "\n".to_owned(),
        item("a"),
        "{\"kind\":\"in".to_owned(),
    ];
    let segment = made.segment(11, &all);
    let mut reader = Reader::new(Filter::default());
    let first = segment.open(&store).unwrap();
    assert_eq!(lines(&mut reader, &first), (vec![1, 3], 11));
    assert_eq!(lines(&mut reader, &first), (vec![], 11));
    all[3] = input("b");
    all.push(item("c"));
    made.segment(11, &all);
    // the file as it was when it was opened
    assert_eq!(lines(&mut reader, &first).0, Vec::<u64>::new());
    let second = segment.open(&store).unwrap();
    assert_eq!(lines(&mut reader, &second), (vec![4, 5], 0));
    assert_eq!((reader.shown(), reader.bad()), (4, 0));
    assert_eq!(reader.offset(), second.stat.len);

    // a beginning that does not exist yet is waited for
    let filter = Filter {
        from: Some(6),
        limit: Some(1),
        kinds: vec![RecordKind::AssistantItem],
    };
    let mut reader = Reader::new(filter);
    assert_eq!(lines(&mut reader, &second), (vec![], 0));
    all.extend([input("x"), item("y"), item("z")]);
    made.segment(11, &all);
    let third = segment.open(&store).unwrap();
    assert_eq!(lines(&mut reader, &third).0, [7]);
    assert!(reader.is_full());
    assert_eq!(lines(&mut reader, &third).0, Vec::<u64>::new());
}

#[test]
fn the_head_is_enough_for_lineage() {
    let made = Made::new();
    let store = made.store();
    let segment = made.segment(11, &["\n".to_owned(), start(&["a"]), "{bad\n".to_owned()]);
    let head = read_head(&store, &segment).unwrap();
    assert_eq!((head.records, head.bad_lines, head.history), (1, 0, 1));
    assert!(head.start.is_some());
}
