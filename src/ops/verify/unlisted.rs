//! Findings that are counted and not listed, so that an answer stays bounded: how many there are of
//! each Worker, so that no Worker passes for want of room.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diag::Severity;
use crate::layout::WorkerId;

/// How many findings of one Worker are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlisted {
    /// The Worker; none for what is the store's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// Of severity error.
    pub errors: u64,
    /// Of severity warning.
    pub warnings: u64,
    /// Of severity information.
    pub infos: u64,
}

impl Unlisted {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.errors + self.warnings + self.infos
    }
}

/// Those of all Workers.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<Option<WorkerId>, Unlisted>);

impl Tally {
    /// Counts so many more.
    pub fn add(&mut self, worker_id: Option<WorkerId>, severity: Severity, count: u64) {
        let of_worker = self.0.entry(worker_id).or_insert(Unlisted {
            worker_id,
            errors: 0,
            warnings: 0,
            infos: 0,
        });
        match severity {
            Severity::Error => of_worker.errors += count,
            Severity::Warning => of_worker.warnings += count,
            Severity::Info => of_worker.infos += count,
        }
    }

    /// Counts what another counted.
    pub fn add_all(&mut self, other: &Unlisted) {
        let by_severity = [
            (Severity::Error, other.errors),
            (Severity::Warning, other.warnings),
            (Severity::Info, other.infos),
        ];
        for (severity, count) in by_severity {
            self.add(other.worker_id, severity, count);
        }
    }

    /// What there is, in the order of Workers.
    pub fn into_list(self) -> Vec<Unlisted> {
        let list = self.0.into_values();
        list.filter(|of_worker| of_worker.all() > 0).collect()
    }
}
