//! Copies a Parquet file of a corpus.

use std::fs::File;

use simkeep_formats::DocumentKeys;
use simkeep_formats::raw::{self, FileCompression};
use simkeep_parquet::{
    CellValue, CopyError, DocumentRows, DuplicateMark, FilteringCopy, GroupEdit,
};

use super::answer::FilterCounts;
use super::file::FileFilter;
use super::jobs::FileJob;
use super::notes::DocumentNote;
use crate::exit::VerbError;

impl FileJob {
    /// Opens the documents with their names and texts. The third column is not used.
    pub(super) fn documents(&self, keys: &DocumentKeys) -> Result<DocumentRows, VerbError> {
        let (url, text) = (keys.url.as_str(), keys.text.as_str());
        let documents = DocumentRows::open(self.file()?, [url, text, url]);
        let documents = documents.map_err(|why| self.broken(&why))?;
        if !documents.has(0) {
            let there = documents.names().join(", ");
            let why = format!("the file has no column {url:?}; its columns are: {there}");
            return Err(self.broken(&why));
        }
        Ok(documents)
    }

    fn file(&self) -> Result<File, VerbError> {
        File::open(&self.from).map_err(|e| self.broken(&e.to_string()))
    }
}

impl FileFilter<'_> {
    /// Copies rows.
    pub(super) fn rows(&self) -> Result<FilterCounts, VerbError> {
        let mut documents = self.job.documents(&self.run.how.keys)?;
        let failed = |e: CopyError| match e {
            CopyError::Read(why) => self.job.broken(&why),
            CopyError::Write(e) => self.cannot_write(&e),
        };
        let mut file = self.begin(FileCompression::Plain)?;
        let is_marked = self.run.how.is_marked;
        let mut copying =
            FilteringCopy::begin(self.job.file()?, &mut file, is_marked).map_err(failed)?;
        let (mut counts, mut number) = (FilterCounts::default(), 0);
        let mut notes = self.run.notes.map(|notes| notes.of(self.job.number));
        while let Some(rows) = copying.rows().map_err(failed)? {
            let (mut kept, mut marks) = (Vec::new(), Vec::new());
            while kept.len() < rows {
                self.run.walk.check()?;
                let batch = documents.next().transpose().map_err(|why| self.job.broken(&why))?;
                let batch = batch.ok_or_else(|| {
                    self.job.broken("the file has fewer rows than its metadata says")
                })?;
                for [url, text, _] in batch {
                    number += 1;
                    let noted = self.noted(&mut notes, number)?;
                    let mark = self.row([url, text], (number, noted), &mut counts)?;
                    kept.push(mark.is_none());
                    marks.push(mark);
                }
            }
            let choice = if is_marked { GroupEdit::Mark(&marks) } else { GroupEdit::Keep(&kept) };
            copying.group(choice).map_err(failed)?;
        }
        copying.end().map_err(failed)?;
        self.put(file, counts)
    }

    /// Why a row is dropped; `None` if it is kept.
    fn row(
        &self,
        [url, text]: [CellValue; 2],
        (number, noted): (u64, Option<DocumentNote>),
        counts: &mut FilterCounts,
    ) -> Result<Option<DuplicateMark>, VerbError> {
        counts.documents += 1;
        let name = match raw::name_in_row(&self.run.how.keys, url, text) {
            Ok(name) => name,
            Err(why) => {
                self.broken(format!("row {number}"), &why, counts);
                return Ok(None);
            }
        };
        let noted = noted.zip(name.text()).and_then(|(note, text)| note.place(text.as_bytes()));
        if !self.is_dropped(&name, noted, counts)? {
            return Ok(None);
        }
        let (duplicate_of, distance) = if self.run.how.is_marked {
            counts.marked += 1;
            self.original_of(&name)?
        } else {
            counts.left_out += 1;
            (String::new(), 0)
        };
        Ok(Some(DuplicateMark { duplicate_of, distance }))
    }
}
