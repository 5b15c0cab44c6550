//! Where two Segments part: what a restore from each would see, compared item by item.
//!
//! Items are compared by a digest of their one form, so that memory holds sixteen bytes an item of
//! one side and the few items that are shown, however long the histories are.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::interrupted;
use crate::diag::{Progress, Result};
use crate::layout::{SegmentId, WorkerId};
use crate::ops::read::{SegmentRef, replay_error};
use crate::record::item::{self, ItemDigest};
use crate::record::replay::steps;
use crate::record::step::message;
use crate::record::{ItemKind, Limits, ReplayError, Role, Step};
use crate::store::Store;

/// Texts are cut to this many bytes.
const MAX_TEXT: usize = 4096;

/// One item of a history that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Its place in the history, counted from 0.
    pub index: u64,
    /// The line of its record, counted from 1.
    pub line: u64,
    /// Its place in the seed history, counted from 0; none if it has a record of its own.
    pub seed: Option<u64>,
    /// The turn count when it was added.
    pub turn: u64,
    /// `message`, `tool_call`, `tool_result` or `reasoning`.
    pub kind: &'static str,
    /// `user`, `assistant`, `system` or `tool`.
    pub speaker: &'static str,
    /// What it says; cut where it is long.
    pub text: String,
    /// Whether the text was cut.
    pub truncated: bool,
}

/// One of the two Segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Whose it is.
    pub worker_id: WorkerId,
    /// Its id.
    pub segment_id: SegmentId,
    /// Its file, relative to the store.
    pub path: String,
    /// Records that were replayed.
    pub records: u64,
    /// Items of its history.
    pub history_items: u64,
    /// Its turn count.
    pub turn: u64,
    /// Items behind the common prefix.
    pub own_items: u64,
    /// The first of those.
    pub items: Vec<Shown>,
}

/// Where two Segments part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Items that both histories begin with.
    pub common_items: u64,
    /// Whether the histories are the same.
    pub same_history: bool,
    /// Whether both have the same system prompt.
    pub same_system_prompt: bool,
    /// Whether both end with the same request config.
    pub same_config: bool,
    /// The last item that both have.
    pub last_common: Option<Shown>,
    /// The two, in the order in which they were given.
    pub segments: [Side; 2],
}

/// What is known of a history while it is read.
#[derive(Default)]
struct History {
    records: u64,
    items: u64,
    turn: u64,
    prompt: Option<String>,
    config: Option<serde_json::Value>,
}

/// An item on its way past.
struct Passing<'a> {
    index: u64,
    line: u64,
    seed: Option<u64>,
    turn: u64,
    json: &'a RawValue,
}

