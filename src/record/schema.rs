//! The shapes of the records of a Segment and of a trace, as tables.
//!
//! `docs/format.md` says the same in words. A field that a later version added and an older reader
//! accepts stands here as optional.

use super::shape::{External, Field, Presence, Shape, Slot, Ty, Union};
use Presence::{Default as Dflt, Optional, Required};

const fn field(name: &'static str, ty: Ty, presence: Presence, slot: Slot) -> Field {
    Field {
        name,
        ty,
        presence,
        slot,
    }
}
const fn req(name: &'static str, ty: Ty) -> Field {
    field(name, ty, Required, Slot::None)
}
const fn opt(name: &'static str, ty: Ty) -> Field {
    field(name, ty, Optional, Slot::None)
}
const fn dflt(name: &'static str, ty: Ty) -> Field {
    field(name, ty, Dflt, Slot::None)
}
const fn ts() -> Field {
    field("ts", Ty::U64, Required, Slot::Ts)
}
const fn body() -> Field {
    req("body", Ty::Str)
}

macro_rules! shape {
    ($vis:vis $name:ident, $words:literal, [$($field:expr),* $(,)?]) => {
        $vis static $name: Shape = Shape::new($words, &[$($field),*]);
    };
}

shape!(
    ORIGIN,
    "an origin",
    [
        field("segment_id", Ty::Id, Required, Slot::OriginSegment),
        field("at_turn_index", Ty::U64, Required, Slot::OriginTurn),
    ]
);

shape!(pub(crate) CONFIG, "a request config", [
    opt("max_tokens", Ty::U32),
    opt("temperature", Ty::Float),
    opt("top_p", Ty::Float),
    opt("top_k", Ty::U32),
    req("stop_sequences", Ty::Array(&Ty::Str)),
    opt("reasoning", Ty::StrOrI32),
]);

// ---------------------------------------------------------------- history items

shape!(TEXT_PART, "a text part", [req("text", Ty::Str)]);
shape!(REFUSAL_PART, "a refusal part", [req("refusal", Ty::Str)]);
static CONTENT_PART: Union = Union {
    name: "a content part",
    variants: &[("text", &TEXT_PART), ("refusal", &REFUSAL_PART)],
    open: false,
    slot: Slot::None,
};
static ROLES: &[&str] = &["user", "assistant", "system"];
shape!(
    MESSAGE,
    "a message",
    [
        field("role", Ty::Enum(ROLES), Required, Slot::Role),
        req("content", Ty::Array(&Ty::Tagged(&CONTENT_PART))),
    ]
);
shape!(
    TOOL_CALL,
    "a tool call",
    [
        field("call_id", Ty::Str, Required, Slot::CallId),
        req("name", Ty::Str),
        req("arguments", Ty::Str),
    ]
);
shape!(
    IMAGE,
    "an image",
    [req("mime_type", Ty::Str), req("data", Ty::Base64)]
);
static ATTACHMENT: Union = Union {
    name: "an attachment",
    variants: &[("image", &IMAGE)],
    open: false,
    slot: Slot::None,
};
shape!(
    TOOL_RESULT_ITEM,
    "a tool result",
    [
        field("call_id", Ty::Str, Required, Slot::CallId),
        req("summary", Ty::Str),
        opt("content", Ty::Str),
        dflt("attachments", Ty::Array(&Ty::Tagged(&ATTACHMENT))),
        dflt("is_error", Ty::Bool),
    ]
);
shape!(
    REASONING,
    "a reasoning item",
    [
        req("text", Ty::Str),
        dflt("summary", Ty::Array(&Ty::Str)),
        opt("encrypted_content", Ty::Str),
        opt("signature", Ty::Str),
    ]
);

/// The kinds of history items, in the order of [`ITEM`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Text of a user, an assistant or the system.
    Message,
    /// A tool was called.
    ToolCall,
    /// What a tool gave back.
    ToolResult,
    /// What a model thought.
    Reasoning,
}

impl ItemKind {
    pub(crate) const ALL: [Self; 4] = [
        Self::Message,
        Self::ToolCall,
        Self::ToolResult,
        Self::Reasoning,
    ];

