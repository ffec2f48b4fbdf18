//! Checks whether a directory contains an earlier state of a store.

use crate::catalog::{CatalogContents, CommitMark, PublishedState, SegmentRow, WriterSession};
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
    /// The last writer sessions; `None` for published states, which have no journal and do not
    /// record sessions.
    sessions: Option<&'a [WriterSession]>,
}

impl<'a> From<&'a CatalogContents> for StoreLineage<'a> {
    fn from(contents: &'a CatalogContents) -> StoreLineage<'a> {
        let CatalogContents { settings, segments, epochs, sessions, .. } = contents;
        StoreLineage {
            store: settings.store,
            url_seed: settings.url_seed,
            sequence: contents.marked().sequence,
            changes: settings.changes,
            next_segment: settings.next_segment,
            segments,
            epochs,
            sessions: Some(sessions),
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
            sessions: None,
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
    /// Diverged copies of a store are recognized by their writer sessions. Published states have no
    /// sessions. For them, segments of equal number and different content show a divergence, unless
    /// merges have hidden it.
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
        if !is_prefix {
            return Some("its epochs differ from the store's".to_owned());
        }
        let (own, others) = self.sessions.zip(of.sessions)?;
        self.why_not_earlier_session(own, others)
    }

    /// The reason why a state with the sessions `own` is not an earlier state of a store with the
    /// sessions `of`.
    fn why_not_earlier_session(
        &self,
        own: &[WriterSession],
        of: &[WriterSession],
    ) -> Option<String> {
        let Some(last) = own.last() else {
            // Only a store without commits has no session.
            let is_new = (self.sequence, self.changes) == (0, 0);
            return (!is_new).then(|| "it has no writer sessions".to_owned());
        };
        if of.first().is_some_and(|oldest| last.number < oldest.number) {
            return Some(format!(
                "the store was opened for writing at least {} times since, so the two states can \
                 no longer be compared; a new backup needs an empty directory",
                of.len()
            ));
        }
        let diverged = if of.contains(last) {
            // This state may have commits of the common session that the store does not have: the
            // next session of the store began before these commits.
            let next = of.iter().find(|session| session.number == last.number + 1);
            next.filter(|next| self.is_after(next.before))
        } else {
            let is_recorded = |number| of.first().is_none_or(|oldest| number >= oldest.number);
            own.iter().find(|session| is_recorded(session.number) && !of.contains(session))
        };
        diverged.map(|WriterSession { before, .. }| {
            let first = before.sequence + 1;
            if self.sequence < first {
                return "its segments or epochs differ from the store's".to_owned();
            }
            format!("its operations from {first} on differ from the store's")
        })
    }

    /// Whether this state has more than the commits `before`.
    fn is_after(&self, before: CommitMark) -> bool {
        self.sequence > before.sequence || self.changes > before.changes
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
            sessions: None,
        }
    }

    /// Sessions numbered from `first`, each with a nonce, an operation before it for each earlier
    /// session, and no changes.
    fn sessions(first: u64, nonces: &[u64]) -> Vec<WriterSession> {
        let numbered = (first..).zip(nonces);
        let of = |(number, nonce): (u64, &u64)| {
            let before = CommitMark { sequence: number - 1, changes: 0 };
            WriterSession { number, before, nonce: *nonce }
        };
        numbered.map(of).collect()
    }

    /// Returns why a state is not an earlier state: the last operations and the sessions of both.
    fn compared(
        (sequence, own): (u64, &[WriterSession]),
        (last, of): (u64, &[WriterSession]),
    ) -> Option<String> {
        let state = |sequence, sessions| StoreLineage {
            sequence,
            sessions: Some(sessions),
            ..state(0, &[])
        };
        state(sequence, own).why_not_earlier(&state(last, of))
    }

    #[test]
    fn earlier_state_is_recognized_by_its_last_session() {
        let all = sessions(1, &[7, 8, 9]);
        for (sequence, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (5, 3)] {
            assert_eq!(compared((sequence, &all[..count]), (5, &all)), None, "{sequence}");
        }
        // The store has removed the rows of older sessions.
        assert_eq!(compared((2, &all[..2]), (5, &all[1..])), None);
        assert_eq!(compared((2, &all[1..2]), (5, &all)), None);
        assert_eq!(compared((0, &[]), (5, &all[1..])), None);
    }

    #[test]
    fn a_diverged_state_is_detected_by_its_sessions() {
        let differ =
            |first| Some(format!("its operations from {first} on differ from the store's"));
        let all = sessions(1, &[7, 8, 9]);
        // Both wrote in a session of their own, or in several.
        assert_eq!(compared((3, &sessions(1, &[7, 8, 6])), (5, &all)), differ(3));
        assert_eq!(compared((3, &sessions(1, &[7, 5, 6])), (5, &all)), differ(2));
        assert_eq!(compared((3, &sessions(2, &[5, 6])), (5, &all)), differ(2));
        assert_eq!(compared((3, &sessions(1, &[7, 5, 6])), (5, &all[2..])), differ(3));
        assert_eq!(compared((4, &sessions(1, &[7, 8, 9, 1])), (5, &all)), differ(4));
        assert_eq!(compared((1, &all[..1]), (5, &[])), differ(1));
        // The common session continued in only one of the two, or in both.
        assert_eq!(compared((3, &all[..2]), (5, &all)), differ(3));
        assert_eq!(compared((4, &sessions(1, &[7, 8, 6])), (5, &all[..2])), differ(3));
        // No operation differs, but a change does.
        let changed = StoreLineage { changes: 1, sessions: Some(&all[..2]), ..state(0, &[]) };
        let of = StoreLineage { sequence: 5, changes: 2, sessions: Some(&all), ..changed };
        let why = StoreLineage { sequence: 2, ..changed }.why_not_earlier(&of);
        assert_eq!(why.unwrap(), "its segments or epochs differ from the store's");
    }

    #[test]
    fn state_older_than_all_recorded_sessions_is_refused() {
        let all = sessions(1, &[7, 8, 9]);
        let why = compared((1, &all[..1]), (5, &all[1..])).unwrap();
        assert!(why.contains("opened for writing at least 2 times since"), "{why}");
        let why = compared((1, &[]), (5, &all)).unwrap();
        assert_eq!(why, "it has no writer sessions");
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
