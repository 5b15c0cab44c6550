//! The checker: reads one JSON value through a window of bytes, holds it against a
//! [shape](super::shape), and hands a few values to a [`Sink`]. It builds no tree and allocates
//! nothing for a value that nobody wants.
//!
//! One walk does three things: the grammar (RFC 8259, and what a Runtime's reader refuses beyond
//! it: nesting, numbers above a double, half surrogate pairs), the types of the known fields, and
//! the picking of values. A fault of the grammar ends the walk; a fault of types is remembered
//! (the first one) and the walk goes on, so that a line that is no JSON at all is never called a
//! line with a missing field.
//!
//! The bytes must be valid UTF-8; [`scan`](super::scan) checks that first, a block at a time. They
//! may come in windows, so a value of any length is checked in flat memory. `kind` may stand
//! anywhere in an object: where it is not first, a second cursor looks ahead for it. Objects with a
//! kind nest four deep at most in any shape, so the work stays linear.

mod bytes;
mod number;
mod skip;
mod text;
mod union;
mod word;

use uuid::Uuid;

pub use bytes::{Bytes, Whole};
pub(crate) use bytes::{Marked, marked_run};

use super::shape::{Presence, Shape, Slot, TAG, Ty};
use crate::diag::Code;

/// Containers may nest this deep; a Runtime's reader stops there.
pub const MAX_DEPTH: u32 = 127;

/// Names of fields and values of words are never longer than this.
const MAX_WORD: usize = 256;

/// Strings that a [`Sink`] wants are handed over up to this length, in bytes.
pub const MAX_CAPTURE: usize = 64 * 1024;

/// A value that a [`Sink`] is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// The unescaped text, cut at [`MAX_CAPTURE`] bytes.
    Str(&'a [u8]),
    /// A UUID.
    Id {
        /// What it is.
        id: Uuid,
        /// The unescaped text.
        text: &'a [u8],
        /// Whether that is the spelling for disk.
        on_disk: bool,
    },
    /// A whole number.
    U64(u64),
    /// `true` or `false`.
    Bool(bool),
    /// The number of a word in its list, or of a kind in its union.
    Word(usize),
    /// An object or array begins.
    Open,
    /// The object or array of that slot is over.
    Close,
}

/// Who picks values out of a walk.
pub trait Sink {
    /// A value of a field or union that asked for `slot`; `at` is its first byte's offset.
    fn value(&mut self, slot: Slot, value: Value<'_>, at: u64);
}

/// Picks nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl Sink for NoSink {
    #[inline]
    fn value(&mut self, _: Slot, _: Value<'_>, _: u64) {}
}

/// What is wrong with a value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The code of the finding.
    pub code: Code,
    /// Offset of the byte from the start of the file.
    pub at: u64,
    /// How many bytes are meant, if it is known.
    pub length: Option<u64>,
    /// A lower-case fragment.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(code: Code, at: u64, message: impl Into<String>) -> Self {
        Self {
            code,
            at,
            length: None,
            message: message.into(),
        }
    }
}

/// What a walk over one value came to.
#[derive(Debug)]
pub struct Walk {
    /// The first fault of grammar, else the first fault of types.
    pub fault: Option<Fault>,
    /// Whether the fault is one of the grammar, so that the walk stopped there.
    pub broken: bool,
    /// Offset of the first byte behind the value and the white space after it (of the place where
    /// the walk stopped, if it is broken).
    pub end: u64,
    /// Whether bytes follow there.
    pub more: bool,
}

/// Holds one value against a type. Bytes behind the value are the caller's business.
///
/// `control_free` says that no byte below 0x20 stands in the line, which spares a look at each byte.
pub fn check<B: Bytes, S: Sink>(
    bytes: B,
    ty: &'static Ty,
    sink: &mut S,
    control_free: bool,
) -> Walk {
    let mut walker = Walker::new(bytes, sink, control_free);
    let broken = walker.top(ty).is_err();
    let more = walker.peek().is_some();
    Walk {
        end: walker.here(),
        more,
        broken,
        fault: walker.fault,
    }
}

/// The same for a value that is to be mended: half surrogate pairs are no fault here. Gives where
/// their escapes begin, in order.
pub(crate) fn check_mending<B: Bytes>(bytes: B, ty: &'static Ty) -> (Walk, Vec<u64>) {
    let mut nobody = NoSink;
    let mut walker = Walker::new(bytes, &mut nobody, false);
    walker.lone = Some(Vec::new());
    let broken = walker.top(ty).is_err();
    let more = walker.peek().is_some();
    let walk = Walk {
        end: walker.here(),
        more,
        broken,
        fault: walker.fault,
    };
    (walk, walker.lone.unwrap_or_default())
}

