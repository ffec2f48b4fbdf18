//! One segment: its numbers, sections and tables.

use std::collections::BTreeMap;

use super::space::Space;
use crate::engine::live_segment::LiveSegment;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::layout::{HEAD_BYTES, block_count};
use crate::page::Epoch;
use crate::search::Shape;
use crate::time::Time;

/// A segment, by what its file says of itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentView {
    /// Its number, which its file is named after.
    pub id: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// How many merges deep: 0 for one that was sealed, one more than its inputs for a merged one.
    pub level: u64,
    /// The first operation in it.
    pub first_operation: u64,
    /// The last operation in it.
    pub last_operation: u64,
    /// Records of pages.
    pub pages: u64,
    /// Visits in those records.
    pub visits: u64,
    /// Distinct fingerprints, counted once for each epoch.
    pub fingerprints: u64,
    /// Records that hide everything older of their page.
    pub resets: u64,
    /// What it adds to the pages of the store; less than its records, since some go on with older ones.
    pub page_delta: i64,
    /// What it adds to the visits of the store.
    pub visit_delta: i64,
    /// What it adds to the pages of the store with content that is in force.
    pub in_force_delta: i64,
    /// What it adds to the pages of the store that are gone.
    pub gone_delta: i64,
    /// No visit in it is earlier than the first time or later than the last; `None` without visits.
    pub times: Option<(Time, Time)>,
    /// The most pages that one fingerprint is or was on.
    pub longest_list: u64,
    /// When it was written.
    pub written: Time,
    /// How many prefixes were forgotten with it.
    pub forgotten: u64,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionView>,
    /// The fingerprint tables, one for each epoch.
    pub tables: Vec<TableView>,
}

impl SegmentView {
    /// One of the segments, by its number; `None` if none of this snapshot has it. Reads what was read
    /// when it was opened.
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
    /// [`Error::Poisoned`](crate::Error::Poisoned) if a bug was met before.
    pub fn of(snapshot: &Snapshot, id: u64) -> Result<Option<SegmentView>> {
        snapshot.view().check()?;
        let live = snapshot.view().segments.iter().find(|live| live.segment.id() == id);
        Ok(live.map(|live| view(live)))
    }
}

/// A section of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionView {
    /// What it holds, as the format names it.
    pub kind: &'static str,
    /// Its number among those of one kind and epoch, such as which rotation it belongs to.
    pub part: u16,
    /// The number of the epoch, of a section of fingerprint tables.
    pub epoch: Option<Epoch>,
    /// What its bytes are for.
    pub space: Space,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The blocks of 4 KiB that have a checksum each.
    pub blocks: u64,
}

/// The fingerprint tables of an epoch in a segment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableView {
    /// The number of the epoch.
    pub epoch: Epoch,
    /// Distinct fingerprints.
    pub fingerprints: u32,
    /// What finds those that are near: column, rotations or cells.
    pub shape: Shape,
    /// Bytes of the fingerprints with all that finds them.
    pub bytes: u64,
}

fn view(live: &LiveSegment) -> SegmentView {
    let segment = &live.segment;
    let numbers = segment.numbers();
    let sections = segment.frame().sections().iter().map(|section| {
        let tag = section.tag();
        SectionView {
            kind: tag.kind.name(),
            part: tag.part,
            epoch: tag.kind.is_of_epoch().then(|| Epoch::from_number(tag.epoch)),
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
        epoch: Epoch::from_number(tables.epoch),
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
        times: numbers.times.map(|(first, last)| (Time(first), Time(last))),
        longest_list: numbers.longest_list,
        written: Time(numbers.written),
        forgotten: live.tombstones.iter().count() as u64,
        tables: tables.collect(),
        sections,
    }
}

/// Bytes of a segment that lie in no section: its head, its section table, and zeros in between.
pub(super) fn frame_bytes(view: &SegmentView) -> u64 {
    let sections: u64 = view.sections.iter().map(|section| section.bytes).sum();
    view.bytes.saturating_sub(sections).max(HEAD_BYTES)
}
