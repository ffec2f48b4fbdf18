//! A file of rows: lines, packed as its name says, or a table if that ends with .parquet.

use std::path::Path;

use simkeep_formats::escape;

use crate::exit::Failure;
use crate::output::file_format::{extension, refuse_others};
use crate::output::packed::PackedFile;
use crate::output::words::{bytes, many};

/// A file that is being written.
pub(crate) struct RowFile {
    pub(crate) file: PackedFile,
    /// Its name, fit to be shown.
    pub(crate) shown: String,
    /// Whether a table is written to it, and not lines.
    pub(crate) is_table: bool,
    /// How many rows or lines were written to it.
    pub(crate) rows: u64,
}

impl RowFile {
    /// Begins a file of lines, or a table.
    ///
    /// # Errors
    ///
    /// If it cannot be made, is to be of another format, or a table and this was built without them.
    pub(crate) fn create(path: &Path) -> Result<RowFile, Failure> {
        let is_table = extension(path) == ("parquet".to_owned(), false);
        if cfg!(not(feature = "parquet")) && is_table {
            return Err(not_built());
        }
        if !is_table {
            refuse_others(path, "JSON lines (.jsonl, also with .gz or .zst) and .parquet")?;
        }
        Ok(RowFile { is_table, ..RowFile::of_lines(path)? })
    }

    /// Begins a file of lines, whatever its name.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(crate) fn of_lines(path: &Path) -> Result<RowFile, Failure> {
        let shown = escape::whole(&path.to_string_lossy());
        let file = PackedFile::create(path).map_err(|e| cannot(&shown, e))?;
        Ok(RowFile { file, shown, is_table: false, rows: 0 })
    }

    /// Puts it in its place. Returns what is to be said of it.
    pub(crate) fn put(self) -> Result<String, Failure> {
        let RowFile { file, shown, is_table, rows } = self;
        let len = file.put().map_err(|e| cannot(&shown, e))?;
        let rows = if is_table { many(rows, "row", "rows") } else { many(rows, "line", "lines") };
        Ok(format!("{rows} written to {shown}, {}", bytes(len)))
    }
}

/// That a file cannot be written.
pub(crate) fn cannot(shown: &str, e: std::io::Error) -> Failure {
    Failure::Other(format!("cannot write {shown}: {e}"))
}

/// That this program does without Parquet.
pub(crate) fn not_built() -> Failure {
    let why = "this simkeep was built without Parquet: build it with `--features parquet`";
    Failure::Usage(why.to_owned())
}
