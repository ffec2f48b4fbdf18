//! Parses the times in sitemaps and feeds to milliseconds since 1970.
//!
//! Each format prescribes a form: sitemaps, Atom and Dublin Core a W3C datetime (a profile of ISO
//! 8601), and RSS the form of RFC 822. Many servers write the form of another format, or a similar
//! form, so an element may have any of these forms. A date that consists of digits must begin with
//! its year, because 01/02/2024 is ambiguous.

use jiff::civil::{Date, Time};

use super::super::time::{checked, milliseconds};

/// The longest text that is parsed.
const BYTES_MAX: usize = 100;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const HOUR_MINUTES: i64 = 60;

/// Named zones, by their minutes east of Greenwich. The first zones are from RFC 822, 5.1; the
/// others are unambiguous in feeds.
const ZONES: [(&str, i64); 29] = [
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5 * HOUR_MINUTES),
    ("edt", -4 * HOUR_MINUTES),
    ("cst", -6 * HOUR_MINUTES),
    ("cdt", -5 * HOUR_MINUTES),
    ("mst", -7 * HOUR_MINUTES),
    ("mdt", -6 * HOUR_MINUTES),
    ("pst", -8 * HOUR_MINUTES),
    ("pdt", -7 * HOUR_MINUTES),
    ("akst", -9 * HOUR_MINUTES),
    ("akdt", -8 * HOUR_MINUTES),
    ("hst", -10 * HOUR_MINUTES),
    ("west", HOUR_MINUTES),
    ("bst", HOUR_MINUTES),
    ("cet", HOUR_MINUTES),
    ("mez", HOUR_MINUTES),
    ("cest", 2 * HOUR_MINUTES),
    ("mesz", 2 * HOUR_MINUTES),
    ("eet", 2 * HOUR_MINUTES),
    ("eest", 3 * HOUR_MINUTES),
    ("msk", 3 * HOUR_MINUTES),
    ("jst", 9 * HOUR_MINUTES),
    ("kst", 9 * HOUR_MINUTES),
    ("aest", 10 * HOUR_MINUTES),
    ("aedt", 11 * HOUR_MINUTES),
    ("nzst", 12 * HOUR_MINUTES),
];

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Parses a time in any form of sitemaps and feeds. Missing parts of a time of day are 0, and a
/// missing zone is UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.is_empty() || text.len() > BYTES_MAX {
        return None;
    }
    let text = without_comments(text)?;
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    of_digits(text).or_else(|| of_words(text))
}

/// Returns the text in lower case without its comments, which nest (RFC 2822, 3.2.3), and without
/// optional white space around a colon (4.3); `None` if brackets do not match.
fn without_comments(text: &str) -> Option<String> {
    let (mut bare, mut depth) = (String::with_capacity(text.len()), 0_usize);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '\\' if depth > 0 => {
                chars.next()?;
            }
            _ if depth > 0 => continue,
            ':' => {
                bare.truncate(bare.trim_ascii_end().len());
                bare.push(':');
                continue;
            }
            _ if !c.is_ascii_whitespace() => {
                bare.push(c.to_ascii_lowercase());
                continue;
            }
            _ => {}
        }
        // A comment separates words, like white space.
        if !bare.ends_with([' ', ':']) {
            bare.push(' ');
        }
    }
    (depth == 0).then_some(bare)
}

/// Reads a text from its start.
#[derive(Clone, Copy)]
struct DateCursor<'a>(&'a str);

impl<'a> DateCursor<'a> {
    /// Reads a whole run of digits whose length is in `digits`.
    fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        self.fixed(end).filter(|_| digits.contains(&end))
    }

    /// Reads a number of exactly `digits` digits, followed by any text.
    fn fixed(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let is_number = digits > 0 && number.bytes().all(|byte| byte.is_ascii_digit());
        self.0 = rest;
        number.parse().ok().filter(|_| is_number)
    }

    fn skip(&mut self, mark: &[char]) -> bool {
        let rest = self.0.strip_prefix(mark);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }
}

