//! `wagg segment compact`

use std::path::PathBuf;

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Compact;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::cmd::input;
use crate::ui::Ui;

/// Make a new Segment of a summary and the last turns of another
///
/// No model is asked: the summary is given. It becomes a system message, and the turns that are
/// retained follow it. They begin where a turn begins, and earlier still where a tool's result
/// would be cut off its call. The source is not changed, and the new Segment says where it comes
/// from.
///
/// Tokens are told from the source's usage records where those cover a turn, and from its bytes
/// elsewhere (four to a token); the receipt says which, and what was kept, dropped and pulled back.
/// Without --retain-turns and --retain-tokens no turn is retained; with both, both limits hold.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment compact 7/active --summary summary.txt --retain-turns 2 --activate\n  wagg segment compact 7/active --summary - --retain-tokens 20000 --budget-tokens 30000 --format json"
)]
pub struct Args {
    /// The source: an id, the beginning of one, 7/active, 7/latest
    #[arg(value_name = "SEGMENT")]
    segment: String,

    /// What stands for the turns that are dropped, to the byte; - is standard input
    #[arg(long, value_name = "FILE")]
    summary: PathBuf,

    /// Retain at most so many of the last turns
    #[arg(long, value_name = "N")]
    retain_turns: Option<u64>,

    /// Retain as many of the last turns as have at most so many tokens
    #[arg(long, value_name = "N")]
    retain_tokens: Option<u64>,

    /// Refuse if the new history, summary included, has more tokens than this
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,

    /// Let a restore start from it
    #[arg(long)]
    activate: bool,

    #[command(flatten)]
    fences: Fences,

    #[command(flatten)]
    flags: ChangeFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let compact = Compact {
        segment: args.segment,
        summary: input::read(&args.summary)?,
        retain_turns: args.retain_turns,
        retain_tokens: args.retain_tokens,
        budget_tokens: args.budget_tokens,
        activate: args.activate,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.segment.compact/1", &compact, &args.flags, expect, ui)
}
