//! `wagg man`: what `man/` holds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use wagg::diag::{Code, Error, Exit, IoContext, Result};
use wagg::layout::{Paths, file};

use super::output::{Kind, OutFile, Outputs};
use crate::cli::Cli;
use crate::env;
use crate::ui::{Ui, text::plural};

/// Print the manual, or write its pages into a folder
///
/// Without DIR, the page wagg(1) goes to standard output. With DIR, one page for each command is
/// written there; pages of the same name are replaced. The same pages stand in the folder man/ of
/// the source.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg man | man -l -\n  wagg man ~/.local/share/man/man1")]
pub struct Args {
    /// Where to write one page for each command; made if it is not there
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints or writes the pages.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let pages = pages().io("render", "the manual")?;
    match args.dir {
        None => {
            if let Some((_, page)) = pages.iter().find(|(name, _)| name == "wagg.1") {
                ui.write(|out| out.write_all(page))?;
            }
        }
        Some(dir) => {
            write(&dir, &pages)?;
            let count = plural(pages.len() as u64, "page", "pages");
            ui.status(format_args!("{count} written to {}", dir.display()));
        }
    }
    Ok(Exit::Ok)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a folder for generated pages that was found to be in no store"
)]
fn write(dir: &Path, pages: &[(String, Vec<u8>)]) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.folder(dir)?;
    std::fs::create_dir_all(dir)
        .io("create", dir)
        .map_err(Error::given)?;
    let files: Result<Vec<OutFile>> = pages
        .iter()
        .map(|(name, _)| outputs.file(&dir.join(name), Kind::Page))
        .collect();
    for (file, (_, page)) in files?.iter().zip(pages) {
        file.write(page)?;
    }
    Ok(())
}

/// The file name and the text of each page.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = Cli::whole();
    root.build();
    let mut all = Vec::new();
    collect(&root, &mut all)?;
    Ok(all)
}

fn collect(command: &Command, all: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let man = Man::new(command.clone())
        .source(concat!("wagg ", env!("CARGO_PKG_VERSION")))
        .date(" ")
        .manual("wagg manual");
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(&mut page, command)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(examples) = command.get_after_long_help() {
        examples_section(&mut page, &examples.to_string())?;
    }
    exit_status(&mut page)?;
    environment(&mut page)?;
    files(&mut page)?;
    if matches!(name, "wagg" | "wagg-verify" | "wagg-orphans") {
        codes(&mut page, name == "wagg")?;
    }
    see_also(&mut page, name)?;
    all.push((format!("{name}.1"), page));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, all)?;
    }
    Ok(())
}

/// The usage line of the help; the options follow in full.
fn synopsis(out: &mut dyn Write, command: &Command) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    writeln!(out, ".SH SYNOPSIS")?;
    for line in usage.trim_start_matches("Usage:").trim().lines() {
        writeln!(out, "{}\n.br", escape(line.trim()))?;
    }
    Ok(())
}

/// The text after `--help`: a line `Examples:`, commands indented by two, other lines as text.
fn examples_section(out: &mut dyn Write, after: &str) -> io::Result<()> {
    writeln!(out, ".SH EXAMPLES")?;
    let mut verbatim = false;
    for line in after.lines().filter(|line| *line != "Examples:") {
        let indented = line.starts_with("  ");
        if indented != verbatim {
            writeln!(out, "{}", if indented { ".EX" } else { ".EE" })?;
            verbatim = indented;
        }
        match line.trim() {
            "" => writeln!(out, ".PP")?,
            text => writeln!(out, "{}", escape(text))?,
        }
    }
    if verbatim {
        writeln!(out, ".EE")?;
    }
    Ok(())
}

fn exit_status(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ".SH EXIT STATUS")?;
    for exit in Exit::ALL {
        tagged(out, &exit.status().to_string(), exit.meaning())?;
    }
    writeln!(out, ".PP")?;
    writeln!(
        out,
        "A script treats an unknown status that is not 0 as failure."
    )
}

