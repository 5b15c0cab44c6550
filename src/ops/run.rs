//! Runs, as far as reading tells: their folders, sizes and sockets.
//!
//! What a state says is a hint with its reason, never a proof: a socket may outlive its process,
//! and a run that ended cleanly leaves nothing but its folder.

pub mod reserve;
pub mod stop;

use std::ffi::OsStr;
use std::path::PathBuf;

use serde::Serialize;
use walkdir::WalkDir;

use crate::diag::{Code, Error, Result};
use crate::layout::{Generation, WorkerId, file};
use crate::ops::read::{Time, WorkerRef, not_a, open_error};
use crate::ops::resolve::RunName;
use crate::record::document::WorkerDocument;
use crate::store::{Answer, Dir, EntryKind, Folder, RunsFolder, Store, WorkerState, probe};

/// So many files of a run are listed; the others are counted.
const MAX_LISTED: usize = 10_000;

/// What a run looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The last generation that was given out, and it has no folder.
    Reserved,
    /// An earlier generation without a folder: it stays used up.
    Missing,
    /// A folder in which nothing has happened yet.
    Prepared,
    /// Something answers on its socket.
    Live,
    /// Its socket is there and nothing answers.
    LeftoverSocket,
    /// A folder without a socket.
    Stopped,
    /// It can not be told.
    Unknown,
}

impl RunState {
    /// The word that stands in tables and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Missing => "missing",
            Self::Prepared => "prepared",
            Self::Live => "live",
            Self::LeftoverSocket => "leftover_socket",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// Files below a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Total {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// One file below a run's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunFile {
    /// Relative to the run's folder.
    pub path: String,
    /// `file`, `link`, `socket` or `other`. Links are not followed.
    pub kind: &'static str,
    /// In bytes; of a link, of its text.
    pub bytes: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Whose it is.
    pub worker_id: WorkerId,
    /// Its generation; none for a run that is named otherwise.
    pub generation: Option<Generation>,
    /// The folder's name.
    pub name: String,
    /// Relative to the store.
    pub path: String,
    /// What it looks like.
    pub state: RunState,
    /// Why, a sentence for a person.
    pub reason: String,
    /// Whether it is the last generation that `worker.json` gave out.
    pub current: bool,
    /// When its folder was last changed.
    pub changed: Option<Time>,
    /// Bytes of `worker.out.log`.
    pub out_log_bytes: Option<u64>,
    /// Bytes of `worker.err.log`.
    pub err_log_bytes: Option<u64>,
    /// What is below `artifacts/`.
    pub artifacts: Total,
    /// What is below `spawned/`.
    pub spawned: Total,
    /// All that is below the folder.
    pub total: Total,
}

/// One run with its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Details {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// Its files, in the order of their paths.
    pub files: Vec<RunFile>,
    /// How many more there are.
    pub files_not_listed: u64,
}

/// Lists the runs of a Worker: generations in order, then those named otherwise.
///
/// # Errors
/// Its folders can not be read.
pub fn list(store: &Store, worker: &WorkerRef) -> Result<Vec<Run>> {
    let state = worker.state(store)?;
    let looker = Looker::new(worker, &state)?;
    let mut all: Vec<Run> = Vec::new();
    for name in looker.names() {
        all.push(looker.look(&name, &mut Files::default())?);
    }
    Ok(all)
}

/// Shows one run; without a name the one that is current, or the highest there is.
///
/// # Errors
/// `not_found` if the Worker has no such run.
pub fn show(store: &Store, worker: &WorkerRef, run: Option<&RunName>) -> Result<Details> {
    let state = worker.state(store)?;
    let looker = Looker::new(worker, &state)?;
    let names = looker.names();
    let generations = || {
        names
            .iter()
            .filter(|name| matches!(name, RunName::Generation(_)))
    };
    let name = match run {
        Some(name) => name.clone(),
        None => generations().next_back().cloned().ok_or_else(|| {
            Error::new(Code::NotFound, format!("Worker {} has no run", worker.id))
                .hint(format!("wagg run list {}", worker.id))
        })?,
    };
    let given_out = match &name {
        RunName::Generation(generation) => looker.last >= Some(*generation),
        RunName::Named(_) => false,
    };
    if !names.contains(&name) && !given_out {
        let there: Vec<String> = names.iter().map(ToString::to_string).collect();
        let there = match &there[..] {
            [] => "it has none".to_owned(),
            [one] => format!("its one run is {one}"),
            [first, .., last] => format!("its runs are {first} to {last}"),
        };
        return Err(Error::new(
            Code::NotFound,
            format!("Worker {} has no run {name}; {there}", worker.id),
        )
        .hint(format!("wagg run list {}", worker.id)));
    }
    let mut files = Files {
        keep: true,
        ..Files::default()
    };
    let run = looker.look(&name, &mut files)?;
    Ok(Details {
        run,
        files: files.list,
        files_not_listed: files.more,
    })
}

