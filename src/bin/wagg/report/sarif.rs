//! SARIF 2.1.0: what code hosts show beside a file.

use serde_json::{Value, json};
use wagg::diag::{Code, Finding, Severity, plural};
use wagg::ops::verify::Report;

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a URI: every byte that is not plain is percent-encoded.
fn uri(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for &b in path.as_os_str().as_bytes() {
        if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) {
            text.push(b as char);
        } else {
            text.push_str(&format!("%{b:02X}"));
        }
    }
    text
}

fn result(finding: &Finding) -> Value {
    let mut region = serde_json::Map::new();
    if let Some(line) = finding.locus.line {
        region.insert("startLine".into(), line.into());
    }
    if let Some(byte) = finding.locus.byte {
        region.insert("byteOffset".into(), byte.into());
    }
    if let Some(length) = finding.locus.length {
        region.insert("byteLength".into(), length.into());
    }
    let mut place = json!({ "artifactLocation": { "uri": uri(&finding.locus.path) } });
    if !region.is_empty() {
        place["region"] = Value::Object(region);
    }
    json!({
        "ruleId": finding.code,
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": place }],
    })
}

/// The report as one SARIF log.
pub fn text(report: &Report) -> String {
    let mut used: Vec<Code> = report.findings.iter().map(|f| f.code).collect();
    used.sort_unstable();
    used.dedup();
    let rules: Vec<Value> = used
        .into_iter()
        .map(|code| {
            json!({
                "id": code,
                "shortDescription": { "text": code.info().meaning },
                "help": { "text": code.explain().remedy },
            })
        })
        .collect();
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    let mut missing: Vec<String> = report
        .not_looked_at
        .iter()
        .map(|n| format!("not looked at: {}: {}", n.path, n.reason))
        .collect();
    if report.summary.not_listed > 0 {
        let workers = report.unlisted.iter().filter(|u| u.worker_id.is_some());
        missing.push(format!(
            "{} counted and not listed, in {}",
            plural(report.summary.not_listed, "finding", "findings"),
            plural(workers.count() as u64, "Worker", "Workers")
        ));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "wagg",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
            "invocations": [{
                "executionSuccessful": missing.is_empty(),
                "toolExecutionNotifications": missing.iter().map(|text| json!({
                    "level": "warning",
                    "message": { "text": text },
                })).collect::<Vec<_>>(),
            }],
        }],
    });
    format!("{log:#}\n")
}
