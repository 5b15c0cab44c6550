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

use uuid::Uuid;

use super::marks::Marks;
use super::shape::{External, Field, Presence, Shape, Slot, TAG, Ty, Union};
use crate::diag::Code;
use crate::layout::{SegmentId, uuid_on_disk};

/// Containers may nest this deep; a Runtime's reader stops there.
pub const MAX_DEPTH: u32 = 127;

/// Names of fields and values of words are never longer than this.
const MAX_WORD: usize = 256;

/// Strings that a [`Sink`] wants are handed over up to this length, in bytes.
pub const MAX_CAPTURE: usize = 64 * 1024;

/// Bytes that come in one window or in several.
pub trait Bytes: Sized {
    /// The bytes that can be seen now.
    fn window(&self) -> &[u8];
    /// The offset of the window's first byte from the start of the file.
    fn base(&self) -> u64;
    /// Moves to the next window; false at the end of the line.
    fn advance(&mut self) -> bool;
    /// The same bytes from an offset within the window on, as a cursor of its own.
    fn fork(&self, at: usize) -> Self;
    /// How many bytes of the window from `at` on stand before the end of a string or something that
    /// is not a plain escape, and which byte it is; none at the window's end.
    #[inline]
    fn run(&self, at: usize, control_free: bool) -> (usize, Option<u8>) {
        skip_run(self.window().get(at..).unwrap_or(&[]), control_free)
    }
}

/// All bytes in one window.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'a> {
    bytes: &'a [u8],
    base: u64,
    marks: Option<Marked<'a>>,
}

/// The marks of the block that a line stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked<'a> {
    /// Of the whole block.
    pub marks: &'a Marks,
    /// Where the line begins in it.
    pub at: usize,
}

impl<'a> Whole<'a> {
    /// `bytes`, the first of which stands at `base` in its file.
    #[must_use]
    pub const fn new(bytes: &'a [u8], base: u64) -> Self {
        Self {
            bytes,
            base,
            marks: None,
        }
    }

    /// The same, with the marks of the block around it.
    pub(crate) const fn marked(bytes: &'a [u8], base: u64, marks: Option<Marked<'a>>) -> Self {
        Self { bytes, base, marks }
    }
}

impl Bytes for Whole<'_> {
    #[inline]
    fn window(&self) -> &[u8] {
        self.bytes
    }
    fn base(&self) -> u64 {
        self.base
    }
    #[inline]
    fn advance(&mut self) -> bool {
        false
    }
    fn fork(&self, at: usize) -> Self {
        Self {
            bytes: &self.bytes[at..],
            base: self.base + at as u64,
            marks: self.marks.map(|marked| Marked {
                at: marked.at + at,
                ..marked
            }),
        }
    }
    #[inline]
    fn run(&self, at: usize, control_free: bool) -> (usize, Option<u8>) {
        let Some(marked) = self.marks else {
            return skip_run(self.bytes.get(at..).unwrap_or(&[]), control_free);
        };
        marked_run(self.bytes, at, marked.marks.stop(marked.at + at), marked.at)
    }
}

/// [`Bytes::run`] on a window that begins at `base` of a block whose next mark is at `stop`.
#[inline]
pub(crate) fn marked_run(
    window: &[u8],
    at: usize,
    stop: Option<usize>,
    base: usize,
) -> (usize, Option<u8>) {
    match stop.and_then(|stop| window.get(stop - base).map(|b| (stop, *b))) {
        Some((stop, b)) => (stop - base - at, Some(b)),
        None => (window.len().saturating_sub(at), None),
    }
}

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

/// What a string is read for.
enum Want {
    /// Its unescaped text, in `scratch`, cut at this length (one more byte says that it was cut).
    Text(usize),
    /// To be base64.
    Base64,
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

