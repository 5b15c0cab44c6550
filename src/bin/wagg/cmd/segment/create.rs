//! `wagg segment create`

use std::path::PathBuf;

use wagg::diag::{Exit, Result};
use wagg::ops::segment::Create;

use crate::cmd::change::{self, ChangeFlags, Fences};
use crate::cmd::input;
use crate::ui::Ui;

/// Make the first Segment of a Worker, or a further one that begins anew
///
/// With the first Segment the Worker's Session comes into being, under the id that its
/// metadata.json reserves if it does. Both appear in one step. A Segment becomes the one that a
/// restore starts from only with --activate.
///
/// Refused for the first Segment, and with --activate, while a run of the Worker answers.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment create 7 --system-prompt prompt.txt --activate\n  wagg segment create 7 --history history.jsonl --config config.json --request-id seed-7"
)]
pub struct Args {
    /// The Worker: an id, a name, or anything that names one
    #[arg(value_name = "WORKER")]
    worker: String,

    /// The system prompt, to the byte; - is standard input [default: none]
    #[arg(long, value_name = "FILE")]
    system_prompt: Option<PathBuf>,

    /// The request config, one JSON object; - is standard input [default: nothing is set]
    ///
    /// Fields: max_tokens, temperature, top_p, top_k, stop_sequences, reasoning. Each may be left
    /// out; any other is refused.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// History items to begin with, a JSON array or one a line; - is standard input [default: none]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

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
    let (prompt, config) = (args.system_prompt.as_deref(), args.config.as_deref());
    let history = args.history.as_deref();
    input::one_stdin(&[prompt, config, history])?;
    let create = Create {
        worker: args.worker,
        system_prompt: input::maybe(prompt)?,
        config: input::maybe(config)?,
        history: input::maybe(history)?,
        activate: args.activate,
    };
    let expect = |store: &_| args.fences.expect(store, None);
    change::run("wagg.segment.create/1", &create, &args.flags, expect, ui)
}
