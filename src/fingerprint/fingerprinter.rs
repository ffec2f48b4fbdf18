//! Documents in, fingerprints out.

use std::fmt;

use super::document::{Document, Marks};
use super::fixed::scaled;
use super::frequencies::Frequencies;
use super::grams::Grams;
use super::kernel::Kernel;
use super::part::{FEATURES_MAX, Part};
use super::recipe::{Fields, Hash, Recipe};
use super::simhash::{FEATURE_WEIGHT_MAX, Simhash};
use super::tally::Tally;
use super::weights::Weights;
use crate::error::{Error, Result};

/// Features that occur at most this often have a fast path into the vote. Most features do.
const COUNTS_WITH_LANES: u64 = 8;

/// Memory is kept for this many features between documents.
const FEATURES_KEPT: usize = 1 << 16;

/// Makes fingerprints by one recipe, one document after another, and keeps its memory in between.
///
/// A text takes at most some 50 MB of memory besides itself, or 100 MB for recipes with document
/// frequencies: if it has very many features, it is read several times. There is no such bound for
/// a text that comes in pieces, and for recipes in which the place of a feature or its rank by
/// weight matters. These take some 80 bytes for each distinct feature, and 16 more for each
/// occurrence if places matter. A recipe that need not tell features apart (`raw`, and nothing
/// else) takes none.
///
/// ```
/// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
/// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
/// let whole = fingerprinter.of_text("The quick brown fox jumps over the lazy dog")?;
/// // A text may come in pieces, cut anywhere.
/// fingerprinter.push("The quick brown fox ju");
/// fingerprinter.push("mps over the lazy dog");
/// assert_eq!(fingerprinter.finish()?, whole);
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone)]
pub struct Fingerprinter<'t> {
    pub(super) recipe: Recipe,
    pub(super) frequencies: Option<&'t dyn Frequencies>,
    grams: Grams,
    pub(super) tally: Tally,
    /// Features with the offsets of their words, where their places matter.
    placed: Vec<(u64, usize)>,
    /// Whether a text has begun to come in pieces.
    begun: bool,
    /// How many distinct features are counted at a time, if the text can be read several times.
    pub(super) features_max: usize,
    pub(super) weights: Weights,
    pub(super) vote: Simhash,
}

impl fmt::Debug for Fingerprinter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprinter({})", self.recipe)
    }
}

