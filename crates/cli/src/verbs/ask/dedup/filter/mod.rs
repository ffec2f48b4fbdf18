//! A corpus, in the files in which it lies, without what is dropped.

mod answer;
mod file;
mod jobs;
mod notes;
#[cfg(feature = "parquet")]
mod parquet;
mod texts;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use simkeep::Classes;
use simkeep::cluster::{Candidates, Clusters, Dropped};
use simkeep_formats::escape::whole;
use simkeep_formats::{Keys, ZstdWindow};

use super::options::Dedup;
use crate::exit::{Failure, say};
use crate::input::complaints::Named;
use crate::output::progress::counted;
pub(crate) use answer::Answer;
use answer::Counts;
use file::Files;
use jobs::Jobs;
use notes::Notes;
use texts::Texts;
use walk::Walk;

/// What is done with a corpus.
pub(super) struct Filter {
    jobs: Jobs,
    how: How,
    threads: usize,
    /// Those of making sketches, if that was done.
    notes: Option<Notes>,
}

/// What becomes of documents, and how they are named.
struct How {
    keys: Keys,
    /// Nothing is left out: what would be is marked.
    is_marked: bool,
    /// Names decide alone.
    any_text: bool,
    zstd_window: ZstdWindow,
    /// Where scratch files go.
    scratch: PathBuf,
}

impl How {
    /// Notes cannot be kept.
    fn no_notes(&self, e: &io::Error) -> Failure {
        let folder = whole(&self.scratch.to_string_lossy());
        Failure::Other(format!("a scratch file in {folder}: {e}"))
    }
}

impl Filter {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// If a file is not there, or one is in the way.
    pub(super) fn new(asked: &Dedup, to: &Path) -> Result<Filter, Failure> {
        let Dedup { filter, force, mark, any_text, url_key, text_key, reading, .. } = asked;
        let mut keys = Keys::default();
        for (key, said) in [(&mut keys.url, url_key), (&mut keys.text, text_key)] {
            said.iter().for_each(|said| key.clone_from(said));
        }
        let how = How {
            keys,
            is_marked: *mark,
            any_text: *any_text,
            zstd_window: reading.zstd_window(),
            scratch: asked.asked.scratch(),
        };
        let jobs = Jobs::new(filter, to, *force)?;
        Ok(Filter { jobs, how, threads: reading.threads(), notes: None })
    }

    /// Makes sketches of the texts that candidates want, and notes the lines in which these stand.
    /// Returns how many there are.
    pub(super) fn sketch(&mut self, candidates: &Candidates) -> Result<u64, Failure> {
        let Filter { jobs, how, threads, .. } = &*self;
        // Of few files each has several threads.
        let each = (threads / jobs.len().max(1)).max(1);
        let notes = Notes::new(&how.scratch, jobs.len()).map_err(|e| how.no_notes(&e))?;
        let made = counted("bytes", jobs.bytes(), |done| {
            let walk = &Walk::new(jobs, done);
            walk.all(*threads, |job| {
                let failed = AtomicBool::new(false);
                let notes = &notes;
                Texts { walk, how, candidates, notes, job, threads: each, failed }.sketch()
            })
        })?;
        self.notes = Some(notes);
        Ok(made)
    }

    /// Writes all files, where all may see pages of the classes in `open`.
    pub(super) fn run(self, clusters: &Clusters, open: &Classes) -> Result<Counts, Failure> {
        let Filter { jobs, how, threads, notes } = self;
        let dropped = clusters.dropped(open)?;
        jobs.make_folder()?;
        let broken = Mutex::new(Named::kept());
        let counts = counted("bytes", jobs.bytes(), |done| {
            let walk = Walk::new(&jobs, done);
            let run = Run {
                walk: &walk,
                how: &how,
                dropped: &dropped,
                notes: notes.as_ref(),
                broken: &broken,
            };
            walk.all(threads, |job| Files { run: &run, job }.write())
        });
        broken.lock().rest().iter().for_each(|message| say(message));
        counts
    }
}

/// Writing all files, shared by threads.
struct Run<'r> {
    walk: &'r Walk<'r>,
    how: &'r How,
    dropped: &'r Dropped<'r>,
    notes: Option<&'r Notes>,
    broken: &'r Mutex<Named>,
}
