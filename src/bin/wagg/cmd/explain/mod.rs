//! `wagg explain`: what a code means.

mod markdown;

use serde::Serialize;
use wagg::diag::{Code, Error, Exit, RepairClass, Result, Severity, Text, UnknownCode};

use crate::ui::{Cell, Column, Format, ListFlags, NO_SUMMARY, Row, Style, Ui};

/// Explain a code: how it comes about, what it looks like, what to do
///
/// Codes stand in square brackets in what verify, orphans and failing commands print. Without a
/// code all are listed.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg explain torn_tail\n  wagg explain --all --format json"
)]
pub struct Args {
    /// The code, for example torn_tail
    #[arg(value_name = "CODE")]
    pub code: Option<String>,

    /// List every code
    #[arg(long, conflicts_with = "code")]
    pub all: bool,

    /// Print docs/codes.md
    #[arg(long, hide = true, conflicts_with_all = ["code", "all"])]
    pub markdown: bool,

    #[command(flatten)]
    pub list: ListFlags,
}

/// What is said of one code.
#[derive(Serialize)]
struct Entry {
    code: Code,
    finding: bool,
    error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<u8>,
    repair: RepairClass,
    meaning: &'static str,
    #[serde(flatten)]
    text: Text,
    since: &'static str,
}

impl Entry {
    fn of(code: Code) -> Self {
        let info = code.info();
        Self {
            code,
            finding: info.severity.is_some(),
            error: info.exit.is_some(),
            severity: info.severity,
            exit: info.exit.map(Exit::status),
            repair: info.repair,
            meaning: info.meaning,
            text: code.explain(),
            since: info.since,
        }
    }
}

impl Row for Entry {
    const NOUN: &'static str = "codes";
    const TYPE: &'static str = "code";
    const COLUMNS: &'static [Column] = &[
        Column::new("code"),
        Column::new("finding"),
        Column::number("exit"),
        Column::new("repair"),
        Column::text("meaning"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(self.code),
            self.severity.map_or_else(Cell::none, Cell::severity),
            Cell::maybe(self.exit),
            Cell::new(self.repair.as_str()),
            Cell::new(self.meaning),
        ]
    }

    fn id(&self) -> String {
        self.code.to_string()
    }
}

/// What a code is, in a sentence: a finding, an error, or both.
fn role(code: Code) -> String {
    let info = code.info();
    match (info.severity, info.exit.map(Exit::status)) {
        (Some(severity), Some(status)) => format!(
            "a finding ({severity}), and the error of a command that needs what is broken \
             (status {status})"
        ),
        (Some(severity), None) => format!("a finding ({severity})"),
        (None, Some(status)) => format!("the error of a command (status {status})"),
        (None, None) => String::new(),
    }
}

/// What `wagg repair` does about it; none for what is only an error.
fn repair(code: Code) -> Option<&'static str> {
    let info = code.info();
    info.severity?;
    Some(match info.repair {
        RepairClass::Automatic => "automatic: mended without losing anything that was committed",
        RepairClass::Lossy => "lossy: takes a committed record out, only with --allow-lossy",
        RepairClass::Manual => "manual: a person decides",
        RepairClass::None => "none is needed",
    })
}

/// Prints one code, or all.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    if args.markdown {
        ui.write(|out| markdown::page(out))?;
        return Ok(Exit::Ok);
    }
    let codes = match &args.code {
        Some(name) => vec![find(name)?],
        None => Code::ALL.to_vec(),
    };
    let for_people = matches!(ui.format(), Format::Table | Format::Tsv);
    match codes[..] {
        [code] if for_people && !args.list.ids && !args.list.null => show(code, ui)?,
        _ => {
            let rows = codes.into_iter().map(Entry::of);
            ui.list("wagg.explain/1", rows, &args.list, NO_SUMMARY, "no codes")?;
        }
    }
    Ok(Exit::Ok)
}

fn show(code: Code, ui: &Ui) -> Result<()> {
    let entry = Entry::of(code);
    ui.object("wagg.explain/1", &entry, |block| {
        let style = entry.severity.map_or(Style::Error, Style::of);
        block
            .field("code", Cell::new(code).style(style))
            .field("meaning", Cell::new(entry.meaning))
            .field("what it is", Cell::new(role(code)));
        if let Some(repair) = repair(code) {
            block.field("repair", Cell::new(repair));
        }
        block
            .field("cause", Cell::new(entry.text.cause))
            .field("example", Cell::new(entry.text.example))
            .field("remedy", Cell::new(entry.text.remedy));
    })
}

/// The code of this name; names near it are the hint if there is none.
fn find(name: &str) -> Result<Code> {
    if let Ok(code) = name.parse() {
        return Ok(code);
    }
    let error = Error::new(Code::NotFound, format!("no code is called {name}"));
    let near = near(name);
    if near.is_empty() {
        return Err(error.hint("wagg explain --all"));
    }
    Err(near.iter().fold(error, |error, code| {
        error.hint(format!("wagg explain {code}"))
    }))
}

/// The code of this name, as a flag takes it.
///
/// # Errors
/// A sentence that names codes near it, if there is none.
pub fn parse_code(name: &str) -> std::result::Result<Code, String> {
    name.parse().map_err(|unknown: UnknownCode| {
        let near: Vec<String> = near(name).iter().map(ToString::to_string).collect();
        if near.is_empty() {
            format!("{unknown}; wagg explain --all names them")
        } else {
            format!("{unknown}; did you mean {}?", near.join(" or "))
        }
    })
}

/// Up to three codes whose names are near to this one, the nearest first.
fn near(name: &str) -> Vec<Code> {
    let wanted = name.to_lowercase().replace(['-', ' '], "_");
    let wanted = wanted.trim_matches(['[', ']']);
    // a part of the name counts as one edit
    let distance = |name: &str| match wanted.len() {
        3.. if name.contains(wanted) => 1,
        // longer input is no name that was mistyped
        65.. => usize::MAX,
        _ => strsim::levenshtein(wanted, name),
    };
    let most = (wanted.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, Code)> = Code::ALL
        .iter()
        .map(|code| (distance(code.info().name), *code))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, code)| code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_names_the_code() {
        let hints = |name: &str| find(name).unwrap_err().hints;
        assert_eq!(hints("torn-tial"), ["wagg explain torn_tail"]);
        assert_eq!(hints("[torn_tail]"), ["wagg explain torn_tail"]);
        for nothing in ["quite something else", "help", "x", ""] {
            assert_eq!(hints(nothing), ["wagg explain --all"], "{nothing}");
        }
        assert!(hints("cycle").contains(&"wagg explain lineage_cycle".to_owned()));
        let said = parse_code("torn-tial").unwrap_err();
        assert_eq!(
            said,
            "\"torn-tial\" is no code of wagg; did you mean torn_tail?"
        );
        assert!(
            parse_code("quite something else")
                .unwrap_err()
                .ends_with("names them")
        );
    }
}
