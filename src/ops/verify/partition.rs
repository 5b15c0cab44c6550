//! A part of a store, so that many jobs look at it exactly once between them, and what a part has
//! to say for the whole.
//!
//! A Worker belongs to a part by its folder's name alone: the first eight bytes of the name's
//! SHA-256, as a number with the highest byte first, modulo the number of parts, is the number of
//! its part less one. What is no Worker's belongs to part 1.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::num::{IntErrorKind, NonZeroU32};
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Options;
use super::cross::{All, Census, Foreign, Named, NamedAs};
use super::lineage::{COMPACTED, FORKED};
use crate::diag::{Locus, Subject, hex};
use crate::layout::{SegmentId, SessionId, WorkerId, WorkerName, file};
use crate::record::document::RuntimeDocument;
use crate::store::{Document, Store, WorkerFolder, read_bytes};

/// Part `number` of `of`: `2/5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    number: NonZeroU32,
    of: NonZeroU32,
}

impl FromStr for Partition {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "expected K/N, as 2/5".to_owned();
        let (number, of) = text.split_once('/').ok_or_else(form)?;
        let whole = |text: &str| {
            if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                return Err(form());
            }
            text.parse::<NonZeroU32>().map_err(|e| match e.kind() {
                IntErrorKind::PosOverflow => format!("K and N are at most {}", u32::MAX),
                _ => form(),
            })
        };
        let (number, of) = (whole(number)?, whole(of)?);
        if number > of {
            return Err(format!("there is no part {number} of {of}"));
        }
        Ok(Self { number, of })
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Partition {
    /// Whether a folder of `workers/` is in this part.
    #[must_use]
    pub fn holds(self, folder: &OsStr) -> bool {
        let digest = Sha256::digest(folder.as_bytes());
        let (first, _) = digest.split_at(8);
        let n = first
            .iter()
            .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        n % u64::from(self.of.get()) == u64::from(self.number.get()) - 1
    }

    /// Whether what is no Worker's is in this part: the root, the journal, archives.
    #[must_use]
    pub fn holds_root(self) -> bool {
        self.number == NonZeroU32::MIN
    }
}

/// What the report of a part carries beside its findings: what can only be judged with the others,
/// and what tells whether they belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Counts from 1.
    pub(super) number: u32,
    pub(super) of: u32,
    /// The version of `wagg` that looked.
    pub(super) wagg: String,
    pub(super) store: Seen,
    pub(super) options: How,
    /// The folders of `workers/` in this part.
    pub(super) workers: Vec<PartWorker>,
}

/// A store as the look at a part found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Where it lay.
    pub path: String,
    /// How the command line named it, as a shell takes it, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// How many folders `workers/` had.
    pub folders: u64,
    /// SHA-256 over their names and `runtime.json`.
    pub catalog: String,
    /// As `runtime.json` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_worker_sequence: Option<u64>,
}

/// The options that change what is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct How {
    pub quick: bool,
    pub digest: bool,
    pub max_line: u64,
    pub ignore: BTreeSet<String>,
    /// SHA-256 over the findings that were known before; none if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

impl How {
    pub fn of(options: &Options) -> Self {
        Self {
            quick: options.quick,
            digest: options.digest,
            max_line: options.limits.max_line,
            ignore: options.ignore.iter().map(ToString::to_string).collect(),
            baseline: baseline(&options.baseline),
        }
    }
}

/// What tells one baseline from another; none for an empty one.
pub(super) fn baseline(known: &BTreeSet<String>) -> Option<String> {
    let mut hasher = Sha256::new();
    for finding in known {
        hasher.update(finding);
        hasher.update([0]);
    }
    (!known.is_empty()).then(|| hex(&hasher.finalize()))
}

/// What others ask of one Worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartWorker {
    /// The place of its folder among all, from 0.
    pub place: u64,
    /// The name of its folder.
    pub folder: String,
    /// Whether it was looked at as a Worker.
    pub looked_at: bool,
    /// What `worker.json` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    /// What `session.json` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<SegmentId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<PartSource>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<PartName>,
}

/// A source that a Segment names and that is not in its Session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartSource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    pub segment_id: SegmentId,
    pub source: SegmentId,
    pub turn: u64,
    pub compacted: bool,
    /// Where it says so, relative to the store.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
}

