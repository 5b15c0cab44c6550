//! The progress bar of long work; the one file that names `indicatif`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use wagg::diag::Progress;

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
}

impl Bar {
    /// A bar that shows itself once work has gone on for a while, if it is wanted at all.
    pub fn new(wanted: bool) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            wanted,
            shown: AtomicBool::new(false),
        }
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
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(PER_SECOND));
        }
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
        self.bar.inc(bytes);
        self.appear();
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
}

/// Without colour, so that `NO_COLOR` needs no second style.
fn style(has_end: bool) -> ProgressStyle {
    let template = if has_end {
        "{wide_msg} [{bar:24}] {done} of {all}, {rate}/s, {eta} left"
    } else {
        "{spinner} {wide_msg} {done}, {rate}/s"
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
    /// What long work reports its progress to; says nothing where no bar is wanted.
    pub fn progress(&self) -> &dyn Progress {
        &self.bar
    }
}
