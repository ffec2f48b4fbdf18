//! Four databases in LMDB, appended in key order in one transaction each, directly into the map and
//! with one sync at the end. All searches run in one read transaction. Keys are big-endian bytes,
//! in LMDB's own order.
//!
//! Durable writes use LMDB's default flags: a commit writes its pages to the file and syncs them,
//! then writes the root synchronously.

use std::path::Path;
use std::time::Instant;

use heed::types::{Bytes, Str, Unit};
use heed::{
    CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, PutFlags, RoTxn, RwTxn, WithoutTls,
};

use super::{EngineInput, disk_bytes};
use crate::blocks::{BucketPlan, TABLES, entry, key, rotate};
use crate::bucket::{self, BucketReader};
use crate::engine::{BuiltEngine, PageToWrite, PeerAnswers, PeerHit, SearchEngine, WriteEngine};

/// A table that lives as long as the process. Keys are encoded here without an allocation.
type LmdbTable<V> = Database<'static, Bytes, V>;
type LmdbTransaction = RoTxn<'static, WithoutTls>;

fn open(dir: &Path, map_bytes: usize, flags: EnvFlags) -> Env<WithoutTls> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(map_bytes).max_dbs(TABLES as u32 + 1);
    #[expect(unsafe_code, reason = "the map and the flags of LMDB")]
    // SAFETY: the directory was created for this run. So no other process opens or changes the
    // file, and nobody needs it if the machine stops before it is synced.
    unsafe {
        options.flags(flags);
        options.open(dir).unwrap()
    }
}

/// Creates a table.
fn table<V: 'static>(env: &Env<WithoutTls>, name: &str) -> LmdbTable<V> {
    let created = env.create_databases_and_commit(env.write_txn().unwrap(), |opener, txn| {
        let table = opener.create_database::<Bytes, V>(txn, Some(name));
        table.map(CommitOrAbort::<_, ()>::Commit)
    });
    created.unwrap().unwrap_commit()
}

/// The URL of a page.
fn url(urls: &LmdbTable<Str>, transaction: &LmdbTransaction, page: u32) -> String {
    urls.get(transaction, &page.to_be_bytes()).unwrap().expect("each has one").to_owned()
}

/// Fills four databases with `put`, by number, and one with URLs if they are required.
fn fill<V: 'static>(
    source: &EngineInput<'_>,
    dir: &Path,
    put: impl Fn(usize, &LmdbTable<V>, &mut RwTxn<'_>),
) -> (LmdbTransaction, [LmdbTable<V>; TABLES], LmdbTable<Str>) {
    std::fs::create_dir(dir).unwrap();
    let map_bytes = (source.data.fingerprints.len() * 256).next_multiple_of(1 << 20) + (64 << 20);
    let env = open(dir, map_bytes, EnvFlags::WRITE_MAP | EnvFlags::NO_SYNC);
    // The transaction of all searches borrows the environment, which lives until the process ends.
    let env = Box::leak(Box::new(env));
    let tables = std::array::from_fn(|number| {
        let table = table(env, &number.to_string());
        let mut transaction = env.write_txn().unwrap();
        put(number, &table, &mut transaction);
        transaction.commit().unwrap();
        table
    });
    let urls: LmdbTable<Str> = table(env, "urls");
    let mut transaction = env.write_txn().unwrap();
    for (page, url) in source.urls() {
        let page = page.to_be_bytes();
        urls.put_with_flags(&mut transaction, PutFlags::APPEND, &page, &url).unwrap();
    }
    transaction.commit().unwrap();
    env.force_sync().unwrap();
    (env.read_txn().unwrap(), tables, urls)
}

struct LmdbRows {
    transaction: LmdbTransaction,
    tables: [LmdbTable<Unit>; TABLES],
    urls: LmdbTable<Str>,
    plan: BucketPlan,
    answers: PeerAnswers,
}

impl SearchEngine for LmdbRows {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, table) in self.tables.iter().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                let block = block.to_be_bytes();
                for found in table.prefix_iter(&self.transaction, &block).unwrap() {
                    let entry = entry(found.unwrap().0);
                    self.plan.report(number, fingerprint, entry, &mut self.answers.hits);
                }
            }
        }
        let url = |page| url(&self.urls, &self.transaction, page);
        self.answers.finish(self.plan.wanted, url)
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each entry.
pub(crate) fn rows(source: &EngineInput<'_>) -> BuiltEngine {
    let dir = source.dir.join("lmdb-rows");
    let start = Instant::now();
    let (transaction, tables, urls) = fill::<Unit>(source, &dir, |number, table, transaction| {
        for (rotated, page) in &source.tables.0[number] {
            table
                .put_with_flags(transaction, PutFlags::APPEND, &key(*rotated, *page), &())
                .unwrap();
        }
    });
    let filling = start.elapsed();
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let engine = Box::new(LmdbRows { transaction, tables, urls, plan, answers });
    let note = "a row an entry".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&dir)), note }
}

