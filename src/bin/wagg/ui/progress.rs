//! The progress bar of long work, and the signals that ask it to stop; the one file that names
//! `indicatif`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use signal_hook::consts::{SIGINT, SIGTERM};
use wagg::diag::{Exit, Progress};

use super::{Ui, sanitize, text};

/// Shorter work shows no bar.
const DELAY: Duration = Duration::from_millis(250);
/// How often the bar is drawn at most.
const PER_SECOND: u8 = 10;

/// The bar of the work that goes on, if there is one. Whoever writes to the terminal meanwhile
/// does so in [`Bar::suspend`].
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    wanted: bool,
    shown: AtomicBool,
    armed: AtomicBool,
    interrupted: Arc<AtomicBool>,
    /// The signal that asked first was SIGTERM.
    terminated: Arc<AtomicBool>,
}

impl Bar {
    /// A bar that shows itself once work has gone on for a while, if it is wanted at all.
    pub fn new(wanted: bool) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            wanted,
            shown: AtomicBool::new(false),
            armed: AtomicBool::new(false),
            interrupted: Arc::default(),
            terminated: Arc::default(),
        }
    }

    /// Lets the first SIGINT or SIGTERM set a flag and the second end the process at once, as it
    /// would have without. Nothing is lost by that: the store obeys the same rules as after a kill.
    ///
    /// SIGHUP keeps what it does: who started us with `nohup` has it ignored already.
    fn arm(&self) {
        use signal_hook::flag;
        if self.armed.swap(true, Ordering::Relaxed) {
            return;
        }
        let watch = |signal| {
            // the order matters: the flag that ends the process is looked at before it is set
            let stop = || Arc::clone(&self.interrupted);
            flag::register_conditional_shutdown(signal, 128 + signal, stop())?;
            if signal == SIGTERM {
                flag::register(signal, Arc::clone(&self.terminated))?;
            }
            flag::register(signal, stop())
        };
        // without a handler a signal ends the process, which is no worse than before
        drop([SIGINT, SIGTERM].map(watch));
    }

    /// Takes the bar from the terminal while `f` writes to it.
    pub fn suspend<T>(&self, f: impl FnOnce() -> T) -> T {
        if self.shown.load(Ordering::Relaxed) {
            self.bar.suspend(f)
        } else {
            f()
        }
    }

    fn appear(&self) {
        if self.wanted
            && !self.shown.load(Ordering::Relaxed)
            && self.bar.elapsed() >= DELAY
            && !self.shown.swap(true, Ordering::Relaxed)
        {
            self.bar
                .set_draw_target(ProgressDrawTarget::term_like_with_hz(
                    Box::new(Stderr),
                    PER_SECOND,
                ));
        }
    }
}

/// The terminal of stderr, a few columns narrower than it is: a bar that reaches its edge would be
/// pushed to the next line by the `^C` that the terminal echoes, and stay there.
#[derive(Debug)]
struct Stderr;

impl Stderr {
    fn put(text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }

    fn go(n: usize, direction: char) -> io::Result<()> {
        match n {
            0 => Ok(()),
            n => Self::put(&format!("\x1b[{n}{direction}")),
        }
    }
}

impl TermLike for Stderr {
    fn width(&self) -> u16 {
        let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| size.ws_col);
        columns.saturating_sub(4).max(1)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        Self::go(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        Self::go(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        Self::go(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        Self::go(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        Self::put(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        Self::put(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        Self::put("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

impl Progress for Bar {
    fn start(&self, total_bytes: Option<u64>) {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.shown.store(false, Ordering::Relaxed);
        self.bar.reset();
        match total_bytes {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.bar.set_style(style(total_bytes.is_some()));
    }

    fn add(&self, bytes: u64) {
        // counting takes time where many small files are looked at, and threads wait for each other
        if self.wanted {
            self.bar.inc(bytes);
            self.appear();
        }
    }

    fn message(&self, text: &str) {
        self.bar.set_message(sanitize::terminal(text).into_owned());
        self.appear();
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.shown.store(false, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Without colour, so that `NO_COLOR` needs no second style.
fn style(has_end: bool) -> ProgressStyle {
    let template = if has_end {
        "[{bar:20}] {done} of {all}, {rate}/s, {eta} left  {wide_msg}"
    } else {
        "{spinner} {done}, {rate}/s  {wide_msg}"
    };
    let size = |get: fn(&ProgressState) -> u64| {
        move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // a bar that can not be written is not worth an error
            let _ = out.write_str(&text::size(get(state)));
        }
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
        .with_key("done", size(ProgressState::pos))
        .with_key("all", size(|state| state.len().unwrap_or(0)))
        .with_key("rate", size(|state| state.per_sec() as u64))
}

impl Ui {
    /// What long work reports its progress to; shows nothing where no bar is wanted.
    ///
    /// From here on SIGINT and SIGTERM do not end the process but set [`Progress::interrupted`], so
    /// this is for work that asks for it. A second signal ends the process.
    pub fn progress(&self) -> &dyn Progress {
        self.bar.arm();
        &self.bar
    }

    /// The flag that SIGINT and SIGTERM set, for what waits and reports no progress. As with
    /// [`Ui::progress`], they do not end the process from here on.
    pub fn stop(&self) -> &AtomicBool {
        self.bar.arm();
        &self.bar.interrupted
    }

    /// The process's exit code for a status of the table: after an interrupt it tells the signal.
    pub fn exit_code(&self, exit: Exit) -> ExitCode {
        let terminated = self.bar.terminated.load(Ordering::Relaxed);
        match u8::try_from(128 + SIGTERM) {
            Ok(status) if terminated && exit == Exit::Interrupted => ExitCode::from(status),
            _ => super::exit_code(exit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_signal_is_heard_and_ends_nothing() {
        let bar = Bar::new(false);
        bar.arm();
        assert!(!bar.interrupted());
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert!(bar.interrupted());
    }

    #[test]
    fn short_work_shows_nothing() {
        let bar = Bar::new(true);
        bar.start(Some(10));
        bar.add(10);
        assert!(!bar.shown.load(Ordering::Relaxed));
        bar.finish();
    }
}
