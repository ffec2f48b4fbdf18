//! Four tables in SQLite, filled in key order in one transaction. The whole file is mapped, and all
//! searches run in one read transaction with prepared statements. A function registered with SQLite
//! counts distances, so that only near entries are returned as rows. That took an eighth less time
//! than counting here for all rows.
//!
//! Durable writes use a write-ahead log, which each commit syncs, and statements that are prepared
//! once.

use std::path::Path;
use std::time::Instant;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Statement};

use super::{EngineInput, disk_bytes};
use crate::blocks::{BucketPlan, REST_BITS, TABLES, block, rotate};
use crate::bucket::{self, BucketReader};
use crate::engine::{BuiltEngine, PageToWrite, PeerAnswers, PeerHit, SearchEngine, WriteEngine};

/// The settings of every connection: all pages are in memory, and no other process reads them.
const IN_MEMORY: &str = "PRAGMA page_size = 4096; PRAGMA locking_mode = EXCLUSIVE; \
                         PRAGMA mmap_size = 2147418112; PRAGMA cache_size = -2000000; \
                         PRAGMA temp_store = MEMORY;";
/// Each table of entries, which consist of their keys only.
const ROWS: &str = "CREATE TABLE IF NOT EXISTS t{} \
                    (f INTEGER, page INTEGER, PRIMARY KEY (f, page)) WITHOUT ROWID;";
const INSERT_ROW: &str = "INSERT INTO t{} VALUES (?, ?)";
/// The URL of each page.
const URLS: &str = "CREATE TABLE IF NOT EXISTS urls (page INTEGER PRIMARY KEY, url TEXT);";
const INSERT_URL: &str = "INSERT INTO urls VALUES (?, ?)";
const SELECT_URL: &str = "SELECT url FROM urls WHERE page = ?";

/// Creates the connection, which lives as long as the process, because its statements borrow it.
fn create(source: &EngineInput<'_>, path: &Path, schema: &str) -> &'static Connection {
    let connection = Connection::open(path).unwrap();
    let k = source.wanted.k;
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let near = move |numbers: &Context<'_>| {
        let differing = numbers.get_raw(0).as_i64()? ^ numbers.get_raw(1).as_i64()?;
        Ok(differing.count_ones() <= k)
    };
    connection.create_scalar_function("near", 2, flags, near).unwrap();
    connection.execute_batch(IN_MEMORY).unwrap();
    let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;";
    connection.execute_batch(pragmas).unwrap();
    connection.execute_batch(schema).unwrap();
    Box::leak(Box::new(connection))
}

/// Adds URLs if they are required, commits, and begins the transaction of all searches.
fn finish(source: &EngineInput<'_>, connection: &'static Connection) -> Statement<'static> {
    connection.execute_batch(URLS).unwrap();
    let mut insert = connection.prepare(INSERT_URL).unwrap();
    for row in source.urls() {
        insert.execute(row).unwrap();
    }
    connection.execute_batch("COMMIT; PRAGMA optimize; BEGIN;").unwrap();
    connection.prepare(SELECT_URL).unwrap()
}

/// The URL of a page.
fn url(urls: &mut Statement<'_>, page: u32) -> String {
    urls.query_one([page], |row| row.get(0)).unwrap()
}

/// A statement, prepared for each table.
fn prepare(connection: &'static Connection, sql: &str) -> [Statement<'static>; TABLES] {
    std::array::from_fn(|number| connection.prepare(&of_table(sql, number)).unwrap())
}

/// A statement for one table.
fn of_table(sql: &str, number: usize) -> String {
    sql.replace("{}", &number.to_string())
}

fn schema(sql: &str) -> String {
    (0..TABLES).map(|number| of_table(sql, number)).collect()
}

