//! The simhash of a document: counts and weighs its features, and lets them vote.

use super::choices::{FeatureHash, FieldWeight};
use super::document::{Document, Marks};
use super::feature_counts::FeatureCounts;
use super::fixed::scaled;
use super::frequencies::Frequencies;
use super::grams::Grams;
use super::kernel::FingerprintKernel;
use super::part::{FEATURES_MAX, FeaturePart};
use super::recipe::Recipe;
use super::simhash::{FEATURE_WEIGHT_MAX, Simhash};
use super::weights::Weights;
use crate::fingerprint::error::Result;

/// Features with at most this many occurrences have a fast path into the vote. Most features have
/// few occurrences.
const COUNTS_WITH_LANES: u64 = 8;

/// The number of features for which memory is kept between documents.
const FEATURES_KEPT: usize = 1 << 16;

/// Weighs the features of documents, and lets them vote.
#[derive(Clone, Debug)]
pub(super) struct SimhashBuilder {
    recipe: Recipe,
    /// The processing of features, from the recipe. The vote checks this value once for each batch,
    /// since a check for each feature would be slower.
    taking: FeatureHandling,
    tally: FeatureCounts,
    /// Features with the offsets of their words, if positions matter.
    placed: Vec<(u64, usize)>,
    /// The maximum number of distinct features counted at a time, if the text can be read several
    /// times.
    pub(super) features_max: usize,
    pub(super) weights: Weights,
    pub(super) vote: Simhash,
}

/// The processing of features on arrival.
#[derive(Clone, Copy, Debug)]
enum FeatureHandling {
    /// Features vote at once, since all have the same weight.
    Vote,
    /// Features are counted.
    Count,
    /// Features are kept with their positions.
    Keep,
}

impl SimhashBuilder {
    pub(super) fn new(recipe: &Recipe, kernel: FingerprintKernel) -> SimhashBuilder {
        let by_count: Vec<u64> = match recipe.is_plain() {
            true => vec![1],
            false => (1..=COUNTS_WITH_LANES).map(|count| recipe.counts.weight(count)).collect(),
        };
        SimhashBuilder {
            recipe: *recipe,
            taking: match recipe.depends_on_position() {
                true => FeatureHandling::Keep,
                false if recipe.is_plain() => FeatureHandling::Vote,
                false => FeatureHandling::Count,
            },
            tally: FeatureCounts::new(),
            placed: Vec::new(),
            features_max: FEATURES_MAX,
            weights: Weights::new(recipe.counts),
            vote: Simhash::with_kernel(kernel, &by_count),
        }
    }

    /// Takes the next features; if positions matter to the recipe, with the offsets of their words.
    #[inline]
    pub(super) fn add(&mut self, hashes: &[u64], places: &[usize]) {
        match self.taking {
            FeatureHandling::Vote => self.vote_all(hashes),
            FeatureHandling::Count => self.tally.add_all(hashes),
            FeatureHandling::Keep => {
                self.placed.extend(hashes.iter().copied().zip(places.iter().copied()));
            }
        }
    }

    /// Lets features of equal weight vote.
    fn vote_all(&mut self, hashes: &[u64]) {
        match self.recipe.seed {
            0 => self.vote.add_all(hashes),
            _ => hashes.iter().for_each(|hash| self.vote.add_to_lane(0, self.recipe.voting(*hash))),
        }
    }

    /// Whether a text must be read several times, because it may have more features than can be
    /// counted at a time.
    pub(super) fn wants_parts(&self, text: &str) -> bool {
        // A text has at most one feature for each byte.
        let is_large = text.len() > self.features_max;
        is_large
            && matches!(self.taking, FeatureHandling::Count)
            && self.recipe.has_independent_weights()
    }

    /// Lets the collected features vote, then the fields of the document. Returns the weight of
    /// each field; 0 if none votes.
    pub(super) fn vote_on(
        &mut self,
        document: &Document,
        frequencies: Option<&dyn Frequencies>,
    ) -> Result<u64> {
        let SimhashBuilder { recipe, tally, placed, weights, vote, .. } = self;
        let length = placed.len() as u64;
        let boost = recipe.boost.fixed();
        for (x, &(hash, at)) in (0..).zip(&*placed) {
            let mut weight = recipe.scaling.weight(x, length);
            if document.marks(at..at + 1) != Marks::NONE {
                weight = scaled(weight, boost);
            }
            tally.add_placed(hash, weight);
        }
        let heaviest = if recipe.counts_alone() {
            vote_by_count(recipe, tally, vote)
        } else {
            let heaviest = weights.weigh(recipe, tally, frequencies)?;
            weights.scale(recipe, tally, heaviest);
            weights.vote(recipe, vote)
        };
        Ok(self.vote_of_fields(document, heaviest))
    }

    /// Lets the features of a text vote in parts, then the fields of the document.
    pub(super) fn vote_by_parts(
        &mut self,
        grams: &mut Grams,
        text: &str,
        document: &Document,
        frequencies: Option<&dyn Frequencies>,
    ) -> Result<()> {
        let heaviest = if self.recipe.counts_alone() {
            self.vote_parts_by_count(grams, text)
        } else {
            self.vote_parts_by_weight(grams, text, frequencies)?
        };
        self.vote_of_fields(document, heaviest);
        Ok(())
    }

