//! A file of rows: lines, compressed as its name says, or a Parquet table if the name ends in
//! `.parquet`.

use std::path::Path;

use simkeep_formats::escape;

use crate::exit::Failure;
use crate::output::packed::PackedFile;
use crate::output::words::{bytes, many};

/// A file that is being written.
pub(crate) struct RowFile {
    pub(crate) file: PackedFile,
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
    /// If the file cannot be created, or should be a table and this program was built without
    /// Parquet.
    pub(crate) fn create(path: &Path) -> Result<RowFile, Failure> {
        let is_table = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        if cfg!(not(feature = "parquet")) && is_table {
            return Err(not_built());
        }
        Ok(RowFile { is_table, ..RowFile::of_lines(path)? })
    }

    /// Begins a file of lines, whatever its name.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub(crate) fn of_lines(path: &Path) -> Result<RowFile, Failure> {
        let shown = escape::whole(&path.to_string_lossy());
        let file = PackedFile::create(path).map_err(|e| cannot(&shown, e))?;
        Ok(RowFile { file, shown, is_table: false, rows: 0 })
    }

    /// Moves the file to its path. Returns a message with its rows, name and length.
    pub(crate) fn put(self) -> Result<String, Failure> {
        let RowFile { file, shown, is_table, rows } = self;
        let len = file.put().map_err(|e| cannot(&shown, e))?;
        let rows = if is_table { many(rows, "row", "rows") } else { many(rows, "line", "lines") };
        Ok(format!("{rows} written to {shown}, {}", bytes(len)))
    }
}

/// The failure of writing a file.
pub(crate) fn cannot(shown: &str, e: std::io::Error) -> Failure {
    Failure::Other(format!("cannot write {shown}: {e}"))
}

/// The failure of a program that was built without Parquet.
pub(crate) fn not_built() -> Failure {
    let why = "this simkeep was built without Parquet: build it with `--features parquet`";
    Failure::Usage(why.to_owned())
}
