//! Times of the command line, read and shown.

use std::time::{SystemTime, UNIX_EPOCH};

use ::time::OffsetDateTime;

/// A time in milliseconds since 1970 as RFC 3339 in UTC; with its milliseconds if it has any.
pub(super) fn format(ms: i64) -> String {
    let Ok(time) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000) else {
        // No store holds such a time.
        return format!("{ms} ms");
    };
    let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
    let (hour, minute, second) = time.to_hms();
    let millisecond = time.millisecond();
    let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if millisecond != 0 {
        out += &format!(".{millisecond:03}");
    }
    out + "Z"
}

/// A time in milliseconds since 1970, to the second.
pub(super) fn to_second(ms: i64) -> String {
    format(ms.saturating_sub(ms.rem_euclid(1000)))
}

/// The time that it is, in milliseconds since 1970; the beginning of 1970 if the clock is before it.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A time as an argument, in milliseconds since 1970.
pub(super) fn parse(text: &str) -> Result<i64, &'static str> {
    simkeep_archive::time(text).ok_or("write 2024-05-01T12:00:00Z, 2024-05-01 or 1714564800")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simkeep::limits::{TIME_MAX, TIME_MIN};

    #[test]
    fn times_are_shown_in_utc_with_milliseconds_if_there_are_any() {
        assert_eq!(format(0), "1970-01-01T00:00:00Z");
        assert_eq!(format(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(format(TIME_MIN), "0001-01-01T00:00:00Z");
        assert_eq!(format(TIME_MAX), "9999-12-31T23:59:59.999Z");
        assert_eq!([-1, 999].map(to_second), ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(ms in TIME_MIN..=TIME_MAX) {
            prop_assert_eq!(simkeep_archive::time(&format(ms)), Some(ms));
        }
    }
}
