//! The rows of the golden catalog, byte by byte, according to `format/catalog.md`.

use std::collections::BTreeMap;

use redb::{ReadOnlyDatabase, ReadableDatabase, ReadableTable, TableDefinition};

use super::golden_store;

/// The rows of each table, by their keys.
pub(crate) struct CatalogRows {
    pub(crate) settings: BTreeMap<String, u64>,
    pub(crate) segments: BTreeMap<u64, Vec<u8>>,
    pub(crate) epochs: BTreeMap<u32, Vec<u8>>,
    /// Frames by their first sequence numbers. Each frame has one part.
    pub(crate) journals: [BTreeMap<u64, Vec<u8>>; 2],
}

impl CatalogRows {
    pub(crate) fn read() -> CatalogRows {
        let database = ReadOnlyDatabase::open(golden_store().join("catalog.redb")).unwrap();
        let read = database.begin_read().unwrap();
        let settings = read.open_table(TableDefinition::<&str, u64>::new("settings")).unwrap();
        let settings = settings.iter().unwrap().map(Result::unwrap);
        let segments = read.open_table(TableDefinition::<u64, &[u8]>::new("segments")).unwrap();
        let segments = segments.iter().unwrap().map(Result::unwrap);
        let epochs = read.open_table(TableDefinition::<u32, &[u8]>::new("epochs")).unwrap();
        let epochs = epochs.iter().unwrap().map(Result::unwrap);
        let journal = |name| {
            let table = read.open_table(TableDefinition::<(u64, u32), &[u8]>::new(name));
            // A journal that was dropped with its segment, or never written, does not exist.
            let rows = table.iter().flat_map(|table| table.iter().unwrap().map(Result::unwrap));
            rows.map(|(key, frame)| (key.value().0, frame.value().to_vec())).collect()
        };
        CatalogRows {
            settings: settings.map(|(k, v)| (k.value().to_owned(), v.value())).collect(),
            segments: segments.map(|(k, v)| (k.value(), v.value().to_vec())).collect(),
            epochs: epochs.map(|(k, v)| (k.value(), v.value().to_vec())).collect(),
            journals: ["journal_a", "journal_b"].map(journal),
        }
    }
}
