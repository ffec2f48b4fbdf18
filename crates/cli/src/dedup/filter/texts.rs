//! Sketches of the texts of a file that are compared.

use simkeep::cluster::{Candidacy, Candidates};
use simkeep::fingerprint::BitSketcher;
use simkeep_archive::raw::{self, Corpus, Name, RawLine, RawLines};

use super::How;
use super::jobs::Job;
use super::walk::{Read, Walk};
use crate::exit::Failure;

/// A file whose texts are read.
pub(super) struct Texts<'t> {
    walk: &'t Walk<'t>,
    how: &'t How,
    candidates: &'t Candidates,
    job: &'t Job,
    sketcher: BitSketcher,
    /// How many sketches were made.
    count: u64,
}

impl<'t> Texts<'t> {
    pub(super) fn new(
        walk: &'t Walk<'t>,
        how: &'t How,
        candidates: &'t Candidates,
        job: &'t Job,
    ) -> Texts<'t> {
        Texts { walk, how, candidates, job, sketcher: BitSketcher::new(), count: 0 }
    }

    /// Makes all sketches. Returns how many there are. What is broken is passed over: the copying tells
    /// of it.
    pub(super) fn sketch(mut self) -> Result<u64, Failure> {
        let mut read = self.walk.begin();
        match self.job.open(self.how.zstd_window, &read)? {
            Corpus::Lines(lines) => self.lines(*lines, &mut read)?,
            #[cfg(feature = "parquet")]
            Corpus::Parquet => {
                self.rows()?;
                read.tell_of(self.job.bytes);
            }
            #[cfg(not(feature = "parquet"))]
            Corpus::Parquet => return Err(self.job.no_parquet()),
        }
        Ok(self.count)
    }

    fn lines(&mut self, mut lines: RawLines, read: &mut Read<'_>) -> Result<(), Failure> {
        while let Some(line) = lines.next_line().map_err(|e| self.job.broken(&e.to_string()))? {
            if let RawLine::Whole(line) = line
                && let Ok(Some(name)) = raw::name(line, &self.how.keys)
            {
                self.see(&name)?;
            }
            read.tell();
            self.walk.check()?;
        }
        Ok(())
    }

    #[cfg(feature = "parquet")]
    fn rows(&mut self) -> Result<(), Failure> {
        for batch in self.job.documents(&self.how.keys)? {
            for [url, text, _] in batch.map_err(|why| self.job.broken(&why))? {
                if let Ok(name) = raw::name_in_row(&self.how.keys, url, text) {
                    self.see(&name)?;
                }
            }
            self.walk.check()?;
        }
        Ok(())
    }

    /// Makes a sketch of a document's text, if it is the one that is wanted.
    fn see(&mut self, name: &Name<'_>) -> Result<(), Failure> {
        let Candidacy::Candidate { number, digest } = self.candidates.candidacy(&name.url)? else {
            return Ok(());
        };
        let Some(text) = name.text() else { return Ok(()) };
        if digest.is_none() || digest == name.digest() {
            self.candidates.add(number, self.sketcher.of_text(text))?;
            self.count += 1;
        }
        Ok(())
    }
}
