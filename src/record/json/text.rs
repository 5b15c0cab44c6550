//! Strings: passed over, handed to the sink, or unescaped; and base64, which is checked as it comes.

use super::bytes::plain_run;
use super::{Bytes, Fault, MAX_CAPTURE, Sink, Step, Value, Walker};
use crate::diag::Code;
use crate::record::shape::Slot;

/// What a string is read for.
enum Want {
    /// Its unescaped text, in `scratch`, cut at this length (one more byte says that it was cut).
    Text(usize),
    /// To be base64.
    Base64,
}

impl<B: Bytes, S: Sink> Walker<'_, B, S> {
    /// Reads a string and hands it over; the cursor stands on its opening quote.
    pub(super) fn give_text(&mut self, slot: Slot, at: u64) -> Step {
        // Mostly it stands in sight as it is meant.
        let rest = self.bytes.window().get(self.pos + 1..).unwrap_or(&[]);
        let run = plain_run(rest, self.control_free);
        if rest.get(run) == Some(&b'"') && run <= MAX_CAPTURE {
            self.sink.value(slot, Value::Str(&rest[..run]), at);
            self.pos += run + 2;
            return Ok(());
        }
        self.text(MAX_CAPTURE)?;
        let end = self.scratch.len().min(MAX_CAPTURE);
        self.sink.value(slot, Value::Str(&self.scratch[..end]), at);
        Ok(())
    }

    pub(super) fn base64(&mut self, at: u64) -> Step {
        self.string(&Want::Base64)?;
        // `scratch` holds the verdict: one byte a fault.
        if !self.scratch.is_empty() {
            self.note_value(Code::WrongType, at, "not standard base64 with padding");
        }
        Ok(())
    }

    pub(super) fn text(&mut self, most: usize) -> Step {
        self.string(&Want::Text(most))
    }

    /// Passes over a string; the cursor stands on its opening quote. This is the hot loop of the
    /// whole scanner: most bytes of a history are inside strings that nobody asked for.
    pub(super) fn skip_string(&mut self) -> Step {
        self.pos += 1;
        loop {
            let (run, end) = self.bytes.run(self.pos, self.control_free);
            self.pos += run;
            match end {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                }
                Some(_) => return Err(self.syntax("a control character inside a string")),
                None => {
                    if !self.refill() {
                        return Err(self.syntax("the text ends inside a string"));
                    }
                }
            }
        }
    }

    /// Reads a string; the cursor stands on its opening quote.
    fn string(&mut self, want: &Want) -> Step {
        let mut base64 = Base64::default();
        self.scratch.clear();
        self.pos += 1;
        loop {
            let control_free = self.control_free;
            let window = self.bytes.window();
            let rest = window.get(self.pos..).unwrap_or(&[]);
            let run = plain_run(rest, control_free);
            match want {
                Want::Text(most) => push(&mut self.scratch, *most, &rest[..run]),
                Want::Base64 => base64.feed(&rest[..run]),
            }
            let end = rest.get(run).copied();
            self.pos += run;
            match end {
                Some(b'"') => {
                    self.pos += 1;
                    if matches!(want, Want::Base64) && !base64.finish() {
                        self.scratch.push(b'!');
                    }
                    return Ok(());
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    let mut utf8 = [0; 4];
                    let bytes = c.encode_utf8(&mut utf8).as_bytes();
                    match want {
                        Want::Text(most) => push(&mut self.scratch, *most, bytes),
                        Want::Base64 => base64.feed(bytes),
                    }
                }
                Some(_) => return Err(self.syntax("a control character inside a string")),
                None => {
                    if !self.refill() {
                        return Err(self.syntax("the text ends inside a string"));
                    }
                }
            }
        }
    }

    /// Reads an escape; the cursor stands on its backslash.
    fn escape(&mut self) -> Step<char> {
        let at = self.here();
        self.pos += 1;
        self.escape_behind_backslash(at)
    }

    fn escape_behind_backslash(&mut self, at: u64) -> Step<char> {
        let Some(b) = self.peek() else {
            return Err(self.syntax("the text ends inside a string"));
        };
        let plain = match b {
            b'"' | b'\\' | b'/' => b as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.pos += 1;
                return self.unicode(at);
            }
            _ => return Err(self.syntax("an escape that JSON does not have")),
        };
        self.pos += 1;
        Ok(plain)
    }

    /// Reads the digits of a `\u` escape that began at `at`, and the low half that must follow a
    /// high one. What stands behind half a pair is only checked: the text is of no use any more.
    fn unicode(&mut self, at: u64) -> Step<char> {
        let (mut at, mut unit) = (at, self.hex4()?);
        loop {
            if let Some(c) = char::from_u32(u32::from(unit)) {
                return Ok(c);
            }
            if !(0xd800..0xdc00).contains(&unit) || self.peek() != Some(b'\\') {
                self.lone(at, unit);
                return Ok(char::REPLACEMENT_CHARACTER);
            }
            let next_at = self.here();
            self.pos += 1;
            if self.peek() != Some(b'u') {
                self.lone(at, unit);
                return self.escape_behind_backslash(next_at);
            }
            self.pos += 1;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let c = 0x1_0000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                return Ok(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // The second may be the first half of a pair of its own.
            self.lone(at, unit);
            (at, unit) = (next_at, low);
        }
    }

    #[cold]
    fn lone(&mut self, at: u64, unit: u16) {
        if let Some(all) = &mut self.lone {
            all.push(at);
            return;
        }
        if self.fault.is_none() {
            let half = if unit < 0xdc00 { "high" } else { "low" };
            self.fault = Some(Fault {
                length: Some(6),
                ..Fault::new(
                    Code::LoneSurrogate,
                    at,
                    format!(
                        "the escape `\\u{unit:04x}` is a {half} surrogate without its other half"
                    ),
                )
            });
        }
    }

    fn hex4(&mut self) -> Step<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| (b as char).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.syntax("a \\u escape without four hex digits"));
            };
            unit = unit << 4 | digit as u16;
            self.pos += 1;
        }
        Ok(unit)
    }
}

/// Appends up to `most` bytes, and one more as the mark of a cut.
fn push(scratch: &mut Vec<u8>, most: usize, bytes: &[u8]) {
    let room = (most + 1).saturating_sub(scratch.len());
    scratch.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Checks standard base64 with padding as it comes.
#[derive(Default)]
struct Base64 {
    symbols: u64,
    padding: u64,
    last: u8,
    bad: bool,
}

impl Base64 {
    fn feed(&mut self, bytes: &[u8]) {
        for &b in bytes {
            match b {
                b'=' => self.padding += 1,
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                    self.bad |= self.padding > 0;
                    self.symbols += 1;
                    self.last = b;
                }
                _ => self.bad = true,
            }
        }
    }

    /// Whether all that was fed is whole base64 whose unused bits are zero.
    fn finish(&self) -> bool {
        let value = match self.last {
            b @ b'A'..=b'Z' => b - b'A',
            b @ b'a'..=b'z' => b - b'a' + 26,
            b @ b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let tail = match (self.symbols % 4, self.padding) {
            (0, 0) => true,
            (2, 2) => value & 0x0f == 0,
            (3, 1) => value & 0x03 == 0,
            _ => false,
        };
        !self.bad && tail
    }
}
