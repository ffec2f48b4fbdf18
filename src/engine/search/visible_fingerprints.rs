//! Checks for the fingerprints of all components whether a page has them.

use super::columns::FingerprintColumns;
use super::many::HitPrefetcher;
use super::resolve::HitResolver;
use super::{Hit, SearchRequest};
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::segment::EpochTables;

/// The number of fingerprints to prefetch ahead.
const AHEAD: usize = 32;

/// The fingerprints of all components, with a check whether a page has a fingerprint.
pub(crate) struct VisibleFingerprints<'s> {
    snapshot: &'s Snapshot,
    pub(crate) wanted: SearchRequest<'s>,
    pub(crate) columns: FingerprintColumns<'s>,
    /// The tables of the only component, if the table's postings are enough for the check.
    alone: Option<&'s EpochTables>,
}

impl<'s> VisibleFingerprints<'s> {
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        wanted: SearchRequest<'s>,
    ) -> Result<VisibleFingerprints<'s>> {
        // One visible page per fingerprint is enough, and no result may be cut short.
        let wanted = SearchRequest { bounds: None, limit: 0, ..wanted };
        let columns = FingerprintColumns::new(&snapshot.view, wanted.epoch)?;
        // Writes after the snapshot do not belong to it, so an empty memtable stays irrelevant.
        let quiet = snapshot.view.memtables.iter().all(|memtable| memtable.is_untouched());
        let alone = match &*snapshot.view.segments {
            // With a single segment nothing supersedes its pages, so the bit in the posting is the
            // result.
            [only] if quiet && wanted.is_of_all_in_force() => only.tables(wanted.epoch),
            _ => None,
        };
        Ok(VisibleFingerprints { snapshot, wanted, columns, alone })
    }

    /// Returns for each of the given fingerprints, which come with their ordinals, whether a page
    /// has it. False if a component older than the component of the ordinal has the fingerprint, so
    /// that each fingerprint is reported once.
    pub(crate) fn are_visible(&self, fingerprints: &[(u32, u64)]) -> Result<Vec<bool>> {
        if let Some(tables) = self.alone {
            let mut ahead = fingerprints.iter();
            // Postings are read at random, so 32 postings are prefetched ahead of the posting in
            // use.
            ahead.by_ref().take(AHEAD).for_each(|(ordinal, _)| self.columns.prefetch(*ordinal));
            let is_in_force = |(ordinal, _): &(u32, u64)| {
                ahead.next().into_iter().for_each(|(next, _)| self.columns.prefetch(*next));
                tables.is_in_force(*ordinal)
            };
            return fingerprints.iter().map(is_in_force).collect();
        }
        let mut search =
            HitResolver::of_all(&self.snapshot.view, &self.wanted, self.snapshot.sequence);
        // Any component may have a visible page of a fingerprint, so all components that have the
        // fingerprint are read.
        let hits = self.columns.components_with(fingerprints, self.wanted.epoch)?;
        let in_order: Vec<Hit> = hits.iter().map(|(_, hit)| *hit).collect();
        let (mut ahead, mut taken) = (HitPrefetcher::new(&self.snapshot.view, &in_order), 0);
        let mut is_shown = vec![false; fingerprints.len()];
        for hits in hits.chunk_by(|a, b| a.0 == b.0) {
            if let [(place, _), ..] = hits {
                taken += hits.len();
                ahead.until(taken, &self.wanted)?;
                let any = search.any(hits.iter().map(|(_, hit)| hit))?;
                *is_shown.get_mut(*place).or_bug("each index is the index of a fingerprint")? = any;
            }
        }
        Ok(is_shown)
    }
}
