//! `wagg demo`: a guided tour. Each act is a command that is really run, over stores that were
//! really made.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use serde::Serialize;
use wagg::diag::{Exit, IoContext, Result, shell, shell_word};
use wagg::layout::{Leftover, leftover};
use wagg::ops::demo;

use super::output::Outputs;
use crate::cli::{Cli, ColorArg, FormatArg};
use crate::ui::{Format, Style, Ui, text};

/// Make small stores with the usual damage; look at them, move and mend them before your eyes
///
/// Builds an old store and one of today's layout, both after a few crashes, then runs commands on
/// them one after the other, each with a line that says what to look for. Without DIR that is done
/// in a temporary folder, which is removed in the end. DIR must be new or empty, and is kept.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  wagg demo\n  wagg demo ./playground")]
pub struct Args {
    /// Where to make the stores, and keep them
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// One step of the tour.
#[derive(Debug, Serialize)]
struct Act {
    /// What to look for.
    narration: &'static str,
    /// The command, run in the demo's folder.
    args: &'static [&'static str],
    ends: Ends,
}

/// How the command of an act comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    ByItself,
    /// It is killed as soon as it has begun to write.
    Killed,
}

/// The move of the old store, on a copy of its catalog.
const MIGRATE: &[&str] = &[
    "--store",
    "old/trial",
    "migrate",
    "--sessions",
    "old/sessions",
    "--metadata",
    "old/metadata",
];

