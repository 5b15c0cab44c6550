//! What a person or a script is told when a command stops.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;
use wagg::diag::{Code, Effects, Error, Exit, shell};

use super::color::{self, Style};
use super::{Format, Ui, sanitize};
use crate::cli::ColorArg;
use crate::env;

/// The JSON form of an error: one line, the last of stderr.
#[derive(Serialize)]
struct Report<'a> {
    code: Code,
    exit: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    effects_applied: Effects,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    cause: Vec<String>,
}

/// The error as one JSON object on one line, without a line end.
pub fn json(error: &Error, hints: &[String]) -> String {
    serde_json::json!({ "error": value(error, hints) }).to_string()
}

/// The error as a JSON object, without the `error` around it.
fn value(error: &Error, hints: &[String]) -> serde_json::Value {
    let locus = error.locus.as_ref();
    let report = Report {
        code: error.code,
        exit: error.exit().status(),
        message: &error.message,
        path: locus.map(|l| l.path.to_string_lossy().into_owned()),
        line: locus.and_then(|l| l.line),
        byte: locus.and_then(|l| l.byte),
        effects_applied: error.effects,
        hint: (!hints.is_empty()).then(|| hints.join("\n")),
        cause: causes(error),
    };
    serde_json::json!(report)
}

/// The error as a person reads it, each line ended.
pub fn human(error: &Error, color: bool, hints: &[String]) -> String {
    let mut out = String::new();
    let head = Style::Error.paint(&format!("error[{}]:", error.code), color);
    // writing to a String does not fail
    let _ = writeln!(out, "{head} {}", sanitize::terminal(&error.message));
    if let Some(locus) = &error.locus {
        let place = locus.to_string();
        // a message that names the whole place already is not followed by it
        if locus.line.is_some() || !error.message.contains(&place) {
            let _ = writeln!(out, "  {}", sanitize::terminal(&place));
        }
    }
    for cause in causes(error) {
        let head = Style::Bold.paint("caused by:", color);
        let _ = writeln!(out, "{head} {}", sanitize::terminal(&cause));
    }
    let effects = match error.effects {
        Effects::None => None,
        Effects::All => Some("all that was asked for is on disk"),
        Effects::Some => Some("a part of what was asked for is on disk"),
        Effects::Unknown => Some("it is not known what is on disk"),
    };
    if let Some(effects) = effects {
        let head = Style::Bold.paint("effects:", color);
        let _ = writeln!(out, "{head} {effects}");
    }
    for hint in hints {
        let head = Style::Note.paint("hint:", color);
        let _ = writeln!(out, "{head} {}", sanitize::terminal(hint));
    }
    out
}

fn causes(error: &Error) -> Vec<String> {
    let mut all = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        all.push(cause.to_string());
        next = cause.source();
    }
    all
}

impl Ui {
    /// Says on stderr why a command stopped.
    pub fn error(&self, error: &Error) {
        let text = match self.format {
            Format::Json | Format::Ndjson => json(error, &self.hints(error)) + "\n",
            Format::Table | Format::Tsv => human(error, self.err.color, &self.hints(error)),
        };
        self.tell(&text);
    }

    /// The error as a JSON object, for an answer that holds some.
    pub fn error_value(&self, error: &Error) -> serde_json::Value {
        value(error, &self.hints(error))
    }

    /// The hints of an error, such as can be pasted, and where the system said no, how to look at
    /// the very place.
    fn hints(&self, error: &Error) -> Vec<String> {
        let place = error.locus.as_ref().and_then(|l| match error.given {
            true => std::path::absolute(&l.path).ok(),
            false => self.absolute(&l.path),
        });
        let look = match error.code {
            Code::DiskFull | Code::ReadOnlyStore => "df",
            Code::IoFailed | Code::Unreadable | Code::SymbolicLink | Code::NotARegularFile => {
                "ls -ld"
            }
            _ => "",
        };
        let look = place.filter(|_| !look.is_empty()).map(|place| {
            let there = place.ancestors().find(|p| p.symlink_metadata().is_ok());
            format!("{look} {}", shell(there.unwrap_or(&place)))
        });
        let said = error.hints.iter().map(|hint| self.pasted(hint));
        said.chain(look).collect()
    }

    /// Where a place of an error is: below the store, or as it was given.
    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        if path == Path::new("-") {
            return None;
        }
        let there = |path: &PathBuf| path.symlink_metadata().is_ok();
        let below = self.opened.get().map(|store| store.join(path));
        let given = std::path::absolute(path).ok();
        below
            .clone()
            .filter(there)
            .or_else(|| given.clone().filter(there))
            .or(below)
            .or(given)
    }
}

/// What can be known of `--format` and `--color` while the command line is not parsed yet, or
/// can not be.
#[derive(Debug, Clone, Copy)]
pub struct Early {
    json: bool,
    color: bool,
}

impl Early {
    /// Looks through the arguments.
    pub fn scan(args: impl Iterator<Item = OsString>) -> Self {
        let tty = std::io::stderr().is_terminal();
        let mut format = std::env::var_os(env::FORMAT);
        let mut color = None;
        let mut args = args.take_while(|arg| arg != "--").peekable();
        while let Some(arg) = args.next() {
            let value = |name: &str| -> Option<OsString> {
                let text = arg.to_str()?.strip_prefix(name)?;
                Some(text.strip_prefix('=')?.into())
            };
            if arg == "--format" {
                format = args.peek().cloned();
            } else if arg == "--color" {
                color = args.peek().cloned();
            } else if let Some(value) = value("--format") {
                format = Some(value);
            } else if let Some(value) = value("--color") {
                color = Some(value);
            }
        }
        let color = match color.as_deref().and_then(OsStr::to_str) {
            Some("always") => ColorArg::Always,
            Some("never") => ColorArg::Never,
            _ => ColorArg::Auto,
        };
        Self {
            json: format.is_some_and(|f| f == "json" || f == "ndjson"),
            color: color::wanted(color, tty),
        }
    }

