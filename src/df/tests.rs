//! Tests of whole tables, on disks that fail and lose power.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::destination::TableDestination;
use super::frame::{ENTRY_BYTES, HEAD_BYTES, SUM_BYTES, TRAILER_BYTES};
use super::merge::merge_into;
use super::*;
use crate::disk::{Disk, DiskFile, DiskLayer, FileName, SimDisk};
use crate::error::{Error, Result};
use crate::fingerprint::{FeatureSet, Frequencies, Recipe};

const RECIPE: Recipe = Recipe::words(1);

fn count(
    disk: &SimDisk,
    texts: &[String],
    memory_bytes: usize,
    least: u32,
) -> Result<FrequencyTable> {
    let mut counter = FrequencyCounter::at(on(disk), &RECIPE, memory_bytes)?;
    texts.iter().try_for_each(|text| counter.add(text))?;
    counter.freeze(least)
}

fn on(disk: &SimDisk) -> TableDestination {
    TableDestination::numbered(Arc::new(disk.clone()), 7)
}

fn naive(texts: &[String]) -> BTreeMap<u64, u32> {
    let mut set = FeatureSet::new(&RECIPE);
    let mut counts = BTreeMap::new();
    for text in texts {
        set.of_text(text).iter().for_each(|hash| *counts.entry(*hash).or_default() += 1);
    }
    counts
}

/// Texts with more different words than fit into a small memory.
fn many() -> Vec<String> {
    (0..60u64)
        .map(|n| (0..100).map(|i| format!("w{} ", (n * 71 + i * i) % 3011)).collect())
        .collect()
}

fn bytes_of(disk: &SimDisk) -> Vec<u8> {
    let mut contents = disk.contents();
    assert_eq!(contents.len(), 1, "only the table is left");
    contents.remove(0).1
}

fn open(bytes: Vec<u8>) -> Result<FrequencyTable> {
    FrequencyTable::open_on(&SimDisk::of([(FileName::Df(7), bytes)]), 7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn tables_hold_the_counts(
        texts in prop::collection::vec("[a-z]{1,2}( [a-z]{1,2}){0,40}", 0..60),
        least in 0u32..4,
    ) {
        let disk = SimDisk::new();
        let table = count(&disk, &texts, 0, least).unwrap();
        let mut expected = naive(&texts);
        let all = expected.len();
        expected.retain(|_, df| *df >= least);
        prop_assert_eq!(table.iter().collect::<Vec<_>>(), expected.clone().into_iter().collect::<Vec<_>>());
        prop_assert_eq!(table.documents(), texts.len() as u64);
        prop_assert_eq!(table.left_out(), (least.max(1), (all - expected.len()) as u64));
        prop_assert_eq!(table.bytes(), bytes_of(&disk).len() as u64);
        let hashes: Vec<u64> = expected.keys().flat_map(|hash| [*hash, hash ^ 1, !hash]).collect();
        let mut found = Vec::new();
        table.frequencies(&hashes, &mut found).unwrap();
        for (hash, found) in hashes.iter().zip(found) {
            prop_assert_eq!(found, u64::from(expected.get(hash).copied().unwrap_or(0)));
            prop_assert_eq!(u64::from(table.frequency(*hash)), found);
        }
        for hash in [0, 1, u64::MAX] {
            prop_assert_eq!(table.frequency(hash), 0);
        }
    }

    #[test]
    fn merged_tables_match_one_counter(
        texts in prop::collection::vec("[a-z]{1,2}( [a-z]{1,2}){0,20}", 1..60),
        parts in 1usize..6,
        least in 0u32..4,
    ) {
        let part = texts.len().div_ceil(parts);
        let tables: Vec<FrequencyTable> = texts
            .chunks(part)
            .map(|texts| count(&SimDisk::new(), texts, 0, 1).unwrap())
            .collect();
        let disk = SimDisk::new();
        // Equal texts make equal tables, which would count twice.
        let ids: std::collections::BTreeSet<u64> = tables.iter().map(FrequencyTable::id).collect();
        prop_assume!(ids.len() == tables.len());
        let merged = merge_into(on(&disk), &tables, least).unwrap();
        let whole = SimDisk::new();
        let expected = count(&whole, &texts, 1 << 20, least).unwrap();
        prop_assert_eq!(merged.id(), expected.id());
        prop_assert_eq!(bytes_of(&disk), bytes_of(&whole));
    }
}

#[test]
fn spilling_to_disk_does_not_change_the_table() {
    let texts: Vec<String> = many();
    let (small, large) = (SimDisk::new(), SimDisk::new());
    small.record();
    let table = count(&small, &texts, 0, 1).unwrap();
    let scratch = small.take_log().iter().any(|op| op.name == Some(FileName::DfScratch(7, 0)));
    assert!(scratch, "nothing went to the scratch file");
    assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), naive(&texts));
    count(&large, &texts, 1 << 30, 1).unwrap();
    assert_eq!(bytes_of(&small), bytes_of(&large));
}