/// The runs of a Worker that answer, and those whose socket is a leftover: names only.
#[must_use]
pub fn sockets(runs: &RunsFolder) -> (Vec<String>, Vec<String>) {
    let (mut live, mut stale) = (Vec::new(), Vec::new());
    let folders = runs.entries.iter().filter(|e| e.kind == EntryKind::Dir);
    for entry in folders {
        let Ok(dir) = runs.dir.dir(&entry.name) else {
            continue;
        };
        let name = entry.name.to_string_lossy().into_owned();
        match probe(&dir) {
            Ok(Answer::Answers) => live.push(name),
            Ok(Answer::Silent) | Err(_) => stale.push(name),
            Ok(Answer::Absent | Answer::NotASocket) => {}
        }
    }
    (live, stale)
}

/// What is met on the way through a run's folder.
#[derive(Default)]
struct Files {
    keep: bool,
    list: Vec<RunFile>,
    more: u64,
}

struct Looker<'a> {
    worker: &'a WorkerRef,
    runs: Option<&'a RunsFolder>,
    /// What `worker.json` gave out last.
    last: Option<Generation>,
}

impl<'a> Looker<'a> {
    fn new(worker: &'a WorkerRef, state: &'a WorkerState) -> Result<Self> {
        let path = worker.path().join(file::RUNS);
        let runs = match &state.runs {
            Folder::Read(runs) => Some(runs),
            Folder::Missing => None,
            Folder::NotAFolder(kind) => return Err(not_a(&path, *kind)),
            Folder::Unreadable(e) => {
                let e = std::io::Error::new(e.kind(), e.to_string());
                return Err(open_error(&path, e));
            }
        };
        Ok(Self {
            worker,
            runs,
            last: state.worker.good().and_then(generation_of),
        })
    }

    /// All runs there are: folders, and the generation that was given out last.
    fn names(&self) -> Vec<RunName> {
        let mut generations = self.runs.map(RunsFolder::generations).unwrap_or_default();
        if let Some(last) = self.last
            && let Err(at) = generations.binary_search(&last)
        {
            generations.insert(at, last);
        }
        let named = self.runs.into_iter().flat_map(RunsFolder::named);
        generations
            .into_iter()
            .map(RunName::Generation)
            .chain(named.cloned().map(RunName::Named))
            .collect()
    }

    fn look(&self, name: &RunName, files: &mut Files) -> Result<Run> {
        let folder = name.folder();
        let path = self.worker.path().join(file::RUNS).join(&folder);
        let generation = match name {
            RunName::Generation(generation) => Some(*generation),
            RunName::Named(_) => None,
        };
        let mut run = Run {
            worker_id: self.worker.id,
            generation,
            name: folder.to_string_lossy().into_owned(),
            path: path.to_string_lossy().into_owned(),
            state: RunState::Unknown,
            reason: String::new(),
            current: generation.is_some() && generation == self.last,
            changed: None,
            out_log_bytes: None,
            err_log_bytes: None,
            artifacts: Total::default(),
            spawned: Total::default(),
            total: Total::default(),
        };
        let dir = match self.runs.map(|runs| runs.dir.dir(&folder)) {
            Some(Ok(dir)) => dir,
            Some(Err(e)) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(open_error(&path, e));
            }
            _ => {
                (run.state, run.reason) = without_folder(run.current, &run.name);
                return Ok(run);
            }
        };
        run.changed = dir.own_stat().ok().as_ref().and_then(Time::of);
        let log = |name: &str| {
            let stat = dir.try_stat(name).ok().flatten()?;
            (stat.kind == EntryKind::File).then_some(stat.len)
        };
        (run.out_log_bytes, run.err_log_bytes) = (log(file::OUT_LOG), log(file::ERR_LOG));
        walk(&dir, &mut run, files);
        let later = generation.and_then(|generation| {
            let others = self.names().into_iter().filter_map(|name| match name {
                RunName::Generation(other) if other > generation => Some(other),
                _ => None,
            });
            others.min()
        });
        (run.state, run.reason) = judge(&dir, &run, later);
        if let (Some(generation), Some(last)) = (generation, self.last)
            && generation > last
        {
            run.reason.push_str(&format!(
                "; worker.json has given out {last} only, so it is an old copy"
            ));
        }
        Ok(run)
    }
}

