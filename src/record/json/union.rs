//! Objects whose shape one of their own words chooses: a kind inside, or the one key around it.

use super::word::begins_with;
use super::{Bytes, NoSink, Sink, Step, Value, Walker};
use crate::diag::Code;
use crate::record::shape::{External, Slot, TAG, Union};

impl<B: Bytes, S: Sink> Walker<'_, B, S> {
    pub(super) fn tagged(&mut self, union: &'static Union, start: u64) -> Step {
        self.enter()?;
        // The usual place of the kind is first; else it is looked up ahead of everything.
        let mut tag_at = 0;
        let mut first_is_tag = false;
        if self.token() == Some(b'"') {
            let window = self.bytes.window();
            first_is_tag = window[self.pos + 1..].starts_with(b"kind\"");
        }
        if first_is_tag {
            self.pos += 2 + TAG.len();
            self.colon()?;
            tag_at = self.here();
        }
        let variant = if first_is_tag {
            self.tag_value(union, tag_at)?
        } else {
            self.look_ahead(union, start)
        };
        match variant {
            Some(index) => {
                let shape = union.variants[index].1;
                if union.slot != Slot::None {
                    self.sink.value(union.slot, Value::Word(index), start);
                }
                let seen = if first_is_tag { 1 << 63 } else { 0 };
                self.members(shape, Some(TAG), start, seen, !first_is_tag)?;
                self.close(union.slot);
            }
            None => self.unknown_members(!first_is_tag)?,
        }
        Ok(())
    }

    /// Reads the value of a kind; the cursor stands on its first byte.
    fn tag_value(&mut self, union: &'static Union, at: u64) -> Step<Option<usize>> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            self.note(
                Code::WrongType,
                at,
                format!("the kind of {} is not a string", union.name),
            );
            return Ok(None);
        }
        let rest = &self.bytes.window()[self.pos + 1..];
        let seen = union.variants.iter().position(|v| begins_with(rest, v.0));
        if let Some(index) = seen {
            self.pos += union.variants[index].0.len() + 2;
            return Ok(seen);
        }
        let index = self.key(|word| union.variants.iter().position(|v| v.0.as_bytes() == word))?;
        if index.is_none() && !union.open {
            let word = self.word_at(at);
            self.note(
                Code::UnknownKind,
                at,
                format!("{} of an unknown kind{word}", union.name),
            );
        }
        Ok(index)
    }

    /// Looks for the kind of the object whose first member is next, with a cursor of its own.
    #[cold]
    fn look_ahead(&mut self, union: &'static Union, start: u64) -> Option<usize> {
        let mut nobody = NoSink;
        let mut ahead = Walker::new(self.bytes.fork(self.pos), &mut nobody, self.control_free);
        ahead.depth = self.depth;
        // What is ahead is walked again; there the halves are gathered.
        ahead.lone = self.lone.as_ref().map(|_| Vec::new());
        let mut first = true;
        let found = loop {
            match ahead.token() {
                Some(b',') if !first => {
                    ahead.pos += 1;
                    ahead.token();
                }
                Some(b'"') if first => {}
                _ => break None,
            }
            first = false;
            let Ok(is_tag) = ahead.key(|key| key == TAG.as_bytes()) else {
                break None;
            };
            if ahead.colon().is_err() {
                break None;
            }
            if is_tag {
                let at = ahead.here();
                break Some(ahead.tag_value(union, at).ok().flatten());
            }
            if ahead.skip().is_err() {
                break None;
            }
        };
        let fault = ahead.fault.take();
        match found {
            Some(variant) => {
                if let Some(fault) = fault {
                    self.note(fault.code, fault.at, fault.message);
                }
                variant
            }
            None => {
                // If the grammar is broken the walk itself will say so, and that counts more.
                self.note(
                    Code::MissingField,
                    start,
                    format!("the field `{TAG}` is missing in {}", union.name),
                );
                None
            }
        }
    }

    pub(super) fn external(&mut self, external: &'static External, start: u64) -> Step {
        self.enter()?;
        if self.token() == Some(b'}') {
            self.note(
                Code::MissingField,
                start,
                format!("{} without a name", external.name),
            );
            return self.unknown_members(true);
        }
        let key_at = self.here();
        let index = self.key(|key| external.variants.iter().position(|v| v.0.as_bytes() == key))?;
        if index.is_none() {
            let word = self.word_at(key_at);
            self.note(
                Code::UnknownKind,
                key_at,
                format!("{} of an unknown kind{word}", external.name),
            );
        }
        self.colon()?;
        match index {
            Some(i) => self.value(&external.variants[i].1, false, Slot::None)?,
            None => self.skip()?,
        }
        if self.token() == Some(b',') {
            let at = self.here();
            self.note(
                Code::WrongType,
                at,
                format!("{} has more than one name", external.name),
            );
        }
        self.unknown_members(false)
    }

    pub(super) fn unit(&mut self, external: &'static External, at: u64) -> Step {
        let known = self.key(|word| external.units.iter().any(|u| u.as_bytes() == word))?;
        if !known {
            let word = self.word_at(at);
            self.note(
                Code::UnknownKind,
                at,
                format!("{} of an unknown kind{word}", external.name),
            );
        }
        Ok(())
    }
}
