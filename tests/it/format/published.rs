//! The published golden store, written from `format/published.md` and read by the crate.

use simkeep::Reader;
use simkeep::disk::{FileName, SimDisk};
use simkeep_testing::on;

use super::catalog::CatalogRows;
use super::visits::DecodedEntry;
use super::{answered, expected, golden, golden_store, make};

/// Generation 1 with everything that the golden catalog lists. `tables` has the count of each epoch
/// with a table, and the size of the table in bytes.
fn generation(rows: &CatalogRows, written: u64, tables: &[(u32, u64)]) -> Vec<u8> {
    let mut body = written.to_le_bytes().to_vec();
    for name in ["store_id", "changes", "url_seed", "url_hash_bits"] {
        body.extend(rows.settings[name].to_le_bytes());
    }
    for count in [rows.segments.len(), rows.epochs.len()] {
        body.extend((count as u32).to_le_bytes());
    }
    // The rows without their checksums. Golden segments with higher numbers have later operations.
    for row in rows.segments.values() {
        body.extend(&row[..36]);
    }
    for row in rows.epochs.values().map(|row| &row[..row.len() - 4]) {
        body.extend((row.len() as u32).to_le_bytes());
        body.extend(row);
    }
    body.extend(1_u64.to_le_bytes());
    body.extend((tables.len() as u32).to_le_bytes());
    for (count, bytes) in tables {
        body.extend(count.to_le_bytes());
        body.extend(bytes.to_le_bytes());
    }
    let mut file = b"simkgen\0".to_vec();
    file.extend([1, body.len() as u32].map(u32::to_le_bytes).concat());
    file.extend(body);
    file.extend([0; 4]);
    summed(file)
}

/// A generation follows from the catalog as its page describes, and its file names follow from the page.
/// With these files it equals the sealed state of the store.
#[test]
fn golden_generation_matches_the_sealed_golden_store() {
    let (rows, expected) = (CatalogRows::read(), expected());
    let to = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(to.path().join("generations")).unwrap();
    std::fs::create_dir_all(to.path().join("files")).unwrap();
    let store = rows.settings["store_id"];
    for (id, row) in &rows.segments {
        let own = golden_store().join(format!("segments/{id:010}.seg"));
        let sum = u32::from_le_bytes(row[32..36].try_into().unwrap());
        let name = format!("files/{store:016x}-{id:010}-{sum:08x}.seg");
        std::fs::copy(own, to.path().join(name)).unwrap();
    }
    let mut tables = Vec::new();
    for (count, epoch) in (0..).zip(&expected.epochs) {
        let Some(id) = epoch.table().filter(|_| !epoch.ended) else { continue };
        let own = golden_store().join(format!("{count:010}.df"));
        let name = format!("files/{store:016x}-{count:010}-{id:016x}.df");
        tables.push((count, std::fs::copy(own, to.path().join(name)).unwrap()));
    }
    let bytes = std::fs::read(golden::published().join("generations/0000000001")).unwrap();
    let written = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    assert_eq!(bytes, generation(&rows, written, &tables));
    std::fs::write(to.path().join("generations/0000000001"), bytes).unwrap();

    simkeep::publish::check(to.path(), 1, &simkeep::Progress::default()).unwrap();
    let snapshot = Reader::published(to.path(), 1).unwrap().snapshot();
    let (sequence, pages) = make::sealed();
    assert_eq!(snapshot.sequence(), sequence);
    assert_eq!(snapshot.scan(None).count(), pages.len());
    for (url, entries) in pages {
        let found = snapshot.history(&url).unwrap();
        let found: Vec<DecodedEntry> =
            found.iter().map(|entry| answered(&url, &entry.entry())).collect();
        assert_eq!(found, Vec::from_iter(entries), "{url}");
    }
}

/// The error of a reader for these bytes as generation `number`, without any file.
fn refused(bytes: &[u8], number: u64) -> String {
    let disk = SimDisk::of([(FileName::Generation(number), bytes.to_vec())]);
    Reader::published(on(&disk), number).unwrap_err().to_string()
}

/// The checksum of the preceding bytes.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn modified_generation_is_refused() {
    let bytes = std::fs::read(golden::published().join("generations/0000000001")).unwrap();
    // Valid, except that its files are missing.
    assert!(refused(&bytes, 1).contains("files/"));
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(refused(&bytes, 1).contains("generations/0000000001"), "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert!(refused(&bytes[..len], 1).contains("generations/0000000001"), "{len} bytes");
    }
    assert!(
        refused(&bytes, 2)
            .contains("it contains generation 1, but has the name of another generation")
    );

    // With a valid checksum: a wrong number of tables, and a wrong epoch of the only one.
    let count = bytes.len() - 4 - 12 - 4;
    for (at, wrong) in
        [(count, 0), (count, 2), (count, u32::MAX), (count + 4, 6), (count + 4, u32::MAX)]
    {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
        let error = refused(&summed(bytes), 1);
        assert!(
            error.contains("its lists of segments and epochs are impossible")
                || error.contains("its tables"),
            "{error}"
        );
    }
    let mut newer = bytes.clone();
    newer[8] = 2;
    let error = refused(&summed(newer), 1);
    assert!(error.contains("format version 2, but this simkeep reads version 1"), "{error}");
    // The only table, twice.
    let table = bytes[count + 4..count + 16].to_vec();
    let mut twice = bytes[..count].to_vec();
    twice.extend(2u32.to_le_bytes());
    twice.extend([&table[..], &table, &[0; 4]].concat());
    let len = (twice.len() - 20) as u32;
    twice[12..16].copy_from_slice(&len.to_le_bytes());
    assert!(refused(&summed(twice), 1).contains("its tables are not in the order of its epochs"));
}
