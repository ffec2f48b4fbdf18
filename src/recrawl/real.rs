//! Exponentials, logarithms and normal quantiles with equal results on every machine.
//!
//! Results of these functions decide the order of pages, and the standard library's `exp` and `ln`
//! may differ between platforms and releases. These functions use only additions, multiplications,
//! divisions and square roots, whose rounding IEEE 754 specifies. All functions are accurate to a
//! few units in the last place.

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

/// Returns the number below which a standard normal variable lies with the probability `share`, which
/// is between 0 and 1, both exclusive.
///
/// By M. J. Wichura, *Algorithm AS 241: the percentage points of the normal distribution*, Applied
/// Statistics 1988 (PPND16): accurate to about 16 digits.
pub(super) fn normal_quantile(share: f64) -> f64 {
    let off = share - 0.5;
    if off.abs() <= 0.425 {
        let r = 0.180_625 - off * off;
        return off * polynomial(r, &CENTRE.0) / polynomial(r, &CENTRE.1);
    }
    let tail = if off < 0.0 { share } else { 1.0 - share };
    let r = (-ln(tail)).sqrt();
    let ((above, below), r) = if r <= 5.0 { (&TAIL, r - 1.6) } else { (&FAR_TAIL, r - 5.0) };
    let quantile = polynomial(r, above) / polynomial(r, below);
    if off < 0.0 { -quantile } else { quantile }
}

/// Returns a polynomial of `x`, with the highest coefficient last.
fn polynomial(x: f64, coefficients: &[f64; 8]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The coefficients of a rational function: those of its numerator and of its denominator.
type Rational = ([f64; 8], [f64; 8]);

/// The coefficients of Wichura's algorithm for the centre, the tails and the far tails.
const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_545e3,
    ],
);
const TAIL: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);
const FAR_TAIL: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

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

    #[test]
    fn normal_quantiles_match_known_values() {
        for (share, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.25, -0.674_489_750_196_081_7),
            (1e-5, -4.264_890_793_922_825),
            (1e-20, -9.262_340_089_798_409),
            (1e-300, -37.047_096_299_361_2),
        ] {
            let found = normal_quantile(share);
            assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{share}: {found}");
        }
        for share in [0.6, 0.93, 0.99, 0.999_999] {
            let sum = normal_quantile(share) + normal_quantile(1.0 - share);
            assert!(sum.abs() < 1e-9, "{share}: {sum}");
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
