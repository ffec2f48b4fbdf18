//! The known near pairs of documents, from any source.

use crate::output::words::count;

/// The nearness of pairs of documents, in compressed sparse row form.
#[derive(Debug)]
pub(super) struct GroundTruth {
    /// For each document, the start of its pairs with larger numbers.
    starts: Vec<usize>,
    /// The larger number of each pair, in ascending order for each smaller number.
    larger: Vec<u32>,
    nearness: Vec<Nearness>,
}

/// The thresholds from which a pair is near.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearnessLimits {
    pub(super) lenient: f64,
    /// At least `lenient`.
    pub(super) strict: f64,
}

/// The measures by which a pair is near.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Nearness {
    pub(super) lenient: bool,
    pub(super) strict: bool,
}

/// The near pairs, as they are found: 12 bytes each.
#[derive(Debug)]
pub(super) struct TruthPairs {
    near: Vec<(u32, u32, Nearness)>,
    limits: NearnessLimits,
}

/// The maximum number of pairs. They take half a gigabyte.
const PAIRS_MAX: usize = 1 << 25;

impl TruthPairs {
    pub(super) fn new(limits: NearnessLimits) -> TruthPairs {
        TruthPairs { near: Vec::new(), limits }
    }

    /// Adds a pair of document numbers, and how near the documents are.
    ///
    /// # Errors A message for the user, if there are too many pairs.
    pub(super) fn add(&mut self, one: u32, other: u32, near: f64) -> Result<(), String> {
        let NearnessLimits { lenient, strict } = self.limits;
        if self.near.len() == PAIRS_MAX {
            let most = count(PAIRS_MAX as u64);
            return Err(format!("more than {most} pairs are near each other; use fewer documents"));
        }
        let nearness = Nearness { lenient: near >= lenient, strict: near >= strict };
        self.near.push((one.min(other), one.max(other), nearness));
        Ok(())
    }

    /// Completes the pairs of `documents` documents.
    ///
    /// # Errors The first pair that was added twice with different verdicts of a measure.
    pub(super) fn finish(self, documents: usize) -> Result<GroundTruth, (u32, u32)> {
        let mut near = self.near;
        near.sort_unstable_by_key(|(smaller, larger, _)| (*smaller, *larger));
        near.dedup();
        if let Some([(smaller, larger, _), _]) =
            near.array_windows().find(|[one, next]| (one.0, one.1) == (next.0, next.1))
        {
            return Err((*smaller, *larger));
        }
        let start = |number: usize| near.partition_point(|pair| (pair.0 as usize) < number);
        Ok(GroundTruth {
            starts: (0..=documents).map(start).collect(),
            larger: near.iter().map(|pair| pair.1).collect(),
            nearness: near.iter().map(|pair| pair.2).collect(),
        })
    }
}

impl GroundTruth {
    /// Returns the nearness of two documents.
    #[expect(clippy::indexing_slicing, reason = "every document has a start, and so has the end")]
    pub(super) fn of(&self, one: u32, other: u32) -> Nearness {
        let (smaller, larger) = (one.min(other) as usize, one.max(other));
        let (start, end) = (self.starts[smaller], self.starts[smaller + 1]);
        let found = self.larger[start..end].binary_search(&larger);
        found.map(|at| self.nearness[start + at]).unwrap_or_default()
    }

    /// The number of pairs that are near by the lenient measure.
    pub(super) fn lenient(&self) -> u64 {
        self.nearness.iter().filter(|near| near.lenient).count() as u64
    }

    /// The number of pairs that are near by the strict measure.
    pub(super) fn strict(&self) -> u64 {
        self.nearness.iter().filter(|near| near.strict).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn truth_of_a_pair_is_found_or_contradictory(
            said in prop::collection::vec((0u32..9, 0u32..9, 0.0f64..=1.0), 0..20),
        ) {
            let of = |near: f64| Nearness { lenient: near >= 0.3, strict: near >= 0.6 };
            let mut pairs = TruthPairs::new(NearnessLimits { lenient: 0.3, strict: 0.6 });
            let (mut expected, mut contradicted) = (HashMap::new(), BTreeSet::new());
            for (one, other, near) in said {
                pairs.add(one, other, near).unwrap();
                let pair = (one.min(other), one.max(other));
                if expected.insert(pair, of(near)).is_some_and(|before| before != of(near)) {
                    contradicted.insert(pair);
                }
            }
            let truth = match pairs.finish(9) {
                Ok(truth) => truth,
                Err(pair) => {
                    prop_assert_eq!(Some(&pair), contradicted.first());
                    return Ok(());
                }
            };
            prop_assert!(contradicted.is_empty());
            let lenient = expected.values().filter(|near| near.lenient).count() as u64;
            let strict = expected.values().filter(|near| near.strict).count() as u64;
            prop_assert_eq!((truth.lenient(), truth.strict()), (lenient, strict));
            for (one, other) in (0..9).flat_map(|one| (0..9).map(move |other| (one, other))) {
                let near = expected.get(&(one.min(other), one.max(other))).copied();
                prop_assert_eq!(truth.of(one, other), near.unwrap_or_default());
            }
        }
    }
}
