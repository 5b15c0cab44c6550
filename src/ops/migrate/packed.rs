//! What former runs noted of the Workers that they moved, packed: there may be as many as ever
//! were, and of each little is looked at once.

use std::collections::BTreeMap;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::facts::{Glance, Noted, NotedFile};
use crate::layout::{SegmentId, SessionId, WorkerId};
use crate::record::pack::{Pack, Unpack};

/// Workers that were moved, by id.
#[derive(Debug, Default)]
pub struct MovedWorkers {
    /// Where each begins.
    at: BTreeMap<WorkerId, usize>,
    packed: Pack,
}

impl MovedWorkers {
    /// Whether one was moved.
    #[must_use]
    pub fn contains(&self, id: WorkerId) -> bool {
        self.at.contains_key(&id)
    }

    /// What was noted of one.
    #[must_use]
    pub fn get(&self, id: WorkerId) -> Option<Noted> {
        unpack(id, &mut self.from(id)?, true)
    }

    /// The same without the files of its Session.
    #[must_use]
    pub fn get_bare(&self, id: WorkerId) -> Option<Noted> {
        unpack(id, &mut self.from(id)?, false)
    }

    fn from(&self, id: WorkerId) -> Option<Unpack<'_>> {
        let at = *self.at.get(&id)?;
        self.packed.as_bytes().get(at..).map(Unpack::new)
    }

    /// Adds one, unless it is there.
    pub(super) fn add(&mut self, noted: &Noted) {
        let at = self.packed.len();
        if let std::collections::btree_map::Entry::Vacant(free) = self.at.entry(noted.worker_id) {
            free.insert(at);
            pack(&mut self.packed, noted);
        }
    }
}

/// Times are near each other: each is kept as how far it is from the one before.
struct Times(i64);

impl Times {
    fn put(&mut self, out: &mut Pack, time: i64) {
        let by = time.wrapping_sub(self.0);
        // Forward and back alike: the sign goes to the lowest bit.
        out.number((by << 1 ^ by >> 63).cast_unsigned());
        self.0 = time;
    }

    fn take(&mut self, from: &mut Unpack<'_>) -> Option<i64> {
        let n = from.number()?;
        let by = (n >> 1).cast_signed() ^ -(n & 1).cast_signed();
        self.0 = self.0.wrapping_add(by);
        Some(self.0)
    }
}

fn pack(out: &mut Pack, noted: &Noted) {
    let mut times = Times(0);
    let id = |out: &mut Pack, id: Uuid| out.raw(id.as_bytes());
    out.maybe(noted.session_id.map(SessionId::uuid), id);
    out.maybe(noted.segment_id.map(SegmentId::uuid), id);
    out.flag(noted.pending);
    out.maybe(noted.metadata.as_ref(), |out, file| {
        put_file(out, &mut times, file);
    });
    out.number(noted.files.len() as u64);
    for file in &noted.files {
        put_file(out, &mut times, file);
    }
    out.maybe(noted.glance, |out, glance| {
        out.number(glance.worker_bytes);
        for time in [
            glance.worker_time,
            glance.folder_time,
            glance.session_time,
            glance.segments_time,
            glance.source_time,
        ] {
            times.put(out, time);
        }
    });
}

fn unpack(worker_id: WorkerId, from: &mut Unpack<'_>, whole: bool) -> Option<Noted> {
    let mut times = Times(0);
    let id = |from: &mut Unpack<'_>| Uuid::from_slice(from.raw(16)?).ok();
    let mut noted = Noted {
        worker_id,
        session_id: from.maybe(id)?.map(SessionId::from_uuid),
        segment_id: from.maybe(id)?.map(SegmentId::from_uuid),
        pending: from.flag()?,
        metadata: from.maybe(|from| take_file(from, &mut times))?,
        files: Vec::new(),
        glance: None,
    };
    if whole {
        noted.files = from.list(|from| take_file(from, &mut times))?;
        noted.glance = from.maybe(|from| {
            Some(Glance {
                worker_bytes: from.number()?,
                worker_time: times.take(from)?,
                folder_time: times.take(from)?,
                session_time: times.take(from)?,
                segments_time: times.take(from)?,
                source_time: times.take(from)?,
            })
        })?;
    }
    Some(noted)
}

/// How the names of Segments and traces go on behind their id.
const ENDS: [&str; 2] = [".jsonl", ".trace.jsonl"];

fn put_file(out: &mut Pack, times: &mut Times, file: &NotedFile) {
    let short = ENDS.iter().enumerate().find_map(|(n, end)| {
        let stem = file.name.strip_suffix(end)?;
        Some((n, stem.parse::<SegmentId>().ok()?))
    });
    match short {
        Some((n, id)) => {
            out.number(n as u64);
            out.raw(id.uuid().as_bytes());
        }
        None => {
            out.number(ENDS.len() as u64);
            out.text(&file.name);
        }
    }
    out.number(file.bytes);
    times.put(out, file.source_time);
    times.put(out, file.time);
}

fn take_file(from: &mut Unpack<'_>, times: &mut Times) -> Option<NotedFile> {
    let name = match ENDS.get(from.index()?) {
        Some(end) => {
            let id = Uuid::from_slice(from.raw(16)?).ok()?;
            let mut name = String::with_capacity(Hyphenated::LENGTH + end.len());
            name.push_str(id.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH]));
            name.push_str(end);
            name.into_boxed_str()
        }
        None => from.text()?.into_boxed_str(),
    };
    Some(NotedFile {
        name,
        bytes: from.number()?,
        source_time: times.take(from)?,
        time: times.take(from)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_comes_out_again() {
        let id = "01890000-0000-7000-8000-000000000001";
        let file = |name: &str, bytes, source_time, time| NotedFile {
            name: name.into(),
            bytes,
            source_time,
            time,
        };
        let bare = Noted {
            worker_id: WorkerId::Number(1),
            session_id: None,
            segment_id: None,
            pending: false,
            metadata: None,
            files: Vec::new(),
            glance: None,
        };
        let full = Noted {
            worker_id: WorkerId::Number(2),
            session_id: id.parse().ok(),
            segment_id: id.parse().ok(),
            pending: true,
            metadata: Some(file("metadata.json", 9, 1_700_000_000_000_000_000, 7)),
            files: vec![
                file(&format!("{id}.jsonl"), u64::MAX, i64::MIN, i64::MAX),
                file(&format!("{id}.trace.jsonl"), 0, -1, 0),
                file(
                    &format!("{}.jsonl", id.replace('-', "")),
                    5,
                    i64::MAX,
                    i64::MIN,
                ),
                file("é.jsonl", 5, 1, 1),
            ],
            glance: Some(Glance {
                worker_bytes: 1,
                worker_time: 2,
                folder_time: -3,
                session_time: i64::MIN,
                segments_time: i64::MAX,
                source_time: 0,
            }),
        };
        let mut all = MovedWorkers::default();
        all.add(&bare);
        all.add(&full);
        // the first counts: it is the newer
        all.add(&Noted {
            worker_id: full.worker_id,
            ..bare.clone()
        });
        assert_eq!(all.get(bare.worker_id), Some(bare));
        let head = Noted {
            files: Vec::new(),
            glance: None,
            ..full.clone()
        };
        assert_eq!(all.get_bare(full.worker_id), Some(head));
        assert!(all.contains(full.worker_id));
        assert_eq!(all.get(full.worker_id), Some(full));
        assert_eq!(all.get(WorkerId::Number(3)), None);
    }
}
