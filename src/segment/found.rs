//! A found URL in a segment: a row of 16 bytes, in order of hash. The URL has no record.
//!
//! A link is reported many times. The row of a URL joins the reports, those in older segments
//! included. So only the newest row of a URL counts.

use super::schedule::{FIRST, host_slot, packed_weight, seconds, unpacked_weight};
use super::urls::SegmentUrls;
use crate::error::Result;
use crate::layout::{Cursor, PackedRow, PutInteger, ROW_BYTES, SectionKind, le_u64, put_varint};
use crate::page::{UrlPattern, Weight, surt};
use crate::time::Time;

/// The greatest number of seconds in a row.
const SECONDS_MAX: u64 = (1 << 40) - 1;

/// What the reports of a URL say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundFacts {
    /// The seconds from [`Time::MIN`] to the earliest report.
    seconds: u64,
    /// The largest weight, as the upper 16 bits of its `f32`, without the sign.
    weight: u16,
}

impl FoundFacts {
    pub(crate) fn new(time: Time, weight: Weight) -> FoundFacts {
        FoundFacts { seconds: seconds(time), weight: packed_weight(weight) }
    }

    /// Returns the facts of two reports of a URL together.
    pub(crate) fn join(self, other: FoundFacts) -> FoundFacts {
        let seconds = self.seconds.min(other.seconds);
        FoundFacts { seconds, weight: self.weight.max(other.weight) }
    }

    /// Returns the seconds from [`Time::MIN`] to the earliest report.
    pub(super) fn seconds(self) -> u64 {
        self.seconds
    }

    /// Returns the time of the earliest report, in whole seconds.
    pub(crate) fn time(self) -> Time {
        let ms = i64::try_from(self.seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        Time::from_ms_unchecked(ms.saturating_add(Time::MIN.as_ms()))
    }

    /// Returns the largest weight, rounded.
    pub(crate) fn weight(self) -> f64 {
        unpacked_weight(self.weight)
    }

    /// Returns the largest weight, packed.
    pub(super) fn packed_weight(self) -> u16 {
        self.weight
    }

    /// Appends the facts.
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        put_varint(out, self.seconds);
        out.put_u16(self.weight);
    }

    /// Reads facts; `None` if the bytes are invalid.
    pub(crate) fn take(cursor: &mut Cursor<'_>) -> Option<FoundFacts> {
        let facts = FoundFacts { seconds: cursor.varint()?, weight: cursor.u16()? };
        facts.is_possible().then_some(facts)
    }

    fn is_possible(self) -> bool {
        // Any other bits would not be packed as they were read.
        let is_weight = packed_weight(Weight::from(self.weight())) == self.weight;
        self.seconds <= seconds(Time::MAX) && is_weight
    }
}

/// A row of a found URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundRow {
    pub(crate) facts: FoundFacts,
    /// Whether no older component has the URL as a found URL that still waits.
    pub(crate) first: bool,
    /// The slot of the host.
    pub(crate) host: u16,
    /// The hash of the host and the pattern of the URL.
    pub(crate) pattern: u32,
    /// The hash of the URL's more general pattern, on any host.
    pub(crate) similar: u16,
}

impl FoundRow {
    /// Returns the row of a URL in a store with seed `seed`.
    pub(crate) fn new(url: &str, facts: FoundFacts, first: bool, seed: u64) -> FoundRow {
        let pattern = UrlPattern::of(url);
        let mut key = Vec::with_capacity(128);
        surt::host(url, &mut key);
        key.push(surt::END);
        key.extend_from_slice(pattern.as_str().as_bytes());
        let hash = |bytes: &[u8]| xxhash_rust::xxh3::xxh3_64_with_seed(bytes, seed);
        FoundRow {
            facts,
            first,
            host: host_slot(url, seed),
            pattern: (hash(&key) >> 32) as u32,
            similar: (hash(pattern.similar().as_bytes()) >> 48) as u16,
        }
    }

