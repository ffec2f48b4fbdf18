//! A Parquet file of a corpus.

use std::fs::File;

use simkeep_archive::raw::{self, Packing};
use simkeep_parquet::{Choice, CopyError, Copying, Documents, Mark, Value};

use super::answer::Counts;
use super::file::Files;
use crate::exit::Failure;

impl Files<'_> {
    /// Row by row.
    pub(super) fn rows(&self) -> Result<Counts, Failure> {
        let open = || File::open(&self.job.from).map_err(|e| self.job.broken(&e.to_string()));
        let keys = &self.run.how.keys;
        let (url, text) = (keys.url.as_str(), keys.text.as_str());
        // Of the third one nothing is wanted.
        let documents = Documents::open(open()?, [url, text, url]);
        let mut documents = documents.map_err(|why| self.job.broken(&why))?;
        if !documents.has(0) {
            let there = documents.names().join(", ");
            let why = format!("no column {url:?} among those there are: {there}");
            return Err(self.job.broken(&why));
        }
        let failed = |e: CopyError| match e {
            CopyError::Read(why) => self.job.broken(&why),
            CopyError::Write(e) => self.job.cannot_write(&e),
        };
        let mut file = self.begin(Packing::Plain)?;
        let is_marked = self.run.how.is_marked;
        let mut copying = Copying::begin(open()?, &mut file, is_marked).map_err(failed)?;
        let (mut counts, mut number) = (Counts::default(), 0);
        while let Some(rows) = copying.rows().map_err(failed)? {
            let (mut kept, mut marks) = (Vec::new(), Vec::new());
            while kept.len() < rows {
                self.check()?;
                let batch = documents.next().transpose().map_err(|why| self.job.broken(&why))?;
                let batch =
                    batch.ok_or_else(|| self.job.broken("it has fewer rows than it says"))?;
                for [url, text, _] in batch {
                    number += 1;
                    let mark = self.row([url, text], number, &mut counts)?;
                    kept.push(mark.is_none());
                    marks.push(mark);
                }
            }
            let choice = if is_marked { Choice::Mark(&marks) } else { Choice::Keep(&kept) };
            copying.group(choice).map_err(failed)?;
        }
        copying.end().map_err(failed)?;
        self.put(file, counts)
    }

    /// Why a row is dropped; `None` if it is kept.
    fn row(
        &self,
        [url, text]: [Value; 2],
        number: u64,
        counts: &mut Counts,
    ) -> Result<Option<Mark>, Failure> {
        counts.documents += 1;
        let name = match raw::name_in_row(&self.run.how.keys, url, text) {
            Ok(name) => name,
            Err(why) => {
                self.broken(format!("row {number}"), &why, counts);
                return Ok(None);
            }
        };
        if !self.is_dropped(&name, counts)? {
            return Ok(None);
        }
        let (duplicate_of, distance) = if self.run.how.is_marked {
            counts.marked += 1;
            self.kept_for(&name)?
        } else {
            counts.left_out += 1;
            (String::new(), 0)
        };
        Ok(Some(Mark { duplicate_of, distance }))
    }
}
