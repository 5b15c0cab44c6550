//! Tool calls and results of a file that lack each other, from the start or once the rest of the
//! plan is carried out.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

use super::lines::{Change, Lines};
use super::pairs::{self, Want, Wants};
use super::{Item, ShownEdit, State, bytes, manual};
use crate::diag::{Code, Finding, Locus, RepairClass};
use crate::record::{Edit, Edited, Fold, Format, Remark, Rope, Scanner};

impl Lines<'_> {
    /// Calls and results that lack each other.
    pub fn pairs(
        &self,
        findings: Vec<Finding>,
        items: &mut Vec<Item>,
        changes: &mut Vec<Change>,
    ) -> io::Result<()> {
        let wants = Wants::of(findings.iter().filter_map(want));
        if wants.is_empty() {
            return Ok(());
        }
        let mended = pairs::mend(self.file, self.len, self.options.limits, &wants)?;
        for finding in findings {
            let found = mended
                .iter()
                .find(|m| Some(wants.get(m.want)) == want(&finding));
            let Some(found) = found else {
                items.push(manual::item(finding, None));
                continue;
            };
            let item = self.item(
                finding,
                RepairClass::Lossy,
                found.action.clone(),
                &found.edits,
            )?;
            if item.state == State::Planned {
                changes.extend(found.edits.iter().map(|edit| Change {
                    edit: edit.clone(),
                    keep: None,
                }));
            }
            items.push(item);
        }
        Ok(())
    }

    /// What follows from mending lines: calls that turn out to be open, results that turn out to
    /// have no call. They become items of their own, until nothing more follows.
    pub fn follow(&self, mut rope: Rope, items: &mut Vec<Item>) -> io::Result<Rope> {
        let mends =
            |item: &Item| item.state == State::Planned && item.finding.code != Code::TornTail;
        if self.format == Format::Trace || !items.iter().any(mends) {
            return Ok(rope);
        }
        let known: HashSet<(Code, u64)> = items
            .iter()
            .filter(|item| item.state != State::Planned)
            .filter_map(|item| Some((item.finding.code, item.finding.locus.byte?)))
            .collect();
        // One round answers what the one before left open; a result that goes leaves nothing open.
        for _ in 0..4 {
            let edited = Edited::new(self.file, &rope);
            let mut fold = Fold::new();
            let scanned = Scanner::new(self.options.limits).scan(
                &edited,
                rope.len(),
                self.format,
                |line| {
                    fold.push(line);
                    ControlFlow::Continue(())
                },
            )?;
            let (_, remarks) = fold.finish(&scanned);
            let pair = |code| matches!(code, Code::OrphanToolResult | Code::UnansweredToolCall);
            let told: Vec<(Want, Remark)> = remarks
                .into_iter()
                .filter(|r| pair(r.code) && self.options.wants(r.code))
                .filter_map(|r| {
                    let (code, byte) = (r.code, r.byte?);
                    let known = known.contains(&(code, rope.old_offset(byte)));
                    (!known).then_some((Want { code, byte }, r))
                })
                .collect();
            let wants = Wants::of(told.iter().map(|(want, _)| *want));
            let mended = pairs::mend(&edited, rope.len(), self.options.limits, &wants)?;
            let mut edits: Vec<Edit> = Vec::new();
            // In the order of the file, since remarks are.
            let places: Vec<u64> = mended
                .iter()
                .map(|one| rope.old_offset(wants.get(one.want).byte))
                .collect();
            let lines = bytes::lines_of(self.file, &places)?;
            for ((one, byte), line) in mended.into_iter().zip(places).zip(lines) {
                let Some((want, remark)) = told.get(one.want) else {
                    continue;
                };
                let locus = Locus {
                    path: self.path.to_owned(),
                    line: Some(line),
                    byte: Some(byte),
                    length: remark.length,
                };
                let message = format!("{}; this follows from the rest of the plan", remark.message);
                let finding = Finding::new(want.code, self.subject, locus, message);
                let mut item = Item::of(finding, RepairClass::Lossy, one.action);
                if self.options.does(RepairClass::Lossy) {
                    item.state = State::Planned;
                }
                for edit in &one.edits {
                    item.edits.push(ShownEdit {
                        offset: rope.old_offset(edit.offset),
                        length: edit.length,
                        before: bytes::show(&edited, &(edit.offset..edit.offset + edit.length))?,
                        after: bytes::show_text(&edit.with),
                    });
                }
                edits.extend(one.edits);
                items.push(item);
            }
            if edits.is_empty() || !self.options.does(RepairClass::Lossy) {
                return Ok(rope);
            }
            edits.sort_by_key(|e| (e.offset, e.length));
            rope = rope.with(&edits);
        }
        Ok(rope)
    }
}

fn want(finding: &Finding) -> Option<Want> {
    Some(Want {
        code: finding.code,
        byte: finding.locus.byte?,
    })
}
