//! Parses times in files to milliseconds since 1970.

use std::ops::RangeInclusive;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

const TIME_MIN: i64 = simkeep::Time::MIN.as_ms();
const TIME_MAX: i64 = simkeep::Time::MAX.as_ms();

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// 1990-01-01: the earliest plausible visit of a web page.
const WEB_BEGAN: i64 = 631_152_000_000;

const MS_PER_DAY: i64 = 86_400_000;

/// The years of dates that are written as one number, such as 20240501. As seconds since 1970, all
/// such numbers would denote times in August 1970.
const YEARS_OF_NUMBERS: RangeInclusive<i64> = 1900..=2100;

/// Parses a time in RFC 3339. As WARC 1.1 and sitemaps allow, seconds, time of day, day and month
/// may be missing. A space may replace the `T`; a time of day without a zone is in UTC. A date may
/// be a number, as in [`number`].
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(text) = with_zone(text) {
        return parse(&text);
    }
    if let Some(time) = rfc3339(text) {
        return Some(time);
    }
    // A zone may follow the minutes. A time without a zone has a different length.
    if let Some((minutes, zone)) = text.split_at_checked("0000-00-00T00:00".len())
        && (zone == "Z" || zone.starts_with(['+', '-']))
    {
        return rfc3339(&format!("{minutes}:00{zone}"));
    }
    let digits: String = match text.len() {
        8 => return text.parse().ok().and_then(date_number),
        4 | 7 | 10 => text.chars().filter(|c| *c != '-').collect(),
        _ => return compact(text),
    };
    let rest = "00000101000000".get(digits.len()..)?;
    let known = ["0000", "0000-00", "0000-00-00"].contains(&shape(text).as_str());
    known.then(|| compact(&(digits + rest)))?
}

/// Parses a time in strict RFC 3339. jiff accepts more: weeks, names of zones, hours alone.
fn rfc3339(text: &str) -> Option<i64> {
    let (date_time, rest) = text.split_at_checked("0000-00-00T00:00:00".len())?;
    if shape(date_time) != "0000-00-00T00:00:00" && shape(date_time) != "0000-00-00t00:00:00" {
        return None;
    }
    let (fraction, zone) = rest.split_at_checked(rest.find(['Z', 'z', '+', '-'])?)?;
    let nanoseconds = match fraction.strip_prefix('.') {
        None if fraction.is_empty() => 0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{:0<9.9}", digits).parse().ok()?
        }
        _ => return None,
    };
    let part = |from: usize, to: usize| date_time.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize| i8::try_from(part(from, from + 2)?).ok();
    let date = Date::new(part(0, 4)?, small(5)?, small(8)?).ok()?;
    let is_leap = small(17)? == 60;
    let second = if is_leap { 59 } else { small(17)? };
    let time = Time::new(small(11)?, small(14)?, second, nanoseconds).ok()?;
    let east = match (zone, shape(zone).as_str()) {
        ("Z" | "z", _) => 0,
        (_, "+00:00" | "-00:00") => {
            let part = |from: usize, below: i64| {
                zone.get(from..from + 2)?.parse::<i64>().ok().filter(|part| *part < below)
            };
            let minutes = part(1, 24)? * 60 + part(4, 60)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
        _ => return None,
    };
    let ms = checked(milliseconds(DateTime::from_parts(date, time)) - east * 60_000)?;
    if is_leap { leap_second_time(ms) } else { Some(ms) }
}

/// Returns the time of a leap second: the last millisecond of the second before it, since a leap
/// second has no number. `None` unless a month ends with the leap second in UTC.
fn leap_second_time(before: i64) -> Option<i64> {
    let last = before.div_euclid(1000) * 1000 + 999;
    let next = EPOCH.checked_add(SignedDuration::from_millis(last + 1)).ok()?;
    (next == next.date().first_of_month().to_datetime(Time::midnight())).then_some(last)
}

