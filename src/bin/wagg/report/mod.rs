//! Reports in a file, for CI systems: what `--report KIND=FILE` writes.

mod junit;
mod sarif;

use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;
use wagg::diag::{Error, Finding, Result};
use wagg::ops::verify::Report;

use crate::cmd::output::{self, OutFile, Outputs};
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

/// A report that may be written.
#[derive(Debug)]
pub struct Opened {
    kind: Kind,
    file: OutFile,
}

/// Looks at where reports are to go, before the work begins.
///
/// # Errors
/// As [`Outputs::file`].
pub fn open(targets: &[Target], outputs: &mut Outputs) -> Result<Vec<Opened>> {
    targets
        .iter()
        .map(|target| {
            Ok(Opened {
                kind: target.kind,
                file: outputs.file(&target.path, output::Kind::Report)?,
            })
        })
        .collect()
}

impl Opened {
    /// Writes the report; an earlier one is replaced, as CI systems expect.
    pub fn write(&self, report: &Report) -> Result<()> {
        let text = match self.kind {
            Kind::Json => {
                let document = Document {
                    schema: SCHEMA,
                    findings: &report.findings,
                    summary: Shown::of(report),
                };
                let mut text = serde_json::to_string_pretty(&document)
                    .map_err(|e| Error::io("write", self.file.place(), e.into()))?;
                text.push('\n');
                text
            }
            Kind::Junit => junit::text(report),
            Kind::Sarif => sarif::text(report),
        };
        self.file.write(text.as_bytes())
    }
}
