//! The change counts of a page, read as in `format/segment.md`.

use std::collections::BTreeMap;

use simkeep::inspect::Trace;

use super::bytes::ByteCursor;
use super::catalog::CatalogRows;
use super::{dumps, expected, golden_store};

/// How a page changes, according to its visits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChangeCounts {
    /// Their number, and their time in milliseconds.
    pub(crate) unchanged: (u64, u64),
    /// Their number, the time of their intervals, and the time since the changes.
    pub(crate) dated: (u64, u64, u64),
    /// By length of the intervals: the numbers of changes and returns, and the sum of the intervals
    /// in milliseconds.
    pub(crate) lengths: [(u64, u64, u64); 8],
    /// The time when the page was last found changed, the distance in bits, and the last
    /// comparisons.
    pub(crate) last: Option<(i64, Option<u8>, u64)>,
}

impl ChangeCounts {
    pub(crate) fn read(packed: &[u8]) -> ChangeCounts {
        let mut bytes = ByteCursor(packed);
        let flags = bytes.u8();
        assert!(flags < 32, "an unknown flag of how a page changes");
        let has = |bit: u8| flags >> bit & 1 == 1;
        let mut changes = ChangeCounts::default();
        if has(0) {
            changes.unchanged = (bytes.u8().into(), bytes.varint());
        }
        if has(1) {
            changes.dated = (bytes.u8().into(), bytes.varint(), bytes.varint());
            assert!(changes.dated.2 < changes.dated.1, "a change before the interval it is in");
        }
        let lengths = if has(2) { bytes.u8() } else { 0 };
        assert_eq!(lengths > 0, has(2));
        for (length, counts) in changes.lengths.iter_mut().enumerate() {
            if lengths >> length & 1 == 0 {
                continue;
            }
            let changed = bytes.varint();
            let returned = if changed & 1 == 1 { bytes.u8() } else { 0 };
            *counts = (changed >> 1, returned.into(), bytes.varint() << (2 * length));
            let count = counts.0 + counts.1;
            let from = if length == 0 { 1 } else { 1 << (20 + 2 * length) };
            assert!(count > 0 && count * from <= counts.2, "too short for its length");
            assert!(length == 7 || counts.2 < count << (22 + 2 * length), "too long");
        }
        if has(3) {
            let time = bytes.signed();
            let distance = has(4).then(|| bytes.u8());
            changes.last = Some((time, distance, bytes.varint()));
        }
        bytes.end();
        assert!((1..128).contains(&changes.comparisons()));
        changes
    }

    pub(crate) fn comparisons(&self) -> u64 {
        self.unchanged.0 + self.changed() + self.returned()
    }

    pub(crate) fn changed(&self) -> u64 {
        self.dated.0 + self.lengths.iter().map(|of| of.0).sum::<u64>()
    }

    pub(crate) fn returned(&self) -> u64 {
        self.lengths.iter().map(|of| of.1).sum()
    }

    /// Returns these figures as the library reports them.
    pub(crate) fn reported(changes: &simkeep::Changes) -> (u64, u64, u64, u64, u64) {
        let numbers =
            [changes.comparisons(), changes.changes(), changes.returns(), changes.dated()];
        let [comparisons, changed, returned, dated] = numbers.map(u64::from);
        (comparisons, changed, returned, dated, changes.unchanged_ms())
    }

    pub(crate) fn figures(&self) -> (u64, u64, u64, u64, u64) {
        let (dated, unchanged_ms) = (self.dated.0, self.unchanged.1);
        (self.comparisons(), self.changed(), self.returned(), dated, unchanged_ms)
    }
}

/// The changes in the records of the golden segments, by segment and page number. The dump shows
/// where they are: in the bytes after the line with their length.
fn stored() -> BTreeMap<(u64, u32), ChangeCounts> {
    let mut found = BTreeMap::new();
    for segment in CatalogRows::read().segments.into_keys() {
        let mut page = 0;
        let mut lines = dumps::printed(segment).into_iter();
        while let Some(line) = lines.next() {
            if let Some(record) = line.meaning.strip_prefix("record of page ") {
                page = record.split_once(':').unwrap().0.replace(',', "").parse().unwrap();
            } else if line.meaning.ends_with(" of changes:") {
                let len = ByteCursor(&line.bytes.unwrap()).len();
                let mut packed = Vec::new();
                while packed.len() < len {
                    packed.extend(lines.next().unwrap().bytes.unwrap());
                }
                found.insert((segment, page), ChangeCounts::read(&packed));
            }
        }
    }
    found
}

#[test]
fn golden_pages_change_as_their_newest_records_say() {
    let snapshot = simkeep::Reader::open(golden_store()).unwrap().snapshot();
    let (stored, mut compared) = (stored(), 0);
    for (url, _) in expected().pages {
        let Trace { page, records, .. } = Trace::of(&snapshot, &url).unwrap().unwrap();
        let place = (records[0].segment, records[0].number);
        // If the journal has the page, the record is not the newest.
        let Some(changes) = place.0.and_then(|id| stored.get(&(id, place.1))) else { continue };
        assert_eq!(ChangeCounts::reported(&page.changes), changes.figures(), "{url}");
        let last = changes.last.map(|(time, bits, _)| (time, bits.map(u32::from)));
        let found = page.changes.last_change().map(|last| (last.time.as_ms(), last.distance));
        assert_eq!(found, last, "{url}");
        compared += 1;
    }
    assert!(compared > 2, "{compared} pages");
}
