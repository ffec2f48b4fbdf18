//! Sorts byte strings eight bytes at a time.

use std::cmp::Ordering;

use crate::cpu::prefetch;

/// An item with a key in a shared buffer of bytes.
pub(crate) trait Keyed {
    /// Returns the key of the item.
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8];

    /// The next eight bytes of the key after a common prefix, as a big-endian number.
    fn digit(&self) -> u64;

    /// Stores the next eight bytes of the key.
    fn set_digit(&mut self, digit: u64);
}

/// The number of keys below which keys are compared whole.
const FEW: usize = 8;

/// The maximum number of rounds of eight bytes before keys are compared whole. The limit bounds the
/// recursion depth and the time against adversarial keys.
const DIGITS_MAX: usize = 32;

/// The number of keys to prefetch ahead.
const AHEAD: usize = 8;

/// Sorts by key; `tie` orders items with equal keys.
pub(crate) fn sort_by_digits<K: Keyed>(
    keys: &[u8],
    order: &mut [K],
    tie: &impl Fn(&K, &K) -> Ordering,
) {
    sort(keys, order, tie, 0, DIGITS_MAX);
}

/// Sorts keys that share their first `alike` bytes. Sorts by the eight bytes after their common
/// prefix, then sorts groups of equal keys recursively, at most `digits` rounds.
#[expect(clippy::indexing_slicing, reason = "no key ends before the prefix that all of them share")]
fn sort<K: Keyed>(
    keys: &[u8],
    order: &mut [K],
    tie: &impl Fn(&K, &K) -> Ordering,
    alike: usize,
    digits: usize,
) {
    let whole = |a: &K, b: &K| a.key(keys).cmp(b.key(keys)).then_with(|| tie(a, b));
    let after = |keyed: &K, alike: usize| &keyed.key(keys)[alike..];
    let ahead = |order: &[K], at: usize| {
        if let Some(later) = order.get(at + AHEAD) {
            let rest = after(later, alike);
            prefetch(&rest[..rest.len().min(size_of::<u64>())]);
        }
    };
    // All keys may share a long prefix, for example a host. After the prefix is skipped, the next
    // eight bytes decide.
    let mut shared = order.first().map_or(&[][..], |keyed| after(keyed, alike));
    for (at, keyed) in order.iter().enumerate().skip(1) {
        if shared.is_empty() {
            break;
        }
        // Keys are at random places in memory. Prefetching keeps several reads in flight.
        ahead(order, at);
        let rest = shared.iter().zip(after(keyed, alike));
        let same = rest.take_while(|(a, b)| a == b).count();
        shared = &shared[..same];
    }
    let alike = alike + shared.len();
    let ends = |keyed: &K| keyed.key(keys).len() <= alike + size_of::<u64>();
    for at in 0..order.len() {
        ahead(order, at);
        let keyed = &mut order[at];
        let rest = after(keyed, alike);
        // Big-endian, so integers compare as bytes do. A short rest is padded with zeros.
        let digit = match rest.first_chunk() {
            Some(digit) => u64::from_be_bytes(*digit),
            None => {
                let mut digit = [0; 8];
                digit.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                u64::from_be_bytes(digit)
            }
        };
        keyed.set_digit(digit);
    }
    // Compares integers within the array: no key is read.
    order.sort_unstable_by_key(K::digit);
    for same in order.chunk_by_mut(|a, b| a.digit() == b.digit()).filter(|same| same.len() > 1) {
        // A key that ends here has the same digit as a key that continues with zeros, so equal
        // digits are compared whole.
        match digits.checked_sub(1) {
            Some(digits) if same.len() >= FEW && !same.iter().any(ends) => {
                sort(keys, same, tie, alike + size_of::<u64>(), digits);
            }
            _ => same.sort_unstable_by(whole),
        }
    }
}
