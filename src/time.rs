//! Points in time.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, in whole milliseconds since 1970, UTC. The default is the start of 1970.
///
/// Times come from the clock ([`Time::now`]), from a [`SystemTime`], from a `jiff::Timestamp` with
/// the feature `jiff`, or from a number of [milliseconds](Time::from_ms). A function that takes a
/// time takes all of these. A time converts into a [`SystemTime`].
///
/// ```
/// use std::time::{Duration, SystemTime, UNIX_EPOCH};
/// use simkeep::Time;
///
/// let time = Time::from_ms(1_700_000_000_000)?;
/// assert_eq!(time.to_string(), "2023-11-14T22:13:20Z");
/// assert_eq!(time, Time::from(UNIX_EPOCH + Duration::from_secs(1_700_000_000)));
/// assert!(time < Time::from(SystemTime::now()));
/// assert_eq!((time + Duration::from_secs(60)).as_ms(), 1_700_000_060_000);
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
// The milliseconds, counted from 2^63 before 1970: in the same order, and never 0. So an optional time
// takes 8 bytes, and heads and entries, which have several, are that much smaller.
pub struct Time(NonZeroU64);

/// The reason why a number of milliseconds is not accepted as a time.
///
/// ```
/// use simkeep::{Time, TimeError};
/// let seconds = 1_700_000_000; // of an API that counts seconds
/// assert_eq!(Time::from_ms(seconds), Err(TimeError::LooksLikeSeconds(seconds)));
/// assert!(Time::from_ms(seconds * 1_000).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeError {
    /// The number lies outside the years 1 to 9999, in milliseconds since 1970.
    OutOfRange(i64),
    /// The number lies before 1990 in milliseconds since 1970, and after 1990 in seconds. Give
    /// milliseconds, or use [`Time::from_ms_unchecked`].
    LooksLikeSeconds(i64),
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeError::OutOfRange(ms) => write!(
                f,
                "the time {ms} is outside the years 1 to 9999; times are milliseconds since 1970"
            ),
            TimeError::LooksLikeSeconds(ms) => write!(
                f,
                "the time {ms} looks like seconds since 1970; times are milliseconds, so multiply it by 1000"
            ),
        }
    }
}

impl std::error::Error for TimeError {}

impl Default for Time {
    fn default() -> Time {
        Time::from_ms_unchecked(0)
    }
}

/// The start of 1970 in a [`Time`].
const EPOCH: u64 = 1 << 63;

/// The start of 1990, in seconds since 1970.
const START_OF_1990_S: i64 = 631_152_000;

impl Time {
    /// The earliest time that can be stored: the start of year 1.
    pub const MIN: Time = Time::from_ms_unchecked(-62_135_596_800_000);
    /// The latest time that can be stored: the end of year 9999.
    pub const MAX: Time = Time::from_ms_unchecked(253_402_300_799_999);

    /// Returns the time of the system's clock.
    ///
    /// ```
    /// use simkeep::{Observation, Time};
    /// let seen = Observation::gone("https://example.com/", Time::now());
    /// assert!(seen.visit.time <= Time::now());
    /// ```
    pub fn now() -> Time {
        SystemTime::now().into()
    }

    /// Returns a time from its milliseconds since 1970.
    ///
    /// A number that lies before 1990 as milliseconds and after 1990 as seconds is refused: such
    /// numbers nearly always are seconds. [`from_ms_unchecked`](Time::from_ms_unchecked) accepts
    /// them.
    ///
    /// # Errors
    ///
    /// [`TimeError::LooksLikeSeconds`], or [`TimeError::OutOfRange`] outside the years 1 to 9999.
    ///
    /// ```
    /// use simkeep::{Time, TimeError};
    /// assert!(Time::from_ms(1_700_000_000_000).is_ok());
    /// assert!(matches!(Time::from_ms(1_700_000_000), Err(TimeError::LooksLikeSeconds(_))));
    /// assert!(matches!(Time::from_ms(i64::MAX), Err(TimeError::OutOfRange(i64::MAX))));
    /// ```
    pub fn from_ms(ms: i64) -> Result<Time, TimeError> {
        let time = Time::from_ms_unchecked(ms);
        if (START_OF_1990_S..START_OF_1990_S * 1000).contains(&ms) {
            return Err(TimeError::LooksLikeSeconds(ms));
        }
        if !time.is_storable() {
            return Err(TimeError::OutOfRange(ms));
        }
        Ok(time)
    }