    /// Reads a string and hands it over; the cursor stands on its opening quote.
    fn give_text(&mut self, slot: Slot, at: u64) -> Step {
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
                    match self.token() {
                        Some(b'}') => break,
                        Some(b',') if !first => {
                            self.pos += 1;
                            self.token();
                        }
                        Some(_) if first => {}
                        _ => return Err(self.unexpected("`,` or `}`")),
                    }
                    let key_at = self.here();
                    let index = self.field_index(fields, tag)?;
                    self.colon()?;
                    first = false;
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

    /// Passes the key that a writer puts next, with the comma before and the colon behind it, if it
    /// stands in sight as a writer of few bytes puts it. Gives its field and where it begins.
    #[inline]
    fn next_field(
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
    fn field_index(
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

    /// The members of an object that nothing is known of, up to and with its closing brace.
    fn unknown_members(&mut self, mut first: bool) -> Step {
        loop {
            match self.token() {
                Some(b'}') => break,
                Some(b',') if !first => {
                    self.pos += 1;
                    self.token();
                }
                Some(_) if first => {}
                _ => return Err(self.unexpected("`,` or `}`")),
            }
            first = false;
            self.skip_key()?;
            self.skip()?;
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(())
    }

    /// Reads a key and asks what it means. A key with escapes or across windows is unescaped first.
    #[inline]
    fn key<T>(&mut self, meaning: impl FnOnce(&[u8]) -> T) -> Step<T> {
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

    /// Passes over a key that nothing is asked of, and the colon behind it.
    #[inline]
    fn skip_key(&mut self) -> Step {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key"));
        }
        self.skip_string()?;
        self.colon()
    }

    #[inline]
    fn colon(&mut self) -> Step {
        if self.token() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.pos += 1;
        self.token();
        Ok(())
    }

    fn map(&mut self, of: &'static Ty) -> Step {
        self.enter()?;
        let mut first = true;
        loop {
            match self.token() {
                Some(b'}') => break,
                Some(b',') if !first => {
                    self.pos += 1;
                    self.token();
                }
                Some(_) if first => {}
                _ => return Err(self.unexpected("`,` or `}`")),
            }
            first = false;
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

    fn tagged(&mut self, union: &'static Union, start: u64) -> Step {
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

    /// The string that began at `at`, for a message, if it can still be seen.
    #[cold]
    fn word_at(&self, at: u64) -> String {
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

    fn external(&mut self, external: &'static External, start: u64) -> Step {
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

    fn unit(&mut self, external: &'static External, at: u64) -> Step {
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

    fn word(&mut self, words: &'static [&'static str], slot: Slot, at: u64) -> Step {
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

    fn id(&mut self, slot: Slot, at: u64) -> Step {
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

    fn base64(&mut self, at: u64) -> Step {
        self.string(&Want::Base64)?;
        // `scratch` holds the verdict: one byte a fault.
        if !self.scratch.is_empty() {
            self.note_value(Code::WrongType, at, "not standard base64 with padding");
        }
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Step {
        for &want in word.as_bytes() {
            if self.peek() != Some(want) {
                return Err(self.unexpected("a value"));
            }
            self.pos += 1;
        }
        Ok(())
    }

    // ------------------------------------------------------------ strings

    fn text(&mut self, most: usize) -> Step {
        self.string(&Want::Text(most))
    }

    /// Passes over a string; the cursor stands on its opening quote. This is the hot loop of the
    /// whole scanner: most bytes of a history are inside strings that nobody asked for.
    fn skip_string(&mut self) -> Step {
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

    // ------------------------------------------------------------ numbers

    fn typed_number(&mut self, ty: &Ty, slot: Slot, at: u64) -> Step {
        let number = self.number(at)?;
        let whole = number.whole;
        let fits = match ty {
            Ty::Float => Ok(()),
            Ty::U64 | Ty::StrOrU64 | Ty::U32 => {
                if number.negative || !number.integer {
                    Err(Code::WrongType)
                } else if whole.is_none_or(|n| matches!(ty, Ty::U32) && n > u64::from(u32::MAX)) {
                    Err(Code::NumberOutOfRange)
                } else {
                    Ok(())
                }
            }
            _ if !number.integer => Err(Code::WrongType),
            _ => {
                let most = i32::MAX as u64 + u64::from(number.negative);
                if whole.is_none_or(|n| n > most) {
                    Err(Code::NumberOutOfRange)
                } else {
                    Ok(())
                }
            }
        };
        match fits {
            Ok(()) => {
                if let (Some(n), true) = (whole, slot != Slot::None) {
                    self.sink.value(slot, Value::U64(n), at);
                }
            }
            Err(code) => {
                let word = self.word_at(at);
                self.note_value(code, at, format_args!("not {}:{word}", ty.name()));
            }
        }
        Ok(())
    }

    /// Passes over a whole number without a sign whose few digits, and the byte behind them, are
    /// in sight.
    #[inline]
    fn short_number(&mut self) -> Option<u64> {
        let rest = self.bytes.window().get(self.pos..)?;
        let mut whole = 0;
        let mut digits = 0;
        let behind = loop {
            match rest.get(digits)? {
                b @ b'0'..=b'9' if digits < 18 => whole = whole * 10 + u64::from(b - b'0'),
                b => break b,
            }
            digits += 1;
        };
        let zero_leads = digits > 1 && rest[0] == b'0';
        if digits == 0 || zero_leads || matches!(behind, b'0'..=b'9' | b'.' | b'e' | b'E') {
            return None;
        }
        self.pos += digits;
        Some(whole)
    }

    /// Reads a number; the cursor stands on its first byte.
    #[inline]
    fn number(&mut self, at: u64) -> Step<Number> {
        match self.short_number() {
            Some(whole) => Ok(Number {
                negative: false,
                integer: true,
                whole: Some(whole),
            }),
            None => self.any_number(at),
        }
    }

    fn any_number(&mut self, at: u64) -> Step<Number> {
        let negative = self.peek() == Some(b'-');
        if negative {
            self.pos += 1;
        }
        let mut whole: Option<u64> = Some(0);
        let mut lead = Lead::default();
        match self.peek() {
            Some(b'0') => {
                self.pos += 1;
                if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return Err(self.syntax("a number with a leading zero"));
                }
            }
            Some(b'1'..=b'9') => {
                while let Some(b @ b'0'..=b'9') = self.peek() {
                    let digit = u64::from(b - b'0');
                    whole = whole
                        .and_then(|n| n.checked_mul(10))
                        .and_then(|n| n.checked_add(digit));
                    lead.push(digit);
                    lead.point += 1;
                    self.pos += 1;
                }
            }
            _ => return Err(self.unexpected("a digit")),
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.pos += 1;
            let mut any = false;
            while let Some(b @ b'0'..=b'9') = self.peek() {
                any = true;
                if lead.digits == 0 {
                    lead.point -= i64::from(b == b'0');
                }
                lead.push(u64::from(b - b'0'));
                self.pos += 1;
            }
            if !any {
                return Err(self.unexpected("a digit"));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.pos += 1;
            let sign = self.peek();
            if let Some(b'-' | b'+') = sign {
                self.pos += 1;
            }
            let mut exponent: i64 = 0;
            let mut any = false;
            while let Some(b @ b'0'..=b'9') = self.peek() {
                any = true;
                exponent = exponent
                    .saturating_mul(10)
                    .saturating_add(i64::from(b - b'0'));
                self.pos += 1;
            }
            if !any {
                return Err(self.unexpected("a digit"));
            }
            let exponent = if sign == Some(b'-') {
                -exponent
            } else {
                exponent
            };
            lead.point = lead.point.saturating_add(exponent);
        }
        if lead.is_above_a_double() {
            self.note(
                Code::NumberOutOfRange,
                at,
                "a number that does not fit a double",
            );
        }
        Ok(Number {
            negative,
            integer,
            whole,
        })
    }

    // ------------------------------------------------------------ values that nobody asked for

    /// Checks a value's grammar and passes over it, without recursion.
    fn skip(&mut self) -> Step {
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
}

struct Number {
    negative: bool,
    integer: bool,
    /// The digits of a whole number without its sign, if they fit.
    whole: Option<u64>,
}

/// The leading digits of a number and where its decimal point stands among them: enough to tell
/// whether a double can hold it, however long it is and however it came in windows.
#[derive(Default)]
struct Lead {
    /// The first 19 significant digits.
    value: u64,
    /// How many they are.
    digits: u32,
    /// The number is 0.<digits> times ten to this power.
    point: i64,
}

impl Lead {
    #[inline]
    fn push(&mut self, digit: u64) {
        if self.digits < 19 && (self.digits > 0 || digit > 0) {
            self.value = self.value * 10 + digit;
            self.digits += 1;
        }
    }

    #[inline]
    fn is_above_a_double(&self) -> bool {
        // The largest double is 0.17976931348623157e309.
        self.point >= 309 && self.digits > 0 && (self.point > 309 || self.edge())
    }

    #[cold]
    fn edge(&self) -> bool {
        let text = format!("{}e{}", self.value, 309 - i64::from(self.digits));
        !text.parse::<f64>().is_ok_and(f64::is_finite)
    }
}

/// Whether a string that was just opened is this word.
#[inline]
fn begins_with(rest: &[u8], word: &str) -> bool {
    rest.get(word.len()) == Some(&b'"') && rest.starts_with(word.as_bytes())
}

/// How many bytes stand before the end of a string or something that is not a plain escape, and
/// which byte it is. Escapes of two bytes are passed over here: text is full of them.
#[inline]
fn skip_run(bytes: &[u8], control_free: bool) -> (usize, Option<u8>) {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let run = plain_run(rest, control_free);
        at += run;
        match (rest.get(run), rest.get(run + 1)) {
            (Some(b'\\'), Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f')) => at += 2,
            (end, _) => return (at, end.copied()),
        }
    }
}

/// How many bytes stand before the next quote, backslash or control character.
#[inline]
fn plain_run(bytes: &[u8], control_free: bool) -> usize {
    let (blocks, tail) = bytes.as_chunks();
    for (i, block) in blocks.iter().enumerate() {
        let found = special_in(*block, control_free);
        if found != 0 {
            return i * BLOCK + found.trailing_zeros() as usize;
        }
    }
    let special = |&b: &u8| b == b'"' || b == b'\\' || (!control_free && b < 0x20);
    bytes.len() - tail.len() + tail.iter().position(special).unwrap_or(tail.len())
}

const BLOCK: usize = 16;

/// One bit for each byte of a block that is a quote, a backslash or a control character.
#[inline]
fn special_in(block: [u8; BLOCK], control_free: bool) -> u32 {
    use wide::u8x16;
    let bytes = u8x16::new(block);
    let mut found = bytes.cmp_eq(u8x16::splat(b'"')) | bytes.cmp_eq(u8x16::splat(b'\\'));
    if !control_free {
        found |= bytes.min(u8x16::splat(0x1f)).cmp_eq(bytes);
    }
    found.move_mask().cast_unsigned()
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

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
