//! Makes sketches of the texts of a file that are to be compared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, Builder};

use parking_lot::Mutex;
use simkeep::cluster::{Candidacy, Candidates, PageLocation};
use simkeep::fingerprint::{BitSketch, BitSketcher};
use simkeep_formats::raw::{self, CorpusFile, NamedText, RawLine, RawLines};

use super::FilterOptions;
use super::jobs::FileJob;
use super::notes::{DocumentNote, DocumentNotes};
use super::walk::{FileQueue, ReadCounter};
use crate::exit::VerbError;

/// The size at which a chunk of lines is complete, in bytes. Longer lines are not put into chunks.
const TOGETHER: usize = 256 << 10;
/// The maximum number of lines in a chunk.
const LINES: usize = 4 << 10;
/// The maximum number of chunks that wait, per thread.
const WAITING: usize = 2;

/// A file whose texts are sketched.
pub(super) struct TextSketching<'t> {
    pub(super) walk: &'t FileQueue<'t>,
    pub(super) how: &'t FilterOptions,
    pub(super) candidates: &'t Candidates,
    pub(super) notes: &'t DocumentNotes,
    pub(super) job: &'t FileJob,
    /// The number of threads for this file.
    pub(super) threads: usize,
    /// Whether a thread failed.
    pub(super) failed: AtomicBool,
}

/// Consecutive whole lines.
#[derive(Default)]
struct LineChunk {
    bytes: Vec<u8>,
    /// The number of the first line.
    first: u64,
    /// The length of each line in bytes.
    lens: Vec<usize>,
}

/// The state of a thread that makes sketches: how many it has made, or why it stopped.
struct SketchWorker<'t> {
    texts: &'t TextSketching<'t>,
    sketcher: BitSketcher,
    /// The notes on the documents of the current chunk.
    noted: Vec<Option<DocumentNote>>,
    made: Result<u64, VerbError>,
}

impl TextSketching<'_> {
    /// Makes the sketches and returns their number. Skips broken documents, since the second pass
    /// will report them.
    pub(super) fn sketch(&self) -> Result<u64, VerbError> {
        let mut read = self.walk.begin();
        match self.job.open(self.how.zstd_window, &read)? {
            CorpusFile::Lines(lines) => self.lines(*lines, &mut read),
            #[cfg(feature = "parquet")]
            CorpusFile::Parquet => {
                let made = self.rows()?;
                read.publish_bytes(self.job.bytes);
                Ok(made)
            }
            #[cfg(not(feature = "parquet"))]
            CorpusFile::Parquet => Err(self.job.no_parquet()),
        }
    }

    /// Reads lines in this thread while other threads process them. If they do not keep up, this
    /// thread processes lines, too.
    fn lines(&self, lines: RawLines, read: &mut ReadCounter<'_>) -> Result<u64, VerbError> {
        let all = Mutex::new(Ok(0));
        let (to, from) = sync_channel(self.threads * WAITING);
        let from = Mutex::new(from);
        thread::scope(|scope| {
            for _ in 1..self.threads {
                // If no thread can be started, the reading thread does its work.
                let _ = Builder::new().spawn_scoped(scope, || {
                    let mut worker = SketchWorker::new(self);
                    worker.work_on(&from);
                    worker.end(&all);
                });
            }
            let mut worker = SketchWorker::new(self);
            if let Err(failure) = self.read(lines, read, &to, &mut worker) {
                worker.fail(failure);
            }
            drop(to);
            worker.work_on(&from);
            worker.end(&all);
        });
        all.into_inner()
    }

    fn read(
        &self,
        mut lines: RawLines,
        read: &mut ReadCounter<'_>,
        to: &SyncSender<LineChunk>,
        worker: &mut SketchWorker<'_>,
    ) -> Result<(), VerbError> {
        let (mut chunk, mut number) = (LineChunk::default(), 0_u64);
        while !self.failed.load(Ordering::Relaxed)
            && let Some(line) = lines.next_line().map_err(|e| self.job.broken(&e.to_string()))?
        {
            number += u64::from(!matches!(line, RawLine::GoesOn(_)));
            match line {
                RawLine::Whole(line) if line.len() < TOGETHER => {
                    chunk.add(line, number);
                    if chunk.bytes.len() < TOGETHER && chunk.lens.len() < LINES {
                        continue;
                    }
                }
                // A long line is processed here, so that waiting chunks stay within their bound.
                RawLine::Whole(line) => worker.lines(number, std::iter::once(line)),
                RawLine::TooLong(_) | RawLine::GoesOn(_) => {}
            }
            read.publish();
            self.walk.check()?;
            // A chunk has only consecutive lines, so it ends before the long line.
            if chunk.lens.is_empty() {
                continue;
            }
            match to.try_send(std::mem::take(&mut chunk)) {
                Ok(()) => {}
                Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) => {
                    worker.lines(chunk.first, chunk.lines());
                }
            }
        }
        read.publish();
        worker.lines(chunk.first, chunk.lines());
        Ok(())
    }

    #[cfg(feature = "parquet")]
    fn rows(&self) -> Result<u64, VerbError> {
        let (mut worker, mut first) = (SketchWorker::new(self), 1);
        for batch in self.job.documents(&self.how.keys)? {
            worker.noted.clear();
            for [url, text, _] in batch.map_err(|why| self.job.broken(&why))? {
                let name = raw::name_in_row(&self.how.keys, url, text).ok();
                let place = name.as_ref().and_then(|name| worker.sketch_document(name));
                let text = name.as_ref().and_then(NamedText::text);
                let note =
                    place.zip(text).map(|(place, text)| DocumentNote::of(text.as_bytes(), place));
                worker.noted.push(note);
            }
            worker.note(first);
            if worker.made.is_err() {
                break;
            }
            first += worker.noted.len() as u64;
            self.walk.check()?;
        }
        worker.made
    }
}

