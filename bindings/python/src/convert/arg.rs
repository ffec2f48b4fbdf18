//! What callers give: checked, and named where it is not what was expected.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDateTime, PyDelta, PyInt, PyString};
use pyo3::{PyClass, intern};
use simkeep::cluster::Ranking;
use simkeep::recrawl::Interval;
use simkeep::{Classes, Digest, Epoch, Prefix, Time};

use crate::convert::error::{OrRaise, of_class};
use crate::convert::time;

/// The most characters of a wrong value that a message shows.
const SHOWN_MAX: usize = 80;

/// An argument, or a column or key of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    name: &'static str,
    row: Option<u64>,
}

/// As in "status", or "status in row 3". Rows are counted from 0, as lists are.
impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.row.map_or(Ok(()), |row| write!(f, " in row {row}"))
    }
}

impl Arg {
    /// An argument of a call.
    pub(crate) const fn new(name: &'static str) -> Arg {
        Arg { name, row: None }
    }

    /// Another argument of the same call or row.
    pub(crate) const fn and(self, name: &'static str) -> Arg {
        Arg { name, ..self }
    }

    /// A row of it, counted from 0.
    pub(crate) const fn at(self, row: u64) -> Arg {
        Arg { row: Some(row), ..self }
    }

    /// A part of a row of a batch, counted from 0.
    pub(crate) const fn row(name: &'static str, row: u64) -> Arg {
        Arg { name, row: Some(row) }
    }

    /// That it is of another type.
    pub(crate) fn type_error(self, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
        let given = given.get_type();
        let name = given.name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("{self} must be {expected}, not {name}"))
    }

    /// That it is of that type, and cannot have this value.
    pub(crate) fn value_error(self, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
        PyValueError::new_err(format!("{self} must be {expected}, not {}", shown(given)))
    }

    /// That something is wrong with it that is neither.
    pub(crate) fn wrong(self, what: impl fmt::Display) -> PyErr {
        PyValueError::new_err(format!("{self} {what}"))
    }
}

/// A value as Python writes it, cut where it is long.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(repr) = value.repr() else { return "what it is".to_owned() };
    // With what no terminal takes amiss.
    let repr = repr.to_string_lossy();
    match repr.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", repr.get(..end).unwrap_or_default()),
        None => repr.into_owned(),
    }
}

/// A whole number as an `int`: one, or what has `__index__`, such as a number of numpy; no `bool`.
fn whole<'py>(arg: Arg, given: &Bound<'py, PyAny>, expected: &str) -> PyResult<Bound<'py, PyInt>> {
    if !given.is_instance_of::<PyBool>() {
        if let Ok(number) = given.cast::<PyInt>() {
            return Ok(number.clone());
        }
        let py = given.py();
        if let Ok(index) = given.getattr_opt(intern!(py, "__index__"))
            && let Some(index) = index
            && let Ok(number) = index.call0()
            && let Ok(number) = number.cast_into::<PyInt>()
        {
            return Ok(number);
        }
    }
    Err(arg.type_error(expected, given))
}

/// A whole number from 0 to `max`.
fn number(arg: Arg, given: &Bound<'_, PyAny>, max: u64, expected: &str) -> PyResult<u64> {
    let number = whole(arg, given, expected)?;
    let number = number.extract::<u64>().ok().filter(|number| *number <= max);
    number.ok_or_else(|| arg.value_error(expected, given))
}

/// A fingerprint.
pub(crate) fn fingerprint(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    number(arg, given, u64::MAX, "an int from 0 to 2**64 - 1")
}

/// A Hamming distance.
pub(crate) fn distance(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(arg, given, 64, "an int from 0 to 64").map(to_u32)
}

/// The number of an epoch.
pub(crate) fn epoch(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Epoch> {
    let expected = "the number of an epoch: an int from 0 to 2**32 - 1";
    number(arg, given, u64::from(u32::MAX), expected).map(to_u32).map(Epoch::from_number)
}

/// A number of 32 bits, such as a class.
pub(crate) fn u32(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(arg, given, u64::from(u32::MAX), "an int from 0 to 2**32 - 1").map(to_u32)
}

/// A number of things or bytes.
pub(crate) fn count(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    number(arg, given, u64::MAX >> 1, "an int from 0 to 2**63 - 1")
}

/// A number of things in memory.
pub(crate) fn size(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    count(arg, given).map(to_usize)
}

/// A limit; `None` is none.
pub(crate) fn limit(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    if given.is_none() { Ok(usize::MAX) } else { size(arg, given) }
}

/// A number of 16 bits, such as an HTTP status.
pub(crate) fn u16(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u16> {
    let number = number(arg, given, u64::from(u16::MAX), "an int from 0 to 65535")?;
    u16::try_from(number).map_err(|_| arg.value_error("an int from 0 to 65535", given))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "who calls this has compared it with a maximum"
)]
fn to_u32(number: u64) -> u32 {
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "simkeep is for 64-bit systems only")]
fn to_usize(number: u64) -> usize {
    number as usize
}

