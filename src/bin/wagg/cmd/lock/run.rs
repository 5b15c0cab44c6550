//! `wagg lock run`

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use wagg::diag::{Code, Error, Exit, Result, shell_word};
use wagg::ops::change::{settle_worker, writable};
use wagg::ops::resolve::Resolver;
use wagg::store::{LockRequest, Locks, Store, Waiting};

use crate::cmd::{change, store};
use crate::env;
use crate::ui::Ui;

/// Run a command under a Worker's lock
///
/// No other wagg changes the Worker meanwhile; a wagg inside finds the lock that it inherited and
/// does not wait for itself. The lock is let go when the command has ended, and all that it
/// started and left behind with the handle. Signals are passed on. The exit status is the
/// command's: 128 and the number if a signal ended it, 127 if it was not found, 126 if it could
/// not be run.
///
/// A Runtime does not take this lock: it keeps off other wagg commands, no agent. What changes the
/// catalog, such as wagg worker create, can not run inside.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg lock run 7 -- sh -c 'wagg segment fork 7/active --activate && ./check.sh'\n  wagg lock run 7 --wait 60 -- rsync -a /srv/agents/workers/7 backup:"
)]
pub struct Args {
    /// The Worker: an id, a name, or a path to its folder
    #[arg(value_name = "WORKER")]
    worker: String,

    /// How many seconds to wait for the lock; 0 does not wait
    #[arg(long, value_name = "SECS", env = env::WAIT, default_value = "10", value_parser = change::parse_wait)]
    wait: Duration,

    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

/// Runs the command and ends with its status.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let store = store::find(ui)?;
    writable(&store)?;
    let worker = Resolver::new(&store).worker(&args.worker)?;
    if worker.folder != Store::folder_of(worker.id) {
        return Err(Error::new(
            Code::WorkerIdMismatch,
            format!(
                "Worker {} lies in the folder {:?}, which has no lock of its own",
                worker.id, worker.folder
            ),
        )
        .hint("wagg verify"));
    }
    let inherited = std::env::var(env::LOCK_FD).ok();
    let on_wait = |waiting: &Waiting<'_>| change::say_waiting(waiting, ui);
    let words: Vec<_> = args.command.iter().map(|w| w.to_string_lossy()).collect();
    let doing = format!("lock run: {}", words.join(" "));
    let request = LockRequest {
        wait: args.wait,
        command: &doing,
        on_wait: &on_wait,
        stop: None,
        inherited: inherited.as_deref(),
    };
    let mut locks = Locks::open(store.dir())?;
    // What the command changes by other means must not meet something half done.
    settle_worker(&store, &mut locks, &request, worker.id)?;
    let guard = locks.worker(worker.id, &request)?;
    let (handles, numbers) = guard
        .for_children(inherited.as_deref())
        .map_err(|e| Error::io("hand on", &wagg::layout::Paths::worker_lock(worker.id), e))?;
    let signals = Signals::watch()?;
    let (program, rest) = args.command.split_first().ok_or_else(|| {
        Error::new(Code::Usage, "there is no command to run").hint("the command stands behind --")
    })?;
    let mut command = Command::new(program);
    command.args(rest).env(env::LOCK_FD, numbers);
    let started = command.spawn();
    // The command has its own handles now.
    drop(handles);
    let status = match started {
        Ok(child) => signals.wait(child),
        Err(e) => {
            let code = match e.kind() {
                std::io::ErrorKind::NotFound => 127,
                _ => 126,
            };
            // It may stand anywhere in the search path, so there is no place to look at.
            let named = program.to_string_lossy();
            let error = Error::new(Code::IoFailed, format!("failed to run {named}"))
                .caused_by(e)
                .hint(format!("command -v {}", shell_word(program)));
            ui.error(&error);
            drop(guard);
            std::process::exit(code);
        }
    };
    drop(guard);
    let status = status.map_err(|e| Error::io("wait for", program.as_ref(), e))?;
    // The status of a command is none of wagg's own, which are all that `Exit` knows.
    std::process::exit(status_of(status))
}

fn status_of(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|n| 128 + n))
        .unwrap_or(1)
}

/// The signals that are passed on.
struct Signals {
    /// The last one that came; 0 if none did.
    came: Arc<AtomicUsize>,
}

/// What a terminal sends to everybody in front of it, the command included.
const FROM_TERMINAL: [i32; 2] = [SIGINT, SIGQUIT];

impl Signals {
    /// Keeps this process alive from here on, so that the lock is not let go before the command
    /// has ended.
    fn watch() -> Result<Self> {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&came), number).map_err(|e| {
                Error::new(Code::Internal, "signals can not be watched").caused_by(e)
            })?;
        }
        Ok(Self { came })
    }

    /// Waits for the command, and passes signals on meanwhile.
    fn wait(&self, mut child: Child) -> std::io::Result<ExitStatus> {
        let ended = Arc::new(AtomicBool::new(false));
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let passing = {
            let (came, ended) = (Arc::clone(&self.came), Arc::clone(&ended));
            std::thread::Builder::new().spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    std::thread::sleep(PASSING);
                    pass(&came, pid);
                }
            })
        };
        let Ok(passing) = passing else {
            // The command runs already: this thread does both.
            loop {
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
                std::thread::sleep(PASSING);
                pass(&self.came, pid);
            }
        };
        let status = child.wait();
        ended.store(true, Ordering::Relaxed);
        let _ = passing.join();
        status
    }
}

/// How often signals are passed on.
const PASSING: Duration = Duration::from_millis(20);

/// Passes on the signal that came, if one did.
fn pass(came: &AtomicUsize, pid: Option<Pid>) {
    let signal = i32::try_from(came.swap(0, Ordering::Relaxed)).unwrap_or(0);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal))
        && !(FROM_TERMINAL.contains(&signal.as_raw()) && in_front())
    {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Whether a terminal sends its signals to this process and what it started.
fn in_front() -> bool {
    let terminal = std::io::stdin();
    rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}
