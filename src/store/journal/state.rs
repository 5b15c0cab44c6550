//! What a change has to know of the journal: which request ids are bound and which intents have no
//! outcome, from the index and what follows the part that it covers.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use super::index::{Index, Key, Upto, build, key};
use super::record::{Brief, Ending, Intent, Line, Part, line_at, parse, without_nuls};
use crate::diag::Result;
use crate::layout::OperationId;
use crate::store::fs::{Dir, WriteDir};

/// How much may follow what the index covers before the index is made to cover it: what a change
/// reads at most, and so what one sync of the index is shared by.
#[cfg(not(test))]
pub(super) const TAIL: u64 = 128 * 1024;
#[cfg(test)]
pub(super) const TAIL: u64 = 4 * 1024;

/// What is known of a journal up to some length.
#[derive(Debug)]
pub(super) struct State {
    id: uuid::Uuid,
    index: Option<Index>,
    /// The length that the index covers.
    from: u64,
    /// The length up to which it was read.
    to: u64,
    /// Request ids bound after `from`, and where.
    bound: HashMap<Key, Vec<u64>>,
    /// Where the intents without an outcome begin.
    open: BTreeMap<OperationId, u64>,
    /// Lines that could not be read.
    pub damaged: u64,
}

impl State {
    /// Reads the index, and what follows the part that it covers.
    pub(super) fn load(
        wagg: &Dir,
        journal: &File,
        id: uuid::Uuid,
        committed: u64,
    ) -> io::Result<Self> {
        let index = Index::load(wagg, journal, id, committed)?;
        let mut state = Self::over(id, index);
        if !state.take_open(journal)? {
            state = Self::over(id, None);
        }
        state.advance(journal, committed)?;
        Ok(state)
    }

    fn over(id: uuid::Uuid, index: Option<Index>) -> Self {
        let from = index.as_ref().map_or(0, |index| index.covered.len);
        Self {
            id,
            index,
            from,
            to: from,
            bound: HashMap::new(),
            open: BTreeMap::new(),
            damaged: 0,
        }
    }

    /// Takes the intents that the index names; false if one is not there.
    fn take_open(&mut self, journal: &File) -> io::Result<bool> {
        let Some(index) = &self.index else {
            return Ok(true);
        };
        for at in &index.covered.open {
            match intent_at(journal, *at, index.covered.len)? {
                Some(intent) => self.open.insert(intent.operation_id, *at),
                None => return Ok(false),
            };
        }
        Ok(true)
    }

    /// Reads what was added since.
    pub(super) fn advance(&mut self, journal: &File, committed: u64) -> io::Result<()> {
        let part = Part {
            file: journal,
            at: self.to,
            end: committed,
        };
        let mut lines = BufReader::with_capacity(64 * 1024, part);
        let mut line = Vec::new();
        while self.to < committed {
            line.clear();
            let len = lines.read_until(b'\n', &mut line)?;
            if len == 0 {
                break;
            }
            self.see(&line, self.to);
            self.to += len as u64;
        }
        Ok(())
    }

    fn see(&mut self, line: &[u8], at: u64) {
        let Ok(brief) = serde_json::from_slice::<Brief<'_>>(without_nuls(line)) else {
            self.damaged += 1;
            return;
        };
        let Some(operation) = brief.operation_id else {
            return;
        };
        match (&*brief.kind, brief.outcome) {
            ("intent", _) => {
                self.open.insert(operation, at);
            }
            ("outcome", Some(outcome)) => {
                self.open.remove(&operation);
                if let Some(request) = brief.request_id.filter(|_| outcome.binds()) {
                    self.bound.entry(key(&request)).or_default().push(at);
                }
            }
            _ => {}
        }
    }

    /// The outcome that a request id is bound to.
    pub(super) fn find(&mut self, journal: &File, request_id: &str) -> io::Result<Option<Ending>> {
        let key = key(request_id);
        let mut places = self.bound.get(&key).cloned().unwrap_or_default();
        if let Some(index) = &self.index {
            match index.find(&key)? {
                Some(found) => places.extend(found),
                None => {
                    // A damaged table is as good as none.
                    let to = self.to;
                    *self = Self::over(self.id, None);
                    self.advance(journal, to)?;
                    return self.find(journal, request_id);
                }
            }
        }
        for at in places {
            if let Ok(line) = line_at(journal, at, self.to)
                && let Ok(Line::Ending(ending)) = parse(&line)
                && ending.request_id.as_deref() == Some(request_id)
            {
                return Ok(Some(*ending));
            }
        }
        Ok(None)
    }

    /// The intents without an outcome, in their order in the journal.
    pub(super) fn unsettled(&self, journal: &File) -> io::Result<Vec<Intent>> {
        let mut places: Vec<u64> = self.open.values().copied().collect();
        places.sort_unstable();
        let mut intents = Vec::with_capacity(places.len());
        for at in places {
            intents.extend(intent_at(journal, at, self.to)?);
        }
        Ok(intents)
    }

    /// How much a change has to read, in bytes.
    pub(super) const fn tail(&self) -> u64 {
        self.to - self.from
    }

    /// Makes the index cover all that was read, which has been synced.
    pub(super) fn checkpoint(&mut self, wagg: &WriteDir<'_>, journal: &File) -> Result<()> {
        let entries: Vec<(Key, u64)> = self
            .bound
            .iter()
            .flat_map(|(key, places)| places.iter().map(|at| (*key, *at)))
            .collect();
        let mut open: Vec<u64> = self.open.values().copied().collect();
        open.sort_unstable();
        let upto = Upto {
            journal: self.id,
            len: self.to,
            entries: &entries,
            open: &open,
        };
        let done = match &self.index {
            Some(index) => {
                index.extend(wagg, journal, &upto)? || build(wagg, journal, Some(index), &upto)?
            }
            None => build(wagg, journal, None, &upto)?,
        };
        let fail = |e| crate::store::fs::failed("read", wagg.path(), e);
        let to = self.to;
        *self = if done {
            Self::load(wagg, journal, self.id, to).map_err(fail)?
        } else {
            // The old table is damaged: read everything, and build it at the next chance.
            let mut state = Self::over(self.id, None);
            state.advance(journal, to).map_err(fail)?;
            state
        };
        Ok(())
    }
}

fn intent_at(journal: &File, at: u64, end: u64) -> io::Result<Option<Intent>> {
    let line = match line_at(journal, at, end) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        line => line?,
    };
    match parse(&line) {
        Ok(Line::Intent(intent)) => Ok(Some(*intent)),
        _ => Ok(None),
    }
}
