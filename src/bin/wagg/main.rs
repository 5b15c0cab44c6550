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

use clap::error::ErrorKind;

/// Asked for as commands, help and the version are what their flags give: `wagg help X Y` and
/// `wagg X help Y` are `wagg X Y --help`.
fn as_flag(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(flag) = args.get(at).filter(|arg| is_flag(arg)) {
        let takes_one = cli::WITH_A_VALUE.iter().any(|name| flag == name);
        at += if takes_one { 2 } else { 1 };
    }
    let is = |args: &[OsString], at: usize, name| args.get(at).is_some_and(|word| word == name);
    if is(&args, at, "version") {
        args[at] = "--version".into();
    }
    // Behind the name of a group it can be no argument.
    if is(&args, at + 1, "help") && is_group(&args[at]) {
        at += 1;
    }
    if is(&args, at, "help") {
        while is(&args, at, "help") {
            args.remove(at);
        }
        args.push("--help".into());
    }
    args
}

fn is_group(name: &OsStr) -> bool {
    cli::Cli::whole()
        .find_subcommand(name)
        .is_some_and(clap::Command::has_subcommands)
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
    let cli = cli::Cli::read(&args).or_else(|answer| {
        if answer.kind() == ErrorKind::DisplayVersion {
            return Err(answer);
        }
        cmd::later::all();
        cli::Cli::read(&args)
    });
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
    ui.exit_code(exit)
}
