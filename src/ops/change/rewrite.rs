//! A file that is written anew from its old bytes by a list of edits, in flat memory (C28): to a
//! temporary file beside it, hashed on the way, and renamed over it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::effect::{Act, Effect, State};
use super::split;
use super::standing::{digest_of, open, parent_of};
use crate::diag::{Code, Error, Locus, Result, hex};
use crate::layout::OperationId;
use crate::record::Source;
use crate::store::fs::{TempFile, WriteDir, failed, stat_of, temp_name};
use crate::store::{Dir, quarantined_file};

/// How much is copied at once.
const BLOCK: usize = 256 * 1024;

/// What stands where bytes went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum With {
    /// This text.
    Text(String),
    /// Bytes that an operation put aside.
    Kept {
        /// Which operation.
        operation: OperationId,
        /// Where they begin in what it kept.
        at: u64,
        /// How many.
        bytes: u64,
    },
}

impl With {
    /// In bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Kept { bytes, .. } => *bytes,
        }
    }
}

/// One edit: `length` bytes from `offset` on of the old file make room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// In the old file.
    pub offset: u64,
    /// Bytes that go.
    pub length: u64,
    /// What comes; several parts one after the other.
    pub with: Vec<With>,
}

impl Splice {
    /// Bytes that come.
    #[must_use]
    pub fn comes(&self) -> u64 {
        self.with.iter().map(With::bytes).sum()
    }
}

/// A file is written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// Which.
    pub path: PathBuf,
    /// The temporary name on the way.
    pub temp: String,
    /// Its length before.
    pub bytes_before: u64,
    /// SHA-256 of all of it before.
    pub before: String,
    /// Its length after.
    pub bytes_after: u64,
    /// SHA-256 of all of it after.
    pub after: String,
    /// What changes, in the order of the old file.
    pub edits: Vec<Splice>,
}

/// Reads on, whatever comes in between.
fn read_some(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    match Source::read_at(file, buf, at)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        n => Ok(n),
    }
}

