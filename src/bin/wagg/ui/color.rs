//! Whether there is colour, and the few styles that are used. Nothing is said by colour alone.

use wagg::diag::Severity;

use crate::cli::ColorArg;
use crate::env;

/// How a piece of text looks where there is colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// As the terminal has it.
    #[default]
    Plain,
    /// Headings and keys.
    Bold,
    /// What matters less.
    Dim,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// All is well.
    Good,
    /// A remark, a hint.
    Note,
}

impl Style {
    /// The style of a finding's severity.
    pub fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Note,
        }
    }

    /// `text` in this style, as a string for a terminal; `text` itself without colour.
    pub fn paint(self, text: &str, color: bool) -> String {
        let start = match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Error => "\x1b[1;31m",
            Self::Warning => "\x1b[1;33m",
            Self::Good => "\x1b[32m",
            Self::Note => "\x1b[36m",
        };
        if color && !start.is_empty() {
            format!("{start}{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Decides on colour for a stream.
pub fn wanted(arg: ColorArg, is_tty: bool) -> bool {
    match arg {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => is_tty && !env::is_set(env::NO_COLOR) && !term_is_dumb(),
    }
}

/// Whether the terminal says that it can do nothing but print.
pub fn term_is_dumb() -> bool {
    std::env::var_os(env::TERM).is_some_and(|term| term == "dumb")
}
