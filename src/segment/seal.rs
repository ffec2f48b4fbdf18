//! Writes a segment from pages in SURT order.

use std::cmp::Ordering;
use std::sync::Arc;

use super::build::{SectionWriter, SegmentBuilder};
use super::hashes::HashIndexWriter;
use super::page_writer::PagesWriter;
use super::postings::Posting;
use super::record::SegmentRecord;
use super::table_writer::TablesWriter;
use super::tables::TableLayout;
use super::tombstones::Tombstones;
use crate::bug;
use crate::disk::Disk;
use crate::error::Result;
use crate::layout::{
    Cursor, Delta, PAGES_MAX, PackedRow, PutInteger, SectionKind, SectionTag, SegmentSummary,
    Stamp, bytes_for, le_u64,
};
use crate::page::{Content, DIGESTS, Digest, Entry, InForceContents, TableKey};
use crate::search::canonical_key;
use crate::sort::{FixedSizeItem, SortedItems, Sorter};
use crate::threads::run_both;

/// A page of a segment that is being sealed.
pub(crate) struct SealPage<'a> {
    pub(crate) url: &'a str,
    pub(crate) hash: u64,
    pub(crate) record: SegmentRecord<'a>,
    /// The page's row of the schedule. `in_force` is its content in force. Both come from the head
    /// of the record.
    pub(crate) row: PackedRow,
    pub(crate) in_force: InForceContents,
}

/// The position of a segment in its store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentSpan {
    /// The first and last sequence number of the segment's operations.
    pub(crate) sequences: (u64, u64),
    /// The change that the segment makes to the totals of the store.
    pub(crate) delta: Delta,
    pub(crate) tier: u64,
}

/// Writes a segment from pages in SURT order. Writes one file, with two syncs and one sync for
/// every 64 MiB.
///
/// Hashes and fingerprints are sorted meanwhile. If they do not fit in memory, they go to two
/// scratch files, which take 28 bytes for each page and 21 bytes for each fingerprint of a page.
/// Large segments sort the fingerprints in a separate thread while the hashes are written.
pub(crate) struct SegmentWriter {
    builder: SegmentBuilder,
    numbers: SegmentSummary,
    pages: PagesWriter,
    hashes: Sorter<PageHash>,
    fingerprints: Sorter<PageFingerprint>,
}

impl SegmentWriter {
    /// Begins a segment. `memory_bytes` is the memory for hashes and fingerprints; larger amounts
    /// go to scratch files.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        stamp: Stamp,
        memory_bytes: usize,
    ) -> Result<SegmentWriter> {
        let mut builder = SegmentBuilder::new(disk, stamp)?;
        // Packed, a hash takes 28 bytes and a fingerprint takes 21 bytes, so they share the memory
        // 4 to 3.
        let hashes = Sorter::new(disk, builder.scratch_name(), memory_bytes / 7 * 4);
        let held = Sorter::new(disk, builder.scratch_name(), memory_bytes / 7 * 3);
        let pages = PagesWriter::new(&mut builder)?;
        Ok(SegmentWriter {
            builder,
            numbers: SegmentSummary::default(),
            pages,
            hashes,
            fingerprints: held,
        })
    }

    /// Adds the next page.
    pub(crate) fn push(&mut self, page: SealPage<'_>) -> Result<()> {
        let SealPage { url, hash, record, row, mut in_force } = page;
        let ordinal = self.pages.push(&mut self.builder, url, |out| record.put(out))?;
        self.hashes.push(PageHash { hash, page: ordinal, row })?;
        self.numbers.visits += record.visit_count() as u64;
        let mut visits = record
            .entries
            .iter()
            .filter(|entry| entry.is_visit())
            .map(|entry| entry.time().as_ms());
        if let Some(first) = visits.next() {
            // Entries ascend, so the first and the last visit bound all other visits.
            self.numbers.cover((first, visits.next_back().unwrap_or(first)));
        }
        self.numbers.resets += u64::from(record.reset);
        // The fingerprints of the record's entries, and the fingerprints in force.
        for content in record.entries.iter().filter_map(Entry::content) {
            // An entry may have the fingerprint in force with an older digest. The table stores the
            // digest in force.
            let same = in_force.iter().position(|other| other.table_key() == content.table_key());
            let same = same.map(|at| in_force.swap_remove(at));
            self.push_fingerprint(same.unwrap_or(content), ordinal, same.is_some())?;
        }
        // The remaining contents are in force, but were last seen in an older segment.
        in_force.into_iter().try_for_each(|content| self.push_fingerprint(content, ordinal, true))
    }

    /// Keeps the fingerprint of a content for the tables, if it has one.
    fn push_fingerprint(&mut self, content: Content, page: u32, in_force: bool) -> Result<()> {
        let held = PageFingerprint::new(&content, page, in_force);
        held.map_or(Ok(()), |held| self.fingerprints.push(held))
    }

    /// Writes the remaining sections, and renames the file durably.
    pub(crate) fn finish(
        self,
        span: SegmentSpan,
        tombstones: &Tombstones,
        layout: &TableLayout,
    ) -> Result<u64> {
        let SegmentWriter { mut builder, mut numbers, pages, hashes, fingerprints: held } = self;
        numbers.pages = pages.finish(&mut builder)?;
        let SegmentSpan { sequences, delta, tier } = span;
        (numbers.first_sequence, numbers.last_sequence) = sequences;
        (numbers.delta, numbers.tier) = (delta, tier);

        let held = if numbers.visits < SORTED_BESIDE {
            write_hashes(&mut builder, hashes.finish()?, numbers.pages)?;
            held.finish()?
        } else {
            // Fingerprints are sorted while hashes are written.
            let (held, written) = run_both(
                || held.finish(),
                || write_hashes(&mut builder, hashes.finish()?, numbers.pages),
            );
            written?;
            held?
        };
        builder.whole(
            SectionTag::of(SectionKind::Tombstones),
            &super::tombstones::encode(tombstones),
        )?;
        write_tables(&mut builder, held, layout, &mut numbers)?;
        builder.finish(numbers)
    }
}