    /// Returns a time from its milliseconds since 1970, without checking the number.
    ///
    /// A time outside the years 1 to 9999 is refused when it is stored. `i64::MIN` becomes the next
    /// millisecond.
    ///
    /// ```
    /// use simkeep::Time;
    /// assert_eq!(Time::from_ms_unchecked(1_700_000_000).to_string(), "1970-01-20T16:13:20Z");
    /// ```
    pub const fn from_ms_unchecked(ms: i64) -> Time {
        match NonZeroU64::new(ms.cast_unsigned() ^ EPOCH) {
            Some(time) => Time(time),
            // The least number is the next one: both are some 290 million years too early.
            None => Time(NonZeroU64::MIN),
        }
    }

    /// Returns the milliseconds since 1970; negative before 1970.
    ///
    /// ```
    /// use simkeep::Time;
    /// assert_eq!(Time::from_ms(1_714_564_800_000)?.as_ms(), 1_714_564_800_000);
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    pub const fn as_ms(self) -> i64 {
        (self.0.get() ^ EPOCH).cast_signed()
    }

    /// Returns the duration from `earlier` to this time; zero if this time is not later.
    ///
    /// ```
    /// use std::time::Duration;
    /// use simkeep::Time;
    /// let (first, second) = (Time::from_ms_unchecked(1_000), Time::from_ms_unchecked(3_500));
    /// assert_eq!(second.saturating_duration_since(first), Duration::from_millis(2_500));
    /// assert_eq!(first.saturating_duration_since(second), Duration::ZERO);
    /// ```
    pub fn saturating_duration_since(self, earlier: Time) -> Duration {
        if self <= earlier {
            return Duration::ZERO;
        }
        Duration::from_millis(self.as_ms().abs_diff(earlier.as_ms()))
    }

    /// Formats the time as an HTTP date, rounded down to seconds, as in "Sun, 06 Nov 1994 08:49:37
    /// GMT" (RFC 9110, section 5.6.7).
    ///
    /// ```
    /// use simkeep::Time;
    /// let time = Time::from_ms_unchecked(784_111_777_999);
    /// assert_eq!(time.to_http_date(), "Sun, 06 Nov 1994 08:49:37 GMT");
    /// ```
    pub fn to_http_date(self) -> String {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        const WEEKDAYS: &str = "ThuFriSatSunMonTueWed";
        let (days, second) =
            (self.as_ms().div_euclid(86_400_000), self.as_ms().rem_euclid(86_400_000) / 1000);
        let (year, month, day) = date(days);
        let name = |names: &'static str, number: i64| {
            let start = usize::try_from(number * 3).unwrap_or(0);
            names.get(start..start + 3).unwrap_or_default()
        };
        // The first of January 1970 was a Thursday.
        let (weekday, month) = (name(WEEKDAYS, days.rem_euclid(7)), name(MONTHS, month - 1));
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }

    /// Whether the time lies in the years 1 to 9999, which a store can keep.
    pub(crate) fn is_storable(self) -> bool {
        (Time::MIN..=Time::MAX).contains(&self)
    }
}

/// The whole milliseconds of a duration; `i64::MAX` if there are more.
fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Add<Duration> for Time {
    type Output = Time;

    /// Returns the time that is later by `duration`. Fractions of a millisecond are dropped; a time
    /// that is too late saturates.
    fn add(self, duration: Duration) -> Time {
        Time::from_ms_unchecked(self.as_ms().saturating_add(whole_ms(duration)))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;

    /// Returns the time that is earlier by `duration`, and rounds the duration as [`Add`] does.
    fn sub(self, duration: Duration) -> Time {
        Time::from_ms_unchecked(self.as_ms().saturating_sub(whole_ms(duration)))
    }
}

impl From<SystemTime> for Time {
    /// Rounds down to whole milliseconds.
    fn from(time: SystemTime) -> Time {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Time::from_ms_unchecked(whole_ms(since)),
            Err(before) => {
                let before = before.duration();
                let part = i64::from(before.subsec_nanos() % 1_000_000 != 0);
                Time::from_ms_unchecked(whole_ms(before).saturating_add(part).saturating_neg())
            }
        }
    }
}

impl From<Time> for SystemTime {
    /// Converts a time for other crates, for example crates that format HTTP dates.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use simkeep::Time;
    /// let modified = Time::from_ms(1_700_000_000_000)?;
    /// let system: SystemTime = modified.into();
    /// assert_eq!(system.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_700_000_000);
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    fn from(time: Time) -> SystemTime {
        // On 64-bit Unix, a system time counts seconds in 64 bits, so no sum overflows.
        let distance = Duration::from_millis(time.as_ms().unsigned_abs());
        if time.as_ms() < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
    }
}

#[cfg(feature = "jiff")]
impl From<jiff::Timestamp> for Time {
    /// Rounds down to whole milliseconds.
    fn from(time: jiff::Timestamp) -> Time {
        Time::from_ms_unchecked(
            i64::try_from(time.as_nanosecond().div_euclid(1_000_000)).unwrap_or(i64::MAX),
        )
    }
}