/// Parses a time that begins with its year: a W3C datetime or a similar form.
fn of_digits(text: &str) -> Option<i64> {
    let mut rest = DateCursor(text);
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let date = match digits {
        4 => {
            let year = rest.fixed(4)?;
            let separator = ['-', '/', '.'].into_iter().find(|mark| rest.skip(&[*mark]));
            match separator {
                None => date(year, 1, 1).filter(|_| rest.0.is_empty()),
                Some(mark) => {
                    let month = rest.number(1..=2)?;
                    let has_day = rest.skip(&[mark]);
                    let day = if has_day { rest.number(1..=2)? } else { 1 };
                    date(year, month, day).filter(|_| has_day || rest.0.is_empty())
                }
            }
        }
        8 | 12 | 14 => date(rest.fixed(4)?, rest.fixed(2)?, rest.fixed(2)?),
        _ => None,
    }?;
    let is_compact = digits > 8;
    let is_day = rest.0.is_empty();
    let has_t = rest.0.starts_with('t');
    let has_mark = rest.skip(&['t', ' ', '_', ',']);
    rest.blanks();
    let of_day = match () {
        () if is_day => 0,
        () if !is_compact && !has_mark => zone(&mut rest).map(|minutes| -minutes * 60_000)?,
        // A day may have a zone without a time, as in XML Schema.
        () if rest.0.starts_with(|c: char| c.is_ascii_digit()) => time_of_day(&mut rest, has_t)?,
        () => zone(&mut rest).map(|minutes| -minutes * 60_000)?,
    };
    rest.blanks();
    at(date, of_day).filter(|_| rest.0.is_empty())
}

/// Returns the milliseconds of a time of day, less its zone. After a `T`, the time of day has the
/// form of ISO 8601, without `am` and `pm`, since `10:00 PM` is ambiguous in ISO 8601.
fn time_of_day(rest: &mut DateCursor<'_>, has_t: bool) -> Option<i64> {
    let clock = clock(rest, !has_t)?;
    let zone = zone(rest)?;
    Some(clock - zone * 60_000)
}

/// Parses hours and minutes, optional seconds and fraction, with or without colons; and `am` or
/// `pm` if `has_halves`.
fn clock(rest: &mut DateCursor<'_>, has_halves: bool) -> Option<i64> {
    let digits = rest.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.0.len());
    let (hour, minute, second) = match digits {
        1 | 2 => {
            let hour = rest.number(1..=2)?;
            let minute = rest.skip(&[':']).then(|| rest.number(2..=2))??;
            let second = if rest.skip(&[':']) { rest.number(1..=2)? } else { 0 };
            (hour, minute, second)
        }
        4 => (rest.fixed(2)?, rest.fixed(2)?, 0),
        6 => (rest.fixed(2)?, rest.fixed(2)?, rest.fixed(2)?),
        _ => return None,
    };
    let mut fraction = 0;
    if rest.skip(&['.', ',']) {
        let end = rest.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.0.len());
        let (digits, after) = rest.0.split_at(end);
        let milliseconds: String = digits.chars().chain("000".chars()).take(3).collect();
        fraction = milliseconds.parse::<i64>().ok().filter(|_| end > 0)?;
        rest.0 = after;
    }
    let half = rest.0.trim_ascii_start();
    let hour = match half.get(..2) {
        Some(mark @ ("am" | "pm")) if has_halves && (1..=12).contains(&hour) => {
            rest.0 = half.get(2..)?;
            hour % 12 + if mark == "pm" { 12 } else { 0 }
        }
        _ => hour,
    };
    // ISO 8601 has hour 24 for the end of a day, and leap seconds.
    if hour == 24 && (minute, second, fraction) == (0, 0, 0) {
        return Some(DAY_MS);
    }
    let second = if second == 60 { 59 } else { second };
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then(|| i64::from((hour * 60 + minute) * 60 + second) * 1000 + fraction)
}

/// Returns the minutes east of Greenwich of the zone that ends the text; 0 without a zone. The name
/// of a region may follow in brackets.
fn zone(rest: &mut DateCursor<'_>) -> Option<i64> {
    let mut text = rest.0.trim();
    rest.0 = "";
    if let Some((before, region)) = text.split_once('[') {
        region.strip_suffix(']')?;
        text = before.trim();
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, offset) = text.split_at(end);
    let offset = offset.trim();
    // A zone may have a name and an offset, as in GMT+0100. The name is then ignored.
    if !offset.is_empty() {
        return offset_of(offset);
    }
    if name.is_empty() {
        return Some(0);
    }
    ZONES.iter().find(|(zone, _)| *zone == name).map(|(_, minutes)| *minutes)
}

