//! What retention put away, in stores of version 3: archived Sessions are histories like any other.

use super::lineage::{self, Node};
use super::names::{self, Expect};
use super::segment::{self, Place, unreadable};
use super::{Found, Run, documents, worker};
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{SegmentEntry, classify_segment, file, leftover};
use crate::record::document::{
    DocumentFault, SessionDocument, check_object, check_retention_receipt,
};
use crate::record::{Format, Scanner};
use crate::store::{Dir, Entry, EntryKind, Folder, Store, read_document, read_folder};

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
    let mut scanner = run.scanner();
    let folder = |name: &str| leftover(name).is_none().then_some(Expect::Folder);
    if let Some(archives) = open(store.dir(), file::ARCHIVES, found) {
        archives.names(
            |name| matches!(name, "workers" | "diagnostics").then_some(Expect::Folder),
            found,
        );
        if let Some(workers) = open(&archives.dir, "workers", found) {
            workers.names(folder, found);
            workers.each(EntryKind::Dir, found, |dir, name, found| {
                bad_name(dir, name, name, found);
                archive(dir, name, run, &mut scanner, found);
            });
        }
        if let Some(diagnostics) = open(&archives.dir, "diagnostics", found) {
            diagnostics.names(folder, found);
            diagnostics.each(EntryKind::Dir, found, |dir, name, found| {
                bad_name(dir, name, name, found);
                if let Some(one) = open(dir, name, found) {
                    required(&one.dir, "manifest.json", check_object, found);
                }
            });
        }
    }
    if let Some(retention) = open(store.dir(), file::RETENTION, found) {
        retention.names(
            |name| (name == "operations").then_some(Expect::Folder),
            found,
        );
        if let Some(operations) = open(&retention.dir, "operations", found) {
            operations.names(
                |name| {
                    (name.ends_with(".json") && leftover(name).is_none()).then_some(Expect::File)
                },
                found,
            );
            operations.each(EntryKind::File, found, |dir, name, found| {
                if let Some(id) = name.strip_suffix(".json") {
                    bad_name(dir, name, id, found);
                    required(dir, name, check_retention_receipt, found);
                }
            });
        }
    }
}

/// A folder and all that it holds.
struct Opened {
    dir: Dir,
    entries: Vec<Entry>,
}

/// Opens a folder; what is no folder was reported with the names around it.
fn open(dir: &Dir, name: &str, found: &mut Found) -> Option<Opened> {
    let opened = read_folder(dir, name, |dir| {
        Ok(Opened {
            entries: dir.entries()?,
            dir,
        })
    });
    match opened {
        Folder::Read(opened) => Some(opened),
        Folder::Missing | Folder::NotAFolder(_) => None,
        Folder::Unreadable(e) => {
            unreadable(&dir.path_of(name), Subject::default(), &e, found);
            None
        }
    }
}

impl Opened {
    fn names(&self, expect: impl Fn(&str) -> Option<Expect>, found: &mut Found) {
        names::check(&self.dir, &self.entries, Subject::default(), expect, found);
    }

    /// Calls `look` for each entry of a kind, leftovers aside.
    fn each(
        &self,
        kind: EntryKind,
        found: &mut Found,
        mut look: impl FnMut(&Dir, &str, &mut Found),
    ) {
        for entry in self.entries.iter().filter(|e| e.kind == kind) {
            let name = entry.name.to_string_lossy();
            if leftover(&name).is_none() {
                look(&self.dir, &name, found);
            }
        }
    }
}

fn bad_name(dir: &Dir, name: &str, id: &str, found: &mut Found) {
    if !is_retention_id(id) {
        found.findings.push(Finding::new(
            Code::BadFileName,
            Subject::default(),
            Locus::file(dir.path_of(name)),
            "not an id of retention: 1 to 160 letters, digits, `-`, `_`, `.`, `:`",
        ));
    }
}

/// A document that must be there; what is no file was reported with the names around it.
fn required(
    dir: &Dir,
    name: &str,
    read: impl FnOnce(&[u8]) -> Result<(), DocumentFault>,
    found: &mut Found,
) {
    let document = read_document(dir, name, read);
    let path = dir.path_of(name);
    if document.is_missing() {
        found.findings.push(Finding::new(
            Code::CorruptDocument,
            Subject::default(),
            Locus::file(path),
            "it is not there",
        ));
    } else {
        documents::check(&document, || path, Subject::default(), "", found);
    }
}

/// One archived Worker: its manifest and its Session.
fn archive(dir: &Dir, name: &str, run: &Run<'_>, scanner: &mut Scanner, found: &mut Found) {
    let Some(archive) = open(dir, name, found) else {
        return;
    };
    archive.names(
        |name| match name {
            "manifest.json" => Some(Expect::File),
            file::SESSION_DIR => Some(Expect::Folder),
            _ => None,
        },
        found,
    );
    required(&archive.dir, "manifest.json", check_object, found);
    let Some(session) = open(&archive.dir, file::SESSION_DIR, found) else {
        return;
    };
    session.names(worker::expected_in_session, found);
    let session = session.dir;
    let document = read_document(&session, file::SESSION, SessionDocument::read);
    documents::check(
        &document,
        || session.path_of(file::SESSION),
        Subject::default(),
        "",
        found,
    );
    let own = document.good().and_then(SessionDocument::session);
    let subject = Subject {
        session_id: own,
        ..Subject::default()
    };
    let folder = open(&session, file::SEGMENTS, found);
    let nodes = folder.as_ref().map_or_else(Vec::new, |folder| {
        segments(folder, subject, run, scanner, found)
    });
    if own.is_none() && document.is_missing() && !nodes.is_empty() {
        found.findings.push(Finding::new(
            Code::MissingSessionDocument,
            subject,
            Locus::file(session.path_of(file::SESSION)),
            "an archived Session with Segments and no session.json",
        ));
    }
    for node in &nodes {
        if let (Some(own), Some(start)) = (own, node.start())
            && own != start.session
        {
            found.findings.push(Finding::new(
                Code::SessionMismatch,
                node.subject(),
                Locus::at(node.path(), start.line, start.byte),
                format!(
                    "this Segment says that it belongs to Session {}, and session.json says {own}",
                    start.session
                ),
            ));
        }
    }
    let closed = |id| {
        folder
            .as_ref()
            .is_some_and(|folder| lineage::is_closed(&folder.entries, id))
    };
    for foreign in lineage::check(&nodes, closed, run.options.quick, found) {
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

/// The Segments of an archived Session, in the order of their ids.
fn segments<'a>(
    Opened { dir, entries }: &'a Opened,
    subject: Subject,
    run: &Run<'_>,
    scanner: &mut Scanner,
    found: &mut Found,
) -> Vec<Node<'a>> {
    names::check(dir, entries, subject, worker::expected_in_segments, found);
    let mut nodes = Vec::new();
    for entry in entries.iter().filter(|e| e.kind == EntryKind::File) {
        let (id, format) = match classify_segment(&entry.name.to_string_lossy()) {
            SegmentEntry::Segment(id) => (id, Format::Segment),
            SegmentEntry::Trace(id) => (id, Format::Trace),
            SegmentEntry::Alias { .. } | SegmentEntry::BadStem => {
                found.findings.push(Finding::new(
                    Code::BadFileName,
                    subject,
                    Locus::file(dir.path_of(&entry.name)),
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
        let place = Place {
            dir,
            name: &entry.name,
            subject,
            format,
        };
        let outline = segment::check(&place, run, scanner, found);
        if format == Format::Segment {
            nodes.push(Node { id, place, outline });
        }
    }
    nodes
}