#[cfg(feature = "jiff")]
impl TryFrom<Time> for jiff::Timestamp {
    type Error = jiff::Error;

    /// # Errors
    ///
    /// An error for a time that jiff does not support. jiff supports all times that a store keeps.
    fn try_from(time: Time) -> std::result::Result<jiff::Timestamp, jiff::Error> {
        jiff::Timestamp::from_millisecond(time.as_ms())
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Time {
    /// Writes the time in UTC by RFC 3339, with milliseconds unless they are 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millisecond) =
            (self.as_ms().div_euclid(86_400_000), self.as_ms().rem_euclid(86_400_000));
        let (year, month, day) = date(days);
        let second = millisecond / 1000;
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)?;
        match millisecond % 1000 {
            0 => f.write_str("Z"),
            rest => write!(f, ".{rest:03}Z"),
        }
    }
}

/// Returns the year, month and day of a day, counted from the first of January 1970, in the
/// Gregorian calendar. The calculation counts days from the first of March of the year 0, so that a
/// leap day is the last day of its year (H. Hinnant, *chrono-compatible low-level date
/// algorithms*).
fn date(days: i64) -> (i64, i64, i64) {
    /// The number of days in 400 years.
    const ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / (ERA - 1)) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + later, month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc_with_optional_milliseconds() {
        let shown = [0, -1, Time::MIN.as_ms(), Time::MAX.as_ms(), 951_782_400_000]
            .map(|ms| Time::from_ms_unchecked(ms).to_string());
        let expected = [
            "1970-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999Z",
            "2000-02-29T00:00:00Z",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn each_day_follows_the_previous() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut expected = (1899, 12, 31);
        for days in -25_567..60_000 {
            let (year, month, day) = expected;
            let last = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, day == last) {
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
                (_, false) => (year, month, day + 1),
            };
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn times_in_seconds_are_refused() {
        let cases = [
            (START_OF_1990_S - 1, true),
            (START_OF_1990_S, false),
            (1_700_000_000, false),
            (START_OF_1990_S * 1000 - 1, false),
            (START_OF_1990_S * 1000, true),
            (0, true),
            (-1_700_000_000, true),
        ];
        for (ms, is_taken) in cases {
            let taken = Time::from_ms(ms);
            assert_eq!(taken.is_ok(), is_taken, "{ms}: {taken:?}");
        }
        assert!(matches!(Time::from_ms(Time::MIN.as_ms() - 1), Err(TimeError::OutOfRange(_))));
        assert!(matches!(Time::from_ms(Time::MAX.as_ms() + 1), Err(TimeError::OutOfRange(_))));
    }

    #[test]
    fn system_time_is_rounded_down() {
        let at = |ns: i64| {
            let distance = Duration::from_nanos(ns.unsigned_abs());
            Time::from(if ns < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }).as_ms()
        };
        let cases = [(0, 0), (1, 0), (1_999_999, 1), (-1, -1), (-1_000_000, -1), (-1_000_001, -2)];
        for (ns, ms) in cases {
            assert_eq!(at(ns), ms, "{ns} ns");
        }
    }

    #[test]
    fn system_time_round_trips_before_and_after_1970() {
        for ms in [0, 1, -1, -1_000, 1_700_000_000_123, Time::MIN.as_ms(), Time::MAX.as_ms()] {
            assert_eq!(Time::from(SystemTime::from(Time::from_ms_unchecked(ms))).as_ms(), ms);
        }
        assert_eq!(
            SystemTime::from(Time::from_ms_unchecked(-1_500)),
            UNIX_EPOCH - Duration::from_millis(1_500)
        );
        assert_eq!(Time::from_ms_unchecked(i64::MIN).as_ms(), i64::MIN + 1);
        assert_eq!(size_of::<Option<Time>>(), 8);
        for ms in [i64::MIN, i64::MAX] {
            assert_eq!(SystemTime::from(Time::from_ms_unchecked(ms)) < UNIX_EPOCH, ms < 0);
        }
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn jiff_times_are_rounded_down_and_round_trip() {
        for (ns, ms) in [(0, 0), (1_999_999, 1), (-1, -1), (-1_000_001, -2)] {
            assert_eq!(Time::from(jiff::Timestamp::from_nanosecond(ns).unwrap()).as_ms(), ms);
        }
        for time in [Time::MIN, Time::MAX, Time::from_ms_unchecked(1_700_000_000_123)] {
            assert_eq!(Time::from(jiff::Timestamp::try_from(time).unwrap()), time);
        }
        assert!(jiff::Timestamp::try_from(Time::from_ms_unchecked(i64::MAX)).is_err());
    }
}
