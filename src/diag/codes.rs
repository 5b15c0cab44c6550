//! The one table of codes: findings of `verify` and `orphans`, errors of commands.
//!
//! A code is permanent: texts may change, codes may not. The table feeds `wagg explain`,
//! `docs/codes.md`, the man pages, and tests that walk it and fail on a code without a case.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A committed record, a document or a rule of the store is broken.
    Error,
    /// The history is whole; something is worth a look.
    Warning,
    /// A remark.
    Info,
}

impl Severity {
    /// The word that stands in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What `wagg repair` does about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairClass {
    /// Mended without losing anything that was committed.
    Automatic,
    /// Mended only when asked for, since a committed record is taken out of the history.
    Lossy,
    /// A person decides; the text says what to compare.
    Manual,
    /// Nothing needs to be done.
    None,
}

impl RepairClass {
    /// The word that stands in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Lossy => "lossy",
            Self::Manual => "manual",
            Self::None => "none",
        }
    }
}

/// The exit statuses. A script treats an unknown one as failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// 0: done, or there already; no finding is an error.
    Ok,
    /// 1: done, and something is left.
    Left,
    /// 2: the command line is wrong.
    Usage,
    /// 3: refused; nothing changed.
    Refused,
    /// 4: no such id, or an ambiguous one; nothing changed.
    NoSuchId,
    /// 5: the data that the command needs is damaged; nothing changed.
    Damaged,
    /// 10: no store here.
    NoStore,
    /// 11: the lock was busy; nothing changed.
    Busy,
    /// 12: a format version that this program does not write.
    Format,
    /// 14: reading or writing failed; nothing changed.
    Io,
    /// 15: the outcome is unknown.
    Unknown,
    /// 70: a bug in wagg.
    Internal,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// Every status, in the order of its number.
    pub const ALL: [Self; 13] = [
        Self::Ok,
        Self::Left,
        Self::Usage,
        Self::Refused,
        Self::NoSuchId,
        Self::Damaged,
        Self::NoStore,
        Self::Busy,
        Self::Format,
        Self::Io,
        Self::Unknown,
        Self::Internal,
        Self::Interrupted,
    ];

    /// The number that the process ends with.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Left => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NoSuchId => 4,
            Self::Damaged => 5,
            Self::NoStore => 10,
            Self::Busy => 11,
            Self::Format => 12,
            Self::Io => 14,
            Self::Unknown => 15,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }

    /// What it means, for the manual.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => {
                "done, or there already; verify and orphans: all that was asked for was looked at and no finding is an error (with --strict: nor a warning)"
            }
            Self::Left => {
                "done, and something is left: an error among the findings, or not all was looked at"
            }
            Self::Usage => {
                "the command line, or what it hands over as input, is wrong; nothing changed"
            }
            Self::Refused => "refused: the store's state forbids it; nothing changed",
            Self::NoSuchId => "no such id, or an ambiguous one; nothing changed",
            Self::Damaged => {
                "the data that this command needs is damaged: run wagg verify; nothing changed"
            }
            Self::NoStore => "no store here",
            Self::Busy => "the lock was busy for as long as we were told to wait; nothing changed",
            Self::Format => "a format version that this program does not write",
            Self::Io => "reading or writing failed, or the store is read-only; nothing changed",
            Self::Unknown => {
                "the outcome is unknown: look before you retry (a retry with the same --request-id is safe)"
            }
            Self::Internal => "a bug in wagg",
            Self::Interrupted => "interrupted (128 + the signal's number)",
        }
    }
}

/// What the table says of a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeInfo {
    /// The name that stands in output.
    pub name: &'static str,
    /// How bad it is as a finding; none if it is only ever an error of a command.
    pub severity: Option<Severity>,
    /// The status that a command ends with when it stops for this; none if it is only a finding.
    pub exit: Option<Exit>,
    /// What `wagg repair` does about it.
    pub repair: RepairClass,
    /// One line, a lower-case fragment.
    pub meaning: &'static str,
    /// The version of `wagg` that said it first.
    pub since: &'static str,
}

macro_rules! codes {
    ($($variant:ident = $name:literal, $severity:expr, $exit:expr, $repair:expr, $meaning:literal;)*) => {
        /// What a finding or an error is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code's row of the table.
            #[must_use]
            pub const fn info(self) -> CodeInfo {
                match self {
                    $(Self::$variant => CodeInfo {
                        name: $name,
                        severity: $severity,
                        exit: $exit,
                        repair: $repair,
                        meaning: $meaning,
                        since: "0.1.0",
                    },)*
                }
            }
        }
    };
}