/// A number that may have a fraction.
pub(crate) fn float(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    if given.is_instance_of::<PyBool>() || given.is_instance_of::<PyString>() {
        return Err(arg.type_error("a number", given));
    }
    given.extract().map_err(|_| arg.type_error("a number", given))
}

/// A weight: the crate says which numbers are none.
pub(crate) fn weight(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<simkeep::Weight> {
    let weight = simkeep::Weight::from(float(arg, given)?);
    if weight.is_sound() {
        return Ok(weight);
    }
    Err(arg.value_error("finite and greater than 0", given))
}

/// Yes or no.
pub(crate) fn flag(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let flag = given.cast::<PyBool>().map_err(|_| arg.type_error("True or False", given))?;
    Ok(flag.is_true())
}

/// A time: an aware `datetime`, or whole milliseconds since 1970. What is finer is rounded down.
///
/// An int that looks like seconds is refused. A `datetime` may have any time.
pub(crate) fn time(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Time> {
    let py = given.py();
    let expected = "an aware datetime, or an int of milliseconds since 1970";
    let out_of_range = || {
        let what = format!("{arg} is outside the years 1 to 9999: {}", shown(given));
        of_class(py, "TimeError", what)
    };
    if given.cast::<PyDateTime>().is_err() {
        let ms = whole(arg, given, expected)?.extract::<i64>().map_err(|_| out_of_range())?;
        return Time::from_ms(ms).map_err(|error| match error {
            simkeep::TimeError::LooksLikeSeconds(_) => {
                let what = "looks like seconds since 1970; give milliseconds, or an aware datetime";
                of_class(py, "TimeError", format!("{arg} {what}: {ms}"))
            }
            _ => out_of_range(),
        });
    }
    if given.call_method0(intern!(py, "utcoffset"))?.is_none() {
        let what = "has no time zone; give it one, such as tzinfo=UTC, or milliseconds since 1970";
        return Err(arg.wrong(format!("is {}, which {what}", shown(given))));
    }
    let ms = milliseconds(&given.sub(time::start(py)?)?)?;
    let time = Time::from_ms_unchecked(ms);
    if (Time::MIN..=Time::MAX).contains(&time) { Ok(time) } else { Err(out_of_range()) }
}

/// The milliseconds of a `timedelta`, rounded down.
fn milliseconds(delta: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = delta.py();
    let days: i64 = delta.getattr(intern!(py, "days"))?.extract()?;
    let seconds: i64 = delta.getattr(intern!(py, "seconds"))?.extract()?;
    let micros: i64 = delta.getattr(intern!(py, "microseconds"))?.extract()?;
    Ok((days * 86_400 + seconds) * 1_000 + micros / 1_000)
}

/// How much later something is, in milliseconds: a `timedelta`, which may be negative.
pub(crate) fn elapsed(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<i64> {
    let delta = given.cast::<PyDelta>().map_err(|_| arg.type_error("a timedelta", given))?;
    milliseconds(delta.as_any())
}

/// How long: seconds, or a `timedelta`.
pub(crate) fn duration(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let expected = "a timedelta or a number of seconds, not negative";
    let seconds = match given.cast::<PyDelta>() {
        Ok(delta) => delta.call_method0(intern!(given.py(), "total_seconds"))?.extract()?,
        Err(_) => float(arg, given).map_err(|_| arg.type_error(expected, given))?,
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| arg.value_error(expected, given))
}

/// How long between two visits, or until a lease is over: seconds, or a `timedelta`. What is finer than
/// a second is rounded down.
pub(crate) fn interval(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Interval> {
    let expected = "a timedelta or a number of seconds, from 1 to those of 4,000,000 days";
    let seconds = duration(arg, given)?.as_secs();
    Interval::from_seconds(seconds).map_err(|_| arg.value_error(expected, given))
}

/// A digest.
pub(crate) fn digest(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Digest> {
    let bytes = bytes(arg, given, "16 bytes")?;
    let digest = <[u8; 16]>::try_from(bytes.as_slice());
    digest.map(Digest).map_err(|_| {
        arg.wrong(format!(
            "must be 16 bytes, not {}: such as the first 16 of a SHA-256",
            bytes.len()
        ))
    })
}

/// Bytes, copied.
pub(crate) fn bytes(arg: Arg, given: &Bound<'_, PyAny>, expected: &str) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = given.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    Err(arg.type_error(expected, given))
}

/// A text.
pub(crate) fn text<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let text = given.cast::<PyString>().map_err(|_| arg.type_error("str", given))?;
    text.to_str().map_err(|_| {
        let what =
            "has lone surrogates (U+D800 to U+DFFF), which are no characters; decode it otherwise";
        arg.wrong(what)
    })
}

/// The text of a page, in which each lone surrogate is U+FFFD, as in what the tool reads as JSON: texts
/// that were cut in the middle of a character have them.
pub(crate) fn content<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    let text = given.cast::<PyString>().map_err(|_| arg.type_error("str", given))?;
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let encoded = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let encoded = encoded.cast_into::<PyBytes>()?;
    let (units, _) = encoded.as_bytes().as_chunks();
    let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    Ok(Cow::Owned(String::from_utf16_lossy(&units)))
}

/// What one of few words means.
pub(crate) fn choice<T: Copy>(
    arg: Arg,
    given: Option<&Bound<'_, PyAny>>,
    choices: &[(&str, T)],
    default: T,
) -> PyResult<T> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(default) };
    let word = text(arg, given)?;
    let found = choices.iter().find(|(name, _)| *name == word);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        arg.value_error(&format!("one of {}", names.join(", ")), given)
    })
}

