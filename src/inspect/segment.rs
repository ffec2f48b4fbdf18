//! One segment: its numbers, sections and tables.

use std::collections::BTreeMap;

use super::space::Space;
use crate::engine::live_segment::LiveSegment;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::layout::{HEAD_BYTES, block_count};
use crate::page::{DIGESTS, Epoch};
use crate::search::Shape;
use crate::time::Time;

/// A segment, as described by its file.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::SegmentView;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let id = store.stats()?.segments[0].id;
/// let segment = SegmentView::of(&store.snapshot(), id)?.unwrap();
/// for section in &segment.sections {
///     println!("{} at {}: {} bytes", section.kind, section.offset, section.bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentView {
    /// The number of the segment, which is also in the name of its file.
    pub id: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// The depth of merges: 0 for a sealed segment; for a merged segment, one more than for its
    /// inputs.
    pub level: u64,
    /// The first operation in the segment.
    pub first_operation: u64,
    /// The last operation in the segment.
    pub last_operation: u64,
    /// The number of page records.
    pub pages: u64,
    /// The number of visits in the page records.
    pub visits: u64,
    /// Distinct fingerprints, counted once for each epoch.
    pub fingerprints: u64,
    /// The number of records that hide all older data of their page.
    pub resets: u64,
    /// The change that the segment makes to the number of pages of the store. The change is less
    /// than the number of page records, since some records continue older records.
    pub page_delta: i64,
    /// The change that the segment makes to the number of visits of the store.
    pub visit_delta: i64,
    /// The change that the segment makes to the number of the store's pages with current content.
    pub in_force_delta: i64,
    /// The change that the segment makes to the number of the store's pages that are gone.
    pub gone_delta: i64,
    /// The earliest and latest possible time of the segment's visits; `None` without visits.
    pub times: Option<(Time, Time)>,
    /// The largest number of pages that have or had one fingerprint.
    pub longest_list: u64,
    /// The time at which the segment was written.
    pub written: Time,
    /// The number of prefixes that the segment records as forgotten.
    pub forgotten: u64,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionView>,
    /// The fingerprint tables, one for each epoch.
    pub tables: Vec<TableView>,
}

impl SegmentView {
    /// Describes the segment with a number; `None` if this snapshot has no such segment. Reads no
    /// file: the numbers are in memory since the segment was opened.
    ///
    /// ```
    /// use simkeep::inspect::SegmentView;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// let id = store.stats()?.segments[0].id;
    /// let segment = SegmentView::of(&store.snapshot(), id)?.expect("it is live");
    /// assert_eq!((segment.pages, segment.sections[0].kind), (1, "pages"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`](crate::Error::Poisoned) after a bug.
    pub fn of(snapshot: &Snapshot, id: u64) -> Result<Option<SegmentView>> {
        snapshot.view().check()?;
        let live = snapshot.view().segments.iter().find(|live| live.segment.id() == id);
        Ok(live.map(|live| view(live)))
    }
}

/// A section of a segment.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::{SegmentView, Space};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let id = store.stats()?.segments[0].id;
/// let segment = SegmentView::of(&store.snapshot(), id)?.unwrap();
/// let pages = segment.sections.iter().find(|section| section.kind == "pages").unwrap();
/// assert_eq!((pages.space, pages.epoch), (Space::Histories, None));
/// println!("{} bytes at {}, in {} blocks", pages.bytes, pages.offset, pages.blocks);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionView {
    /// The kind of the section, as named in the format.
    pub kind: &'static str,
    /// The number of the section among sections of one kind and epoch, for example the number of
    /// its rotation.
    pub part: u16,
    /// The epoch, for a section of fingerprint tables; `None` for a section of the tables of digests.
    pub epoch: Option<Epoch>,
    /// Whether the section belongs to the tables of digests, which find content without a
    /// fingerprint.
    pub of_digests: bool,
    /// The purpose of the section's bytes.
    pub space: Space,
    /// The byte offset of the section in the file.
    pub offset: u64,
    /// The length of the section in bytes.
    pub bytes: u64,
    /// The number of 4 KiB blocks in the section; each block has a checksum.
    pub blocks: u64,
}

/// The fingerprint tables of an epoch in a segment, or the tables of digests.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::SegmentView;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// store.seal()?;
/// let id = store.stats()?.segments[0].id;
/// let segment = SegmentView::of(&store.snapshot(), id)?.unwrap();
/// let table = &segment.tables[0];
/// assert_eq!((table.epoch, table.fingerprints), (Some(epoch), 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableView {
    /// The number of the epoch; `None` for the tables of digests, which find content without a
    /// fingerprint.
    pub epoch: Option<Epoch>,
    /// The number of distinct fingerprints, or of distinct beginnings of digests.
    pub fingerprints: u32,
    /// The search structure: column, rotations or cells.
    pub shape: Shape,
    /// Bytes of the fingerprints and of the tables that search them.
    pub bytes: u64,
}

/// The epoch of some tables; `None` for the tables of digests.
fn epoch_of(table: u32) -> Option<Epoch> {
    (table != DIGESTS).then(|| Epoch::from_number(table))
}

fn view(live: &LiveSegment) -> SegmentView {
    let segment = &live.segment;
    let numbers = segment.numbers();
    let sections = segment.frame().sections().iter().map(|section| {
        let tag = section.tag();
        SectionView {
            kind: tag.kind.name(),
            part: tag.part,
            epoch: tag.kind.is_of_epoch().then(|| epoch_of(tag.epoch)).flatten(),
            of_digests: tag.kind.is_of_epoch() && tag.epoch == DIGESTS,
            space: Space::of(tag.kind),
            offset: section.offset(),
            bytes: section.bytes(),
            blocks: block_count(section.bytes()),
        }
    });
    let sections: Vec<SectionView> = sections.collect();
    let mut bytes = BTreeMap::<u32, u64>::new();
    for section in segment.frame().sections().iter().filter(|s| s.tag().kind.is_of_epoch()) {
        *bytes.entry(section.tag().epoch).or_default() += section.bytes();
    }
    let tables = live.tables.iter().map(|tables| TableView {
        epoch: epoch_of(tables.epoch),
        fingerprints: tables.tables.len(),
        shape: tables.tables.shape(),
        bytes: bytes.get(&tables.epoch).copied().unwrap_or(0),
    });
    SegmentView {
        id: segment.id(),
        bytes: segment.file_bytes(),
        level: numbers.tier,
        first_operation: numbers.first_sequence,
        last_operation: numbers.last_sequence,
        pages: numbers.pages,
        visits: numbers.visits,
        fingerprints: numbers.fingerprints,
        resets: numbers.resets,
        page_delta: numbers.delta.pages,
        visit_delta: numbers.delta.visits,
        in_force_delta: numbers.delta.in_force,
        gone_delta: numbers.delta.gone,
        times: numbers
            .times
            .map(|(first, last)| (Time::from_ms_unchecked(first), Time::from_ms_unchecked(last))),
        longest_list: numbers.longest_list,
        written: Time::from_ms_unchecked(numbers.written),
        forgotten: live.tombstones.iter().count() as u64,
        tables: tables.collect(),
        sections,
    }
}

/// The bytes of a segment outside of all sections: head, section table, and padding.
pub(super) fn frame_bytes(view: &SegmentView) -> u64 {
    let sections: u64 = view.sections.iter().map(|section| section.bytes).sum();
    view.bytes.saturating_sub(sections).max(HEAD_BYTES)
}
