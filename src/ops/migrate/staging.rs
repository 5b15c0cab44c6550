//! Workers that are staged ahead of the syncs: by several threads while the caller makes durable
//! and puts in place what they staged before, or by the caller itself.
//!
//! What is taken comes in the order of the Workers, however many threads stage them: so which
//! trouble is the first does not depend on the threads.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use super::act::{Act, Batch, Underway};
use super::copy::Stop;
use super::each::under;
use super::plan::{Item, Step};
use crate::record::threads::start;
use crate::record::{Limits, Scanner};

/// So many Workers are worth a sync; in the crash tests so few that batches overlap.
const BATCH_WORKERS: usize = if cfg!(test) { 2 } else { 512 };
/// or so many bytes.
const BATCH_BYTES: u64 = 32 << 20;
/// No more Workers than these are staged and wait.
const AHEAD: usize = 8 * BATCH_WORKERS;

type Staged<'p> = Result<Underway<'p>, Stop>;

/// The Workers that are to be moved, and those that are staged.
pub(super) struct Staging<'a, 'p> {
    act: &'a Act<'a>,
    todo: &'a [&'p Item],
    /// One sync makes all durable; else each file has its own when it is staged.
    shared_sync: bool,
    threads: usize,
    state: Mutex<State<'p>>,
    changed: Condvar,
}

struct State<'p> {
    /// All before this were begun.
    begun: usize,
    /// All before this were taken.
    taken: usize,
    /// All before this are staged,
    staged: usize,
    /// and those of them that were not taken yet hold so many bytes.
    bytes: u64,
    /// What is staged and was not taken yet.
    ready: BTreeMap<usize, Staged<'p>>,
    /// The threads that still stage.
    working: usize,
    /// Threads were started; else the caller stages.
    helped: bool,
    /// No more are begun.
    ended: bool,
}

impl<'a, 'p> Staging<'a, 'p> {
    pub fn new(act: &'a Act<'a>, todo: &'a [&'p Item], shared_sync: bool) -> Self {
        let threads = match act.options.jobs.get().min(todo.len()) {
            0 | 1 => 0,
            several => several,
        };
        Self {
            act,
            todo,
            shared_sync,
            threads,
            state: Mutex::new(State {
                begun: 0,
                taken: 0,
                staged: 0,
                bytes: 0,
                ready: BTreeMap::new(),
                working: 0,
                helped: false,
                ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Runs `f`, which takes what is staged meanwhile. What it leaves is taken back.
    pub fn during<R>(self, f: impl FnOnce(&Self) -> R) -> R {
        let result = std::thread::scope(|scope| {
            for _ in 0..self.threads {
                if !self.start(scope) {
                    break;
                }
            }
            let _end = End(&self);
            f(&self)
        });
        let state = self.state.into_inner();
        let ready = state.unwrap_or_else(PoisonError::into_inner).ready;
        let rest: Batch<'p> = ready.into_values().filter_map(Result::ok).collect();
        self.act.take_back(rest);
        result
    }

    /// Starts one thread. Says whether the system gave it.
    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> bool {
        // Counted before it can end.
        self.lock().working += 1;
        let started = start(scope, under(|| self.work())).is_some();
        let mut state = self.lock();
        state.helped |= started;
        state.working -= usize::from(!started);
        started
    }

    /// No more Workers are begun, and none is given.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// What is staged, once it is worth a sync; nothing once all was taken.
    pub fn take(&self) -> Vec<(&'p Item, Staged<'p>)> {
        let mut tools = None;
        let mut state = self.lock();
        loop {
            if state.ended {
                return Vec::new();
            }
            // Without any at work a thread panicked, and whoever joins it passes that on.
            let none_works = state.helped && state.working == 0;
            if none_works || self.is_worth_a_sync(&state) {
                return self.first(&mut state);
            }
            if !state.helped {
                drop(state);
                let tools = tools.get_or_insert_with(|| Scanner::new(Limits::default()));
                self.stage_one(tools);
                state = self.lock();
            } else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn is_worth_a_sync(&self, state: &State<'p>) -> bool {
        state.staged - state.taken >= BATCH_WORKERS
            || state.bytes >= BATCH_BYTES
            || state.staged == self.todo.len()
    }

    fn first(&self, state: &mut State<'p>) -> Vec<(&'p Item, Staged<'p>)> {
        let items = self.todo[state.taken..state.staged].iter().copied();
        let rest = state.ready.split_off(&state.staged);
        let taken = std::mem::replace(&mut state.ready, rest);
        (state.taken, state.bytes) = (state.staged, 0);
        self.changed.notify_all();
        items.zip(taken.into_values()).collect()
    }

    /// What one thread does.
    fn work(&self) {
        let _bye = Bye(self);
        let mut tools = Scanner::new(Limits::default());
        while self.stage_one(&mut tools) {}
    }

    /// Stages the next Worker. Says whether there was one.
    fn stage_one(&self, tools: &mut Scanner) -> bool {
        let mut state = self.lock();
        while !state.ended && state.begun >= state.taken + AHEAD {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let at = state.begun;
        let Some(item) = self.todo.get(at).filter(|_| !state.ended) else {
            return false;
        };
        state.begun += 1;
        drop(state);
        let staged = self.act.stage(item, tools, self.shared_sync);
        let mut state = self.lock();
        state.ready.insert(at, staged);
        while state.ready.contains_key(&state.staged) {
            if let Step::Move(moving) = &self.todo[state.staged].step {
                state.bytes += moving.bytes;
            }
            state.staged += 1;
        }
        if self.is_worth_a_sync(&state) {
            self.changed.notify_all();
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the threads end however the taking ends.
struct End<'s, 'a, 'p>(&'s Staging<'a, 'p>);

impl Drop for End<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Says that a thread ended, however it did.
struct Bye<'s, 'a, 'p>(&'s Staging<'a, 'p>);

impl Drop for Bye<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
        self.0.changed.notify_all();
    }
}
