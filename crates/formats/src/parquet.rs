//! Reads texts in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep_parquet::{Documents, TEXT_BYTES_MAX, Value as Cell};

use super::chunk::{Chunk, Cut, Unread};
use super::keys::{Keys, Name};
use super::object::Value;
use super::{Broken, Item, Part, escape, time};

/// A row that was cut from its file.
pub(super) struct ParquetRow {
    name: Arc<str>,
    number: u64,
    cells: [Cell; 3],
    keys: Arc<Keys>,
}

impl Unread for ParquetRow {
    fn bytes(&self) -> usize {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        self.cells.iter().map(text).sum()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(Item)) {
        let ParquetRow { name, number, cells, keys } = *self;
        let [url, text, time] = cells;
        let record = match text {
            Cell::TooLong => Err(too_long()),
            text => keys.record(value(url), value(text), time_of(time, &keys)),
        };
        let at = || format!("{name}, row {number}");
        each(record.map_or_else(|why| Item::Broken(Broken { at: at(), why }), Item::Record));
    }
}

/// Returns the name of the document in a row, from its cells for the URL and the text.
pub(super) fn name(keys: &Keys, url: Cell, text: Cell) -> Result<Name<'static>, String> {
    if text == Cell::TooLong {
        return Err(too_long());
    }
    Ok(Name::new(keys.page(value(url))?, value(text)))
}

fn too_long() -> String {
    format!("the text is longer than {} MiB", TEXT_BYTES_MAX >> 20)
}

fn value(cell: Cell) -> Option<Value<'static>> {
    match cell {
        Cell::Null => None,
        Cell::Text(text) => Some(Value::Text(text.into())),
        Cell::Whole(number) => Some(Value::Whole(number)),
        Cell::Decimal(number) => Some(Value::Decimal(number)),
        _ => Some(Value::Other),
    }
}

fn time_of(cell: Cell, keys: &Keys) -> Result<Option<i64>, String> {
    let key = keys.time.as_str();
    match cell {
        Cell::Null => Ok(None),
        Cell::Milliseconds(ms) => {
            let ms = time::checked(ms);
            ms.map(Some).ok_or_else(|| format!("{key:?} is not in the years 1 to 9999"))
        }
        other => value(other).unwrap_or(Value::Null).time(key).map(Some),
    }
}

/// The rows of a file, in chunks.
struct Rows {
    documents: Documents,
    name: Arc<str>,
    keys: Arc<Keys>,
    /// The next rows, and the number of the first of them.
    rows: std::vec::IntoIter<[Cell; 3]>,
    number: u64,
    bytes: u64,
    progress: Arc<AtomicU64>,
}

/// Opens the texts of a file.
pub(super) fn open(path: &Path, keys: Arc<Keys>, progress: Arc<AtomicU64>) -> Result<Part, Broken> {
    let name: Arc<str> = escape(&path.to_string_lossy()).into();
    let broken = |why: String| Broken { at: name.to_string(), why: escape(&why) };
    let file = File::open(path).map_err(|e| broken(e.to_string()))?;
    let bytes = file.metadata().map_err(|e| broken(e.to_string()))?.len();
    let columns = [&keys.url, &keys.text, &keys.time].map(super::keys::Key::as_str);
    let documents = Documents::open(file, columns).map_err(broken)?;
    for (column, key) in columns.iter().enumerate().take(2) {
        if !documents.has(column) {
            let there = documents.names().join(", ");
            return Err(broken(format!("no column {key:?} among those there are: {there}")));
        }
    }
    if !documents.has(2) && keys.at.is_none() {
        let why = format!("no column {:?} with times, and --at says none", keys.time.as_str());
        return Err(broken(why));
    }
    let (rows, number) = (Vec::new().into_iter(), 1);
    Ok(Box::new(Rows { documents, name, keys, rows, number, bytes, progress }))
}

impl Rows {
    fn next_cut(&mut self) -> Option<Cut> {
        loop {
            if let Some(cells) = self.rows.next() {
                let (name, keys) = (Arc::clone(&self.name), Arc::clone(&self.keys));
                let number = self.number;
                self.number += 1;
                return Some(Cut::unread(ParquetRow { name, number, cells, keys }));
            }
            match self.documents.next() {
                Some(Ok(rows)) => self.rows = rows.into_iter(),
                Some(Err(why)) => {
                    let at = format!("{}, row {}", self.name, self.number);
                    return Some(Cut::Clear(Item::Broken(Broken { at, why: escape(&why) })));
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

impl Iterator for Rows {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        Chunk::gather(false, || self.next_cut())
    }
}