#[test]
fn empty_table_has_no_frequencies() {
    let table = count(&SimDisk::new(), &[], 0, 1).unwrap();
    assert_eq!((table.terms(), table.documents(), table.frequency(5)), (0, 0, 0));
    assert_eq!(table.iter().next(), None);
}

#[test]
fn incompatible_tables_are_refused_with_the_reason() {
    let fresh = || on(&SimDisk::new());
    let texts = ["a b".to_owned(), "a".to_owned()];
    let table = |least| count(&SimDisk::new(), &texts, 0, least).unwrap();
    let other =
        FrequencyCounter::at(on(&SimDisk::new()), &Recipe::words(2), 0).unwrap().freeze(1).unwrap();
    for (tables, least, why) in [
        (vec![], 1, "no table to merge"),
        (vec![table(1), other], 1, "features words1 and a table of the features words2"),
        (vec![table(1), table(1)], 1, "twice"),
        (vec![table(1), table(2)], 2, "lacks features of fewer than 2"),
        (vec![table(2)], 1, "lacks features of fewer than 2"),
    ] {
        let error = merge_into(fresh(), &tables, least).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // Raising the minimum later gives the same table as counting with the higher minimum.
    let rarer = merge_into(fresh(), &[table(2)], 3).unwrap();
    assert_eq!((rarer.terms(), rarer.left_out()), (0, (3, 2)));
    assert_eq!(rarer.id(), table(3).id());
}

#[test]
fn tables_are_compared() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let first = count(&SimDisk::new(), &texts(&["a b", "a c", "a d"]), 0, 1).unwrap();
    let second = count(&SimDisk::new(), &texts(&["a b e", "f"]), 0, 1).unwrap();
    let compared = TableComparison::of(&first, &second);
    assert_eq!((compared.common, compared.first_only, compared.second_only), (2, 2, 2));
    assert!((compared.known - 4.0 / 6.0).abs() < 1e-9);
    let (two, three, four) = (2f64.ln(), 3f64.ln(), 4f64.ln());
    assert!((compared.idf - (3.0 * two + 3.0 * four) / 6.0).abs() < 1e-9, "{compared:?}");
    let difference = 3.0 * (three - two) + 3.0 * (four - three);
    assert!((compared.difference - difference / 6.0).abs() < 1e-9, "{compared:?}");
    let same = TableComparison::of(&first, &first);
    assert_eq!((same.known, same.difference), (1.0, 0.0));
}

#[test]
fn every_bit_flip_and_truncation_is_detected() {
    let disk = SimDisk::new();
    count(&disk, &many()[..3], 0, 1).unwrap();
    let bytes = bytes_of(&disk);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let error = open(damaged).unwrap_err();
            let foreign = at < 8 && matches!(error, Error::NotATable { .. });
            assert!(foreign || matches!(error, Error::Corrupt(_)), "{at}: {error}");
        }
        assert!(open(bytes[..at].to_vec()).is_err(), "cut at {at}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(open(longer).is_err());
}

