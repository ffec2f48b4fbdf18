//! Runs this program again as another process, connected by a socket.

use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{crawl, full_disk, live, lock_removed, power, race, strace, truncated};

/// The environment variable with the role of the child and its arguments, one per line.
const VARIABLE: &str = "SIMKEEP_CHILD";

/// Far longer than anything that a child does takes; a child that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The entry point of a child process. Does nothing if it is run manually.
#[test]
#[ignore = "the other tests run this in a process of its own"]
fn begin() {
    let Ok(lines) = std::env::var(VARIABLE) else { return };
    let lines: Vec<&str> = lines.split('\n').collect();
    let stdin = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let parent = ParentSocket { socket: Arc::new(Mutex::new(UnixStream::from(stdin))) };
    let number = |text: &str| text.parse::<u64>().unwrap();
    match lines[..] {
        ["crawl", store, seed, from] => {
            crawl::crawl(&parent, Path::new(store), number(seed), number(from));
        }
        ["crawl much", store] => crawl::crawl_much(&parent, Path::new(store)),
        ["crawl long", store, url_bytes] => {
            crawl::crawl_long(&parent, Path::new(store), number(url_bytes));
        }
        ["fill", store, seed] => full_disk::fill(&parent, Path::new(store), number(seed)),
        ["full disk", dir, seed] => full_disk::stage(&parent, Path::new(dir), number(seed)),
        ["cut power", dir, seed] => power::stage(&parent, Path::new(dir), number(seed)),
        ["observe", store, batch] => live::observe(&parent, Path::new(store), number(batch)),
        ["hold", store] => race::hold(&parent, Path::new(store)),
        ["take turns", store, number_of_mine] => {
            race::take_turns(&parent, Path::new(store), number(number_of_mine));
        }
        ["create", store] => race::create(&parent, Path::new(store)),
        ["read", store] => truncated::read(&parent, Path::new(store)),
        ["write", store, from] => lock_removed::write(&parent, Path::new(store), number(from)),
        ["work", store] => strace::work(Path::new(store)),
        ["work around", store] => strace::work_around(Path::new(store)),
        _ => panic!("no role: {lines:?}"),
    }
}

/// The child's connection to the process that started it. If that process is gone, using the connection
/// panics, so no child is left behind.
#[derive(Clone)]
pub(crate) struct ParentSocket {
    socket: Arc<Mutex<UnixStream>>,
}

impl ParentSocket {
    /// Sends a line: it is on its way when this returns.
    pub(crate) fn say(&self, line: impl Display) {
        self.socket.lock().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits for the parent's signal to continue. Returns false if the parent has ended.
    pub(crate) fn await_word(&self) -> bool {
        let socket = self.socket.lock().unwrap().try_clone().unwrap();
        (&socket).read(&mut [0]).is_ok_and(|read| read == 1)
    }
}

/// A running child; dropping it kills it.
pub(crate) struct ChildProcess {
    process: std::process::Child,
    socket: UnixStream,
    heard: Vec<u8>,
}

impl ChildProcess {
    /// Starts a child with a role, and arguments as [`begin`] takes them.
    pub(crate) fn start(role: &str, arguments: &[&dyn Display]) -> ChildProcess {
        ChildProcess::start_under(&[], role, arguments)
    }

    /// Starts a child through other programs: their command line precedes the child's.
    pub(crate) fn start_under(
        under: &[&str],
        role: &str,
        arguments: &[&dyn Display],
    ) -> ChildProcess {
        let this = std::env::current_exe().unwrap();
        let mut line: Vec<&std::ffi::OsStr> = under.iter().map(|word| word.as_ref()).collect();
        line.push(this.as_os_str());
        let text = arguments.iter().fold(role.to_owned(), |text, more| format!("{text}\n{more}"));
        let (socket, theirs) = UnixStream::pair().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).args(["child::begin", "--exact", "--ignored", "--nocapture"]);
        command.env(VARIABLE, text).stdin(OwnedFd::from(theirs)).stdout(Stdio::null());
        let process = command.spawn().unwrap();
        ChildProcess { process, socket, heard: Vec::new() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the next line that the child sends, or `None` after its last.
    pub(crate) fn receive(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.heard_line() {
                return Some(line);
            }
            let mut bytes = [0; 4096];
            match self.socket.read(&mut bytes) {
                Ok(0) => return None,
                Ok(read) => self.heard.extend_from_slice(&bytes[..read]),
                // The child ended without reading the last signal.
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return None,
                Err(e) => panic!("the child says nothing more: {e}"),
            }
        }
    }

    fn heard_line(&mut self) -> Option<String> {
        let end = self.heard.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.heard.drain(..=end).take(end).collect();
        Some(String::from_utf8(line).unwrap())
    }

    /// Waits for an expected line.
    pub(crate) fn expect(&mut self, expected: &str) {
        assert_eq!(self.receive().as_deref(), Some(expected));
    }

    /// Returns what the child has sent so far, without waiting.
    pub(crate) fn said(&mut self) -> Vec<String> {
        self.socket.set_nonblocking(true).unwrap();
        let mut bytes = [0; 4096];
        loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => self.heard.extend_from_slice(&bytes[..read]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => panic!("the socket to a child: {e}"),
            }
        }
        self.socket.set_nonblocking(false).unwrap();
        std::iter::from_fn(|| self.heard_line()).collect()
    }

    /// Signals the child to go on.
    pub(crate) fn go_on(&mut self) {
        self.socket.write_all(b".").unwrap();
    }

    /// Kills the child, waits until it is gone, and returns what it had sent.
    pub(crate) fn kill(&mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.receive()).collect()
    }

    /// Waits for the child to end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // The process may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
