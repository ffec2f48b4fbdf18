//! Roots, logarithms and cosines in integers, with equal results on every machine.
//!
//! Results are in units of 2⁻¹⁶, rounded down, from tables computed at compile time.

/// One, in units of 2⁻¹⁶.
pub(super) const ONE: u64 = 1 << 16;

/// The largest argument and result of [`scaled`].
pub(super) const WEIGHT_MAX: u64 = (1 << 48) - 1;

/// Returns the product of two numbers, one of which is in units of 2⁻¹⁶; at most [`WEIGHT_MAX`].
pub(super) fn scaled(a: u64, b: u64) -> u64 {
    let product = (u128::from(a) * u128::from(b)) >> 16;
    u64::try_from(product).map_or(WEIGHT_MAX, |product| product.min(WEIGHT_MAX))
}

/// Returns the square root.
#[expect(clippy::cast_possible_truncation, reason = "the root of 2⁹⁶ is 2⁴⁸")]
pub(super) fn sqrt(x: u64) -> u64 {
    match u32::try_from(x) {
        Ok(x) => (u64::from(x) << 32).isqrt(),
        Err(_) => (u128::from(x) << 32).isqrt() as u64,
    }
}

/// Returns the natural logarithm of a number of at least 1, accurate to 3·10⁻⁶ plus rounding.
pub(super) fn ln(x: u64) -> u64 {
    ln_finely(x) >> 16
}

/// Returns the natural logarithm of 1 + n/d, for `d >= 1`.
pub(super) fn ln_one_plus(n: u64, d: u64) -> u64 {
    ln_finely(n.saturating_add(d)).saturating_sub(ln_finely(d)) >> 16
}

/// Returns the cosine of 2πx/L plus one, for x < L.
pub(super) fn cos_plus_one(x: u64, length: u64) -> u64 {
    // The share of a turn, in units of 2⁻³², and its distance from the nearest whole turn.
    let turn = (u128::from(x) << 32) / u128::from(length.max(1));
    #[expect(clippy::cast_possible_truncation, reason = "whole turns are of no matter")]
    let turn = turn as u64 & (TURN - 1);
    let turn = turn.min(TURN - turn);
    if turn <= TURN / 4 {
        ((1 << 32) + cos_of_quarter(turn)) >> 16
    } else {
        ((1 << 32) - cos_of_quarter(TURN / 2 - turn)) >> 16
    }
}

const TURN: u64 = 1 << 32;

/// The number of steps in the tables.
const STEPS: usize = 256;

/// ln 2, in units of 2⁻³².
const LN_2: u64 = 2_977_044_471;

/// log₂(1 + i/256), in units of 2⁻³².
const LOG2: [u64; STEPS + 1] = {
    let mut table = [0; STEPS + 1];
    let mut i = 0;
    while i <= STEPS {
        // Squaring doubles a logarithm. The whole part of the doubled logarithm is the next digit.
        let mut x: u128 = (1 << 62) + ((i as u128) << 54);
        let mut log = 0;
        if i == STEPS {
            log = 1 << 32;
            x = 1 << 62;
        }
        let mut digit = 32;
        while digit > 0 {
            digit -= 1;
            x = (x * x) >> 62;
            if x >= 1 << 63 {
                x >>= 1;
                log |= 1 << digit;
            }
        }
        #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
        {
            table[i] = log;
        }
        i += 1;
    }
    table
};

/// cos(π/2 · i/256), in units of 2⁻³².
const COS: [u64; STEPS + 1] = {
    /// π/2 in units of 2⁻⁶⁰.
    const HALF_PI: i128 = 1_811_004_864_519_280_710;
    let mut table = [0; STEPS + 1];
    let mut i = 0;
    while i <= STEPS {
        let angle = HALF_PI * i as i128 / STEPS as i128;
        let square = (angle * angle) >> 60;
        // Taylor's series; the last term is below 10⁻¹⁷.
        let (mut term, mut sum, mut n) = (1i128 << 60, 1i128 << 60, 0);
        while n < 24 {
            term = -((term * square) >> 60) / ((n + 1) * (n + 2));
            sum += term;
            n += 2;
        }
        #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
        #[expect(clippy::cast_possible_truncation, reason = "a cosine is at most one")]
        {
            table[i] = if sum < 0 { 0 } else { (sum >> 28) as u64 };
        }
        i += 1;
    }
    table
};