impl<'t> Fingerprinter<'t> {
    /// A fingerprinter for a recipe that needs no document frequencies.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] if the recipe needs document frequencies.
    pub fn new(recipe: &Recipe) -> Result<Fingerprinter<'t>> {
        if recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} needs a table of document frequencies");
            return Err(Error::Misuse(what));
        }
        Ok(Fingerprinter::with(recipe, None, Kernel::fastest()))
    }

    /// A fingerprinter that weighs features by these document frequencies, if the recipe uses any.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] if the recipe uses them, and they are of other
    /// [features](Recipe::features) or of no documents: then all features would weigh the same, or
    /// nothing.
    pub fn with_frequencies(
        recipe: &Recipe,
        frequencies: &'t dyn Frequencies,
    ) -> Result<Fingerprinter<'t>> {
        let (own, counted) = (recipe.features(), frequencies.features());
        if recipe.needs_frequencies() && own != counted {
            let what = format!("the recipe {recipe} needs frequencies of {own}, not of {counted}");
            return Err(Error::Misuse(what));
        }
        if recipe.needs_frequencies() && frequencies.documents() == 0 {
            let what = format!("the recipe {recipe} needs frequencies of some documents");
            return Err(Error::Misuse(what));
        }
        Ok(Fingerprinter::with(recipe, Some(frequencies), Kernel::fastest()))
    }

    fn with(
        recipe: &Recipe,
        frequencies: Option<&'t dyn Frequencies>,
        kernel: Kernel,
    ) -> Fingerprinter<'t> {
        let by_count: Vec<u64> = match recipe.is_plain() {
            true => vec![1],
            false => (1..=COUNTS_WITH_LANES).map(|count| recipe.counts.weight(count)).collect(),
        };
        Fingerprinter {
            recipe: *recipe,
            frequencies,
            grams: Grams::new(recipe, kernel),
            tally: Tally::new(),
            placed: Vec::new(),
            begun: false,
            features_max: FEATURES_MAX,
            weights: Weights::new(recipe.counts),
            vote: Simhash::with_kernel(kernel, &by_count),
        }
    }

    /// This fingerprinter without vector instructions: slower, with the same fingerprints. For
    /// tests and measurements.
    #[must_use]
    pub fn portable(self) -> Fingerprinter<'t> {
        Fingerprinter::with(&self.recipe, self.frequencies, Kernel::PORTABLE)
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The fingerprint of a text; 0 if it has no features. Linear in the text.
    ///
    /// # Errors
    ///
    /// Those of the document frequencies.
    pub fn of_text(&mut self, text: &str) -> Result<u64> {
        self.of_whole(text, &Document::default())
    }

    /// The fingerprint of a document.
    ///
    /// # Errors
    ///
    /// Those of the document frequencies.
    pub fn of(&mut self, document: &Document) -> Result<u64> {
        self.of_whole(document.text(), document)
    }

    /// The fingerprint of a text with the marks and fields of a document.
    fn of_whole(&mut self, text: &str, document: &Document) -> Result<u64> {
        // No feature has less than a byte of its own.
        let is_large = text.len() > self.features_max;
        if self.begun || !is_large || self.recipe.is_plain() || !self.recipe.is_apart() {
            self.push(text);
            return self.finish_as(document);
        }
        let voted =
            self.vote_by_parts(text).map(|heaviest| self.vote_of_fields(document, heaviest));
        let fingerprint = self.finish_vote(document);
        voted.map(|_| fingerprint)
    }

    /// Takes the next piece of a text without marks or fields. Whatever follows, even by
    /// [`of_text`](Self::of_text), is part of the same text until it is finished.
    pub fn push(&mut self, text: &str) {
        self.begun = true;
        let Fingerprinter { recipe, grams, tally, placed, vote, .. } = self;
        if recipe.is_placed() {
            grams.push(text, |hashes, places| placed.extend(pairs(hashes, places)));
        } else if recipe.is_plain() {
            grams.push(text, |hashes, _| vote.add_all(hashes));
        } else {
            grams.push(text, |hashes, _| tally.add_all(hashes));
        }
    }

    /// Finishes the text, and returns its fingerprint.
    ///
    /// # Errors
    ///
    /// Those of the document frequencies.
    pub fn finish(&mut self) -> Result<u64> {
        self.finish_as(&Document::default())
    }

    /// The fingerprint of what was pushed, with marks and fields of a document.
    fn finish_as(&mut self, document: &Document) -> Result<u64> {
        let voted = self.vote_on(document);
        let fingerprint = self.finish_vote(document);
        voted.map(|_| fingerprint)
    }

    /// The outcome of the vote, and everything empty again.
    pub(super) fn finish_vote(&mut self, document: &Document) -> u64 {
        self.begun = false;
        self.tally.clear(FEATURES_KEPT);
        self.placed.clear();
        self.placed.shrink_to(FEATURES_KEPT);
        self.weights.shrink_to(FEATURES_KEPT);
        let bits = self.vote.finish();
        match self.recipe.reserved {
            0 => bits,
            reserved => bits & self.recipe.mask() | document.metadata() << (64 - reserved),
        }
    }

    /// Lets all features vote, and returns what each field weighs; 0 if none votes.
    pub(super) fn vote_on(&mut self, document: &Document) -> Result<u64> {
        let Fingerprinter { recipe, frequencies, grams, tally, placed, weights, vote, .. } = self;
        if recipe.is_placed() {
            grams.finish(|hashes, places| placed.extend(pairs(hashes, places)));
            let length = placed.len() as u64;
            let boost = recipe.boost.fixed();
            for (x, &(hash, at)) in (0..).zip(&*placed) {
                let mut weight = recipe.scaling.weight(x, length);
                if document.marks(at..at + 1) != Marks::NONE {
                    weight = scaled(weight, boost);
                }
                tally.add_placed(hash, weight);
            }
        } else if recipe.is_plain() {
            grams.finish(|hashes, _| vote.add_all(hashes));
        } else {
            grams.finish(|hashes, _| tally.add_all(hashes));
        }
        let heaviest = if recipe.counts_alone() {
            vote_by_count(recipe, tally, vote)
        } else {
            let heaviest = weights.weigh(recipe, tally, *frequencies)?;
            weights.scale(recipe, tally, heaviest);
            weights.vote(vote)
        };
        Ok(self.vote_of_fields(document, heaviest))
    }

    /// Lets the features of a text vote, some at a time, and returns the heaviest weight.
    fn vote_by_parts(&mut self, text: &str) -> Result<u64> {
        let (all, features_max) = (Part::first(self.features_max), self.features_max);
        if self.recipe.counts_alone() {
            let (mut part, mut heaviest) = (Some(all), 0);
            while let Some(of) = part {
                part = self.count(text, of);
                heaviest = heaviest.max(vote_by_count(&self.recipe, &self.tally, &mut self.vote));
                self.tally.clear(features_max);
            }
            return Ok(heaviest);
        }
        // Weights can be scaled only when the heaviest one is known.
        let mut part = self.count(text, all);
        let mut heaviest = self.weights.weigh(&self.recipe, &self.tally, self.frequencies)?;
        let in_parts = part.is_some();
        while let Some(of) = part {
            self.tally.clear(features_max);
            part = self.count(text, of);
            let of_part = self.weights.weigh(&self.recipe, &self.tally, self.frequencies)?;
            heaviest = heaviest.max(of_part);
        }
        if !in_parts {
            self.weights.scale(&self.recipe, &self.tally, heaviest);
            return Ok(self.weights.vote(&mut self.vote));
        }
        let (mut part, mut voted) = (Some(all), 0);
        while let Some(of) = part {
            self.tally.clear(features_max);
            part = self.count(text, of);
            self.weights.weigh(&self.recipe, &self.tally, self.frequencies)?;
            self.weights.scale(&self.recipe, &self.tally, heaviest);
            voted = voted.max(self.weights.vote(&mut self.vote));
        }
        Ok(voted)
    }

    /// Counts a part of the features of a text, and returns the next part.
    fn count(&mut self, text: &str, mut part: Part) -> Option<Part> {
        let Fingerprinter { grams, tally, .. } = self;
        grams.push(text, |hashes, _| part.count(tally, hashes));
        grams.finish(|hashes, _| part.count(tally, hashes));
        part.next()
    }

    /// Lets the fields of a document vote, given the heaviest weight of a feature of its text.
    /// Returns what each field weighs; 0 if none votes.
    fn vote_of_fields(&mut self, document: &Document, heaviest: u64) -> u64 {
        let Fingerprinter { recipe, vote, .. } = self;
        let weight = match recipe.fields {
            Fields::None => return 0,
            Fields::Share(share) => share.of(heaviest),
            Fields::Flip => {
                let free = 64 - recipe.reserved as usize;
                let balance = vote.balance();
                let nearest = balance.iter().take(free).map(|balance| balance.unsigned_abs()).min();
                // If all bits are reserved, there is none to flip. A bit that is too far from
                // flipping gets the largest weight that a feature can have.
                let enough = nearest.unwrap_or(0) + 1;
                u64::try_from(enough).unwrap_or(FEATURE_WEIGHT_MAX)
            }
        };
        let weight = weight.min(FEATURE_WEIGHT_MAX);
        for (name, value) in document.fields() {
            vote.add(hash_of_field(recipe.hash, name, value), weight);
        }
        weight
    }
}

