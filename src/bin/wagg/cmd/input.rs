//! Files that a person hands to a command; `-` is standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use wagg::diag::{Code, Error, Locus, Result};
use wagg::ops::segment::{Input, MAX_INPUT};

/// Reads a file to its end.
pub fn read(path: &Path) -> Result<Input> {
    let io = |e| Error::io("read", path, e);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        take(io::stdin().lock(), &mut bytes)
    } else {
        File::open(path).and_then(|file| take(file, &mut bytes))
    }
    .map_err(io)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(too_large(path, MAX_INPUT));
    }
    Ok(Input::new(path, bytes))
}

/// The same, of a file that may not have been named.
pub fn maybe(path: Option<&Path>) -> Result<Option<Input>> {
    path.map(read).transpose()
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
pub fn too_large(path: &Path, most: u64) -> Error {
    Error::new(
        Code::BadInput,
        format!("{} is over the limit of {most} bytes", path.display()),
    )
    .at(Locus::file(path))
    .hint("hand over less at once")
}

fn take(from: impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    from.take(MAX_INPUT + 1).read_to_end(bytes)
}
