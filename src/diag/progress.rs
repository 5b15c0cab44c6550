//! How long work says how far it is, and hears that it should stop. Operations see this trait and
//! nothing of a terminal or a signal.

/// Takes what long work reports of itself. Calls are cheap and may come from many threads.
pub trait Progress: Sync {
    /// Begins a piece of work of that many bytes, if the number is known.
    fn start(&self, total_bytes: Option<u64>);
    /// Says that so many bytes more are done.
    fn add(&self, bytes: u64);
    /// Says what is being looked at now, in a few words.
    fn message(&self, text: &str);
    /// Ends the piece of work.
    fn finish(&self);
    /// Whether somebody asked to stop (SIGINT, SIGTERM). Work that takes long asks between two
    /// items, keeps what is committed, and ends with what it did and what it did not.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Tells nobody, and is never interrupted.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _total_bytes: Option<u64>) {}
    fn add(&self, _bytes: u64) {}
    fn message(&self, _text: &str) {}
    fn finish(&self) {}
}