/// Replaces each digit of a text by 0.
fn shape(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

/// Adds a missing `T` and zone to a date and a time of day; `None` if nothing is missing.
fn with_zone(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked("0000-00-00".len())?;
    let of_day = rest.strip_prefix(['T', ' '])?;
    let has_zone = of_day.ends_with(['Z', 'z']) || of_day.contains(['+', '-']);
    let zone = if has_zone { "" } else { "Z" };
    (rest.starts_with(' ') || !has_zone).then(|| format!("{date}T{of_day}{zone}"))
}

/// Parses a time of 14 digits, in UTC.
pub(super) fn compact(text: &str) -> Option<i64> {
    if text.len() != 14 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let date = Date::new(number(0, 4)?, small(4)?, small(6)?).ok()?;
    let time = Time::new(small(8)?, small(10)?, small(12)?, 0).ok()?;
    checked(milliseconds(DateTime::from_parts(date, time)))
}

/// Parses a time of an ARC archive: 14 digits, in UTC. Old archives omit the seconds, or the time
/// of day.
pub(super) fn arc(text: &str) -> Option<i64> {
    match text.len() {
        8 | 12 => compact(&format!("{text:0<14}")),
        _ => compact(text),
    }
}

/// Parses the time of a capture with `read`. `field` is the name of the archive's field.
///
/// # Errors
///
/// Returns an error if the text is not a time, or if the time is before the beginning of the web. A
/// crawler writes 1970 if its clock was not set, and such a visit would remain the first visit of
/// its page forever.
pub(super) fn captured(
    field: &str,
    text: &str,
    read: impl Fn(&str) -> Option<i64>,
) -> Result<i64, String> {
    let shown = super::escape(text);
    let time = read(text).ok_or_else(|| format!("{field} is not a time: \"{shown}\""))?;
    if_web_era(time).ok_or_else(|| format!("{field} is \"{shown}\", before 1990"))
}

/// Returns the time if it is not before the beginning of the web.
pub(super) fn if_web_era(ms: i64) -> Option<i64> {
    (ms >= WEB_BEGAN).then_some(ms)
}

/// Whether a modification time is plausible for a response. The modification time must not be later
/// than the server's `Date`. If the `Date` is missing or more than a day ahead, the modification
/// time must not be later than the time of the visit (RFC 9110, section 8.8.2.1).
pub(super) fn is_modified_before(modified: i64, date: Option<i64>, visit: i64) -> bool {
    let date = date.filter(|date| *date <= visit.saturating_add(MS_PER_DAY));
    modified <= date.unwrap_or(visit)
}

/// Whether a modification time is plausible for the visit time in a line. A visit time may be only
/// a day, which means the first moment of the day.
pub(super) fn is_modified_by_day(modified: i64, visit: i64) -> bool {
    let is_day_alone = visit.rem_euclid(MS_PER_DAY) == 0;
    modified <= if is_day_alone { visit.saturating_add(MS_PER_DAY) } else { visit }
}

/// Parses a time of HTTP, in any of its three forms (RFC 9110, 5.6.7). Day, month, year and time of
/// day are recognized by their shape in any order, like cookie dates in browsers (RFC 6265, 5.1.1).
/// Two-digit years are 1970 to 2069. `None` if the text has other words than the name of a day and
/// the zone of HTTP, and for a time before 1990.
pub(super) fn http(text: &str) -> Option<i64> {
    http_date(text).and_then(if_web_era)
}

fn http_date(text: &str) -> Option<i64> {
    /// The maximum number of bytes of a text. All three forms are shorter.
    const BYTES_MAX: usize = 64;
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    if text.len() > BYTES_MAX {
        return None;
    }
    let (mut day, mut month, mut year, mut of_day) = (None, None, None, None);
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let start = lower.get(..3).unwrap_or_default();
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        let is_name = word.bytes().all(|b| b.is_ascii_alphabetic());
        match MONTHS.find(start).filter(|at| start.len() == 3 && at.is_multiple_of(3)) {
            Some(at) if is_name && month.is_none() => {
                month = i8::try_from(at / 3 + 1).ok();
            }
            _ if is_name && (DAYS.contains(&start) || ["gmt", "utc"].contains(&&*lower)) => {}
            _ if is_number && word.len() <= 2 && day.is_none() => day = word.parse::<i8>().ok(),
            _ if is_number && year.is_none() && [2, 4].contains(&word.len()) => {
                let number = word.parse::<i16>().ok()?;
                let century = if number < 70 { 2000 } else { 1900 };
                year = Some(if word.len() == 2 { century + number } else { number });
            }
            _ if of_day.is_none() => of_day = Some(time_of_day(word)?),
            _ => return None,
        }
    }
    let date = Date::new(year?, month?, day?).ok()?;
    checked(milliseconds(DateTime::from_parts(date, of_day?)))
}

