//! `wagg show`: C3 from outside.

use super::Place;
use crate::support::store::id;
use crate::support::{Log, TestStore, damage, schema};

#[test]
fn c3_every_reference_is_told() {
    let place = Place::usual();
    let segment = id(0x13);
    let session = id(1);
    for (reference, kind, next) in [
        ("1", "worker", "wagg worker show 1".to_owned()),
        ("name:demo 1", "worker", "wagg worker show 1".to_owned()),
        ("demo 2", "worker", "wagg worker show 2".to_owned()),
        (
            &*session,
            "session",
            "wagg segment list 1 --tree".to_owned(),
        ),
        (&*segment, "segment", format!("wagg segment show {segment}")),
        (
            "1/active",
            "segment",
            format!("wagg segment show {segment}"),
        ),
        (
            "store/workers/1/session/segments",
            "session",
            "wagg segment list 1 --tree".to_owned(),
        ),
        (
            &*format!("workers/1/session/segments/{}.trace.jsonl", id(0x11)),
            "trace",
            format!("wagg segment show {}", id(0x11)),
        ),
        ("workers/1/runs/1", "run", "wagg run show 1 1".to_owned()),
        ("store", "name", String::new()),
        ("./store", "store", "wagg worker list".to_owned()),
        ("runtime.json", "file", "wagg verify".to_owned()),
        ("workers", "name", String::new()),
        ("./store/workers", "folder", "wagg worker list".to_owned()),
    ] {
        let out = place.run(["show", reference, "--format", "json"]);
        if kind == "name" {
            // without a slash it is a name, also where a folder is called so
            let out = out.status(4);
            assert_eq!(out.error()["code"], "not_found");
            continue;
        }
        let document = out.ok().json();
        schema::check("show", &document);
        let shown = &document["references"][0];
        assert_eq!(shown["kind"], kind, "{reference}");
        let next = next.replacen("wagg ", "wagg --store store ", 1);
        assert_eq!(shown["next"], next, "{reference}");
        assert_eq!(shown["reference"], reference);
    }
}

/// The command that is named goes on from there.
#[test]
fn the_next_command_works() {
    let place = Place::usual();
    for reference in [
        "1",
        "2",
        "1/active",
        "workers/1/runs/1",
        "./store",
        "workers/1/session",
    ] {
        let out = place.run(["show", reference, "--format", "json"]).ok();
        let next = out.json()["references"][0]["next"]
            .as_str()
            .unwrap()
            .to_owned();
        let words = next.strip_prefix("wagg --store store ").unwrap();
        let _ = place.line(words).status(0);
    }
}

#[test]
fn c3_the_wrong_kind_is_refused_with_the_right_one_named() {
    let place = Place::usual();
    let out = place.run(["segment", "show", &id(1)]).status(4);
    assert_eq!(
        out.stderr,
        format!(
            "error[wrong_id_kind]: {} is the Session of Worker 1; its active Segment is {active}\n\
             hint: give {active} or 1/active\n",
            id(1),
            active = id(0x13)
        )
    );
    let out = place
        .run(["run", "list", &id(0x11), "--format", "json"])
        .status(4);
    let error = out.error();
    assert_eq!(error["code"], "wrong_id_kind");
    assert_eq!(error["hint"], "the Worker is 1");
}

#[test]
fn c3_two_matches_are_refused_and_listed() {
    let place = Place::usual();
    let out = place.line("segment show 0189").status(4);
    assert!(
        out.stderr
            .starts_with("error[ambiguous_reference]: 0189 fits 4 things"),
        "{out}"
    );
    for segment in [0x11, 0x12, 0x13, 0x14] {
        assert!(
            out.stderr.contains(&format!(
                "hint: wagg --store store show 1/{}\n",
                id(segment)
            )),
            "{out}"
        );
    }
}

/// C31: a link is never followed, and a person is told.
#[test]
fn c31_links_are_named() {
    let place = Place::usual();
    let worker = place.store.worker_folder(1);
    damage::symlink(&worker.segment_path(0x15), "/etc/passwd");
    damage::symlink(&place.store.path("workers/9"), "1");
    for line in [
        "show 9",
        "worker show 9",
        "segment show 1/latest",
        "segment log 1/latest",
    ] {
        let out = place.line(line).status(3);
        assert!(out.stderr.contains("error[symbolic_link]"), "{out}");
    }
    // listings go on around it
    let out = place.line("worker list").ok();
    assert!(out.stdout().contains("symbolic_link"), "{out}");
    let out = place.line("segment list 1").ok();
    assert!(out.stdout().contains("symbolic_link"), "{out}");
}

#[test]
fn version_3_reads_the_same() {
    let place = Place::new();
    let store = TestStore::v3(place.env.path("v3"));
    let worker = store.worker(1);
    worker.usual(1);
    let run = |line: &str| {
        let args = ["--store", "v3"].into_iter().chain(line.split(' '));
        place.env.wagg(args).ok()
    };
    let id = worker.id();
    let document = run(&format!("worker show {id} --format json")).json();
    schema::check("worker.show", &document);
    assert_eq!(document["workers"][0]["worker_id"], id);
    let out = run(&format!("segment list {id} --format json"));
    schema::check("segment.list", &out.json());
    let _ = run(&format!("segment log {id}/active"));
    let _ = run("worker list");
    assert_eq!(run("worker list --ids").stdout(), format!("{id}\n"));
}

/// No input makes a command panic, whatever stands in the store.
#[test]
fn damage_never_ends_in_a_panic() {
    let place = Place::usual();
    let worker = place.store.worker_folder(1);
    for (n, file) in ["worker.json", "metadata.json", "session/session.json"]
        .iter()
        .enumerate()
    {
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"\xff\xfe",
            b"\0\0\0",
            b"{\"worker_name\":\"\"}",
        ] {
            std::fs::write(worker.path(file), bytes).unwrap();
            for line in [
                "show 1",
                "worker list",
                "worker show 1",
                "segment list 1 --tree",
                "segment show 1/latest",
                "segment log 1/latest",
                "run list 1",
                "run show 1",
                "segment show 1/active",
            ] {
                let out = place.line(line);
                assert!(matches!(out.code, Some(0 | 3 | 4 | 5)), "{n} {line}\n{out}");
            }
        }
    }
    let segment = worker.segment_path(0x15);
    let good = Log::start(1).turns(1).bytes();
    for cut in (0..good.len()).step_by(37) {
        let mut bytes = good.clone();
        bytes[cut] ^= 0x81;
        bytes.truncate(good.len() - cut / 3);
        std::fs::write(&segment, &bytes).unwrap();
        let reference = format!("1/{}", id(0x15));
        for verb in ["show", "log", "digest"] {
            let _ = place.run(["segment", verb, &reference]).status(0);
        }
        let out = place.run(["segment", "diff", &reference, &format!("1/{}", id(0x11))]);
        assert!(matches!(out.code, Some(0 | 5)), "{out}");
    }
}
