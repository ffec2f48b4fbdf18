//! Times for people.

use std::fmt;

/// A time in milliseconds since 1970, shown in UTC as RFC 3339 has it, with its milliseconds if it has
/// any.
pub(crate) struct Utc(pub(crate) i64);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, millisecond) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
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

/// The year, month and day so many days after the first of January 1970, in the Gregorian calendar: the
/// days are counted from the first of March of the year 0, so that a leap day is the last of its year
/// (H. Hinnant, *chrono-compatible low-level date algorithms*).
fn date(days: i64) -> (i64, i64, i64) {
    /// Days in 400 years.
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
    use super::super::{TIME_MAX, TIME_MIN};
    use super::*;

    #[test]
    fn times_are_shown_in_utc_with_milliseconds_if_there_are_any() {
        let shown = [0, -1, TIME_MIN, TIME_MAX, 951_782_400_000].map(|ms| Utc(ms).to_string());
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
    fn each_day_follows_the_one_before() {
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
}
