//! A hermetic place to run `wagg` in: its own home and working folder, nothing inherited.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder with a home in it; gone when dropped.
pub struct TestEnv {
    root: TempDir,
}

impl TestEnv {
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("wagg-test-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self { root }
    }

    /// The folder that commands run in.
    pub fn dir(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A path in that folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir().join(name)
    }

    /// Writes a file in that folder, with the folders above it.
    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs `wagg` with these arguments.
    pub fn wagg<I>(&self, args: I) -> Output
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.prepare(args).run()
    }

    /// The same, to be set up further.
    pub fn prepare<I>(&self, args: I) -> Run
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wagg"));
        command
            .args(args)
            .current_dir(self.dir())
            .env_clear()
            .env("HOME", self.root.path().join("home"))
            .env("USER", "tester")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8");
        // without it a run that is measured for coverage writes its profile into the work folder
        if let Some(file) = std::env::var_os("LLVM_PROFILE_FILE") {
            command.env("LLVM_PROFILE_FILE", file);
        }
        Run {
            command,
            stdin: Vec::new(),
            root: self.root.path().to_owned(),
        }
    }
}

/// A run that has not begun.
#[must_use = "nothing runs before run()"]
pub struct Run {
    command: Command,
    stdin: Vec<u8>,
    root: PathBuf,
}

impl Run {
    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Runs in another folder.
    pub fn current_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Gives it this as its standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Hands out the command, for tests that hold on to the process.
    pub fn into_command(self) -> Command {
        self.command
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Output {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = self.stdin;
        // a process that reads nothing closes the pipe
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Output {
            raw: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            root: self.root,
        }
    }
}

/// What came of a run.
#[must_use = "look at the status, or say that it does not matter"]
pub struct Output {
    raw: Vec<u8>,
    /// All of standard error.
    pub stderr: String,
    /// The status; none if a signal ended it.
    pub code: Option<i32>,
    root: PathBuf,
}

impl Output {
    /// What comes of a command that was made elsewhere, without input.
    pub fn of(mut command: Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            raw: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            root: PathBuf::from("/nowhere"),
        }
    }

    /// All of standard output as text.
    #[track_caller]
    pub fn stdout(&self) -> &str {
        std::str::from_utf8(&self.raw).unwrap()
    }

    /// All of standard output.
    pub fn bytes(&self) -> &[u8] {
        &self.raw
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.raw).unwrap_or_else(|e| panic!("{e}\n{self}"))
    }

    /// Standard output as JSON, one value a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<serde_json::Value> {
        self.stdout()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}\n{self}")))
            .collect()
    }

    /// What stands under `error` in the last line of standard error.
    #[track_caller]
    pub fn error(&self) -> serde_json::Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        let mut value: serde_json::Value =
            serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}\n{self}"));
        value["error"].take()
    }

    /// Insists on a status.
    #[track_caller]
    pub fn status(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{self}");
        self
    }

    /// Insists on status 0 and nothing on standard error.
    #[track_caller]
    pub fn ok(self) -> Self {
        let this = self.status(0);
        assert!(this.stderr.is_empty(), "\n{this}");
        this
    }
}

/// Standard output, standard error and the status, with the temporary folder named `[ROOT]`.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.root.to_string_lossy();
        let clean = |text: &str| text.replace(&*root, "[ROOT]");
        write!(f, "{}", clean(&String::from_utf8_lossy(&self.raw)))?;
        writeln!(f, "----- stderr\n{}-----", clean(&self.stderr))?;
        match self.code {
            Some(code) => write!(f, "status {code}"),
            None => write!(f, "ended by a signal"),
        }
    }
}
