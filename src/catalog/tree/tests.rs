//! Compares the reader with redb itself, on sound files and on damaged ones.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle};
use xxhash_rust::xxh3::xxh3_64;

use super::header::HEADER_BYTES;
use super::*;
use crate::catalog::backend::{ClosableFile, FileBackend};
use crate::disk::{Access, Disk, DiskFile, SimDisk};

const TEXTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("texts");
const NUMBERS: TableDefinition<'_, u64, u64> = TableDefinition::new("numbers");
const PARTS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("parts");

type RowMap = BTreeMap<Vec<u8>, Vec<u8>>;

/// A transaction: written and removed rows.
#[derive(Clone, Debug)]
struct RowChanges {
    rows: Vec<(u16, usize)>,
    removed: Vec<u16>,
}

fn changes() -> impl Strategy<Value = Vec<RowChanges>> {
    let len = prop_oneof![4 => 0..100usize, 1 => 3000..70_000usize];
    let rows = prop::collection::vec((0..400u16, len), 0..60);
    let change = (rows, prop::collection::vec(0..400u16, 0..20));
    prop::collection::vec(change.prop_map(|(rows, removed)| RowChanges { rows, removed }), 1..6)
}

fn content(n: u16, len: usize) -> Vec<u8> {
    vec![n.to_le_bytes()[0]; len]
}

/// A database after some transactions, either crashed or closed.
fn database(changes: &[RowChanges], closed: bool) -> (SimDisk, [RowMap; 3]) {
    let disk = SimDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let file = shared.open(FileName::Catalog, Access::Create).unwrap();
    let database =
        Database::builder().create_with_backend(FileBackend::new(ClosableFile::new(file))).unwrap();
    for change in changes {
        let mut transaction = database.begin_write().unwrap();
        transaction.set_two_phase_commit(true);
        {
            let mut texts = transaction.open_table(TEXTS).unwrap();
            let mut numbers = transaction.open_table(NUMBERS).unwrap();
            let mut parts = transaction.open_table(PARTS).unwrap();
            for &(n, len) in &change.rows {
                let name = format!("{n}-{}", "x".repeat(usize::from(n % 50)));
                texts.insert(name.as_str(), content(n, len % 500).as_slice()).unwrap();
                numbers.insert(u64::from(n), len as u64).unwrap();
                parts.insert((u64::from(n), 3), content(n, len).as_slice()).unwrap();
            }
            for &n in &change.removed {
                numbers.remove(u64::from(n)).unwrap();
                parts.remove((u64::from(n), 3)).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    let left = disk.crash_all_kept();
    let mut rows = [const { RowMap::new() }; 3];
    let read = database.begin_read().unwrap();
    for row in read.open_table(TEXTS).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        rows[0].insert(key.value().as_bytes().to_vec(), value.value().to_vec());
    }
    for row in read.open_table(NUMBERS).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        rows[1].insert(key.value().to_le_bytes().to_vec(), value.value().to_le_bytes().to_vec());
    }
    for row in read.open_table(PARTS).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        let (sequence, part) = key.value();
        let key = [&sequence.to_le_bytes()[..], &part.to_le_bytes()].concat();
        rows[2].insert(key, value.value().to_vec());
    }
    drop((read, database));
    (if closed { disk } else { left }, rows)
}

/// Returns all rows of a file, and the number of its flaws.
fn read_all(disk: &SimDisk) -> (Result<[RowMap; 3]>, usize) {
    let mut flaws = 0;
    let mut flaw = |_| {
        flaws += 1;
        Ok(())
    };
    let file = disk.open(FileName::Catalog, Access::Read).unwrap();
    let rows = RedbTree::open(&*file, &mut flaw).and_then(|mut tree| {
        let mut rows = [const { RowMap::new() }; 3];
        for table in tree.tables()? {
            let names = [TEXTS.name(), NUMBERS.name(), PARTS.name()];
            // Damaged tables may have any name.
            let Some(place) = names.iter().position(|name| *name == table.name) else {
                continue;
            };
            tree.rows(&table, &mut |row| {
                rows[place].insert(row.key.to_vec(), row.value.to_vec());
                Ok(())
            })?;
        }
        tree.check_system()?;
        Ok(rows)
    });
    (rows, flaws)
}

