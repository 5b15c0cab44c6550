//! Commands whose flags are only put together where the command line asks for them: the flags of
//! all commands cost more time than most commands take.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The words of the command line, which name the command that is called.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Everything is put together, whatever is called.
static ALL: AtomicBool = AtomicBool::new(false);

/// Puts together only what these arguments may call. Said once a process.
pub fn expect(args: &[OsString]) {
    let _ = WORDS.set(args.to_vec());
}

/// Puts together all from now on: what is said to a person instead of running a command, and what
/// is made of the commands, shows what all of them say of themselves.
pub fn all() {
    ALL.store(true, Ordering::Relaxed);
}

/// The arguments of a command.
#[derive(Debug)]
pub struct Later<T>(pub T);

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        match WORDS.get() {
            Some(words)
                if !ALL.load(Ordering::Relaxed)
                    && !words.iter().any(|word| word == command.get_name()) =>
            {
                command.defer(T::augment_args)
            }
            _ => T::augment_args(command),
        }
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
