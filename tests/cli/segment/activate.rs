use super::{Place, first};
use crate::support::Log;
use crate::support::store::{edit, id};

#[test]
fn c28_the_pointer_moves_and_nothing_else() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::forked(1, 0x11, 2));
    edit(place.worker().path("metadata.json"), |m| {
        m["peers"] = serde_json::json!([{ "worker_name": "lamp" }]);
        m["later"] = serde_json::json!({ "active": null });
    });
    let before = place.metadata();
    let receipt = place.receipt(&["activate", "1/latest"], "");
    assert_eq!(receipt["segment_id"], id(0x12));
    assert_eq!(receipt["previous_segment_id"], first());
    assert_eq!(place.metadata(), before.replace(&first(), &id(0x12)));
    let out = place.wagg(&["activate", &id(0x12)]).ok();
    assert_eq!(out.stdout(), format!("{}\n", id(0x12)));
    let receipt = place.receipt(&["activate", &id(0x12)], "");
    assert_eq!(receipt["outcome"], "no_change");
}

/// What is so already is no change, whoever runs.
#[test]
fn c13_no_change_needs_no_stop() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::forked(1, 0x11, 2));
    let _live = place.worker().live(1);
    let _ = place.wagg(&["activate", &first()]).ok();
    place.refused(&["activate", &id(0x12)], "", "worker_live", 3);
}

fn point(place: &Place, session: u64, segment: Option<u64>) {
    place.worker().active(session, segment);
}

/// The remedies of `wagg explain`: a pointer at nothing, at another Session, or none at all.
#[test]
fn a_broken_pointer_is_mended() {
    for break_it in [
        (|p: &Place| point(p, 1, Some(0x99))) as fn(&Place),
        |p| point(p, 2, Some(0x11)),
        |p| point(p, 1, None),
        |p| std::fs::remove_file(p.worker().path("metadata.json")).unwrap(),
        |p| {
            edit(p.worker().path("metadata.json"), |m| {
                m["active"] = serde_json::Value::Null
            })
        },
    ] {
        let place = Place::usual();
        break_it(&place);
        let _ = place.wagg(&["activate", &first()]).ok();
        assert!(place.metadata().contains(&first()));
        assert_eq!(place.codes(), Vec::<String>::new());
    }
}

/// One that does not restore is not pointed at.
#[test]
fn a_damaged_segment_is_refused() {
    let place = Place::usual();
    let worker = place.worker();
    worker.segment(0x12, &Log::start(1).turns(1).raw("nope").turn("x"));
    let error = place.refused(&["activate", &id(0x12)], "", "corrupt_record", 5);
    assert_eq!(error["line"], 10);
    worker.segment(0x13, &Log::empty());
    place.refused(&["activate", &id(0x13)], "", "missing_segment_start", 5);
    worker.segment(0x14, &Log::start(3));
    place.refused(&["activate", &id(0x14)], "", "session_mismatch", 3);
}
