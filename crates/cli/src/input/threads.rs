//! The number of threads to use.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

#[derive(Args, Clone, Copy)]
pub(crate) struct ThreadArgs {
    /// Threads that read, unpack and fingerprint [default: one per core]
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZeroUsize>,
}

impl ThreadArgs {
    pub(crate) fn count(self) -> usize {
        let cores = || thread::available_parallelism().ok();
        self.threads.or_else(cores).map_or(1, usize::from)
    }
}
