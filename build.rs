//! Gives the library a fingerprint of its own source, so that what one build judged is never taken
//! for what another would.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for name in [
        "src/layout",
        "src/diag",
        "src/record",
        "src/store",
        "src/ops",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={name}");
        add(Path::new(name), &mut hasher)?;
    }
    println!(
        "cargo::rustc-env=SOURCE_FINGERPRINT={:016x}",
        hasher.finish()
    );
    Ok(())
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    // A package may come without its lock file.
    if !path.exists() {
        return Ok(());
    }
    if !path.is_dir() {
        path.to_string_lossy().hash(hasher);
        std::fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let mut entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    entries
        .iter()
        .try_for_each(|entry| add(&entry.path(), hasher))
}
