//! The seam through which every change of a disk goes, numbered, so that tests can stop it anywhere.
//!
//! Each create, write, sync, rename, link, remove, truncation and change of rights is one step.
//! A [`Fault`] counts the steps of what runs inside it, and can make step `n` fail, be cut short,
//! or be the one at which the process dies: that step and all later ones then leave the disk alone
//! and fail, so that no clean-up runs, as after a kill. With the model of `power.rs` it can also
//! take back whatever was never synced, as after a power cut.
//!
//! All of this exists in debug builds only. There, `WAGG_FAULT` does the same to a whole process:
//! `abort:N` aborts it at step `N`, `ENOSPC:N` and `EIO:N` fail that step. A release build has no
//! such switch: its seam is empty.

use std::io;
use std::path::Path;

/// What one step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Makes a new file.
    Create,
    /// Writes bytes to a file.
    Write,
    /// Cuts a file, or makes it longer.
    Truncate,
    /// Sets owner, group or mode.
    Rights,
    /// Syncs a file.
    SyncFile,
    /// Syncs a folder.
    SyncDir,
    /// Syncs a whole file system.
    SyncFs,
    /// Renames a file or folder.
    Rename,
    /// Gives a file one more name.
    Link,
    /// Removes a file's name.
    Remove,
    /// Makes a folder.
    MakeDir,
    /// Removes an empty folder.
    RemoveDir,
}

/// What the seam says to a step before it is taken.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Take it.
    Go,
    /// Write only so many bytes, then fail like this.
    #[cfg_attr(
        not(any(test, debug_assertions)),
        expect(dead_code, reason = "said by debug builds only")
    )]
    Short(usize, io::Error),
}

#[cfg(not(any(test, debug_assertions)))]
mod hook {
    use super::{Path, Step, Verdict, io};

    #[inline(always)]
    pub(in super::super) fn before(_: Step, _: &Path, _: usize) -> io::Result<Verdict> {
        Ok(Verdict::Go)
    }

    #[inline(always)]
    pub(in super::super) fn is_real() -> bool {
        true
    }

    #[inline(always)]
    pub(in super::super) fn can_rename_without_replacing() -> bool {
        true
    }

    #[inline(always)]
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "asked there only")
    )]
    pub(in super::super) fn can_sync_fs() -> bool {
        true
    }
}

/// Tells the model of a power cut what is about to change. Nothing in a release build.
macro_rules! note {
    ($model:ident => $what:expr) => {
        #[cfg(any(test, debug_assertions))]
        $crate::store::fs::fault::with_model(|$model| $what)?;
    };
}
pub(super) use note;

#[cfg(target_os = "linux")]
pub(super) use hook::can_sync_fs;
#[cfg(any(test, debug_assertions))]
pub(super) use hook::with_model;
#[cfg(any(test, debug_assertions))]
pub use hook::{Crash, Crashed, Fault, Plan, crash_everywhere, current, is_death, is_tried};
pub(super) use hook::{before, can_rename_without_replacing, is_real};

#[cfg(any(test, debug_assertions))]
mod hook {
    use super::super::power::{Loss, Power};
    use super::{Path, Step, Verdict, io};
    use std::cell::RefCell;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

    /// What happens at which step. Steps count from 1.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Plan {
        /// Nothing: only count.
        Count,
        /// The process dies before this step.
        Die(u64),
        /// The process dies at this step; if it writes, half of the bytes are written.
        DieTorn(u64),
        /// This step fails with this error number and does nothing.
        Fail(u64, i32),
        /// This step writes half of its bytes, then fails with this error number.
        Short(u64, i32),
        /// From this step on the disk is full: whatever needs room fails with `ENOSPC`.
        FullFrom(u64),
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the process is dead (a simulation)")]
    struct Death;

    /// Says whether an error is that of a process that died in a simulation.
    #[must_use]
    pub fn is_death(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut at = Some(error);
        while let Some(e) = at {
            if e.is::<Death>()
                || e.downcast_ref::<io::Error>()
                    .and_then(io::Error::get_ref)
                    .is_some_and(|inner| inner.is::<Death>())
            {
                return true;
            }
            at = e.source();
        }
        false
    }

    struct State {
        plan: Plan,
        trail: Vec<(Step, PathBuf)>,
        dead: bool,
        power: Option<Power>,
        plain_rename_only: bool,
        no_sync_fs: bool,
    }

    /// A plan of faults, for whatever runs inside [`Fault::run`].
    #[derive(Clone)]
    pub struct Fault(Arc<Mutex<State>>);

    thread_local! {
        static CURRENT: RefCell<Option<Fault>> = const { RefCell::new(None) };
    }

    /// The plan that this thread runs under, to be handed to the threads that it starts.
    #[must_use]
    pub fn current() -> Option<Fault> {
        CURRENT.with_borrow(Clone::clone)
    }

