//! The replay of a Segment: the state that a restore from it starts with.
//!
//! It fails closed, as a restore does: a committed line that is no good record ends it with its
//! place. Only the torn tail, which was never committed, is passed over. Where the counts alone are
//! wanted, [`Fold`](super::Fold) gives the same ones in flat memory and goes on behind damage.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::facts::Origin;
use super::json::Fault;
use super::scan::{Format, Limits, Line, Scanned, Scanner, Verdict};
use super::schema::RecordKind;
use super::source::{Source, read_full};
use super::step::{Start, Step, Usage, message};
use crate::diag::Code;
use crate::layout::SessionId;

/// How far a replay goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Until {
    /// All that is committed.
    #[default]
    End,
    /// Up to and with the first `turn_end` of this count; 0 means the leading `segment_start`
    /// only. That a Segment has no such turn is told by [`Replay::reached`].
    Turn(u64),
}

/// One item of a history.
#[derive(Debug, Clone)]
pub struct Item {
    /// As stored, or as a Runtime makes it of a user's input and of a system item.
    pub json: Box<RawValue>,
    /// The line of its record, counted from 1.
    pub line: u64,
    /// Its place in the seed history, counted from 0; none if it has a record of its own.
    pub seed: Option<usize>,
    /// The turn count when it was added.
    pub turn: u64,
}

/// Data of a domain.
#[derive(Debug, Clone)]
pub struct Extension {
    /// Whose it is.
    pub domain: String,
    /// Any JSON, as stored.
    pub payload: Box<RawValue>,
}

/// What a restore starts with.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// Records that were replayed.
    pub records: u64,
    /// Where the last of them ends, its newline included: so many bytes hold just these records.
    pub bytes: u64,
    /// Whether the turn that was asked for was found; always so for [`Until::End`].
    pub reached: bool,
    /// The Session that the last `segment_start` names.
    pub session: Option<SessionId>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The request config, as stored.
    pub config: Option<Box<RawValue>>,
    /// `forked_from` of the first `segment_start`.
    pub forked: Option<Origin>,
    /// `compacted_from` of the first `segment_start`.
    pub compacted: Option<Origin>,
    /// The history.
    pub history: Vec<Item>,
    /// The turn count.
    pub turn: u64,
    /// Whether the last run counts as interrupted.
    pub interrupted: bool,
    /// What requests cost.
    pub usage: Vec<Usage>,
    /// Data of others, that of user inputs included.
    pub extensions: Vec<Extension>,
    /// The parts of each user's input, as stored.
    pub inputs: Vec<Box<RawValue>>,
}

/// Why there is no replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Reading failed.
    #[error("reading failed")]
    Io(#[from] io::Error),
    /// A committed line is no good record.
    #[error("line {line}: {}", fault.message)]
    Bad {
        /// Counts from 1.
        line: u64,
        /// What is wrong with it, and at which byte of the file.
        fault: Fault,
    },
}

/// Shows what each record of the first `len` bytes does, in order, with its line.
///
/// # Errors
/// Reading fails, or a committed line is no good record.
pub fn steps<S: Source + ?Sized>(
    source: &S,
    len: u64,
    limits: Limits,
    mut visit: impl FnMut(&Line<'_>, RecordKind, Step<'_>) -> ControlFlow<()>,
) -> Result<Scanned, ReplayError> {
    let mut failed = None;
    let scanned = Scanner::new(limits).scan(source, len, Format::Segment, |line| {
        let kind = match &line.verdict {
            Verdict::Blank => return ControlFlow::Continue(()),
            Verdict::Bad(fault) => {
                failed = Some(ReplayError::Bad {
                    line: line.number,
                    fault: fault.clone(),
                });
                return ControlFlow::Break(());
            }
            Verdict::Record(facts) => facts.kind(),
        };
        let mut step = || -> Result<_, ReplayError> {
            let bytes = line_bytes(source, line)?;
            let bad = |message: String| ReplayError::Bad {
                line: line.number,
                fault: Fault {
                    code: Code::CorruptRecord,
                    at: line.offset,
                    length: Some(line.length),
                    message,
                },
            };
            let kind = kind.ok_or_else(|| bad("a record without a kind".to_owned()))?;
            let step = Step::read(kind, &bytes).map_err(|e| bad(e.to_string()))?;
            Ok(visit(line, kind, step))
        };
        step().unwrap_or_else(|e| {
            failed = Some(e);
            ControlFlow::Break(())
        })
    })?;
    failed.map_or(Ok(scanned), Err)
}