#[test]
fn impossible_tables_with_a_valid_checksum_are_refused() {
    let disk = SimDisk::new();
    let table = count(&disk, &many()[..1], 0, 1).unwrap();
    let directory = HEAD_BYTES + ENTRY_BYTES * usize::try_from(table.terms()).unwrap();
    let bytes = bytes_of(&disk);
    assert!(open(bytes.clone()).is_ok());
    for (at, value) in [
        // The cases are entries out of order, without documents, and with too many documents.
        (HEAD_BYTES, u64::MAX.to_le_bytes().to_vec()),
        (HEAD_BYTES + 8, 0u32.to_le_bytes().to_vec()),
        (HEAD_BYTES + 8, 2u32.to_le_bytes().to_vec()),
        // The cases are a directory that begins late, decreases, or points too far.
        (directory, 1u32.to_le_bytes().to_vec()),
        (directory + 8, 0u32.to_le_bytes().to_vec()),
        (directory + 4, u32::MAX.to_le_bytes().to_vec()),
    ] {
        let mut changed = bytes.clone();
        changed[at..at + value.len()].copy_from_slice(&value);
        let sum_at = changed.len() - SUM_BYTES;
        let sum = xxh3_64(&changed[..sum_at]).to_le_bytes();
        changed[sum_at..].copy_from_slice(&sum);
        let error = open(changed).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{at}: {error}");
    }
}

#[test]
fn crash_leaves_the_old_or_new_table() {
    let texts = many();
    let disk = SimDisk::new();
    let old = count(&disk, &texts[..20], 0, 1).unwrap().id();
    let before = bytes_of(&disk);
    let probe = SimDisk::of([(FileName::Df(7), before.clone())]);
    let begun = probe.operations();
    let new = count(&probe, &texts, 0, 1).unwrap().id();
    let operations = probe.operations() - begun;
    assert!(operations > 10 && new != old);
    let (mut states, mut found) = (0, [0, 0]);
    for nth in 1..=operations + 1 {
        let disk = SimDisk::of([(FileName::Df(7), before.clone())]);
        disk.fail_from(nth, io::ErrorKind::Other);
        let counted = count(&disk, &texts, 0, 1);
        let mut random = nth;
        let mut choice = |n: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % n
        };
        let crashes = (0..40).map(|_| disk.crash(&mut choice));
        let crashes: Vec<SimDisk> = crashes.collect();
        for crashed in crashes.into_iter().chain([disk.crash_synced_only(), disk.crash_all_kept()])
        {
            let id = FrequencyTable::open_on(&crashed, 7).unwrap().id();
            assert!(id == old || id == new, "operation {nth}");
            assert!(counted.is_err() || id == new, "a table that was finished is lost");
            found[usize::from(id == new)] += 1;
            states += 1;
        }
    }
    println!("{states} crashes in {operations} operations: {found:?} old and new");
    assert!(found[0] > 0 && found[1] > 0);
}

#[test]
fn failed_call_is_an_error_and_keeps_the_old_table() {
    let texts = many();
    let disk = SimDisk::new();
    let old = count(&disk, &texts[..20], 0, 1).unwrap().id();
    let before = bytes_of(&disk);
    let whole = SimDisk::new();
    count(&whole, &texts, 0, 1).unwrap();
    let mut failed = 0;
    for nth in 1..=whole.operations() {
        let disk = SimDisk::of([(FileName::Df(7), before.clone())]);
        disk.fail_after(nth, io::ErrorKind::StorageFull);
        // A scratch file that cannot be removed is not a failure.
        let Err(error) = count(&disk, &texts, 0, 1) else { continue };
        assert!(error.to_string().contains("0000000007.df"), "{error}");
        failed += 1;
        disk.heal();
        let table = FrequencyTable::open_on(&disk, 7).unwrap();
        // Once the table has its name, only the sync of the directory or the opening can fail.
        assert!(table.id() == old || table.documents() == 60);
        assert!(
            disk.contents().iter().all(|(name, _)| *name == FileName::Df(7)),
            "something is left"
        );
    }
    assert!(failed > 6, "{failed}");
}

