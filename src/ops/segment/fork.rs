//! `segment fork`: a new Segment that begins where a turn of another ended (C27, C28).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::make::{Home, NewSegment, now_ms, origin, pointer, segment_of, worker_of};
use super::source::{self, Split};
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::SegmentId;
use crate::ops::change::{Answer, Change, Plan, Planned, Scope, View};
use crate::ops::read::SegmentRef;
use crate::ops::resolve::Resolver;
use crate::record::write::{Lineage, NewStart};
use crate::record::{Origin, Replay};
use crate::store::Store;

/// Makes a branch of a Segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// What names the source.
    pub segment: String,
    /// The turn that it branches off behind; 0 means before the first. None: the last finished.
    #[serde(default)]
    pub at_turn: Option<u64>,
    /// Whether it becomes the active one.
    #[serde(default)]
    pub activate: bool,
}

impl Change for Fork {
    fn command(&self) -> &'static str {
        "segment fork"
    }

    fn arguments(&self) -> Value {
        json!({ "segment": self.segment, "at_turn": self.at_turn, "activate": self.activate })
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
        let from = segment_of(view, &self.segment, worker)?;
        let home = Home::of(view, worker)?;
        let split = self.at_turn.map_or(Split::Last, Split::Turn);
        let source = source::read(view, &home, &from, split)?;
        let replay = &source.replay;
        let from_turn = Origin {
            segment: from.segment,
            turn: replay.turn,
        };
        let history: Vec<&RawValue> = replay.history.iter().map(|item| &*item.json).collect();
        let segment = NewSegment::of(&NewStart {
            ts: now_ms(),
            session: home.session,
            system_prompt: replay.system_prompt.as_deref(),
            config: config_of(replay, &from)?,
            history: &history,
            lineage: Lineage::Forked(from_turn),
        })?;
        let mut answer = Answer::of(worker, segment.id.to_string());
        segment.answer(&mut answer, home.session, self.activate);
        answer.field("forked_from", origin(from_turn));
        answer.field("items_left_behind", source.behind);
        answer.warn(source.warning());
        // The state is kept as it is at the split; whether it can be gone on with is said.
        answer.warn(segment.apart()?.map(|remark| remark.message));
        let id = segment.id;
        let mut acts = vec![segment.act(view, worker, Some(from.segment))?];
        if self.activate {
            acts.push(pointer(view, worker, home.session, id)?);
        }
        Ok(Planned::Do(Plan {
            worker: Some(worker),
            generation: home.generation,
            args: json!({
                "worker_id": worker,
                "segment_id": from.segment,
                "at_turn": replay.turn,
                "activate": self.activate,
            }),
            minted: json!({ "segment_id": id }),
            acts,
            commit: 0,
            answer,
        }))
    }
}

/// The config of a replay, as it is stored in the source.
pub(super) fn config_of<'r>(replay: &'r Replay, from: &SegmentRef) -> Result<&'r RawValue> {
    replay.config.as_deref().ok_or_else(|| {
        Error::new(
            Code::MissingSegmentStart,
            format!("Segment {} has no config to go on with", from.segment),
        )
        .at(Locus::file(from.path()))
        .hint(format!("wagg verify {}", from.worker.id))
    })
}
