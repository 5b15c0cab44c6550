//! Segments and traces line by line: a small language of records with a fixed clock.

use serde_json::{Value, json};

use super::store::id;

/// When every Segment starts: milliseconds since 1970.
pub const START_MS: u64 = 1_700_000_000_000;

/// The lines of a Segment. Each record is a little later than the one before it.
#[derive(Debug, Clone)]
pub struct Log {
    lines: Vec<Vec<u8>>,
    clock: u64,
    turn: u64,
    calls: u64,
    history: u64,
}

impl Log {
    /// Nothing, not even a start.
    pub fn empty() -> Self {
        Self {
            lines: Vec::new(),
            clock: START_MS,
            turn: 0,
            calls: 0,
            history: 0,
        }
    }

    /// The start of a Session's first Segment.
    pub fn start(session: u64) -> Self {
        Self::empty().start_record(session, json!([]), |_| {})
    }

    /// The start of a fork of `source` at a turn.
    pub fn forked(session: u64, source: u64, turn: u64) -> Self {
        let mut log = Self::empty().start_record(session, json!([]), |start| {
            start["forked_from"] = origin(source, turn);
        });
        log.turn = turn;
        log
    }

    /// The start of a compaction of `source` at a turn, seeded with a summary.
    pub fn compacted(session: u64, source: u64, turn: u64) -> Self {
        let summary = text_item("user", "Summary of what was said so far.");
        Self::compacted_with(session, source, turn, vec![summary])
    }

    /// The same with these items as its seed history.
    pub fn compacted_with(session: u64, source: u64, turn: u64, seed: Vec<Value>) -> Self {
        let mut log = Self::empty().start_record(session, seed.into(), |start| {
            start["compacted_from"] = origin(source, turn);
        });
        log.turn = turn;
        log
    }

    fn start_record(self, session: u64, seed: Value, more: impl FnOnce(&mut Value)) -> Self {
        let count = seed.as_array().map_or(0, Vec::len) as u64;
        let mut start = json!({
            "session_id": id(session),
            "system_prompt": "You help in a workshop.",
            "config": {
                "max_tokens": 4096,
                "temperature": null,
                "top_p": null,
                "top_k": null,
                "stop_sequences": [],
                "reasoning": null
            },
            "history": seed,
        });
        more(&mut start);
        let mut log = self.record("segment_start", start);
        log.history = count;
        log
    }

    /// A record of this kind with these fields behind `kind` and `ts`.
    pub fn record(mut self, kind: &str, fields: Value) -> Self {
        let mut record = json!({ "kind": kind, "ts": self.clock });
        self.clock += 10;
        if let (Some(record), Value::Object(fields)) = (record.as_object_mut(), fields) {
            record.extend(fields);
        }
        self.raw(record.to_string())
    }

    /// A line as it is; the newline is added.
    pub fn raw(mut self, line: impl Into<Vec<u8>>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Sets the clock: milliseconds since 1970.
    pub fn at(mut self, clock: u64) -> Self {
        self.clock = clock;
        self
    }

    /// A run begins.
    pub fn invoke(self) -> Self {
        self.record("invoke", json!({ "trigger": "user_send" }))
    }

    /// A person says something.
    pub fn user(mut self, text: &str) -> Self {
        self.history += 1;
        self.record(
            "user_input",
            json!({ "segments": [{ "kind": "text", "content": text }] }),
        )
    }

    /// The model answers.
    pub fn assistant(mut self, text: &str) -> Self {
        self.history += 1;
        self.record(
            "assistant_item",
            json!({ "item": text_item("assistant", text) }),
        )
    }

    /// The model calls a tool.
    pub fn call(mut self, call: &str) -> Self {
        self.history += 1;
        self.record("assistant_item", json!({ "item": call_item(call) }))
    }

    /// The tool's result.
    pub fn result(mut self, call: &str) -> Self {
        self.history += 1;
        self.record("tool_result", json!({ "item": result_item(call) }))
    }

    /// What the model's provider counted.
    pub fn usage(self) -> Self {
        let history = self.history;
        self.record(
            "llm_usage",
            json!({
                "history_len": history,
                "input_total_tokens": 100 + 20 * history,
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "output_tokens": 20
            }),
        )
    }

    /// The turn ends, one above the last.
    pub fn turn_end(mut self) -> Self {
        self.turn += 1;
        let turn = self.turn;
        self.record("turn_end", json!({ "turn_count": turn }))
    }

    /// The turn ends with this count.
    pub fn turn_end_at(mut self, turn: u64) -> Self {
        self.turn = turn;
        self.record("turn_end", json!({ "turn_count": turn }))
    }

    /// The run ends as it should.
    pub fn completed(self) -> Self {
        self.record(
            "run_completed",
            json!({ "interrupted": false, "result": "finished" }),
        )
    }

    /// A whole turn without a tool: 6 records.
    pub fn turn(self, text: &str) -> Self {
        self.invoke()
            .user(text)
            .assistant("A short answer.")
            .usage()
            .turn_end()
            .completed()
    }

    /// A whole turn with one tool call: 8 records.
    pub fn tool_turn(mut self, text: &str) -> Self {
        self.calls += 1;
        let call = format!("call_{}", self.calls);
        self.invoke()
            .user(text)
            .call(&call)
            .result(&call)
            .assistant("Looked it up.")
            .usage()
            .turn_end()
            .completed()
    }

    /// So many whole turns, the first with a tool call.
    pub fn turns(mut self, n: u64) -> Self {
        for turn in 0..n {
            let text = format!("Question number {}.", turn + 1);
            self = if turn == 0 {
                self.tool_turn(&text)
            } else {
                self.turn(&text)
            };
        }
        self
    }

    /// A run that was killed while a tool ran.
    pub fn interrupted(mut self) -> Self {
        self.calls += 1;
        let call = format!("call_{}", self.calls);
        self.invoke().user("And now something long.").call(&call)
    }

    /// How many tool calls were made under a name of their own; the last is `call_<n>`.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The bytes, each line with its newline.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in &self.lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        bytes
    }
}

/// An origin as a first record names it.
pub fn origin(source: u64, turn: u64) -> Value {
    json!({ "segment_id": id(source), "at_turn_index": turn })
}

/// A message.
pub fn text_item(role: &str, text: &str) -> Value {
    json!({ "kind": "message", "role": role, "content": [{ "kind": "text", "text": text }] })
}

/// A tool call.
pub fn call_item(call: &str) -> Value {
    json!({ "kind": "tool_call", "call_id": call, "name": "list_dir", "arguments": "{\"path\":\"bench\"}" })
}

/// A tool result.
pub fn result_item(call: &str) -> Value {
    json!({ "kind": "tool_result", "call_id": call, "summary": "3 entries" })
}

/// The bytes of a trace of two records.
pub fn trace() -> Vec<u8> {
    format!(
        "{{\"ts\":{START_MS},\"turn\":0,\"llm_call\":0,\"kind\":\"lifecycle\",\"label\":\"request\",\"data\":{{\"n\":1}}}}\n\
         {{\"ts\":{},\"turn\":0,\"kind\":\"stream_event\",\"event\":{{\"Status\":{{\"status\":\"Completed\"}}}}}}\n",
        START_MS + 5
    )
    .into_bytes()
}
