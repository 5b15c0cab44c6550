//! How commands get at a store.

use std::path::PathBuf;

use wagg::diag::{Error, Result};
use wagg::store::{Store, Wanted};

use crate::ui::Ui;

/// The store that was named, else the nearest one upwards from here.
pub fn find(ui: &Ui) -> Result<Store> {
    let wanted = match ui.store() {
        Some(path) => Wanted::Named(path.to_owned()),
        None => Wanted::Upwards(here()?),
    };
    Store::find(&wanted)
}

fn here() -> Result<PathBuf> {
    std::env::current_dir().map_err(|e| Error::io("look at", &PathBuf::from("."), e))
}
