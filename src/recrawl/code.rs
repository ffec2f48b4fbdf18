//! The comparisons of a page, summarized in four bytes.

use super::check::DAYS_MAX;
use super::comparison::{Change, Comparison};
use super::likelihood::Likelihood;

/// The number of steps in an octave, as a power of two: eight.
const STEPS: u32 = 3;

/// The largest fraction: fifteenths.
const SHARES: u64 = 15;

/// The weight of a return to an earlier version, compared with a change.
const RETURN: f64 = 0.5;

/// The milliseconds of a second.
const SECOND: u64 = 1000;

/// A summary of the comparisons of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ComparisonSummary {
    /// The number of comparisons that found a change.
    pub(crate) changes: u64,
    /// The number of changes for which the date of the last change is known.
    pub(crate) dated: u64,
    /// The number of undated changes that are returns to an earlier version.
    pub(crate) returned: u64,
    /// The mean time between visits with an undated change or a return, as a [`mean_step`]; 0
    /// without such visits.
    pub(crate) mean_step: u64,
    /// The time without a change, in milliseconds: the sum of intervals between equal versions and
    /// of times since dated changes.
    pub(crate) quiet_ms: u64,
}

/// Returns the step of the geometric mean of intervals. Each item is a number of intervals with the
/// sum of their lengths in milliseconds. Steps are eighths of an octave of seconds. The result is 0
/// without intervals, otherwise at least the step of a second.
///
/// A page with a low rate λ changes in an interval I with a probability of about λI. So the
/// likelihood depends on the product of the intervals, which their geometric mean determines.
pub(crate) fn mean_step(intervals: impl Iterator<Item = (u64, u64)>) -> u64 {
    let (mut count, mut steps) = (0, 0);
    for (of, sum_ms) in intervals.filter(|(of, _)| *of > 0) {
        count += of;
        steps += of * step_of(seconds(sum_ms / of).max(1), STEPS);
    }
    // Steps are logarithms, so their mean is the step of the geometric mean. The result is rounded
    // to the nearest step.
    (2 * steps + count).checked_div(2 * count).unwrap_or(0)
}

/// The evidence of a page's comparisons in 32 bits. The belief about the page is computed from this
/// code.
///
/// The fields, from the lowest bit, are: six bits for the number of changes; four bits for the
/// share of dated changes, in fifteenths; four bits for the share of returns, in fifteenths; nine
/// bits for the mean time between visits with an undated change; and nine bits for the time without
/// a change. The number of changes is in steps of an eighth of an octave, and so are the times, in
/// seconds. These steps are far finer than the accuracy of so little evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ComparisonCode(u32);

impl ComparisonCode {
    #[expect(clippy::cast_possible_truncation, reason = "32 bits are put together")]
    pub(crate) fn of(of: &ComparisonSummary) -> ComparisonCode {
        // The step is at most 48, which fits into 6 bits. Counts are halved at 128 comparisons, so
        // the limit is never reached.
        let changes = of.changes.min(255);
        let dated = of.dated.min(changes);
        let returned = of.returned.min(changes - dated);
        let share = |part: u64| (part * SHARES * 2 + changes).checked_div(changes * 2).unwrap_or(0);
        let code = step_of(changes, STEPS)
            | share(dated) << 6
            | share(returned) << 10
            | of.mean_step << 14
            | step_of(seconds(of.quiet_ms), STEPS) << 23;
        ComparisonCode(code as u32)
    }

    /// Converts 32 bits to a code; `None` if the bits are not valid.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Option<ComparisonCode> {
        let code = ComparisonCode(bits);
        let (changes, mean) = (code.part(0, 6), code.part(14, 9));
        let possible = match (changes, mean) {
            (0, _) => code.part(6, 17) == 0,
            // An undated change has an interval. So without a mean interval all changes have dates.
            (_, 0) => {
                let ComparisonSummary { changes, dated, .. } = code.summary();
                dated == changes
            }
            _ => true,
        };
        possible.then_some(code)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    fn part(self, from: u32, bits: u32) -> u64 {
        u64::from(self.0) >> from & ((1 << bits) - 1)
    }