    /// Lets the features of a text vote with weights by count, and returns the heaviest weight.
    fn vote_parts_by_count(&mut self, grams: &mut Grams, text: &str) -> u64 {
        let (mut part, mut heaviest) = (Some(FeaturePart::first(self.features_max)), 0);
        while let Some(of) = part {
            part = self.count(grams, text, of);
            heaviest = heaviest.max(vote_by_count(&self.recipe, &self.tally, &mut self.vote));
            self.tally.clear(self.features_max);
        }
        heaviest
    }

    /// Lets the features of a text vote with weights that depend on the heaviest weight, and
    /// returns the heaviest weight that votes.
    fn vote_parts_by_weight(
        &mut self,
        grams: &mut Grams,
        text: &str,
        frequencies: Option<&dyn Frequencies>,
    ) -> Result<u64> {
        let (all, features_max) = (FeaturePart::first(self.features_max), self.features_max);
        let mut part = self.count(grams, text, all);
        let mut heaviest = self.weights.weigh(&self.recipe, &self.tally, frequencies)?;
        let in_parts = part.is_some();
        while let Some(of) = part {
            self.tally.clear(features_max);
            part = self.count(grams, text, of);
            let of_part = self.weights.weigh(&self.recipe, &self.tally, frequencies)?;
            heaviest = heaviest.max(of_part);
        }
        if !in_parts {
            self.weights.scale(&self.recipe, &self.tally, heaviest);
            return Ok(self.weights.vote(&self.recipe, &mut self.vote));
        }
        let (mut part, mut voted) = (Some(all), 0);
        while let Some(of) = part {
            self.tally.clear(features_max);
            part = self.count(grams, text, of);
            self.weights.weigh(&self.recipe, &self.tally, frequencies)?;
            self.weights.scale(&self.recipe, &self.tally, heaviest);
            voted = voted.max(self.weights.vote(&self.recipe, &mut self.vote));
        }
        Ok(voted)
    }

    /// Counts a part of the features of a text, and returns the next part.
    fn count(
        &mut self,
        grams: &mut Grams,
        text: &str,
        mut part: FeaturePart,
    ) -> Option<FeaturePart> {
        let tally = &mut self.tally;
        grams.push(text, |hashes, _| part.count(tally, hashes));
        grams.finish(|hashes, _| part.count(tally, hashes));
        part.next()
    }

    /// Lets the fields of a document vote. `heaviest` is the weight of the heaviest feature of its
    /// text. Returns the weight of each field; 0 if none votes.
    fn vote_of_fields(&mut self, document: &Document, heaviest: u64) -> u64 {
        let SimhashBuilder { recipe, vote, .. } = self;
        let weight = match recipe.fields {
            FieldWeight::None => return 0,
            FieldWeight::Share(share) => share.of(heaviest),
            FieldWeight::Flip => {
                let free = 64 - recipe.reserved as usize;
                let balance = vote.balance();
                let nearest = balance.iter().take(free).map(|balance| balance.unsigned_abs()).min();
                // If all bits are reserved, there is no bit to flip. A bit that is too far from
                // flipping gets the largest weight that a feature can have.
                let enough = nearest.unwrap_or(0) + 1;
                u64::try_from(enough).unwrap_or(FEATURE_WEIGHT_MAX)
            }
        };
        let weight = weight.min(FEATURE_WEIGHT_MAX);
        for (name, value) in document.fields() {
            vote.add(recipe.voting(hash_of_field(recipe.hash, name, value)), weight);
        }
        weight
    }

    /// Returns the result of the vote, and resets.
    pub(super) fn finish(&mut self) -> u64 {
        self.tally.clear(FEATURES_KEPT);
        self.placed.clear();
        self.placed.shrink_to(FEATURES_KEPT);
        self.weights.shrink_to(FEATURES_KEPT);
        self.vote.finish()
    }
}

/// Lets features vote with weights by count, and returns the largest weight.
fn vote_by_count(recipe: &Recipe, tally: &FeatureCounts, vote: &mut Simhash) -> u64 {
    let mut most = 0;
    for feature in tally.features() {
        most = most.max(feature.count);
        let hash = recipe.voting(feature.hash);
        match usize::try_from(feature.count - 1) {
            Ok(lane) if feature.count <= COUNTS_WITH_LANES => vote.add_to_lane(lane, hash),
            _ => vote.add(hash, recipe.counts.weight(feature.count)),
        }
    }
    if most == 0 { 0 } else { recipe.counts.weight(most) }
}

/// Hashes a field: its name, a byte 0x1F, and the words of its value in lower case with one space
/// between two words.
pub(super) fn hash_of_field(hash: FeatureHash, name: &str, value: &str) -> u64 {
    let mut field = name.as_bytes().to_vec();
    field.push(0x1f);
    let start = field.len();
    let mut take = |word: &[u8]| {
        if field.len() > start {
            field.push(b' ');
        }
        field.extend_from_slice(word);
    };
    let mut words = super::words::WordSplitter::new(FingerprintKernel::PORTABLE, true);
    words.push(value, |word: &[u8], _: usize| take(word));
    words.finish(|word: &[u8], _: usize| take(word));
    hash.of(&field)
}
