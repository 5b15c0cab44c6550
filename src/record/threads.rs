//! Threads for work that goes on without them: the system may refuse each.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread, or says by `None` that the system gives no more (a limit of processes or of
/// memory). The caller then does the work with those there are, or by itself.
pub(crate) fn start<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}