    /// Returns the summary of the comparisons, rounded to the steps of the code.
    pub(crate) fn summary(self) -> ComparisonSummary {
        let changes = of_step(self.part(0, 6), STEPS);
        let of_share = |share: u64| (share * changes * 2 + SHARES) / (SHARES * 2);
        let (dated, returned) = (of_share(self.part(6, 4)), of_share(self.part(10, 4)));
        ComparisonSummary {
            changes,
            dated,
            returned: returned.min(changes.saturating_sub(dated)),
            mean_step: self.part(14, 9),
            quiet_ms: of_step(self.part(23, 9), STEPS).saturating_mul(SECOND),
        }
    }

    /// Returns the likelihood of each rate.
    pub(crate) fn likelihood(self) -> Likelihood {
        let ComparisonSummary { changes, dated, returned, mean_step, quiet_ms } = self.summary();
        let mut all = Likelihood::flat();
        let mut add = |ms: u64, change, times| {
            // `Comparison::new` rejects a time of 0, which is no evidence.
            let days = (ms as f64 / 86_400_000.0).min(DAYS_MAX);
            if let Ok(comparison) = Comparison::new(days, change) {
                all.multiply(comparison, times);
            }
        };
        add(quiet_ms, Change::None, 1.0);
        // The quiet time after dated changes is in `quiet_ms` already. So each dated change adds
        // only the factor λ.
        add(SECOND, Change::DaysAgo(0.0), dated as f64);
        let undated = changes - dated;
        if undated > 0 {
            let mean = of_step(mean_step, STEPS).saturating_mul(SECOND);
            add(mean, Change::Undated, (undated - returned) as f64 + RETURN * returned as f64);
        }
        all
    }
}

/// Converts milliseconds to seconds, rounded.
fn seconds(ms: u64) -> u64 {
    ms.saturating_add(SECOND / 2) / SECOND
}

/// Returns the number of the step nearest to `value`, with 2^`bits` steps per octave. Below
/// 2^(`bits` + 1) each number has its own step.
pub(crate) fn step_of(value: u64, bits: u32) -> u64 {
    let Some(shift) = value.checked_ilog2().and_then(|top| top.checked_sub(bits + 1)) else {
        return value;
    };
    // The added half step makes the shift round to the nearest step. The sum may reach the next
    // octave, so the shift is computed again.
    let value = value.saturating_add(1 << shift);
    let shift = value.ilog2() - bits;
    (u64::from(shift) << bits) + (value >> shift)
}