/// The tour.
const ACTS: &[Act] = &[
    Act {
        narration: "An old store keeps its Workers, histories and metadata in three places. Who owns which history?",
        args: &[
            "--store",
            "old/store",
            "orphans",
            "--sessions",
            "old/sessions",
            "--metadata",
            "old/metadata",
            "-v",
        ],
        ends: Ends::ByItself,
    },
    Act {
        narration: "A history can be checked where it lies, without a store: this one had two writers at once.",
        args: &[
            "verify",
            "--file",
            "old/sessions/019b8d1c-2a00-7000-8000-000000000002/019b8d1c-2a00-7000-8000-000000000021.jsonl",
        ],
        ends: Ends::ByItself,
    },
    Act {
        narration: "The move to today's layout only reads the old folders, so it can be tried on a copy of the catalog. Here kill -9 strikes in the middle of it.",
        args: MIGRATE,
        ends: Ends::Killed,
    },
    Act {
        narration: "What did the kill leave?",
        args: &["--store", "old/trial", "verify"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "The same command again clears that and goes on. What it may not move stays where it is, with the reason.",
        args: MIGRATE,
        ends: Ends::ByItself,
    },
    Act {
        narration: "Now the store says so itself, and no Worker is moved twice.",
        args: &["--store", "old/trial", "migrate", "status"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "A store of today's layout, after a few crashes. Which histories are whole, and where exactly are the others not?",
        args: &["--store", "store", "verify"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "What of it can be mended without losing anything, and how? This only shows it, with the bytes before and after.",
        args: &["--store", "store", "repair"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "Worker 2 has two records on one line. Done: one newline, and not a byte else.",
        args: &["--store", "store", "repair", "2", "--apply"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "Whatever was changed comes back to the byte, if it is asked for.",
        args: &["--store", "store", "op", "undo", "latest"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "What did the crashes leave lying about in it?",
        args: &["--store", "store", "orphans"],
        ends: Ends::ByItself,
    },
    Act {
        narration: "Each code has a page: what it means, how it comes about, what to do.",
        args: &["explain", "glued_records"],
        ends: Ends::ByItself,
    },
];

/// The first Worker that the act moves.
const TRIAL_WORKER: &str = "old/trial/workers/1";

impl Act {
    fn command(&self) -> String {
        let words = self.args.iter().map(shell_word);
        format!("wagg {}", words.collect::<Vec<_>>().join(" "))
    }
}

/// Where the stores were made.
enum Place {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(dir) => dir.path(),
        }
    }
}

/// What there is in JSON: the folder and the commands, which are not run.
#[derive(Serialize)]
struct Tour<'a> {
    directory: Option<String>,
    kept: bool,
    acts: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    narration: &'a str,
    command: String,
    ends: Ends,
}

/// Makes the stores and goes through the acts.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let place = match args.dir {
        Some(dir) => {
            Outputs::default().folder(&dir)?;
            Place::Kept(std::path::absolute(&dir).io("find", dir)?)
        }
        None => Place::Temporary(
            tempfile::Builder::new()
                .prefix("wagg-demo-")
                .tempdir()
                .io("create a folder in", std::env::temp_dir())?,
        ),
    };
    demo::build(place.path())?;
    let kept = matches!(place, Place::Kept(_));
    if matches!(ui.format(), Format::Json | Format::Ndjson) {
        let tour = Tour {
            directory: kept.then(|| place.path().to_string_lossy().into_owned()),
            kept,
            acts: ACTS
                .iter()
                .map(|act| Step {
                    narration: act.narration,
                    command: act.command(),
                    ends: act.ends,
                })
                .collect(),
        };
        ui.object("wagg.demo/1", &tour, |_| {})?;
        return Ok(Exit::Ok);
    }
    // so that paths in commands and answers are short, and the same wherever the folder is
    std::env::set_current_dir(place.path()).io("go to", place.path())?;
    for (index, act) in ACTS.iter().enumerate() {
        if ui.stdout_closed() || ui.progress().interrupted() {
            break;
        }
        play(index, act, ui)?;
    }
    close(&place, ui)?;
    Ok(if ui.progress().interrupted() {
        Exit::Interrupted
    } else {
        Exit::Ok
    })
}

/// Says what an act is about, and runs its command as if it had been typed.
fn play(index: usize, act: &Act, ui: &Ui) -> Result<()> {
    ui.write(|out| {
        if index > 0 {
            writeln!(out)?;
        }
        let narration = format!("{}/{}  {}", index + 1, ACTS.len(), act.narration);
        for line in text::wrap(&narration, ui.width(), 0) {
            writeln!(out, "{}", Style::Bold.paint(&line, ui.color()))?;
        }
        let prompt = Style::Note.paint("$", ui.color());
        writeln!(out, "{prompt} {}\n", act.command())
    })?;
    if act.ends == Ends::Killed {
        let told = kill(act)?;
        return ui.write(|out| writeln!(out, "{}", Style::Dim.paint(told, ui.color())));
    }
    let words = std::iter::once("wagg").chain(act.args.iter().copied());
    let exit = match Cli::try_parse_from(words) {
        Ok(mut cli) => {
            cli.global.format = FormatArg::Table;
            cli.global.quiet = ui.quiet();
            cli.global.color = match ui.color() {
                true => ColorArg::Always,
                false => ColorArg::Never,
            };
            cli.command.run(&Ui::new(cli.global))?
        }
        // a command of the tour that does not parse is a bug; a test runs them all
        Err(_) => Exit::Internal,
    };
    if exit == Exit::Ok {
        return Ok(());
    }
    ui.write(|out| {
        let told = format!("exit status {}: {}", exit.status(), exit.meaning());
        for line in text::wrap(&told, ui.width(), 0) {
            writeln!(out, "{}", Style::Dim.paint(&line, ui.color()))?;
        }
        Ok(())
    })
}

/// Runs the command of an act as a process of its own, and kills that once it writes a Session.
fn kill(act: &Act) -> Result<&'static str> {
    let exe = std::env::current_exe().io("find", "wagg")?;
    let mut child = Command::new(&exe)
        .args(act.args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .io("run", &exe)?;
    let watched = Path::new(TRIAL_WORKER);
    loop {
        if child.try_wait().io("wait for", &exe)?.is_some() {
            return Ok("It was done before the signal came.");
        }
        let writes = std::fs::read_dir(watched).is_ok_and(|entries| {
            entries
                .flatten()
                .any(|entry| entry.file_name().to_str().is_some_and(is_staging))
        });
        if writes {
            child.kill().io("kill", &exe)?;
            child.wait().io("wait for", &exe)?;
            return Ok("Killed with signal 9 while it wrote.");
        }
    }
}

fn is_staging(name: &str) -> bool {
    matches!(leftover(name), Some(Leftover::Staging { .. }))
}

/// Says where the stores are, and how to go on.
fn close(place: &Place, ui: &Ui) -> Result<()> {
    let told = match place {
        Place::Kept(path) => vec![
            format!("The stores are kept in {}", path.display()),
            format!("Go on with: cd {}", shell(path)),
            "wagg --store store verify -v".to_owned(),
        ],
        Place::Temporary(_) => vec![
            "The stores were in a temporary folder, which is removed now.".to_owned(),
            "Keep them, to try more: wagg demo ./playground".to_owned(),
        ],
    };
    ui.write(|out| {
        writeln!(out)?;
        told.iter().try_for_each(|line| writeln!(out, "{line}"))
    })
}
