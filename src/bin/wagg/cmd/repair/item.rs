//! An item of a plan, as it is printed.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use wagg::diag::Code;
use wagg::layout::Paths;

use crate::ui::{Cell, Column, Row, Style, Ui, sanitize, text};

/// An item, as it is printed.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Shown(pub Map<String, Value>);

impl Shown {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    pub fn state(&self) -> &str {
        self.text("state")
    }

    pub fn counts(&self) -> bool {
        self.state() != "manual" || self.text("severity") != "info"
    }

    /// Whether it changed something of its own in an operation. What is settled is that of an
    /// earlier one.
    pub fn can_be_undone(&self, operation: &str) -> bool {
        self.text("operation_id") == operation
            && self.text("code") != Code::UnsettledOperation.info().name
            && Path::new(self.text("path")) != Paths::journal()
    }

    pub fn refusal(&self) -> Option<(&str, &str)> {
        let refusal = self.0.get("refusal")?;
        Some((
            refusal.get("code")?.as_str()?,
            refusal.get("message")?.as_str()?,
        ))
    }

    pub fn place(&self) -> String {
        let mut place = self.text("path").to_owned();
        if let Some(line) = self.number("line") {
            place.push_str(&format!(":{line}"));
            if let Some(byte) = self.number("byte") {
                place.push_str(&format!(":{byte}"));
            }
        }
        place
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &Map<String, Value>> {
        let all = self.0.get(name).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_object)
    }

    fn style(&self) -> Style {
        match self.state() {
            "done" | "no_change" => Style::Good,
            "refused" => Style::Error,
            "planned" => Style::Note,
            _ => Style::Warning,
        }
    }

    /// What a person reads of it.
    pub fn block(&self, out: &mut dyn Write, ui: &Ui) -> std::io::Result<()> {
        let head = format!(
            "{}. {}[{}] {}",
            self.number("item").unwrap_or_default(),
            self.text("class"),
            self.text("code"),
            state_words(self.state())
        );
        let head = self.style().paint(&head, ui.color());
        writeln!(out, "{head} {}", sanitize::terminal(&self.place()))?;
        let mut say = |label: &str, what: &str| -> std::io::Result<()> {
            let mut label = label;
            for line in text::wrap(&sanitize::terminal(what), ui.width(), 11) {
                let head = Style::Bold.paint(&format!("{label:<8}"), ui.color());
                writeln!(out, "  {head} {line}")?;
                label = "";
            }
            Ok(())
        };
        say("finding", self.text("message"))?;
        let would = match self.state() {
            "planned" | "needs_allow_lossy" => "would ",
            "refused" => "did not ",
            "no_change" => "done already: ",
            _ => "",
        };
        let action = self.text("action");
        let action = match self.state() {
            "done" => past(action),
            _ => action.to_owned(),
        };
        say("repair", &format!("{would}{action}"))?;
        for edit in self.list("edits") {
            let field = |name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default();
            let number = |name: &str| edit.get(name).and_then(Value::as_u64).unwrap_or_default();
            let at = format!("byte {}: ", number("offset"));
            let (before, after) = (field("before"), field("after"));
            if number("length") > 0 {
                say("before", &format!("{at}{before}"))?;
            }
            if !after.is_empty() {
                say("after", &format!("{at}{after}"))?;
            }
        }
        for choice in self.list("choices") {
            let field = |name: &str| choice.get(name).and_then(Value::as_str).unwrap_or_default();
            say(
                "choice",
                &format!("{}: {}", field("says"), field("command")),
            )?;
        }
        if let Some((code, message)) = self.refusal() {
            say("refused", &format!("{code}: {message}"))?;
        }
        Ok(())
    }
}

/// What was done, where the plan said what to do.
fn past(action: &str) -> String {
    let (first, rest) = action.split_once(' ').unwrap_or((action, ""));
    let done = match first {
        "move" => "moved",
        "raise" => "raised",
        "write" => "wrote",
        "settle" => "settled",
        "take" => "took",
        "keep" => "kept",
        other => other,
    };
    format!("{done} {rest}")
}

fn state_words(state: &str) -> &str {
    match state {
        "needs_allow_lossy" => "needs --allow-lossy",
        "manual" => "a person decides",
        "no_change" => "no change",
        other => other,
    }
}

impl Row for Shown {
    const NOUN: &'static str = "items";
    const TYPE: &'static str = "item";
    const COLUMNS: &'static [Column] = &[
        Column::number("ITEM"),
        Column::new("STATE"),
        Column::new("CLASS"),
        Column::new("CODE"),
        Column::new("WORKER"),
        Column::new("PATH"),
        Column::number("LINE"),
        Column::number("BYTE"),
        Column::text("ACTION"),
    ];

    fn cells(&self) -> Vec<Cell> {
        let worker = self.text("worker_id");
        vec![
            Cell::maybe(self.number("item")),
            Cell::new(self.state()),
            Cell::new(self.text("class")),
            Cell::new(self.text("code")),
            Cell::maybe((!worker.is_empty()).then_some(worker)),
            Cell::new(self.text("path")),
            Cell::maybe(self.number("line")),
            Cell::maybe(self.number("byte")),
            Cell::new(self.text("action")),
        ]
    }

    fn id(&self) -> String {
        match self.text("worker_id") {
            "" => self.text("path").to_owned(),
            id => id.to_owned(),
        }
    }
}
