//! Merges several adjacent segments into one.
//!
//! Three passes merge sorted streams: pages in SURT order, hashes in order, and fingerprints in
//! canonical order. The first pass writes the new ordinal of each input page to scratch files,
//! which the other two passes read. Memory does not grow with the number of pages.

use std::cmp::Reverse;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use byteorder::{ByteOrder, LittleEndian};

use super::build::{SegmentBuilder, Spill, SpillContent};
use super::entries::count_visits;
use super::file::Segment;
use super::page_merge::{PageMerge, PagePart, page_across};
use super::page_writer::PagesWriter;
use super::pages::{PageCursor, UNREADABLE, UnreadRecord};
use super::postings::Posting;
use super::record::{CHUNK_ENTRIES, RecordRef, SegmentRecord};
use super::schedule;
use super::seal::HashSectionsWriter;
use super::table_writer::TablesWriter;
use super::tables::{EpochTables, TableLayout};
use super::tombstones::{self, Tombstones};
use crate::bug::{self, OrBug};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::layout::{Delta, PackedRow, SectionKind, SectionTag, SegmentSummary, Stamp, le_u32};
use crate::page::{DIGESTS, Digest, drop_superseded};
use crate::search::canonical_key;

/// The input of a merge.
pub(crate) struct MergeInputs<'a> {
    /// Adjacent segments in order of sequence, oldest first.
    pub(crate) inputs: &'a [Arc<Segment>],
    /// Whether the oldest segment of the store is an input. If so, there are no older pages to
    /// hide.
    pub(crate) oldest: bool,
    /// Tombstones to drop, since no segment contains earlier data any more.
    pub(crate) done: &'a [u64],
    /// Whether newer segments hide a page, by its URL and SURT key. Hidden pages are left out.
    pub(crate) hidden: &'a dyn Fn(&str, &[u8]) -> Result<bool>,
    /// Ended epochs, whose fingerprints get no tables.
    pub(crate) ended: &'a [u32],
    /// Called from time to time with the number of input records processed since the last call.
    /// Breaks to cancel the merge.
    pub(crate) step: &'a MergeProgressFn<'a>,
    pub(crate) layout: TableLayout,
}

/// A callback that receives the number of steps since the last call. Breaks to cancel.
pub(crate) type MergeProgressFn<'a> = dyn Fn(u64) -> ControlFlow<()> + 'a;

/// Merges the inputs into a new segment; `None` if `step` cancelled the merge. Reads each input
/// three times sequentially, writes the output once, and writes about twelve bytes per page to
/// scratch files. Costs two syncs, and one sync for every 64 MiB.
pub(crate) fn merge(
    disk: &Arc<dyn Disk>,
    stamp: Stamp,
    mergeable: &MergeInputs<'_>,
) -> Result<Option<u64>> {
    let mut builder = SegmentBuilder::new(disk, stamp)?;
    let inputs = mergeable.inputs;
    let ends = inputs.first().zip(inputs.last());
    let (oldest, newest) = ends.or_bug("a merge has inputs")?;
    let follow = |[a, b]: &[Arc<Segment>; 2]| {
        a.numbers().last_sequence.checked_add(1) == Some(b.numbers().first_sequence)
    };
    bug::ensure(inputs.array_windows().all(follow), "the merged segments are adjacent")?;
    let mut deltas = inputs.iter().map(|s| s.numbers().delta);
    let delta = deltas.try_fold(Delta::default(), Delta::plus);
    // Damaged inputs may add up to totals that no section table can contain. An output with such
    // totals could not be opened again.
    let delta = delta.filter(Delta::is_possible);
    let impossible = || {
        let what =
            "the totals of this segment and the next segments add up to an impossible number";
        oldest.damaged(SectionTag::of(SectionKind::Pages), 0, what)
    };
    let deepest = inputs.iter().fold(0, |tier, s| s.numbers().tier.max(tier));
    let mut numbers = SegmentSummary {
        first_sequence: oldest.numbers().first_sequence,
        last_sequence: newest.numbers().last_sequence,
        delta: delta.ok_or_else(impossible)?,
        // A segment that is rewritten alone keeps its tier. In a higher tier it would never be
        // merged with its neighbours.
        tier: deepest + u64::from(inputs.len() > 1),
        ..SegmentSummary::default()
    };
    let tombstones = inputs.iter().map(|s| Tombstones::read(s)).collect::<Result<Vec<_>>>()?;
    // Pages come first, since hashes and postings refer to pages by their new ordinals.
    let Some(moves) = merge_pages(&mut builder, mergeable, &tombstones, &mut numbers)? else {
        return Ok(None);
    };
    merge_hashes(&mut builder, inputs, &moves, numbers.pages)?;
    // Some visits of the inputs may be forgotten. So the bounds may be wider than necessary, but
    // never too narrow.
    if numbers.visits > 0 {
        inputs.iter().filter_map(|s| s.numbers().times).for_each(|times| numbers.cover(times));
    }

    let mut kept = Tombstones::default();
    // A tombstone hides pages only in older segments. If the oldest segment is an input, there are
    // no older pages to hide.
    kept.extend(
        tombstones
            .iter()
            .flat_map(Tombstones::iter)
            .filter(|t| !mergeable.oldest && !mergeable.done.contains(&t.sequence))
            .cloned(),
    );
    builder.whole(SectionTag::of(SectionKind::Tombstones), &tombstones::encode(&kept))?;

    let mut epochs: Vec<u32> = inputs.iter().flat_map(|s| s.frame().tables()).collect();
    epochs.sort_unstable();
    epochs.dedup();
    epochs.retain(|epoch| !mergeable.ended.contains(epoch));
    for epoch in epochs {
        if merge_tables(&mut builder, mergeable, &moves, epoch, &mut numbers)?.is_break() {
            return Ok(None);
        }
    }
    builder.finish(numbers).map(Some)
}

