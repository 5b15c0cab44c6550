//! `wagg repair`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::{Map, Value, json};
use wagg::diag::{Code, Error, Exit, Result};
use wagg::layout::WorkerId;
use wagg::ops::change::{Flags, Scope, fingerprint};
use wagg::ops::repair::{self, Applied, Options, PlanFile};
use wagg::record::Limits;
use wagg::store::Store;

use super::{change, store, verify};
use crate::ui::{Cell, Column, Format, ListFlags, Row, Style, Ui, sanitize, text};

/// Mend a store: show what would be done, or do it
///
/// Without --apply nothing is changed: the plan is printed item by item, with the bytes before and
/// after. With --apply that very plan is carried out, one operation a Worker, under its lock. What
/// goes is kept in .wagg/quarantine/ with its SHA-256 before anything changes, and wagg op undo
/// brings it back to the byte.
///
/// Automatic items lose nothing that was committed. Lossy items take a committed record out, or
/// make a result up, and are carried out with --allow-lossy only. Manual items are a person's: they
/// say what to compare and which command carries out which choice.
///
/// The exit status is 0 if there is nothing to do, 1 if the plan is not empty or, with --apply, if
/// something of it is left.
#[derive(Debug, ClapArgs)]
#[command(
    after_long_help = "Examples:\n  wagg repair 7\n  wagg repair 7 --apply\n  wagg repair --only torn_tail --apply\n  wagg repair 7 --allow-lossy --plan-out plan.json && wagg repair --plan plan.json --apply"
)]
pub struct Args {
    /// Only these Workers: an id, a name, or anything that names one [default: the whole store]
    #[arg(value_name = "WORKER", conflicts_with = "plan")]
    workers: Vec<String>,

    /// Carry the plan out
    #[arg(long)]
    apply: bool,

    /// Only findings of this code; may be given more than once
    #[arg(long, value_name = "CODE", conflicts_with = "plan")]
    only: Vec<Code>,

    /// Take records out that can not be read, drop results without a call, make up missing results
    ///
    /// Each such record goes to quarantine, and an extension record of the domain wagg.repair in
    /// its place says what stood there. A result that is made up says so, and is an error.
    #[arg(long, conflicts_with = "plan")]
    allow_lossy: bool,

    /// Write the plan to a file, to be looked at and carried out later
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    plan_out: Option<PathBuf>,

    /// Take the plan from a file that --plan-out wrote
    ///
    /// What moved since is refused, item by item; a file that was changed is refused as a whole.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Do not look at lines longer than this (1GiB, 64MiB, 1000000)
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = verify::parse_size, conflicts_with = "plan")]
    max_line: u64,

    #[command(flatten)]
    flags: change::ChangeFlags,

    #[command(flatten)]
    list: ListFlags,
}

const SCHEMA: &str = "wagg.repair/1";

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    args.flags
        .with(ui, |flags| in_store(&store, &args, flags, ui))
}

fn in_store(store: &Store, args: &Args, flags: &Flags<'_>, ui: &Ui) -> Result<Exit> {
    let file = match &args.plan {
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
            Some((PlanFile::read(&bytes)?, given_file(&bytes)))
        }
        None => None,
    };
    let (options, given) = match &file {
        Some((file, given)) => (file.options.clone(), given.clone()),
        None => (options(args), json!(args.workers)),
    };
    let single = single(args, flags)?;
    let single = match single {
        Some(text) => Some(Scope::Worker(worker(store, text)?)),
        None => None,
    };
    // A retry is answered before anything is looked at: it may all be another by now.
    if let (Some(scope), true) = (single, args.apply && !flags.dry_run)
        && let Some(applied) = repair::answered(store, flags, &options, &given, scope)?
    {
        return end(&applied, args, ui);
    }
    let plan = match file {
        Some((file, _)) => file,
        None => {
            let options = Options {
                workers: store::workers(store, &args.workers)?,
                ..options
            };
            PlanFile::of(&repair::plan(store, &options, ui.progress())?, &options)?
        }
    };
    if ui.stop().load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Error::new(
            Code::Interrupted,
            "interrupted while the plan was made; nothing was changed",
        ));
    }
    if let Some(path) = &args.plan_out {
        write_plan(path, &plan.to_bytes(store.path())?)?;
    }
    if !args.apply || flags.dry_run {
        return planned(&plan, args, flags, ui);
    }
    let applied = repair::apply(store, flags, &plan, &given, single)?;
    end(&applied, args, ui)
}

