//! Commands whose flags are only put together where the command line asks for them: the flags of
//! all commands cost more time than most commands take.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The words of the command line, if they tell which commands can be meant.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Puts together only what these arguments, the program's name first, may ask for. Help, and what
/// is made of it, shows what all commands say of themselves.
pub fn expect(args: &[OsString]) {
    let words = args.get(1..).unwrap_or_default();
    let shows_all = |word: &OsString| {
        let word = word.as_encoded_bytes();
        let short = word.starts_with(b"-") && !word.starts_with(b"--");
        matches!(word, b"--help" | b"man" | b"completions") || (short && word.contains(&b'h'))
    };
    let none_is_named = words
        .iter()
        .all(|word| word.as_encoded_bytes().starts_with(b"-"));
    if !none_is_named && !words.iter().any(shows_all) {
        // Said once a process.
        let _ = WORDS.set(words.to_vec());
    }
}

/// The arguments of a command.
#[derive(Debug)]
pub struct Later<T>(pub T);

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        match WORDS.get() {
            Some(words) if !words.iter().any(|word| word == command.get_name()) => {
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
