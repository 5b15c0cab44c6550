use proptest::prelude::*;

use super::*;

/// The same by a look at each byte.
fn slowly(block: &[u8], mut open: bool) -> (Vec<usize>, bool) {
    let mut marked = Vec::new();
    for (i, &b) in block.iter().enumerate() {
        if b < 0x20 {
            marked.push(i);
        }
        if open {
            open = false;
            if !matches!(b, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') && i > 0 {
                marked.push(i - 1);
            }
        } else if b == b'\\' {
            open = true;
        } else if b == b'"' {
            marked.push(i);
        }
    }
    if open && !block.is_empty() {
        marked.push(block.len() - 1);
    }
    marked.sort_unstable();
    marked.dedup();
    (marked, open)
}

fn all(marks: &Marks) -> Vec<usize> {
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(stop) = marks.stop(from) {
        all.push(stop);
        from = stop + 1;
    }
    all
}

fn agree(block: &[u8], cuts: &[usize]) {
    let mut marks = Marks::default();
    let (mut at, mut open) = (0, false);
    for &cut in cuts.iter().chain([&block.len()]) {
        let part = &block[at..cut.clamp(at, block.len())];
        if at == 0 {
            marks.start(part);
        } else {
            marks.next(part);
        }
        if part.is_empty() {
            continue;
        }
        let (expected, still_open) = slowly(part, open);
        assert_eq!(all(&marks), expected, "{:?}", String::from_utf8_lossy(part));
        let strange = |b: &u8| *b < 0x20 && *b != b'\n';
        assert_eq!(marks.control_free(), !part.iter().any(strange));
        open = still_open;
        at += part.len();
    }
}

/// Runs of backslashes of each length before each kind of byte, at each place of a word.
#[test]
fn escapes_at_each_place_of_a_word() {
    for place in 0..=2 * WORD + 1 {
        for run in 0..=5 {
            for end in [
                &b"\""[..],
                b"n",
                b"u0041\"",
                b"q",
                b"\x01",
                b"\n\"",
                b"\xc3\xa4",
                b"",
            ] {
                let block = [&vec![b'a'; place][..], &vec![b'\\'; run], end, b"a\"n\\\""].concat();
                agree(&block, &[]);
                agree(&block, &[place + run]);
                agree(&block, &[place + 1, place + 2]);
            }
        }
    }
    // A run as long as a word and longer.
    for run in [62, 63, 64, 65, 127, 128, 129, 200] {
        for place in 0..4 {
            let block = [&vec![b'a'; place][..], &vec![b'\\'; run], b"\"\"n"].concat();
            agree(&block, &[]);
            agree(&block, &[run / 2]);
        }
    }
}

#[test]
fn the_byte_behind_the_end_is_none() {
    let mut marks = Marks::default();
    marks.start(b"");
    assert_eq!(marks.stop(0), None);
    marks.start(&[b'"'; WORD]);
    assert_eq!(marks.stop(WORD - 1), Some(WORD - 1));
    assert_eq!(marks.stop(WORD), None);
    assert_eq!(marks.stop(1000), None);
}

proptest! {
    #[test]
    fn marks_are_what_a_look_at_each_byte_gives(
        block in proptest::collection::vec(
            prop_oneof![
                4 => Just(b'\\'),
                2 => Just(b'"'),
                2 => prop::sample::select(&b"nrtbf/u0"[..]),
                1 => Just(b'\n'),
                2 => Just(b'a'),
                1 => any::<u8>(),
            ],
            0..400,
        ),
        cuts in proptest::collection::vec(0usize..400, 0..4),
    ) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        agree(&block, &cuts);
    }
}
