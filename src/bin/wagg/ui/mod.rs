//! Everything that is printed goes through one [`Ui`]: data to stdout, all else to stderr.

mod color;
mod error;
mod exit;
mod list;
mod object;
mod progress;
pub mod sanitize;
mod stream;
mod table;
pub mod text;

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use wagg::diag::{Code, Error, Result, shell};

pub use color::Style;
pub use error::{Early, install_panic_hook};
pub use exit::exit_code;
pub use list::{ListFlags, NO_SUMMARY, Row};
#[allow(unused_imports, reason = "for show commands")]
pub use object::Block;
pub use stream::Rows;
pub use table::{Cell, Column};

use crate::cli::{FormatArg, Global};
use crate::env;
use progress::Bar;

/// How the answer is written; `auto` has been settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// The same columns, tab-separated, without a header: what a pipe gets.
    Tsv,
    /// One document.
    Json,
    /// One object a line, a summary last.
    Ndjson,
}

/// What is known of stdout or stderr.
#[derive(Debug, Clone, Copy)]
struct Stream {
    tty: bool,
    color: bool,
}

/// The one way to print.
#[derive(Debug)]
pub struct Ui {
    format: Format,
    out: Stream,
    err: Stream,
    quiet: bool,
    verbose: u8,
    store: Option<PathBuf>,
    /// The store that was found.
    opened: OnceLock<PathBuf>,
    bar: Bar,
    stdout_closed: AtomicBool,
}

impl Ui {
    /// Settles the global flags against what stdout and stderr are.
    pub fn new(global: Global) -> Self {
        let stream = |tty| Stream {
            tty,
            color: color::wanted(global.color, tty),
        };
        let out = stream(io::stdout().is_terminal());
        let err = stream(io::stderr().is_terminal());
        let format = match global.format {
            FormatArg::Auto if out.tty => Format::Table,
            FormatArg::Auto => Format::Tsv,
            FormatArg::Table => Format::Table,
            FormatArg::Json => Format::Json,
            FormatArg::Ndjson => Format::Ndjson,
        };
        Self {
            format,
            out,
            err,
            quiet: global.quiet,
            verbose: global.verbose,
            store: global.store,
            opened: OnceLock::new(),
            bar: Bar::new(err.tty && !global.quiet && !color::term_is_dumb()),
            stdout_closed: AtomicBool::new(false),
        }
    }

    /// The store that was named, if one was.
    pub fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// Says where the store is that the command works in, for what is told of places in it.
    pub fn opened(&self, store: &Path) {
        // A second one is the same.
        let path = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        let _ = self.opened.set(path);
    }

    /// A hint as it can be pasted: each command in it, on a store that was named on this command
    /// line, names it too. What needs no store stays as it is.
    pub fn pasted(&self, hint: &str) -> String {
        match self.named_store() {
            Some(store) => with_store(hint, &store),
            None => hint.to_owned(),
        }
    }

    /// The store as this command line named it, as a shell takes it; none if it did not.
    pub fn named_store(&self) -> Option<String> {
        let named = self.store.as_deref()?;
        let known = std::env::var_os(env::STORE);
        known
            .is_none_or(|known| known != named.as_os_str())
            .then(|| shell(named))
    }

    /// How the answer is written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the answer is JSON, for a program.
    pub fn is_data(&self) -> bool {
        matches!(self.format, Format::Json | Format::Ndjson)
    }

    /// How often `-v` was given.
    pub fn verbose(&self) -> u8 {
        self.verbose
    }

    /// Whether nothing is to be said but the answer.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether stdout shows colour.
    pub fn color(&self) -> bool {
        self.out.color
    }

    /// How many columns the terminal of stdout has; none in a pipe, where nothing is broken.
    pub fn width(&self) -> Option<u16> {
        columns_of(self.out, io::stdout())
    }

    /// The same of stderr's terminal.
    fn err_width(&self) -> Option<u16> {
        columns_of(self.err, io::stderr())
    }

    /// Whether what is printed is seen by nobody, for all that can be told: standard output was
    /// closed, for which the language's runtime puts the null device, or is that device opened for
    /// reading too.
    pub fn stdout_is_void(&self) -> bool {
        let out = io::stdout();
        let is_null = || {
            let stat = rustix::fs::fstat(&out)?;
            let null = rustix::fs::stat("/dev/null")?;
            let mode = rustix::fs::fcntl_getfl(&out)? & rustix::fs::OFlags::RWMODE;
            let same = stat.st_rdev == null.st_rdev && stat.st_mode == null.st_mode;
            rustix::io::Result::Ok(same && mode == rustix::fs::OFlags::RDWR)
        };
        is_null().unwrap_or(false)
    }

