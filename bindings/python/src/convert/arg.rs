//! Validates arguments, and names them in errors.

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
use simkeep::{Classes, Digest, ETag, Epoch, Prefix, Time};

use crate::convert::error::{OrRaise, of_class};
use crate::convert::time;

/// The maximum number of characters of a wrong value that a message shows.
const SHOWN_MAX: usize = 80;

/// An argument, or a column or key of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    name: &'static str,
    row: Option<u64>,
}

/// Writes "status", or "status in row 3". Rows are counted from 0, as in lists.
impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.row.map_or(Ok(()), |row| write!(f, " in row {row}"))
    }
}

impl Arg {
    /// Creates an argument of a call.
    pub(crate) const fn new(name: &'static str) -> Arg {
        Arg { name, row: None }
    }

    /// Returns another argument of the same call or row.
    pub(crate) const fn and(self, name: &'static str) -> Arg {
        Arg { name, ..self }
    }

    /// Returns a row of this argument, counted from 0.
    pub(crate) const fn at(self, row: u64) -> Arg {
        Arg { row: Some(row), ..self }
    }

    /// Creates a part of a row of a batch, counted from 0.
    pub(crate) const fn row(name: &'static str, row: u64) -> Arg {
        Arg { name, row: Some(row) }
    }

    /// The error for a value of another type.
    pub(crate) fn type_error(self, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
        let given = given.get_type();
        let name = given.name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("{self} must be {expected}, not {name}"))
    }

    /// The error for an invalid value of the right type.
    pub(crate) fn value_error(self, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
        PyValueError::new_err(format!("{self} must be {expected}, not {}", shown(given)))
    }

    /// The error for any other problem.
    pub(crate) fn wrong(self, what: impl fmt::Display) -> PyErr {
        PyValueError::new_err(format!("{self} {what}"))
    }
}

/// Formats a value by its `repr`, truncated.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(repr) = value.repr() else { return "this object".to_owned() };
    // The text is escaped for terminals.
    let repr = repr.to_string_lossy();
    match repr.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", repr.get(..end).unwrap_or_default()),
        None => repr.into_owned(),
    }
}

/// Converts an integer to an `int`: an `int`, or an object with `__index__`, for example a number
/// of numpy; not a `bool`.
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

/// Converts an integer from 0 to `max`.
fn number(arg: Arg, given: &Bound<'_, PyAny>, max: u64, expected: &str) -> PyResult<u64> {
    let number = whole(arg, given, expected)?;
    let number = number.extract::<u64>().ok().filter(|number| *number <= max);
    number.ok_or_else(|| arg.value_error(expected, given))
}

/// Converts a fingerprint.
pub(crate) fn fingerprint(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    number(arg, given, u64::MAX, "an int from 0 to 2**64 - 1")
}

/// Converts a Hamming distance.
pub(crate) fn distance(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(arg, given, 64, "an int from 0 to 64").map(to_u32)
}

/// Converts the number of an epoch.
pub(crate) fn epoch(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Epoch> {
    let expected = "the number of an epoch: an int from 0 to 2**32 - 1";
    number(arg, given, u64::from(u32::MAX), expected).map(to_u32).map(Epoch::from_number)
}

/// Converts a number of 32 bits, for example a class.
pub(crate) fn u32(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(arg, given, u64::from(u32::MAX), "an int from 0 to 2**32 - 1").map(to_u32)
}

/// Converts a number of items or bytes.
pub(crate) fn count(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    number(arg, given, u64::MAX >> 1, "an int from 0 to 2**63 - 1")
}

/// Converts a number of items in memory.
pub(crate) fn size(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    count(arg, given).map(to_usize)
}

/// Converts a limit; `None` means no limit.
pub(crate) fn limit(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    if given.is_none() { Ok(usize::MAX) } else { size(arg, given) }
}

/// Converts a number of 16 bits, for example an HTTP status.
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

/// Converts a number with an optional fraction.
pub(crate) fn float(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    if given.is_instance_of::<PyBool>() || given.is_instance_of::<PyString>() {
        return Err(arg.type_error("a number", given));
    }
    given.extract().map_err(|_| arg.type_error("a number", given))
}

/// Converts a weight; the crate rejects invalid numbers.
pub(crate) fn weight(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<simkeep::Weight> {
    let weight = simkeep::Weight::from(float(arg, given)?);
    if weight.is_sound() {
        return Ok(weight);
    }
    Err(arg.value_error("finite and greater than 0", given))
}

/// Converts a boolean.
pub(crate) fn flag(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let flag = given.cast::<PyBool>().map_err(|_| arg.type_error("True or False", given))?;
    Ok(flag.is_true())
}

/// Converts a time: an aware `datetime`, or integer milliseconds since 1970. Finer fractions are
/// rounded down.
///
/// An `int` that looks like seconds is rejected. A `datetime` may have any time.
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
                of_class(py, "TimeError", format!("{arg} is {ms}, which {what}"))
            }
            _ => out_of_range(),
        });
    }
    if given.call_method0(intern!(py, "utcoffset"))?.is_none() {
        let what = "has no time zone; give a datetime with one, such as tzinfo=UTC, or milliseconds since 1970";
        return Err(arg.wrong(format!("is {}, which {what}", shown(given))));
    }
    let ms = milliseconds(&given.sub(time::start(py)?)?)?;
    let time = Time::from_ms_unchecked(ms);
    if (Time::MIN..=Time::MAX).contains(&time) { Ok(time) } else { Err(out_of_range()) }
}

