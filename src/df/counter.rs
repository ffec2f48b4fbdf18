//! Counting in bounded memory.

use crate::layout::{Cursor, Put};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use super::frame::Frame;
use super::place::Place;
use super::table::Table;
use super::writer::Writer;
use crate::disk::{Name, NewFile};
use crate::error::{Error, Result};
use crate::fingerprint::{FeatureSet, Recipe};
use crate::sort::{Packed, Sorted, Sorter};

/// Bytes that a counted feature takes in memory: hash and count, in a table that may be half empty,
/// beside the half as large one from which it grew.
const BYTES_PER_FEATURE: usize = 58;

/// Features that no setting makes too many.
const FEATURES_MIN: usize = 1 << 10;

/// Counts how many documents have each feature.
///
/// What does not fit in the memory it is given waits sorted in a file beside the table to come, 12
/// bytes for each feature that was met since the last time, and is merged in the end.
///
/// See the [module](super) for an example.
pub struct Counter {
    counts: Counts,
    /// The table to come. It goes after the scratch file, which is known by it.
    file: NewFile,
    place: Place,
    name: String,
    features: FeatureSet,
    /// Why counting failed: what was lost then cannot be counted again.
    failed: Option<Error>,
}

/// What was counted so far.
struct Counts {
    documents: u64,
    /// Of each feature since memory was last full.
    counts: HashMap<u64, u32>,
    counts_max: usize,
    sorter: Sorter<Term>,
    /// Features that went to the sorter.
    spilled: u64,
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counter({} documents of {})", self.documents(), self.name)
    }
}

/// A feature and how many documents have it, as far as was counted at a time.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Term {
    hash: u64,
    frequency: u32,
}

impl Packed for Term {
    const BYTES: usize = 12;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(self.hash);
        out.put_u32(self.frequency);
    }

    fn take(bytes: &[u8]) -> Option<Term> {
        let mut cursor = Cursor::new(bytes);
        let (hash, frequency) = (cursor.u64()?, cursor.u32()?);
        cursor.is_empty().then_some(Term { hash, frequency })
    }

    fn sort(items: &mut Vec<Term>) {
        items.sort_unstable();
    }
}

impl Counter {
    /// Counts the features of this recipe for a table in the file `path`, in about `memory_bytes`, and
    /// some 16 bytes for each feature of the largest document. Begins a file beside it, with a number
    /// in its name, so that what cannot be written is known before anything is counted.
    ///
    /// What a process leaves behind that is killed, `path` with a number and `.new` or `.tmp` behind
    /// it, has no meaning; the next counter for this path removes it.
    ///
    /// # Errors
    /// [`Error::InTheWay`] where something stands that is no table, [`Error::Io`] if no file can be
    /// made there.
    pub fn new(recipe: &Recipe, path: impl AsRef<Path>, memory_bytes: usize) -> Result<Counter> {
        Counter::at(Place::file(path.as_ref())?, recipe, memory_bytes)
    }

    pub(super) fn at(mut place: Place, recipe: &Recipe, memory_bytes: usize) -> Result<Counter> {
        let file = place.begin()?;
        let scratch = Name::DfScratch(place.number, 0);
        let sorter = Sorter::new(&place.disk, scratch, memory_bytes / 4);
        Ok(Counter {
            file,
            place,
            name: recipe.features(),
            features: FeatureSet::new(recipe),
            counts: Counts {
                documents: 0,
                counts: HashMap::new(),
                counts_max: (memory_bytes / 2 / BYTES_PER_FEATURE).max(FEATURES_MIN),
                sorter,
                spilled: 0,
            },
            failed: None,
        })
    }

    /// How many documents there were so far.
    pub fn documents(&self) -> u64 {
        self.counts.documents
    }

    /// Counts a document: each of its features once. Linear in the text; now and then some hundred
    /// milliseconds, when memory is full.
    ///
    /// # Errors
    /// [`Error::Io`] if the scratch file cannot be written: then, and whenever it is asked again.
    /// [`Error::Limit`] for more documents than a table counts, 2³² - 1.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let Counter { place, features, counts, failed, .. } = self;
        add(place, counts, failed, features.of_text(text))
    }

    /// Counts a document by its distinct features, in any order: what [`FeatureSet::of_text`] gives for
    /// the recipe of this counter. So the features of many documents can be found in many threads.
    ///
    /// # Errors
    /// Those of [`add`](Counter::add).
    pub fn add_features(&mut self, features: &[u64]) -> Result<()> {
        let Counter { place, counts, failed, .. } = self;
        add(place, counts, failed, features)
    }

    /// Makes the table, and opens it; features of fewer than `least` documents are left out, since
    /// nearly all rare features are of one document, and say no more by being known. A table that was
    /// there under its name is replaced, at once: whatever happens, there is the old table or the
    /// new one.
    ///
    /// One pass over what was counted, and one over the table.
    ///
    /// # Errors
    /// [`Error::InTheWay`] if something else than a table has come there meanwhile, [`Error::Io`] if a
    /// file cannot be read or written, or if counting failed.
    pub fn freeze(self, least: u32) -> Result<Table> {
        let Counter { place, file, name, mut counts, .. } = self;
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let frozen = || {
            counts.spill()?;
            let Counts { documents, counts, sorter, spilled, .. } = counts;
            drop(counts);
            let frame =
                Frame { documents, least: least.max(1), features: name, ..Frame::default() };
            write(sorter, Writer::new(file, frame, spilled)?, &place)?;
            Table::open_on(&*place.disk, place.number)
        };
        frozen().map_err(|e| place.error(e))
    }
}

/// What to say of more documents than a table counts.
pub(super) fn too_many_documents() -> Error {
    let instead = "count fewer into one table";
    Error::Limit { what: "documents in a table", max: u32::MAX.into(), instead }
}

/// Counts a document, unless that failed before.
fn add(
    place: &Place,
    counts: &mut Counts,
    failed: &mut Option<Error>,
    features: &[u64],
) -> Result<()> {
    if let Some(failed) = failed {
        return Err(failed.clone());
    }
    let added = counts.add(features).map_err(|e| place.error(e));
    added.inspect_err(|e| *failed = Some(e.clone()))
}

impl Counts {
    fn add(&mut self, features: &[u64]) -> Result<()> {
        // So that no feature can have more than a number holds.
        if self.documents >= u64::from(u32::MAX) {
            return Err(too_many_documents());
        }
        self.documents += 1;
        for hash in features {
            if self.counts.len() >= self.counts_max {
                self.spill()?;
            }
            *self.counts.entry(*hash).or_default() += 1;
        }
        Ok(())
    }

    /// Passes on what was counted so far.
    fn spill(&mut self) -> Result<()> {
        self.spilled += self.counts.len() as u64;
        let mut terms = self.counts.drain();
        terms.try_for_each(|(hash, frequency)| self.sorter.push(Term { hash, frequency }))
    }
}

/// Writes what was sorted.
fn write(sorter: Sorter<Term>, mut writer: Writer, place: &Place) -> Result<()> {
    let mut sorted: Sorted<Term> = sorter.finish()?;
    while let Some(Term { hash, frequency }) = sorted.next()? {
        writer.push(hash, frequency)?;
    }
    // Its scratch file goes first: whoever removes what was left knows it by the table's.
    drop(sorted);
    writer.finish(place)
}
