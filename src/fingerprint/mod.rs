//! Fingerprints of texts in 64 bits: similar texts differ in few bits.
//!
//! A [`Recipe`] defines the features of a document, the hash of each feature, and the function that
//! turns the hashes into bits. There are two [families](Family):
//!
//! - The [simhash](Simhash) of the hashes, each with a weight (M. S. Charikar, *Similarity
//!   estimation techniques from rounding algorithms*, STOC 2002). The simhash is best at
//!   distinguishing small changes of a page.
//! - The one-bit [minwise hash](Minwise) of the set of the hashes (P. Li, A. C. König, *b-Bit
//!   minwise hashing*, WWW 2010). The minwise hash finds the most near-duplicates.
//!
//! Fingerprints of both families have 64 bits, and are compared by the number of differing bits. A
//! [`Fingerprinter`] computes fingerprints by any recipe, and [`of_text`] by the
//! [default](Recipe::DEFAULT) one.
//!
//! All recipes have in common:
//!
//! - **Words** are the maximal runs of letters and digits, lower-cased character by character. In
//!   scripts without spaces between words, words are the pairs of neighbouring characters. Runs of
//!   more than 256 bytes are cut. The text is composed first (NFC of Unicode 17), so canonically
//!   equivalent texts have the same words: "é" as one character and "é" as two are one word.
//!   Compatibility characters and accents are not normalised. The tables of letters and of
//!   composition are frozen in the source.
//! - **Features** are n-grams of words or of characters, hashed by XXH3-64 with seed 0. The hash of
//!   a word is the hash of its UTF-8. The hash of several words is the hash of their concatenated
//!   hashes, little-endian. The hash of characters is the hash of their UTF-8; the characters come
//!   from the words in lower case with one space between them.
//! - **Weights** of a simhash are integers, in units of 2⁻¹⁶. By default a feature weighs the
//!   square root of its number of occurrences, `isqrt(count · 2³²)`.
//! - **Bits**: bit *i* of a simhash is 1 if the features whose hash has bit *i* weigh more than the
//!   other features, and 0 otherwise. Bit *i* of a minwise hash is a bit of the feature with the
//!   least second hash in bin *i*: see [`Minwise`]. A text without features has the fingerprint 0.
//!
//! A fingerprint does not depend on the platform, on threads, on the order of a hash map, or on how
//! a text is cut into pieces. Fingerprints of different recipes, extractors or tables of
//! frequencies cannot be compared: a store keeps them apart as *epochs*.
//!
//! ```
//! use simkeep::fingerprint;
//! let a = fingerprint::of_text("The quick brown fox jumps over the lazy dog, and runs away.");
//! let b = fingerprint::of_text("the quick   brown fox jumps over the lazy dog and runs away");
//! assert!(a.is_some() && a == b);
//! assert_eq!(fingerprint::of_text("Too short to compare"), None);
//! ```

mod batch;
mod bit_sketch;
mod char_table;
#[cfg(feature = "html")]
mod charset;
mod choices;
mod classes;
mod compose;
mod document;
mod error;
mod explain;
mod feature_counts;
mod feature_set;
mod fingerprinter;
mod fixed;
mod frequencies;
mod grams;
#[cfg(feature = "html")]
mod html;
mod imatch;
mod in_memory_frequencies;
mod jenkins;
mod kernel;
mod lexicon;
mod meaning;
mod minhashing;
mod minwise;
mod name;
mod part;
mod presets;
mod ratio;
mod recipe;
mod shingles;
mod short;
mod simhash;
mod sketch;
mod stop;
mod supershingles;
mod tables;
mod utf8;
mod voting;
mod weights;
mod word_scanner;
mod words;

pub use bit_sketch::{BitSketch, BitSketcher};
#[cfg(feature = "html")]
pub use charset::{ContentType, decode};
pub use choices::{CountWeight, Family, FeatureHash, FieldWeight, PositionWeight, Rarity};
pub use document::{Document, Marks};
pub use error::FingerprintError;
pub use explain::{Feature, FingerprintExplanation};
pub use feature_set::FeatureSet;
pub use fingerprinter::Fingerprinter;
pub use frequencies::Frequencies;
#[cfg(feature = "html")]
pub use html::{extract, visible_text};
pub use imatch::IMatch;
pub use in_memory_frequencies::InMemoryFrequencies;
pub use lexicon::Lexicon;
pub use meaning::{Band, Bands, Meaning};
pub use minwise::Minwise;
pub(crate) use name::VERSION as RECIPE_VERSION;
pub use name::{RECIPE, RecipeError};
pub use presets::Preset;
pub use ratio::{Ratio, RatioError};
pub use recipe::Recipe;
pub use shingles::Shingles;
pub use simhash::{FEATURE_WEIGHT_MAX, Simhash};
pub use sketch::Sketch;
pub use supershingles::SuperShingles;

/// The name of the rules that reduce a page to the text of its fingerprint:
///
/// - HTML is reduced to its visible text, by `extract` in the crate's feature `html`.
/// - Plain text is used unchanged. So an HTML page and a plain text that equals its visible text
///   have the same fingerprint.
/// - A text that is [too short](Document::is_too_short) to be distinguished has no fingerprint.
///
/// Fingerprints by different rules are not comparable, so the name of the rules is part of the name
/// of an [epoch](crate::Origin::name). The rules do not depend on the crate's features.
///
/// With `html/1` every text had a fingerprint. `html/2` decoded some pages differently.
pub const EXTRACTOR: &str = "html/3";

/// Returns the fingerprint of a text by the recipe [`RECIPE`]. `None` for a text of fewer than
/// eight words, which is [too short](Document::is_too_short) to be distinguished. A new store
/// begins with the [epoch](crate::Options::epoch) of these fingerprints.
///
/// Linear time. For many texts, create a [`Fingerprinter`], which reuses its memory.
///
/// ```
/// use simkeep::fingerprint::of_text;
/// let terms = of_text("You may use this site if you behave well.").unwrap();
/// let other = of_text("Our offices are closed on public holidays in June.").unwrap();
/// assert!((terms ^ other).count_ones() > 10); // far apart
/// assert_eq!(of_text("Loading..."), None);
/// ```
#[expect(
    clippy::expect_used,
    reason = "the default recipe reads no frequencies, which is all that can fail"
)]
pub fn of_text(text: &str) -> Option<u64> {
    if short::is_too_short(text) {
        return None;
    }
    let fingerprinter = Fingerprinter::new(&Recipe::DEFAULT);
    Some(
        fingerprinter.and_then(|mut f| f.of_text(text)).expect("the default recipe needs no table"),
    )
}

#[cfg(test)]
mod tests;
