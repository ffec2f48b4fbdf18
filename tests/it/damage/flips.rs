//! Bit flips in every byte of every file.

use std::sync::atomic::Ordering;

use simkeep::Reader;
use simkeep::disk::{Access, Disk, FileName, SimDisk};

use super::check::{DamageCounts, OpenModes, check, each, names};
use super::stores::{SoundStore, answers, live_bytes};
use simkeep_testing::depth::deep;
use simkeep_testing::disks::changing_catalog_disk;
use simkeep_testing::{EPOCHS, choice, open, rerun_hint, small};

/// The total number of flipped bits.
fn flips() -> usize {
    usize::try_from(deep(60_000)).unwrap()
}

/// From this number of flips on, all bits are flipped.
const ALL_FLIPS: usize = 1_000_000;

/// Picks `wanted` bits at regular intervals, one at a random place in each interval. Returns all
/// bits if there are no more than `wanted`.
fn chosen(all: Vec<BitPosition>, wanted: usize) -> Vec<BitPosition> {
    let (len, mut choice) = (all.len(), choice(all.len() as u64));
    if wanted >= len || flips() >= ALL_FLIPS {
        return all;
    }
    let place = |n: usize| n * len / wanted;
    let mut places = (0..wanted).map(|n| {
        let stride = place(n + 1) - place(n);
        place(n) + usize::try_from(choice(stride as u64)).unwrap()
    });
    let mut next = places.next();
    let mut kept = Vec::with_capacity(wanted);
    for (at, bit) in all.into_iter().enumerate() {
        if next == Some(at) {
            kept.push(bit);
            next = places.next();
        }
    }
    kept
}

/// Prints the results, and checks that about `wanted` flips were tried.
fn tried(counts: &DamageCounts, of: &str, wanted: usize) {
    counts.say(&format!("flips of {of}"));
    let tried = counts.tried.load(Ordering::Relaxed);
    assert!(tried >= wanted / 10 * 9, "{tried} of {wanted} flips of {of}");
}

/// A bit of a file of one of the stores.
struct BitPosition {
    store: usize,
    name: FileName,
    offset: usize,
    bit: u8,
}

fn bits_of(store: usize, name: FileName, offset: usize) -> impl Iterator<Item = BitPosition> {
    (0..8).map(move |bit| BitPosition { store, name, offset, bit })
}

fn flip(
    stores: &[SoundStore],
    bits: &[BitPosition],
    opens: impl Fn(usize) -> OpenModes + Sync,
    counts: &DamageCounts,
    must_be_found: bool,
) {
    let what = |n: usize| {
        let BitPosition { store, name, offset, bit } = bits[n];
        format!("{name} of the {} store, byte {offset}, bit {bit}", stores[store].what)
    };
    each(bits.len(), what, |n| {
        let BitPosition { store, name, offset, bit } = bits[n];
        let sound = &stores[store];
        let mut damaged = sound.file(name).to_vec();
        damaged[offset] ^= 1 << bit;
        let found = check(&sound.with(name, damaged), name, sound, opens(n), counts);
        assert!(found || !must_be_found, "verify did not find it");
    });
}

/// Five of six flips are in bytes that a checksum covers, so each is found.
#[test]
fn c3_bit_flip_in_a_segment_is_detected_or_harmless() {
    let _again = rerun_hint();
    let stores = [SoundStore::killed(), SoundStore::another(), SoundStore::golden()];
    let wanted = flips() / 6 * 5;
    let mut bits = Vec::new();
    // The small stores have every kind of data in few bytes.
    for (store, wanted) in [(0, wanted / 2), (1, wanted / 2), (2, wanted / 20)] {
        let mut all = Vec::new();
        for name in stores[store].segments() {
            let live = live_bytes(stores[store].file(name));
            let offsets = (0..live.len()).filter(|at| live[*at]);
            all.extend(offsets.flat_map(|offset| bits_of(store, name, offset)));
        }
        bits.extend(chosen(all, wanted));
    }
    let counts = DamageCounts::default();
    flip(&stores, &bits, OpenModes::nth, &counts, true);
    // The small stores have some 300,000 bits, which may be fewer than requested.
    tried(&counts, "segments", bits.len().max(wanted.min(250_000)));
}