/// What may be the URL of a page: the crate says which texts are none.
pub(crate) fn url<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let url = given.cast::<PyString>().map_err(|_| arg.type_error("str", given))?;
    url.to_str().map_err(|_| {
        let what = format!("{arg} has lone surrogates (U+D800 to U+DFFF), which no URL can have");
        of_class(given.py(), "UrlError", what)
    })
}

/// A prefix.
pub(crate) fn prefix(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Prefix> {
    let text = text(arg, given)?;
    Prefix::parse(text).map_err(simkeep::Error::from).or_raise(given.py())
}

/// A path: a text, or what has `__fspath__`.
pub(crate) fn path(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.extract().map_err(|_| arg.type_error("a path", given))
}

/// Rules by which one of several pages comes first, such as "https,shortest-url".
pub(crate) fn ranking(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Ranking> {
    text(arg, given)?.parse().map_err(|e| arg.wrong(format!("is no rule: {e}")))
}

/// Classes of pages: numbers, and `None` for pages that have none.
pub(crate) fn classes(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Classes> {
    let expected = "an iterable of ints from 0 to 2**32 - 1, and None for pages without a class";
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        return Err(arg.type_error(expected, given));
    }
    let (mut classes, mut unclassed) = (Vec::new(), false);
    for class in given.try_iter().map_err(|_| arg.type_error(expected, given))? {
        let class = class?;
        if class.is_none() {
            unclassed = true;
        } else {
            classes.push(u32(arg, &class)?);
        }
    }
    let classes = Classes::of(classes);
    Ok(if unclassed { classes.and_unclassed() } else { classes })
}

/// A pair, such as of two times.
pub(crate) fn pair<'py>(
    arg: Arg,
    given: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    given.extract().map_err(|_| arg.type_error(expected, given))
}

/// A value of a class, which `expected` names.
pub(crate) fn of<'py, T: PyClass>(
    arg: Arg,
    expected: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, T>> {
    let of = given.cast::<T>().map_err(|_| arg.type_error(expected, given))?;
    Ok(of.clone())
}

/// What is given, unless that is `None`.
pub(crate) fn optional<'py, T>(
    given: Option<&Bound<'py, PyAny>>,
    take: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    given.filter(|given| !given.is_none()).map(take).transpose()
}

/// What is made of each thing that was given: its place is in messages.
pub(crate) fn each<'py, T>(
    arg: Arg,
    given: &Bound<'py, PyAny>,
    expected: &str,
    make: impl Fn(Arg, &Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if given.is_instance_of::<PyString>() {
        return Err(arg.type_error(expected, given));
    }
    let all = given.try_iter().map_err(|_| arg.type_error(expected, given))?;
    (0..).zip(all).map(|(row, one)| make(arg.at(row), &one?)).collect()
}
