//! What the commands that only read have in common.

use std::collections::HashMap;

use uuid::Uuid;
use wagg::diag::{Code, Finding, Result, Severity};
use wagg::layout::{SegmentId, WorkerId};
use wagg::ops::read::Time;
use wagg::ops::resolve::{Resolver, form};
use wagg::store::Store;

use super::findings::{Group, groups};
use crate::ui::{Block, Cell, Format, ListFlags, NO_SUMMARY, Row, Style, Ui, text};

/// An id that would lose fewer characters than this is shown whole.
const WORTH_CUTTING: usize = 4;
/// So many findings stand below one thing on a terminal.
const MAX_BELOW: usize = 20;

/// Prints one thing: fields for people and in a pipe, in JSON a listing of one.
pub fn one<R: Row>(ui: &Ui, schema: &str, row: &R, human: impl FnOnce(&mut Block)) -> Result<()> {
    match ui.format() {
        Format::Json | Format::Ndjson => {
            ui.list(schema, [row], &ListFlags::default(), NO_SUMMARY, "")
        }
        Format::Table | Format::Tsv => ui.object(schema, row, human),
    }
}

/// How far each id must be written for it to be told from all others of the store. Only a terminal
/// shows short ids, so only there the others are looked up.
pub struct ShortIds(HashMap<Uuid, usize>);

impl ShortIds {
    /// The short ids of a store.
    pub fn of(store: &Store, ui: &Ui) -> Result<Self> {
        if ui.format() != Format::Table {
            return Ok(Self(HashMap::new()));
        }
        let all = Resolver::new(store).all_ids()?;
        Ok(Self(form::unique_lengths(&all).collect()))
    }

    fn text(&self, id: Uuid) -> String {
        let mut text = id.hyphenated().to_string();
        match self.0.get(&id) {
            // Three digits less are not worth a mark.
            Some(length) if text.len().saturating_sub(*length) >= WORTH_CUTTING => {
                text.truncate(*length);
            }
            Some(_) => {}
            None if self.0.is_empty() => {}
            // One that is not in the store is nothing to go on with.
            None => {
                text.truncate(8);
                text.push('…');
            }
        }
        text
    }

    /// The id of a Segment as a table shows it.
    pub fn segment(&self, id: SegmentId) -> String {
        self.text(id.uuid())
    }

    /// A cell with the id of a Segment: short for people, in full in a pipe.
    pub fn cell(&self, id: SegmentId) -> Cell {
        Cell::two(self.segment(id), id)
    }

    /// The same, if there is one.
    pub fn maybe(&self, id: Option<SegmentId>) -> Cell {
        id.map_or_else(Cell::none, |id| self.cell(id))
    }

    /// A cell with the id of a Worker, or its folder where it has none.
    pub fn worker(&self, id: Option<WorkerId>, path: &str) -> Cell {
        match id {
            Some(id @ WorkerId::Uuid(uuid)) => Cell::two(self.text(uuid), id),
            Some(id) => Cell::new(id),
            None => Cell::new(path),
        }
    }
}

/// A moment, if it is known.
pub fn time(time: Option<Time>) -> Cell {
    time.map_or_else(Cell::none, |time| Cell::time(time.0))
}

/// The same to the minute where people read it, without the year where there is little room.
pub fn minute(time: Option<Time>, ui: &Ui) -> Cell {
    let Some(Time(time)) = time else {
        return Cell::none();
    };
    let local = text::zoned(time);
    let narrow = ui.width().is_some_and(|width| width < 100);
    let format = if narrow {
        "%m-%d %H:%M"
    } else {
        "%Y-%m-%d %H:%M"
    };
    Cell::two(local.strftime(format), text::rfc3339(time))
}

/// Findings below what a show command printed: in groups on a terminal, as rows in a pipe.
/// Information is shown with -v.
pub fn findings<'a>(all: &'a [Finding], ui: &Ui) -> Vec<&'a Finding> {
    all.iter()
        .filter(|finding| ui.verbose() > 0 || finding.severity != Severity::Info)
        .collect()
}

/// The rows of those findings, for a pipe.
pub fn add_rows(block: &mut Block, shown: &[&Finding], ui: &Ui) {
    if ui.format() == Format::Tsv {
        block.rows(shown.iter().copied());
    }
}

/// The groups of those findings, for a terminal.
pub fn below(mut shown: Vec<&Finding>, worker: WorkerId, ui: &Ui) -> Result<()> {
    if ui.format() != Format::Table || shown.is_empty() {
        return Ok(());
    }
    let more = shown.len().saturating_sub(MAX_BELOW);
    shown.truncate(MAX_BELOW);
    ui.write(|out| writeln!(out))?;
    let group = Group {
        heading: "To look at",
        findings: shown,
    };
    groups(&[group], ui)?;
    if more > 0 {
        let findings = text::plural(more as u64, "finding", "findings");
        ui.status(format!("{findings} more: wagg verify {worker}"));
    }
    Ok(())
}

/// `all is well`, or what is wrong, in the colour of the worst.
pub fn verdict(problems: &[Code]) -> Cell {
    let worst = problems
        .iter()
        .filter_map(|code| code.info().severity)
        .min();
    match worst {
        None => Cell::new("ok").style(Style::Good),
        Some(worst) => {
            let codes: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Cell::new(codes.join(", ")).style(Style::of(worst))
        }
    }
}
