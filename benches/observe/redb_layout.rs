//! The peer: the same observations in redb, in the most obvious layout.
//!
//! One table has one row per page. Its key is the URL with the host reversed, so that a site's
//! pages are contiguous. A row is a packed head and all visits, 32 bytes each. An observation reads
//! the row, appends the visit and writes the row. A batch is one durable commit. There is no search
//! for near fingerprints.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use redb::{Database, ReadableTable, StorageBackend, TableDefinition};

use crate::load::{LoadVisit, ObserveBatch, ObserveLoad};
use crate::measure::CallTimes;
use simkeep_testing::bench::report::{BenchReport, BenchRow};

const PAGES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("pages");
/// First time, last time, visits.
const HEAD_BYTES: usize = 8 + 8 + 4;
/// Time, fingerprint, digest.
const VISIT_BYTES: usize = 8 + 8 + 16;

/// Observes until `urls` pages are known, in batches of `batch`. Returns observations per second.
pub(crate) fn run(report: &BenchReport, dir: &Path, seed: u64, urls: usize, batch: usize) -> f64 {
    let path = dir.join("peer.redb");
    let totals = Arc::new(IoTotals::default());
    let backend = CountingFile { file: create(&path), totals: Arc::clone(&totals) };
    let database = Database::builder().create_with_backend(backend).unwrap();
    let batches = ObserveLoad::new(seed, urls).batches(batch);
    let mut calls = CallTimes::default();
    let start = Instant::now();
    for observes in &batches {
        calls.time(observes.len(), || observe_batch(&database, observes));
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = calls.observes() as f64 / seconds;
    // The last bytes are written when the file is closed.
    drop(database);
    let written = totals.bytes_written.load(Ordering::Relaxed);
    let syncs = totals.syncs.load(Ordering::Relaxed);
    report.print(
        BenchRow::new("observe")
            .text("engine", "redb")
            .count("urls", urls as u64)
            .count("batch", batch as u64)
            .count("observes", calls.observes())
            .number("observes_per_second", rate)
            .number("seconds", seconds)
            .number("bytes_written_per_observe", written as f64 / calls.observes() as f64)
            .number("syncs_per_observe", syncs as f64 / calls.observes() as f64)
            .count("disk_bytes", path.metadata().unwrap().len())
            .and(|row| calls.add(row)),
    );
    std::fs::remove_file(&path).unwrap();
    rate
}

fn create(path: &Path) -> File {
    File::options().read(true).write(true).create_new(true).open(path).unwrap()
}

fn observe_batch(database: &Database, batch: &ObserveBatch) {
    let mut transaction = database.begin_write().unwrap();
    transaction.set_durability(redb::Durability::Immediate).unwrap();
    {
        let mut table = transaction.open_table(PAGES).unwrap();
        let (mut key, mut row) = (Vec::new(), Vec::new());
        for (url, observe) in batch.iter() {
            key.clear();
            push_key(url, &mut key);
            row.clear();
            match table.get(key.as_slice()).unwrap() {
                Some(known) => row.extend_from_slice(known.value()),
                None => row.resize(HEAD_BYTES, 0),
            }
            black_box(append(&mut row, observe));
            table.insert(key.as_slice(), row.as_slice()).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// Appends a visit to a row, and returns its distance to the previous one, which is the basis of a
/// verdict.
fn append(row: &mut Vec<u8>, observe: &LoadVisit) -> Option<u32> {
    let visits = u32::from_le_bytes(row[16..20].try_into().unwrap());
    let distance = (visits > 0).then(|| {
        let last = row.len() - VISIT_BYTES;
        let before = u64::from_le_bytes(row[last + 8..last + 16].try_into().unwrap());
        (before ^ observe.fingerprint).count_ones()
    });
    let time = observe.time.to_le_bytes();
    if visits == 0 {
        row[0..8].copy_from_slice(&time);
    }
    row[8..16].copy_from_slice(&time);
    row[16..20].copy_from_slice(&(visits + 1).to_le_bytes());
    row.extend_from_slice(&time);
    row.extend_from_slice(&observe.fingerprint.to_le_bytes());
    row.extend_from_slice(&observe.digest);
    distance
}

/// Converts `https://www.host.example/path` to `example,host,www)/path)https`.
fn push_key(url: &str, out: &mut Vec<u8>) {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    for (i, label) in host.rsplit('.').enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(label.as_bytes());
    }
    out.push(b')');
    out.extend_from_slice(path.as_bytes());
    out.push(b')');
    out.extend_from_slice(scheme.as_bytes());
}

#[derive(Debug, Default)]
struct IoTotals {
    bytes_written: AtomicU64,
    syncs: AtomicU64,
}

/// A file that counts the bytes written to it.
#[derive(Debug)]
struct CountingFile {
    file: File,
    totals: Arc<IoTotals>,
}

impl StorageBackend for CountingFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.totals.syncs.fetch_add(1, Ordering::Relaxed);
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.totals.bytes_written.fetch_add(data.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(data, offset)
    }
}
