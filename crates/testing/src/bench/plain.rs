//! The straightforward implementation, for comparison.

use xxhash_rust::xxh3::xxh3_64;

/// The simhash of a text's word n-grams, each weighted by its frequency.
pub fn fingerprint(text: &str, n: usize) -> u64 {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut balance = [0i64; 64];
    for gram in words.windows(n) {
        let hash = xxh3_64(gram.join(" ").as_bytes());
        for (bit, balance) in balance.iter_mut().enumerate() {
            *balance += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    (0..).zip(balance).fold(0, |bits, (bit, balance)| bits | u64::from(balance > 0) << bit)
}
