//! Files that a person hands to a command; `-` is standard input. Every one that is read as a whole
//! is read here, so that none takes all memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use wagg::diag::{Code, Error, Locus, Result};
use wagg::ops::segment::Input;
pub use wagg::ops::segment::MAX_INPUT;

/// Reads a file to its end.
pub fn read(path: &Path) -> Result<Input> {
    Ok(Input::new(path, bytes(path, MAX_INPUT)?))
}

/// The same, of a file that may not have been named.
pub fn maybe(path: Option<&Path>) -> Result<Option<Input>> {
    path.map(read).transpose()
}

/// The bytes of a file that holds at most so many, and at most [`MAX_INPUT`].
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let most = most.min(MAX_INPUT);
    // What says its size is not read in vain; what does not, or grows, is read up to the limit.
    if path != Path::new("-") && path.metadata().is_ok_and(|met| met.len() > most) {
        return Err(too_large(path, most));
    }
    let mut bytes = Vec::new();
    open(path)
        .and_then(|from| from.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| Error::io("read", path, e).given())?;
    if bytes.len() as u64 > most {
        return Err(too_large(path, most));
    }
    Ok(bytes)
}

/// A file to be read piece by piece.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path)?)
    })
}

/// Refuses standard input for more than one file: the second would find it empty.
pub fn one_stdin(paths: &[Option<&Path>]) -> Result<()> {
    let named = paths.iter().flatten().filter(|p| **p == Path::new("-"));
    if named.count() > 1 {
        return Err(
            Error::new(Code::Usage, "standard input can stand for one file only")
                .hint("put the others into files"),
        );
    }
    Ok(())
}

/// The refusal of an input over a limit in bytes.
fn too_large(path: &Path, most: u64) -> Error {
    Error::new(
        Code::BadInput,
        format!("{} is over the limit of {most} bytes", path.display()),
    )
    .at(Locus::file(path))
    .hint("hand over less at once")
}
