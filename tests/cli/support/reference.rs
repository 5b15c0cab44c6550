//! Where the reference corpus is: no part of this source, so tests over it say aloud that they are
//! skipped where it is absent. The library's tests take this file too.

use std::path::{Path, PathBuf};

/// The corpus, if it is here: where `WAGG_REFERENCE_CORPUS` says, else beside the project.
#[allow(clippy::print_stderr, reason = "what is passed over is said aloud")]
pub fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("WAGG_REFERENCE_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/reference-v1"),
        PathBuf::from,
    );
    if dir.join("README.md").exists() {
        return Some(dir);
    }
    eprintln!("SKIPPED: no reference corpus; set WAGG_REFERENCE_CORPUS");
    None
}
