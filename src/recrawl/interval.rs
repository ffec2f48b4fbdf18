//! An interval between visits, with its text form.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::recrawl::error::{RecrawlError, Result};

/// A time between two visits, in whole seconds: from one second to 4,000,000 days.
///
/// The text form of an interval is a number and a unit, `s`, `m`, `h`, `d` or `w`: `90s`, `15m`,
/// `2h`, `7d`, `4w`. `Display` uses the largest unit up to days that divides the interval.
///
/// ```
/// use simkeep::recrawl::Interval;
/// # fn main() -> simkeep::Result<()> {
/// let week: Interval = "1w".parse()?;
/// assert_eq!((week.seconds(), week.days()), (604_800, 7.0));
/// assert_eq!(week.to_string(), "7d");
/// assert_eq!(Interval::from_seconds(5_400)?.to_string(), "90m");
/// assert!("1.5h".parse::<Interval>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval(NonZeroU64);

/// The units in seconds, largest first; weeks come last, since `Display` uses days.
const UNITS: [(&str, u64); 5] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("w", 604_800)];

/// The seconds of 4,000,000 days.
const SECONDS_MAX: u64 = 4_000_000 * 86_400;

impl Interval {
    /// Creates an interval of whole seconds.
    ///
    /// ```
    /// use simkeep::recrawl::Interval;
    /// # fn main() -> simkeep::Result<()> {
    /// assert_eq!(Interval::from_seconds(3_600)?, "1h".parse()?);
    /// assert!(Interval::from_seconds(0).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] for zero, or for more than 4,000,000 days.
    pub fn from_seconds(seconds: u64) -> Result<Interval> {
        NonZeroU64::new(seconds)
            .filter(|seconds| seconds.get() <= SECONDS_MAX)
            .map(Interval)
            .ok_or(RecrawlError::Value { name: "seconds", takes: "from 1 to 345,600,000,000" })
    }

    /// An interval of 365 days.
    pub(crate) const YEAR: Interval = Interval(NonZeroU64::new(365 * 86_400).expect("not zero"));

    /// Creates an interval, clamped to the valid range.
    pub(crate) fn saturating(seconds: u64) -> Interval {
        let seconds = seconds.min(SECONDS_MAX);
        Interval(NonZeroU64::new(seconds).unwrap_or(NonZeroU64::MIN))
    }

    /// Returns the length in seconds.
    pub fn seconds(self) -> u64 {
        self.0.get()
    }

    /// Returns the length in days.
    pub fn days(self) -> f64 {
        self.seconds() as f64 / 86_400.0
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, unit): &&(&str, u64)| self.seconds().is_multiple_of(*unit);
        let (name, unit) = UNITS.iter().find(whole).unwrap_or(&("s", 1));
        write!(f, "{}{name}", self.seconds() / unit)
    }
}

impl FromStr for Interval {
    type Err = RecrawlError;

    /// Parses a number in digits and a unit.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Invalid`], with a description of the text form.
    fn from_str(text: &str) -> Result<Interval> {
        read(text).ok_or_else(|| {
            RecrawlError::Invalid(format!(
                "{text:?} is not an interval; write a whole number above 0 with its unit (s, m, h, \
                 d or w), such as 90m or 7d, at most 4000000d"
            ))
        })
    }
}

fn read(text: &str) -> Option<Interval> {
    let (_, unit) = UNITS.iter().find(|(name, _)| text.ends_with(name))?;
    let number = text.get(..text.len() - 1)?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = number.parse::<u64>().ok().filter(|_| digits)?.checked_mul(*unit)?;
    Interval::from_seconds(seconds).ok()
}
