//! Exponentials and logarithms with equal results on every machine.
//!
//! Results of these functions decide the order of pages, and the standard library's `exp` and `ln`
//! may differ between platforms and releases. These functions use only additions, multiplications
//! and divisions, whose rounding IEEE 754 specifies. All functions are accurate to a few units in
//! the last place.

use std::f64::consts::{LN_2, SQRT_2};

/// The high part of ln 2. The high part ends in enough zeros that its product with an exponent is
/// exact. `LN_2_LOW` is the low part.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The largest exponent with a finite result. `EXP_MIN` is the least exponent with a result above
/// zero.
const EXP_MAX: f64 = 709.782_712_893_384;
const EXP_MIN: f64 = -745.133_219_101_941_2;

/// A number whose addition rounds another number to an integer.
const ROUNDS: f64 = 6_755_399_441_055_744.0;

/// Returns `e^x`; NaN maps to NaN.
pub(super) fn exp(x: f64) -> f64 {
    if x > EXP_MAX {
        return f64::INFINITY;
    }
    if x < EXP_MIN {
        return 0.0;
    }
    // 1.5 * 2^52 leaves no bits for a fraction, so the addition rounds to the nearest integer.
    let halvings = (x * (1.0 / LN_2) + ROUNDS) - ROUNDS;
    // Cody and Waite: the first product is exact, so `rest` keeps all digits.
    let rest = (x - halvings * LN_2_HIGH) - halvings * LN_2_LOW;
    #[expect(clippy::cast_possible_truncation, reason = "at most 1,075 either way")]
    scaled(1.0 + series(rest, 1, TERMS_OF_SMALL), halvings as i64)
}

/// Returns `e^x - 1`, without a loss of digits for small `x`.
pub(super) fn exp_m1(x: f64) -> f64 {
    if x.abs() < 0.35 { series(x, 1, TERMS_OF_SMALL) } else { exp(x) - 1.0 }
}

/// Returns 1 - (1 + x) e^-x for `x >= 0`: the probability of at least two events if `x` are
/// expected.
pub(super) fn two_or_more(x: f64) -> f64 {
    if x < 1.0 {
        // e^-x times the sum of x^n/n! from n = 2: the same value as in the definition, without its
        // cancellation for small x.
        exp(-x) * series(x, 2, TERMS)
    } else if x < -EXP_MIN {
        1.0 - (1.0 + x) * exp(-x)
    } else {
        1.0
    }
}

