//! The compaction policy: which segments are merged, and when. The [`Compactor`](super::Compactor)
//! does the work.
//!
//! Segments are in order of age. A sealed segment has tier 0; a merged segment has the tier above
//! its inputs. Neighbours of one tier are merged when their number reaches the fan-out. So each
//! operation is rewritten once per tier, and there are few segments.

use std::ops::Range;

use crate::layout::{PAGES_MAX, SegmentSummary};

/// The number of due segments, in multiples of the fan-out, from which a full memtable must wait.
const BACKLOG: usize = 4;

/// The properties of a segment that the policy uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompactionInput {
    pub(crate) tier: u64,
    /// The number of page records.
    pub(crate) pages: u64,
    pub(crate) visits: u64,
    /// The changes of the store's numbers of pages and visits.
    pub(crate) page_delta: i64,
    pub(crate) visit_delta: i64,
    pub(crate) fingerprints: u64,
    /// The number of fingerprints in ended epochs.
    pub(crate) ended: u64,
}

impl CompactionInput {
    pub(crate) fn new(numbers: &SegmentSummary, ended: u64) -> CompactionInput {
        let SegmentSummary { tier, pages, visits, delta, fingerprints, .. } = *numbers;
        let (page_delta, visit_delta) = (delta.pages, delta.visits);
        CompactionInput { tier, pages, visits, page_delta, visit_delta, fingerprints, ended }
    }
}

/// The neighbours that are due for a merge: the newest run of segments of one tier that is at least
/// as long as the fan-out, and that fits into one segment.
pub(crate) fn due(segments: &[CompactionInput], fanout: usize) -> Option<Range<usize>> {
    let mut end = segments.len();
    // The newest run comes first: it is usually of the lowest tier, so its merge costs the least.
    for run in segments.chunk_by(|a, b| a.tier == b.tier).rev() {
        let start = end - run.len();
        if run.len() >= fanout && run.iter().map(|s| s.pages).sum::<u64>() < PAGES_MAX {
            return Some(start..end);
        }
        end = start;
    }
    None
}

/// Whether enough merges are due that sealing more would only make searches slower.
pub(crate) fn is_behind(segments: &[CompactionInput], fanout: usize) -> bool {
    due(segments, fanout).is_some_and(|due| due.len() >= fanout.saturating_mul(BACKLOG))
}

/// Whether the segments would take much less space as one segment, and can become one. A merge
/// drops records of pages that newer segments also have, forgotten data, and the fingerprint tables
/// of ended epochs.
pub(crate) fn is_wasteful(segments: &[CompactionInput]) -> bool {
    let sum = |of: fn(&CompactionInput) -> u64| segments.iter().map(of).sum::<u64>();
    // Segments that remove more than they add are worth a merge.
    let left = |of: fn(&CompactionInput) -> i64| {
        u64::try_from(segments.iter().map(of).sum::<i64>()).unwrap_or(0)
    };
    // Promise C8: at rest a store takes at most 1.3 times the space that it would take after a full
    // merge. The comparison uses integers.
    let is_much = |all: u64, left: u64| all.saturating_mul(10) > left.saturating_mul(13);
    let (records, fingerprints) = (sum(|s| s.pages), sum(|s| s.fingerprints));
    let is_spread = segments.len() > 1
        && (is_much(records, left(|s| s.page_delta))
            || is_much(sum(|s| s.visits), left(|s| s.visit_delta)));
    let searched = fingerprints.saturating_sub(sum(|s| s.ended));
    (is_spread || is_much(fingerprints, searched)) && records < PAGES_MAX
}

