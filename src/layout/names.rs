//! What the name of a file or folder says it is. Names only: nothing is opened here.

use super::ids::{Generation, SegmentId};

/// What a name inside `segments/` (or a legacy Session folder) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentEntry {
    /// `<segment_id>.jsonl`
    Segment(SegmentId),
    /// `<segment_id>.trace.jsonl`
    Trace(SegmentId),
    /// A `.jsonl` or `.trace.jsonl` whose stem is a UUID in another spelling.
    Alias {
        /// The id that the stem means.
        id: SegmentId,
        /// Whether it names a trace.
        trace: bool,
    },
    /// A `.jsonl` or `.trace.jsonl` whose stem is no UUID.
    BadStem,
    /// Anything else.
    Other,
}

/// Tells what a name in a folder of Segments is.
#[must_use]
pub fn classify_segment(name: &str) -> SegmentEntry {
    let (stem, trace) = match (
        name.strip_suffix(".trace.jsonl"),
        name.strip_suffix(".jsonl"),
    ) {
        (Some(stem), _) => (stem, true),
        (None, Some(stem)) => (stem, false),
        (None, None) => return SegmentEntry::Other,
    };
    match SegmentId::parse_loose(stem) {
        Ok((id, true)) if trace => SegmentEntry::Trace(id),
        Ok((id, true)) => SegmentEntry::Segment(id),
        Ok((id, false)) => SegmentEntry::Alias { id, trace },
        Err(_) => SegmentEntry::BadStem,
    }
}

/// What a name inside `runs/` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEntry {
    /// The folder of one generation.
    Generation(Generation),
    /// A run named otherwise (a run id, `restore-<operation id>`): listed, not damage.
    Named,
}

/// Tells what a name in `runs/` is.
#[must_use]
pub fn classify_run(name: &str) -> RunEntry {
    name.parse().map_or(RunEntry::Named, RunEntry::Generation)
}

/// What a killed process left, told from its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover<'a> {
    /// `.<target>.tmp-<pid>-<n or uuid>`: a document or file that was never renamed into place.
    Temporary {
        /// The name it was meant to get.
        target: &'a str,
        /// The process that wrote it.
        pid: u32,
    },
    /// `.session.migrating-<pid>-<n>`: a Session folder that was never renamed into place.
    Staging {
        /// The process that filled it.
        pid: u32,
    },
}

/// Tells whether a name is that of a leftover.
#[must_use]
pub fn leftover(name: &str) -> Option<Leftover<'_>> {
    let rest = name.strip_prefix('.')?;
    let pid_of = |tail: &str| -> Option<u32> {
        let (pid, n) = tail.split_once('-')?;
        if n.is_empty() || !n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return None;
        }
        pid.parse().ok()
    };
    if let Some(tail) = rest.strip_prefix("session.migrating-") {
        return pid_of(tail).map(|pid| Leftover::Staging { pid });
    }
    let at = rest.rfind(".tmp-")?;
    let target = &rest[..at];
    let pid = pid_of(&rest[at + ".tmp-".len()..])?;
    (!target.is_empty()).then_some(Leftover::Temporary { target, pid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_told_by_name() {
        assert_eq!(
            leftover(".metadata.json.tmp-4242-01890000-0000-7000-8000-000000000099"),
            Some(Leftover::Temporary {
                target: "metadata.json",
                pid: 4242
            })
        );
        assert_eq!(
            leftover(".session.migrating-4242-7"),
            Some(Leftover::Staging { pid: 4242 })
        );
        for not in [
            "metadata.json",
            ".hidden",
            ".x.tmp-",
            ".x.tmp-a-1",
            ".tmp-1-1",
            ".session.migrating-x-1",
        ] {
            assert_eq!(leftover(not), None, "{not}");
        }
    }

    #[test]
    fn segment_names() {
        let id = "01890000-0000-7000-8000-000000000011";
        assert!(matches!(
            classify_segment(&format!("{id}.jsonl")),
            SegmentEntry::Segment(_)
        ));
        assert!(matches!(
            classify_segment(&format!("{id}.trace.jsonl")),
            SegmentEntry::Trace(_)
        ));
        let alias = id.replace('-', "");
        assert!(matches!(
            classify_segment(&format!("{alias}.trace.jsonl")),
            SegmentEntry::Alias { trace: true, .. }
        ));
        assert_eq!(classify_segment("not-a-uuid.jsonl"), SegmentEntry::BadStem);
        assert_eq!(classify_segment("notes.txt"), SegmentEntry::Other);
    }
}
