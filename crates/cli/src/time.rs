//! Parses times and durations from the command line, and formats them.

use std::time::Duration;

use jiff::civil::{self, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use simkeep::Time;
use simkeep::recrawl::Interval;

use crate::output::words::{count, many};

const TIME_MIN: i64 = Time::MIN.as_ms();
const TIME_MAX: i64 = Time::MAX.as_ms();

const MS_PER_DAY: i64 = 86_400_000;

/// The longest duration: 4,000,000 days.
const SPAN_MS_MAX: u64 = 4_000_000 * 86_400_000;

/// The date and time of day in UTC of a time in milliseconds since 1970.
fn civil(ms: i64) -> Option<DateTime> {
    civil::date(1970, 1, 1).at(0, 0, 0, 0).checked_add(SignedDuration::from_millis(ms)).ok()
}

fn date(time: DateTime) -> String {
    format!("{:04}-{:02}-{:02}", time.year(), time.month(), time.day())
}

/// The text for a time outside the calendar. No store contains such a time.
fn no_time(ms: i64) -> String {
    format!("{ms} ms")
}

/// Formats times for tables: to the minute, all in one zone.
pub(crate) struct TimeFormat {
    zone: TimeZone,
    name: &'static str,
}

impl TimeFormat {
    /// A clock in the zone of this machine, as TZ or the system sets it, or in UTC.
    pub(crate) fn new(is_local: bool) -> TimeFormat {
        match is_local {
            true => TimeFormat { zone: TimeZone::system(), name: "local" },
            false => TimeFormat { zone: TimeZone::UTC, name: "UTC" },
        }
    }

    /// The heading of a column of times, with the zone.
    pub(crate) fn heading(&self, what: &str) -> String {
        format!("{what} ({})", self.name)
    }

    /// Formats a time to the minute.
    pub(crate) fn show(&self, time: Time) -> String {
        let ms = time.as_ms();
        // The last timestamp of jiff is before the end of the last day. Its offset serves for later
        // times, too.
        let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
        let offset = i64::from(self.zone.to_offset(at).seconds()) * 1000;
        match civil(ms.saturating_add(offset)) {
            None => no_time(ms),
            Some(time) => format!("{} {:02}:{:02}", date(time), time.hour(), time.minute()),
        }
    }
}

/// Formats a time to the second, in UTC.
pub(crate) fn to_second(time: Time) -> String {
    let ms = time.as_ms();
    Time::from_ms_unchecked(ms.saturating_sub(ms.rem_euclid(1000))).to_string()
}

/// The date of a time, in UTC.
pub(crate) fn day(time: Time) -> String {
    time.to_string().split('T').next().unwrap_or_default().to_owned()
}

/// A time in 14 digits (`YYYYMMDDhhmmss`), in UTC.
pub(crate) fn digits(time: Time) -> String {
    time.to_string().chars().filter(char::is_ascii_digit).take(14).collect()
}

/// Formats a duration in seconds in a suitable unit.
pub(crate) fn span(seconds: u64) -> String {
    let (unit, name): (u64, _) = match seconds {
        0..120 => return many(seconds, "second", "seconds"),
        120..7200 => (60, "minutes"),
        7200..172_800 => (3600, "hours"),
        _ => (86_400, "days"),
    };
    let number = seconds as f64 / unit as f64;
    if number < 9.95 {
        // Round values are usually exact, so they are shown without a decimal.
        let number = format!("{number:.1}");
        format!("{} {name}", number.strip_suffix(".0").unwrap_or(&number))
    } else {
        format!("{} {name}", count((seconds + unit / 2) / unit))
    }
}

/// Parses a whole number and a unit, such as `90m`, `7d` or `3 days`, to milliseconds.
fn span_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = match unit.trim() {
        "ms" => 1,
        "s" | "second" | "seconds" => 1000,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => MS_PER_DAY,
        "w" | "week" | "weeks" => 7 * MS_PER_DAY,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// Parses a duration from an argument: a whole number and a unit, or 0.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let ms = if text.trim() == "0" { Some(0) } else { span_ms(text) };
    let ms = ms.and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms <= SPAN_MS_MAX);
    ms.map(Duration::from_millis).ok_or_else(|| {
        "write a whole number and a unit (ms, s, m, h, d, w), such as 90m or 7d".to_owned()
    })
}

/// Parses a duration of at least one second; fractions of a second are dropped.
pub(crate) fn interval(text: &str) -> Result<Interval, String> {
    let interval = Interval::from_seconds(duration(text)?.as_secs());
    interval.map_err(|_| "write a duration from 1s to 4000000d".to_owned())
}

