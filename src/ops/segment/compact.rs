//! `segment compact`: a new Segment whose history is a summary and the last turns of another
//! (C27, C28, C29). No model is asked: the summary is given.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fork::config_of;
use super::input::Input;
use super::make::{Home, NewSegment, now_ms, origin, pointer, segment_of, worker_of};
use super::source::{self, Source, Split};
use super::tokens::{Estimate, Meter, of_bytes};
use super::turns::Turns;
use crate::diag::{Code, Error, Locus, Result};
use crate::layout::SegmentId;
use crate::ops::change::{Answer, Change, Plan, Planned, Scope, View};
use crate::ops::read::SegmentRef;
use crate::ops::resolve::Resolver;
use crate::record::Origin;
use crate::record::step::message;
use crate::record::write::{Lineage, NewStart};
use crate::store::Store;

/// Makes a compacted projection of a Segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// What names the source.
    pub segment: String,
    /// What stands for the turns that are dropped.
    pub summary: Input,
    /// Retain at most so many of the last turns; none of both limits: no turn.
    #[serde(default)]
    pub retain_turns: Option<u64>,
    /// Retain as many of the last turns as have at most so many tokens.
    #[serde(default)]
    pub retain_tokens: Option<u64>,
    /// Refuse if the new history has more tokens.
    #[serde(default)]
    pub budget_tokens: Option<u64>,
    /// Whether it becomes the active one.
    #[serde(default)]
    pub activate: bool,
}

/// A part of the history, in an answer.
#[derive(Debug, Clone, Copy, Serialize)]
struct Part {
    items: usize,
    turns: usize,
    tokens: u64,
}

/// What is kept of a history and what is not.
struct Cut {
    /// The first item that is kept.
    start: usize,
    kept: Part,
    dropped: Part,
    pulled_back: Part,
    estimate: Estimate,
}

impl Change for Compact {
    fn command(&self) -> &'static str {
        "segment compact"
    }

    fn arguments(&self) -> Value {
        json!({
            "segment": self.segment,
            "summary": self.summary.fingerprint(),
            "retain_turns": self.retain_turns,
            "retain_tokens": self.retain_tokens,
            "budget_tokens": self.budget_tokens,
            "activate": self.activate,
        })
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
        let summary = self.summary()?;
        let source = source::read(view, &home, &from, Split::Last)?;
        let Source { replay, behind } = &source;
        let turns = Turns::of(&replay.history).map_err(|e| unreadable(&from, e))?;
        let meter = Meter::new(turns.sizes(), &replay.usage);
        let cut = self.cut(&turns, &meter);
        let summary_tokens = of_bytes(summary.get().len() as u64);
        let tokens = summary_tokens.saturating_add(cut.kept.tokens);
        if let Some(budget) = self.budget_tokens.filter(|budget| tokens > *budget) {
            return Err(self.over_budget(&turns, &meter, &cut, summary_tokens, budget));
        }
        let mut history: Vec<&RawValue> = vec![&summary];
        history.extend(replay.history[cut.start..].iter().map(|item| &*item.json));
        let from_turn = Origin {
            segment: from.segment,
            turn: replay.turn,
        };
        let segment = NewSegment::of(&NewStart {
            ts: now_ms(),
            session: home.session,
            system_prompt: replay.system_prompt.as_deref(),
            config: config_of(replay, &from)?,
            history: &history,
            lineage: Lineage::Compacted(from_turn),
        })?;
        pairs(&segment, &from)?;
        let mut answer = Answer::of(worker, segment.id.to_string());
        segment.answer(&mut answer, home.session, self.activate);
        answer.field("compacted_from", origin(from_turn));
        answer.field("items_left_behind", behind);
        answer.field("summary_tokens", summary_tokens);
        answer.field("kept", cut.kept);
        answer.field("dropped", cut.dropped);
        answer.field("pulled_back", cut.pulled_back);
        answer.field("tokens", tokens);
        answer.field("budget_tokens", self.budget_tokens);
        answer.field("estimate", cut.estimate);
        answer.warn(source.warning());
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
                "retain_turns": self.retain_turns,
                "retain_tokens": self.retain_tokens,
                "budget_tokens": self.budget_tokens,
                "activate": self.activate,
            }),
            minted: json!({ "segment_id": id }),
            acts,
            commit: 0,
            answer,
        }))
    }
}