    /// The word that stands in the item.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Reasoning => "reasoning",
        }
    }
}

/// A history item.
pub(crate) static ITEM: Union = Union {
    name: "a history item",
    variants: &[
        ("message", &MESSAGE),
        ("tool_call", &TOOL_CALL),
        ("tool_result", &TOOL_RESULT_ITEM),
        ("reasoning", &REASONING),
    ],
    open: false,
    slot: Slot::Item,
};

// ---------------------------------------------------------------- system items

shape!(
    PROVENANCE,
    "a prompt provenance",
    [
        opt("workspace_id", Ty::Str),
        req("config_revision", Ty::U64),
        req("source_digest", Ty::Str),
        req("projection_digest", Ty::Str),
        req("logical_name", Ty::Str),
    ]
);
const fn provenance() -> Field {
    opt("prompt_provenance", Ty::Object(&PROVENANCE))
}
static PERMISSIONS: &[&str] = &["read", "write"];
shape!(
    EVENT_SCOPE,
    "a scope rule",
    [
        req("target", Ty::Str),
        req("permission", Ty::Enum(PERMISSIONS)),
        dflt("recursive", Ty::Bool),
    ]
);
shape!(
    EVENT_TURN_ENDED,
    "a turn_ended event",
    [req("worker_name", Ty::Str)]
);
shape!(
    EVENT_ERRORED,
    "an errored event",
    [req("worker_name", Ty::Str), req("message", Ty::Str)]
);
shape!(
    EVENT_SHUT_DOWN,
    "a shut_down event",
    [req("worker_name", Ty::Str)]
);
shape!(
    EVENT_SUB_DELEGATED,
    "a scope_sub_delegated event",
    [
        req("parent_worker", Ty::Str),
        req("sub_worker", Ty::Str),
        req("sub_socket", Ty::Str),
        req("scope", Ty::Array(&Ty::Object(&EVENT_SCOPE))),
    ]
);
static WORKER_EVENT: Union = Union {
    name: "a Worker event",
    variants: &[
        ("turn_ended", &EVENT_TURN_ENDED),
        ("errored", &EVENT_ERRORED),
        ("shut_down", &EVENT_SHUT_DOWN),
        ("scope_sub_delegated", &EVENT_SUB_DELEGATED),
    ],
    open: false,
    slot: Slot::None,
};
static REMINDER_SOURCES: &[&str] = &["task_inactivity"];

shape!(
    SYS_NOTIFICATION,
    "a notification",
    [req("message", Ty::Str), body(), provenance()]
);
shape!(
    SYS_WORKER_EVENT,
    "a worker_event item",
    [
        req("event", Ty::Tagged(&WORKER_EVENT)),
        body(),
        provenance(),
    ]
);
shape!(
    SYS_FILE,
    "a file_attachment item",
    [req("path", Ty::Str), body()]
);
shape!(
    SYS_SKILL,
    "a skill_activation item",
    [req("name", Ty::Str), body()]
);
shape!(
    SYS_KNOWLEDGE,
    "a knowledge item",
    [req("slug", Ty::Str), body()]
);
shape!(SYS_WORKFLOW, "a workflow item", [req("slug", Ty::Str)]);
shape!(
    SYS_REMINDER,
    "a task_reminder item",
    [
        dflt("source", Ty::Enum(REMINDER_SOURCES)),
        body(),
        provenance(),
    ]
);
shape!(SYS_INTERRUPT, "an interrupt item", [body(), provenance()]);
/// A system item.
pub(crate) static SYSTEM_ITEM: Union = Union {
    name: "a system item",
    variants: &[
        ("notification", &SYS_NOTIFICATION),
        ("worker_event", &SYS_WORKER_EVENT),
        ("file_attachment", &SYS_FILE),
        ("skill_activation", &SYS_SKILL),
        ("knowledge", &SYS_KNOWLEDGE),
        ("workflow", &SYS_WORKFLOW),
        ("task_reminder", &SYS_REMINDER),
        ("interrupt", &SYS_INTERRUPT),
    ],
    open: false,
    slot: Slot::SystemItem,
};

