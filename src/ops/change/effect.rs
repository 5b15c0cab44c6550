//! What a change does to a disk, as data: each effect can be done, found done, and told from a
//! store that has moved on.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::aside::{Cut, Kept, Move};
use super::rewrite::Rewrite;
use super::{hex, sha256, split};
use crate::diag::Result;
use crate::layout::{OperationId, Paths};
use crate::record::Source;
use crate::store::fs::{session_staging_name, stat_of, temp_name};
use crate::store::{Dir, read_whole};

/// A file inside a folder that is made as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Relative to the folder.
    pub path: PathBuf,
    /// In bytes.
    pub bytes: u64,
    /// Of its content, in hex.
    pub sha256: String,
    /// Its content, where settling may have to write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// One thing that a change does. Paths are relative to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A document is replaced, or made.
    Document {
        /// Where it is.
        path: PathBuf,
        /// The temporary name on the way.
        temp: String,
        /// SHA-256 of what was there; none if nothing was.
        before: Option<String>,
        /// SHA-256 of what will be there.
        after: String,
        /// What was there, for an undo.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous: Option<String>,
        /// What will be there, where settling may have to write it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    },
    /// A new file appears whole.
    File {
        /// Where it will be.
        path: PathBuf,
        /// The temporary name on the way.
        temp: String,
        /// In bytes.
        bytes: u64,
        /// Of its content.
        sha256: String,
    },
    /// A new folder appears whole.
    Folder {
        /// Where it is filled.
        staging: PathBuf,
        /// Where it will be. Folders above it are made if need be.
        path: PathBuf,
        /// Folders in it.
        folders: Vec<PathBuf>,
        /// Files in it.
        files: Vec<NewFile>,
        /// The place may be taken by a folder that holds nothing but empty folders of these names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        over_empty: Vec<String>,
        /// Folders above it that are made on the way, from the top, each with its temporary name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        above: Vec<(PathBuf, String)>,
        /// What tells this folder from another in its place, also after a Runtime went on in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known_by: Option<KnownBy>,
    },
    /// Records are added to a file.
    Append {
        /// Which file.
        path: PathBuf,
        /// Its committed length before.
        offset: u64,
        /// How many bytes are added.
        bytes: u64,
        /// SHA-256 of all that is added.
        sha256: String,
        /// For each line but the last: the length up to its end and the SHA-256 of that much, so
        /// that a part of it can be told from anything else.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<(u64, String)>,
    },
    /// A file that is no history is removed: a run's socket.
    Remove {
        /// Which.
        path: PathBuf,
    },
    /// What will be taken away is copied to the operation's quarantine, before anything changes.
    Keep {
        /// What.
        parts: Vec<Kept>,
    },
    /// A file is written anew from its old bytes by edits.
    Rewrite(Rewrite),
    /// The end of a file is cut off.
    Cut(Cut),
    /// A file or folder gets another place.
    Move(Move),
    /// What an operation put aside is let go of for good.
    Empty {
        /// Whose quarantine.
        operation: OperationId,
        /// The temporary name on the way.
        temp: String,
    },
}

/// Where what was put aside is.
const QUARANTINE: &str = ".wagg/quarantine";

/// A field of a document that keeps its value for as long as the document lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownBy {
    /// The document, relative to the folder.
    pub file: PathBuf,
    /// The field.
    pub field: String,
    /// SHA-256 of its value, in a form that does not depend on who wrote it.
    pub sha256: String,
}

impl KnownBy {
    /// That field, with the value that it has in these bytes.
    ///
    /// # Errors
    /// They are no JSON object.
    pub fn field(file: &str, field: &str, bytes: &[u8]) -> Result<Self> {
        let map = super::edit::parse(bytes)?;
        Ok(Self {
            file: PathBuf::from(file),
            field: field.to_owned(),
            sha256: digest_of_value(map.get(field)),
        })
    }

    fn is_there(&self, root: &Dir, folder: &Path) -> io::Result<bool> {
        let Some(file) = open(root, &folder.join(&self.file))? else {
            return Ok(false);
        };
        let bytes = read_whole(&file)?;
        let Ok(map) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) else {
            return Ok(false);
        };
        Ok(map.contains_key(&self.field) && digest_of_value(map.get(&self.field)) == self.sha256)
    }
}

