//! The schedule: a row of 16 bytes for each page, in order of hash. The row determines when the
//! page is due.
//!
//! A row describes the page as of the segment's end. So only the newest row of a page counts, and a
//! merge copies the newest row.

use std::ops::Range;

use super::file::Segment;
use crate::error::Result;
use crate::layout::{Cursor, PackedRow, ROW_BYTES, SectionKind, SectionTag, le_u64};
use crate::page::{Changes, PageHead, Seen, Weight, surt};
use crate::recrawl::{ComparisonCode, of_step, step_of};
use crate::time::Time;

const SCHEDULE: SectionTag = SectionTag::of(SectionKind::Schedule);

/// All visits of the page are in this record.
const FIRST: u8 = 1;
/// The page has visits.
const KNOWN: u8 = 2;
/// The last visit failed.
const FAILING: u8 = 4;
/// The page was gone at the last report of its state.
const GONE: u8 = 8;

/// All flags with their names in the format.
pub(super) const NAMES: &[(u8, &str)] =
    &[(FIRST, "first"), (KNOWN, "known"), (FAILING, "failing"), (GONE, "gone")];

/// The resolution of the failing time: steps in an octave, as a power of two.
const FAILING_STEPS: u32 = 10;

/// The greatest finite weight, as packed.
#[expect(clippy::cast_possible_truncation, reason = "16 bits are left")]
const WEIGHT_MAX: u16 = (f32::MAX.to_bits() >> 15) as u16;

/// The index of the byte of flags.
const FLAGS: usize = 5;

/// Joins the rows of one page for a record with the entries of both records. The newest row counts.
pub(super) fn join(newest: &mut PackedRow, older: &PackedRow) {
    // The joined record has the visits of both records. If the older record had the first visit of
    // the page, so has the joined record.
    newest[FLAGS] |= older[FLAGS] & FIRST;
}

/// A row of the schedule. The default is a page about which nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScheduleRow {
    /// Whether the page is known, because it has visits.
    pub(crate) known: bool,
    /// Whether all visits of the page are in this record, so that older rows do not count.
    pub(crate) first: bool,
    /// Whether the page was gone at the last report of its state.
    pub(crate) gone: bool,
    /// The seconds from the last successful visit, or from the first visit, to the last visit, in
    /// logarithmic steps. `None` unless the last visit failed.
    failing: Option<u16>,
    /// The seconds from `Time::MIN` to the last visit.
    last: u64,
    pub(crate) code: ComparisonCode,
    /// The weight as the upper 16 bits of its `f32`, without the sign.
    weight: u16,
    /// The slot of the host.
    pub(crate) host: u16,
}

/// Whether the page of a row is known, and whether the row's record has all visits of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowFlags {
    pub(crate) known: bool,
    pub(crate) first: bool,
}

impl RowFlags {
    #[inline]
    pub(crate) fn unpack(packed: &PackedRow) -> RowFlags {
        let flags = packed[FLAGS];
        RowFlags { known: flags & KNOWN != 0, first: flags & FIRST != 0 }
    }
}

/// Returns the whole seconds from [`Time::MIN`] to a time; 0 for an earlier time.
pub(crate) fn seconds(time: Time) -> u64 {
    u64::try_from(time.as_ms().saturating_sub(Time::MIN.as_ms())).unwrap_or(0) / 1000
}

/// Returns the slot of the host of a URL: 16 bits of the host's hash.
pub(crate) fn host_slot(url: &str, seed: u64) -> u16 {
    let mut host = Vec::with_capacity(64);
    surt::host(url, &mut host);
    slot(&host, seed)
}

/// Returns the slot of the host of the URL with this SURT key.
pub(crate) fn host_slot_of(key: &[u8], seed: u64) -> u16 {
    slot(surt::host_of(key), seed)
}

fn slot(host: &[u8], seed: u64) -> u16 {
    (xxhash_rust::xxh3::xxh3_64_with_seed(host, seed) >> 48) as u16
}

/// Returns the upper bits of a weight without its sign, rounded. The result is positive and finite.
fn packed_weight(weight: Weight) -> u16 {
    // The added half step rounds to the nearest value. A carry into the exponent is correct: the
    // result is the next power of two.
    let rounded = (weight.to_bits() + (1 << 14)) >> 15;
    // 0 is not a valid weight, and a number above the maximum would be infinity.
    u16::try_from(rounded).unwrap_or(u16::MAX).clamp(1, WEIGHT_MAX)
}