/// Parses a time from an argument: a date or a number of seconds, in the formats of
/// [`simkeep_formats::time`], or a time relative to now.
pub(crate) fn parse(text: &str) -> Result<Time, &'static str> {
    let time = simkeep_formats::time(text).or_else(|| relative_to(Time::now().as_ms(), text));
    time.map(Time::from_ms_unchecked)
        .ok_or("write 2024-05-01T12:00:00Z, 2024-05-01, '2024-05-01 12:00', 3d (three days ago) or 1714564800")
}

/// Parses a time relative to `now` in milliseconds: `now`, the first moment of `today` or
/// `yesterday` in UTC, or a duration before `now`, with or without `ago`. `None` if the text is
/// none of these, or the time is out of range.
fn relative_to(now: i64, text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let today = now.saturating_sub(now.rem_euclid(MS_PER_DAY));
    match text.as_str() {
        "now" => return Some(now),
        "today" => return Some(today),
        "yesterday" => return Some(today.saturating_sub(MS_PER_DAY)),
        _ => {}
    }
    let time = now.checked_sub(span_ms(text.strip_suffix("ago").unwrap_or(&text))?)?;
    (TIME_MIN..=TIME_MAX).contains(&time).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_shown_to_the_second() {
        let shown = [-1, 999].map(|ms| to_second(Time::from_ms_unchecked(ms)));
        assert_eq!(shown, ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"]);
    }

    #[test]
    fn time_is_formatted_as_day_and_as_digits() {
        let time = Time::from_ms_unchecked(1_704_877_323_999);
        assert_eq!((day(time), digits(time)), ("2024-01-10".into(), "20240110090203".into()));
        assert_eq!(digits(Time::MIN), "00010101000000");
    }

    #[test]
    fn spans_are_shown_in_a_suitable_unit() {
        let seconds = [0, 1, 119, 150, 7199, 86_400, 362_880, 15_768_000, 4_000_000 * 86_400];
        let expected = [
            "0 seconds",
            "1 second",
            "119 seconds",
            "2.5 minutes",
            "120 minutes",
            "24 hours",
            "4.2 days",
            "183 days",
            "4,000,000 days",
        ];
        assert_eq!(seconds.map(span), expected);
    }

    #[test]
    fn table_times_are_shown_to_the_minute() {
        let utc = TimeFormat::new(false);
        assert_eq!(utc.heading("first"), "first (UTC)");
        let shown =
            [0, -1, 59_999, TIME_MIN, TIME_MAX].map(|ms| utc.show(Time::from_ms_unchecked(ms)));
        let expected = [
            "1970-01-01 00:00",
            "1969-12-31 23:59",
            "1970-01-01 00:00",
            "0001-01-01 00:00",
            "9999-12-31 23:59",
        ];
        assert_eq!(shown, expected);
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let local = TimeFormat { zone, name: "local" };
        assert_eq!(local.show(Time::from_ms_unchecked(-1)), "1970-01-01 01:59");
        assert_eq!(local.show(Time::MAX), "253402300799999 ms");
        assert_eq!(local.show(Time::MIN), "0001-01-01 02:00");
    }

    #[test]
    fn relative_times_are_read() {
        let noon = simkeep_formats::time("2024-05-03T12:00:00.5Z").unwrap();
        let read = |text| relative_to(noon, text).map(|ms| Time::from_ms_unchecked(ms).to_string());
        for (text, time) in [
            ("now", "2024-05-03T12:00:00.500Z"),
            ("Today", "2024-05-03T00:00:00Z"),
            (" yesterday ", "2024-05-02T00:00:00Z"),
            ("3d ago", "2024-04-30T12:00:00.500Z"),
            ("3d", "2024-04-30T12:00:00.500Z"),
            ("3 days ago", "2024-04-30T12:00:00.500Z"),
            ("90m ago", "2024-05-03T10:30:00.500Z"),
            ("1 hour ago", "2024-05-03T11:00:00.500Z"),
            ("2w ago", "2024-04-19T12:00:00.500Z"),
            ("0s ago", "2024-05-03T12:00:00.500Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(time), "{text}");
        }
        for text in [
            "",
            "ago",
            "d ago",
            "3 ago",
            "-3d ago",
            "3.5d ago",
            "3 months ago",
            "3d  é ago",
            "9223372036854775807s ago",
            "999999w ago",
            "tomorrow",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_relative_time_panics(now in any::<i64>(), text in "[0-9]{0,20} ?\\PC{0,3}( ?ago)?") {
            relative_to(now, &text);
        }

        #[test]
        fn shown_times_are_read_back(ms in TIME_MIN..=TIME_MAX) {
            let shown = Time::from_ms_unchecked(ms).to_string();
            prop_assert_eq!(simkeep_formats::time(&shown), Some(ms));
        }
    }
}
