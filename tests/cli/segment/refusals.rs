//! What every one of these commands refuses, with code, place, status and the store as it was.

use super::{Place, first};
use crate::support::store::{edit, id};
use crate::support::{Log, TestEnv, TestStore, damage};

/// Each command on one Segment; the last word of `create` is a Worker.
const COMMANDS: [&[&str]; 8] = [
    &["append"],
    &["fork"],
    &["fork", "--activate"],
    &["compact", "--summary", "-"],
    &["compact", "--summary", "-", "--activate"],
    &["activate"],
    &["create"],
    &["create", "--activate"],
];

const RECORD: &str = r#"{"kind":"invoke","ts":4000000000000,"trigger":"wakeup"}"#;

/// Every command on this Segment of Worker 1, but for those that `skip` names.
fn each(place: &Place, segment: &str, skip: &[&str], code: &str, status: i32) {
    for command in COMMANDS {
        if skip.contains(&command[0]) || skip.contains(&command[command.len() - 1]) {
            continue;
        }
        let object = if command[0] == "create" { "1" } else { segment };
        let args = [command, &[object]].concat();
        place.refused(&args, RECORD, code, status);
    }
}

#[test]
fn references_that_lead_nowhere() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::start(1));
    for (reference, code) in [
        (id(0x99), "not_found"),
        ("9/active".to_owned(), "not_found"),
        ("name:../../1".to_owned(), "not_found"),
        ("../outside.jsonl".to_owned(), "not_found"),
        (id(1), "wrong_id_kind"),
        ("1".to_owned(), "wrong_id_kind"),
        (first()[..8].to_owned(), "ambiguous_reference"),
    ] {
        for command in COMMANDS.iter().filter(|c| c[0] != "create") {
            let args = [command, &[reference.as_str()][..]].concat();
            let error = place.refused(&args, RECORD, code, 4);
            let message = error["message"].as_str().unwrap();
            match code {
                "wrong_id_kind" => assert!(
                    error["hint"].as_str().unwrap().contains(&first()),
                    "the right one is named: {error}"
                ),
                "ambiguous_reference" => assert!(message.contains(&id(0x12)), "{message}"),
                _ => {}
            }
        }
    }
    for (reference, code) in [
        ("9", "not_found"),
        (&first(), "wrong_id_kind"),
        (&id(1), "wrong_id_kind"),
        ("name:nobody", "not_found"),
    ] {
        place.refused(&["create", reference], "", code, 4);
    }
}

/// C1: a Segment of another Session is never built upon.
#[test]
fn c1_another_session() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::start(2).turns(1));
    each(&place, &id(0x12), &["create"], "session_mismatch", 3);
    // The Worker's own document is gone: nobody can tell.
    let place = Place::usual();
    damage::remove(&place.worker().path("session/session.json"));
    each(&place, &first(), &[], "missing_session_document", 5);
    let place = Place::usual();
    damage::empty(&place.worker().path("session/session.json"));
    each(&place, &first(), &[], "empty_document", 5);
}

/// C13: the pointer of a live Worker stays; a fork only adds.
#[test]
fn c13_a_live_worker() {
    let place = Place::usual();
    let _live = place.worker().live(1);
    for command in [
        &["fork", "--activate"][..],
        &["compact", "--summary", "-", "--activate"],
        &["append"],
    ] {
        place.refused(&[command, &[&first()]].concat(), RECORD, "worker_live", 3);
    }
    place.refused(&["create", "1", "--activate"], "", "worker_live", 3);
    let _ = place.wagg(&["fork", "1/active"]).ok();
    let _ = place
        .fed(&["compact", "1/active", "--summary", "-"], "x")
        .ok();
    let _ = place.wagg(&["create", "1"]).ok();
}

/// C17
#[test]
fn c17_fences() {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::start(1));
    let zeros = "0".repeat(64);
    let other = id(0x12);
    let digest = sha(&place.bytes(&first()));
    for command in COMMANDS {
        let object = if command[0] == "create" {
            "1"
        } else {
            "1/active"
        };
        let args = [command, &[object]].concat();
        for fence in [
            ["--expect-generation", "7"],
            ["--expect-active", &other],
            ["--expect-digest", &zeros],
        ] {
            place.refused(&[&args[..], &fence].concat(), RECORD, "fenced", 3);
        }
    }
    // The digest is that of the Segment that the command is about, not of the active one.
    let args = ["fork", &other, "--expect-digest", &digest];
    place.refused(&args, "", "fenced", 3);
    for (segment, digest) in [
        (first(), digest),
        (other.clone(), sha(&place.bytes(&other))),
    ] {
        let args = ["--expect-generation", "1", "--expect-active", "1/active"];
        let args = [&["fork", &segment, "--expect-digest", &digest], &args[..]].concat();
        let _ = place.wagg(&args).ok();
    }
}

