//! What retention put away, in stores of version 3: archived Sessions are histories like any other.

use std::ffi::OsStr;
use std::path::Path;

use super::lineage::{self, Node};
use super::segment::{self, Place, unreadable};
use super::{Found, Run, documents};
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{SegmentEntry, classify_segment, file};
use crate::record::document::{
    DocumentFault, SessionDocument, check_object, check_retention_receipt,
};
use crate::record::{Format, Scanner};
use crate::store::{Dir, Document, EntryKind, Folder, Store, read_document, read_folder};

/// Says whether a text is an id of retention: 1 to 160 letters, digits and `-_.:`.
fn is_retention_id(name: &str) -> bool {
    (1..=160).contains(&name.len())
        && !matches!(name, "." | "..")
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
}

/// Adds what is wrong with archives and receipts of retention.
pub(super) fn check(store: &Store, run: &Run<'_>, found: &mut Found) {
    let mut scanner = Scanner::new(run.options.limits).hashing(run.options.digest);
    each(
        store.dir(),
        &[file::ARCHIVES, "workers"],
        found,
        |dir, name, found| {
            archive(dir, name, run, &mut scanner, found);
        },
    );
    each(
        store.dir(),
        &[file::ARCHIVES, "diagnostics"],
        found,
        |dir, name, found| {
            if let Some(dir) = open(dir, name, found) {
                required(&dir, "manifest.json", check_object, found);
            }
        },
    );
    each(
        store.dir(),
        &[file::RETENTION, "operations"],
        found,
        |dir, name, found| {
            let Some(stem) = name.to_str().and_then(|n| n.strip_suffix(".json")) else {
                found.findings.push(Finding::new(
                    Code::UnknownFile,
                    Subject::default(),
                    Locus::file(dir.path_of(name)),
                    "no receipt of retention",
                ));
                return;
            };
            bad_name(dir, name, stem, found);
            required(dir, &name.to_string_lossy(), check_retention_receipt, found);
        },
    );
}

/// Calls `look` for each entry of a folder some levels down; one that is not there is no finding.
fn each(
    root: &Dir,
    names: &[&str],
    found: &mut Found,
    mut look: impl FnMut(&Dir, &OsStr, &mut Found),
) {
    let dir = match root.dir_at(names) {
        Ok(dir) => dir,
        Err(e) => {
            unreadable(
                &names.iter().collect::<std::path::PathBuf>(),
                Subject::default(),
                &e,
                found,
            );
            return;
        }
    };
    match dir.entries() {
        Ok(entries) => {
            for entry in entries {
                look(&dir, &entry.name, found);
            }
        }
        Err(e) => unreadable(dir.path(), Subject::default(), &e, found),
    }
}

fn bad_name(dir: &Dir, name: &OsStr, id: &str, found: &mut Found) {
    if !is_retention_id(id) {
        found.findings.push(Finding::new(
            Code::BadFileName,
            Subject::default(),
            Locus::file(dir.path_of(name)),
            "not an id of retention: 1 to 160 letters, digits, `-`, `_`, `.`, `:`",
        ));
    }
}

fn open(dir: &Dir, name: &OsStr, found: &mut Found) -> Option<Dir> {
    bad_name(dir, name, &name.to_string_lossy(), found);
    match dir.dir(name) {
        Ok(dir) => Some(dir),
        Err(e) => {
            unreadable(&dir.path_of(name), Subject::default(), &e, found);
            None
        }
    }
}

fn required(
    dir: &Dir,
    name: &str,
    read: impl FnOnce(&[u8]) -> Result<(), DocumentFault>,
    found: &mut Found,
) {
    let document = read_document(dir, name, read);
    let path = dir.path_of(name);
    match &document {
        Document::Missing => found.findings.push(Finding::new(
            Code::CorruptDocument,
            Subject::default(),
            Locus::file(path),
            "it is not there",
        )),
        Document::NotAFile(kind) => found.findings.push(Finding::new(
            Code::NotARegularFile,
            Subject::default(),
            Locus::file(path),
            format!(
                "{} stands where a file should be; it was not opened",
                kind.noun()
            ),
        )),
        _ => {
            documents::check(&document, path, Subject::default(), "", found);
        }
    }
}

