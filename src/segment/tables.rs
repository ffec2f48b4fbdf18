//! The fingerprint tables of one epoch in an open segment.

use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrayvec::ArrayVec;
use zerocopy::FromBytes;

use super::column::{Contradiction, SectionColumn, VerifiedColumn};
use super::file::{SectionRef, Segment};
use super::postings::{Posting, PostingsRef};
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag};
use crate::page::{Digest, Epoch};
use crate::search::{
    Bounds, BucketLayout, Candidate, CellTable, Cells, Column, Completeness, GuessOffsets, HALVES,
    HitSink, Index, LINE_BYTES, Resources, Rotation, Rotations, SearchSteps, Shape, Shards, Tables,
    further_max,
};

/// The layout of the tables in new segments.
#[derive(Clone, Debug)]
pub(crate) struct TableLayout {
    /// The most frequently queried distance of each epoch of the store, by epoch number.
    pub(crate) distances: Vec<u32>,
    /// The maximum number of bytes that all tables may take for each fingerprint.
    pub(crate) bytes_each: u32,
    pub(crate) resources: Resources,
}

impl TableLayout {
    /// Returns the most frequently queried distance of an epoch; 0 for an epoch without an entry.
    pub(super) fn distance(&self, epoch: u32) -> u32 {
        self.distances.get(Epoch(epoch).count() as usize).copied().unwrap_or(0)
    }
}

/// The tables of one epoch in an open segment.
#[derive(Debug)]
pub(crate) struct EpochTables {
    pub(crate) epoch: u32,
    pub(crate) tables: Tables<SectionColumn>,
    /// The tables without checks, once every block has been checked.
    whole: OnceLock<Tables<VerifiedColumn>>,
    /// How far single values were from their expected places.
    offsets: GuessOffsets,
    segment: Arc<Segment>,
    pages: u64,
    fingerprints: SectionColumn,
    postings: SectionColumn,
    lists: SectionColumn,
}

impl EpochTables {
    /// Opens the tables of an epoch that the segment has. Reads the 280 bytes of the sections
    /// shards and shape.
    #[expect(clippy::expect_used, reason = "tables are numbered by arrays of a few")]
    pub(crate) fn open(segment: &Arc<Segment>, epoch: u32) -> Result<EpochTables> {
        let column = |kind, part: usize| {
            let part = u16::try_from(part).expect("the number of a table fits in 16 bits");
            SectionColumn::new(segment, SectionTag::table(kind, part, epoch))
        };
        let fingerprints = column(SectionKind::Fingerprints, 0);
        let shards = Shards::read(&column(SectionKind::Shards, 0))?;
        let n = shards.fingerprints();
        // The lengths are compared only here. A search computes places from `n`, and relies on the
        // lengths.
        let has = |column: &SectionColumn, bytes: u64| {
            if column.section().len() == bytes {
                return Ok(());
            }
            let found = column.section().len();
            let what = format!("expected {bytes} bytes for {n} fingerprints, found {found}");
            Err(column.section().flaw(0, &what))
        };
        let (postings, entries) = (column(SectionKind::Postings, 0), u64::from(n) * 4);
        has(&fingerprints, u64::from(n) * 8)?;
        has(&postings, entries)?;
        let shape = column(SectionKind::Shape, 0);
        has(&shape, 16)?;
        let index = match read_shape(&shape.section())? {
            Shape::Column => Index::None,
            Shape::Rotations(address) => {
                let tables = std::array::from_fn(|table| Rotation {
                    buckets: column(SectionKind::Buckets, table),
                    rest: column(SectionKind::Rest, table),
                    ordinals: column(SectionKind::Ordinals, table),
                });
                for Rotation { buckets, rest, ordinals } in &tables {
                    has(buckets, address.bytes())?;
                    // The length of this section varies: it is even, with at most one entry per
                    // fingerprint.
                    let in_rest = rest.section().len() / 2;
                    has(rest, in_rest.min(n.into()) * 2)?;
                    has(ordinals, entries)?;
                }
                Index::Rotations(Rotations { address, tables })
            }
            Shape::Cells { count } => {
                let tables: [_; HALVES] = std::array::from_fn(|table| CellTable {
                    cells: column(SectionKind::Cells, table),
                    further: column(SectionKind::Further, table),
                    ordinals: column(SectionKind::Ordinals, table),
                });
                for CellTable { cells, further, ordinals } in &tables {
                    has(cells, u64::from(count) * LINE_BYTES)?;
                    // The length of this section varies, too: whole lines, and at most the number
                    // of lines that `n` fingerprints can need.
                    let lines = further.section().len() / LINE_BYTES;
                    has(further, lines.min(further_max(n)) * LINE_BYTES)?;
                    has(ordinals, entries)?;
                }
                Index::Cells(Cells { count, tables })
            }
        };
        Ok(EpochTables {
            epoch,
            tables: Tables::new(fingerprints.clone(), shards, index)?,
            whole: OnceLock::new(),
            offsets: GuessOffsets::new(n),
            segment: Arc::clone(segment),
            pages: segment.numbers().pages,
            fingerprints,
            postings,
            lists: column(SectionKind::Lists, 0),
        })
    }