    pub(crate) fn pack(&self) -> PackedRow {
        let first = self.facts.seconds
            | u64::from(if self.first { FIRST } else { 0 }) << 40
            | u64::from(self.host) << 48;
        let third = u64::from(self.facts.weight) | u64::from(self.similar) << 16;
        let mut packed = PackedRow::default();
        packed[..8].copy_from_slice(&le_u64(first));
        packed[8..].copy_from_slice(&le_u64(u64::from(self.pattern) | third << 32));
        packed
    }

    /// Unpacks a row; `None` if the bytes are invalid.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "parts of numbers, each as wide as it is")]
    pub(crate) fn unpack(packed: &PackedRow) -> Option<FoundRow> {
        let mut cursor = Cursor::new(packed);
        let (first, pattern, third) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let flags = (first >> 40) as u8;
        let facts = FoundFacts { seconds: first & SECONDS_MAX, weight: third as u16 };
        let row = FoundRow {
            facts,
            first: flags & FIRST != 0,
            host: (first >> 48) as u16,
            pattern,
            similar: (third >> 16) as u16,
        };
        (flags & !FIRST == 0 && facts.is_possible()).then_some(row)
    }
}

impl SegmentUrls<'_> {
    /// Returns the number and the row of a found URL.
    pub(crate) fn find_found(&self, hash: u64, url: &str) -> Result<Option<(u32, FoundRow)>> {
        if !self.may_contain(hash)? {
            return Ok(None);
        }
        for place in self.places(hash)? {
            let page = self.section(SectionKind::HashPages).u32_at(place)?;
            if self.has_url(page, url)? {
                let packed = self.packed_row(place)?;
                return self.found_row(place, &packed).map(|row| Some((page, row)));
            }
        }
        Ok(None)
    }

    /// Unpacks the row of a found URL at a place.
    #[inline]
    pub(super) fn found_row(&self, place: u64, packed: &PackedRow) -> Result<FoundRow> {
        FoundRow::unpack(packed).ok_or_else(|| {
            let what = format!("row {place} is invalid");
            self.damaged(SectionKind::Schedule, place.saturating_mul(ROW_BYTES), &what)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn found_row_round_trips(
            ms in Time::MIN.as_ms()..=Time::MAX.as_ms(),
            weight in 1e-40..1e39_f64,
            first: bool,
            host: u16,
            pattern: u32,
            similar: u16,
        ) {
            let time = Time::from_ms_unchecked(ms);
            let facts = FoundFacts::new(time, Weight::from(weight));
            let row = FoundRow { facts, first, host, pattern, similar };
            prop_assert_eq!(FoundRow::unpack(&row.pack()), Some(row));
            prop_assert_eq!(facts.time().as_ms(), ms - ms.rem_euclid(1000));
            let again = FoundFacts::new(facts.time(), Weight::from(facts.weight()));
            prop_assert_eq!(again, facts);
            let mut packed = Vec::new();
            facts.put(&mut packed);
            prop_assert_eq!(FoundFacts::take(&mut Cursor::new(&packed)), Some(facts));
        }

        #[test]
        fn any_bytes_are_a_found_row_or_none(packed: [u8; 16], flags in 0u8..3) {
            let mut packed = packed;
            packed[5] = flags;
            if let Some(row) = FoundRow::unpack(&packed) {
                prop_assert_eq!(row.pack(), packed);
            }
        }

        #[test]
        fn joined_reports_have_the_earliest_time_and_the_largest_weight(
            reports in prop::collection::vec((0i64..9, 1u8..9), 1..6),
        ) {
            let facts = |(seconds, weight): &(i64, u8)| {
                FoundFacts::new(Time::from_ms_unchecked(seconds * 1000), Weight::from(f64::from(*weight)))
            };
            let joined = reports.iter().map(facts).reduce(FoundFacts::join).unwrap();
            let least = reports.iter().map(|(seconds, _)| seconds * 1000).min();
            let most = reports.iter().map(|(_, weight)| f64::from(*weight)).fold(0.0, f64::max);
            prop_assert_eq!((Some(joined.time().as_ms()), joined.weight()), (least, most));
        }
    }
}