/// The bytes of a line without its line end; read from the source if they did not fit the buffer.
///
/// # Errors
/// Reading fails; `UnexpectedEof` if the file became shorter.
pub fn line_bytes<'a, S: Source + ?Sized>(
    source: &S,
    line: &Line<'a>,
) -> io::Result<Cow<'a, [u8]>> {
    if let Some(bytes) = line.bytes {
        return Ok(Cow::Borrowed(bytes));
    }
    let length = line.length - u64::from(line.crlf);
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(length, 0);
    if read_full(source, &mut bytes, line.offset)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Cow::Owned(bytes))
}

impl Replay {
    /// Replays the first `len` bytes of a Segment.
    ///
    /// # Errors
    /// Reading fails, or a committed line is no good record.
    pub fn read<S: Source + ?Sized>(
        source: &S,
        len: u64,
        limits: Limits,
        until: Until,
    ) -> Result<Self, ReplayError> {
        let mut replay = Self {
            reached: until == Until::End,
            ..Self::default()
        };
        let scanned = steps(source, len, limits, |line, kind, step| {
            if until == Until::Turn(0) && (kind != RecordKind::SegmentStart || replay.records > 0) {
                return ControlFlow::Break(());
            }
            let last = match (&step, until) {
                (Step::Turn(count), Until::Turn(wanted)) => *count == wanted,
                (Step::Start(_), Until::Turn(0)) => true,
                _ => false,
            };
            replay.apply(line.number, step);
            replay.bytes = line.offset + line.length + 1;
            if last {
                replay.reached = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if until == Until::End {
            // Blank lines behind the last record are committed too.
            replay.bytes = scanned.committed;
        }
        Ok(replay)
    }

    fn apply(&mut self, line: u64, step: Step<'_>) {
        match step {
            Step::Start(start) => self.start(line, *start),
            Step::Invoke => self.interrupted = true,
            Step::Input {
                parts,
                text,
                extensions,
            } => {
                self.push(line, message("user", &text));
                self.inputs.push(parts.to_owned());
                for extension in extensions {
                    self.extend(extension);
                }
            }
            Step::Item(item) => self.push(line, item.to_owned()),
            Step::System(text) => self.push(line, message("system", &text)),
            Step::Turn(count) => self.turn = count,
            Step::Ended(interrupted) => self.interrupted = interrupted,
            Step::Config(config) => self.config = Some(config.to_owned()),
            Step::Usage(usage) => self.usage.push(usage),
            Step::Extension(extension) => self.extend(extension),
        }
        self.records += 1;
    }

    fn start(&mut self, line: u64, start: Start<'_>) {
        if self.session.is_none() {
            self.forked = start.forked;
            self.compacted = start.compacted;
        }
        self.session = Some(start.session);
        self.system_prompt = start.system_prompt.map(Cow::into_owned);
        self.config = Some(start.config.to_owned());
        let turn = self.turn;
        self.history = start
            .history
            .into_iter()
            .enumerate()
            .map(|(place, item)| Item {
                json: item.to_owned(),
                line,
                seed: Some(place),
                turn,
            })
            .collect();
    }

    fn push(&mut self, line: u64, json: Box<RawValue>) {
        self.history.push(Item {
            json,
            line,
            seed: None,
            turn: self.turn,
        });
    }

    fn extend(&mut self, extension: super::step::Extension<'_>) {
        self.extensions.push(Extension {
            domain: extension.domain.into_owned(),
            payload: extension.payload.to_owned(),
        });
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