impl ScheduleRow {
    /// Returns the row of a page with this head and these changes. `own_visits` is the number of
    /// the page's visits in the record, and `host` is the slot of its host.
    pub(crate) fn new(
        head: Option<&PageHead>,
        changes: &Changes,
        own_visits: usize,
        host: u16,
    ) -> ScheduleRow {
        let Some(head) = head else { return ScheduleRow::default() };
        let failing = (head.last.seen == Seen::Failed).then(|| {
            let since = head.last_successful.map_or(head.first, |settled| settled.time);
            let seconds = head.last.time.as_ms().saturating_sub(since.as_ms()) / 1000;
            // The time is at most the time from the earliest possible visit to the latest.
            u16::try_from(step_of(seconds.unsigned_abs(), FAILING_STEPS)).unwrap_or(u16::MAX)
        });
        ScheduleRow {
            known: true,
            first: head.visits == own_visits as u64,
            gone: head.gone(),
            failing,
            last: seconds(head.last.time),
            code: ComparisonCode::of(&changes.summary()),
            weight: packed_weight(head.properties.weight()),
            host,
        }
    }

    /// Returns the row of an unvisited page of weight 1.
    pub(crate) fn of_new(host: u16) -> ScheduleRow {
        ScheduleRow { weight: packed_weight(Weight::ONE), host, ..ScheduleRow::default() }
    }

    /// Returns the row with other changes.
    pub(crate) fn with(self, changes: &Changes) -> ScheduleRow {
        if self.known {
            ScheduleRow { code: ComparisonCode::of(&changes.summary()), ..self }
        } else {
            self
        }
    }

    /// Returns the time of the last visit as [`seconds`].
    pub(super) fn seconds(&self) -> u64 {
        self.last
    }

    /// Returns the seconds from the last visit to `now`, both as [`seconds`]; 0 if the last visit
    /// is in the future.
    #[inline]
    pub(crate) fn seconds_since(&self, now: u64) -> u64 {
        now.saturating_sub(self.last)
    }

    /// If the last visit failed, returns the seconds from the last successful visit, or from the
    /// first visit, to the last visit.
    #[inline]
    pub(crate) fn failing_seconds(&self) -> Option<u64> {
        self.failing.map(|step| of_step(step.into(), FAILING_STEPS))
    }

    /// Returns the weight of the page.
    #[inline]
    pub(crate) fn weight(&self) -> f64 {
        f32::from_bits(u32::from(self.weight) << 15).into()
    }

    pub(crate) fn pack(&self) -> PackedRow {
        let mut flags = 0;
        for (bit, set) in [
            (FIRST, self.first),
            (KNOWN, self.known),
            (FAILING, self.failing.is_some()),
            (GONE, self.gone),
        ] {
            flags |= if set { bit } else { 0 };
        }
        // Times from year 1 to 9999 are fewer than 2^39 seconds, so the bits above 40 are free.
        let first = self.last | u64::from(flags) << 40 | u64::from(self.host) << 48;
        let third = u32::from(self.weight) | u32::from(self.failing.unwrap_or(0)) << 16;
        let mut packed = PackedRow::default();
        packed[..8].copy_from_slice(&le_u64(first));
        packed[8..].copy_from_slice(&le_u64(u64::from(self.code.bits()) | u64::from(third) << 32));
        packed
    }

    /// Unpacks a row; `None` if the bytes are invalid.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "parts of numbers, each as wide as it is")]
    pub(crate) fn unpack(packed: &PackedRow) -> Option<ScheduleRow> {
        let mut cursor = Cursor::new(packed);
        let (first, code, third) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let flags = (first >> 40) as u8;
        if flags & KNOWN == 0 {
            // A page without visits has one packed form: all zeros. So `pack` returns the bytes
            // that were read.
            return (first | u64::from(code) | u64::from(third) == 0)
                .then_some(ScheduleRow::default());
        }
        let [weight, failing] = [third as u16, (third >> 16) as u16];
        let row = ScheduleRow {
            known: true,
            first: flags & FIRST != 0,
            gone: flags & GONE != 0,
            failing: (flags & FAILING != 0).then_some(failing),
            last: first & ((1 << 40) - 1),
            code: ComparisonCode::from_bits(code)?,
            weight,
            host: (first >> 48) as u16,
        };
        // For the same reason, bits that `pack` would not set are damage.
        let weighs = (1..=WEIGHT_MAX).contains(&weight);
        let fails = row.failing.is_some() || failing == 0;
        (flags < 16 && weighs && fails).then_some(row)
    }
}

impl Segment {
    /// Returns the packed row at a place in the order of hashes.
    pub(super) fn packed_row(&self, place: u64) -> Result<PackedRow> {
        self.section(SCHEDULE).array(place.saturating_mul(ROW_BYTES))
    }

    /// Returns the consecutive packed rows at a range of places.
    pub(super) fn packed_rows(&self, places: Range<u64>) -> Result<&[PackedRow]> {
        let bytes = places.start.saturating_mul(ROW_BYTES)..places.end.saturating_mul(ROW_BYTES);
        Ok(self.section(SCHEDULE).get(bytes)?.as_chunks().0)
    }

