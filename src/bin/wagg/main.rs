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

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

/// `wagg help X Y` is `wagg X Y --help`.
fn as_flag(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(flag) = args.get(at).filter(|arg| is_flag(arg)) {
        let takes_one = ["--store", "--format", "--color"].iter().any(|f| flag == f);
        at += if takes_one { 2 } else { 1 };
    }
    let asks = |args: &[OsString]| args.get(at).is_some_and(|word| word == "help");
    if asks(&args) {
        while asks(&args) {
            args.remove(at);
        }
        args.push("--help".into());
    }
    args
}

fn is_flag(arg: &OsStr) -> bool {
    let bytes = arg.as_encoded_bytes();
    bytes.starts_with(b"-") && bytes != b"--"
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
