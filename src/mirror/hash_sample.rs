//! Sampling by smallest hashes, which selects the same items on all sites.

/// A sample of items: the items with the smallest hashes. Neither the order of arrival nor the site
/// changes which items are sampled.
#[derive(Debug)]
pub(super) struct HashSample<T> {
    max: usize,
    /// The sampled items in ascending order of their hashes.
    drawn: Vec<(u64, T)>,
}

impl<T> HashSample<T> {
    /// Creates a sample of at most `max` items.
    pub(super) fn new(max: usize) -> HashSample<T> {
        HashSample { max, drawn: Vec::new() }
    }

    /// Offers an item. `make` creates the item only if the item enters the sample for now.
    #[inline]
    pub(super) fn offer(&mut self, hash: u64, make: impl FnOnce() -> T) {
        let is_full = self.drawn.len() >= self.max;
        // The common case: the hash is above all hashes in the sample. With `max` 0 the list is
        // both full and empty.
        if is_full && self.drawn.last().is_none_or(|(last, _)| *last <= hash) {
            return;
        }
        if is_full {
            self.drawn.pop();
        }
        // Insertions become rare: hash number n is among the smallest with probability `max` / n.
        // So moving the items after the insertion costs little.
        let at = self.drawn.partition_point(|(other, _)| *other < hash);
        self.drawn.insert(at, (hash, make()));
    }

    /// The sampled items, in order of their hashes.
    pub(super) fn into_items(self) -> impl Iterator<Item = (u64, T)> {
        self.drawn.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn smallest_hashes_are_sampled_in_any_order(
            hashes in prop::collection::hash_set(any::<u64>(), 0..50),
            max in 0usize..20,
        ) {
            let mut lot = HashSample::new(max);
            hashes.iter().for_each(|hash| lot.offer(*hash, || *hash));
            let mut expected: Vec<u64> = hashes.into_iter().collect();
            expected.sort_unstable();
            expected.truncate(max);
            prop_assert_eq!(lot.into_items().map(|(_, thing)| thing).collect::<Vec<_>>(), expected);
        }
    }
}
