//! The reference corpus: what the reference implementation does with small stores, good and bad.
//!
//! It is no part of this source. `WAGG_REFERENCE_CORPUS` says where it is; where it is not there,
//! these tests say so and pass. Each case is copied, with the empty folders that its `tree.txt`
//! lists, and every command that only reads is run over it: `verify` must say what the case calls
//! for, `orphans` what the reference reported and more, and nothing may change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::damage::copy_tree;
use crate::support::reference::corpus;
use crate::support::sample::every;
use crate::support::{Output, TestEnv, tree};

/// One case, copied to `before/` and `after/` in a temporary folder.
struct Case {
    name: String,
    env: TestEnv,
    /// Whether the reference called it good.
    ok: bool,
}

impl Case {
    fn all() -> Vec<Self> {
        let Some(corpus) = corpus() else {
            return Vec::new();
        };
        let mut names: Vec<_> = std::fs::read_dir(&corpus)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
            .into_iter()
            .map(|name| Self::copy(&corpus.join(&name), name))
            .collect()
    }

    fn copy(dir: &Path, name: String) -> Self {
        let env = TestEnv::new();
        for side in ["before", "after"] {
            let to = env.path(side);
            std::fs::create_dir(&to).unwrap();
            if dir.join(side).exists() {
                copy_tree(&dir.join(side), &to);
            }
        }
        // git keeps no empty folders
        for line in std::fs::read_to_string(dir.join("tree.txt"))
            .unwrap()
            .lines()
        {
            let fields: Vec<&str> = line.splitn(5, ' ').collect();
            if let [side, "d", _, _, path] = fields[..] {
                std::fs::create_dir_all(env.path(side).join(path)).unwrap();
            }
        }
        let result = std::fs::read_to_string(dir.join("after/result.txt")).unwrap();
        let ok = result.lines().any(|line| line == "result: ok");
        Self { name, env, ok }
    }

    /// Runs a command; it must end as one that only reads does.
    fn run(&self, store: &str, args: &[&str]) -> Output {
        let what = format!("{}: {args:?} over {store}", self.name);
        let all = ["--store", store].into_iter().chain(args.iter().copied());
        let out = self.env.wagg(all);
        assert!(
            matches!(out.code, Some(0 | 1 | 3 | 4 | 5 | 10 | 12 | 14)),
            "{what}: {out}"
        );
        assert!(!out.stderr.contains("panicked"), "{what}: {out}");
        out
    }

    /// The same, and it may change nothing.
    fn read(&self, store: &str, args: &[&str]) -> Output {
        let dir = self.env.dir();
        tree::unchanged(&[&dir], &self.name, || self.run(store, args))
    }

    fn verify(&self, store: &str) -> Option<Findings> {
        let out = self.read(store, &["verify", "--format", "json"]);
        (out.code != Some(10)).then(|| Findings::of(&out))
    }

    fn orphans(&self, side: &str) -> Option<Findings> {
        let args = [
            "orphans",
            "--sessions",
            "before/legacy-sessions",
            "--metadata",
            "before/legacy-metadata",
            "--format",
            "json",
        ];
        let out = self.read(&format!("{side}/runtime"), &args);
        (out.code != Some(10)).then(|| {
            let mut found = Findings::of(&out);
            let roots = out.json()["summary"]["roots"].clone();
            let absent = |root: &Value| root["present"] == false;
            if found.errors == 0 && roots.as_array().unwrap().iter().any(absent) {
                // Not all that was asked for was looked at.
                assert_eq!(found.status, 1, "{out}");
                found.status = 0;
            }
            found
        })
    }
}

/// The findings of an answer.
struct Findings {
    all: Vec<Value>,
    errors: u64,
    status: i32,
}

impl Findings {
    fn of(out: &Output) -> Self {
        let document = out.json();
        Self {
            all: document["findings"].as_array().unwrap().clone(),
            errors: document["summary"]["errors"].as_u64().unwrap(),
            status: out.code.unwrap(),
        }
    }

    fn codes(&self, info: bool) -> BTreeSet<&str> {
        self.all
            .iter()
            .filter(|f| (f["severity"] == "info") == info)
            .map(|f| f["code"].as_str().unwrap())
            .collect()
    }
}

