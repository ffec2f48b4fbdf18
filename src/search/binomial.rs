//! Binomial coefficients.

/// The largest number of items.
const MAX: usize = 64;

/// The coefficients of 0 to 64 items: 33 KiB. The largest one is less than 2^61.
static CHOOSE: [[u64; MAX + 1]; MAX + 1] = pascal();

/// Returns the number of ways to choose `count` of `from` items, both at most 64.
#[inline]
#[expect(clippy::indexing_slicing, reason = "both are numbers of bits of a word")]
pub(super) const fn choose(from: u32, count: u32) -> u64 {
    CHOOSE[from as usize][count as usize]
}

/// Returns Pascal's triangle.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where it would not build")]
const fn pascal() -> [[u64; MAX + 1]; MAX + 1] {
    let mut rows = [[0; MAX + 1]; MAX + 1];
    let mut from = 0;
    while from <= MAX {
        rows[from][0] = 1;
        let mut count = 1;
        while count <= from {
            rows[from][count] = rows[from - 1][count - 1] + rows[from - 1][count];
            count += 1;
        }
        from += 1;
    }
    rows
}
