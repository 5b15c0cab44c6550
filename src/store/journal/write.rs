//! Changing the journal: beginning operations, ending them, settling those of the dead.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use rustix::fs::OFlags;

use super::lookup::{
    Lookup, Replay, ask, header_of, journal_id, look, open_to_read, read_state, replay,
};
use super::record::{
    Ending, Header, Intent, JOURNAL_SCHEMA, Line, Outcome, Part, Receipt, now, parse, to_line,
};
use super::state::{State, TAIL};
use crate::diag::{Code, Error, Result};
use crate::layout::{Leftover, OperationId, Paths, WorkerId, file, leftover};
use crate::store::fs::{
    Appender, TempFile, TornTail, WriteDir, clear_leftover, failed, sync_dir, temp_name,
};
use crate::store::lock::{Guard, LockRequest, lock_journal};
use crate::store::quarantine::Quarantine;

/// The journal, in the hands of somebody who holds a lock of the store.
pub struct Journal<'g> {
    guard: &'g dyn Guard,
    request: LockRequest<'g>,
}

impl std::fmt::Debug for Journal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

/// What became of an attempt to begin.
#[derive(Debug)]
#[must_use]
pub enum Begin<'j> {
    /// It is new: its intent is durable, now act.
    Fresh(OpenOperation<'j>),
    /// It was done before: answer this, and do nothing.
    Replay(Replay),
    /// An operation with this request id has no outcome yet. Take the lock of its scope, settle
    /// it, and begin again.
    Unsettled(Box<Intent>),
}

/// An operation whose intent is durable. Dropped without an outcome, it is unsettled, which is
/// right when the outcome is not known.
#[derive(Debug)]
#[must_use = "an operation that is not ended has to be settled"]
pub struct OpenOperation<'j> {
    journal: &'j Journal<'j>,
    intent: Box<Intent>,
}

impl OpenOperation<'_> {
    /// The operation's id.
    #[must_use]
    pub const fn id(&self) -> OperationId {
        self.intent.operation_id
    }

    /// Forgets what it may leave, which from here on only the journal has to know: it may be much.
    pub fn without_leftovers(mut self) -> Self {
        self.intent.leftovers = Vec::new();
        self
    }

    /// What it is about to do.
    #[must_use]
    pub fn intent(&self) -> &Intent {
        &self.intent
    }

    /// Writes the outcome. With a request id it is durable when this returns: one sync. Without
    /// one it needs no sync of its own, since an outcome that is lost is settled again.
    ///
    /// # Errors
    /// `outcome_unknown` or what the system says; the operation is unsettled then.
    pub fn finish(self, outcome: Outcome, receipt: Receipt) -> Result<Receipt> {
        self.journal
            .settle(&self.intent, outcome, receipt.clone())?;
        Ok(receipt)
    }

    /// Writes that there was no effect, so that the request id is free again. No sync.
    ///
    /// # Errors
    /// What the system says; the operation is unsettled then.
    pub fn clear(self) -> Result<()> {
        self.journal.clear(&self.intent)
    }
}

/// A journal that is open for writing, under its lock.
struct Opened {
    appender: Appender,
    id: uuid::Uuid,
    /// Lines to be written before any other.
    header: Option<Vec<u8>>,
}

impl<'g> Journal<'g> {
    /// The journal of the store that `guard` is a lock of. Nothing is made yet.
    #[must_use]
    pub fn new(guard: &'g dyn Guard, request: LockRequest<'g>) -> Self {
        Self { guard, request }
    }

    /// The intents without an outcome that `wanted` says yes to, in their order. Whoever holds the
    /// lock that one was made under knows that its process is gone.
    ///
    /// # Errors
    /// `lock_busy` or what the system says.
    pub fn unsettled(&self, wanted: impl Fn(&Intent) -> bool) -> Result<Vec<Intent>> {
        let wagg = self.guard.wagg();
        if wagg.try_stat(file::JOURNAL).map_err(look)?.is_none() {
            return Ok(Vec::new());
        }
        let _lock = lock_journal(self.guard, &self.request)?;
        let Some((journal, state)) = read_state(wagg)? else {
            return Ok(Vec::new());
        };
        let mut intents = state.unsettled(&journal).map_err(look)?;
        intents.retain(wanted);
        Ok(intents)
    }