// ---------------------------------------------------------------- user input

shape!(INPUT_TEXT, "a text part", [req("content", Ty::Str)]);
shape!(
    INPUT_PASTE,
    "a paste part",
    [
        req("id", Ty::U32),
        req("chars", Ty::U32),
        req("lines", Ty::U32),
        req("content", Ty::Str),
    ]
);
shape!(INPUT_FILE, "a file_ref part", [req("path", Ty::Str)]);
shape!(INPUT_FLOW, "a flow part", [req("selector", Ty::Str)]);
shape!(INPUT_UNKNOWN, "an unknown part", []);
/// A part of a user's input. Other kinds are accepted and replay as the empty text.
pub(crate) static INPUT_PART: Union = Union {
    name: "an input part",
    variants: &[
        ("text", &INPUT_TEXT),
        ("paste", &INPUT_PASTE),
        ("file_ref", &INPUT_FILE),
        ("flow", &INPUT_FLOW),
        ("unknown", &INPUT_UNKNOWN),
    ],
    open: true,
    slot: Slot::None,
};
shape!(
    INPUT_EXTENSION,
    "an input extension",
    [req("domain", Ty::Str), req("payload", Ty::Any)]
);

// ---------------------------------------------------------------- records

static TRIGGERS: &[&str] = &[
    "user_send",
    "notify",
    "worker_event",
    "system_reminder",
    "wakeup",
];
static RESULTS: &[&str] = &["finished", "paused", "limit_reached", "yielded"];

shape!(
    SEGMENT_START,
    "a segment_start record",
    [
        ts(),
        field("session_id", Ty::Id, Required, Slot::SessionId),
        opt("system_prompt", Ty::Str),
        req("config", Ty::Object(&CONFIG)),
        req("history", Ty::Array(&Ty::Tagged(&ITEM))),
        field(
            "forked_from",
            Ty::Object(&ORIGIN),
            Optional,
            Slot::ForkedFrom
        ),
        field(
            "compacted_from",
            Ty::Object(&ORIGIN),
            Optional,
            Slot::CompactedFrom
        ),
    ]
);
shape!(
    INVOKE,
    "an invoke record",
    [ts(), req("trigger", Ty::Enum(TRIGGERS))]
);
shape!(
    USER_INPUT,
    "a user_input record",
    [
        ts(),
        req("segments", Ty::Array(&Ty::Tagged(&INPUT_PART))),
        field(
            "extensions",
            Ty::Array(&Ty::Object(&INPUT_EXTENSION)),
            Dflt,
            Slot::InputExtension
        ),
    ]
);
shape!(
    ASSISTANT_ITEM,
    "an assistant_item record",
    [ts(), req("item", Ty::Tagged(&ITEM))]
);
shape!(
    TOOL_RESULT,
    "a tool_result record",
    [ts(), req("item", Ty::Tagged(&ITEM))]
);
shape!(
    SYSTEM_ITEM_RECORD,
    "a system_item record",
    [ts(), req("item", Ty::Tagged(&SYSTEM_ITEM))]
);
shape!(
    TURN_END,
    "a turn_end record",
    [
        ts(),
        field("turn_count", Ty::U64, Required, Slot::TurnCount),
    ]
);
shape!(
    RUN_COMPLETED,
    "a run_completed record",
    [
        ts(),
        field("interrupted", Ty::Bool, Required, Slot::Interrupted),
        req("result", Ty::Enum(RESULTS)),
    ]
);
shape!(
    RUN_ERRORED,
    "a run_errored record",
    [
        ts(),
        field("interrupted", Ty::Bool, Required, Slot::Interrupted),
        req("message", Ty::Str),
    ]
);
shape!(
    PAUSED_TURN_ABANDONED,
    "a paused_turn_abandoned record",
    [ts()]
);
shape!(
    CONFIG_CHANGED,
    "a config_changed record",
    [ts(), req("config", Ty::Object(&CONFIG))]
);
shape!(
    LLM_USAGE,
    "an llm_usage record",
    [
        ts(),
        req("history_len", Ty::U64),
        field("input_total_tokens", Ty::U64, Required, Slot::InputTokens),
        req("cache_read_tokens", Ty::U64),
        req("cache_write_tokens", Ty::U64),
        field("output_tokens", Ty::U64, Required, Slot::OutputTokens),
    ]
);
shape!(
    EXTENSION,
    "an extension record",
    [
        ts(),
        field("domain", Ty::Str, Required, Slot::Domain),
        req("payload", Ty::Any),
    ]
);

