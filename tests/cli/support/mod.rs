//! What the tests of the command line share.

pub mod damage;
pub mod env;
pub mod log;
pub mod reference;
pub mod sample;
pub mod schema;
pub mod store;
pub mod tree;

#[allow(unused_imports, reason = "for helpers that take one")]
pub use env::{Output, TestEnv};
#[allow(unused_imports, reason = "for helpers that take one")]
pub use log::Log;
#[allow(unused_imports, reason = "for helpers that take one")]
pub use store::{Legacy, TestStore, TestWorker};

use std::path::{Path, PathBuf};

/// The folder of the source.
pub fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with this ending, sorted.
pub fn files_below(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = walkdir::WalkDir::new(dir)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file() && path.to_string_lossy().ends_with(ending))
        .collect();
    all.sort();
    all
}
