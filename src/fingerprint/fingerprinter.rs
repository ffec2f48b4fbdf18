//! Computes the fingerprints of documents.

use std::fmt;

use super::choices::Family;
use super::document::Document;
use super::frequencies::Frequencies;
use super::grams::Grams;
use super::kernel::FingerprintKernel;
use super::minhashing::MinwiseBuilder;
use super::recipe::Recipe;
use super::voting::SimhashBuilder;
use crate::fingerprint::error::{FingerprintError, Result};

/// Fingerprints documents by one recipe, and reuses its memory between documents.
///
/// A text takes at most some 50 MB of memory besides itself, or 100 MB for recipes with document
/// frequencies. A text with very many features is read several times. Memory is unlimited for a
/// text in pieces, and for recipes in which the position of a feature or its rank by weight
/// matters: some 80 bytes for each distinct feature, and 16 bytes more for each occurrence if
/// positions matter. A recipe that need not count features (`raw` without other options, and every
/// minwise recipe) needs none of this memory.
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
    /// Whether a piece of a text was added.
    begun: bool,
    /// Whether any feature of the last text affected the fingerprint.
    pub(super) has_features: bool,
    pub(super) making: FingerprintState,
}

/// The state of the fingerprint in progress.
#[derive(Clone, Debug)]
pub(super) enum FingerprintState {
    Simhash(Box<SimhashBuilder>),
    Minwise(Box<MinwiseBuilder>),
}

impl fmt::Debug for Fingerprinter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprinter({})", self.recipe)
    }
}

