//! Which process this is.
//!
//! A fork makes another process with a copy of all memory and none of the threads: what another
//! thread was changing stays half changed there, what it had locked stays locked, and its files are
//! those of the first process.

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The current process. Costs a system call, some 0.1 µs.
    pub(crate) fn current() -> Process {
        Process(std::process::id())
    }

    /// Whether it is this one. Costs the same.
    pub(crate) fn is_current(self) -> bool {
        self == Process::current()
    }
}

impl Default for Process {
    fn default() -> Process {
        Process::current()
    }
}