#[test]
fn counter_stays_failed_after_an_error() {
    let texts = many();
    let disk = SimDisk::new();
    let mut counter = FrequencyCounter::at(on(&disk), &RECIPE, 0).unwrap();
    disk.fail_after(1, io::ErrorKind::StorageFull);
    let failed: Vec<_> = texts.iter().filter_map(|text| counter.add(text).err()).collect();
    disk.heal();
    assert!(failed.len() > 1, "it was asked again");
    assert!(failed.iter().all(|error| error.to_string() == failed[0].to_string()));
    assert_eq!(counter.freeze(1).unwrap_err().to_string(), failed[0].to_string());
    assert_eq!(disk.contents(), []);
}

#[test]
fn hostile_numbers_do_not_overflow() {
    let disk = SimDisk::new();
    count(&disk, &many()[..1], 0, 1).unwrap();
    let hostile = |place: usize, number: u64| {
        let mut bytes = bytes_of(&disk);
        let at = bytes.len() - TRAILER_BYTES + place;
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let sum_at = bytes.len() - SUM_BYTES;
        let sum = xxh3_64(&bytes[..sum_at]).to_le_bytes();
        bytes[sum_at..].copy_from_slice(&sum);
        open(bytes)
    };
    assert!(matches!(hostile(8, 1 << 63), Err(Error::Corrupt(_))));
    let most = u64::from(u32::MAX);
    let tables = [hostile(8, most).unwrap(), hostile(8, most - 1).unwrap()];
    let error = merge_into(on(&SimDisk::new()), &tables, 1).unwrap_err().to_string();
    assert!(error.contains("the limit of 4294967295 documents"), "{error}");
    // The number of left-out terms does not overflow either.
    let left_out = hostile(24, u64::MAX).unwrap();
    let thinned = merge_into(on(&SimDisk::new()), &[left_out], 2).unwrap();
    assert_eq!((thinned.terms(), thinned.left_out()), (0, (2, u64::MAX)));
}

/// A disk on which another table takes the name each time the table was opened.
#[derive(Debug)]
struct ReplacingDisk {
    tables: [SimDisk; 2],
    turn: std::sync::atomic::AtomicUsize,
    restless: usize,
}

impl ReplacingDisk {
    fn now(&self) -> &SimDisk {
        let turn = self.turn.load(std::sync::atomic::Ordering::Relaxed);
        &self.tables[turn.min(self.restless) % 2]
    }
}

impl DiskLayer for ReplacingDisk {
    fn inner(&self) -> &dyn Disk {
        self.now()
    }

    fn open(&self, name: FileName, access: crate::disk::Access) -> io::Result<Box<dyn DiskFile>> {
        let file = self.now().open(name, access);
        self.turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        file
    }
}

#[test]
fn table_replaced_while_opening_is_old_or_new() {
    let texts = many();
    let tables = [SimDisk::new(), SimDisk::new()];
    let ids = [0, 1].map(|n| count(&tables[n], &texts[n..n + 20], 0, 1).unwrap().id());
    for restless in 0..4 {
        let tables = tables.clone();
        let disk = ReplacingDisk { tables, turn: 0.into(), restless };
        let table = FrequencyTable::open_on(&disk, 7).unwrap();
        let expected =
            count(&SimDisk::new(), &texts[restless % 2..restless % 2 + 20], 0, 1).unwrap();
        assert_eq!(table.id(), ids[restless % 2]);
        assert!(table.iter().eq(expected.iter()));
    }
    let for_ever = ReplacingDisk { tables, turn: 0.into(), restless: usize::MAX };
    let error = FrequencyTable::open_on(&for_ever, 7).unwrap_err().to_string();
    assert!(error.contains("replaced again and again"), "{error}");
}