#[test]
fn every_flipped_header_bit_is_detected_or_harmless() {
    let change = RowChanges { rows: vec![(7, 80)], removed: vec![] };
    for closed in [false, true] {
        let (disk, expected) = database(&[change.clone(), change.clone()], closed);
        let file =
            disk.contents().into_iter().find(|(name, _)| *name == FileName::Catalog).unwrap();
        let mut detected = 0;
        // A flip of the byte that selects the last commit is detected by the mark.
        for at in (0..HEADER_BYTES).filter(|at| *at != 9) {
            for bit in 0..8 {
                let mut damaged = file.1.clone();
                damaged[at] ^= 1 << bit;
                let (rows, flaws) = read_all(&SimDisk::of([(FileName::Catalog, damaged)]));
                detected += usize::from(rows.is_err() || flaws > 0);
                assert!(flaws > 0 || rows.is_err() || rows.unwrap() == expected, "{at}");
            }
        }
        assert!(detected > 1000, "{detected}");
    }
}

/// A file whose header differs at each read, until the last one repeats.
#[derive(Debug)]
struct ChangingHeaderFile(Mutex<Vec<Vec<u8>>>);

impl DiskFile for ChangingHeaderFile {
    fn size(&self) -> io::Result<u64> {
        Ok(1 << 20)
    }
    fn read_at(&self, _: u64, buf: &mut [u8]) -> io::Result<()> {
        let mut headers = self.0.lock().unwrap();
        let header = if headers.len() > 1 { headers.remove(0) } else { headers[0].clone() };
        buf.copy_from_slice(&header);
        Ok(())
    }
    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        unreachable!()
    }
    fn set_len(&self, _: u64) -> io::Result<()> {
        unreachable!()
    }
    fn sync(&self) -> io::Result<()> {
        unreachable!()
    }
}

#[test]
fn header_read_during_a_change_names_only_real_commits() {
    // Makes a header in which the first or the second slot is primary, and each slot has the commit
    // with the given number.
    let header = |primary: u8, first: u8, second: u8| {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[9] = primary;
        bytes[64..192].fill(first);
        bytes[192..320].fill(second);
        bytes
    };
    let read = |headers: &[Vec<u8>]| {
        let file = ChangingHeaderFile(Mutex::new(headers.to_vec()));
        let head = RawHeader::read_concurrently(&file).unwrap();
        head.map(|head| head.bytes().to_vec())
    };
    // The primary byte belongs to commit 4, and the slot already has commit 6, which is not
    // committed yet.
    let torn = header(0, 6, 5);
    assert_eq!(read(&[torn.clone(), header(1, 6, 5)]), Some(header(1, 6, 5)));
    assert_eq!(read(&[torn, header(0, 6, 7)]), Some(header(0, 6, 7)), "it was made by then");
    // The slot has commit 3, and the primary byte belongs to commit 5.
    let torn = header(1, 4, 3);
    assert_eq!(read(&[torn, header(1, 4, 5), header(1, 6, 5)]), Some(header(1, 6, 5)));
    // Reading stops if the header never settles.
    let restless: Vec<_> = (0..200).map(|n| header(n % 2, n, n)).collect();
    assert_eq!(read(&restless), None);
}

/// This library reads files of redb, so redb is pinned to one release. If a newer release writes
/// other bytes, this test fails, even if the newer release can read the old bytes.
#[test]
fn redb_writes_known_bytes() {
    let rows = |from: u16, bytes| (from..from + 100).map(|n| (n, bytes)).collect();
    let changes = [
        RowChanges { rows: rows(0, 40), removed: vec![] },
        RowChanges { rows: rows(50, 9_000), removed: (0..30).collect() },
    ];
    let (disk, _) = database(&changes, true);
    let written = disk.contents().remove(0).1;
    assert_eq!((written.len(), xxh3_64(&written)), (1_724_416, 14_150_571_344_081_400_476));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tree_reader_agrees_with_redb(changes in changes(), closed: bool) {
        let (disk, expected) = database(&changes, closed);
        let (rows, flaws) = read_all(&disk);
        prop_assert_eq!(flaws, 0);
        prop_assert!(rows.unwrap() == expected);
    }

    /// Damage is reported, or makes no difference. Reading takes no more memory and time than the
    /// size of the file justifies.
    #[test]
    fn bit_flip_is_detected_or_harmless(
        changes in changes(),
        closed: bool,
        places in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..40),
    ) {
        let (disk, expected) = database(&changes, closed);
        let file = disk.contents().into_iter().find(|(name, _)| *name == FileName::Catalog).unwrap();
        for (place, bit) in places {
            let mut damaged = file.1.clone();
            *place.get_mut(&mut damaged) ^= 1 << bit;
            if damaged[9] != file.1[9] {
                // The result may be the previous commit, which the mark detects.
                continue;
            }
            let (rows, flaws) = read_all(&SimDisk::of([(FileName::Catalog, damaged)]));
            // A damaged header is an error at once.
            prop_assert!(flaws > 0 || rows.is_err() || rows.is_ok_and(|rows| rows == expected));
        }
    }
}

