//! The weight of a page: its importance relative to other pages.

use std::fmt;

/// The importance of a page: a visit to a page of weight 2 is worth as much as two visits to a page
/// of weight 1.
///
/// A weight is stored as an `f32`. A number is rounded to the nearest `f32`. A finite positive
/// number outside the range of positive `f32` numbers becomes the least or the greatest one. A
/// store [rejects](crate::Error::InvalidOption) a weight that is not finite or not positive.
///
/// The schedule, from which [due](crate::due) pages are found, stores a weight with 8 bits of its
/// mantissa, so values of visits are computed from a weight that is off by up to 0.2 %.
///
/// ```
/// use simkeep::Weight;
/// assert_eq!(Weight::from(0.1).get(), 0.1_f32);
/// assert_eq!(Weight::from(1e300).get(), f32::MAX);
/// assert_eq!(Weight::from(1e-300).get(), f32::from_bits(1));
/// assert_eq!(Weight::from(0.1).to_string(), "0.1");
/// assert!(Weight::from(1.0) < Weight::from(2.0));
/// ```
// The bits of an `f32`. For positive numbers, the bits have the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Weight(u32);

impl Weight {
    /// The weight of a page whose weight was never set.
    pub const ONE: Weight = Weight(1_f32.to_bits());

    /// The weight as an `f32`.
    pub fn get(self) -> f32 {
        f32::from_bits(self.0)
    }

    /// The shortest number that [converts](Weight::from) to this weight: 0.1 if
    /// [`get`](Weight::get) returns 0.100000001490116.
    ///
    /// ```
    /// use simkeep::Weight;
    /// let weight = Weight::from(0.1);
    /// assert_eq!((f64::from(weight.get()), weight.to_f64()), (0.10000000149011612, 0.1));
    /// ```
    pub fn to_f64(self) -> f64 {
        let number = self.get();
        // The shortest decimal of an `f32` may be ambiguous as an `f64`.
        let short = number.to_string().parse().ok().filter(|short| Weight::from(*short) == self);
        short.unwrap_or(f64::from(number))
    }

    /// The bits of the number, for storage.
    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    /// Restores a stored weight; `None` if the bits are not a sound weight.
    pub(crate) fn from_bits(bits: u32) -> Option<Weight> {
        Some(Weight(bits)).filter(|weight| weight.is_sound())
    }

    /// Whether the weight is finite and positive.
    ///
    /// ```
    /// use simkeep::Weight;
    /// assert!(Weight::from(0.5).is_sound());
    /// assert!(!Weight::from(0.0).is_sound() && !Weight::from(f64::NAN).is_sound());
    /// ```
    pub fn is_sound(self) -> bool {
        self.get().is_finite() && self.get() > 0.0
    }
}

impl Default for Weight {
    fn default() -> Weight {
        Weight::ONE
    }
}

impl From<f64> for Weight {
    /// Converts a number to the nearest weight. For a number that is not finite or not positive,
    /// the result is not [sound](Weight::is_sound).
    fn from(weight: f64) -> Weight {
        /// The least positive `f32`.
        const LEAST: f32 = f32::from_bits(1);
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
        let nearest = weight as f32;
        let is_sound = weight.is_finite() && weight > 0.0;
        Weight(if is_sound { nearest.clamp(LEAST, f32::MAX) } else { nearest }.to_bits())
    }
}

/// Formats as the shortest number that converts to this weight.
impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_f64())
    }
}

impl fmt::Debug for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Weight({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_positive_weights_are_valid() {
        for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, -1e-300] {
            assert!(!Weight::from(weight).is_sound(), "{weight}");
            assert_eq!(Weight::from_bits(Weight::from(weight).to_bits()), None);
        }
        for weight in [f64::MIN_POSITIVE, 5e-324, 1.0, 1e38, f64::MAX] {
            assert!(Weight::from(weight).is_sound(), "{weight}");
        }
    }

    #[test]
    fn weights_are_ordered_and_round_trip_through_text() {
        let mut before = None;
        // All exponents of normal numbers.
        for exponent in -379..386 {
            let weight = Weight::from(10_f64.powf(f64::from(exponent) / 10.0));
            assert!(before < Some(weight));
            before = Some(weight);
            let shown: f64 = weight.to_string().parse().unwrap();
            assert_eq!(Weight::from(shown), weight);
        }
        // The shortest digits of this weight are parsed as the next weight, by way of an `f64`.
        let weight = Weight(0x15ae_43fd);
        assert_ne!(Weight::from(7.038531e-26), weight);
        assert_eq!(Weight::from(weight.to_string().parse::<f64>().unwrap()), weight);
    }
}
