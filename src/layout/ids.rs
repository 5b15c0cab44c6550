//! Four ids that can not be mixed, and the names that stand beside them.
//!
//! On disk each id has one spelling: a UUID is lower case with hyphens, an integer has no sign and
//! no leading zero. `FromStr` takes that spelling only; [`SessionId::parse_loose`] and its
//! siblings take the others that a Runtime's reader accepts inside JSON and say so, because the
//! difference is a finding and never a second object.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Which of the ids a text was meant to be; named in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A Worker id.
    Worker,
    /// A Session id.
    Session,
    /// A Segment id.
    Segment,
    /// A run generation.
    Generation,
    /// An operation id.
    Operation,
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Worker => "Worker id",
            Self::Session => "Session id",
            Self::Segment => "Segment id",
            Self::Generation => "run generation",
            Self::Operation => "operation id",
        })
    }
}

/// A text that is not the one spelling of an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}: {reason}")]
pub struct IdError {
    /// What the text was meant to be.
    pub kind: IdKind,
    /// The text, cut to a printable length.
    pub text: String,
    /// What is wrong with it, a lower-case fragment.
    pub reason: &'static str,
}

impl IdError {
    fn new(kind: IdKind, text: &str, reason: &'static str) -> Self {
        let mut text: String = text.chars().take(80).collect();
        text.shrink_to_fit();
        Self { kind, text, reason }
    }
}

/// The UUID that a text spells as on disk: lower case, with hyphens.
pub(crate) fn uuid_on_disk(text: &[u8]) -> Option<Uuid> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != *b"----" {
        return None;
    }
    let mut digits = [0; 32];
    digits[..8].copy_from_slice(&text[..8]);
    digits[8..12].copy_from_slice(&text[9..13]);
    digits[12..16].copy_from_slice(&text[14..18]);
    digits[16..20].copy_from_slice(&text[19..23]);
    digits[20..].copy_from_slice(&text[24..]);
    let [high, low] = digits.as_chunks::<16>().0 else {
        return None;
    };
    let id = u128::from(sixteen_digits(*high)?) << 64 | u128::from(sixteen_digits(*low)?);
    Some(Uuid::from_u128(id))
}

/// The number that sixteen hex digits in lower case spell.
fn sixteen_digits(text: [u8; 16]) -> Option<u64> {
    use wide::u8x16;
    let text = u8x16::new(text);
    let below = |lanes: u8x16, most: u8| lanes.min(u8x16::splat(most)).cmp_eq(lanes);
    let (digit, letter) = (text - u8x16::splat(b'0'), text - u8x16::splat(b'a'));
    let (is_digit, is_letter) = (below(digit, 9), below(letter, 5));
    if (is_digit | is_letter).move_mask() != 0xffff {
        return None;
    }
    let values = (is_digit & digit) | (is_letter & (letter + u8x16::splat(10)));
    // Two digits make a byte, and then bytes move together; the first is the highest.
    let pairs = u128::from_be_bytes(values.to_array());
    let eight = |values: u64| {
        let bytes = (values >> 4 | values) & 0x00ff_00ff_00ff_00ff;
        let words = (bytes >> 8 | bytes) & 0x0000_ffff_0000_ffff;
        (words >> 16 | words) & 0xffff_ffff
    };
    Some(eight((pairs >> 64) as u64) << 32 | eight(pairs as u64))
}

/// The UUID that a text is in any usual spelling, and whether it is the one for disk.
fn loose_uuid(text: &str) -> Option<(Uuid, bool)> {
    match uuid_on_disk(text.as_bytes()) {
        Some(id) => Some((id, true)),
        None => Uuid::parse_str(text).ok().map(|id| (id, false)),
    }
}