/// Rows of three kinds.
type ScannedRows = [Vec<(Vec<u8>, Vec<u8>)>; 3];

const KINDS: [Widths; 3] = [
    Widths { key: None, value: None },
    Widths { key: Some(8), value: Some(8) },
    Widths { key: Some(12), value: None },
];

/// The rows of each kind in a file without a header, whatever pages contain the rows; the names of
/// tables with the checksums of their roots; the checksums of pages and of their children.
struct HeaderlessScan {
    rows: ScannedRows,
    roots: Vec<(String, Option<u128>)>,
    sums: Vec<u128>,
    children: Vec<u128>,
}

fn headless(disk: &SimDisk) -> HeaderlessScan {
    let (name, mut file) = disk.contents().remove(0);
    file[..4096].fill(0xee);
    let disk = SimDisk::of([(name, file)]);
    let file = disk.open(name, Access::Read).unwrap();
    let mut found = HeaderlessScan {
        rows: [const { Vec::new() }; 3],
        roots: Vec::new(),
        sums: Vec::new(),
        children: Vec::new(),
    };
    scan(&*file, &mut |page| {
        for (widths, rows) in KINDS.iter().zip(&mut found.rows) {
            rows.extend(
                page.rows(*widths).iter().map(|row| (row.key.to_vec(), row.value.to_vec())),
            );
            found.sums.extend(page.sum(*widths));
        }
        found.roots.extend(page.tables());
        found.children.extend(page.children(KINDS[2]));
        Ok(())
    })
    .unwrap();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Tests the layout that the scan without a header relies on: if another version of redb has
    /// another layout, this test fails.
    #[test]
    fn headless_scan_reads_what_redb_writes(changes in changes(), closed in any::<bool>()) {
        let (disk, expected) = database(&changes, closed);
        let found = headless(&disk);
        for (expected, found) in expected.iter().zip(&found.rows) {
            for (key, value) in expected {
                let is_there = found.iter().any(|row| (&row.0, &row.1) == (key, value));
                prop_assert!(is_there, "{:?} of {} bytes", key, value.len());
            }
        }
        for (name, rows) in [TEXTS.name(), NUMBERS.name(), PARTS.name()].iter().zip(&expected) {
            let mut roots = found.roots.iter().filter(|(table, _)| table == name);
            prop_assert!(roots.any(|(_, root)| match root {
                Some(root) => found.sums.contains(root),
                None => rows.is_empty(),
            }), "the root of {}", name);
        }
        if closed && expected[2].len() > 200 {
            let named = found.children.iter().filter(|child| found.sums.contains(child));
            prop_assert!(named.count() > 1, "the children of branches");
        }
    }

    #[test]
    fn scan_of_any_bytes_ends(
        pages in prop::collection::vec((0..3u8, any::<[u8; 64]>(), any::<u16>()), 0..6),
        cut in 0..4096usize,
    ) {
        let mut file = vec![0; 4096];
        for (kind, start, at) in pages {
            let from = file.len();
            file.resize(from + 4096, 0);
            file[from..from + 64].copy_from_slice(&start);
            file[from] = kind;
            if at.is_multiple_of(2) {
                // The smallest possible number of rows.
                file[from + 3] = 0;
                file[from + 6..from + 8].fill(0);
            }
        }
        file.truncate(file.len().saturating_sub(cut));
        let disk = SimDisk::of([(FileName::Catalog, file)]);
        let file = disk.open(FileName::Catalog, Access::Read).unwrap();
        scan(&*file, &mut |page| {
            for widths in KINDS {
                for row in page.rows(widths) {
                    assert!(row.key.len() + row.value.len() <= 4096);
                }
                page.sum(widths);
                page.children(widths);
            }
            page.tables();
            Ok(())
        })
        .unwrap();
    }
}
