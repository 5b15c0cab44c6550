//! One thing that `verify` or `orphans` reports.

use serde::Serialize;

use super::codes::{Code, Severity};
use super::locus::Locus;
use crate::layout::{Generation, SegmentId, SessionId, WorkerId};

/// Whom a finding is about, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// The Worker whose folder it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// The Session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The Segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_id: Option<SegmentId>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
}

impl Subject {
    /// A Worker and nothing more.
    #[must_use]
    pub fn worker(id: WorkerId) -> Self {
        Self {
            worker_id: Some(id),
            ..Self::default()
        }
    }
}

/// One thing that is worth a line, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// How bad it is; the code's own severity, save where a place makes it milder.
    pub severity: Severity,
    /// Whom it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// Where it is.
    #[serde(flatten)]
    pub locus: Locus,
    /// What it means here: one sentence or two, without a full stop at the end.
    pub message: String,
    /// A command that can be pasted, or what to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// A finding with the severity of its code.
    ///
    /// A code that is only ever an error of a command counts as an error here.
    #[must_use]
    pub fn new(code: Code, subject: Subject, locus: Locus, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.info().severity.unwrap_or(Severity::Error),
            subject,
            locus,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The order in which findings are shown: by Worker, then by place, then by code.
    #[must_use]
    pub fn sort_key(&self) -> (Option<WorkerId>, &Locus, Code, &str) {
        (
            self.subject.worker_id,
            &self.locus,
            self.code,
            &self.message,
        )
    }
}
