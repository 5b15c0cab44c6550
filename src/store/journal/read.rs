//! Reading the journal: without a lock, the committed prefix at the length it had when opened.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::lookup::open_to_read;
use super::record::{Ending, Intent, Line, parse};
use crate::diag::Result;
use crate::layout::{OperationId, Paths, file};
use crate::store::fs::{Dir, failed};

/// An operation as the journal tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// What it was about to do.
    pub intent: Intent,
    /// How it ended; none if it is unsettled.
    pub ending: Option<Ending>,
}

/// The operations of a store, newest first, read from the end of the journal as they are asked for.
#[derive(Debug)]
pub struct Operations {
    journal: Option<File>,
    /// Everything before this is still to be read.
    at: u64,
    /// Bytes from `at` on that were read and not given yet, without the last newline.
    block: Vec<u8>,
    endings: HashMap<OperationId, Ending>,
    damaged: Vec<u64>,
}

/// How much is read at once, backwards.
const BLOCK: u64 = 64 * 1024;

/// The operations of the store at `root`, newest first.
///
/// # Errors
/// What the system says. A store without a journal has none.
pub fn operations(root: &Dir) -> Result<Operations> {
    let wagg = match root.dir(file::WAGG) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        dir => Some(dir.map_err(|e| failed("open", &Paths::wagg(), e))?),
    };
    let opened = match &wagg {
        Some(wagg) => open_to_read(wagg)?,
        None => None,
    };
    let (journal, at) = opened.map_or((None, 0), |(file, len)| (Some(file), len));
    Ok(Operations {
        journal,
        at,
        block: Vec::new(),
        endings: HashMap::new(),
        damaged: Vec::new(),
    })
}

/// One operation, by its id.
///
/// # Errors
/// What the system says.
pub fn find_operation(root: &Dir, id: OperationId) -> Result<Option<Operation>> {
    for operation in operations(root)? {
        let operation = operation?;
        if operation.intent.operation_id == id {
            return Ok(Some(operation));
        }
    }
    Ok(None)
}

/// The intents without an outcome, newest first.
///
/// # Errors
/// What the system says.
pub fn unsettled(root: &Dir) -> Result<Vec<Intent>> {
    let mut intents = Vec::new();
    for operation in operations(root)? {
        let operation = operation?;
        if operation.ending.is_none() {
            intents.push(operation.intent);
        }
    }
    Ok(intents)
}

impl Operations {
    /// Where lines begin that could not be read, in bytes from the start of the journal, so far.
    #[must_use]
    pub fn damaged(&self) -> &[u64] {
        &self.damaged
    }

    /// The line that ends where the last one began, and where it begins.
    fn line(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let Some(journal) = &self.journal else {
            return Ok(None);
        };
        loop {
            // The newline that ends the line itself is the last byte.
            let body = self.block.len().saturating_sub(1);
            if let Some(newline) = memchr::memrchr(b'\n', &self.block[..body]) {
                let line = self.block.split_off(newline + 1);
                return Ok(Some((self.at + newline as u64 + 1, line)));
            }
            if self.at == 0 {
                let line = std::mem::take(&mut self.block);
                return Ok((!line.is_empty()).then_some((0, line)));
            }
            let part = self.at.min(BLOCK.max(self.block.len() as u64));
            let mut block = vec![0; usize::try_from(part).unwrap_or_default()];
            journal.read_exact_at(&mut block, self.at - part)?;
            self.at -= part;
            block.append(&mut self.block);
            self.block = block;
        }
    }
}

impl Iterator for Operations {
    type Item = Result<Operation>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at, line) = match self.line() {
                Ok(line) => line?,
                Err(e) => {
                    self.journal = None;
                    return Some(Err(failed("read", &Paths::journal(), e)));
                }
            };
            match parse(&line) {
                Ok(Line::Intent(intent)) => {
                    let ending = self.endings.remove(&intent.operation_id);
                    let intent = *intent;
                    return Some(Ok(Operation { intent, ending }));
                }
                Ok(Line::Ending(ending)) => {
                    self.endings.insert(ending.operation_id, *ending);
                }
                Ok(Line::Header(_) | Line::Other) => {}
                Err(_) => self.damaged.push(at),
            }
        }
    }
}
