//! Sorting few items, with less machine code.
//!
//! For each type that it sorts, the standard library takes some 10 kB of machine code and a tenth
//! of a second to compile. The functions of this module sort only indices, by code that exists
//! once. Use them for short lists, and if a sort is a small part of a long call.

use std::cmp::Ordering;

/// Sorts items, and keeps the order of equal items. Allocates an index for each item and compares
/// through a pointer, so it is slower than [`slice::sort_by`].
pub(crate) fn sort_few_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    // Most lists have fewer than two items, and cost nothing.
    if items.len() < 2 {
        return;
    }
    #[expect(clippy::indexing_slicing, reason = "indices of items")]
    let order = order_of(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    put_in(order, &mut |a, b| items.swap(a, b));
}

/// Sorts items by a key, as [`sort_few_by`] does.
pub(crate) fn sort_few_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_few_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Returns the indices below `len` in the order of their items.
fn order_of(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

/// Permutes items by swaps: the item at `order[i]` moves to `i`.
#[expect(clippy::indexing_slicing, reason = "each index occurs once in the order")]
fn put_in(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        // Follows one cycle of the permutation, and marks its indices as done.
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            swap(at, from);
            at = from;
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sort_matches_the_standard_library(keys in prop::collection::vec(0u8..10, 0..50)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_few_by_key(&mut items, |(key, _)| *key);
            prop_assert_eq!(items, expected);
        }
    }
}
