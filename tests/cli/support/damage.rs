//! Damage made by code. Lines count from 1, bytes from 0.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Where a line begins, and where its newline stands.
pub fn line_at(bytes: &[u8], line: usize) -> (usize, usize) {
    let mut start = 0;
    for _ in 1..line {
        start += 1 + bytes[start..].iter().position(|b| *b == b'\n').unwrap();
    }
    let end = bytes[start..]
        .iter()
        .position(|b| *b == b'\n')
        .map_or(bytes.len(), |n| start + n);
    (start, end)
}

/// Where a line of a file begins.
pub fn offset_of(path: &Path, line: usize) -> u64 {
    line_at(&std::fs::read(path).unwrap(), line).0 as u64
}

/// Takes bytes off the end.
pub fn cut(path: &Path, bytes: usize) {
    change(path, |all| all.truncate(all.len() - bytes));
}

/// Adds bytes at the end, as they are.
pub fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    change(path, |all| all.extend_from_slice(bytes.as_ref()));
}

/// Adds the start of a record that was never committed; gives its length.
pub fn torn_tail(path: &Path) -> usize {
    let tail = b"{\"kind\":\"assistant_item\",\"ts\":1700000099999,\"item\":{\"kind\":\"mess";
    append(path, tail);
    tail.len()
}

/// Turns over all bits of one byte.
pub fn flip(path: &Path, byte: usize) {
    change(path, |all| all[byte] ^= 0xff);
}

/// Puts bytes in at an offset.
pub fn insert(path: &Path, byte: usize, bytes: &[u8]) {
    change(path, |all| {
        all.splice(byte..byte, bytes.iter().copied());
    });
}

/// Puts NUL bytes before a line.
pub fn nul_run(path: &Path, line: usize, count: usize) {
    change(path, |all| {
        let at = line_at(all, line).0;
        all.splice(at..at, std::iter::repeat_n(0, count));
    });
}

/// Takes the newline away behind a line, so that it and the next stand on one.
pub fn glue(path: &Path, line: usize) {
    change(path, |all| {
        let end = line_at(all, line).1;
        all.remove(end);
    });
}

/// Puts the first bytes of a line before it, as when an append was cut and tried again.
pub fn splice(path: &Path, line: usize, bytes: usize) {
    change(path, |all| {
        let (start, end) = line_at(all, line);
        assert!(bytes < end - start);
        let stub = all[start..start + bytes].to_vec();
        all.splice(start..start, stub);
    });
}

/// Puts a byte order mark before everything.
pub fn byte_order_mark(path: &Path) {
    insert(path, 0, b"\xef\xbb\xbf");
}

/// Puts the escape of half a surrogate pair into the first text of a line; gives its offset.
pub fn lone_surrogate(path: &Path, line: usize) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let (start, end) = line_at(&bytes, line);
    let text = [&b"\"text\":\""[..], b"\"content\":\"", b"\"summary\":\""]
        .into_iter()
        .find_map(|key| {
            let at = bytes[start..end]
                .windows(key.len())
                .position(|w| w == key)?;
            Some(start + at + key.len())
        })
        .unwrap();
    insert(path, text, b"\\ud83c");
    text as u64
}

/// Puts something else in the place of a line.
pub fn replace_line(path: &Path, line: usize, with: impl AsRef<[u8]>) {
    change(path, |all| {
        let (start, end) = line_at(all, line);
        all.splice(start..end, with.as_ref().iter().copied());
    });
}

/// Puts a line before another.
pub fn insert_line(path: &Path, before: usize, line: impl AsRef<[u8]>) {
    change(path, |all| {
        let start = line_at(all, before).0;
        let mut bytes = line.as_ref().to_vec();
        bytes.push(b'\n');
        all.splice(start..start, bytes);
    });
}

/// Makes every line end in CR LF.
pub fn crlf(path: &Path) {
    change(path, |all| {
        *all = all
            .iter()
            .flat_map(|b| {
                if *b == b'\n' {
                    vec![b'\r', b'\n']
                } else {
                    vec![*b]
                }
            })
            .collect();
    });
}

/// Cuts a line inside a character of three bytes and commits it all the same.
pub fn broken_utf8(path: &Path, line: usize) {
    change(path, |all| {
        let (start, end) = line_at(all, line);
        let half = start + (end - start) / 2;
        all.splice(half..end, *b"\xe2\x80");
    });
}

/// Leaves the file without a byte.
pub fn empty(path: &Path) {
    std::fs::write(path, b"").unwrap();
}

/// Takes a file or an empty folder away.
pub fn remove(path: &Path) {
    if path.symlink_metadata().unwrap().is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

/// Puts a symbolic link there, in the place of what was.
pub fn symlink(path: &Path, target: impl AsRef<Path>) {
    if path.symlink_metadata().is_ok() {
        remove(path);
    }
    std::os::unix::fs::symlink(target, path).unwrap();
}

/// Puts a named pipe there, in the place of what was.
pub fn fifo(path: &Path) {
    if path.symlink_metadata().is_ok() {
        remove(path);
    }
    // the tool, since rustix has no mkfifo on every system
    let status = std::process::Command::new("mkfifo")
        .arg(path)
        .status()
        .unwrap();
    assert!(status.success());
}

/// Puts a socket there that nobody listens on.
pub fn dead_socket(path: &Path) {
    drop(UnixListener::bind(path).unwrap());
}

/// Sets the permission bits. Root reads everything all the same: see [`is_root`].
pub fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether permission bits mean nothing to this process.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Sets when a file was last written: seconds since 1970.
pub fn mtime(path: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    std::fs::File::open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

/// Copies a folder with all that is in it, links as links.
pub fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        let kind = entry.file_type();
        if kind.is_dir() {
            std::fs::create_dir_all(&target).unwrap();
        } else if kind.is_symlink() {
            let link = std::fs::read_link(entry.path()).unwrap();
            std::os::unix::fs::symlink(link, &target).unwrap();
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}
