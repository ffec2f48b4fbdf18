//! Checks whether a directory contains an earlier state of a store.

use crate::catalog::{CatalogContents, PublishedState, SegmentRow};
use crate::page::EpochInfo;

/// The parts of a store's state that show whether another state derives from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreLineage<'a> {
    store: u64,
    url_seed: u64,
    /// The last operation.
    sequence: u64,
    /// The number of changes of the store's lists of files.
    changes: u64,
    /// An exclusive upper bound of the store's segment numbers.
    next_segment: u64,
    segments: &'a [SegmentRow],
    epochs: &'a [EpochInfo],
}

impl<'a> From<&'a CatalogContents> for StoreLineage<'a> {
    fn from(contents: &'a CatalogContents) -> StoreLineage<'a> {
        let CatalogContents { settings, segments, epochs, .. } = contents;
        StoreLineage {
            store: settings.store,
            url_seed: settings.url_seed,
            sequence: contents.marked().sequence,
            changes: settings.changes,
            next_segment: settings.next_segment,
            segments,
            epochs,
        }
    }
}

impl<'a> From<&'a PublishedState> for StoreLineage<'a> {
    fn from(published: &'a PublishedState) -> StoreLineage<'a> {
        let ids = published.segments.iter().map(|row| row.id.saturating_add(1));
        StoreLineage {
            store: published.store,
            url_seed: published.url_seed,
            sequence: published.last_sequence(),
            changes: published.changes,
            next_segment: ids.max().unwrap_or(0),
            segments: &published.segments,
            epochs: &published.epochs,
        }
    }
}

impl StoreLineage<'_> {
    /// Whether both states belong to one store, or to copies of one store.
    pub(crate) fn is_of_one_store(&self, other: &StoreLineage<'_>) -> bool {
        (self.store, self.url_seed) == (other.store, other.url_seed)
    }

    /// The reason why this state is not an earlier state of a store in the state `of`; `None` if it
    /// may be one.
    ///
    /// Diverged copies of a store are recognized by segments of equal number and different content,
    /// unless merges have hidden them.
    pub(crate) fn why_not_earlier(&self, of: &StoreLineage<'_>) -> Option<String> {
        if !self.is_of_one_store(of) {
            return Some("it belongs to another store".to_owned());
        }
        if self.sequence > of.sequence {
            let (has, ends) = (self.sequence, of.sequence);
            return Some(format!(
                "its last operation is {has}, but the last operation of the store is {ends}"
            ));
        }
        if self.changes > of.changes || self.next_segment > of.next_segment {
            return Some("it is newer than the store".to_owned());
        }
        if let Some(row) = self.segments.iter().find(|row| of.has_other(row)) {
            return Some(format!("its segment {} differs from the store's", row.id));
        }
        if self.changes == of.changes && self.segments != of.segments {
            return Some(
                "its segments differ from the segments that the store had at that time".to_owned(),
            );
        }
        if let Some(row) = self.segments.iter().find(|row| !of.covers(row)) {
            let (first, last) = (row.first_sequence, row.last_sequence);
            return Some(format!(
                "its segment with the operations {first} to {last} is not part of any segment of \
                 the store"
            ));
        }
        let mut epochs = self.epochs.iter().zip(of.epochs);
        let is_prefix = self.epochs.len() <= of.epochs.len()
            && epochs.all(|(own, other)| own.name == other.name);
        (!is_prefix).then(|| "its epochs differ from the store's".to_owned())
    }

    /// Whether this state lists a different segment of the same number.
    fn has_other(&self, row: &SegmentRow) -> bool {
        self.segments.iter().any(|listed| listed.id == row.id && listed != row)
    }

    /// Whether a segment of this state has all operations of the segment `row`: merges combine
    /// operations, and never split them.
    fn covers(&self, row: &SegmentRow) -> bool {
        self.segments.iter().any(|listed| {
            listed.first_sequence <= row.first_sequence && row.last_sequence <= listed.last_sequence
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::Bands;
    use crate::page::{Epoch, Role};

    fn row(id: u64, first_sequence: u64, last_sequence: u64) -> SegmentRow {
        let checksum = u32::try_from(id * 7 + last_sequence).unwrap();
        SegmentRow { id, first_sequence, last_sequence, bytes: 4096, checksum }
    }

    fn state(changes: u64, segments: &[SegmentRow]) -> StoreLineage<'_> {
        let sequence = segments.last().map_or(0, |row| row.last_sequence);
        let next_segment = segments.iter().map(|row| row.id + 1).max().unwrap_or(1);
        StoreLineage {
            store: 3,
            url_seed: 4,
            sequence,
            changes,
            next_segment,
            segments,
            epochs: &[],
        }
    }

    #[test]
    fn earlier_state_is_recognized_by_kept_or_merged_segments() {
        let earlier = [row(1, 1, 10), row(2, 11, 20)];
        let earlier = state(2, &earlier);
        for later in [
            &[row(1, 1, 10), row(2, 11, 20)][..],
            &[row(1, 1, 10), row(2, 11, 20), row(3, 21, 22)],
            &[row(3, 1, 20)],
            &[row(1, 1, 10), row(4, 11, 31)],
        ] {
            let changes = if later == earlier.segments { 2 } else { 5 };
            let later = state(changes, later);
            assert_eq!(earlier.why_not_earlier(&later), None, "{later:?}");
        }
    }

    #[test]
    fn a_diverged_state_is_detected_by_common_numbers() {
        let there = [row(1, 1, 10), row(5, 11, 20)];
        let there = state(6, &there);
        for (changes, store, why) in [
            (
                9,
                &[row(1, 1, 10), row(6, 11, 19)][..],
                "operation is 20, but the last operation of the store is 19",
            ),
            (5, &[row(1, 1, 10), row(6, 11, 30)], "newer than the store"),
            (9, &[row(1, 1, 10), row(2, 11, 30)], "newer than the store"),
            (9, &[row(1, 1, 10), row(5, 11, 30)], "its segment 5 differs"),
            (
                6,
                &[row(6, 1, 20)],
                "its segments differ from the segments that the store had at that time",
            ),
            (9, &[row(1, 1, 10), row(6, 11, 15), row(7, 16, 30)], "the operations 11 to 20"),
        ] {
            let found = there.why_not_earlier(&state(changes, store)).unwrap();
            assert!(found.contains(why), "{found}");
        }
        let other = StoreLineage { store: 8, ..there };
        assert_eq!(there.why_not_earlier(&other).unwrap(), "it belongs to another store");
    }

    #[test]
    fn earlier_state_is_recognized_by_its_epochs() {
        let epoch = |number: usize, name: &str| EpochInfo {
            epoch: Epoch::new(number, 0).unwrap(),
            name: name.to_owned(),
            begun: 0,
            role: Role::Both,
            bands: Bands::EXTERNAL,
            ended: false,
        };
        let segments = [row(1, 1, 10)];
        let of = |changes| state(changes, &segments);
        let [one, two] = [epoch(0, "one"), epoch(1, "two")];
        let ended = EpochInfo { ended: true, ..one.clone() };
        let there = [one.clone(), two.clone()];
        let there = StoreLineage { epochs: &there, ..of(2) };
        let began = [ended, two.clone(), epoch(2, "three")];
        let later = StoreLineage { epochs: &began, ..of(2) };
        assert_eq!(there.why_not_earlier(&later), None);
        for other in [&[one.clone()][..], &[one, epoch(1, "other")], &[two]] {
            let why = there.why_not_earlier(&StoreLineage { epochs: other, ..of(2) }).unwrap();
            assert_eq!(why, "its epochs differ from the store's", "{other:?}");
        }
    }
}
