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
use simkeep::cluster::{Candidates, Clusters, DroppedPages};
use simkeep_formats::escape::escape_untruncated;
use simkeep_formats::{DocumentKeys, ZstdWindow};

use super::options::DedupArgs;
use crate::exit::{VerbError, print_message};
use crate::input::complaints::ComplaintLog;
use crate::output::progress::counted;
use answer::FilterCounts;
pub(crate) use answer::FilterResult;
use file::FileFilter;
use jobs::{FileJobs, make_folder};
use notes::DocumentNotes;
use texts::TextSketching;
use walk::FileQueue;

/// The copying of a corpus.
pub(super) struct CorpusFilter {
    jobs: FileJobs,
    how: FilterOptions,
    threads: usize,
    /// The notes from the first pass, if there was one.
    notes: Option<DocumentNotes>,
}

/// The settings of a filter: the names of documents, and the treatment of dropped documents.
struct FilterOptions {
    keys: DocumentKeys,
    /// Whether dropped documents are marked instead of left out.
    is_marked: bool,
    /// Whether only names decide, not texts.
    any_text: bool,
    zstd_window: ZstdWindow,
    /// The directory for scratch files.
    scratch: PathBuf,
}

impl FilterOptions {
    /// The failure of a scratch file.
    fn notes_error(&self, e: &io::Error) -> VerbError {
        let folder = escape_untruncated(&self.scratch.to_string_lossy());
        VerbError::Other(format!("cannot use a scratch file in {folder}: {e}"))
    }
}

impl CorpusFilter {
    /// Prepares the reading and copying that the user asked for. Without `--to`, only texts are
    /// compared.
    ///
    /// # Errors
    ///
    /// If a file does not exist, a copy would replace one, or there is nothing to do with the files.
    pub(super) fn new(asked: &DedupArgs) -> Result<CorpusFilter, VerbError> {
        if asked.to.is_none() && asked.resemblance.is_none() {
            return Err(VerbError::Usage(
                "name a directory for the copies with --to, or compare the texts of the files with \
                 --resemblance 0.8"
                    .to_owned(),
            ));
        }
        let DedupArgs { filter, force, mark, any_text, url_key, text_key, reading, .. } = asked;
        let mut keys = DocumentKeys::default();
        for (key, said) in [(&mut keys.url, url_key), (&mut keys.text, text_key)] {
            said.iter().for_each(|said| key.clone_from(said));
        }
        let how = FilterOptions {
            keys,
            is_marked: *mark,
            any_text: *any_text,
            zstd_window: reading.zstd_window(),
            scratch: asked.asked.scratch(),
        };
        let jobs = FileJobs::new(filter)?;
        asked.to.as_deref().map_or(Ok(()), |to| jobs.check_copies(to, *force))?;
        Ok(CorpusFilter { jobs, how, threads: reading.threads(), notes: None })
    }

    /// Makes sketches of the texts of candidates, and notes the lines that contain these texts.
    /// Returns the number of sketches.
    pub(super) fn sketch(&mut self, candidates: &Candidates) -> Result<u64, VerbError> {
        let CorpusFilter { jobs, how, threads, .. } = &*self;
        // If there are few files, several threads process each of them.
        let each = (threads / jobs.len().max(1)).max(1);
        let notes =
            DocumentNotes::new(&how.scratch, jobs.len()).map_err(|e| how.notes_error(&e))?;
        let made = counted("bytes", jobs.bytes(), |done| {
            let walk = &FileQueue::new(jobs, done);
            walk.all(*threads, |job| {
                let failed = AtomicBool::new(false);
                let notes = &notes;
                TextSketching { walk, how, candidates, notes, job, threads: each, failed }.sketch()
            })
        })?;
        self.notes = Some(notes);
        Ok(made)
    }

    /// Writes all copies to a folder. `open` are the classes of pages that all may see.
    pub(super) fn run(
        self,
        folder: &Path,
        clusters: &Clusters,
        open: &Classes,
    ) -> Result<FilterCounts, VerbError> {
        let CorpusFilter { jobs, how, threads, notes } = self;
        let dropped = clusters.dropped(open)?;
        make_folder(folder)?;
        let broken = Mutex::new(ComplaintLog::kept());
        let counts = counted("bytes", jobs.bytes(), |done| {
            let walk = FileQueue::new(&jobs, done);
            let run = FilterRun {
                walk: &walk,
                how: &how,
                folder,
                dropped: &dropped,
                notes: notes.as_ref(),
                broken: &broken,
            };
            walk.all(threads, |job| FileFilter { run: &run, job }.write())
        });
        broken.lock().suppressed_message().iter().for_each(|message| print_message(message));
        counts
    }
}

/// The state that the threads of a run share.
struct FilterRun<'r> {
    walk: &'r FileQueue<'r>,
    how: &'r FilterOptions,
    /// The folder of the copies.
    folder: &'r Path,
    dropped: &'r DroppedPages<'r>,
    notes: Option<&'r DocumentNotes>,
    broken: &'r Mutex<ComplaintLog>,
}