/// The minimum number of visits for sorting fingerprints in a separate thread.
const SORTED_BESIDE: u64 = 1 << 20;

/// Writes the sections that find pages by hash.
fn write_hashes(
    builder: &mut SegmentBuilder,
    mut hashes: SortedItems<PageHash>,
    pages: u64,
) -> Result<()> {
    let mut writer = HashSectionsWriter::new(builder, pages)?;
    while let Some(PageHash { hash, page, row }) = hashes.next()? {
        writer.push(builder, hash, page, &row)?;
    }
    writer.finish(builder)
}

/// Writes the tables of each epoch, and counts their contents.
fn write_tables(
    builder: &mut SegmentBuilder,
    mut held: SortedItems<PageFingerprint>,
    layout: &TableLayout,
    numbers: &mut SegmentSummary,
) -> Result<()> {
    let (mut postings, mut tags) = (Vec::new(), Vec::new());
    let mut next = held.next()?;
    // `PageFingerprint` sorts by epoch, then in canonical order, then by page. So each loop
    // processes one run of equal keys.
    while let Some(epoch) = next.map(|held| held.epoch()) {
        let mut writer = TablesWriter::new(builder, epoch)?;
        while let Some(first) = next.filter(|held| held.epoch() == epoch) {
            let fingerprint = first.fingerprint();
            postings.clear();
            tags.clear();
            let same =
                |held: &PageFingerprint| held.epoch() == epoch && held.fingerprint() == fingerprint;
            while let Some(held_by) = next.filter(same) {
                let (page, in_force) = (held_by.page(), held_by.in_force());
                match postings.last_mut().filter(|last: &&mut Posting| last.page == page) {
                    // A page that returned to a version has its fingerprint more than once. The
                    // page gets one posting.
                    Some(last) => last.in_force |= in_force,
                    None => postings.push(Posting { page, in_force }),
                }
                tags.extend(held_by.tag().map(|tag| (page, tag)));
                next = held.next()?;
            }
            let tag = |page| {
                // A page without a tag has no digest.
                let at = tags.binary_search_by_key(&page, |(page, _)| *page).ok();
                Ok(at.and_then(|at| tags.get(at)).map(|(_, tag)| *tag))
            };
            writer.push(builder, fingerprint, &postings, tag)?;
        }
        writer.finish(builder, layout, numbers)?;
    }
    Ok(())
}

/// The hash of a page's URL, with the page's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PageHash {
    hash: u64,
    page: u32,
    row: PackedRow,
}

