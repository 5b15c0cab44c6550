//! How a shape of JSON is written down: the types that the tables of [`schema`](super::schema)
//! and [`documents`](super::documents) are made of, and that [`json`](super::json) checks.
//!
//! A table says of each object which fields it knows, what they hold and whether they must be
//! there. Unknown fields are always allowed and kept.

/// Where a checked value is handed to, so that a caller can pick a few fields out of a line
/// without building a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Nobody wants it.
    None,
    /// The kind of a record.
    Record,
    /// A history item, as an object with a kind.
    Item,
    /// A system item, as an object with a kind.
    SystemItem,
    /// `ts`
    Ts,
    /// `session_id` of a `segment_start`.
    SessionId,
    /// `segment_id` of an origin.
    OriginSegment,
    /// `at_turn_index` of an origin.
    OriginTurn,
    /// The object `forked_from`.
    ForkedFrom,
    /// The object `compacted_from`.
    CompactedFrom,
    /// `turn_count`
    TurnCount,
    /// `interrupted`
    Interrupted,
    /// `call_id` of a call or result.
    CallId,
    /// `role` of a message.
    Role,
    /// One entry of `extensions`.
    InputExtension,
    /// `input_total_tokens`
    InputTokens,
    /// `output_tokens`
    OutputTokens,
    /// `domain` of an extension record.
    Domain,
    /// `schema_version` of a document.
    SchemaVersion,
    /// `worker_id` of a document.
    WorkerId,
    /// `worker_id` inside a document's `worker_ref`.
    WorkerRef,
    /// `run_generation`
    RunGeneration,
    /// `workspace_id` of a document.
    WorkspaceId,
    /// `display_name` of a request.
    DisplayName,
    /// The selector of a request's profile.
    Profile,
    /// `workspace_id` of a request's `workspace_api`.
    ApiWorkspaceId,
    /// `worker_name` of a document.
    WorkerName,
    /// `session_id` of a document or of its active pointer.
    DocumentSession,
    /// `segment_id` of an active pointer.
    ActiveSegment,
    /// An entry of a list that a document needs as a whole.
    Entry,
}

/// Whether a field must be there, and whether it may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Must be there.
    Required,
    /// May be missing or null.
    Optional,
    /// May be missing, but not null.
    Default,
    /// Must be there, and may be null.
    Nullable,
}

/// One field of a shape.
#[derive(Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it holds.
    pub ty: Ty,
    /// Whether it must be there.
    pub presence: Presence,
    /// Who wants to see it.
    pub slot: Slot,
}

/// The fields that an object knows. At most 64.
#[derive(Debug)]
pub struct Shape {
    /// What it is called in messages.
    pub name: &'static str,
    /// In the order in which a writer writes them.
    pub fields: &'static [Field],
    /// One bit for each that must be there.
    pub required: u64,
}

impl Shape {
    /// A shape of these fields.
    #[must_use]
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        let mut required = 0;
        let mut i = 0;
        while i < fields.len() {
            if matches!(fields[i].presence, Presence::Required | Presence::Nullable) {
                required |= 1 << i;
            }
            i += 1;
        }
        Self {
            name,
            fields,
            required,
        }
    }
}

/// Objects that a field named `kind` tells apart.
#[derive(Debug)]
pub struct Union {
    /// What one is called in messages.
    pub name: &'static str,
    /// The kinds and their further fields.
    pub variants: &'static [(&'static str, &'static Shape)],
    /// Whether other kinds are accepted, with nothing in them checked.
    pub open: bool,
    /// Who wants to see the kind.
    pub slot: Slot,
}

/// The name of the field that tells the variants of a [`Union`] apart.
pub const TAG: &str = "kind";

/// Values that the one key of an object tells apart (`{"Usage": {…}}`), or a bare string.
#[derive(Debug)]
pub struct External {
    /// What one is called in messages.
    pub name: &'static str,
    /// Names that stand as a bare string.
    pub units: &'static [&'static str],
    /// Names that stand as the one key of an object.
    pub variants: &'static [(&'static str, Ty)],
}

/// What a value holds.
#[derive(Debug)]
pub enum Ty {
    /// Any JSON.
    Any,
    /// A string.
    Str,
    /// A whole number from 0 to 2^64-1.
    U64,
    /// A whole number from 0 to 2^32-1.
    U32,
    /// A whole number that fits 32 bits with a sign.
    I32,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// One of these strings.
    Enum(&'static [&'static str]),
    /// A UUID in any spelling.
    Id,
    /// A string of standard base64 with padding.
    Base64,
    /// A string, or a whole number of 32 bits with a sign.
    StrOrI32,
    /// A string or a whole number from 0 to 2^64-1: an id of version 1 or 3.
    StrOrU64,
    /// An array of one type.
    Array(&'static Ty),
    /// An object with any keys and values of one type.
    Map(&'static Ty),
    /// An object of one shape.
    Object(&'static Shape),
    /// An object that its `kind` tells apart.
    Tagged(&'static Union),
    /// A value that its one key tells apart.
    External(&'static External),
}

impl Ty {
    /// What it is called in messages: "expected …".
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Any => "any JSON",
            Self::Str => "a string",
            Self::U64 => "a whole number from 0 to 2^64-1",
            Self::U32 => "a whole number from 0 to 2^32-1",
            Self::I32 => "a whole number of 32 bits",
            Self::Float => "a number",
            Self::Bool => "true or false",
            Self::Enum(_) => "one of a few words",
            Self::Id => "a UUID",
            Self::Base64 => "standard base64 with padding",
            Self::StrOrI32 => "a string or a whole number of 32 bits",
            Self::StrOrU64 => "a string or a whole number",
            Self::Array(_) => "an array",
            Self::Map(_) => "an object",
            Self::Object(shape) => shape.name,
            Self::Tagged(union) => union.name,
            Self::External(external) => external.name,
        }
    }
}
