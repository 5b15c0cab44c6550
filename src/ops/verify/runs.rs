//! Runs: folders, the generation in the document, sockets.

use super::Found;
use super::names::{self, Expect};
use super::segment::unreadable;
use crate::diag::{Code, Finding, Locus, Subject};
use crate::layout::{Generation, RunEntry, classify_run, file, leftover};
use crate::store::fs::no_handles;
use crate::store::{Answer, Dir, EntryKind, Folder, RunsFolder, WorkerState, probe};

/// Adds what is worth a word about a Worker's runs.
pub(super) fn check(state: &WorkerState, subject: Subject, found: &mut Found) {
    let document = state.worker.good().map(|d| d.run_generation);
    let runs = match &state.runs {
        Folder::Read(runs) => runs,
        Folder::Missing => {
            missing_folder(state, document, &[], subject, found);
            return;
        }
        Folder::NotAFolder(_) => return, // reported with the names of the Worker's folder
        Folder::Unreadable(e) => {
            unreadable(&state.dir.path_of(file::RUNS), subject, e, found);
            return;
        }
    };
    let path = runs.dir.path();
    for entry in &runs.entries {
        let name = entry.name.to_string_lossy();
        let place = Locus::file(runs.dir.path_of(&entry.name));
        match (classify_run(&name), entry.kind) {
            (RunEntry::Generation(_), EntryKind::Dir) => {}
            (RunEntry::Generation(_), EntryKind::Symlink) => {
                found
                    .findings
                    .push(names::link(&runs.dir, &entry.name, subject));
            }
            (RunEntry::Generation(_), kind) => found.findings.push(Finding::new(
                Code::NotARegularFile,
                subject,
                place,
                format!("{} stands where the folder of a run should be", kind.noun()),
            )),
            (RunEntry::Named, _) if leftover(&name).is_some() => {
                names::unknown(&runs.dir, entry, &name, subject, found);
            }
            (RunEntry::Named, EntryKind::Dir) => found.findings.push(Finding::new(
                Code::UnknownFolder,
                subject,
                place,
                "a run that is not named by a generation; listed as it is",
            )),
            (RunEntry::Named, kind) => found.findings.push(Finding::new(
                Code::UnknownFile,
                subject,
                place,
                format!("{} that is no run", kind.noun()),
            )),
        }
    }
    let generations = runs.generations();
    // A link or a file in the place of a run's folder has a finding of its own.
    let mut named: Vec<Generation> = runs
        .entries
        .iter()
        .filter_map(|entry| match classify_run(entry.name.to_str()?) {
            RunEntry::Generation(generation) => Some(generation),
            RunEntry::Named => None,
        })
        .collect();
    named.sort_unstable();
    missing_folder(state, document, &named, subject, found);
    if let (Some(&highest), Some(last)) = (generations.last(), document)
        && highest.get() > last
    {
        found.findings.push(
            Finding::new(
                Code::GenerationBehind,
                Subject { generation: Some(highest), ..subject },
                Locus::file(path.join(highest.to_string())),
                format!(
                    "run folder {highest} is above run_generation {last} in {}: the document is an old copy, or a run was made behind its back; the next generation is {}",
                    state.dir.path_of(file::WORKER).display(),
                    highest.get().saturating_add(1)
                ),
            )
            .with_hint(match subject.worker_id {
                Some(id) => format!("wagg repair {id}"),
                None => "wagg explain generation_behind".to_owned(),
            }),
        );
    }
    for generation in generations {
        sockets(runs, generation, subject, found);
    }
}

fn missing_folder(
    state: &WorkerState,
    document: Option<u64>,
    generations: &[Generation],
    subject: Subject,
    found: &mut Found,
) {
    let Some(last) = document.and_then(Generation::new) else {
        return;
    };
    if generations.binary_search(&last).is_ok() || generations.last().is_some_and(|h| *h > last) {
        return;
    }
    found.findings.push(Finding::new(
        Code::MissingRunFolder,
        Subject {
            generation: Some(last),
            ..subject
        },
        Locus::file(state.dir.path_of(file::WORKER)),
        format!("generation {last} was given out and has no folder; it stays used up"),
    ));
}

fn sockets(runs: &RunsFolder, generation: Generation, subject: Subject, found: &mut Found) {
    let subject = Subject {
        generation: Some(generation),
        ..subject
    };
    let name = generation.to_string();
    let dir: Dir = match runs.dir.dir(&name) {
        Ok(dir) => dir,
        Err(e) => {
            unreadable(&runs.dir.path_of(&name), subject, &e, found);
            return;
        }
    };
    let socket = Locus::file(dir.path_of(file::SOCKET));
    match dir.try_stat(file::SOCKET) {
        Ok(None) => return,
        Ok(Some(_)) => {}
        Err(e) => {
            unreadable(&socket.path, subject, &e, found);
            return;
        }
    }
    match probe(&dir) {
        Ok(Answer::Absent) => {}
        Ok(Answer::NotASocket) => found.findings.push(Finding::new(
            Code::UnknownFile,
            subject,
            socket,
            "something that is no socket has its name; it was not opened",
        )),
        Ok(Answer::Silent) => found.findings.push(Finding::new(
            Code::StaleSocket,
            subject,
            socket,
            "a socket that nobody listens on; it says nothing about how the run ended",
        )),
        Ok(Answer::Answers) => found.findings.push(Finding::new(
            Code::LiveRun,
            subject,
            socket,
            "something answers on the socket, so the Worker is treated as live; that is a hint, no proof",
        )),
        Err(e) if no_handles(&e).is_some() => unreadable(&socket.path, subject, &e, found),
        Err(e) => found.findings.push(Finding::new(
            Code::StaleSocket,
            subject,
            socket,
            format!("a socket is there; whether somebody listens can not be told: {e}"),
        )),
    }
}

/// What a Worker's folder expects.
pub(super) fn expected(name: &str) -> Option<Expect> {
    match name {
        file::WORKER | file::METADATA => Some(Expect::File),
        file::SESSION_DIR | file::RUNS => Some(Expect::Folder),
        _ => None,
    }
}
