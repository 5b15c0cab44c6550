//! What a Worker's Session holds: its Segments and traces, `session.json`, and the pointer at them.

use std::path::PathBuf;

use super::Worker;
use super::{expected_in_segments, expected_in_session};
use crate::diag::{Code, Finding, Locus, Severity, Subject, plural};
use crate::layout::{Paths, SegmentEntry, SegmentId, SessionId, classify_segment, file};
use crate::ops::verify::lineage::{self, Node};
use crate::ops::verify::segment::{self, Place, unreadable};
use crate::ops::verify::{documents, names};
use crate::record::document::Active;
use crate::record::{Format, Outline, Scanner};
use crate::store::{Document, EntryKind, Folder, SegmentsFolder, SessionFolder};

/// How many Segments a message names before it only counts.
const MAX_NAMED: usize = 5;

impl<'a> Worker<'a, '_> {
    /// Scans Segments and traces, in the order of their names.
    pub(super) fn segments(
        &mut self,
        session: &'a SessionFolder,
        scanner: &mut Scanner,
    ) -> Vec<Node<'a>> {
        names::check(
            &session.dir,
            &session.entries,
            self.subject,
            expected_in_session,
            &mut self.found,
        );
        let folder = match &session.segments {
            Folder::Read(folder) => folder,
            Folder::Unreadable(e) => {
                unreadable(
                    &session.dir.path_of(file::SEGMENTS),
                    self.subject,
                    e,
                    &mut self.found,
                );
                return Vec::new();
            }
            Folder::Missing | Folder::NotAFolder(_) => return Vec::new(),
        };
        let subject = Subject {
            session_id: session
                .document
                .good()
                .and_then(crate::record::document::SessionDocument::session),
            ..self.subject
        };
        names::check(
            &folder.dir,
            &folder.entries,
            subject,
            expected_in_segments,
            &mut self.found,
        );
        let mut nodes = Vec::new();
        for entry in folder.entries.iter().filter(|e| e.kind == EntryKind::File) {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let path = || folder.dir.path_of(&entry.name);
            let place = |segment: SegmentId, format| Place {
                dir: &folder.dir,
                name: &entry.name,
                subject: Subject {
                    segment_id: Some(segment),
                    ..subject
                },
                format,
            };
            match classify_segment(name) {
                SegmentEntry::Segment(id) => {
                    let place = place(id, Format::Segment);
                    let outline = segment::check(&place, self.run, scanner, &mut self.found);
                    nodes.push(Node { id, place, outline });
                }
                SegmentEntry::Trace(id) => {
                    segment::check(
                        &place(id, Format::Trace),
                        self.run,
                        scanner,
                        &mut self.found,
                    );
                    self.lonely_trace(folder, id, path, subject);
                }
                SegmentEntry::Alias { id, trace } => {
                    let what = if trace { "trace" } else { "Segment" };
                    let finding = Finding::new(
                        Code::BadFileName,
                        Subject {
                            segment_id: Some(id),
                            ..subject
                        },
                        Locus::file(path()),
                        format!(
                            "the {what} {id} under another spelling of its id: a Runtime looks for the lower case form with hyphens and does not find it"
                        ),
                    );
                    // A trace is never looked for by a restore.
                    let severity = if trace {
                        Severity::Warning
                    } else {
                        Severity::Error
                    };
                    self.push(finding.with_severity(severity));
                    let format = if trace {
                        Format::Trace
                    } else {
                        Format::Segment
                    };
                    segment::check(&place(id, format), self.run, scanner, &mut self.found);
                }
                SegmentEntry::BadStem => self.push(Finding::new(
                    Code::BadFileName,
                    subject,
                    Locus::file(path()),
                    "its name should be a Segment's id; it was not read",
                )),
                SegmentEntry::Other => {}
            }
        }
        nodes
    }

    fn lonely_trace(
        &mut self,
        folder: &SegmentsFolder,
        id: SegmentId,
        path: impl FnOnce() -> PathBuf,
        subject: Subject,
    ) {
        let segment = Paths::segment_name(id);
        if !folder.entries.iter().any(|e| e.name == *segment) {
            self.push(Finding::new(
                Code::TraceWithoutSegment,
                Subject {
                    segment_id: Some(id),
                    ..subject
                },
                Locus::file(path()),
                "its Segment is not here; a trace is a debug log and is never replayed",
            ));
        }
    }

    /// `session.json`, and whether the Segments agree with it.
    pub(super) fn session_document(&mut self, session: &SessionFolder, nodes: &[Node<'_>]) {
        let path = || session.dir.path_of(file::SESSION);
        let subject = self.subject;
        if session.document.is_missing() {
            // `session/` with nothing but an empty `segments/` is what opening a Worker leaves.
            if !nodes.is_empty() {
                let carried = carried(nodes);
                self.push(
                    Finding::new(
                        Code::MissingSessionDocument,
                        subject,
                        Locus::file(path()),
                        format!("there are Segments and no session.json, so a Runtime refuses to read them; {carried}"),
                    )
                    .with_hint(match subject.worker_id {
                        Some(id) => format!("wagg repair {id}"),
                        None => "wagg explain missing_session_document".to_owned(),
                    }),
                );
            }
            return;
        }
        if let Document::Faulty(_) | Document::Unreadable(_) = &session.document {
            let carried = carried(nodes);
            documents::check(&session.document, path, subject, &carried, &mut self.found);
            return;
        }
        let Some(document) = session.document.good() else {
            return;
        };
        let Some(id) = document.session() else { return };
        self.census.session = Some(id);
        if let Some(text) = document.noncanonical_id() {
            let finding = documents::noncanonical(
                text,
                path(),
                Subject {
                    session_id: Some(id),
                    ..subject
                },
            );
            self.push(finding);
        }
        for node in nodes {
            let Some(start) = node.start() else {
                continue;
            };
            if start.session != id {
                self.push(
                    Finding::new(
                        Code::SessionMismatch,
                        node.subject(),
                        Locus::at(node.path(), start.line, start.byte),
                        format!(
                            "this Segment says that it belongs to Session {}, and session.json says {id}: a foreign history would be restored as this Worker's",
                            start.session
                        ),
                    )
                    .with_hint("wagg explain session_mismatch"),
                );
            }
        }
    }

    /// The active pointer.
    pub(super) fn active(
        &mut self,
        active: &Active,
        session: Option<&SessionFolder>,
        nodes: &[Node<'_>],
        there: impl Fn(SegmentId) -> bool,
    ) {
        let subject = Subject {
            session_id: active.session(),
            segment_id: active.segment(),
            ..self.subject
        };
        if let Some(text) = active.noncanonical_id() {
            let path = self.path(file::METADATA);
            self.push(documents::noncanonical(text, path, subject));
        }
        let own = session
            .and_then(|s| s.document.good())
            .and_then(crate::record::document::SessionDocument::session);
        if let (Some(own), Some(named)) = (own, active.session())
            && own != named
        {
            self.push(
                Finding::new(
                    Code::ActiveOtherSession,
                    subject,
                    self.doc(file::METADATA),
                    format!("active.session_id is {named} and session.json says {own}: a Worker has one Session for life"),
                )
                .with_hint("wagg explain active_other_session"),
            );
            return;
        }
        match active.segment() {
            None => {
                let message = match active.session() {
                    Some(id) if nodes.is_empty() => {
                        format!("Session {id} is reserved and its first Segment is not written yet")
                    }
                    _ => "active names the Session and no Segment".to_owned(),
                };
                let place = self.doc(file::METADATA);
                self.push(Finding::new(Code::ActivePending, subject, place, message));
            }
            Some(id) if !nodes.iter().any(|n| n.id == id) => {
                if !there(id) {
                    let choice = self.choice(nodes);
                    self.push(
                        Finding::new(
                            Code::ActiveMissingSegment,
                            subject,
                            self.doc(file::METADATA),
                            format!("active.segment_id is {id}, which is not among the Segments of this Worker; {choice}"),
                        )
                        .with_hint(self.tree_hint()),
                    );
                }
            }
            Some(id) => {
                for child in lineage::compacted_children(nodes, id) {
                    self.push(
                        Finding::new(
                            Code::UnreferencedLeaf,
                            subject,
                            self.doc(file::METADATA),
                            format!("the active Segment {id} has a compacted child {child} that nothing points to: a pointer that was not moved, or somebody went back on purpose"),
                        )
                        .with_hint(self.tree_hint()),
                    );
                }
            }
        }
    }

    /// Which Segments could be restored instead.
    pub(super) fn choice(&self, nodes: &[Node<'_>]) -> String {
        let whole: Vec<String> = nodes
            .iter()
            .filter(|n| {
                n.outline
                    .as_ref()
                    .is_some_and(|o| o.start.is_some() && o.bad_lines == 0)
            })
            .map(|n| n.id.to_string())
            .collect();
        match whole.len() {
            0 => "no Segment here can be restored as it is".to_owned(),
            n if n <= MAX_NAMED => format!("these can be restored: {}", whole.join(", ")),
            n => format!(
                "{n} Segments here can be restored, {} and others",
                whole[..MAX_NAMED].join(", ")
            ),
        }
    }
}

/// Which Session the Segments say that they belong to, for a `session.json` that does not.
fn carried(nodes: &[Node<'_>]) -> String {
    let outlines = || nodes.iter().filter_map(|n| n.outline.as_ref());
    let records: u64 = outlines().map(|o: &Outline| o.records).sum();
    let bad: u64 = outlines().map(|o| o.bad_lines).sum();
    let mut ids: Vec<SessionId> = outlines()
        .filter_map(|o| o.start)
        .map(|s| s.session)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let segments = plural(nodes.len() as u64, "Segment", "Segments");
    let (are, carry) = if records == 1 {
        ("is", "carries")
    } else {
        ("are", "carry")
    };
    let whole = format!(
        "{}{} of {segments} beside it {are} whole and {carry}",
        if bad == 0 && records > 1 { "all " } else { "" },
        plural(records, "record", "records")
    );
    match ids.as_slice() {
        [] if nodes.is_empty() => "there is no Segment beside it".to_owned(),
        [] => format!("{whole} no Session id"),
        [id] => format!("{whole} Session {id}"),
        many => {
            let ids: Vec<String> = many
                .iter()
                .take(MAX_NAMED)
                .map(ToString::to_string)
                .collect();
            format!(
                "{whole} {} different Sessions: {}",
                many.len(),
                ids.join(", ")
            )
        }
    }
}