/// The record of a page in an input, and the input's tombstones.
struct InputPage<'a> {
    record: Option<(UnreadRecord<'a>, RecordRef<'a>)>,
    tombstones: &'a Tombstones,
}

impl PagePart for InputPage<'_> {
    fn record_ends(&self) -> Option<bool> {
        self.record.map(|(_, record)| record.ends())
    }

    fn covers<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool {
        self.tombstones.cover(key())
    }
}

fn merge_pages(
    builder: &mut SegmentBuilder,
    mergeable: &MergeInputs<'_>,
    tombstones: &[Tombstones],
    numbers: &mut SegmentSummary,
) -> Result<Option<Vec<OrdinalMap>>> {
    let inputs = mergeable.inputs;
    let cursor = |segment: &Arc<Segment>| {
        let mut cursor = PageCursor::new(Arc::clone(segment), 0)?;
        cursor.advance()?;
        Ok(cursor)
    };
    let mut pages = PageMerge::new(inputs.iter().map(cursor).collect::<Result<_>>()?);
    let mut moves: Vec<Spill> = inputs.iter().map(|_| builder.spill(inputs.len())).collect();
    let mut writer = PagesWriter::new(builder)?;
    let mut steps = 0;
    while pages.advance()? {
        steps += pages.here().len() as u64;
        // `step` is called once for about a thousand records, not for each record.
        if steps >= 1024 && (mergeable.step)(mem::take(&mut steps)).is_break() {
            return Ok(None);
        }
        let placed = merge_page(builder, mergeable, tombstones, &pages, &mut writer, numbers)?;
        // Each input returns its pages in order, so the index of a word in the input's spill is the
        // page's ordinal.
        for (older, (number, _)) in pages.here().iter().rev().enumerate() {
            let moved = match placed {
                Some((page, visible)) if older < visible => NewOrdinal::to(page, older == 0),
                // The page is hidden by an input or by a newer segment.
                _ => NewOrdinal::GONE,
            };
            let moves = moves.get_mut(*number).or_bug("a page is in one of the inputs")?;
            moves.append(&le_u32(moved.0))?;
        }
    }
    numbers.pages = writer.finish(builder)?;
    let moves = moves.into_iter().map(|spill| spill.finish().map(OrdinalMap));
    let moves = moves.collect::<Result<Vec<_>>>()?;
    let bytes = moves.iter().map(|moves| moves.0.len() as u64);
    let pages = inputs.iter().map(|input| input.numbers().pages * 4);
    bug::ensure(bytes.eq(pages), "each page of each input has a new ordinal")?;
    Ok(Some(moves))
}

