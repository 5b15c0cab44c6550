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
use super::standing::{open, parent_of};
use super::{sha256, split};
use crate::diag::{Result, hex};
use crate::layout::{OperationId, Paths};
use crate::store::fs::{session_staging_name, temp_name};
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
        /// The file beside it that its content comes from: it gets no rights that this one has not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rights_of: Option<String>,
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
pub(super) const QUARANTINE: &str = ".wagg/quarantine";

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

    pub(super) fn is_there(&self, root: &Dir, folder: &Path) -> io::Result<bool> {
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

    /// A new file with these bytes, which come from the file `rights_of` in the same folder.
    pub fn file(path: PathBuf, content: Vec<u8>, rights_of: Option<String>) -> Result<Self> {
        let (_, name) = split(&path)?;
        Ok(Self {
            effect: Effect::File {
                temp: temp_name(&name).to_string_lossy().into_owned(),
                bytes: content.len() as u64,
                sha256: sha256(&content),
                path,
                rights_of,
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
}
