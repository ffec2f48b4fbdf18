//! Counting in bounded memory.

use crate::layout::{Cursor, PutInteger};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use super::destination::TableDestination;
use super::frame::TableFrame;
use super::table::FrequencyTable;
use super::writer::TableWriter;
use crate::disk::{FileName, NewFile};
use crate::error::{Error, Result};
use crate::fingerprint::{FeatureSet, Recipe};
use crate::sort::{FixedSizeItem, SortedItems, Sorter};

/// The memory for a counted feature in bytes: its hash and its count. The hash table may be half
/// empty, and while it grows, the previous table of half its size still exists.
const BYTES_PER_FEATURE: usize = 58;

/// The minimum number of features that are counted in memory under any setting.
const FEATURES_MIN: usize = 1 << 10;

/// Counts how many documents have each feature.
///
/// Counts that exceed the memory are sorted into a scratch file next to the new table, and merged
/// at the end. Each time, the file grows by 12 bytes for each feature counted since the last time.
///
/// See the [module](super) for an example.
///
/// ```
/// use simkeep::df::FrequencyCounter;
/// use simkeep::fingerprint::Recipe;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.df");
/// let recipe: Recipe = "words-idf".parse().unwrap();
/// let mut counter = FrequencyCounter::new(&recipe, &path, 64 << 20)?;
/// for text in ["the red house", "the green house", "the blue car"] {
///     counter.add(text)?;
/// }
/// assert_eq!(counter.documents(), 3);
/// let table = counter.freeze(2)?; // words of at least two documents: the, house
/// assert_eq!((table.terms(), table.left_out()), (2, (2, 4)));
/// # Ok(())
/// # }
/// ```
pub struct FrequencyCounter {
    counts: SpillingCounts,
    /// The new table. It is dropped after the scratch file, whose name derives from it.
    file: NewFile,
    to: TableDestination,
    name: String,
    features: FeatureSet,
    /// The reason why counting failed. Lost counts cannot be recovered.
    failed: Option<Error>,
}

/// The counts so far.
struct SpillingCounts {
    documents: u64,
    /// The count of each feature since memory was last full.
    counts: HashMap<u64, u32>,
    counts_max: usize,
    sorter: Sorter<Term>,
    /// The number of features passed to the sorter.
    spilled: u64,
}

impl fmt::Debug for FrequencyCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counter({} documents of {})", self.documents(), self.name)
    }
}

/// A feature, and the number of documents with the feature in one run.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Term {
    hash: u64,
    frequency: u32,
}

impl FixedSizeItem for Term {
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

impl FrequencyCounter {
    /// Creates a counter of the features of a recipe, for a table in the file `path`.
    ///
    /// Takes about `memory_bytes`, plus about 16 bytes for each feature of the largest document.
    /// Creates a file next to `path`, with a number in its name, so that an unwritable location
    /// fails before anything is counted.
    ///
    /// A killed process leaves files named `path` with a number and `.new` or `.tmp`. These files
    /// can be ignored; the next counter for this path removes them.
    ///
    /// ```
    /// use simkeep::df::FrequencyCounter;
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// // Takes about 64 MiB, however many documents there are.
    /// let counter = FrequencyCounter::new(&Recipe::words(1), &path, 64 << 20)?;
    /// assert_eq!(counter.documents(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] if `path` exists and is not a table, [`Error::Io`] if no file can
    /// be created in the directory of `path`.
    pub fn new(
        recipe: &Recipe,
        path: impl AsRef<Path>,
        memory_bytes: usize,
    ) -> Result<FrequencyCounter> {
        FrequencyCounter::at(TableDestination::file(path.as_ref())?, recipe, memory_bytes)
    }

    pub(super) fn at(
        mut to: TableDestination,
        recipe: &Recipe,
        memory_bytes: usize,
    ) -> Result<FrequencyCounter> {
        let file = to.begin()?;
        let scratch = FileName::DfScratch(to.number, 0);
        let sorter = Sorter::new(&to.disk, scratch, memory_bytes / 4);
        Ok(FrequencyCounter {
            file,
            to,
            name: recipe.features(),
            features: FeatureSet::new(recipe),
            counts: SpillingCounts {
                documents: 0,
                counts: HashMap::new(),
                counts_max: (memory_bytes / 2 / BYTES_PER_FEATURE).max(FEATURES_MIN),
                sorter,
                spilled: 0,
            },
            failed: None,
        })
    }

    /// The number of documents counted so far.
    pub fn documents(&self) -> u64 {
        self.counts.documents
    }

