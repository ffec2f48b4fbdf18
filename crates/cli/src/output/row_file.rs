//! A file of rows: lines, compressed as its name says, or a Parquet table if the name ends in
//! `.parquet`.

use std::path::Path;

use simkeep_formats::escape;

use crate::exit::VerbError;
use crate::output::compressed_file::CompressedFile;
use crate::output::file_format::{extension, refuse_others};
use crate::output::words::{bytes, many};

/// A file that is being written.
pub(crate) struct RowFile {
    pub(crate) file: CompressedFile,
    /// Its name, escaped for messages.
    pub(crate) shown: String,
    /// Whether the file is a Parquet table instead of lines.
    pub(crate) is_table: bool,
    /// The number of rows or lines written.
    pub(crate) rows: u64,
}

impl RowFile {
    /// Begins a file of lines, or a table.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, names another format, or should be a table and this program
    /// was built without Parquet.
    pub(crate) fn create(path: &Path) -> Result<RowFile, VerbError> {
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
    /// If the file cannot be created.
    pub(crate) fn of_lines(path: &Path) -> Result<RowFile, VerbError> {
        let shown = escape::escape_untruncated(&path.to_string_lossy());
        let file = CompressedFile::create(path).map_err(|e| write_error(&shown, e))?;
        Ok(RowFile { file, shown, is_table: false, rows: 0 })
    }

    /// Moves the file to its path. Returns a message with its rows, name and length.
    pub(crate) fn put(self) -> Result<String, VerbError> {
        let RowFile { file, shown, is_table, rows } = self;
        let len = file.put().map_err(|e| write_error(&shown, e))?;
        let rows = if is_table { many(rows, "row", "rows") } else { many(rows, "line", "lines") };
        Ok(format!("{rows} written to {shown}, {}", bytes(len)))
    }
}

/// The failure of writing a file.
pub(crate) fn write_error(shown: &str, e: std::io::Error) -> VerbError {
    VerbError::Other(format!("cannot write {shown}: {e}"))
}

/// The failure of a program that was built without Parquet.
pub(crate) fn not_built() -> VerbError {
    let why = "this simkeep was built without Parquet: build it with `--features parquet`";
    VerbError::Usage(why.to_owned())
}
