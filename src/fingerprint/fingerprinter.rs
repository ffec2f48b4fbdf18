//! Documents in, fingerprints out.

use std::fmt;

use super::choices::Family;
use super::document::Document;
use super::frequencies::Frequencies;
use super::grams::Grams;
use super::kernel::Kernel;
use super::minhashing::Minhashing;
use super::recipe::Recipe;
use super::voting::Voting;
use crate::fingerprint::error::{FingerprintError, Result};

/// Makes fingerprints by one recipe, one document after another, and keeps its memory in between.
///
/// A text takes at most some 50 MB of memory besides itself, or 100 MB for recipes with document
/// frequencies: if it has very many features, it is read several times. There is no such bound for
/// a text that comes in pieces, and for recipes in which the place of a feature or its rank by
/// weight matters. These take some 80 bytes for each distinct feature, and 16 more for each
/// occurrence if places matter. A recipe that need not tell features apart (`raw` and nothing else,
/// and every minwise recipe) takes none.
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
    /// Whether a text has begun to come in pieces.
    begun: bool,
    /// Whether any feature of the last text took part.
    pub(super) told: bool,
    pub(super) making: Making,
}

/// What becomes of the features.
#[derive(Clone, Debug)]
pub(super) enum Making {
    Simhash(Box<Voting>),
    Minwise(Box<Minhashing>),
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
    /// [`FingerprintError::Invalid`] if the recipe needs document frequencies, or makes no sense.
    pub fn new(recipe: &Recipe) -> Result<Fingerprinter<'t>> {
        check(recipe)?;
        if recipe.needs_frequencies() {
            let what = format!("the recipe {recipe} needs a table of document frequencies");
            return Err(FingerprintError::Invalid(what));
        }
        Ok(Fingerprinter::with(recipe, None, Kernel::fastest()))
    }

    /// A fingerprinter that weighs features by these document frequencies, if the recipe uses any.
    ///
    /// # Errors
    ///
    /// [`FingerprintError::Invalid`] if the recipe uses them, and they are of other
    /// [features](Recipe::features) or of no documents: then all features would weigh the same, or
    /// nothing. Or if the recipe makes no sense.
    pub fn with_frequencies(
        recipe: &Recipe,
        frequencies: &'t dyn Frequencies,
    ) -> Result<Fingerprinter<'t>> {
        check(recipe)?;
        let (own, counted) = (recipe.features(), frequencies.features());
        if recipe.needs_frequencies() && own != counted {
            let what = format!("the recipe {recipe} needs frequencies of {own}, not of {counted}");
            return Err(FingerprintError::Invalid(what));
        }
        if recipe.needs_frequencies() && frequencies.documents() == 0 {
            let what = format!("the recipe {recipe} needs frequencies of some documents");
            return Err(FingerprintError::Invalid(what));
        }
        Ok(Fingerprinter::with(recipe, Some(frequencies), Kernel::fastest()))
    }

    fn with(
        recipe: &Recipe,
        frequencies: Option<&'t dyn Frequencies>,
        kernel: Kernel,
    ) -> Fingerprinter<'t> {
        Fingerprinter {
            recipe: *recipe,
            frequencies,
            grams: Grams::new(recipe, kernel),
            begun: false,
            told: false,
            making: match recipe.family {
                Family::Simhash => Making::Simhash(Box::new(Voting::new(recipe, kernel))),
                Family::Minwise => Making::Minwise(Box::new(Minhashing::new(recipe))),
            },
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
        let Fingerprinter { frequencies, grams, making, begun, .. } = self;
        match making {
            Making::Simhash(voting) if !*begun && voting.wants_parts(text) => {
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

    /// Takes the next piece of a text without marks or fields. Whatever follows, even by
    /// [`of_text`](Self::of_text), is part of the same text until it is finished.
    pub fn push(&mut self, text: &str) {
        self.begun = true;
        let Fingerprinter { frequencies, grams, making, .. } = self;
        match making {
            Making::Simhash(voting) => grams.push(text, |some, places| voting.add(some, places)),
            Making::Minwise(least) => grams.push(text, |some, _| least.add(some, *frequencies)),
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
        let taken = self.take_all(document);
        let fingerprint = self.empty(document);
        taken.map(|_| fingerprint)
    }

    /// Takes all features that are left, and returns what each field weighs; 0 if fields have no part.
    pub(super) fn take_all(&mut self, document: &Document) -> Result<u64> {
        let Fingerprinter { frequencies, grams, making, .. } = self;
        match making {
            Making::Simhash(voting) => {
                grams.finish(|some, places| voting.add(some, places));
                voting.vote_on(document, *frequencies)
            }
            Making::Minwise(least) => {
                grams.finish(|some, _| least.add(some, *frequencies));
                least.complete(*frequencies).map(|()| 0)
            }
        }
    }

    /// The fingerprint of what was taken, and everything empty again.
    pub(super) fn empty(&mut self, document: &Document) -> u64 {
        self.begun = false;
        let (told, bits) = match &mut self.making {
            Making::Simhash(voting) => (voting.vote.total() > 0, voting.finish()),
            Making::Minwise(least) => (!least.minwise.is_empty(), least.finish()),
        };
        self.told = told;
        match self.recipe.reserved {
            0 => bits,
            reserved => bits & self.recipe.mask() | document.metadata() << (64 - reserved),
        }
    }
}

/// Refuses a recipe that makes no sense.
fn check(recipe: &Recipe) -> Result<()> {
    match recipe.nonsense() {
        None => Ok(()),
        Some(what) => Err(FingerprintError::Invalid(format!("{recipe} is no recipe: {what}"))),
    }
}
