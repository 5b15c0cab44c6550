//! What a migration answers: each Worker, what was left where it was, the counts.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::facts::{LeftWorker, Moved};
use super::plan::{Item, Plan, Step};
use crate::diag::{Code, Finding, hex, shell};
use crate::layout::{OperationId, SessionId, WorkerId};
use crate::ops::legacy::Roots;
use crate::record::document::MigrationDiagnostic;

/// What became of one Worker, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Did {
    /// It would be moved (a dry run).
    Migrate,
    /// It was moved.
    Migrated,
    /// It was there already.
    Done,
    /// It was there already, and its Runtime went on from there.
    Advanced,
    /// The legacy roots have nothing of it.
    NoLegacyMetadata,
    /// It was left, and why stands beside it.
    Left,
    /// It was not come to.
    NotReached,
}

impl Did {
    /// The word that stands in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Migrate => "migrate",
            Self::Migrated => "migrated",
            Self::Done => "done",
            Self::Advanced => "advanced",
            Self::NoLegacyMetadata => "no_legacy_metadata",
            Self::Left => "left",
            Self::NotReached => "not_reached",
        }
    }
}

/// One Worker of the answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Which; none for a folder whose Worker can not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// What became of it.
    pub did: Did,
    /// Its Session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Its Session is reserved and was never written: only its metadata went over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// Files that were copied, or would be where that was looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files: u64,
    /// Bytes of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// SHA-256 over what `sha256sum *` says in `session/segments`: the digests and names of all
    /// files that were copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sum>,
    /// Why it was left, and where that is.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<Why>>,
}

/// A SHA-256, as bytes here and in hex where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum(pub [u8; 32]);

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = text.as_bytes().chunks(2).map(|two| {
            let two = std::str::from_utf8(two).ok()?;
            u8::from_str_radix(two, 16).ok()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

/// Why a Worker was left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Why {
    /// A code of `wagg explain`.
    pub code: String,
    /// Relative to the store, or below a legacy root as given.
    pub path: String,
    /// Counts from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Counts from 0, from the start of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// A sentence for a person.
    pub message: String,
    /// A command that can be pasted, or what to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl From<&Finding> for Why {
    fn from(finding: &Finding) -> Self {
        let kept = LeftWorker::of(finding);
        Self {
            code: kept.code,
            path: kept.path,
            line: kept.line,
            byte: kept.byte,
            message: kept.message,
            hint: finding.hint.clone(),
        }
    }
}

impl WorkerReport {
    fn of(item: &Item, dry_run: bool) -> Self {
        let mut this = Self {
            worker_id: Some(item.id),
            did: Did::Done,
            session_id: item.session,
            pending: matches!(item.state, Some(super::manifest::State::Pending(_))),
            files: 0,
            bytes: 0,
            sha256: None,
            why: None,
        };
        match &item.step {
            Step::Move(moving) => {
                this.did = if dry_run {
                    Did::Migrate
                } else {
                    Did::NotReached
                };
                this.bytes = moving.bytes;
                if let (true, Some(finding)) = (dry_run, &moving.collides) {
                    this.did = Did::Left;
                    this.why = Some(Box::new(Why::from(&**finding)));
                }
            }
            Step::Done => this.did = Did::Done,
            Step::Advanced => this.did = Did::Advanced,
            Step::Nothing => this.did = Did::NoLegacyMetadata,
            Step::NotReached => this.did = Did::NotReached,
            Step::Left(finding) => {
                this.did = Did::Left;
                this.why = Some(Box::new(Why::from(&**finding)));
            }
        }
        this
    }

    /// Says that it was moved.
    pub(super) fn moved(&mut self, brief: Brief) {
        self.did = Did::Migrated;
        self.files = brief.files;
        self.bytes = brief.bytes;
        self.sha256 = brief.sha256;
    }

    /// Says that it was left.
    pub(super) fn left(&mut self, finding: &Finding) {
        self.did = Did::Left;
        self.why = Some(Box::new(Why::from(finding)));
    }
}

/// What the answer says of a Worker that was moved; all of it stands in our own notes.
#[derive(Debug, Clone, Default)]
pub(super) struct Brief {
    files: u64,
    bytes: u64,
    sha256: Option<Sum>,
}

impl Brief {
    pub fn of(moved: &Moved) -> Self {
        use sha2::{Digest, Sha256};
        let mut all = Sha256::new();
        for file in &moved.files {
            all.update(format!("{}  {}\n", file.sha256, file.name));
        }
        let files = moved.files.iter().chain(&moved.metadata);
        Self {
            files: files.clone().count() as u64,
            bytes: files.map(|file| file.bytes).sum(),
            sha256: (!moved.files.is_empty()).then(|| Sum(all.finalize().into())),
        }
    }
}

/// One legacy root, as it was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RootReport {
    /// `sessions` or `metadata`.
    pub kind: String,
    /// As given.
    pub path: String,
    /// One that is not there counts as empty, and the answer is not complete then.
    pub present: bool,
    /// Its folders.
    pub folders: u64,
}

