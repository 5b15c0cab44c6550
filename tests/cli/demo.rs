//! `wagg demo`: what it shows is real, and the same each time.

use crate::support::{TestEnv, files_below, schema, tree};

/// Ages grow, an operation has an id of its own, and how far the killed migration came is chance;
/// all else is the same.
fn without_ages(text: &str) -> String {
    let (before, rest) = text.split_once("\n3/").unwrap();
    let (_, after) = rest.split_once("\n7/").unwrap();
    let text = format!("{before}\n{after}");
    let is_id = |line: &&str| line.len() == 36 && line.split('-').count() == 5;
    let lines: Vec<&str> = text.lines().filter(|line| !is_id(line)).collect();
    let text = lines.join("\n");
    let words = text.split(' ').collect::<Vec<_>>();
    let mut out = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_age =
            word.starts_with('(') && words.get(index + 2).is_some_and(|w| w.starts_with("ago)"));
        out.push(if is_age { "(N" } else { word });
    }
    out.join(" ")
}

#[test]
fn the_tour_runs_and_leaves_nothing() {
    let env = TestEnv::new();
    let tmp = env.path("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let run = |args: &[&str]| env.prepare(args).env("TMPDIR", &tmp).run().status(0);
    let out = run(&["demo"]);
    for phrase in [
        "$ wagg --store old/store orphans --sessions old/sessions --metadata old/metadata -v\n",
        "error[shared_session_reference] old/sessions/",
        "warning[orphan_session]",
        "warning[orphan_worker_metadata] old/metadata/worker-runtime-7",
        "info[active_pending]",
        "info[leftover_temporary] .runtime.json.tmp-4242-1",
        "$ wagg --store old/trial migrate --sessions old/sessions --metadata old/metadata\n",
        "migrated (pending)",
        "shared_session_reference  old/metadata/worker-runtime-5/metadata.json",
        "$ wagg --store old/trial migrate status\n",
        "$ wagg --store store verify\n",
        "warning[torn_tail]",
        "error[glued_records]",
        "error[active_missing_segment] workers/3/metadata.json",
        "warning[generation_behind] workers/4/runs/3",
        "exit status 1: done, and something is left",
        "$ wagg --store store repair 2 --apply\n",
        "automatic[glued_records] done",
        "$ wagg --store store op undo latest\n",
        "removed now",
    ] {
        assert!(out.stdout().contains(phrase), "{phrase:?} in\n{out}");
    }
    assert_eq!(
        std::fs::read_dir(&tmp).unwrap().count(),
        0,
        "a folder is left"
    );
    let again = run(&["demo"]);
    assert_eq!(without_ages(out.stdout()), without_ages(again.stdout()));
    let quiet = run(&["demo", "-q"]);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_folder_that_was_given_is_kept_and_never_overwritten() {
    let env = TestEnv::new();
    std::fs::create_dir(env.path("empty")).unwrap();
    for dir in ["new", "empty"] {
        let out = env.wagg(["demo", dir]).status(0);
        assert!(
            out.stdout()
                .contains(&format!("{}\n", env.path(dir).display())),
            "{out}"
        );
    }
    // the same bytes in both
    let digests = |dir: &str| -> Vec<(String, String)> {
        let root = env.path(dir);
        let name = |p: &std::path::Path| p.strip_prefix(&root).unwrap().display().to_string();
        let files = files_below(&root, "");
        let all = files.iter().map(|p| (name(p), tree::digest(p)));
        // what wagg notes of its own doings has times in it
        all.filter(|(name, _)| !name.contains("/.wagg/") && !name.contains("/migrations/"))
            .collect()
    };
    assert_eq!(digests("new"), digests("empty"));
    assert!(digests("new").len() > 30);
    // the commands that it names work there
    let out = env.prepare(["--store", "store", "verify", "-v"]);
    let out = out.current_dir(env.path("new")).run().status(1);
    assert!(out.stdout().contains("active_missing_segment"), "{out}");
    let dir = env.path("new");
    let out = tree::unchanged(&[&dir], "demo", || {
        env.wagg(["demo", "new", "--format", "json"])
    });
    let out = out.status(3);
    assert_eq!(out.error()["code"], "target_exists");
    assert_eq!(out.error()["effects_applied"], "none");
}

#[test]
fn in_json_the_tour_is_a_list_of_commands() {
    let env = TestEnv::new();
    let document = env.wagg(["demo", "kept", "--format", "json"]).ok().json();
    schema::check("demo", &document);
    let acts = document["acts"].as_array().unwrap();
    for act in acts {
        let command = act["command"].as_str().unwrap();
        let args: Vec<&str> = command.split(' ').skip(1).collect();
        let out = env.prepare(args).current_dir(env.path("kept")).run();
        assert!(matches!(out.code, Some(0 | 1)), "{command}: {out}");
    }
    assert!(acts.len() >= 5);
}
