//! `segment activate`: a restore starts from this Segment from now on.

use serde::Deserialize;
use serde_json::{Value, json};

use super::make::{Home, active_segment, metadata, pointer, segment_of, worker_of};
use super::source;
use crate::diag::Result;
use crate::layout::SegmentId;
use crate::ops::change::{Answer, Change, Plan, Planned, Scope, View};
use crate::ops::resolve::Resolver;
use crate::record::document::Active;
use crate::store::Store;

/// Moves the active pointer of a Worker.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activate {
    /// What names the Segment.
    pub segment: String,
}

impl Change for Activate {
    fn command(&self) -> &'static str {
        "segment activate"
    }

    fn arguments(&self) -> Value {
        json!({ "segment": self.segment })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).segment(&self.segment)?.worker)
    }

    fn segment(&self, store: &Store) -> Result<Option<SegmentId>> {
        let found = Resolver::new(store).segment(&self.segment)?;
        Ok(Some(found.segment))
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let worker = worker_of(scope)?;
        let segment = segment_of(view, &self.segment, worker)?;
        let home = Home::of(view, worker)?;
        let document = metadata(view, worker)?.map(|(_, document)| document);
        let before = active_segment(document.as_ref());
        let session = document
            .and_then(|d| d.active)
            .as_ref()
            .and_then(Active::session);
        let mut answer = Answer::of(worker, segment.segment.to_string());
        answer.field("segment_id", segment.segment);
        answer.field("session_id", home.session);
        answer.field("previous_segment_id", before);
        if before == Some(segment.segment) && session == Some(home.session) {
            return Ok(Planned::Nothing(answer));
        }
        source::check(view, &home, &segment)?;
        Ok(Planned::Do(Plan {
            worker: Some(worker),
            generation: home.generation,
            args: json!({ "worker_id": worker, "segment_id": segment.segment }),
            minted: Value::Null,
            acts: vec![pointer(view, worker, home.session, segment.segment)?],
            commit: 0,
            answer,
        }))
    }
}