    impl Fault {
        /// Faults of a process.
        #[must_use]
        pub fn new(plan: Plan) -> Self {
            Self(Arc::new(Mutex::new(State {
                plan,
                trail: Vec::new(),
                dead: false,
                power: None,
                plain_rename_only: false,
                no_sync_fs: false,
            })))
        }

        /// The same, and what was not synced can be taken back. `aside` is an empty folder on the
        /// same file system, outside of what is changed.
        ///
        /// # Errors
        /// `aside` can not be opened.
        pub fn with_power(plan: Plan, aside: &Path) -> io::Result<Self> {
            let fault = Self::new(plan);
            fault.state().power = Some(Power::new(aside)?);
            Ok(fault)
        }

        /// The same on a file system that can not rename without replacing.
        #[must_use]
        pub fn plain_rename_only(self) -> Self {
            self.state().plain_rename_only = true;
            self
        }

        /// The same on a system that can not sync a whole file system and hear of its errors.
        #[must_use]
        pub fn without_sync_fs(self) -> Self {
            self.state().no_sync_fs = true;
            self
        }

        fn state(&self) -> MutexGuard<'_, State> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Runs something under this plan, on this thread.
        pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
            struct Restore(Option<Fault>);
            impl Drop for Restore {
                fn drop(&mut self) {
                    CURRENT.set(self.0.take());
                }
            }
            let _restore = Restore(CURRENT.replace(Some(self.clone())));
            f()
        }

        /// The steps so far, the one that was not taken included.
        #[must_use]
        pub fn trail(&self) -> Vec<(Step, PathBuf)> {
            self.state().trail.clone()
        }

        /// How many of the steps so far are of this kind.
        #[must_use]
        pub fn count(&self, step: Step) -> usize {
            self.state()
                .trail
                .iter()
                .filter(|(s, _)| *s == step)
                .count()
        }

        /// Says whether the process has died.
        #[must_use]
        pub fn died(&self) -> bool {
            self.state().dead
        }

        /// Goes on with another plan, as a new process on the same machine: what the dead one wrote
        /// and did not sync can still be lost.
        pub fn go_on(&self, plan: Plan) {
            let mut state = self.state();
            state.dead = false;
            state.plan = plan;
            state.trail.clear();
        }