/// No checksum covers these bytes, and they are zero.
#[test]
fn c3_bit_flip_between_sections_is_harmless_but_verified() {
    let _again = rerun_hint();
    let stores = [SoundStore::killed()];
    let mut bits = Vec::new();
    for name in stores[0].segments() {
        let live = live_bytes(stores[0].file(name));
        let offsets = (0..live.len()).filter(|at| !live[*at]);
        bits.extend(offsets.map(|offset| BitPosition { store: 0, name, offset, bit: 3 }));
    }
    let counts = DamageCounts::default();
    flip(&stores, &bits, |_| OpenModes::ToRead, &counts, true);
    tried(&counts, "what lies between sections", bits.len().max(100));
    assert_eq!(counts.by_reading.into_inner(), 0);
}

/// The bytes of a catalog that contain data: bytes that are not zero, its header, and the bytes without
/// a checksum of this library (the settings and the names of epochs). Whether a checksum of redb covers
/// a byte, or it lies in a free page, follows from whether the flip is found. At large depths all bytes
/// of each page that was ever written.
fn catalog_bytes(content: &[u8]) -> Vec<usize> {
    let mut live: Vec<bool> = content.iter().map(|byte| *byte != 0).collect();
    if flips() >= ALL_FLIPS {
        for page in live.chunks_mut(4096) {
            let is_written = page.contains(&true);
            page.fill(is_written);
        }
    }
    live[..320].fill(true);
    let rows = ["url_seed", "next_segment", EPOCHS[1]].map(str::as_bytes);
    for at in 0..content.len() - 48 {
        if rows.iter().any(|row| row.starts_with(&content[at..at + 3])) {
            live[at..at + 48].fill(true);
        }
    }
    (0..content.len()).filter(|at| live[*at]).collect()
}

#[test]
fn c3_bit_flip_in_a_catalog_is_detected_or_harmless() {
    let _again = rerun_hint();
    let stores = [SoundStore::killed(), SoundStore::closed(), SoundStore::golden()];
    let wanted = flips() / 6;
    let mut bits = Vec::new();
    for (store, sound) in stores.iter().enumerate() {
        let name = FileName::Catalog;
        let offsets = catalog_bytes(sound.file(name)).into_iter();
        let all = offsets.flat_map(|offset| bits_of(store, name, offset));
        bits.extend(chosen(all.collect(), wanted.div_ceil(stores.len())));
    }
    let counts = DamageCounts::default();
    flip(&stores, &bits, OpenModes::nth, &counts, false);
    // The small stores have some 135,000 such bits, which may be fewer than requested.
    tried(&counts, "catalogs", bits.len().max(wanted.min(100_000)));
    let found = counts.by_verify.into_inner();
    assert!(found * 8 > bits.len(), "{found} of {}", bits.len());
}

/// They matter only while a store has a writer: a damaged mark is ignored.
#[test]
fn c3_lock_or_snapshot_bit_flip_is_detected_or_harmless() {
    let _again = rerun_hint();
    let stores = [SoundStore::killed(), SoundStore::closed()];
    let counts = DamageCounts::default();
    for (store, sound) in stores.iter().enumerate() {
        assert_eq!(sound.file(FileName::Lock).len(), 28);
        for name in [FileName::Lock, FileName::Snapshot] {
            let offsets = 0..sound.file(name).len();
            let bits: Vec<BitPosition> = offsets.flat_map(|at| bits_of(store, name, at)).collect();
            flip(&stores, &bits, |_| OpenModes::Both, &counts, false);
        }
    }
    counts.say("flips of LOCK and SNAPSHOT");
}

/// A reader uses this file if it cannot follow a running writer.
#[test]
fn c3_bit_flip_in_snapshot_during_writing_names_the_file() {
    let _again = rerun_hint();
    let disk = SimDisk::of(SoundStore::killed().files);
    let store = open(&disk, small());
    store.seal().unwrap();
    let read = || {
        Reader::open(changing_catalog_disk(&disk)).and_then(|reader| answers(&reader.snapshot()))
    };
    let sound = read().unwrap();
    let file = disk.open(FileName::Snapshot, Access::Write).unwrap();
    let mut content = vec![0; usize::try_from(file.size().unwrap()).unwrap()];
    file.read_at(0, &mut content).unwrap();
    for BitPosition { offset, bit, .. } in
        (0..content.len()).flat_map(|at| bits_of(0, FileName::Snapshot, at))
    {
        file.write_at(offset as u64, &[content[offset] ^ 1 << bit]).unwrap();
        let error = read().expect_err("a checksum covers all of it");
        names(&error, FileName::Snapshot);
        file.write_at(offset as u64, &content[offset..=offset]).unwrap();
    }
    assert!(read().unwrap() == sound);
    assert!(answers(&store.snapshot()).unwrap() == sound);
}
