//! A table row: one damage to a small good store, and the one finding that it gives.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wagg::diag::{Code, Severity};

use crate::support::tree::unchanged;
use crate::support::{Output, TestEnv, TestStore, TestWorker, damage, schema};

/// The Segment of the store's first Worker.
pub const SEGMENT: u64 = 0x11;

/// The small good store that a case damages: one Worker with one Session, one Segment of two
/// turns (15 lines), one run.
pub struct Kit {
    pub env: TestEnv,
    pub store: TestStore,
    pub worker: TestWorker,
    /// Flags beside `verify --format json`.
    pub args: Vec<&'static str>,
    /// Codes that this damage can not but bring along.
    pub also: Vec<Code>,
    /// Places that could not be looked at, so that the status is 1 in any case.
    pub not_looked_at: u64,
}

impl Kit {
    pub fn v1() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v1(env.path("store"));
        Self::of(env, store)
    }

    /// A store in a folder of the caller's.
    pub fn v1_in(place: &std::path::Path) -> Self {
        Self::of(TestEnv::new(), TestStore::v1(place.join("store")))
    }

    pub fn v3() -> Self {
        let env = TestEnv::new();
        let store = TestStore::v3(env.path("store"));
        Self::of(env, store)
    }

    fn of(env: TestEnv, store: TestStore) -> Self {
        let worker = store.worker(1);
        worker.usual(1);
        Self {
            env,
            store,
            worker,
            args: Vec::new(),
            also: Vec::new(),
            not_looked_at: 0,
        }
    }

    /// The Segment's file.
    pub fn segment(&self) -> PathBuf {
        self.worker.segment_path(SEGMENT)
    }

    /// A path as findings name it: relative to the store.
    pub fn name(&self, path: impl AsRef<Path>) -> String {
        let path = path.as_ref();
        path.strip_prefix(self.store.root())
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// The whole of a file or folder.
    pub fn whole(&self, path: impl AsRef<Path>) -> Place {
        Place {
            path: self.name(path),
            ..Place::default()
        }
    }

    /// A place inside a file.
    pub fn at(&self, path: impl AsRef<Path>, line: u64, byte: u64) -> Place {
        Place {
            line: Some(line),
            byte: Some(byte),
            ..self.whole(path)
        }
    }

    /// The start of a line.
    pub fn line(&self, path: impl AsRef<Path>, line: usize) -> Place {
        let byte = damage::offset_of(path.as_ref(), line);
        self.at(path, line as u64, byte)
    }

    /// `wagg verify` with these arguments; nothing in the store may change.
    pub fn verify(&self, args: &[&str]) -> Output {
        verify(&self.env, self.store.root(), args)
    }
}

/// `wagg verify` on a store, which must not change for it.
pub fn verify(env: &TestEnv, store: &Path, args: &[&str]) -> Output {
    let mut all = vec!["verify", "--store", store.to_str().unwrap()];
    all.extend(args);
    unchanged(&[store], "verify", || env.wagg(all))
}

/// The findings of a JSON answer, which must be as its schema says.
pub fn findings(out: &Output) -> Vec<Value> {
    let document = out.json();
    schema::check("verify", &document);
    document["findings"].as_array().unwrap().clone()
}

/// Where a finding should point, and words that its message should have.
#[derive(Debug, Default)]
pub struct Place {
    pub path: String,
    pub line: Option<u64>,
    pub byte: Option<u64>,
    pub length: Option<u64>,
    pub words: Vec<String>,
    pub severity: Option<Severity>,
}

impl Place {
    pub fn long(mut self, length: u64) -> Self {
        self.length = Some(length);
        self
    }

    /// Words that the message must have.
    pub fn says(mut self, words: impl Into<String>) -> Self {
        self.words.push(words.into());
        self
    }

