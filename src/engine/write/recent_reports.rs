//! The recent reports of found URLs, so that a link on every page of a site is not written each time.

use crate::segment::FoundFacts;

/// The number of reports that are kept: 2 MiB. In a made-up crawl of 155,000 URLs, 65,536 reports left
/// 1.03 writes for each URL, and 16,384 left 1.10.
const REPORTS: usize = 1 << 16;

/// A direct-mapped cache of reports by the hash of their URL.
///
/// Two URLs with the same hash of 64 bits would be taken for one URL. In a store of a billion URLs, that
/// loses one URL in 37 such stores.
#[derive(Debug, Default)]
pub(crate) struct RecentReports {
    /// Empty until the first report.
    slots: Vec<Option<(u64, FoundFacts)>>,
}

impl RecentReports {
    /// Whether a report says nothing that recent reports of the URL did not say.
    pub(crate) fn has(&self, hash: u64, facts: FoundFacts) -> bool {
        let known = self.slots.get(slot(hash)).copied().flatten();
        known.is_some_and(|(of, known)| of == hash && known.join(facts) == known)
    }

    /// Adds a report.
    pub(crate) fn add(&mut self, hash: u64, facts: FoundFacts) {
        if self.slots.is_empty() {
            self.slots.resize(REPORTS, None);
        }
        if let Some(place) = self.slots.get_mut(slot(hash)) {
            let before = place.filter(|(of, _)| *of == hash).map_or(facts, |(_, facts)| facts);
            *place = Some((hash, before.join(facts)));
        }
    }

    /// Drops all reports. Must be called when something is forgotten: a later report counts again.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(None);
    }
}

fn slot(hash: u64) -> usize {
    // The high half, because with narrow hashes all bytes are equal and with wide ones any bits do.
    (hash >> 32) as usize & (REPORTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Weight;
    use crate::time::Time;

    #[test]
    fn report_is_known_until_it_says_more() {
        let facts = |seconds: i64, weight: f64| {
            FoundFacts::new(Time::from_ms_unchecked(seconds * 1000), Weight::from(weight))
        };
        let mut recent = RecentReports::default();
        assert!(!recent.has(1 << 40, facts(5, 1.0)));
        recent.add(1 << 40, facts(5, 1.0));
        let has =
            |recent: &RecentReports, seconds, weight| recent.has(1 << 40, facts(seconds, weight));
        assert!(has(&recent, 5, 1.0) && has(&recent, 9, 0.5));
        assert!(!has(&recent, 4, 1.0) && !has(&recent, 9, 2.0));
        recent.add(1 << 40, facts(9, 2.0));
        assert!(has(&recent, 5, 2.0) && !has(&recent, 4, 2.0));
        // Another URL in the same slot takes its place.
        assert!(!recent.has(1 << 40 | 1, facts(9, 1.0)));
        recent.add(1 << 40 | 1, facts(9, 1.0));
        assert!(!has(&recent, 9, 1.0));
        recent.clear();
        assert!(!recent.has(1 << 40 | 1, facts(9, 1.0)));
    }
}