/// Parses hours, minutes and seconds, two digits each.
fn time_of_day(text: &str) -> Option<Time> {
    let part = |from: usize| text.get(from..from + 2)?.parse::<i8>().ok();
    if shape(text) != "00:00:00" {
        return None;
    }
    Time::new(part(0)?, part(3)?, part(6)?, 0).ok()
}

/// Writes a time as RFC 3339 in UTC, with milliseconds if they are not zero.
pub(super) fn put(out: &mut Vec<u8>, ms: i64) {
    let Ok(time) = EPOCH.checked_add(SignedDuration::from_millis(ms)) else {
        // No store contains a time outside of this range.
        out.extend_from_slice(format!("{ms} ms").as_bytes());
        return;
    };
    let mut digits = |number: i16, digits: u32, end: u8| {
        let digit = |nth: u32| number.unsigned_abs() / 10_u16.pow(nth) % 10;
        let ascii = |digit: u16| b'0' + u8::try_from(digit).unwrap_or(0);
        out.extend((0..digits).rev().map(|nth| ascii(digit(nth))));
        out.push(end);
    };
    digits(time.year(), 4, b'-');
    digits(time.month().into(), 2, b'-');
    digits(time.day().into(), 2, b'T');
    digits(time.hour().into(), 2, b':');
    digits(time.minute().into(), 2, b':');
    match time.millisecond() {
        0 => digits(time.second().into(), 2, b'Z'),
        millisecond => {
            digits(time.second().into(), 2, b'.');
            digits(millisecond, 3, b'Z');
        }
    }
}

/// Converts an integer to a time: a date such as 20240501, in UTC, if its year is one of 1900 to
/// 2100, otherwise seconds since 1970.
pub(super) fn number(number: i64) -> Option<i64> {
    date_number(number).or_else(|| number.checked_mul(1000).and_then(checked))
}

/// Converts a decimal number to a time. An integer is converted by [`number`], since tools without
/// integers write 20240501.0.
pub(super) fn decimal(decimal: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and of eight digits")]
    let whole = (decimal.trunc() == decimal && decimal.abs() < 1e8).then_some(decimal as i64);
    whole.and_then(date_number).or_else(|| seconds(decimal))
}

/// Returns the first moment of the day that a number such as 20240501 denotes.
fn date_number(number: i64) -> Option<i64> {
    if !YEARS_OF_NUMBERS.contains(&number.div_euclid(10_000)) {
        return None;
    }
    compact(&format!("{number}000000"))
}

/// Converts seconds since 1970 with a fraction, rounded to milliseconds.
pub(super) fn seconds(seconds: f64) -> Option<i64> {
    let ms = (seconds * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "within the limits, whole and below 2^53")]
    (ms >= TIME_MIN as f64 && ms <= TIME_MAX as f64).then_some(ms as i64)
}

