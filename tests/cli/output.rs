//! One listing in every format; `explain` is the listing that needs no store.

use wagg::diag::Code;

use crate::support::{TestEnv, schema};

#[test]
fn a_pipe_gets_columns_without_a_header() {
    let env = TestEnv::new();
    let out = env.wagg(["explain"]).ok();
    let first = out.stdout().lines().next().unwrap();
    assert_eq!(
        first,
        "corrupt_record\terror\t5\tlossy\ta committed line is not JSON, or not one JSON object"
    );
    assert_eq!(out.stdout().lines().count(), Code::ALL.len());
    assert!(
        out.stdout()
            .lines()
            .all(|line| line.matches('\t').count() == 4)
    );
}

#[test]
fn a_table_has_a_header_and_no_trailing_blanks() {
    let env = TestEnv::new();
    let out = env.wagg(["explain", "--format", "table"]).ok();
    let header = out.stdout().lines().next().unwrap();
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["CODE", "FINDING", "EXIT", "REPAIR", "MEANING"]
    );
    assert!(out.stdout().lines().all(|line| line.trim_end() == line));
    assert!(!out.stdout().contains('\x1b'));
    let out = env
        .wagg(["explain", "--format", "table", "--color", "always"])
        .ok();
    assert!(out.stdout().contains("\x1b["));
}

#[test]
fn json_is_one_document_and_ndjson_ends_in_its_counts() {
    let env = TestEnv::new();
    let document = env.wagg(["explain", "--format", "json"]).ok().json();
    schema::check("explain", &document);
    assert_eq!(document["codes"].as_array().unwrap().len(), Code::ALL.len());

    let mut lines = env.wagg(["explain", "--format", "ndjson"]).ok().lines();
    let summary = lines.pop().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!(summary["schema"], "wagg.explain/1");
    assert_eq!(summary["codes"], lines.len());
    assert!(lines.iter().all(|line| line["type"] == "code"));

    let one = env
        .wagg(["explain", "torn_tail", "--format", "json"])
        .ok()
        .json();
    schema::check("explain", &one);
    assert_eq!(one["codes"][0]["code"], "torn_tail");
}

#[test]
fn ids_alone_work_in_every_format() {
    let env = TestEnv::new();
    for format in ["auto", "table", "json", "ndjson"] {
        let out = env.wagg(["explain", "--ids", "--format", format]).ok();
        assert_eq!(out.stdout().lines().count(), Code::ALL.len());
        assert!(out.stdout().starts_with("corrupt_record\ninvalid_utf8\n"));
    }
    let out = env.wagg(["explain", "-0"]).ok();
    assert!(out.bytes().starts_with(b"corrupt_record\0invalid_utf8\0"));
    assert!(out.bytes().ends_with(b"\0"));
}

#[test]
fn one_code_is_a_block_of_fields() {
    let env = TestEnv::new();
    let out = env.wagg(["explain", "session_mismatch"]).ok();
    let fields: Vec<_> = out
        .stdout()
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    assert_eq!(fields[0], ("code", "session_mismatch"));
    assert_eq!(
        fields[2].1,
        "a finding (error), and the error of a command that needs what is broken (status 3)"
    );
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "code",
            "meaning",
            "what it is",
            "repair",
            "cause",
            "example",
            "remedy"
        ]
    );
}
