//! On how many threads the work is shared out.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

#[derive(Args, Clone, Copy)]
pub(crate) struct Threads {
    /// How many threads read, unpack and make fingerprints [default: one for each core]
    ///
    /// What comes out is the same for any number. With 1 there is no other thread, unless something is
    /// read that is no file: then one waits for it, and another stores what has come.
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZeroUsize>,
}

impl Threads {
    pub(crate) fn count(self) -> usize {
        let cores = || thread::available_parallelism().ok();
        self.threads.or_else(cores).map_or(1, usize::from)
    }
}
