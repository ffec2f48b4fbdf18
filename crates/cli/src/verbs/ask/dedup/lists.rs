//! Files that list dropped and kept pages. They get their names once all of them are complete.

use std::io::{BufWriter, Write};

use super::lines::DroppedDuplicate;
use super::options::DedupArgs;
use crate::exit::VerbError;
use crate::output::compressed_file::CompressedFile;
use crate::output::row_file::{RowFile, write_error};
use crate::output::write_object;

/// The files that the user asked for.
pub(super) struct DedupFiles {
    plan: Option<RowFile>,
    dropped: Option<RowFile>,
    kept: Option<RowFile>,
}

/// The writers of the files.
pub(super) struct DedupLists<'f> {
    plan: Option<DropPlanWriter<'f>>,
    dropped: Option<UrlList<'f>>,
    kept: Option<UrlList<'f>>,
}

/// A list of URLs, one per line.
struct UrlList<'f> {
    to: BufWriter<&'f mut CompressedFile>,
    shown: &'f str,
    lines: &'f mut u64,
}

/// A list of dropped pages, with everything known about them.
enum DropPlanWriter<'f> {
    Lines(UrlList<'f>),
    #[cfg(feature = "parquet")]
    Parquet(Box<simkeep_parquet::PlanWriter<&'f mut CompressedFile>>, &'f str, &'f mut u64),
}

impl DedupFiles {
    /// Begins the files that the user asked for.
    ///
    /// # Errors
    ///
    /// If a file cannot be created, or if two lists have the same path.
    pub(super) fn create(asked: &DedupArgs) -> Result<DedupFiles, VerbError> {
        let files = [&asked.output, &asked.drop_list, &asked.keep_list];
        let mut names: Vec<_> = files.into_iter().flatten().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < count {
            return Err(VerbError::Usage(
                "two of --output, --drop-list and --keep-list name the same file".to_owned(),
            ));
        }
        let plan = asked.output.as_deref().map(RowFile::create).transpose()?;
        let lines = |path: &Option<_>| path.as_deref().map(RowFile::of_lines).transpose();
        Ok(DedupFiles { plan, dropped: lines(&asked.drop_list)?, kept: lines(&asked.keep_list)? })
    }

    /// Begins to write the files.
    pub(super) fn begin(&mut self) -> Result<DedupLists<'_>, VerbError> {
        let plan = self.plan.as_mut().map(DropPlanWriter::begin).transpose()?;
        let [dropped, kept] =
            [&mut self.dropped, &mut self.kept].map(|file| file.as_mut().map(UrlList::begin));
        Ok(DedupLists { plan, dropped, kept })
    }

    /// Moves the files to their paths. Returns a message about each.
    pub(super) fn put(self) -> Result<Vec<String>, VerbError> {
        let files = [self.plan, self.dropped, self.kept];
        files.into_iter().flatten().map(RowFile::put).collect()
    }
}

impl DedupLists<'_> {
    /// Writes a dropped page.
    pub(super) fn drop(&mut self, of: &DroppedDuplicate<'_>) -> Result<(), VerbError> {
        self.plan.as_mut().map_or(Ok(()), |plan| plan.row(of))?;
        self.dropped.as_mut().map_or(Ok(()), |urls| urls.line(of.url))
    }

    /// Writes a kept page.
    pub(super) fn keep(&mut self, url: &str) -> Result<(), VerbError> {
        self.kept.as_mut().map_or(Ok(()), |urls| urls.line(url))
    }

    /// Writes buffered data.
    pub(super) fn end(self) -> Result<(), VerbError> {
        self.plan.map_or(Ok(()), DropPlanWriter::end)?;
        [self.dropped, self.kept].into_iter().flatten().try_for_each(UrlList::end)
    }
}

impl<'f> UrlList<'f> {
    fn begin(file: &'f mut RowFile) -> UrlList<'f> {
        UrlList { to: BufWriter::new(&mut file.file), shown: &file.shown, lines: &mut file.rows }
    }

    fn line(&mut self, url: &str) -> Result<(), VerbError> {
        *self.lines += 1;
        // No URL contains a line break: a store rejects URLs with control characters.
        let written = self.to.write_all(url.as_bytes()).and_then(|()| self.to.write_all(b"\n"));
        written.map_err(|e| write_error(self.shown, e))
    }

    fn end(mut self) -> Result<(), VerbError> {
        self.to.flush().map_err(|e| write_error(self.shown, e))
    }
}

impl<'f> DropPlanWriter<'f> {
    fn begin(file: &'f mut RowFile) -> Result<DropPlanWriter<'f>, VerbError> {
        #[cfg(feature = "parquet")]
        if file.is_table {
            let writer = simkeep_parquet::PlanWriter::new(&mut file.file);
            let writer = writer.map_err(|e| write_error(&file.shown, e))?;
            return Ok(DropPlanWriter::Parquet(Box::new(writer), &file.shown, &mut file.rows));
        }
        Ok(DropPlanWriter::Lines(UrlList::begin(file)))
    }

    fn row(&mut self, of: &DroppedDuplicate<'_>) -> Result<(), VerbError> {
        match self {
            DropPlanWriter::Lines(UrlList { to, shown, lines }) => {
                **lines += 1;
                write_object(to, of).map_err(|e| write_error(shown, e))
            }
            #[cfg(feature = "parquet")]
            DropPlanWriter::Parquet(writer, shown, lines) => {
                **lines += 1;
                let row = simkeep_parquet::PlanRow {
                    url: of.url,
                    kept: of.kept,
                    distance: of.distance,
                    resemblance: of.resemblance,
                    reason: of.reason.key(),
                    size: of.size,
                    fingerprint: of.fingerprint.map(|of| of.0),
                };
                writer.row(&row).map_err(|e| write_error(shown, e))
            }
        }
    }

    fn end(self) -> Result<(), VerbError> {
        match self {
            DropPlanWriter::Lines(urls) => urls.end(),
            #[cfg(feature = "parquet")]
            DropPlanWriter::Parquet(writer, shown, _) => {
                writer.end().map_err(|e| write_error(shown, e))
            }
        }
    }
}
