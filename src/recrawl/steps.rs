//! Numbers in steps of a part of an octave, for rows that must be small.

/// The number of the step nearest to `value`, where each octave has 2^`bits` steps. Below
/// 2^(`bits` + 1) each number has a step of its own.
pub(crate) fn step_of(value: u64, bits: u32) -> u64 {
    let Some(shift) = value.checked_ilog2().and_then(|top| top.checked_sub(bits + 1)) else {
        return value;
    };
    // Half a step more makes the shift round to the nearest step. The sum may reach
    // the next octave, so the shift is computed again.
    let value = value.saturating_add(1 << shift);
    let shift = value.ilog2() - bits;
    (u64::from(shift) << bits) + (value >> shift)
}

/// The number in the middle of a step, as [`step_of`] gives it.
pub(crate) fn of_step(step: u64, bits: u32) -> u64 {
    let Some(shift) = (step >> bits).checked_sub(1) else { return step };
    ((step & ((1 << bits) - 1)) | 1 << bits) << shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_at_most_half_a_step_off(value in 0..1u64 << 60, shift in 0u32..60, bits in 1u32..12) {
            let value = value >> shift;
            let step = step_of(value, bits);
            let back = of_step(step, bits);
            prop_assert_eq!(step_of(back, bits), step);
            prop_assert!(back.abs_diff(value) <= value >> (bits + 1));
            prop_assert!(step_of(value + 1, bits) >= step);
        }
    }

    #[test]
    fn small_numbers_are_exact_and_large_ones_saturate() {
        for value in 0..16 {
            assert_eq!((step_of(value, 3), of_step(value, 3)), (value, value));
        }
        assert_eq!(
            [16, 17, 19, 20, 1000].map(|value| of_step(step_of(value, 3), 3)),
            [16, 18, 20, 20, 1024]
        );
        assert!(step_of(u64::MAX, 3) < 512);
    }
}
