//! The beginning of a long record as JSON of its own, so that a person sees what a line of any
//! length begins with while memory stays flat.

/// Completes JSON that was cut off anywhere: a value that is not whole is left out, a string that
/// was cut ends there, and what is open is closed. Whole JSON comes back as it is.
///
/// The text must be the beginning of valid JSON; of other text something is made that may be none.
#[must_use]
pub fn close(text: &str) -> String {
    let mut reader = Reader::default();
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        reader.take(at, byte);
    }
    reader.finish(text)
}

/// What may come next in a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A key, or the end of the object.
    Key,
    /// A value, or the end of the array.
    Value,
    /// A comma or the end.
    Comma,
}

#[derive(Default)]
struct Reader {
    /// What closes the open containers, and what may come next in each.
    open: Vec<(char, Next)>,
    /// So much of the text can stand once the open containers are closed.
    good: usize,
    /// Inside a string.
    string: Option<Str>,
    /// Inside a number or a word.
    word: bool,
}

#[derive(Default)]
struct Str {
    key: bool,
    /// Where it can be cut: behind whole characters and escapes.
    cut: usize,
    /// How much of an escape was seen: its first byte is the backslash.
    escape: usize,
    /// The code of a `\u` escape so far.
    code: u32,
    /// The last escape was the first half of a surrogate pair.
    half: bool,
}

impl Reader {
    fn take(&mut self, at: usize, byte: u8) {
        if self.string.is_some() {
            self.in_string(at, byte);
            return;
        }
        if self.word {
            if !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') {
                return;
            }
            self.word = false;
            self.whole(at);
        }
        match byte {
            b'"' => {
                let key = matches!(self.open.last(), Some((_, Next::Key)));
                self.string = Some(Str {
                    key,
                    cut: at + 1,
                    ..Str::default()
                });
            }
            b'{' | b'[' => {
                self.open.push(if byte == b'{' {
                    ('}', Next::Key)
                } else {
                    (']', Next::Value)
                });
                self.good = at + 1;
            }
            b'}' | b']' => {
                self.open.pop();
                self.whole(at + 1);
            }
            b':' => self.next(Next::Value),
            b',' => {
                if let Some((closer, next)) = self.open.last_mut() {
                    *next = if *closer == '}' {
                        Next::Key
                    } else {
                        Next::Value
                    };
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.word = true,
        }
    }

    fn in_string(&mut self, at: usize, byte: u8) {
        let Some(string) = &mut self.string else {
            return;
        };
        match string.escape {
            0 if byte == b'\\' => string.escape = 1,
            0 if byte == b'"' => {
                let key = string.key;
                self.string = None;
                if !key {
                    self.whole(at + 1);
                }
            }
            0 => {
                string.half = false;
                string.cut = at + 1;
            }
            1 if byte == b'u' => {
                string.escape = 2;
                string.code = 0;
            }
            1 => {
                string.escape = 0;
                string.half = false;
                string.cut = at + 1;
            }
            seen => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                string.code = (string.code << 4) | digit;
                string.escape = seen + 1;
                if string.escape == 6 {
                    string.escape = 0;
                    string.half = (0xd800..0xdc00).contains(&string.code);
                    if !string.half {
                        string.cut = at + 1;
                    }
                }
            }
        }
    }

    /// A value ended before `at`.
    fn whole(&mut self, at: usize) {
        self.good = at;
        self.next(Next::Comma);
    }

    fn next(&mut self, wanted: Next) {
        if let Some((_, next)) = self.open.last_mut() {
            *next = wanted;
        }
    }

    fn finish(mut self, text: &str) -> String {
        let mut quote = "";
        match self.string.take() {
            Some(string) if !string.key => {
                self.good = string.cut;
                quote = "\"";
            }
            // A word at the very end of a text that holds nothing else may be whole.
            None if self.word && self.open.is_empty() => self.good = text.len(),
            _ => {}
        }
        let mut out = String::with_capacity(self.good + self.open.len() + 1);
        out.push_str(text.get(..self.good).unwrap_or(""));
        out.push_str(quote);
        out.extend(self.open.iter().rev().map(|(closer, _)| closer));
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Whether `part` is what a reader of the beginning of `whole` may have seen of it.
    fn begins(whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::String(a), Value::String(b)) => a.starts_with(b.as_str()),
            (Value::Array(a), Value::Array(b)) => {
                b.len() <= a.len() && a.iter().zip(b).all(|(a, b)| begins(a, b))
            }
            (Value::Object(a), Value::Object(b)) => b
                .iter()
                .all(|(key, b)| a.get(key).is_some_and(|a| begins(a, b))),
            (a, b) => a == b,
        }
    }

    #[test]
    fn every_beginning_of_a_record_can_be_read() {
        let text = r#" {"kind":"tool_result", "ts":1786000010137,"item":{"a":[1.5e3,true,null,[],{}],"b\"\\":"x\né\ud83d\ude00 \ud83d\ude01","c":"日本\"\\"},"d":[{"e":"f"},-0.0 ] }"#;
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut longest = 0;
        for end in 0..=text.len() {
            if !text.is_char_boundary(end) {
                continue;
            }
            let closed = close(&text[..end]);
            if text[..end].trim().is_empty() {
                continue;
            }
            let part: Value =
                serde_json::from_str(&closed).unwrap_or_else(|e| panic!("{end}: {e}: {closed}"));
            assert!(begins(&whole, &part), "{end}: {closed}");
            let size = part.to_string().len();
            assert!(size >= longest, "{end}: less than before: {closed}");
            longest = size;
        }
        assert_eq!(close(text), text.trim_end());
    }
}
