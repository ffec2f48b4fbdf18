//! Numbers that look drawn at random and are always the same.

/// The `n`-th output of SplitMix64 from the seed 0 (G. L. Steele, D. Lea, C. H. Flood, *Fast
/// splittable pseudorandom number generators*, OOPSLA 2014).
pub(super) const fn splitmix(n: u64) -> u64 {
    let mut x = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