/// Lets features vote with weights that follow from their counts, and returns the largest weight.
fn vote_by_count(recipe: &Recipe, tally: &Tally, vote: &mut Simhash) -> u64 {
    let mut most = 0;
    for feature in tally.features() {
        most = most.max(feature.count);
        match usize::try_from(feature.count - 1) {
            Ok(lane) if feature.count <= COUNTS_WITH_LANES => vote.add_to_lane(lane, feature.hash),
            _ => vote.add(feature.hash, recipe.counts.weight(feature.count)),
        }
    }
    if most == 0 { 0 } else { recipe.counts.weight(most) }
}

/// Features with their places.
fn pairs<'f>(hashes: &'f [u64], places: &'f [usize]) -> impl Iterator<Item = (u64, usize)> + 'f {
    hashes.iter().copied().zip(places.iter().copied())
}

/// The hash of a field: of its name, a byte 0x1F, and the words of its value in lower case with
/// one space between two.
pub(super) fn hash_of_field(hash: Hash, name: &str, value: &str) -> u64 {
    let mut field = name.as_bytes().to_vec();
    field.push(0x1f);
    let start = field.len();
    let mut take = |word: &[u8]| {
        if field.len() > start {
            field.push(b' ');
        }
        field.extend_from_slice(word);
    };
    let mut words = super::words::Words::new(Kernel::PORTABLE, true);
    words.push(value, |word: &[u8], _: usize| take(word));
    words.finish(|word: &[u8], _: usize| take(word));
    hash.of(&field)
}
