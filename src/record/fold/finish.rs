//! The end of a fold: what only the whole file tells, and the remarks in their order.

use super::{Fold, MAX_OF_A_CODE, Names, Open, Outline, Remark, Tally, in_seed, records};
use crate::diag::{Code, plural};
use crate::record::scan::{Scanned, Tail};

impl Fold {
    /// Ends the fold: what the Segment comes to, and what is worth a finding, in the order of lines.
    #[must_use]
    pub fn finish(mut self, scanned: &Scanned) -> (Outline, Vec<Remark>) {
        self.outline.committed = scanned.committed;
        self.outline.calls_not_followed = self.too_many_calls;
        self.outline.tail = scanned.tail.map_or(0, |tail| tail.length);
        self.finish_start();
        self.finish_calls();
        self.finish_bad_lines();
        self.finish_tallies();
        if let Some(tail) = scanned.tail {
            let message = self.tail_message(&tail);
            self.remark_once(Remark {
                code: Code::TornTail,
                // Lines that were not shown were not counted either.
                line: (!self.partial).then_some(scanned.lines + 1),
                byte: Some(scanned.committed),
                length: Some(tail.length),
                message,
            });
        }
        if self.outline.records == 0 && self.outline.bad_lines == 0 && scanned.tail.is_none() {
            self.remark_once(Remark {
                code: Code::EmptySegment,
                line: None,
                byte: None,
                length: None,
                message: "no committed record".to_owned(),
            });
        }
        self.remarks
            .sort_by_key(|r| (r.byte.unwrap_or(0), r.line.unwrap_or(0)));
        let beyond = self.of_code.into_iter();
        self.outline.beyond = beyond
            .filter_map(|(code, count)| Some((code, count.checked_sub(MAX_OF_A_CODE)?)))
            .filter(|(_, count)| *count > 0)
            .collect();
        (self.outline, self.remarks)
    }

    fn finish_start(&mut self) {
        let Some((line, byte)) = self.first_record else {
            return;
        };
        let behind_damage = self.first_line_bad;
        match self.outline.start {
            None if !behind_damage => self.remark_once(Remark {
                code: Code::MissingSegmentStart,
                line: Some(line),
                byte: Some(byte),
                length: None,
                message: format!(
                    "{} and no segment_start: a restore has no Session, prompt or config",
                    records(self.outline.records)
                ),
            }),
            Some(start) if self.before_start > 0 && !behind_damage => self.remark_once(Remark {
                code: Code::RecordBeforeStart,
                line: Some(line),
                byte: Some(byte),
                length: None,
                message: format!(
                    "{} before the segment_start on line {}: a restore loses them",
                    records(self.before_start),
                    start.line
                ),
            }),
            _ => {}
        }
    }

    fn finish_calls(&mut self) {
        let mut open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|o| o.byte);
        let mut dangling = Names::default();
        for call in open {
            if self.last_bad.is_some_and(|(line, _)| line > call.line) {
                // Its result may have stood on the first of the bad lines behind it.
                let behind = self.bad.partition_point(|bad| bad.line <= call.line);
                if let Some(bad) = self.bad.get_mut(behind) {
                    bad.open_calls.push(call.id);
                }
            } else if call.epoch < self.active_epoch {
                self.remark(Code::UnansweredToolCall, || Remark {
                    code: Code::UnansweredToolCall,
                    line: Some(call.line),
                    byte: Some(call.byte),
                    length: None,
                    message: format!(
                        "the call {:?} has no result and later turns follow{}",
                        call.id,
                        in_seed(call.seed)
                    ),
                });
            } else {
                dangling.push(call.id);
            }
        }
        let records = self.outline.records;
        if self.run_open.is_some() && self.last_bad.is_some_and(|(_, before)| before == records) {
            if let Some(bad) = self.last_bad_line() {
                bad.lost_end = true;
            }
        } else if let Some(line) = self.run_open {
            let calls = match dangling.count {
                0 => "no tool call is open".to_owned(),
                _ => format!("open: {dangling}; whether it ran is not known"),
            };
            self.remark_once(Remark {
                code: Code::InterruptedRun,
                line: Some(line),
                byte: None,
                length: None,
                message: format!(
                    "the last run has no end record, so a restore takes it for interrupted; {calls}"
                ),
            });
        }
    }

    fn finish_bad_lines(&mut self) {
        for bad in &self.bad {
            let after = self.outline.records - bad.records_before;
            let Some(remark) = self.remarks.get_mut(bad.remark) else {
                continue;
            };
            let message = &mut remark.message;
            message.push_str(&format!(
                "; {} before it and {after} after it are whole",
                records(bad.records_before)
            ));
            if bad.open_calls.count > 0 {
                message.push_str(&format!("; without a readable result: {}", bad.open_calls));
            }
            if bad.lost_calls.count > 0 {
                message.push_str(&format!("; without a readable call: {}", bad.lost_calls));
            }
            if bad.lost_end {
                message.push_str("; the end of the last run may have stood here");
            }
        }
    }

    fn finish_tallies(&mut self) {
        let times = |count: u64| {
            if count == 1 {
                "once".to_owned()
            } else {
                format!("{count} times")
            }
        };
        // Most files have none of these, and there are many files.
        type Words<'w> = &'w dyn Fn(u64) -> String;
        let all: [(Code, &Tally, Words<'_>); 4] = [
            (Code::BlankLine, &self.blank, &|count| {
                format!("blank lines: {count}; they hold no record")
            }),
            (Code::Crlf, &self.crlf, &|count| {
                format!("lines that end in CR LF: {count}; valid")
            }),
            (Code::TimeGoesBack, &self.time_back, &|count| {
                format!("ts goes back {}; the order of lines counts", times(count))
            }),
            (Code::NoncanonicalId, &self.noncanonical, &|count| {
                format!(
                    "an id spelt {:?}, and {count} in all",
                    self.noncanonical_text
                )
            }),
        ];
        let remarks: Vec<Remark> = all
            .into_iter()
            .filter_map(|(code, tally, message)| {
                let (line, byte) = tally.first?;
                Some(Remark {
                    code,
                    line: Some(line),
                    byte: Some(byte),
                    length: None,
                    message: message(tally.count),
                })
            })
            .collect();
        remarks
            .into_iter()
            .for_each(|remark| self.remark_once(remark));
    }

    fn tail_message(&self, tail: &Tail) -> String {
        let what = if tail.all_nul {
            format!(
                "{} without a newline: a crash left room that was never filled",
                plural(tail.length, "NUL byte", "NUL bytes")
            )
        } else if tail.whole {
            format!(
                "{} that make a whole record but for its newline, so it was never committed",
                plural(tail.length, "byte", "bytes")
            )
        } else {
            format!(
                "{} without a newline: a record that was never committed",
                plural(tail.length, "byte", "bytes")
            )
        };
        if self.partial {
            return what;
        }
        let before = if self.outline.records == 0 && self.outline.bad_lines == 0 {
            "no record before it is committed".to_owned()
        } else if self.outline.bad_lines == 0 {
            match self.outline.records {
                1 => "the record before it is committed and whole".to_owned(),
                n => format!("the {n} records before it are committed and whole"),
            }
        } else {
            let are = if self.outline.records == 1 {
                "is"
            } else {
                "are"
            };
            format!("{} before it {are} whole", records(self.outline.records))
        };
        let run = if self.run_open.is_some() {
            "; the last run counts as interrupted"
        } else {
            ""
        };
        format!("{what}; {before}{run}")
    }
}
