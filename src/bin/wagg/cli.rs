//! The root of the command line: global flags and the command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::cmd::Command;
use crate::env;

/// Verify, audit, migrate and repair stores of agent Workers
///
/// A store is a folder of JSON documents and append-only JSONL histories that a Runtime writes
/// while its agents work. Commands that only read take no lock and create nothing; each change
/// takes the store's lock, changes one thing atomically and leaves a receipt.
#[derive(Debug, Parser)]
#[command(
    name = "wagg",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_long_help = "Examples:\n  wagg explain torn_tail\n  wagg explain --all --format json\n\nEvery code that a command can name is described by wagg explain CODE"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// What a command line says, the program's name first.
    ///
    /// # Errors
    /// Help and the version that are asked for, and what is wrong with it.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        // Freed by the end of the process: to take all that apart takes time.
        let command = Box::leak(Box::new(Self::command()));
        command
            .try_get_matches_from_mut(args)
            .and_then(|mut matches| Self::from_arg_matches_mut(&mut matches))
            .map_err(|error| error.format(command))
    }

    /// Every command with all of its flags.
    pub fn whole() -> clap::Command {
        crate::cmd::later::all();
        Self::command()
    }
}

/// Those of the flags below that take a value.
pub const WITH_A_VALUE: [&str; 3] = ["--store", "--format", "--color"];

/// The flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The store to work on [default: the nearest one upwards from here]
    ///
    /// Without it, the nearest folder upwards from here that holds runtime.json and workers/.
    #[arg(long, value_name = "DIR", global = true, env = env::STORE)]
    pub store: Option<PathBuf>,

    /// How the answer is written
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        global = true,
        env = env::FORMAT,
        default_value_t
    )]
    pub format: FormatArg,

    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, global = true, default_value_t)]
    pub color: ColorArg,

    /// Say nothing but the answer, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Say more; twice for still more
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// What `--format` takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// A table on a terminal; in a pipe the same columns, tab-separated, without a header
    #[default]
    Auto,
    /// A table, also in a pipe
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line, a summary last
    Ndjson,
}

/// What `--color` takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_with_a_value_are_those_of_the_program() {
        let mut program = Cli::command();
        program.build();
        let global = program.get_arguments().filter(|arg| arg.is_global_set());
        let with = global.filter(|arg| arg.get_action().takes_values());
        let names: Vec<String> = with
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        assert_eq!(names, WITH_A_VALUE);
    }
}
