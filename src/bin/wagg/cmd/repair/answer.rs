//! The answer of a repair, and how the command ends.

use serde::Serialize;
use serde_json::{Map, Value};
use wagg::diag::{Code, Effects, Error, Exit, Result, shell_word};
use wagg::ops::change::Flags;
use wagg::ops::repair::{Applied, PlanFile};

use super::Args;
use super::item::Shown;
use crate::cmd::change;
use crate::ui::{Format, Ui, text};

const SCHEMA: &str = "wagg.repair/1";

/// The answer of a plan that is not carried out.
pub(super) fn planned(plan: &PlanFile, args: &Args, flags: &Flags<'_>, ui: &Ui) -> Result<Exit> {
    let items = shown(plan.items(), ui);
    let outcome = if items.is_empty() {
        "no_change"
    } else {
        "planned"
    };
    let counts = Counts::of(&items, plan.not_looked_at());
    print(&items, &[], outcome, false, &counts, args, ui)?;
    if let Some(path) = &args.plan_out {
        ui.status(format!("the plan is in {}", path.display()));
    }
    if counts.planned > 0 && !ui.is_data() {
        ui.hint(match &args.plan_out {
            Some(path) => format!("wagg repair --plan {} --apply", wagg::diag::shell(path)),
            None => again(args, "--apply"),
        });
    } else if counts.needs_allow_lossy > 0 && !ui.is_data() {
        ui.hint(again(args, "--allow-lossy"));
    }
    // With --apply --dry-run: as the command would end.
    let left = |item: &Shown| match item.state() {
        "planned" => !(args.apply && flags.dry_run),
        _ => item.counts(),
    };
    Ok(if items.iter().any(left) || plan.not_looked_at() > 0 {
        Exit::Left
    } else {
        Exit::Ok
    })
}

/// The same command with one more flag.
fn again(args: &Args, flag: &str) -> String {
    let mut command = "wagg repair".to_owned();
    for worker in &args.workers {
        command.push(' ');
        command.push_str(&shell_word(worker));
    }
    for code in &args.only {
        command.push_str(&format!(" --only {code}"));
    }
    if args.allow_lossy {
        command.push_str(" --allow-lossy");
    }
    command.push(' ');
    command.push_str(flag);
    command
}

/// The answer of a plan that was carried out.
pub(super) fn end(applied: &Applied, args: &Args, ui: &Ui) -> Result<Exit> {
    let items = shown(applied.items.clone(), ui);
    let counts = Counts::of(&items, applied.not_looked_at);
    let unknown = applied
        .error
        .as_ref()
        .is_some_and(|e| e.code == Code::OutcomeUnknown);
    let outcome = if unknown {
        "unknown"
    } else if counts.done == 0 {
        "no_change"
    } else if applied.leaves() {
        "partial"
    } else {
        "done"
    };
    let made = change::Made {
        effects: match (counts.done, applied.leaves()) {
            (0, _) => Effects::None,
            (_, true) => Effects::Some,
            (_, false) => Effects::All,
        },
        retried: applied
            .operations
            .iter()
            .any(|receipt| receipt.get("request_id").is_some()),
    };
    change::answer(made, ui, || {
        print(
            &items,
            &applied.operations,
            outcome,
            true,
            &counts,
            args,
            ui,
        )
    })?;
    if !ui.is_data() {
        for receipt in &applied.operations {
            let Some(id) = id_of(receipt) else { continue };
            if !items.iter().any(|item| item.can_be_undone(id)) {
                continue;
            }
            if let Some(place) = receipt.get("quarantine").and_then(Value::as_str) {
                ui.status(format!("what was taken away is in {place}"));
            }
            ui.hint(format!("wagg op undo {id}"));
        }
    }
    if applied.interrupted {
        return Ok(Exit::Interrupted);
    }
    if let Some(error) = &applied.error {
        // Where nothing at all was done, that is why.
        if unknown || counts.done == 0 {
            return Err(copy(error));
        }
    } else if let (0, Some(refusal)) = (counts.done, only_refusal(&items)) {
        return Err(refusal);
    }
    Ok(if applied.leaves() {
        Exit::Left
    } else {
        Exit::Ok
    })
}

fn copy(error: &Error) -> Error {
    let mut copy = Error::new(error.code, error.message.clone()).effects(error.effects);
    copy.locus.clone_from(&error.locus);
    copy.hints.clone_from(&error.hints);
    match &error.source {
        Some(source) => copy.caused_by(source.to_string()),
        None => copy,
    }
}

