//! Whether a Worker is as it was when a run of ours moved it, at a glance: names by the times of
//! folders, files by their sizes and times. Nothing is opened but folders, and nothing is read.
//!
//! A glance that does not agree says nothing: the Worker is then looked at in full.

use std::ffi::{OsStr, OsString};

use super::facts::{Noted, NotedFile, time_of};
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
pub(super) fn metadata(folder: &Dir, noted: &Noted) -> bool {
    let is = |m: &NotedFile| is_file(folder, file::METADATA, m.bytes, m.source_time);
    noted.metadata.as_ref().is_some_and(is)
}

/// What is in the store, in the Worker's folder.
pub(super) fn target(dir: &Dir, noted: &Noted) -> bool {
    let (Some(glance), Some(metadata)) = (&noted.glance, &noted.metadata) else {
        return false;
    };
    if !is_folder(dir, glance.folder_time)
        || !is_file(dir, file::WORKER, glance.worker_bytes, glance.worker_time)
        || !is_file(dir, file::METADATA, metadata.bytes, metadata.time)
    {
        return false;
    }
    if noted.pending || noted.session_id.is_none() {
        return true;
    }
    let look = || -> std::io::Result<bool> {
        let session = dir.dir(file::SESSION_DIR)?;
        let document = session.stat(file::SESSION)?;
        let segments = session.dir(file::SEGMENTS)?;
        Ok(time_of(&document) == glance.session_time
            && is_folder(&segments, glance.segments_time)
            && noted
                .files
                .iter()
                .all(|f| is_file(&segments, &f.name, f.bytes, f.time)))
    };
    look().unwrap_or(false)
}

/// The legacy folder of its Session.
pub(super) fn source(dir: &Dir, noted: &Noted) -> bool {
    noted.glance.as_ref().is_some_and(|glance| {
        is_folder(dir, glance.source_time)
            && noted
                .files
                .iter()
                .all(|f| is_file(dir, &f.name, f.bytes, f.source_time))
    })
}

/// All files of its Session in both places, whatever the times of the folders.
pub(super) fn files(noted: &Noted, source: &Dir, segments: &Dir, names: &[OsString]) -> bool {
    let Ok(entries) = source.entries() else {
        return false;
    };
    let listed = entries.iter().map(|entry| &entry.name);
    let same = |names: &mut dyn Iterator<Item = &OsString>| {
        names
            .map(OsString::as_os_str)
            .eq(noted.files.iter().map(|file| OsStr::new(&*file.name)))
    };
    same(&mut names.iter())
        && same(&mut listed.into_iter())
        && noted.files.iter().all(|f| {
            is_file(source, &f.name, f.bytes, f.source_time)
                && is_file(segments, &f.name, f.bytes, f.time)
        })
}