fn generation_of(document: &WorkerDocument) -> Option<Generation> {
    Generation::new(document.run_generation)
}

fn without_folder(current: bool, name: &str) -> (RunState, String) {
    if current {
        let reason = format!("worker.json gave out generation {name}, and it has no folder");
        (RunState::Reserved, reason)
    } else {
        let reason = format!("generation {name} is used up, and it has no folder");
        (RunState::Missing, reason)
    }
}

/// Says what a run looks like, from its socket first and from what its folder holds else.
fn judge(dir: &Dir, run: &Run, later: Option<Generation>) -> (RunState, String) {
    let socket = match probe(dir) {
        Ok(Answer::Answers) => {
            return (
                RunState::Live,
                "something answers on worker.sock: a hint, no proof".to_owned(),
            );
        }
        Ok(Answer::Silent) => {
            return (
                RunState::LeftoverSocket,
                "worker.sock is there and nothing answers".to_owned(),
            );
        }
        Err(e) => {
            return (
                RunState::Unknown,
                format!("whether something answers on worker.sock can not be told: {e}"),
            );
        }
        Ok(Answer::Absent) => "no socket",
        Ok(Answer::NotASocket) => "worker.sock is no socket",
    };
    if let Some(later) = later {
        return (
            RunState::Stopped,
            format!("{socket}, and generation {later} came after it"),
        );
    }
    if run.total.bytes > 0 || dir.try_stat(file::BASH_OUTPUT).ok().flatten().is_some() {
        return (
            RunState::Stopped,
            format!("{socket}, and something was written here"),
        );
    }
    (
        RunState::Prepared,
        format!("{socket}, and nothing was written here yet"),
    )
}

/// Adds up what is below a run's folder, without following links.
fn walk(dir: &Dir, run: &mut Run, files: &mut Files) {
    let root = dir.full_path();
    let entries = WalkDir::new(&root)
        .follow_links(false)
        .follow_root_links(false)
        .min_depth(1)
        .sort_by_file_name();
    // What can not be read, or went meanwhile, is left out.
    for entry in entries.into_iter().filter_map(std::result::Result::ok) {
        let kind = entry.file_type();
        if kind.is_dir() {
            continue;
        }
        let size = entry.metadata().map_or(0, |meta| meta.len());
        // A link's text is nobody's output.
        let bytes = if kind.is_file() { size } else { 0 };
        let path: PathBuf = entry
            .path()
            .strip_prefix(&root)
            .map_or_else(|_| entry.path().to_owned(), PathBuf::from);
        let first = path.iter().next();
        let below = |name: &str| first == Some(OsStr::new(name));
        if below(file::ARTIFACTS) {
            run.artifacts.add(bytes);
        } else if below(file::SPAWNED) {
            run.spawned.add(bytes);
        }
        run.total.add(bytes);
        if !files.keep {
            continue;
        }
        if files.list.len() >= MAX_LISTED {
            files.more += 1;
            continue;
        }
        files.list.push(RunFile {
            path: path.to_string_lossy().into_owned(),
            kind: kind_word(kind),
            bytes: size,
        });
    }
}

fn kind_word(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_file() {
        "file"
    } else if kind.is_symlink() {
        "link"
    } else if kind.is_socket() {
        "socket"
    } else {
        "other"
    }
}
