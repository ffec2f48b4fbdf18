//! Files that list dropped and kept pages. They get their names once all of them are complete.

use std::io::{BufWriter, Write};

use super::lines::OfDropped;
use super::options::Dedup;
use crate::exit::Failure;
use crate::output::packed::PackedFile;
use crate::output::row_file::{RowFile, cannot};
use crate::output::write_object;

/// The files that the user asked for.
pub(super) struct Files {
    plan: Option<RowFile>,
    dropped: Option<RowFile>,
    kept: Option<RowFile>,
}

/// The writers of the files.
pub(super) struct Lists<'f> {
    plan: Option<Rows<'f>>,
    dropped: Option<Urls<'f>>,
    kept: Option<Urls<'f>>,
}

/// A list of URLs, one per line.
struct Urls<'f> {
    to: BufWriter<&'f mut PackedFile>,
    shown: &'f str,
    lines: &'f mut u64,
}

/// A list of dropped pages, with everything known about them.
enum Rows<'f> {
    Lines(Urls<'f>),
    #[cfg(feature = "parquet")]
    Parquet(Box<simkeep_parquet::PlanWriter<&'f mut PackedFile>>, &'f str, &'f mut u64),
}

impl Files {
    /// Begins the files that the user asked for.
    ///
    /// # Errors
    ///
    /// If a file cannot be created, or if two lists have the same path.
    pub(super) fn create(asked: &Dedup) -> Result<Files, Failure> {
        let files = [&asked.output, &asked.drop_list, &asked.keep_list];
        let mut names: Vec<_> = files.into_iter().flatten().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < count {
            return Err(Failure::Usage("two lists have the same file".to_owned()));
        }
        let plan = asked.output.as_deref().map(RowFile::create).transpose()?;
        let lines = |path: &Option<_>| path.as_deref().map(RowFile::of_lines).transpose();
        Ok(Files { plan, dropped: lines(&asked.drop_list)?, kept: lines(&asked.keep_list)? })
    }

    /// Begins to write the files.
    pub(super) fn begin(&mut self) -> Result<Lists<'_>, Failure> {
        let plan = self.plan.as_mut().map(Rows::begin).transpose()?;
        let [dropped, kept] =
            [&mut self.dropped, &mut self.kept].map(|file| file.as_mut().map(Urls::begin));
        Ok(Lists { plan, dropped, kept })
    }

    /// Moves the files to their paths. Returns a message about each.
    pub(super) fn put(self) -> Result<Vec<String>, Failure> {
        let files = [self.plan, self.dropped, self.kept];
        files.into_iter().flatten().map(RowFile::put).collect()
    }
}

impl Lists<'_> {
    /// Writes a dropped page.
    pub(super) fn drop(&mut self, of: &OfDropped<'_>) -> Result<(), Failure> {
        self.plan.as_mut().map_or(Ok(()), |plan| plan.row(of))?;
        self.dropped.as_mut().map_or(Ok(()), |urls| urls.line(of.url))
    }

    /// Writes a kept page.
    pub(super) fn keep(&mut self, url: &str) -> Result<(), Failure> {
        self.kept.as_mut().map_or(Ok(()), |urls| urls.line(url))
    }

    /// Writes buffered data.
    pub(super) fn end(self) -> Result<(), Failure> {
        self.plan.map_or(Ok(()), Rows::end)?;
        [self.dropped, self.kept].into_iter().flatten().try_for_each(Urls::end)
    }
}

impl<'f> Urls<'f> {
    fn begin(file: &'f mut RowFile) -> Urls<'f> {
        Urls { to: BufWriter::new(&mut file.file), shown: &file.shown, lines: &mut file.rows }
    }

    fn line(&mut self, url: &str) -> Result<(), Failure> {
        *self.lines += 1;
        // No URL contains a line break: a store rejects URLs with control characters.
        let written = self.to.write_all(url.as_bytes()).and_then(|()| self.to.write_all(b"\n"));
        written.map_err(|e| cannot(self.shown, e))
    }

    fn end(mut self) -> Result<(), Failure> {
        self.to.flush().map_err(|e| cannot(self.shown, e))
    }
}

impl<'f> Rows<'f> {
    fn begin(file: &'f mut RowFile) -> Result<Rows<'f>, Failure> {
        #[cfg(feature = "parquet")]
        if file.is_table {
            let writer = simkeep_parquet::PlanWriter::new(&mut file.file);
            let writer = writer.map_err(|e| cannot(&file.shown, e))?;
            return Ok(Rows::Parquet(Box::new(writer), &file.shown, &mut file.rows));
        }
        Ok(Rows::Lines(Urls::begin(file)))
    }

    fn row(&mut self, of: &OfDropped<'_>) -> Result<(), Failure> {
        match self {
            Rows::Lines(Urls { to, shown, lines }) => {
                **lines += 1;
                write_object(to, of).map_err(|e| cannot(shown, e))
            }
            #[cfg(feature = "parquet")]
            Rows::Parquet(writer, shown, lines) => {
                **lines += 1;
                let row = simkeep_parquet::PlanRow {
                    url: of.url,
                    kept: of.kept,
                    distance: of.distance,
                    resemblance: of.resemblance,
                    reason: of.reason.key(),
                    size: of.size,
                    fingerprint: of.fingerprint.0,
                };
                writer.row(&row).map_err(|e| cannot(shown, e))
            }
        }
    }

    fn end(self) -> Result<(), Failure> {
        match self {
            Rows::Lines(urls) => urls.end(),
            #[cfg(feature = "parquet")]
            Rows::Parquet(writer, shown, _) => writer.end().map_err(|e| cannot(shown, e)),
        }
    }
}
