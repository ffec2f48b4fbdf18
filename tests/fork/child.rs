//! A forked process.

#![expect(unsafe_code, reason = "to fork is to have a process with half of what it thinks it has")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Far longer than any child takes; a longer run waits for a thread that does not exist.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of forks of a test; enough that some children stay alive.
pub(crate) fn forks() -> u64 {
    simkeep_testing::depth::deep(50).max(6)
}

/// A running child, which is killed when it is dropped.
pub(crate) struct ForkedChild(libc::pid_t);

/// Forks. The child continues here with `None`, and must call [end](end) before the test ends.
pub(crate) fn split() -> Option<ForkedChild> {
    // SAFETY: the child has one thread, and does only what any thread may do, except waiting for
    // others.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => None,
        child => Some(ForkedChild(child)),
    }
}

/// Ends the child without running the rest of the test.
pub(crate) fn end(well: bool) -> ! {
    // SAFETY: it ends the process without running anything that its threads had registered.
    unsafe { libc::_exit(i32::from(!well)) }
}

/// Forks. The child runs this function and ends; it has failed if the function panics.
pub(crate) fn fork(work: impl FnOnce()) -> ForkedChild {
    split().unwrap_or_else(|| end(catch_unwind(AssertUnwindSafe(work)).is_ok()))
}

/// Returns a second owner of a value, for a child that ends before the first one could notice.
pub(crate) fn copy_of<T>(value: &T) -> T {
    // SAFETY: only children call it, and they end without dropping the value a second time.
    unsafe { std::ptr::read(value) }
}

impl ForkedChild {
    /// Waits for the child, which must end successfully.
    pub(crate) fn end(self, what: &str) {
        let since = Instant::now();
        loop {
            let mut status = 0;
            // SAFETY: a child of this process for which nothing else waits.
            let ended = unsafe { libc::waitpid(self.0, &raw mut status, libc::WNOHANG) };
            if ended == self.0 {
                std::mem::forget(self);
                assert_eq!(status, 0, "{what}: it failed");
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{what}: it waits for ever");
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl Drop for ForkedChild {
    fn drop(&mut self) {
        // SAFETY: a child of this process for which nothing else waits.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// The files in a directory that this process has open.
pub(crate) fn open_files(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let files = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    files.filter(|file| file.starts_with(dir)).collect()
}
