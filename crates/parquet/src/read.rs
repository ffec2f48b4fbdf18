//! Reads three columns of an external Parquet file.
//!
//! The sizes in a file's metadata are compared with the size of the file before the `parquet` crate
//! uses them. For a damaged file, reading returns an error, even if the crate panics.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use super::caught::caught;
use super::column::{CellValue, ColumnCursor, is_supported_type};

/// The largest metadata that is read, in bytes: enough for some hundred thousand column chunks.
pub const METADATA_BYTES_MAX: u64 = 16 << 20;
/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

/// The number of rows read at a time.
const BATCH_ROWS: usize = 64;
/// The magic number at both ends of a file.
const MAGIC: &[u8] = b"PAR1";
/// The maximum number of columns that a message names.
const NAMED: usize = 20;

/// The rows of a file, several at a time, each with the values of three columns. The iterator ends
/// after an error.
///
/// Takes the memory of an uncompressed page of each column: usually 1 MiB. A malicious file can
/// declare pages of up to 2 GiB.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, VisitRow, VisitWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// # let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
/// # for url in ["https://example.com/", "https://example.org/"] {
/// #     writer.row(&VisitRow { url, verdict: "new", ..VisitRow::default() })?;
/// # }
/// # writer.end()?;
/// let mut documents = DocumentRows::open(std::fs::File::open(&path)?, ["url", "verdict", "text"])?;
/// assert!(documents.has(0) && !documents.has(2)); // the file has no column `text`
/// let mut count = 0;
/// for rows in &mut documents {
///     for [url, verdict, text] in rows? {
///         assert_eq!((verdict, text), (CellValue::Text("new".into()), CellValue::Null));
///         count += 1;
///     }
/// }
/// assert_eq!(count, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DocumentRows {
    reader: SerializedFileReader<File>,
    columns: [Option<usize>; 3],
    /// The index of the next row group.
    next_group: usize,
    /// The columns of the current row group, and its number of rows still to be read.
    group: [Option<ColumnCursor>; 3],
    left: usize,
    row: u64,
}

impl DocumentRows {
    /// Opens a file, and finds the columns with these names: keys separated by dots, for example
    /// `metadata.date`. Reads the metadata of the file. A missing column has no values.
    ///
    /// ```
    /// use simkeep_parquet::{DocumentRows, VisitWriter};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("pages.parquet");
    /// VisitWriter::new(std::fs::File::create(&path)?)?.end()?;
    /// let documents = DocumentRows::open(std::fs::File::open(&path)?, ["url", "text", "time"])?;
    /// assert!(documents.names().contains(&"verdict".to_owned())); // all columns of the file
    ///
    /// std::fs::write(&path, "These are notes, and no Parquet file.")?;
    /// assert!(DocumentRows::open(std::fs::File::open(&path)?, ["url", "text", "time"]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be read: it is not a Parquet file or is damaged, or a
    /// column is a list or has an unsupported type.
    pub fn open(file: File, columns: [&str; 3]) -> Result<DocumentRows, String> {
        let reader = open(file)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut found = [None; 3];
        for (found, name) in found.iter_mut().zip(columns) {
            let is_it = |column: usize| schema.column(column).path().string() == name;
            *found = (0..schema.num_columns()).find(|column| is_it(*column));
            let Some(column) = found.map(|column| schema.column(column)) else { continue };
            if column.max_rep_level() > 0 {
                return Err(format!(
                    "the column {name} contains lists; expected one value for each row"
                ));
            }
            if !is_supported_type(column.physical_type()) {
                return Err(format!("the column {name} must contain strings, numbers or times"));
            }
        }
        let group = [const { None }; 3];
        Ok(DocumentRows { reader, columns: found, next_group: 0, group, left: 0, row: 0 })
    }

    /// Whether the file has the column with this index among the three.
    pub fn has(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(Option::is_some)
    }

    /// Returns the names of the columns of the file; only the first names if there are many.
    pub fn names(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().take(NAMED).map(|column| column.path().string()).collect()
    }

    /// Returns the number of the next row, counted from 1.
    pub fn row(&self) -> u64 {
        self.row + 1
    }

