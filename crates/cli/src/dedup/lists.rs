//! Files of what is dropped and what is kept: there when all of them are whole.

use std::io::{BufWriter, Write};
use std::path::Path;

use simkeep_archive::escape;

use super::Dedup;
use super::lines::OfDropped;
use crate::exit::Failure;
use crate::output::write_object;
use crate::packed::PackedFile;
use crate::words::{bytes, many};

/// The files that are asked for.
pub(super) struct Files {
    plan: Option<ListFile>,
    dropped: Option<ListFile>,
    kept: Option<ListFile>,
}

/// A file that is being written.
struct ListFile {
    file: PackedFile,
    /// Its name, fit to be shown.
    shown: String,
    is_parquet: bool,
    lines: u64,
}

/// Where lines go.
pub(super) struct Lists<'f> {
    plan: Option<Rows<'f>>,
    dropped: Option<Urls<'f>>,
    kept: Option<Urls<'f>>,
}

/// URLs, one a line.
struct Urls<'f> {
    to: BufWriter<&'f mut PackedFile>,
    shown: &'f str,
    lines: &'f mut u64,
}

/// Pages that are dropped, with all that is known of them.
enum Rows<'f> {
    Lines(Urls<'f>),
    #[cfg(feature = "parquet")]
    Parquet(Box<simkeep_parquet::PlanWriter<&'f mut PackedFile>>, &'f str, &'f mut u64),
}

impl Files {
    /// Begins the files that are asked for.
    ///
    /// # Errors
    ///
    /// If one cannot be made, or two are to be one.
    pub(super) fn create(asked: &Dedup) -> Result<Files, Failure> {
        let files = [&asked.output, &asked.drop_list, &asked.keep_list];
        let mut names: Vec<_> = files.into_iter().flatten().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < count {
            return Err(Failure::Usage("two lists are to be written to one file".to_owned()));
        }
        let create = |path: &Option<_>| path.as_deref().map(ListFile::create).transpose();
        let plan = create(&asked.output)?;
        if cfg!(not(feature = "parquet")) && plan.as_ref().is_some_and(|plan| plan.is_parquet) {
            let why = "this simkeep was built without Parquet: build it with `--features parquet`";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(Files { plan, dropped: create(&asked.drop_list)?, kept: create(&asked.keep_list)? })
    }

    /// Begins to write them.
    pub(super) fn begin(&mut self) -> Result<Lists<'_>, Failure> {
        let plan = self.plan.as_mut().map(Rows::begin).transpose()?;
        let [dropped, kept] =
            [&mut self.dropped, &mut self.kept].map(|file| file.as_mut().map(Urls::begin));
        Ok(Lists { plan, dropped, kept })
    }

    /// Puts them in their places. Returns what is to be said of them.
    pub(super) fn put(self) -> Result<Vec<String>, Failure> {
        let files = [self.plan, self.dropped, self.kept];
        files.into_iter().flatten().map(ListFile::put).collect()
    }
}

impl ListFile {
    fn create(path: &Path) -> Result<ListFile, Failure> {
        let shown = escape::whole(&path.to_string_lossy());
        let file = PackedFile::create(path).map_err(|e| cannot(&shown, e))?;
        let is_parquet = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        Ok(ListFile { file, shown, is_parquet, lines: 0 })
    }

    fn put(self) -> Result<String, Failure> {
        let ListFile { file, shown, is_parquet, lines } = self;
        let len = file.put().map_err(|e| cannot(&shown, e))?;
        let lines =
            if is_parquet { many(lines, "row", "rows") } else { many(lines, "line", "lines") };
        Ok(format!("{lines} written to {shown}, {}", bytes(len)))
    }
}

impl Lists<'_> {
    /// Writes a page that is dropped.
    pub(super) fn drop(&mut self, of: &OfDropped<'_>) -> Result<(), Failure> {
        self.plan.as_mut().map_or(Ok(()), |plan| plan.row(of))?;
        self.dropped.as_mut().map_or(Ok(()), |urls| urls.line(of.url))
    }

    /// Writes a page that is kept.
    pub(super) fn keep(&mut self, url: &str) -> Result<(), Failure> {
        self.kept.as_mut().map_or(Ok(()), |urls| urls.line(url))
    }

    /// Writes what is still held.
    pub(super) fn end(self) -> Result<(), Failure> {
        self.plan.map_or(Ok(()), Rows::end)?;
        [self.dropped, self.kept].into_iter().flatten().try_for_each(Urls::end)
    }
}

impl<'f> Urls<'f> {
    fn begin(file: &'f mut ListFile) -> Urls<'f> {
        Urls { to: BufWriter::new(&mut file.file), shown: &file.shown, lines: &mut file.lines }
    }

    fn line(&mut self, url: &str) -> Result<(), Failure> {
        *self.lines += 1;
        // No URL has a line end: a store takes none with a control character.
        let written = self.to.write_all(url.as_bytes()).and_then(|()| self.to.write_all(b"\n"));
        written.map_err(|e| cannot(self.shown, e))
    }

    fn end(mut self) -> Result<(), Failure> {
        self.to.flush().map_err(|e| cannot(self.shown, e))
    }
}

impl<'f> Rows<'f> {
    fn begin(file: &'f mut ListFile) -> Result<Rows<'f>, Failure> {
        #[cfg(feature = "parquet")]
        if file.is_parquet {
            let writer = simkeep_parquet::PlanWriter::new(&mut file.file);
            let writer = writer.map_err(|e| cannot(&file.shown, e))?;
            return Ok(Rows::Parquet(Box::new(writer), &file.shown, &mut file.lines));
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

fn cannot(shown: &str, e: std::io::Error) -> Failure {
    Failure::Other(format!("cannot write {shown}: {e}"))
}