/// A Worker that metadata names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartName {
    pub role: NamedAs,
    pub worker_name: String,
    /// How many rules of scope were given to it.
    pub rules: u64,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Part {
    /// What a look at a part begins with.
    pub(super) fn begin(
        partition: Partition,
        store: &Store,
        runtime: &Document<RuntimeDocument>,
        folders: &[WorkerFolder],
        options: &Options,
    ) -> Self {
        let mut hasher = Sha256::new();
        // What can not be read is told by its finding; here it only has to be the same.
        hasher.update(read_bytes(store.dir(), file::RUNTIME).unwrap_or_default());
        for folder in folders {
            hasher.update([0]);
            hasher.update(folder.name.as_bytes());
        }
        let path = std::fs::canonicalize(store.path()).unwrap_or_else(|_| store.path().to_owned());
        Self {
            number: partition.number.get(),
            of: partition.of.get(),
            wagg: env!("CARGO_PKG_VERSION").to_owned(),
            store: Seen {
                path: path.to_string_lossy().into_owned(),
                named: None,
                folders: folders.len() as u64,
                catalog: hex(&hasher.finalize()),
                next_worker_sequence: runtime.good().and_then(|r| r.next_worker_sequence),
            },
            options: How::of(options),
            workers: Vec::new(),
        }
    }

    /// Notes how the command line named the store, as a shell takes it, for hints of the whole.
    pub fn name_store(&mut self, named: Option<String>) {
        self.store.named = named;
    }

    /// Adds what the Workers of this part came to.
    pub(super) fn fill(&mut self, folders: &[WorkerFolder], all: &All<'_>) {
        let mut place = 0;
        let mut segments = &all.segments[..];
        for (census, number) in all.workers.iter().zip(0..) {
            // Both have the same order.
            while folders.get(place).is_some_and(|f| f != census.folder) {
                place += 1;
            }
            let own = segments.partition_point(|(_, worker)| *worker == number);
            let (own, rest) = segments.split_at(own);
            self.workers.push(PartWorker::of(place, census, own));
            segments = rest;
        }
    }
}

impl PartWorker {
    fn of(place: usize, census: &Census<'_>, segments: &[(SegmentId, u32)]) -> Self {
        Self {
            place: place as u64,
            folder: census.folder.name.to_string_lossy().into_owned(),
            looked_at: census.looked_at,
            worker_id: census.document_id,
            session_id: census.session,
            segments: segments.iter().map(|(id, _)| *id).collect(),
            sources: census.foreign().iter().map(PartSource::of).collect(),
            names: census
                .named()
                .iter()
                .map(|named| PartName {
                    role: named.role,
                    worker_name: named.name.as_str().to_owned(),
                    rules: named.rules,
                })
                .collect(),
        }
    }

    /// Its folder.
    pub fn worker_folder(&self) -> WorkerFolder {
        WorkerFolder::of(OsString::from(&self.folder))
    }

    /// Whether each name in it can be one.
    pub fn has_good_names(&self) -> bool {
        self.names
            .iter()
            .all(|name| WorkerName::check(&name.worker_name).is_ok())
    }

    /// What it was made of; names that can be none are left out.
    pub fn census<'a>(&self, folder: &'a WorkerFolder) -> Census<'a> {
        let mut census = Census::of(folder);
        census.document_id = self.worker_id;
        census.session = self.session_id;
        census.looked_at = self.looked_at;
        let foreign = |source: &PartSource| source.foreign(folder.id);
        census.add_foreign(self.sources.iter().map(foreign).collect());
        for name in &self.names {
            if let Ok(worker) = name.worker_name.parse() {
                census.add_named(Named {
                    role: name.role,
                    name: worker,
                    rules: name.rules,
                });
            }
        }
        census
    }
}

impl PartSource {
    fn of(foreign: &Foreign) -> Self {
        Self {
            session_id: foreign.subject.session_id,
            segment_id: foreign.segment,
            source: foreign.source,
            turn: foreign.turn,
            compacted: foreign.how == COMPACTED,
            path: foreign.locus.path.to_string_lossy().into_owned(),
            line: foreign.locus.line,
            byte: foreign.locus.byte,
        }
    }

    fn foreign(&self, worker_id: Option<WorkerId>) -> Foreign {
        Foreign {
            subject: Subject {
                worker_id,
                session_id: self.session_id,
                segment_id: Some(self.segment_id),
                generation: None,
            },
            locus: Locus {
                path: self.path.clone().into(),
                line: self.line,
                byte: self.byte,
                length: None,
            },
            segment: self.segment_id,
            source: self.source,
            turn: self.turn,
            how: if self.compacted { COMPACTED } else { FORKED },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever splits a store by other means can rely on this.
    #[test]
    fn where_a_worker_belongs_does_not_change() {
        let part = |name: &str, of: u32| {
            let holds = |n: &u32| {
                let partition: Partition = format!("{n}/{of}").parse().unwrap();
                partition.holds(OsStr::new(name))
            };
            let all: Vec<u32> = (1..=of).filter(holds).collect();
            assert_eq!(all.len(), 1, "{name} is in {all:?} of {of}");
            all[0]
        };
        let names = ["1", "2", "3", "10", "01890000-0000-7000-9000-000000000001"];
        assert_eq!(names.map(|name| part(name, 4)), [2, 3, 4, 1, 4]);
        for of in [1, 2, 3, 7, 1000] {
            assert!(names.iter().all(|name| part(name, of) <= of));
        }
        // and the parts are of one size, nearly
        let mut sizes = [0; 8];
        for n in 1..=8000 {
            sizes[part(&n.to_string(), 8) as usize - 1] += 1;
        }
        assert!(
            sizes.iter().all(|size| (880..1120).contains(size)),
            "{sizes:?}"
        );
    }

    #[test]
    fn parts_are_written_as_people_say_them() {
        for good in ["1/1", "2/5", "5/5"] {
            assert_eq!(good.parse::<Partition>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "1",
            "0/5",
            "6/5",
            "1/0",
            "-1/5",
            "1/+5",
            "1/5/2",
            "a/b",
            "1/99999999999",
        ] {
            assert!(bad.parse::<Partition>().is_err(), "{bad}");
        }
    }
}
