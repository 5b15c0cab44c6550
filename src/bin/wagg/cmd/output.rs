//! Files that a person names for output. Every one goes through here, so that no command that only
//! reads can write over a history: where a file may lie, and what it may replace, is looked at
//! before the work begins, and what is written comes whole or not at all.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::Access;
use wagg::diag::{Code, Error, IoContext, Locus, Result};
use wagg::layout::{Paths, file};
use wagg::ops::verify::Certificate;
use wagg::store::fs::beside;

/// What a file is to be, which says what it may replace: a file of that kind, or an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A report, or a plan of repair.
    Report,
    /// What `verify --save` writes.
    Certificate,
    /// A page of the manual.
    Page,
}

/// How much of a file is read to tell its kind.
const HEAD: u64 = 4096;

impl Kind {
    /// Whether a file that begins like this is one of wagg's own.
    fn wrote(self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        match self {
            _ if head.is_empty() => true,
            Self::Certificate => Certificate::is_one(head),
            Self::Page => text.contains("\n.TH wagg") && text.contains("\"wagg manual\""),
            Self::Report => {
                let tight: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let sarif = tight.starts_with("{\"$schema\":")
                    && tight.contains("\"version\":\"2.1.0\"")
                    && tight.contains("{\"driver\":{\"name\":\"wagg\",");
                let junit = tight.starts_with("<?xml") && tight.contains("<testsuitesname=\"wagg");
                tight.starts_with("{\"schema\":\"wagg.") || sarif || junit
            }
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Report => "no report or plan of wagg's own",
            Self::Certificate => "no state that wagg verify saved",
            Self::Page => "no page of wagg's manual",
        }
    }
}

/// What the files of one command must keep clear of.
#[derive(Debug, Default)]
pub struct Outputs {
    /// Folders, with what they are.
    roots: Vec<(PathBuf, &'static str)>,
    inputs: Vec<PathBuf>,
    /// Where what was named before goes.
    taken: Vec<PathBuf>,
}

impl Outputs {
    /// Of a command that works on this store.
    pub fn of(store: &Path) -> Self {
        Self::default().beside(store, "the store")
    }

    /// The same, and out of this folder.
    pub fn beside(mut self, folder: &Path, what: &'static str) -> Self {
        self.roots.push((folder.to_owned(), what));
        self
    }

    /// The same, and none of these files that the command reads.
    pub fn not<'a>(mut self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.inputs.extend(inputs.into_iter().cloned());
        self
    }

    /// Takes a name for a file to be written later.
    ///
    /// # Errors
    /// `usage` if something must not be written there; what the system says of the place.
    pub fn file(&mut self, path: &Path, kind: Kind) -> Result<OutFile> {
        self.look(path, kind).map_err(Error::given)
    }

    fn look(&mut self, path: &Path, kind: Kind) -> Result<OutFile> {
        if path == Path::new("-") {
            return Err(refused(
                path,
                "is no name of a file to write: the answer on standard output is that of --format",
                "name a file; one that is called - is ./-",
            ));
        }
        // First, so that it is what is said of a folder in a store that is not there yet.
        self.clear(path, &real_folder(parent(path), path)?)?;
        let place = Place::find(path)?;
        self.clear(path, &place.real)?;
        if let Some(input) = self.inputs.iter().find(|input| place.is(input)) {
            return Err(refused(
                path,
                format!("is {}, which this command reads", input.display()),
                "name another file",
            ));
        }
        place.may_be_replaced(path, kind)?;
        if place.way == Way::Replace {
            if self.taken.contains(&place.real) {
                return Err(refused(path, "is named twice", "name a file for each"));
            }
            self.taken.push(place.real.clone());
        }
        Ok(OutFile {
            path: path.to_owned(),
            kind,
            place,
        })
    }

    /// Whether files may be made in this folder, which may not be there yet.
    ///
    /// # Errors
    /// `usage` if it lies in a store.
    pub fn folder(&self, dir: &Path) -> Result<()> {
        real_folder(dir, dir)
            .and_then(|real| self.clear(dir, &real))
            .map_err(Error::given)
    }

    /// The same of a folder that may be a store itself.
    pub fn root(&self, dir: &Path) -> Result<()> {
        match real_folder(dir, dir)? {
            real if is_store(&real) => Ok(()),
            real => self.clear(dir, &real),
        }
    }

    /// Refuses what lies in one of the folders or in any store.
    fn clear(&self, path: &Path, real: &Path) -> Result<()> {
        let hint = "name a place outside of it";
        for above in real.ancestors() {
            let Ok(met) = above.metadata() else { continue };
            if let Some((_, what)) = self.roots.iter().find(|(root, _)| same(root, &met)) {
                return Err(refused(path, format!("lies in {what}"), hint));
            }
            if is_store(above) {
                let told = format!("lies in the store {}", above.display());
                return Err(refused(path, told, hint));
            }
        }
        Ok(())
    }
}

/// Whether a folder is a store, or one that lost its catalog.
fn is_store(folder: &Path) -> bool {
    folder.join(file::WORKERS).is_dir()
        && (folder.join(file::RUNTIME).symlink_metadata().is_ok()
            || folder.join(Paths::wagg()).is_dir())
}

/// Whether a path leads to what this is of.
fn same(path: &Path, met: &Metadata) -> bool {
    path.metadata()
        .is_ok_and(|other| (other.dev(), other.ino()) == (met.dev(), met.ino()))
}

fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A path without links, as far as there is anything. `named` is what a person called it.
fn real_folder(dir: &Path, named: &Path) -> Result<PathBuf> {
    let whole = std::path::absolute(dir).io("look from", dir)?;
    for above in whole.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = whole.strip_prefix(above).unwrap_or(Path::new(""));
            if rest.components().any(|part| part == Component::ParentDir) {
                let told = "goes up from a folder that is not there";
                return Err(refused(named, told, "name it without .."));
            }
            return Ok(real.join(rest));
        }
    }
    Ok(whole)
}

fn refused(path: &Path, what: impl std::fmt::Display, hint: &str) -> Error {
    Error::new(Code::Usage, format!("{} {what}", path.display()))
        .at(Locus::file(path))
        .hint(hint)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A new file under a temporary name, renamed over what stands there.
    Replace,
    /// What stands there takes the bytes and stays what it is: a device, a pipe.
    Through,
    /// What stands there is the standard output of this process.
    Stdout,
}

#[derive(Debug)]
struct Place {
    /// Without links.
    real: PathBuf,
    way: Way,
    /// What stands there.
    met: Option<Metadata>,
}

impl Place {
    fn find(path: &Path) -> Result<Self> {
        let look = |e| Error::io("look at", path, e);
        let Some(name) = path.file_name() else {
            return Err(refused(path, "is a folder", "name a file"));
        };
        let write = |e| Error::io("write", path, e);
        let folder = parent(path).canonicalize().map_err(write)?;
        if !folder.is_dir() {
            return Err(write(io::ErrorKind::NotADirectory.into()));
        }
        let own = folder.join(name);
        let met = match own.metadata() {
            Ok(met) => Some(met),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(look(e)),
        };
        let link = own.symlink_metadata().is_ok_and(|met| met.is_symlink());
        let way = match &met {
            None if link => {
                let told = "is a link to what is not there";
                return Err(refused(path, told, "name the file itself"));
            }
            Some(met) if met.is_dir() => return Err(refused(path, "is a folder", "name a file")),
            Some(met) if met.file_type().is_socket() || met.file_type().is_block_device() => {
                let told = "is no file, and nothing that takes a text";
                return Err(refused(path, told, "name another file"));
            }
            Some(met) if !met.is_file() || (link && is_of_descriptors(&folder)) => {
                if is_stdout(met) {
                    Way::Stdout
                } else {
                    Way::Through
                }
            }
            _ => Way::Replace,
        };
        let real = match own.canonicalize() {
            Ok(real) if link => real,
            _ => own,
        };
        Ok(Self { real, way, met })
    }

    /// Refuses a file that a person made: what is overwritten is gone.
    fn may_be_replaced(&self, path: &Path, kind: Kind) -> Result<()> {
        if self.way != Way::Replace {
            return Ok(());
        }
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        rustix::fs::access(folder, Access::WRITE_OK)
            .map_err(|e| Error::io("write", path, e.into()))?;
        if self.met.is_none() {
            return Ok(());
        }
        let mut head = Vec::new();
        File::open(&self.real)
            .and_then(|file| file.take(HEAD).read_to_end(&mut head))
            .map_err(|e| Error::io("read", path, e))?;
        if kind.wrote(&head) {
            return Ok(());
        }
        let told = format!("is there and is {}", kind.noun());
        Err(refused(path, told, "remove it first, or name another file"))
    }

    /// Whether it is that file, under whatever name.
    fn is(&self, input: &Path) -> bool {
        match &self.met {
            Some(met) => !met.file_type().is_char_device() && same(input, met),
            None => false,
        }
    }
}

/// Whether the links of a folder stand for what a process has open: `/dev/stdout`, `/dev/fd/3`.
fn is_of_descriptors(folder: &Path) -> bool {
    folder == Path::new("/dev") || folder == Path::new("/dev/fd") || folder.starts_with("/proc")
}

/// Whether it is where standard output goes, if that is a pipe or a file.
fn is_stdout(met: &Metadata) -> bool {
    let out = io::stdout().as_fd().try_clone_to_owned();
    !met.file_type().is_char_device()
        && out
            .and_then(|out| File::from(out).metadata())
            .is_ok_and(|out| (out.dev(), out.ino()) == (met.dev(), met.ino()))
}

/// A file that may be written.
#[derive(Debug)]
pub struct OutFile {
    path: PathBuf,
    kind: Kind,
    place: Place,
}

impl OutFile {
    /// Where it is, for what writes it by itself: without links where it is replaced.
    pub fn place(&self) -> &Path {
        match self.place.way {
            Way::Replace => &self.place.real,
            Way::Through | Way::Stdout => &self.path,
        }
    }

    /// Writes all of it, whole or not at all.
    ///
    /// # Errors
    /// What the system says; `usage` if another file has come to stand there meanwhile.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.put(bytes).map_err(Error::given)
    }

    fn put(&self, bytes: &[u8]) -> Result<()> {
        let failed = |e| Error::io("write", &self.path, e);
        match self.place.way {
            Way::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Way::Through => OpenOptions::new()
                .append(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(bytes)),
            Way::Replace => {
                let now = Place::find(&self.place.real)?;
                if now.way != Way::Replace {
                    let told = "has become something else meanwhile";
                    return Err(refused(&self.path, told, "name another file"));
                }
                now.may_be_replaced(&self.path, self.kind)?;
                replace(&now, bytes)
            }
        }
        .map_err(failed)
    }
}

fn replace(place: &Place, bytes: &[u8]) -> io::Result<()> {
    let folder = place.real.parent().unwrap_or(Path::new("/"));
    // Where nothing stood, the umask takes its part of this.
    let mut file = beside(folder, ".wagg-output-", 0o666)?;
    if let Some(met) = &place.met {
        let mode = Permissions::from_mode(met.mode() & 0o7777);
        file.as_file().set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.persist(&place.real).map(drop).map_err(|e| e.error)
}