/// Returns the natural logarithm: negative infinity for zero, and NaN for negative numbers.
pub(super) fn ln(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    if x == f64::INFINITY {
        return x;
    }
    // The exponent bits of a subnormal number are 0, so a subnormal number is scaled to a normal
    // number first.
    let (x, doublings) = if x < f64::MIN_POSITIVE { (x * TWO_TO_54, -54) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = i32::try_from(bits >> 52).unwrap_or(i32::MAX) - 1023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let (mantissa, exponent) =
        // Between √½ and √2 the ratio below is at most 0.172, and twelve terms are enough.
        if mantissa > SQRT_2 { (mantissa / 2.0, exponent + 1) } else { (mantissa, exponent) };
    let halvings = f64::from(exponent + doublings);
    halvings * LN_2_HIGH + (of_ratio((mantissa - 1.0) / (mantissa + 1.0)) + halvings * LN_2_LOW)
}

/// Returns ln(1 + `x`), without a loss of digits for small `x`.
pub(super) fn ln_1p(x: f64) -> f64 {
    if x.abs() < 0.3 { of_ratio(x / (2.0 + x)) } else { ln(1.0 + x) }
}

const TWO_TO_54: f64 = 18_014_398_509_481_984.0;

/// The number of terms of a series for numbers up to 0.35. `TERMS` is the number for numbers up to
/// 1. Further terms are below the last place.
const TERMS_OF_SMALL: usize = 14;
const TERMS: usize = 20;

/// 1/n! for each n up to `TERMS`.
#[expect(clippy::indexing_slicing, reason = "at most as many as the slice has")]
const INVERSE_FACTORIALS: [f64; TERMS + 1] = {
    let (mut all, mut n, mut factorial) = ([1.0; TERMS + 1], 1, 1_u64);
    while n <= TERMS {
        factorial *= n as u64;
        all[n] = 1.0 / factorial as f64;
        n += 1;
    }
    all
};

/// Returns the sum of x^n/n! from `first` to `last`.
#[inline]
#[expect(clippy::indexing_slicing, reason = "at most as many as the slice has")]
fn series(x: f64, first: usize, last: usize) -> f64 {
    let of = &INVERSE_FACTORIALS[first..=last];
    // Horner's scheme, beginning with the last term. No term is divided by a factorial.
    let sum = of.iter().rev().fold(0.0, |sum, inverse| inverse + sum * x);
    (0..first).fold(sum, |sum, _| sum * x)
}

/// Returns ln((1 + s)/(1 - s)) for `s` between -0.18 and 0.18: 2 (s + s³/3 + s⁵/5 + …).
fn of_ratio(s: f64) -> f64 {
    let square = s * s;
    let sum = (1..=12).rev().fold(0.0, |sum, n| square * (1.0 / f64::from(2 * n + 1) + sum));
    2.0 * s + 2.0 * s * sum
}

/// Returns `x` times a power of two. Multiplies in two steps, since the power may exceed the range
/// of a factor.
pub(super) fn scaled(x: f64, power: i64) -> f64 {
    // A power of two whose exponent is outside of -1,022 to 1,023 is no normal number, but its two
    // factors are normal numbers.
    let half = power / 2;
    x * two_to(half) * two_to(power - half)
}

/// Returns two to a power from -1,022 to 1,023.
fn two_to(power: i64) -> f64 {
    f64::from_bits(((power + 1023).cast_unsigned()) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether two numbers are equal except for a few units in the last place.
    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= 4.0 * f64::EPSILON * b.abs() || (a - b).abs() < 1e-320
    }

    #[test]
    fn extreme_arguments_give_limits() {
        assert_eq!((exp(0.0), exp(710.0), exp(-746.0)), (1.0, f64::INFINITY, 0.0));
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
        assert_eq!((ln(1.0), ln(0.0), ln(f64::INFINITY)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan() && ln(f64::NAN).is_nan() && ln(-1.0).is_nan());
        assert_eq!((exp_m1(0.0), ln_1p(0.0), two_or_more(0.0)), (0.0, 0.0, 0.0));
        assert_eq!((two_or_more(f64::INFINITY), two_or_more(800.0)), (1.0, 1.0));
        for x in [f64::MIN_POSITIVE, 5e-324, f64::MAX] {
            assert!(close(ln(x), x.ln()), "{x}");
        }
        for x in [EXP_MAX, EXP_MIN + 0.5, -708.5, -720.0] {
            assert!(close(exp(x), x.exp()), "{x}: {} {}", exp(x), x.exp());
        }
    }

    proptest! {
        #[test]
        fn functions_agree_with_the_standard_library(x in -708.0..709.0, small in -0.4..0.4) {
            prop_assert!(close(exp(x), x.exp()), "{} {}", exp(x), x.exp());
            prop_assert!(close(ln(x.exp()), x.exp().ln()) || x.abs() < 1e-9);
            prop_assert!(close(exp_m1(small), small.exp_m1()));
            prop_assert!(close(ln_1p(small), small.ln_1p()));
        }

        #[test]
        fn two_or_more_is_accurate(x in 0.0..40.0f64) {
            let sum: f64 = (2..200).scan(x * f64::exp(-x), |term, n| {
                *term *= x / f64::from(n);
                Some(*term)
            }).sum();
            prop_assert!((two_or_more(x) - sum).abs() <= 1e-13 * sum, "{} {sum}", two_or_more(x));
        }
    }
}