    /// Counts a document: each of its features once. Takes time linear in the text. When memory is
    /// full, a call takes some hundred milliseconds.
    ///
    /// ```
    /// use simkeep::df::FrequencyCounter;
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// let mut counter = FrequencyCounter::new(&Recipe::words(1), &path, 64 << 20)?;
    /// counter.add("a rose is a rose is a rose")?;
    /// counter.add("a tulip is no rose")?;
    /// // Each document counts once for each of its words.
    /// let table = counter.freeze(1)?;
    /// assert_eq!(table.iter().map(|(_, documents)| documents).max(), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the scratch file cannot be written; every later call fails as well.
    /// [`Error::Limit`] for more documents than a table can count, 2³² - 1.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let FrequencyCounter { to, features, counts, failed, .. } = self;
        add(to, counts, failed, features.of_text(text))
    }

    /// Counts a document by its distinct features, in any order, as [`FeatureSet::of_text`] returns
    /// them for the recipe of this counter. Use this method to extract the features of documents on
    /// many threads.
    ///
    /// ```
    /// use simkeep::df::FrequencyCounter;
    /// use simkeep::fingerprint::{FeatureSet, Recipe};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// let recipe = Recipe::words(1);
    /// let mut counter = FrequencyCounter::new(&recipe, &path, 64 << 20)?;
    /// let mut features = FeatureSet::new(&recipe); // one for each thread
    /// counter.add_features(features.of_text("the red house"))?;
    /// assert_eq!(counter.freeze(1)?.terms(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`add`](FrequencyCounter::add).
    pub fn add_features(&mut self, features: &[u64]) -> Result<()> {
        let FrequencyCounter { to, counts, failed, .. } = self;
        add(to, counts, failed, features)
    }

    /// Writes the table and opens it. Leaves out features of fewer than `least` documents: most
    /// rare features occur in only one document, and their frequencies are not useful.
    ///
    /// An existing table is replaced atomically: after a crash the path has the old table or the
    /// new table. Costs one pass over the counts, and one over the table.
    ///
    /// ```
    /// use simkeep::df::{FrequencyCounter, FrequencyTable};
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// let mut counter = FrequencyCounter::new(&Recipe::words(1), &path, 64 << 20)?;
    /// counter.add("the red house")?;
    /// let table = counter.freeze(1)?;
    /// assert_eq!(FrequencyTable::open(&path)?.id(), table.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] if something other than a table has appeared at the path since,
    /// [`Error::Io`] if a file cannot be read or written, or if counting failed.
    pub fn freeze(self, least: u32) -> Result<FrequencyTable> {
        let FrequencyCounter { to, file, name, mut counts, .. } = self;
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let frozen = || {
            counts.spill()?;
            let SpillingCounts { documents, counts, sorter, spilled, .. } = counts;
            drop(counts);
            let frame = TableFrame {
                documents,
                least: least.max(1),
                features: name,
                ..TableFrame::default()
            };
            write(sorter, TableWriter::new(file, frame, spilled)?, &to)?;
            FrequencyTable::open_on(&*to.disk, to.number)
        };
        frozen().map_err(|e| to.error(e))
    }
}

/// The error for more documents than a table can count.
pub(super) fn too_many_documents() -> Error {
    let instead = "count fewer documents into one table";
    Error::Limit { what: "documents in a table", max: u32::MAX.into(), instead }
}

/// Counts a document, unless counting failed before.
fn add(
    to: &TableDestination,
    counts: &mut SpillingCounts,
    failed: &mut Option<Error>,
    features: &[u64],
) -> Result<()> {
    if let Some(failed) = failed {
        return Err(failed.clone());
    }
    let added = counts.add(features).map_err(|e| to.error(e));
    added.inspect_err(|e| *failed = Some(e.clone()))
}

impl SpillingCounts {
    fn add(&mut self, features: &[u64]) -> Result<()> {
        // The limit keeps the count of every feature within a `u32`.
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

    /// Passes the counts so far to the sorter.
    fn spill(&mut self) -> Result<()> {
        self.spilled += self.counts.len() as u64;
        let mut terms = self.counts.drain();
        terms.try_for_each(|(hash, frequency)| self.sorter.push(Term { hash, frequency }))
    }
}

/// Writes the sorted counts.
fn write(sorter: Sorter<Term>, mut writer: TableWriter, to: &TableDestination) -> Result<()> {
    let mut sorted: SortedItems<Term> = sorter.finish()?;
    while let Some(Term { hash, frequency }) = sorted.next()? {
        writer.push(hash, frequency)?;
    }
    // The scratch file is removed first: leftovers are recognized by the table's name.
    drop(sorted);
    writer.finish(to)
}
