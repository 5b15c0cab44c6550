//! What a reference looks like, before anything is looked up. Text only.
//!
//! One rule for all commands:
//!
//! - `name:X` is the Worker with the name X, whatever X looks like;
//! - with a slash it is `WORKER/active`, `WORKER/latest`, `WORKER/PREFIX`, or a path: from the
//!   store's root if it begins with a folder of a store (`workers/…`), else from here;
//! - without one, digits are the id of a Worker, a UUID is an id, and four or more hex digits are
//!   the beginning of a Segment's id. What ends in `.json` or `.jsonl`, `.` and `..` are paths.
//!   Anything else is a name.
//!
//! So what has the form of an id is never a name, and a slip in an id never becomes a path.

use std::path::Path;

use uuid::Uuid;

use crate::layout::{WorkerId, file};

/// The least number of hex digits that begin an id.
pub const MIN_PREFIX: usize = 4;

/// What a reference looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form<'a> {
    /// A Worker's name.
    Name(&'a str),
    /// A Worker's number; long ones may be the beginning of a Segment's id as well.
    Number(WorkerId, Option<Prefix>),
    /// A whole UUID, of whatever kind.
    Uuid(Uuid),
    /// The beginning of a UUID.
    Prefix(Prefix),
    /// Digits that are no id: a leading zero, or more than 64 bits.
    BadNumber,
    /// The active Segment of a Worker.
    Active(&'a str),
    /// The Segment of a Worker with the highest id.
    Latest(&'a str),
    /// A Segment of that Worker.
    SegmentOf(&'a str, Prefix),
    /// A path that counts from the store's root.
    InStore(&'a Path),
    /// A path that counts from here, or from the root of the file system.
    FromHere(&'a Path),
}

impl<'a> Form<'a> {
    /// Tells what a reference looks like.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        if let Some((worker, last)) = text.rsplit_once('/')
            && is_worker(worker)
        {
            match last {
                "active" => return Self::Active(worker),
                "latest" => return Self::Latest(worker),
                _ => {
                    if let Some(prefix) = Prefix::parse(last) {
                        return Self::SegmentOf(worker, prefix);
                    }
                }
            }
        }
        if let Some(name) = text.strip_prefix("name:") {
            return Self::Name(name);
        }
        if text.contains('/') || is_file(text) {
            let first = text.split('/').next().unwrap_or(text);
            return if TOP.contains(&first) {
                Self::InStore(Path::new(text))
            } else {
                Self::FromHere(Path::new(text))
            };
        }
        let prefix = Prefix::parse(text);
        if text.bytes().next().is_some() && text.bytes().all(|b| b.is_ascii_digit()) {
            return match (text.parse::<WorkerId>(), prefix) {
                (Ok(id), prefix) => Self::Number(id, prefix),
                (Err(_), Some(prefix)) => Self::Prefix(prefix),
                (Err(_), None) => Self::BadNumber,
            };
        }
        // Any spelling of a UUID is taken from a person; on disk there is only one.
        if let Ok(id) = Uuid::parse_str(text) {
            return Self::Uuid(id);
        }
        prefix.map_or(Self::Name(text), Self::Prefix)
    }
}

/// Says whether a text has the form of an id or a path, so that it can not be given as a plain name.
#[must_use]
pub fn is_no_plain_name(text: &str) -> bool {
    !matches!(Form::of(text), Form::Name(name) if name == text)
}

/// What paths inside a store begin with.
const TOP: [&str; 7] = [
    file::RUNTIME,
    file::WORKERS,
    file::MIGRATIONS,
    file::RUNTIMES,
    file::ARCHIVES,
    file::RETENTION,
    file::WAGG,
];

/// Whether the part before the last slash can be a Worker and not a folder.
fn is_worker(text: &str) -> bool {
    text.starts_with("name:")
        || !(text.is_empty() || text.contains('/') || TOP.contains(&text) || is_file(text))
}

fn is_file(text: &str) -> bool {
    matches!(text, "." | "..") || text.ends_with(".json") || text.ends_with(".jsonl")
}

/// The beginning of a UUID: its hex digits in lower case, without hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// Takes 4 to 32 hex digits, without hyphens or with those of a UUID in their places.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hyphens = text.contains('-');
        let mut digits = String::new();
        for (at, c) in text.chars().enumerate() {
            match c {
                '-' if matches!(at, 8 | 13 | 18 | 23) => {}
                '-' => return None,
                _ if hyphens && matches!(at, 8 | 13 | 18 | 23) => return None,
                c if c.is_ascii_hexdigit() => digits.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
        (MIN_PREFIX..=32)
            .contains(&digits.len())
            .then_some(Self(digits))
    }

    /// Whether a UUID begins with it.
    #[must_use]
    pub fn begins(&self, id: Uuid) -> bool {
        let mut buffer = Uuid::encode_buffer();
        id.as_simple()
            .encode_lower(&mut buffer)
            .starts_with(&self.0)
    }
}

/// How many characters of each id tell it from all others, for tables; never less than eight.
/// The ids come in order, without doubles.
pub fn unique_lengths(ids: &[Uuid]) -> impl Iterator<Item = (Uuid, usize)> + '_ {
    let common = |a: Uuid, b: Option<&Uuid>| {
        let Some(b) = b else { return 0 };
        let (a, b) = (a.hyphenated().to_string(), b.hyphenated().to_string());
        a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
    };
    ids.iter().enumerate().map(move |(at, &id)| {
        let before = at.checked_sub(1).and_then(|at| ids.get(at));
        let shared = common(id, before).max(common(id, ids.get(at + 1)));
        let length = (shared + 1).clamp(8, 36);
        // A hyphen at the end tells nothing.
        let hyphen = matches!(length, 9 | 14 | 19 | 24);
        (id, length + usize::from(hyphen))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix(text.to_owned())
    }

    /// C3: what has the form of an id is never a name.
    #[test]
    fn c3_forms() {
        let id = "01890000-0000-7000-8000-00000000000a";
        let uuid = Uuid::parse_str(id).unwrap();
        for (text, form) in [
            ("7", Form::Number(WorkerId::Number(7), None)),
            (
                "1234",
                Form::Number(WorkerId::Number(1234), Some(prefix("1234"))),
            ),
            ("07", Form::BadNumber),
            ("0189", Form::Prefix(prefix("0189"))),
            (
                "99999999999999999999999",
                Form::Prefix(prefix("99999999999999999999999")),
            ),
            (id, Form::Uuid(uuid)),
            ("0189000000007000800000000000000A", Form::Uuid(uuid)),
            ("01890000-0000", Form::Prefix(prefix("018900000000"))),
            ("CAFE", Form::Prefix(prefix("cafe"))),
            ("abc", Form::Name("abc")),
            ("dead-beef", Form::Name("dead-beef")),
            ("+7", Form::Name("+7")),
            ("", Form::Name("")),
            ("name:7", Form::Name("7")),
            ("name:a/b", Form::Name("a/b")),
            ("name:", Form::Name("")),
            ("worker-runtime-7", Form::Name("worker-runtime-7")),
            ("7/active", Form::Active("7")),
            ("my bot/latest", Form::Latest("my bot")),
            ("name:a/b/active", Form::Active("name:a/b")),
            ("7/0189-", Form::FromHere(Path::new("7/0189-"))),
            ("7/01890", Form::SegmentOf("7", prefix("01890"))),
            ("7/2", Form::FromHere(Path::new("7/2"))),
            ("workers/7", Form::InStore(Path::new("workers/7"))),
            ("workers/1234", Form::InStore(Path::new("workers/1234"))),
            ("workers/active", Form::InStore(Path::new("workers/active"))),
            ("runtime.json", Form::InStore(Path::new("runtime.json"))),
            ("./7", Form::FromHere(Path::new("./7"))),
            ("../active", Form::FromHere(Path::new("../active"))),
            ("/active", Form::FromHere(Path::new("/active"))),
            ("a.jsonl", Form::FromHere(Path::new("a.jsonl"))),
            (".", Form::FromHere(Path::new("."))),
        ] {
            assert_eq!(Form::of(text), form, "{text}");
        }
        assert!(is_no_plain_name("7") && is_no_plain_name("cafe") && is_no_plain_name("name:x"));
        assert!(!is_no_plain_name("my bot") && !is_no_plain_name("worker-runtime-7"));
    }

    #[test]
    fn short_ids_are_unique_and_take_no_hyphen_at_the_end() {
        let ids: Vec<Uuid> = [
            "01890000-0000-7000-8000-000000000011",
            "01890000-0000-7000-8000-000000000012",
            "01890000-1000-7000-8000-000000000012",
            "f1890000-1000-7000-8000-000000000012",
        ]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
        let lengths: Vec<usize> = unique_lengths(&ids).map(|(_, length)| length).collect();
        assert_eq!(lengths, [36, 36, 10, 8]);
        assert_eq!(unique_lengths(&[]).count(), 0);
        assert_eq!(unique_lengths(&ids[..1]).next().unwrap().1, 8);
    }
}