    /// Writes data to stdout. If its reader has gone, nothing more is written and all is well.
    ///
    /// # Errors
    /// Standard output can not be written to for another reason (`io_failed`, `disk_full`).
    pub fn write(&self, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if self.stdout_closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let result = self.bar.suspend(|| {
            let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
            f(&mut out).and_then(|()| out.flush())
        });
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.stdout_closed.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(e) => {
                let code = match e.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
                    _ => Code::IoFailed,
                };
                Err(Error::new(code, "failed to write to standard output").caused_by(e))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Whether the reader of stdout has gone, so that work for it alone may end.
    pub fn stdout_closed(&self) -> bool {
        self.stdout_closed.load(Ordering::Relaxed)
    }

    /// Says on stderr what goes on; not with `-q`.
    pub fn status(&self, text: impl Display) {
        if !self.quiet {
            self.told("", &text.to_string());
        }
    }

    /// Says on stderr what is worth a look.
    pub fn warn(&self, text: impl Display) {
        let head = Style::Warning.paint("warning:", self.err.color);
        self.told(&format!("{head} "), &text.to_string());
    }

    /// A sentence on stderr, broken where its terminal ends; lines after the first are set in.
    fn told(&self, head: &str, sentence: &str) {
        let sentence = sanitize::terminal(sentence);
        let indent = if head.is_empty() {
            0
        } else {
            "warning: ".len()
        };
        let lines = text::wrap(&sentence, self.err_width(), indent);
        self.tell(&format!(
            "{head}{}\n",
            lines.join(&format!("\n{:indent$}", ""))
        ));
    }

    /// Names a command on stderr that goes on from here; not with `-q`.
    pub fn hint(&self, text: impl Display) {
        if !self.quiet {
            let head = Style::Note.paint("hint:", self.err.color);
            let text = self.pasted(&text.to_string());
            self.tell(&format!("{head} {}\n", sanitize::terminal(&text)));
        }
    }

    /// Writes to stderr as it is. There is nobody to tell if that fails.
    fn tell(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
    }
}

fn columns_of(stream: Stream, handle: impl AsFd) -> Option<u16> {
    if !stream.tty {
        return None;
    }
    let set = std::env::var(env::COLUMNS)
        .ok()
        .and_then(|w| w.parse().ok());
    set.or_else(|| {
        let size = rustix::termios::tcgetwinsize(handle).ok()?;
        Some(size.ws_col)
    })
    .filter(|width| *width > 0)
    .or(Some(80))
}

/// The commands that work in a store.
const IN_A_STORE: &[&str] = &[
    "apply",
    "lock",
    "migrate",
    "op",
    "orphans",
    "quarantine",
    "repair",
    "run",
    "segment",
    "show",
    "verify",
    "worker",
];

/// Names a store, quoted for a shell, in each command of a text that needs one and names none.
pub fn with_store(text: &str, store: &str) -> String {
    const PROGRAM: &str = "wagg ";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PROGRAM) {
        let (before, command) = rest.split_at(at + PROGRAM.len());
        let begins = before[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        out.push_str(before);
        if begins && needs_store(command) {
            out.push_str("--store ");
            out.push_str(store);
            out.push(' ');
        }
        rest = command;
    }
    out + rest
}

/// Whether a command, without its first word, works in a store that it does not name itself.
fn needs_store(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    IN_A_STORE.contains(&first.trim_end_matches(|c: char| c.is_ascii_punctuation()))
        && !words.any(|word| matches!(word, "--store" | "--file"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{IN_A_STORE, with_store};

    /// Every command of the program is known to work in a store, or not to.
    #[test]
    fn the_commands_that_work_in_a_store_are_those_of_the_program() {
        let elsewhere = [
            "completions",
            "demo",
            "explain",
            "help",
            "init",
            "man",
            "report",
        ];
        let program = crate::cli::Cli::command();
        let mut all: Vec<&str> = program
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let mut known = [IN_A_STORE, &elsewhere].concat();
        all.push("help");
        all.sort_unstable();
        all.dedup();
        known.sort_unstable();
        assert_eq!(all, known);
    }

    #[test]
    fn each_command_of_a_hint_names_the_store() {
        for (hint, pasted) in [
            ("wagg verify", "wagg --store ./-s verify"),
            ("wagg explain torn_tail", "wagg explain torn_tail"),
            ("wagg verify --file x", "wagg verify --file x"),
            ("look: wagg op list", "look: wagg --store ./-s op list"),
            (
                "wagg run list 7, or wagg show 7",
                "wagg --store ./-s run list 7, or wagg --store ./-s show 7",
            ),
            ("wagg is of version 1", "wagg is of version 1"),
            ("wagg --store ./-s verify", "wagg --store ./-s verify"),
        ] {
            assert_eq!(with_store(hint, "./-s"), pasted);
        }
    }
}
