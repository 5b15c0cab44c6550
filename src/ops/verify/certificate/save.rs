//! A certificate that is written, entry by entry.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use blake3::Hasher;
use tempfile::NamedTempFile;

use super::MAGIC;
use crate::diag::{Error, Result};

/// A certificate under a temporary name beside its place. Dropped, it is gone.
pub(super) struct Saver {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    hasher: Hasher,
    count: u64,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<io::Error>,
}

impl Saver {
    /// Begins one; only its user may read it.
    pub fn begin(path: &Path, header: &[u8]) -> Result<Self> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(Error::io("write", path, io::ErrorKind::IsADirectory.into()));
        }
        let file = tempfile::Builder::new()
            .prefix(".wagg-certificate-")
            .tempfile_in(folder)
            .map_err(|e| Error::io("write", path, e))?;
        let mut this = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(128 * 1024, file),
            hasher: Hasher::new(),
            count: 0,
            failed: None,
        };
        this.raw(MAGIC);
        this.block(header);
        Ok(this)
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.hasher.update(bytes);
            self.failed = self.file.write_all(bytes).err();
        }
    }

    fn block(&mut self, bytes: &[u8]) {
        self.raw(&(bytes.len() as u32).to_le_bytes());
        self.raw(bytes);
    }

    /// Adds an entry.
    pub fn put(&mut self, entry: &[u8]) {
        self.block(entry);
        self.count += 1;
    }

    /// Puts it in its place, over what stands there.
    pub fn finish(mut self) -> Result<()> {
        self.block(&[]);
        self.raw(&self.count.to_le_bytes());
        let digest: [u8; 32] = self.hasher.finalize().into();
        self.raw(&digest);
        let path = self.path;
        let failed = |e| Error::io("write", &path, e);
        if let Some(e) = self.failed {
            return Err(failed(e));
        }
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        // Not synced: what a crash leaves of it is found out by its digest.
        file.persist(&path).map(drop).map_err(|e| failed(e.error))
    }
}
