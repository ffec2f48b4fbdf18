//! Which numbers of a caller are taken.

use crate::recrawl::error::{RecrawlError, Result};

/// The longest time, in days: over ten thousand years.
pub(super) const DAYS_MAX: f64 = 4_000_000.0;

/// The shortest time between two visits, in days: a bit less than a millisecond.
pub(super) const DAYS_MIN: f64 = 1e-8;

/// A number that must be positive and finite.
pub(super) fn positive(name: &'static str, number: f64) -> Result<f64> {
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "a positive number" })
    }
}

/// A length of time that must be positive. No two times of visits are nearer or farther apart.
pub(super) fn interval(name: &'static str, days: f64) -> Result<f64> {
    if (DAYS_MIN..=DAYS_MAX).contains(&days) {
        Ok(days)
    } else {
        Err(RecrawlError::Value { name, takes: "from a millisecond to 4,000,000 days" })
    }
}

/// How many comparisons one counts for.
pub(super) fn times(name: &'static str, number: f64) -> Result<f64> {
    if (0.0..=1e9).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 0 to 1,000,000,000" })
    }
}

/// A time since a visit. If the visit is in the future, that is none.
pub(super) fn since(name: &'static str, days: f64) -> Result<f64> {
    if days.is_nan() {
        return Err(RecrawlError::Value { name, takes: "a number of days" });
    }
    Ok(days.clamp(0.0, DAYS_MAX))
}

/// A share of one.
pub(super) fn share(name: &'static str, number: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 0 to 1" })
    }
}

/// What a visit is worth.
pub(super) fn worth(name: &'static str, number: f64) -> Result<f64> {
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "0 or a positive number" })
    }
}

/// A positive number that may be multiplied with a few others.
pub(super) fn moderate(name: &'static str, number: f64) -> Result<f64> {
    if (1e-100..=1e100).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 1e-100 to 1e100" })
    }
}