impl<'t> Fingerprinter<'t> {
    /// Creates a fingerprinter for a recipe that needs no document frequencies.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Rarity, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::words(3))?; // for all pages of a crawl
    /// assert_ne!(fingerprinter.of_text("The quick brown fox")?, 0);
    /// // This recipe needs a table.
    /// assert!(Fingerprinter::new(&Recipe::words(3).rarity(Rarity::Log)).is_err());
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`FingerprintError::Invalid`] if the recipe needs document frequencies, or is
    /// invalid.
    pub fn new(recipe: &Recipe) -> Result<Fingerprinter<'t>> {
        check(recipe)?;
        if recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} needs a table of document frequencies");
            return Err(FingerprintError::Invalid(what));
        }
        Ok(Fingerprinter::with(recipe, None, FingerprintKernel::fastest()))
    }

    /// Creates a fingerprinter that weighs features by these document frequencies, if the recipe
    /// uses document frequencies.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, InMemoryFrequencies, Recipe};
    /// let recipe: Recipe = "words-idf".parse()?;
    /// let mut counted = InMemoryFrequencies::new(&recipe);
    /// for text in ["our fish", "our chips", "our bread"] {
    ///     counted.add(text);
    /// }
    /// let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted)?;
    /// // The rare word outweighs the word of all pages.
    /// assert_eq!(fingerprinter.of_text("our fish")?, fingerprinter.of_text("fish")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`FingerprintError::Invalid`] if the recipe is invalid. If the recipe uses
    /// frequencies, returns it also for frequencies of other [features](Recipe::features), and for
    /// frequencies of no documents: all features would have the same weight, or none.
    pub fn with_frequencies(
        recipe: &Recipe,
        frequencies: &'t dyn Frequencies,
    ) -> Result<Fingerprinter<'t>> {
        check(recipe)?;
        let (own, counted) = (recipe.features(), frequencies.features());
        if recipe.needs_frequencies() && own != counted {
            let what = format!(
                "the recipe {recipe} needs document frequencies of the features {own}, but the \
                 table has the features {counted}"
            );
            return Err(FingerprintError::Invalid(what));
        }
        if recipe.needs_frequencies() && frequencies.documents() == 0 {
            let what = format!(
                "the recipe {recipe} needs document frequencies from at least one document"
            );
            return Err(FingerprintError::Invalid(what));
        }
        Ok(Fingerprinter::with(recipe, Some(frequencies), FingerprintKernel::fastest()))
    }

    fn with(
        recipe: &Recipe,
        frequencies: Option<&'t dyn Frequencies>,
        kernel: FingerprintKernel,
    ) -> Fingerprinter<'t> {
        Fingerprinter {
            recipe: *recipe,
            frequencies,
            grams: Grams::new(recipe, kernel),
            begun: false,
            has_features: false,
            making: match recipe.family {
                Family::Simhash => {
                    FingerprintState::Simhash(Box::new(SimhashBuilder::new(recipe, kernel)))
                }
                Family::Minwise => FingerprintState::Minwise(Box::new(MinwiseBuilder::new(recipe))),
            },
        }
    }

    /// Disables vector instructions: slower, with the same fingerprints. For tests and
    /// measurements.
    #[must_use]
    pub fn portable(self) -> Fingerprinter<'t> {
        Fingerprinter::with(&self.recipe, self.frequencies, FingerprintKernel::PORTABLE)
    }

    /// Returns the recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Computes the fingerprint of a text; 0 if it has no features. Linear time.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// let one = fingerprinter.of_text("You may use this site if you behave well.")?;
    /// let other = fingerprinter.of_text("You may use this site, if you behave well!")?;
    /// assert_eq!(one, other); // the same words
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the document frequencies.
    pub fn of_text(&mut self, text: &str) -> Result<u64> {
        self.of_whole(text, &Document::default())
    }

    /// Computes the fingerprint of a document.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Marks, Recipe};
    /// let mut page = Document::default();
    /// page.push("Fish and chips", Marks::TITLE);
    /// page.push("\nFresh daily", Marks::NONE);
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// // The default recipe ignores marks.
    /// assert_eq!(fingerprinter.of(&page)?, fingerprinter.of_text(page.text())?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the document frequencies.
    pub fn of(&mut self, document: &Document) -> Result<u64> {
        self.of_whole(document.text(), document)
    }

    /// Computes the fingerprint of a text with the marks and fields of a document.
    fn of_whole(&mut self, text: &str, document: &Document) -> Result<u64> {
        let Fingerprinter { frequencies, grams, making, begun, .. } = self;
        match making {
            FingerprintState::Simhash(voting) if !*begun && voting.wants_parts(text) => {
                let voted = voting.vote_by_parts(grams, text, document, *frequencies);
                let fingerprint = self.empty(document);
                voted.map(|()| fingerprint)
            }
            _ => {
                self.push(text);
                self.finish_as(document)
            }
        }
    }

    /// Adds the next piece of a text without marks or fields. All further input, even by
    /// [`of_text`](Self::of_text), belongs to the same text until [`finish`](Self::finish).
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// for piece in ["The quick bro", "wn fox jumps ", "over the lazy dog"] {
    ///     fingerprinter.push(piece); // as the pieces arrive
    /// }
    /// let fingerprint = fingerprinter.finish()?;
    /// assert_eq!(fingerprint, fingerprinter.of_text("The quick brown fox jumps over the lazy dog")?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn push(&mut self, text: &str) {
        self.begun = true;
        let Fingerprinter { frequencies, grams, making, .. } = self;
        match making {
            FingerprintState::Simhash(voting) => {
                grams.push(text, |some, places| voting.add(some, places))
            }
            FingerprintState::Minwise(least) => {
                grams.push(text, |some, _| least.add(some, *frequencies))
            }
        }
    }

    /// Finishes the text, and returns its fingerprint.
    ///
    /// ```
    /// use simkeep::fingerprint::{Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// fingerprinter.push("The quick brown fox");
    /// assert_ne!(fingerprinter.finish()?, 0);
    /// assert_eq!(fingerprinter.finish()?, 0); // an empty text
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the document frequencies.
    pub fn finish(&mut self) -> Result<u64> {
        self.finish_as(&Document::default())
    }

    /// Returns the fingerprint of the pushed text, with marks and fields of a document.
    fn finish_as(&mut self, document: &Document) -> Result<u64> {
        let taken = self.take_all(document);
        let fingerprint = self.empty(document);
        taken.map(|_| fingerprint)
    }

    /// Processes the remaining features, and returns the weight of each field; 0 if the recipe
    /// ignores fields.
    pub(super) fn take_all(&mut self, document: &Document) -> Result<u64> {
        let Fingerprinter { frequencies, grams, making, .. } = self;
        match making {
            FingerprintState::Simhash(voting) => {
                grams.finish(|some, places| voting.add(some, places));
                voting.vote_on(document, *frequencies)
            }
            FingerprintState::Minwise(least) => {
                grams.finish(|some, _| least.add(some, *frequencies));
                least.complete(*frequencies).map(|()| 0)
            }
        }
    }

    /// Returns the fingerprint, and resets.
    pub(super) fn empty(&mut self, document: &Document) -> u64 {
        self.begun = false;
        let (has_features, bits) = match &mut self.making {
            FingerprintState::Simhash(voting) => (voting.vote.total() > 0, voting.finish()),
            FingerprintState::Minwise(least) => (!least.minwise.is_empty(), least.finish()),
        };
        self.has_features = has_features;
        match self.recipe.reserved {
            0 => bits,
            reserved => bits & self.recipe.mask() | document.metadata() << (64 - reserved),
        }
    }
}

/// Rejects an invalid recipe.
fn check(recipe: &Recipe) -> Result<()> {
    match recipe.invalid_reason() {
        None => Ok(()),
        Some(what) => {
            Err(FingerprintError::Invalid(format!("the recipe {recipe} is invalid: {what}")))
        }
    }
}
