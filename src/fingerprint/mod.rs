//! From a text to 64 bits: near texts have near fingerprints.
//!
//! A recipe says what the features of a text are, how each is hashed and how much it weighs; the
//! [simhash](Simhash) of the weighted hashes is the fingerprint (M. S. Charikar, *Similarity
//! estimation techniques from rounding algorithms*, STOC 2002). Fingerprints of different recipes
//! tell nothing about each other, so a recipe never changes: a better one gets a new name.
//!
//! The one recipe so far, [`RECIPE`]:
//!
//! - **Words** are the maximal runs of Unicode letters and digits, lower-cased (see [`Words`]).
//! - **Features** are the pairs of neighbouring words. A text of one word has that word as its only
//!   feature; a text without words has the fingerprint 0.
//! - **Hash** of a feature: XXH3-64 with seed 0 over its words in UTF-8, joined by one space.
//! - **Weight** of a feature: the square root of how often it occurs, rounded down to a multiple of
//!   2⁻¹⁶, in integers: `isqrt(count · 2³²)`.
//! - **Bits**: bit *i* is 1 if the features whose hash has bit *i* weigh more than the others, and
//!   0 if they weigh as much or less.
//!
//! Nothing in it depends on the platform, on threads or on the order of a hash map.
//!
//! ```
//! use simkeep::fingerprint;
//! let a = fingerprint::of_text("The quick brown fox jumps over the lazy dog, and runs away.");
//! let b = fingerprint::of_text("the quick   brown fox jumps over the lazy dog and runs away");
//! assert_eq!(a, b);
//! ```

#[cfg(feature = "html")]
mod charset;
#[cfg(feature = "html")]
mod html;
mod recipe;
mod simhash;
mod tables;
mod words;

#[cfg(feature = "html")]
pub use charset::decode;
#[cfg(feature = "html")]
pub use html::{EXTRACTOR, visible_text};
pub use recipe::{RECIPE, of_text};
pub use simhash::Simhash;
pub use words::Words;