impl FixedSizeItem for PageHash {
    const BYTES: usize = 28;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(self.hash);
        out.put_u32(self.page);
        out.extend_from_slice(&self.row);
    }

    fn take(bytes: &[u8]) -> Option<PageHash> {
        let mut cursor = Cursor::new(bytes);
        let (hash, page) = (cursor.u64()?, cursor.u32()?);
        Some(PageHash { hash, page, row: *cursor.rest().first_chunk()? })
    }

    fn sort(items: &mut Vec<PageHash>) {
        items.sort_unstable();
    }
}

/// A fingerprint that a page has or had, in 24 bytes. Ordered by epoch, then in canonical order,
/// then by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageFingerprint {
    /// From the top bits down: the epoch, the popcount in 8 bits, and 24 bits of the fingerprint.
    high: u64,
    /// The lower 40 bits of the fingerprint, and 24 zero bits.
    low: u64,
    /// The page, a bit for being in force on the page, and a bit for having a tag.
    page: u32,
    /// The tag of the digest, if the fingerprint is in force and its content has a digest.
    tag: u32,
}

const _: () = assert!(size_of::<PageFingerprint>() == 24);
const _: () = assert!(PAGES_MAX <= 1 << 30, "page ordinals leave room for the two bits");

/// The number of unused bits of `low`.
const UNUSED_BITS: u32 = 24;

impl Ord for PageFingerprint {
    #[inline]
    fn cmp(&self, other: &PageFingerprint) -> Ordering {
        let key = |held: &PageFingerprint| u128::from(held.high) << 64 | u128::from(held.low);
        key(self).cmp(&key(other)).then(self.page.cmp(&other.page))
    }
}

impl PartialOrd for PageFingerprint {
    #[inline]
    fn partial_cmp(&self, other: &PageFingerprint) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FixedSizeItem for PageFingerprint {
    const BYTES: usize = 21;

    fn put(&self, out: &mut Vec<u8>) {
        // The three lowest bytes are always zero, and are not stored.
        let [_, _, _, low @ ..] = le_u64(self.low);
        out.put_u64(self.high);
        out.extend_from_slice(&low);
        out.put_u32(self.page);
        out.put_u32(self.tag);
    }

    fn take(bytes: &[u8]) -> Option<PageFingerprint> {
        let mut cursor = Cursor::new(bytes);
        let high = cursor.u64()?;
        let (middle, top) = (cursor.u32()?, cursor.u8()?);
        let low = u64::from(top) << 56 | u64::from(middle) << UNUSED_BITS;
        Some(PageFingerprint { high, low, page: cursor.u32()?, tag: cursor.u32()? })
    }

    fn sort(items: &mut Vec<PageFingerprint>) {
        items.sort_unstable();
    }
}

impl PageFingerprint {
    fn new(content: &Content, page: u32, in_force: bool) -> Option<PageFingerprint> {
        let TableKey { table, value } = content.table_key()?;
        let (popcount, fingerprint) = canonical_key(value);
        let epoch = u64::from(table);
        // The pages of a key of digests have one digest, so tags would not distinguish them.
        let has_tag = in_force && table != DIGESTS;
        let tag = content.digest.as_ref().filter(|_| has_tag).map(Digest::tag);
        Some(PageFingerprint {
            // Together, `high` and `low` are a number of 128 bits that sorts by epoch and then in
            // canonical order.
            high: epoch << 32 | u64::from(popcount) << 24 | fingerprint >> 40,
            low: fingerprint << UNUSED_BITS,
            // Ordinals are below 2^30, as asserted above, so the shift loses nothing.
            page: page << 2 | u32::from(in_force) << 1 | u32::from(tag.is_some()),
            tag: tag.unwrap_or(0),
        })
    }

    fn epoch(&self) -> u32 {
        (self.high >> 32) as u32
    }

    fn fingerprint(&self) -> u64 {
        self.high << 40 | self.low >> UNUSED_BITS
    }

    fn page(&self) -> u32 {
        self.page >> 2
    }

    fn in_force(&self) -> bool {
        self.page & 2 != 0
    }

