//! Each command of the catalog, of Workers and of runs, crashed at every step.

use std::path::Path;

use super::crash_tests::{Crashes, flags, stores};
use super::{Change, Done, run};
use crate::diag::{Code, Result};
use crate::store::Store;

/// A command in a store that `setup` makes.
fn of<'a, C: Change + 'static>(
    name: &'a str,
    setup: impl Fn(&Path) + 'a,
    change: impl Fn() -> C + 'a,
) -> Crashes<'a> {
    Crashes::of(name, setup, move || Box::new(change()))
}

/// C19, and C7, C15, C16 with it.
#[test]
fn c19_reserve_under_crashes() {
    use crate::ops::run::reserve::Reserve;
    let reserve = || Reserve {
        worker: "7".to_owned(),
    };
    let first = |root: &Path| {
        stores::empty(root);
        stores::next(root, 8);
        stores::worker(root, 7, 0);
    };
    for (name, setup) in [
        ("run reserve", &stores::seven as &dyn Fn(&Path)),
        ("the first run reserve", &first),
    ] {
        of(name, setup, reserve)
            .allow(&[Code::MissingRunFolder])
            .everywhere();
    }
}

/// C20.
#[test]
fn c20_stop_under_crashes() {
    use crate::ops::run::stop::Stop;
    let stop = || Stop {
        worker: "7".to_owned(),
        generation: None,
    };
    let silent = |root: &Path| {
        stores::seven(root);
        // Bound and let go: nobody answers.
        let path = root.join("workers/7/runs/2/worker.sock");
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    };
    of("run stop", silent, stop).everywhere();
    of("run stop of a stopped run", stores::seven, stop).everywhere();
}

/// C2. A number may be used up, so ids are compared by their turn.
#[test]
fn c2_create_under_crashes() {
    use crate::ops::worker::create::Create;
    let create = || Create {
        name: Some("helper".to_owned()),
        workspace: Some("workspace-a".to_owned()),
        ..Create::default()
    };
    // The new id stands before 7 in the order of names, whichever it is.
    let store = |root: &Path| {
        stores::seven(root);
        stores::next(root, 20);
    };
    of("worker create", store, create)
        .alike(|text, done| {
            let id: u64 = done.line.as_deref().unwrap().parse().unwrap();
            text.replace(&format!("workers/{id}"), "workers/<id>")
                .replace(&format!("\"worker_id\": {id}"), "\"worker_id\": <id>")
                .replace(&format!("\"worker_id\":\"{id}\""), "\"worker_id\":\"<id>\"")
                .replace(&format!("\"line\":\"{id}\""), "\"line\":\"<id>\"")
                .replace(
                    &format!("\"next_worker_sequence\": {}", id + 1),
                    "\"next_worker_sequence\": <next>",
                )
        })
        .numbers(|text| {
            let at = text.find("\"next_worker_sequence\": ").unwrap();
            let end = at + text[at..].find(',').unwrap();
            format!("{}{}", &text[..at], &text[end..])
        })
        .everywhere();
}

/// C5, C30.
#[test]
fn c30_children_and_peers_under_crashes() {
    use crate::ops::worker::children::Reclaim;
    use crate::ops::worker::peer::{Named, PeerChange, Wish};
    use serde_json::json;
    let family = |root: &Path| {
        stores::seven(root);
        let rule = json!({ "target": "/srv/a", "permission": "write", "recursive": true });
        let more = json!({
            "spawned_children": [
                { "worker_name": "worker-runtime-8", "socket_path": "/tmp/8", "callback_address": "x",
                  "scope_delegated": [rule], "later": 1.50 },
                { "worker_name": "worker-runtime-9", "socket_path": "/tmp/9", "callback_address": "x",
                  "scope_delegated": [] },
            ],
            "peers": [{ "worker_name": "zoe" }],
            "resolved_manifest_snapshot": { "big": 12345678901234567890_u64 },
        });
        stores::metadata(root, 7, &more);
    };
    of("worker reclaim", family, || Reclaim {
        worker: "7".to_owned(),
        child: "name:worker-runtime-8".to_owned(),
    })
    .everywhere();
    let peer = |wish, peer: &str| PeerChange {
        wish,
        named: Named {
            worker: "7".to_owned(),
            peer: peer.to_owned(),
        },
    };
    of("worker peer add", family, || peer(Wish::Add, "name:amy")).everywhere();
    of("worker peer remove", family, || peer(Wish::Remove, "zoe")).everywhere();
    of("the first worker peer add", stores::seven, || {
        peer(Wish::Add, "name:amy")
    })
    .everywhere();
}

/// C2, C10: a store that is half made is finished by the same command.
#[test]
fn init_under_crashes() {
    use crate::ops::init::init;
    Crashes::new("init", |_| {}, init)
        // The name of a temporary folder is another in each run.
        .alike(|text, done| text.replace(done.line.as_deref().unwrap(), "<root>"))
        .may_be_half_made()
        .everywhere();
}

/// C14, C15: a group that shares its syncs, each of its members for itself.
#[test]
fn c15_a_group_under_crashes() {
    use super::{Member, run_many};
    use crate::ops::run::reserve::Reserve;
    use crate::store::journal::Receipt;
    let setup = |root: &Path| {
        stores::seven(root);
        stores::next(root, 9);
        stores::worker(root, 8, 0);
    };
    Crashes::new("a group of three run reserve", setup, |root, flags| {
        let members = ["7", "8", "7"].map(|worker| Member {
            change: Box::new(Reserve {
                worker: worker.to_owned(),
            }),
            flags: flags.clone(),
        });
        let mut n = 0;
        let members = members.map(|mut member| {
            n += 1;
            member.flags.request_id = Some(format!("request-{n}"));
            member
        });
        let all: Vec<Done> = run_many(&Store::open(root)?, &members)
            .into_iter()
            .collect::<Result<_>>()?;
        let receipts: Vec<_> = all.iter().map(|done| &done.receipt).collect();
        Ok(Done {
            receipt: Receipt::new(&receipts).unwrap(),
            line: None,
            replayed: all.iter().all(|done| done.replayed),
            dry_run: false,
        })
    })
    .allow(&[Code::MissingRunFolder])
    .crashes_only()
    .everywhere();
}

/// C15: what is forgotten is forgotten as a whole, and said once.
#[test]
fn c15_prune_under_crashes() {
    use crate::ops::run::reserve::Reserve;
    let setup = |root: &Path| {
        stores::seven(root);
        let store = Store::open(root).unwrap();
        for n in 0..3 {
            let reserve = Reserve {
                worker: "7".to_owned(),
            };
            run(&store, &flags(Some(&format!("old-{n}"))), &reserve).unwrap();
        }
    };
    Crashes::new("op prune", setup, |root, flags| {
        super::prune(&Store::open(root)?, flags, std::time::Duration::ZERO)
    })
    .everywhere();
}
