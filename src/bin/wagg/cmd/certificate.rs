//! Where `verify` keeps what it knows of a store from one look to the next.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wagg::diag::{Code, Error, Result, hex};
use wagg::ops::verify::{Certificate, CertificateOptions, SETTLE};
use wagg::store::Store;

use super::output::{self, OutFile, Outputs};
use crate::env;
use crate::ui::Ui;

/// The flags of `verify` that are about certificates.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// Parse only what was appended since an earlier look, as it saved it with --save
    ///
    /// The part of each file that was read then is held against its digest. What differs in any way
    /// is read in full, and all is if STATE can not be used; the answer is that of a full look.
    #[arg(long, value_name = "STATE", conflicts_with_all = ["file", "quick", "cache"])]
    since: Option<PathBuf>,

    /// Take a file for unchanged if its inode, size and times are, and do not read it
    #[arg(long)]
    trust_mtime: bool,

    /// Save what a later look with --since needs; outside the store, may be the file of --since
    #[arg(long, value_name = "STATE", conflicts_with_all = ["file", "quick", "cache"])]
    save: Option<PathBuf>,

    /// As --since and --save with a file for this store in the user's cache folder
    #[arg(long, conflicts_with_all = ["file", "quick"])]
    cache: bool,
}

/// A certificate, and whether it may fail.
pub struct Kept {
    pub certificate: Certificate,
    /// A cache is for speed alone: what goes wrong with it is said and no more.
    optional: bool,
}

impl Flags {
    /// The file of --since.
    pub fn since(&self) -> Option<&PathBuf> {
        self.since.as_ref()
    }

    /// Where --save is to write, which may be the file of --since.
    pub fn place(&self, outputs: &mut Outputs) -> Result<Option<OutFile>> {
        let save = self.save.as_deref();
        save.map(|path| outputs.file(path, output::Kind::Certificate))
            .transpose()
    }

    /// Opens what the flags name; `save` is what [`Flags::place`] gave.
    pub fn open(
        &self,
        store: &Store,
        save: Option<OutFile>,
        max_line: u64,
        ui: &Ui,
    ) -> Result<Option<Kept>> {
        if self.trust_mtime && self.since.is_none() && !self.cache {
            return Err(Error::new(
                Code::Usage,
                "--trust-mtime says how far an earlier look counts, and none is named",
            )
            .hint("name one with --since STATE, or use --cache"));
        }
        let mut options = CertificateOptions {
            since: self.since.clone(),
            save: save.map(|file| file.place().to_owned()),
            trust_mtime: self.trust_mtime,
            settle: SETTLE,
            max_line,
        };
        if self.cache {
            let path = cached(store)?;
            options.since = Some(path.clone());
            options.save = Some(path);
        }
        if options.since.is_none() && options.save.is_none() {
            return Ok(None);
        }
        let certificate = match Certificate::open(store, options.clone()) {
            Err(e) if self.cache && e.code != Code::Usage => {
                warn(&e, ui);
                options.save = None;
                Certificate::open(store, options)?
            }
            opened => opened?,
        };
        Ok(Some(Kept {
            certificate,
            optional: self.cache,
        }))
    }
}

impl Kept {
    /// Puts the new certificate in its place.
    pub fn finish(self, ui: &Ui) -> Result<()> {
        match self.certificate.finish() {
            Err(e) if self.optional => {
                warn(&e, ui);
                Ok(())
            }
            done => done,
        }
    }
}

fn warn(e: &Error, ui: &Ui) {
    let cause = e
        .source
        .as_ref()
        .map_or_else(String::new, |source| format!(": {source}"));
    ui.warn(format!("the cache is not written: {}{cause}", e.message));
}

/// The file of a store in the user's cache folder, by the store's absolute path.
fn cached(store: &Store) -> Result<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    // A relative path in this variable is to be taken for none.
    let base = absolute(env::XDG_CACHE_HOME)
        .or_else(|| absolute(env::HOME).map(|home| home.join(".cache")))
        .ok_or_else(|| {
            Error::new(
                Code::Usage,
                "there is no cache folder: neither XDG_CACHE_HOME nor HOME names one",
            )
            .hint("name a file with --since STATE --save STATE")
        })?;
    let root =
        std::fs::canonicalize(store.path()).map_err(|e| Error::io("look at", store.path(), e))?;
    let key = hex(&Sha256::digest(root.as_os_str().as_bytes())[..16]);
    let folder = base.join("wagg").join("verify");
    make(store, &folder);
    Ok(folder.join(format!("{key}.state")))
}

/// Makes the cache's folder for its user alone. Where that fails, writing the file says so.
fn make(store: &Store, folder: &Path) {
    if Certificate::outside(store, &folder.join("x")).is_ok() {
        let _ = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
    }
}
