//! Computes the fraction of words that changed between two texts.

use std::collections::HashMap;

/// The maximum number of steps to compare two texts, about a third of a second. A step compares up
/// to 64 pairs of words.
const STEPS_MAX: usize = 1 << 27;

/// Numbers the words of texts.
#[derive(Default)]
pub(super) struct WordNumbers {
    numbers: HashMap<String, u32>,
}

impl WordNumbers {
    /// The number of each of these words, in order.
    pub(super) fn numbers(&mut self, words: impl Iterator<Item = String>) -> Vec<u32> {
        let mut number = |word| {
            let next = self.numbers.len();
            *self.numbers.entry(word).or_insert_with(|| u32::try_from(next).unwrap_or(u32::MAX))
        };
        words.map(&mut number).collect()
    }
}

/// The fraction of the words of both texts that are not in their longest common subsequence: the
/// inserted and deleted words. `None` if that takes too long to compute.
pub(super) fn changed(a: &[u32], b: &[u32]) -> Option<f32> {
    let all = a.len() + b.len();
    let common = common(a, b)?;
    Some(if all == 0 { 0.0 } else { (all - 2 * common) as f32 / all as f32 })
}

/// The length of the longest common subsequence; `None` if that takes more than [`STEPS_MAX`] steps.
/// Strips the common prefix and suffix first. Comparing the rest takes steps up to the product of its
/// lengths over 64.
fn common(a: &[u32], b: &[u32]) -> Option<usize> {
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(before..)?, b.get(before..)?);
    let after = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(..a.len() - after)?, b.get(..b.len() - after)?);
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len().div_ceil(64).saturating_mul(long.len()) > STEPS_MAX {
        return None;
    }
    Some(before + after + between(short, long))
}

/// The length of the longest common subsequence, with bit vectors (H. Hyyrö, *Bit-parallel
/// LCS-length computation revisited*, AWOCA 2004): a bit for each word of the shorter text becomes
/// 0 where the length grows by one. Blocks of 64 without a match change only by the carry.
#[expect(clippy::indexing_slicing, reason = "numbers of blocks")]
fn between(short: &[u32], long: &[u32]) -> usize {
    let mut places: HashMap<u32, Vec<(usize, u64)>> = HashMap::new();
    for (at, word) in short.iter().enumerate() {
        let (block, bit) = (at / 64, 1 << (at % 64));
        let places = places.entry(*word).or_default();
        match places.last_mut() {
            Some((last, bits)) if *last == block => *bits |= bit,
            _ => places.push((block, bit)),
        }
    }
    let mut blocks = vec![u64::MAX; short.len().div_ceil(64)];
    for places in long.iter().filter_map(|word| places.get(word)) {
        let (mut next, mut carry) = (0, false);
        for (block, matches) in places {
            while carry && next < *block {
                carry = step(&mut blocks[next], 0, carry);
                next += 1;
            }
            carry = step(&mut blocks[*block], *matches, carry);
            next = block + 1;
        }
        while carry && next < blocks.len() {
            carry = step(&mut blocks[next], 0, carry);
            next += 1;
        }
    }
    blocks.iter().map(|block| block.count_zeros() as usize).sum()
}

/// Processes a word of the longer text in a block of the shorter one. Returns the carry.
fn step(block: &mut u64, matches: u64, carry: bool) -> bool {
    let (sum, over) = block.overflowing_add(*block & matches);
    let (sum, over_again) = sum.overflowing_add(u64::from(carry));
    *block = sum | (*block & !matches);
    over || over_again
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the longest common subsequence by its definition.
    fn naive(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for word in a {
            let mut diagonal = 0;
            for (at, other) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if word == other { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn inserted_and_deleted_words_count_alike() {
        let mut words = WordNumbers::default();
        let mut of = |text: &str| words.numbers(text.split(' ').map(str::to_owned));
        let (a, b) = (of("we may change these terms"), of("you may change these terms now"));
        assert_eq!(changed(&a, &b), Some(3.0 / 11.0));
        assert_eq!(changed(&a, &a), Some(0.0));
        assert_eq!(changed(&a, &[]), Some(1.0));
        assert_eq!(changed(&[], &[]), Some(0.0));
    }

    #[test]
    fn overlong_comparisons_are_skipped() {
        let (a, b): (Vec<u32>, Vec<u32>) = ((0..200_000).collect(), (1..=200_000).rev().collect());
        assert_eq!(changed(&a, &b), None);
        let mut almost = a.clone();
        almost[100_000] = 1 << 30;
        assert_eq!(common(&a, &almost), Some(199_999));
    }

    proptest! {
        #[test]
        fn common_words_match_the_definition(
            (a, b) in (1u32..40).prop_flat_map(|words| {
                let text = || prop::collection::vec(0..words, 0..400);
                (text(), text())
            }),
        ) {
            prop_assert_eq!(common(&a, &b), Some(naive(&a, &b)));
        }
    }
}
