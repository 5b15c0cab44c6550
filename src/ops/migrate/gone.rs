//! Workers whose legacy source was there when a former run looked, and is not now: a root that is
//! named wrongly, not mounted or cleared away must not make a Worker one that never had a history.

use super::copy::{Stop, Whose};
use super::examine::Examiner;
use super::facts::Known;
use super::manifest::{Manifest, State};
use super::plan::{Item, Step};
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{WorkerId, WorkerName};
use crate::ops::ownership::{Claim, Ownership};

/// Whether a former run left this Worker, or found its Session shared, and the metadata root has no
/// folder of it now. One that was put there without metadata says that it was taken away on
/// purpose.
pub(super) fn is_gone(
    ownership: &Ownership,
    manifest: &Manifest,
    known: &Known,
    id: WorkerId,
) -> bool {
    let name = WorkerName::of(id);
    let said = ownership.sources();
    let there = || said.binary_search_by(|s| s.folder.as_os_str().cmp(name.as_str().as_ref()));
    // A state that is not ours might mean anything.
    let settled = ["migrated", "pending", "no_legacy_metadata"];
    let open = || manifest.state(id).is_some_and(|s| !settled.contains(&s));
    matches!(ownership.claim_of(id), Claim::Nothing)
        && (known.left_source(id).is_some() || open())
        && there().is_err()
}

impl Examiner<'_> {
    /// Nothing in the metadata root says anything of this Worker.
    pub fn without_claim(&self, item: &mut Item) -> Result<Step, Stop> {
        let id = item.id;
        if is_gone(self.ownership, self.manifest, self.known, id) {
            item.session = self.manifest.session(id);
            let finding = Finding::new(
                Code::SourceGone,
                Subject::worker(id),
                Locus::file(self.metadata_path(id)),
                "a former run found legacy metadata of this Worker and left it; now it is not there",
            );
            return Err(finding.with_hint(self.gone_hint()).into());
        }
        // What was migrated stays so when its source is gone.
        if matches!(self.manifest.state(id), Some("migrated" | "pending")) {
            item.session = self.manifest.session(id);
            return Ok(Step::Done);
        }
        if let Some(moved) = self.known.moved.get(id) {
            item.session = moved.session_id;
            item.state = Some(match moved.session_id.filter(|_| moved.pending) {
                Some(session) => State::Pending(session),
                None => State::Migrated(moved.session_id),
            });
            return Ok(Step::Done);
        }
        item.state = Some(State::NoLegacyMetadata);
        Ok(Step::Nothing)
    }

    /// The Session of a Worker that never ran is not there, and a former run left the Worker for
    /// what it found in it.
    pub fn session_gone(&self, whose: &Whose<'_>) -> Option<Stop> {
        let left = self.known.left_source(whose.worker)?;
        let session = whose.session.to_string();
        let path = std::path::Path::new(&left.path);
        let store = path.starts_with(crate::layout::file::WORKERS);
        let of_it = path.iter().any(|part| part == &*session);
        let missing = left.code == Code::MissingReferencedSession.info().name;
        if store || !of_it || missing {
            return None;
        }
        let subject = Subject {
            worker_id: Some(whose.worker),
            session_id: Some(whose.session),
            ..Subject::default()
        };
        let finding = Finding::new(
            Code::SourceGone,
            subject,
            Locus::file(whose.path),
            "a former run found the legacy Session of this Worker and left it; now it is not there",
        );
        Some(finding.with_hint(self.gone_hint()).into())
    }

    /// The roots in which it was found, if they were noted.
    fn gone_hint(&self) -> String {
        match &self.known.roots {
            Some(roots) => format!(
                "wagg migrate --sessions {} --metadata {} --dry-run",
                crate::diag::shell(&roots.sessions),
                crate::diag::shell(&roots.metadata)
            ),
            None => format!("wagg explain {}", Code::SourceGone),
        }
    }
}