/// The kinds of records, in the order of [`RECORD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// The head of a Segment: Session, prompt, config, seed history, lineage.
    SegmentStart,
    /// A run was asked for.
    Invoke,
    /// What a person said.
    UserInput,
    /// What a model said, called or thought.
    AssistantItem,
    /// What a tool gave back.
    ToolResult,
    /// What the Runtime put into the history.
    SystemItem,
    /// A turn is over.
    TurnEnd,
    /// A run is over.
    RunCompleted,
    /// A run failed.
    RunErrored,
    /// A paused turn will not go on.
    PausedTurnAbandoned,
    /// The request config changed.
    ConfigChanged,
    /// What a request cost.
    LlmUsage,
    /// Somebody else's data.
    Extension,
}

impl RecordKind {
    /// Every kind, in the order of the table.
    pub const ALL: [Self; 13] = [
        Self::SegmentStart,
        Self::Invoke,
        Self::UserInput,
        Self::AssistantItem,
        Self::ToolResult,
        Self::SystemItem,
        Self::TurnEnd,
        Self::RunCompleted,
        Self::RunErrored,
        Self::PausedTurnAbandoned,
        Self::ConfigChanged,
        Self::LlmUsage,
        Self::Extension,
    ];

    /// The word that stands in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        RECORD.variants[self as usize].0
    }
}

impl std::str::FromStr for RecordKind {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(())
    }
}

/// A record of a Segment.
pub static RECORD: Union = Union {
    name: "a record",
    variants: &[
        ("segment_start", &SEGMENT_START),
        ("invoke", &INVOKE),
        ("user_input", &USER_INPUT),
        ("assistant_item", &ASSISTANT_ITEM),
        ("tool_result", &TOOL_RESULT),
        ("system_item", &SYSTEM_ITEM_RECORD),
        ("turn_end", &TURN_END),
        ("run_completed", &RUN_COMPLETED),
        ("run_errored", &RUN_ERRORED),
        ("paused_turn_abandoned", &PAUSED_TURN_ABANDONED),
        ("config_changed", &CONFIG_CHANGED),
        ("llm_usage", &LLM_USAGE),
        ("extension", &EXTENSION),
    ],
    open: false,
    slot: Slot::Record,
};

// ---------------------------------------------------------------- traces

static STATUSES: &[&str] = &["Started", "Completed", "Cancelled", "Failed"];
static BLOCK_TYPES: &[&str] = &["Text", "Thinking", "ToolUse", "ToolResult"];
static STOP_REASONS: &[&str] = &["EndTurn", "MaxTokens", "StopSequence", "ToolUse"];

