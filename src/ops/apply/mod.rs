//! `apply`: many changes from one stream of JSON lines.
//!
//! Each line is checked and refused alone. Neighbours share their syncs as far as they allow it
//! (see [`change::run_many`](crate::ops::change::run_many)); answers come in the order of lines and
//! only once what they say is durable. A group never waits for a line that is not there yet, so
//! that a program may write a line and wait for its answer.

mod line;
mod read;

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde_json::Value;

pub use line::{COMMANDS, parse};
use read::Lines;

use crate::diag::{Code, Effects, Error, Locus, Result};
use crate::ops::change::{Done, Flags, Member, run, run_many};
use crate::store::Store;

/// How many neighbours share a sync.
pub const GROUP: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);

/// What became of one line.
#[derive(Debug)]
pub struct Answered {
    /// Counts from 1.
    pub line: u64,
    /// Its command, as far as it could be read.
    pub command: String,
    /// The receipt, or why it was refused.
    pub result: Result<Done>,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lines that held a change.
    pub lines: u64,
    /// Done now.
    pub done: u64,
    /// It was so already, or was done before by the same request id.
    pub no_change: u64,
    /// Refused, or failed without effect.
    pub refused: u64,
    /// Not known.
    pub unknown: u64,
}

impl Counts {
    fn count(&mut self, result: &Result<Done>) {
        self.lines += 1;
        match result {
            Ok(done) if done.replayed || done.outcome() == "no_change" => self.no_change += 1,
            Ok(_) => self.done += 1,
            Err(e) if e.effects == crate::diag::Effects::None => self.refused += 1,
            Err(_) => self.unknown += 1,
        }
    }
}

/// Carries out the lines of `input`, and gives each answer to `tell` as soon as it is durable. `name`
/// is what messages call the input.
///
/// # Errors
/// The input can not be read, or `tell` fails; what was answered before stays done.
pub fn apply<R: Read>(
    store: &Store,
    flags: &Flags<'_>,
    input: R,
    name: &Path,
    group: usize,
    mut tell: impl FnMut(Answered) -> Result<()>,
) -> Result<Counts> {
    let mut lines = Lines::new(input);
    let mut counts = Counts::default();
    loop {
        let batch = lines.next(group.max(1)).map_err(|e| {
            let error = match e.kind() {
                io::ErrorKind::FileTooLarge => {
                    let place = Locus::file(name);
                    Error::input(Code::OversizedLine, e.to_string(), place)
                }
                _ => Error::io("read", name, e),
            };
            error.effects(if counts.done > 0 {
                Effects::Some
            } else {
                Effects::None
            })
        })?;
        let Some(batch) = batch else { break };
        // Neighbours that are still to be made, with their places.
        let mut open: Vec<(Place<'_>, Member<'_>)> = Vec::new();
        for (number, text) in batch {
            let (command, member) = match parse(&text, flags) {
                Ok((command, member)) => (command, Ok(member)),
                Err((command, e)) => (command, Err(e)),
            };
            let place = Place {
                name,
                line: number,
                command,
            };
            match member {
                Ok(member) if member.change.groups() && !member.flags.dry_run => {
                    open.push((place, member));
                }
                other => {
                    // It must see what those before it did, and answers come in order.
                    flush(store, &mut open, &mut counts, &mut tell)?;
                    let result = other.and_then(|m| run(store, &m.flags, &*m.change));
                    answer(place, result, &mut counts, &mut tell)?;
                }
            }
        }
        flush(store, &mut open, &mut counts, &mut tell)?;
        if flags.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            break;
        }
    }
    Ok(counts)
}

/// Where an answer belongs.
struct Place<'a> {
    name: &'a Path,
    line: u64,
    command: String,
}

fn answer(
    place: Place<'_>,
    result: Result<Done>,
    counts: &mut Counts,
    tell: &mut impl FnMut(Answered) -> Result<()>,
) -> Result<()> {
    counts.count(&result);
    // What stands in a line has no file of its own.
    let result = result.map_err(|e| match e.code {
        Code::Usage | Code::BadInput => e.at(Locus {
            line: Some(place.line),
            ..Locus::file(place.name)
        }),
        _ => e,
    });
    tell(Answered {
        line: place.line,
        command: place.command,
        result,
    })
}

/// Makes the changes that wait, together.
fn flush(
    store: &Store,
    open: &mut Vec<(Place<'_>, Member<'_>)>,
    counts: &mut Counts,
    tell: &mut impl FnMut(Answered) -> Result<()>,
) -> Result<()> {
    let (places, members): (Vec<_>, Vec<_>) = open.drain(..).unzip();
    for (place, result) in places.into_iter().zip(run_many(store, &members)) {
        answer(place, result, counts, tell)?;
    }
    Ok(())
}

/// The receipt of a line as an object, with its line number.
///
/// # Errors
/// It can not be read back.
pub fn receipt_of(answered: &Answered, done: &Done) -> Result<Value> {
    let mut receipt: serde_json::Map<String, Value> = done.receipt.parse().map_err(|e| {
        Error::new(
            crate::diag::Code::Internal,
            "a receipt can not be read back",
        )
        .caused_by(e)
    })?;
    receipt.remove("line");
    receipt.insert("line".to_owned(), answered.line.into());
    Ok(Value::Object(receipt))
}