/// One archived Worker: its manifest and its Session.
fn archive(dir: &Dir, name: &OsStr, run: &Run<'_>, scanner: &mut Scanner, found: &mut Found) {
    let Some(dir) = open(dir, name, found) else {
        return;
    };
    required(&dir, "manifest.json", check_object, found);
    let session = match read_folder(&dir, file::SESSION_DIR, Ok) {
        Folder::Read(session) => session,
        Folder::Missing => return,
        Folder::NotAFolder(kind) => {
            found.findings.push(Finding::new(
                Code::NotARegularFile,
                Subject::default(),
                Locus::file(dir.path_of(file::SESSION_DIR)),
                format!("{} stands where a folder should be", kind.noun()),
            ));
            return;
        }
        Folder::Unreadable(e) => {
            unreadable(
                &dir.path_of(file::SESSION_DIR),
                Subject::default(),
                &e,
                found,
            );
            return;
        }
    };
    let document = read_document(&session, file::SESSION, SessionDocument::read);
    documents::check(
        &document,
        session.path_of(file::SESSION),
        Subject::default(),
        "",
        found,
    );
    let own = document.good().and_then(SessionDocument::session);
    let subject = Subject {
        session_id: own,
        ..Subject::default()
    };
    let nodes = segments(&session, subject, run, scanner, found);
    if own.is_none() && document.is_missing() && !nodes.is_empty() {
        found.findings.push(Finding::new(
            Code::MissingSessionDocument,
            subject,
            Locus::file(session.path_of(file::SESSION)),
            "an archived Session with Segments and no session.json",
        ));
    }
    for node in &nodes {
        let start = node.outline.as_ref().and_then(|o| o.start);
        if let (Some(own), Some(start)) = (own, start)
            && own != start.session
        {
            found.findings.push(Finding::new(
                Code::SessionMismatch,
                node.subject,
                Locus::at(&node.path, start.line, start.byte),
                format!(
                    "this Segment says that it belongs to Session {}, and session.json says {own}",
                    start.session
                ),
            ));
        }
    }
    for foreign in lineage::check(&nodes, run.options.quick, found) {
        found.findings.push(Finding::new(
            Code::LineageMissingSource,
            foreign.subject,
            foreign.locus,
            format!(
                "Segment {} says that it was {} {}, which is not in this archive",
                foreign.segment, foreign.how, foreign.source
            ),
        ));
    }
}

fn segments(
    session: &Dir,
    subject: Subject,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> Vec<Node> {
    let listed = read_folder(session, file::SEGMENTS, |dir| Ok((dir.entries()?, dir)));
    let Folder::Read((entries, dir)) = listed else {
        if let Folder::Unreadable(e) = listed {
            unreadable(
                Path::new(&session.path_of(file::SEGMENTS)),
                subject,
                &e,
                found,
            );
        }
        return Vec::new();
    };
    let mut nodes = Vec::new();
    for entry in entries {
        let path = dir.path_of(&entry.name);
        let (id, format) = match classify_segment(&entry.name.to_string_lossy()) {
            SegmentEntry::Segment(id) => (id, Format::Segment),
            SegmentEntry::Trace(id) => (id, Format::Trace),
            SegmentEntry::Alias { .. } | SegmentEntry::BadStem => {
                found.findings.push(Finding::new(
                    Code::BadFileName,
                    subject,
                    Locus::file(path),
                    "its name should be a Segment's id in lower case with hyphens",
                ));
                continue;
            }
            SegmentEntry::Other => continue,
        };
        let subject = Subject {
            segment_id: Some(id),
            ..subject
        };
        if entry.kind == EntryKind::Symlink {
            found
                .findings
                .push(super::names::link(&dir, &entry.name, subject));
            continue;
        }
        let place = Place {
            dir: &dir,
            name: &entry.name,
            path: &path,
            subject,
            format,
        };
        let outline = segment::check(&place, run, scanner, found);
        if format == Format::Segment {
            nodes.push(Node {
                id,
                path: path.clone(),
                subject,
                outline,
            });
        }
    }
    nodes
}