/// Copies a part of a file to `sink`, a block at a time.
fn copy(
    file: &File,
    from: u64,
    bytes: u64,
    buf: &mut [u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    path: &Path,
) -> Result<()> {
    let (mut at, end) = (from, from + bytes);
    while at < end {
        let room = usize::try_from(end - at)
            .unwrap_or(buf.len())
            .min(buf.len());
        let n = read_some(file, &mut buf[..room], at).map_err(|e| failed("read", path, e))?;
        sink(&buf[..n])?;
        at += n as u64;
    }
    Ok(())
}

/// Shows the new file to `new` and the old one to `old`, each from its start to its end. The old
/// file is read once.
fn stream(
    root: &Dir,
    path: &Path,
    file: &File,
    len: u64,
    edits: &[Splice],
    old: &mut dyn FnMut(&[u8]),
    new: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buf = vec![0; BLOCK];
    let mut at = 0;
    for edit in edits {
        if edit.offset < at || edit.offset + edit.length > len {
            return Err(Error::new(
                Code::Internal,
                format!("the edits of {} do not fit it", path.display()),
            ));
        }
        copy(
            file,
            at,
            edit.offset - at,
            &mut buf,
            &mut |part| {
                old(part);
                new(part)
            },
            path,
        )?;
        let mut goes = |part: &[u8]| {
            old(part);
            Ok(())
        };
        copy(file, edit.offset, edit.length, &mut buf, &mut goes, path)?;
        for with in &edit.with {
            match with {
                With::Text(text) => new(text.as_bytes())?,
                With::Kept {
                    operation,
                    at,
                    bytes,
                } => {
                    let kept = quarantined_file(root, *operation)?;
                    copy(&kept, *at, *bytes, &mut buf, new, path)?;
                }
            }
        }
        at = edit.offset + edit.length;
    }
    copy(
        file,
        at,
        len - at,
        &mut buf,
        &mut |part| {
            old(part);
            new(part)
        },
        path,
    )
}

impl Rewrite {
    /// Reads the file once and works out what it will be.
    ///
    /// # Errors
    /// It can not be read, or the edits do not fit it.
    pub fn of(root: &Dir, path: PathBuf, edits: Vec<Splice>) -> Result<Self> {
        let (_, name) = split(&path)?;
        let look = |e| failed("read", &path, e);
        let file = open(root, &path)
            .map_err(look)?
            .ok_or_else(|| look(io::ErrorKind::NotFound.into()))?;
        let len = stat_of(&file).map_err(look)?.len;
        let (mut before, mut after) = (Sha256::new(), Sha256::new());
        let mut bytes_after = 0;
        stream(
            root,
            &path,
            &file,
            len,
            &edits,
            &mut |part| before.update(part),
            &mut |part| {
                bytes_after += part.len() as u64;
                after.update(part);
                Ok(())
            },
        )?;
        Ok(Self {
            temp: temp_name(&name).to_string_lossy().into_owned(),
            bytes_before: len,
            before: hex(&before.finalize()),
            bytes_after,
            after: hex(&after.finalize()),
            edits,
            path,
        })
    }

    /// How the file stands to it. Records that somebody added behind it do not matter.
    pub(super) fn state(&self, root: &Dir) -> io::Result<State> {
        let Some(file) = open(root, &self.path)? else {
            return Ok(State::Moved);
        };
        let len = stat_of(&file)?.len;
        let is = |bytes: u64, digest: &str| -> io::Result<bool> {
            Ok(digest_of(&file, 0, bytes)?.is_some_and(|d| d == digest))
        };
        Ok(if len == self.bytes_before && is(len, &self.before)? {
            State::Before
        } else if len >= self.bytes_after && is(self.bytes_after, &self.after)? {
            State::After
        } else {
            State::Moved
        })
    }

    /// Whether it is sure that it was never done: what is renamed into place is not under its
    /// temporary name any more.
    pub(super) fn surely_not(&self, root: &Dir) -> io::Result<bool> {
        let temp = self.path.with_file_name(&self.temp);
        let dir = parent_of(root, &temp)?;
        Ok(dir.is_some_and(|dir| {
            dir.try_stat(temp.file_name().unwrap_or_default())
                .is_ok_and(|stat| stat.is_some())
        }))
    }

    /// Writes the new file beside the old one.
    pub(super) fn begin<'d, 'g>(
        &self,
        root: &Dir,
        dir: &'d WriteDir<'g>,
    ) -> Result<TempFile<'d, 'g>> {
        let (_, name) = split(&self.path)?;
        let look = |e| failed("read", &self.path, e);
        let file = dir.file(&name).map_err(look)?;
        let len = stat_of(&file).map_err(look)?.len;
        if len != self.bytes_before {
            return Err(changed(&self.path));
        }
        let mut temp = TempFile::begin(dir, &name, self.temp.as_str())?;
        let (mut before, mut after) = (Sha256::new(), Sha256::new());
        stream(
            root,
            &self.path,
            &file,
            len,
            &self.edits,
            &mut |part| before.update(part),
            &mut |part| {
                after.update(part);
                temp.put(part)
            },
        )?;
        if hex(&before.finalize()) != self.before {
            return Err(changed(&self.path));
        }
        if hex(&after.finalize()) != self.after {
            return Err(Error::new(
                Code::Internal,
                format!("{} did not become what it should", self.path.display()),
            ));
        }
        Ok(temp)
    }

    /// The last look before the rename: whoever does not know our locks may have added to the file.
    pub(super) fn still_there(&self, temp: &TempFile<'_, '_>, dir: &WriteDir<'_>) -> Result<()> {
        let (_, name) = split(&self.path)?;
        let now = dir
            .stat(&name)
            .map_err(|e| failed("look at", &self.path, e))?;
        let same = temp.replaces().is_some_and(|old| {
            old.same_file(&now)
                && (old.len, old.mtime_s, old.mtime_ns) == (now.len, now.mtime_s, now.mtime_ns)
        });
        if same {
            Ok(())
        } else {
            Err(changed(&self.path))
        }
    }
}

/// The refusal to write over what somebody else has just written.
pub(super) fn changed(path: &Path) -> Error {
    Error::new(
        Code::SourceChanged,
        format!("{} changed while it was read", path.display()),
    )
    .at(Locus::file(path))
    .hint("stop what writes there, then look again: wagg verify")
}

impl Act {
    /// A file is written anew with these edits.
    ///
    /// # Errors
    /// As [`Rewrite::of`].
    pub fn rewrite(root: &Dir, path: PathBuf, edits: Vec<Splice>) -> Result<Self> {
        Ok(Self {
            effect: Effect::Rewrite(Rewrite::of(root, path, edits)?),
            content: Vec::new(),
        })
    }
}
