//! Reads texts in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep_parquet::{CellValue as Cell, DocumentRows, TEXT_BYTES_MAX};

use super::chunk::{LazyRecord, RecordCut, SourceChunk};
use super::keys::{DocumentKeys, NamedText};
use super::object::FieldValue;
use super::{BrokenRecord, SourceChunks, SourceItem, escape, time};

/// A row that was cut from its file.
pub(super) struct ParquetRow {
    name: Arc<str>,
    number: u64,
    cells: [Cell; 3],
    keys: Arc<DocumentKeys>,
}

impl LazyRecord for ParquetRow {
    fn bytes(&self) -> usize {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        self.cells.iter().map(text).sum()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem)) {
        let ParquetRow { name, number, cells, keys } = *self;
        let [url, text, time] = cells;
        let record = match text {
            Cell::TooLong => Err(too_long()),
            text => keys.record(value(url), value(text), time_of(time, &keys)),
        };
        let at = || format!("{name}, row {number}");
        each(record.map_or_else(
            |why| SourceItem::Broken(BrokenRecord { at: at(), why }),
            SourceItem::Record,
        ));
    }
}

/// Returns the name of the document in a row, from its cells for the URL and the text.
pub(super) fn name(
    keys: &DocumentKeys,
    url: Cell,
    text: Cell,
) -> Result<NamedText<'static>, String> {
    if text == Cell::TooLong {
        return Err(too_long());
    }
    Ok(NamedText::new(keys.page(value(url))?, value(text)))
}

fn too_long() -> String {
    format!("the text is longer than {} MiB", TEXT_BYTES_MAX >> 20)
}

fn value(cell: Cell) -> Option<FieldValue<'static>> {
    match cell {
        Cell::Null => None,
        Cell::Text(text) => Some(FieldValue::Text(text.into())),
        Cell::Whole(number) => Some(FieldValue::Whole(number)),
        Cell::Decimal(number) => Some(FieldValue::Decimal(number)),
        _ => Some(FieldValue::Other),
    }
}

fn time_of(cell: Cell, keys: &DocumentKeys) -> Result<Option<i64>, String> {
    let key = keys.time.as_str();
    match cell {
        Cell::Null => Ok(None),
        Cell::Milliseconds(ms) => {
            let ms = time::checked(ms);
            ms.map(Some).ok_or_else(|| format!("{key:?} is not in the years 1 to 9999"))
        }
        other => value(other).unwrap_or(FieldValue::Null).time(key).map(Some),
    }
}

/// The rows of a file, in chunks.
struct ParquetRows {
    documents: DocumentRows,
    name: Arc<str>,
    keys: Arc<DocumentKeys>,
    /// The next rows, and the number of the first of them.
    rows: std::vec::IntoIter<[Cell; 3]>,
    number: u64,
    bytes: u64,
    progress: Arc<AtomicU64>,
}

/// Opens the texts of a file.
pub(super) fn open(
    path: &Path,
    keys: Arc<DocumentKeys>,
    progress: Arc<AtomicU64>,
) -> Result<SourceChunks, BrokenRecord> {
    let name: Arc<str> = escape(&path.to_string_lossy()).into();
    let broken = |why: String| BrokenRecord { at: name.to_string(), why: escape(&why) };
    let file = File::open(path).map_err(|e| broken(e.to_string()))?;
    let bytes = file.metadata().map_err(|e| broken(e.to_string()))?.len();
    let columns = [&keys.url, &keys.text, &keys.time].map(super::keys::KeyPath::as_str);
    let documents = DocumentRows::open(file, columns).map_err(broken)?;
    for (column, key) in columns.iter().enumerate().take(2) {
        if !documents.has(column) {
            let there = documents.names().join(", ");
            return Err(broken(format!("the file has no column {key:?}; its columns are {there}")));
        }
    }
    if !documents.has(2) && keys.at.is_none() {
        let why = format!(
            "the file has no column {:?}: name the column of times with --time-key, or set the time of all rows \
             with --at",
            keys.time.as_str()
        );
        return Err(broken(why));
    }
    let (rows, number) = (Vec::new().into_iter(), 1);
    Ok(Box::new(ParquetRows { documents, name, keys, rows, number, bytes, progress }))
}

impl ParquetRows {
    fn next_cut(&mut self) -> Option<RecordCut> {
        loop {
            if let Some(cells) = self.rows.next() {
                let (name, keys) = (Arc::clone(&self.name), Arc::clone(&self.keys));
                let number = self.number;
                self.number += 1;
                return Some(RecordCut::unread(ParquetRow { name, number, cells, keys }));
            }
            match self.documents.next() {
                Some(Ok(rows)) => self.rows = rows.into_iter(),
                Some(Err(why)) => {
                    let at = format!("{}, row {}", self.name, self.number);
                    return Some(RecordCut::Clear(SourceItem::Broken(BrokenRecord {
                        at,
                        why: escape(&why),
                    })));
                }
                None => {
                    // The bytes of the file are counted at its end, since the metadata do not tell
                    // the position of a row in bytes.
                    let bytes = std::mem::take(&mut self.bytes);
                    self.progress.fetch_add(bytes, Ordering::Relaxed);
                    return None;
                }
            }
        }
    }
}

impl Iterator for ParquetRows {
    type Item = SourceChunk;

    fn next(&mut self) -> Option<SourceChunk> {
        SourceChunk::gather(false, || self.next_cut())
    }
}
