//! Decimal fractions that are equal on every machine.

use std::fmt;
use std::str::FromStr;

use super::fixed;

/// A share or a factor in thousandths.
///
/// ```
/// use simkeep::fingerprint::Ratio;
/// assert_eq!(Ratio::percent(1).to_string(), "0.01");
/// assert_eq!("1.5".parse(), Ok(Ratio::thousandths(1500)));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ratio(u32);

impl Ratio {
    /// Zero.
    pub const ZERO: Ratio = Ratio(0);
    /// One.
    pub const ONE: Ratio = Ratio(1000);

    /// Creates a share of `n` thousandths.
    pub const fn thousandths(n: u32) -> Ratio {
        Ratio(n)
    }

    /// Creates a share of `n` hundredths.
    ///
    /// ```
    /// use simkeep::fingerprint::Ratio;
    /// assert_eq!(Ratio::percent(25), Ratio::thousandths(250));
    /// ```
    pub const fn percent(n: u32) -> Ratio {
        Ratio(n.saturating_mul(10))
    }

    /// Returns this share of a number, rounded down.
    pub(super) fn of(self, whole: u64) -> u64 {
        let share = u128::from(whole) * u128::from(self.0) / 1000;
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Whether `part` is at least this share of `whole`.
    pub(super) fn is_reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 1000 >= u128::from(self.0) * u128::from(whole)
    }

    /// Returns the share in units of 2⁻¹⁶.
    pub(super) fn fixed(self) -> u64 {
        self.of(fixed::ONE)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.write_str(decimal.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The error for an invalid share.
///
/// ```
/// use simkeep::fingerprint::Ratio;
/// assert!("half".parse::<Ratio>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RatioError;

impl fmt::Display for RatioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a share is a number such as 0.25 or 1.5, at most 4294967.295, with at most three \
             decimals",
        )
    }
}

impl std::error::Error for RatioError {}

impl FromStr for Ratio {
    type Err = RatioError;

    /// Parses a decimal number with at most three decimals.
    fn from_str(text: &str) -> Result<Ratio, RatioError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
            return Err(RatioError);
        }
        let thousands =
            whole.parse::<u32>().ok().and_then(|n| n.checked_mul(1000)).ok_or(RatioError)?;
        let rest: u32 = format!("{decimals:0<3}").parse().map_err(|_| RatioError)?;
        thousands.checked_add(rest).map(Ratio).ok_or(RatioError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invalid_ratio_is_refused() {
        for text in ["", ".5", "1.2345", "-1", "+1", "1.+2", "4294968", "1e3", "1.2.3"] {
            assert_eq!(text.parse::<Ratio>(), Err(RatioError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn ratios_round_trip_through_text(n: u32) {
            prop_assert_eq!(Ratio(n).to_string().parse(), Ok(Ratio(n)));
        }
    }
}
