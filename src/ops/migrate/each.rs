//! One thing done for many items by several threads, with the answers in the order of the items.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(debug_assertions)]
use crate::store::fs::fault;

/// Runs `f` for each item. A thread makes its own tools with `tools`, once.
///
/// With one job all runs on the caller's thread, one item after the other.
pub(super) fn each<T: Sync, S, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    tools: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let threads = jobs.get().min(items.len());
    if threads <= 1 {
        let mut tools = tools();
        return items.iter().map(|item| f(&mut tools, item)).collect();
    }
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
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(under(&work))).collect();
        threads
            .into_iter()
            .flat_map(|thread| match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, answer)| answer).collect()
}

/// The same work in a thread that is about to be started, with the faults that a test planned for
/// this one.
pub(super) fn under<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    #[cfg(debug_assertions)]
    let planned = fault::current();
    move || {
        #[cfg(debug_assertions)]
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
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [1, 2, 7] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let answers = each(jobs, &items, || 0, |_, n| n * 2);
            assert!(answers.iter().enumerate().all(|(i, n)| *n == i * 2));
        }
    }
}
