//! The turns of a replayed history, and where a retained tail may begin: at one of them, and never
//! between a tool call and its result (C29).

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::tokens::Sized;
use crate::record::ItemKind;
use crate::record::replay::Item;

/// What is to be known of one item.
#[derive(Debug)]
struct Piece {
    kind: ItemKind,
    user: bool,
    call: Option<String>,
    sized: Sized,
}

/// A history in its turns.
#[derive(Debug)]
pub(super) struct Turns {
    sizes: Vec<Sized>,
    /// Where each turn begins. What stands before the first one counts as a turn.
    starts: Vec<usize>,
    /// For each turn the first one that a result in it or in a later one has its call in.
    reach: Vec<usize>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<&'a RawValue>,
}

impl Piece {
    fn read(json: &RawValue) -> serde_json::Result<Self> {
        let raw: Raw<'_> = serde_json::from_str(json.get())?;
        let text = |raw: Option<&RawValue>| -> serde_json::Result<String> {
            raw.map_or_else(|| Ok(String::new()), |raw| serde_json::from_str(raw.get()))
        };
        let kind = match &*raw.kind {
            "tool_call" => ItemKind::ToolCall,
            "tool_result" => ItemKind::ToolResult,
            "reasoning" => ItemKind::Reasoning,
            _ => ItemKind::Message,
        };
        let (mut role, mut call) = (String::new(), None);
        match kind {
            ItemKind::Message => role = text(raw.role)?,
            ItemKind::ToolCall | ItemKind::ToolResult => call = Some(text(raw.call_id)?),
            ItemKind::Reasoning => {}
        }
        let from_model = match kind {
            ItemKind::Message => role == "assistant",
            ItemKind::ToolCall | ItemKind::Reasoning => true,
            ItemKind::ToolResult => false,
        };
        Ok(Self {
            kind,
            user: role == "user",
            call,
            sized: Sized {
                bytes: json.get().len() as u64,
                from_model,
            },
        })
    }
}

impl Turns {
    /// The turns of a history.
    ///
    /// Where records were replayed, a turn begins behind each `turn_end`. A seed history has none
    /// of those; there a turn begins where a user speaks.
    ///
    /// # Errors
    /// An item is none.
    pub fn of(history: &[Item]) -> serde_json::Result<Self> {
        let pieces = history
            .iter()
            .map(|item| Piece::read(&item.json))
            .collect::<serde_json::Result<Vec<_>>>()?;
        let mut starts = Vec::new();
        for (at, item) in history.iter().enumerate() {
            let Some(before) = at.checked_sub(1) else {
                starts.push(0);
                continue;
            };
            let begins = if item.seed.is_some() {
                pieces[at].user && !pieces[before].user
            } else {
                history[before].seed.is_some() || history[before].turn != item.turn
            };
            if begins {
                starts.push(at);
            }
        }
        let reach = reach(&pieces, &starts);
        Ok(Self {
            sizes: pieces.iter().map(|piece| piece.sized).collect(),
            starts,
            reach,
        })
    }

    /// How many items.
    pub fn items(&self) -> usize {
        self.sizes.len()
    }

    /// How many turns.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Where the last `turns` turns begin.
    pub fn start_of_last(&self, turns: usize) -> usize {
        let first = self.starts.len().saturating_sub(turns);
        self.starts.get(first).copied().unwrap_or(self.sizes.len())
    }

    /// Sizes of all items.
    pub fn sizes(&self) -> &[Sized] {
        &self.sizes
    }

    /// How many of the last turns must be retained so that no result among the last `turns` is
    /// cut off its call.
    pub fn pulled_back(&self, turns: usize) -> usize {
        let mut first = self.starts.len().saturating_sub(turns);
        while let Some(&earlier) = self.reach.get(first)
            && earlier < first
        {
            first = earlier;
        }
        self.starts.len() - first
    }
}

