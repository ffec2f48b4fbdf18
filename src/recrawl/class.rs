//! A small set of priors. Results computed for one prior serve many pages.

use std::f64::consts::LN_2;

use super::prior::Prior;
use super::real::{exp, ln};

/// The number of medians in an octave.
const MEDIAN_STEPS: u16 = 4;

/// The logarithm of the first median: 2⁻²⁰ a day.
const OCTAVES_MIN: f64 = -20.0;

/// The number of medians: up to the highest rate of a belief.
const MEDIANS: u16 = 126;

/// The number of widths in an octave.
const WIDTH_STEPS: f64 = 6.0;

/// The minimum width.
const WIDTH_MIN: f64 = 0.5;

/// The number of widths: up to 3.6.
const WIDTHS: u16 = 18;

/// The share of the default in a learned prior, because a page may differ from all pages that the
/// prior was learned from. Without this share, a store whose pages hardly change would assume that
/// a news page hardly changes, too.
const DOUBT: f64 = 0.1;

const _: () = assert!(1 + MEDIANS * WIDTHS < 1 << 12, "a class fits into a key with other fields");

/// A prior in two bytes: the default, or one of about two thousand log-normal priors. Each
/// log-normal prior is mixed with a share of the default prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PriorClass(u16);

impl PriorClass {
    /// Returns the log-normal prior nearest to a mean and a deviation of the logarithm.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the number of steps"
    )]
    pub(super) fn nearest(mean: f64, deviation: f64) -> PriorClass {
        let nearest =
            |steps: f64, count: u16| steps.round().clamp(0.0, f64::from(count - 1)) as u16;
        // The clamp maps means outside the rates of a belief to its first or last rate.
        let octaves = mean / LN_2 - OCTAVES_MIN;
        let median = nearest(octaves * f64::from(MEDIAN_STEPS), MEDIANS);
        let width = nearest(ln(deviation / WIDTH_MIN) / LN_2 * WIDTH_STEPS, WIDTHS);
        PriorClass(1 + median * WIDTHS + width)
    }

    /// Returns the number of the class, less than 4,096.
    pub(crate) fn number(self) -> u16 {
        self.0
    }

    /// Returns the prior.
    pub(crate) fn prior(self) -> Prior {
        // 0 is the default, so a class that was not learned needs no special case.
        let Some(number) = self.0.checked_sub(1) else { return Prior::default() };
        let (median, width) = (number / WIDTHS, number % WIDTHS);
        let octaves = f64::from(median) / f64::from(MEDIAN_STEPS) + OCTAVES_MIN;
        let width = WIDTH_MIN * exp(f64::from(width) / WIDTH_STEPS * LN_2);
        Prior::of_log_normal(octaves * LN_2, width).unless(DOUBT, &Prior::default())
    }
}