/// What `verify` must say of a store: all its errors and warnings; behind `+` information that must
/// be there; behind `?` what may be there. `-` stands for a folder that is no store.
type Table = &'static [(&'static str, &'static str)];

/// The store after one run of the reference's migration.
const AFTER: Table = &[
    // what the reference did not see
    ("active-segment-missing", "active_missing_segment"),
    ("segment-without-start", "missing_segment_start"),
    ("segment-start-names-other-session", "session_mismatch"),
    ("canonical-worker-opaque-metadata", "corrupt_document"),
    ("alias-trace-name", "bad_file_name"),
    ("trace-without-segment", "+trace_without_segment"),
    // what is allowed, and worth a line
    ("blank-lines", "+blank_line +crlf"),
    ("torn-final-line", "torn_tail"),
    ("torn-final-line-whole-json", "torn_tail"),
    ("torn-only-line", "torn_tail ?empty_segment"),
    ("torn-then-appended", ""),
    ("torn-trace-final-line", "torn_tail"),
    ("empty-session-dir-files", "empty_segment"),
    ("pending-segment", "+active_pending"),
    ("metadata-full", "+child_missing +peer_missing"),
    ("target-session-json-reformatted", "+noncanonical_id"),
    ("workers-stray-entry", "+unknown_file"),
    ("simple-one-worker", ""),
    ("lineage-fork-compaction", ""),
    ("three-workers-mixed", ""),
    ("rerun-source-removed", ""),
    ("old-event-files-removed", ""),
    // leftovers of killed runs, beside a store that is whole
    ("crash-staging-leftover", "+leftover_staging"),
    ("crash-tmp-files-leftover", "+leftover_temporary"),
    ("killed-before-session-rename", "+leftover_staging"),
    ("killed-before-metadata-rename", "+leftover_temporary"),
    ("killed-before-checkpoint-rename", "+leftover_temporary"),
    // the reference stopped, and its manifest says so; what stopped it lies in the legacy roots
    ("alias-segment-name", "migration_incomplete"),
    ("alias-session-dir-name", "migration_incomplete"),
    ("bad-segment-name", "migration_incomplete"),
    ("bad-trace-name", "migration_incomplete"),
    ("byte-order-mark", "migration_incomplete"),
    ("corrupt-line-bad-base64", "migration_incomplete"),
    ("corrupt-line-duplicate-key", "migration_incomplete"),
    ("corrupt-line-invalid-utf8", "migration_incomplete"),
    ("corrupt-line-lone-surrogate", "migration_incomplete"),
    ("corrupt-line-missing-field", "migration_incomplete"),
    ("corrupt-line-not-json", "migration_incomplete"),
    ("corrupt-line-number-out-of-range", "migration_incomplete"),
    ("corrupt-line-unknown-kind", "migration_incomplete"),
    ("corrupt-line-wrong-type", "migration_incomplete"),
    ("corrupt-trace-line", "migration_incomplete"),
    ("deep-nesting-written-by-library", "migration_incomplete"),
    ("good-then-bad-worker", "migration_incomplete"),
    ("metadata-identity-mismatch", "migration_incomplete"),
    ("missing-referenced-session", "migration_incomplete"),
    ("numeric-order-of-workers", "migration_incomplete"),
    ("pending-session-never-written", "migration_incomplete"),
    ("referenced-session-is-a-file", "migration_incomplete"),
    ("rerun-after-new-records", "migration_incomplete"),
    ("rerun-after-new-segment", "migration_incomplete"),
    ("rerun-source-grew", "migration_incomplete"),
    ("shared-session-catalog-and-orphan", "migration_incomplete"),
    ("shared-session-two-catalog-workers", "migration_incomplete"),
    ("shared-session-two-orphans", "migration_incomplete"),
    ("subdirectory-in-session", "migration_incomplete"),
    ("two-records-on-one-line", "migration_incomplete"),
    ("unknown-file-in-session", "migration_incomplete"),
    // … and it stopped before it wrote one
    ("metadata-bad-session-id", ""),
    ("metadata-corrupt-json", ""),
    ("orphan-metadata-corrupt", ""),
    // the pointer was moved by hand to a Segment that was never written
    (
        "rerun-after-metadata-update",
        "migration_incomplete active_missing_segment",
    ),
    // what stood in the target
    (
        "target-metadata-collision",
        "migration_incomplete corrupt_document",
    ),
    ("target-session-collision-bytes", "migration_incomplete"),
    (
        "target-session-extra-file",
        "migration_incomplete bad_file_name",
    ),
    (
        "target-session-is-a-file",
        "migration_incomplete not_a_regular_file",
    ),
    ("target-session-missing-file", "migration_incomplete"),
    (
        "target-session-schema-unsupported",
        "migration_incomplete unsupported_schema_version",
    ),
    (
        "target-session-tmp-file",
        "migration_incomplete +leftover_temporary",
    ),
    ("target-session-without-manifest", "migration_incomplete"),
    (
        "target-session-wrong-id",
        "migration_incomplete session_mismatch ?active_other_session",
    ),
    // documents of the store
    ("manifest-corrupt", "corrupt_document"),
    ("manifest-schema-unsupported", "unsupported_schema_version"),
    ("runtime-backend-memory", "corrupt_document"),
    ("runtime-json-corrupt", "corrupt_document"),
    ("runtime-json-missing", "missing_catalog"),
    ("runtime-root-missing", "missing_catalog"),
    ("runtime-root-is-a-file", "-"),
    ("single-runtime-layout-ambiguous", "-"),
    (
        "worker-directory-duplicate-id",
        "duplicate_worker_id worker_id_mismatch ?sequence_behind",
    ),
    (
        "worker-directory-name-mismatch",
        "missing_worker_document worker_id_mismatch ?sequence_behind",
    ),
    ("worker-json-corrupt", "corrupt_document"),
    ("worker-json-missing", "missing_worker_document"),
    ("worker-ref-mismatch", "worker_id_mismatch"),
    ("worker-schema-unsupported", "unsupported_schema_version"),
];