/// How far back the results of each turn and of those behind it reach. A result answers the last
/// call of its id that has none yet; one that answers no call reaches nowhere.
fn reach(pieces: &[Piece], starts: &[usize]) -> Vec<usize> {
    let turn_of = |at: usize| starts.partition_point(|begin| *begin <= at) - 1;
    let mut reach: Vec<usize> = (0..starts.len()).collect();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        match (piece.kind, &piece.call) {
            (ItemKind::ToolCall, Some(id)) => {
                open.insert(id, at);
            }
            (ItemKind::ToolResult, Some(id)) => {
                if let Some(call) = open.remove(id.as_str()) {
                    let (own, earlier) = (turn_of(at), turn_of(call));
                    reach[own] = reach[own].min(earlier);
                }
            }
            _ => {}
        }
    }
    for turn in (1..reach.len()).rev() {
        reach[turn - 1] = reach[turn - 1].min(reach[turn]);
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u`ser, `a`ssistant, `s`ystem, `+1` a call, `-1` its result.
    fn history(seed: &str, turns: &[&str]) -> Vec<Item> {
        let item = |word: &str| {
            let json = match word.split_at(1) {
                ("+", id) => {
                    format!(r#"{{"kind":"tool_call","call_id":"{id}","name":"n","arguments":""}}"#)
                }
                ("-", id) => format!(r#"{{"kind":"tool_result","call_id":"{id}","summary":""}}"#),
                (who, _) => {
                    let role = match who {
                        "u" => "user",
                        "a" => "assistant",
                        _ => "system",
                    };
                    format!(r#"{{"kind":"message","role":"{role}","content":[]}}"#)
                }
            };
            RawValue::from_string(json).unwrap()
        };
        let mut all = Vec::new();
        for (place, word) in seed.split_whitespace().enumerate() {
            all.push(Item {
                json: item(word),
                line: 1,
                seed: Some(place),
                turn: 0,
            });
        }
        for (turn, words) in turns.iter().enumerate() {
            for word in words.split_whitespace() {
                all.push(Item {
                    json: item(word),
                    line: 2,
                    seed: None,
                    turn: turn as u64,
                });
            }
        }
        all
    }

    fn starts(seed: &str, turns: &[&str]) -> Vec<usize> {
        Turns::of(&history(seed, turns)).unwrap().starts
    }

    #[test]
    fn turns_begin_where_they_should() {
        assert!(starts("", &[]).is_empty());
        assert_eq!(starts("", &["u a", "u +1 -1 a", "s a"]), [0, 2, 6]);
        assert_eq!(starts("s u a u u a", &["u a"]), [0, 1, 3, 6]);
        assert_eq!(starts("u a", &["u a"]), [0, 2]);
        let turns = Turns::of(&history("s u a", &["u a"])).unwrap();
        assert_eq!(turns.count(), 3);
        let at: Vec<usize> = (0..5).map(|n| turns.start_of_last(n)).collect();
        assert_eq!(at, [5, 3, 1, 0, 0]);
    }

    #[test]
    fn pairs_pull_the_start_back() {
        let back = |turns: &[&str], n| Turns::of(&history("", turns)).unwrap().pulled_back(n);
        assert_eq!(back(&["u +1 -1 a", "u a"], 1), 1);
        assert_eq!(back(&["u +1 a", "u -1 a"], 1), 2);
        // one leads to the next
        assert_eq!(back(&["u a", "u +1 a", "u -1 +2", "u -2 a"], 1), 3);
        // an id that is used again belongs to the later call
        assert_eq!(back(&["u +1 -1 a", "u +1 -1 a"], 1), 1);
        // neither an orphan nor a second result is cut off from anything
        assert_eq!(back(&["u a", "u -9 a"], 1), 1);
        assert_eq!(back(&["u +1 -1 a", "u -1 a"], 1), 1);
        assert_eq!(back(&["u a"], 0), 0);
        assert_eq!(back(&[], 3), 0);
    }
}
