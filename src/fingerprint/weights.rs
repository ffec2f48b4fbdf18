//! What each feature of a document weighs.

use super::fixed::{self, ONE, WEIGHT_MAX};
use super::frequencies::Frequencies;
use super::kernel::Weighed;
use super::recipe::{Counts, Rarity, Recipe, Scaling};
use super::tally::Tallied;
use crate::error::Result;

impl Counts {
    /// What a feature weighs that occurs so often, in units of 2⁻¹⁶.
    #[inline]
    pub(super) fn weight(self, count: u64) -> u64 {
        let weight = match self {
            Counts::Binary => ONE,
            _ if count == 1 => ONE,
            Counts::Raw => count.saturating_mul(ONE),
            Counts::Sqrt => fixed::sqrt(count),
            Counts::Log => ONE + fixed::ln(count),
        };
        weight.min(WEIGHT_MAX)
    }
}

impl Rarity {
    /// By what a weight is multiplied if `df` of `n` documents have the feature: in units of 2⁻¹⁶,
    /// or of 2⁻³² if it is 1/df, since only what weights are to each other matters.
    fn factor(self, n: u64, df: u64) -> u64 {
        match self {
            Rarity::None => ONE,
            Rarity::Log => fixed::ln_one_plus(n, df.max(1)),
            Rarity::Inverse => (1 << 32) / df.max(1),
        }
    }
}

impl Scaling {
    /// What the `x`-th of `length` features weighs by its place, in units of 2⁻¹⁶, or of 2⁻³² for the
    /// beginning.
    pub(super) fn weight(self, x: u64, length: u64) -> u64 {
        match self {
            Scaling::None => ONE,
            // With more digits than a logarithm has: a long document's last words are to weigh, too.
            Scaling::Front => (fixed::ln(x.saturating_add(2)) << 16) / x.saturating_add(2),
            Scaling::Ends => fixed::cos_plus_one(x, length),
            Scaling::By { weight, .. } => weight(x, length).min(WEIGHT_MAX),
        }
    }
}

/// Weighs the features of documents, one after another.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    hashes: Vec<u64>,
    frequencies: Vec<u64>,
    /// Before they are made to fit a vote.
    unscaled: Vec<u128>,
    /// What the last document's features weigh.
    pub(super) weighed: Vec<Weighed>,
}

impl Weights {
    pub(super) fn new() -> Weights {
        Weights {
            hashes: Vec::new(),
            frequencies: Vec::new(),
            unscaled: Vec::new(),
            weighed: Vec::new(),
        }
    }

    /// Weighs features, in their order; those that weigh nothing are left out.
    pub(super) fn weigh(
        &mut self,
        recipe: &Recipe,
        features: &[Tallied],
        table: Option<&dyn Frequencies>,
    ) -> Result<()> {
        self.frequencies.clear();
        let mut documents = 0;
        if let (true, Some(table)) = (recipe.needs_frequencies(), table) {
            documents = table.documents();
            self.hashes.clear();
            self.hashes.extend(features.iter().map(|feature| feature.hash));
            table.frequencies(&self.hashes, &mut self.frequencies)?;
        }
        self.weighed.clear();
        let placed = recipe.is_placed();
        for (nth, feature) in features.iter().enumerate() {
            let mut weight = u128::from(recipe.counts.weight(feature.count));
            if recipe.rarity != Rarity::None {
                let df = self.frequencies.get(nth).copied().unwrap_or(0);
                weight = (weight * u128::from(recipe.rarity.factor(documents, df))) >> 16;
            }
            if placed {
                // The mean over its occurrences.
                let all = weight * u128::from(feature.places);
                weight = (all / u128::from(feature.count.max(1))) >> 16;
            }
            self.unscaled.push(weight);
        }
        // What is too heavy for a vote is made lighter together with all others.
        let heaviest = self.unscaled.iter().copied().max().unwrap_or(0);
        let bits = (u128::BITS - heaviest.leading_zeros()).saturating_sub(WEIGHT_MAX.count_ones());
        for (feature, weight) in features.iter().zip(self.unscaled.drain(..)) {
            match u64::try_from(weight >> bits) {
                Ok(0) | Err(_) => {}
                Ok(weight) => self.weighed.push((feature.hash, weight)),
            }
        }
        self.choose(recipe);
        Ok(())
    }

    /// Gives back memory beyond what so many features take.
    pub(super) fn shrink_to(&mut self, features: usize) {
        self.hashes.shrink_to(features);
        self.frequencies.shrink_to(features);
        self.unscaled.shrink_to(features);
        self.weighed.shrink_to(features);
    }

    /// Leaves out what the recipe does, by weight.
    fn choose(&mut self, recipe: &Recipe) {
        let heaviest = self.weighed.iter().map(|feature| feature.1).max().unwrap_or(0);
        let (least, most) = (recipe.at_least.of(heaviest), recipe.at_most.of(heaviest));
        if least > 0 || most < heaviest {
            self.weighed.retain(|feature| (least..=most).contains(&feature.1));
        }
        let heavier = |a: &Weighed, b: &Weighed| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
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

impl Recipe {
    /// Whether what an occurrence weighs depends on its place.
    pub(super) fn is_placed(&self) -> bool {
        self.scaling != Scaling::None || self.boost != super::Share::ONE
    }

    /// Whether every occurrence weighs the same, so that none needs to be found again.
    pub(super) fn is_plain(&self) -> bool {
        self.counts == Counts::Raw
            && !self.needs_frequencies()
            && !self.is_placed()
            && self.at_least == super::Share::ZERO
            && self.at_most >= super::Share::ONE
            && self.top == u32::MAX
            && self.cap == 1
            && !matches!(self.fields, super::Fields::Share(_))
    }
}
