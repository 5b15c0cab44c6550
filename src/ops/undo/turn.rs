//! Each effect of an operation, turned round.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::not_undoable;
use crate::diag::{Code, Error, Result};
use crate::layout::{OperationId, Paths};
use crate::ops::change::aside::{Cut, Kept, Move, kept_path, part_digest};
use crate::ops::change::effect::NewFile;
use crate::ops::change::rewrite::{Rewrite, Splice, With};
use crate::ops::change::{Act, Effect, View, sha256};
use crate::store::fs::{failed, stat_of};
use crate::store::journal::{Intent, Operation};
use crate::store::{Dir, EntryKind, Item, Store, What};

/// Turns an operation's effects round.
pub(super) struct Turn<'a> {
    pub store: &'a Store,
    pub operation: &'a Operation,
    /// What it took away.
    pub kept: Vec<Item>,
    /// The undo.
    pub undo: OperationId,
    pub acts: Vec<Act>,
    pub keep: Vec<Kept>,
    pub moved: u64,
}

pub(super) fn look<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|e| failed("read", path, e))
}

impl Turn<'_> {
    pub fn root(&self) -> &Dir {
        self.store.dir()
    }

    pub fn intent(&self) -> &Intent {
        &self.operation.intent
    }

    fn gone(&self) -> Error {
        not_undoable(
            self.intent(),
            "what it took away is not in quarantine any more, or is not what was put there",
        )
    }

    pub fn len(&self, path: &Path) -> Result<Option<u64>> {
        let opened = self
            .root()
            .dir_at(path.parent().unwrap_or(Path::new("")))
            .and_then(|dir| dir.file(path.file_name().unwrap_or_default()));
        match opened {
            Ok(file) => look(path, stat_of(&file)).map(|stat| Some(stat.len)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(failed("open", path, e)),
        }
    }

    /// Whether a file is these bytes and nothing more.
    pub fn is_whole(&self, path: &Path, bytes: u64, sha256: &str) -> Result<bool> {
        Ok(self.len(path)? == Some(bytes) && part_digest(self.root(), path, 0, bytes)? == sha256)
    }

    pub fn effect(&mut self, effect: &Effect) -> Result<()> {
        match effect {
            Effect::Keep { .. } => Ok(()),
            Effect::Document {
                path,
                before,
                after,
                previous,
                ..
            } => self.document(path, before.as_deref(), after, previous.as_deref()),
            Effect::File {
                path,
                bytes,
                sha256,
                ..
            } => {
                if !self.is_whole(path, *bytes, sha256)? {
                    return Err(self.conflict(path, "changed"));
                }
                self.put_away(path, What::File, *bytes, sha256)
            }
            Effect::Folder {
                path,
                folders,
                files,
                ..
            } => {
                self.exact_folder(path, folders, files)?;
                self.put_away(path, What::Folder, 0, "")
            }
            Effect::Append {
                path,
                offset,
                bytes,
                sha256,
                ..
            } => self.append(path, *offset, *bytes, sha256),
            Effect::Remove { .. } => Err(not_undoable(
                self.intent(),
                "it removed a socket, which nobody can bring back",
            )),
            Effect::Empty { .. } => Err(self.gone()),
            Effect::Rewrite(rewrite) => self.rewrite(rewrite),
            Effect::Cut(cut) => self.cut(cut),
            Effect::Move(other) => self.back(other),
        }
    }

    fn document(
        &mut self,
        path: &Path,
        before: Option<&str>,
        after: &str,
        previous: Option<&str>,
    ) -> Result<()> {
        let now = View::plain(self.store).document(path)?;
        let Some(now) = now.filter(|now| sha256(now) == after) else {
            return Err(self.conflict(path, "changed"));
        };
        let Some(before) = before else {
            return self.put_away(path, What::File, now.len() as u64, after);
        };
        let Some(previous) = previous.filter(|text| sha256(text.as_bytes()) == before) else {
            return Err(not_undoable(
                self.intent(),
                format!("it does not know what {} said before", path.display()),
            ));
        };
        self.keep.push(Kept::part(
            self.root(),
            path,
            What::Bytes,
            0,
            now.len() as u64,
        )?);
        self.acts.push(Act::document(
            path.to_path_buf(),
            Some(&now),
            previous.as_bytes().to_vec(),
        )?);
        Ok(())
    }

    /// What was made goes to the quarantine of the undo.
    fn put_away(&mut self, path: &Path, what: What, bytes: u64, sha256: &str) -> Result<()> {
        self.moved += 1;
        let name = format!("made-{}", self.moved);
        self.keep.push(Kept {
            path: path.to_path_buf(),
            what,
            offset: 0,
            bytes,
            sha256: sha256.to_owned(),
            stored_as: Some(name.clone()),
        });
        let to = kept_path(self.undo, &name);
        self.acts
            .push(Act::relocate(self.root(), path.to_path_buf(), to)?);
        Ok(())
    }

    /// A folder that was made must hold what was put in it and nothing else.
    fn exact_folder(&self, path: &Path, folders: &[PathBuf], files: &[NewFile]) -> Result<()> {
        let dir = match self.root().dir_at(path) {
            Ok(dir) => dir,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(self.conflict(path, "was taken away"));
            }
            Err(e) => return Err(failed("open", path, e)),
        };
        let mut wanted: BTreeMap<PathBuf, Option<&NewFile>> = BTreeMap::new();
        for folder in folders {
            wanted.insert(folder.clone(), None);
        }
        for file in files {
            for above in file.path.ancestors().skip(1) {
                if !above.as_os_str().is_empty() {
                    wanted.entry(above.to_path_buf()).or_insert(None);
                }
            }
            wanted.insert(file.path.clone(), Some(file));
        }
        let mut todo = vec![(dir, PathBuf::new())];
        while let Some((dir, at)) = todo.pop() {
            for entry in look(path, dir.entries())? {
                let inner = at.join(&entry.name);
                let place = path.join(&inner);
                match (wanted.remove(&inner), entry.kind) {
                    (Some(None), EntryKind::Dir) => {
                        todo.push((look(&place, dir.dir(&entry.name))?, inner));
                    }
                    (Some(Some(file)), EntryKind::File) => {
                        if !self.is_whole(&place, file.bytes, &file.sha256)? {
                            return Err(self.conflict(&place, "changed"));
                        }
                    }
                    _ => return Err(self.conflict(&place, "came")),
                }
            }
        }
        match wanted.keys().next() {
            Some(missing) => Err(self.conflict(&path.join(missing), "was taken away")),
            None => Ok(()),
        }
    }

    fn append(&mut self, path: &Path, offset: u64, bytes: u64, digest: &str) -> Result<()> {
        let exact = self.len(path)? == Some(offset + bytes)
            && part_digest(self.root(), path, offset, bytes)? == digest;
        if !exact {
            return Err(self.conflict(path, "changed"));
        }
        self.keep
            .push(Kept::part(self.root(), path, What::Bytes, offset, bytes)?);
        // A torn tail that was cut on the way comes back too.
        let tail = self
            .kept
            .iter()
            .find(|item| item.what == What::Tail && item.path == path && item.offset == offset);
        let act = match tail.and_then(|item| Some((item, item.stored_at?))) {
            Some((item, at)) => {
                self.check(item, at)?;
                let with = With::Kept {
                    operation: self.intent().operation_id,
                    at,
                    bytes: item.length,
                };
                let edit = Splice {
                    offset,
                    length: bytes,
                    with: vec![with],
                };
                Act::rewrite(self.root(), path.to_path_buf(), vec![edit])?
            }
            None => Act::cut(self.root(), path.to_path_buf(), offset, bytes)?,
        };
        self.acts.push(act);
        Ok(())
    }

    /// Where bytes that the operation took out of a file are kept.
    fn kept(&self, path: &Path, offset: u64, length: u64) -> Result<With> {
        let item = self.kept.iter().find(|item| {
            item.path == path
                && item.stored_at.is_some()
                && item.offset <= offset
                && item.offset + item.length >= offset + length
        });
        let Some((item, at)) = item.and_then(|item| Some((item, item.stored_at?))) else {
            return Err(self.gone());
        };
        self.check(item, at)?;
        Ok(With::Kept {
            operation: self.intent().operation_id,
            at: at + (offset - item.offset),
            bytes: length,
        })
    }

    /// What is in quarantine must be what was put there.
    fn check(&self, item: &Item, at: u64) -> Result<()> {
        let path = kept_path(self.intent().operation_id, &item.place().0);
        match part_digest(self.root(), &path, at, item.length) {
            Ok(digest) if digest == item.sha256 => Ok(()),
            Ok(_) => Err(self.gone()),
            Err(e) => Err(self.gone().caused_by(e)),
        }
    }

    fn rewrite(&mut self, rewrite: &Rewrite) -> Result<()> {
        let path = &rewrite.path;
        if !self.is_whole(path, rewrite.bytes_after, &rewrite.after)? {
            return Err(self.conflict(path, "changed"));
        }
        let mut edits = Vec::new();
        let (mut grown, mut shrunk) = (0, 0);
        for edit in &rewrite.edits {
            let offset = edit.offset + grown - shrunk;
            let with = match edit.length {
                0 => Vec::new(),
                length => vec![self.kept(path, edit.offset, length)?],
            };
            if edit.comes() > 0 {
                let part = Kept::part(self.root(), path, What::Bytes, offset, edit.comes())?;
                self.keep.push(part);
            }
            edits.push(Splice {
                offset,
                length: edit.comes(),
                with,
            });
            grown += edit.comes();
            shrunk += edit.length;
        }
        self.bring_back(path, edits, rewrite.bytes_before, &rewrite.before)
    }

    /// Writes a file anew, if that makes exactly what it was.
    fn bring_back(
        &mut self,
        path: &Path,
        edits: Vec<Splice>,
        bytes: u64,
        sha256: &str,
    ) -> Result<()> {
        let back = Rewrite::of(self.root(), path.to_path_buf(), edits).map_err(|e| {
            // What can not be read out of the quarantine is not there.
            if e.code == Code::IoFailed {
                self.gone().caused_by(e)
            } else {
                e
            }
        })?;
        if (back.bytes_after, back.after.as_str()) != (bytes, sha256) {
            return Err(self.gone());
        }
        self.acts.push(Act {
            effect: Effect::Rewrite(back),
            content: Vec::new(),
        });
        Ok(())
    }

    fn cut(&mut self, cut: &Cut) -> Result<()> {
        if self.len(&cut.path)? != Some(cut.to) {
            return Err(self.conflict(&cut.path, "changed"));
        }
        let edit = Splice {
            offset: cut.to,
            length: 0,
            with: vec![self.kept(&cut.path, cut.to, cut.bytes)?],
        };
        let back = Rewrite::of(self.root(), cut.path.clone(), vec![edit])
            .map_err(|e| self.gone().caused_by(e))?;
        self.acts.push(Act {
            effect: Effect::Rewrite(back),
            content: Vec::new(),
        });
        Ok(())
    }

    /// What was moved goes back to its place.
    fn back(&mut self, other: &Move) -> Result<()> {
        let kept = other.to.starts_with(Paths::quarantine());
        if !look(&other.to, other.is(self.root(), &other.to))? {
            return Err(if kept {
                self.gone()
            } else {
                self.conflict(&other.to, "changed")
            });
        }
        if View::plain(self.store).exists(&other.from)? {
            return Err(self.conflict(&other.from, "came"));
        }
        if kept {
            let act = Act::relocate(self.root(), other.to.clone(), other.from.clone())?;
            self.acts.push(act);
            return Ok(());
        }
        // It was brought back by an undo; now it goes to the quarantine of this one.
        let (bytes, sha256) = match other.what {
            What::Folder => (0, String::new()),
            _ => (other.bytes, other.sha256.clone()),
        };
        self.put_away(&other.to, other.what, bytes, &sha256)
    }
}