/// Writes one page from the inputs that have it. Returns the page's ordinal, and the number of the
/// newest inputs that contribute; `None` if nothing remains of the page.
fn merge_page(
    builder: &mut SegmentBuilder,
    mergeable: &MergeInputs<'_>,
    tombstones: &[Tombstones],
    pages: &PageMerge<PageCursor>,
    writer: &mut PagesWriter,
    numbers: &mut SegmentSummary,
) -> Result<Option<(u32, usize)>> {
    let (url, key) = (pages.url()?, pages.key());
    if (mergeable.hidden)(url, key)? {
        return Ok(None);
    }
    // All inputs, even those without the page, because their tombstones may hide it.
    let inputs = pages.newest_first().zip(tombstones.iter().rev());
    let inputs = inputs.map(|((cursor, place), tombstones)| {
        let unread = place.map(|place| cursor.record_at(place)).transpose()?;
        let record = unread.map(|unread| Ok::<_, Error>((unread, unread.read()?))).transpose()?;
        Ok(InputPage { record, tombstones })
    });
    let mut visible = Vec::new();
    let end = page_across(
        || key,
        inputs,
        |input| {
            visible.extend(input.record);
            Ok::<_, Error>(ControlFlow::Continue(()))
        },
    )?;
    // All data of the page may be forgotten.
    let Some((unread, oldest)) = visible.last() else { return Ok(None) };
    // Below the oldest segment there are no pages to hide, and no segment that contains the page.
    let reset = oldest.reset() && !mergeable.oldest;
    let earlier = end.is_none() && !mergeable.oldest;
    let count = visible.len();
    if count == 1 && (oldest.reset(), oldest.earlier()) == (reset, earlier) {
        // There is only one record, which is copied unchanged.
        numbers.visits += oldest.visit_count() as u64;
        numbers.resets += u64::from(reset);
        let page = writer.push(builder, url, |out| out.extend_from_slice(unread.bytes))?;
        return Ok(Some((page, count)));
    }
    let (mut before, mut entries) = (Vec::new(), Vec::new());
    if earlier {
        oldest.append_before(&mut before).ok_or_else(|| unread.unreadable())?;
    }
    for (unread, record) in &visible {
        record.append_entries(&mut entries).ok_or_else(|| unread.unreadable())?;
    }
    entries.sort_unstable();
    entries.dedup();
    drop_superseded(&mut entries);
    if entries.is_empty() && !reset {
        return Ok(None);
    }
    // A restatement or a property needs a visit of its page. Without a visit the input is damaged.
    if before.is_empty() && !entries.is_empty() && count_visits(&entries) == 0 {
        return Err(unread.unreadable());
    }
    // The changes of the newest record include all older visits, as of its segment's end. So only
    // this record's changes count.
    let (unread, newest) = visible.first().or_bug("each remaining page has a record")?;
    // The entries contain all visits of the page, and there are few, so readers fold the changes
    // from them.
    let is_determined = before.is_empty() && entries.len() <= CHUNK_ENTRIES;
    let changes = newest.changes_unless(is_determined).ok_or_else(|| unread.unreadable())?;
    let record = SegmentRecord { reset, earlier, before: &before, entries: &entries, changes };
    numbers.visits += record.visit_count() as u64;
    numbers.resets += u64::from(reset);
    Ok(Some((writer.push(builder, url, |out| record.put(out))?, count)))
}

fn merge_hashes(
    builder: &mut SegmentBuilder,
    inputs: &[Arc<Segment>],
    moves: &[OrdinalMap],
    pages: u64,
) -> Result<()> {
    let mut streams = Vec::new();
    // Each input has its own list of moves.
    for (segment, moves) in inputs.iter().zip(moves) {
        let mut stream = HashStream { segment, moves, place: 0, last: None, current: None };
        if stream.advance()? {
            streams.push(stream);
        }
    }
    let unlike = |found: u64| {
        let oldest = inputs.first().or_bug("a merge has inputs")?;
        let what = format!("the merged segments have {pages} pages, but at least {found} hashes");
        Err(oldest.damaged(SectionTag::of(SectionKind::Hashes), 0, &what))
    };
    let mut writer = HashSectionsWriter::new(builder, pages)?;
    let mut equal: Vec<MovedHash> = Vec::new();
    // A linear search for the minimum is enough: a merge has 128 inputs at most, and usually 8, the
    // fan-out.
    while let Some(hash) = streams.iter().filter_map(|s| s.current).map(|c| c.0).min() {
        equal.clear();
        let mut i = 0;
        while let Some(stream) = streams.get_mut(i) {
            let mut more = true;
            while let Some((found, moved)) = stream.current
                && found == hash
                && more
            {
                equal.push(moved);
                more = stream.advance()?;
            }
            if more {
                i += 1;
            } else {
                // The order of the streams does not matter, because their results for a hash are
                // sorted below.
                streams.swap_remove(i);
            }
        }
        // For each page the newest input sorts first, and its row is kept.
        equal.sort_unstable();
        equal.dedup_by(|older, newest| {
            let same = older.page == newest.page;
            if same {
                schedule::join(&mut newest.row, &older.row);
            }
            same
        });
        // The number is checked before the hashes are written, because the sections have fixed
        // lengths and cannot grow.
        if writer.count() + equal.len() as u64 > pages {
            return unlike(pages + 1);
        }
        for MovedHash { page, row, .. } in &equal {
            writer.push(builder, hash, *page, row)?;
        }
    }
    if writer.count() != pages {
        return unlike(writer.count());
    }
    writer.finish(builder)
}

