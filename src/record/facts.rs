//! What is picked out of one good line: enough to verify a Segment and to count its replay,
//! without building its records.

use super::json::{Sink, Value};
use super::schema::{ItemKind, RecordKind};
use super::shape::Slot;
use crate::layout::{SegmentId, SessionId};

/// Where a Segment was split off, as its first record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The Segment that it was made from.
    pub segment: SegmentId,
    /// The turn count there; 0 means before the first finished turn.
    pub turn: u64,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The Runtime.
    System,
}

/// One history item of a line.
#[derive(Debug, Clone, Copy)]
pub struct ItemFact {
    /// Its kind.
    pub kind: ItemKind,
    /// Who speaks, if it is a message.
    pub role: Option<Role>,
    /// Offset of its first byte from the start of the file.
    pub at: u64,
    /// Where its call id stands in [`Facts::call_id`].
    call: (u32, u32),
}

/// The domain of the extension record that stands where a repair took a record out.
pub const REPAIR_DOMAIN: &str = "wagg.repair";

/// Items of one line beyond this many are counted and not kept.
const MAX_ITEMS: usize = 1 << 18;

/// What one record says, as far as verification and counting need it.
#[derive(Debug, Default)]
pub struct Facts {
    kind: Option<RecordKind>,
    /// Milliseconds since 1970.
    pub ts: u64,
    /// The Session of a `segment_start`.
    pub session: Option<SessionId>,
    /// `forked_from`
    pub forked: Option<Origin>,
    /// `compacted_from`
    pub compacted: Option<Origin>,
    /// The count of a `turn_end`.
    pub turn_count: Option<u64>,
    /// Whether a run ended interrupted.
    pub interrupted: Option<bool>,
    /// Tokens in and out of an `llm_usage`.
    pub tokens: Option<(u64, u64)>,
    /// History items: of an item record one, of a `segment_start` its seed.
    pub items: Vec<ItemFact>,
    /// Extensions of a user's input.
    pub extensions: u64,
    /// Offset and text of the first id that is not in its one spelling.
    pub noncanonical: Option<(u64, String)>,
    /// It is the extension that a repair left where it took a record out.
    pub gap: bool,
    /// How many items the line holds; more than are kept in `items` if it is very long.
    pub item_count: u64,
    arena: String,
    origin: Option<Origin>,
    item: Option<ItemFact>,
}

impl Facts {
    /// The kind of the record.
    ///
    /// Only lines of a Segment that are good have one; the default stands for the others.
    #[must_use]
    pub fn kind(&self) -> Option<RecordKind> {
        self.kind
    }

    /// The call id of an item, empty if its kind has none.
    #[must_use]
    pub fn call_id(&self, item: &ItemFact) -> &str {
        let (start, end) = (item.call.0 as usize, item.call.1 as usize);
        self.arena.get(start..end).unwrap_or("")
    }

    /// Forgets the line, keeping the memory.
    pub fn clear(&mut self) {
        let (mut items, mut arena) = (
            std::mem::take(&mut self.items),
            std::mem::take(&mut self.arena),
        );
        items.clear();
        arena.clear();
        // A line that needed much memory does not keep it from the lines behind it.
        items.shrink_to(1024);
        arena.shrink_to(MAX_KEPT_ARENA);
        *self = Self {
            items,
            arena,
            ..Self::default()
        };
    }

    /// Becomes what `other` is, with its own memory where that suffices.
    pub(super) fn copy(&mut self, other: &Self) {
        self.clear();
        self.items.shrink_to(other.items.len().max(MAX_KEPT_ITEMS));
        self.items.extend_from_slice(&other.items);
        self.arena.shrink_to(other.arena.len().max(MAX_KEPT_TEXT));
        self.arena.push_str(&other.arena);
        let (items, arena) = (
            std::mem::take(&mut self.items),
            std::mem::take(&mut self.arena),
        );
        *self = Self {
            items,
            arena,
            noncanonical: other.noncanonical.clone(),
            ..*other
        };
    }

