//! Single files without a store, which is what support often gets.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::resume::At;
use super::segment::{self, unreadable};
use super::{Collector, Found, Options, Report, Run};
use crate::diag::{Code, Finding, Locus, Progress, Severity, Subject};
use crate::layout::{CatalogVersion, SegmentEntry, classify_segment};
use crate::record::{Format, Scanner, Spare};
use crate::store::Dir;

/// Verifies single Segment or trace files. A name that ends in `.trace.jsonl` is a trace; every
/// other file is taken for a Segment, whatever its name.
#[must_use]
pub fn verify_files(files: &[PathBuf], options: &Options, progress: &dyn Progress) -> Report {
    let run = Run {
        options,
        progress,
        certificate: None,
        version: CatalogVersion::V1,
        enough: false.into(),
        spare: Spare::new(options.jobs.get() - 1),
    };
    let mut collector = Collector::new(&run);
    let mut scanner = run.scanner();
    progress.start(None);
    for path in files {
        let mut found = Found::default();
        one(path, &run, &mut scanner, &mut found);
        collector.take(found);
    }
    collector.finish()
}

fn one(path: &Path, run: &Run<'_>, scanner: &mut Scanner, found: &mut Found) {
    let name = path.file_name().unwrap_or(OsStr::new("."));
    let text = name.to_string_lossy();
    let format = if text.ends_with(".trace.jsonl") {
        Format::Trace
    } else {
        Format::Segment
    };
    let segment_id = match classify_segment(&text) {
        SegmentEntry::Segment(id) | SegmentEntry::Trace(id) | SegmentEntry::Alias { id, .. } => {
            Some(id)
        }
        SegmentEntry::BadStem | SegmentEntry::Other => None,
    };
    let subject = Subject {
        segment_id,
        ..Subject::default()
    };
    if let Some(reason) = run.stop() {
        found.not_looked_at(path, reason);
        return;
    }
    let parent = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let open = || Dir::open_root(parent).and_then(|dir| dir.file_and_stat(name));
    match segment::check_file(At::Path(path), format, subject, open, run, scanner, found) {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            // A file that a person named and that is not there is no moment of a moving store.
            found.not_looked_at(path, "there is no such file");
            found.findings.push(
                Finding::new(
                    Code::Unreadable,
                    subject,
                    Locus::file(path),
                    "there is no such file",
                )
                .with_severity(Severity::Error),
            );
        }
        // Also one without a name of its own: `.`, `..`, `/`.
        Err(_) if path.symlink_metadata().is_ok_and(|met| met.is_dir()) => {
            found.findings.push(
                Finding::new(
                    Code::NotARegularFile,
                    subject,
                    Locus::file(path),
                    "a folder, where a single Segment or trace file is wanted",
                )
                .with_severity(Severity::Error),
            );
        }
        Err(e) => unreadable(path, subject, &e, found),
    }
}