/// Searches ranges of rows with the rotated fingerprints of each table.
struct SqliteRows {
    statements: [Statement<'static>; TABLES],
    urls: Statement<'static>,
    /// Whether rows have the original fingerprint, found by its block.
    by_block: bool,
    plan: BucketPlan,
    answers: PeerAnswers,
}

impl SearchEngine for SqliteRows {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, statement) in self.statements.iter_mut().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                let first = u64::from(block) << REST_BITS;
                let last = first | ((1 << REST_BITS) - 1);
                let rotated = rotate(fingerprint, number);
                let mut rows = if self.by_block {
                    statement.query([block.into(), fingerprint.cast_signed()]).unwrap()
                } else {
                    statement.query([first, last, rotated].map(u64::cast_signed)).unwrap()
                };
                while let Some(row) = rows.next().unwrap() {
                    let found = row.get_ref_unwrap(0).as_i64().unwrap().cast_unsigned();
                    let found = if self.by_block { rotate(found, number) } else { found };
                    let entry = (found, row.get_unwrap(1));
                    self.plan.report(number, fingerprint, entry, &mut self.answers.hits);
                }
            }
        }
        self.answers.finish(self.plan.wanted, |page| url(&mut self.urls, page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds four tables with a row for each entry.
pub(crate) fn rows(source: &EngineInput<'_>) -> BuiltEngine {
    let path = source.dir.join("rows.sqlite");
    let start = Instant::now();
    let connection = create(source, &path, &schema(ROWS));
    let inserts = prepare(connection, INSERT_ROW);
    for (mut insert, entries) in inserts.into_iter().zip(&source.tables.0) {
        // In the order of signed numbers, the larger half comes first.
        let (low, high) = entries.split_at(entries.partition_point(|(f, _)| *f < 1 << 63));
        for (rotated, page) in high.iter().chain(low) {
            insert.execute((rotated.cast_signed(), page)).unwrap();
        }
    }
    let urls = finish(source, connection);
    let filling = start.elapsed();
    let select = "SELECT f, page FROM t{} WHERE f BETWEEN ? AND ? AND near(f, ?)";
    let statements = prepare(connection, select);
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let engine = Box::new(SqliteRows { statements, urls, by_block: false, plan, answers });
    let note = "a row an entry".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}

/// Writes rows for each entry.
struct SqliteWriter {
    connection: Connection,
}

impl WriteEngine for SqliteWriter {
    fn write(&mut self, pages: &[PageToWrite]) {
        let transaction = self.connection.transaction().unwrap();
        for number in 0..TABLES {
            let mut insert = transaction.prepare_cached(&of_table(INSERT_ROW, number)).unwrap();
            for page in pages {
                let rotated = rotate(page.fingerprint, number);
                insert.execute((rotated.cast_signed(), page.number)).unwrap();
            }
        }
        {
            let mut insert = transaction.prepare_cached(INSERT_URL).unwrap();
            for page in pages {
                insert.execute((page.number, &page.url)).unwrap();
            }
        }
        transaction.commit().unwrap();
    }

    fn counts(&mut self) -> Vec<u64> {
        let tables = (0..TABLES).map(|number| of_table("t{}", number));
        let count = |table: String| {
            let count = format!("SELECT count(*) FROM {table}");
            let rows: i64 = self.connection.query_one(&count, [], |row| row.get(0)).unwrap();
            rows.cast_unsigned()
        };
        tables.chain(["urls".to_owned()]).map(count).collect()
    }

    fn contains(&mut self, page: &PageToWrite) -> bool {
        let mut urls = self.connection.prepare_cached(SELECT_URL).unwrap();
        url(&mut urls, page.number) == page.url
            && (0..TABLES).all(|number| {
                let select = of_table("SELECT 1 FROM t{} WHERE f = ? AND page = ?", number);
                let rotated = rotate(page.fingerprint, number);
                let mut select = self.connection.prepare_cached(&select).unwrap();
                select.exists((rotated.cast_signed(), page.number)).unwrap()
            })
    }
}

/// Opens four tables with a row for each entry.
pub(crate) fn writer(dir: &Path, _pages: usize) -> Box<dyn WriteEngine> {
    let connection = Connection::open(dir.join("rows.sqlite")).unwrap();
    connection.execute_batch(IN_MEMORY).unwrap();
    // A checkpoint every 64 MB. The default, every 4 MB, is a checkpoint after each batch if there
    // are many pages, and batches took half as long again.
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                   PRAGMA wal_autocheckpoint = 16000;";
    connection.execute_batch(pragmas).unwrap();
    let mode: String = connection.query_one("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    connection.execute_batch(&schema(ROWS)).unwrap();
    connection.execute_batch(URLS).unwrap();
    Box::new(SqliteWriter { connection })
}

/// Builds one table with four columns of blocks, and a covering index on each.
pub(crate) fn indexes(source: &EngineInput<'_>) -> BuiltEngine {
    let path = source.dir.join("indexes.sqlite");
    let start = Instant::now();
    let table = "CREATE TABLE pages (page INTEGER PRIMARY KEY, f INTEGER, \
                 b0 INTEGER, b1 INTEGER, b2 INTEGER, b3 INTEGER);";
    let connection = create(source, &path, table);
    let insert = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)";
    let mut insert = connection.prepare(insert).unwrap();
    for (f, page) in source.data.pages() {
        let [b0, b1, b2, b3] = std::array::from_fn(|number| block(rotate(f, number)));
        insert.execute((page, f.cast_signed(), b0, b1, b2, b3)).unwrap();
    }
    connection.execute_batch(&schema("CREATE INDEX i{} ON pages (b{}, f);")).unwrap();
    let urls = finish(source, connection);
    let filling = start.elapsed();
    let select = "SELECT f, page FROM pages INDEXED BY i{} WHERE b{} = ? AND near(f, ?)";
    let statements = prepare(connection, select);
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let engine = Box::new(SqliteRows { statements, urls, by_block: true, plan, answers });
    let note = "one table, four covering indexes".to_owned();
    BuiltEngine { engine, filling, sorted: false, bytes: Some(disk_bytes(&path)), note }
}

struct SqliteBuckets {
    statements: [Statement<'static>; TABLES],
    urls: Statement<'static>,
    plan: BucketPlan,
    reader: BucketReader,
    answers: PeerAnswers,
}

impl SearchEngine for SqliteBuckets {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, statement) in self.statements.iter_mut().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                let mut rows = statement.query([i64::from(block)]).unwrap();
                if let Some(row) = rows.next().unwrap() {
                    let bucket = row.get_ref_unwrap(0).as_blob().unwrap();
                    let hits = &mut self.answers.hits;
                    self.reader.read(&self.plan, number, fingerprint, bucket, hits);
                }
            }
        }
        self.answers.finish(self.plan.wanted, |page| url(&mut self.urls, page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each bucket.
pub(crate) fn buckets(source: &EngineInput<'_>) -> BuiltEngine {
    let path = source.dir.join("buckets.sqlite");
    let start = Instant::now();
    let table = "CREATE TABLE t{} (block INTEGER PRIMARY KEY, entries BLOB);";
    let connection = create(source, &path, &schema(table));
    let inserts = prepare(connection, INSERT_ROW);
    let mut value = Vec::new();
    for (number, mut insert) in inserts.into_iter().enumerate() {
        for (block, entries) in source.tables.buckets(number) {
            bucket::encode(entries, &mut value);
            insert.execute((block, &value)).unwrap();
        }
    }
    let urls = finish(source, connection);
    let filling = start.elapsed();
    let statements = prepare(connection, "SELECT entries FROM t{} WHERE block = ?");
    let reader = BucketReader::new(source.data.fingerprints.len());
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let engine = Box::new(SqliteBuckets { statements, urls, plan, reader, answers });
    let note = "a row a bucket".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&path)), note }
}
