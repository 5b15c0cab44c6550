//! A plan carried out under its intent: our own notes and the manifest around it, and its outcome.

use serde_json::json;

use super::COMMAND;
use super::Sources;
use super::act::{Act, Carried, Names};
use super::facts::{Begin as NotesBegin, LeftWorker, Notes};
use super::manifest::Manifest;
use super::pipe::{make_found_durable, write_manifest};
use super::plan::Plan;
use super::report::Report;
use super::run::{Done, Run, settle_states, unwritable};
use crate::diag::{Code, Effects, Error, Result};
use crate::layout::OperationId;
use crate::ops::legacy::Roots;
use crate::store::journal::{OpenOperation, Outcome, Receipt};

/// A plan that is carried out under its intent.
pub(super) struct Work<'a> {
    pub run: &'a Run<'a>,
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub names: &'a Names,
    pub previous: Option<OperationId>,
    /// The roots that former runs noted.
    pub known_roots: Option<&'a Roots>,
    /// What the plan comes to before anything is done.
    pub report: &'a dyn Fn() -> Report,
}

impl Work<'_> {
    /// Carries it out, and says what became of it.
    pub fn carry_out(
        &self,
        operation: OpenOperation<'_>,
        mut manifest: Manifest,
        mut notes: Vec<crate::diag::Finding>,
    ) -> Result<Done> {
        let id = operation.id();
        let begun = self.begin(id, &mut manifest);
        let mut file = match begun {
            Ok(file) => file,
            Err(e) if e.code == Code::OutcomeUnknown => return Err(e),
            Err(e) => {
                // Nothing of a Worker was touched. Should this note be lost, it is settled.
                let _ = operation.clear();
                return Err(e);
            }
        };
        let act = Act {
            guard: self.run.guard,
            sources: self.sources,
            options: self.run.options,
            names: self.names,
            progress: self.run.progress,
        };
        let Carried {
            moved,
            in_place,
            left,
            notes: found,
            mut stopped,
        } = act.run(self.plan, &mut manifest, &mut file)?;
        let did_something = !moved.is_empty() || in_place;
        let mut report = (self.report)();
        let mut moved = moved.into_iter().peekable();
        for worker in &mut report.workers {
            let Some(id) = worker.worker_id else { continue };
            if let Some((_, brief)) = moved.next_if(|(moved, _)| *moved == id) {
                worker.moved(brief);
            }
            if let Some(finding) = left.get(&id) {
                worker.left(finding);
            }
        }
        notes.extend(found);
        report.remark(notes);
        report.operation_id = Some(id);
        report.request_id.clone_from(&self.run.flags.request_id);
        report.facts = Some(Notes::path(id));
        let mut all_left = self.plan.left_set();
        all_left.extend(left.values().map(LeftWorker::of));
        report.conclude(&self.run.options.roots, self.known_roots);
        let complete = report.none_is_left() && stopped.is_none();
        report.outcome = if complete { "done" } else { "partial" }.to_owned();
        report.conclude(&self.run.options.roots, self.known_roots);
        manifest.conclude(complete, &self.plan.diagnostics);
        let summary = serde_json::to_value(&report.summary).map_err(unwritable)?;
        let ended = write_manifest(self.run.guard, &mut manifest, self.names)
            .and_then(|()| file.end(all_left, &report.outcome, summary));
        if let Err(e) = ended {
            if e.code == Code::OutcomeUnknown {
                return Err(e);
            }
            stopped.get_or_insert(e);
        }
        let effects = if did_something {
            Effects::Some
        } else {
            Effects::None
        };
        let stopped = stopped.map(|e| e.effects(effects));
        self.end(operation, &report, stopped.as_ref())?;
        Ok(Done {
            stopped,
            ..Done::of(report)
        })
    }

    /// Writes what must be there before the first Worker is touched: our own notes, and the
    /// manifest with what is known already.
    fn begin(&self, id: OperationId, manifest: &mut Manifest) -> Result<Notes> {
        let moving: Vec<_> = self.plan.becoming_ours().collect();
        let file = Notes::begin(
            self.run.guard,
            &NotesBegin {
                operation: id,
                sessions: &self.sources.sessions_path().to_string_lossy(),
                metadata: &self.sources.metadata_path().to_string_lossy(),
                moving: &moving,
                previous: self.previous,
                temp: &self.names.latest,
            },
        )?;
        make_found_durable(self.run.guard, self.plan, manifest)?;
        settle_states(self.plan, manifest);
        let complete = self.plan.moving().next().is_none() && self.plan.is_complete();
        manifest.conclude(complete, &self.plan.diagnostics);
        write_manifest(self.run.guard, manifest, self.names)?;
        Ok(file)
    }

    /// Writes the outcome. What was stopped half way does not bind its request id: the next try
    /// goes on where this one stopped.
    fn end(
        &self,
        operation: OpenOperation<'_>,
        report: &Report,
        stopped: Option<&Error>,
    ) -> Result<()> {
        let named = self.run.flags.request_id.is_some();
        let bound = named && stopped.is_none();
        let receipt = if bound {
            Receipt::new(report)
        } else {
            Receipt::new(&json!({
                "operation_id": report.operation_id,
                "outcome": report.outcome,
                "command": COMMAND,
                "summary": report.summary,
                "facts": report.facts,
            }))
        };
        let outcome = match report.outcome.as_str() {
            _ if stopped.is_some_and(|e| named || e.effects == Effects::None) => Outcome::Cleared,
            "done" => Outcome::Done,
            _ => Outcome::Partial,
        };
        operation
            .finish(outcome, receipt.map_err(unwritable)?)
            .map(drop)
            .map_err(|e| {
                Error::new(
                    Code::OutcomeUnknown,
                    "the migration is on disk and its outcome could not be noted; a rerun finds it done",
                )
                .effects(Effects::All)
                .hint("run the same command again")
                .caused_by(e)
            })
    }
}