    /// The intents without an outcome that must be settled before this Worker changes.
    ///
    /// # Errors
    /// As [`Journal::unsettled`].
    pub fn unsettled_in(&self, worker: WorkerId) -> Result<Vec<Intent>> {
        self.unsettled(|intent| intent.worker_id == Some(worker))
    }

    /// Begins an operation: its intent is durable when this returns. One sync.
    ///
    /// `actor_named` says that the actor was given, and so must be the one that the request id
    /// is bound to.
    ///
    /// # Errors
    /// `request_mismatch`, `lock_busy`, or what the system says; `outcome_unknown` if the sync
    /// fails, with nothing done yet.
    pub fn begin(&self, intent: Intent, actor_named: bool) -> Result<Begin<'_>> {
        let mut begun = self.begin_many(vec![(intent, actor_named)])?;
        begun
            .pop()
            .unwrap_or_else(|| Err(Error::new(Code::Internal, "nothing was begun")))
    }

    /// Begins several operations with one sync. Each is refused or replayed alone; of two with one
    /// request id the second is unsettled, as the first one is not done yet.
    ///
    /// # Errors
    /// As [`Journal::begin`], for all of them.
    pub fn begin_many(&self, intents: Vec<(Intent, bool)>) -> Result<Vec<Result<Begin<'_>>>> {
        let _lock = lock_journal(self.guard, &self.request)?;
        let first = intents.first().map(|(intent, _)| intent.operation_id);
        let mut opened = self.open(first)?;
        let wagg = self.guard.wagg();
        let journal = opened.appender.file().try_clone().map_err(look)?;
        let committed = opened.appender.committed();
        let mut state = State::load(wagg, &journal, opened.id, committed).map_err(look)?;
        if state.tail() > TAIL {
            // Outcomes may stand there that nobody synced; the index covers only what lasts.
            opened.appender.sync()?;
            state.checkpoint(wagg, &journal)?;
        }
        let open = state.unsettled(&journal).map_err(look)?;
        let mut lines = opened.header.take().unwrap_or_default();
        let empty = lines.len();
        let mut begun: Vec<Result<Begin<'_>>> = Vec::with_capacity(intents.len());
        for (intent, named) in intents {
            let twin = intent.request_id.as_ref().and_then(|request| {
                let same = |other: &&Intent| other.request_id.as_ref() == Some(request);
                let fresh = begun.iter().filter_map(|b| match b {
                    Ok(Begin::Fresh(operation)) => Some(operation.intent()),
                    _ => None,
                });
                open.iter().chain(fresh).find(same).cloned()
            });
            if let Some(twin) = twin {
                begun.push(Ok(Begin::Unsettled(Box::new(twin))));
                continue;
            }
            let bound = match &intent.request_id {
                Some(request) => state.find(&journal, request).map_err(look)?,
                None => None,
            };
            if let Some(ending) = bound {
                let actor = named.then_some(intent.actor.as_str());
                begun.push(replay(ending, &intent.fingerprint, actor).map(Begin::Replay));
                continue;
            }
            let line = to_line(&intent).map_err(unwritable)?;
            if lines.is_empty() {
                lines = line; // it may be long: no second copy
            } else {
                lines.extend(line);
            }
            begun.push(Ok(Begin::Fresh(OpenOperation {
                journal: self,
                intent: Box::new(intent),
            })));
        }
        if lines.len() > empty {
            opened.appender.write(&lines)?;
            opened.appender.commit()?;
        }
        Ok(begun)
    }

    /// Writes an operation that needs no effect, intent and outcome at once: one sync. For what
    /// finds nothing to do and has a request id.
    ///
    /// # Errors
    /// As [`Journal::begin`].
    pub fn record(
        &self,
        intent: Intent,
        actor_named: bool,
        outcome: Outcome,
        receipt: Receipt,
    ) -> Result<Lookup> {
        let _lock = lock_journal(self.guard, &self.request)?;
        let mut opened = self.open(Some(intent.operation_id))?;
        let wagg = self.guard.wagg();
        let journal = opened.appender.file().try_clone().map_err(look)?;
        let committed = opened.appender.committed();
        let mut state = State::load(wagg, &journal, opened.id, committed).map_err(look)?;
        let actor = actor_named.then_some(intent.actor.as_str());
        if let Some(request) = &intent.request_id {
            let known = ask(&mut state, &journal, request, &intent.fingerprint, actor)?;
            if known != Lookup::Unknown {
                return Ok(known);
            }
        }
        let mut lines = opened.header.take().unwrap_or_default();
        lines.extend(to_line(&intent).map_err(unwritable)?);
        lines.extend(to_line(&Ending::of(&intent, outcome, receipt)).map_err(unwritable)?);
        opened.appender.write(&lines)?;
        opened.appender.commit()?;
        Ok(Lookup::Unknown)
    }

    /// Writes the outcome of an intent, one's own or that of a dead process. Durable when this
    /// returns if it has a request id.
    ///
    /// # Errors
    /// `outcome_unknown`, `lock_busy` or what the system says.
    pub fn settle(&self, intent: &Intent, outcome: Outcome, receipt: Receipt) -> Result<()> {
        let ending = Ending::of(intent, outcome, receipt);
        self.end(&[ending], intent.request_id.is_some() && outcome.binds())
    }

    /// Writes the outcomes of several operations with one sync at most.
    ///
    /// # Errors
    /// As [`Journal::settle`].
    pub fn finish_many(&self, ended: Vec<(OpenOperation<'_>, Outcome, Receipt)>) -> Result<()> {
        let binds = |(o, outcome, _): &(OpenOperation<'_>, Outcome, Receipt)| {
            o.intent.request_id.is_some() && outcome.binds()
        };
        let sync = ended.iter().any(binds);
        let endings: Vec<Ending> = ended
            .into_iter()
            .map(|(operation, outcome, receipt)| Ending::of(&operation.intent, outcome, receipt))
            .collect();
        self.end(&endings, sync)
    }

    /// Writes that an intent came to nothing. No sync: should it be lost, it is found again.
    ///
    /// # Errors
    /// As [`Journal::settle`].
    pub fn clear(&self, intent: &Intent) -> Result<()> {
        let receipt = Receipt::new(&serde_json::Value::Null).map_err(unwritable)?;
        self.end(&[Ending::of(intent, Outcome::Cleared, receipt)], false)
    }

    fn end(&self, endings: &[Ending], sync: bool) -> Result<()> {
        let Some(first) = endings.first() else {
            return Ok(());
        };
        let _lock = lock_journal(self.guard, &self.request)?;
        let mut opened = self.open(Some(first.operation_id))?;
        let mut lines = opened.header.take().unwrap_or_default();
        for ending in endings {
            lines.extend(to_line(ending).map_err(unwritable)?);
        }
        opened.appender.write(&lines)?;
        if sync {
            opened.appender.commit()?;
        } else {
            opened.appender.leave();
        }
        Ok(())
    }

    /// The settled operations that `forget` says yes to, in their order.
    ///
    /// # Errors
    /// What the system says.
    pub fn prunable(&self, mut forget: impl FnMut(&Ending) -> bool) -> Result<Vec<OperationId>> {
        let _lock = lock_journal(self.guard, &self.request)?;
        let Some((journal, committed)) = open_to_read(self.guard.wagg())? else {
            return Ok(Vec::new());
        };
        let mut begun = BTreeSet::new();
        let mut gone = Vec::new();
        each_line(&journal, committed, |line| {
            match parse(line) {
                Ok(Line::Intent(intent)) => {
                    begun.insert(intent.operation_id);
                }
                Ok(Line::Ending(ending))
                    if begun.remove(&ending.operation_id) && forget(&ending) =>
                {
                    gone.push(ending.operation_id);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(gone)
    }

    /// Forgets these operations: their request ids are free again. The journal is written anew,
    /// with the operation that forgets them, already ended, as its last: both or neither. Two
    /// syncs.
    ///
    /// # Errors
    /// `lock_busy` or what the system says, with nothing forgotten; `outcome_unknown`.
    pub fn prune(&self, gone: &[OperationId], noted: Option<(&Intent, &Receipt)>) -> Result<()> {
        let _lock = lock_journal(self.guard, &self.request)?;
        let wagg = self.guard.wagg();
        let Some((journal, committed)) = open_to_read(wagg)? else {
            return Ok(());
        };
        self.clear_torn_prunes()?;
        let gone: std::collections::HashSet<OperationId> = gone.iter().copied().collect();
        let mut anew = TempFile::begin(wagg, file::JOURNAL, temp_name(file::JOURNAL))?;
        // Another id, so that no index of the old one is taken for one of this.
        let mut out = header_line()?;
        each_line(&journal, committed, |line| {
            let keep = match parse(line) {
                Ok(Line::Header(_)) => false,
                Ok(Line::Intent(intent)) => !gone.contains(&intent.operation_id),
                Ok(Line::Ending(ending)) => !gone.contains(&ending.operation_id),
                // Not ours to judge.
                Ok(Line::Other) | Err(_) => true,
            };
            if keep {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
            if out.len() > 1 << 20 {
                anew.put(&out)?;
                out.clear();
            }
            Ok(())
        })?;
        if let Some((intent, receipt)) = noted {
            out.extend(to_line(intent).map_err(unwritable)?);
            let ending = Ending::of(intent, Outcome::Done, receipt.clone());
            out.extend(to_line(&ending).map_err(unwritable)?);
        }
        if !out.is_empty() {
            anew.put(&out)?;
        }
        anew.replace()
    }

    /// Clears what a prune left that was killed: no intent names it, since it has none.
    fn clear_torn_prunes(&self) -> Result<()> {
        let wagg = self.guard.wagg();
        for entry in wagg.entries().map_err(look)? {
            if let Some(Leftover::Temporary { target, .. }) = entry.name.to_str().and_then(leftover)
                && target == file::JOURNAL
            {
                clear_leftover(wagg, &entry.name)?;
            }
        }
        Ok(())
    }

    /// Opens the journal for writing; makes it if there is none. A torn tail goes to the
    /// quarantine of the operation that comes after it.
    fn open(&self, operation: Option<OperationId>) -> Result<Opened> {
        let wagg = self.guard.wagg();
        let path = Paths::journal();
        let flags = OFlags::RDWR | OFlags::APPEND;
        let file = match wagg.open_existing(file::JOURNAL, flags) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                wagg.create(file::JOURNAL)
                    .map_err(|e| failed("make", &path, e))?;
                wagg.open_existing(file::JOURNAL, flags)
            }
            found => found,
        }
        .map_err(|e| failed("open", &path, e))?;
        let keep = |tail: &TornTail<'_>| {
            let operation = operation.unwrap_or_else(OperationId::mint);
            let mut quarantine = Quarantine::open(wagg, operation)?;
            quarantine.keep_tail(&path, tail)?;
            quarantine.sync()
        };
        let appender = Appender::over(file, keep)?;
        if appender.committed() == 0 {
            self.make_room_durable()?;
            let line = header_line()?;
            let id = header_of(&line).map_or_else(uuid::Uuid::nil, |header| header.journal_id);
            return Ok(Opened {
                appender,
                id,
                header: Some(line),
            });
        }
        let id = journal_id(appender.file(), appender.committed())?;
        Ok(Opened {
            appender,
            id,
            header: None,
        })
    }

    /// Makes our own folder and what every operation needs in it durable, before the first line
    /// says that it is. A process that died in between has left names that nobody synced.
    fn make_room_durable(&self) -> Result<()> {
        let wagg = self.guard.wagg();
        for name in ["workers", "staging", "quarantine"] {
            wagg.ensure_dir(name)
                .map_err(|e| failed("make", &wagg.path_of(name), e))?;
        }
        let root = self.guard.root().try_clone().map_err(look)?;
        sync_dir(&WriteDir::guarded(root))?;
        sync_dir(wagg)
    }
}

fn unwritable(e: serde_json::Error) -> Error {
    Error::new(Code::Internal, "a record of the journal can not be written").caused_by(e)
}

fn header_line() -> Result<Vec<u8>> {
    to_line(&Header {
        schema_version: JOURNAL_SCHEMA,
        journal_id: uuid::Uuid::now_v7(),
        ts: now(),
    })
    .map_err(unwritable)
}

fn each_line(
    journal: &File,
    committed: u64,
    mut see: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    use std::io::BufRead;
    let part = Part {
        file: journal,
        at: 0,
        end: committed,
    };
    let mut lines = io::BufReader::with_capacity(64 * 1024, part);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(look)? == 0 {
            return Ok(());
        }
        see(line.strip_suffix(b"\n").unwrap_or(&line))?;
    }
}
