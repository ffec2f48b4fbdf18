//! Frozen tables of document frequencies: the number of documents that have each feature.
//!
//! Recipes with a [rarity](crate::fingerprint::Rarity) weigh a feature by how rare it is, and other
//! recipes [leave out](crate::fingerprint::Recipe::leave_out) common features. Both kinds of
//! recipes need the number of documents with a feature. These numbers must not change as long as
//! fingerprints made with them are in use. So a [`FrequencyTable`] is an immutable file. The table is
//! checked completely when it is opened, read through a memory map, and identified by its
//! [checksum](FrequencyTable::id).
//!
//! Count a table from your own pages. A table of other pages does harm, because features that are
//! rare in those pages may be common in yours. A [`FrequencyCounter`] counts any number of documents in
//! bounded memory, and [`merge`](fn@merge) adds up several tables, such as the tables of many
//! machines.
//!
//! ```
//! use simkeep::df::{FrequencyCounter, FrequencyTable};
//! use simkeep::fingerprint::{Fingerprinter, Frequencies, Recipe};
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("crawl.df");
//! let recipe: Recipe = "words-idf".parse()?;
//! let mut counter = FrequencyCounter::new(&recipe, &path, 64 << 20)?;
//! for text in ["the red house", "the green house", "the blue car"] {
//!     counter.add(text)?;
//! }
//! counter.freeze(1)?;
//!
//! let table = FrequencyTable::open(&path)?;
//! assert_eq!((table.documents(), table.terms()), (3, 6));
//! let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &table)?;
//! assert_ne!(fingerprinter.of_text("the red car")?, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The format is specified in `format/df.md` of the repository.

mod comparison;
mod counter;
mod destination;
mod frame;
mod merge;
mod table;
#[cfg(test)]
mod tests;
mod writer;

pub use comparison::TableComparison;
pub use counter::FrequencyCounter;
pub use merge::merge;
pub use table::FrequencyTable;