        /// Takes back what was not synced, in one of the ways that a power cut can.
        ///
        /// # Errors
        /// The folder could not be put back; the test that asked is of no use then.
        pub fn power_off(&self, loss: Loss) -> io::Result<()> {
            match self.state().power.as_mut() {
                Some(power) => power.off(loss),
                None => Err(io::Error::other("no model of power was asked for")),
            }
        }
    }

    fn death() -> io::Error {
        io::Error::other(Death)
    }

    pub(in super::super) fn before(step: Step, path: &Path, len: usize) -> io::Result<Verdict> {
        let Some(fault) = current() else {
            return of_process(len);
        };
        let mut state = fault.state();
        if state.dead {
            return Err(death());
        }
        state.trail.push((step, path.to_path_buf()));
        let now = state.trail.len() as u64;
        match state.plan {
            Plan::Die(n) if n == now => {
                state.dead = true;
                Err(death())
            }
            Plan::DieTorn(n) if n == now => {
                state.dead = true;
                if len > 0 {
                    Ok(Verdict::Short(len / 2, death()))
                } else {
                    Err(death())
                }
            }
            Plan::Fail(n, errno) if n == now => Err(io::Error::from_raw_os_error(errno)),
            Plan::Short(n, errno) if n == now => {
                Ok(Verdict::Short(len / 2, io::Error::from_raw_os_error(errno)))
            }
            Plan::FullFrom(n)
                if n <= now
                    && matches!(
                        step,
                        Step::Create | Step::Write | Step::MakeDir | Step::Link
                    ) =>
            {
                Err(rustix::io::Errno::NOSPC.into())
            }
            _ => Ok(Verdict::Go),
        }
    }

    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "asked there only")
    )]
    pub(in super::super) fn can_sync_fs() -> bool {
        current().is_none_or(|fault| !fault.state().no_sync_fs)
    }

    pub(in super::super) fn can_rename_without_replacing() -> bool {
        current().is_none_or(|fault| !fault.state().plain_rename_only)
    }

    /// Says whether a sync has to reach the disk. In a simulation it is the model that knows what
    /// lasts, and the disk would only make the tests slow.
    pub(in super::super) fn is_real() -> bool {
        CURRENT.with_borrow(Option::is_none)
    }

    pub(in super::super) fn with_model(
        tell: impl FnOnce(&mut Power) -> io::Result<()>,
    ) -> io::Result<()> {
        match current() {
            Some(fault) => fault.state().power.as_mut().map_or(Ok(()), tell),
            None => Ok(()),
        }
    }

    /// What `WAGG_FAULT` asks for.
    enum OfProcess {
        Abort(u64),
        Fail(u64, rustix::io::Errno),
    }

    fn of_process(len: usize) -> io::Result<Verdict> {
        static ASKED: OnceLock<Option<OfProcess>> = OnceLock::new();
        static STEPS: AtomicU64 = AtomicU64::new(0);
        let asked = ASKED.get_or_init(|| {
            let text = std::env::var("WAGG_FAULT").ok()?;
            let (what, n) = text.split_once(':')?;
            let n = n.parse().ok()?;
            match what {
                "abort" => Some(OfProcess::Abort(n)),
                "ENOSPC" => Some(OfProcess::Fail(n, rustix::io::Errno::NOSPC)),
                "EIO" => Some(OfProcess::Fail(n, rustix::io::Errno::IO)),
                _ => None,
            }
        });
        let Some(asked) = asked else {
            return Ok(Verdict::Go);
        };
        let now = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
        match asked {
            OfProcess::Abort(n) if *n == now => std::process::abort(),
            OfProcess::Fail(n, errno) if *n == now => match len {
                0 | 1 => Err((*errno).into()),
                len => Ok(Verdict::Short(len / 2, (*errno).into())),
            },
            _ => Ok(Verdict::Go),
        }
    }

    /// One way to crash.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Crash {
        /// The process dies between two steps.
        Process,
        /// The process dies in the middle of a step.
        ProcessTorn,
        /// The machine dies, and unsynced work is lost in this way.
        Power(Loss),
    }

    impl Crash {
        /// Every way.
        pub const ALL: [Self; 8] = [
            Self::Process,
            Self::ProcessTorn,
            Self::Power(Loss::All),
            Self::Power(Loss::Data),
            Self::Power(Loss::Zeroed),
            Self::Power(Loss::Half),
            Self::Power(Loss::Reordered),
            Self::Power(Loss::Names),
        ];
    }

    /// Which crash a check looks at.
    #[derive(Debug, Clone)]
    pub struct Crashed {
        /// How.
        pub crash: Crash,
        /// Before which step, from 1; one more than the last: after all of them.
        pub at: u64,
        /// Said whether the work ended before the crash.
        pub ended: bool,
        /// That step, for the message of a failing check.
        pub step: Option<(Step, PathBuf)>,
    }

    /// Whether the `way`th further way to crash is tried at a step. Each step is crashed at in any
    /// case; of the further ways it is one of five, another one at the next step,
    /// or all where `TEST_EVERYTHING` is set.
    #[must_use]
    pub fn is_tried(way: u64, at: u64) -> bool {
        static ALL: OnceLock<bool> = OnceLock::new();
        *ALL.get_or_init(|| std::env::var_os("TEST_EVERYTHING").is_some()) || way % 5 == at % 5
    }

    /// Runs `work` once for each of its steps and each way to crash there, each time on a fresh
    /// folder that `setup` fills, then once to its end with a crash after it, and has `check` look
    /// at what is left. [`is_tried`] says which ways are left out.
    ///
    /// # Errors
    /// The folders could not be made.
    #[expect(clippy::disallowed_methods, reason = "the folders are those of a test")]
    pub fn crash_everywhere<S>(
        setup: impl Fn(&Path) -> S,
        work: impl Fn(&mut S),
        check: impl Fn(&mut S, &Crashed),
    ) -> io::Result<u64> {
        let mut last = 0;
        for (way, crash) in (0..).zip(Crash::ALL) {
            for at in 1.. {
                if way > 0 && at <= last && !is_tried(way, at) {
                    continue;
                }
                let temp = tempfile::tempdir()?;
                let (root, aside) = (temp.path().join("root"), temp.path().join("aside"));
                std::fs::create_dir(&root)?;
                std::fs::create_dir(&aside)?;
                let mut state = Fault::new(Plan::Count).run(|| setup(&root));
                let plan = match crash {
                    Crash::ProcessTorn => Plan::DieTorn(at),
                    Crash::Process | Crash::Power(_) => Plan::Die(at),
                };
                let fault = Fault::with_power(plan, &aside)?;
                fault.run(|| work(&mut state));
                let ended = !fault.died();
                if let Crash::Power(loss) = crash {
                    fault.power_off(loss)?;
                }
                let step = fault.trail().get(at as usize - 1).cloned();
                let crashed = Crashed {
                    crash,
                    at,
                    ended,
                    step,
                };
                Fault::new(Plan::Count).run(|| check(&mut state, &crashed));
                if ended {
                    last = at - 1;
                    break;
                }
            }
        }
        Ok(last)
    }
}