/// The tier of a loaded segment with `visits` visits: the number of merges after which sealed
/// memtables would have become a segment of this size.
pub(crate) fn tier(visits: u64, memtable_observations: usize, fanout: usize) -> u64 {
    let memtables = visits / memtable_observations as u64;
    // Fewer visits than one memtable have the lowest tier, as one memtable has.
    memtables.max(1).ilog(fanout as u64).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_tiers(tiers: &[u64]) -> Vec<CompactionInput> {
        tiers
            .iter()
            .map(|&tier| CompactionInput { tier, pages: 10, ..CompactionInput::default() })
            .collect()
    }

    #[test]
    fn run_of_fan_out_length_is_due() {
        assert_eq!(due(&[], 2), None);
        assert_eq!(due(&of_tiers(&[0]), 2), None);
        assert_eq!(due(&of_tiers(&[0, 0]), 2), Some(0..2));
        assert_eq!(due(&of_tiers(&[1, 0, 0]), 3), None);
        assert_eq!(due(&of_tiers(&[1, 0, 0, 0]), 3), Some(1..4));
    }

    #[test]
    fn longer_run_is_due_as_a_whole() {
        assert_eq!(due(&of_tiers(&[1, 0, 0, 0, 0, 0]), 3), Some(1..6));
    }

    #[test]
    fn the_newest_run_comes_first() {
        assert_eq!(due(&of_tiers(&[1, 1, 0, 0]), 2), Some(2..4));
        assert_eq!(due(&of_tiers(&[1, 1, 0]), 2), Some(0..2));
    }

    #[test]
    fn separated_segments_of_one_tier_are_not_due() {
        assert_eq!(due(&of_tiers(&[0, 1, 0]), 2), None);
    }

    #[test]
    fn merge_beyond_the_page_limit_is_not_due() {
        let mut segments = of_tiers(&[1, 1, 0, 0]);
        segments[2].pages = PAGES_MAX;
        assert_eq!(due(&segments, 2), Some(0..2));
        segments[0].pages = PAGES_MAX - 10;
        assert_eq!(due(&segments, 2), None);
    }

    #[test]
    fn every_operation_is_written_once_per_tier() {
        // Memtables are sealed one after another, and merged whenever a merge is due.
        let (mut segments, mut written) = (Vec::new(), 0);
        for _ in 0..4096 {
            segments.push(CompactionInput { pages: 1, ..CompactionInput::default() });
            while let Some(range) = due(&segments, 8) {
                let tier = segments[range.start].tier + 1;
                let pages = segments[range.clone()].iter().map(|s| s.pages).sum();
                written += pages;
                segments
                    .splice(range, [CompactionInput { tier, pages, ..CompactionInput::default() }]);
            }
            assert!(segments.len() <= 4 * 7 + 1);
        }
        assert_eq!((segments.len(), written), (1, 4 * 4096));
    }

    #[test]
    fn writers_wait_for_a_backlog_of_several_fan_outs() {
        assert!(!is_behind(&of_tiers(&[0; 7]), 2));
        assert!(is_behind(&of_tiers(&[0; 8]), 2));
        assert!(!is_behind(&of_tiers(&[0; 8]), usize::MAX));
    }

    #[test]
    fn segments_that_repeat_others_are_wasteful() {
        let whole = CompactionInput {
            pages: 100,
            visits: 100,
            page_delta: 100,
            visit_delta: 100,
            fingerprints: 100,
            ..CompactionInput::default()
        };
        assert!(!is_wasteful(&[]));
        assert!(!is_wasteful(&[whole, whole]));
        // All pages were in earlier segments already.
        let again = CompactionInput { page_delta: 0, ..whole };
        assert!(is_wasteful(&[whole, again]));
        // More pages and visits were forgotten than the segment adds.
        let forgotten = CompactionInput { page_delta: -200, visit_delta: -200, ..whole };
        assert!(is_wasteful(&[whole, forgotten]));
        // A segment by itself is only wasteful because of its tables.
        assert!(!is_wasteful(&[again]));
        assert!(is_wasteful(&[CompactionInput { ended: 50, ..again }]));
        assert!(!is_wasteful(&[CompactionInput { ended: 50, pages: PAGES_MAX, ..again }]));
    }

    #[test]
    fn loaded_segment_gets_the_tier_of_equivalent_merges() {
        assert_eq!(
            [0, 99, 100, 799, 800, 6_400].map(|visits| tier(visits, 100, 8)),
            [0, 0, 0, 0, 1, 2]
        );
    }
}
