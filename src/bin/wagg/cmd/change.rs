//! What all changing commands share: their flags, and how an answer is printed.

use std::time::Duration;

use clap::Args;
use wagg::diag::{Code, Effects, Error, Exit, Result};
use wagg::layout::SegmentId;
use wagg::ops::change::{self, Change, Done, Effect, Expect, Flags};
use wagg::ops::resolve::Resolver;
use wagg::store::{Store, Waiting, host};

use super::store;
use crate::env;
use crate::ui::{Ui, text};

/// Flags of every changing command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of a change")]
pub struct ChangeFlags {
    /// Make this change exactly once, however often the command is retried
    ///
    /// The same id with the same arguments gives the first answer again and acts no second time,
    /// also after a crash at any point. Unique in the store.
    #[arg(long, value_name = "R", value_parser = parse_request_id)]
    request_id: Option<String>,

    /// Who acts, for the journal [default: user@host]
    #[arg(long, value_name = "A", env = env::ACTOR)]
    actor: Option<String>,

    /// How many seconds to wait for a lock; 0 does not wait
    #[arg(long, value_name = "SECS", env = env::WAIT, default_value = "10", value_parser = parse_wait)]
    wait: Duration,

    /// Check, refuse as the command would, print the plan, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl ChangeFlags {
    /// Whether nothing is to be written.
    pub const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Calls `f` with these flags. A person who asks to stop is heard while a lock is waited for.
    pub fn with<T>(&self, ui: &Ui, f: impl FnOnce(&Flags<'_>) -> T) -> T {
        let request_id = self.request_id.clone();
        with_flags(
            self.actor.as_deref(),
            request_id,
            self.wait,
            self.dry_run,
            ui,
            f,
        )
    }
}

fn with_flags<T>(
    actor: Option<&str>,
    request_id: Option<String>,
    wait: Duration,
    dry_run: bool,
    ui: &Ui,
    f: impl FnOnce(&Flags<'_>) -> T,
) -> T {
    let inherited = std::env::var(env::LOCK_FD).ok();
    let on_wait = |waiting: &Waiting<'_>| say_waiting(waiting, ui);
    f(&Flags {
        actor: actor.map_or_else(user_at_host, str::to_owned),
        actor_named: actor.is_some(),
        request_id,
        wait,
        dry_run,
        expect: Expect::default(),
        on_wait: &on_wait,
        stop: Some(ui.stop()),
        inherited: inherited.as_deref(),
    })
}

/// Flags of a command that makes many changes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of a change")]
pub struct StreamFlags {
    /// Who acts, for the journal, where a line does not say [default: user@host]
    #[arg(long, value_name = "A", env = env::ACTOR)]
    actor: Option<String>,

    /// How many seconds to wait for a lock; 0 does not wait
    #[arg(long, value_name = "SECS", env = env::WAIT, default_value = "10", value_parser = parse_wait)]
    wait: Duration,

    /// Check, refuse as the commands would, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl StreamFlags {
    /// Whether nothing is to be written.
    pub const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Calls `f` with these flags; a line's own come over them.
    pub fn with<T>(&self, ui: &Ui, f: impl FnOnce(&Flags<'_>) -> T) -> T {
        with_flags(self.actor.as_deref(), None, self.wait, self.dry_run, ui, f)
    }
}

/// Flags that make a change conditional.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Conditions of a change")]
pub struct Fences {
    /// Refuse unless this is the Worker's last generation (0: none yet)
    #[arg(long, value_name = "N")]
    expect_generation: Option<u64>,

    /// Refuse unless this is the Worker's active Segment
    #[arg(long, value_name = "SEGMENT")]
    expect_active: Option<String>,

    /// Refuse unless the Segment's committed records have this SHA-256
    #[arg(long, value_name = "SHA256", value_parser = parse_digest)]
    expect_digest: Option<String>,
}

fn parse_request_id(text: &str) -> std::result::Result<String, String> {
    match text {
        "" => Err("a request id can not be empty".to_owned()),
        _ if text.len() > 1024 => Err("a request id has at most 1024 bytes".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

pub fn parse_wait(text: &str) -> std::result::Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is no number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

fn parse_digest(text: &str) -> std::result::Result<String, String> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("a SHA-256 has 64 hex digits".to_owned())
    }
}

/// Who acts if nobody is named.
fn user_at_host() -> String {
    let user = std::env::var(env::USER).ok().filter(|u| !u.is_empty());
    let user = user.unwrap_or_else(|| format!("uid{}", rustix::process::getuid().as_raw()));
    format!("{user}@{}", host())
}

impl Fences {
    /// The conditions, with references resolved.
    pub fn expect(&self, store: &Store, segment: Option<SegmentId>) -> Result<Expect> {
        let active = match &self.expect_active {
            Some(text) => Some(match text.parse() {
                Ok(id) => id,
                Err(_) => Resolver::new(store).segment(text)?.segment,
            }),
            None => None,
        };
        Ok(Expect {
            generation: self.expect_generation,
            active,
            digest: self.expect_digest.clone(),
            segment,
        })
    }
}

/// Makes a change and prints what it answers.
pub fn run(
    schema: &str,
    change: &dyn Change,
    flags: &ChangeFlags,
    expect: impl FnOnce(&Store) -> Result<Expect>,
    ui: &Ui,
) -> Result<Exit> {
    let store = store::find(ui)?;
    run_in(&store, schema, change, flags, expect, ui)
}

/// The same in a store that is open.
pub fn run_in(
    store: &Store,
    schema: &str,
    change: &dyn Change,
    flags: &ChangeFlags,
    expect: impl FnOnce(&Store) -> Result<Expect>,
    ui: &Ui,
) -> Result<Exit> {
    let done = flags.with(ui, |flags| {
        // A retry is answered before its references are looked at: they may mean something else
        // by now.
        if let Some(done) = change::answered_before(store, flags, change)? {
            return Ok(done);
        }
        let flags = Flags {
            expect: expect(store)?,
            ..flags.clone()
        };
        change::run(store, &flags, change)
    })?;
    print(schema, &done, ui)?;
    Ok(Exit::Ok)
}

/// What is known of a change when its answer is to be printed.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// What it changed.
    pub effects: Effects,
    /// Whether a retry gives the answer again.
    pub retried: bool,
}

impl Made {
    /// What a receipt says.
    fn of(done: &Done) -> Self {
        #[derive(Default, serde::Deserialize)]
        struct Said {
            #[serde(default)]
            operation_id: Option<String>,
            #[serde(default)]
            request_id: Option<String>,
        }
        let said: Said = done.receipt.parse().unwrap_or_default();
        let nothing = done.dry_run || said.operation_id.is_none();
        Self {
            effects: if nothing || done.outcome() == "no_change" {
                Effects::None
            } else {
                Effects::All
            },
            retried: said.request_id.is_some(),
        }
    }
}

/// Prints the answer of a change. If that can not be written, also because its reader has gone, no
/// script may take it for "nothing changed".
pub fn answer(made: Made, ui: &Ui, print: impl FnOnce() -> Result<()>) -> Result<()> {
    if made.effects == Effects::None {
        return print();
    }
    let printed = print().and_then(|()| {
        if ui.stdout_closed() {
            let gone = "the reader of standard output has gone";
            return Err(Error::new(Code::IoFailed, gone));
        }
        Ok(())
    });
    printed.map_err(|e| {
        let error = Error::new(
            Code::OutcomeUnknown,
            "the change was made, and its answer could not be written",
        )
        .effects(made.effects)
        .hint("wagg op list")
        .caused_by(e);
        if made.retried {
            error.hint("the same command with the same --request-id gives the answer again")
        } else {
            error
        }
    })
}

/// Says once that a lock is waited for.
pub fn say_waiting(waiting: &Waiting<'_>, ui: &Ui) {
    if waiting.path.ends_with(wagg::layout::file::SOCKET) {
        return ui.status(format!(
            "waiting up to {} s for {} to stop answering",
            waiting.wait.as_secs_f64().ceil(),
            waiting.path.display()
        ));
    }
    let holder = waiting
        .holder
        .map_or_else(|| "another process".to_owned(), ToString::to_string);
    ui.status(format!(
        "waiting up to {} s for {}, held by {holder}",
        waiting.wait.as_secs_f64().ceil(),
        waiting.path.display()
    ));
}

/// Prints a receipt: in JSON as a whole, else the id that was made or acted on and nothing else.
///
/// # Errors
/// `outcome_unknown` if the change is made and the receipt can not be written.
pub fn print(schema: &str, done: &Done, ui: &Ui) -> Result<()> {
    print_as(done, ui, || print_receipt(schema, done, ui))
}

/// The same for an answer in a form of its own.
pub fn print_as(done: &Done, ui: &Ui, print: impl FnOnce() -> Result<()>) -> Result<()> {
    let made = Made::of(done);
    answer(made, ui, print)?;
    if let Some(line) = &done.line
        && made.effects != Effects::None
        && ui.stdout_is_void()
    {
        ui.status(format!(
            "standard output goes nowhere; the answer is {line}"
        ));
    }
    Ok(())
}

fn print_receipt(schema: &str, done: &Done, ui: &Ui) -> Result<()> {
    let unreadable = |e| Error::new(Code::Internal, "a receipt can not be read back").caused_by(e);
    if !ui.is_data() {
        warn(done, ui);
    }
    if done.dry_run && !ui.is_data() {
        return print_plan(done, ui);
    }
    let mut receipt: serde_json::Map<String, serde_json::Value> =
        done.receipt.parse().map_err(unreadable)?;
    receipt.remove("line");
    match &done.line {
        Some(line) => ui.receipt(schema, &receipt, line),
        None if ui.is_data() => ui.object(schema, &receipt, |_| {}),
        None => Ok(()),
    }
}

/// What a person is told beside the answer.
fn warn(done: &Done, ui: &Ui) {
    #[derive(Default, serde::Deserialize)]
    struct Told {
        #[serde(default)]
        warnings: Vec<String>,
    }
    for text in done.receipt.parse::<Told>().unwrap_or_default().warnings {
        ui.warn(text);
    }
}

/// The plan of a dry run, a line an effect.
fn print_plan(done: &Done, ui: &Ui) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Planned {
        outcome: String,
        #[serde(default)]
        effects: Vec<Effect>,
    }
    let planned: Planned = done
        .receipt
        .parse()
        .map_err(|e| Error::new(Code::Internal, "a plan can not be read back").caused_by(e))?;
    if planned.outcome == "no_change" {
        ui.status("nothing to do");
        return Ok(());
    }
    ui.write(|out| {
        for effect in &planned.effects {
            writeln!(out, "would {}", describe(effect))?;
        }
        Ok(())
    })
}

/// An effect in a few words.
pub fn describe(effect: &Effect) -> String {
    let path = effect.path().display();
    match effect {
        Effect::Document {
            before: Some(_), ..
        } => format!("replace {path}"),
        Effect::Document { before: None, .. } => format!("make {path}"),
        Effect::File { bytes, .. } => format!("make {path} ({})", text::size(*bytes)),
        Effect::Folder { files, .. } => {
            format!(
                "make {path}/ with {}",
                text::plural(files.len() as u64, "file", "files")
            )
        }
        Effect::Append { bytes, offset, .. } => {
            format!("append {} to {path} at byte {offset}", text::size(*bytes))
        }
        Effect::Remove { .. } => format!("remove {path}"),
        Effect::Keep { parts } => format!(
            "keep {} in quarantine",
            text::plural(parts.len() as u64, "part", "parts")
        ),
        Effect::Rewrite(rewrite) => format!(
            "write {path} anew with {}",
            text::plural(rewrite.edits.len() as u64, "edit", "edits")
        ),
        Effect::Cut(cut) => format!(
            "cut {} off {path} at byte {}",
            text::plural(cut.bytes, "byte", "bytes"),
            cut.to
        ),
        Effect::Move(other) => format!("move {} to {path}", other.from.display()),
        Effect::Empty { operation, .. } => format!("let go of what {operation} put aside"),
    }
}
