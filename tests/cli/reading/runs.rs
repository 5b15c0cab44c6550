//! `wagg run list` and `wagg run show`.

use serde_json::{Value, json};

use super::Place;
use crate::support::{damage, schema};

/// C13: what a run looks like is a hint with its reason.
#[test]
fn c13_every_state_of_a_run_has_its_reason() {
    let place = Place::new();
    let worker = place.store.worker(1);
    for generation in [1, 2, 4] {
        worker.run_folder(generation);
    }
    damage::dead_socket(&worker.path("runs/1/worker.sock"));
    std::fs::write(worker.path("runs/2/artifacts/report.md"), b"12345").unwrap();
    damage::symlink(&worker.path("runs/2/artifacts/link"), "/etc/passwd");
    std::fs::create_dir(worker.path("runs/restore-9")).unwrap();
    std::fs::write(worker.path("runs/notes.txt"), b"").unwrap();
    let _listener = worker.live(4);
    worker.generation(5);
    let document = place.line("run list 1 --format json").ok().json();
    schema::check("run.list", &document);
    let rows: Vec<Value> = document["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| json!([run["name"], run["state"], run["current"], run["generation"]]))
        .collect();
    assert_eq!(
        rows,
        [
            json!(["1", "leftover_socket", false, 1]),
            json!(["2", "stopped", false, 2]),
            json!(["4", "live", false, 4]),
            json!(["5", "reserved", true, 5]),
            json!(["restore-9", "prepared", false, null]),
        ]
    );
    let out = place.line("run list 1").ok();
    let second: Vec<&str> = out.stdout().lines().nth(1).unwrap().split('\t').collect();
    assert_eq!(second[..6], ["2", "no", "stopped", "0", "0", "5"]);
    assert_eq!(second[7], "no socket, and generation 4 came after it");
    assert_eq!(
        place.line("run list 1 --ids").ok().stdout(),
        "1\n2\n4\n5\nrestore-9\n"
    );
    drop(place.line("run show 1").ok());

    let document = place.line("run show 1 2 --format json").ok().json();
    schema::check("run.show", &document);
    let run = &document["runs"][0];
    assert_eq!(run["artifacts"], json!({"files": 2, "bytes": 5}));
    // a link is listed, and never followed
    assert_eq!(
        run["files"][0],
        json!({"path": "artifacts/link", "kind": "link", "bytes": 11})
    );
    assert_eq!(run["files"].as_array().unwrap().len(), 4);
    let document = place.line("run show 1 restore-9 --format json").ok().json();
    assert_eq!(document["runs"][0]["generation"], json!(null));
    let document = place
        .line("run show workers/1/runs/4 --format json")
        .ok()
        .json();
    assert_eq!(document["runs"][0]["state"], "live");
}

/// C19: a folder that nothing happened in is prepared; a number without a folder is used up.
#[test]
fn c19_reserved_prepared_and_used_up() {
    let place = Place::new();
    let worker = place.store.worker(1);
    let state = |line: &str| {
        let document = place.line(line).ok().json();
        document["runs"][0]["state"].clone()
    };
    assert_eq!(place.line("run list 1").status(0).stderr, "no runs\n");
    let out = place.line("run show 1").status(4);
    assert!(out.stderr.contains("Worker 1 has no run"), "{out}");
    worker.generation(2);
    assert_eq!(state("run show 1 --format json"), "reserved");
    assert_eq!(state("run show 1 1 --format json"), "missing");
    worker.run_folder(2);
    assert_eq!(state("run show 1 --format json"), "prepared");
    std::fs::write(worker.path("runs/2/worker.out.log"), b"hello\n").unwrap();
    assert_eq!(state("run show 1 2 --format json"), "stopped");
    let out = place.line("run show 1 9").status(4);
    assert!(
        out.stderr
            .contains("Worker 1 has no run 9; its one run is 2"),
        "{out}"
    );
    // a folder above the document
    worker.run_folder(7);
    let document = place.line("run show 1 --format json").ok().json();
    let run = &document["runs"][0];
    assert_eq!(run["name"], "7");
    let reason = run["reason"].as_str().unwrap();
    assert!(
        reason.contains("worker.json has given out 2 only"),
        "{reason}"
    );
}