/// Replays a Segment and shows each item; `begin` is called where a history begins (anew).
fn walk(
    store: &Store,
    segment: &SegmentRef,
    progress: &dyn Progress,
    mut visit: impl FnMut(Option<Passing<'_>>) -> serde_json::Result<()>,
) -> Result<History> {
    let file = segment.open(store)?;
    let mut history = History::default();
    let mut failed: Option<(u64, u64, serde_json::Error)> = None;
    let mut stopped = false;
    let limits = Limits::default();
    steps(&file.file, file.stat.len, limits, |line, _, step| {
        history.records += 1;
        let mut pass = |history: &mut History, json: &RawValue, seed: Option<u64>| {
            let item = Passing {
                index: history.items,
                line: line.number,
                seed,
                turn: history.turn,
                json,
            };
            history.items += 1;
            visit(Some(item))
        };
        let passed = match step {
            Step::Start(start) => {
                history.items = 0;
                history.prompt = start.system_prompt.map(std::borrow::Cow::into_owned);
                history.config = serde_json::from_str(start.config.get()).ok();
                visit(None).and_then(|()| {
                    let mut seeds = start.history.iter().zip(0..);
                    seeds.try_for_each(|(json, seed)| {
                        let item = Passing {
                            index: history.items,
                            line: line.number,
                            seed: Some(seed),
                            turn: history.turn,
                            json,
                        };
                        history.items += 1;
                        visit(Some(item))
                    })
                })
            }
            Step::Input { text, .. } => pass(&mut history, &message("user", &text), None),
            Step::Item(json) => pass(&mut history, json, None),
            Step::System(text) => pass(&mut history, &message("system", &text), None),
            Step::Turn(count) => {
                history.turn = count;
                Ok(())
            }
            Step::Config(config) => {
                history.config = serde_json::from_str(config.get()).ok();
                Ok(())
            }
            Step::Invoke | Step::Ended(_) | Step::Usage(_) | Step::Extension(_) => Ok(()),
        };
        progress.add(line.length + 1);
        if let Err(e) = passed {
            failed = Some((line.number, line.offset, e));
            return ControlFlow::Break(());
        }
        if progress.interrupted() {
            stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
    .map_err(|e| replay_error(segment, e))?;
    if stopped {
        return Err(interrupted());
    }
    if let Some((line, at, e)) = failed {
        let fault = crate::record::Fault {
            code: crate::diag::Code::CorruptRecord,
            at,
            length: None,
            message: e.to_string(),
        };
        return Err(replay_error(segment, ReplayError::Bad { line, fault }));
    }
    Ok(history)
}

/// Compares two Segments, of whatever Workers; shows at most `limit` items of each.
///
/// # Errors
/// One of them can not be opened or does not replay; `interrupted`.
pub fn diff(
    store: &Store,
    a: &SegmentRef,
    b: &SegmentRef,
    limit: usize,
    progress: &dyn Progress,
) -> Result<Diff> {
    progress.start(None);
    let result = compare(store, a, b, limit, progress);
    progress.finish();
    result
}

fn compare(
    store: &Store,
    a: &SegmentRef,
    b: &SegmentRef,
    limit: usize,
    progress: &dyn Progress,
) -> Result<Diff> {
    let mut digests: Vec<ItemDigest> = Vec::new();
    let of_a = walk(store, a, progress, |item| {
        match item {
            Some(item) => digests.push(item::digest(item.json)?),
            None => digests.clear(),
        }
        Ok(())
    })?;
    let mut common = 0;
    let mut parted = false;
    let mut items_b = Vec::new();
    let mut last = None;
    let of_b = walk(store, b, progress, |item| {
        let Some(item) = item else {
            (common, parted, last) = (0, false, None);
            items_b.clear();
            return Ok(());
        };
        if !parted {
            let at = usize::try_from(item.index).unwrap_or(usize::MAX);
            if digests.get(at) == Some(&item::digest(item.json)?) {
                common += 1;
                last = Some((
                    item.index,
                    item.line,
                    item.seed,
                    item.turn,
                    item.json.to_owned(),
                ));
                return Ok(());
            }
            parted = true;
        }
        if items_b.len() < limit {
            items_b.push(shown(&item)?);
        }
        Ok(())
    })?;
    let last_common = match last {
        Some((index, line, seed, turn, json)) => {
            let item = Passing {
                index,
                line,
                seed,
                turn,
                json: &json,
            };
            shown(&item).ok()
        }
        None => None,
    };
    let mut items_a = Vec::new();
    if of_a.items > common {
        walk(store, a, progress, |item| {
            match item {
                Some(item) if item.index >= common && items_a.len() < limit => {
                    items_a.push(shown(&item)?);
                }
                Some(_) => {}
                None => items_a.clear(),
            }
            Ok(())
        })?;
    }
    let side = |segment: &SegmentRef, history: &History, items| Side {
        worker_id: segment.worker.id,
        segment_id: segment.segment,
        path: segment.path().to_string_lossy().into_owned(),
        records: history.records,
        history_items: history.items,
        turn: history.turn,
        own_items: history.items - common,
        items,
    };
    Ok(Diff {
        common_items: common,
        same_history: of_a.items == common && of_b.items == common,
        same_system_prompt: of_a.prompt == of_b.prompt,
        same_config: of_a.config == of_b.config,
        last_common,
        segments: [side(a, &of_a, items_a), side(b, &of_b, items_b)],
    })
}

fn shown(item: &Passing<'_>) -> serde_json::Result<Shown> {
    let said = item::said(item.json)?;
    let mut text = match &said.name {
        Some(name) if said.kind == ItemKind::ToolCall => format!("{name} {}", said.text),
        _ => said.text.into_owned(),
    };
    let truncated = text.len() > MAX_TEXT;
    if truncated {
        let mut end = MAX_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    Ok(Shown {
        index: item.index,
        line: item.line,
        seed: item.seed,
        turn: item.turn,
        kind: said.kind.as_str(),
        speaker: speaker(said.kind, said.role),
        text,
        truncated,
    })
}

/// Who speaks in an item.
pub(super) const fn speaker(kind: ItemKind, role: Option<Role>) -> &'static str {
    match (kind, role) {
        (ItemKind::ToolResult, _) => "tool",
        (_, Some(Role::User)) => "user",
        (_, Some(Role::System)) => "system",
        _ => "assistant",
    }
}
