//! One thing done for many items by several threads, with the answers in the order of the items.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::record::threads::start;
#[cfg(any(test, debug_assertions))]
use crate::store::fs::fault;

/// The answers of so many items are held at a time.
const BLOCK: usize = 4096;

/// Runs `f` for each item, and gives the answers to `take`, in the order of the items. A thread
/// makes its own tools with `tools`, once for so many items as are a block.
///
/// With one job all runs on the caller's thread, one item after the other.
pub(super) fn each<T: Sync, S, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    tools: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, &T) -> R + Sync,
    mut take: impl FnMut(R),
) {
    if jobs.get().min(items.len()) <= 1 {
        let mut tools = tools();
        for item in items {
            take(f(&mut tools, item));
        }
        return;
    }
    for block in items.chunks(BLOCK) {
        for (_, answer) in all_of(jobs.get().min(block.len()), block, &tools, &f) {
            take(answer);
        }
    }
}

/// The answers for the items of a block, by so many threads.
fn all_of<T: Sync, S, R: Send>(
    threads: usize,
    items: &[T],
    tools: &(impl Fn() -> S + Sync),
    f: &(impl Fn(&mut S, &T) -> R + Sync),
) -> Vec<(usize, R)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut tools = tools();
        let mut done = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            done.push((at, f(&mut tools, item)));
        }
        done
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        // This thread is one of them, so that the work is done if no other can be started.
        let others: Vec<_> = (1..threads)
            .map_while(|_| start(scope, under(&work)))
            .collect();
        let mut all = work();
        for thread in others {
            match thread.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all
}

/// The same work in a thread that is about to be started, with the faults that a test planned for
/// this one.
pub(super) fn under<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    #[cfg(any(test, debug_assertions))]
    let planned = fault::current();
    move || {
        #[cfg(any(test, debug_assertions))]
        if let Some(planned) = planned {
            return planned.run(f);
        }
        f()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order() {
        let items: Vec<usize> = (0..2 * BLOCK + 9).collect();
        for jobs in [1, 2, 7] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let mut answers = Vec::new();
            each(jobs, &items, || 0, |_, n| n * 2, |n| answers.push(n));
            assert_eq!(answers.len(), items.len());
            assert!(answers.iter().enumerate().all(|(i, n)| *n == i * 2));
        }
    }
}
