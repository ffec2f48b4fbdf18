//! How likely it is that two sites are found to be alike by their samples.

use super::candidates::SHARED;
use super::sample::SAMPLE;

/// How likely it is that two sites share two of their smallest hashes, if this share of the paths that
/// either has is of both, and both have as many of their own.
///
/// In order of the hashes, before the second path that is shared there come `a` of the first site alone,
/// `b` of the second, and one that is shared, in any order: a negative multinomial distribution. Both
/// samples have room for up to 14.
pub(super) fn recall(share: f64) -> f64 {
    const { assert!(SHARED == 2) }
    const ROOM: usize = SAMPLE - 2;
    let share = share.clamp(0.0, 1.0);
    let alone = (1.0 - share) / 2.0;
    // How likely `a` and `b` are that come in some order, for each b; of one `a` after another.
    let mut ways = [0.0; ROOM + 1];
    let mut sum = 0.0;
    for a in 0..=ROOM {
        let mut left = 0.0;
        for (b, ways) in ways.iter_mut().enumerate() {
            left = if a + b == 0 { 1.0 } else { (*ways + left) * alone };
            *ways = left;
            // And one that is shared among them, at any of these places.
            sum += left * (a + b + 1) as f64;
        }
    }
    sum * share * share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factorial(n: usize) -> f64 {
        (1..=n).map(|n| n as f64).product()
    }

    #[test]
    fn recall_is_the_sum_that_is_documented() {
        for share in [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0] {
            let mut sum = 0.0;
            for a in 0..=14 {
                for b in 0..=14 {
                    let ways = factorial(a + b + 1) / (factorial(a) * factorial(b));
                    let exponent = i32::try_from(a + b).unwrap();
                    sum += ways * ((1.0 - share) / 2.0_f64).powi(exponent) * share * share;
                }
            }
            assert!((recall(share) - sum).abs() < 1e-9, "{share}: {} for {sum}", recall(share));
            println!("{share}: {sum:.6}");
        }
        assert!((recall(1.0) - 1.0).abs() < 1e-12);
    }
}