    /// Another severity than the code's own.
    pub fn but(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// No byte is named, only a line.
    pub fn no_byte(mut self) -> Self {
        self.byte = None;
        self
    }
}

/// One row.
pub struct Case {
    pub code: Code,
    /// What is done, for messages.
    pub what: &'static str,
    /// Does it, and says where the finding should be.
    pub damage: fn(&mut Kit) -> Place,
}

pub const fn case(code: Code, what: &'static str, damage: fn(&mut Kit) -> Place) -> Case {
    Case { code, what, damage }
}

/// Holds every row of a table, and tells of all that do not hold.
pub fn hold_all(cases: &[Case]) {
    let failed: Vec<&str> = cases
        .iter()
        .filter(|case| std::panic::catch_unwind(|| hold(case)).is_err())
        .map(|case| case.what)
        .collect();
    assert!(failed.is_empty(), "these rows do not hold: {failed:?}");
}

/// Holds a row against the program: this finding, nothing else above information, the counts and
/// the exit status of it, with `--strict` and without.
fn hold(case: &Case) {
    let mut kit = Kit::v1();
    let place = (case.damage)(&mut kit);
    hold_in(&kit, case.code, case.what, &place);
}

pub fn hold_in(kit: &Kit, code: Code, what: &str, place: &Place) {
    let mut args = kit.args.clone();
    args.extend(["--format", "json"]);
    let out = kit.verify(&args);
    let what = format!("{code}: {what}\n{out}");
    let mut found = findings(&out);
    let name = |code: &Code| Value::from(code.info().name);
    for code in &kit.also {
        let at = found.iter().position(|f| f["code"] == name(code));
        found.remove(at.unwrap_or_else(|| panic!("no {code} beside it: {what}")));
    }
    assert_eq!(found.len(), 1, "{what}");
    let finding = &found[0];
    let severity = place.severity.or(code.info().severity).unwrap();
    assert_eq!(finding["code"], name(&code), "{what}");
    assert_eq!(finding["severity"], severity.as_str(), "{what}");
    assert_eq!(finding["path"], place.path.as_str(), "{what}");
    for (field, wanted) in [
        ("line", place.line),
        ("byte", place.byte),
        ("length", place.length),
    ] {
        assert_eq!(finding[field].as_u64(), wanted, "{field}: {what}");
    }
    let message = finding["message"].as_str().unwrap();
    for words in &place.words {
        assert!(message.contains(words.as_str()), "{words:?}: {what}");
    }
    assert!(!message.ends_with('.'), "a full stop: {what}");
    let also = kit.also.iter().filter_map(|code| code.info().severity);
    let worst = also.fold(severity, Severity::min);
    if let Some(hint) = finding["hint"].as_str() {
        can_be_pasted(kit, hint);
    }
    let status = |fails: bool| i32::from(fails || kit.not_looked_at > 0);
    let wanted = status(worst == Severity::Error);
    assert_eq!(out.code, Some(wanted), "{what}");
    counts(&out, kit.not_looked_at);
    args.push("--strict");
    let strict = kit.verify(&args);
    assert_eq!(
        strict.code,
        Some(status(worst != Severity::Info)),
        "--strict: {what}"
    );
    assert_eq!(strict.bytes(), out.bytes(), "--strict: {what}");
}

/// A hint that is a command is one that the program takes, whatever it answers.
fn can_be_pasted(kit: &Kit, hint: &str) {
    let Some(command) = hint.strip_prefix("wagg ") else {
        return;
    };
    let out = kit
        .env
        .prepare(command.split(' '))
        .env("WAGG_STORE", kit.store.root())
        .run();
    let fine = matches!(out.code, Some(0 | 1 | 4 | 5));
    assert!(fine, "the hint {hint:?} does not run\n{out}");
}

/// The summary counts what is listed.
pub fn counts(out: &Output, not_looked_at: u64) {
    let document = out.json();
    let summary = &document["summary"];
    for (field, severity) in [
        ("errors", "error"),
        ("warnings", "warning"),
        ("infos", "info"),
    ] {
        let listed = document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|f| f["severity"] == severity)
            .count();
        assert_eq!(summary[field], listed, "{field}\n{out}");
    }
    assert_eq!(summary["not_looked_at"], not_looked_at, "{out}");
}