fn options(args: &Args) -> Options {
    Options {
        only: args.only.iter().copied().collect(),
        allow_lossy: args.allow_lossy,
        limits: Limits {
            max_line: args.max_line,
            ..Limits::default()
        },
        ..Options::default()
    }
}

/// What a request id is bound to where the plan is in a file.
fn given_file(bytes: &[u8]) -> Value {
    json!({ "plan": fingerprint("plan", &Value::from(String::from_utf8_lossy(bytes))) })
}

/// With a request id there is one operation, so one Worker is named.
fn single<'a>(args: &'a Args, flags: &Flags<'_>) -> Result<Option<&'a str>> {
    if flags.request_id.is_none() || !args.apply {
        return Ok(None);
    }
    match args.workers.as_slice() {
        [one] => Ok(Some(one)),
        _ => Err(Error::new(
            Code::Usage,
            "--request-id makes one operation exactly-once, so it needs exactly one WORKER",
        )
        .hint("wagg repair 7 --apply --request-id R")),
    }
}

fn worker(store: &Store, text: &str) -> Result<WorkerId> {
    let all = store::workers(store, &[text.to_owned()])?;
    all.first().copied().ok_or_else(|| {
        Error::new(Code::NotFound, format!("{text} names no Worker")).hint("wagg worker list")
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a file of a person's own, outside of what the store layer keeps"
)]
fn write_plan(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| Error::io("write", path, e))
}

/// The answer of a plan that is not carried out.
fn planned(plan: &PlanFile, args: &Args, flags: &Flags<'_>, ui: &Ui) -> Result<Exit> {
    let items = shown(plan.items());
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
        command.push_str(&wagg::diag::shell(Path::new(worker)));
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
fn end(applied: &Applied, args: &Args, ui: &Ui) -> Result<Exit> {
    let items = shown(applied.items.clone());
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
    print(
        &items,
        &applied.operations,
        outcome,
        true,
        &counts,
        args,
        ui,
    )?;
    if !ui.is_data() {
        for receipt in &applied.operations {
            let Some(id) = id_of(receipt) else { continue };
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

fn shown(items: Vec<Map<String, Value>>) -> Vec<Shown> {
    items.into_iter().map(Shown).collect()
}

/// The counts of an answer.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    planned: u64,
    needs_allow_lossy: u64,
    manual: u64,
    done: u64,
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
            refused: count("refused"),
            not_looked_at,
        }
    }

    fn tell(&self, ui: &Ui) {
        let parts = [
            (self.planned, "to be carried out"),
            (self.needs_allow_lossy, "with --allow-lossy only"),
            (self.done, "carried out"),
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
    counts.tell(ui);
    Ok(())
}

/// An item, as it is printed.
#[derive(Serialize)]
#[serde(transparent)]
struct Shown(Map<String, Value>);

impl Shown {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    fn state(&self) -> &str {
        self.text("state")
    }

    fn counts(&self) -> bool {
        self.state() != "manual" || self.text("severity") != "info"
    }

    fn refusal(&self) -> Option<(&str, &str)> {
        let refusal = self.0.get("refusal")?;
        Some((
            refusal.get("code")?.as_str()?,
            refusal.get("message")?.as_str()?,
        ))
    }

    fn place(&self) -> String {
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
            "done" => Style::Good,
            "refused" => Style::Error,
            "planned" => Style::Note,
            _ => Style::Warning,
        }
    }

    /// What a person reads of it.
    fn block(&self, out: &mut dyn Write, ui: &Ui) -> std::io::Result<()> {
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
            let mut label = Style::Bold.paint(label, ui.color());
            for line in text::wrap(&sanitize::terminal(what), ui.width(), 11) {
                writeln!(out, "  {label:<8} {line}")?;
                label = String::new();
            }
            Ok(())
        };
        say("finding", self.text("message"))?;
        let would = match self.state() {
            "planned" | "needs_allow_lossy" => "would ",
            "refused" => "did not ",
            _ => "",
        };
        say("repair", &format!("{would}{}", self.text("action")))?;
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

fn state_words(state: &str) -> &str {
    match state {
        "needs_allow_lossy" => "needs --allow-lossy",
        "manual" => "a person decides",
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