    fn tag(&self) -> Option<u32> {
        (self.page & 1 != 0).then_some(self.tag)
    }
}

/// The sections in order of hash: the index by hash, and the schedule.
pub(super) struct HashSectionsWriter {
    hashes: SectionWriter,
    pages: SectionWriter,
    directory: SectionWriter,
    filter: SectionWriter,
    schedule: SectionWriter,
    index: HashIndexWriter,
    count: u64,
    last: Option<(u64, u32)>,
    /// The buffered bytes of each section.
    parts: [Vec<u8>; 5],
}

impl HashSectionsWriter {
    pub(super) fn new(builder: &mut SegmentBuilder, pages: u64) -> Result<HashSectionsWriter> {
        // The first section is the page index, which `PagesWriter` has written already.
        let [_, places @ ..] = bytes_for(pages);
        let [hashes, of_pages, directory, filter, schedule] =
            places.map(|(kind, bytes)| builder.place(SectionTag::of(kind), bytes));
        Ok(HashSectionsWriter {
            hashes: hashes?,
            pages: of_pages?,
            directory: directory?,
            filter: filter?,
            schedule: schedule?,
            index: HashIndexWriter::new(pages),
            count: 0,
            last: None,
            parts: Default::default(),
        })
    }

    /// Adds a hash. Hashes must be in ascending order, and equal hashes in order of pages.
    pub(super) fn push(
        &mut self,
        builder: &mut SegmentBuilder,
        hash: u64,
        page: u32,
        row: &PackedRow,
    ) -> Result<()> {
        /// The number of hashes that are written together.
        const TOGETHER: u64 = 512;
        let last = self.last.replace((hash, page));
        bug::ensure(last < self.last, "hashes ascend, and equal ones by their pages")?;
        let [hashes, pages, directory, filter, schedule] = &mut self.parts;
        hashes.put_u64(hash);
        pages.put_u32(page);
        schedule.extend_from_slice(row);
        self.index.push(hash, directory, filter);
        self.count += 1;
        // Five sections get a few bytes for each hash. Writing the bytes of each hash separately
        // would cost five calls per hash.
        if self.count.is_multiple_of(TOGETHER) { self.drain(builder) } else { Ok(()) }
    }

    fn drain(&mut self, builder: &mut SegmentBuilder) -> Result<()> {
        let HashSectionsWriter { hashes, pages, directory, filter, schedule, parts, .. } = self;
        // The number of sections equals the number of parts.
        let sections = [hashes, pages, directory, filter, schedule];
        for (section, part) in sections.into_iter().zip(parts) {
            builder.write(section, part)?;
            part.clear();
        }
        Ok(())
    }

    /// Returns the number of hashes added.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn finish(mut self, builder: &mut SegmentBuilder) -> Result<()> {
        // `finish` consumes the index while it fills `parts`.
        let index = std::mem::replace(&mut self.index, HashIndexWriter::new(0));
        let [_, _, directory, filter, _] = &mut self.parts;
        index.finish(directory, filter)?;
        self.drain(builder)?;
        for section in [self.hashes, self.pages, self.directory, self.filter, self.schedule] {
            builder.end(section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Epoch;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_page_fingerprints_round_trip(
            each in prop::collection::vec(
                (0u32..3, any::<u64>(), 0..1u32 << 30, any::<bool>()), 0..50,
            ),
            most in any::<bool>(),
        ) {
            let each = each.into_iter().map(|(epoch, fingerprint, page, in_force)| {
                let epoch = if most { (1 << 24) - 1 - epoch } else { epoch };
                (epoch, canonical_key(fingerprint), page, in_force)
            });
            let mut each: Vec<_> = each.collect();
            let mut held = Vec::new();
            for (epoch, (_, fingerprint), page, in_force) in each.iter().copied() {
                let fingerprint = Some(fingerprint);
                let content = Content { fingerprint, digest: None, epoch: Epoch(epoch) };
                let mut packed = Vec::new();
                PageFingerprint::new(&content, page, in_force).unwrap().put(&mut packed);
                prop_assert_eq!(packed.len(), PageFingerprint::BYTES);
                held.push(PageFingerprint::take(&packed).unwrap());
            }
            PageFingerprint::sort(&mut held);
            each.sort_unstable();
            let read = |held: &PageFingerprint| {
                (held.epoch(), canonical_key(held.fingerprint()), held.page(), held.in_force())
            };
            prop_assert_eq!(held.iter().map(read).collect::<Vec<_>>(), each);
        }
    }
}