/// The store before it: states that a killed run or an older tool left.
const BEFORE: Table = &[
    ("crash-before-complete-flag", "migration_incomplete"),
    (
        "crash-between-metadata-and-checkpoint",
        "migration_incomplete",
    ),
    (
        "crash-between-session-and-metadata",
        "migration_incomplete missing_metadata",
    ),
    (
        "crash-staging-leftover",
        "migration_incomplete +leftover_staging",
    ),
    ("crash-tmp-files-leftover", "+leftover_temporary"),
    (
        "killed-before-session-rename",
        "migration_incomplete +leftover_staging",
    ),
    (
        "killed-before-metadata-rename",
        "migration_incomplete missing_metadata +leftover_temporary",
    ),
    (
        "killed-before-checkpoint-rename",
        "migration_incomplete +leftover_temporary",
    ),
    ("old-event-files-removed", "+unknown_file"),
    ("rerun-after-complete", ""),
    ("single-runtime-layout-moved-up", "-"),
    ("target-session-without-manifest", ""),
    ("simple-one-worker", ""),
];

/// What `orphans` must say before the migration; a case that is not here must have no error and no
/// warning.
const ORPHANS: Table = &[
    (
        "alias-session-dir-name",
        "orphan_session missing_referenced_session",
    ),
    ("canonical-worker-opaque-metadata", "corrupt_document"),
    ("crash-staging-leftover", "+leftover_staging"),
    ("crash-tmp-files-leftover", "+leftover_temporary"),
    ("empty-catalog", "orphan_worker_metadata orphan_session"),
    ("killed-before-session-rename", "+leftover_staging"),
    ("metadata-bad-session-id", "corrupt_document orphan_session"),
    ("metadata-corrupt-json", "corrupt_document orphan_session"),
    ("metadata-full", ""),
    ("metadata-identity-mismatch", "worker_name_mismatch"),
    ("metadata-without-active", "orphan_session"),
    ("missing-referenced-session", "missing_referenced_session"),
    ("only-session-root", "orphan_session"),
    ("orphan-metadata", "orphan_worker_metadata orphan_session"),
    (
        "orphan-metadata-corrupt",
        "orphan_worker_metadata corrupt_document",
    ),
    ("orphan-session", "orphan_session +unknown_file"),
    ("pending-session-never-written", "+active_pending"),
    ("referenced-session-is-a-file", "missing_referenced_session"),
    ("runtime-root-is-a-file", "-"),
    ("runtime-root-missing", "-"),
    (
        "shared-session-catalog-and-orphan",
        "shared_session_reference orphan_worker_metadata",
    ),
    (
        "shared-session-two-catalog-workers",
        "shared_session_reference",
    ),
    (
        "shared-session-two-orphans",
        "shared_session_reference orphan_worker_metadata orphan_session",
    ),
    ("single-runtime-layout-ambiguous", "-"),
    ("single-runtime-layout-moved-up", "-"),
    ("target-metadata-collision", "corrupt_document"),
    ("target-session-is-a-file", "not_a_regular_file"),
    (
        "target-session-schema-unsupported",
        "unsupported_schema_version",
    ),
    ("target-session-tmp-file", "+leftover_temporary"),
    ("worker-directory-duplicate-id", "worker_id_mismatch"),
    (
        "worker-directory-name-mismatch",
        "worker_id_mismatch ?missing_worker_document",
    ),
    ("worker-json-corrupt", "corrupt_document"),
    ("worker-json-missing", "missing_worker_document"),
    ("worker-ref-mismatch", "worker_id_mismatch"),
    ("worker-schema-unsupported", "unsupported_schema_version"),
];

