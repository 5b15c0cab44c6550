//! A file that loses bytes between the moment its length is asked for and that its bytes are read:
//! here the length that is told is longer than the file.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::diag::NoProgress;
use crate::layout::CatalogVersion;
use crate::ops::verify::Options;
use crate::record::{Limits, Spare};
use crate::store::fs::stat_of;

/// A line that is no record, so that there are findings to forget.
const LINES: &[u8] = b"{\"kind\":\"turn_end\",\"ts\":1,\"turn_count\":1}\nx\n";

fn file(lines: &[u8], times: usize) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&lines.repeat(times)).unwrap();
    file
}

/// What is found of a file that, when it was opened for the nth time, was longer by so many bytes.
fn look(file: &File, longer: [u64; 2], quick: bool, helpers: usize) -> (Option<Outline>, Found) {
    let options = Options {
        quick,
        digest: true,
        // What is longer is passed over, which saves the time.
        limits: Limits {
            max_line: 800_000,
            ..Limits::default()
        },
        ..Options::with_jobs(NonZeroUsize::MIN)
    };
    let run = Run {
        options: &options,
        progress: &NoProgress,
        certificate: None,
        version: CatalogVersion::V1,
        enough: AtomicBool::new(false),
        spare: Spare::new(helpers),
    };
    let mut longer = longer.into_iter();
    let open = || {
        let mut stat = stat_of(file)?;
        stat.len += longer.next().ok_or(io::ErrorKind::NotFound)?;
        Ok((file.try_clone()?, stat))
    };
    let mut found = Found::default();
    let outline = check_file(
        At::Path(Path::new("a.jsonl")),
        Format::Segment,
        Subject::default(),
        open,
        &run,
        &mut run.scanner(),
        &mut found,
    );
    (outline.unwrap(), found)
}

fn said(found: &Found) -> String {
    let Found {
        findings,
        summary,
        not_looked_at,
        digests,
        ..
    } = found;
    format!("{findings:?} {summary:?} {not_looked_at:?} {digests:?}")
}

#[test]
fn one_that_became_shorter_is_read_once_more_or_not_judged() {
    let (small, torn) = (file(LINES, 3), file(b"{\"kind\":\"tur", 1));
    let long = file(&[b"{\"a\":\"", &[b'b'; 700_000][..], b"\"}\n"].concat(), 2);
    let large = file(&[&[b' '; 900_000][..], b"\n"].concat(), 10);
    for (file, helpers) in [
        (&small, 0),
        (&torn, 0),
        (&long, 0),
        (&large, 0),
        (&large, 2),
    ] {
        for quick in [false, true] {
            let (outline, honest) = look(file, [0, 0], quick, helpers);
            assert!(outline.is_some());
            for gone in [1, 70_000, 10_000_000] {
                let (outline, found) = look(file, [gone, 0], quick, helpers);
                assert!(outline.is_some());
                assert_eq!(said(&found), said(&honest), "{gone} bytes, quick: {quick}");

                let (outline, found) = look(file, [gone, gone], quick, helpers);
                assert!(outline.is_none());
                let mut nothing = Found::default();
                nothing.not_looked_at("a.jsonl", "it became shorter while it was read");
                assert_eq!(said(&found), said(&nothing), "{gone} bytes, quick: {quick}");
            }
        }
    }
}

/// A file that goes away within a long line, after the line's end was seen.
#[test]
fn the_last_line_that_goes_away_is_no_bad_line() {
    struct Going(Vec<u8>, std::cell::Cell<u32>);
    impl Source for Going {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
            let left = self.1.get();
            self.1.set(left.saturating_sub(1));
            match left {
                0 => Ok(0),
                _ => Source::read_at(&self.0[..], buf, offset),
            }
        }
    }
    let bytes = [b"{\"kind\":\"", &[b'b'; 2_000_000][..], b"\"}\n"].concat();
    let mut ends = 0;
    for reads in 1..40 {
        let going = Going(bytes.clone(), reads.into());
        let (mut bad, len) = (0, bytes.len() as u64);
        let mut scanner = Scanner::new(Limits::default());
        let scanned = scanner.scan(&going, len, Format::Segment, |line| {
            bad += u32::from(matches!(line.verdict, Verdict::Bad(_)));
            ControlFlow::Continue(())
        });
        match scanned {
            Ok(scanned) if !scanned.is_short_of(len) => {
                // it lasted
                assert_eq!(bad, 1, "{reads} reads");
                ends += 1;
            }
            Ok(_) => assert_eq!(bad, 0, "{reads} reads"),
            Err(e) => assert_eq!(e.kind(), io::ErrorKind::UnexpectedEof, "{reads} reads"),
        }
    }
    assert!((5..39).contains(&ends), "{ends} of 39 lasted");
}