/// Writes rows for each entry. Tables can be used as long as the environment is open.
struct LmdbWriter {
    env: Env<WithoutTls>,
    tables: [LmdbTable<Unit>; TABLES],
    urls: LmdbTable<Str>,
}

impl WriteEngine for LmdbWriter {
    fn write(&mut self, pages: &[PageToWrite]) {
        let mut transaction = self.env.write_txn().unwrap();
        for (number, table) in self.tables.iter().enumerate() {
            for page in pages {
                let key = key(rotate(page.fingerprint, number), page.number);
                table.put(&mut transaction, &key, &()).unwrap();
            }
        }
        for page in pages {
            self.urls.put(&mut transaction, &page.number.to_be_bytes(), &page.url).unwrap();
        }
        transaction.commit().unwrap();
    }

    fn counts(&mut self) -> Vec<u64> {
        let transaction = self.env.read_txn().unwrap();
        let tables = self.tables.iter().map(|table| table.len(&transaction).unwrap());
        tables.chain([self.urls.len(&transaction).unwrap()]).collect()
    }

    fn contains(&mut self, page: &PageToWrite) -> bool {
        let transaction = self.env.read_txn().unwrap();
        let url = self.urls.get(&transaction, &page.number.to_be_bytes()).unwrap();
        url == Some(&page.url)
            && self.tables.iter().enumerate().all(|(number, table)| {
                let key = key(rotate(page.fingerprint, number), page.number);
                table.get(&transaction, &key).unwrap().is_some()
            })
    }
}

/// Opens tables with a row for each entry.
pub(crate) fn writer(dir: &Path, pages: usize) -> Box<dyn WriteEngine> {
    // The file grows with its data. Pages that a commit replaced are reused two commits later.
    let map_bytes = (pages * 1024).next_multiple_of(1 << 20) + (1 << 30);
    let env = open(dir, map_bytes, EnvFlags::empty());
    let tables = std::array::from_fn(|number| table(&env, &number.to_string()));
    let urls = table(&env, "urls");
    Box::new(LmdbWriter { env, tables, urls })
}

struct LmdbBuckets {
    transaction: LmdbTransaction,
    tables: [LmdbTable<Bytes>; TABLES],
    urls: LmdbTable<Str>,
    plan: BucketPlan,
    reader: BucketReader,
    answers: PeerAnswers,
}

impl SearchEngine for LmdbBuckets {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        for (number, table) in self.tables.iter().enumerate() {
            for block in self.plan.blocks(number, fingerprint) {
                if let Some(bucket) = table.get(&self.transaction, &block.to_be_bytes()).unwrap() {
                    let hits = &mut self.answers.hits;
                    self.reader.read(&self.plan, number, fingerprint, bucket, hits);
                }
            }
        }
        let url = |page| url(&self.urls, &self.transaction, page);
        self.answers.finish(self.plan.wanted, url)
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds tables with a row for each bucket.
pub(crate) fn buckets(source: &EngineInput<'_>) -> BuiltEngine {
    let dir = source.dir.join("lmdb-buckets");
    let start = Instant::now();
    let (transaction, tables, urls) = fill::<Bytes>(source, &dir, |number, table, transaction| {
        let mut value = Vec::new();
        for (block, entries) in source.tables.buckets(number) {
            bucket::encode(entries, &mut value);
            let block = block.to_be_bytes();
            table.put_with_flags(transaction, PutFlags::APPEND, &block, &value).unwrap();
        }
    });
    let filling = start.elapsed();
    let reader = BucketReader::new(source.data.fingerprints.len());
    let (plan, answers) = (BucketPlan::new(source.wanted), PeerAnswers::default());
    let engine = Box::new(LmdbBuckets { transaction, tables, urls, plan, reader, answers });
    let note = "a row a bucket".to_owned();
    BuiltEngine { engine, filling, sorted: true, bytes: Some(disk_bytes(&dir)), note }
}
