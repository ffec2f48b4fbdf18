//! The golden table of document frequencies, and a reader that is written only from `format/df.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::fingerprint::{Frequencies as _, Recipe};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::ByteCursor;
use super::golden;

const TEXTS: [&str; 5] =
    ["The red house", "the green house.", "the blue car", "a boat", "北京 and the sea"];

/// The words in these texts, each with its number of texts.
const WORDS: [(&str, u32); 10] = [
    ("the", 4),
    ("house", 2),
    ("red", 1),
    ("green", 1),
    ("blue", 1),
    ("car", 1),
    ("boat", 1),
    ("北京", 1),
    ("and", 1),
    ("sea", 1),
];

pub(crate) fn path() -> PathBuf {
    golden::directory().join("words.df")
}

/// Rewrites the golden table.
pub(crate) fn make() {
    let mut counter = FrequencyCounter::new(&Recipe::words(1), path(), 1 << 20).unwrap();
    TEXTS.iter().for_each(|text| counter.add(text).unwrap());
    counter.freeze(1).unwrap();
}

#[test]
fn golden_table_has_the_frequencies_it_was_made_with() {
    let table = FrequencyTable::open(path()).unwrap();
    assert_eq!((table.documents(), table.terms(), table.features()), (5, 11, "words1"));
    for (word, documents) in WORDS {
        assert_eq!(table.frequency(xxh3_64(word.as_bytes())), documents, "{word}");
    }
    assert_eq!(table.frequency(xxh3_64(b"plane")), 0);
    // Equal texts make equal bytes.
    let dir = tempfile::tempdir().unwrap();
    let mut counter = FrequencyCounter::new(&Recipe::words(1), dir.path().join("x"), 0).unwrap();
    TEXTS.iter().rev().for_each(|text| counter.add(text).unwrap());
    assert_eq!(counter.freeze(1).unwrap().id(), table.id());
}

/// A table read independently of the library.
struct DecodedTable {
    documents: u64,
    features: String,
    entries: Vec<(u64, u32)>,
    /// The number of leading bits of a hash in the directory, and where the entries of each value begin.
    bits: u32,
    starts: Vec<u32>,
    id: u64,
}

impl DecodedTable {
    /// Reads and checks a whole file.
    fn of(file: &[u8]) -> DecodedTable {
        let (body, trailer) = file.split_at(file.len() - 320);
        let (head, body) = body.split_at(64);
        let mut bytes = ByteCursor(head);
        assert_eq!((bytes.take(8), bytes.u32()), (&b"simkdf\0\0"[..], 1));
        assert!(bytes.take(48).iter().all(|byte| *byte == 0));
        assert_eq!(bytes.u32(), crc32fast::hash(&head[..60]));

        let mut bytes = ByteCursor(trailer);
        assert_eq!(bytes.take(8), b"simkdfe\0");
        let [documents, terms, left_out] = [bytes.u64(), bytes.u64(), bytes.u64()];
        let [least, bits, len] = [bytes.u32(), bytes.u32(), bytes.u32()];
        assert_eq!((least, left_out), (1, 0));
        let features = String::from_utf8(bytes.take(len as usize).to_vec()).unwrap();
        assert!(bytes.take(312 - 44 - len as usize).iter().all(|byte| *byte == 0));
        let id = bytes.u64();
        assert_eq!(id, xxh3_64(&file[..file.len() - 8]));

        let (entries, directory) = body.split_at(12 * terms as usize);
        let mut bytes = ByteCursor(entries);
        let entries: Vec<(u64, u32)> = (0..terms).map(|_| (bytes.u64(), bytes.u32())).collect();
        assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
        assert!(entries.iter().all(|(_, n)| (1..=documents).contains(&u64::from(*n))));
        let mut bytes = ByteCursor(directory);
        let starts: Vec<u32> = (0..=1 << bits).map(|_| bytes.u32()).collect();
        bytes.end();
        let below = |place: usize| {
            let of = |hash: u64| (u128::from(hash) >> (64 - bits)) as usize;
            entries.partition_point(|(hash, _)| of(*hash) < place) as u32
        };
        assert!(starts.iter().copied().eq((0..=1 << bits).map(below)));
        DecodedTable { documents, features, entries, bits, starts, id }
    }
}

#[test]
fn independent_reader_reads_the_golden_table() {
    let DecodedTable { documents, features, entries, bits, starts, id } =
        DecodedTable::of(&std::fs::read(path()).unwrap());
    assert_eq!(id, FrequencyTable::open(path()).unwrap().id());
    assert_eq!((documents, entries.len(), features.as_str()), (5, 11, "words1"));
    assert_eq!((starts[0], starts[1 << bits]), (0, 11));
    let by_hash: BTreeMap<u64, u32> = entries.iter().copied().collect();
    for (word, documents) in WORDS {
        let hash = xxh3_64(word.as_bytes());
        assert_eq!(by_hash[&hash], documents, "{word}");
        let place = (u128::from(hash) >> (64 - bits)) as usize;
        let found = &entries[starts[place] as usize..starts[place + 1] as usize];
        assert!(found.contains(&(hash, documents)), "{word}");
    }
}
