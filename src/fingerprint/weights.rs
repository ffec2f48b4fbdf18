//! The weights of the features of a document.

use super::choices::{CountWeight, PositionWeight, Rarity};
use super::feature_counts::FeatureCounts;
use super::fixed::{self, ONE, WEIGHT_MAX};
use super::frequencies::{Frequencies, look_up};
use super::kernel::WeightedHash;
use super::recipe::Recipe;
use super::simhash::Simhash;
use crate::bug::OrBug;
use crate::fingerprint::error::Result;

impl CountWeight {
    /// Returns the weight for a number of occurrences, in units of 2⁻¹⁶.
    #[inline]
    pub(super) fn weight(self, count: u64) -> u64 {
        let weight = match self {
            CountWeight::Binary => ONE,
            _ if count == 1 => ONE,
            CountWeight::Raw => count.saturating_mul(ONE),
            CountWeight::Sqrt => fixed::sqrt(count),
            CountWeight::Log => ONE + fixed::ln(count),
        };
        weight.min(WEIGHT_MAX)
    }
}

impl Rarity {
    /// Returns the weight factor if `df` of `n` documents have the feature. The factor is in units
    /// of 2⁻¹⁶, or of 2⁻³² for 1/df, since only the ratio of weights matters.
    fn factor(self, n: u64, df: u64) -> u64 {
        match self {
            Rarity::None => ONE,
            Rarity::Log => fixed::ln_one_plus(n, df.max(1)),
            Rarity::Inverse => (1 << 32) / df.max(1),
        }
    }
}

impl PositionWeight {
    /// Returns the weight of the `x`-th of `length` features by position, in units of 2⁻¹⁶, or of
    /// 2⁻³² for `Front`.
    pub(super) fn weight(self, x: u64, length: u64) -> u64 {
        match self {
            PositionWeight::None => ONE,
            // The result has more digits than a logarithm needs, so that the last words of a long
            // document still weigh something.
            PositionWeight::Front => (fixed::ln(x.saturating_add(2)) << 16) / x.saturating_add(2),
            PositionWeight::Ends => fixed::cos_plus_one(x, length),
            PositionWeight::By { weight, .. } => weight(x, length).min(WEIGHT_MAX),
        }
    }
}

/// Weighs the features of documents, one after another.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// The weights for the smallest counts, from 1 on.
    by_count: [u64; 64],
    hashes: Vec<u64>,
    frequencies: Vec<u64>,
    /// The weights before they are scaled for a vote.
    unscaled: Vec<u128>,
    /// The weights of the last document's features.
    pub(super) weighed: Vec<WeightedHash>,
}

impl Weights {
    pub(super) fn new(counts: CountWeight) -> Weights {
        let mut by_count = [0; 64];
        (1..).zip(&mut by_count).for_each(|(count, weight)| *weight = counts.weight(count));
        Weights {
            by_count,
            hashes: Vec::new(),
            frequencies: Vec::new(),
            unscaled: Vec::new(),
            weighed: Vec::new(),
        }
    }

    /// Weighs features in order, and returns the heaviest weight. The result must be
    /// [scaled](Self::scale).
    pub(super) fn weigh(
        &mut self,
        recipe: &Recipe,
        tally: &FeatureCounts,
        table: Option<&dyn Frequencies>,
    ) -> Result<u128> {
        let Weights { by_count, hashes, frequencies, unscaled, .. } = self;
        let by_count = |count: u64| {
            let known = usize::try_from(count - 1).ok().and_then(|nth| by_count.get(nth));
            known.copied().unwrap_or_else(|| recipe.counts.weight(count))
        };
        unscaled.clear();
        unscaled.extend(tally.features().map(|feature| u128::from(by_count(feature.count))));
        if recipe.needs_frequencies() {
            let table = table.or_bug("a recipe that weighs by rarity has a table")?;
            hashes.clear();
            hashes.extend(tally.features().map(|feature| feature.hash));
            look_up(table, hashes, frequencies)?;
            let documents = table.documents();
            for (weight, df) in unscaled.iter_mut().zip(&*frequencies) {
                *weight = (*weight * u128::from(recipe.rarity.factor(documents, *df))) >> 16;
            }
        }
        if recipe.depends_on_position() {
            let features = tally.features().zip(tally.places());
            for (weight, (feature, places)) in unscaled.iter_mut().zip(features) {
                // The mean over the occurrences of the feature.
                let all = *weight * u128::from(places);
                *weight = (all / u128::from(feature.count.max(1))) >> 16;
            }
        }
        Ok(unscaled.iter().copied().max().unwrap_or(0))
    }

    /// Scales the weights of these features for a vote. `heaviest` is the heaviest weight of all
    /// features. Drops features without weight, and features that the recipe leaves out.
    #[expect(clippy::expect_used, reason = "the heaviest has been made to fit")]
    pub(super) fn scale(&mut self, recipe: &Recipe, tally: &FeatureCounts, heaviest: u128) {
        let Weights { unscaled, weighed, .. } = self;
        weighed.clear();
        // If a weight is too heavy for a vote, all weights are reduced together.
        let bits = (u128::BITS - heaviest.leading_zeros()).saturating_sub(WEIGHT_MAX.count_ones());
        let fitted = |weight: u128| u64::try_from(weight >> bits).expect("none is heavier");
        for (feature, weight) in tally.features().zip(&*unscaled) {
            match fitted(*weight) {
                0 => {}
                weight => weighed.push((feature.hash, weight)),
            }
        }
        self.choose(recipe, fitted(heaviest));
    }

    /// Lets the remaining features vote, and returns the heaviest weight.
    pub(super) fn vote(&self, recipe: &Recipe, vote: &mut Simhash) -> u64 {
        self.weighed.iter().for_each(|&(hash, weight)| vote.add(recipe.voting(hash), weight));
        self.weighed.iter().map(|feature| feature.1).max().unwrap_or(0)
    }

    /// Frees memory beyond the need of `features` features.
    pub(super) fn shrink_to(&mut self, features: usize) {
        self.hashes.shrink_to(features);
        self.frequencies.shrink_to(features);
        self.unscaled.shrink_to(features);
        self.weighed.shrink_to(features);
    }

    /// Drops the features that the recipe leaves out by weight.
    fn choose(&mut self, recipe: &Recipe, heaviest: u64) {
        let (least, most) = (recipe.at_least.of(heaviest), recipe.at_most.of(heaviest));
        if least > 0 || most < heaviest {
            self.weighed.retain(|feature| (least..=most).contains(&feature.1));
        }
        let heavier = |a: &WeightedHash, b: &WeightedHash| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
        let top = recipe.top as usize;
        if self.weighed.len() > top {
            self.weighed.select_nth_unstable_by(top.saturating_sub(1), heavier);
            self.weighed.truncate(top);
        }
        let cap = recipe.cap as usize;
        if cap > 1 && self.weighed.len() >= cap {
            let (heavy, nth, _) = self.weighed.select_nth_unstable_by(cap - 1, heavier);
            heavy.iter_mut().for_each(|feature| feature.1 = nth.1);
        }
    }
}