/// The walk stopped; the fault says why.
struct Stop;
type Step<T = ()> = Result<T, Stop>;

struct Walker<'s, B, S> {
    bytes: B,
    pos: usize,
    depth: u32,
    control_free: bool,
    sink: &'s mut S,
    fault: Option<Fault>,
    /// The known field whose value is read, for messages.
    field: Option<&'static str>,
    /// Unescaped words and captures.
    scratch: Vec<u8>,
    /// Where half surrogate pairs stand, if they are gathered and are no fault.
    lone: Option<Vec<u64>>,
}

impl<'s, B: Bytes, S: Sink> Walker<'s, B, S> {
    fn new(bytes: B, sink: &'s mut S, control_free: bool) -> Self {
        Self {
            bytes,
            pos: 0,
            depth: 0,
            control_free,
            sink,
            fault: None,
            field: None,
            scratch: Vec::new(),
            lone: None,
        }
    }

    fn here(&self) -> u64 {
        self.bytes.base() + self.pos as u64
    }

    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            if let Some(&b) = self.bytes.window().get(self.pos) {
                return Some(b);
            }
            if !self.refill() {
                return None;
            }
        }
    }

    #[cold]
    fn refill(&mut self) -> bool {
        let before = self.bytes.base();
        let more = self.bytes.advance();
        self.pos -= usize::try_from(self.bytes.base() - before).unwrap_or(self.pos);
        more
    }

    /// Passes white space and gives the byte behind it.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.pos += 1,
                b => return Some(b),
            }
        }
    }

    #[cold]
    fn syntax(&mut self, message: &str) -> Stop {
        let at = self.here();
        self.stop(Code::CorruptRecord, at, message)
    }

    #[cold]
    fn unexpected(&mut self, wanted: &str) -> Stop {
        match self.peek() {
            None => self.syntax(&format!("the text ends where {wanted} was expected")),
            Some(_) => self.syntax(&format!("expected {wanted}")),
        }
    }

    #[cold]
    fn stop(&mut self, code: Code, at: u64, message: impl Into<String>) -> Stop {
        self.fault = Some(Fault::new(code, at, message));
        Stop
    }

    /// Remembers a fault of types, if it is the first.
    #[cold]
    fn note(&mut self, code: Code, at: u64, message: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some(Fault::new(code, at, message));
        }
    }

    /// The same of the value of the field that is read, which it names.
    #[cold]
    fn note_value(&mut self, code: Code, at: u64, message: impl std::fmt::Display) {
        let message = match self.field {
            Some(field) => format!("`{field}`: {message}"),
            None => message.to_string(),
        };
        self.note(code, at, message);
    }

    fn top(&mut self, ty: &'static Ty) -> Step {
        self.token();
        self.value(ty, false, Slot::None)?;
        self.token();
        Ok(())
    }

    fn enter(&mut self) -> Step {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let at = self.here();
            return Err(self.stop(
                Code::TooDeep,
                at,
                format!(
                    "nested {} levels deep, where a Runtime's reader stops",
                    MAX_DEPTH + 1
                ),
            ));
        }
        self.pos += 1;
        Ok(())
    }

    /// Reads a value of a type; the cursor stands on its first byte.
    fn value(&mut self, ty: &'static Ty, nullable: bool, slot: Slot) -> Step {
        let at = self.here();
        let Some(first) = self.peek() else {
            return Err(self.unexpected("a value"));
        };
        if first == b'n' {
            self.literal("null")?;
            if !nullable && !matches!(ty, Ty::Any) {
                self.note_value(
                    Code::WrongType,
                    at,
                    format_args!("null where {} should be", ty.name()),
                );
            }
            return Ok(());
        }
        match (ty, first) {
            (Ty::Any, _) => return self.skip(),
            (Ty::Object(shape), b'{') => {
                self.open(slot, at);
                self.enter()?;
                self.members(shape, None, at, 0, true)?;
                self.close(slot);
            }
            (Ty::Tagged(union), b'{') => self.tagged(union, at)?,
            (Ty::External(external), b'{') => self.external(external, at)?,
            (Ty::Map(of), b'{') => self.map(of)?,
            (Ty::Array(of), b'[') => self.array(of, slot)?,
            (Ty::Str | Ty::StrOrI32 | Ty::StrOrU64, b'"') => {
                if slot == Slot::None {
                    self.skip_string()?;
                } else {
                    self.give_text(slot, at)?;
                }
            }
            (Ty::Id, b'"') => self.id(slot, at)?,
            (Ty::Enum(words), b'"') => self.word(words, slot, at)?,
            (Ty::External(external), b'"') => self.unit(external, at)?,
            (Ty::Base64, b'"') => self.base64(at)?,
            (Ty::Bool, b't' | b'f') => {
                let truth = first == b't';
                self.literal(if truth { "true" } else { "false" })?;
                if slot != Slot::None {
                    self.sink.value(slot, Value::Bool(truth), at);
                }
            }
            (
                Ty::U64 | Ty::U32 | Ty::I32 | Ty::Float | Ty::StrOrI32 | Ty::StrOrU64,
                b'-' | b'0'..=b'9',
            ) => self.typed_number(ty, slot, at)?,
            _ => {
                self.skip()?;
                self.note_value(Code::WrongType, at, format_args!("not {}", ty.name()));
            }
        }
        Ok(())
    }

    fn open(&mut self, slot: Slot, at: u64) {
        if slot != Slot::None {
            self.sink.value(slot, Value::Open, at);
        }
    }

    fn close(&mut self, slot: Slot) {
        if slot != Slot::None {
            let at = self.here();
            self.sink.value(slot, Value::Close, at);
        }
    }

    /// The members of an object, up to and with its closing brace. `tag` names the key that was
    /// looked up already and is passed over where it stands; `seen` has bit 63 set if it is behind
    /// us; `first` says that no member was read yet.
    fn members(
        &mut self,
        shape: &'static Shape,
        tag: Option<&'static str>,
        start: u64,
        mut seen: u64,
        mut first: bool,
    ) -> Step {
        let fields = shape.fields;
        let mut guess = 0;
        loop {
            let (index, key_at) = match self.next_field(fields, guess, first) {
                Some(seen) => seen,
                None => {
                    if !self.another(&mut first)? {
                        break;
                    }
                    let key_at = self.here();
                    let index = self.field_index(fields, tag)?;
                    self.colon()?;
                    let Some(index) = index else {
                        self.skip()?;
                        continue;
                    };
                    (index, key_at)
                }
            };
            first = false;
            if seen & (1 << index) != 0 {
                let name = fields.get(index).map_or(TAG, |field| field.name);
                self.note(
                    Code::DuplicateKey,
                    key_at,
                    format!("the field `{name}` stands twice in {}", shape.name),
                );
            }
            seen |= 1 << index;
            match fields.get(index) {
                Some(field) => {
                    guess = index + 1;
                    self.field = Some(field.name);
                    let nullable =
                        matches!(field.presence, Presence::Optional | Presence::Nullable);
                    self.value(&field.ty, nullable, field.slot)?;
                }
                None => self.skip()?,
            }
        }
        self.pos += 1;
        self.depth -= 1;
        let missing = shape.required & !seen;
        if let Some(field) = fields.get(missing.trailing_zeros() as usize) {
            self.note(
                Code::MissingField,
                start,
                format!("the field `{}` is missing in {}", field.name, shape.name),
            );
        }
        Ok(())
    }

    /// Goes to the key of the next member of an object; false at its closing brace. `first` says
    /// that no member was read yet.
    #[inline]
    fn another(&mut self, first: &mut bool) -> Step<bool> {
        match self.token() {
            Some(b'}') => return Ok(false),
            Some(b',') if !*first => {
                self.pos += 1;
                self.token();
            }
            Some(_) if *first => {}
            _ => return Err(self.unexpected("`,` or `}`")),
        }
        *first = false;
        Ok(true)
    }

    fn map(&mut self, of: &'static Ty) -> Step {
        self.enter()?;
        let mut first = true;
        while self.another(&mut first)? {
            self.skip_key()?;
            self.value(of, false, Slot::None)?;
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(())
    }

    fn array(&mut self, of: &'static Ty, slot: Slot) -> Step {
        self.enter()?;
        let mut first = true;
        loop {
            match self.token() {
                Some(b']') => break,
                Some(b',') if !first => {
                    self.pos += 1;
                    if self.token() == Some(b']') {
                        return Err(self.unexpected("a value"));
                    }
                }
                Some(_) if first => {}
                _ => return Err(self.unexpected("`,` or `]`")),
            }
            first = false;
            self.value(of, false, slot)?;
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(())
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
