//! Four tables in redb, filled in key order in one transaction. The cache holds all of them, and
//! all searches run in one read transaction.
//!
//! Durable writes use redb's default durability: a commit syncs its pages and the root.

use std::path::Path;
use std::time::Instant;

use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTableMetadata, TableDefinition,
    WriteTransaction,
};

use super::{EngineInput, disk_bytes};
use crate::blocks::{BucketPlan, REST_BITS, TABLES, entry, key, rotate};
use crate::bucket::{self, BucketReader};
use crate::engine::{BuiltEngine, PageToWrite, PeerAnswers, PeerHit, SearchEngine, WriteEngine};

/// The maximum size of the cache in bytes. It takes what it needs.
const CACHE_BYTES: usize = 16 << 30;

/// A row for each entry: the rotated fingerprint and the page, both big-endian.
type RedbEntry = &'static [u8; 12];
const ROWS: [TableDefinition<'static, RedbEntry, ()>; TABLES] = [
    TableDefinition::new("0"),
    TableDefinition::new("1"),
    TableDefinition::new("2"),
    TableDefinition::new("3"),
];

/// A row for each bucket.
const BUCKETS: [TableDefinition<'static, u16, &[u8]>; TABLES] = [
    TableDefinition::new("0"),
    TableDefinition::new("1"),
    TableDefinition::new("2"),
    TableDefinition::new("3"),
];

/// The URL of each page, if URLs are required.
const URLS: TableDefinition<'static, u32, &str> = TableDefinition::new("urls");

fn fill_urls(source: &EngineInput<'_>, transaction: &WriteTransaction) {
    let mut table = transaction.open_table(URLS).unwrap();
    for (page, url) in source.urls() {
        table.insert(page, url.as_str()).unwrap();
    }
}

struct RedbRows {
    tables: [ReadOnlyTable<RedbEntry, ()>; TABLES],
    urls: ReadOnlyTable<u32, &'static str>,
    /// Kept alive: dropping the database closes it, even with readers open.
    _database: Database,
    plan: BucketPlan,
    answers: PeerAnswers,
}

impl SearchEngine for RedbRows {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, table) in self.tables.iter().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                let first = u64::from(block) << REST_BITS;
                let last = key(first | ((1 << REST_BITS) - 1), u32::MAX);
                let first = key(first, 0);
                for found in table.range::<&[u8; 12]>(&first..=&last).unwrap() {
                    let (found, _) = found.unwrap();
                    self.plan.report(
                        number,
                        fingerprint,
                        entry(found.value()),
                        &mut self.answers.hits,
                    );
                }
            }
        }
        let url = |page| self.urls.get(page).unwrap().expect("each has one").value().to_owned();
        self.answers.finish(self.plan.wanted, url)
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each entry.
pub(crate) fn rows(source: &EngineInput<'_>) -> BuiltEngine {
    let path = source.dir.join("rows.redb");
    let start = Instant::now();
    let database = Database::builder().set_cache_size(CACHE_BYTES).create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    for (table, entries) in ROWS.iter().zip(&source.tables.0) {
        let mut table = transaction.open_table(*table).unwrap();
        for (rotated, page) in entries {
            table.insert(&key(*rotated, *page), ()).unwrap();
        }
    }
    fill_urls(source, &transaction);
    transaction.commit().unwrap();
    let filling = start.elapsed();
    let transaction = database.begin_read().unwrap();
    let tables = ROWS.map(|table| transaction.open_table(table).unwrap());
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let urls = transaction.open_table(URLS).unwrap();
    let engine = Box::new(RedbRows { tables, urls, _database: database, plan, answers });
    let note = "a row an entry".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}

/// Writes rows for each entry.
struct RedbWriter {
    database: Database,
}

impl WriteEngine for RedbWriter {
    fn write(&mut self, pages: &[PageToWrite]) {
        let mut transaction = self.database.begin_write().unwrap();
        transaction.set_durability(Durability::Immediate).unwrap();
        for (number, table) in ROWS.iter().enumerate() {
            let mut table = transaction.open_table(*table).unwrap();
            for page in pages {
                let key = key(rotate(page.fingerprint, number), page.number);
                table.insert(&key, ()).unwrap();
            }
        }
        {
            let mut urls = transaction.open_table(URLS).unwrap();
            for page in pages {
                urls.insert(page.number, page.url.as_str()).unwrap();
            }
        }
        transaction.commit().unwrap();
    }

    fn counts(&mut self) -> Vec<u64> {
        let transaction = self.database.begin_read().unwrap();
        let tables = ROWS.iter().map(|table| transaction.open_table(*table).unwrap().len());
        let urls = transaction.open_table(URLS).unwrap().len();
        tables.chain([urls]).map(|count| count.unwrap()).collect()
    }

    fn contains(&mut self, page: &PageToWrite) -> bool {
        let transaction = self.database.begin_read().unwrap();
        let urls = transaction.open_table(URLS).unwrap();
        urls.get(page.number).unwrap().is_some_and(|url| url.value() == page.url)
            && ROWS.iter().enumerate().all(|(number, table)| {
                let table = transaction.open_table(*table).unwrap();
                let key = key(rotate(page.fingerprint, number), page.number);
                table.get(&key).unwrap().is_some()
            })
    }
}

/// Opens tables with a row for each entry.
pub(crate) fn writer(dir: &Path, _pages: usize) -> Box<dyn WriteEngine> {
    let path = dir.join("rows.redb");
    let database = Database::builder().set_cache_size(CACHE_BYTES).create(path).unwrap();
    Box::new(RedbWriter { database })
}

struct RedbBuckets {
    tables: [ReadOnlyTable<u16, &'static [u8]>; TABLES],
    urls: ReadOnlyTable<u32, &'static str>,
    /// Kept alive: dropping the database closes it, even with readers open.
    _database: Database,
    plan: BucketPlan,
    reader: BucketReader,
    answers: PeerAnswers,
}

impl SearchEngine for RedbBuckets {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, table) in self.tables.iter().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                if let Some(bucket) = table.get(block).unwrap() {
                    let (bucket, hits) = (bucket.value(), &mut self.answers.hits);
                    self.reader.read(&self.plan, number, fingerprint, bucket, hits);
                }
            }
        }
        let url = |page| self.urls.get(page).unwrap().expect("each has one").value().to_owned();
        self.answers.finish(self.plan.wanted, url)
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each bucket.
pub(crate) fn buckets(source: &EngineInput<'_>) -> BuiltEngine {
    let path = source.dir.join("buckets.redb");
    let start = Instant::now();
    let database = Database::builder().set_cache_size(CACHE_BYTES).create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    let mut value = Vec::new();
    for (number, table) in BUCKETS.iter().enumerate() {
        let mut table = transaction.open_table(*table).unwrap();
        for (block, entries) in source.tables.buckets(number) {
            bucket::encode(entries, &mut value);
            table.insert(block, value.as_slice()).unwrap();
        }
    }
    fill_urls(source, &transaction);
    transaction.commit().unwrap();
    let filling = start.elapsed();
    let transaction = database.begin_read().unwrap();
    let tables = BUCKETS.map(|table| transaction.open_table(table).unwrap());
    let reader = BucketReader::new(source.data.fingerprints.len());
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let urls = transaction.open_table(URLS).unwrap();
    let engine = Box::new(RedbBuckets { tables, urls, _database: database, plan, reader, answers });
    let note = "a row a bucket".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}
