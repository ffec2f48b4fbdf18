//! The writer of a table.

use crate::layout::{le_u32, le_u64};
use xxhash_rust::xxh3::Xxh3Default;

use super::destination::TableDestination;
use super::frame::{BITS_MAX, TableFrame, head, leading};
use crate::bug::{OrBug, ensure};
use crate::disk::{FileName, NewFile};
use crate::error::{Error, Result};

/// The number of bytes to collect before they are written and summed.
const CHUNK_BYTES: usize = 64 << 10;

/// The maximum average number of entries per directory slot.
const ENTRIES_PER_PLACE: u64 = 4;

/// Writes a table: entries in ascending order, then directory and trailer.
///
/// Takes four bytes of memory for every four expected entries, up to 64 MiB. The file is named
/// `.new` until the table is complete.
pub(super) struct TableWriter {
    file: NewFile,
    sum: Xxh3Default,
    chunk: Vec<u8>,
    frame: TableFrame,
    /// The current term; more documents of the term may follow.
    open: Option<(u64, u32)>,
    /// The number of leading bits of a slot, and the number of entries of each slot.
    bits: u32,
    counts: Vec<u32>,
}

/// The number of leading bits that a directory for `terms` terms uses.
fn bits_of(terms: u64) -> u32 {
    let places = terms.div_ceil(ENTRIES_PER_PLACE).next_power_of_two();
    places.ilog2().min(BITS_MAX)
}

impl TableWriter {
    /// Starts a table in a new file, with at most `terms_max` entries.
    pub(super) fn new(file: NewFile, frame: TableFrame, terms_max: u64) -> Result<TableWriter> {
        let bits = bits_of(terms_max);
        let mut writer = TableWriter {
            file,
            sum: Xxh3Default::new(),
            chunk: Vec::with_capacity(2 * CHUNK_BYTES),
            frame,
            open: None,
            bits,
            counts: vec![0; 1 << bits],
        };
        writer.put(&head())?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.sum.update(&self.chunk);
        self.file.append(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    /// Adds a term, or more documents to the last term: hashes must not descend.
    pub(super) fn push(&mut self, hash: u64, frequency: u32) -> Result<()> {
        if let Some((open, sum)) = &mut self.open {
            ensure(*open <= hash, "terms are added in ascending order")?;
            if *open == hash {
                let more = sum.checked_add(frequency);
                *sum = more.or_bug("the number of documents fits in 32 bits")?;
                return Ok(());
            }
        }
        match self.open.replace((hash, frequency)) {
            Some((hash, frequency)) => self.close(hash, frequency),
            None => Ok(()),
        }
    }

    /// Writes a term, unless too few documents have it.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a count for each value of the leading bits"
    )]
    fn close(&mut self, hash: u64, frequency: u32) -> Result<()> {
        if frequency < self.frame.least {
            // The sum may start from a number in a damaged file.
            self.frame.left_out = self.frame.left_out.saturating_add(1);
            return Ok(());
        }
        self.frame.terms += 1;
        if self.frame.terms >= u64::from(u32::MAX) {
            let (what, instead) = ("features in a table", "leave out rare features");
            return Err(Error::Limit { what, max: u64::from(u32::MAX) - 1, instead });
        }
        self.counts[leading(hash, self.bits)] += 1;
        self.put(&le_u64(hash))?;
        self.put(&le_u32(frequency))
    }

    /// Completes the table, which is durable under its name when this function returns.
    pub(super) fn finish(mut self, to: &TableDestination) -> Result<()> {
        if let Some((hash, frequency)) = self.open.take() {
            self.close(hash, frequency)?;
        }
        // There may be far fewer entries than expected.
        self.frame.bits = bits_of(self.frame.terms).min(self.bits);
        let counts = std::mem::take(&mut self.counts);
        let mut start = 0u32;
        for places in counts.chunks(1 << (self.bits - self.frame.bits)) {
            self.put(&le_u32(start))?;
            start += places.iter().sum::<u32>();
        }
        ensure(u64::from(start) == self.frame.terms, "the directory leads to all terms")?;
        self.put(&le_u32(start))?;
        self.put(&self.frame.trailer())?;
        self.flush()?;
        self.file.append(&le_u64(self.sum.digest()))?;
        to.check()?;
        self.file.finish(FileName::Df(to.number))?;
        Ok(())
    }
}
