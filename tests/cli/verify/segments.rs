//! What can be wrong with the lines of one Segment together, and between the Segments of a Session.

use wagg::diag::Code;

use super::case::{Case, Kit, Place, SEGMENT, case, hold_all};
use crate::support::log::{call_item, result_item, text_item};
use crate::support::store::id;
use crate::support::{Log, damage};

/// A second Segment of the same Session.
const SECOND: u64 = 0x12;

/// Writes another Segment beside the first, and gives its first line.
fn beside(kit: &Kit, segment: u64, log: &Log) -> Place {
    kit.worker.segment(segment, log);
    kit.at(kit.worker.segment_path(segment), 1, 0)
}

/// Writes the Segment anew, and gives a line of it.
fn instead(kit: &Kit, log: &Log, line: usize) -> Place {
    kit.worker.segment(SEGMENT, log);
    kit.line(kit.segment(), line)
}

/// Where an item begins on a line: behind `"item":` or, in a seed, at its `{"kind"`.
fn item(mut place: Place, log: &Log, text: &str) -> Place {
    let bytes = log.bytes();
    let start = place.byte.unwrap() as usize;
    let at = String::from_utf8_lossy(&bytes[start..]).find(text).unwrap();
    place.byte = Some((start + at) as u64);
    place
}

pub const CASES: &[Case] = &[
    case(Code::RecordBeforeStart, "two records", |kit| {
        let start = Log::start(1).bytes();
        let start = std::str::from_utf8(&start).unwrap().trim_end();
        let log = Log::empty().invoke().completed().raw(start);
        instead(kit, &log, 1)
            .says("2 records before the segment_start on line 3")
            .says("loses them")
    }),
    case(Code::MissingSegmentStart, "only a run", |kit| {
        let log = Log::empty().invoke().completed();
        instead(kit, &log, 1).says("2 records and no segment_start")
    }),
    case(Code::SecondSegmentStart, "behind two turns", |kit| {
        damage::append(&kit.segment(), Log::start(1).turn("Anew.").bytes());
        kit.line(kit.segment(), 16).says("loses the 15 records")
    }),
    case(
        Code::SessionMismatch,
        "a Segment of another Session",
        |kit| {
            beside(kit, SECOND, &Log::start(9).turns(1))
                .says(id(9))
                .says(id(1))
        },
    ),
    case(
        Code::LineageMissingSource,
        "compacted from nothing",
        |kit| {
            let log = Log::compacted(1, 0x77, 3).turns(1);
            beside(kit, SECOND, &log)
                .says(id(0x77))
                .says("compacted from")
                .says("at turn 3")
                .says("itself can be restored")
        },
    ),
    case(Code::LineageMissingSource, "forked from nothing", |kit| {
        let log = Log::forked(1, 0x77, 0).turns(1);
        beside(kit, SECOND, &log).says("forked from")
    }),
    case(Code::LineageCycle, "of two", |kit| {
        kit.worker
            .segment(0x13, &Log::forked(1, SECOND, 1).turns(1));
        beside(kit, SECOND, &Log::forked(1, 0x13, 1).turns(1))
            .says(id(SECOND))
            .says(id(0x13))
            .says("which link is wrong can not be told")
    }),
    case(Code::LineageCycle, "of one", |kit| {
        beside(kit, SECOND, &Log::compacted(1, SECOND, 1).turns(1)).says("itself")
    }),
    case(
        Code::LineageOtherSession,
        "a source of another Worker",
        |kit| {
            kit.store.worker(2).usual(2);
            beside(kit, SECOND, &Log::forked(1, 0x21, 1).turns(1))
                .says(id(0x21))
                .says("lies in workers/2")
        },
    ),
    case(Code::LineageTurnOutOfRange, "one turn too many", |kit| {
        beside(kit, SECOND, &Log::forked(1, SEGMENT, 3).turns(1))
            .says("at turn 3")
            .says("ends at turn 2")
    }),
    case(Code::LineageBothKinds, "forked and compacted", |kit| {
        let log = Log::forked(1, SEGMENT, 1).turns(1).bytes();
        let log = String::from_utf8(log).unwrap();
        let origin = format!("{{\"segment_id\":\"{}\",\"at_turn_index\":1}}", id(SEGMENT));
        let both = log.replacen(
            &format!("\"forked_from\":{origin}"),
            &format!("\"forked_from\":{origin},\"compacted_from\":{origin}"),
            1,
        );
        assert_ne!(both, log);
        std::fs::write(kit.worker.segment_path(SECOND), both).unwrap();
        // the active Segment has a compacted child, whatever else it says
        kit.also = vec![Code::UnreferencedLeaf];
        kit.at(kit.worker.segment_path(SECOND), 1, 0)
            .says("at once")
    }),
    case(Code::DuplicateSegmentId, "in two Workers", |kit| {
        kit.store
            .worker(2)
            .session(2)
            .segment(SEGMENT, &Log::start(2).turns(1))
            .active(2, Some(SEGMENT))
            .run(1);
        kit.whole(kit.segment())
            .says(id(SEGMENT))
            .says("workers/1 and workers/2")
    }),
    case(Code::EmptySegment, "no byte", |kit| {
        kit.worker.segment(SECOND, &Log::empty());
        kit.whole(kit.worker.segment_path(SECOND))
            .says("no committed record")
    }),
    case(Code::TurnCountMismatch, "a turn left out", |kit| {
        let log = Log::start(1)
            .turn("One.")
            .invoke()
            .turn_end_at(3)
            .completed();
        instead(kit, &log, 9).says("3 where 2 was expected")
    }),
    case(Code::TurnCountMismatch, "the first is not 1", |kit| {
        let log = Log::start(1).invoke().turn_end_at(2).completed();
        instead(kit, &log, 3).says("2 where 1 was expected")
    }),
    case(
        Code::TurnCountMismatch,
        "a fork that counts from 1",
        |kit| {
            let log = Log::forked(1, SEGMENT, 2)
                .invoke()
                .turn_end_at(1)
                .completed();
            kit.worker.segment(SECOND, &log);
            kit.line(kit.worker.segment_path(SECOND), 3)
                .says("1 where 3 was expected")
        },
    ),
    case(Code::DuplicateCallId, "a call id used again", |kit| {
        let log = Log::start(1)
            .invoke()
            .call("c")
            .result("c")
            .call("c")
            .result("c");
        let log = log.turn_end().completed();
        item(instead(kit, &log, 5), &log, "{\"kind\":\"tool_call\"").says("\"c\"")
    }),
    case(Code::DuplicateCallId, "a second result", |kit| {
        let log = Log::start(1).invoke().call("c").result("c").result("c");
        let log = log.turn_end().completed();
        // the record and the item are both called tool_result
        item(
            instead(kit, &log, 5),
            &log,
            "{\"kind\":\"tool_result\",\"call_id\"",
        )
        .says("a second result")
    }),
    case(Code::OrphanToolResult, "an answer to nothing", |kit| {
        let log = Log::start(1).invoke().result("c").turn_end().completed();
        item(
            instead(kit, &log, 3),
            &log,
            "{\"kind\":\"tool_result\",\"call_id\"",
        )
        .says("\"c\" has no call before it")
    }),
    case(Code::OrphanToolResult, "in a seed", |kit| {
        let seed = vec![text_item("user", "a summary"), result_item("c")];
        let log = Log::compacted_with(1, SEGMENT, 2, seed);
        kit.worker.segment(SECOND, &log).active(1, Some(SECOND));
        let place = kit.at(kit.worker.segment_path(SECOND), 1, 0);
        item(place, &log, "{\"kind\":\"tool_result\"").says("seed history, item 2 of 2")
    }),
    case(Code::UnansweredToolCall, "and a later turn", |kit| {
        let log = Log::start(1).invoke().call("c").turn_end().completed();
        let log = log.turn("Go on.");
        item(instead(kit, &log, 3), &log, "{\"kind\":\"tool_call\"")
            .says("\"c\" has no result and later turns follow")
    }),
    case(Code::UnansweredToolCall, "in a seed", |kit| {
        let seed = vec![call_item("c"), text_item("user", "go on")];
        let log = Log::compacted_with(1, SEGMENT, 2, seed);
        kit.worker.segment(SECOND, &log).active(1, Some(SECOND));
        let place = kit.at(kit.worker.segment_path(SECOND), 1, 0);
        item(place, &log, "{\"kind\":\"tool_call\"").says("seed history, item 1")
    }),
    case(Code::InterruptedRun, "a tool at work", |kit| {
        let log = Log::start(1).turns(2).interrupted();
        instead(kit, &log, 16)
            .no_byte()
            .says("open: \"call_2\"")
            .says("whether it ran is not known")
    }),
    case(Code::InterruptedRun, "nothing open", |kit| {
        let log = Log::start(1).turns(2).invoke();
        instead(kit, &log, 16)
            .no_byte()
            .says("no tool call is open")
    }),
    case(
        Code::UnreferencedLeaf,
        "a pointer that was not moved",
        |kit| {
            kit.worker
                .segment(SECOND, &Log::compacted(1, SEGMENT, 2).turns(1));
            kit.whole(kit.worker.path("metadata.json"))
                .says(id(SEGMENT))
                .says(id(SECOND))
        },
    ),
    case(
        Code::TraceWithoutSegment,
        "its Segment is not there",
        |kit| {
            kit.worker.trace(SECOND);
            kit.whole(kit.worker.trace_path(SECOND))
                .says("its Segment is not here")
        },
    ),
];

