//! One Worker's files, written under temporary names: the first step of a batch.

use std::io;

use sha2::{Digest, Sha256};

use super::act::{Act, Underway};
use super::copy::{Stop, Whose, interrupted, pass_all};
use super::facts::{CopiedFile, Glance, Moved, time_of};
use super::manifest::State;
use super::plan::{Item, Move, SessionMove, Step};
use crate::diag::{Code, Error, Finding, Locus, Subject, hex};
use crate::layout::{SessionId, WorkerName, file};
use crate::record::Scanner;
use crate::store::fs::{StagedDir, TempFile, failed, make_durable, stat_of};
use crate::store::{Dir, FileStat, read_bytes};

impl Act<'_> {
    /// Writes one Worker's files under temporary names.
    pub fn stage<'p>(
        &self,
        item: &'p Item,
        tools: &mut Scanner,
        shared_sync: bool,
    ) -> Result<Underway<'p>, Stop> {
        let Step::Move(moving) = &item.step else {
            return Err(Error::new(Code::Internal, "nothing of this Worker is to be moved").into());
        };
        if self.progress.interrupted() {
            return Err(interrupted().into());
        }
        self.progress.message(&format!("Worker {}", item.id));
        let dir = self.folder(item.id)?;
        let (metadata, source) = self.legacy(item, moving)?;
        let mut glance = Glance::default();
        let mut moved = Moved {
            worker_id: item.id,
            session_id: item.session,
            segment_id: moving.segment,
            pending: matches!(item.state, Some(State::Pending(_))),
            metadata: None,
            files: Vec::new(),
            glance: None,
        };
        let mut notes = Vec::new();
        let staged = match &moving.session {
            Some(session) => {
                let mut staged = StagedDir::begin(&dir, self.names.staging.as_str())?;
                moved.files = self.fill(item, session, &staged, tools, &mut glance, &mut notes)?;
                if !shared_sync {
                    staged.sync_each()?;
                }
                Some(staged)
            }
            None => {
                // Its Session was found in place; the metadata must not outlive it.
                if !shared_sync && dir.try_stat(file::SESSION_DIR).is_ok_and(|s| s.is_some()) {
                    make_durable(&dir, file::SESSION_DIR)?;
                }
                None
            }
        };
        let file = if moving.metadata {
            let temp = self.names.metadata.as_str();
            let mut file = TempFile::begin_from(&dir, file::METADATA, temp, Some(&source))?;
            file.put(&metadata)?;
            if !shared_sync {
                file.sync()?;
            }
            moved.metadata = Some(CopiedFile {
                name: file::METADATA.to_owned(),
                bytes: metadata.len() as u64,
                sha256: hex(&moving.digest),
                source_time: time_of(&source),
                time: time_of(&file.stat()?),
            });
            self.progress.add(metadata.len() as u64);
            Some(file)
        } else {
            None
        };
        // Only what was made here as a whole is known again at a glance.
        if moving.metadata && (moving.session.is_some() || item.session.is_none() || moved.pending)
        {
            let worker = dir.stat(file::WORKER);
            let worker = worker.map_err(|e| failed("look at", &dir.path_of(file::WORKER), e))?;
            glance.worker_bytes = worker.len;
            glance.worker_time = time_of(&worker);
            moved.glance = Some(glance);
        }
        Ok(Underway {
            item,
            moving,
            session: staged.map(StagedDir::leave),
            metadata: file.map(TempFile::leave),
            moved,
            notes,
        })
    }

    /// The legacy metadata, which must be what the plan was made from.
    fn legacy(&self, item: &Item, moving: &Move) -> Result<(Vec<u8>, FileStat), Stop> {
        let name = WorkerName::of(item.id);
        let path = self
            .sources
            .roots
            .metadata
            .join(name.as_str())
            .join(file::METADATA);
        let changed = |what: &str| {
            let subject = Subject::worker(item.id);
            let message = format!(
                "the legacy metadata changed since the plan was made{what}; nothing of this Worker was moved"
            );
            let finding = Finding::new(Code::SourceChanged, subject, Locus::file(&path), message);
            Stop::from(finding.with_hint("run the same command again"))
        };
        let read = || -> io::Result<(Vec<u8>, FileStat)> {
            let root = self.sources.metadata_dir();
            let root: &Dir = root.ok_or(io::ErrorKind::NotFound)?;
            let folder = root.dir(name.as_str())?;
            let stat = folder.stat(file::METADATA)?;
            Ok((read_bytes(&folder, file::METADATA)?, stat))
        };
        let (bytes, stat) = read().map_err(|e| changed(&format!(": {e}")))?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        if digest != moving.digest {
            return Err(changed(""));
        }
        Ok((bytes, stat))
    }

    /// Fills a staged Session: `session.json`, and every file byte for byte.
    fn fill(
        &self,
        item: &Item,
        session: &SessionMove,
        staged: &StagedDir<'_, '_>,
        tools: &mut Scanner,
        glance: &mut Glance,
        notes: &mut Vec<Finding>,
    ) -> Result<Vec<CopiedFile>, Stop> {
        let name = session.id.to_string();
        let path = self.sources.roots.sessions.join(&name);
        let whose = Whose {
            worker: item.id,
            session: session.id,
            active: session.active,
            path: &path,
        };
        let source = self
            .sources
            .sessions_dir()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
            .and_then(|root| root.dir(&name));
        let source = source.map_err(|e| {
            let finding = Finding::new(
                Code::SourceChanged,
                Subject::worker(item.id),
                Locus::file(&path),
                format!("the Session's folder can not be opened any more: {e}"),
            );
            Stop::from(finding.with_hint("run the same command again"))
        })?;
        let dir = staged.dir();
        let document = dir.path_of(file::SESSION);
        let put = |action: &str, e| Stop::from(failed(action, &document, e));
        let mut out = dir.create(file::SESSION).map_err(|e| put("make", e))?;
        out.put(session_document(session.id).as_bytes())
            .map_err(|e| put("write", e))?;
        let written = stat_of(out.file()).map_err(|e| put("look at", e))?;
        glance.session_time = time_of(&written);
        drop(out);
        // Looked at before it is listed: a name that comes later changes it.
        glance.source_time = source.own_stat().map_or(0, |stat| time_of(&stat));
        let segments = dir
            .make_dir(file::SEGMENTS)
            .map_err(|e| Stop::from(failed("make", &dir.path_of(file::SEGMENTS), e)))?;
        let (files, found) = pass_all(&source, &whose, tools, self.progress, Some(&segments))?;
        notes.extend(found);
        glance.segments_time = segments.own_stat().map_or(0, |stat| time_of(&stat));
        Ok(files)
    }
}

/// `session.json` as the reference writes it.
fn session_document(session: SessionId) -> String {
    format!("{{\n  \"schema_version\": 1,\n  \"session_id\": \"{session}\"\n}}\n")
}
