//! Copies the files of a corpus without the dropped documents.

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

/// The copying of a corpus.
pub(super) struct Filter {
    jobs: Jobs,
    how: How,
    threads: usize,
    /// The notes from the first pass, if there was one.
    notes: Option<Notes>,
}

/// The settings of a filter: the names of documents, and the treatment of dropped documents.
struct How {
    keys: Keys,
    /// Whether dropped documents are marked instead of left out.
    is_marked: bool,
    /// Whether only names decide, not texts.
    any_text: bool,
    zstd_window: ZstdWindow,
    /// The directory for scratch files.
    scratch: PathBuf,
}

impl How {
    /// The failure of a scratch file.
    fn no_notes(&self, e: &io::Error) -> Failure {
        let folder = whole(&self.scratch.to_string_lossy());
        Failure::Other(format!("a scratch file in {folder}: {e}"))
    }
}

impl Filter {
    /// Prepares the copying that the user asked for.
    ///
    /// # Errors
    ///
    /// If a file does not exist, or a copy would replace one.
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

    /// Makes sketches of the texts of candidates, and notes the lines that contain these texts.
    /// Returns the number of sketches.
    pub(super) fn sketch(&mut self, candidates: &Candidates) -> Result<u64, Failure> {
        let Filter { jobs, how, threads, .. } = &*self;
        // If there are few files, several threads process each of them.
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

    /// Writes all copies. `open` are the classes of pages that all may see.
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

/// The state that the threads of a run share.
struct Run<'r> {
    walk: &'r Walk<'r>,
    how: &'r How,
    dropped: &'r Dropped<'r>,
    notes: Option<&'r Notes>,
    broken: &'r Mutex<Named>,
}
