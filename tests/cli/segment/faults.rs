//! Each step of each command fails once, or the process is killed there: the answer is honest, and
//! a retry with the same request id leads to the end.

use super::{Place, first, of_store};
use crate::support::Log;
use crate::support::sample::everything;
use crate::support::store::id;

const RECORDS: &str = "{\"kind\":\"invoke\",\"ts\":4000000000000,\"trigger\":\"wakeup\"}\n{\"kind\":\"turn_end\",\"ts\":4000000000000,\"turn_count\":4}\n";

fn commands() -> Vec<(Vec<String>, &'static str)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    vec![
        (words(&format!("append {}", first())), RECORDS),
        (
            words(&format!("fork {} --at-turn 2 --activate", first())),
            "",
        ),
        (
            words(&format!(
                "compact {} --summary - --retain-turns 1 --activate",
                first()
            )),
            "Lamps.",
        ),
        (words(&format!("activate {}", id(0x12))), ""),
        (words("create 1 --activate"), ""),
        (words("create 2 --activate"), ""),
    ]
}

fn place() -> Place {
    let place = Place::usual();
    place.worker().segment(0x12, &Log::forked(1, 0x11, 1));
    place.store.worker(2);
    place
}

/// Content and names, without times: what is cut back has been touched.
fn content(place: &Place) -> Vec<String> {
    of_store(place.store.root())
        .into_iter()
        .map(|line| {
            let (before, rest) = line.split_once(" (").unwrap();
            format!("{before}{}", rest.split_once(')').unwrap().1)
        })
        .collect()
}

/// C16, C18: with `how` at every step.
fn at_every_step(how: &str, commands: &[&str]) {
    for (args, stdin) in self::commands() {
        if !commands.contains(&args[0].as_str()) {
            continue;
        }
        let (mut step, mut quiet) = (0, 0);
        loop {
            // the last steps all: behind them nothing fails
            step += if everything() || quiet > 0 { 1 } else { 3 };
            let place = place();
            let mut all: Vec<&str> = vec!["--store", "store", "segment"];
            all.extend(args.iter().map(String::as_str));
            all.extend(["--request-id", "r", "--format", "json"]);
            let run = |fault: Option<String>| {
                let run = place.env.prepare(&all).stdin(stdin);
                match fault {
                    Some(fault) => run.env("WAGG_FAULT", fault).run(),
                    None => run.run(),
                }
            };
            let before = content(&place);
            let label = format!("{args:?} {how}:{step}");
            let out = run(Some(format!("{how}:{step}")));
            match out.code {
                Some(0) => {}
                // Killed.
                None => {}
                Some(code) => {
                    let error = out.error();
                    match error["effects_applied"].as_str().unwrap() {
                        "none" => {
                            assert_eq!(content(&place), before, "{label}: {out}");
                            assert_eq!(code, 14, "{label}: {out}");
                        }
                        _ => assert_eq!(code, 15, "{label}: {out}"),
                    }
                }
            }
            let verify = place.env.wagg(["--store", "store", "verify"]);
            assert_eq!(verify.code, Some(0), "{label}: {verify}");
            let again = run(None);
            if out.code == Some(15) && again.code == Some(15) {
                // C9: a sync failed behind the commit point, and the disk is not asked again.
                assert_eq!(out.error()["effects_applied"], "unknown", "{label}: {out}");
                assert_eq!(again.error()["code"], "outcome_unknown", "{label}: {again}");
                continue;
            }
            assert_eq!(again.code, Some(0), "{label}: {again}");
            if out.code == Some(0) {
                assert_eq!(out.bytes(), again.bytes(), "{label}");
            }
            let verify = place.env.wagg(["--store", "store", "verify", "--strict"]);
            assert_eq!(verify.code, Some(0), "{label}: {verify}");
            let at = again.json()["segment_id"].as_str().unwrap().to_owned();
            let shown = place.env.wagg(["--store", "store", "segment", "show", &at]);
            assert_eq!(shown.code, Some(0), "{label}: {shown}");
            // Behind the last step nothing fails.
            if out.code == Some(0) {
                quiet += 1;
            }
            if quiet > 8 {
                break;
            }
        }
        assert!(step > 20, "{args:?}: {step}");
    }
}

#[test]
fn c16_killed_at_every_step() {
    at_every_step(
        "abort",
        &["append", "fork", "compact", "activate", "create"],
    );
}

#[test]
fn c18_a_full_disk_at_every_step() {
    at_every_step("ENOSPC", &["append", "compact"]);
}

#[test]
fn c9_a_failing_disk_at_every_step() {
    at_every_step("EIO", &["append", "fork"]);
}