fn canonical_uuid(kind: IdKind, text: &str) -> Result<Uuid, IdError> {
    match loose_uuid(text) {
        Some((id, true)) => Ok(id),
        Some(_) => Err(IdError::new(
            kind,
            text,
            "a UUID in another spelling than lower case with hyphens",
        )),
        None => Err(IdError::new(kind, text, "not a UUID")),
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $kind:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Takes a UUID as this id.
            #[must_use]
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The UUID itself.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// Makes a new id of version 7 (ordered by time).
            #[must_use]
            pub fn mint() -> Self {
                Self(Uuid::now_v7())
            }

            /// Parses any usual spelling of a UUID, and says whether it was the one for disk.
            ///
            /// # Errors
            /// The text is no UUID in any spelling.
            pub fn parse_loose(text: &str) -> Result<(Self, bool), IdError> {
                loose_uuid(text)
                    .map(|(id, on_disk)| (Self(id), on_disk))
                    .ok_or_else(|| IdError::new($kind, text, "not a UUID"))
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                canonical_uuid($kind, text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.hyphenated())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_str(Text(|text| Self::parse_loose(text).map(|(id, _)| id)))
            }
        }
    };
}

uuid_id!(
    /// The id of a Worker's one replayable history, fixed in `session/session.json` for life.
    SessionId,
    IdKind::Session
);
uuid_id!(
    /// The id of one append-only branch or compacted projection of a Session.
    SegmentId,
    IdKind::Segment
);
uuid_id!(
    /// The id of one change that `wagg` made, in its journal.
    OperationId,
    IdKind::Operation
);

/// The id of a Worker: a positive integer in stores of version 1, a UUIDv7 in those of version 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkerId {
    /// Version 1: a `u64`, given out by the store's sequence. In version 1 the reader also takes 0.
    Number(u64),
    /// Version 3: given out by the workspace.
    Uuid(Uuid),
}

impl FromStr for WorkerId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        if text.bytes().next().is_some_and(|b| b.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_digit())
        {
            return decimal(IdKind::Worker, text).map(Self::Number);
        }
        let id = canonical_uuid(IdKind::Worker, text)?;
        if id.get_version_num() == 7 {
            Ok(Self::Uuid(id))
        } else {
            Err(IdError::new(
                IdKind::Worker,
                text,
                "a UUID that is not of version 7",
            ))
        }
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Uuid(id) => id.hyphenated().fmt(f),
        }
    }
}

impl Serialize for WorkerId {
    /// Always a string, so that version 1 and 3 read alike.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WorkerId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Text(str::parse))
    }
}