codes! {
    // error findings: lines
    CorruptRecord = "corrupt_record", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a committed line is not JSON, or not one JSON object";
    InvalidUtf8 = "invalid_utf8", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a committed line holds bytes that are not UTF-8";
    NulBytes = "nul_bytes", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "a committed line holds NUL bytes";
    GluedRecords = "glued_records", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "two or more whole records stand on one line";
    SplicedRecord = "spliced_record", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "the start of a record is followed by a whole one on the same line";
    ByteOrderMark = "byte_order_mark", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "a UTF-8 byte order mark stands before a record";
    OversizedLine = "oversized_line", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a line is longer than the limit and was not looked at";
    TooDeep = "too_deep", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a record is nested deeper than a Runtime reads";
    DuplicateKey = "duplicate_key", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a known field stands twice in one object";
    NumberOutOfRange = "number_out_of_range", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a number does not fit a double, or its field";
    UnknownKind = "unknown_kind", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a record or an item is of a kind that this version does not know";
    MissingField = "missing_field", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a required field is not there";
    WrongType = "wrong_type", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Lossy, "a field holds a value of another type than its own";
    LoneSurrogate = "lone_surrogate", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "a string holds the escape of half a surrogate pair";
    // error findings: segments
    RecordBeforeStart = "record_before_start", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "records stand before the segment_start record";
    MissingSegmentStart = "missing_segment_start", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Segment has records and no segment_start record";
    SecondSegmentStart = "second_segment_start", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a second segment_start record stands in the middle of a Segment";
    SessionMismatch = "session_mismatch", Some(Severity::Error), Some(Exit::Refused), RepairClass::Manual, "a Segment's first record names another Session than its Worker's";
    LineageMissingSource = "lineage_missing_source", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Segment's source is not in its Session";
    LineageCycle = "lineage_cycle", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "Segments name each other, or one names itself, as their source";
    LineageOtherSession = "lineage_other_session", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Segment's source lies in another Session";
    LineageTurnOutOfRange = "lineage_turn_out_of_range", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Segment was split at a turn that its source does not have";
    LineageBothKinds = "lineage_both_kinds", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Segment says that it was forked and compacted at once";
    DuplicateSegmentId = "duplicate_segment_id", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "one Segment id stands in more than one place";
    // error findings: documents
    MissingSessionDocument = "missing_session_document", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "a Session has Segments and no session.json";
    SessionShared = "session_shared", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "two Workers of the store have the same Session";
    ActiveMissingSegment = "active_missing_segment", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "the active pointer names a Segment that is not there";
    ActiveOtherSession = "active_other_session", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "the active pointer names another Session than the Worker's own";
    MissingWorkerDocument = "missing_worker_document", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Worker's folder has no worker.json";
    DuplicateWorkerId = "duplicate_worker_id", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "two folders say that they are the same Worker";
    WorkerIdMismatch = "worker_id_mismatch", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a Worker's folder, worker_id and worker_ref do not agree";
    WorkerNameMismatch = "worker_name_mismatch", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "metadata.json carries another Worker's name";
    UnsafeName = "unsafe_name", Some(Severity::Error), Some(Exit::Refused), RepairClass::Manual, "a name could not be one folder name";
    BadFileName = "bad_file_name", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a file's name is not the one spelling of an id";
    UnsupportedSchemaVersion = "unsupported_schema_version", Some(Severity::Error), Some(Exit::Format), RepairClass::Manual, "a document is of a version that this program does not know or does not write";
    CorruptDocument = "corrupt_document", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "a document is not the JSON that it should be";
    EmptyDocument = "empty_document", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "a document has no bytes";
    MissingCatalog = "missing_catalog", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "the store has no runtime.json";
    SequenceBehind = "sequence_behind", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Automatic, "the next Worker id was given out before";
    // error findings: file system
    SymbolicLink = "symbolic_link", Some(Severity::Error), Some(Exit::Refused), RepairClass::Manual, "a symbolic link stands where a file or folder should be";
    NotARegularFile = "not_a_regular_file", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "something else stands where a file or folder should be";
    Unreadable = "unreadable", Some(Severity::Error), Some(Exit::Io), RepairClass::Manual, "a file or folder can not be read";
    SharedSessionReference = "shared_session_reference", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "more than one owner points at one Session";
    MissingReferencedSession = "missing_referenced_session", Some(Severity::Error), Some(Exit::Damaged), RepairClass::Manual, "metadata points at a Session that is not there";
    // warnings
    TornTail = "torn_tail", Some(Severity::Warning), None, RepairClass::Automatic, "bytes follow the last newline: a record that was never committed";
    EmptySegment = "empty_segment", Some(Severity::Warning), None, RepairClass::Manual, "a Segment has no record";
    TurnCountMismatch = "turn_count_mismatch", Some(Severity::Warning), None, RepairClass::Manual, "turn counts do not rise by one";
    DuplicateCallId = "duplicate_call_id", Some(Severity::Warning), None, RepairClass::Manual, "one call id is used for more than one tool call or result";
    OrphanToolResult = "orphan_tool_result", Some(Severity::Warning), None, RepairClass::Lossy, "a tool result answers no call";
    UnansweredToolCall = "unanswered_tool_call", Some(Severity::Warning), None, RepairClass::Lossy, "a tool call has no result and a later turn follows";
    MissingMetadata = "missing_metadata", Some(Severity::Warning), None, RepairClass::Manual, "a Worker has a Session and no active pointer";
    GenerationBehind = "generation_behind", Some(Severity::Warning), None, RepairClass::Automatic, "a run folder is above the generation in worker.json";
    MigrationIncomplete = "migration_incomplete", Some(Severity::Warning), None, RepairClass::Manual, "a migration was begun and not finished";
    UnsettledOperation = "unsettled_operation", Some(Severity::Warning), Some(Exit::Refused), RepairClass::Automatic, "an operation has an intent and no outcome";
    ScopeNotReclaimed = "scope_not_reclaimed", Some(Severity::Warning), None, RepairClass::Manual, "a reclaimed child still holds delegated scope";
    CaseCollision = "case_collision", Some(Severity::Warning), None, RepairClass::Manual, "two names differ in upper and lower case only";
    MissingWorkers = "missing_workers", Some(Severity::Warning), None, RepairClass::Manual, "ids were given out and no Worker is there";
    OrphanWorkerMetadata = "orphan_worker_metadata", Some(Severity::Warning), None, RepairClass::Manual, "metadata that no Worker of the catalog owns";
    OrphanSession = "orphan_session", Some(Severity::Warning), None, RepairClass::Manual, "a Session that no Worker of the catalog points at";
    // information
    InterruptedRun = "interrupted_run", Some(Severity::Info), None, RepairClass::None, "the last run of a Segment has no end record";
    ActivePending = "active_pending", Some(Severity::Info), None, RepairClass::None, "a Session is reserved and has no Segment yet";
    UnreferencedLeaf = "unreferenced_leaf", Some(Severity::Info), None, RepairClass::None, "the active Segment has a compacted child that nothing points to";
    TimeGoesBack = "time_goes_back", Some(Severity::Info), None, RepairClass::None, "a record is older than the one before it";
    BlankLine = "blank_line", Some(Severity::Info), None, RepairClass::None, "a file has blank lines";
    Crlf = "crlf", Some(Severity::Info), None, RepairClass::None, "a file has lines that end in CR LF";
    LongLine = "long_line", Some(Severity::Info), None, RepairClass::None, "a line is very long";
    NoncanonicalId = "noncanonical_id", Some(Severity::Info), None, RepairClass::None, "an id inside JSON is spelt in another way than on disk";
    LiveRun = "live_run", Some(Severity::Info), None, RepairClass::None, "something answers on a run's socket";
    StaleSocket = "stale_socket", Some(Severity::Info), None, RepairClass::None, "a run's socket is there and nothing answers";
    MissingRunFolder = "missing_run_folder", Some(Severity::Info), None, RepairClass::None, "the last generation has no folder";
    LeftoverStaging = "leftover_staging", Some(Severity::Info), None, RepairClass::Automatic, "a folder that a killed process never moved into place";
    LeftoverTemporary = "leftover_temporary", Some(Severity::Info), None, RepairClass::Automatic, "a file that a killed process never moved into place";
    UnknownFile = "unknown_file", Some(Severity::Info), None, RepairClass::None, "a file that is no part of a store";
    UnknownFolder = "unknown_folder", Some(Severity::Info), None, RepairClass::None, "a folder that is no part of a store";
    TraceWithoutSegment = "trace_without_segment", Some(Severity::Info), None, RepairClass::None, "a trace without its Segment";
    ChildMissing = "child_missing", Some(Severity::Info), None, RepairClass::Manual, "a child that is no Worker of this store";
    PeerMissing = "peer_missing", Some(Severity::Info), None, RepairClass::None, "a peer that is no Worker of this store";
    // errors of commands
    Usage = "usage", None, Some(Exit::Usage), RepairClass::None, "the command line is wrong";
    BadInput = "bad_input", None, Some(Exit::Usage), RepairClass::None, "a file or standard input that a command was given is not what it takes";
    StoreNotFound = "store_not_found", None, Some(Exit::NoStore), RepairClass::None, "no store was found";
    NotFound = "not_found", None, Some(Exit::NoSuchId), RepairClass::None, "nothing here has this id or name";
    WrongIdKind = "wrong_id_kind", None, Some(Exit::NoSuchId), RepairClass::None, "an id of another kind than the command takes";
    AmbiguousReference = "ambiguous_reference", None, Some(Exit::NoSuchId), RepairClass::None, "a reference fits more than one thing";
    LockBusy = "lock_busy", None, Some(Exit::Busy), RepairClass::None, "somebody else holds the lock";
    IoFailed = "io_failed", None, Some(Exit::Io), RepairClass::None, "reading or writing failed";
    DiskFull = "disk_full", None, Some(Exit::Io), RepairClass::None, "the disk or the quota is full";
    ReadOnlyStore = "read_only_store", None, Some(Exit::Io), RepairClass::None, "the store is on a read-only file system";
    OutcomeUnknown = "outcome_unknown", None, Some(Exit::Unknown), RepairClass::None, "it is not known whether the change is on disk";
    RequestMismatch = "request_mismatch", None, Some(Exit::Refused), RepairClass::None, "the request id was used for something else";
    Fenced = "fenced", None, Some(Exit::Refused), RepairClass::None, "the store is not in the state that the command expected";
    WorkerLive = "worker_live", None, Some(Exit::Refused), RepairClass::None, "a run of the Worker answers on its socket";
    RuntimeLive = "runtime_live", None, Some(Exit::Refused), RepairClass::None, "a run of the store answers, so its Runtime holds the catalog";
    GenerationCollision = "generation_collision", None, Some(Exit::Refused), RepairClass::None, "the folder of the next generation is already there";
    CompactOverBudget = "compact_over_budget", None, Some(Exit::Refused), RepairClass::None, "the compacted history does not fit the budget";
    UndoConflict = "undo_conflict", None, Some(Exit::Refused), RepairClass::None, "something was built on the operation since";
    TargetExists = "target_exists", None, Some(Exit::Refused), RepairClass::None, "the target is already there";
    TargetDiffers = "target_differs", None, Some(Exit::Refused), RepairClass::None, "the target is there and differs from the source";
    SourceGone = "source_gone", None, Some(Exit::Refused), RepairClass::None, "a source that a former run knew is not there";
    SourceChanged = "source_changed", None, Some(Exit::Refused), RepairClass::None, "a source changed while it was read";
    PlanMismatch = "plan_mismatch", None, Some(Exit::Refused), RepairClass::None, "a repair plan is not what it was when it was made";
    PartitionMismatch = "partition_mismatch", None, Some(Exit::Refused), RepairClass::None, "reports are not those of all parts of one look";
    NotUndoable = "not_undoable", None, Some(Exit::Refused), RepairClass::None, "operations of this kind are not undone";
    Interrupted = "interrupted", None, Some(Exit::Interrupted), RepairClass::None, "the command was interrupted";
    Internal = "internal", None, Some(Exit::Internal), RepairClass::None, "a bug in wagg";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.info().name)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.info().name)
    }
}

/// A text that is no code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no code of wagg")]
pub struct UnknownCode(pub String);

impl FromStr for Code {
    type Err = UnknownCode;
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.info().name == text)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lower_snake_case() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let name = code.info().name;
            assert!(
                name.bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit()),
                "{name}"
            );
            assert!(seen.insert(name), "{name} stands twice");
            assert_eq!(name.parse::<Code>().unwrap(), *code);
        }
    }

    #[test]
    fn every_code_is_a_finding_or_an_error() {
        for code in Code::ALL {
            let info = code.info();
            assert!(info.severity.is_some() || info.exit.is_some(), "{code}");
        }
    }

    #[test]
    fn exit_statuses_are_unique() {
        let mut all: Vec<u8> = Exit::ALL.iter().map(|e| e.status()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Exit::ALL.len());
    }
}
