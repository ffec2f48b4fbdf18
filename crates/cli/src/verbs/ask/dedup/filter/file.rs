//! Writes the copy of one file of a corpus.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use simkeep::cluster::{Fate, PageLocation};
use simkeep_formats::raw::{self, CorpusFile, FileCompression, NamedText, RawLine, RawLines};
use simkeep_formats::{BrokenRecord, escape};

use super::FilterRun;
use super::answer::FilterCounts;
use super::jobs::FileJob;
use super::notes::{DocumentNote, FileNotes};
use super::walk::ReadCounter;
use crate::exit::{VerbError, print_message};
use crate::output::compressed_file::CompressedFile;

/// The size of the write buffer, in bytes.
const TOGETHER: usize = 256 << 10;

/// The copy of a file, and the shared state of the run.
pub(super) struct FileFilter<'r> {
    pub(super) run: &'r FilterRun<'r>,
    pub(super) job: &'r FileJob,
}

impl FileFilter<'_> {
    /// Writes the copy and moves it to its path.
    pub(super) fn write(&self) -> Result<FilterCounts, VerbError> {
        let mut read = self.run.walk.begin();
        match self.job.open(self.run.how.zstd_window, &read)? {
            CorpusFile::Lines(lines) => self.lines(*lines, &mut read),
            #[cfg(feature = "parquet")]
            CorpusFile::Parquet => {
                let counts = self.rows()?;
                read.publish_bytes(self.job.bytes);
                Ok(counts)
            }
            #[cfg(not(feature = "parquet"))]
            CorpusFile::Parquet => Err(self.job.no_parquet()),
        }
    }

    /// The path of the copy.
    fn to(&self) -> PathBuf {
        self.run.folder.join(&self.job.name)
    }

    /// The failure of writing the copy.
    pub(super) fn cannot_write(&self, e: &io::Error) -> VerbError {
        VerbError::Other(format!(
            "cannot write {}: {e}",
            escape::escape_untruncated(&self.to().to_string_lossy())
        ))
    }

    /// Begins the copy.
    pub(super) fn begin(&self, packing: FileCompression) -> Result<CompressedFile, VerbError> {
        let file = CompressedFile::packed(self.to(), packing);
        file.map_err(|e| self.cannot_write(&e))
    }

    /// Moves the copy to its path.
    pub(super) fn put(
        &self,
        file: CompressedFile,
        counts: FilterCounts,
    ) -> Result<FilterCounts, VerbError> {
        let file_bytes = file.put().map_err(|e| self.cannot_write(&e))?;
        Ok(FilterCounts { files: 1, file_bytes, ..counts })
    }

    /// Copies JSON lines.
    fn lines(
        &self,
        mut lines: RawLines,
        read: &mut ReadCounter<'_>,
    ) -> Result<FilterCounts, VerbError> {
        /// The number of lines between two updates of the progress, which also check for
        /// cancellation.
        const STEP: u64 = 64;
        let mut to = BufWriter::with_capacity(TOGETHER, self.begin(lines.packing())?);
        let (mut counts, mut number) = (FilterCounts::default(), 0_u64);
        let mut notes = self.run.notes.map(|notes| notes.of(self.job.number));
        while let Some(line) = lines.next_line().map_err(|e| self.job.broken(&e.to_string()))? {
            number += u64::from(!matches!(line, RawLine::GoesOn(_)));
            if number.is_multiple_of(STEP) {
                read.publish();
                self.run.walk.check()?;
            }
            let written = match line {
                RawLine::Whole(line) => {
                    let noted = self.noted(&mut notes, number)?;
                    match self.line(line, number, noted, &mut counts)? {
                        LineEdit::Unchanged => to.write_all(line),
                        LineEdit::Omitted => Ok(()),
                        LineEdit::Marked(line) => to.write_all(&line),
                    }
                }
                RawLine::TooLong(start) => {
                    counts.documents += 1;
                    self.broken(format!("line {number}"), "too long", &mut counts);
                    to.write_all(start)
                }
                RawLine::GoesOn(more) => to.write_all(more),
            };
            written.map_err(|e| self.cannot_write(&e))?;
        }
        read.publish();
        let file = to.into_inner().map_err(|e| self.cannot_write(e.error()))?;
        self.put(file, counts)
    }

    /// Returns the note about a document from the first pass.
    pub(super) fn noted(
        &self,
        notes: &mut Option<FileNotes<'_>>,
        number: u64,
    ) -> Result<Option<DocumentNote>, VerbError> {
        let noted = notes.as_mut().map(|notes| notes.get(number)).transpose();
        Ok(noted.map_err(|e| self.run.how.notes_error(&e))?.flatten())
    }

    /// Decides what to write of a line. `noted` is the note about it from the first pass.
    fn line(
        &self,
        line: &[u8],
        number: u64,
        noted: Option<DocumentNote>,
        counts: &mut FilterCounts,
    ) -> Result<LineEdit, VerbError> {
        let noted = noted.and_then(|note| note.place(line));
        // The first pass has read the name, and nothing else of the line is needed.
        if let Some(place) = noted {
            let is_dropped = self.run.dropped.has(place);
            if !is_dropped || !self.run.how.is_marked {
                counts.documents += 1;
                counts.left_out += u64::from(is_dropped);
                return Ok(if is_dropped { LineEdit::Omitted } else { LineEdit::Unchanged });
            }
        }
        let name = match raw::name(line, &self.run.how.keys) {
            Ok(None) => return Ok(LineEdit::Unchanged),
            Ok(Some(name)) => name,
            Err(why) => {
                counts.documents += 1;
                self.broken(format!("line {number}"), &why, counts);
                return Ok(LineEdit::Unchanged);
            }
        };
        counts.documents += 1;
        if !self.is_dropped(&name, noted, counts)? {
            return Ok(LineEdit::Unchanged);
        }
        if !self.run.how.is_marked {
            counts.left_out += 1;
            return Ok(LineEdit::Omitted);
        }
        counts.marked += 1;
        let (kept, distance) = self.original_of(&name)?;
        let marked = raw::marked(line, &kept, distance);
        let marked = marked.map_err(|why| self.job.broken(&format!("line {number}: {why}")))?;
        Ok(LineEdit::Marked(marked))
    }

    /// Whether a document is dropped. If it is not, counts the reason. If texts decide, `noted` is
    /// the page whose compared text the document has.
    pub(super) fn is_dropped(
        &self,
        name: &NamedText<'_>,
        noted: Option<PageLocation>,
        counts: &mut FilterCounts,
    ) -> Result<bool, VerbError> {
        if let Some(place) = noted {
            return Ok(self.run.dropped.has(place));
        }
        let digest = match self.run.dropped.fate(&name.url)? {
            Fate::Dropped { digest } => digest,
            Fate::Unknown => {
                counts.unknown += 1;
                return Ok(false);
            }
            _ => return Ok(false),
        };
        let is_other = match (self.run.notes, digest) {
            // Texts decide, and this text was not compared: it is another text, or an exact copy
            // without a fingerprint.
            (Some(_), compared) => compared.is_none() || name.digest() != compared,
            (None, _) if self.run.how.any_text => false,
            (None, None) => {
                counts.by_name += 1;
                false
            }
            (None, Some(compared)) => {
                let own = name.digest();
                counts.without_text += u64::from(own.is_none());
                own.is_some_and(|own| own != compared)
            }
        };
        if is_other {
            counts.other_text += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// The page that is kept in place of a dropped one, and its distance in bits.
    pub(super) fn original_of(&self, name: &NamedText<'_>) -> Result<(String, u32), VerbError> {
        let kept = self.run.dropped.kept_for(&name.url)?;
        let kept = kept.ok_or_else(|| {
            VerbError::Other("a page is dropped in favour of none; this is a bug".to_owned())
        })?;
        Ok((kept.url, kept.distance))
    }

    /// Counts a document that cannot be read, and prints a message, up to a limit.
    pub(super) fn broken(&self, at: String, why: &str, counts: &mut FilterCounts) {
        counts.broken += 1;
        let at = format!("{}, {at}", escape::escape_untruncated(&self.job.from.to_string_lossy()));
        let message = self.run.broken.lock().add(&BrokenRecord { at, why: why.to_owned() });
        message.iter().for_each(|message| print_message(message));
    }
}

/// The output for a line: unchanged, nothing, or with marks.
enum LineEdit {
    Unchanged,
    Omitted,
    Marked(Vec<u8>),
}
