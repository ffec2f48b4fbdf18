//! What the golden store has published, read by a stranger and by the crate.

use std::collections::BTreeSet;

use simkeep::Reader;
use simkeep::disk::{Name, SimDisk};
use simkeep_testing::on;

use super::bytes::crc32;
use super::{golden, golden_store, store, visits};

/// The files that a generation names are those of the store under names that follow from the page. With
/// them it is what the store had sealed.
#[test]
fn the_golden_generation_is_the_golden_store_as_it_was_sealed() {
    let store = store::Store::open(&golden_store());
    let generation = golden::published().join("generations/0000000001");
    let bytes = std::fs::read(&generation).unwrap();
    let (told, number, tables) = store.generation(&bytes);
    assert_eq!((number, told.store, told.seed), (1, store.snapshot().store, store.snapshot().seed));
    assert_eq!(told.changes, store.settings["changes"]);
    assert_eq!(told.rows, store.snapshot().rows);
    assert_eq!(told.epochs, store.epochs);

    let to = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(to.path().join("generations")).unwrap();
    std::fs::create_dir_all(to.path().join("files")).unwrap();
    std::fs::copy(&generation, to.path().join("generations/0000000001")).unwrap();
    for row in &told.rows {
        let word = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap());
        let sum = u32::from_le_bytes(row[32..36].try_into().unwrap());
        let name = format!("files/{:016x}-{:010}-{sum:08x}.seg", told.store, word(0));
        let own = golden_store().join(format!("segments/{:010}.seg", word(0)));
        assert_eq!(std::fs::metadata(&own).unwrap().len(), word(24));
        std::fs::copy(own, to.path().join(name)).unwrap();
    }
    for (count, len) in tables {
        let file = &store.tables()[&(count as usize)];
        assert_eq!(file.len() as u64, len);
        let id = store.epochs[count as usize].table().unwrap();
        let name = format!("files/{:016x}-{count:010}-{id:016x}.df", told.store);
        std::fs::write(to.path().join(name), file).unwrap();
    }
    simkeep::publishing::check(to.path(), 1, &simkeep::Progress::default()).unwrap();
    let reader = Reader::published(to.path(), 1).unwrap();
    let sealed = store.segments().last().unwrap().last_sequence;
    assert_eq!(reader.snapshot().sequence(), sealed);
    let (components, _) = store.components();
    let sealed: Vec<_> = components.into_iter().filter(|c| c.last_sequence <= sealed).collect();
    let urls: BTreeSet<&String> = sealed.iter().flat_map(|c| c.pages.keys()).collect();
    let snapshot = reader.snapshot();
    for url in urls {
        let entries = store::history(&sealed, url);
        let page = snapshot.latest(url).unwrap();
        assert_eq!(page.map_or(0, |page| page.visits), visits(&entries), "{url}");
    }
}

/// What a reader says of these bytes as generation `number`, without any file.
fn refused(bytes: &[u8], number: u64) -> String {
    let disk = SimDisk::of([(Name::Generation(number), bytes.to_vec())]);
    Reader::published(on(&disk), number).unwrap_err().to_string()
}

/// The checksum of what stands before it.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let sum = crc32(&[&bytes[..end]]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn a_generation_that_is_not_as_it_was_written_is_refused() {
    let bytes = std::fs::read(golden::published().join("generations/0000000001")).unwrap();
    // Sound, and nothing but its files missing.
    assert!(refused(&bytes, 1).contains("files/"));
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(refused(&bytes, 1).contains("generations/0000000001"), "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert!(refused(&bytes[..len], 1).contains("generations/0000000001"), "{len} bytes");
    }
    assert!(refused(&bytes, 2).contains("it is generation 1, under another name"));

    // Behind a sound checksum: the number of its tables, and the epoch of the only one.
    let count = bytes.len() - 4 - 12 - 4;
    for (at, wrong) in
        [(count, 0), (count, 2), (count, u32::MAX), (count + 4, 6), (count + 4, u32::MAX)]
    {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
        let error = refused(&summed(bytes), 1);
        assert!(
            error.contains("its segments or epochs are not") || error.contains("its tables"),
            "{error}"
        );
    }
    let mut newer = bytes.clone();
    newer[8] = 2;
    let error = refused(&summed(newer), 1);
    assert!(error.contains("format version 2, and this one reads 1"), "{error}");
    // The only table twice.
    let table = bytes[count + 4..count + 16].to_vec();
    let mut twice = bytes[..count].to_vec();
    twice.extend(2u32.to_le_bytes());
    twice.extend([&table[..], &table, &[0; 4]].concat());
    let len = (twice.len() - 20) as u32;
    twice[12..16].copy_from_slice(&len.to_le_bytes());
    assert!(refused(&summed(twice), 1).contains("its tables are not of its epochs"));
}
