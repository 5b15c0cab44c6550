//! What `--report KIND=FILE` writes, held against parsers that are not ours.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::case::{Kit, findings};
use crate::support::store::put;
use crate::support::{damage, schema};

/// Damage whose texts need escaping, in two Workers; a third is well.
fn damaged() -> Kit {
    let kit = Kit::v1();
    kit.store.worker(2).usual(2);
    kit.store.worker(3).usual(3);
    damage::replace_line(&kit.segment(), 3, "{\"kind\":\"<&>]]>\u{ffff}\",\"ts\":1}");
    let two = kit.store.worker_folder(2);
    two.edit_metadata(|m| m["worker_name"] = "a/\"<b>'&\u{1}\u{1b}[31m".into());
    put(two.path("odd <name>&.txt"), b"");
    damage::torn_tail(&two.segment_path(0x21));
    kit
}

/// The report of one kind, written by a run with status 1.
fn report(kit: &Kit, kind: &str) -> String {
    let path = kit.env.path(format!("report.{kind}"));
    let target = format!("{kind}={}", path.display());
    let _ = kit.verify(&["--report", &target]).status(1);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn json_is_what_stdout_has() {
    let kit = damaged();
    let written: Value = serde_json::from_str(&report(&kit, "json")).unwrap();
    schema::check("verify", &written);
    let out = kit.verify(&["--format", "json", "--digest"]).status(1);
    let mut shown = out.json();
    assert_eq!(written["findings"], shown["findings"]);
    let summary = shown["summary"].as_object_mut().unwrap();
    assert!(summary.shift_remove("digests").is_some());
    assert_eq!(written["summary"], shown["summary"]);
    // digests and places that were not looked at stand in it too
    let path = kit.env.path("full.json");
    let target = format!("json={}", path.display());
    let out = kit
        .verify(&[
            "--digest",
            "--max-findings",
            "1",
            "--report",
            &target,
            "--format",
            "json",
        ])
        .status(1);
    let written: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(written, out.json());
}

#[test]
fn junit_is_xml_with_a_case_for_each_worker() {
    let kit = damaged();
    let text = report(&kit, "junit");
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    let (mut cases, mut failures, mut texts) = (Vec::new(), Vec::new(), String::new());
    let mut suites = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(e) | Event::Empty(e) => {
                let mut attributes = std::collections::BTreeMap::new();
                for attribute in e.attributes() {
                    let attribute = attribute.unwrap();
                    let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                    attributes.insert(key, attribute.unescape_value().unwrap().into_owned());
                }
                match e.name().as_ref() {
                    b"testcase" => cases.push(attributes["name"].clone()),
                    b"failure" => failures.push(attributes["message"].clone()),
                    b"testsuite" => suites.push(attributes),
                    _ => {}
                }
            }
            Event::Text(e) => texts.push_str(&e.decode().unwrap()),
            Event::GeneralRef(e) => texts.push_str(&format!("&{};", e.decode().unwrap())),
            Event::Eof => break,
            _ => {}
        }
    }
    // a Worker that is well is a case that passes, so that a CI system counts it
    assert_eq!(
        cases,
        ["store", "Worker 1", "Worker 2", "Worker 3"],
        "{text}"
    );
    assert_eq!(failures.len(), 2, "{text}");
    assert!(failures[0].contains("error[unknown_kind]"), "{text}");
    assert!(failures[0].contains("<&>]]>"), "{text}");
    assert!(failures[1].contains("error[unsafe_name]"), "{text}");
    assert_eq!(suites[0]["failures"], "2", "{text}");
    assert_eq!(suites[0]["tests"], "4", "{text}");
    // XML 1.0 has no control characters but these three
    let odd = |c: char| c == '\u{ffff}' || c.is_control() && !"\t\n\r".contains(c);
    assert!(!text.contains(odd), "{text:?}");
    // what is no error of a Worker stands in its output
    assert!(texts.contains("torn_tail"), "{text}");
}

#[test]
fn junit_says_what_was_not_looked_at() {
    let kit = damaged();
    let path = kit.env.path("r.xml");
    let target = format!("junit={}", path.display());
    let _ = kit
        .verify(&["--max-duration", "0s", "--report", &target])
        .status(1);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("<error "), "{text}");
    assert!(text.contains("--max-duration was over"), "{text}");
}

#[test]
fn sarif_has_what_a_viewer_needs() {
    let kit = damaged();
    let log: Value = serde_json::from_str(&report(&kit, "sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "wagg");
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    let rules: Vec<&str> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
            assert!(rule["help"]["text"].is_string(), "{rule}");
            rule["id"].as_str().unwrap()
        })
        .collect();
    let out = kit.verify(&["--format", "json"]).status(1);
    let found = findings(&out);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), found.len());
    for (result, finding) in results.iter().zip(&found) {
        assert_eq!(result["ruleId"], finding["code"]);
        let id = result["ruleId"].as_str().unwrap();
        assert!(rules.contains(&id), "{id}");
        let level = match finding["severity"].as_str().unwrap() {
            "info" => "note",
            other => other,
        };
        assert_eq!(result["level"], level);
        assert_eq!(result["message"]["text"], finding["message"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(
            uri.bytes()
                .all(|b| b.is_ascii_graphic() && !b"<>\"&?#\\".contains(&b)),
            "{uri}"
        );
        assert_eq!(place["region"]["startLine"], finding["line"]);
        assert_eq!(place["region"]["byteOffset"], finding["byte"]);
    }
    assert!(results.iter().any(
        |r| r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            == "workers/2/odd%20%3Cname%3E%26.txt"
    ));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn several_reports_at_once_and_over_what_was_there() {
    let kit = damaged();
    let mut args = Vec::new();
    for kind in ["junit", "sarif", "json"] {
        args.push("--report".to_owned());
        args.push(format!(
            "{kind}={}",
            kit.env.path(format!("r.{kind}")).display()
        ));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let _ = kit.verify(&args).status(1);
    for kind in ["junit", "sarif", "json"] {
        // longer than what comes
        let path = kit.env.path(format!("r.{kind}"));
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&"\n an older report".repeat(1000));
        std::fs::write(&path, text).unwrap();
    }
    let _ = kit.verify(&args).status(1);
    for kind in ["junit", "sarif", "json"] {
        let text = std::fs::read_to_string(kit.env.path(format!("r.{kind}"))).unwrap();
        assert!(!text.contains("an older report"), "{text}");
    }
}

#[test]
fn a_report_that_can_not_be_written_is_an_error() {
    let kit = damaged();
    let out = kit.verify(&["--report", "json=nowhere/r.json"]).status(14);
    assert!(out.stderr.contains("nowhere/r.json"), "{out}");
    for bad in ["json", "xml=f", "=f", "json="] {
        let out = kit.verify(&["--report", bad]).status(2);
        assert!(out.stderr.contains("--report"), "{out}");
    }
}