/// The one refusal of all that was to be done, if that is how it ended.
fn only_refusal(items: &[Shown]) -> Option<Error> {
    let refused: Vec<&Shown> = items.iter().filter(|i| i.state() == "refused").collect();
    let first = refused.first()?.refusal()?;
    let same = refused
        .iter()
        .all(|item| item.refusal().is_some_and(|r| r.0 == first.0));
    let code: Code = first.0.parse().ok()?;
    (same && code.info().exit.is_some())
        .then(|| Error::new(code, first.1.to_owned()).hint(format!("wagg explain {code}")))
}

fn id_of(receipt: &Value) -> Option<&str> {
    receipt.get("operation_id")?.as_str()
}

/// Items as they are printed, with commands that can be pasted.
fn shown(mut items: Vec<Map<String, Value>>, ui: &Ui) -> Vec<Shown> {
    for item in &mut items {
        let choices = item.get_mut("choices").and_then(Value::as_array_mut);
        for choice in choices.into_iter().flatten() {
            if let Some(Value::String(command)) = choice.get_mut("command") {
                *command = ui.pasted(command);
            }
        }
    }
    items.into_iter().map(Shown).collect()
}

/// The counts of an answer.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    planned: u64,
    needs_allow_lossy: u64,
    manual: u64,
    done: u64,
    no_change: u64,
    refused: u64,
    not_looked_at: u64,
}

impl Counts {
    fn of(items: &[Shown], not_looked_at: u64) -> Self {
        let count = |state: &str| items.iter().filter(|i| i.state() == state).count() as u64;
        Self {
            planned: count("planned"),
            needs_allow_lossy: count("needs_allow_lossy"),
            manual: count("manual"),
            done: count("done"),
            no_change: count("no_change"),
            refused: count("refused"),
            not_looked_at,
        }
    }

    /// Whether all there is was done already.
    fn are_all_no_change(&self) -> bool {
        let other = self.planned + self.needs_allow_lossy + self.manual + self.done + self.refused;
        self.no_change > 0 && other == 0
    }

    fn tell(&self, ui: &Ui) {
        let parts = [
            (self.planned, "to be carried out"),
            (self.needs_allow_lossy, "with --allow-lossy only"),
            (self.done, "carried out"),
            (self.no_change, "done already"),
            (self.refused, "refused"),
            (self.manual, "for a person to decide"),
        ];
        let said: Vec<String> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        if !said.is_empty() {
            ui.status(said.join(", "));
        }
        if self.not_looked_at > 0 {
            ui.warn(format!(
                "{} could not be looked at: see wagg verify",
                text::plural(self.not_looked_at, "place", "places")
            ));
        }
    }
}

/// The answer as one document.
#[derive(Serialize)]
struct Document<'a> {
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<&'a str>,
    applied: bool,
    items: &'a [Shown],
    operations: &'a [Value],
    summary: &'a Counts,
}

/// What stands last in a stream of lines.
#[derive(Serialize)]
struct Summary<'a> {
    outcome: &'a str,
    applied: bool,
    #[serde(flatten)]
    counts: &'a Counts,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    operations: &'a [Value],
}

fn print(
    items: &[Shown],
    operations: &[Value],
    outcome: &str,
    applied: bool,
    counts: &Counts,
    args: &Args,
    ui: &Ui,
) -> Result<()> {
    let summary = Summary {
        outcome,
        applied,
        counts,
        operations,
    };
    if ui.format() == Format::Json && !args.list.ids && !args.list.null {
        let document = Document {
            outcome,
            operation_id: match operations {
                [one] => id_of(one),
                _ => None,
            },
            applied,
            items,
            operations,
            summary: counts,
        };
        return ui.object(SCHEMA, &document, |_| {});
    }
    if ui.format() == Format::Table && !args.list.ids && !args.list.null {
        ui.write(|out| items.iter().try_for_each(|item| item.block(out, ui)))?;
        if items.is_empty() {
            ui.status("nothing to do");
        }
    } else {
        ui.list(SCHEMA, items, &args.list, Some(summary), "nothing to do")?;
    }
    // A row has no room for it, and a block says it.
    if ui.format() == Format::Tsv || args.list.ids || args.list.null {
        for item in items.iter().filter(|item| item.state() == "refused") {
            if let Some((code, message)) = item.refusal() {
                ui.warn(format!(
                    "item {} at {} is refused: {code}: {message}",
                    item.number("item").unwrap_or_default(),
                    item.place()
                ));
            }
        }
    }
    if counts.are_all_no_change() {
        ui.status("nothing to do");
    }
    counts.tell(ui);
    Ok(())
}
