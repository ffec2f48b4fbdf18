//! Every byte of every file, bit by bit.

use simkeep::disk::Name;

use crate::check::{Counts, Opens, check, each};
use crate::stores::{Sound, live_bytes};
use crate::support::{EPOCHS, again, choice};

/// Bits that are flipped in all.
fn flips() -> usize {
    match std::env::var("SIMKEEP_FLIPS") {
        Ok(flips) => flips.parse().expect("SIMKEEP_FLIPS is a number"),
        Err(_) if cfg!(debug_assertions) => 6_000,
        Err(_) => 60_000,
    }
}

/// From so many on, all bits are flipped.
const ALL_FLIPS: usize = 1_000_000;

/// So many of these, evenly spread and not always at the same place of a stride; all of them if there
/// are no more.
fn chosen(all: Vec<Bit>, wanted: usize) -> Vec<Bit> {
    let (len, mut choice) = (all.len(), choice(all.len() as u64));
    if wanted >= len || flips() >= ALL_FLIPS {
        return all;
    }
    let place = |n: usize| n * len / wanted;
    let mut places = (0..wanted).map(|n| {
        let room = place(n + 1) - place(n);
        place(n) + usize::try_from(choice(room as u64)).unwrap()
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

/// A bit of a file of one of the stores.
struct Bit {
    store: usize,
    name: Name,
    offset: usize,
    bit: u8,
}

fn bits_of(store: usize, name: Name, offset: usize) -> impl Iterator<Item = Bit> {
    (0..8).map(move |bit| Bit { store, name, offset, bit })
}

fn flip(stores: &[Sound], bits: &[Bit], counts: &Counts, must_be_found: bool) {
    let what = |n: usize| {
        let Bit { store, name, offset, bit } = bits[n];
        format!("{name} of the {} store, byte {offset}, bit {bit}", stores[store].what)
    };
    each(bits.len(), what, |n| {
        let Bit { store, name, offset, bit } = bits[n];
        let sound = &stores[store];
        let mut damaged = sound.file(name).to_vec();
        damaged[offset] ^= 1 << bit;
        let found = check(&sound.with(name, damaged), name, sound, Opens::nth(n), counts);
        assert!(found || !must_be_found, "verify did not find it");
    });
}

/// Five of six flips: each of a byte that a checksum covers, so each is found.
#[test]
fn c3_a_flipped_bit_of_a_segment_is_an_error_or_changes_nothing_and_verify_finds_it() {
    let _again = again();
    let stores = [Sound::killed(), Sound::another(), Sound::golden()];
    let wanted = flips() / 6 * 5;
    let mut bits = Vec::new();
    // The small ones have every kind of thing in few bytes.
    for (store, wanted) in [(0, wanted / 2), (1, wanted / 2), (2, wanted / 20)] {
        let mut all = Vec::new();
        for name in stores[store].segments() {
            let live = live_bytes(stores[store].file(name));
            let offsets = (0..live.len()).filter(|at| live[*at]);
            all.extend(offsets.flat_map(|offset| bits_of(store, name, offset)));
        }
        bits.extend(chosen(all, wanted));
    }
    let counts = Counts::default();
    flip(&stores, &bits, &counts, true);
    counts.say("flipped bits of segments");
}

/// Where a catalog has something: bytes that are not zero, its header, and what no checksum of ours
/// covers, the settings and the names of epochs. Whether a checksum of redb's covers a byte, or it
/// lies in a page that is free, shows in whether it is found.
fn catalog_bytes(content: &[u8]) -> Vec<usize> {
    let mut live: Vec<bool> = content.iter().map(|byte| *byte != 0).collect();
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
fn c3_a_flipped_bit_of_a_catalog_is_an_error_or_changes_nothing() {
    let _again = again();
    let stores = [Sound::killed(), Sound::closed()];
    let mut all = Vec::new();
    for (store, sound) in stores.iter().enumerate() {
        let name = Name::Catalog;
        for offset in catalog_bytes(sound.file(name)) {
            all.extend(bits_of(store, name, offset));
        }
    }
    let bits = chosen(all, flips() / 6);
    let counts = Counts::default();
    flip(&stores, &bits, &counts, false);
    counts.say("flipped bits of catalogs");
    let found = counts.by_verify.into_inner();
    assert!(found * 8 > bits.len(), "{found} of {}", bits.len());
}