impl LineChunk {
    fn add(&mut self, line: &[u8], number: u64) {
        if self.lens.is_empty() {
            self.first = number;
            // Reserves the maximum at once, so that the buffer never moves.
            self.bytes.reserve_exact(2 * TOGETHER);
        }
        self.bytes.extend_from_slice(line);
        self.lens.push(line.len());
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lens.iter().scan(&*self.bytes, |rest, len| {
            let (line, more) = rest.split_at(*len);
            *rest = more;
            Some(line)
        })
    }
}

impl<'t> SketchWorker<'t> {
    fn new(texts: &'t TextSketching<'t>) -> SketchWorker<'t> {
        SketchWorker { texts, sketcher: BitSketcher::new(), noted: Vec::new(), made: Ok(0) }
    }

    /// Processes chunks until no more arrive.
    fn work_on(&mut self, from: &Mutex<Receiver<LineChunk>>) {
        // The block releases the lock, so that other threads can wait while this one works.
        while let Ok(chunk) = { from.lock().recv() } {
            self.lines(chunk.first, chunk.lines());
        }
    }

    /// Processes consecutive lines, and notes those whose texts are compared.
    fn lines<'l>(&mut self, first: u64, lines: impl Iterator<Item = &'l [u8]>) {
        self.noted.clear();
        for line in lines {
            if self.texts.failed.load(Ordering::Relaxed) {
                return;
            }
            let name = raw::name(line, &self.texts.how.keys).ok().flatten();
            let place = name.and_then(|name| self.sketch_document(&name));
            self.noted.push(place.map(|place| DocumentNote::of(line, place)));
        }
        self.note(first);
    }

    /// Stores the notes on consecutive documents. `first` is the number of the first document.
    fn note(&mut self, first: u64) {
        let TextSketching { notes, job, how, .. } = self.texts;
        if let Err(e) = notes.put(job.number, first, &self.noted) {
            self.fail(how.notes_error(&e));
        }
    }

    /// Makes a sketch of a document's text, if the text is a candidate. Returns the location of the
    /// candidate.
    fn sketch_document(&mut self, name: &NamedText<'_>) -> Option<PageLocation> {
        let made = self.made.as_mut().ok()?;
        match sketched(self.texts.candidates, name, &mut self.sketcher) {
            Ok(place) => {
                *made += u64::from(place.is_some());
                place
            }
            Err(failure) => {
                self.fail(failure);
                None
            }
        }
    }

    /// Records the first failure of this thread, and stops all others.
    fn fail(&mut self, failure: VerbError) {
        self.texts.failed.store(true, Ordering::Relaxed);
        if self.made.is_ok() {
            self.made = Err(failure);
        }
    }

    /// Adds the result of this thread to that of all threads.
    fn end(self, all: &Mutex<Result<u64, VerbError>>) {
        let mut all = all.lock();
        match (&mut *all, self.made) {
            (Ok(all), Ok(made)) => *all += made,
            (all @ Ok(_), failed) => *all = failed,
            (Err(_), _) => {}
        }
    }
}

/// Makes a sketch if the text is a candidate. Returns the location of the page.
fn sketched(
    candidates: &Candidates,
    name: &NamedText<'_>,
    sketcher: &mut BitSketcher,
) -> Result<Option<PageLocation>, VerbError> {
    let Candidacy::Candidate { location: place, digest } = candidates.candidacy(&name.url)? else {
        return Ok(None);
    };
    let is_it = digest.is_none() || digest == name.digest();
    let text = name.text().filter(|_| is_it);
    // A text without words resembles no other text. Its sketch, which another text gets too, says
    // that the files have the document, but not the text in force. So no other text is dropped in
    // favour of this document.
    let sketch = text.map(|text| sketcher.of_text(text)).unwrap_or_default();
    candidates.add(place, sketch)?;
    Ok((sketch != BitSketch::default()).then_some(place))
}
