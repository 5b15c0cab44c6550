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
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use wagg::diag::{Code, Error, Result, shell};

pub use color::Style;
pub use error::{Early, install_panic_hook, value as error_value};
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
            bar: Bar::new(err.tty && !global.quiet && !color::term_is_dumb()),
            stdout_closed: AtomicBool::new(false),
        }
    }

    /// The store that was named, if one was.
    pub fn store(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// A hint as it can be pasted: a command on a store that was named on this command line names
    /// it too. What is no command stays as it is, and so does what needs no store.
    pub fn pasted(&self, hint: &str) -> String {
        let named = self.store.as_deref().filter(|store| {
            std::env::var_os(env::STORE).is_none_or(|known| known != store.as_os_str())
        });
        match (named, hint.strip_prefix("wagg ")) {
            (Some(store), Some(rest)) if needs_store(rest) => {
                format!("wagg --store {} {rest}", shell(store))
            }
            _ => hint.to_owned(),
        }
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
        if !self.out.tty {
            return None;
        }
        let set = std::env::var(env::COLUMNS)
            .ok()
            .and_then(|w| w.parse().ok());
        set.or_else(|| {
            let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
            Some(size.ws_col)
        })
        .filter(|width| *width > 0)
        .or(Some(80))
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
            self.tell(&format!("{}\n", sanitize::terminal(&text.to_string())));
        }
    }

    /// Says on stderr what is worth a look.
    pub fn warn(&self, text: impl Display) {
        let head = Style::Warning.paint("warning:", self.err.color);
        let text = text.to_string();
        self.tell(&format!("{head} {}\n", sanitize::terminal(&text)));
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

/// Whether a command, without its first word, works in a store that it does not name itself.
fn needs_store(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let alone = ["explain", "demo", "man", "completions", "init"];
    !words.first().is_some_and(|first| alone.contains(first))
        && !words
            .iter()
            .any(|word| matches!(*word, "--store" | "--file"))
}
