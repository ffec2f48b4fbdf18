//! Bob Jenkins' 64-bit hash of 1997 (`lookup8`), for the historic recipes.
//!
//! B. Jenkins, *Hash functions*, Dr. Dobb's Journal, September 1997, in its version for 64-bit
//! words. The hash is as uniform as XXH3 for features, and slower.

/// The initial value for an empty key.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c13;

/// Hashes bytes, with level 0.
pub(super) fn jenkins(bytes: &[u8]) -> u64 {
    let (mut a, mut b, mut c) = (0u64, 0u64, GOLDEN_RATIO);
    let (blocks, rest) = bytes.as_chunks::<24>();
    for block in blocks {
        let [x, y, z] = words(block);
        (a, b, c) = mix(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    }
    let mut last = [0; 24];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let [x, y, z] = words(&last);
    // The lowest byte of the third word is kept for the length.
    let c = c.wrapping_add(bytes.len() as u64).wrapping_add(z << 8);
    mix(a.wrapping_add(x), b.wrapping_add(y), c).2
}

fn words(block: &[u8; 24]) -> [u64; 3] {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Mixes: every bit of the three words affects every bit of the third.
fn mix(mut a: u64, mut b: u64, mut c: u64) -> (u64, u64, u64) {
    for [right_a, left_b, right_c] in [[43, 9, 8], [38, 23, 5], [35, 49, 11], [12, 18, 22]] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> right_a);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << left_b);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> right_c);
    }
    (a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_never_changes() {
        for (key, hash) in [
            ("", 0x8db6_3936_9385_75bf),
            ("a", 0x1d48_fd74_d886_33ac),
            ("medicare", 0x565b_cc30_b632_2b01),
            ("exactly twenty-four byte", 0xd004_1193_4d5b_7112),
            ("the quick brown fox jumps over the lazy dog", 0xc303_0389_2b0c_1384),
        ] {
            assert_eq!(jenkins(key.as_bytes()), hash, "{key:?}");
        }
    }

    #[test]
    fn keys_fall_evenly_into_256_bins() {
        // The check of Seshasai's thesis, figure 3-2: 800,000 features in 256 bins.
        const KEYS: u32 = 800_000;
        for shift in [0, 28, 56] {
            let mut bins = [0u32; 256];
            for key in 0..KEYS {
                bins[(jenkins(format!("word{key}").as_bytes()) >> shift & 0xff) as usize] += 1;
            }
            let expected = f64::from(KEYS) / 256.0;
            let chi2: f64 =
                bins.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
            // Within five standard deviations of a chi-squared distribution with 255 degrees of
            // freedom.
            assert!((chi2 - 255.0).abs() < 5.0 * (2.0f64 * 255.0).sqrt(), "{chi2}");
        }
    }
}
