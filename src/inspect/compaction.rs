//! An estimate of the bytes that a merge of all segments frees, and of the space that the merge
//! needs.

use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::inspect::{Overview, SegmentView};
use crate::page::find_epoch;

/// A page's record with its first visit and its index entries takes about as much space as this
/// number of further visits.
const VISITS_OF_A_RECORD: f64 = 8.0;

/// An estimate of the effect of [`Store::compact`](crate::Store::compact) on the segments.
///
/// ```
/// # use simkeep::{Observation, Options, Scope, Store, Time};
/// use simkeep::inspect::CompactionEstimate;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for page in 0..100 {
///     let url = format!("https://example.com/{page}");
///     store.observe(Observation::gone(&url, Time::now()))?;
///     store.forget(Scope::Url(&url))?;
/// }
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let estimate = CompactionEstimate::of(&store.snapshot())?;
/// println!("{} of {} bytes can go", estimate.reclaimable_bytes, estimate.segment_bytes);
/// assert_eq!((estimate.segments, estimate.unsealed_pages), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionEstimate {
    /// The number of segments.
    pub segments: usize,
    /// The bytes of the segments.
    pub segment_bytes: u64,
    /// Pages with data that is in no segment yet; the merged segment will include it.
    pub unsealed_pages: u64,
    /// The approximate number of bytes that a merge of all segments frees.
    pub reclaimable_bytes: u64,
    /// The free disk space that the merge needs temporarily, in bytes.
    pub temporary_bytes: u64,
}

impl CompactionEstimate {
    /// Estimates the space that a merge of all segments frees: superseded records, and the
    /// fingerprint tables of ended epochs. Costs as much as [`Overview::of`].
    ///
    /// ```
    /// use simkeep::inspect::CompactionEstimate;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// // There is one segment, and all of it is needed.
    /// assert_eq!(CompactionEstimate::of(&store.snapshot())?.reclaimable_bytes, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Overview::of`].
    pub fn of(snapshot: &Snapshot) -> Result<CompactionEstimate> {
        let overview = Overview::of(snapshot)?;
        let mut all = CompactionEstimate {
            segments: overview.segments.len(),
            unsealed_pages: overview.unsealed_pages,
            ..CompactionEstimate::default()
        };
        let (mut again, mut tables_of_ended) = (0.0, 0);
        for own in &overview.segments {
            all.segment_bytes += own.bytes;
            let segment = SegmentView::of(snapshot, own.id)?
                .or_bug("each segment number of a snapshot has a segment")?;
            let sections = segment.sections;
            let of_ended = sections.iter().filter(|section| {
                let info = section.epoch.and_then(|epoch| find_epoch(snapshot.epochs(), epoch));
                info.is_some_and(|info| info.ended)
            });
            let gone: u64 = of_ended.map(|section| section.bytes).sum();
            tables_of_ended += gone;
            // A superseded record loses its first visit. Its other visits stay.
            let records = own.pages as f64 * VISITS_OF_A_RECORD;
            let further = own.visits.saturating_sub(own.pages) as f64;
            let share = records / (records + further).max(1.0);
            again += own.superseded * share * own.bytes.saturating_sub(gone) as f64;
        }
        let is_merged = all.segments > 1 || overview.unsealed.is_some() || tables_of_ended > 0;
        if is_merged {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "estimated"
            )]
            let rounded = again.round() as u64;
            all.reclaimable_bytes = (rounded + tables_of_ended).min(all.segment_bytes);
            all.temporary_bytes = all.segment_bytes;
        }
        Ok(all)
    }
}