pub fn sha(bytes: &[u8]) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// A store of version 3 is read and not written.
#[test]
fn a_later_version() {
    let env = TestEnv::new();
    let store = TestStore::v3(env.path("store"));
    store.worker(1).usual(1);
    let place = Place { env, store };
    let worker = place.store.worker_id(1);
    for command in COMMANDS {
        let object = if command[0] == "create" {
            worker.clone()
        } else {
            id(0x11)
        };
        let args = [command, &[object.as_str()]].concat();
        place.refused(&args, RECORD, "unsupported_schema_version", 12);
    }
    let place = Place::usual();
    damage::remove(&place.store.path("runtime.json"));
    each(&place, &first(), &[], "missing_catalog", 5);
}

/// C31: a link is neither followed nor written through.
#[test]
fn c31_links_in_the_path() {
    // The Segment itself.
    let place = Place::usual();
    let outside = place
        .env
        .write("outside.jsonl", Log::start(1).turns(1).bytes());
    let path = place.worker().segment_path(0x12);
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    let before = std::fs::read(&outside).unwrap();
    for command in COMMANDS.iter().filter(|c| c[0] != "create") {
        let segment = format!("workers/1/session/segments/{}.jsonl", id(0x12));
        let args = [command, &[segment.as_str()][..]].concat();
        let out = place.fed(&args, RECORD);
        assert!(matches!(out.code, Some(3 | 4)), "{out}");
        assert!(out.stderr.contains("link"), "{out}");
    }
    assert_eq!(std::fs::read(&outside).unwrap(), before);
    // A folder on the way.
    for folder in ["session/segments", "session"] {
        let place = Place::usual();
        let (from, to) = (place.worker().path(folder), place.env.path("moved"));
        std::fs::rename(&from, &to).unwrap();
        std::os::unix::fs::symlink(&to, &from).unwrap();
        let before = crate::support::tree::tree(&to);
        for command in COMMANDS {
            let segment = first();
            let object = if command[0] == "create" {
                "1"
            } else {
                &segment
            };
            let args = [command, &[object]].concat();
            let out = place.fed(&args, RECORD);
            assert!(matches!(out.code, Some(3 | 4)), "{folder}: {args:?}: {out}");
        }
        crate::support::tree::assert_same(&before, &crate::support::tree::tree(&to), folder);
    }
    // The document that would be replaced.
    let place = Place::usual();
    place.worker().segment(0x12, &Log::start(1));
    let (from, to) = (
        place.worker().path("metadata.json"),
        place.env.path("m.json"),
    );
    std::fs::rename(&from, &to).unwrap();
    std::os::unix::fs::symlink(&to, &from).unwrap();
    let before = std::fs::read(&to).unwrap();
    for args in [
        &["activate", &id(0x12)][..],
        &["fork", &id(0x12), "--activate"],
        &["create", "1", "--activate"],
    ] {
        place.refused(args, "", "symbolic_link", 3);
    }
    assert_eq!(std::fs::read(&to).unwrap(), before);
}

/// C31: names in documents lead nowhere.
#[test]
fn c31_names_that_are_tricks() {
    for name in ["../../evil", "worker-runtime-2", "", "/etc"] {
        let place = Place::usual();
        place.worker().segment(0x12, &Log::start(1));
        edit(place.worker().path("metadata.json"), |m| {
            m["worker_name"] = name.into()
        });
        place.refused(&["activate", &id(0x12)], "", "worker_name_mismatch", 5);
        place.refused(
            &["fork", &first(), "--activate"],
            "",
            "worker_name_mismatch",
            5,
        );
        let _ = place.wagg(&["fork", &first()]).ok();
    }
    // An id in a document that is no id.
    let place = Place::usual();
    edit(place.worker().path("session/session.json"), |s| {
        s["session_id"] = "../../x".into()
    });
    each(&place, &first(), &[], "corrupt_document", 5);
    // A folder that says it is another Worker.
    let place = Place::usual();
    std::fs::rename(place.worker().path(""), place.store.path("workers/2")).unwrap();
    for command in COMMANDS {
        let segment = first();
        let object = if command[0] == "create" {
            "2"
        } else {
            &segment
        };
        let args = [command, &[object]].concat();
        place.refused(&args, RECORD, "worker_id_mismatch", 5);
    }
}

/// A busy lock is waited for as long as was said, and nothing changes.
#[test]
fn c11_a_busy_lock() {
    let place = Place::usual();
    let _ = place.wagg(&["fork", "1/active"]).ok();
    let lock = std::fs::File::open(place.store.path(".wagg/workers/1.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    for command in COMMANDS {
        let object = if command[0] == "create" {
            "1"
        } else {
            "1/active"
        };
        let args = [command, &[object, "--wait", "0", "--format", "json"]].concat();
        let out = place.fed(&args, RECORD).status(11);
        assert_eq!(out.error()["code"], "lock_busy", "{out}");
        assert_eq!(out.error()["effects_applied"], "none");
    }
}