/// The counts of an answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Workers of the catalog, those that can not be told too.
    pub workers: u64,
    /// Moved now, or would be.
    pub migrated: u64,
    /// There already.
    pub done: u64,
    /// There already, and went on since.
    pub advanced: u64,
    /// Of those moved or there: with a Session that was never written.
    pub pending: u64,
    /// Without anything in the legacy roots.
    pub no_legacy_metadata: u64,
    /// Left, by reason.
    pub left: u64,
    /// How many for which reason.
    pub reasons: std::collections::BTreeMap<String, u64>,
    /// Not come to.
    pub not_reached: u64,
    /// Files copied.
    pub files: u64,
    /// Bytes copied, or to copy.
    pub bytes: u64,
    /// Legacy metadata that nobody owns.
    pub orphan_metadata: u64,
    /// Legacy Sessions that nobody owns.
    pub orphan_sessions: u64,
    /// Sessions that more than one owner points at.
    pub shared_sessions: u64,
    /// Whether both roots were looked at and no Worker is left.
    pub complete: bool,
}

/// The whole answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// The operation that made it; none if nothing was to be done.
    pub operation_id: Option<OperationId>,
    /// `done`, `no_change`, `partial` or, for a dry run, `planned`.
    pub outcome: String,
    /// The command, for receipts.
    pub command: String,
    /// What makes it exactly-once, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The legacy roots.
    pub roots: Vec<RootReport>,
    /// The folder of the oldest layout that was moved up, or would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_up: Option<String>,
    /// Every Worker, in order; folders whose Worker can not be told come last.
    pub workers: Vec<WorkerReport>,
    /// What nobody owns or more than one points at, as the manifest has it.
    pub diagnostics: Vec<MigrationDiagnostic>,
    /// Remarks that are in nobody's way.
    pub findings: Vec<serde_json::Value>,
    /// The counts.
    pub summary: Summary,
    /// Where digests, sizes and times of all files stand, relative to the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
    /// The command to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Report {
    /// What a plan comes to before anything is done.
    pub(super) fn of(plan: &Plan, roots: Vec<RootReport>, dry_run: bool) -> Self {
        let mut workers: Vec<WorkerReport> = plan
            .items
            .iter()
            .map(|item| WorkerReport::of(item, dry_run))
            .collect();
        workers.extend(plan.doubtful.iter().map(|finding| WorkerReport {
            worker_id: finding.subject.worker_id,
            did: Did::Left,
            session_id: None,
            pending: false,
            files: 0,
            bytes: 0,
            sha256: None,
            why: Some(Box::new(Why::from(finding))),
        }));
        Self {
            operation_id: None,
            outcome: "planned".to_owned(),
            command: super::COMMAND.to_owned(),
            request_id: None,
            roots,
            moved_up: None,
            workers,
            diagnostics: plan.diagnostics.clone(),
            findings: Vec::new(),
            summary: Summary::default(),
            facts: None,
            next: None,
        }
    }

    /// Puts remarks in their order.
    pub(super) fn remark(&mut self, mut notes: Vec<Finding>) {
        notes.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        notes.dedup();
        let notes = notes.iter().map(serde_json::to_value);
        self.findings = notes.filter_map(Result::ok).collect();
    }

    /// Counts, and says what to do next.
    ///
    /// `noted` are the roots of the newest run that found anything, for who named others now.
    pub(super) fn conclude(&mut self, given: &Roots, noted: Option<&Roots>) {
        let mut s = Summary {
            workers: self.workers.len() as u64,
            complete: true,
            ..Summary::default()
        };
        for worker in &self.workers {
            let count = match worker.did {
                Did::Migrate | Did::Migrated => &mut s.migrated,
                Did::Done => &mut s.done,
                Did::Advanced => &mut s.advanced,
                Did::NoLegacyMetadata => &mut s.no_legacy_metadata,
                Did::Left => &mut s.left,
                Did::NotReached => &mut s.not_reached,
            };
            *count += 1;
            if let Some(why) = &worker.why {
                *s.reasons.entry(why.code.clone()).or_default() += 1;
            }
            let pending = worker.pending && !matches!(worker.did, Did::Left | Did::NotReached);
            s.pending += u64::from(pending);
            s.files += worker.files;
            // Of one that was not come to it says how much it would be.
            if matches!(worker.did, Did::Migrate | Did::Migrated) {
                s.bytes += worker.bytes;
            }
        }
        for diagnostic in &self.diagnostics {
            match diagnostic.kind.as_str() {
                "orphan_worker_metadata" => s.orphan_metadata += 1,
                "orphan_session" => s.orphan_sessions += 1,
                _ => s.shared_sessions += 1,
            }
        }
        let absent = self.roots.iter().any(|root| !root.present);
        s.complete = s.left == 0 && s.not_reached == 0 && !absent;
        self.next = match noted.filter(|noted| *noted != &absolute(given)) {
            _ if !absent && !s.reasons.contains_key(Code::SourceGone.info().name) => {
                Some(self.next_command(&s, given))
            }
            Some(noted) => Some(format!("wagg migrate {} --dry-run", flags(noted))),
            // Which folder was meant can not be told.
            None if absent => None,
            None => Some(format!("wagg explain {}", Code::SourceGone)),
        };
        self.summary = s;
    }

    fn next_command(&self, s: &Summary, given: &Roots) -> String {
        let roots = flags(given);
        if self.outcome == "planned" && (s.migrated > 0 || s.left == 0) {
            return format!("wagg migrate {roots}");
        }
        if s.not_reached > 0 {
            return format!("wagg migrate {roots}");
        }
        if let Some((code, _)) = s.reasons.iter().max_by_key(|(_, n)| **n) {
            return format!("wagg explain {code}");
        }
        if s.orphan_sessions + s.orphan_metadata + s.shared_sessions > 0 {
            return format!("wagg orphans {roots}");
        }
        "wagg verify".to_owned()
    }

    /// Whether no Worker is left and all were come to, whatever was looked at.
    #[must_use]
    pub(super) const fn none_is_left(&self) -> bool {
        self.summary.left == 0 && self.summary.not_reached == 0
    }

    /// Whether both roots were looked at, no Worker is left and all were come to.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.summary.complete
    }
}

/// The roots as the command takes them.
fn flags(roots: &Roots) -> String {
    format!(
        "--sessions {} --metadata {}",
        shell(&roots.sessions),
        shell(&roots.metadata)
    )
}

fn absolute(roots: &Roots) -> Roots {
    let absolute =
        |path: &std::path::Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Roots {
        sessions: absolute(&roots.sessions),
        metadata: absolute(&roots.metadata),
    }
}
