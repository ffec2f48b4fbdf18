//! Minwise fingerprints, compared with a minimal implementation of their documentation.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simkeep::fingerprint::{Fingerprinter, Minwise, Recipe};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The output of SplitMix64 with this number.
fn splitmix(n: u64) -> u64 {
    let mix = |x: u64, shift: u32, factor: u64| (x ^ x >> shift).wrapping_mul(factor);
    let x = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix(mix(mix(x, 30, 0xbf58_476d_1ce4_e5b9), 27, 0x94d0_49bb_1331_11eb), 31, 1)
}

/// The expected fingerprint of a set of features.
fn expected(features: &[u64]) -> u64 {
    let hash = |feature: &u64| xxh3_64_with_seed(&feature.to_le_bytes(), 0x6d69_6e77_6973_6531);
    let sorted: BTreeSet<u64> = features.iter().map(hash).collect();
    let least = |bin: u64| sorted.iter().find(|hash| *hash >> 58 == bin);
    let others = |bin: u64| ((bin << 32)..).map(|attempt| splitmix(attempt) >> 58);
    let filled = |bin| least(bin).or_else(|| others(bin).find_map(least)).unwrap();
    (0..64).filter(|_| !sorted.is_empty()).map(|bin| splitmix(*filled(bin)) & 1 << bin).sum()
}

/// The hashes of all runs of `n` words, or of all words if there are fewer.
fn runs(words: &[String], n: usize) -> Vec<u64> {
    let hashes: Vec<u64> = words.iter().map(|word| xxh3_64(word.as_bytes())).collect();
    let of = |run: &[u64]| match run {
        [one] => *one,
        run => xxh3_64(&run.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<u8>>()),
    };
    hashes.windows(n.min(hashes.len()).max(1)).map(of).collect()
}

#[test]
fn minwise_fingerprints_match_runs_of_words() {
    let mut words: Vec<String> = Vec::new();
    for count in 0..300u64 {
        let text = words.join(" ");
        for n in [1, 3, 4, 8] {
            let recipe = Recipe::words(n).minwise();
            let found = Fingerprinter::new(&recipe).unwrap().of_text(&text).unwrap();
            let runs = runs(&words, n as usize);
            assert_eq!(found, expected(&runs), "{count} words in runs of {n}");
        }
        words.push(format!("w{}", count * count % 271));
    }
}

proptest! {
    #[test]
    fn fingerprints_of_sets_match_their_definition(
        features in prop::collection::vec(any::<u64>(), 0..200),
    ) {
        let mut minwise = Minwise::new();
        features.iter().for_each(|feature| minwise.add(*feature));
        prop_assert_eq!(minwise.finish(), expected(&features));
    }
}