/// What of an answer does not fit its row.
fn differences(row: &str, found: Option<&Findings>) -> Option<String> {
    let Some(found) = found else {
        return (row != "-").then(|| "it is taken for no store".to_owned());
    };
    let words: Vec<&str> = row.split_whitespace().collect();
    let with = |mark: char| -> BTreeSet<&str> {
        words.iter().filter_map(|w| w.strip_prefix(mark)).collect()
    };
    let must: BTreeSet<&str> = words
        .iter()
        .copied()
        .filter(|w| !w.starts_with(['+', '?', '-']))
        .collect();
    let (loud, info) = (found.codes(false), found.codes(true));
    let may = with('?');
    let missing: Vec<_> = must
        .difference(&loud)
        .chain(with('+').difference(&info))
        .copied()
        .map(str::to_owned)
        .collect();
    let more: Vec<_> = loud
        .difference(&must)
        .filter(|code| !may.contains(*code))
        .copied()
        .map(str::to_owned)
        .collect();
    let status = i32::from(found.errors > 0);
    let fits = missing.is_empty() && more.is_empty() && found.status == status && row != "-";
    (!fits).then(|| {
        format!(
            "missing {missing:?}, more {more:?}, status {}: {:#?}",
            found.status, found.all
        )
    })
}

/// Holds a table against the answers; every row must be that of a case.
fn check(table: Table, cases: &[Case], answer: impl Fn(&Case) -> Option<Findings>) {
    let mut rows: BTreeMap<&str, &str> = table.iter().copied().collect();
    assert_eq!(rows.len(), table.len(), "a case stands twice");
    let mut wrong = Vec::new();
    for case in cases {
        if let Some(row) = rows.remove(case.name.as_str())
            && let Some(what) = differences(row, answer(case).as_ref())
        {
            wrong.push(format!("{}: {what}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        cases.is_empty() || rows.is_empty(),
        "no such case: {rows:?}"
    );
}

#[test]
fn verify_says_of_a_migrated_store_what_the_case_calls_for() {
    let cases = Case::all();
    check(AFTER, &cases, |case| case.verify("after/runtime"));
    // where the reference is content and no case says that more should be seen, there is no error
    let rows: BTreeSet<&str> = AFTER.iter().map(|(name, _)| *name).collect();
    for case in &cases {
        if rows.contains(case.name.as_str()) {
            continue;
        }
        let Some(found) = case.verify("after/runtime") else {
            panic!("{} is taken for no store", case.name)
        };
        if case.ok {
            assert_eq!(
                (found.status, found.errors),
                (0, 0),
                "{}: {:#?}",
                case.name,
                found.all
            );
        } else {
            assert_eq!(
                case.name, "runtime-schema-unsupported",
                "a case without a row"
            );
        }
    }
}

#[test]
fn verify_says_of_a_half_done_store_what_is_unfinished() {
    let cases = Case::all();
    check(BEFORE, &cases, |case| case.verify("before/runtime"));
}

#[test]
fn orphans_says_what_the_case_calls_for() {
    let cases = Case::all();
    check(ORPHANS, &cases, |case| case.orphans("before"));
    let rows: BTreeSet<&str> = ORPHANS.iter().map(|(name, _)| *name).collect();
    for case in cases.iter().filter(|c| !rows.contains(c.name.as_str())) {
        let what = differences("", case.orphans("before").as_ref());
        assert_eq!(what, None, "{}", case.name);
    }
}

/// All that the reference's manifest reports is reported here, at the same place, before the
/// migration and after it. Workers whose `worker.json` is in doubt are no orphans here.
#[test]
fn orphans_reports_all_that_the_reference_reports() {
    const IN_DOUBT: [&str; 4] = [
        "worker-json-corrupt",
        "worker-json-missing",
        "worker-ref-mismatch",
        "worker-schema-unsupported",
    ];
    // its legacy metadata was taken away after the migration: the reference forgets whose it was
    const FORGOTTEN: &str = "rerun-source-removed";
    let mut compared = 0;
    for case in Case::all() {
        let manifest = case
            .env
            .path("after/runtime/migrations/worker-aggregate-v1.json");
        let Ok(bytes) = std::fs::read(manifest) else {
            continue;
        };
        let Ok(manifest) = serde_json::from_slice::<Value>(&bytes) else {
            continue;
        };
        let Some(diagnostics) = manifest["diagnostics"].as_array() else {
            continue;
        };
        if IN_DOUBT.contains(&case.name.as_str()) || case.name == FORGOTTEN {
            continue;
        }
        for side in ["before", "after"] {
            let Some(found) = case.orphans(side) else {
                continue;
            };
            for diagnostic in diagnostics {
                let source = diagnostic["source"].as_str().unwrap();
                let path = source.replace("$ROOT", "before");
                assert!(
                    found
                        .all
                        .iter()
                        .any(|f| f["code"] == diagnostic["kind"] && f["path"] == path.as_str()),
                    "{} {side}: no {} at {path} in {:#?}",
                    case.name,
                    diagnostic["kind"],
                    found.all
                );
                compared += 1;
            }
        }
    }
    assert!(corpus().is_none() || compared >= 20, "{compared}");
}

/// Every command that only reads, over every store of the corpus, and over the legacy roots taken
/// for stores: it changes nothing, ends with a status of the table, and never panics.
#[test]
fn read_commands_change_nothing_and_always_end() {
    const COMMANDS: &[&str] = &[
        "verify",
        "verify --quick --digest -v --format table",
        "verify --format ndjson --locked 1",
        "orphans -v --format table",
        "orphans --locked --format ndjson",
        "migrate status",
        "migrate status --format json",
        "show 1",
        "show 1/active --format json",
        "worker list --format table",
        "worker list --format json",
        "worker show 1 --format table",
        "segment list 1 --tree --format table",
        "segment list 1 --format json",
        "segment show 1/latest",
        "segment log 1/active --format table",
        "segment log 1/latest --raw",
        "segment diff 1/active 1/latest",
        "segment digest 1/active",
        "run list 1",
        "run show 1 --format json",
    ];
    // a folder that is no store is refused before anything else is done
    const BARELY: &[&str] = &["verify", "orphans", "worker list", "show 1"];
    let cases: Vec<Case> = every(3, Case::all()).collect();
    let over = |case: &Case| {
        let before = tree::tree(&case.env.dir());
        for (store, commands) in [
            ("before/runtime", COMMANDS),
            ("after/runtime", COMMANDS),
            ("before/legacy-sessions", BARELY),
            ("before/legacy-metadata", BARELY),
        ] {
            for command in commands {
                let _ = case.run(store, &command.split(' ').collect::<Vec<_>>());
            }
        }
        // roots that were mixed up are still only read
        let roots = [
            "orphans",
            "--sessions",
            "before/legacy-metadata",
            "--metadata",
            "before/legacy-sessions",
        ];
        let _ = case.run("before/runtime", &roots);
        tree::assert_same(&before, &tree::tree(&case.env.dir()), &case.name);
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let over = &over;
    std::thread::scope(|scope| {
        for part in cases.chunks(cases.len().div_ceil(jobs).max(1)) {
            scope.spawn(move || part.iter().for_each(over));
        }
    });
}

/// Parts of a store, merged, say what one look at the whole says.
#[test]
fn parts_make_the_whole() {
    for case in every(4, Case::all()) {
        for side in ["before", "after"] {
            let store = format!("{side}/runtime");
            let run = |args: &[&str]| case.run(&store, args);
            crate::verify::partition::parts_make_the_whole(&case.env.dir(), &run, &[]);
        }
    }
}
