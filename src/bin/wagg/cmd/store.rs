//! How commands get at a store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wagg::diag::{Code, Error, Result};
use wagg::layout::{Paths, WorkerId, file};
use wagg::ops::read::WorkerRef;
use wagg::ops::resolve::Resolver;
use wagg::record::document::WorkerDocument;
use wagg::store::{
    Document, LockRequest, ReadLock, Store, Waiting, Wanted, lock_for_reading, read_document,
};

use crate::ui::Ui;

/// The store that was named, else the nearest one upwards from here.
pub fn find(ui: &Ui) -> Result<Store> {
    let wanted = match ui.store() {
        Some(path) => Wanted::Named(path.to_owned()),
        None => Wanted::Upwards(here()?),
    };
    let store = Store::find(&wanted)?;
    ui.opened(store.path());
    Ok(store)
}

/// The same for a command that shows what stands in it: what its catalog does not tell is said
/// aloud.
pub fn find_to_read(ui: &Ui) -> Result<Store> {
    let store = find(ui)?;
    tell_document(&store.runtime(), &Paths::runtime(), ui);
    Ok(store)
}

/// Says of a document that is there and can not be used what it is.
pub fn tell_document<T>(document: &Document<T>, path: &Path, ui: &Ui) {
    let path = path.display();
    match document {
        Document::Good(_) | Document::Missing => {}
        Document::Faulty(fault) if fault.code == Code::UnsupportedSchemaVersion => {
            ui.warn(format!("unsupported version: {path} has {}", fault.message));
        }
        Document::Faulty(fault) => ui.warn(format!("damaged: {path}: {}", fault.message)),
        Document::NotAFile(kind) => ui.warn(format!("{path} is {}", kind.noun())),
        Document::Unreadable(e) => ui.warn(format!("unreadable: {path}: {e}")),
    }
}

/// The same for the document of a Worker whose runs or Segments are shown.
pub fn tell_worker(store: &Store, worker: &WorkerRef, ui: &Ui) {
    if let Ok(Some(dir)) = store.worker_dir(&worker.folder) {
        let document = read_document(&dir, file::WORKER, WorkerDocument::read);
        tell_document(&document, &worker.path().join(file::WORKER), ui);
    }
}

fn here() -> Result<PathBuf> {
    std::env::current_dir().map_err(|e| Error::io("look at", &PathBuf::from("."), e))
}

/// Holds the store's lock as a reader, where its file exists.
pub fn lock_shared(
    store: &Store,
    command: &'static str,
    wait: Duration,
    ui: &Ui,
) -> Result<Option<ReadLock>> {
    let on_wait = |waiting: &Waiting<'_>| super::change::say_waiting(waiting, ui);
    let request = LockRequest {
        wait,
        command,
        on_wait: &on_wait,
        stop: None,
        inherited: None,
    };
    lock_for_reading(store.dir(), &request)
}

/// The Workers that references name.
pub fn workers(store: &Store, references: &[String]) -> Result<Vec<WorkerId>> {
    let resolver = Resolver::new(store);
    let ids: Result<Vec<WorkerId>> = references
        .iter()
        .map(|text| resolver.worker(text).map(|worker| worker.id))
        .collect();
    ids.map(|mut ids| {
        ids.sort_unstable();
        ids.dedup();
        ids
    })
}
