//! A fold put down in the middle of a Segment and taken up again, maybe by another process: what
//! an incremental look keeps, so that only the lines that were appended are parsed.
//!
//! What was put down is only good for the very build that did so: nothing here is a format.

use std::collections::{BTreeMap, HashSet};

use super::{BadLine, Calls, Fold, MAX_CALLS, Names, Open, Outline, Remark, Start, Tally};
use crate::diag::Code;
use crate::layout::{SegmentId, SessionId};
use crate::record::facts::Origin;
use crate::record::pack::{Pack, Unpack};

/// What a fold carries over may not be longer than this, in bytes; a Segment with more is read
/// anew each time. It is the size of [`MAX_CALLS`] calls.
pub const MAX_CARRY: usize = 8 * MAX_CALLS;

impl Fold {
    /// Puts down all that the lines so far came to; none if that is very much.
    #[must_use]
    pub fn carry(&self) -> Option<Vec<u8>> {
        // Named one by one, so that no field can be forgotten.
        let Self {
            outline,
            remarks,
            of_code,
            bad,
            last_bad,
            open,
            calls,
            too_many_calls,
            epoch,
            active_epoch,
            expected_turn,
            before_start,
            first_record,
            first_line_bad,
            blank,
            crlf,
            time_back,
            noncanonical,
            noncanonical_text,
            run_open,
            partial,
        } = self;
        if *partial || calls.seen.len() * 8 > MAX_CARRY {
            return None;
        }
        let mut to = Pack::default();
        put_outline(&mut to, outline);
        to.number(remarks.len() as u64);
        for remark in remarks {
            put_remark(&mut to, remark);
            if to.len() > MAX_CARRY {
                return None;
            }
        }
        to.number(of_code.len() as u64);
        for (code, count) in of_code {
            to.text(code.info().name);
            to.number(*count);
        }
        to.maybe(*last_bad, put_place);
        to.number(bad.len() as u64);
        for line in bad {
            put_bad(&mut to, line);
            if to.len() > MAX_CARRY {
                return None;
            }
        }
        to.number(open.len() as u64);
        for (key, call) in open {
            to.number(*key);
            put_open(&mut to, call);
            if to.len() > MAX_CARRY {
                return None;
            }
        }
        to.flag(*too_many_calls);
        to.number(*epoch);
        to.number(*active_epoch);
        to.maybe_number(*expected_turn);
        to.number(*before_start);
        to.maybe(*first_record, put_place);
        to.flag(*first_line_bad);
        for tally in [blank, crlf, time_back, noncanonical] {
            to.maybe(tally.first, put_place);
            to.number(tally.count);
        }
        to.text(noncanonical_text);
        to.maybe_number(*run_open);
        // Last, since whoever only wants to know what the lines came to does not need them.
        let Calls { seed, seen } = calls;
        to.number(*seed);
        // A hash that another toolchain's hasher makes otherwise would be no use.
        to.number(calls.hash(PROBE));
        let mut seen: Vec<u64> = seen.iter().copied().collect();
        seen.sort_unstable();
        for call in seen {
            to.raw(&call.to_le_bytes());
        }
        (to.len() <= MAX_CARRY).then(|| to.into_bytes())
    }

    /// Takes up what [`Fold::carry`] put down; none if it does not fit. Without `calls` no line may
    /// be pushed, only the end made of what is there.
    #[must_use]
    pub fn carried(bytes: &[u8], calls: bool) -> Option<Self> {
        let mut from = Unpack::new(bytes);
        let outline = take_outline(&mut from)?;
        let remarks = from.list(take_remark)?;
        let of_code = from.list(|from| Some((take_code(from)?, from.number()?)))?;
        let of_code = of_code.into_iter().collect();
        let last_bad = from.maybe(take_place)?;
        let bad = from.list(take_bad)?;
        if bad.iter().any(|line| line.remark >= remarks.len()) {
            return None;
        }
        let open = from.list(|from| Some((from.number()?, take_open(from)?)))?;
        let open = open.into_iter().collect();
        let too_many_calls = from.flag()?;
        let epoch = from.number()?;
        let active_epoch = from.number()?;
        let expected_turn = from.maybe_number()?;
        let before_start = from.number()?;
        let first_record = from.maybe(take_place)?;
        let first_line_bad = from.flag()?;
        let mut tally = || {
            Some(Tally {
                first: from.maybe(take_place)?,
                count: from.number()?,
            })
        };
        let (blank, crlf, time_back, noncanonical) = (tally()?, tally()?, tally()?, tally()?);
        let noncanonical_text = from.text()?;
        let run_open = from.maybe_number()?;
        let mut known = Calls {
            seed: from.number()?,
            seen: HashSet::new(),
        };
        if known.hash(PROBE) != from.number()? {
            return None;
        }
        let (chunks, rest) = from.rest().as_chunks::<8>();
        if !rest.is_empty() || chunks.len() > MAX_CALLS {
            return None;
        }
        if calls {
            known.seen = chunks.iter().map(|n| u64::from_le_bytes(*n)).collect();
        }
        Some(Self {
            outline,
            remarks,
            of_code,
            bad,
            last_bad,
            open,
            calls: known,
            too_many_calls,
            epoch,
            active_epoch,
            expected_turn,
            before_start,
            first_record,
            first_line_bad,
            blank,
            crlf,
            time_back,
            noncanonical,
            noncanonical_text,
            run_open,
            partial: false,
        })
    }
}

/// What the hasher is tried with.
const PROBE: &str = "call_0";