impl Compact {
    /// The item that stands for what is dropped.
    fn summary(&self) -> Result<Box<RawValue>> {
        let text = self.summary.text("the summary can not be taken")?;
        if text.trim().is_empty() {
            return Err(Error::new(
                Code::Usage,
                "the summary is empty, and it would be all that is left of the turns that are dropped",
            )
            .at(Locus::file(&self.summary.name))
            .hint("--summary FILE with a text, or --summary - to read it from standard input"));
        }
        Ok(message("system", text))
    }

    /// Where the retained tail begins.
    fn cut(&self, turns: &Turns, meter: &Meter) -> Cut {
        let all = turns.items();
        let by_turns = self
            .retain_turns
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX).min(turns.count()));
        let by_tokens = self.retain_tokens.map(|most| {
            most_that(turns.count(), |n| {
                meter.tokens(turns.start_of_last(n)..all).0 <= most
            })
            .unwrap_or(0)
        });
        let asked = match (by_turns, by_tokens) {
            (Some(a), Some(b)) => a.min(b),
            (Some(n), None) | (None, Some(n)) => n,
            (None, None) => 0,
        };
        cut_at(turns, meter, asked)
    }

    fn over_budget(
        &self,
        turns: &Turns,
        meter: &Meter,
        cut: &Cut,
        summary: u64,
        budget: u64,
    ) -> Error {
        let total = summary.saturating_add(cut.kept.tokens);
        let kept = match cut.kept.turns {
            1 => "1 retained turn".to_owned(),
            n => format!("{n} retained turns"),
        };
        let error = Error::new(
            Code::CompactOverBudget,
            format!(
                "the new history would have about {total} tokens (summary {summary}, {kept} {}), over the budget of {budget}",
                cut.kept.tokens
            ),
        );
        let with = |n: usize| cut_at(turns, meter, n);
        let fits = |n| summary.saturating_add(with(n).kept.tokens) <= budget;
        match most_that(cut.kept.turns, fits).map(with) {
            Some(less) => error.hint(format!(
                "--retain-turns {} fits, with about {} tokens",
                less.kept.turns,
                summary.saturating_add(less.kept.tokens)
            )),
            None => error.hint("a shorter summary, or a larger --budget-tokens"),
        }
    }
}

/// The highest number up to `most` that fits, where each lower one does too.
fn most_that(most: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if !fits(0) {
        return None;
    }
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}

/// The cut that keeps the last `asked` turns and what belongs to them.
fn cut_at(turns: &Turns, meter: &Meter, asked: usize) -> Cut {
    let all = turns.items();
    let kept = turns.pulled_back(asked);
    let (wanted, start) = (turns.start_of_last(asked), turns.start_of_last(kept));
    let (tokens, estimate) = meter.tokens(start..all);
    Cut {
        start,
        kept: Part {
            items: all - start,
            turns: kept,
            tokens,
        },
        dropped: Part {
            items: start,
            turns: turns.count() - kept,
            tokens: meter.tokens(0..start).0,
        },
        pulled_back: Part {
            items: wanted - start,
            turns: kept - asked,
            tokens: meter.tokens(start..wanted).0,
        },
        estimate,
    }
}

fn unreadable(from: &SegmentRef, e: serde_json::Error) -> Error {
    Error::new(
        Code::CorruptRecord,
        format!("the history of Segment {} can not be read", from.segment),
    )
    .at(Locus::file(from.path()))
    .hint(format!("wagg verify {}", from.worker.id))
    .caused_by(e)
}

/// Holds the result against the rule that calls and results stay together. What fails here was
/// apart in the source already.
fn pairs(segment: &NewSegment, from: &SegmentRef) -> Result<()> {
    match segment.apart()? {
        None => Ok(()),
        Some(remark) => Err(Error::new(
            remark.code,
            format!(
                "a retained turn has it apart in Segment {} already: {}",
                from.segment, remark.message
            ),
        )
        .at(Locus::file(from.path()))
        .hint("retain fewer turns")
        .hint(format!("wagg repair {} --allow-lossy", from.worker.id))),
    }
}
