//! `orphans`: what nobody owns, and what more than one owner points at, in the legacy roots and in
//! the store.
//!
//! One pass over the Workers, one over each root. Ownership itself is judged in
//! [`ownership`](super::ownership). Nothing is ever called disposable: each finding says who might
//! own the thing and what a person can check. No lock is taken and nothing is created.

mod history;
mod leftovers;
mod roots;
mod within;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

pub use history::History;
pub use leftovers::{Left, TargetState};

use super::legacy::{MetadataRoot, Root, Roots, SessionRoot};
use super::ownership::{Claimant, Ownership, Party, Place, Standing};
use crate::diag::{Finding, Progress, Result, Severity};
use crate::layout::{WorkerId, WorkerName};
use crate::store::Store;

/// How many owners a message names before it only counts.
const NAMED: usize = 10;

/// What to look at.
#[derive(Debug, Clone)]
pub struct Options {
    /// The legacy roots; without them only the store is looked at.
    pub roots: Option<Roots>,
    /// When ages are reckoned from.
    pub now: Timestamp,
}

/// Somebody who may own a thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// The Worker, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// The name of a metadata folder that means no Worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How the catalog stands to it.
    pub standing: Standing,
    /// The documents that say so: relative to the store, or below a legacy root as given.
    pub documents: Vec<String>,
}

/// A finding, with what a person can check and a script can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it is, and where.
    #[serde(flatten)]
    pub finding: Finding,
    /// Who points at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Owner>,
    /// What lies there, if it is a history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// What is known of a leftover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftover: Option<Left>,
}

impl Item {
    fn new(finding: Finding) -> Self {
        Self {
            finding,
            owners: Vec::new(),
            history: None,
            leftover: None,
        }
    }
}

impl From<Finding> for Item {
    fn from(finding: Finding) -> Self {
        Self::new(finding)
    }
}

/// One legacy root, as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootSummary {
    /// `sessions` or `metadata`.
    pub kind: &'static str,
    /// As given.
    pub path: String,
    /// One that is not there counts as empty.
    pub present: bool,
    /// Its folders.
    pub folders: u64,
}

/// The counts of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity information.
    pub infos: u64,
    /// Workers of the catalog looked at.
    pub workers: u64,
    /// Segments in the store, by name.
    pub segments: u64,
    /// What can not be read, and so was not looked at.
    pub not_looked_at: u64,
    /// The legacy roots, if they were asked for.
    pub roots: Vec<RootSummary>,
}

/// What `orphans` answers.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In a fixed order: by Worker, then by place.
    pub items: Vec<Item>,
    /// The counts.
    pub summary: Summary,
    /// Whether a person stopped it.
    pub interrupted: bool,
}

impl Report {
    /// Whether no finding is an error.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.summary.errors == 0 && !self.interrupted
    }
}

/// Looks for what nobody owns and for what is claimed twice.
///
/// # Errors
/// `workers/` can not be listed. What can not be read inside is a finding.
pub fn orphans(store: &Store, options: &Options, progress: &dyn Progress) -> Result<Report> {
    progress.start(None);
    progress.message("the catalog");
    let mut items = Vec::new();
    let mut within = within::look(store, options.now, progress, &mut items)?;
    let mut summary = Summary {
        workers: within.workers,
        segments: within.segments,
        ..Summary::default()
    };
    match &options.roots {
        None => {
            let ownership = Ownership::judge(&mut within.catalog, Vec::new());
            within::shared(&ownership, &mut items);
        }
        Some(roots) => {
            progress.message("the legacy metadata");
            let mut metadata = MetadataRoot::read(&roots.metadata, progress);
            let sessions = SessionRoot::read(&roots.sessions);
            summary.roots = vec![
                root_summary(
                    "sessions",
                    &roots.sessions,
                    &sessions.root,
                    sessions.folders.len(),
                ),
                root_summary(
                    "metadata",
                    &roots.metadata,
                    &metadata.root,
                    metadata.sources.len(),
                ),
            ];
            let sources = std::mem::take(&mut metadata.sources);
            let ownership = Ownership::judge(&mut within.catalog, sources);
            progress.message("the legacy Sessions");
            let now = options.now;
            let legacy = roots::Legacy {
                roots,
                metadata: &metadata,
                sessions: &sessions,
                within: &within,
                ownership: &ownership,
                now,
            };
            legacy.look(progress, &mut items);
        }
    }
    items.sort_by(|a, b| a.finding.sort_key().cmp(&b.finding.sort_key()));
    for item in &items {
        match item.finding.severity {
            Severity::Error => summary.errors += 1,
            Severity::Warning => summary.warnings += 1,
            Severity::Info => summary.infos += 1,
        }
        summary.not_looked_at += u64::from(item.finding.code == crate::diag::Code::Unreadable);
    }
    progress.finish();
    Ok(Report {
        items,
        summary,
        interrupted: progress.interrupted(),
    })
}

fn root_summary(kind: &'static str, path: &Path, root: &Root, folders: usize) -> RootSummary {
    RootSummary {
        kind,
        path: path.to_string_lossy().into_owned(),
        present: !root.is_absent(),
        folders: folders as u64,
    }
}

/// A claimant as data, with the paths that a person knows.
fn owner(claimant: &Claimant, roots: Option<&Roots>) -> Owner {
    let (worker_id, name) = match &claimant.party {
        Party::Worker(id) => (Some(*id), None),
        Party::Named(name) => (None, Some(name.to_string_lossy().into_owned())),
    };
    let documents = claimant
        .places
        .iter()
        .map(|place| {
            let path = match (place, roots) {
                (Place::Store(path), _) => path.clone(),
                (Place::Legacy(folder), Some(roots)) => document_of(roots, folder),
                (Place::Legacy(folder), None) => PathBuf::from(folder),
            };
            path.to_string_lossy().into_owned()
        })
        .collect();
    Owner {
        worker_id,
        name,
        standing: claimant.standing,
        documents,
    }
}

/// The legacy document of a metadata folder, as given.
fn document_of(roots: &Roots, folder: &OsStr) -> PathBuf {
    roots
        .metadata
        .join(folder)
        .join(crate::layout::file::METADATA)
}

impl Owner {
    /// `Worker 7 (legacy/workers/worker-runtime-7/metadata.json)`
    fn describe(&self) -> String {
        let who = match (&self.worker_id, &self.name, self.standing) {
            (Some(id), _, Standing::Known) => format!("Worker {id}"),
            (Some(id), _, Standing::Doubtful) => {
                format!("Worker {id}, whose worker.json is in doubt")
            }
            (Some(id), _, Standing::Unknown) => {
                format!("{}, no Worker of the catalog", WorkerName::of(*id))
            }
            (None, Some(name), _) => format!("{name:?}, no Worker of the catalog"),
            (None, None, _) => "somebody".to_owned(),
        };
        format!("{who} ({})", self.documents.join(", "))
    }
}

/// All of them in one phrase.
fn describe(owners: &[Owner]) -> String {
    let mut text = owners
        .iter()
        .take(NAMED)
        .map(Owner::describe)
        .collect::<Vec<_>>()
        .join("; ");
    if owners.len() > NAMED {
        text.push_str(&format!("; and {} more", owners.len() - NAMED));
    }
    text
}