    fn next_rows(&mut self) -> Result<Option<Vec<[CellValue; 3]>>, String> {
        // Without any of the three columns, the row counts of the file cannot be checked, so no
        // rows are returned.
        if self.columns.iter().all(Option::is_none) {
            return Ok(None);
        }
        while self.left == 0 {
            let groups = self.reader.num_row_groups();
            if self.next_group >= groups {
                return Ok(None);
            }
            let group = self.reader.get_row_group(self.next_group).map_err(|e| e.to_string())?;
            let schema = self.reader.metadata().file_metadata().schema_descr();
            for (open, column) in self.group.iter_mut().zip(self.columns) {
                let Some(column) = column else { continue };
                let reader = group.get_column_reader(column).map_err(|e| e.to_string())?;
                *open = Some(ColumnCursor::new(reader, &schema.column(column)));
            }
            let rows = group.metadata().num_rows();
            self.left = usize::try_from(rows)
                .map_err(|_| format!("the file is damaged: a row group has {rows} rows"))?;
            self.next_group += 1;
        }
        let count = self.left.min(BATCH_ROWS);
        let mut rows = vec![[const { CellValue::Null }; 3]; count];
        for (nth, column) in self.group.iter_mut().enumerate() {
            let Some(column) = column else { continue };
            let values = column.read(count).map_err(|e| e.to_string())?;
            if values.len() != count {
                return Err(
                    "the file is damaged: a column has fewer rows than its row group".to_owned()
                );
            }
            for (row, value) in rows.iter_mut().zip(values) {
                row.iter_mut().skip(nth).take(1).for_each(|cell| *cell = value.clone());
            }
        }
        self.left -= count;
        self.row += count as u64;
        Ok(Some(rows))
    }
}

impl Iterator for DocumentRows {
    type Item = Result<Vec<[CellValue; 3]>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = caught(|| self.next_rows());
        if next.is_err() {
            (self.left, self.next_group) = (0, usize::MAX);
        }
        next.transpose()
    }
}

/// Opens a file, and checks that the sizes in its metadata are possible.
pub(super) fn open(mut file: File) -> Result<SerializedFileReader<File>, String> {
    let bytes = check_end(&mut file)?;
    let reader = caught(|| SerializedFileReader::new(file).map_err(|e| e.to_string()))?;
    check(reader.metadata(), bytes)?;
    Ok(reader)
}

/// Checks the magic numbers and the metadata length of a Parquet file, and returns the length of
/// the file.
fn check_end(file: &mut File) -> Result<u64, String> {
    let cannot = |e: std::io::Error| e.to_string();
    let mut start = [0; 4];
    file.seek(SeekFrom::Start(0)).map_err(cannot)?;
    if file.read_exact(&mut start).is_err() || start != MAGIC {
        return Err(
            "the file is not a Parquet file; if it is compressed, decompress it first".to_owned()
        );
    }
    let bytes = file.metadata().map_err(cannot)?.len();
    let mut end = [0; 8];
    if bytes < 12 {
        return Err("the file is too short for a Parquet file".to_owned());
    }
    file.seek(SeekFrom::End(-8)).map_err(cannot)?;
    file.read_exact(&mut end).map_err(cannot)?;
    let (len, magic) = end.split_at(4);
    if magic != MAGIC {
        return Err("the Parquet file is incomplete: its end is missing".to_owned());
    }
    let len = len.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    if len > bytes - 12 || len > METADATA_BYTES_MAX {
        return Err(format!("the file is damaged: the length of its metadata is {len} bytes"));
    }
    Ok(bytes)
}

/// Checks that the columns in the metadata of a file are possible.
fn check(metadata: &ParquetMetaData, bytes: u64) -> Result<(), String> {
    let is_within = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset();
        let start = dictionary.unwrap_or(column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        start >= 0
            && column.data_page_offset() >= 0
            && column.compressed_size() >= 0
            && column.uncompressed_size() >= 0
            && end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= bytes)
    };
    for (nth, group) in metadata.row_groups().iter().enumerate() {
        if group.num_rows() < 0 || !group.columns().iter().all(is_within) {
            return Err(format!("the file is damaged: row group {nth} extends beyond its end"));
        }
        if group.num_columns() != metadata.file_metadata().schema_descr().num_columns() {
            return Err(format!(
                "the file is damaged: row group {nth} does not have the columns of the schema"
            ));
        }
    }
    Ok(())
}
