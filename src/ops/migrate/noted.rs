//! Whether a Worker is as it was when a run of ours moved it, at a glance: names by the times of
//! folders, files by their sizes and times. Nothing is opened but folders, and nothing is read.
//!
//! A glance that does not agree says nothing: the Worker is then looked at in full.

use super::facts::{CopiedFile, Moved, time_of};
use crate::layout::file;
use crate::store::{Dir, EntryKind, FileStat};

fn is_file(dir: &Dir, name: &str, bytes: u64, time: i64) -> bool {
    let is = |stat: FileStat| {
        stat.kind == EntryKind::File && stat.len == bytes && time_of(&stat) == time
    };
    dir.stat(name).is_ok_and(is)
}

fn is_folder(dir: &Dir, time: i64) -> bool {
    dir.own_stat().is_ok_and(|stat| time_of(&stat) == time)
}

/// The legacy metadata, in its folder.
pub(super) fn metadata(folder: &Dir, moved: &Moved) -> bool {
    let is = |m: &CopiedFile| is_file(folder, file::METADATA, m.bytes, m.source_time);
    moved.metadata.as_ref().is_some_and(is)
}

/// What is in the store, in the Worker's folder.
pub(super) fn target(dir: &Dir, moved: &Moved) -> bool {
    let (Some(glance), Some(metadata)) = (&moved.glance, &moved.metadata) else {
        return false;
    };
    if !is_folder(dir, glance.folder_time)
        || !is_file(dir, file::WORKER, glance.worker_bytes, glance.worker_time)
        || !is_file(dir, file::METADATA, metadata.bytes, metadata.time)
    {
        return false;
    }
    if moved.pending || moved.session_id.is_none() {
        return true;
    }
    let look = || -> std::io::Result<bool> {
        let session = dir.dir(file::SESSION_DIR)?;
        let document = session.stat(file::SESSION)?;
        let segments = session.dir(file::SEGMENTS)?;
        Ok(time_of(&document) == glance.session_time
            && is_folder(&segments, glance.segments_time)
            && moved
                .files
                .iter()
                .all(|f| is_file(&segments, &f.name, f.bytes, f.time)))
    };
    look().unwrap_or(false)
}

/// The legacy folder of its Session.
pub(super) fn source(dir: &Dir, moved: &Moved) -> bool {
    moved.glance.as_ref().is_some_and(|glance| {
        is_folder(dir, glance.source_time)
            && moved
                .files
                .iter()
                .all(|f| is_file(dir, &f.name, f.bytes, f.source_time))
    })
}
