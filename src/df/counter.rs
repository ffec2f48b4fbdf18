//! Counting in bounded memory.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::table::Table;
use super::writer::Writer;
use crate::disk::{Disk, Name, RealDisk};
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
    disk: Arc<dyn Disk>,
    number: u64,
    path: PathBuf,
    name: String,
    features: FeatureSet,
    documents: u64,
    counts: HashMap<u64, u32>,
    counts_max: usize,
    sorter: Sorter<Term>,
    /// Features that went to the sorter.
    spilled: u64,
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counter({} documents of {})", self.documents, self.name)
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
        out.extend_from_slice(&self.hash.to_le_bytes());
        out.extend_from_slice(&self.frequency.to_le_bytes());
    }

    fn take(bytes: &[u8]) -> Option<Term> {
        let (hash, frequency) = bytes.split_first_chunk()?;
        let frequency = u32::from_le_bytes(frequency.try_into().ok()?);
        Some(Term { hash: u64::from_le_bytes(*hash), frequency })
    }

    fn sort(items: &mut Vec<Term>) {
        items.sort_unstable();
    }
}

impl Counter {
    /// Counts the features of this recipe for a table in the file `path`, in about `memory_bytes`.
    /// Writes nothing yet.
    ///
    /// # Errors
    /// [`Error::Io`] for a path that no file can have.
    pub fn new(recipe: &Recipe, path: impl AsRef<Path>, memory_bytes: usize) -> Result<Counter> {
        let path = path.as_ref();
        let disk = RealDisk::of_table(path).map_err(|e| Error::io("create", path.display(), e))?;
        Ok(Counter::on(Arc::new(disk), 0, path, recipe, memory_bytes))
    }

    pub(super) fn on(
        disk: Arc<dyn Disk>,
        number: u64,
        path: &Path,
        recipe: &Recipe,
        memory_bytes: usize,
    ) -> Counter {
        let sorter = Sorter::new(&disk, Name::DfScratch(number, 0), memory_bytes / 4);
        Counter {
            disk,
            number,
            path: path.to_owned(),
            name: recipe.features(),
            features: FeatureSet::new(recipe),
            documents: 0,
            counts: HashMap::new(),
            counts_max: (memory_bytes / 2 / BYTES_PER_FEATURE).max(FEATURES_MIN),
            sorter,
            spilled: 0,
        }
    }

    /// How many documents there were so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Counts a document: each of its features once. Linear in the text; now and then some hundred
    /// milliseconds, when memory is full.
    ///
    /// # Errors
    /// [`Error::Io`] if the scratch file cannot be written.
    pub fn add(&mut self, text: &str) -> Result<()> {
        self.documents += 1;
        // So that no feature can have more than a number holds.
        if self.documents > u64::from(u32::MAX) {
            let what = "a table counts four billion documents at most; merge several";
            return Err(Error::Option(what.to_owned()));
        }
        for hash in self.features.of_text(text) {
            *self.counts.entry(*hash).or_default() += 1;
        }
        if self.counts.len() >= self.counts_max { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        let named = |e: Error| e.in_file(Name::DfScratch(self.number, 0), &self.path);
        self.spilled += self.counts.len() as u64;
        for (hash, frequency) in self.counts.drain() {
            self.sorter.push(Term { hash, frequency }).map_err(named)?;
        }
        Ok(())
    }

    /// Makes the table, and opens it; features of fewer than `least` documents are left out, since
    /// nearly all rare features are of one document, and say no more by being known. A file that was
    /// there under its name is replaced, at once: whatever happens, there is the old table or the
    /// new one.
    ///
    /// One pass over what was counted, and one over the table.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be read or written.
    pub fn freeze(mut self, least: u32) -> Result<Table> {
        self.spill()?;
        self.counts = HashMap::new();
        let named = |e: Error| e.in_file(Name::Df(self.number), &self.path);
        let frozen = write(
            self.sorter,
            &self.disk,
            self.number,
            (&self.name, self.documents, least, self.spilled),
        );
        frozen.and_then(|()| Table::open_on(&*self.disk, self.number)).map_err(named)
    }
}

/// Writes what was sorted, with the counts of one feature added up.
fn write(
    sorter: Sorter<Term>,
    disk: &Arc<dyn Disk>,
    number: u64,
    (features, documents, least, terms_max): (&str, u64, u32, u64),
) -> Result<()> {
    let mut sorted: Sorted<Term> = sorter.finish()?;
    let mut writer = Writer::new(disk, number, features, documents, least, terms_max)?;
    let mut open: Option<Term> = None;
    while let Some(next) = sorted.next()? {
        match &mut open {
            // Of so many documents there are no more than a number holds.
            Some(term) if term.hash == next.hash => {
                term.frequency = term.frequency.saturating_add(next.frequency);
            }
            _ => {
                if let Some(term) = open.replace(next) {
                    writer.push(term.hash, term.frequency)?;
                }
            }
        }
    }
    if let Some(term) = open {
        writer.push(term.hash, term.frequency)?;
    }
    writer.finish(number)
}