/// Returns the time if it can be stored.
pub(super) fn checked(ms: i64) -> Option<i64> {
    (TIME_MIN..=TIME_MAX).contains(&ms).then_some(ms)
}

/// Returns the milliseconds from 1970 to a time in UTC, for any year of jiff.
pub(super) fn milliseconds(time: DateTime) -> i64 {
    let since = time.duration_since(EPOCH);
    // Seconds and nanoseconds have the sign of the whole duration. A fraction of a millisecond is
    // rounded down, not towards 0.
    since.as_secs() * 1000 + i64::from(since.subsec_nanos()).div_euclid(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_forms_of_time_are_read() {
        assert_eq!(parse("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(parse("1970-01-01T01:00:00.0019+01:00"), Some(1));
        assert_eq!(parse("1969-12-31T23:59:59.999Z"), Some(-1));
        assert_eq!(parse("2017-03-06T04:03Z"), parse("2017-03-06T04:03:00Z"));
        assert_eq!(parse("2017-03-06T05:33+01:30"), parse("2017-03-06T04:03:00Z"));
        assert_eq!(parse("2017-03-06"), parse("2017-03-06T00:00:00Z"));
        assert_eq!(parse("2017-03"), parse("2017-03-01T00:00:00Z"));
        assert_eq!(parse("2017"), parse("2017-01-01T00:00:00Z"));
        assert_eq!(parse("2017-03-06 04:03"), parse("2017-03-06T04:03:00Z"));
        assert_eq!(parse("2017-03-06T04:03:48.5"), parse("2017-03-06T04:03:48.5Z"));
        assert_eq!(parse("2017-03-06 04:03:48+00:00"), parse("2017-03-06T04:03:48Z"));
        assert_eq!(parse("20170306040348"), parse("2017-03-06T04:03:48Z"));
        assert_eq!(parse("2016-12-31T23:59:60Z"), parse("2016-12-31T23:59:59.999Z"));
        assert_eq!(parse("2017-01-01T00:59:60+01:00"), parse("2016-12-31T23:59:59.999Z"));
        assert_eq!(parse("0001-01-01T00:00:00Z"), Some(TIME_MIN));
        assert_eq!(parse("9999-12-31T23:59:59.999Z"), Some(TIME_MAX));
        assert_eq!(seconds(1.0005), Some(1001));
        assert_eq!(seconds(-1.0), Some(-1000));
        assert_eq!(seconds(253_402_300_799.999), Some(TIME_MAX));
    }

    #[test]
    fn all_forms_of_http_dates_are_read() {
        let expected = parse("1994-11-06T08:49:37Z");
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "sun, 6 nov 1994 08:49:37 utc",
            "06 Nov 1994 08:49:37",
        ] {
            assert_eq!(http(text), expected, "{text}");
        }
        assert_eq!(http("Mon, 01 Jan 1990 00:00:00 GMT"), parse("1990-01-01"));
        assert_eq!(http("Monday, 01-Jan-69 00:00:00 GMT"), parse("2069-01-01"));
        assert_eq!(http("Fri, 31 Dec 9999 23:59:59 GMT"), Some(TIME_MAX - 999));
    }

    #[test]
    fn invalid_http_date_is_none() {
        for text in [
            "",
            "0",
            "-1",
            "now",
            "Sun, 06 Nov 1994",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT; 08:49:38",
            // Other zones, and invalid times.
            "Sun, 06 Nov 1994 08:49:37 EST",
            "Sun, 06 Nov 1994 08:49:37 +0100",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
            "784111777",
            // A time before the beginning of the web.
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Sunday, 31-Dec-89 23:59:59 GMT",
        ] {
            assert_eq!(http(text), None, "{text}");
        }
        assert_eq!(http(&"Sun ".repeat(100_000)), None);
    }

    #[test]
    fn eight_digits_are_read_as_a_date() {
        for (whole, date) in [
            (20_240_501, "2024-05-01"),
            (20_240_229, "2024-02-29"),
            (19_000_101, "1900-01-01"),
            (21_001_231, "2100-12-31"),
            (19_450_508, "1945-05-08"),
        ] {
            assert_eq!(number(whole), parse(date), "{whole}");
            assert_eq!(decimal(whole as f64), parse(date), "{whole}");
            assert_eq!(parse(&whole.to_string()), parse(date), "{whole}");
        }
        // These numbers are seconds: the day is invalid, the year is out of range, or the number
        // has a fraction, more or fewer digits, or a sign.
        for whole in [20_230_229, 20_241_301, 20_240_500, 18_991_231, 21_010_101, 12_345_678, 0] {
            assert_eq!(number(whole), Some(whole * 1000), "{whole}");
            assert_eq!(parse(&whole.to_string()), None, "{whole}");
        }
        assert_eq!(decimal(20_240_501.5), Some(20_240_501_500));
        assert_eq!(number(202_405_011), Some(202_405_011_000));
        assert_eq!(number(-20_240_501), Some(-20_240_501_000));
        assert_eq!(parse("+2024050"), None);
        assert_eq!(number(i64::MIN), None);
    }

    #[test]
    fn arc_dates_may_lack_a_time_of_day() {
        assert_eq!(arc("20000115"), parse("2000-01-15"));
        assert_eq!(arc("200001151230"), parse("2000-01-15T12:30Z"));
        assert_eq!(arc("20000115123059"), parse("2000-01-15T12:30:59Z"));
        for text in ["", "2000", "200001", "2000011512", "2000011512305", "20001301", "2000011x"] {
            assert_eq!(arc(text), None, "{text}");
        }
    }

    #[test]
    fn capture_before_1990_is_refused() {
        let read = |text| captured("the date", text, arc);
        assert_eq!(read("19900101"), Ok(WEB_BEGAN));
        assert_eq!(read("19891231"), Err("the date is \"19891231\", before 1990".to_owned()));
        assert_eq!(read("1990"), Err("the date is not a time: \"1990\"".to_owned()));
    }

    #[test]
    fn modification_after_the_response_is_dropped() {
        let [day, visit] = [MS_PER_DAY, WEB_BEGAN + 1000 * MS_PER_DAY];
        let before = |modified: i64, date: Option<i64>| {
            is_modified_before(visit + modified, date.map(|date| visit + date), visit)
        };
        assert!(before(0, None) && !before(1, None));
        // The `Date` is the time of the answer by the server's clock: an answer may be cached, and
        // a clock may be ahead.
        assert!(before(-day, Some(-day)) && !before(1 - day, Some(-day)));
        assert!(before(day, Some(day)) && !before(day + 1, Some(day)));
        // A `Date` that is so far ahead is ignored.
        assert!(before(0, Some(day + 1)) && !before(1, Some(day + 1)));
    }

    #[test]
    fn invalid_time_is_none() {
        for text in [
            "",
            "yesterday",
            "0000-01-01T00:00:00Z",
            "2017-13",
            "2017-02-30",
            "201404010000000000",
            "2017-03-06  04:03",
            "2017-03-06 4:03",
            "2017-03-06T",
            "2017-03-06 Z",
            "2017-03-06123:59:59Z",
            "2016-12-31T23:39:60Z",
            "2016-12-30T23:59:60Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(seconds(f64::NAN), None);
        assert_eq!(seconds(1e300), None);
        assert_eq!(seconds(253_402_300_800.0), None);
        assert_eq!(compact("20170229000000"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9TZ:+.-]{0,30}|\\PC{0,20}") {
            parse(&text);
            compact(&text);
            http(&text);
        }

        #[test]
        fn no_date_like_text_panics(
            words in prop::collection::vec("[0-9]{0,5}|[a-z]{0,5}|Jan|Mon|08:49:37|é", 0..9),
        ) {
            http(&words.join(" "));
        }
    }
}
