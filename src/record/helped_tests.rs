use std::sync::atomic::AtomicU64;

use proptest::prelude::*;

use super::*;

#[path = "../../tests/cli/support/sample.rs"]
mod sample;

/// Every line as text, and what the scan came to or that it failed.
type Told = (Vec<String>, Result<Scanned, String>);

fn tell(lines: &mut Vec<String>, line: &Line<'_>) {
    let verdict = match &line.verdict {
        Verdict::Record(facts) => format!("{facts:?}"),
        Verdict::Blank => "blank".to_owned(),
        Verdict::Bad(fault) => format!("{fault:?}"),
    };
    lines.push(format!(
        "{} {}+{} {} {verdict}",
        line.number, line.offset, line.length, line.crlf
    ));
}

fn scan(
    bytes: &(impl Source + Sync + ?Sized),
    len: u64,
    buffer: usize,
    helped: Option<(usize, Cut)>,
    stop_at: usize,
) -> Told {
    let mut lines = Vec::new();
    let mut scanner = Scanner::new(Limits {
        buffer,
        max_line: 2000,
    })
    .hashing(true);
    let visit = |line: &Line<'_>| {
        tell(&mut lines, line);
        if lines.len() >= stop_at {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let scanned = match helped {
        None => scanner.scan(bytes, len, Format::Segment, visit),
        Some((spare, cut)) => {
            let spare = Spare::new(spare);
            let scanned = scanner.scan_cut(bytes, len, Format::Segment, &spare, cut, visit);
            scanner.take_hasher().expect("the hasher is given back");
            scanned
        }
    };
    (lines, scanned.map_err(|e| e.to_string()))
}

/// Number, offset and length of a line.
fn place(told: &str) -> (&str, &str) {
    let mut words = told.split(' ');
    let mut word = || words.next().unwrap_or_default();
    (word(), word())
}

fn length(told: &str) -> usize {
    let (_, length) = place(told).1.split_once('+').unwrap();
    length.parse().unwrap()
}

/// A digest of what a stopped scan read is nobody's.
fn without_partial_digest(mut told: Told) -> Told {
    if let Ok(scanned) = &mut told.1
        && scanned.stopped
    {
        scanned.sha256 = None;
    }
    told
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let payload = |n: usize| {
        format!(
            r#"{{"kind":"extension","ts":{n},"domain":"d","payload":"{}"}}"#,
            r"\n".repeat(n)
        )
    };
    prop_oneof![
        4 => (0u64..100).prop_map(|n| format!(r#"{{"kind":"turn_end","ts":{n},"turn_count":{n}}}"#)),
        3 => prop::sample::select(vec![
            r#"{"kind":"assistant_item","ts":1,"item":{"kind":"tool_call","call_id":"c1","name":"n","arguments":""}}"#,
            r#"{"kind":"tool_result","ts":1,"item":{"kind":"tool_result","call_id":"c1","summary":""}}"#,
            "", " ", "x", r#"{"kind":"#, r#"{"kind":"turn_end","ts":1,"turn_count":1} {}"#,
            r#"{"kind":"turn_end","ts":1,"turn_count":1}{"kind":"turn_end","ts":1,"turn_count":1}"#,
            "\r", "{\"kind\":\"invoke\",\"ts\":1,\"trigger\":\"user_send\"}\r",
        ]).prop_map(str::to_owned),
        2 => (0usize..1200).prop_map(payload),
    ]
    .prop_map(String::into_bytes)
    .prop_flat_map(|bytes| {
        prop_oneof![9 => Just(false), 1 => Just(true)].prop_map(move |spoil| {
            let mut bytes = bytes.clone();
            if spoil {
                bytes.push(0xff);
            }
            bytes
        })
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let tail = prop_oneof![
        Just(Vec::new()),
        line(),
        (1usize..900).prop_map(|n| vec![0; n]),
    ];
    (proptest::collection::vec(line(), 0..40), tail).prop_map(|(lines, tail)| {
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend(line);
            bytes.push(b'\n');
        }
        bytes.extend(tail);
        bytes
    })
}

fn cut() -> impl Strategy<Value = (usize, Cut)> {
    (0usize..4, 1u64..600, 1usize..4, 1usize..8, 1usize..5).prop_map(
        |(spare, chunk, helpers, parcels, lines)| {
            let cut = Cut {
                chunk,
                helpers,
                parcels,
                lines,
            };
            (spare, cut)
        },
    )
}

/// A file that becomes shorter or can no longer be read after a number of reads.
struct Failing<'a> {
    bytes: &'a [u8],
    reads: AtomicU64,
    whole_reads: u64,
    then: u64,
    error: bool,
}

impl Source for Failing<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let whole = self.reads.fetch_add(1, Ordering::SeqCst) < self.whole_reads;
        if whole {
            return self.bytes.read_at(buf, offset);
        }
        if self.error && offset >= self.then {
            return Err(io::Error::other("gone"));
        }
        let cut = usize::try_from(self.then).unwrap_or(usize::MAX);
        let left = if self.error {
            self.bytes
        } else {
            &self.bytes[..cut.min(self.bytes.len())]
        };
        left.read_at(buf, offset)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sample::cases(300)))]

    /// Whoever helps, and wherever the file is cut, the lines, their order and the digest are the
    /// same; also where the visitor stops.
    #[test]
    fn help_changes_nothing(
        bytes in file(),
        (spare, cut) in cut(),
        buffer in 64usize..700,
        stop_at in prop_oneof![2 => Just(usize::MAX), 1 => 1usize..40],
    ) {
        let len = bytes.len() as u64;
        let alone = scan(&bytes[..], len, buffer, None, stop_at);
        let helped = scan(&bytes[..], len, buffer, Some((spare, cut)), stop_at);
        prop_assert_eq!(without_partial_digest(alone), without_partial_digest(helped));
    }

    /// A file that is cut off while it is read, or fails: what is shown is the beginning of what a
    /// whole one shows, and the scan ends. The last line may differ, and a long one that was cut off
    /// between its two looks, behind which others are shown that somebody read before.
    #[test]
    fn a_file_that_fails_meanwhile_shows_its_beginning(
        bytes in file(),
        (spare, cut) in cut(),
        whole_reads in 0u64..30,
        then in 0u64..4000,
        error in any::<bool>(),
    ) {
        let len = bytes.len() as u64;
        let whole = scan(&bytes[..], len, 300, None, usize::MAX);
        let failing = Failing { bytes: &bytes, reads: AtomicU64::new(0), whole_reads, then, error };
        let (lines, scanned) = scan(&failing, len, 300, Some((spare, cut)), usize::MAX);
        prop_assert!(lines.len() <= whole.0.len());
        let but_last = lines.len().saturating_sub(1);
        for (line, known) in lines[..but_last].iter().zip(&whole.0) {
            prop_assert_eq!(place(line), place(known));
            if length(line) <= 300 {
                prop_assert_eq!(line, known);
            }
        }
        if let Ok(scanned) = scanned {
            prop_assert!(scanned.committed <= len);
            prop_assert_eq!(scanned.lines, lines.len() as u64);
        }
    }
}

/// A line as long as many chunks, with chunks before and behind it.
#[test]
fn a_line_longer_than_many_chunks() {
    let long = format!(
        r#"{{"kind":"extension","ts":1,"domain":"d","payload":"{}"}}"#,
        "ä".repeat(200)
    );
    let turn = r#"{"kind":"turn_end","ts":1,"turn_count":1}"#;
    let text = format!("{turn}\n{long}\n{turn}\n{long}\n{long}\n{turn}\n\n{long}");
    let bytes = text.as_bytes();
    let alone = scan(bytes, bytes.len() as u64, 256, None, usize::MAX);
    for chunk in [1, 2, 3, 7, 20, 44, 45, 199, 900, 2000] {
        for spare in [0, 2] {
            let cut = Cut {
                chunk,
                helpers: 2,
                parcels: 4,
                lines: 2,
            };
            let helped = scan(
                bytes,
                bytes.len() as u64,
                256,
                Some((spare, cut)),
                usize::MAX,
            );
            assert_eq!(alone, helped, "chunks of {chunk} bytes, {spare} helpers");
        }
    }
}