    /// Passes every fingerprint within `k` of each query to `finds`, with the index of the query.
    /// Prefetches the postings.
    pub(crate) fn find_each(&self, queries: &[u64], k: u32, finds: &mut dyn HitSink) -> Result<()> {
        let mut finds = PostingPrefetch { tables: self, finds };
        // The search is compiled twice: with a check of each block, and without checks for tables
        // that are whole.
        let Some(whole) = self.whole() else {
            return self.tables.find_each(queries, k, &mut finds);
        };
        let found = match queries {
            [query] => whole.find(*query, k, &mut finds),
            _ => whole.find_each(queries, k, &mut finds),
        };
        found.map_err(|Contradiction| self.contradiction(queries, k))
    }

    /// Passes fingerprints within `k` of a query to `finds`, using only the tables and within
    /// bounds. Returns whether the result is complete. Drop an incomplete result, and use
    /// [`nearest`](Self::nearest).
    #[inline]
    pub(crate) fn find_within(
        &self,
        query: u64,
        k: u32,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<bool> {
        let mut finds = PostingPrefetch { tables: self, finds };
        let Some(whole) = self.whole() else {
            return self.tables.find_within(query, k, bounds, &mut finds);
        };
        let found = whole.find_within(query, k, bounds, &mut finds);
        found.map_err(|Contradiction| self.contradiction(&[query], k))
    }

    /// Runs [`find_within`](Self::find_within) for many queries. Returns the indexes of the queries
    /// whose results are incomplete and must be dropped.
    pub(crate) fn find_in_tables(
        &self,
        queries: &[u64],
        k: u32,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<Vec<usize>> {
        let mut finds = PostingPrefetch { tables: self, finds };
        let Some(whole) = self.whole() else {
            return self.tables.find_in_tables(queries, k, bounds, &mut finds);
        };
        let found = whole.find_in_tables(queries, k, bounds, &mut finds);
        found.map_err(|Contradiction| self.contradiction(queries, k))
    }

    /// Returns the ordinal of a value, if the tables have it; see [`Tables::ordinal_of`]. Prefetches
    /// the posting.
    pub(crate) fn ordinal_of(&self, value: u64) -> Result<Option<u32>> {
        let found = match self.whole() {
            Some(whole) => whole.ordinal_of(value, &self.offsets).map_err(|Contradiction| {
                self.fingerprints.section().flaw(0, "the keys of digests contradict their shards")
            }),
            None => self.tables.ordinal_of(value, &self.offsets),
        }?;
        found.into_iter().for_each(|ordinal| self.prefetch_posting(ordinal));
        Ok(found)
    }

    /// Finds the nearest fingerprints within `k` by a bounded scan; see [`Tables::nearest`].
    pub(crate) fn nearest(
        &self,
        query: u64,
        k: u32,
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Result<Completeness> {
        let Some(whole) = self.whole() else {
            return self.tables.nearest(query, k, bounds, out);
        };
        let found = whole.nearest(query, k, bounds, out);
        found.map_err(|Contradiction| self.contradiction(&[query], k))
    }

    /// Returns a search for all fingerprints within `k` of one query, in steps.
    #[inline]
    pub(crate) fn steps(&self, query: u64, k: u32) -> TableSteps<'_> {
        let steps = match self.whole() {
            Some(whole) => ColumnSteps::Whole(whole.steps(query, k)),
            None => ColumnSteps::Checked(self.tables.steps(query, k)),
        };
        TableSteps { tables: self, query, k, steps }
    }

    /// Repeats the search with checks to report where the tables contradict themselves.
    #[cold]
    fn contradiction(&self, queries: &[u64], k: u32) -> Error {
        let flaw =
            || self.fingerprints.section().flaw(0, "the tables of an epoch contradict each other");
        // The column without checks does not contain its location. So the search is repeated with
        // the column that reports section and offset.
        self.tables.find_each(queries, k, &mut Vec::new()).err().unwrap_or_else(flaw)
    }

    #[inline]
    fn whole(&self) -> Option<&Tables<VerifiedColumn>> {
        let known = self.whole.get();
        // Tables may be opened before they are warmed up. So the flag is read until it is set, and
        // never after that.
        if known.is_none() && self.segment.tables_are_whole() {
            return Some(self.whole.get_or_init(|| self.tables.map(SectionColumn::whole)));
        }
        known
    }

    /// Returns the fingerprint with an ordinal.
    pub(crate) fn fingerprint(&self, ordinal: u32) -> Result<u64> {
        self.fingerprints.section().u64_at(ordinal.into())
    }

    /// Returns the fingerprints with some ordinals without a copy; `None` if the processor's byte
    /// order differs.
    pub(crate) fn fingerprints_in_place(&self, ordinals: Range<u32>) -> Result<Option<&[u64]>> {
        let range = u64::from(ordinals.start) * 8..u64::from(ordinals.end) * 8;
        let bytes = self.fingerprints.bytes(range)?;
        // Sections begin at multiples of 64, so the numbers are aligned. Only their byte order may
        // differ.
        Ok(<[u64]>::ref_from_bytes(bytes).ok().filter(|_| cfg!(target_endian = "little")))
    }

    /// Fills `out` with the fingerprints beginning with ordinal `from`.
    pub(crate) fn fingerprints(&self, from: u32, out: &mut [u64]) -> Result<()> {
        let (start, len) = (u64::from(from) * 8, out.len() as u64 * 8);
        let bytes = self.fingerprints.section().get(start..start + len)?;
        for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *out = LittleEndian::read_u64(bytes);
        }
        Ok(())
    }

    /// Whether a fingerprint is in force on some page, as of the segment's end.
    pub(crate) fn is_in_force(&self, ordinal: u32) -> Result<bool> {
        if let Some(posting) = self.single(ordinal)? {
            return Ok(posting.in_force);
        }
        for posting in self.postings(ordinal, 0)? {
            if posting?.in_force {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn postings_ref(&self) -> PostingsRef<'_> {
        PostingsRef { words: &self.postings, lists: &self.lists, pages: self.pages }
    }

    /// Prefetches the posting of a fingerprint. A later read of the posting reports damage.
    pub(crate) fn prefetch_posting(&self, ordinal: u32) {
        self.postings.prefetch(u64::from(ordinal) * 4);
    }

    /// Returns the only posting of a fingerprint; `None` if several pages have it.
    pub(crate) fn single(&self, ordinal: u32) -> Result<Option<Posting>> {
        self.postings_ref().single(ordinal)
    }

    /// Returns the pages with a fingerprint in SURT order, beginning with the page with ordinal
    /// `first`.
    pub(crate) fn postings(
        &self,
        ordinal: u32,
        first: u32,
    ) -> Result<impl Iterator<Item = Result<Posting>>> {
        self.postings_ref().from(ordinal, first, None)
    }

    /// Returns the [`postings`](Self::postings) of a fingerprint without the
    /// [`copies`](Self::copies) of a digest. Prefetches pages for which `wanted` is true before
    /// they are needed, at most `most` at a time.
    pub(crate) fn postings_ahead(
        &self,
        ordinal: u32,
        first: u32,
        without: Option<Digest>,
        most: usize,
        wanted: impl Fn(&Posting) -> bool,
    ) -> Result<impl Iterator<Item = Result<Posting>>> {
        /// The number of postings in a prefetch batch.
        const AHEAD: usize = 16;
        let most = most.clamp(1, AHEAD);
        let mut postings = self.postings_ref().from(ordinal, first, without)?;
        // In reverse order, so that `pop` returns the next posting.
        let mut asked: ArrayVec<Result<Posting>, AHEAD> = ArrayVec::new();
        Ok(std::iter::from_fn(move || {
            if asked.is_empty() {
                asked.extend(postings.by_ref().take(most));
                asked.reverse();
                let pages =
                    || asked.iter().flatten().filter(|posting| wanted(posting)).map(|p| p.page);
                // A prefetch is useful only if other work is done meanwhile. With one page there is
                // no other work.
                if asked.len() > 1 {
                    // First all places, then all pages, so that up to 16 pages share each wait for
                    // memory.
                    pages().for_each(|page| self.segment.prefetch_place(page));
                    pages().for_each(|page| self.segment.prefetch_page(page));
                }
            }
            asked.pop()
        }))
    }

    /// Returns the pages on which a shared fingerprint is in force with a digest of the same tag,
    /// in SURT order; no pages if only one page has the fingerprint.
    pub(crate) fn copies(
        &self,
        ordinal: u32,
        digest: Digest,
    ) -> Result<Option<impl Iterator<Item = Result<u32>>>> {
        self.postings_ref().copies(ordinal, digest)
    }

    /// Whether the tags of a fingerprint's list equal `expected`, each with its page, in any order.
    /// A fingerprint of a single page needs no tags.
    pub(crate) fn has_tags(&self, ordinal: u32, expected: &mut [(u32, u32)]) -> Result<bool> {
        let Some(tags) = self.tags(ordinal)? else { return Ok(true) };
        expected.sort_unstable();
        Ok(tags == expected)
    }

    /// Returns the tags of a fingerprint's list, each with its page; `None` if only one page has
    /// the fingerprint.
    pub(super) fn tags(&self, ordinal: u32) -> Result<Option<Vec<(u32, u32)>>> {
        self.postings_ref().tags(ordinal)
    }
}

/// A search of the tables in three steps, each called once; see [`SearchSteps`].
pub(crate) struct TableSteps<'t> {
    tables: &'t EpochTables,
    query: u64,
    k: u32,
    steps: ColumnSteps<'t>,
}

/// Whether blocks still need checks.
enum ColumnSteps<'t> {
    Checked(SearchSteps<'t, SectionColumn>),
    Whole(SearchSteps<'t, VerifiedColumn>),
}

impl TableSteps<'_> {
    #[inline]
    pub(crate) fn begin(&mut self) {
        match &mut self.steps {
            ColumnSteps::Checked(steps) => steps.begin(),
            ColumnSteps::Whole(steps) => steps.begin(),
        }
    }

    #[inline]
    pub(crate) fn go_on(&mut self) -> Result<()> {
        match &mut self.steps {
            ColumnSteps::Checked(steps) => steps.go_on(),
            ColumnSteps::Whole(steps) => steps
                .go_on()
                .map_err(|Contradiction| self.tables.contradiction(&[self.query], self.k)),
        }
    }

    /// Passes the near fingerprints to `finds`, and prefetches their postings.
    #[inline]
    pub(crate) fn finish(&mut self, finds: &mut dyn HitSink) -> Result<()> {
        let &mut TableSteps { tables, query, k, ref mut steps } = self;
        let mut finds = PostingPrefetch { tables, finds };
        match steps {
            ColumnSteps::Checked(steps) => steps.finish(&mut finds),
            ColumnSteps::Whole(steps) => {
                let found = steps.finish(&mut finds);
                found.map_err(|Contradiction| tables.contradiction(&[query], k))
            }
        }
    }

    /// Passes the near fingerprints to `finds`, within bounds. Returns `false` if the result is
    /// incomplete. Drop an incomplete result, and use [`EpochTables::nearest`].
    #[inline]
    pub(crate) fn finish_within(
        &mut self,
        bounds: &Bounds,
        finds: &mut dyn HitSink,
    ) -> Result<bool> {
        let &mut TableSteps { tables, query, k, ref mut steps } = self;
        let mut finds = PostingPrefetch { tables, finds };
        match steps {
            ColumnSteps::Checked(steps) => steps.finish_within(bounds, &mut finds),
            ColumnSteps::Whole(steps) => {
                let found = steps.finish_within(bounds, &mut finds);
                found.map_err(|Contradiction| tables.contradiction(&[query], k))
            }
        }
    }
}

/// Prefetches the postings of likely matches.
struct PostingPrefetch<'t, 'f> {
    tables: &'t EpochTables,
    finds: &'f mut dyn HitSink,
}

impl HitSink for PostingPrefetch<'_, '_> {
    fn prefetch(&mut self, ordinal: u32) {
        // This function is called before the fingerprint of the ordinal is compared, so the posting
        // arrives during the comparison. `finds.expect` is not called: no consumer of these
        // searches has more to prefetch.
        self.tables.prefetch_posting(ordinal);
    }

    fn hit(&mut self, place: usize, candidate: Candidate) {
        self.finds.hit(place, candidate);
    }
}

/// Reads the section *shape*: four numbers.
fn read_shape(section: &SectionRef<'_>) -> Result<Shape> {
    let words = [section.u32_at(0)?, section.u32_at(1)?, section.u32_at(2)?, section.u32_at(3)?];
    match words {
        [0, 0, 0, 0] => Ok(Shape::Column),
        [1, bits, lines, 0] if (BucketLayout { bits, lines }).is_possible() => {
            Ok(Shape::Rotations(BucketLayout { bits, lines }))
        }
        [2, 0, 0, count] if count > 0 => Ok(Shape::Cells { count }),
        _ => Err(section.flaw(0, "it describes a shape of tables that this version does not know")),
    }
}
