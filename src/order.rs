//! Sorting few items, with less machine code.
//!
//! Each type that the standard library sorts takes some 10 kB of machine code and a tenth of a second to
//! compile. Here only the places of items are sorted, by code that exists once. That suits short lists,
//! and sorts that take little of a long call.

use std::cmp::Ordering;

/// Sorts items; equal ones stay in their order. Allocates their places, and compares through a pointer,
/// so it is slower than [`slice::sort_by`].
pub(crate) fn sort_few_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    // Most lists are this short, and cost nothing.
    if items.len() < 2 {
        return;
    }
    #[expect(clippy::indexing_slicing, reason = "places of items")]
    let order = order_of(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    put_in(order, &mut |a, b| items.swap(a, b));
}

/// [`sort_few_by`] a key of each item.
pub(crate) fn sort_few_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_few_by(items, |a, b| key(a).cmp(&key(b)));
}

/// The places from 0 to `len` in the order of what stands there.
fn order_of(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

/// Swaps items until each place has the item that stood at the place in `order`.
#[expect(clippy::indexing_slicing, reason = "each place is in the order once")]
fn put_in(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        // Follows one cycle of the permutation, and marks its places as done.
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
        fn it_sorts_as_the_standard_library_does(keys in prop::collection::vec(0u8..10, 0..50)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_few_by_key(&mut items, |(key, _)| *key);
            prop_assert_eq!(items, expected);
        }
    }
}
