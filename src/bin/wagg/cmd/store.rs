//! How commands get at a store.

use std::path::PathBuf;
use std::time::Duration;

use wagg::diag::{Error, Result};
use wagg::layout::WorkerId;
use wagg::ops::resolve::Resolver;
use wagg::store::{LockRequest, ReadLock, Store, Waiting, Wanted, lock_for_reading};

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

fn here() -> Result<PathBuf> {
    std::env::current_dir().map_err(|e| Error::io("look at", &PathBuf::from("."), e))
}

/// Holds the store's lock as a reader, where its file exists.
pub fn lock_shared(store: &Store, ui: &Ui) -> Result<Option<ReadLock>> {
    let on_wait = |waiting: &Waiting<'_>| super::change::say_waiting(waiting, ui);
    let request = LockRequest {
        wait: Duration::from_secs(10),
        command: "verify",
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
