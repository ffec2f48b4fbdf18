//! Processes the files of a corpus on several threads.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Builder};

use parking_lot::Mutex;

use super::jobs::{FileJob, FileJobs};
use crate::exit::VerbError;

/// The files, and the progress of all threads.
pub(super) struct FileQueue<'w> {
    jobs: &'w FileJobs,
    /// The index of the next file.
    next: AtomicUsize,
    /// Whether a file failed, so that all threads should stop.
    stop: AtomicBool,
    /// The number of bytes that were read.
    done: &'w AtomicU64,
}

impl<'w> FileQueue<'w> {
    pub(super) fn new(jobs: &'w FileJobs, done: &'w AtomicU64) -> FileQueue<'w> {
        FileQueue { jobs, next: AtomicUsize::new(0), stop: AtomicBool::new(false), done }
    }

    /// Processes all files with `one` on up to `threads` threads, or fewer if the system grants
    /// fewer. Returns the sum of the counts, or the first failure.
    pub(super) fn all<C: AddAssign + Default + Send>(
        &self,
        threads: usize,
        one: impl Fn(&FileJob) -> Result<C, VerbError> + Sync,
    ) -> Result<C, VerbError> {
        let ended = Mutex::new(Ok(C::default()));
        let some = || self.process_files(&one, &ended);
        thread::scope(|scope| {
            for _ in 1..threads.min(self.jobs.len()) {
                // If no thread can be started, the others do its work.
                let _ = Builder::new().spawn_scoped(scope, some);
            }
            some();
        });
        ended.into_inner()
    }

    /// Processes files until none is left or one failed.
    fn process_files<C: AddAssign>(
        &self,
        one: &impl Fn(&FileJob) -> Result<C, VerbError>,
        ended: &Mutex<Result<C, VerbError>>,
    ) {
        while !self.stop.load(Ordering::Relaxed)
            && let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let counts = one(job);
            let mut ended = ended.lock();
            match (&mut *ended, counts) {
                (Ok(all), Ok(counts)) => *all += counts,
                (ended @ Ok(_), Err(failure)) => *ended = Err(failure),
                (Err(_), _) => {}
            }
            // Set under the lock, so that files which stop because of it end after the one that
            // failed.
            self.stop.store(ended.is_err(), Ordering::Relaxed);
        }
    }

    /// Returns an error if another file failed.
    pub(super) fn check(&self) -> Result<(), VerbError> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(VerbError::Other("another file failed".to_owned())),
            false => Ok(()),
        }
    }

    /// Begins a file.
    pub(super) fn begin(&self) -> ReadCounter<'w> {
        ReadCounter { all: self.done, own: Arc::default(), seen: 0 }
    }
}

/// The number of bytes read from a file, published to the progress of all files.
pub(super) struct ReadCounter<'w> {
    all: &'w AtomicU64,
    own: Arc<AtomicU64>,
    seen: u64,
}

impl ReadCounter<'_> {
    /// The counter that the reader increments.
    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.own)
    }

    /// Publishes the bytes read so far.
    pub(super) fn publish(&mut self) {
        self.publish_bytes(self.own.load(Ordering::Relaxed));
    }

    /// Publishes that `now` bytes of the file were read.
    pub(super) fn publish_bytes(&mut self, now: u64) {
        self.all.fetch_add(now - self.seen, Ordering::Relaxed);
        self.seen = now;
    }
}