/// SHA-256 of a value without what one writer leaves out and another does not: null, `false` and
/// what is empty.
fn digest_of_value(value: Option<&Value>) -> String {
    fn lean(value: &Value) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(false) => None,
            Value::Array(all) if all.is_empty() => None,
            Value::Array(all) => Some(all.iter().map(|v| lean(v).unwrap_or_default()).collect()),
            Value::Object(map) => {
                let map: serde_json::Map<String, Value> = map
                    .iter()
                    .filter_map(|(key, value)| Some((key.clone(), lean(value)?)))
                    .collect();
                (!map.is_empty()).then_some(Value::Object(map))
            }
            other => Some(other.clone()),
        }
    }
    let value = value.and_then(lean).unwrap_or_default();
    super::fingerprint("", &value)
}

/// An effect with the bytes that it writes.
#[derive(Debug, Clone)]
pub struct Act {
    /// What is done.
    pub effect: Effect,
    /// What is written: one entry for a document, file or append; one for each file of a folder.
    pub content: Vec<Vec<u8>>,
}

/// How a place on disk stands to an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was not done; it can be.
    Before,
    /// It was done.
    After,
    /// A part of an append stands there: so many bytes of it.
    Part(u64),
    /// Something else stands there: the store has moved on.
    Moved,
}

impl Act {
    /// A document is replaced by these bytes. `previous` is what stands there now.
    pub fn document(path: PathBuf, previous: Option<&[u8]>, content: Vec<u8>) -> Result<Self> {
        let (_, name) = split(&path)?;
        Ok(Self {
            effect: Effect::Document {
                temp: temp_name(&name).to_string_lossy().into_owned(),
                before: previous.map(sha256),
                after: sha256(&content),
                previous: previous.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
                content: None,
                path,
            },
            content: vec![content],
        })
    }

    /// A new file with these bytes.
    pub fn file(path: PathBuf, content: Vec<u8>) -> Result<Self> {
        let (_, name) = split(&path)?;
        Ok(Self {
            effect: Effect::File {
                temp: temp_name(&name).to_string_lossy().into_owned(),
                bytes: content.len() as u64,
                sha256: sha256(&content),
                path,
            },
            content: vec![content],
        })
    }

    /// A new folder with these folders and files, filled beside its place.
    pub fn folder(path: PathBuf, folders: &[&str], files: Vec<(PathBuf, Vec<u8>)>) -> Result<Self> {
        let (parent, name) = split(&path)?;
        let staging = if name == OsStr::new(crate::layout::file::SESSION_DIR) {
            session_staging_name()
        } else {
            temp_name(&name)
        };
        Ok(Self::folder_from(
            parent.join(staging),
            path,
            folders,
            files,
        ))
    }

    /// The same, filled in another place.
    #[must_use]
    pub fn folder_from(
        staging: PathBuf,
        path: PathBuf,
        folders: &[&str],
        files: Vec<(PathBuf, Vec<u8>)>,
    ) -> Self {
        let (names, content): (Vec<PathBuf>, Vec<Vec<u8>>) = files.into_iter().unzip();
        let files = names
            .into_iter()
            .zip(&content)
            .map(|(path, bytes)| NewFile {
                path,
                bytes: bytes.len() as u64,
                sha256: sha256(bytes),
                content: None,
            })
            .collect();
        let folders = folders.iter().map(PathBuf::from).collect();
        Self {
            effect: Effect::Folder {
                staging,
                path,
                folders,
                files,
                over_empty: Vec::new(),
                above: Vec::new(),
                known_by: None,
            },
            content,
        }
    }

    /// The same, allowed to take the place of a folder that holds only these empty folders.
    #[must_use]
    pub fn over_empty(mut self, inner: &[&str]) -> Self {
        if let Effect::Folder { over_empty, .. } = &mut self.effect {
            *over_empty = inner.iter().map(|s| (*s).to_owned()).collect();
        }
        self
    }

    /// The same, told from another folder in its place by a field of a document in it.
    #[must_use]
    pub fn known_by(mut self, by: KnownBy) -> Self {
        if let Effect::Folder { known_by, .. } = &mut self.effect {
            *known_by = Some(by);
        }
        self
    }

    /// Notes which folders above a new one are not there yet, so that they are made under a name
    /// that starts with a dot, with the rights of the one above, before they get their own.
    pub(super) fn look_above(&mut self, root: &Dir) -> io::Result<()> {
        let Effect::Folder { path, above, .. } = &mut self.effect else {
            return Ok(());
        };
        above.clear();
        let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
        folders.pop();
        for folder in folders.into_iter().rev() {
            let there = match parent_of(root, folder)? {
                Some(parent) => parent
                    .try_stat(folder.file_name().unwrap_or_default())?
                    .is_some(),
                None => false,
            };
            if !there {
                let temp = temp_name(folder.file_name().unwrap_or_default());
                above.push((folder.to_owned(), temp.to_string_lossy().into_owned()));
            }
        }
        Ok(())
    }