/// A string that is parsed where it stands.
struct Text<T>(fn(&str) -> Result<T, IdError>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// The number of one execution attempt of a Worker: from 1, strictly increasing, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Generation(u64);

impl Generation {
    /// Takes a number from 1 as a generation.
    #[must_use]
    pub const fn new(n: u64) -> Option<Self> {
        if n == 0 { None } else { Some(Self(n)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Generation {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let n = decimal(IdKind::Generation, text)?;
        Self::new(n).ok_or_else(|| IdError::new(IdKind::Generation, text, "generations start at 1"))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Parses a `u64` in its one spelling: digits only, no leading zero.
fn decimal(kind: IdKind, text: &str) -> Result<u64, IdError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(IdError::new(kind, text, "not a decimal number"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(IdError::new(kind, text, "a number with a leading zero"));
    }
    text.parse()
        .map_err(|_| IdError::new(kind, text, "a number above 64 bits"))
}

/// Why a text can not be a Worker's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkerNameError {
    /// The empty text.
    #[error("it is empty")]
    Empty,
    /// `.` or `..`.
    #[error("it is a folder reference")]
    Dots,
    /// A slash or a NUL byte.
    #[error("it holds a slash or a NUL byte")]
    Separator,
    /// Over 255 bytes, which no file system takes as one name.
    #[error("it is longer than 255 bytes")]
    TooLong,
}

/// A Worker's name as metadata spells it; safe to use as one folder name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct WorkerName(String);

impl WorkerName {
    /// The prefix of every name that a Runtime gives.
    pub const RUNTIME_PREFIX: &'static str = "worker-runtime-";

    /// The name that a Runtime gives the Worker of this id.
    #[must_use]
    pub fn of(id: WorkerId) -> Self {
        Self(format!("{}{id}", Self::RUNTIME_PREFIX))
    }

    /// The Worker that this name means if a Runtime gave it.
    #[must_use]
    pub fn worker_id(&self) -> Option<WorkerId> {
        Self::means(&self.0)
    }

    /// The Worker that a name means if a Runtime gave it.
    #[must_use]
    pub fn means(name: &str) -> Option<WorkerId> {
        name.strip_prefix(Self::RUNTIME_PREFIX)?.parse().ok()
    }

    /// Whether a text can be a Worker's name.
    ///
    /// # Errors
    /// Why it can not.
    pub fn check(text: &str) -> Result<(), WorkerNameError> {
        match text {
            "" => Err(WorkerNameError::Empty),
            "." | ".." => Err(WorkerNameError::Dots),
            _ if text.contains(['/', '\0']) => Err(WorkerNameError::Separator),
            _ if text.len() > 255 => Err(WorkerNameError::TooLong),
            _ => Ok(()),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WorkerName {
    type Err = WorkerNameError;
    fn from_str(text: &str) -> Result<Self, WorkerNameError> {
        Self::check(text).map(|()| Self(text.to_owned()))
    }
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C1: one spelling on disk for each id.
    #[test]
    fn c1_only_the_canonical_spelling_parses() {
        let good = "01890000-0000-7000-8000-00000000000a";
        assert!(good.parse::<SegmentId>().is_ok());
        for bad in [
            "01890000-0000-7000-8000-00000000000A",
            "01890000000070008000000000000000a",
            "0189000000007000800000000000000a",
            "{01890000-0000-7000-8000-00000000000a}",
            "urn:uuid:01890000-0000-7000-8000-00000000000a",
            "../../etc",
            "",
        ] {
            assert!(bad.parse::<SegmentId>().is_err(), "{bad}");
        }
        for alias in [
            "01890000-0000-7000-8000-00000000000A",
            "0189000000007000800000000000000a",
        ] {
            let (id, canonical) = SegmentId::parse_loose(alias).unwrap();
            assert_eq!((id.to_string().as_str(), canonical), (good, false));
        }
        for bad in [
            "07",
            "+7",
            "-1",
            " 7",
            "7 ",
            "0x7",
            "18446744073709551616",
            "",
        ] {
            assert!(bad.parse::<WorkerId>().is_err(), "{bad:?}");
        }
        assert!("0".parse::<Generation>().is_err());
        assert_eq!("7".parse::<WorkerId>().unwrap(), WorkerId::Number(7));
        assert!(
            "01890000-0000-4000-8000-00000000000a"
                .parse::<WorkerId>()
                .is_err()
        );
    }

    /// What is read fast is what the crate reads, for each byte in each place.
    #[test]
    fn a_uuid_on_disk_is_read_as_the_crate_reads_it() {
        let good = b"01890abc-def2-7345-8678-9abcdef01234";
        for at in 0..good.len() {
            for byte in 0..=u8::MAX {
                let mut text = *good;
                text[at] = byte;
                let usual = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| Uuid::try_parse(text).ok())
                    .filter(|id| id.hyphenated().to_string().as_bytes() == text);
                assert_eq!(uuid_on_disk(&text), usual, "{at} {byte}");
            }
            assert_eq!(uuid_on_disk(&good[at..]).is_some(), at == 0);
        }
    }

    #[test]
    fn worker_names_stay_one_path_component() {
        for bad in ["", ".", "..", "a/b", "a\0b", &"x".repeat(256)] {
            assert!(bad.parse::<WorkerName>().is_err(), "{bad:?}");
        }
        let name: WorkerName = "worker-runtime-7".parse().unwrap();
        assert_eq!(name.worker_id(), Some(WorkerId::Number(7)));
        assert_eq!(
            "worker-runtime-07"
                .parse::<WorkerName>()
                .unwrap()
                .worker_id(),
            None
        );
    }
}
