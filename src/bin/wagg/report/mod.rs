//! Reports in a file, for CI systems: what `--report KIND=FILE` writes.

mod junit;
mod sarif;

use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;
use wagg::diag::{Error, Finding, Result};
use wagg::ops::verify::Report;

use crate::cmd::verify::{SCHEMA, Shown};

/// Where a report goes, and in which form.
#[derive(Debug, Clone)]
pub struct Target {
    kind: Kind,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Json,
    Junit,
    Sarif,
}

impl FromStr for Target {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (kind, path) = text.split_once('=').ok_or("expected KIND=FILE")?;
        let kind = match kind {
            "json" => Kind::Json,
            "junit" => Kind::Junit,
            "sarif" => Kind::Sarif,
            other => {
                return Err(format!(
                    "{other:?} is no kind of report; json, junit and sarif are"
                ));
            }
        };
        if path.is_empty() {
            return Err("expected KIND=FILE".to_owned());
        }
        Ok(Self {
            kind,
            path: path.into(),
        })
    }
}

/// The document that `--format json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    findings: &'a [Finding],
    summary: Shown<'a>,
}

impl Target {
    /// Writes the report; an existing file is replaced, as CI systems expect.
    pub fn write(&self, report: &Report) -> Result<()> {
        let text = match self.kind {
            Kind::Json => {
                let document = Document {
                    schema: SCHEMA,
                    findings: &report.findings,
                    summary: Shown::of(report),
                };
                let mut text = serde_json::to_string_pretty(&document)
                    .map_err(|e| Error::io("write", &self.path, e.into()))?;
                text.push('\n');
                text
            }
            Kind::Junit => junit::text(report),
            Kind::Sarif => sarif::text(report),
        };
        #[expect(clippy::disallowed_methods, reason = "a report is no part of a store")]
        std::fs::write(&self.path, text).map_err(|e| Error::io("write", &self.path, e))
    }
}
