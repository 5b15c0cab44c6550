//! How many tokens a part of a history has, as far as can be told without a model.
//!
//! A usage record says how many tokens a request with so many history items had. The difference
//! of two of them is what the items between them cost, whatever prompt and tools cost besides;
//! the tokens that came out are those of the items that follow the request. Where no two records
//! say it, four bytes of an item's JSON count as a token.

use std::ops::Range;

use serde::Serialize;

use crate::record::Usage;

/// So many bytes of JSON count as a token where nothing better is known.
pub const BYTES_PER_TOKEN: u64 = 4;

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// Usage records cover all of it.
    Usage,
    /// None covers any of it.
    Bytes,
    /// They cover a part.
    Mixed,
}

impl Estimate {
    fn of(usage: bool, bytes: bool) -> Self {
        match (usage, bytes) {
            (true, true) => Self::Mixed,
            (true, false) => Self::Usage,
            (false, _) => Self::Bytes,
        }
    }
}

/// Tokens of so many bytes of JSON.
pub(super) const fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// One history item, as far as its size goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sized {
    /// Length of its JSON, in bytes.
    pub bytes: u64,
    /// It came from the model.
    pub from_model: bool,
}

/// Tells the tokens of any part of one history.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes before each item, and of all of them.
    before: Vec<u64>,
    /// How many items, and how many tokens those had; both rise.
    points: Vec<(usize, u64)>,
}

impl Meter {
    /// Over these items and what requests with them cost, in order.
    pub fn new(items: &[Sized], usage: &[Usage]) -> Self {
        let mut before = Vec::with_capacity(items.len() + 1);
        let mut sum = 0;
        before.push(sum);
        for item in items {
            sum += item.bytes;
            before.push(sum);
        }
        let mut points: Vec<(usize, u64)> = Vec::new();
        let add = |at: usize, tokens: u64, points: &mut Vec<(usize, u64)>| {
            // What a later request says of the same items replaces what an earlier one said.
            while points.last().is_some_and(|(last, _)| *last >= at) {
                points.pop();
            }
            points.push((at, tokens));
        };
        for usage in usage {
            let Some(at) = usize::try_from(usage.history_len)
                .ok()
                .filter(|at| *at <= items.len())
            else {
                continue;
            };
            add(at, usage.input_total_tokens, &mut points);
            let came_out = items[at..].iter().take_while(|i| i.from_model).count();
            if came_out > 0 && usage.output_tokens > 0 {
                let tokens = usage.input_total_tokens.saturating_add(usage.output_tokens);
                add(at + came_out, tokens, &mut points);
            }
        }
        Self { before, points }
    }

    /// The tokens of some items, and where that is known from.
    pub fn tokens(&self, items: Range<usize>) -> (u64, Estimate) {
        let (mut total, mut usage, mut bytes) = (0u64, false, false);
        let mut at = items.start;
        let first = self.points.partition_point(|(to, _)| *to <= items.start);
        for pair in self.points[first.saturating_sub(1)..].windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let Some(cost) = to.1.checked_sub(from.1).filter(|cost| *cost > 0) else {
                continue;
            };
            let (start, end) = (from.0.max(at), to.0.min(items.end));
            if from.0 >= items.end {
                break;
            }
            if start >= end {
                continue;
            }
            if at < start {
                total = total.saturating_add(of_bytes(self.bytes(at..start)));
                bytes = true;
            }
            let (whole, part) = (self.bytes(from.0..to.0), self.bytes(start..end));
            // Of a part its share by size.
            let share = (u128::from(cost) * u128::from(part)).div_ceil(u128::from(whole.max(1)));
            total = total.saturating_add(u64::try_from(share).unwrap_or(u64::MAX));
            usage = true;
            at = end;
        }
        if at < items.end {
            total = total.saturating_add(of_bytes(self.bytes(at..items.end)));
            bytes = true;
        }
        (total, Estimate::of(usage, bytes))
    }

    fn bytes(&self, items: Range<usize>) -> u64 {
        self.before[items.end] - self.before[items.start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(all: &[(u64, bool)]) -> Vec<Sized> {
        all.iter()
            .map(|&(bytes, from_model)| Sized { bytes, from_model })
            .collect()
    }

    fn usage(history_len: u64, input: u64, output: u64) -> Usage {
        Usage {
            history_len,
            input_total_tokens: input,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[test]
    fn without_usage_four_bytes_are_a_token() {
        let meter = Meter::new(&items(&[(10, false), (5, true), (1, false)]), &[]);
        assert_eq!(meter.tokens(0..3), (4, Estimate::Bytes));
        assert_eq!(meter.tokens(1..2), (2, Estimate::Bytes));
        assert_eq!(meter.tokens(3..3), (0, Estimate::Bytes));
    }

    #[test]
    fn usage_counts_between_requests_and_what_came_out() {
        // user, answer | user, call, result, answer
        let all = items(&[
            (100, false),
            (40, true),
            (100, false),
            (40, true),
            (400, false),
            (80, true),
        ]);
        let meter = Meter::new(
            &all,
            &[usage(1, 1000, 30), usage(3, 1100, 20), usage(5, 1300, 50)],
        );
        // The second turn: 1100 - 1030 for the user's words, 20 for the call, 180 for the result, 50.
        assert_eq!(meter.tokens(2..6), (70 + 20 + 180 + 50, Estimate::Usage));
        // What the first request held can not be told from prompt and tools.
        assert_eq!(meter.tokens(0..6), (25 + 30 + 320, Estimate::Mixed));
        assert_eq!(meter.tokens(4..5), (180, Estimate::Usage));
    }

    #[test]
    fn what_makes_no_sense_is_not_believed() {
        let all = items(&[(40, false), (40, false), (40, false)]);
        for bad in [
            vec![usage(9, 10, 0), usage(10, 20, 0)],
            vec![usage(1, 500, 0), usage(3, 400, 0)],
            vec![usage(1, 500, 0), usage(1, 500, 0), usage(1, 500, 0)],
            vec![usage(1, 500, 0), usage(3, 500, 0)],
            vec![usage(u64::MAX, u64::MAX, u64::MAX)],
        ] {
            assert_eq!(Meter::new(&all, &bad).tokens(0..3), (30, Estimate::Bytes));
        }
        let huge = [usage(0, 0, 0), usage(3, u64::MAX, 0)];
        assert_eq!(Meter::new(&all, &huge).tokens(0..3).0, u64::MAX);
        // The last word on the same items counts.
        let twice = [
            usage(1, 500, 0),
            usage(3, 600, 0),
            usage(1, 50, 0),
            usage(3, 70, 0),
        ];
        assert_eq!(Meter::new(&all, &twice).tokens(1..3), (20, Estimate::Usage));
    }
}