    /// Returns the row of a page by its hash and ordinal; `None` if no page with this hash has the
    /// ordinal.
    pub(crate) fn row_of(&self, hash: u64, ordinal: u32) -> Result<Option<ScheduleRow>> {
        // Several pages may have this hash. The ordinal identifies the row.
        for place in self.places(hash)? {
            if self.section(SectionTag::of(SectionKind::HashPages)).u32_at(place)? == ordinal {
                return self.row(place, &self.packed_row(place)?).map(Some);
            }
        }
        Ok(None)
    }

    /// Unpacks the row at a place.
    #[inline]
    pub(super) fn row(&self, place: u64, packed: &PackedRow) -> Result<ScheduleRow> {
        ScheduleRow::unpack(packed).ok_or_else(|| {
            let what = format!("row {place} is invalid");
            self.damaged(SCHEDULE, place.saturating_mul(ROW_BYTES), &what)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::{Entry, Property, PropertyEntry, Visit};
    use crate::time::Time;

    fn head_of(visits: &[Visit]) -> Option<PageHead> {
        let mut head = None;
        visits.iter().for_each(|visit| PageHead::absorb_into(&mut head, &Entry::Visit(*visit)));
        head
    }

    fn visits() -> impl Strategy<Value = Vec<Visit>> {
        let seen = prop_oneof![
            Just(Seen::Gone),
            Just(Seen::Failed),
            Just(Seen::NotModified { digest: None }),
        ];
        let time = prop_oneof![8 => Time::MIN.as_ms()..=Time::MAX.as_ms(), 1 => Just(Time::MIN.as_ms()), 1 => Just(Time::MAX.as_ms())];
        let visit = (time, seen).prop_map(|(time, seen)| Visit {
            time: Time::from_ms_unchecked(time),
            seen,
            status: None,
            modified: None,
            bytes: None,
            conditional: false,
        });
        prop::collection::vec(visit, 0..5)
    }

    #[test]
    fn extreme_weights_are_packed() {
        let ends = [1e-300, 1.0, 1e300].map(|end| packed_weight(Weight::from(end)));
        assert_eq!(ends, [1, 0x7f00, 0xfeff]);
    }

    proptest! {
        #[test]
        fn row_round_trips_and_matches_its_head(
            visits in visits(),
            own in 0usize..5,
            host: u16,
            now in Time::MIN.as_ms()..=Time::MAX.as_ms(),
        ) {
            let head = head_of(&visits);
            let row = ScheduleRow::new(head.as_ref(), &Changes::default(), own, host);
            prop_assert_eq!(ScheduleRow::unpack(&row.pack()), Some(row));
            let Some(head) = head else {
                prop_assert_eq!(row.pack(), [0; 16]);
                return Ok(());
            };
            prop_assert_eq!((row.known, row.host, row.weight()), (true, host, 1.0));
            prop_assert_eq!(row.first, own == visits.len());
            prop_assert_eq!(row.gone, head.gone());
            let since = now.div_euclid(1000) - head.last.time.as_ms().div_euclid(1000);
            prop_assert_eq!(row.seconds_since(seconds(Time::from_ms_unchecked(now))), u64::try_from(since).unwrap_or(0));
            let before = head.last_successful.map_or(head.first, |settled| settled.time);
            let failing = head.last.time.as_ms().abs_diff(before.as_ms()) / 1000;
            match row.failing_seconds() {
                Some(found) => prop_assert!(found.abs_diff(failing) <= failing / 2048),
                None => prop_assert!(head.last.seen != Seen::Failed),
            }
        }

        #[test]
        fn packed_weight_is_off_by_a_five_hundredth(weight in f64::from(f32::MIN_POSITIVE)..1e38) {
            let mut head = head_of(&[Visit::new(Time::from_ms_unchecked(0), Seen::Gone)]);
            let given = PropertyEntry { time: Time::from_ms_unchecked(0), property: Property::Weight(Weight::from(weight)) };
            PageHead::absorb_into(&mut head, &Entry::Property(given));
            let found = ScheduleRow::new(head.as_ref(), &Changes::default(), 1, 0).weight();
            prop_assert!((found - weight).abs() <= weight / 500.0, "{} is {}", weight, found);
        }

        #[test]
        fn any_bytes_are_a_row_or_none(packed: [u8; 16], flags in 0u8..20, plain: bool) {
            let mut packed = packed;
            if plain {
                packed[FLAGS] = flags;
                packed[8..12].fill(0);
            }
            if let Some(row) = ScheduleRow::unpack(&packed) {
                prop_assert_eq!(row.pack(), packed);
                prop_assert!(row.weight().is_finite() && (row.weight() > 0.0 || !row.known));
            }
        }
    }
}