fn environment(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ".SH ENVIRONMENT")?;
    for variable in env::ALL {
        tagged(out, variable.name, variable.meaning)?;
    }
    Ok(())
}

fn files(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ".SH FILES")?;
    writeln!(out, "Paths are relative to the store.")?;
    let session = format!("{}/<worker_id>/{}", file::WORKERS, file::SESSION_DIR);
    let rows = [
        (
            file::RUNTIME.to_owned(),
            "the catalog document; marks a folder as a store",
        ),
        (
            format!("{}/<worker_id>/{}", file::WORKERS, file::WORKER),
            "who a Worker is, and the last run generation that was given out",
        ),
        (
            format!("{}/<worker_id>/{}", file::WORKERS, file::METADATA),
            "the active pointer, children and peers",
        ),
        (
            format!("{session}/{}", file::SESSION),
            "the id of the Worker's one Session",
        ),
        (
            format!("{session}/{}/<segment_id>.jsonl", file::SEGMENTS),
            "a Segment: one record a line, committed by its newline",
        ),
        (
            format!("{session}/{}/<segment_id>.trace.jsonl", file::SEGMENTS),
            "the debug log beside it, never replayed",
        ),
        (
            format!("{}/<worker_id>/{}/<generation>/", file::WORKERS, file::RUNS),
            "one run: socket, logs, artifacts",
        ),
        (
            Paths::manifest().display().to_string(),
            "how far the migration is",
        ),
        (
            format!("{}/", Paths::quarantine().display()),
            "what operations took away, one folder for each",
        ),
        (
            Paths::journal().display().to_string(),
            "what wagg changed: intents and outcomes",
        ),
        (
            format!(
                "{}, {}",
                Paths::store_lock().display(),
                Paths::journal_lock().display()
            ),
            "lock files; the lock is the operating system's, and a file that is left holds nothing",
        ),
    ];
    for (name, meaning) in rows {
        tagged(out, &name, meaning)?;
    }
    Ok(())
}

/// Every code with its meaning; on the pages of commands that only report, findings alone.
fn codes(out: &mut dyn Write, errors: bool) -> io::Result<()> {
    writeln!(out, ".SH CODES")?;
    writeln!(
        out,
        "{}",
        escape("What each means in full: wagg explain CODE, or docs/codes.md.")
    )?;
    writeln!(out, ".SS Findings")?;
    for code in Code::ALL {
        let info = code.info();
        if let Some(severity) = info.severity {
            let repair = info.repair.as_str();
            let text = format!("{severity}, repair: {repair}. {}.", info.meaning);
            tagged(out, info.name, &text)?;
        }
    }
    if errors {
        writeln!(out, ".SS Errors")?;
        for code in Code::ALL {
            let info = code.info();
            if let (None, Some(exit)) = (info.severity, info.exit) {
                let text = format!("status {}. {}.", exit.status(), info.meaning);
                tagged(out, info.name, &text)?;
            }
        }
        writeln!(out, ".PP")?;
        writeln!(
            out,
            "{}",
            escape(
                "A command that needs the data which a finding is about stops with the finding's \
                 code: with status 5 if nothing else is said in docs/codes.md."
            )
        )?;
    }
    Ok(())
}

fn see_also(out: &mut dyn Write, name: &str) -> io::Result<()> {
    let others = ["wagg", "wagg-explain"].map(|page| {
        let page = if page == name { "wagg-man" } else { page };
        format!("\\fB{}\\fR(1)", escape(page))
    });
    writeln!(out, ".SH SEE ALSO")?;
    writeln!(out, "{}", others.join(", "))
}

fn tagged(out: &mut dyn Write, tag: &str, text: &str) -> io::Result<()> {
    writeln!(out, ".TP\n\\fB{}\\fR\n{}", escape(tag), escape(text))
}

/// Text that roff prints as it is.
fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) {
        format!("\\&{text}")
    } else {
        text
    }
}
