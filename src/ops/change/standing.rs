//! How a store stands to an effect: it was not done, it was done, or the store has moved on.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::effect::{Effect, QUARANTINE, State};
use super::sha256;
use crate::diag::hex;
use crate::record::Source;
use crate::store::fs::stat_of;
use crate::store::{Dir, read_whole};

impl Effect {
    /// Whether it is sure that this was never done, where something else stands in its place by
    /// now.
    ///
    /// # Errors
    /// It can not be read.
    pub(super) fn surely_not(&self, root: &Dir) -> io::Result<bool> {
        match self {
            // What is renamed into place is not under its temporary name any more.
            Self::Document { path, temp, .. } | Self::File { path, temp, .. } => {
                let temp = path.with_file_name(temp);
                Ok(parent_of(root, &temp)?.is_some_and(|dir| {
                    let name = temp.file_name().unwrap_or_default();
                    dir.try_stat(name).is_ok_and(|stat| stat.is_some())
                }))
            }
            // Another folder than ours stands there, and ours would not have been replaced.
            Self::Folder { known_by, .. } => Ok(known_by.is_some()),
            Self::Append {
                path,
                offset,
                bytes,
                parts,
                ..
            } => {
                let Some(file) = open(root, path)? else {
                    return Ok(false);
                };
                // Where even its first line is not, none is.
                let Some((len, first)) = parts.first() else {
                    return Ok(stat_of(&file)?.len >= offset + bytes);
                };
                let there = digest_of(&file, *offset, *len)?;
                Ok(there.is_some_and(|digest| digest != *first))
            }
            Self::Rewrite(rewrite) => rewrite.surely_not(root),
            Self::Cut(cut) => cut.surely_not(root),
            Self::Move(other) => other.surely_not(root),
            Self::Remove { .. } | Self::Keep { .. } | Self::Empty { .. } => Ok(false),
        }
    }

    /// How the store stands to this effect.
    ///
    /// # Errors
    /// It can not be read.
    pub(super) fn state(&self, root: &Dir) -> io::Result<State> {
        match self {
            Self::Document {
                path,
                before,
                after,
                ..
            } => {
                let now = document_digest(root, path)?;
                Ok(if now.as_ref() == Some(after) {
                    State::After
                } else if now == *before {
                    State::Before
                } else {
                    State::Moved
                })
            }
            Self::File {
                path,
                bytes,
                sha256,
                ..
            } => prefix(root, path, 0, *bytes, sha256),
            Self::Folder {
                staging,
                path,
                files,
                known_by,
                ..
            } => {
                let Some(parent) = parent_of(root, path)? else {
                    return Ok(State::Before);
                };
                let name = path.file_name().unwrap_or_default();
                if parent.try_stat(name)?.is_none() {
                    return Ok(State::Before);
                }
                if let Some(parent) = parent_of(root, staging)?
                    && parent
                        .try_stat(staging.file_name().unwrap_or_default())?
                        .is_some()
                {
                    // It is still where it was filled, so what stands in its place is another's,
                    // or nothing but what it may be put over.
                    return Ok(State::Before);
                }
                if let Some(known_by) = known_by {
                    return Ok(if known_by.is_there(root, path)? {
                        State::After
                    } else if open(root, &path.join(&known_by.file))?.is_none() {
                        State::Before
                    } else {
                        State::Moved
                    });
                }
                match files.iter().find(|f| f.bytes > 0) {
                    Some(file) => {
                        match prefix(root, &path.join(&file.path), 0, file.bytes, &file.sha256)? {
                            State::After => Ok(State::After),
                            State::Before => Ok(State::Before),
                            _ => Ok(State::Moved),
                        }
                    }
                    None => Ok(State::After),
                }
            }
            Self::Append {
                path,
                offset,
                bytes,
                sha256,
                parts,
            } => append_state(root, path, *offset, *bytes, sha256, parts),
            // A copy; whether it is there matters to nobody before what follows it is.
            Self::Keep { .. } => Ok(State::Before),
            Self::Rewrite(rewrite) => rewrite.state(root),
            Self::Cut(cut) => cut.state(root),
            Self::Move(other) => other.state(root),
            Self::Empty { operation, .. } => {
                let there = match root.dir_at(Path::new(QUARANTINE)) {
                    Ok(dir) => dir.try_stat(operation.to_string())?.is_some(),
                    Err(e) if e.kind() == io::ErrorKind::NotFound => false,
                    Err(e) => return Err(e),
                };
                Ok(if there { State::Before } else { State::After })
            }
            Self::Remove { path } => {
                let Some(parent) = parent_of(root, path)? else {
                    return Ok(State::After);
                };
                let there = parent.try_stat(path.file_name().unwrap_or_default())?;
                Ok(if there.is_some() {
                    State::Before
                } else {
                    State::After
                })
            }
        }
    }
}