fn put_place(to: &mut Pack, (line, byte): (u64, u64)) {
    to.number(line);
    to.number(byte);
}

fn take_place(from: &mut Unpack<'_>) -> Option<(u64, u64)> {
    Some((from.number()?, from.number()?))
}

fn put_origin(to: &mut Pack, origin: Origin) {
    to.raw(origin.segment.uuid().as_bytes());
    to.number(origin.turn);
}

fn take_uuid(from: &mut Unpack<'_>) -> Option<uuid::Uuid> {
    uuid::Uuid::from_slice(from.raw(16)?).ok()
}

fn take_origin(from: &mut Unpack<'_>) -> Option<Origin> {
    Some(Origin {
        segment: SegmentId::from_uuid(take_uuid(from)?),
        turn: from.number()?,
    })
}

fn put_outline(to: &mut Pack, outline: &Outline) {
    let Outline {
        records,
        bad_lines,
        gaps,
        committed,
        tail,
        start,
        history,
        turn,
        highest_turn,
        interrupted,
        usage,
        extensions,
        inputs,
        input_tokens,
        output_tokens,
        last_input_tokens,
        first_ts,
        calls_not_followed,
        last_ts,
        // Only known at the end.
        beyond: _,
    } = outline;
    to.number(*records);
    to.number(*bad_lines);
    to.number(*gaps);
    to.number(*committed);
    to.number(*tail);
    to.maybe(*start, |to, start| {
        let Start {
            session,
            forked,
            compacted,
            line,
            byte,
        } = start;
        to.raw(session.uuid().as_bytes());
        to.maybe(forked, put_origin);
        to.maybe(compacted, put_origin);
        put_place(to, (line, byte));
    });
    to.number(*history);
    to.number(*turn);
    to.number(*highest_turn);
    to.flag(*interrupted);
    to.number(*usage);
    to.number(*extensions);
    to.number(*inputs);
    to.number(*input_tokens);
    to.number(*output_tokens);
    to.number(*last_input_tokens);
    to.maybe_number(*first_ts);
    to.flag(*calls_not_followed);
    to.maybe_number(*last_ts);
}

fn take_outline(from: &mut Unpack<'_>) -> Option<Outline> {
    Some(Outline {
        records: from.number()?,
        bad_lines: from.number()?,
        gaps: from.number()?,
        committed: from.number()?,
        tail: from.number()?,
        start: from.maybe(|from| {
            let session = SessionId::from_uuid(take_uuid(from)?);
            let forked = from.maybe(take_origin)?;
            let compacted = from.maybe(take_origin)?;
            let (line, byte) = take_place(from)?;
            Some(Start {
                session,
                forked,
                compacted,
                line,
                byte,
            })
        })?,
        history: from.number()?,
        turn: from.number()?,
        highest_turn: from.number()?,
        interrupted: from.flag()?,
        usage: from.number()?,
        extensions: from.number()?,
        inputs: from.number()?,
        input_tokens: from.number()?,
        output_tokens: from.number()?,
        last_input_tokens: from.number()?,
        first_ts: from.maybe_number()?,
        calls_not_followed: from.flag()?,
        last_ts: from.maybe_number()?,
        beyond: BTreeMap::new(),
    })
}

fn put_remark(to: &mut Pack, remark: &Remark) {
    let Remark {
        code,
        line,
        byte,
        length,
        message,
    } = remark;
    to.text(code.info().name);
    to.maybe_number(*line);
    to.maybe_number(*byte);
    to.maybe_number(*length);
    to.text(message);
}

fn take_code(from: &mut Unpack<'_>) -> Option<Code> {
    from.text()?.parse().ok()
}

fn take_remark(from: &mut Unpack<'_>) -> Option<Remark> {
    Some(Remark {
        code: take_code(from)?,
        line: from.maybe_number()?,
        byte: from.maybe_number()?,
        length: from.maybe_number()?,
        message: from.text()?,
    })
}

fn put_names(to: &mut Pack, names: &Names) {
    to.number(names.count);
    to.number(names.first.len() as u64);
    names.first.iter().for_each(|name| to.text(name));
}

fn take_names(from: &mut Unpack<'_>) -> Option<Names> {
    let (count, first) = (from.number()?, from.list(Unpack::text)?);
    (first.len() as u64 <= count).then_some(Names { first, count })
}

fn put_bad(to: &mut Pack, bad: &BadLine) {
    let BadLine {
        line,
        remark,
        records_before,
        open_calls,
        lost_calls,
        lost_end,
    } = bad;
    to.number(*line);
    to.number(*remark as u64);
    to.number(*records_before);
    put_names(to, open_calls);
    put_names(to, lost_calls);
    to.flag(*lost_end);
}

fn take_bad(from: &mut Unpack<'_>) -> Option<BadLine> {
    Some(BadLine {
        line: from.number()?,
        remark: from.index()?,
        records_before: from.number()?,
        open_calls: take_names(from)?,
        lost_calls: take_names(from)?,
        lost_end: from.flag()?,
    })
}

fn put_open(to: &mut Pack, call: &Open) {
    let Open {
        id,
        line,
        byte,
        seed,
        epoch,
    } = call;
    to.text(id);
    put_place(to, (*line, *byte));
    to.maybe_number(seed.map(|n| n as u64));
    to.number(*epoch);
}

fn take_open(from: &mut Unpack<'_>) -> Option<Open> {
    let id = from.text()?;
    let (line, byte) = take_place(from)?;
    Some(Open {
        id,
        line,
        byte,
        seed: from.maybe(Unpack::index)?,
        epoch: from.number()?,
    })
}
