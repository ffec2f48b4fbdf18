//! Counts the features of a text with very many features, in parts.

use super::feature_counts::FeatureCounts;

/// The maximum number of distinct features counted at a time: the capacity of a tally of 32 MiB.
pub(super) const FEATURES_MAX: usize = (1 << 20) - 1;

/// The features whose hashes lie in a range, with their counts.
///
/// If a text has more features than the tally can hold, the upper half of the range is deferred,
/// repeatedly until the rest fits. The deferred features are counted when the text is read again.
/// So each feature is counted over the whole text, in exactly one part, regardless of the size of
/// the parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeaturePart {
    first: u64,
    last: u64,
    features_max: usize,
}

impl FeaturePart {
    /// Returns the first part. The first part has all features if they fit.
    pub(super) fn first(features_max: usize) -> FeaturePart {
        FeaturePart { first: 0, last: u64::MAX, features_max }
    }

    /// Returns the part after this part; `None` after the last.
    pub(super) fn next(self) -> Option<FeaturePart> {
        let first = self.last.checked_add(1)?;
        // The next range is twice as wide. Where hashes are spread unevenly, distant hashes then
        // need few parts.
        let width = (self.last - self.first).saturating_mul(2).saturating_add(1);
        Some(FeaturePart { first, last: first.saturating_add(width), ..self })
    }

    /// Counts an occurrence of each hash in this part.
    pub(super) fn count(&mut self, tally: &mut FeatureCounts, hashes: &[u64]) {
        for hash in hashes {
            if (self.first..=self.last).contains(hash) {
                tally.add_all(&[*hash]);
                while tally.len() > self.features_max {
                    self.last = self.first + (self.last - self.first) / 2;
                    tally.forget_above(self.last);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_parts_together_have_all_features(
            hashes in prop::collection::vec(
                prop_oneof![any::<u64>(), 0..50u64, u64::MAX - 9..=u64::MAX], 0..900),
            features_max in 1..400usize,
        ) {
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            hashes.iter().for_each(|hash| *expected.entry(*hash).or_default() += 1);
            let mut tally = FeatureCounts::new();
            let mut found = BTreeMap::new();
            let mut part = Some(FeaturePart::first(features_max));
            while let Some(mut of) = part {
                hashes.chunks(7).for_each(|some| of.count(&mut tally, some));
                prop_assert!(tally.len() <= features_max);
                for feature in tally.features() {
                    prop_assert_eq!(found.insert(feature.hash, feature.count), None);
                }
                tally.clear(features_max);
                part = of.next();
            }
            prop_assert_eq!(found, expected);
        }
    }
}
