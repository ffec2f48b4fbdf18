//! Writes the copy of one file of a corpus.

use std::io::{BufWriter, Write};

use simkeep::cluster::{Fate, PageLocation};
use simkeep_formats::raw::{self, Corpus, Name, Packing, RawLine, RawLines};
use simkeep_formats::{Broken, escape};

use super::Run;
use super::answer::Counts;
use super::jobs::Job;
use super::notes::{Note, Noted};
use super::walk::Read;
use crate::exit::{Failure, say};
use crate::output::packed::PackedFile;

/// The size of the write buffer, in bytes.
const TOGETHER: usize = 256 << 10;

/// The copy of a file, and the shared state of the run.
pub(super) struct Files<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) job: &'r Job,
}

impl Files<'_> {
    /// Writes the copy and moves it to its path.
    pub(super) fn write(&self) -> Result<Counts, Failure> {
        let mut read = self.run.walk.begin();
        match self.job.open(self.run.how.zstd_window, &read)? {
            Corpus::Lines(lines) => self.lines(*lines, &mut read),
            #[cfg(feature = "parquet")]
            Corpus::Parquet => {
                let counts = self.rows()?;
                read.tell_of(self.job.bytes);
                Ok(counts)
            }
            #[cfg(not(feature = "parquet"))]
            Corpus::Parquet => Err(self.job.no_parquet()),
        }
    }

    /// Begins the copy.
    pub(super) fn begin(&self, packing: Packing) -> Result<PackedFile, Failure> {
        let file = PackedFile::packed(self.job.to.clone(), packing);
        file.map_err(|e| self.job.cannot_write(&e))
    }

    /// Moves the copy to its path.
    pub(super) fn put(&self, file: PackedFile, counts: Counts) -> Result<Counts, Failure> {
        let file_bytes = file.put().map_err(|e| self.job.cannot_write(&e))?;
        Ok(Counts { files: 1, file_bytes, ..counts })
    }

    /// Copies JSON lines.
    fn lines(&self, mut lines: RawLines, read: &mut Read<'_>) -> Result<Counts, Failure> {
        /// The number of lines between two updates of the progress, which also check for
        /// cancellation.
        const STEP: u64 = 64;
        let mut to = BufWriter::with_capacity(TOGETHER, self.begin(lines.packing())?);
        let (mut counts, mut number) = (Counts::default(), 0_u64);
        let mut notes = self.run.notes.map(|notes| notes.of(self.job.number));
        while let Some(line) = lines.next_line().map_err(|e| self.job.broken(&e.to_string()))? {
            number += u64::from(!matches!(line, RawLine::GoesOn(_)));
            if number.is_multiple_of(STEP) {
                read.tell();
                self.run.walk.check()?;
            }
            let written = match line {
                RawLine::Whole(line) => {
                    let noted = self.noted(&mut notes, number)?;
                    match self.line(line, number, noted, &mut counts)? {
                        Written::AsItIs => to.write_all(line),
                        Written::Not => Ok(()),
                        Written::Marked(line) => to.write_all(&line),
                    }
                }
                RawLine::TooLong(start) => {
                    counts.documents += 1;
                    self.broken(format!("line {number}"), "too long", &mut counts);
                    to.write_all(start)
                }
                RawLine::GoesOn(more) => to.write_all(more),
            };
            written.map_err(|e| self.job.cannot_write(&e))?;
        }
        read.tell();
        let file = to.into_inner().map_err(|e| self.job.cannot_write(e.error()))?;
        self.put(file, counts)
    }

    /// Returns the note about a document from the first pass.
    pub(super) fn noted(
        &self,
        notes: &mut Option<Noted<'_>>,
        number: u64,
    ) -> Result<Option<Note>, Failure> {
        let noted = notes.as_mut().map(|notes| notes.get(number)).transpose();
        Ok(noted.map_err(|e| self.run.how.no_notes(&e))?.flatten())
    }

    /// Decides what to write of a line. `noted` is the note about it from the first pass.
    fn line(
        &self,
        line: &[u8],
        number: u64,
        noted: Option<Note>,
        counts: &mut Counts,
    ) -> Result<Written, Failure> {
        let noted = noted.and_then(|note| note.place(line));
        // The first pass has read the name, and nothing else of the line is needed.
        if let Some(place) = noted {
            let is_dropped = self.run.dropped.has(place);
            if !is_dropped || !self.run.how.is_marked {
                counts.documents += 1;
                counts.left_out += u64::from(is_dropped);
                return Ok(if is_dropped { Written::Not } else { Written::AsItIs });
            }
        }
        let name = match raw::name(line, &self.run.how.keys) {
            Ok(None) => return Ok(Written::AsItIs),
            Ok(Some(name)) => name,
            Err(why) => {
                counts.documents += 1;
                self.broken(format!("line {number}"), &why, counts);
                return Ok(Written::AsItIs);
            }
        };
        counts.documents += 1;
        if !self.is_dropped(&name, noted, counts)? {
            return Ok(Written::AsItIs);
        }
        if !self.run.how.is_marked {
            counts.left_out += 1;
            return Ok(Written::Not);
        }
        counts.marked += 1;
        let (kept, distance) = self.kept_for(&name)?;
        let marked = raw::marked(line, &kept, distance);
        let marked = marked.map_err(|why| self.job.broken(&format!("line {number}: {why}")))?;
        Ok(Written::Marked(marked))
    }

    /// Whether a document is dropped. If it is not, counts the reason. If texts decide, `noted` is
    /// the page whose compared text the document has.
    pub(super) fn is_dropped(
        &self,
        name: &Name<'_>,
        noted: Option<PageLocation>,
        counts: &mut Counts,
    ) -> Result<bool, Failure> {
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
        let is_other = match (self.run.notes, digest, name.digest()) {
            // Texts decide, and this text was not compared.
            (Some(_), ..) => true,
            (None, Some(compared), Some(own)) => !self.run.how.any_text && compared != own,
            _ => false,
        };
        if is_other {
            counts.other_text += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// The page that is kept in place of a dropped one, and its distance in bits.
    pub(super) fn kept_for(&self, name: &Name<'_>) -> Result<(String, u32), Failure> {
        let kept = self.run.dropped.kept_for(&name.url)?;
        let kept = kept.ok_or_else(|| {
            Failure::Other("a page is dropped in favour of none; this is a bug".to_owned())
        })?;
        Ok((kept.url, kept.distance))
    }

    /// Counts a document that cannot be read, and prints a message, up to a limit.
    pub(super) fn broken(&self, at: String, why: &str, counts: &mut Counts) {
        counts.broken += 1;
        let at = format!("{}, {at}", escape::whole(&self.job.from.to_string_lossy()));
        let message = self.run.broken.lock().add(&Broken { at, why: why.to_owned() });
        message.iter().for_each(|message| say(message));
    }
}

/// The output for a line: unchanged, nothing, or with marks.
enum Written {
    AsItIs,
    Not,
    Marked(Vec<u8>),
}