/// Returns the milliseconds of a `timedelta`, rounded down.
fn milliseconds(delta: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = delta.py();
    let days: i64 = delta.getattr(intern!(py, "days"))?.extract()?;
    let seconds: i64 = delta.getattr(intern!(py, "seconds"))?.extract()?;
    let micros: i64 = delta.getattr(intern!(py, "microseconds"))?.extract()?;
    Ok((days * 86_400 + seconds) * 1_000 + micros / 1_000)
}

/// Converts a difference of times to milliseconds: a `timedelta`, which may be negative.
pub(crate) fn elapsed(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<i64> {
    let delta = given.cast::<PyDelta>().map_err(|_| arg.type_error("a timedelta", given))?;
    milliseconds(delta.as_any())
}

/// Converts a duration: seconds, or a `timedelta`.
pub(crate) fn duration(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let expected = "a timedelta or a number of seconds that is not negative";
    let seconds = match given.cast::<PyDelta>() {
        Ok(delta) => delta.call_method0(intern!(given.py(), "total_seconds"))?.extract()?,
        Err(_) => float(arg, given).map_err(|_| arg.type_error(expected, given))?,
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| arg.value_error(expected, given))
}

/// Converts an interval between visits or the length of a lease: seconds, or a `timedelta`.
/// Fractions of a second are rounded down.
pub(crate) fn interval(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Interval> {
    let expected = "a timedelta or a number of seconds, from 1 second to 4,000,000 days";
    let seconds = duration(arg, given)?.as_secs();
    Interval::from_seconds(seconds).map_err(|_| arg.value_error(expected, given))
}

/// Converts a digest.
pub(crate) fn digest(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Digest> {
    let bytes = bytes(arg, given, "16 bytes")?;
    let digest = <[u8; 16]>::try_from(bytes.as_slice());
    digest.map(Digest).map_err(|_| {
        arg.wrong(format!(
            "must be 16 bytes, not {}; for example the first 16 bytes of a SHA-256",
            bytes.len()
        ))
    })
}

/// Converts the value of the header `ETag`.
pub(crate) fn etag(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    sendable(arg, bytes(arg, given, "bytes")?)
}

/// Checks that a value can be sent in a header.
pub(crate) fn sendable(arg: Arg, value: Vec<u8>) -> PyResult<Vec<u8>> {
    if ETag::is_sendable(&value) {
        return Ok(value);
    }
    Err(arg
        .wrong("has a line end or a NUL, which no header has; pass the value of the header alone"))
}

/// Copies bytes.
pub(crate) fn bytes(arg: Arg, given: &Bound<'_, PyAny>, expected: &str) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = given.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    Err(arg.type_error(expected, given))
}

/// Converts a text.
pub(crate) fn text<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let text = given.cast::<PyString>().map_err(|_| arg.type_error("str", given))?;
    text.to_str().map_err(|_| {
        let what =
            "has lone surrogates (U+D800 to U+DFFF), which are not characters; decode the text differently";
        arg.wrong(what)
    })
}

/// Converts the text of a page, with each lone surrogate replaced by U+FFFD, as in the tool's JSON
/// input. Texts that were cut in the middle of a character have lone surrogates.
pub(crate) fn content<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    if given.is_instance_of::<PyBytes>() {
        let advice = "decode the bytes of a text, and pass the bytes of HTML as html=";
        return Err(PyTypeError::new_err(format!("{arg} must be str, not bytes; {advice}")));
    }
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

/// Converts a word from a short list of choices.
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

/// Converts the URL of a page; the crate rejects invalid URLs.
pub(crate) fn url<'a>(arg: Arg, given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let url = given.cast::<PyString>().map_err(|_| arg.type_error("str", given))?;
    url.to_str().map_err(|_| {
        let what =
            format!("{arg} has lone surrogates (U+D800 to U+DFFF), which are not allowed in URLs");
        of_class(given.py(), "UrlError", what)
    })
}

/// Converts a prefix.
pub(crate) fn prefix(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Prefix> {
    let text = text(arg, given)?;
    Prefix::parse(text).map_err(simkeep::Error::from).or_raise(given.py())
}

/// Converts a path: a text, or an object with `__fspath__`.
pub(crate) fn path(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    given.extract().map_err(|_| arg.type_error("a path", given))
}

/// Converts rules that rank pages, for example "https,shortest-url".
pub(crate) fn ranking(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Ranking> {
    text(arg, given)?.parse().map_err(|e| arg.wrong(format!("is not a rule: {e}")))
}

/// Converts classes of pages: numbers, and `None` for pages without a class.
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

/// Converts a pair, for example a pair of times.
pub(crate) fn pair<'py>(
    arg: Arg,
    given: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    given.extract().map_err(|_| arg.type_error(expected, given))
}

/// Converts an instance of a class; `expected` names the class.
pub(crate) fn of<'py, T: PyClass>(
    arg: Arg,
    expected: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, T>> {
    let of = given.cast::<T>().map_err(|_| arg.type_error(expected, given))?;
    Ok(of.clone())
}

/// Returns the argument, unless it is `None`.
pub(crate) fn optional<'py, T>(
    given: Option<&Bound<'py, PyAny>>,
    take: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    given.filter(|given| !given.is_none()).map(take).transpose()
}

/// Converts each item of an iterable, with its index in errors.
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
