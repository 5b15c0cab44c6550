//! One large file scanned by several threads: its lines are shown in order, by one thread, as if
//! nobody had helped.
//!
//! The file is cut into chunks; a line belongs to the chunk that it begins in, so each thread finds
//! the lines of its chunk by itself. Who leads shows the lines to the visitor. It scans the chunk
//! whose turn it is directly, and one ahead of its turn only while others are at work on those
//! before; helpers scan chunks ahead and leave what their lines came to. What is left there is
//! bounded by number and weight: who is too far ahead waits.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::facts::Facts;
use super::json::Fault;
use super::scan::{Format, Limits, Line, Part, Scanned, Scanner, Stretch, Verdict};
use super::source::{Source, read_full};
use super::threads::start;

/// Threads that nobody needs at the moment.
#[derive(Debug, Default)]
pub struct Spare(AtomicUsize);

impl Spare {
    /// So many at the start.
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        Self(AtomicUsize::new(threads))
    }

    /// One more has nothing to do.
    pub fn give(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one, if there is one.
    fn take(&self) -> bool {
        let less = |n: usize| n.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// How a file is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// The size of a chunk, in bytes.
    pub chunk: u64,
    /// How many threads may help with one file.
    pub helpers: usize,
    /// How many parcels may wait for their turn.
    pub parcels: usize,
    /// How many lines make a parcel.
    pub lines: usize,
}

/// Chunks are large beside the cost of handing one over, and small beside the memory there is.
const CUT: Cut = Cut {
    chunk: 2 * 1024 * 1024,
    helpers: 7,
    parcels: 24,
    lines: 1024,
};

/// A parcel is full at this weight too, in bytes.
const PARCEL_WEIGHT: usize = 256 * 1024;

/// Files below this length, in bytes, are not worth a helper.
const LARGE: u64 = 4 * CUT.chunk;

impl Scanner {
    /// As [`Scanner::scan`], by as many threads as are spare while a large file lasts. Lines come
    /// without their bytes.
    ///
    /// # Errors
    /// Those of reading the source.
    pub fn scan_helped<S: Source + Sync + ?Sized>(
        &mut self,
        source: &S,
        len: u64,
        format: Format,
        spare: &Spare,
        visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Scanned> {
        if len < LARGE {
            return self.scan(source, len, format, visit);
        }
        self.scan_cut(source, len, format, spare, CUT, visit)
    }

    pub(super) fn scan_cut<S: Source + Sync + ?Sized>(
        &mut self,
        source: &S,
        len: u64,
        format: Format,
        spare: &Spare,
        cut: Cut,
        visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Scanned> {
        let work = Work {
            source,
            len,
            format,
            limits: self.limits(),
            cut,
            count: len.div_ceil(cut.chunk),
            table: Mutex::default(),
            changed: Condvar::new(),
        };
        let mut lead = Lead {
            work: &work,
            visit,
            hasher: self.take_hasher(),
            lines: 0,
            end: 0,
            outcome: None,
        };
        std::thread::scope(|scope| {
            let mut helpers = 0;
            lead.run(self, || {
                // Who was busy elsewhere may have become free meanwhile.
                while helpers < cut.helpers && spare.take() {
                    work.table().helpers = helpers + 1;
                    let helper = start(scope, || {
                        work.help();
                        spare.give();
                    });
                    if helper.is_none() {
                        // Not given back: it would be refused for the next file too.
                        work.table().helpers = helpers;
                        break;
                    }
                    helpers += 1;
                }
            });
            work.stop();
        });
        let Lead {
            hasher,
            lines,
            end,
            outcome,
            ..
        } = lead;
        let sha256 = hasher.map(|mut hasher| {
            let digest = hasher.finalize_reset().into();
            self.put_hasher(hasher);
            digest
        });
        let (tail, stopped) = match outcome {
            Some(Outcome::Failed(e)) => return Err(e),
            Some(Outcome::Stopped) => (None, true),
            Some(Outcome::End(tail)) => (tail, false),
            None => (None, false),
        };
        Ok(Scanned {
            committed: end,
            lines,
            tail,
            stopped,
            sha256,
        })
    }
}

/// A scan that several threads are at.
struct Work<'a, S: ?Sized> {
    source: &'a S,
    len: u64,
    format: Format,
    limits: Limits,
    cut: Cut,
    /// How many chunks there are.
    count: u64,
    table: Mutex<Table>,
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    /// The next chunk to give out.
    next: u64,
    /// The chunk whose lines are shown now.
    turn: u64,
    /// Chunks that somebody scanned ahead of their turn, or is at.
    ahead: BTreeMap<u64, Ahead>,
    /// Parcels to use again.
    empty: Vec<Parcel>,
    /// How many threads help.
    helpers: usize,
    /// Nobody needs more.
    over: bool,
}

impl Table {
    /// How many chunks may be given out from the one on whose turn it is: one for each thread, and
    /// one more, so that nobody waits for the visitor.
    fn window(&self) -> u64 {
        self.helpers as u64 + 2
    }
}

#[derive(Default)]
struct Ahead {
    ready: VecDeque<Parcel>,
    done: Option<io::Result<Part>>,
}

/// What some lines came to.
#[derive(Default)]
struct Parcel {
    lines: Vec<Kept>,
    /// Facts of its records, in order; more than are used.
    facts: Vec<Facts>,
    used: usize,
    weight: usize,
}

struct Kept {
    /// Counts from 1 in its chunk.
    number: u64,
    offset: u64,
    length: u64,
    crlf: bool,
    verdict: KeptVerdict,
}

enum KeptVerdict {
    /// The place of its facts in the parcel.
    Record(usize),
    Blank,
    Bad(Fault),
}

impl Parcel {
    fn add(&mut self, line: &Line<'_>) {
        let verdict = match &line.verdict {
            Verdict::Record(facts) => {
                if self.used == self.facts.len() {
                    self.facts.push(Facts::default());
                }
                let index = self.used;
                self.used += 1;
                self.facts[index].copy(facts);
                self.weight += facts.weight();
                KeptVerdict::Record(index)
            }
            Verdict::Blank => KeptVerdict::Blank,
            Verdict::Bad(fault) => {
                self.weight += fault.message.len();
                KeptVerdict::Bad(fault.clone())
            }
        };
        self.lines.push(Kept {
            number: line.number,
            offset: line.offset,
            length: line.length,
            crlf: line.crlf,
            verdict,
        });
    }

    fn clear(&mut self) {
        self.lines.clear();
        self.used = 0;
        self.weight = 0;
    }

    fn is_full(&self, cut: Cut) -> bool {
        self.lines.len() >= cut.lines || self.weight >= PARCEL_WEIGHT
    }
}

impl<S: Source + Sync + ?Sized> Work<'_, S> {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'t>(&self, table: MutexGuard<'t, Table>) -> MutexGuard<'t, Table> {
        self.changed
            .wait(table)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.table().over = true;
        self.changed.notify_all();
    }

    /// Gives out a chunk: the one whose turn it is or one not far ahead of it.
    fn claim(&self, table: &mut Table) -> Option<u64> {
        let chunk = table.next;
        if table.over || chunk >= self.count || chunk >= table.turn + table.window() {
            return None;
        }
        table.next += 1;
        table.ahead.insert(chunk, Ahead::default());
        Some(chunk)
    }

    /// Scans chunks until none is left.
    fn help(&self) {
        let mut scanner = Scanner::new(self.limits);
        loop {
            let chunk = {
                let mut table = self.table();
                loop {
                    if table.over || table.next >= self.count {
                        return;
                    }
                    match self.claim(&mut table) {
                        Some(chunk) => break chunk,
                        None => table = self.wait(table),
                    }
                }
            };
            let mut parcel = self.empty();
            let part = self.scan(chunk, &mut scanner, None, |line| {
                parcel.add(line);
                if !parcel.is_full(self.cut) {
                    return ControlFlow::Continue(());
                }
                let mut table = self.table();
                while !table.over && self.is_ahead(&table, chunk) {
                    table = self.wait(table);
                }
                if table.over {
                    return ControlFlow::Break(());
                }
                self.hand_over(&mut table, chunk, &mut parcel);
                ControlFlow::Continue(())
            });
            self.done(chunk, parcel, part);
        }
    }

    /// Whether as much of a chunk waits as may.
    fn is_ahead(&self, table: &Table, chunk: u64) -> bool {
        let most = (self.cut.parcels as u64 / table.window()).max(1);
        table
            .ahead
            .get(&chunk)
            .is_some_and(|ahead| ahead.ready.len() as u64 >= most)
    }

    fn empty(&self) -> Parcel {
        self.table().empty.pop().unwrap_or_default()
    }

    /// Puts a parcel up for the visitor and takes an empty one for it.
    fn hand_over(&self, table: &mut Table, chunk: u64, parcel: &mut Parcel) {
        let fresh = table.empty.pop().unwrap_or_default();
        let full = std::mem::replace(parcel, fresh);
        if let Some(ahead) = table.ahead.get_mut(&chunk) {
            ahead.ready.push_back(full);
        }
        self.changed.notify_all();
    }

    fn done(&self, chunk: u64, mut parcel: Parcel, part: io::Result<Part>) {
        let mut table = self.table();
        self.hand_over(&mut table, chunk, &mut parcel);
        if let Some(ahead) = table.ahead.get_mut(&chunk) {
            ahead.done = Some(part);
        }
        table.empty.push(parcel);
    }

    /// What is ready of the chunk whose turn it is.
    fn ready(&self, table: &mut Table) -> Option<Next> {
        let turn = table.turn;
        let ahead = table.ahead.get_mut(&turn)?;
        if let Some(parcel) = ahead.ready.pop_front() {
            self.changed.notify_all(); // there is room for one more
            return Some(Next::Show(parcel));
        }
        let done = ahead.done.take()?;
        table.ahead.remove(&turn);
        Some(match done {
            Ok(part) => Next::Ended(part),
            Err(e) => Next::Failed(e),
        })
    }

    /// Scans the lines that begin in a chunk.
    fn scan(
        &self,
        chunk: u64,
        scanner: &mut Scanner,
        hasher: Option<&mut Sha256>,
        visit: impl FnMut(&Line<'_>) -> ControlFlow<()>,
    ) -> io::Result<Part> {
        let starts = chunk * self.cut.chunk..((chunk + 1) * self.cut.chunk).min(self.len);
        match self.first_start(&starts)? {
            First::At(first) => scanner.part(
                self.source,
                Stretch {
                    starts: first..starts.end,
                    lines: 0,
                },
                self.len,
                self.format,
                hasher,
                visit,
            ),
            none => Ok(Part {
                end: starts.start,
                lines: 0,
                tail: None,
                stopped: false,
                at_end: matches!(none, First::Gone),
            }),
        }
    }

    /// Where the first line of a range begins.
    fn first_start(&self, starts: &Range<u64>) -> io::Result<First> {
        if starts.start == 0 {
            return Ok(First::At(0));
        }
        let mut buf = vec![0; 16 * 1024];
        let (mut at, end) = (starts.start - 1, starts.end - 1);
        while at < end {
            let room = usize::try_from(end - at)
                .unwrap_or(buf.len())
                .min(buf.len());
            let got = read_full(self.source, &mut buf[..room], at)?;
            if let Some(newline) = memchr::memchr(b'\n', &buf[..got]) {
                return Ok(First::At(at + newline as u64 + 1));
            }
            if got < room {
                return Ok(First::Gone);
            }
            at += got as u64;
            buf.resize(LOOK, 0);
        }
        Ok(First::None)
    }
}

/// Where the first line of a range begins.
enum First {
    At(u64),
    /// A line that began before it ends behind it.
    None,
    /// The file became shorter meanwhile.
    Gone,
}

/// How much is looked at at a time for a line's end, where lines are long, in bytes.
const LOOK: usize = 256 * 1024;

/// Who shows the lines.
struct Lead<'a, S: ?Sized, V> {
    work: &'a Work<'a, S>,
    visit: V,
    hasher: Option<Sha256>,
    /// Lines of the chunks before the one whose turn it is.
    lines: u64,
    /// Offset behind the last line that was shown.
    end: u64,
    outcome: Option<Outcome>,
}

enum Outcome {
    Failed(io::Error),
    Stopped,
    /// The source ended with this behind its last newline.
    End(Option<super::scan::Tail>),
}

enum Next {
    Scan(u64),
    Show(Parcel),
    Ended(Part),
    Failed(io::Error),
}

impl<S: Source + Sync + ?Sized, V: FnMut(&Line<'_>) -> ControlFlow<()>> Lead<'_, S, V> {
    fn run(&mut self, scanner: &mut Scanner, mut call_helpers: impl FnMut()) {
        while self.outcome.is_none() {
            call_helpers();
            let Some(next) = self.next() else { return };
            match next {
                Next::Scan(chunk) => {
                    let in_turn = self.work.table().turn == chunk;
                    if in_turn {
                        self.scan_in_turn(chunk, scanner);
                    } else {
                        self.scan_ahead(chunk, scanner);
                    }
                }
                other => self.take(other),
            }
        }
    }

    /// What to do now; none if all chunks were shown.
    fn next(&self) -> Option<Next> {
        let work = self.work;
        let mut table = work.table();
        loop {
            if table.turn >= work.count {
                return None;
            }
            if let Some(next) = work.ready(&mut table) {
                return Some(next);
            }
            // In its turn or ahead of it.
            if let Some(chunk) = work.claim(&mut table) {
                return Some(Next::Scan(chunk));
            }
            table = work.wait(table);
        }
    }

    fn take(&mut self, next: Next) {
        match next {
            Next::Scan(_) => {}
            Next::Show(parcel) => self.show(parcel),
            Next::Ended(part) => self.ended(part, true),
            Next::Failed(e) => self.outcome = Some(Outcome::Failed(e)),
        }
    }

    /// Scans the chunk whose turn it is and shows its lines at once.
    fn scan_in_turn(&mut self, chunk: u64, scanner: &mut Scanner) {
        let (lines, visit) = (self.lines, &mut self.visit);
        let part = self
            .work
            .scan(chunk, scanner, self.hasher.as_mut(), |line| {
                visit(&Line {
                    number: lines + line.number,
                    offset: line.offset,
                    length: line.length,
                    crlf: line.crlf,
                    bytes: None,
                    verdict: match &line.verdict {
                        Verdict::Record(facts) => Verdict::Record(facts),
                        Verdict::Blank => Verdict::Blank,
                        Verdict::Bad(fault) => Verdict::Bad(fault.clone()),
                    },
                })
            });
        self.work.table().ahead.remove(&chunk);
        match part {
            Ok(part) => self.ended(part, false),
            Err(e) => self.outcome = Some(Outcome::Failed(e)),
        }
    }

    /// Scans a chunk while others are at those before it. When too much of it waits, those are
    /// shown first, and the rest of it in its turn.
    fn scan_ahead(&mut self, chunk: u64, scanner: &mut Scanner) {
        let work = self.work;
        let mut parcel = work.empty();
        let part = work.scan(chunk, scanner, None, |line| {
            parcel.add(line);
            if !parcel.is_full(work.cut) {
                return ControlFlow::Continue(());
            }
            let full = {
                let mut table = work.table();
                work.hand_over(&mut table, chunk, &mut parcel);
                work.is_ahead(&table, chunk)
            };
            if full && self.catch_up(chunk).is_break() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        work.done(chunk, parcel, part);
    }

    /// Shows all before a chunk, and what waits of it.
    fn catch_up(&mut self, chunk: u64) -> ControlFlow<()> {
        while self.outcome.is_none() {
            let next = {
                let mut table = self.work.table();
                loop {
                    if let Some(next) = self.work.ready(&mut table) {
                        break next;
                    }
                    if table.turn == chunk {
                        return ControlFlow::Continue(());
                    }
                    table = self.work.wait(table);
                }
            };
            self.take(next);
        }
        ControlFlow::Break(())
    }

    fn show(&mut self, mut parcel: Parcel) {
        for kept in parcel.lines.drain(..) {
            let flow = (self.visit)(&Line {
                number: self.lines + kept.number,
                offset: kept.offset,
                length: kept.length,
                crlf: kept.crlf,
                bytes: None,
                verdict: match kept.verdict {
                    KeptVerdict::Record(index) => Verdict::Record(&parcel.facts[index]),
                    KeptVerdict::Blank => Verdict::Blank,
                    KeptVerdict::Bad(fault) => Verdict::Bad(fault),
                },
            });
            if flow.is_break() {
                self.lines += kept.number;
                self.end = kept.offset + kept.length + 1;
                self.outcome = Some(Outcome::Stopped);
                return;
            }
        }
        parcel.clear();
        self.work.table().empty.push(parcel);
    }

    /// The turn moves on.
    fn ended(&mut self, part: Part, ahead: bool) {
        self.lines += part.lines;
        if part.lines > 0 {
            let from = self.end;
            self.end = part.end;
            if ahead && let Err(e) = self.hash(from) {
                self.outcome = Some(Outcome::Failed(e));
            }
            if self.outcome.is_some() {
                return;
            }
        }
        if part.stopped {
            self.outcome = Some(Outcome::Stopped);
        } else if part.at_end {
            self.outcome = Some(Outcome::End(part.tail));
        }
        self.work.table().turn += 1;
        self.work.changed.notify_all();
    }

    /// Hashes what others looked at: the bytes did not stay.
    fn hash(&mut self, mut from: u64) -> io::Result<()> {
        let Some(hasher) = &mut self.hasher else {
            return Ok(());
        };
        let mut buf = vec![0; LOOK];
        while from < self.end {
            let room = usize::try_from(self.end - from).unwrap_or(LOOK).min(LOOK);
            match read_full(self.work.source, &mut buf[..room], from)? {
                0 => {
                    // It became shorter since, and what is told of it must not hide that.
                    self.end = from;
                    self.outcome = Some(Outcome::End(None));
                    return Ok(());
                }
                got => {
                    hasher.update(&buf[..got]);
                    from += got as u64;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "helped_tests.rs"]
mod tests;