    /// Prints what clap has to say instead of running a command: help, the version, or what is
    /// wrong with the command line.
    pub fn answer(self, answer: &clap::Error) -> Exit {
        if matches!(
            answer.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
        ) {
            // a closed pipe is no error
            let _ = answer.print();
            return Exit::Ok;
        }
        let text = if self.json {
            {
                let error = usage(answer);
                json(&error, &error.hints) + "\n"
            }
        } else if self.color {
            answer.render().ansi().to_string()
        } else {
            answer.render().to_string()
        };
        let text = text.replacen("error:", &format!("error[{}]:", Code::Usage), 1);
        let text = match empty_variable(answer) {
            Some(name) if !self.json => text + &format!("\ntip: {}\n", is_empty(name)),
            _ => text,
        };
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        Exit::Usage
    }
}

/// The variable that stands for a flag and has no value, if that is what is wrong.
fn empty_variable(answer: &clap::Error) -> Option<&'static str> {
    let flags = [
        (env::STORE, "--store"),
        (env::FORMAT, "--format"),
        (env::ACTOR, "--actor"),
        (env::WAIT, "--wait"),
    ];
    let Some(ContextValue::String(wrong)) = answer.get(ContextKind::InvalidArg) else {
        return None;
    };
    flags
        .into_iter()
        .filter(|(_, flag)| wrong.split(' ').next() == Some(flag))
        .map(|(name, _)| name)
        .find(|name| std::env::var_os(name).is_some_and(|value| value.is_empty()))
}

fn is_empty(name: &str) -> String {
    format!("{name} is set and empty: give it a value, or unset it")
}

/// What is wrong with the command line, as an error of ours.
fn usage(answer: &clap::Error) -> Error {
    let text = answer.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let message = match answer.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is required".to_owned(),
        _ => one_line(paragraphs.next().unwrap_or(&text))
            .trim_start_matches("error: ")
            .to_owned(),
    };
    let mut error = Error::new(Code::Usage, message);
    for paragraph in paragraphs {
        let line = one_line(paragraph);
        if line.starts_with("tip: ") || line.starts_with("Usage: ") {
            error = error.hint(line);
        }
    }
    match empty_variable(answer) {
        Some(name) => error.hint(is_empty(name)),
        None => error,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a panic end the process as a bug of ours: one short message, status 70.
pub fn install_panic_hook(early: Early) {
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let what = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a message");
        let place = info
            .location()
            .map_or_else(String::new, |l| format!(" ({}:{})", l.file(), l.line()));
        let version = env!("CARGO_PKG_VERSION");
        let error = Error::new(
            Code::Internal,
            format!("this is a bug in wagg {version}: {what}{place}"),
        )
        .effects(Effects::Unknown)
        .hint("wagg verify")
        .hint("please report this message with the command line that led to it");
        let text = if early.json {
            json(&error, &error.hints) + "\n"
        } else {
            human(&error, early.color, &error.hints)
        };
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::exit(i32::from(Exit::Internal.status()));
    }));
    if cfg!(debug_assertions) && env::is_set(env::TEST_PANIC) {
        panic!("asked for by {}", env::TEST_PANIC);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use wagg::diag::Locus;

    use super::*;

    fn error() -> Error {
        Error::new(Code::CorruptRecord, "line 3 is \x1b[2Jno JSON")
            .at(Locus::at("workers/7/a.jsonl", 3, 88))
            .caused_by(io::Error::other("inner"))
            .effects(Effects::Some)
            .hint("wagg repair 7")
    }

    #[test]
    fn a_person_sees_code_place_cause_and_hint() {
        assert_eq!(
            human(&error(), false, &error().hints),
            "error[corrupt_record]: line 3 is \\u{1b}[2Jno JSON\n  \
             workers/7/a.jsonl:3:88\n\
             caused by: inner\n\
             effects: a part of what was asked for is on disk\n\
             hint: wagg repair 7\n"
        );
        let io = Error::io("read", Path::new("/x/y"), io::Error::other("no luck"));
        assert_eq!(
            human(&io, false, &io.hints),
            "error[io_failed]: failed to read /x/y\ncaused by: no luck\n"
        );
    }

    /// C18: every error carries what it changed.
    #[test]
    fn c18_a_script_gets_one_line_with_the_effects() {
        assert_eq!(
            json(&error(), &error().hints),
            r#"{"error":{"code":"corrupt_record","exit":5,"message":"line 3 is \u001b[2Jno JSON","path":"workers/7/a.jsonl","line":3,"byte":88,"effects_applied":"some","hint":"wagg repair 7","cause":["inner"]}}"#
        );
    }

    #[test]
    fn the_format_is_found_before_the_parser_has_seen_it() {
        let scan = |args: &[&str]| Early::scan(args.iter().map(Into::into)).json;
        assert!(scan(&["verify", "--format", "json"]));
        assert!(scan(&["--format=ndjson", "nonsense"]));
        assert!(!scan(&["--format", "table"]));
        assert!(!scan(&["lock", "run", "7", "--", "x", "--format=json"]));
    }
}
