//! `wagg`: parse, dispatch, exit.

// what a test writes is no store of anybody's
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod cli;
mod cmd;
mod env;
mod report;
#[allow(
    dead_code,
    reason = "a kit for commands; not each part is used by one at any time"
)]
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

/// `wagg help X Y` is `wagg X Y --help`.
fn as_flag(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|first| first == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

fn main() -> ExitCode {
    let early = ui::Early::scan(std::env::args_os().skip(1));
    ui::install_panic_hook(early);
    let args = as_flag(std::env::args_os().collect());
    cmd::later::expect(&args);
    // Freed by the end of the process: to take all that apart takes time.
    let command = Box::leak(Box::new(cli::Cli::command()));
    let cli = command
        .try_get_matches_from_mut(args)
        .and_then(|mut matches| cli::Cli::from_arg_matches_mut(&mut matches))
        .map_err(|error| error.format(command));
    let cli = match cli {
        Ok(cli) => cli,
        Err(answer) => return ui::exit_code(early.answer(&answer)),
    };
    let ui = ui::Ui::new(cli.global);
    let exit = match cli.command.run(&ui) {
        Ok(exit) => exit,
        Err(error) => {
            ui.error(&error);
            error.exit()
        }
    };
    ui::exit_code(exit)
}
