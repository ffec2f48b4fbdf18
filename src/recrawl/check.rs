//! Which numbers of a caller are taken.

use crate::error::{Error, Result};

/// The longest time, in days: over ten thousand years.
pub(super) const DAYS_MAX: f64 = 4_000_000.0;

/// A number that must be positive and finite.
pub(super) fn positive(name: &'static str, number: f64) -> Result<f64> {
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(Error::Option { name, takes: "a positive number" })
    }
}

/// A length of time that must be positive.
pub(super) fn interval(name: &'static str, days: f64) -> Result<f64> {
    if days > 0.0 && days <= DAYS_MAX {
        Ok(days)
    } else {
        Err(Error::Option { name, takes: "more than 0 and at most 4,000,000 days" })
    }
}

/// A time since a visit. If the visit is in the future, that is none.
pub(super) fn since(name: &'static str, days: f64) -> Result<f64> {
    if days.is_nan() {
        return Err(Error::Option { name, takes: "a number of days" });
    }
    Ok(days.clamp(0.0, DAYS_MAX))
}

/// A share of one.
pub(super) fn share(name: &'static str, number: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(Error::Option { name, takes: "from 0 to 1" })
    }
}

/// What a visit is worth.
pub(super) fn worth(name: &'static str, number: f64) -> Result<f64> {
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(Error::Option { name, takes: "0 or a positive number" })
    }
}
