//! Values that nobody asked for: their grammar is checked, and they are passed over.

use super::{Bytes, Sink, Step, Walker};

impl<B: Bytes, S: Sink> Walker<'_, B, S> {
    /// Checks a value's grammar and passes over it, without recursion.
    pub(super) fn skip(&mut self) -> Step {
        let floor = self.depth;
        // One bit a level: 1 for an object. MAX_DEPTH fits 128 bits.
        let mut kinds: u128 = 0;
        loop {
            // A value.
            match self.token() {
                Some(b'"') => self.skip_string()?,
                Some(b'{') => {
                    self.enter()?;
                    kinds = kinds << 1 | 1;
                    if self.token() == Some(b'}') {
                        self.pos += 1;
                        self.depth -= 1;
                        kinds >>= 1;
                    } else {
                        self.skip_key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.enter()?;
                    kinds <<= 1;
                    if self.token() == Some(b']') {
                        self.pos += 1;
                        self.depth -= 1;
                        kinds >>= 1;
                    } else {
                        continue;
                    }
                }
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                Some(b'-' | b'0'..=b'9') => {
                    let at = self.here();
                    self.number(at)?;
                }
                _ => return Err(self.unexpected("a value")),
            }
            // What follows it: the ends of containers, then a comma and the next value.
            loop {
                if self.depth == floor {
                    return Ok(());
                }
                let object = kinds & 1 == 1;
                match self.token() {
                    Some(b',') => {
                        self.pos += 1;
                        self.token();
                        if object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ if object => return Err(self.unexpected("`,` or `}`")),
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
                self.pos += 1;
                self.depth -= 1;
                kinds >>= 1;
            }
        }
    }

    /// The members of an object that nothing is known of, up to and with its closing brace.
    pub(super) fn unknown_members(&mut self, mut first: bool) -> Step {
        while self.another(&mut first)? {
            self.skip_key()?;
            self.skip()?;
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(())
    }

    /// Passes over a key that nothing is asked of, and the colon behind it.
    #[inline]
    pub(super) fn skip_key(&mut self) -> Step {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key"));
        }
        self.skip_string()?;
        self.colon()
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Step {
        for &want in word.as_bytes() {
            if self.peek() != Some(want) {
                return Err(self.unexpected("a value"));
            }
            self.pos += 1;
        }
        Ok(())
    }
}
