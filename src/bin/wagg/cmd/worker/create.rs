//! `wagg worker create`

use std::path::PathBuf;

use wagg::diag::{Exit, Result};
use wagg::ops::change::Expect;
use wagg::ops::worker::create::{Create, DEFAULT_PROFILE, GivenRequest};

use crate::cmd::change::{self, ChangeFlags};
use crate::cmd::input;
use crate::ui::Ui;

/// Create a Worker and print its id
///
/// The Worker has no Session and no metadata yet: the Session comes into being with its first
/// Segment. Refused while any run of the store answers, since the Runtime holds the catalog in
/// memory and would write over this.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  id=$(wagg worker create --name helper)\n  wagg worker create --request request.json --request-id \"$JOB\""
)]
pub struct Args {
    /// Its display name; must not look like an id or a path
    #[arg(long, value_name = "N")]
    name: Option<String>,

    /// Its workspace
    #[arg(long, value_name = "W")]
    workspace: Option<String>,

    /// A named profile, or a builtin one if it starts with builtin: [default: builtin:coder]
    #[arg(long, value_name = "P")]
    profile: Option<String>,

    /// The whole request as JSON, instead of --name and --profile; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "profile"])]
    request: Option<PathBuf>,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// A request above this size, in bytes, is refused.
const MAX_REQUEST: u64 = 64 * 1024 * 1024;

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    debug_assert_eq!(DEFAULT_PROFILE, "builtin:coder", "the help names it");
    let change = Create {
        name: args.name,
        workspace: args.workspace,
        profile: args.profile,
        request: args.request.map(given).transpose()?,
    };
    let expect = |_: &_| Ok(Expect::default());
    change::run("wagg.worker.create/1", &change, &args.flags, expect, ui)
}

fn given(path: PathBuf) -> Result<GivenRequest> {
    let bytes = input::bytes(&path, MAX_REQUEST)?;
    Ok(GivenRequest { path, bytes })
}