#[test]
fn each_gives_its_one_finding() {
    hold_all(CASES);
}

/// Forks of forks, two leaves, a compaction that is active, a fork before the first turn: right.
#[test]
fn a_forest_gives_no_finding() {
    let kit = Kit::v1();
    kit.worker
        .segment(0x12, &Log::forked(1, SEGMENT, 1).turns(2))
        .segment(0x13, &Log::forked(1, 0x12, 3).turns(1))
        .segment(0x14, &Log::forked(1, SEGMENT, 0).turns(1))
        .segment(0x15, &Log::compacted(1, SEGMENT, 2).turns(1))
        .segment(0x16, &Log::start(1).turns(1))
        // at the turn that its own source was split at, without a turn of its own
        .segment(0x17, &Log::forked(1, 0x12, 1))
        .segment(0x18, &Log::forked(1, 0x17, 1).turns(1))
        .active(1, Some(0x15));
    let out = kit.verify(&["--format", "json"]).status(0);
    assert!(super::case::findings(&out).is_empty(), "{out}");
}

/// One cause is one finding: what follows from it stands in its message.
#[test]
fn what_follows_from_a_bad_line_is_no_finding_of_its_own() {
    // (the line that is damaged, what its message has to say)
    let log = Log::start(1).turns(2);
    for (line, words) in [
        (1, "0 records before it and 14 after it are whole"),
        (2, "1 record before it and 13 after it are whole"),
        (4, "without a readable call: \"call_1\""),
        (5, "without a readable result: \"call_1\""),
        (8, "are whole"),
        (9, "are whole"),
        (14, "are whole"),
        (15, "the end of the last run may have stood here"),
    ] {
        let kit = Kit::v1();
        kit.worker.segment(SEGMENT, &log);
        damage::replace_line(&kit.segment(), line, "damage");
        let place = kit.line(kit.segment(), line).says(words);
        super::case::hold_in(&kit, Code::CorruptRecord, &format!("line {line}"), &place);
    }
}