    /// These lines are added at the end of a file whose committed length is `offset`.
    #[must_use]
    pub fn append(path: PathBuf, offset: u64, lines: Vec<u8>) -> Self {
        let mut parts = Vec::new();
        let mut hasher = Sha256::new();
        let mut at = 0;
        for newline in memchr::memchr_iter(b'\n', &lines) {
            hasher.update(&lines[at..=newline]);
            at = newline + 1;
            if at < lines.len() {
                parts.push((at as u64, hex(&hasher.clone().finalize())));
            }
        }
        let effect = Effect::Append {
            path,
            offset,
            bytes: lines.len() as u64,
            sha256: sha256(&lines),
            parts,
        };
        Self {
            effect,
            content: vec![lines],
        }
    }

    /// A file is removed.
    #[must_use]
    pub fn remove(path: PathBuf) -> Self {
        Self {
            effect: Effect::Remove { path },
            content: Vec::new(),
        }
    }

    /// The effect with its content inside, for an intent: what follows the commit point.
    pub(super) fn with_content(&self) -> Effect {
        let text = |bytes: &Vec<u8>| Some(String::from_utf8_lossy(bytes).into_owned());
        let mut effect = self.effect.clone();
        match &mut effect {
            Effect::Document { content, .. } => *content = self.content.first().and_then(text),
            Effect::Folder { files, .. } => {
                for (file, bytes) in files.iter_mut().zip(&self.content) {
                    file.content = text(bytes);
                }
            }
            Effect::File { .. }
            | Effect::Append { .. }
            | Effect::Remove { .. }
            | Effect::Keep { .. }
            | Effect::Rewrite(_)
            | Effect::Cut(_)
            | Effect::Move(_)
            | Effect::Empty { .. } => {}
        }
        effect
    }

    /// The act of an effect that follows a commit point, from an intent.
    pub(super) fn from_intent(effect: &Effect) -> Option<Self> {
        let content = match effect {
            Effect::Document { content, .. } => vec![content.clone()?.into_bytes()],
            Effect::Folder { files, .. } => files
                .iter()
                .map(|file| file.content.clone().map(String::into_bytes))
                .collect::<Option<Vec<_>>>()?,
            Effect::Remove { .. }
            | Effect::Rewrite(_)
            | Effect::Cut(_)
            | Effect::Move(_)
            | Effect::Empty { .. } => Vec::new(),
            Effect::File { .. } | Effect::Append { .. } | Effect::Keep { .. } => return None,
        };
        Some(Self {
            effect: effect.clone(),
            content,
        })
    }
}

impl Effect {
    /// Where it takes place.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Document { path, .. }
            | Self::File { path, .. }
            | Self::Folder { path, .. }
            | Self::Append { path, .. }
            | Self::Remove { path } => path,
            Self::Keep { parts } => parts.first().map_or(Path::new(""), |part| &part.path),
            Self::Rewrite(rewrite) => &rewrite.path,
            Self::Cut(cut) => &cut.path,
            Self::Move(to) => &to.to,
            // Nothing of the store changes.
            Self::Empty { .. } => Path::new(QUARANTINE),
        }
    }

    /// Every path whose content or place it changes.
    #[must_use]
    pub fn touches(&self) -> Vec<&Path> {
        match self {
            Self::Keep { .. } | Self::Empty { .. } => Vec::new(),
            Self::Move(other) => vec![&other.from, &other.to],
            other => vec![other.path()],
        }
    }

    /// What a kill may leave of it.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let paths = match self {
            Self::Document { path, temp, .. } | Self::File { path, temp, .. } => {
                vec![path.with_file_name(temp)]
            }
            Self::Folder { staging, above, .. } => above
                .iter()
                .map(|(path, temp)| path.with_file_name(temp))
                .chain([staging.clone()])
                .collect(),
            Self::Rewrite(rewrite) => vec![rewrite.path.with_file_name(&rewrite.temp)],
            Self::Append { .. }
            | Self::Remove { .. }
            | Self::Keep { .. }
            | Self::Cut(_)
            | Self::Move(_) => Vec::new(),
            Self::Empty { temp, .. } => vec![Paths::quarantine().join(temp)],
        };
        paths
            .into_iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }

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
