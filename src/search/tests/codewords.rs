//! Tests of the Hamming code, and of the cells that it addresses.

use std::collections::HashSet;

use super::*;
use crate::search::hamming::{message, nearest, patterns, syndrome};

/// Finds the codeword nearest to a word by brute force.
fn nearest_codeword(word: u32) -> u32 {
    let word = word & 0x7fff_ffff;
    std::iter::once(word)
        .chain((0..31).map(|bit| word ^ 1 << bit))
        .find(|w| syndrome(*w) == 0)
        .unwrap()
}

#[test]
fn syndrome_is_the_sum_of_bit_places() {
    let mut random = SplitMixRng(1);
    for _ in 0..10_000 {
        let word = random.next() as u32;
        let truth = (0..31).filter(|bit| word >> bit & 1 == 1).fold(0, |sum, bit| sum ^ (bit + 1));
        assert_eq!(syndrome(word), truth);
        assert_eq!(nearest(word), message(nearest_codeword(word)));
    }
}

#[test]
fn message_follows_from_26_bits_and_is_linear() {
    assert_eq!(message(u32::MAX), (1 << 26) - 1);
    let mut random = SplitMixRng(2);
    for _ in 0..1000 {
        let (one, other) = (random.next() as u32, random.next() as u32);
        assert_eq!(message(one ^ other), message(one) ^ message(other));
    }
}

#[test]
fn patterns_cover_everything_near_a_word() {
    let mut random = SplitMixRng(3);
    for _ in 0..300 {
        let query = random.next() as u32;
        for radius in 0..4_u64 {
            let messages: HashSet<u32> = (0..=radius as u32 + 1)
                .flat_map(|weight| patterns(syndrome(query), weight))
                .map(|pattern| message(query) ^ pattern)
                .collect();
            for _ in 0..50 {
                let near = random.near(query.into(), radius) as u32;
                let in_half = (near ^ query) & 0x7fff_ffff;
                if u64::from(in_half.count_ones()) <= radius {
                    assert!(messages.contains(&nearest(near)));
                }
            }
        }
    }
}

#[test]
fn pattern_counts_match_words_of_their_weight() {
    let mut words = 1;
    for weight in 0..=5 {
        let all: usize = (0..32).map(|syndrome| patterns(syndrome, weight).len()).sum();
        assert_eq!(all, words);
        words = words * (31 - weight as usize) / (weight as usize + 1);
    }
    assert_eq!((0..=2).map(|weight| patterns(9, weight).len()).sum::<usize>(), 16);
}

#[test]
fn cell_with_thousands_of_entries_stays_exact() {
    // All fingerprints have the same upper half.
    let fingerprints: Vec<u64> = fingerprints(Distribution::Even, 5000, 9)
        .iter()
        .map(|f| f >> 32 | 0xabcd_0123 << 32)
        .collect();
    let fingerprints = canonical(fingerprints);
    let tables = tables(&fingerprints, cells(300));
    tables.check().unwrap();
    for query in queries(&fingerprints, 20, 10) {
        for k in 0..6 {
            let mut found = Vec::new();
            tables.find_by(AccessPath::Cells, 0, &[query], k, &mut found).unwrap();
            assert_eq!(sorted(found), oracle(&fingerprints, query, k));
        }
    }
}
