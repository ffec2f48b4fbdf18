//! I-Match, compared with a minimal implementation of its documentation.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simkeep::fingerprint::{IMatch, InMemoryFrequencies, Lexicon, Ratio, Recipe};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

/// Documents that have the words from `w` plus their own number on: the first has all, and the last has
/// one.
const DOCUMENTS: u32 = 50;

fn counted() -> InMemoryFrequencies {
    let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
    let words = |first| (first..DOCUMENTS).map(|n| format!("w{n} ")).collect::<String>();
    (0..DOCUMENTS).for_each(|first| counted.add(&words(first)));
    counted
}

/// The digest with this number of a text of such words.
fn expected(words: &[u32], percent: (u32, u32), number: u64) -> Option<u128> {
    let all = f64::from(DOCUMENTS);
    let rarity = |n: u32| 100.0 * ((all / f64::from(n + 1)).ln() / all.ln());
    let is_within = |n: &&u32| {
        let rarity = rarity(**n);
        **n < DOCUMENTS && rarity >= f64::from(percent.0) && rarity <= f64::from(percent.1)
    };
    let hash = |n: &u32| xxh3_64(format!("w{n}").as_bytes());
    let hashes: BTreeSet<u64> = words.iter().filter(is_within).map(hash).collect();
    let is_left =
        |h: &u64| number == 0 || !xxh3_64_with_seed(&h.to_le_bytes(), number).is_multiple_of(3);
    let left: Vec<u8> = hashes.into_iter().filter(is_left).flat_map(u64::to_le_bytes).collect();
    (!left.is_empty()).then(|| xxh3_128(&left))
}

proptest! {
    #[test]
    fn digests_match_the_definition(
        words in prop::collection::vec(0..DOCUMENTS + 5, 0..40),
        others in prop::collection::vec(0..DOCUMENTS + 5, 0..5),
        // Between these, no word has a rarity that rounding could affect.
        percent in (prop::sample::select(vec![0, 5, 20]), prop::sample::select(vec![30, 70, 100])),
    ) {
        let counted = counted();
        let lexicon =
            Lexicon::new(&counted, Ratio::percent(percent.0)..=Ratio::percent(percent.1)).unwrap();
        let of = |words: &[u32]| {
            let text: String = words.iter().map(|n| format!("W{n}, ")).collect();
            IMatch::<10>::of(&text, &lexicon).unwrap()
        };
        let expected = |words: &[u32]| -> Vec<Option<u128>> {
            (0..10).map(|number| expected(words, percent, number)).collect()
        };
        let changed: Vec<u32> = words.iter().chain(&others).copied().collect();
        let (a, b) = (of(&words), of(&changed));
        prop_assert_eq!(a.digests().as_slice(), expected(&words));
        let mut pairs = expected(&words).into_iter().zip(expected(&changed));
        prop_assert_eq!(a.agrees(&b), pairs.any(|(a, b)| a.is_some() && a == b));
        // Digests do not depend on the thread.
        let on_threads = std::thread::scope(|scope| {
            [(); 4].map(|()| scope.spawn(|| of(&words))).map(|thread| thread.join().unwrap())
        });
        prop_assert!(on_threads.iter().all(|found| found.digests() == a.digests()));
    }
}