/// Returns the value in the middle of a step of [`step_of`].
pub(crate) fn of_step(step: u64, bits: u32) -> u64 {
    let Some(shift) = (step >> bits).checked_sub(1) else { return step };
    ((step & ((1 << bits) - 1)) | 1 << bits) << shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether two numbers differ by at most half a step and half a second.
    fn near(a: u64, b: u64) -> bool {
        a.abs_diff(b) <= b / 16 + SECOND / 2
    }

    fn summaries() -> impl Strategy<Value = ComparisonSummary> {
        // The maximum is the time from the earliest possible visit to the latest.
        let time = || (0u64..315_537_897_600_000, 0u32..48).prop_map(|(ms, shift)| ms >> shift);
        (0u64..=128, any::<u64>(), any::<u64>(), time(), time()).prop_map(
            |(changes, dated, returned, mean_ms, quiet_ms)| {
                let dated = dated % (changes + 1);
                let returned = returned % (changes - dated + 1);
                let mean_step = mean_step(std::iter::once((changes - dated, mean_ms)));
                ComparisonSummary { changes, dated, returned, mean_step, quiet_ms }
            },
        )
    }

    proptest! {
        #[test]
        fn code_keeps_the_evidence_within_its_steps(of in summaries()) {
            let code = ComparisonCode::of(&of);
            prop_assert_eq!(ComparisonCode::from_bits(code.bits()), Some(code));
            let said = code.summary();
            prop_assert!(said.changes.abs_diff(of.changes) <= of.changes / 16);
            let share = |part: u64, of: &ComparisonSummary| part as f64 / of.changes.max(1) as f64;
            let off = if of.changes < 15 { 0.0 } else { 1.0 / 30.0 + 1.0 / of.changes as f64 };
            prop_assert!((share(said.dated, &said) - share(of.dated, &of)).abs() <= off);
            prop_assert!((share(said.returned, &said) - share(of.returned, &of)).abs() <= off);
            prop_assert!(near(said.quiet_ms, of.quiet_ms));
            prop_assert_eq!(said.mean_step, of.mean_step);
        }

        #[test]
        fn recoding_keeps_the_changes(of in summaries()) {
            let code = ComparisonCode::of(&of).summary();
            prop_assert!(ComparisonCode::of(&code).summary().changes == code.changes);
        }

        #[test]
        fn any_bits_are_a_code_or_none(bits: u32) {
            if let Some(code) = ComparisonCode::from_bits(bits) {
                prop_assert_eq!(code.bits(), bits);
                let _ = code.likelihood();
            }
        }
    }

    #[test]
    fn no_comparison_gives_no_evidence() {
        let none = ComparisonCode::of(&ComparisonSummary::default());
        assert_eq!(none, ComparisonCode::default());
        assert_eq!(none.likelihood(), Likelihood::flat());
    }

    #[test]
    fn oversized_numbers_saturate() {
        let most = u64::MAX;
        let code = ComparisonCode::of(&ComparisonSummary {
            changes: most,
            dated: 0,
            returned: most,
            mean_step: mean_step([(1, most)].into_iter()),
            quiet_ms: most,
        });
        assert_eq!(ComparisonCode::from_bits(code.bits()), Some(code));
        let ComparisonSummary { changes, returned, quiet_ms, .. } = code.summary();
        assert_eq!((changes, returned), (256, 256));
        assert!(quiet_ms > most / 2);
        let _ = code.likelihood();
    }

    #[test]
    fn mean_of_intervals_is_geometric() {
        let mean = |all: &[(u64, u64)]| of_step(mean_step(all.iter().copied()), STEPS);
        let second = 1000;
        assert_eq!(mean(&[]), 0);
        assert_eq!(mean(&[(0, 0)]), 0);
        assert_eq!(mean(&[(3, 1)]), 1);
        assert_eq!(mean(&[(2, 128 * second)]), 64);
        assert_eq!(mean(&[(1, 64 * second), (1, 1024 * second)]), 256);
        assert_eq!(mean(&[(3, 3 * 64 * second), (1, 1024 * second)]), 128);
    }

    #[test]
    fn return_counts_as_half_a_change() {
        const DAY: u64 = 86_400_000;
        let of = |changes, returned| {
            ComparisonCode::of(&ComparisonSummary {
                changes,
                dated: 0,
                returned,
                mean_step: mean_step([(changes, changes * 8 * DAY)].into_iter()),
                quiet_ms: 0,
            })
        };
        assert_eq!(of(2, 2).likelihood(), of(1, 0).likelihood());
        assert_ne!(of(2, 1).likelihood(), of(2, 0).likelihood());
    }
}

#[cfg(test)]
mod steps_tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn coded_number_is_off_by_half_a_step(value in 0..1u64 << 60, shift in 0u32..60, bits in 1u32..12) {
            let value = value >> shift;
            let step = step_of(value, bits);
            let back = of_step(step, bits);
            prop_assert_eq!(step_of(back, bits), step);
            prop_assert!(back.abs_diff(value) <= value >> (bits + 1));
            prop_assert!(step_of(value + 1, bits) >= step);
        }
    }

    #[test]
    fn small_numbers_are_exact_and_large_ones_saturate() {
        for value in 0..16 {
            assert_eq!((step_of(value, 3), of_step(value, 3)), (value, value));
        }
        assert_eq!(
            [16, 17, 19, 20, 1000].map(|value| of_step(step_of(value, 3), 3)),
            [16, 18, 20, 20, 1024]
        );
        assert!(step_of(u64::MAX, 3) < 512);
    }
}
