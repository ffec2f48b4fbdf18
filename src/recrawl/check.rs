//! Validates numbers of a caller.

use crate::recrawl::error::{RecrawlError, Result};

/// The longest time, in days: over ten thousand years.
pub(super) const DAYS_MAX: f64 = 4_000_000.0;

/// The shortest time between two visits, in days: a bit less than a millisecond.
pub(super) const DAYS_MIN: f64 = 1e-8;

/// Checks a number that must be positive and finite.
pub(super) fn positive(name: &'static str, number: f64) -> Result<f64> {
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "a positive number" })
    }
}

/// Checks a positive length of time between two visits, within the limits above.
pub(super) fn interval(name: &'static str, days: f64) -> Result<f64> {
    if (DAYS_MIN..=DAYS_MAX).contains(&days) {
        Ok(days)
    } else {
        Err(RecrawlError::Value { name, takes: "from a millisecond to 4,000,000 days" })
    }
}

/// Checks how often a comparison counts.
pub(super) fn times(name: &'static str, number: f64) -> Result<f64> {
    if (0.0..=1e9).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 0 to 1,000,000,000" })
    }
}

/// Checks a time since a visit. A visit in the future counts as now.
pub(super) fn since(name: &'static str, days: f64) -> Result<f64> {
    if days.is_nan() {
        return Err(RecrawlError::Value { name, takes: "a number of days" });
    }
    Ok(days.clamp(0.0, DAYS_MAX))
}

/// Checks a fraction from 0 to 1.
pub(super) fn share(name: &'static str, number: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 0 to 1" })
    }
}

/// Checks the value of a visit.
pub(super) fn worth(name: &'static str, number: f64) -> Result<f64> {
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "0 or a positive number" })
    }
}

/// Checks a positive number whose product with a few other numbers must not overflow.
pub(super) fn moderate(name: &'static str, number: f64) -> Result<f64> {
    if (1e-100..=1e100).contains(&number) {
        Ok(number)
    } else {
        Err(RecrawlError::Value { name, takes: "from 1e-100 to 1e100" })
    }
}
