//! Arguments and fields of several functions, validated and converted.

use std::ffi::c_char;

use simkeep::cluster::Ranking;
use simkeep::fingerprint::Bands;
use simkeep::recrawl::{Interval, Policy};
use simkeep::{Classes, Digest, Prefix, Time};

use crate::abi;
use crate::failure::{Failure, Result};

/// Returns the order of originals; `None` if the caller sets no order.
pub(crate) fn ranking(
    rule: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<Option<Ranking>> {
    let rule = abi::optional_text(rule, len, name)?;
    let wrong = |e| Failure::argument(name, format!("{e}"));
    rule.map(|rule| rule.parse::<Ranking>().map_err(wrong)).transpose()
}

/// Returns the bands of minor and moderate distances; `None` if the recipe determines them.
pub(crate) fn bands(minor: i32, moderate: i32) -> Result<Option<Bands>> {
    match (distance(minor, "minor")?, distance(moderate, "moderate")?) {
        (Some(minor), Some(moderate)) => Ok(Some(Bands { minor, moderate })),
        (None, None) => Ok(None),
        _ => Err(Failure::argument("moderate", "it must be -1 if and only if minor is -1")),
    }
}

/// Returns a distance; `None` if the recipe determines it.
pub(crate) fn distance(distance: i32, name: &str) -> Result<Option<u32>> {
    match distance {
        -1 => Ok(None),
        0..=64 => Ok(Some(distance.unsigned_abs())),
        _ => Err(Failure::argument(name, "it must be from 0 to 64, or -1")),
    }
}

/// Converts a number that must be 0 or 1.
pub(crate) fn flag(number: u32, name: &str) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::argument(name, "it must be 0 or 1")),
    }
}

/// Converts a size; larger sizes are clamped.
pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the classes of the caller; by default pages of any class and pages without a class.
pub(crate) fn classes(
    classes: *const u32,
    len: usize,
    unclassed: u32,
    name: &'static str,
) -> Result<Option<Classes>> {
    let unclassed = flag(unclassed, "unclassed")?;
    if classes.is_null() && !unclassed {
        return Ok(None);
    }
    let len = if classes.is_null() { 0 } else { len };
    let classes = Classes::of(abi::numbers(classes, len, name)?);
    Ok(Some(if unclassed { classes.and_unclassed() } else { classes }))
}

/// Returns a prefix; the prefix of all pages for NULL.
pub(crate) fn prefix(
    text: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<Option<Prefix>> {
    let text = abi::optional_text(text, len, name)?;
    Ok(text.map(Prefix::parse).transpose().map_err(simkeep::Error::from)?)
}

/// Converts a time to be stored. The store itself rejects times outside the years 1 to 9999.
pub(crate) fn time(ms: i64) -> Result<Time> {
    match Time::from_ms(ms) {
        Err(error @ simkeep::TimeError::LooksLikeSeconds(_)) => {
            Err(simkeep::Error::from(error).into())
        }
        _ => Ok(Time::from_ms_unchecked(ms)),
    }
}

/// Converts the HTTP status of a visit.
pub(crate) fn status(status: u32) -> Result<u16> {
    u16::try_from(status).map_err(|_| Failure::argument("status", "it must be below 65536"))
}

/// Returns a digest; `None` for NULL.
pub(crate) fn digest(pointer: *const u8) -> Result<Option<Digest>> {
    if pointer.is_null() {
        return Ok(None);
    }
    let bytes: std::result::Result<[u8; 16], _> = abi::numbers(pointer, 16, "digest")?.try_into();
    Ok(bytes.ok().map(Digest))
}

/// Converts seconds to an interval.
pub(crate) fn interval(seconds: u64, name: &str) -> Result<Interval> {
    Interval::from_seconds(seconds).map_err(|e| Failure::argument(name, format!("{e}")))
}

/// Returns the policy for due pages; `None` if the caller sets no policy.
pub(crate) fn policy(
    text: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<Option<Policy>> {
    let text = abi::optional_text(text, len, name)?;
    let wrong = |e| Failure::argument(name, format!("{e}"));
    text.map(|text| text.parse::<Policy>().map_err(wrong)).transpose()
}