shape!(TRACE_PING, "a Ping", [opt("timestamp", Ty::U64)]);
shape!(
    TRACE_USAGE,
    "a Usage",
    [
        opt("input_tokens", Ty::U64),
        opt("output_tokens", Ty::U64),
        opt("total_tokens", Ty::U64),
        opt("cache_read_input_tokens", Ty::U64),
        opt("cache_creation_input_tokens", Ty::U64),
    ]
);
shape!(
    TRACE_STATUS,
    "a Status",
    [req("status", Ty::Enum(STATUSES))]
);
shape!(
    TRACE_ERROR,
    "an Error",
    [opt("code", Ty::Str), req("message", Ty::Str)]
);
shape!(
    TRACE_UNHANDLED,
    "an UnhandledSse",
    [
        req("provider", Ty::Str),
        req("event_type", Ty::Str),
        req("data_preview", Ty::Str),
        req("data_len", Ty::U64),
    ]
);
shape!(
    TOOL_USE,
    "a ToolUse",
    [req("id", Ty::Str), req("name", Ty::Str)]
);
shape!(
    TOOL_USE_RESULT,
    "a ToolResult",
    [req("tool_use_id", Ty::Str)]
);
static BLOCK_METADATA: External = External {
    name: "block metadata",
    units: &["Text", "Thinking"],
    variants: &[
        ("ToolUse", Ty::Object(&TOOL_USE)),
        ("ToolResult", Ty::Object(&TOOL_USE_RESULT)),
    ],
};
static BLOCK_DELTA: External = External {
    name: "a block delta",
    units: &[],
    variants: &[
        ("Text", Ty::Str),
        ("Thinking", Ty::Str),
        ("InputJson", Ty::Str),
    ],
};
shape!(
    TRACE_REASONING,
    "a block's reasoning",
    [
        opt("id", Ty::Str),
        opt("text", Ty::Str),
        req("summary", Ty::Array(&Ty::Str)),
        opt("encrypted_content", Ty::Str),
        opt("signature", Ty::Str),
    ]
);
shape!(
    TRACE_BLOCK_START,
    "a BlockStart",
    [
        req("index", Ty::U64),
        req("block_type", Ty::Enum(BLOCK_TYPES)),
        req("metadata", Ty::External(&BLOCK_METADATA)),
    ]
);
shape!(
    TRACE_BLOCK_DELTA,
    "a BlockDelta",
    [
        req("index", Ty::U64),
        req("delta", Ty::External(&BLOCK_DELTA)),
    ]
);
shape!(
    TRACE_BLOCK_STOP,
    "a BlockStop",
    [
        req("index", Ty::U64),
        req("block_type", Ty::Enum(BLOCK_TYPES)),
        opt("stop_reason", Ty::Enum(STOP_REASONS)),
        opt("reasoning", Ty::Object(&TRACE_REASONING)),
    ]
);
shape!(
    TRACE_BLOCK_ABORT,
    "a BlockAbort",
    [
        req("index", Ty::U64),
        req("block_type", Ty::Enum(BLOCK_TYPES)),
        req("reason", Ty::Str),
    ]
);
static TRACE_EVENT: External = External {
    name: "a stream event",
    units: &[],
    variants: &[
        ("Ping", Ty::Object(&TRACE_PING)),
        ("Usage", Ty::Object(&TRACE_USAGE)),
        ("Status", Ty::Object(&TRACE_STATUS)),
        ("Error", Ty::Object(&TRACE_ERROR)),
        ("UnhandledSse", Ty::Object(&TRACE_UNHANDLED)),
        ("BlockStart", Ty::Object(&TRACE_BLOCK_START)),
        ("BlockDelta", Ty::Object(&TRACE_BLOCK_DELTA)),
        ("BlockStop", Ty::Object(&TRACE_BLOCK_STOP)),
        ("BlockAbort", Ty::Object(&TRACE_BLOCK_ABORT)),
    ],
};
shape!(
    STREAM_EVENT,
    "a stream_event",
    [
        ts(),
        req("turn", Ty::U64),
        opt("llm_call", Ty::U64),
        req("event", Ty::External(&TRACE_EVENT)),
    ]
);
shape!(
    LIFECYCLE,
    "a lifecycle record",
    [
        ts(),
        req("turn", Ty::U64),
        opt("llm_call", Ty::U64),
        req("label", Ty::Str),
        opt("data", Ty::Any),
    ]
);
/// A record of a trace.
pub static TRACE: Union = Union {
    name: "a trace record",
    variants: &[("stream_event", &STREAM_EVENT), ("lifecycle", &LIFECYCLE)],
    open: false,
    slot: Slot::None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_stand_in_the_order_of_the_tables() {
        assert_eq!(RecordKind::ALL.len(), RECORD.variants.len());
        for (kind, (name, shape)) in RecordKind::ALL.into_iter().zip(RECORD.variants) {
            assert_eq!(kind.as_str(), *name);
            assert!(shape.name.contains(name), "{name}");
        }
        assert_eq!(ItemKind::ALL.len(), ITEM.variants.len());
    }
}
