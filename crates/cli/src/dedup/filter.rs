//! A corpus, in the files in which it lies, without what is dropped.

mod answer;
mod file;
mod jobs;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Builder};

use parking_lot::Mutex;
use simkeep::cluster::{Clusters, Dropped};
use simkeep_archive::{Keys, ZstdWindow};

use super::Dedup;
use crate::exit::{Failure, say};
use crate::gauge::counted;
use crate::named::Named;
pub(crate) use answer::Answer;
use answer::Counts;
use file::Files;
use jobs::Jobs;

/// What is done with a corpus.
pub(super) struct Filter {
    jobs: Jobs,
    how: How,
    threads: usize,
}

/// What becomes of documents, and how they are named.
struct How {
    keys: Keys,
    /// Nothing is left out: what would be is marked.
    is_marked: bool,
    /// Names decide alone.
    any_text: bool,
    zstd_window: ZstdWindow,
}

impl Filter {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// If a file is not there, or one is in the way.
    pub(super) fn new(asked: &Dedup, to: &Path) -> Result<Filter, Failure> {
        let Dedup { filter, force, mark, any_text, id_key, text_key, reading, .. } = asked;
        let mut keys = Keys::default();
        for (key, said) in [(&mut keys.url, id_key), (&mut keys.text, text_key)] {
            said.iter().for_each(|said| key.clone_from(said));
        }
        let how =
            How { keys, is_marked: *mark, any_text: *any_text, zstd_window: reading.zstd_window() };
        Ok(Filter { jobs: Jobs::new(filter, to, *force)?, how, threads: reading.threads() })
    }

    /// Writes all files.
    pub(super) fn run(self, clusters: &Clusters) -> Result<Counts, Failure> {
        let Filter { jobs, how, threads } = self;
        let dropped = clusters.dropped()?;
        jobs.make_folder()?;
        let broken = Mutex::new(Named::kept());
        let work = |done: &AtomicU64| {
            let run = Run {
                jobs: &jobs,
                how: &how,
                dropped: &dropped,
                broken: &broken,
                next: AtomicUsize::new(0),
                stop: AtomicBool::new(false),
                done,
                ended: Mutex::new(Ok(Counts::default())),
            };
            run.all(threads.min(jobs.len()));
            run.ended.into_inner()
        };
        let counts = counted("bytes", jobs.bytes(), work);
        broken.lock().rest().iter().for_each(|message| say(message));
        counts
    }
}

/// Work on all files, shared by threads.
struct Run<'r> {
    jobs: &'r Jobs,
    how: &'r How,
    dropped: &'r Dropped<'r>,
    broken: &'r Mutex<Named>,
    /// The file that comes next.
    next: AtomicUsize,
    /// Whether a file failed.
    stop: AtomicBool,
    /// Bytes that were read.
    done: &'r AtomicU64,
    /// What was done, or the first failure.
    ended: Mutex<Result<Counts, Failure>>,
}

impl Run<'_> {
    /// Does all of it, on so many threads if they can be had.
    fn all(&self, threads: usize) {
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without a thread to be had the others do its work.
                let _ = Builder::new().spawn_scoped(scope, || self.some());
            }
            self.some();
        });
    }

    /// Does file after file, as long as there are some.
    fn some(&self) {
        while !self.stop.load(Ordering::Relaxed)
            && let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let counts = Files { run: self, job }.write();
            let mut ended = self.ended.lock();
            match (&mut *ended, counts) {
                (Ok(all), Ok(counts)) => *all += counts,
                (ended @ Ok(_), Err(failure)) => *ended = Err(failure),
                (Err(_), _) => {}
            }
            // Under the lock: those that end for it come after it.
            self.stop.store(ended.is_err(), Ordering::Relaxed);
        }
    }
}
