//! Short strings that mean something: keys, words of a list, ids.

use super::{Bytes, MAX_WORD, Sink, Step, Value, Walker};
use crate::diag::Code;
use crate::layout::{SegmentId, uuid_on_disk};
use crate::record::shape::{Field, Slot};

impl<B: Bytes, S: Sink> Walker<'_, B, S> {
    /// Passes the key that a writer puts next, with the comma before and the colon behind it, if it
    /// stands in sight as a writer of few bytes puts it. Gives its field and where it begins.
    #[inline]
    pub(super) fn next_field(
        &mut self,
        fields: &'static [Field],
        guess: usize,
        first: bool,
    ) -> Option<(usize, u64)> {
        let comma = usize::from(!first);
        let rest = self.bytes.window().get(self.pos..)?;
        let (before, rest) = rest.split_at_checked(comma + 1)?;
        if *before.last()? != b'"' || (!first && before[0] != b',') {
            return None;
        }
        // A writer keeps the order of the table, so the field behind the last one is likely.
        let (index, field) = fields.iter().enumerate().skip(guess).find(|(_, field)| {
            let name = field.name.as_bytes();
            matches!(rest.get(name.len()..), Some([b'"', b':', ..])) && rest.starts_with(name)
        })?;
        let key_at = self.here() + comma as u64;
        self.pos += comma + field.name.len() + 3;
        self.token();
        Some((index, key_at))
    }

    /// Reads a key and tells which field it names; 63 stands for that of the kind.
    #[inline]
    pub(super) fn field_index(
        &mut self,
        fields: &'static [Field],
        tag: Option<&'static str>,
    ) -> Step<Option<usize>> {
        self.key(|key| {
            fields
                .iter()
                .position(|field| field.name.as_bytes() == key)
                .or_else(|| tag.is_some_and(|tag| tag.as_bytes() == key).then_some(63))
        })
    }

    /// Reads a key and asks what it means. A key with escapes or across windows is unescaped first.
    #[inline]
    pub(super) fn key<T>(&mut self, meaning: impl FnOnce(&[u8]) -> T) -> Step<T> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key"));
        }
        let window = self.bytes.window();
        let rest = &window[self.pos + 1..];
        // Keys of the tables are short: look for the end in the next few bytes.
        let near = &rest[..rest.len().min(32)];
        if let Some(n) = near
            .iter()
            .position(|&b| b == b'"' || b == b'\\' || b < 0x20)
            && near[n] == b'"'
        {
            let answer = meaning(&near[..n]);
            self.pos += n + 2;
            return Ok(answer);
        }
        self.text(MAX_WORD)?;
        Ok(meaning(&self.scratch))
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Step {
        if self.token() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.pos += 1;
        self.token();
        Ok(())
    }

    pub(super) fn word(&mut self, words: &'static [&'static str], slot: Slot, at: u64) -> Step {
        let rest = self.bytes.window().get(self.pos + 1..).unwrap_or(&[]);
        let seen = words.iter().position(|word| begins_with(rest, word));
        let index = match seen {
            Some(index) => {
                self.pos += words[index].len() + 2;
                seen
            }
            None => self.key(|word| words.iter().position(|w| w.as_bytes() == word))?,
        };
        match index {
            Some(index) if slot != Slot::None => self.sink.value(slot, Value::Word(index), at),
            Some(_) => {}
            None => {
                let word = self.word_at(at);
                self.note_value(
                    Code::WrongType,
                    at,
                    format_args!("not one of {}:{word}", words.join(", ")),
                );
            }
        }
        Ok(())
    }

    pub(super) fn id(&mut self, slot: Slot, at: u64) -> Step {
        // Mostly it stands in sight as it stands on disk.
        let rest = self.bytes.window().get(self.pos + 1..).unwrap_or(&[]);
        if let Some((text, [b'"', ..])) = rest.split_at_checked(36)
            && let Some(id) = uuid_on_disk(text)
        {
            if slot != Slot::None {
                let on_disk = true;
                self.sink.value(slot, Value::Id { id, text, on_disk }, at);
            }
            self.pos += text.len() + 2;
            return Ok(());
        }
        self.text(MAX_WORD)?;
        let text = &self.scratch[..];
        let parsed = std::str::from_utf8(text)
            .ok()
            .and_then(|text| SegmentId::parse_loose(text).ok());
        match parsed {
            Some((id, on_disk)) if slot != Slot::None => {
                let id = id.uuid();
                self.sink.value(slot, Value::Id { id, text, on_disk }, at);
            }
            Some(_) => {}
            None => {
                let word = self.word_at(at);
                self.note_value(Code::WrongType, at, format_args!("not a UUID:{word}"));
            }
        }
        Ok(())
    }

    /// The string that began at `at`, for a message, if it can still be seen.
    #[cold]
    pub(super) fn word_at(&self, at: u64) -> String {
        let Some(start) = at.checked_sub(self.bytes.base()) else {
            return String::new();
        };
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let Some(text) = self.bytes.window().get(start..self.pos) else {
            return String::new();
        };
        let text: String = String::from_utf8_lossy(text).chars().take(80).collect();
        format!(" {text}")
    }
}

/// Whether a string that was just opened is this word.
#[inline]
pub(super) fn begins_with(rest: &[u8], word: &str) -> bool {
    rest.get(word.len()) == Some(&b'"') && rest.starts_with(word.as_bytes())
}
