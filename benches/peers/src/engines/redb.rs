//! Four tables in redb, filled in key order in one transaction. The cache holds all of them, and
//! all searches run in one read transaction.

use std::time::Instant;

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition, WriteTransaction};

use super::{Source, disk_bytes};
use crate::blocks::{Plan, REST_BITS, TABLES, entry, key};
use crate::bucket::{self, Reader};
use crate::engine::{Answers, Built, Engine, Hit};

/// The maximum size of the cache in bytes. It takes what it needs.
const CACHE_BYTES: usize = 16 << 30;

/// A row for each entry: the rotated fingerprint and the page, both big-endian.
type Row = &'static [u8; 12];
const ROWS: [TableDefinition<'static, Row, ()>; TABLES] = [
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

fn fill_urls(source: &Source<'_>, transaction: &WriteTransaction) {
    let mut table = transaction.open_table(URLS).unwrap();
    for (page, url) in source.urls() {
        table.insert(page, url.as_str()).unwrap();
    }
}

struct Rows {
    tables: [ReadOnlyTable<Row, ()>; TABLES],
    urls: ReadOnlyTable<u32, &'static str>,
    /// Kept alive: dropping the database closes it, even with readers open.
    _database: Database,
    plan: Plan,
    answers: Answers,
}

impl Engine for Rows {
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

    fn hits(&mut self, fingerprint: u64) -> Vec<Hit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each entry.
pub(crate) fn rows(source: &Source<'_>) -> Built {
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
    let (plan, answers) = (Plan::new(source.wanted), Answers::default());
    let urls = transaction.open_table(URLS).unwrap();
    let engine = Box::new(Rows { tables, urls, _database: database, plan, answers });
    let note = "a row an entry".to_owned();
    Built { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}

struct Buckets {
    tables: [ReadOnlyTable<u16, &'static [u8]>; TABLES],
    urls: ReadOnlyTable<u32, &'static str>,
    /// Kept alive: dropping the database closes it, even with readers open.
    _database: Database,
    plan: Plan,
    reader: Reader,
    answers: Answers,
}

impl Engine for Buckets {
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

    fn hits(&mut self, fingerprint: u64) -> Vec<Hit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each bucket.
pub(crate) fn buckets(source: &Source<'_>) -> Built {
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
    let reader = Reader::new(source.data.fingerprints.len());
    let (plan, answers) = (Plan::new(source.wanted), Answers::default());
    let urls = transaction.open_table(URLS).unwrap();
    let engine = Box::new(Buckets { tables, urls, _database: database, plan, reader, answers });
    let note = "a row a bucket".to_owned();
    Built { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}
