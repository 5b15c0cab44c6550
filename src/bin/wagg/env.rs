//! Every environment variable that `wagg` reads, each as a constant with its meaning.

/// A variable and what it does, for the manual.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does: a sentence or two for the manual.
    pub meaning: &'static str,
}

/// The store, where `--store` is not given.
pub const STORE: &str = "WAGG_STORE";
/// The output format, where `--format` is not given.
pub const FORMAT: &str = "WAGG_FORMAT";
/// Who acts, where `--actor` is not given.
pub const ACTOR: &str = "WAGG_ACTOR";
/// How many seconds to wait for a lock, where `--wait` is not given.
pub const WAIT: &str = "WAGG_WAIT";
/// The user's name, for the journal, where `--actor` is not given.
pub const USER: &str = "USER";
/// The lock that `wagg lock run` hands down to its command.
pub const LOCK_FD: &str = "WAGG_LOCK_FD";
/// Makes a debug build fail or end at a numbered step of writing, so that a test sees a crash.
#[expect(dead_code, reason = "read by the library, in debug builds only")]
pub const FAULT: &str = "WAGG_FAULT";
/// Makes a debug build panic, so that a test sees what a bug looks like.
pub const TEST_PANIC: &str = "WAGG_TEST_PANIC";
/// No colour.
pub const NO_COLOR: &str = "NO_COLOR";
/// The kind of terminal.
pub const TERM: &str = "TERM";
/// The width of the terminal, over what it says itself.
pub const COLUMNS: &str = "COLUMNS";
/// The time zone of times in tables.
pub const TZ: &str = "TZ";
/// The user's cache folder, for `verify --cache`.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// The user's home, for the cache folder where there is no other.
pub const HOME: &str = "HOME";

/// All that a person may set.
pub const ALL: &[Variable] = &[
    Variable {
        name: STORE,
        meaning: "The store to work on, where --store is not given.",
    },
    Variable {
        name: FORMAT,
        meaning: "The output format (auto, table, json or ndjson), where --format is not given.",
    },
    Variable {
        name: ACTOR,
        meaning: "Who acts, as the journal notes it, where --actor is not given.",
    },
    Variable {
        name: WAIT,
        meaning: "How many seconds a change waits for a lock, where --wait is not given.",
    },
    Variable {
        name: LOCK_FD,
        meaning: "Set by wagg lock run for its command: the descriptor of the lock that a wagg inside must not wait for. Not meant to be set by hand.",
    },
    Variable {
        name: USER,
        meaning: "The user's name in the journal's user@host, where --actor is not given.",
    },
    Variable {
        name: NO_COLOR,
        meaning: "If set and not empty, --color auto means no colour.",
    },
    Variable {
        name: TERM,
        meaning: "If it is dumb, --color auto means no colour, and no progress bar is shown.",
    },
    Variable {
        name: COLUMNS,
        meaning: "The width of tables on a terminal, over what the terminal says itself.",
    },
    Variable {
        name: TZ,
        meaning: "The time zone of times in tables. Times in JSON are always in UTC.",
    },
    Variable {
        name: XDG_CACHE_HOME,
        meaning: "The user's cache folder, where wagg verify --cache keeps its file; without it .cache in the user's home.",
    },
    Variable {
        name: HOME,
        meaning: "The user's home, where XDG_CACHE_HOME is not set.",
    },
];

/// Whether a variable is set and not empty.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