    /// What it takes beside its fixed size, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.items.len() * size_of::<ItemFact>() + self.arena.len()
    }

    #[cold]
    fn odd_id(&mut self, text: &[u8], at: u64) {
        if self.noncanonical.is_none() {
            self.noncanonical = Some((at, String::from_utf8_lossy(text).into_owned()));
        }
    }
}

const MAX_KEPT_ARENA: usize = 64 * 1024;

/// The same of copies, of which there are many.
const MAX_KEPT_ITEMS: usize = 4;
const MAX_KEPT_TEXT: usize = 256;

impl Sink for Facts {
    fn value(&mut self, slot: Slot, value: Value<'_>, at: u64) {
        if let Value::Id {
            text,
            on_disk: false,
            ..
        } = value
        {
            self.odd_id(text, at);
        }
        match (slot, value) {
            (Slot::Record, Value::Word(i)) => self.kind = RecordKind::ALL.get(i).copied(),
            (Slot::Ts, Value::U64(n)) => self.ts = n,
            (Slot::SessionId, Value::Id { id, .. }) => {
                self.session = Some(SessionId::from_uuid(id));
            }
            (Slot::ForkedFrom | Slot::CompactedFrom, Value::Open) => {
                self.origin = Some(Origin {
                    segment: SegmentId::from_uuid(uuid::Uuid::nil()),
                    turn: 0,
                });
            }
            (Slot::OriginSegment, Value::Id { id, .. }) => {
                if let Some(origin) = &mut self.origin {
                    origin.segment = SegmentId::from_uuid(id);
                }
            }
            (Slot::OriginTurn, Value::U64(n)) => {
                if let Some(origin) = &mut self.origin {
                    origin.turn = n;
                }
            }
            (Slot::ForkedFrom, Value::Close) => self.forked = self.origin.take(),
            (Slot::CompactedFrom, Value::Close) => self.compacted = self.origin.take(),
            (Slot::TurnCount, Value::U64(n)) => self.turn_count = Some(n),
            (Slot::Interrupted, Value::Bool(b)) => self.interrupted = Some(b),
            (Slot::InputTokens, Value::U64(n)) => self.tokens.get_or_insert_default().0 = n,
            (Slot::OutputTokens, Value::U64(n)) => self.tokens.get_or_insert_default().1 = n,
            (Slot::Domain, Value::Str(text)) => self.gap = text == REPAIR_DOMAIN.as_bytes(),
            (Slot::InputExtension, Value::Open) => self.extensions += 1,
            (Slot::Item, Value::Word(i)) => {
                self.item = ItemKind::ALL.get(i).map(|&kind| ItemFact {
                    kind,
                    role: None,
                    at,
                    call: (0, 0),
                });
            }
            (Slot::SystemItem, Value::Word(_)) => {
                self.item = Some(ItemFact {
                    kind: ItemKind::Message,
                    role: Some(Role::System),
                    at,
                    call: (0, 0),
                });
            }
            (Slot::Role, Value::Word(i)) => {
                if let Some(item) = &mut self.item {
                    item.role = [Role::User, Role::Assistant, Role::System].get(i).copied();
                }
            }
            (Slot::CallId, Value::Str(text)) => {
                if let Some(item) = &mut self.item
                    && self.items.len() < MAX_ITEMS
                {
                    let start = self.arena.len();
                    self.arena.push_str(&String::from_utf8_lossy(text));
                    item.call = (start as u32, self.arena.len() as u32);
                }
            }
            (Slot::Item | Slot::SystemItem, Value::Close) => {
                if let Some(item) = self.item.take() {
                    self.item_count += 1;
                    if self.items.len() < MAX_ITEMS {
                        self.items.push(item);
                    }
                }
            }
            _ => {}
        }
    }
}
