//! C15: one request id, one change, whatever the references mean by the time of the retry.

use super::{Place, first};
use crate::support::store::id;

#[test]
fn c15_a_retry_gives_the_same_answer_and_acts_no_second_time() {
    for (args, stdin) in [
        (
            &[
                "fork",
                "1/active",
                "--activate",
                "--expect-active",
                "1/active",
            ][..],
            "",
        ),
        (
            &["compact", "1/latest", "--summary", "-", "--activate"],
            "Lamps.",
        ),
        (&["create", "1", "--history", "-"], ""),
        (
            &["append", "1/latest"],
            "{\"kind\":\"invoke\",\"ts\":4000000000000,\"trigger\":\"wakeup\"}\n",
        ),
        (&["activate", "1/latest"], ""),
    ] {
        for format in [&[][..], &["--format", "json"], &["--format", "ndjson"]] {
            let place = Place::usual();
            let args = [args, &["--request-id", "r1"], format].concat();
            let one = place.fed(&args, stdin).ok();
            let tree = crate::support::tree::tree(place.store.root());
            let two = place.fed(&args, stdin).ok();
            assert_eq!(one.bytes(), two.bytes(), "{args:?}");
            crate::support::tree::assert_same(
                &tree,
                &crate::support::tree::tree(place.store.root()),
                "a retry",
            );
            if stdin.is_empty() {
                continue;
            }
            // The same file with another content is another argument.
            let out = place.fed(&args, format!("{stdin} ")).status(3);
            assert!(out.stderr.contains("request_mismatch"), "{out}");
        }
    }
}

/// The references of a retry may lead nowhere by now, or to two things.
#[test]
fn c15_references_are_not_looked_at_again() {
    let place = Place::usual();
    let prefix = &first()[..12];
    let args = [
        "fork",
        prefix,
        "--expect-digest",
        &"0".repeat(64),
        "--request-id",
        "r",
    ];
    place.refused(&args, "", "fenced", 3);
    let args = [
        "fork",
        prefix,
        "--request-id",
        "r",
        "--expect-active",
        prefix,
    ];
    let one = place.wagg(&args).ok();
    place.worker().segment(0x12, &crate::support::Log::start(1));
    assert_eq!(
        place.wagg(&args).ok().bytes(),
        one.bytes(),
        "ambiguous by now"
    );
    std::fs::remove_dir_all(place.worker().path("session/segments")).unwrap();
    assert_eq!(place.wagg(&args).ok().bytes(), one.bytes(), "gone by now");
    let out = place
        .wagg(&["fork", &id(0x12), "--request-id", "r"])
        .status(3);
    assert!(out.stderr.contains("request_mismatch"), "{out}");
}

/// Content counts and the name of its file does not.
#[test]
fn c15_files_count_by_content() {
    let place = Place::usual();
    let (a, b) = (
        place.env.write("a", "Lamps."),
        place.env.write("b", "Lamps."),
    );
    let run = |file: &std::path::Path| {
        let args = ["compact", "1/active", "--request-id", "r", "--summary"];
        place.wagg(&[&args[..], &[file.to_str().unwrap()]].concat())
    };
    let one = run(&a).ok();
    assert_eq!(run(&b).ok().bytes(), one.bytes());
    std::fs::write(&a, "Ships.").unwrap();
    let out = run(&a).status(3);
    assert!(out.stderr.contains("request_mismatch"), "{out}");
}