/// A hash's page with its new position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MovedHash {
    page: u32,
    /// Whether a newer input also has the page.
    old: bool,
    row: PackedRow,
}

/// The remaining hashes of one input, with the new ordinals of their pages.
struct HashStream<'a> {
    segment: &'a Segment,
    moves: &'a OrdinalMap,
    place: u64,
    /// The last hash read.
    last: Option<u64>,
    current: Option<(u64, MovedHash)>,
}

impl HashStream<'_> {
    fn advance(&mut self) -> Result<bool> {
        let pages = self.segment.numbers().pages;
        let (hashes, of_pages) =
            (SectionTag::of(SectionKind::Hashes), SectionTag::of(SectionKind::HashPages));
        while self.place < pages {
            let hash = self.segment.section(hashes).u64_at(self.place)?;
            if self.last.replace(hash) > Some(hash) {
                let what =
                    format!("hash {} of {pages} is less than the hash before it", self.place);
                return Err(self.segment.damaged(hashes, self.place * 8, &what));
            }
            let page = self.segment.section(of_pages).u32_at(self.place)?;
            if u64::from(page) >= pages {
                let what = format!("it refers to page {page}, but the segment has {pages} pages");
                return Err(self.segment.damaged(of_pages, self.place * 4, &what));
            }
            let row = self.segment.packed_row(self.place)?;
            self.place += 1;
            let moved = self.moves.of(page);
            if let Some(page) = moved.page() {
                self.current = Some((hash, MovedHash { page, old: moved.is_old(), row }));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn merge_tables(
    builder: &mut SegmentBuilder,
    mergeable: &MergeInputs<'_>,
    moves: &[OrdinalMap],
    epoch: u32,
    numbers: &mut SegmentSummary,
) -> Result<ControlFlow<()>> {
    let mut streams = Vec::new();
    for (segment, moves) in mergeable.inputs.iter().zip(moves) {
        if segment.frame().has_epoch(epoch) {
            let tables = EpochTables::open(segment, epoch)?;
            let number = streams.len();
            let (ordinal, current, tags) = (0, None, None);
            let mut stream = TableStream { number, segment, tables, moves, ordinal, current, tags };
            stream.advance()?;
            streams.push(stream);
        }
    }
    let mut writer = TablesWriter::new(builder, epoch)?;
    let mut postings: Vec<MovedPosting> = Vec::new();
    let mut merged: Vec<Posting> = Vec::new();
    let mut steps = 0;
    while let Some(least) = streams.iter().filter_map(|s| s.current).min() {
        if steps >= 4096 && (mergeable.step)(mem::take(&mut steps)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        postings.clear();
        let at_least = |s: &&mut TableStream<'_>| s.current == Some(least);
        for stream in streams.iter_mut().filter(at_least) {
            steps += 1;
            stream.postings(&mut postings)?;
        }
        // In descending order, a page's posting in force comes before its other postings, so
        // `dedup` keeps it. After that the order is reversed to ascend again.
        postings.sort_unstable_by_key(|p| Reverse(p.moved));
        postings.dedup_by_key(|p| p.moved.page);
        postings.reverse();
        merged.clear();
        merged.extend(postings.iter().map(|p| p.moved));
        // A fingerprint is dropped when all of its pages are dropped.
        if !merged.is_empty() {
            let tag = |page: u32| {
                if epoch == DIGESTS {
                    return Ok(None);
                }
                let at = postings.binary_search_by_key(&page, |p| p.moved.page);
                let posting = at.ok().and_then(|at| postings.get(at));
                let posting = posting.or_bug("tags are requested only for pages of the list")?;
                let stream = streams.get(posting.stream);
                stream.or_bug("a posting comes from one of the streams")?.tag(posting.page)
            };
            writer.push(builder, least.1, &merged, tag)?;
        }
        for stream in streams.iter_mut().filter(at_least) {
            stream.advance()?;
        }
    }
    writer.finish(builder, &mergeable.layout, numbers)?;
    Ok(ControlFlow::Continue(()))
}

/// A posting with its input and its new ordinal.
#[derive(Clone, Copy)]
struct MovedPosting {
    moved: Posting,
    stream: usize,
    /// The ordinal of the page in the input.
    page: u32,
}

/// The remaining fingerprints of one input.
struct TableStream<'a> {
    number: usize,
    segment: &'a Segment,
    tables: EpochTables,
    moves: &'a OrdinalMap,
    /// The ordinal after the ordinal of the current fingerprint.
    ordinal: u32,
    current: Option<(u32, u64)>,
    /// The tags of the current fingerprint, by page of the input; `None` if the fingerprint has no
    /// list.
    tags: Option<Vec<(u32, u32)>>,
}

impl TableStream<'_> {
    fn advance(&mut self) -> Result<()> {
        if self.ordinal == self.tables.tables.len() {
            self.current = None;
            return Ok(());
        }
        let key = canonical_key(self.tables.fingerprint(self.ordinal)?);
        if self.current.replace(key) >= Some(key) {
            let what = format!("fingerprint {} is not in canonical order", self.ordinal);
            let tag = SectionTag::table(SectionKind::Fingerprints, 0, self.tables.epoch);
            return Err(self.segment.damaged(tag, u64::from(self.ordinal) * 8, &what));
        }
        self.ordinal += 1;
        Ok(())
    }

    /// Appends the current fingerprint's postings with their new ordinals.
    fn postings(&mut self, out: &mut Vec<MovedPosting>) -> Result<()> {
        let ordinal = self.ordinal - 1;
        for posting in self.tables.postings(ordinal, 0)? {
            let posting = posting?;
            let moved = self.moves.of(posting.page).posting(posting);
            let stream = self.number;
            out.extend(moved.map(|moved| MovedPosting { moved, stream, page: posting.page }));
        }
        self.tags = self.tables.tags(ordinal)?;
        if let Some(tags) = &mut self.tags {
            tags.sort_unstable_by_key(|(_, page)| *page);
        }
        Ok(())
    }

    /// Returns the tag of the current digest of a page in this input.
    fn tag(&self, page: u32) -> Result<Option<u32>> {
        if let Some(tags) = &self.tags {
            // A page without a tag has no digest.
            let at = tags.binary_search_by_key(&page, |(_, page)| *page).ok();
            return Ok(at.and_then(|at| tags.get(at)).map(|(tag, _)| *tag));
        }
        // Without a list, only one page of this input has the fingerprint, and no tag was stored.
        // The page's head contains the digest.
        let mut url = Vec::new();
        let head = self.segment.page(page, &mut url)?.read()?.head();
        let damaged = || self.segment.damaged(SectionTag::of(SectionKind::Pages), 0, UNREADABLE);
        let head = head.ok_or_else(damaged)?;
        let digest = head.and_then(|head| head.in_force().first()?.digest);
        Ok(digest.as_ref().map(Digest::tag))
    }
}

/// The new ordinal of an input page.
#[derive(Clone, Copy)]
pub(super) struct NewOrdinal(pub(super) u32);

impl NewOrdinal {
    /// The page is hidden, so it has no new ordinal.
    pub(super) const GONE: NewOrdinal = NewOrdinal(u32::MAX);
    /// A bit for pages that a newer input also has. The newer input determines the content in
    /// force.
    // Ordinals are below 2^30, so the bit is free, and no page equals `GONE`.
    const OLD: u32 = 1 << 31;

    pub(super) fn to(page: u32, newest: bool) -> NewOrdinal {
        NewOrdinal(if newest { page } else { page | NewOrdinal::OLD })
    }

    pub(super) fn posting(self, posting: Posting) -> Option<Posting> {
        let page = self.0 & !NewOrdinal::OLD;
        let in_force = posting.in_force && !self.is_old();
        (self.0 != NewOrdinal::GONE.0).then_some(Posting { page, in_force })
    }

    /// Whether a newer input also has the page.
    pub(super) fn is_old(self) -> bool {
        self.0 & NewOrdinal::OLD != 0
    }

    pub(super) fn page(self) -> Option<u32> {
        (self.0 != NewOrdinal::GONE.0).then_some(self.0 & !NewOrdinal::OLD)
    }
}

/// The new ordinals of the pages of one input, by old ordinal.
pub(super) struct OrdinalMap(pub(super) SpillContent);

impl OrdinalMap {
    #[expect(clippy::indexing_slicing, reason = "an ordinal is compared with the pages when read")]
    pub(super) fn of(&self, ordinal: u32) -> NewOrdinal {
        let (moves, _) = self.0.as_chunks::<4>();
        NewOrdinal(LittleEndian::read_u32(&moves[ordinal as usize]))
    }
}