/// Returns the natural logarithm of a number of at least 1, in units of 2⁻³².
fn ln_finely(x: u64) -> u64 {
    let whole = x.ilog2();
    // The bits after the leading 1 bit, in units of 2⁻³².
    let rest = x.unbounded_shl(64 - whole) >> 32;
    let log2 = (u64::from(whole) << 32) + between(&LOG2, rest);
    #[expect(clippy::cast_possible_truncation, reason = "less than 45 in units of 2⁻³²")]
    let ln = ((u128::from(log2) * u128::from(LN_2)) >> 32) as u64;
    ln
}

/// Returns the cosine of a fraction of a turn, up to a quarter, in units of 2⁻³².
fn cos_of_quarter(turn: u64) -> u64 {
    between(&COS, turn << 2)
}

/// Interpolates linearly in a table over 0..=1, at a position in units of 2⁻³².
#[expect(clippy::indexing_slicing, reason = "a place is 2³² at most, that of the last entry")]
fn between(table: &[u64; STEPS + 1], place: u64) -> u64 {
    const STEP_BITS: u32 = 32 - STEPS.ilog2();
    let at = (place >> STEP_BITS) as usize;
    let rest = place & ((1 << STEP_BITS) - 1);
    let from = table[at];
    // The last entry has no next entry to interpolate to.
    let to = table.get(at + 1).copied().unwrap_or(from);
    if to >= from {
        from + (((to - from) * rest) >> STEP_BITS)
    } else {
        from - (((from - to) * rest) >> STEP_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Converts a result to a float.
    fn real(fixed: u64) -> f64 {
        fixed as f64 / ONE as f64
    }

    #[test]
    fn tables_never_change() {
        let sum = |table: &[u64]| {
            let bytes: Vec<u8> = table.iter().flat_map(|entry| entry.to_le_bytes()).collect();
            xxhash_rust::xxh3::xxh3_64(&bytes)
        };
        assert_eq!([sum(&LOG2), sum(&COS)], [7_242_512_081_550_670_356, 751_575_124_996_243_087]);
    }

    #[test]
    fn exact_values_are_exact() {
        assert_eq!((sqrt(0), sqrt(1), sqrt(4), sqrt(u64::MAX)), (0, ONE, 2 * ONE, (1 << 48) - 1));
        assert_eq!((ln(1), ln_one_plus(0, 7)), (0, 0));
        let around = [0, 1, 2, 3].map(|x| cos_plus_one(x, 4));
        assert_eq!(around, [2 * ONE, ONE, 0, ONE]);
        assert_eq!(cos_plus_one(0, 0), 2 * ONE);
        assert_eq!(scaled(3 * ONE, ONE / 2), 3 * ONE / 2);
        assert_eq!(scaled(u64::MAX, u64::MAX), WEIGHT_MAX);
    }

    proptest! {
        #[test]
        fn approximations_are_within_their_error(bits in 0u32..64, x: u64, d in 1u64..1 << 40, n in 0u64..1 << 40) {
            const ERROR: f64 = 2.5e-5;
            let x = (x >> bits).max(1);
            prop_assert!((real(ln(x)) - (x as f64).ln()).abs() < ERROR);
            let one_plus = (1.0 + n as f64 / d as f64).ln();
            prop_assert!((real(ln_one_plus(n, d)) - one_plus).abs() < ERROR);
            prop_assert!((real(sqrt(x)) / (x as f64).sqrt() - 1.0).abs() < ERROR);
            let (place, length) = (n % d, d);
            let cos = (std::f64::consts::TAU * place as f64 / length as f64).cos() + 1.0;
            prop_assert!((real(cos_plus_one(place, length)) - cos).abs() < ERROR);
        }
    }
}
