//! Documents: what stands where one should be, and what it says by itself.

use std::path::{Path, PathBuf};

use super::{Found, NotLookedAt};
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::file;
use crate::record::document::DocumentFault;
use crate::store::fs::no_handles;
use crate::store::{Document, EntryKind};

/// Adds why a document gives nothing; `true` if it is good. Something else than a file was
/// reported with the names of its folder.
pub(super) fn check<T>(
    document: &Document<T>,
    path: impl FnOnce() -> PathBuf,
    subject: Subject,
    also: &str,
    found: &mut Found,
) -> bool {
    match document {
        Document::Good(_) => true,
        Document::Missing | Document::NotAFile(EntryKind::Symlink | EntryKind::Dir) => false,
        Document::NotAFile(_) => false,
        Document::Unreadable(e) => {
            let path = path();
            if let Some(reason) = no_handles(e) {
                found.not_looked_at(path, reason);
                return false;
            }
            found.not_looked_at.push(NotLookedAt {
                path: path.to_string_lossy().into_owned(),
                reason: format!("it can not be read: {e}"),
            });
            found.findings.push(Finding::new(
                Code::Unreadable,
                subject,
                Locus::file(path),
                format!("it can not be read: {e}"),
            ));
            false
        }
        Document::Faulty(fault) => {
            found.findings.push(faulty(fault, path(), subject, also));
            false
        }
    }
}

/// The finding of a document that is not what it should be.
pub(super) fn faulty(
    fault: &DocumentFault,
    path: PathBuf,
    subject: Subject,
    also: &str,
) -> Finding {
    let locus = Locus {
        path,
        line: fault.line,
        byte: fault.byte,
        length: None,
    };
    let mut message = fault.message.clone();
    if !also.is_empty() {
        message.push_str("; ");
        message.push_str(also);
    }
    let session = Path::new(file::SESSION_DIR).join(file::SESSION);
    let hint = match subject.worker_id {
        Some(id) if fault.code == Code::EmptyDocument && locus.path.ends_with(session) => {
            format!("wagg repair {id}")
        }
        _ => format!("wagg explain {}", fault.code),
    };
    Finding::new(fault.code, subject, locus, message).with_hint(hint)
}

/// The finding of an id inside JSON that is spelt in another way than on disk.
pub(super) fn noncanonical(text: &str, path: PathBuf, subject: Subject) -> Finding {
    Finding::new(
        Code::NoncanonicalId,
        subject,
        Locus::file(path),
        format!("an id spelt {text:?}; on disk ids are lower case with hyphens"),
    )
}
