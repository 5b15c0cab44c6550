//! Asks whether something answers on a run's socket (C13). A hint and a guard, never a proof.

use std::io;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::fs::{Dir, EntryKind};
use crate::layout::file;

/// What a run's socket says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There is no `worker.sock`.
    Absent,
    /// Something else has that name.
    NotASocket,
    /// A socket that nobody listens on: left by a run that ended.
    Silent,
    /// Somebody listens.
    Answers,
}

impl Answer {
    /// Says whether the run is to be treated as live.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Answers)
    }
}

/// Asks whether something answers on `worker.sock` in the folder of one run.
///
/// Connects, sends nothing and hangs up. Never waits: where all places in the listener's queue are
/// taken, there is a listener.
///
/// # Errors
/// It can not be told: no right to connect, or no way to name the socket. A writer treats that as
/// a refusal, a reader as unknown.
pub fn probe(run: &Dir) -> io::Result<Answer> {
    match run.try_stat(file::SOCKET)? {
        None => return Ok(Answer::Absent),
        Some(stat) if stat.kind != EntryKind::Socket => return Ok(Answer::NotASocket),
        Some(_) => {}
    }
    let address = SocketAddrUnix::new(socket_path(run)?)?;
    let socket = stream_socket()?;
    loop {
        return match rustix::net::connect(&socket, &address) {
            // Another type of socket is bound there: not a run, but somebody all the same.
            Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS | Errno::PROTOTYPE) => {
                Ok(Answer::Answers)
            }
            Err(Errno::CONNREFUSED | Errno::CONNRESET) => Ok(Answer::Silent),
            Err(Errno::INTR) => continue,
            Err(e @ Errno::NOENT) => match run.try_stat(file::SOCKET)? {
                None => Ok(Answer::Absent),
                // It is there and can not be named, as where /proc is not mounted.
                Some(_) => Err(e.into()),
            },
            Err(e) => Err(e.into()),
        };
    }
}

/// A path of the socket that is short and goes through the open folder, so that no link in the
/// path to the store can lead elsewhere and no length of it is too much.
#[cfg(target_os = "linux")]
fn socket_path(run: &Dir) -> io::Result<PathBuf> {
    let fd = run.as_fd().as_raw_fd();
    Ok(PathBuf::from(format!(
        "/proc/self/fd/{fd}/{}",
        file::SOCKET
    )))
}

/// The socket's full path; a system without `/proc` knows no other. One that is too long for a
/// socket's address is an error of making that.
#[cfg(not(target_os = "linux"))]
fn socket_path(run: &Dir) -> io::Result<PathBuf> {
    Ok(run.full_path().join(file::SOCKET))
}

#[cfg(target_os = "linux")]
fn stream_socket() -> io::Result<OwnedFd> {
    use rustix::net::SocketFlags;
    Ok(rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn stream_socket() -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    fn ask(path: &Path) -> Answer {
        probe(&Dir::open_root(path).unwrap()).unwrap()
    }

    /// C13: a listener answers; what a dead one left is not life.
    #[test]
    fn c13_tells_a_listener_from_a_leftover() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(ask(temp.path()), Answer::Absent);
        let socket = temp.path().join(file::SOCKET);
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(ask(temp.path()), Answer::Answers);
        drop(listener);
        assert_eq!(ask(temp.path()), Answer::Silent);
        std::fs::remove_file(&socket).unwrap();
        std::fs::write(&socket, b"").unwrap();
        assert_eq!(ask(temp.path()), Answer::NotASocket);
    }

    /// C13: never to a path that something else names.
    #[test]
    fn c13_a_link_to_a_socket_is_not_asked() {
        let temp = tempfile::tempdir().unwrap();
        let elsewhere = temp.path().join("elsewhere");
        let _listener = UnixListener::bind(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, temp.path().join(file::SOCKET)).unwrap();
        assert_eq!(ask(temp.path()), Answer::NotASocket);
    }

    /// C13: a listener that accepts nobody has a full queue at some point; asking does not wait.
    #[cfg(target_os = "linux")]
    #[test]
    fn c13_a_full_queue_answers_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let fd = stream_socket().unwrap();
        let address = SocketAddrUnix::new(temp.path().join(file::SOCKET)).unwrap();
        rustix::net::bind(&fd, &address).unwrap();
        rustix::net::listen(&fd, 0).unwrap();
        let run = Dir::open_root(temp.path()).unwrap();
        let begun = std::time::Instant::now();
        for _ in 0..8 {
            // The connections stay in the queue even after this end hung up.
            assert_eq!(probe(&run).unwrap(), Answer::Answers);
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn c13_no_path_is_too_long() {
        let temp = tempfile::tempdir().unwrap();
        let deep = temp.path().join("x".repeat(120)).join("y".repeat(120));
        std::fs::create_dir_all(&deep).unwrap();
        let run = Dir::open_root(&deep).unwrap();
        let _listener = UnixListener::bind(socket_path(&run).unwrap()).unwrap();
        assert_eq!(probe(&run).unwrap(), Answer::Answers);
    }
}