/// Parses the minutes of `+0100`, `+01:00`, `+01` or `+1`.
fn offset_of(text: &str) -> Option<i64> {
    let mut rest = DateCursor(text);
    let sign = match (rest.skip(&['+']), rest.skip(&['-'])) {
        (true, false) => 1,
        (false, true) => -1,
        _ => return None,
    };
    let digits = rest.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.0.len());
    let hours = if digits == 4 { rest.fixed(2)? } else { rest.number(1..=2)? };
    let has_minutes = rest.skip(&[':']) || digits == 4;
    let minutes = if has_minutes { rest.number(2..=2)? } else { 0 };
    let is_zone = hours < 24 && minutes < 60 && rest.0.is_empty();
    is_zone.then(|| sign * (i64::from(hours) * 60 + i64::from(minutes)))
}

/// Parses a time with the name of its month: the form of RFC 822, its obsolete forms (RFC 2822,
/// 4.3), the forms of HTTP (RFC 9110, 5.6.7), and forms with the same words in a different order.
fn of_words(text: &str) -> Option<i64> {
    let mut words = DateParts::default();
    for word in text.split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        words.take(word)?;
    }
    let date = date(words.year?, words.month?, words.day?)?;
    at(date, words.of_day.unwrap_or(0) - words.zone.unwrap_or(0) * 60_000)
}

/// The parts of a time found so far.
#[derive(Default)]
struct DateParts {
    day: Option<u32>,
    month: Option<u32>,
    year: Option<u32>,
    of_day: Option<i64>,
    zone: Option<i64>,
}

impl DateParts {
    fn take(&mut self, word: &str) -> Option<()> {
        if self.of_day.is_none() && word.contains(':') {
            let mut rest = DateCursor(word);
            self.of_day = Some(clock(&mut rest, true)?);
            return if rest.0.is_empty() { Some(()) } else { self.take_zone(rest.0) };
        }
        if self.of_day.is_some() && word.contains(['+', '-']) {
            return self.take_zone(word);
        }
        word.split('-').filter(|part| !part.is_empty()).try_for_each(|part| self.take_part(part))
    }

    fn take_part(&mut self, part: &str) -> Option<()> {
        let part = part.trim_end_matches('.');
        if part.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return self.take_name(part);
        }
        let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|end| part.strip_suffix(end));
        let number: u32 = ordinal.unwrap_or(part).parse().ok()?;
        match part.len() {
            1 | 2 if self.day.is_none() => self.day = Some(number),
            _ if ordinal.is_some() && self.day.is_none() => self.day = Some(number),
            // RFC 2822, 4.3.
            2 if self.year.is_none() && number < 50 => self.year = Some(2000 + number),
            2 | 3 if self.year.is_none() => self.year = Some(1900 + number),
            4 if self.year.is_none() => self.year = Some(number),
            _ => return None,
        }
        Some(())
    }

    fn take_name(&mut self, name: &str) -> Option<()> {
        let start = name.get(..3).unwrap_or_default();
        let month = (1..).zip(MONTHS).find(|(_, month)| *month == start);
        match (month, self.of_day) {
            (Some((number, _)), _) if self.month.is_none() => self.month = Some(number),
            _ if DAYS.contains(&start) => {}
            (_, Some(of_day)) if ["am", "pm"].contains(&name) => {
                let hour = of_day / HOUR_MS;
                let of_hour = of_day % HOUR_MS;
                let later = if name == "pm" { 12 } else { 0 };
                let is_half = (1..=12).contains(&hour);
                self.of_day = is_half.then_some((hour % 12 + later) * HOUR_MS + of_hour);
                self.of_day?;
            }
            (_, Some(_)) => return self.take_zone(name),
            _ => return None,
        }
        Some(())
    }

    /// Takes a zone. By RFC 2822, 4.3, an unknown zone means UTC.
    fn take_zone(&mut self, text: &str) -> Option<()> {
        let is_name = text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let zone = zone(&mut DateCursor(text)).or(is_name.then_some(0))?;
        // GMT+0100 may be two words.
        if self.zone.is_none_or(|known| known == 0) {
            self.zone = Some(zone);
            return Some(());
        }
        None
    }
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let small = |part: u32| i8::try_from(part).ok();
    Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()
}

/// Returns the time `ms` milliseconds after the beginning of a day.
fn at(date: Date, ms: i64) -> Option<i64> {
    checked(milliseconds(date.to_datetime(Time::midnight())).checked_add(ms)?)
}

#[cfg(test)]
mod tests;