/// The folder above a path; none if it is not there.
pub(super) fn parent_of(root: &Dir, path: &Path) -> io::Result<Option<Dir>> {
    let parent = path.parent().unwrap_or(Path::new(""));
    match root.dir_at(parent) {
        Ok(dir) => Ok(Some(dir)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

pub(super) fn open(root: &Dir, path: &Path) -> io::Result<Option<std::fs::File>> {
    let Some(parent) = parent_of(root, path)? else {
        return Ok(None);
    };
    match parent.file(path.file_name().unwrap_or_default()) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// SHA-256 in hex of a document; none if there is none.
pub(super) fn document_digest(root: &Dir, path: &Path) -> io::Result<Option<String>> {
    match open(root, path)? {
        Some(file) => Ok(Some(sha256(&read_whole(&file)?))),
        None => Ok(None),
    }
}

/// SHA-256 of a part of a file; none if the file ends before it does.
pub(super) fn digest_of(
    file: &(impl Source + ?Sized),
    offset: u64,
    bytes: u64,
) -> io::Result<Option<String>> {
    let mut hasher = Sha256::new();
    let mut buf = vec![0; 256 * 1024];
    let (mut at, end) = (offset, offset + bytes);
    while at < end {
        let want = usize::try_from(end - at)
            .unwrap_or(buf.len())
            .min(buf.len());
        match file.read_at(&mut buf[..want], at)? {
            0 => return Ok(None),
            n => {
                hasher.update(&buf[..n]);
                at += n as u64;
            }
        }
    }
    Ok(Some(hex(&hasher.finalize())))
}

/// Whether a new file is there: these bytes, and maybe more behind them.
fn prefix(root: &Dir, path: &Path, offset: u64, bytes: u64, sha256: &str) -> io::Result<State> {
    let Some(file) = open(root, path)? else {
        return Ok(State::Before);
    };
    Ok(match digest_of(&file, offset, bytes)? {
        Some(digest) if digest == sha256 => State::After,
        _ => State::Moved,
    })
}

fn append_state(
    root: &Dir,
    path: &Path,
    offset: u64,
    bytes: u64,
    sha256: &str,
    parts: &[(u64, String)],
) -> io::Result<State> {
    let Some(file) = open(root, path)? else {
        return Ok(State::Moved);
    };
    let len = stat_of(&file)?.len;
    if len >= offset + bytes {
        return Ok(match digest_of(&file, offset, bytes)? {
            Some(digest) if digest == sha256 => State::After,
            _ => State::Moved,
        });
    }
    if len < offset {
        return Ok(State::Moved);
    }
    if len == offset {
        return Ok(State::Before);
    }
    // A part of it. Whole lines must be ours to the byte; what follows the last of them was never
    // committed by anybody.
    let there = len - offset;
    let whole = parts.iter().rev().find(|(n, _)| *n <= there);
    let lines = match whole {
        Some((n, digest)) => {
            if digest_of(&file, offset, *n)?.as_ref() != Some(digest) {
                return Ok(State::Moved);
            }
            *n
        }
        None => 0,
    };
    let mut rest = vec![0; usize::try_from(there - lines).unwrap_or(usize::MAX)];
    let mut done = 0;
    while done < rest.len() {
        match Source::read_at(&file, &mut rest[done..], offset + lines + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(if rest.contains(&b'\n') {
        State::Moved
    } else {
        State::Part(there)
    })
}
